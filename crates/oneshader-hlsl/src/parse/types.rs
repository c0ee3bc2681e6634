//! Types, paths and template arguments.

use oneshader_diag::{Span, codes};
use smallvec::SmallVec;

use super::Parser;
use super::declaration::modifier;
use super::scope::Symbol;
use crate::ast::*;
use crate::builtin::{NumericType, ObjectKind, ScalarKind};
use crate::lex::{Token, TokenKind};
use crate::name::{Class, Name, kw};

/// How far the search for the `>` of template arguments looks.
const MAX_ANGLE_SCAN: usize = 512;

impl Parser<'_> {
    /// What a name is: a declaration of the source, or `None`.
    pub(super) fn symbol(&self, name: Name) -> Option<Symbol> {
        self.scopes.find(name)
    }

    /// Whether a word is a type of the language that no declaration hides.
    fn is_type_word(&self, token: Token) -> bool {
        matches!(self.class(token), Class::Numeric(_) | Class::Object(_)) && self.symbol(token.name()).is_none()
    }

    /// Where a type that begins at a position ends; `None` if none begins there. Looks only, and does not check what
    /// is inside template arguments. Modifiers are not part of it.
    pub(super) fn type_end(&self, pos: usize) -> Option<usize> {
        let first = self.at(pos);
        if first.kind == TokenKind::ColonColon {
            return self.path_type_end(pos, false);
        }
        if first.kind != TokenKind::Ident {
            return None;
        }
        match self.class(first) {
            Class::Numeric(_) | Class::Object(_) if self.is_type_word(first) => {
                let end = pos + 1;
                let takes_args = matches!(self.class(first), Class::Object(_));
                if takes_args && self.at(end).kind == TokenKind::Lt {
                    // A missing `>` is reported where the arguments are parsed.
                    return self.angle_end(end).or(Some(end));
                }
                Some(end)
            }
            Class::Keyword => match first.name() {
                kw::UNSIGNED | kw::SIGNED => {
                    let int = matches!(self.class(self.at(pos + 1)), Class::Numeric(_));
                    Some(pos + 1 + usize::from(int && self.at(pos + 1).kind == TokenKind::Ident))
                }
                kw::TYPENAME => self.path_type_end(pos + 1, true),
                kw::STRUCT | kw::CLASS | kw::INTERFACE | kw::ENUM if self.at(pos + 1).kind == TokenKind::Ident => {
                    Some(pos + 2)
                }
                kw::DECLTYPE | kw::GNU_DECLTYPE if self.at(pos + 1).kind == TokenKind::LParen => {
                    let mut open = 0u32;
                    let mut at = pos + 1;
                    loop {
                        match self.at(at).kind {
                            TokenKind::LParen => open += 1,
                            TokenKind::RParen if open == 1 => return Some(at + 1),
                            TokenKind::RParen => open -= 1,
                            TokenKind::Eof | TokenKind::Semi => return None,
                            _ => {}
                        }
                        at += 1;
                    }
                }
                _ => None,
            },
            Class::Reserved => None,
            _ => self.path_type_end(pos, false),
        }
    }

    /// As `type_end` for a path of declared names. `dependent`: `typename` precedes, so that what cannot be looked up
    /// is a type.
    fn path_type_end(&self, pos: usize, dependent: bool) -> Option<usize> {
        let mut at = pos;
        let mut symbol = None;
        let mut first = true;
        let mut global = false;
        if self.at(at).kind == TokenKind::ColonColon {
            at += 1;
            global = true;
        }
        loop {
            let name = self.at(at);
            if !self.is_name(name) {
                return None;
            }
            let found = match (first, symbol) {
                (true, _) if global => self.scopes.find_global(name.name()),
                (true, _) => self.symbol(name.name()),
                (false, Some(symbol)) => {
                    let members: Option<super::scope::ScopeId> = Symbol::members(symbol);
                    members.and_then(|scope| self.scopes.find_in(scope, name.name()))
                }
                (false, None) => None,
            };
            if found.is_none() && (first || !dependent) {
                // `vk::SpirvType<...>` and the like: a namespace of the language whose members are not listed here.
                let of_language = matches!(symbol, Some(Symbol::Namespace(_)));
                return (of_language && self.is_undeclared_type(at)).then(|| self.skip_args(at + 1)).flatten();
            }
            first = false;
            symbol = found;
            at += 1;
            let may_have_args = found.is_none_or(|s| s.is_template());
            if self.at(at).kind == TokenKind::Lt && may_have_args && found != Some(Symbol::FunctionTemplate) {
                at = self.angle_end(at)?;
            }
            if self.at(at).kind == TokenKind::ColonColon {
                if !matches!(found, None | Some(Symbol::Type(_) | Symbol::TypeTemplate(_) | Symbol::Namespace(_))) {
                    return None;
                }
                at += 1;
                continue;
            }
            return match found {
                Some(Symbol::Type(_) | Symbol::TypeTemplate(_)) => Some(at),
                None if dependent => Some(at),
                _ => None,
            };
        }
    }

    fn skip_args(&self, at: usize) -> Option<usize> {
        if self.at(at).kind == TokenKind::Lt { self.angle_end(at) } else { Some(at) }
    }

    /// Whether a name nobody declared stands where only a type can: before another name, or with template arguments
    /// before one.
    pub(super) fn is_undeclared_type(&self, pos: usize) -> bool {
        let mut at = pos;
        loop {
            let name = self.at(at);
            if !self.is_name(name) || at == pos && matches!(self.symbol(name.name()), Some(Symbol::Value)) {
                return false;
            }
            match self.at(at + 1).kind {
                TokenKind::Ident => return self.is_name(self.at(at + 1)),
                TokenKind::Lt => return self.angle_end(at + 1).is_some_and(|end| self.is_name(self.at(end))),
                TokenKind::ColonColon => at += 2,
                _ => return false,
            }
        }
    }

    /// The position behind the `>` that matches the `<` at a position, if there is one before a `;` or brace.
    pub(super) fn angle_end(&self, pos: usize) -> Option<usize> {
        let mut angles = 0i32;
        let mut parens = 0i32;
        for at in pos..pos + MAX_ANGLE_SCAN {
            let step = match self.at(at).kind {
                TokenKind::Lt if parens == 0 => 1,
                TokenKind::Gt if parens == 0 => -1,
                TokenKind::Shr if parens == 0 => -2,
                TokenKind::GtEq if parens == 0 => -1,
                TokenKind::LParen | TokenKind::LBracket => {
                    parens += 1;
                    0
                }
                TokenKind::RParen | TokenKind::RBracket => {
                    parens -= 1;
                    if parens < 0 {
                        return None;
                    }
                    0
                }
                TokenKind::Semi | TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof => return None,
                TokenKind::AmpAmp | TokenKind::PipePipe | TokenKind::Eq if parens == 0 => return None,
                _ => 0,
            };
            angles += step;
            // `>>` may close one more than was opened here: the rest closes an outer list.
            if step < 0 && angles <= 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Parses a type without modifiers; the current token must begin one (see `type_end`), or an undeclared name that
    /// is taken for one.
    pub(super) fn type_specifier(&mut self, mods: Mods) -> TypeId {
        if !self.descend() {
            return self.error_type(self.cur.span);
        }
        let ty = self.type_specifier_inner(mods);
        self.ascend();
        ty
    }

    fn type_specifier_inner(&mut self, mods: Mods) -> TypeId {
        let first = self.cur;
        let span = first.span;
        let mods = mods & Mods::TYPE;
        match self.class(first) {
            _ if first.kind == TokenKind::ColonColon => self.path_type(mods),
            _ if first.kind != TokenKind::Ident => {
                self.error_here(codes::EXPECTED_TYPE, |text| format!("expected a type, found {text}"));
                self.error_type(span)
            }
            Class::Numeric(numeric) if self.is_type_word(first) => {
                self.bump();
                let packed = if matches!(numeric, NumericType::Matrix(..)) { self.packed } else { Mods::empty() };
                self.ty(TypeKind::Numeric(numeric), mods | packed, span)
            }
            Class::Object(kind) if self.is_type_word(first) => {
                let packed = self.packed;
                self.bump();
                let args = if self.is(TokenKind::Lt) { self.template_args() } else { Slice::EMPTY };
                let span = span.to(self.last);
                let packed = if kind == ObjectKind::Matrix { packed } else { Mods::empty() };
                self.ty(TypeKind::Object { kind, args }, mods | packed, span)
            }
            Class::Keyword => match first.name() {
                kw::UNSIGNED | kw::SIGNED => self.signed_type(mods),
                kw::TYPENAME => {
                    self.bump();
                    self.path_type(mods)
                }
                kw::DECLTYPE | kw::GNU_DECLTYPE => {
                    self.bump();
                    self.expect(TokenKind::LParen, "behind `decltype`");
                    let expr = self.parenthesized(|p| p.expression());
                    let span = span.to(self.last);
                    self.ty(TypeKind::Decltype(expr), mods, span)
                }
                _ => {
                    self.error_here(codes::EXPECTED_TYPE, |text| format!("expected a type, found {text}"));
                    self.error_type(span)
                }
            },
            Class::Reserved => {
                self.reserved_word();
                self.bump();
                self.error_type(span)
            }
            _ => self.path_type(mods),
        }
    }

    fn path_type(&mut self, mods: Mods) -> TypeId {
        let packed = self.packed;
        match self.path(true) {
            Some(path) => {
                let span = self.ast[path].span;
                self.ty(TypeKind::Path(path), mods | packed, span)
            }
            None => self.error_type(self.cur.span),
        }
    }

    /// `unsigned`, `unsigned int`, `signed int`.
    fn signed_type(&mut self, mods: Mods) -> TypeId {
        let first = self.bump();
        let unsigned = first.is(kw::UNSIGNED);
        let mut numeric = NumericType::Scalar(ScalarKind::Int);
        if self.is(TokenKind::Ident)
            && let Class::Numeric(written) = self.class(self.cur)
        {
            let token = self.bump();
            numeric = written;
            let is_integer = matches!(
                scalar_of(numeric),
                ScalarKind::Int
                    | ScalarKind::Uint
                    | ScalarKind::Int16
                    | ScalarKind::Int64
                    | ScalarKind::Min16Int
                    | ScalarKind::Min12Int
            );
            if !is_integer {
                let message = format!("`{}` takes no `{}`", token.text(self.names), first.text(self.names));
                self.bag.report(codes::MISPLACED_MODIFIER, first.span, message);
            }
        }
        let scalar = match scalar_of(numeric) {
            ScalarKind::Int if unsigned => ScalarKind::Uint,
            ScalarKind::Int16 if unsigned => ScalarKind::Uint16,
            ScalarKind::Int64 if unsigned => ScalarKind::Uint64,
            ScalarKind::Min16Int | ScalarKind::Min12Int if unsigned => ScalarKind::Min16Uint,
            scalar => scalar,
        };
        let numeric = match numeric {
            NumericType::Scalar(_) => NumericType::Scalar(scalar),
            NumericType::Vector(_, n) => NumericType::Vector(scalar, n),
            NumericType::Matrix(_, rows, columns) => NumericType::Matrix(scalar, rows, columns),
        };
        let packed = if matches!(numeric, NumericType::Matrix(..)) { self.packed } else { Mods::empty() };
        let span = first.span.to(self.last);
        self.ty(TypeKind::Numeric(numeric), mods | packed, span)
    }

    /// A complete type name as in a cast or template argument: modifiers, type, array brackets.
    pub(super) fn type_name(&mut self) -> TypeId {
        let start = self.cur.span;
        let mods = self.type_modifiers();
        let ty = self.type_specifier(mods);
        let after = self.type_modifiers();
        if !after.is_empty() {
            let extra = self.ast[ty].mods | after;
            self.ast[ty].mods = extra;
        }
        self.refuse_pointer();
        let ty = self.array_suffix(ty);
        if !mods.is_empty() {
            let span = start.to(self.ast[ty].span);
            self.ast[ty].span = span;
        }
        ty
    }

    /// Modifiers that can stand in a type name.
    pub(super) fn type_modifiers(&mut self) -> Mods {
        let mut mods = Mods::empty();
        while self.is_type_modifier(self.pos) {
            if self.is_word(kw::VOLATILE) {
                self.reserved_word();
            }
            mods |= modifier(self.cur.name()).unwrap_or_default();
            self.bump();
        }
        mods
    }

    fn is_type_modifier(&self, pos: usize) -> bool {
        self.is_modifier(pos) && modifier(self.at(pos).name()).is_some_and(|mods| Mods::TYPE.contains(mods))
    }

    /// Whether a type name, modifiers included, begins at a position.
    pub(super) fn begins_type(&self, pos: usize) -> bool {
        self.is_type_modifier(pos) || self.type_end(pos).is_some()
    }

    /// Reports `*` and `&` behind a type and skips them.
    pub(super) fn refuse_pointer(&mut self) {
        if matches!(self.cur.kind, TokenKind::Star | TokenKind::Amp | TokenKind::AmpAmp) {
            let what = if self.is(TokenKind::Star) { "pointers" } else { "references" };
            self.error_here(codes::NOT_HLSL, |_| format!("HLSL has no {what}"));
            while matches!(self.cur.kind, TokenKind::Star | TokenKind::Amp | TokenKind::AmpAmp) {
                self.bump();
            }
        }
    }

    /// Array brackets behind a type or declarator, applied from the last to the first.
    pub(super) fn array_suffix(&mut self, element: TypeId) -> TypeId {
        let mut sizes: SmallVec<[(Option<ExprId>, Span); 4]> = SmallVec::new();
        while self.is(TokenKind::LBracket) && self.ahead(1).kind != TokenKind::LBracket {
            let open = self.bump().span;
            let size = if self.is(TokenKind::RBracket) { None } else { Some(self.array_size()) };
            if !self.expect_close(TokenKind::RBracket, open, "behind the array's size") {
                self.skip_to(&[TokenKind::RBracket, TokenKind::Comma, TokenKind::RParen]);
                self.eat(TokenKind::RBracket);
            }
            sizes.push((size, open.to(self.last)));
            if sizes.len() as u32 > self.limits.nesting {
                self.too_deep();
            }
        }
        let base = self.ast[element].span;
        let mods = self.ast[element].mods;
        let end = sizes.last().map_or(base, |(_, span)| *span);
        sizes.iter().rev().fold(element, |element, (size, _)| {
            let kind = TypeKind::Array { element, size: *size };
            self.ty(kind, mods, base.to(end))
        })
    }

    fn array_size(&mut self) -> ExprId {
        let outer = std::mem::replace(&mut self.in_template_args, false);
        let size = self.constant();
        self.in_template_args = outer;
        size
    }

    /// A path: `a`, `::a`, `a::b<int>`. `in_type` tells that it names a type, so that `<` behind an undeclared name
    /// opens arguments. `None`, reported, where no name stands.
    pub(super) fn path(&mut self, in_type: bool) -> Option<PathId> {
        let start = self.cur.span;
        let global = self.eat(TokenKind::ColonColon);
        let mut segments: SmallVec<[Segment; 4]> = SmallVec::new();
        let mut scope = None;
        loop {
            if !self.is_name(self.cur) {
                self.error_here(codes::EXPECTED_NAME, |text| format!("expected a name, found {text}"));
                return None;
            }
            let token = self.bump();
            let symbol = match (segments.is_empty(), scope) {
                (true, _) if global => self.scopes.find_global(token.name()),
                (true, _) => self.symbol(token.name()),
                (false, Some(scope)) => self.scopes.find_in(scope, token.name()),
                (false, None) => None,
            };
            let mut args = None;
            if self.is(TokenKind::Lt) {
                let opens = match symbol {
                    Some(symbol) => symbol.is_template(),
                    None if in_type => true,
                    // A member of something dependent or of a namespace of the language.
                    None => {
                        !segments.is_empty()
                            && self.angle_end(self.pos).is_some_and(|end| {
                                matches!(self.at(end).kind, TokenKind::LParen | TokenKind::ColonColon)
                            })
                    }
                };
                if opens {
                    args = Some(self.template_args());
                }
            }
            segments.push(Segment { name: token.name(), args, span: token.span });
            if !self.is(TokenKind::ColonColon) || self.ahead(1).kind != TokenKind::Ident {
                break;
            }
            // `S::operator+` is the declarator's.
            if self.ahead(1).is(kw::OPERATOR) {
                break;
            }
            self.bump();
            self.eat_word(kw::TEMPLATE);
            scope = symbol.and_then(Symbol::members);
            if segments.len() as u32 > self.limits.nesting {
                self.too_deep();
                return None;
            }
        }
        let span = start.to(self.last);
        let segments = self.ast.list(&segments);
        Some(self.ast.add(Path { global, segments, span }))
    }

    /// `< ... >`; the current token is `<`.
    pub(super) fn template_args(&mut self) -> Slice<TemplateArg> {
        let open = self.bump();
        let outer = std::mem::replace(&mut self.in_template_args, true);
        let mut args: SmallVec<[TemplateArg; 4]> = SmallVec::new();
        if self.descend() {
            while !self.closes_angle() && !self.is(TokenKind::Eof) {
                let at = self.pos;
                args.push(self.template_arg());
                if !self.eat(TokenKind::Comma) {
                    break;
                }
                if self.pos == at {
                    break;
                }
            }
            self.ascend();
        }
        self.in_template_args = outer;
        if !self.eat_gt() {
            let text = self.spelled(self.cur);
            self.error_at(codes::BAD_TEMPLATE, open.span, || {
                format!("these template arguments have no `>`: found {text} instead")
            });
            // A name here is most likely what the type is of.
            if !self.is_name(self.cur) {
                self.skip_to(&[TokenKind::Gt, TokenKind::LParen, TokenKind::RParen, TokenKind::Comma]);
                self.eat(TokenKind::Gt);
            }
        }
        self.ast.list(&args)
    }

    fn closes_angle(&self) -> bool {
        matches!(self.cur.kind, TokenKind::Gt | TokenKind::Shr | TokenKind::GtEq | TokenKind::ShrEq)
    }

    fn template_arg(&mut self) -> TemplateArg {
        let start = self.cur.span;
        let is_type = match self.type_end(self.pos) {
            Some(end) => !matches!(self.at(end).kind, TokenKind::LParen | TokenKind::Dot | TokenKind::ColonColon),
            None => self.begins_type(self.pos) || self.undeclared_type_argument(),
        };
        let kind =
            if is_type { TemplateArgKind::Type(self.type_name()) } else { TemplateArgKind::Expr(self.assignment()) };
        TemplateArg { kind, span: start.to(self.last) }
    }

    /// `Buffer<Undeclared<int> >`: a name with arguments of its own is taken for a type.
    fn undeclared_type_argument(&self) -> bool {
        self.is_name(self.cur)
            && self.symbol(self.cur.name()).is_none()
            && self.ahead(1).kind == TokenKind::Lt
            && self.angle_end(self.pos + 1).is_some_and(|end| {
                matches!(self.at(end).kind, TokenKind::Gt | TokenKind::Shr | TokenKind::Comma)
                    || self.at(end - 1).kind == TokenKind::Shr
            })
    }

    /// Reports the reserved word at the current token.
    pub(super) fn reserved_word(&mut self) {
        self.error_here(codes::RESERVED_WORD, |text| format!("{} has no meaning in HLSL", text));
    }
}

fn scalar_of(numeric: NumericType) -> ScalarKind {
    match numeric {
        NumericType::Scalar(kind) | NumericType::Vector(kind, _) | NumericType::Matrix(kind, _, _) => kind,
    }
}
