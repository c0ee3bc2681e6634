//! Variables, functions and what leads to them: specifiers and declarators.

use oneshader_diag::{Diagnostic, Span, codes};
use smallvec::SmallVec;

use super::Parser;
use super::scope::Symbol;
use crate::ast::*;
use crate::lex::{Token, TokenKind};
use crate::name::{Class, Name, kw};

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Context {
    /// At file scope, in a namespace or in a cbuffer.
    Namespace,
    /// In a struct of this name.
    Struct(Option<Name>),
    /// In a function.
    Block,
}

/// What stands before the declarators.
pub(super) struct Specifiers {
    pub mods: Mods,
    pub ty: TypeId,
    /// A struct or enum defined or declared in the type.
    pub tag: Option<DeclId>,
    pub start: Span,
}

/// A name with what belongs to it.
pub(super) struct Declarator {
    pub name: FunctionName,
    pub span: Span,
    pub qualifier: Option<PathId>,
    pub args: Option<Slice<TemplateArg>>,
}

/// The effects framework's types; declarations of them have no meaning.
const EFFECT_TYPES: &[&str] = &[
    "BlendState",
    "DepthStencilState",
    "RasterizerState",
    "DepthStencilView",
    "RenderTargetView",
    "VertexShader",
    "PixelShader",
    "GeometryShader",
    "HullShader",
    "DomainShader",
    "ComputeShader",
    "stateblock",
    "stateblock_state",
    "pixelfragment",
    "vertexfragment",
    "pixelshader",
    "vertexshader",
];

/// The modifier a word is.
pub(super) fn modifier(word: Name) -> Option<Mods> {
    Some(match word {
        kw::STATIC => Mods::STATIC,
        kw::EXTERN => Mods::EXTERN,
        kw::CONST => Mods::CONST,
        kw::VOLATILE => Mods::VOLATILE,
        kw::UNIFORM => Mods::UNIFORM,
        kw::INLINE => Mods::INLINE,
        kw::GROUPSHARED => Mods::GROUPSHARED,
        kw::SHARED => Mods::SHARED,
        kw::IN => Mods::IN,
        kw::OUT => Mods::OUT,
        kw::INOUT => Mods::IN.union(Mods::OUT),
        kw::ROW_MAJOR => Mods::ROW_MAJOR,
        kw::COLUMN_MAJOR => Mods::COLUMN_MAJOR,
        kw::NOINTERPOLATION => Mods::NOINTERPOLATION,
        kw::LINEAR => Mods::LINEAR,
        kw::CENTROID => Mods::CENTROID,
        kw::NOPERSPECTIVE => Mods::NOPERSPECTIVE,
        kw::SAMPLE => Mods::SAMPLE,
        kw::CENTER => Mods::CENTER,
        kw::SNORM => Mods::SNORM,
        kw::UNORM => Mods::UNORM,
        kw::PRECISE => Mods::PRECISE,
        kw::GLOBALLYCOHERENT => Mods::GLOBALLYCOHERENT,
        kw::REORDERCOHERENT => Mods::REORDERCOHERENT,
        kw::EXPORT => Mods::EXPORT,
        kw::CONSTEXPR => Mods::CONSTEXPR,
        kw::POINT => Mods::POINT,
        kw::LINE => Mods::LINE,
        kw::LINEADJ => Mods::LINEADJ,
        kw::TRIANGLE => Mods::TRIANGLE,
        kw::TRIANGLEADJ => Mods::TRIANGLEADJ,
        kw::INDICES => Mods::INDICES,
        kw::VERTICES => Mods::VERTICES,
        kw::PRIMITIVES => Mods::PRIMITIVES,
        kw::PAYLOAD => Mods::PAYLOAD,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Whether a contextual word at a position is a modifier: something that can go on with a declaration follows.
    pub(super) fn is_modifier(&self, pos: usize) -> bool {
        let token = self.at(pos);
        if token.kind != TokenKind::Ident || modifier(token.name()).is_none() {
            return false;
        }
        if self.class(token) != Class::Contextual {
            return true;
        }
        let next = self.at(pos + 1);
        match next.kind {
            TokenKind::Ident => true,
            TokenKind::ColonColon => self.type_end(pos + 1).is_some(),
            TokenKind::LBracket => self.at(pos + 2).kind == TokenKind::LBracket,
            _ => false,
        }
    }

    /// Whether the statement, condition or `for` header at the current token begins with a declaration.
    pub(super) fn begins_declaration(&self) -> bool {
        let token = self.cur;
        if token.kind == TokenKind::Ident {
            match token.name() {
                kw::STRUCT
                | kw::CLASS
                | kw::INTERFACE
                | kw::ENUM
                | kw::UNION
                | kw::TYPEDEF
                | kw::USING
                | kw::TEMPLATE
                | kw::NAMESPACE
                | kw::CBUFFER
                | kw::TBUFFER
                | kw::STATIC_ASSERT
                | kw::CPP_STATIC_ASSERT
                | kw::AUTO => return true,
                _ if self.is_modifier(self.pos) => return true,
                _ => {}
            }
        }
        match self.type_end(self.pos) {
            // A type alone is no expression, so what does not continue one is a declaration, if a broken one.
            Some(end) => !matches!(
                self.at(end).kind,
                TokenKind::LParen | TokenKind::LBrace | TokenKind::ColonColon | TokenKind::Dot
            ),
            None => self.is_undeclared_type(self.pos) && !self.is_value_before_operator(),
        }
    }

    /// `a b` where `a` is a variable that was forgotten an operator behind: not a declaration.
    fn is_value_before_operator(&self) -> bool {
        self.cur.kind == TokenKind::Ident && self.class(self.cur) == Class::Contextual
    }

    /// A declaration with attributes; appends what it declares.
    pub(super) fn declaration(&mut self, context: Context, out: &mut Vec<DeclId>) {
        if !self.descend() {
            return;
        }
        let attributes = self.attributes();
        self.declaration_with(context, attributes, out);
        self.ascend();
    }

    pub(super) fn declaration_with(&mut self, context: Context, attributes: Slice<Attribute>, out: &mut Vec<DeclId>) {
        let start = self.cur.span;
        let token = self.cur;
        if token.kind == TokenKind::Semi {
            self.bump();
            return;
        }
        if token.kind == TokenKind::Ident {
            let found = match token.name() {
                kw::NAMESPACE => self.namespace(attributes),
                kw::USING => self.using(attributes),
                kw::TYPEDEF => return self.typedef(attributes, out),
                kw::TEMPLATE => return self.template(context, attributes, out),
                kw::CBUFFER | kw::TBUFFER => self.cbuffer(attributes),
                kw::STATIC_ASSERT | kw::CPP_STATIC_ASSERT => self.static_assert(attributes),
                kw::TECHNIQUE | kw::TECHNIQUE_UPPER | kw::TECHNIQUE10 | kw::TECHNIQUE11 | kw::FXGROUP
                    if context == Context::Namespace && self.is_technique() =>
                {
                    return self.technique();
                }
                kw::UNION => {
                    self.error_here(codes::NOT_HLSL, |_| "HLSL has no unions".into());
                    self.skip_to(&[]);
                    self.eat(TokenKind::Semi);
                    return;
                }
                kw::PUBLIC | kw::PRIVATE | kw::PROTECTED => {
                    self.error_here(codes::NOT_HLSL, |_| "all members are public in HLSL".into());
                    self.bump();
                    self.eat(TokenKind::Colon);
                    return;
                }
                kw::EXTERN if self.ahead(1).kind == TokenKind::Str => {
                    self.error_here(codes::NOT_HLSL, |_| "HLSL has no language linkage".into());
                    self.bump();
                    self.bump();
                    return;
                }
                _ => {
                    return self.simple_declaration(context, attributes, None, start, out);
                }
            };
            out.push(found);
            return;
        }
        if token.kind == TokenKind::Tilde && matches!(context, Context::Struct(_)) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no destructors".into());
            return self.skip_member();
        }
        if token.kind == TokenKind::ColonColon {
            self.simple_declaration(context, attributes, None, start, out);
        }
    }

    /// Skips a member or function that cannot be parsed, its body too.
    pub(super) fn skip_member(&mut self) {
        loop {
            match self.cur.kind {
                TokenKind::LBrace => return self.skip_group(),
                TokenKind::Semi => {
                    self.bump();
                    return;
                }
                TokenKind::RBrace | TokenKind::Eof => return,
                TokenKind::LParen | TokenKind::LBracket => self.skip_group(),
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Specifiers and declarators: variables, functions, and the structs in their types.
    pub(super) fn simple_declaration(
        &mut self,
        context: Context,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
        start: Span,
        out: &mut Vec<DeclId>,
    ) {
        let at = self.pos;
        let effect = self.is_effect_type();
        // A constructor or a conversion operator has no type in front.
        if let Context::Struct(name) = context
            && self.cur.kind == TokenKind::Ident
            && (name == Some(self.cur.name()) && self.ahead(1).kind == TokenKind::LParen)
        {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no constructors".into());
            return self.skip_member();
        }
        let Some(specifiers) = self.specifiers(context, attributes, template, out) else {
            if self.pos != at {
                self.skip_member();
            }
            return;
        };
        if self.is(TokenKind::Semi) {
            if specifiers.tag.is_none() && self.reported_at != self.pos {
                let span = specifiers.start.to(self.last);
                self.report(Diagnostic::new(codes::EMPTY_DECLARATION, span, "this declaration declares nothing"));
            }
            self.bump();
            return;
        }
        // A struct's closing brace without `;`: say so, and go on with what follows.
        if specifiers.tag.is_some()
            && self.cur.flags.contains(crate::lex::Flags::LINE_START)
            && !self.declarator_follows()
        {
            self.expect(TokenKind::Semi, "behind the struct or enum");
            return;
        }
        loop {
            let at = self.pos;
            match self.declarator(context, &specifiers, attributes, template, start, effect) {
                Some((decl, ends)) => {
                    out.push(decl);
                    if ends {
                        return;
                    }
                }
                None => return self.skip_member(),
            }
            if !self.eat(TokenKind::Comma) || self.pos == at {
                break;
            }
        }
        self.semi("behind the declaration");
    }

    /// Whether the current token can be the name of a declarator that ends like one.
    fn declarator_follows(&self) -> bool {
        self.is_name(self.cur)
            && matches!(
                self.ahead(1).kind,
                TokenKind::Semi | TokenKind::Comma | TokenKind::Eq | TokenKind::LBracket | TokenKind::Colon
            )
    }

    fn is_effect_type(&self) -> bool {
        self.cur.kind == TokenKind::Ident
            && self.symbol(self.cur.name()).is_none()
            && EFFECT_TYPES.contains(&self.names.text(self.cur.name()))
    }

    /// Modifiers and the type. `None`, reported, where there is no type.
    pub(super) fn specifiers(
        &mut self,
        context: Context,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
        out: &mut Vec<DeclId>,
    ) -> Option<Specifiers> {
        let start = self.cur.span;
        let mut mods = Mods::empty();
        let mut found: Option<(TypeId, Option<DeclId>)> = None;
        loop {
            let token = self.cur;
            if token.kind == TokenKind::LBracket && self.ahead(1).kind == TokenKind::LBracket {
                self.attributes();
                continue;
            }
            if token.kind == TokenKind::Ident && self.is_modifier(self.pos) {
                if found.is_some() && self.class(token) == Class::Contextual {
                    break; // `float sample;`
                }
                self.modifier(token, &mut mods, found.is_some());
                continue;
            }
            if found.is_some() {
                break;
            }
            match token.name() {
                _ if token.kind == TokenKind::ColonColon => {}
                _ if token.kind != TokenKind::Ident => break,
                kw::STRUCT | kw::CLASS | kw::INTERFACE | kw::ENUM => {
                    let (ty, tag) = self.tag(mods, attributes, template);
                    if let Some(tag) = tag {
                        out.push(tag);
                    }
                    found = Some((ty, tag));
                    continue;
                }
                kw::AUTO => {
                    self.bump();
                    found = Some((self.ty(TypeKind::Auto, mods, token.span), None));
                    continue;
                }
                kw::OPERATOR => break,
                _ => {}
            }
            if self.type_end(self.pos).is_none() && !self.takes_as_type(context) {
                break;
            }
            found = Some((self.type_specifier(mods), None));
        }
        self.check_modifiers(mods, start);
        if self.is_word(kw::OPERATOR) && found.is_none() {
            // A conversion: its type stands behind `operator`.
            let ty = self.error_type(self.cur.span);
            return Some(Specifiers { mods, ty, tag: None, start });
        }
        let Some((ty, tag)) = found else {
            self.no_type(context);
            return None;
        };
        let kept = self.ast[ty].mods | (mods & Mods::TYPE);
        self.ast[ty].mods = kept;
        self.refuse_pointer();
        Some(Specifiers { mods, ty, tag, start })
    }

    /// Whether an undeclared name is taken for a type, here where a declaration must begin.
    fn takes_as_type(&self, context: Context) -> bool {
        self.is_undeclared_type(self.pos)
            || self.is_name(self.cur)
                && (context != Context::Block)
                && matches!(
                    (self.ahead(1).kind, self.ahead(2).kind),
                    (TokenKind::Star | TokenKind::Amp, TokenKind::Ident)
                )
    }

    fn no_type(&mut self, context: Context) {
        if self.cur.kind == TokenKind::Ident && self.class(self.cur) == Class::Reserved {
            self.reserved_word();
            self.bump();
            return;
        }
        let is_call = self.is_name(self.cur) && self.ahead(1).kind == TokenKind::LParen;
        if context == Context::Namespace && is_call {
            let name = self.spelled(self.cur);
            self.error_here(codes::EXPECTED_TYPE, |_| {
                format!("a function's declaration begins with its type: none stands before {name}")
            });
        } else if !matches!(self.cur.kind, TokenKind::RBrace | TokenKind::Eof) {
            self.error_here(codes::EXPECTED_TYPE, |text| format!("expected a type, found {text}"));
        }
        // Take one token, so that the caller gets on.
        if self.cur.kind == TokenKind::Ident {
            self.bump();
        }
    }

    fn modifier(&mut self, token: Token, mods: &mut Mods, behind_type: bool) {
        let Some(this) = modifier(token.name()) else { return };
        if token.is(kw::VOLATILE) {
            self.reserved_word();
        }
        let behind_ok = matches!(token.name(), kw::CONST | kw::STATIC | kw::VOLATILE | kw::INLINE | kw::EXTERN);
        if behind_type && !behind_ok {
            self.error_here(codes::MISPLACED_MODIFIER, |text| format!("{text} must stand before the type"));
        } else if mods.contains(this) && !(token.is(kw::IN) || token.is(kw::OUT)) {
            let text = token.text(self.names);
            let message = format!("`{text}` stands twice");
            self.report(Diagnostic::new(codes::DUPLICATE_MODIFIER, token.span, message));
        }
        *mods |= this;
        self.bump();
    }

    /// Reports modifiers that contradict each other.
    fn check_modifiers(&mut self, mods: Mods, start: Span) {
        const CLASHES: &[(Mods, &str)] = &[
            (Mods::ROW_MAJOR.union(Mods::COLUMN_MAJOR), "`row_major` and `column_major`"),
            (Mods::SNORM.union(Mods::UNORM), "`snorm` and `unorm`"),
            (Mods::STATIC.union(Mods::EXTERN), "`static` and `extern`"),
            (Mods::STATIC.union(Mods::UNIFORM), "`static` and `uniform`"),
            (Mods::EXTERN.union(Mods::GROUPSHARED), "`extern` and `groupshared`"),
        ];
        for (clash, what) in CLASHES {
            if mods.contains(*clash) {
                let message = format!("{what} contradict each other");
                self.report(Diagnostic::new(codes::MISPLACED_MODIFIER, start.to(self.last), message));
            }
        }
    }

    /// One declarator. Answers whether it ends the declaration by itself, as a function's body does.
    fn declarator(
        &mut self,
        context: Context,
        specifiers: &Specifiers,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
        start: Span,
        effect: bool,
    ) -> Option<(DeclId, bool)> {
        self.refuse_pointer();
        if matches!(context, Context::Struct(_)) && self.is(TokenKind::Colon) && self.ahead(1).kind != TokenKind::Ident
        {
            return Some((self.unnamed_bits(specifiers, attributes, start), false));
        }
        let declarator = self.declarator_name(context)?;
        if declarator.name == FunctionName::Conversion
            || self.is(TokenKind::LParen) && self.declares_function(context, &declarator)
        {
            return Some(self.function(context, specifiers, declarator, attributes, template, start));
        }
        let FunctionName::Ident(name) = declarator.name else {
            self.error_here(codes::EXPECTED_TOKEN, |text| format!("expected `(` behind the operator, found {text}"));
            return None;
        };
        let attributes = self.more_attributes(attributes);
        let ty = self.array_suffix(specifiers.ty);
        let attributes = self.more_attributes(attributes);
        let bits = match context {
            Context::Struct(_) if self.is(TokenKind::Colon) && self.ahead(1).kind != TokenKind::Ident => {
                let colon = self.bump().span;
                self.needs_version(2021, colon, "bit-fields");
                Some(self.constant())
            }
            _ => None,
        };
        let annotations = self.annotations();
        self.effect_annotation();
        let is_word = matches!(self.names.class(name), Class::Numeric(_) | Class::Object(_));
        if template.is_some_and(|t| !self.ast[t].params.is_empty()) {
            // A variable template takes arguments as a function template does.
            self.declare_function_template(context, name);
        } else if declarator.qualifier.is_none() {
            self.scopes.declare_value(name, is_word);
        }
        let init = self.variable_initializer(ty);
        let var = Var {
            name: Some(name),
            name_span: declarator.span,
            qualifier: declarator.qualifier,
            args: declarator.args,
            ty,
            mods: specifiers.mods,
            annotations,
            init,
            bits,
        };
        let var = self.ast.add(var);
        let span = start.to(self.last);
        let kind = if effect {
            let message = "this object of the effects framework has no meaning and is ignored";
            self.report(Diagnostic::new(codes::IGNORED_CONSTRUCT, span, message));
            DeclKind::Empty
        } else {
            DeclKind::Var(var)
        };
        Some((self.ast.add(Decl { kind, attributes, template, span }), false))
    }

    /// `int : 3;`
    fn unnamed_bits(&mut self, specifiers: &Specifiers, attributes: Slice<Attribute>, start: Span) -> DeclId {
        let colon = self.bump().span;
        self.needs_version(2021, colon, "bit-fields");
        let var = Var {
            name: None,
            name_span: colon.start(),
            qualifier: None,
            args: None,
            ty: specifiers.ty,
            mods: specifiers.mods,
            annotations: Slice::EMPTY,
            init: None,
            bits: Some(self.constant()),
        };
        let kind = DeclKind::Var(self.ast.add(var));
        self.ast.add(Decl { kind, attributes, template: None, span: start.to(self.last) })
    }

    /// `= value`, `= { ... }`, `(arguments)`, or a block of effect state.
    fn variable_initializer(&mut self, ty: TypeId) -> Option<ExprId> {
        let start = self.cur.span;
        match self.cur.kind {
            TokenKind::Eq => {
                self.bump();
                if self.is_word(kw::SAMPLER_STATE) {
                    self.bump();
                    return Some(self.effect_state(start));
                }
                Some(self.initializer())
            }
            TokenKind::LBrace => Some(self.effect_state(start)),
            TokenKind::LParen => {
                self.error_here(codes::NOT_HLSL, |_| "HLSL has no direct initialization: write `= T(...)`".into());
                let args = self.arguments();
                Some(self.expr(ExprKind::Construct { ty, args }, start.to(self.last)))
            }
            _ => None,
        }
    }

    /// The variable of a condition: `if (int x = f())`.
    pub(super) fn condition_declaration(&mut self) -> Option<DeclId> {
        let start = self.cur.span;
        let mut tags = Vec::new();
        let specifiers = self.specifiers(Context::Block, Slice::EMPTY, None, &mut tags)?;
        let (decl, _) = self.declarator(Context::Block, &specifiers, Slice::EMPTY, None, start, false)?;
        let has_value = matches!(self.ast[decl].kind, DeclKind::Var(var) if self.ast[var].init.is_some());
        if !has_value {
            self.error_here(codes::BAD_DECLARATOR, |_| "the variable of a condition needs an initializer".into());
        }
        Some(decl)
    }

    /// The name of a declarator: `x`, `S::x`, `operator+`, `f<int>`.
    fn declarator_name(&mut self, context: Context) -> Option<Declarator> {
        let start = self.cur.span;
        let mut qualifier = None;
        // Everything up to the last `::` qualifies.
        if self.is_qualified() {
            qualifier = Some(self.qualifier()?);
        }
        if self.is_word(kw::OPERATOR) {
            let name = self.operator_name()?;
            return Some(Declarator { name, span: start.to(self.last), qualifier, args: None });
        }
        if !self.is_name(self.cur) {
            let what = if matches!(context, Context::Struct(_)) { "a member's name" } else { "a name" };
            self.error_here(codes::EXPECTED_NAME, |text| format!("expected {what}, found {text}"));
            return None;
        }
        let token = self.bump();
        let mut args = None;
        if self.is(TokenKind::Lt)
            && self.angle_end(self.pos).is_some_and(|end| match self.at(end).kind {
                TokenKind::LParen => true,
                // A variable template; what is no template may have annotations of the effects framework.
                TokenKind::Eq | TokenKind::Semi => self.symbol(token.name()) == Some(Symbol::FunctionTemplate),
                _ => false,
            })
        {
            args = Some(self.template_args());
        }
        Some(Declarator { name: FunctionName::Ident(token.name()), span: token.span, qualifier, args })
    }

    /// Whether a `::` belongs to the declarator at the current token: behind its name or that name's arguments.
    fn is_qualified(&self) -> bool {
        if self.is(TokenKind::ColonColon) {
            return true;
        }
        if !self.is_name(self.cur) {
            return false;
        }
        match self.ahead(1).kind {
            TokenKind::ColonColon => true,
            TokenKind::Lt => self.angle_end(self.pos + 1).is_some_and(|end| self.at(end).kind == TokenKind::ColonColon),
            _ => false,
        }
    }

    /// The path before the last `::` of a declarator's name; that `::` is taken.
    fn qualifier(&mut self) -> Option<PathId> {
        let start = self.cur.span;
        let global = self.eat(TokenKind::ColonColon);
        let mut segments: SmallVec<[Segment; 4]> = SmallVec::new();
        while self.is_qualified() && !self.is(TokenKind::ColonColon) {
            let token = self.bump();
            let args = if self.is(TokenKind::Lt) { Some(self.template_args()) } else { None };
            segments.push(Segment { name: token.name(), args, span: token.span });
            if !self.expect(TokenKind::ColonColon, "in the qualified name") {
                return None;
            }
        }
        if segments.is_empty() {
            return if global {
                None
            } else {
                Some(self.ast.add(Path { global, segments: Slice::EMPTY, span: start }))
            };
        }
        let span = start.to(self.last);
        let segments = self.ast.list(&segments);
        Some(self.ast.add(Path { global, segments, span }))
    }
}
