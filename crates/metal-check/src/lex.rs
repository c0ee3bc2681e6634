//! A tokenizer for Metal source: C++ tokens, every byte of the text in exactly one of them.
//!
//! It never fails: a byte that starts no token is a punctuator of its own, an unterminated comment or string ends with
//! the text. Clang reports what is wrong with such a text; the passes here only need to find their way.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifier or keyword.
    Ident,
    /// A preprocessing number.
    Number,
    /// String or character literal.
    Literal,
    /// An operator or separator.
    Punct,
    /// A preprocessor line with its continuations, without the final line end.
    Directive,
    /// White space or a comment.
    Space,
}

/// A token: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

/// A text and its significant tokens (no white space, no comments).
pub(crate) struct TokenStream<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    line_starts: Vec<usize>,
    /// For each token that is a bracket, the one it pairs with.
    pairs: Vec<Option<u32>>,
}

/// Punctuators of more than one byte, longest first. `>>` is left as two tokens, because it may close two template
/// argument lists.
const PUNCTUATORS: [&str; 22] = [
    "<<=", "...", "::", "->", "++", "--", "<<", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "##",
];

impl<'a> TokenStream<'a> {
    /// Splits `text` into tokens. Directives are kept, as tokens of their own.
    pub fn new(text: &'a str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1));
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut at = 0;
        let mut line_begins = true;
        while at < text.len() {
            let (kind, end) = scan(text, at, line_begins);
            if kind == TokenKind::Space {
                line_begins |= text[at..end].contains('\n');
            } else {
                line_begins = false;
                tokens.push(Token { kind, start: at, end });
            }
            at = end;
        }
        let mut stream = Self { text, tokens, line_starts, pairs: Vec::new() };
        stream.pair();
        stream
    }

    /// The same text's tokens without preprocessor lines.
    pub fn code(text: &'a str) -> Self {
        let mut stream = Self::new(text);
        stream.tokens.retain(|t| t.kind != TokenKind::Directive);
        stream.pair();
        stream
    }

    /// Finds which brackets pair, whatever their kind.
    fn pair(&mut self) {
        self.pairs = vec![None; self.tokens.len()];
        let mut open = Vec::new();
        for i in 0..self.tokens.len() {
            match self.str(i) {
                "(" | "[" | "{" => open.push(i),
                ")" | "]" | "}" => {
                    if let Some(o) = open.pop() {
                        (self.pairs[o], self.pairs[i]) = (Some(i as u32), Some(o as u32));
                    }
                }
                _ => {}
            }
        }
    }

    /// The text of token `i`; empty past the end.
    pub fn str(&self, i: usize) -> &'a str {
        self.tokens.get(i).map_or("", |t| &self.text[t.start..t.end])
    }

    /// Whether token `i` is an identifier or keyword.
    pub fn is_ident(&self, i: usize) -> bool {
        self.tokens.get(i).is_some_and(|t| t.kind == TokenKind::Ident)
    }

    /// Number of significant tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// 1-based line and column (in bytes) of byte `offset`.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&s| s <= offset);
        (line as u32, (offset - self.line_starts[line - 1]) as u32 + 1)
    }

    /// Index of the token that closes the bracket at `open`; `None` if there is no bracket, or it is never closed.
    pub fn closing(&self, open: usize) -> Option<usize> {
        self.pairs.get(open).copied().flatten().map(|p| p as usize).filter(|&p| p > open)
    }

    /// Index of the token that opens the bracket closed at `close`.
    pub fn opening(&self, close: usize) -> Option<usize> {
        self.pairs.get(close).copied().flatten().map(|p| p as usize).filter(|&p| p < close)
    }

    /// If the `<` at `open` reads as the start of template arguments, the index past the matching `>`.
    ///
    /// `a < b` and `f<b>` differ by what lies between and what follows; like a person, this looks at both.
    pub fn template_end(&self, open: usize) -> Option<usize> {
        const REACH: usize = 200;
        let mut depth = 0usize;
        let mut i = open;
        while i < self.len() && i < open + REACH {
            match self.str(i) {
                "<" => depth += 1,
                ">" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        let next = self.str(i + 1);
                        let follows = matches!(next, "(" | "{" | "::" | ")" | "," | ";" | ">" | "&" | "*" | "");
                        return (follows || self.is_ident(i + 1)).then_some(i + 1);
                    }
                }
                "(" | "[" => i = self.closing(i)?,
                "::" | "," | "*" | "&" | "..." | "+" | "-" | "/" => {}
                _ if matches!(self.tokens[i].kind, TokenKind::Ident | TokenKind::Number) => {}
                _ => return None,
            }
            i += 1;
        }
        None
    }

    /// Splits the tokens `from..to` at top-level commas (template arguments count as brackets).
    pub fn split_commas(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let (mut parts, mut start, mut i) = (Vec::new(), from, from);
        while i < to {
            match self.str(i) {
                "(" | "[" | "{" => i = self.closing(i).unwrap_or(to).min(to),
                "<" if i > from && self.is_ident(i - 1) => {
                    if let Some(end) = self.template_end(i) {
                        i = end.min(to) - 1;
                    }
                }
                "," => {
                    parts.push((start, i));
                    start = i + 1;
                }
                _ => {}
            }
            i += 1;
        }
        if start < to {
            parts.push((start, to));
        }
        parts
    }
}

/// Kind and end of the token at `at`.
fn scan(text: &str, at: usize, line_begins: bool) -> (TokenKind, usize) {
    let bytes = text.as_bytes();
    let rest = &text[at..];
    let run = |accept: fn(u8) -> bool| at + bytes[at..].iter().take_while(|&&b| accept(b)).count();
    match bytes[at] {
        b if b.is_ascii_whitespace() => (TokenKind::Space, run(|b| b.is_ascii_whitespace())),
        b'/' if rest.starts_with("//") => (TokenKind::Space, at + rest.find('\n').unwrap_or(rest.len())),
        b'/' if rest.starts_with("/*") => (TokenKind::Space, at + rest[2..].find("*/").map_or(rest.len(), |n| n + 4)),
        b'#' if line_begins => (TokenKind::Directive, directive_end(text, at)),
        b'"' | b'\'' => (TokenKind::Literal, literal_end(bytes, at)),
        b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => {
            (TokenKind::Ident, run(|b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80))
        }
        b if b.is_ascii_digit() || (b == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) => {
            (TokenKind::Number, number_end(bytes, at))
        }
        _ => {
            let n = PUNCTUATORS.iter().find(|p| rest.starts_with(**p)).map_or(1, |p| p.len());
            (TokenKind::Punct, at + n)
        }
    }
}

fn number_end(bytes: &[u8], at: usize) -> usize {
    let hex = bytes[at..].starts_with(b"0x") || bytes[at..].starts_with(b"0X");
    let mut end = at + 1;
    while let Some(&b) = bytes.get(end) {
        let exponent = |e: u8| {
            if hex { matches!(e, b'p' | b'P') } else { matches!(e, b'e' | b'E') }
        };
        let sign = matches!(b, b'+' | b'-') && exponent(bytes[end - 1]);
        if !(sign || b.is_ascii_alphanumeric() || b == b'.' || b == b'_' || b == b'\'') {
            break;
        }
        end += 1;
    }
    end
}

fn literal_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&b) = bytes.get(end) {
        match b {
            b'\\' if end + 1 < bytes.len() => end += 2,
            b'\n' => return end,
            _ if b == bytes[at] => return end + 1,
            _ => end += 1,
        }
        // An escaped character may be longer than a byte: end on a boundary.
        while end < bytes.len() && bytes[end] & 0xc0 == 0x80 {
            end += 1;
        }
    }
    bytes.len()
}

/// End of the preprocessor line at `at`: the first line end that neither a backslash nor a block comment carries on.
fn directive_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut i = at;
    while i < bytes.len() {
        match bytes[i] {
            b'\n' if bytes[i - 1] == b'\\' || bytes[..i].ends_with(b"\\\r") => {}
            b'\n' => return i,
            b'/' if text[i..].starts_with("/*") => {
                i += text[i + 2..].find("*/").map_or(text.len() - i, |n| n + 4);
                continue;
            }
            b'/' if text[i..].starts_with("//") => return i,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let s = TokenStream::new(text);
        (0..s.len()).map(|i| s.str(i)).collect()
    }

    #[test]
    fn splits_cpp() {
        assert_eq!(tokens("a<<=b->c/*x*/+1.5e-3f//y\n.5h"), ["a", "<<=", "b", "->", "c", "+", "1.5e-3f", ".5h"]);
        assert_eq!(tokens("0x1p-3f-0xe+1"), ["0x1p-3f", "-", "0xe", "+", "1"]);
        assert_eq!(tokens("\"a\\\"b\" 'c'"), ["\"a\\\"b\"", "'c'"]);
    }

    #[test]
    fn directives_are_one_token() {
        assert_eq!(tokens(" # define A \\\n b // c\nx"), ["# define A \\\n b ", "x"]);
        assert_eq!(tokens("a #b"), ["a", "#", "b"]);
    }

    #[test]
    fn finds_template_arguments() {
        let s = TokenStream::new("array<vec<float, 3>, 2> x = a < b && c > (d);");
        assert_eq!(s.template_end(1), Some(11));
        assert_eq!(s.template_end(14), None);
    }

    #[test]
    fn survives_any_bytes() {
        for text in ["\"", "'\\", "/*", "#", "\\", "\u{e9}\"\\\u{e9}", "0x", "<", "}", "#/*"] {
            let s = TokenStream::new(text);
            assert!(s.tokens.windows(2).all(|w| w[0].end <= w[1].start), "{text:?}");
        }
    }
}
