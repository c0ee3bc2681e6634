//! Functions: operators' names, parameters, bodies.

use oneshader_diag::{Diagnostic, Span, codes};
use smallvec::SmallVec;

use super::Parser;
use super::declaration::{Context, Declarator, Specifiers};
use super::scope::{ScopeId, Symbol};
use crate::ast::*;
use crate::builtin::{NumericType, ScalarKind};
use crate::lex::{Token, TokenKind};
use crate::name::{Class, Name, kw};

impl Parser<'_> {
    /// `operator` and what it is of.
    pub(super) fn operator_name(&mut self) -> Option<FunctionName> {
        let start = self.bump().span;
        self.needs_version(2021, start, "overloaded operators");
        use BinaryOp as B;
        use OverloadedOp as O;
        use TokenKind as K;
        let op = match self.cur.kind {
            K::LParen if self.ahead(1).kind == K::RParen => {
                self.bump();
                O::Call
            }
            K::LBracket if self.ahead(1).kind == K::RBracket => {
                self.bump();
                O::Index
            }
            K::Star => O::Binary(B::Mul),
            K::Slash => O::Binary(B::Div),
            K::Percent => O::Binary(B::Rem),
            K::Plus => O::Binary(B::Add),
            K::Minus => O::Binary(B::Sub),
            K::Shl => O::Binary(B::Shl),
            K::Shr => O::Binary(B::Shr),
            K::Lt => O::Binary(B::Lt),
            K::LtEq => O::Binary(B::Le),
            K::Gt => O::Binary(B::Gt),
            K::GtEq => O::Binary(B::Ge),
            K::EqEq => O::Binary(B::Eq),
            K::BangEq => O::Binary(B::Ne),
            K::Amp => O::Binary(B::BitAnd),
            K::Caret => O::Binary(B::BitXor),
            K::Pipe => O::Binary(B::BitOr),
            K::AmpAmp => O::Binary(B::And),
            K::PipePipe => O::Binary(B::Or),
            K::Comma => O::Binary(B::Comma),
            K::Eq => O::Assign(None),
            K::StarEq => O::Assign(Some(B::Mul)),
            K::SlashEq => O::Assign(Some(B::Div)),
            K::PercentEq => O::Assign(Some(B::Rem)),
            K::PlusEq => O::Assign(Some(B::Add)),
            K::MinusEq => O::Assign(Some(B::Sub)),
            K::ShlEq => O::Assign(Some(B::Shl)),
            K::ShrEq => O::Assign(Some(B::Shr)),
            K::AmpEq => O::Assign(Some(B::BitAnd)),
            K::CaretEq => O::Assign(Some(B::BitXor)),
            K::PipeEq => O::Assign(Some(B::BitOr)),
            K::Bang => O::Unary(UnaryOp::Not),
            K::Tilde => O::Unary(UnaryOp::BitNot),
            K::PlusPlus => O::Unary(UnaryOp::PreInc),
            K::MinusMinus => O::Unary(UnaryOp::PreDec),
            _ if self.begins_type(self.pos) => return Some(FunctionName::Conversion),
            _ => {
                self.error_here(codes::BAD_DECLARATOR, |text| format!("{text} is no operator that can be overloaded"));
                return None;
            }
        };
        let span = start.to(self.cur.span);
        self.bump();
        // What assigns has one meaning in HLSL.
        if matches!(op, O::Assign(_) | O::Unary(UnaryOp::PreInc | UnaryOp::PreDec)) {
            let message = "operators that assign cannot be overloaded in HLSL";
            self.report(Diagnostic::new(codes::BAD_DECLARATOR, span, message));
        }
        Some(FunctionName::Operator(op))
    }

    /// Whether the `(` behind a declarator's name opens parameters rather than an initializer.
    pub(super) fn declares_function(&self, context: Context, declarator: &Declarator) -> bool {
        let next = self.ahead(1);
        if context != Context::Block || !matches!(declarator.name, FunctionName::Ident(_)) {
            return !matches!(next.kind, TokenKind::Number | TokenKind::Minus | TokenKind::LParen);
        }
        next.kind == TokenKind::RParen
            || self.is_modifier(self.pos + 1)
            || self
                .type_end(self.pos + 1)
                .is_some_and(|end| matches!(self.at(end).kind, TokenKind::Ident | TokenKind::Comma | TokenKind::RParen))
    }

    /// A function behind its name.
    pub(super) fn function(
        &mut self,
        context: Context,
        specifiers: &Specifiers,
        declarator: Declarator,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
        start: Span,
    ) -> (DeclId, bool) {
        let mut result = specifiers.ty;
        if matches!(declarator.name, FunctionName::Operator(_))
            && declarator.qualifier.is_none()
            && !matches!(context, Context::Struct(_))
        {
            let message = "an operator must be a member of a struct in HLSL";
            self.report(Diagnostic::new(codes::BAD_DECLARATOR, declarator.span, message));
        }
        if let FunctionName::Ident(name) = declarator.name
            && declarator.qualifier.is_none()
        {
            let is_word = matches!(self.names.class(name), Class::Numeric(_) | Class::Object(_));
            if template.is_some_and(|t| !self.ast[t].params.is_empty()) {
                self.declare_function_template(context, name);
            } else {
                self.scopes.declare_value(name, is_word);
            }
        }
        let outer = self.scopes.enter();
        if let Some(scope) = declarator.qualifier.and_then(|path| self.scope_of(path)) {
            let current = self.scopes.current;
            self.scopes.link(current, scope);
        }
        if declarator.name == FunctionName::Conversion {
            result = self.type_name();
        }
        let params = self.parameters();
        let result = self.array_suffix(result);
        let is_const = self.eat_word(kw::CONST);
        let annotations = self.annotations();
        let mut ends = true;
        let body = match self.cur.kind {
            TokenKind::LBrace => {
                if context == Context::Block {
                    self.error_here(codes::NOT_HLSL, |_| "a function cannot be defined inside another".into());
                }
                Some(self.function_body())
            }
            TokenKind::Semi | TokenKind::Comma => {
                ends = false;
                None
            }
            TokenKind::Eq => {
                self.error_here(codes::NOT_HLSL, |_| "functions cannot be defaulted, deleted or pure in HLSL".into());
                self.skip_to(&[]);
                ends = false;
                None
            }
            _ => {
                self.error_here(codes::EXPECTED_TOKEN, |text| {
                    format!("expected `{{` or `;` behind the function's parameters, found {text}")
                });
                self.skip_member();
                None
            }
        };
        self.scopes.leave(outer);
        let function = self.ast.add(Function {
            name: declarator.name,
            name_span: declarator.span,
            qualifier: declarator.qualifier,
            args: declarator.args,
            result,
            params,
            mods: specifiers.mods,
            is_const,
            annotations,
            body,
        });
        let span = start.to(self.last);
        (self.ast.add(Decl { kind: DeclKind::Function(function), attributes, template, span }), ends)
    }

    pub(super) fn declare_function_template(&mut self, context: Context, name: Name) {
        if matches!(context, Context::Struct(_)) {
            self.scopes.declare_member_template(name);
        }
        // Templates are declared outside the scope of their parameters.
        let scope = self.scopes.declaration_scope();
        self.scopes.declare_in(scope, name, Symbol::FunctionTemplate);
    }

    /// The scope a path names, if it was seen.
    pub(super) fn scope_of(&self, path: PathId) -> Option<ScopeId> {
        let path = self.ast[path];
        let mut scope = None;
        for (i, segment) in self.ast[path.segments].iter().enumerate() {
            let symbol = match (i, scope) {
                (0, _) if path.global => self.scopes.find_global(segment.name),
                (0, _) => self.symbol(segment.name),
                (_, Some(scope)) => self.scopes.find_in(scope, segment.name),
                _ => None,
            };
            scope = Some(symbol.and_then(Symbol::members)?);
        }
        scope
    }

    /// `( ... )` of a function; the current token is `(`.
    pub(super) fn parameters(&mut self) -> Slice<DeclId> {
        self.expect(TokenKind::LParen, "before the parameters");
        let open = self.last;
        let mut params: SmallVec<[DeclId; 8]> = SmallVec::new();
        let is_void = |token: Token, p: &Self| {
            token.kind == TokenKind::Ident && p.class(token) == Class::Numeric(NumericType::Scalar(ScalarKind::Void))
        };
        if is_void(self.cur, self) && self.ahead(1).kind == TokenKind::RParen {
            self.bump();
        }
        while !self.is(TokenKind::RParen) && !self.is(TokenKind::Eof) {
            let at = self.pos;
            match self.parameter() {
                Some(param) => params.push(param),
                None => self.skip_to(&[TokenKind::Comma, TokenKind::RParen]),
            }
            if !self.eat(TokenKind::Comma) || self.pos == at {
                break;
            }
            if self.is(TokenKind::RParen) {
                self.error_here(codes::EXPECTED_TYPE, |_| "expected a parameter behind `,`".into());
            }
        }
        self.close_paren(open);
        self.ast.list(&params)
    }

    pub(super) fn parameter(&mut self) -> Option<DeclId> {
        let start = self.cur.span;
        if self.is(TokenKind::Ellipsis) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no variable arguments".into());
            self.bump();
            return None;
        }
        let attributes = self.attributes();
        let mut tags = Vec::new();
        // In a parameter list an undeclared name alone can be nothing but a type.
        let lone = self.is_name(self.cur)
            && self.symbol(self.cur.name()).is_none()
            && matches!(self.ahead(1).kind, TokenKind::Comma | TokenKind::RParen)
            && self.class(self.cur) == Class::Ident;
        let specifiers = if lone {
            let span = self.cur.span;
            let ty = self.type_specifier(Mods::empty());
            Specifiers { mods: Mods::empty(), ty, tag: None, start: span }
        } else {
            self.specifiers(Context::Namespace, Slice::EMPTY, None, &mut tags)?
        };
        let mut name = None;
        let mut name_span = self.cur.span.start();
        if self.is_name(self.cur) {
            let token = self.bump();
            name = Some(token.name());
            name_span = token.span;
            let is_word = matches!(self.class(token), Class::Numeric(_) | Class::Object(_));
            self.scopes.declare_value(token.name(), is_word);
        }
        let attributes = self.more_attributes(attributes);
        let ty = self.array_suffix(specifiers.ty);
        let annotations = self.annotations();
        let init = if self.eat(TokenKind::Eq) { Some(self.initializer()) } else { None };
        // Semantics behind the default are accepted as FXC does.
        let annotations = if annotations.is_empty() { self.annotations() } else { annotations };
        let mods = specifiers.mods;
        let var = Var { name, name_span, qualifier: None, args: None, ty, mods, annotations, init, bits: None };
        let var = self.ast.add(var);
        let span = start.to(self.last);
        Some(self.ast.add(Decl { kind: DeclKind::Var(var), attributes, template: None, span }))
    }
}
