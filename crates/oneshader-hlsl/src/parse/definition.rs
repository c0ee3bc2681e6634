//! Structs, enums, buffers, namespaces, templates, aliases.

use oneshader_diag::{Diagnostic, codes};
use smallvec::SmallVec;

use super::Parser;
use super::declaration::Context;
use super::scope::{ScopeId, Symbol};
use crate::ast::*;
use crate::lex::TokenKind;
use crate::name::{Class, Name, kw};

impl Parser<'_> {
    /// `struct`, `class`, `interface` or `enum` as a type, with or without a definition.
    pub(super) fn tag(
        &mut self,
        mods: Mods,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
    ) -> (TypeId, Option<DeclId>) {
        let is_enum = self.is_word(kw::ENUM);
        if !self.descend() {
            return (self.error_type(self.cur.span), None);
        }
        let result = if is_enum { self.enum_(mods, attributes) } else { self.struct_(mods, attributes, template) };
        self.ascend();
        result
    }

    fn struct_(
        &mut self,
        mods: Mods,
        attributes: Slice<Attribute>,
        template: Option<TemplateId>,
    ) -> (TypeId, Option<DeclId>) {
        let keyword = self.bump();
        let start = keyword.span;
        let kind = match keyword.name() {
            kw::CLASS => StructKind::Class,
            kw::INTERFACE => StructKind::Interface,
            _ => StructKind::Struct,
        };
        let attributes = self.attributes_behind(attributes);
        let mut name = None;
        let mut name_span = self.cur.span.start();
        let mut qualifier = None;
        let mut args = None;
        if self.is_name(self.cur) {
            // `struct N::S { ... }`
            if self.ahead(1).kind == TokenKind::ColonColon {
                let path_start = self.cur.span;
                let mut segments: SmallVec<[Segment; 4]> = SmallVec::new();
                while self.is_name(self.cur) && self.ahead(1).kind == TokenKind::ColonColon {
                    let token = self.bump();
                    self.bump();
                    segments.push(Segment { name: token.name(), args: None, span: token.span });
                }
                let segments = self.ast.list(&segments);
                qualifier = Some(self.ast.add(Path { global: false, segments, span: path_start.to(self.last) }));
            }
            if self.is_name(self.cur) {
                let token = self.bump();
                name = Some(token.name());
                name_span = token.span;
            }
            if self.is(TokenKind::Lt) {
                args = Some(self.template_args());
            }
        }
        let defines = matches!(self.cur.kind, TokenKind::LBrace | TokenKind::Colon)
            && !(self.is(TokenKind::Colon) && name.is_none());
        let declares = self.is(TokenKind::Semi);
        let Some(name_) = name.or(if defines { Some(Name(u32::MAX)) } else { None }) else {
            self.error_here(codes::EXPECTED_NAME, |text| format!("expected a name or `{{`, found {text}"));
            return (self.error_type(start), None);
        };
        if !defines && !declares {
            // `struct S x`: an elaborated name.
            let segments = self.ast.list(&[Segment { name: name_, args, span: name_span }]);
            let path = self.ast.add(Path { global: false, segments, span: name_span });
            return (self.ty(TypeKind::Path(path), mods, start.to(self.last)), None);
        }
        // The scope of the members exists before the bases are read, so that a base can name the struct in arguments.
        let home = match qualifier.and_then(|path| self.scope_of(path)) {
            Some(scope) => scope,
            None => self.scopes.declaration_scope(),
        };
        let is_template = template.is_some_and(|t| !self.ast[t].params.is_empty());
        let known = name.and_then(|n| self.scopes.find_in(home, n)).filter(|_| args.is_none());
        let scope = match known.and_then(Symbol::members) {
            Some(scope) if !matches!(known, Some(Symbol::Namespace(_))) => scope,
            _ => {
                let parent = self.scopes.current;
                self.scopes.make(parent)
            }
        };
        let symbol = if is_template { Symbol::TypeTemplate(Some(scope)) } else { Symbol::Type(Some(scope)) };
        if let Some(name) = name
            && args.is_none()
        {
            self.scopes.declare_in(home, name, symbol);
        }
        let mut bases: SmallVec<[TypeId; 2]> = SmallVec::new();
        if self.eat(TokenKind::Colon) {
            loop {
                let at = self.pos;
                bases.push(self.base(scope));
                if !self.eat(TokenKind::Comma) || self.pos == at {
                    break;
                }
            }
        }
        let members = if declares { None } else { Some(self.struct_body(name, scope)) };
        let bases = self.ast.list(&bases);
        let node = Struct { kind, name, name_span, qualifier, args, bases, members };
        let node = self.ast.add(node);
        let span = start.to(self.last);
        let decl = self.ast.add(Decl { kind: DeclKind::Struct(node), attributes, template, span });
        (self.ty(TypeKind::Struct(decl), mods, span), Some(decl))
    }

    /// One base of a struct.
    fn base(&mut self, scope: ScopeId) -> TypeId {
        while matches!(self.cur.name(), kw::PUBLIC | kw::PRIVATE | kw::PROTECTED | kw::VIRTUAL)
            && self.is(TokenKind::Ident)
        {
            self.error_here(codes::NOT_HLSL, |text| format!("{text} has no meaning before a base"));
            self.bump();
        }
        if self.type_end(self.pos).is_none() && !self.is_name(self.cur) {
            self.error_here(codes::EXPECTED_TYPE, |text| format!("expected a base, found {text}"));
            return self.error_type(self.cur.span);
        }
        let ty = self.type_specifier(Mods::empty());
        if let TypeKind::Path(path) = self.ast[ty].kind
            && let Some(base) = self.scope_of(path)
        {
            self.scopes.link(scope, base);
        }
        ty
    }

    fn struct_body(&mut self, name: Option<Name>, scope: ScopeId) -> Slice<DeclId> {
        let mut members = Vec::new();
        if !self.expect(TokenKind::LBrace, "to begin the members") {
            return Slice::EMPTY;
        }
        let open = self.last;
        let outer = std::mem::replace(&mut self.scopes.current, scope);
        let packed = self.in_template_args;
        self.in_template_args = false;
        while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
            let at = self.pos;
            self.declaration(Context::Struct(name), &mut members);
            if self.pos == at {
                self.error_here(codes::EXPECTED_DECLARATION, |text| format!("expected a member, found {text}"));
                self.bump();
            }
        }
        self.in_template_args = packed;
        self.scopes.leave(outer);
        self.expect_close(TokenKind::RBrace, open, "at the end of the members");
        self.ast.list(&members)
    }

    fn enum_(&mut self, mods: Mods, attributes: Slice<Attribute>) -> (TypeId, Option<DeclId>) {
        let start = self.bump().span;
        self.needs_version(2017, start, "enumerations");
        let scoped = self.eat_word(kw::CLASS) || self.eat_word(kw::STRUCT);
        let attributes = self.more_attributes(attributes);
        let mut name = None;
        let mut name_span = self.cur.span.start();
        if self.is_name(self.cur) {
            let token = self.bump();
            name = Some(token.name());
            name_span = token.span;
        }
        let underlying = if self.eat(TokenKind::Colon) { Some(self.type_name()) } else { None };
        let defines = self.is(TokenKind::LBrace);
        if !defines && !self.is(TokenKind::Semi) {
            let Some(name) = name else {
                self.error_here(codes::EXPECTED_NAME, |text| format!("expected a name or `{{`, found {text}"));
                return (self.error_type(start), None);
            };
            let segments = self.ast.list(&[Segment { name, args: None, span: name_span }]);
            let path = self.ast.add(Path { global: false, segments, span: name_span });
            return (self.ty(TypeKind::Path(path), mods, start.to(self.last)), None);
        }
        let current = self.scopes.current;
        let scope = self.scopes.make(current);
        if let Some(name) = name {
            self.scopes.declare(name, Symbol::Type(Some(scope)));
        }
        let enumerators = if defines { Some(self.enumerators(scoped)) } else { None };
        let node = self.ast.add(Enum { name, name_span, scoped, underlying, enumerators });
        let span = start.to(self.last);
        let decl = self.ast.add(Decl { kind: DeclKind::Enum(node), attributes, template: None, span });
        (self.ty(TypeKind::Enum(decl), mods, span), Some(decl))
    }

    fn enumerators(&mut self, scoped: bool) -> Slice<Enumerator> {
        let open = self.bump().span;
        let mut list: Vec<Enumerator> = Vec::new();
        while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
            if !self.is_name(self.cur) {
                self.error_here(codes::EXPECTED_NAME, |text| format!("expected an enumerator, found {text}"));
                self.skip_to(&[TokenKind::Comma]);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
                continue;
            }
            let token = self.bump();
            if !scoped {
                let is_word = matches!(self.class(token), Class::Numeric(_) | Class::Object(_));
                self.scopes.declare_value(token.name(), is_word);
            }
            self.attributes();
            let value = if self.eat(TokenKind::Eq) { Some(self.constant()) } else { None };
            list.push(Enumerator { name: token.name(), value, span: token.span });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.expect_close(TokenKind::RBrace, open, "at the end of the enumerators") {
            self.skip_to(&[]);
            self.eat(TokenKind::RBrace);
        }
        self.ast.list(&list)
    }

    pub(super) fn cbuffer(&mut self, attributes: Slice<Attribute>) -> DeclId {
        let keyword = self.bump();
        let start = keyword.span;
        let attributes = self.more_attributes(attributes);
        let mut name = None;
        let mut name_span = self.cur.span.start();
        if self.is_name(self.cur) {
            let token = self.bump();
            name = Some(token.name());
            name_span = token.span;
        } else {
            self.error_here(codes::EXPECTED_NAME, |text| format!("expected the buffer's name, found {text}"));
        }
        let attributes = self.more_attributes(attributes);
        let annotations = self.annotations();
        self.effect_annotation();
        let mut members = Vec::new();
        if self.expect(TokenKind::LBrace, "to begin the buffer's members") {
            let open = self.last;
            while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
                let at = self.pos;
                self.declaration(Context::Namespace, &mut members);
                if self.pos == at {
                    self.error_here(codes::EXPECTED_DECLARATION, |text| format!("expected a member, found {text}"));
                    self.bump();
                }
            }
            self.expect_close(TokenKind::RBrace, open, "at the end of the buffer");
        } else {
            self.skip_statement();
        }
        self.eat(TokenKind::Semi);
        let members = self.ast.list(&members);
        let is_tbuffer = keyword.is(kw::TBUFFER);
        let node = self.ast.add(Cbuffer { is_tbuffer, name, name_span, annotations, members });
        let span = start.to(self.last);
        self.ast.add(Decl { kind: DeclKind::Cbuffer(node), attributes, template: None, span })
    }

    pub(super) fn namespace(&mut self, attributes: Slice<Attribute>) -> DeclId {
        let start = self.bump().span;
        if !self.descend() {
            return self.ast.add(Decl { kind: DeclKind::Error, attributes, template: None, span: start });
        }
        let mut name = None;
        let mut name_span = self.cur.span.start();
        if self.is_name(self.cur) {
            let token = self.bump();
            name = Some(token.name());
            name_span = token.span;
        }
        let current = self.scopes.current;
        let scope = match name.and_then(|n| self.scopes.find_in(current, n)) {
            Some(Symbol::Namespace(scope)) => scope,
            _ => {
                let scope = self.scopes.make(current);
                match name {
                    Some(name) => self.scopes.declare(name, Symbol::Namespace(scope)),
                    // What an anonymous namespace declares is seen around it.
                    None => self.scopes.link(current, scope),
                }
                scope
            }
        };
        let mut members = Vec::new();
        let outer = std::mem::replace(&mut self.scopes.current, scope);
        if self.is(TokenKind::ColonColon) && self.is_name(self.ahead(1)) {
            // `namespace a::b { ... }` nests.
            members.push(self.namespace(Slice::EMPTY));
        } else if self.is(TokenKind::Eq) {
            self.error_here(codes::NOT_HLSL, |_| "HLSL has no namespace aliases".into());
            self.skip_statement();
        } else if self.expect(TokenKind::LBrace, "to begin the namespace") {
            let open = self.last;
            while !self.is(TokenKind::RBrace) && !self.is(TokenKind::Eof) {
                let at = self.pos;
                self.declaration(Context::Namespace, &mut members);
                if self.pos == at {
                    self.error_here(codes::EXPECTED_DECLARATION, |text| {
                        format!("expected a declaration, found {text}")
                    });
                    self.bump();
                }
            }
            self.expect_close(TokenKind::RBrace, open, "at the end of the namespace");
            self.eat(TokenKind::Semi);
        }
        self.scopes.leave(outer);
        self.ascend();
        let members = self.ast.list(&members);
        let node = self.ast.add(Namespace { name, name_span, members });
        let span = start.to(self.last);
        self.ast.add(Decl { kind: DeclKind::Namespace(node), attributes, template: None, span })
    }

    /// `using namespace a;`, `using a::b;`, `using X = T;`
    pub(super) fn using(&mut self, attributes: Slice<Attribute>) -> DeclId {
        self.using_in(attributes, None)
    }

    fn using_in(&mut self, mut attributes: Slice<Attribute>, template: Option<TemplateId>) -> DeclId {
        let start = self.bump().span;
        let kind = if self.eat_word(kw::NAMESPACE) {
            match self.path(false) {
                Some(path) => {
                    if let Some(scope) = self.scope_of(path) {
                        let current = self.scopes.current;
                        self.scopes.link(current, scope);
                    }
                    DeclKind::UsingNamespace(path)
                }
                None => DeclKind::Error,
            }
        } else if self.is_name(self.cur) && matches!(self.ahead(1).kind, TokenKind::Eq | TokenKind::LBracket) {
            let token = self.bump();
            attributes = self.more_attributes(attributes);
            self.expect(TokenKind::Eq, "behind the alias");
            let ty = self.type_name();
            self.declare_alias(token.name(), ty, template);
            DeclKind::Alias(self.ast.add(Alias { name: token.name(), name_span: token.span, ty }))
        } else {
            self.eat_word(kw::TYPENAME);
            match self.path(false) {
                Some(path) => {
                    self.declare_using(path);
                    DeclKind::UsingDecl(path)
                }
                None => DeclKind::Error,
            }
        };
        self.semi("behind `using`");
        let span = start.to(self.last);
        self.ast.add(Decl { kind, attributes, template, span })
    }

    /// `using a::b;` makes `b` what it is in `a`.
    fn declare_using(&mut self, path: PathId) {
        let node = self.ast[path];
        let segments = &self.ast[node.segments];
        let Some((last, before)) = segments.split_last() else { return };
        let mut scope = None;
        for (i, segment) in before.iter().enumerate() {
            let symbol = match (i, scope) {
                (0, _) if node.global => self.scopes.find_global(segment.name),
                (0, _) => self.symbol(segment.name),
                (_, Some(scope)) => self.scopes.find_in(scope, segment.name),
                _ => None,
            };
            scope = symbol.and_then(Symbol::members);
        }
        let last = last.name;
        let symbol = match scope {
            Some(scope) => self.scopes.find_in(scope, last),
            None if before.is_empty() => self.scopes.find_global(last),
            None => None,
        };
        if let Some(symbol) = symbol {
            self.scopes.declare(last, symbol);
        }
    }

    fn declare_alias(&mut self, name: Name, ty: TypeId, template: Option<TemplateId>) {
        let members = match self.ast[ty].kind {
            TypeKind::Path(path) => self.scope_of(path),
            TypeKind::Struct(decl) | TypeKind::Enum(decl) => match self.ast[decl].kind {
                DeclKind::Struct(id) => {
                    let found = self.ast[id].name.and_then(|n| self.symbol(n));
                    found.and_then(Symbol::members)
                }
                _ => None,
            },
            _ => None,
        };
        let scope = self.scopes.declaration_scope();
        let symbol = match template {
            Some(t) if !self.ast[t].params.is_empty() => Symbol::TypeTemplate(members),
            _ => Symbol::Type(members),
        };
        self.scopes.declare_in(scope, name, symbol);
    }

    pub(super) fn typedef(&mut self, attributes: Slice<Attribute>, out: &mut Vec<DeclId>) {
        let start = self.bump().span;
        let mods = self.type_modifiers();
        let ty = match self.cur.name() {
            kw::STRUCT | kw::CLASS | kw::INTERFACE | kw::ENUM if self.is(TokenKind::Ident) => {
                let (ty, tag) = self.tag(mods, Slice::EMPTY, None);
                out.extend(tag);
                ty
            }
            _ if self.type_end(self.pos).is_none() && !self.is_undeclared_type(self.pos) => {
                self.error_here(codes::EXPECTED_TYPE, |text| format!("expected a type, found {text}"));
                return self.skip_statement();
            }
            _ => self.type_specifier(mods),
        };
        if self.eat_word(kw::CONST) {
            let mods = self.ast[ty].mods | Mods::CONST;
            self.ast[ty].mods = mods;
        }
        loop {
            self.refuse_pointer();
            if !self.is_name(self.cur) {
                self.error_here(codes::EXPECTED_NAME, |text| format!("expected the new name, found {text}"));
                return self.skip_statement();
            }
            let token = self.bump();
            let ty = self.array_suffix(ty);
            self.declare_alias(token.name(), ty, None);
            let node = self.ast.add(Alias { name: token.name(), name_span: token.span, ty });
            let span = start.to(self.last);
            out.push(self.ast.add(Decl { kind: DeclKind::Alias(node), attributes, template: None, span }));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.semi("behind the typedef");
    }

    pub(super) fn static_assert(&mut self, attributes: Slice<Attribute>) -> DeclId {
        let start = self.bump().span;
        let mut message = None;
        let mut cond = None;
        if self.expect(TokenKind::LParen, "behind `_Static_assert`") {
            cond = Some(self.parenthesized(|p| {
                let cond = p.constant();
                if p.eat(TokenKind::Comma) && p.is(TokenKind::Str) {
                    message = Some(p.string_text());
                }
                cond
            }));
        }
        self.semi("behind `_Static_assert`");
        let span = start.to(self.last);
        let kind = cond.map_or(DeclKind::Error, |cond| DeclKind::StaticAssert { cond, message });
        self.ast.add(Decl { kind, attributes, template: None, span })
    }

    /// `template<...>` and what it is of; an explicit instantiation where no `<` follows.
    pub(super) fn template(&mut self, context: Context, attributes: Slice<Attribute>, out: &mut Vec<DeclId>) {
        let start = self.cur.span;
        self.needs_version(2021, start, "templates");
        if context == Context::Block {
            self.error_here(codes::BAD_TEMPLATE, |_| "a template cannot stand inside a function".into());
        }
        if self.ahead(1).kind != TokenKind::Lt {
            self.bump();
            let mut decls = Vec::new();
            self.simple_declaration(context, attributes, None, start, &mut decls);
            for decl in decls {
                let kind = DeclKind::Instantiate(decl);
                out.push(self.ast.add(Decl { kind, attributes, template: None, span: start.to(self.last) }));
            }
            return;
        }
        let outer = self.scopes.current;
        let mut template = None;
        let mut count = 0;
        while self.is_word(kw::TEMPLATE) && self.ahead(1).kind == TokenKind::Lt {
            let span = self.bump().span;
            self.scopes.enter_template();
            let params = self.template_params();
            let span = span.to(self.last);
            template = Some(self.ast.add(Template { params, outer: template, span }));
            count += 1;
            if count > self.limits.nesting {
                self.too_deep();
            }
        }
        let more = self.attributes();
        let attributes = if more.is_empty() { attributes } else { more };
        match self.cur.name() {
            kw::USING if self.is(TokenKind::Ident) => out.push(self.using_in(attributes, template)),
            _ => self.simple_declaration(context, attributes, template, start, out),
        }
        self.scopes.leave(outer);
    }

    /// `< ... >` behind `template`.
    fn template_params(&mut self) -> Slice<TemplateParam> {
        self.bump();
        let mut params: SmallVec<[TemplateParam; 4]> = SmallVec::new();
        let outer = std::mem::replace(&mut self.in_template_args, true);
        while !matches!(self.cur.kind, TokenKind::Gt | TokenKind::Shr | TokenKind::Eof) {
            let at = self.pos;
            match self.template_param() {
                Some(param) => params.push(param),
                None => self.skip_to(&[TokenKind::Gt, TokenKind::Comma]),
            }
            if !self.eat(TokenKind::Comma) || self.pos == at {
                break;
            }
        }
        self.in_template_args = outer;
        if !self.eat_gt() {
            self.error_here(codes::BAD_TEMPLATE, |text| {
                format!("expected `,` or `>` between template parameters, found {text}")
            });
            self.skip_to(&[TokenKind::Gt]);
            self.eat(TokenKind::Gt);
        }
        self.ast.list(&params)
    }

    fn template_param(&mut self) -> Option<TemplateParam> {
        let start = self.cur.span;
        if self.is_word(kw::TEMPLATE) {
            self.error_here(codes::BAD_TEMPLATE, |_| "HLSL has no template template parameters".into());
            return None;
        }
        if self.is_word(kw::TYPENAME) || self.is_word(kw::CLASS) {
            self.bump();
            if self.is(TokenKind::Ellipsis) {
                self.error_here(codes::BAD_TEMPLATE, |_| "HLSL has no variadic templates".into());
                self.bump();
            }
            let mut name = None;
            if self.is_name(self.cur) {
                let token = self.bump();
                name = Some(token.name());
                self.scopes.declare(token.name(), Symbol::Type(None));
            }
            let default = if self.eat(TokenKind::Eq) { Some(self.type_name()) } else { None };
            let kind = TemplateParamKind::Type { default };
            return Some(TemplateParam { kind, name, span: start.to(self.last) });
        }
        if !self.begins_type(self.pos) && !self.is_undeclared_type(self.pos) {
            self.error_here(codes::BAD_TEMPLATE, |text| format!("expected a template parameter, found {text}"));
            return None;
        }
        let ty = self.type_name();
        let mut name = None;
        if self.is_name(self.cur) {
            let token = self.bump();
            name = Some(token.name());
            let is_word = matches!(self.class(token), Class::Numeric(_) | Class::Object(_));
            self.scopes.declare_value(token.name(), is_word);
        }
        let default = if self.eat(TokenKind::Eq) { Some(self.constant()) } else { None };
        let kind = TemplateParamKind::Value { ty, default };
        Some(TemplateParam { kind, name, span: start.to(self.last) })
    }

    /// Whether a technique follows: `technique name {`, `technique {`, `technique name < ... > {`.
    pub(super) fn is_technique(&self) -> bool {
        let (one, two) = (self.ahead(1), self.ahead(2));
        one.kind == TokenKind::LBrace
            || one.kind == TokenKind::Ident && matches!(two.kind, TokenKind::LBrace | TokenKind::Lt)
    }

    /// Skips a technique of the effects framework and warns.
    pub(super) fn technique(&mut self) {
        let start = self.bump().span;
        while !matches!(self.cur.kind, TokenKind::LBrace | TokenKind::Semi | TokenKind::Eof) {
            self.bump();
        }
        if self.is(TokenKind::LBrace) {
            self.skip_group();
        }
        let message = "a technique of the effects framework has no meaning and is ignored";
        self.report(Diagnostic::new(codes::IGNORED_CONSTRUCT, start, message));
    }
}
