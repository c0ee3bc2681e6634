//! What stands in brackets before a declaration and behind a colon after it, and what is left of the effects framework.

use oneshader_diag::{Diagnostic, Span, codes};
use smallvec::SmallVec;

use super::Parser;
use crate::ast::*;
use crate::lex::{Token, TokenKind};
use crate::name::kw;

impl Parser<'_> {
    /// All `[...]` and `[[...]]` at the current token. Where none may stand the list is empty.
    pub(super) fn attributes(&mut self) -> Slice<Attribute> {
        if !self.is(TokenKind::LBracket) {
            return Slice::EMPTY;
        }
        let mut list: SmallVec<[Attribute; 4]> = SmallVec::new();
        self.attributes_into(&mut list);
        self.ast.list(&list)
    }

    /// `[[...]]` behind a name, added to the attributes before.
    pub(super) fn more_attributes(&mut self, before: Slice<Attribute>) -> Slice<Attribute> {
        if self.ahead(1).kind == TokenKind::LBracket { self.attributes_behind(before) } else { before }
    }

    /// As `attributes`, added to the attributes before.
    pub(super) fn attributes_behind(&mut self, before: Slice<Attribute>) -> Slice<Attribute> {
        if !self.is(TokenKind::LBracket) {
            return before;
        }
        let mut list: SmallVec<[Attribute; 4]> = self.ast[before].iter().copied().collect();
        self.attributes_into(&mut list);
        self.ast.list(&list)
    }

    fn attributes_into(&mut self, list: &mut SmallVec<[Attribute; 4]>) {
        let outer = std::mem::replace(&mut self.in_template_args, false);
        while self.is(TokenKind::LBracket) {
            self.bump();
            let doubled = self.eat(TokenKind::LBracket);
            while !self.is(TokenKind::RBracket) {
                match self.attribute(doubled) {
                    Some(attribute) => list.push(attribute),
                    None => self.skip_to(&[TokenKind::RBracket, TokenKind::Comma]),
                }
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            for _ in 0..=usize::from(doubled) {
                if !self.expect(TokenKind::RBracket, "to close the attribute") {
                    self.skip_to(&[TokenKind::RBracket]);
                    self.eat(TokenKind::RBracket);
                }
            }
        }
        self.in_template_args = outer;
    }

    fn attribute(&mut self, doubled: bool) -> Option<Attribute> {
        let start = self.cur.span;
        // Any word will do, also keywords: `[loop]`, `[[noinline]]`, `[shader("compute")]`.
        if !self.is(TokenKind::Ident) {
            self.error_here(codes::BAD_ATTRIBUTE, |text| format!("expected an attribute's name, found {text}"));
            return None;
        }
        let mut name = self.bump().name();
        let mut space = None;
        if self.is(TokenKind::ColonColon) && self.ahead(1).kind == TokenKind::Ident {
            self.bump();
            space = Some(name);
            name = self.bump().name();
        }
        let args = if self.is(TokenKind::LParen) { self.arguments() } else { Slice::EMPTY };
        Some(Attribute { space, name, args, doubled, span: start.to(self.last) })
    }

    /// All `: ...` at the current token: semantics, `register`, `packoffset`.
    pub(super) fn annotations(&mut self) -> Slice<Annotation> {
        if !self.is(TokenKind::Colon) {
            return Slice::EMPTY;
        }
        let mut list: SmallVec<[Annotation; 4]> = SmallVec::new();
        while self.eat(TokenKind::Colon) {
            let token = self.cur;
            if token.kind != TokenKind::Ident {
                self.error_here(codes::EXPECTED_NAME, |text| {
                    format!("expected a semantic, `register` or `packoffset` behind `:`, found {text}")
                });
                break;
            }
            let next = self.ahead(1).kind;
            let kind = match token.name() {
                kw::REGISTER if next == TokenKind::LParen => self.register().map(AnnotationKind::Register),
                kw::PACKOFFSET if next == TokenKind::LParen => self.packoffset().map(AnnotationKind::PackOffset),
                kw::READ | kw::WRITE if next == TokenKind::LParen => {
                    self.bump();
                    self.skip_group();
                    Some(AnnotationKind::PayloadAccess)
                }
                name => {
                    self.bump();
                    if self.is(TokenKind::LParen) {
                        let text = self.names.text(name).to_string();
                        self.error_here(codes::BAD_REGISTER, |_| {
                            format!("`{text}(...)` is none of `register(...)` and `packoffset(...)`")
                        });
                        self.skip_group();
                        None
                    } else {
                        Some(AnnotationKind::Semantic(name))
                    }
                }
            };
            if let Some(kind) = kind {
                list.push(Annotation { kind, span: token.span.to(self.last) });
            }
        }
        self.ast.list(&list)
    }

    /// `register([profile,] slot[offset] [, space])`; the current token is `register`. `None` if it was malformed.
    fn register(&mut self) -> Option<Register> {
        self.bump();
        let open = self.bump().span;
        let mut register = Register { slot: None, space: None, profile: None, offset: None };
        let mut good = true;
        for part in 0.. {
            let token = self.cur;
            if token.kind != TokenKind::Ident {
                self.error_here(codes::BAD_REGISTER, |text| format!("expected a register, found {text}"));
                good = false;
                self.skip_to(&[TokenKind::RParen]);
                break;
            }
            let text = token.text(self.names);
            if register.slot.is_none() && part == 0 && is_profile(text) && self.ahead(1).kind == TokenKind::Comma {
                register.profile = Some(token.name());
                self.bump();
            } else if text.starts_with("space") && register.space.is_none() {
                register.space = text["space".len()..].parse().ok();
                if register.space.is_none() {
                    good = self.bad_register(token, "expected `space` and a number");
                }
                self.bump();
            } else if register.slot.is_none() && register.space.is_none() {
                match slot(text) {
                    Ok(slot) => register.slot = Some(slot),
                    Err(why) => good = self.bad_register(token, why),
                }
                self.bump();
                if self.is(TokenKind::LBracket) {
                    self.bump();
                    register.offset = Some(self.parenthesized_expr());
                    self.expect(TokenKind::RBracket, "behind the register's offset");
                }
            } else {
                good = self.bad_register(token, "expected `space` and a number");
                self.bump();
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close_paren(open);
        good.then_some(register)
    }

    fn bad_register(&mut self, token: Token, why: &str) -> bool {
        let text = token.text(self.names);
        let message = format!("`{text}` is no register: {why}");
        self.report(Diagnostic::new(codes::BAD_REGISTER, token.span, message));
        false
    }

    /// `packoffset(c1.y)`; the current token is `packoffset`. `None` if it was malformed.
    fn packoffset(&mut self) -> Option<PackOffset> {
        self.bump();
        let open = self.bump().span;
        let token = self.cur;
        if token.kind != TokenKind::Ident {
            self.error_here(codes::BAD_PACKOFFSET, |text| format!("expected `cN`, found {text}"));
            self.skip_to(&[TokenKind::RParen]);
            self.eat(TokenKind::RParen);
            return None;
        }
        self.bump();
        let register = match slot(token.text(self.names)) {
            Ok((b'c', number)) => Some(number),
            _ => None,
        };
        let mut component = Some(0);
        if self.eat(TokenKind::Dot) {
            let text = if self.is(TokenKind::Ident) { self.cur.text(self.names) } else { "" };
            component = match text {
                "x" | "r" => Some(0),
                "y" | "g" => Some(1),
                "z" | "b" => Some(2),
                "w" | "a" => Some(3),
                _ => None,
            };
            if self.is(TokenKind::Ident) {
                self.bump();
            }
        }
        let span = token.span.to(self.last);
        self.close_paren(open);
        match (register, component) {
            (Some(register), Some(component)) => Some(PackOffset { register, component }),
            _ => {
                let message = "expected `packoffset(cN)` or `packoffset(cN.x)`";
                self.report(Diagnostic::new(codes::BAD_PACKOFFSET, span, message));
                None
            }
        }
    }

    /// Skips `< string Name = "x"; ... >` behind a declarator: an annotation of the effects framework.
    pub(super) fn effect_annotation(&mut self) {
        if !self.is(TokenKind::Lt) {
            return;
        }
        let start = self.bump().span;
        loop {
            match self.cur.kind {
                TokenKind::Gt => {
                    self.bump();
                    break;
                }
                TokenKind::LBrace | TokenKind::LParen => self.skip_group(),
                TokenKind::Eof | TokenKind::RBrace => {
                    self.error_here(codes::EXPECTED_TOKEN, |_| "the annotation has no `>`".into());
                    return;
                }
                _ => {
                    self.bump();
                }
            }
        }
        let message = "an annotation of the effects framework has no meaning and is ignored";
        self.report(Diagnostic::new(codes::IGNORED_CONSTRUCT, start.to(self.last), message));
    }

    /// Skips a `{ ... }` of effect state as an initializer and warns.
    pub(super) fn effect_state(&mut self, start: Span) -> ExprId {
        if self.is(TokenKind::LBrace) {
            self.skip_group();
        }
        let span = start.to(self.last);
        let message = "a state block of the effects framework has no meaning and is ignored";
        self.report(Diagnostic::new(codes::IGNORED_CONSTRUCT, span, message));
        self.expr(ExprKind::EffectState, span)
    }
}

/// Letter and number of a register's name.
fn slot(text: &str) -> Result<(u8, u32), &'static str> {
    let letter = text.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    if !matches!(letter, b'b' | b't' | b'u' | b's' | b'c' | b'i') {
        return Err("it begins with one of b, c, i, s, t and u");
    }
    let digits = text.get(1..).unwrap_or("");
    if digits.is_empty() {
        return Ok((letter, 0)); // As in DXC the number may be left out.
    }
    digits.parse().map(|number| (letter, number)).map_err(|_| "a number follows the letter")
}

/// Whether a word is a profile before a register: `ps`, `vs_5_0`.
fn is_profile(text: &str) -> bool {
    let short =
        text.len() <= 2 && text.ends_with('s') && matches!(text.as_bytes()[0], b'v' | b'p' | b'g' | b'h' | b'd' | b'c');
    let like = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    short || text.contains('_') && text.bytes().all(like) && text.bytes().any(|b| b.is_ascii_digit())
}
