//! Macro definitions.

use smallvec::SmallVec;

use oneshader_diag::{Diagnostic, Span, codes};

use super::reader::Pp;
use crate::lex::{Flags, Token, TokenKind};
use crate::name::{Name, kw};

/// A macro the preprocessor computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    File,
    Line,
    Counter,
    IncludeLevel,
    /// `__has_include`: known to `defined`, evaluated by `#if`.
    HasInclude,
    /// `__has_feature(x)` and its kin: 0.
    HasNothing,
    /// `_Pragma("text")`
    Pragma,
}

const BUILTINS: &[(&str, Builtin)] = &[
    ("__FILE__", Builtin::File),
    ("__LINE__", Builtin::Line),
    ("__COUNTER__", Builtin::Counter),
    ("__INCLUDE_LEVEL__", Builtin::IncludeLevel),
    ("__has_include", Builtin::HasInclude),
    ("__has_feature", Builtin::HasNothing),
    ("__has_extension", Builtin::HasNothing),
    ("__has_builtin", Builtin::HasNothing),
    ("__has_attribute", Builtin::HasNothing),
    ("__has_cpp_attribute", Builtin::HasNothing),
    ("_Pragma", Builtin::Pragma),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MacroKind {
    Object,
    Function { params: u16, variadic: bool },
    Builtin(Builtin),
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub name: Name,
    pub name_span: Span,
    pub kind: MacroKind,
    /// Its body in [`Macros::bodies`].
    pub body: (u32, u32),
    /// Whether the body has `##`.
    pub pastes: bool,
    /// Whether it is being expanded, so that its name is left alone.
    pub disabled: bool,
}

/// All macros.
#[derive(Default)]
pub(super) struct Macros {
    /// Index + 1 of the macro of each name; 0 for none.
    by_name: Vec<u32>,
    pub defs: Vec<Macro>,
    pub bodies: Vec<Token>,
}

impl Macros {
    /// The index of a name's macro.
    pub fn find(&self, name: u32) -> Option<usize> {
        match self.by_name.get(name as usize) {
            None | Some(0) => None,
            Some(index) => Some(*index as usize - 1),
        }
    }

    pub fn is_defined(&self, name: Name) -> bool {
        self.find(name.0).is_some()
    }

    pub fn undef(&mut self, name: Name) {
        if let Some(slot) = self.by_name.get_mut(name.0 as usize) {
            *slot = 0;
        }
    }

    fn define(&mut self, def: Macro) {
        let index = def.name.0 as usize;
        if self.by_name.len() <= index {
            self.by_name.resize(index + 64, 0);
        }
        self.defs.push(def);
        self.by_name[index] = self.defs.len() as u32;
    }

    pub fn body(&self, index: usize) -> &[Token] {
        let (lo, hi) = self.defs[index].body;
        &self.bodies[lo as usize..hi as usize]
    }

    /// Whether two macros are the same by C11 6.10.3p2.
    fn same(&self, a: usize, b: usize) -> bool {
        let blank = |t: &Token| t.flags.contains(Flags::SPACE);
        let (x, y) = (self.body(a), self.body(b));
        self.defs[a].kind == self.defs[b].kind
            && x.len() == y.len()
            && x.iter()
                .zip(y)
                .enumerate()
                .all(|(i, (x, y))| (x.kind, x.value) == (y.kind, y.value) && (i == 0 || blank(x) == blank(y)))
    }
}

impl Pp<'_> {
    pub(super) fn define_builtins(&mut self) {
        for (text, builtin) in BUILTINS {
            let name = self.names.intern(text);
            self.macros.define(Macro {
                name,
                name_span: Span::NONE,
                kind: MacroKind::Builtin(*builtin),
                body: (0, 0),
                pastes: false,
                disabled: false,
            });
        }
    }

    /// `#define`, given what follows it.
    pub(super) fn define(&mut self, at: Span, line: &[Token]) {
        let Some((name, mut rest)) = self.macro_name(at, line) else { return };
        let mut kind = MacroKind::Object;
        let mut params: SmallVec<[Name; 8]> = SmallVec::new();
        if rest.first().is_some_and(|t| t.kind == TokenKind::LParen && !t.flags.contains(Flags::SPACE)) {
            let Some((variadic, after)) = self.parameters(&rest[1..], name.span, &mut params) else { return };
            kind = MacroKind::Function { params: params.len() as u16, variadic };
            rest = after;
        }
        let lo = self.macros.bodies.len();
        let mut pastes = false;
        let mut tokens = rest.iter().copied().peekable();
        while let Some(mut token) = tokens.next() {
            let param = |t: &Token| {
                let found = params.iter().position(|p| t.is(*p))?;
                Some(found as u32)
            };
            match token.kind {
                TokenKind::HashHash => {
                    token.kind = TokenKind::Paste;
                    pastes = true;
                }
                TokenKind::Hash if kind != MacroKind::Object => match tokens.peek().and_then(param) {
                    Some(index) => {
                        token.kind = TokenKind::Stringify;
                        token.value = index;
                        tokens.next();
                    }
                    None => {
                        let message = "`#` in a macro's body must stand before a parameter";
                        self.bag.report(codes::BAD_MACRO_DEFINITION, token.span, message);
                        return self.macros.bodies.truncate(lo);
                    }
                },
                TokenKind::Ident => {
                    if let Some(index) = param(&token) {
                        token.kind = TokenKind::Param;
                        token.value = index;
                    } else if token.is(kw::VA_ARGS) {
                        let message = "`__VA_ARGS__` stands in the body of a variadic macro alone";
                        self.bag.report(codes::BAD_MACRO_DEFINITION, token.span, message);
                    }
                }
                _ => {}
            }
            self.macros.bodies.push(token);
        }
        let body = &self.macros.bodies[lo..];
        let ends = [body.first().copied(), body.last().copied()];
        if let Some(end) = ends.into_iter().flatten().find(|t| t.kind == TokenKind::Paste) {
            let message = "`##` cannot stand at the end of a macro's body";
            self.bag.report(codes::BAD_MACRO_DEFINITION, end.span, message);
            return self.macros.bodies.truncate(lo);
        }
        let body = (lo as u32, self.macros.bodies.len() as u32);
        let old = self.macros.find(name.value);
        let def = Macro { name: name.name(), name_span: name.span, kind, body, pastes, disabled: false };
        self.macros.define(def);
        if let Some(old) = old {
            self.redefined(old, self.macros.defs.len() - 1);
        }
    }

    fn redefined(&mut self, old: usize, new: usize) {
        if self.macros.same(old, new) {
            return;
        }
        let (old, new) = (&self.macros.defs[old], &self.macros.defs[new]);
        let name = self.names.text(new.name);
        let code = match old.kind {
            MacroKind::Builtin(_) => codes::BUILTIN_MACRO,
            _ => codes::MACRO_REDEFINED,
        };
        let message = format!("macro `{name}` is defined again with another body");
        self.bag.push(Diagnostic::new(code, new.name_span, message).label(old.name_span, "it was defined here"));
    }

    /// The name of `#define`, `#undef`, `#ifdef` and what follows it.
    pub(super) fn macro_name<'t>(&mut self, at: Span, line: &'t [Token]) -> Option<(Token, &'t [Token])> {
        let place = line.first().map_or(at.end(), |t| t.span);
        match line.split_first() {
            Some((name, rest)) if name.kind == TokenKind::Ident => {
                if name.is(kw::DEFINED) || name.is(kw::VA_ARGS) {
                    let text = self.names.text(name.name()).to_string();
                    self.bag.report(codes::BAD_MACRO_DEFINITION, place, format!("`{text}` cannot be a macro's name"));
                    return None;
                }
                Some((*name, rest))
            }
            _ => {
                self.bag.report(codes::MALFORMED_DIRECTIVE, place, "expected a macro's name");
                None
            }
        }
    }

    /// Parameters behind the `(`. Answers whether the last one is variadic, and what follows the `)`.
    fn parameters<'t>(
        &mut self,
        line: &'t [Token],
        name: Span,
        params: &mut SmallVec<[Name; 8]>,
    ) -> Option<(bool, &'t [Token])> {
        let mut tokens = line;
        let mut variadic = false;
        let mut next = || {
            let (token, rest) = tokens.split_first()?;
            tokens = rest;
            Some(*token)
        };
        let mut place = name;
        let problem = loop {
            let Some(mut token) = next() else { break "the parameters lack their `)`" };
            place = token.span;
            match token.kind {
                TokenKind::RParen if params.is_empty() => return Some((false, tokens)),
                TokenKind::Ident if params.contains(&token.name()) => break "two parameters have the same name",
                TokenKind::Ident => params.push(token.name()),
                TokenKind::Ellipsis => {
                    variadic = true;
                    params.push(kw::VA_ARGS);
                }
                _ => break "expected a parameter's name",
            }
            if params.len() > u16::MAX as usize {
                break "too many parameters";
            }
            let Some(behind) = next() else { break "the parameters lack their `)`" };
            token = behind;
            place = token.span;
            match token.kind {
                TokenKind::RParen => return Some((variadic, tokens)),
                TokenKind::Comma if !variadic => {}
                // The GNU form `args...` names the variable arguments.
                TokenKind::Ellipsis if !variadic => {
                    variadic = true;
                    match next() {
                        Some(t) if t.kind == TokenKind::RParen => return Some((variadic, tokens)),
                        _ => break "`...` must be the last parameter",
                    }
                }
                _ if variadic => break "`...` must be the last parameter",
                _ => break "expected `,` or `)` between parameters",
            }
        };
        self.bag.report(codes::BAD_MACRO_DEFINITION, place, problem);
        None
    }

    /// `#undef`, given what follows it.
    pub(super) fn undef(&mut self, at: Span, line: &[Token]) {
        let Some((name, rest)) = self.macro_name(at, line) else { return };
        self.no_more("#undef", rest);
        if let Some(index) = self.macros.find(name.value)
            && matches!(self.macros.defs[index].kind, MacroKind::Builtin(_))
        {
            let text = self.names.text(name.name());
            let message = format!("the predefined macro `{text}` is undefined");
            self.bag.report(codes::BUILTIN_MACRO, name.span, message);
        }
        self.macros.undef(name.name());
    }
}
