//! Preprocessed text (`-P`).

use std::fmt::Write;

use oneshader_diag::{FileId, SourceMap};

use super::Preprocessed;
use crate::lex::{Flags, Token, TokenKind};
use crate::name::Interner;

/// The text of a preprocessed source: lines stay where they were, `#line` marks jumps and files, pragmas that mean
/// something are kept. Preprocessing it again gives the same tokens.
pub fn print(preprocessed: &Preprocessed, names: &Interner, map: &SourceMap) -> String {
    let mut out = String::with_capacity(preprocessed.tokens.len() * 6);
    let mut pragmas = preprocessed.pragmas.iter().peekable();
    let mut place = (FileId::NONE, 0u32);
    let mut last: Option<Token> = None;
    for (index, token) in preprocessed.tokens.iter().enumerate() {
        while let Some((_, span)) = pragmas.next_if(|(at, _)| *at as usize <= index) {
            let fresh = out.is_empty() || out.ends_with('\n');
            let _ = writeln!(out, "{}{}", if fresh { "" } else { "\n" }, map.snippet(*span));
            place = (FileId::NONE, 0);
        }
        if token.kind == TokenKind::Eof {
            break;
        }
        let new_line = token.flags.contains(Flags::LINE_START) || place.0 != token.span.file || last.is_none();
        if new_line && let Some(file) = map.file(token.span.file) {
            let (name, at) = file.presumed(token.span.lo);
            let behind = at.line.wrapping_sub(place.1);
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            if place.0 == token.span.file && behind <= 8 {
                (1..behind).for_each(|_| out.push('\n'));
            } else {
                let _ = writeln!(out, "#line {} \"{}\"", at.line, name.replace('\\', "\\\\"));
            }
            (1..at.col.min(80)).for_each(|_| out.push(' '));
            place = (token.span.file, at.line);
        } else if last.is_some_and(|last| token.flags.contains(Flags::SPACE) || would_join(last, *token, names)) {
            out.push(' ');
        }
        out.push_str(token.text(names));
        last = Some(*token);
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Whether two tokens side by side would be read as something else.
fn would_join(left: Token, right: Token, names: &Interner) -> bool {
    let (a, b) = (left.text(names), right.text(names));
    let (Some(a), Some(b)) = (a.bytes().last(), b.bytes().next()) else { return false };
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 0x80;
    let sign = |b: u8| b.is_ascii_punctuation() && !matches!(b, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b';' | b',');
    word(a) && word(b) || sign(a) && sign(b) || left.kind == TokenKind::Number && matches!(b, b'+' | b'-' | b'#')
}
