//! Declarations.

use oneshader_diag::{Diagnostic, Span, codes};

use crate::ast::{self, AnnotationKind, Attribute, DeclId, DeclKind, ExprId, ExprKind, Mods, Slice};
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::scope::{ScopeKind, Sym};
use crate::sema::{AliasTemplate, FnId, Storage, Var, VarId};
use crate::ty::Ty;
use crate::value::{R, ReadOnly};

impl Cx<'_> {
    /// Declares the whole file.
    pub(crate) fn declare_unit(&mut self) {
        for decl in self.ast.iter(self.ast.unit) {
            self.declare_one(decl);
            self.flush();
        }
    }

    /// Declares what a node of the tree declares, in the current scope.
    pub(crate) fn declare_one(&mut self, id: DeclId) {
        let decl = self.ast[id];
        match decl.kind {
            DeclKind::Error | DeclKind::Empty => {}
            DeclKind::Var(var) => match decl.template.filter(|_| self.ast[var].qualifier.is_none()) {
                Some(params) => self.declare_variable_template(id, var, params),
                None => self.declare_variable(id, var),
            },
            DeclKind::Function(func) => self.declare_function(id, func, None),
            DeclKind::Struct(s) => self.declare_struct(id, s),
            DeclKind::Enum(e) => self.declare_enum(id, e),
            DeclKind::Cbuffer(block) => self.declare_cbuffer(id, block),
            DeclKind::Namespace(ns) => self.declare_namespace(ns),
            DeclKind::Alias(alias) => {
                let alias = self.ast[alias];
                if let Some(params) = decl.template {
                    let t = AliasTemplate { params, ty: alias.ty, scope: self.s.scope };
                    self.s.alias_templates.push(t);
                    let index = self.s.alias_templates.len() as u32 - 1;
                    self.declare(alias.name, Sym::AliasTemplate(index), alias.name_span);
                } else {
                    let ty = self.resolve(alias.ty).unwrap_or(Ty::ERROR);
                    self.declare(alias.name, Sym::Type(ty), alias.name_span);
                }
            }
            DeclKind::UsingNamespace(path) => {
                if self.ast[self.ast[path].segments].iter().any(|s| s.name == crate::name::kw::VK)
                    && self.lookup(crate::name::kw::VK).is_none()
                {
                    self.vk_scope();
                }
                if let Ok((sym, scope, last)) = self.lookup_path(path) {
                    match sym {
                        Some(Sym::Namespace(ns)) => {
                            let current = self.s.scope;
                            self.scope_mut(current).using.push(ns);
                        }
                        Some(_) => {
                            let message = format!("`{}` is no namespace", self.text(last.name));
                            self.error(codes::WRONG_KIND_OF_NAME, last.span, message);
                        }
                        None => {
                            self.unknown_name(last.name, scope, last.span);
                        }
                    }
                }
            }
            DeclKind::UsingDecl(path) => {
                if let Ok((sym, scope, last)) = self.lookup_path(path) {
                    match sym {
                        Some(sym) => self.declare(last.name, sym, last.span),
                        None => {
                            self.unknown_name(last.name, scope, last.span);
                        }
                    }
                }
            }
            DeclKind::StaticAssert { cond, message } => self.static_assert(cond, message),
            DeclKind::Instantiate(inner) => self.explicit_instance(inner),
        }
    }

    fn static_assert(&mut self, cond: ExprId, message: Option<ast::StrId>) {
        let span = self.ast[cond].span;
        if let Ok(0) = self.constant_int(cond) {
            let text = message.map(|m| self.ast.string(m).to_owned()).filter(|m| !m.is_empty());
            let mut d = Diagnostic::new(codes::STATIC_ASSERT_FAILED, span, "static assertion failed");
            if let Some(text) = text {
                d.message = format!("static assertion failed: {text}");
            }
            self.report(d);
        }
    }

    fn declare_namespace(&mut self, ns: ast::NamespaceId) {
        let ns = self.ast[ns];
        let current = self.s.scope;
        if ns.name == Some(crate::name::kw::VK)
            && current == self.root_scope()
            && self.lookup(crate::name::kw::VK).is_none()
        {
            self.vk_scope();
        }
        let scope = match ns.name.and_then(|n| self.scope(current).names.get(&n).copied()) {
            Some(Sym::Namespace(scope)) => scope,
            _ => {
                let scope = self.new_scope(Some(current), ScopeKind::Namespace);
                match ns.name {
                    Some(name) => self.declare(name, Sym::Namespace(scope), ns.name_span),
                    // An anonymous namespace is open to the one around it.
                    None => self.scope_mut(current).using.push(scope),
                }
                scope
            }
        };
        self.in_scope(scope, |cx| {
            for decl in cx.ast.iter(ns.members) {
                cx.declare_one(decl);
                cx.flush();
            }
        });
    }

    /// `template struct S<int>;` and the like: the instance is made.
    fn explicit_instance(&mut self, decl: DeclId) {
        match self.ast[decl].kind {
            DeclKind::Struct(s) => {
                let s = self.ast[s];
                let (Some(name), Some(args)) = (s.name, s.args) else { return };
                match self.lookup(name) {
                    Some(Sym::StructTemplate(t)) => {
                        let _ = self.instantiate_struct(t, args, s.name_span);
                    }
                    _ => {
                        self.unknown_name(name, None, s.name_span);
                    }
                }
            }
            DeclKind::Function(f) => {
                let f = self.ast[f];
                let ast::FunctionName::Ident(name) = f.name else { return };
                let Some(Sym::Funs(set)) = self.lookup(name) else {
                    self.unknown_name(name, None, f.name_span);
                    return;
                };
                let given = match f.args {
                    Some(args) => self.template_args(args).unwrap_or_default(),
                    None => Vec::new(),
                };
                let params: Vec<DeclId> = self.ast.iter(f.params).collect();
                let types: Vec<Ty> = params
                    .iter()
                    .filter_map(|p| match self.ast[*p].kind {
                        DeclKind::Var(v) => self.resolve(self.ast[v].ty).ok(),
                        _ => None,
                    })
                    .collect();
                for candidate in self.s.sets[set as usize].clone() {
                    if let crate::sema::Candidate::Template(t) = candidate
                        && let Some(fun) = self.function_instance(t, &given, &types, f.name_span)
                    {
                        self.request(fun);
                    }
                }
            }
            _ => {}
        }
    }

    /// Lowers bodies that wait until none does.
    pub(crate) fn flush(&mut self) {
        while let Some(fun) = self.s.queue.pop_front() {
            self.lower_body(fun);
        }
    }

    /// Puts a function's body into the queue, once.
    pub(crate) fn request(&mut self, fun: FnId) {
        let f = &mut self.s.funs[fun.0 as usize];
        if f.state == crate::sema::BodyState::Idle && f.body.is_some() {
            f.state = crate::sema::BodyState::Queued;
            self.s.queue.push_back(fun);
        }
    }

    /// Adds a variable and its name to the current scope.
    pub(crate) fn add_var(&mut self, var: Var) -> VarId {
        let (name, span) = (var.name, var.span);
        let id = self.push_var(var);
        self.declare(name, Sym::Var(id), span);
        id
    }

    /// Adds a variable without a name in any scope.
    pub(crate) fn push_var(&mut self, var: Var) -> VarId {
        self.s.vars.push(var);
        self.s.owners.push(self.s.func);
        VarId(self.s.vars.len() as u32 - 1)
    }

    /// Adds a name whose declaration failed, so that uses stay silent.
    pub(crate) fn add_broken(&mut self, name: Option<Name>, span: Span) {
        if let Some(name) = name {
            self.add_var(Var { name, ty: Ty::ERROR, storage: Storage::Error, readonly: None, known: None, span });
        }
    }

    /// Enumerations.
    fn declare_enum(&mut self, id: DeclId, e: ast::EnumId) {
        let node = self.ast[e];
        let elem = match node.underlying {
            None => crate::ty::Elem::Int,
            Some(ty) => {
                let span = self.ast[ty].span;
                let ty = self.resolve(ty).unwrap_or(Ty::INT);
                match self.tys.kind(ty) {
                    crate::ty::TyKind::Scalar(elem) if elem.is_int() => elem,
                    _ => {
                        self.error(codes::BAD_ENUM, span, "the type of an enumeration is an integer");
                        crate::ty::Elem::Int
                    }
                }
            }
        };
        // A forward declaration was here before: the same type.
        let before = node.name.and_then(|n| self.scope(self.s.scope).names.get(&n).copied());
        let ty = match before {
            Some(Sym::Type(ty)) if self.is_enum(ty) => ty,
            _ => {
                let scope = self.new_scope(Some(self.s.scope), ScopeKind::Namespace);
                self.tys.enums.push(crate::ty::EnumDef { name: node.name, scoped: node.scoped, elem, scope: scope.0 });
                let index = crate::ty::EnumRef(self.tys.enums.len() as u32 - 1);
                let ty = self.tys.intern(crate::ty::TyKind::Enum(index));
                if let Some(name) = node.name {
                    self.declare(name, Sym::Type(ty), node.name_span);
                }
                ty
            }
        };
        self.s.decl_types.insert((id, self.s.env), ty);
        let crate::ty::TyKind::Enum(index) = self.tys.kind(ty) else { return };
        let own = crate::sema::ScopeId(self.tys.enums[index.0 as usize].scope);
        let Some(enumerators) = node.enumerators else { return };
        let mut next: i64 = 0;
        for e in self.ast.iter(enumerators) {
            if let Some(value) = e.value {
                // Earlier enumerators are visible in the values of later ones.
                let value = match node.scoped {
                    true => self.in_scope(own, |cx| cx.constant_int(value)),
                    false => self.constant_int(value),
                };
                next = value.unwrap_or(next);
            }
            let c = self.int(next, elem);
            let known = self.known(c.v);
            let Some(c) = known else { continue };
            let var = Var {
                name: e.name,
                ty,
                storage: Storage::Const(c),
                readonly: Some(ReadOnly::Const),
                known,
                span: e.span,
            };
            let id = self.in_scope(own, |cx| cx.add_var(var));
            if !node.scoped {
                self.declare(e.name, Sym::Var(id), e.span);
            }
            next = next.wrapping_add(1);
        }
    }

    // Attributes and annotations.

    /// The attribute of a name; `vk` ones by their space.
    pub(crate) fn attribute(&self, list: Slice<Attribute>, space: Option<&str>, name: &str) -> Option<Attribute> {
        self.ast[list].iter().copied().find(|a| {
            a.space.map(|s| self.text(s)) == space
                && (self.text(a.name) == name || space.is_none() && self.text(a.name).eq_ignore_ascii_case(name))
        })
    }

    /// The integer arguments of an attribute: between `least` and `most` of them.
    pub(crate) fn attribute_ints(&mut self, a: Attribute, least: usize, most: usize) -> R<Vec<i64>> {
        if a.args.len() < least || a.args.len() > most {
            let name = self.text(a.name).to_owned();
            let want = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let message = format!("`{name}` takes {want} arguments");
            return Err(self.error(codes::BAD_ATTRIBUTE_USE, a.span, message));
        }
        let args: Vec<ExprId> = self.ast.iter(a.args).collect();
        args.into_iter().map(|e| self.constant_int(e)).collect()
    }

    /// The string argument of an attribute.
    pub(crate) fn attribute_string(&mut self, a: Attribute) -> R<&str> {
        let first = self.ast[a.args].first().copied();
        match first.map(|e| self.ast[e].kind) {
            Some(ExprKind::Str(s)) => Ok(self.ast.string(s)),
            _ => {
                let message = format!("`{}` takes a string", self.text(a.name));
                Err(self.error(codes::BAD_ATTRIBUTE_USE, a.span, message))
            }
        }
    }

    /// The semantic among annotations.
    pub(crate) fn semantic(&self, list: Slice<ast::Annotation>) -> Option<(Name, Span)> {
        self.ast[list].iter().find_map(|a| match a.kind {
            AnnotationKind::Semantic(name) => Some((name, a.span)),
            _ => None,
        })
    }

    /// All modifiers of a variable: as written, and its type's.
    pub(crate) fn mods(&self, var: &ast::Var) -> Mods {
        var.mods | self.ast[var.ty].mods
    }
}
