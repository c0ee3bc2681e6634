//! Directives.

use oneshader_diag::{Diagnostic, Severity, Span, closest, codes};

use super::Packing;
use super::reader::{Conditional, Pp};
use crate::lex::{self, Flags, Lexer, Token, TokenKind};
use crate::name::{Name, kw};

/// All directives, for suggestions.
const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "line",
    "error", "warning", "pragma",
];

/// Pragmas that mean nothing to this compiler and are known to others.
const IGNORED_PRAGMAS: &[&str] =
    &["warning", "def", "dxc", "region", "endregion", "mark", "ruledisable", "target", "comment", "fxc"];

impl Pp<'_> {
    /// Reads a directive behind its `#` and does it.
    pub(super) fn directive(&mut self, hash: Token) {
        let outer = std::mem::replace(&mut self.in_directive, true);
        let call = self.call;
        let name = self.lex();
        self.named_directive(hash, name);
        self.call = call;
        self.in_directive = outer;
    }

    fn named_directive(&mut self, hash: Token, name: Token) {
        let at = hash.span.to(name.span);
        if name.kind == TokenKind::Number {
            // `# 12 "file"`: a line marker of a preprocessor's output.
            return self.line_directive(at, Some(name));
        }
        if matches!(name.kind, TokenKind::Newline | TokenKind::Eof) {
            return;
        }
        if name.kind != TokenKind::Ident {
            self.bag.report(codes::UNKNOWN_DIRECTIVE, name.span, "expected a directive's name behind `#`");
            return self.skip_line();
        }
        match name.name() {
            kw::INCLUDE => self.include_directive(at),
            kw::DEFINE => {
                let line = self.line();
                self.define(at, &line);
                self.spare.push(line);
            }
            kw::UNDEF => {
                let line = self.line();
                self.undef(at, &line);
            }
            kw::IF => {
                let guard = self.guard_of_if(hash);
                let taken = self.condition(at);
                self.open_conditional(at, taken, guard);
            }
            kw::IFDEF | kw::IFNDEF => self.ifdef(hash, at, name.is(kw::IFNDEF)),
            kw::ELIF | kw::ELIFDEF | kw::ELIFNDEF | kw::ELSE => self.close_group(at, name.name()),
            kw::ENDIF => self.endif(at),
            kw::LINE => self.line_directive(at, None),
            kw::ERROR | kw::WARNING => {
                let rest = self.rest_of_line();
                let (code, what) = match name.is(kw::ERROR) {
                    true => (codes::USER_ERROR, "#error"),
                    false => (codes::USER_WARNING, "#warning"),
                };
                let message = if rest.is_empty() { what.to_string() } else { rest };
                self.bag.report(code, at, message);
            }
            kw::PRAGMA => {
                let line = self.line();
                self.pragma(at, &line);
            }
            _ => {
                let text = self.names.text(name.name());
                let message = format!("unknown directive `#{text}`");
                let mut problem = Diagnostic::new(codes::UNKNOWN_DIRECTIVE, name.span, message);
                if let Some(near) = closest(text, DIRECTIVES.iter().copied()) {
                    problem = problem.help(format!("did you mean `#{near}`?"));
                }
                self.bag.push(problem);
                self.skip_line();
            }
        }
    }

    /// The tokens up to the end of the line.
    fn line(&mut self) -> Vec<Token> {
        let mut line = self.spare.pop().unwrap_or_default();
        line.clear();
        loop {
            let token = self.lex();
            if matches!(token.kind, TokenKind::Newline | TokenKind::Eof) {
                return line;
            }
            line.push(token);
        }
    }

    fn skip_line(&mut self) {
        let line = self.line();
        self.spare.push(line);
    }

    /// The text up to the end of the line, as written.
    fn rest_of_line(&mut self) -> String {
        let bytes = self.file.text.as_bytes();
        let start = self.file.pos;
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'\n' {
            end += lex::splice(bytes, end).max(1);
        }
        let end = end.min(bytes.len());
        self.file.pos = end;
        self.file.text.get(start..end).unwrap_or("").trim().to_string()
    }

    /// Warns of tokens behind a directive.
    pub(super) fn no_more(&mut self, directive: &str, line: &[Token]) {
        if let Some(token) = line.first() {
            let message = format!("extra tokens behind `{directive}`");
            self.bag.report(codes::EXTRA_TOKENS, token.span, message);
        }
    }

    // Conditionals.

    fn ifdef(&mut self, hash: Token, at: Span, negated: bool) {
        let line = self.line();
        let Some((name, rest)) = self.macro_name(at, &line) else {
            return self.open_conditional(at, false, None);
        };
        self.no_more(if negated { "#ifndef" } else { "#ifdef" }, rest);
        let defined = self.macros.is_defined(name.name());
        let guard = (negated && self.is_first(hash)).then_some(name.name());
        self.spare.push(line);
        self.open_conditional(at, defined != negated, guard);
    }

    fn is_first(&self, hash: Token) -> bool {
        self.file.first == Some(hash.span.lo) && self.file.conditionals.is_empty()
    }

    /// The guard of `#if !defined(NAME)` at the head of a file.
    fn guard_of_if(&mut self, hash: Token) -> Option<Name> {
        if !self.is_first(hash) {
            return None;
        }
        let mut lexer = Lexer::new(&self.file.text, self.file.pos, true);
        let mut list = [TokenKind::Newline; 6];
        let mut name = None;
        for (i, kind) in list.iter_mut().enumerate() {
            let raw = lexer.next(self.names);
            *kind = raw.kind;
            if matches!(raw.kind, TokenKind::Newline | TokenKind::Eof) {
                *kind = TokenKind::Newline;
                break;
            }
            match i {
                1 if raw.kind != TokenKind::Ident || raw.value != kw::DEFINED.0 => return None,
                2 | 3 if raw.kind == TokenKind::Ident => name = Some(Name(raw.value)),
                _ => {}
            }
        }
        use TokenKind::{Bang, Ident, LParen, Newline, RParen};
        match list {
            [Bang, Ident, Ident, Newline, ..] | [Bang, Ident, LParen, Ident, RParen, Newline] => name,
            _ => None,
        }
    }

    fn open_conditional(&mut self, span: Span, taken: bool, guard: Option<Name>) {
        self.file.conditionals.push(Conditional { span, taken, seen_else: false, guard });
        if !taken {
            self.skip_groups();
        }
    }

    /// `#elif` or `#else` at the end of a group that was taken.
    fn close_group(&mut self, at: Span, name: Name) {
        let Some(conditional) = self.file.conditionals.last_mut() else {
            let text = self.names.text(name).to_string();
            self.bag.report(codes::UNBALANCED_CONDITIONAL, at, format!("`#{text}` without `#if`"));
            return self.skip_line();
        };
        conditional.guard = None;
        self.check_else(at, name);
        self.skip_line();
        self.skip_groups();
    }

    fn check_else(&mut self, at: Span, name: Name) {
        let Some(conditional) = self.file.conditionals.last_mut() else { return };
        let second = conditional.seen_else;
        conditional.seen_else |= name == kw::ELSE;
        if second {
            let text = self.names.text(name);
            let message = format!("`#{text}` behind `#else`");
            let label = (conditional.span, "of this conditional");
            self.bag.push(Diagnostic::new(codes::UNBALANCED_CONDITIONAL, at, message).label(label.0, label.1));
        }
    }

    fn endif(&mut self, at: Span) {
        let line = self.line();
        match self.file.conditionals.pop() {
            None => self.bag.report(codes::UNBALANCED_CONDITIONAL, at, "`#endif` without `#if`"),
            Some(conditional) => {
                self.no_more("#endif", &line);
                self.file.guard = match conditional.guard {
                    Some(guard) if self.file.conditionals.is_empty() => Some((guard, self.file.pos)),
                    _ => self.file.guard,
                };
            }
        }
    }

    /// Skips groups of the innermost conditional until one is taken or it ends.
    fn skip_groups(&mut self) {
        loop {
            if !self.skip_group() {
                return; // The end of the file reports the missing `#endif`.
            }
            let hash = self.lex();
            let name = self.lex();
            let at = hash.span.to(name.span);
            if name.is(kw::ENDIF) {
                return self.endif(at);
            }
            self.check_else(at, name.name());
            let Some(conditional) = self.file.conditionals.last_mut() else { return };
            conditional.guard = None;
            if conditional.taken || (conditional.seen_else && !name.is(kw::ELSE)) {
                self.skip_line();
                continue;
            }
            let taken = match name.name() {
                kw::ELSE => {
                    let line = self.line();
                    self.no_more("#else", &line);
                    true
                }
                kw::ELIF => self.condition(at),
                _ => {
                    let line = self.line();
                    let found = self.macro_name(at, &line).map(|(name, _)| name);
                    found.is_some_and(|n| self.macros.is_defined(n.name()) == name.is(kw::ELIFDEF))
                }
            };
            if let Some(conditional) = self.file.conditionals.last_mut() {
                conditional.taken = taken;
            }
            if taken {
                return;
            }
        }
    }

    /// Moves to the `#` of the next `#elif`, `#else` or `#endif` of this conditional. Answers false at the end of the
    /// file.
    fn skip_group(&mut self) -> bool {
        let key = (self.file.id, self.file.pos);
        if let Some(end) = self.skips.get(&key) {
            self.file.pos = *end;
        } else {
            self.file.pos = group_end(&self.file.text, self.file.pos);
            self.skips.insert(key, self.file.pos);
        }
        self.file.pos < self.file.text.len()
    }

    // Files and lines.

    fn include_directive(&mut self, at: Span) {
        let (path, angled, span) = match self.header_name() {
            Some(found) => {
                let line = self.line();
                self.no_more("#include", &line);
                found
            }
            None => {
                let line = self.line();
                self.call = at;
                let list = self.expand_list(&line);
                match self.header_from_tokens(&list) {
                    Some((path, angled)) => (path, angled, line.first().map_or(at, |t| t.span)),
                    None => {
                        let message = "expected \"file\" or <file> behind `#include`";
                        return self.bag.report(codes::MALFORMED_DIRECTIVE, at, message);
                    }
                }
            }
        };
        if self.in_arguments {
            let message = "`#include` cannot stand inside the arguments of a macro";
            return self.bag.report(codes::MALFORMED_DIRECTIVE, at, message);
        }
        let reported = self.bag.len();
        match self.find_include(&path, angled, span) {
            Some(id) => {
                self.in_directive = false;
                self.include(id, span);
            }
            None if self.bag.len() == reported => {
                let message = format!("include file `{path}` is not found");
                let help = "add its directory with `-I`";
                self.bag.push(Diagnostic::new(codes::INCLUDE_NOT_FOUND, span, message).help(help));
            }
            None => {}
        }
    }

    /// A header name at the current position of the line, consumed; `None` if there is none.
    pub(super) fn header_name(&mut self) -> Option<(String, bool, Span)> {
        let mut blank = Lexer::new(&self.file.text, self.file.pos, true);
        let close = match blank.begin_token()? {
            b'<' => '>',
            b'"' => '"',
            _ => return None,
        };
        let start = blank.pos;
        let line = self.file.text[start + 1..].split('\n').next()?;
        let len = line.find(close)?;
        let path = line[..len].to_string();
        self.file.pos = start + len + 2;
        Some((path, close == '>', Span::new(self.file.id, start as u32, self.file.pos as u32)))
    }

    /// A header name out of macros.
    fn header_from_tokens(&self, list: &[Token]) -> Option<(String, bool)> {
        let first = list.first()?;
        match first.kind {
            TokenKind::Str => Some((self.names.text(first.name()).trim_matches('"').to_string(), false)),
            TokenKind::Lt => {
                let end = list.iter().position(|t| t.kind == TokenKind::Gt)?;
                let mut path = String::new();
                for (i, token) in list[1..end].iter().enumerate() {
                    if i > 0 && token.flags.contains(Flags::SPACE) {
                        path.push(' ');
                    }
                    path.push_str(token.text(self.names));
                }
                Some((path, true))
            }
            _ => None,
        }
    }

    fn line_directive(&mut self, at: Span, number: Option<Token>) {
        let mut line = self.line();
        let marker = number.is_some();
        if let Some(number) = number {
            line.insert(0, number);
        }
        self.call = at;
        let list = self.expand_list(&line);
        let number = list.first().filter(|t| t.kind == TokenKind::Number);
        let number = number.and_then(|t| self.names.text(t.name()).parse::<u32>().ok());
        let name = list.get(1).map(|t| (t.kind, self.names.text(t.name())));
        let (Some(number), None | Some((TokenKind::Str, _))) = (number, name) else {
            let message = "expected `#line number` or `#line number \"file\"`";
            return self.bag.report(codes::MALFORMED_DIRECTIVE, at, message);
        };
        let name = name.map(|(_, text)| text.trim_matches('"').replace("\\\\", "\\").into());
        if !marker && list.len() > 2 {
            self.no_more("#line", &list[2..]);
        }
        let next = (self.file.pos + 1).min(self.file.text.len()) as u32;
        self.map.add_line_mark(self.file.id, next, number, name);
    }

    // Pragmas.

    /// `#pragma`, given what follows it.
    pub(super) fn pragma(&mut self, at: Span, line: &[Token]) {
        let Some((name, rest)) = line.split_first() else { return };
        match name.name() {
            _ if name.kind != TokenKind::Ident => {
                self.bag.report(codes::UNKNOWN_PRAGMA, name.span, "expected a pragma's name");
            }
            kw::ONCE => {
                self.facts.entry(self.file.id).or_default().once = true;
                self.no_more("#pragma once", rest);
            }
            kw::PACK_MATRIX => {
                self.call = at;
                let rest = self.expand_list(rest);
                let packing = match rest.as_slice() {
                    [open, order, close, ..] if open.kind == TokenKind::LParen && close.kind == TokenKind::RParen => {
                        match order.name() {
                            kw::ROW_MAJOR => Some(Packing::Row),
                            kw::COLUMN_MAJOR => Some(Packing::Column),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                let Some(packing) = packing else {
                    let message = "expected `pack_matrix(row_major)` or `pack_matrix(column_major)`";
                    return self.bag.report(codes::BAD_PRAGMA, at, message);
                };
                self.packing.push((self.out.len() as u32, packing));
                let end = line.last().map_or(at, |t| t.span);
                self.pragmas.push((self.out.len() as u32, at.to(end)));
            }
            kw::MESSAGE => {
                let text = rest.iter().find(|t| t.kind == TokenKind::Str).map_or("", |t| self.names.text(t.name()));
                let message = text.trim_matches('"').to_string();
                self.bag.push(Diagnostic::new(codes::USER_WARNING, at, message).severity(Severity::Note));
            }
            other => {
                let text = self.names.text(other);
                if !IGNORED_PRAGMAS.contains(&text) {
                    let message = format!("unknown pragma `{text}` is ignored");
                    self.bag.report(codes::UNKNOWN_PRAGMA, at.to(name.span), message);
                }
            }
        }
    }
}

/// Position of the `#` of the `#elif`, `#else` or `#endif` that ends the group at `pos`, or of the text's end.
fn group_end(text: &str, mut pos: usize) -> usize {
    let bytes = text.as_bytes();
    let mut nesting = 0u32;
    let mut line_start = false;
    while let Some(&b) = bytes.get(pos) {
        match b {
            b'\n' => {
                line_start = true;
                pos += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => pos += 1,
            b'\\' => pos += lex::splice(bytes, pos).max(1),
            b'/' if bytes.get(pos + 1) == Some(&b'/') => pos = lex::line_comment_end(bytes, pos + 2),
            b'/' if bytes.get(pos + 1) == Some(&b'*') => {
                pos = lex::block_comment_end(bytes, pos + 2).unwrap_or(bytes.len());
            }
            b'"' | b'\'' => {
                line_start = false;
                pos = quoted_end(bytes, pos + 1, b);
            }
            b'#' if line_start => {
                line_start = false;
                let (word, end) = directive_word(text, pos + 1);
                match word {
                    "if" | "ifdef" | "ifndef" => nesting += 1,
                    "endif" if nesting > 0 => nesting -= 1,
                    "endif" | "else" | "elif" | "elifdef" | "elifndef" if nesting == 0 => return pos,
                    _ => {}
                }
                pos = end;
            }
            _ => {
                line_start = false;
                pos += 1;
                // Most bytes of a skipped line mean nothing.
                while bytes.get(pos).is_some_and(|b| !matches!(b, b'\n' | b'/' | b'"' | b'\'' | b'\\' | b'#')) {
                    pos += 1;
                }
            }
        }
    }
    bytes.len()
}

/// Behind the closing quote, or at the end of the line.
fn quoted_end(bytes: &[u8], mut pos: usize, quote: u8) -> usize {
    while let Some(&b) = bytes.get(pos) {
        match b {
            b'\n' => return pos,
            b'\\' => pos += lex::splice(bytes, pos).max(2),
            _ if b == quote => return pos + 1,
            _ => pos += 1,
        }
    }
    bytes.len()
}

/// The word behind a `#`, and where it ends.
fn directive_word(text: &str, pos: usize) -> (&str, usize) {
    let mut lexer = Lexer::new(text, pos, true);
    lexer.begin_token();
    let start = lexer.pos.min(text.len());
    let len = text.as_bytes()[start..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
    (&text[start..start + len], start + len)
}
