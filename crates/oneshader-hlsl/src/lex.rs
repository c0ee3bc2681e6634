//! Characters to tokens.
//!
//! Works on bytes of one text and allocates nothing but new names. Identifiers, numbers, strings and characters carry
//! their interned spelling, so a token is spelled by `(kind, value)` alone; numbers are read when the parser needs
//! them ([`number`]).

pub mod number;

use oneshader_diag::Span;

use crate::name::{Interner, Name};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $text:literal,)*) => {
        /// The kind of a [`Token`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum TokenKind { $($(#[$doc])* $kind,)* }

        const TEXTS: &[&str] = &[$($text,)*];
    };
}

kinds! {
    /// End of the source.
    Eof "",
    /// An identifier or keyword; the value is its [`Name`].
    Ident "",
    /// A preprocessing number.
    Number "",
    /// A string literal with its quotes.
    Str "",
    /// A character literal with its quotes.
    Char "",
    /// A character that begins no token; the value is the name of its text.
    Unknown "",
    /// End of a directive's line. Never leaves the preprocessor.
    Newline "",
    /// A parameter in a macro's body; the value is its position. Never leaves the preprocessor.
    Param "",
    /// `#` parameter in a macro's body. Never leaves the preprocessor.
    Stringify "",
    /// `##` in a macro's body. Never leaves the preprocessor.
    Paste "##",
    /// What an empty operand of `##` becomes. Never leaves the preprocessor.
    Placemarker "",
    Hash "#",
    HashHash "##",
    LParen "(",
    RParen ")",
    LBrace "{",
    RBrace "}",
    LBracket "[",
    RBracket "]",
    Semi ";",
    Comma ",",
    Dot ".",
    Ellipsis "...",
    Arrow "->",
    Question "?",
    Colon ":",
    ColonColon "::",
    Plus "+",
    PlusPlus "++",
    PlusEq "+=",
    Minus "-",
    MinusMinus "--",
    MinusEq "-=",
    Star "*",
    StarEq "*=",
    Slash "/",
    SlashEq "/=",
    Percent "%",
    PercentEq "%=",
    Amp "&",
    AmpAmp "&&",
    AmpEq "&=",
    Pipe "|",
    PipePipe "||",
    PipeEq "|=",
    Caret "^",
    CaretEq "^=",
    Tilde "~",
    Bang "!",
    BangEq "!=",
    Eq "=",
    EqEq "==",
    Lt "<",
    LtEq "<=",
    Shl "<<",
    ShlEq "<<=",
    Gt ">",
    GtEq ">=",
    Shr ">>",
    ShrEq ">>=",
}

impl TokenKind {
    /// The spelling of a punctuator; empty for the others.
    pub fn text(self) -> &'static str {
        TEXTS[self as usize]
    }
}

bitflags::bitflags! {
    /// What surrounds a token.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Flags: u8 {
        /// White space or a comment precedes.
        const SPACE = 1;
        /// It is the first token of its line.
        const LINE_START = 2;
        /// The name of a macro that may not be expanded any more (C11 6.10.3.4p2).
        const NO_EXPAND = 4;
        /// It came out of a macro's expansion.
        const EXPANDED = 8;
    }
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// What surrounds it.
    pub flags: Flags,
    /// The name of an identifier or of a literal's spelling.
    pub value: u32,
    /// Where; see [`Span`] for tokens out of macros.
    pub span: Span,
}

impl Token {
    /// The identifier, or the name of a literal's spelling.
    pub fn name(self) -> Name {
        Name(self.value)
    }

    /// The spelling.
    pub fn text(self, names: &Interner) -> &str {
        match self.kind {
            TokenKind::Ident | TokenKind::Number | TokenKind::Str | TokenKind::Char | TokenKind::Unknown => {
                names.text(self.name())
            }
            kind => kind.text(),
        }
    }

    /// Whether it is the identifier or keyword `name`.
    pub fn is(self, name: Name) -> bool {
        self.kind == TokenKind::Ident && self.value == name.0
    }
}

/// What a lexer finds wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    None,
    UnterminatedComment,
    UnterminatedLiteral,
}

/// A raw token: positions in its text, no file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    pub kind: TokenKind,
    pub flags: Flags,
    pub value: u32,
    pub lo: u32,
    pub hi: u32,
    pub trouble: Trouble,
}

const IDENT_START: u8 = 1;
const DIGIT: u8 = 2;
const BLANK: u8 = 4;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => IDENT_START,
            b'0'..=b'9' => DIGIT,
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => BLANK,
            _ => 0,
        };
        b += 1;
    }
    table
};

fn class(b: u8) -> u8 {
    CLASS[b as usize]
}

/// Reads tokens of one text from `pos` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    pub text: &'a str,
    pub pos: usize,
    /// Whether the end of a line is a token.
    pub directive: bool,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str, pos: usize, directive: bool) -> Self {
        Lexer { text, pos, directive }
    }

    /// The byte at a position; 0 behind the end.
    fn at(&self, pos: usize) -> u8 {
        self.text.as_bytes().get(pos).copied().unwrap_or(0)
    }

    /// Length of a line continuation at a position, or 0.
    fn splice(&self, pos: usize) -> usize {
        splice(self.text.as_bytes(), pos)
    }

    /// The logical byte at a position, and where the next one begins: line continuations are skipped.
    fn peek(&self, mut pos: usize) -> (u8, usize) {
        loop {
            let b = self.at(pos);
            let splice = if b == b'\\' { self.splice(pos) } else { 0 };
            if splice == 0 {
                return (b, pos + 1);
            }
            pos += splice;
        }
    }

    /// Skips white space and comments. Answers the flags of the next token, and whether a comment has no end.
    fn skip_blank(&mut self) -> (Flags, Trouble) {
        let bytes = self.text.as_bytes();
        let mut flags = Flags::empty();
        while let Some(&b) = bytes.get(self.pos) {
            match b {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.pos += 1;
                    flags |= Flags::SPACE;
                }
                b'\n' => {
                    if self.directive {
                        break;
                    }
                    self.pos += 1;
                    flags |= Flags::SPACE | Flags::LINE_START;
                }
                b'/' => {
                    let (next, after) = self.peek(self.pos + 1);
                    match next {
                        b'/' => self.pos = line_comment_end(bytes, after),
                        b'*' => match block_comment_end(bytes, after) {
                            Some(end) => self.pos = end,
                            None => {
                                self.pos = bytes.len();
                                return (flags, Trouble::UnterminatedComment);
                            }
                        },
                        _ => break,
                    }
                    flags |= Flags::SPACE;
                }
                b'\\' => match self.splice(self.pos) {
                    0 => break,
                    n => {
                        self.pos += n;
                        flags |= Flags::SPACE;
                    }
                },
                _ => break,
            }
        }
        (flags, Trouble::None)
    }

    /// The byte the next token begins with.
    pub fn next_byte(mut self) -> Option<u8> {
        self.begin_token()
    }

    /// Skips what precedes the next token; the byte it begins with.
    pub fn begin_token(&mut self) -> Option<u8> {
        self.skip_blank();
        self.text.as_bytes().get(self.pos).copied()
    }

    /// The next token. Behind the last one it answers `Eof` for ever.
    pub fn next(&mut self, names: &mut Interner) -> Raw {
        let (flags, trouble) = self.skip_blank();
        let lo = self.pos;
        let mut raw = Raw { kind: TokenKind::Eof, flags, value: 0, lo: lo as u32, hi: lo as u32, trouble };
        let bytes = self.text.as_bytes();
        let Some(&b) = bytes.get(lo) else { return raw };
        match class(b) {
            IDENT_START => {
                let mut end = lo + 1;
                while bytes.get(end).is_some_and(|b| class(*b) & (IDENT_START | DIGIT) != 0) {
                    end += 1;
                }
                if bytes.get(end) == Some(&b'\\') && self.splice(end) != 0 {
                    self.spliced(&mut raw, names, TokenKind::Ident, |_, b| class(b) & (IDENT_START | DIGIT) != 0);
                } else {
                    self.pos = end;
                    raw.kind = TokenKind::Ident;
                    raw.value = names.intern(&self.text[lo..end]).0;
                }
            }
            DIGIT => self.number(&mut raw, names),
            _ => match b {
                b'.' if class(self.peek(lo + 1).0) == DIGIT => self.number(&mut raw, names),
                b'"' | b'\'' => self.quoted(&mut raw, names, b),
                b'\n' => raw.kind = TokenKind::Newline,
                _ => self.punctuator(&mut raw, names),
            },
        }
        raw.hi = self.pos as u32;
        raw
    }

    /// A token with line continuations inside: gathers the logical bytes `take` accepts.
    #[cold]
    fn spliced(&mut self, raw: &mut Raw, names: &mut Interner, kind: TokenKind, take: impl Fn(&str, u8) -> bool) {
        let mut text = String::new();
        loop {
            let (b, after) = self.peek(self.pos);
            if b == 0 || !b.is_ascii() || !take(&text, b) {
                break;
            }
            text.push(char::from(b));
            self.pos = after;
        }
        raw.kind = kind;
        raw.value = names.intern(&text).0;
    }

    /// A preprocessing number (C11 6.4.8), with HLSL's `1.#INF`, and with `1.xxx` and `1.0.xxx` cut before the
    /// swizzle.
    fn number(&mut self, raw: &mut Raw, names: &mut Interner) {
        raw.kind = TokenKind::Number;
        let lo = self.pos;
        let bytes = self.text.as_bytes();
        let mut end = lo;
        while let Some(&b) = bytes.get(end) {
            if b == b'\\' && self.splice(end) != 0 {
                let text = self.text;
                let next = |so_far: &str, b: u8| number_continues(so_far.as_bytes(), b, 0);
                debug_assert!(text.is_char_boundary(lo));
                return self.spliced(raw, names, TokenKind::Number, next);
            }
            if !number_continues(&bytes[lo..end], b, bytes.get(end + 1).copied().unwrap_or(0)) {
                break;
            }
            end += 1;
        }
        self.pos = end;
        raw.value = names.intern(&self.text[lo..end]).0;
    }

    /// A string or character literal. Escapes stay as they are; line continuations go.
    fn quoted(&mut self, raw: &mut Raw, names: &mut Interner, quote: u8) {
        let lo = self.pos;
        let bytes = self.text.as_bytes();
        let mut end = lo + 1;
        let mut splices = false;
        raw.kind = if quote == b'"' { TokenKind::Str } else { TokenKind::Char };
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => {
                    raw.kind = TokenKind::Unknown;
                    raw.trouble = Trouble::UnterminatedLiteral;
                    break;
                }
                Some(b'\\') => match self.splice(end) {
                    0 => end = (end + 2).min(bytes.len()),
                    n => {
                        splices = true;
                        end += n;
                    }
                },
                Some(b) => {
                    end += 1;
                    if *b == quote {
                        break;
                    }
                }
            }
        }
        // An escaped character may be of several bytes.
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.pos = end;
        let text = self.text[lo..end].trim_end_matches('\r');
        raw.value = if splices { names.intern(&unspliced(text)).0 } else { names.intern(text).0 };
    }

    fn punctuator(&mut self, raw: &mut Raw, names: &mut Interner) {
        use TokenKind as K;
        let lo = self.pos;
        let (b0, p1) = self.peek(lo);
        let (b1, p2) = self.peek(p1);
        let two = |kind| (kind, p2);
        let one = |kind| (kind, p1);
        let third = |want: u8| {
            let (b2, p3) = self.peek(p2);
            (b2 == want).then_some(p3)
        };
        let (kind, end) = match (b0, b1) {
            (b'(', _) => one(K::LParen),
            (b')', _) => one(K::RParen),
            (b'{', _) => one(K::LBrace),
            (b'}', _) => one(K::RBrace),
            (b'[', _) => one(K::LBracket),
            (b']', _) => one(K::RBracket),
            (b';', _) => one(K::Semi),
            (b',', _) => one(K::Comma),
            (b'.', b'.') => match third(b'.') {
                Some(p3) => (K::Ellipsis, p3),
                None => one(K::Dot),
            },
            (b'.', _) => one(K::Dot),
            (b'?', _) => one(K::Question),
            (b':', b':') => two(K::ColonColon),
            (b':', _) => one(K::Colon),
            (b'+', b'+') => two(K::PlusPlus),
            (b'+', b'=') => two(K::PlusEq),
            (b'+', _) => one(K::Plus),
            (b'-', b'-') => two(K::MinusMinus),
            (b'-', b'=') => two(K::MinusEq),
            (b'-', b'>') => two(K::Arrow),
            (b'-', _) => one(K::Minus),
            (b'*', b'=') => two(K::StarEq),
            (b'*', _) => one(K::Star),
            (b'/', b'=') => two(K::SlashEq),
            (b'/', _) => one(K::Slash),
            (b'%', b'=') => two(K::PercentEq),
            (b'%', _) => one(K::Percent),
            (b'&', b'&') => two(K::AmpAmp),
            (b'&', b'=') => two(K::AmpEq),
            (b'&', _) => one(K::Amp),
            (b'|', b'|') => two(K::PipePipe),
            (b'|', b'=') => two(K::PipeEq),
            (b'|', _) => one(K::Pipe),
            (b'^', b'=') => two(K::CaretEq),
            (b'^', _) => one(K::Caret),
            (b'~', _) => one(K::Tilde),
            (b'!', b'=') => two(K::BangEq),
            (b'!', _) => one(K::Bang),
            (b'=', b'=') => two(K::EqEq),
            (b'=', _) => one(K::Eq),
            (b'<', b'<') => match third(b'=') {
                Some(p3) => (K::ShlEq, p3),
                None => two(K::Shl),
            },
            (b'<', b'=') => two(K::LtEq),
            (b'<', _) => one(K::Lt),
            (b'>', b'>') => match third(b'=') {
                Some(p3) => (K::ShrEq, p3),
                None => two(K::Shr),
            },
            (b'>', b'=') => two(K::GtEq),
            (b'>', _) => one(K::Gt),
            (b'#', b'#') => two(K::HashHash),
            (b'#', _) => one(K::Hash),
            _ => {
                let len = self.text[lo..].chars().next().map_or(1, char::len_utf8);
                raw.value = names.intern(&self.text[lo..lo + len]).0;
                (K::Unknown, lo + len)
            }
        };
        raw.kind = kind;
        self.pos = end;
    }
}

/// Length of a line continuation (backslash, blanks, newline) at a position, or 0. Blanks between are an extension
/// that DXC has too.
pub(crate) fn splice(bytes: &[u8], pos: usize) -> usize {
    if bytes.get(pos) != Some(&b'\\') {
        return 0;
    }
    let mut end = pos + 1;
    while bytes.get(end).is_some_and(|b| class(*b) == BLANK) {
        end += 1;
    }
    if bytes.get(end) == Some(&b'\n') { end + 1 - pos } else { 0 }
}

/// Where the newline that ends a `//` comment is.
pub(crate) fn line_comment_end(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(b) = bytes.get(pos) {
        match b {
            b'\n' => break,
            b'\\' => pos += splice(bytes, pos).max(1),
            _ => pos += 1,
        }
    }
    pos
}

/// The position behind a `*/`.
pub(crate) fn block_comment_end(bytes: &[u8], mut pos: usize) -> Option<usize> {
    loop {
        pos += bytes.get(pos..)?.iter().position(|b| *b == b'*')? + 1;
        if bytes.get(pos) == Some(&b'/') {
            return Some(pos + 1);
        }
        let n = splice(bytes, pos);
        if n > 0 && bytes.get(pos + n) == Some(&b'/') {
            return Some(pos + n + 1);
        }
    }
}

/// Whether `b` continues the preprocessing number `so_far`; `next` is the byte behind `b`.
fn number_continues(so_far: &[u8], b: u8, next: u8) -> bool {
    let hex = matches!(so_far, [b'0', b'x' | b'X', ..]);
    match b {
        b'.' => {
            // A second period begins a swizzle, and so does the first one before `x` or `r`.
            so_far.is_empty() || !so_far.contains(&b'.') && !matches!(next, b'x' | b'r')
        }
        b'#' => so_far.last() == Some(&b'.') && next.is_ascii_uppercase(),
        b'+' | b'-' => !hex && matches!(so_far.last(), Some(b'e' | b'E')),
        _ => class(b) & (IDENT_START | DIGIT) != 0,
    }
}

fn unspliced(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut pos) = (0, 0);
    while pos < bytes.len() {
        let n = splice(bytes, pos);
        if n > 0 {
            out.push_str(&text[from..pos]);
            from = pos + n;
        }
        pos += n.max(1);
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(text: &str) -> Vec<String> {
        let mut names = Interner::new();
        let mut lexer = Lexer::new(text, 0, false);
        let mut out = Vec::new();
        loop {
            let raw = lexer.next(&mut names);
            if raw.kind == TokenKind::Eof {
                return out;
            }
            let token = Token { kind: raw.kind, flags: raw.flags, value: raw.value, span: Span::NONE };
            out.push(token.text(&names).to_string());
        }
    }

    #[test]
    fn splits_tokens() {
        let cases: &[(&str, &[&str])] = &[
            ("a+++b", &["a", "++", "+", "b"]),
            ("a<<=b>>=c>>d", &["a", "<<=", "b", ">>=", "c", ">>", "d"]),
            ("x/*c*/y//z\nw", &["x", "y", "w"]),
            ("1.xxxx 1.0.xxx .5f 1.rgb", &["1", ".", "xxxx", "1.0", ".", "xxx", ".5f", "1", ".", "rgb"]),
            ("1e+5 0x1e+5 1.#INF 1.f", &["1e+5", "0x1e", "+", "5", "1.#INF", "1.f"]),
            ("a.b..c...d", &["a", ".", "b", ".", ".", "c", "...", "d"]),
            ("ab\\\ncd 1\\\n2 +\\\n= x", &["abcd", "12", "+=", "x"]),
            ("// c \\\n still\nx /\\\n* y */ z", &["x", "z"]),
            ("\"a\\\"b\" 'c' \"d\\\ne\"", &["\"a\\\"b\"", "'c'", "\"de\""]),
            ("a::b->c", &["a", "::", "b", "->", "c"]),
            ("é$", &["é", "$"]),
            ("\"open\nx", &["\"open", "x"]),
            ("\"\\", &["\"\\"]),
            ("\"\\é", &["\"\\é"]),
            ("/* open", &[]),
            ("a \\ b", &["a", "\\", "b"]),
        ];
        for (text, want) in cases {
            assert_eq!(spell(text), *want, "{text:?}");
        }
    }

    #[test]
    fn flags_tell_lines_and_spaces() {
        let mut names = Interner::new();
        let mut lexer = Lexer::new("a b\n c/**/d", 0, false);
        let flags: Vec<Flags> = (0..4).map(|_| lexer.next(&mut names).flags).collect();
        let (space, line) = (Flags::SPACE, Flags::SPACE | Flags::LINE_START);
        assert_eq!(flags, [Flags::empty(), space, line, space]);
        let mut lexer = Lexer::new("a\nb", 0, true);
        lexer.next(&mut names);
        assert_eq!(lexer.next(&mut names).kind, TokenKind::Newline);
        assert_eq!(lexer.next(&mut names).kind, TokenKind::Newline);
    }
}
