//! Tokens of the text form.

use super::parse::ParseError;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// A word: letters, digits, `_`.
    Word(&'t str),
    /// A number, sign included.
    Number(&'t str),
    /// What stands between quotes.
    Text(String),
    /// One character, or `->` as `>` after `-` (written `→` here) and `..` as `…`.
    Mark(char),
    /// The end.
    End,
}

/// A token and where it stands, both counted from 1.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Spot<'t> {
    pub token: Token<'t>,
    pub line: u32,
    pub column: u32,
}

/// `->`.
pub(super) const ARROW: char = '→';
/// `..`.
pub(super) const RANGE: char = '…';

pub(super) fn tokens(text: &str) -> Result<Vec<Spot<'_>>, ParseError> {
    let mut lexer = Lexer { text, at: 0, line: 1, line_start: 0 };
    let mut out = Vec::new();
    loop {
        let spot = lexer.next()?;
        let end = spot.token == Token::End;
        out.push(spot);
        if end {
            return Ok(out);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'t> Lexer<'t> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn take_while(&mut self, f: impl Fn(u8) -> bool) -> &'t str {
        let from = self.at;
        while self.at < self.text.len() && f(self.peek(0)) {
            self.at += 1;
        }
        &self.text[from..self.at]
    }

    fn next(&mut self) -> Result<Spot<'t>, ParseError> {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b';' => {
                    self.take_while(|c| c != b'\n');
                }
                _ => break,
            }
        }
        let (line, column) = (self.line, (self.at - self.line_start) as u32 + 1);
        let token = match self.peek(0) {
            0 if self.at >= self.text.len() => Token::End,
            b'"' => Token::Text(self.text_token(line, column)?),
            c if c.is_ascii_digit() || (c == b'-' && self.peek(1).is_ascii_digit()) => Token::Number(self.number()),
            c if c.is_ascii_alphabetic() || c == b'_' => {
                Token::Word(self.take_while(|c| c.is_ascii_alphanumeric() || c == b'_'))
            }
            b'-' if self.peek(1) == b'>' => self.mark(2, ARROW),
            b'.' if self.peek(1) == b'.' => self.mark(2, RANGE),
            c if c.is_ascii_graphic() => self.mark(1, char::from(c)),
            _ => return Err(ParseError { line, column, message: "this character has no meaning here".into() }),
        };
        Ok(Spot { token, line, column })
    }

    fn mark(&mut self, len: usize, mark: char) -> Token<'t> {
        self.at += len;
        Token::Mark(mark)
    }

    fn number(&mut self) -> &'t str {
        let from = self.at;
        self.at += usize::from(self.peek(0) == b'-');
        if self.peek(0) == b'0' && self.peek(1) == b'x' {
            self.at += 2;
            self.take_while(|c| c.is_ascii_hexdigit());
            return &self.text[from..self.at];
        }
        self.take_while(|c| c.is_ascii_digit());
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if self.peek(0) == b'e' && self.peek(1 + sign).is_ascii_digit() {
            self.at += 1 + sign;
            self.take_while(|c| c.is_ascii_digit());
        }
        &self.text[from..self.at]
    }

    fn text_token(&mut self, line: u32, column: u32) -> Result<String, ParseError> {
        let error = |message: &str| ParseError { line, column, message: message.into() };
        let mut out = String::new();
        let mut chars = self.text[self.at + 1..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 2;
                    return Ok(out);
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => out.push(c),
                    Some((_, 'x')) => {
                        let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                        let code = u8::from_str_radix(&digits, 16).map_err(|_| error("bad escape in a name"))?;
                        out.push(char::from(code));
                    }
                    _ => return Err(error("bad escape in a name")),
                },
                c => out.push(c),
            }
        }
        Err(error("a name without its end"))
    }
}
