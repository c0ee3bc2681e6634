//! Functions: declaring them and lowering their bodies.

use oneshader_diag::{Diagnostic, Span, codes};
use oneshader_ir as ir;
use oneshader_ir::AddressSpace;

use crate::ast::{self, DeclId, DeclKind, FunctionId, FunctionName, Mods};
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::sema::types::is_unsupported;
use crate::sema::{Body, BodyState, Candidate, Direction, FnId, Fun, FunTemplate, Param, Storage, Var};
use crate::ty::{Ty, TyKind};
use crate::value::{Place, R, ReadOnly};

impl Cx<'_> {
    /// A function as an entry of the table, its signature resolved in a scope.
    pub(crate) fn new_function(&mut self, decl: DeclId, func: FunctionId, this: Option<Ty>, scope: ScopeId) -> R<FnId> {
        let node = self.ast[func];
        let outer = self.s.func.take();
        let result = self.in_scope(scope, |cx| {
            let ret = cx.resolve(node.result)?;
            let ret = cx.with_order(ret, node.mods);
            if let TyKind::Unsized(_) = cx.tys.kind(ret) {
                let span = cx.ast[node.result].span;
                return Err(cx.error(codes::BAD_TYPE, span, "a function cannot return an array without a size"));
            }
            let params: Vec<DeclId> = cx.ast.iter(node.params).collect();
            let mut out = Vec::with_capacity(params.len());
            for param in params {
                if let DeclKind::Var(var) = cx.ast[param].kind {
                    out.extend(cx.parameter(param, var, scope)?);
                }
            }
            Ok((ret, out))
        });
        self.s.func = outer;
        let (ret, params) = result?;
        let this = this.filter(|_| !node.mods.contains(Mods::STATIC));
        let id = FnId(self.s.funs.len() as u32);
        self.s.funs.push(Fun {
            name: node.name,
            span: node.name_span,
            params,
            ret,
            scope,
            this,
            inline: self.inline_decl(decl, node.body.is_none()),
            body: node.body.map(|_| (decl, func)),
            state: BodyState::Idle,
            ir: None,
            env: self.s.env,
            precise: node.mods.contains(Mods::PRECISE),
            is_const: node.is_const,
            chain: 0,
            aliases: Vec::new(),
        });
        Ok(id)
    }

    fn parameter(&mut self, decl: DeclId, var: ast::VarId, scope: ScopeId) -> R<Option<Param>> {
        let node = self.ast[var];
        let ty = self.resolve(node.ty)?;
        let ty = self.with_order(ty, node.mods);
        if ty == Ty::VOID {
            // `f(void)`
            if node.name.is_none() {
                return Ok(None);
            }
            return Err(self.error(codes::BAD_TYPE, node.name_span, "a parameter cannot be of type `void`"));
        }
        let dir = match (node.mods.contains(Mods::IN), node.mods.contains(Mods::OUT)) {
            (true, true) => Direction::InOut,
            (false, true) => Direction::Out,
            _ => Direction::In,
        };
        // A resource that comes in by `inout` must be known; it cannot be changed, so it is passed like any other.
        let dir = match (dir, self.tys.kind(self.tys.innermost(ty))) {
            (Direction::InOut, TyKind::Object(..)) => Direction::In,
            _ => dir,
        };
        let default = node.init.map(|e| (e, scope));
        Ok(Some(Param { name: node.name, ty, dir, default, decl, span: node.name_span }))
    }

    pub(crate) fn declare_function(&mut self, decl: DeclId, func: FunctionId, this: Option<Ty>) {
        let node = self.ast[func];
        let name = self.function_name(node.name);
        if let Some(path) = node.qualifier {
            return self.define_out_of_line(decl, func, path, name);
        }
        let scope = self.s.scope;
        if self.s.func.is_some() && this.is_none() && self.scope(scope).kind == ScopeKind::Block {
            // Inside a body: declares a function of the namespace.
            let mut outer = scope;
            while self.scope(outer).kind != ScopeKind::Namespace
                && let Some(parent) = self.scope(outer).parent
            {
                outer = parent;
            }
            return self.in_scope(outer, |cx| cx.declare_function(decl, func, None));
        }
        if let Some(params) = self.ast[decl].template {
            if self.ast[params].params.is_empty() || node.args.is_some() {
                return self.specialize_function(decl, func, name);
            }
            return self.declare_function_template(decl, func, params, this, name);
        }
        let Ok(id) = self.new_function(decl, func, this, scope) else { return };
        if let Some(old) = self.redeclared(scope, name, id) {
            self.join_declarations(old, id);
            self.after_definition(old, decl, func, this);
            return;
        }
        self.declare_candidate(scope, name, Candidate::Fun(id), node.name_span);
        self.after_definition(id, decl, func, this);
    }

    /// The name under which a function is found.
    pub(crate) fn function_name(&self, name: FunctionName) -> Name {
        match name {
            FunctionName::Ident(name) => name,
            FunctionName::Operator(op) => operator_name(op),
            FunctionName::Conversion => Name(u32::MAX),
        }
    }

    /// A function with the same parameters in a scope.
    fn redeclared(&self, scope: ScopeId, name: Name, id: FnId) -> Option<FnId> {
        let Some(Sym::Funs(set)) = self.scope(scope).names.get(&name).copied() else { return None };
        self.s.sets[set as usize].iter().find_map(|c| match c {
            Candidate::Fun(old) if self.same_parameters(*old, id) => Some(*old),
            _ => None,
        })
    }

    fn same_parameters(&self, a: FnId, b: FnId) -> bool {
        let (a, b) = (&self.s.funs[a.0 as usize], &self.s.funs[b.0 as usize]);
        a.params.len() == b.params.len()
            && a.is_const == b.is_const
            && a.params.iter().zip(&b.params).all(|(p, q)| self.tys.same(p.ty, q.ty))
            && (a.name != FunctionName::Conversion || self.tys.same(a.ret, b.ret))
    }

    /// Two declarations of one function: the second adds its body and its defaults.
    fn join_declarations(&mut self, old: FnId, new: FnId) {
        let new = self.s.funs[new.0 as usize].clone();
        let fun = &self.s.funs[old.0 as usize];
        let same_out = fun.params.iter().zip(&new.params).all(|(p, q)| p.dir == q.dir);
        if !self.tys.same(fun.ret, new.ret) || !same_out {
            let d = Diagnostic::new(codes::REDEFINITION, new.span, "the declarations of the function differ")
                .label(fun.span, "declared here before");
            self.report(d);
            return;
        }
        if fun.body.is_some() && new.body.is_some() {
            let name = self.show_function_name(new.name);
            let d = Diagnostic::new(codes::REDEFINITION, new.span, format!("`{name}` is defined twice"))
                .label(fun.span, "defined here before");
            self.report(d);
            return;
        }
        let fun = &mut self.s.funs[old.0 as usize];
        fun.precise |= new.precise;
        for (p, q) in fun.params.iter_mut().zip(&new.params) {
            p.default = p.default.or(q.default);
            if new.body.is_some() {
                p.name = q.name;
                p.decl = q.decl;
            }
        }
        if new.body.is_some() {
            fun.body = new.body;
            fun.span = new.span;
        }
    }

    /// What follows a definition: its body is lowered, as a function and as an entry point.
    fn after_definition(&mut self, id: FnId, decl: DeclId, func: FunctionId, this: Option<Ty>) {
        if self.ast[func].body.is_none() {
            return;
        }
        self.check_function_attributes(self.ast[decl].attributes);
        if this.is_some() {
            // Methods of a template's instance are lowered when they are called.
            if self.s.env == 0 {
                self.request(id);
            }
            return;
        }
        // One inside another is refused by the parser; if its name is that of an entry point, it would lower the body
        // around it again.
        if self.s.env != 0 || self.s.func.is_some() {
            return;
        }
        self.flush();
        if !self.lower_as_entry(id, decl) || self.s.funs[id.0 as usize].ir.is_some() {
            self.request(id);
        }
    }

    fn declare_function_template(
        &mut self,
        decl: DeclId,
        func: FunctionId,
        params: ast::TemplateId,
        this: Option<Ty>,
        name: Name,
    ) {
        let node = self.ast[func];
        let scope = self.s.scope;
        let this = this.filter(|_| !node.mods.contains(Mods::STATIC));
        // A definition of what was declared before.
        if let Some(Sym::Funs(set)) = self.scope(scope).names.get(&name).copied() {
            for candidate in self.s.sets[set as usize].clone() {
                let Candidate::Template(t) = candidate else { continue };
                let old = &self.s.fun_templates[t as usize];
                let same = self.ast[old.func].params.len() == node.params.len()
                    && self.ast[old.params].params.len() == self.ast[params].params.len()
                    && self.ast[old.func].body.is_none()
                    && old.body.is_none()
                    && node.body.is_some();
                if same && self.same_template_shape(old.func, func) {
                    self.s.fun_templates[t as usize].body = Some((decl, func, params));
                    return;
                }
            }
        }
        self.s.fun_templates.push(FunTemplate {
            decl,
            func,
            params,
            scope,
            this,
            body: None,
            instances: Self::no_instances(),
        });
        let t = self.s.fun_templates.len() as u32 - 1;
        self.declare_candidate(scope, name, Candidate::Template(t), node.name_span);
    }

    /// Whether two templates of functions have parameters of the same kinds of types, as far as the tree tells.
    fn same_template_shape(&self, a: FunctionId, b: FunctionId) -> bool {
        let kinds = |f: FunctionId| -> Vec<_> {
            self.ast[self.ast[f].params]
                .iter()
                .filter_map(|d| match self.ast[*d].kind {
                    DeclKind::Var(v) => Some(std::mem::discriminant(&self.ast[self.ast[v].ty].kind)),
                    _ => None,
                })
                .collect()
        };
        kinds(a) == kinds(b)
    }

    /// `template<> void f<int>(int x) { ... }`
    fn specialize_function(&mut self, decl: DeclId, func: FunctionId, name: Name) {
        let node = self.ast[func];
        let scope = self.s.scope;
        let Ok(id) = self.new_function(decl, func, None, scope) else { return };
        let Some(Sym::Funs(set)) = self.lookup(name) else {
            self.unknown_name(name, None, node.name_span);
            return;
        };
        let given = match node.args.map(|a| self.template_args(a)) {
            Some(Ok(given)) => given,
            Some(Err(_)) => return,
            None => Vec::new(),
        };
        let types: Vec<Ty> = self.s.funs[id.0 as usize].params.iter().map(|p| p.ty).collect();
        for candidate in self.s.sets[set as usize].clone() {
            if let Candidate::Template(t) = candidate
                && let Some(instance) = self.function_instance(t, &given, &types, node.name_span)
            {
                let new = self.s.funs[id.0 as usize].clone();
                let fun = &mut self.s.funs[instance.0 as usize];
                if fun.state == BodyState::Idle {
                    fun.body = new.body;
                    fun.scope = new.scope;
                    fun.params = new.params;
                    fun.ret = new.ret;
                    fun.env = new.env;
                }
                return;
            }
        }
        self.error(codes::TEMPLATE_ARGUMENTS, node.name_span, "no template fits this specialization");
    }

    /// `void S::f() { ... }`, of a structure, a template of one, or a namespace.
    fn define_out_of_line(&mut self, decl: DeclId, func: FunctionId, path: ast::PathId, name: Name) {
        let node = self.ast[func];
        if let Some(params) = self.ast[decl].template {
            // `template<class T> void S<T>::f()`: kept for the instances.
            let segments: Vec<ast::Segment> = self.ast.iter(self.ast[path].segments).collect();
            let mut outer = None;
            for segment in &segments {
                let sym = match outer {
                    Some(scope) => self.lookup_in(scope, segment.name),
                    None => self.lookup(segment.name),
                };
                match sym {
                    Some(Sym::Namespace(scope)) => outer = Some(scope),
                    Some(Sym::StructTemplate(t)) => {
                        let owner = self.ast[params].outer.unwrap_or(params);
                        self.s.struct_templates[t as usize].members.push((owner, decl, func));
                        return;
                    }
                    _ => break,
                }
            }
        }
        let Ok(scope) = self.scope_of_path(path) else { return };
        let this = match self.scope(scope).kind {
            ScopeKind::Struct(s) => Some(self.tys.intern(TyKind::Struct(s))),
            _ => None,
        };
        if let Some(params) = self.ast[decl].template {
            self.in_scope(scope, |cx| cx.declare_function_template(decl, func, params, this, name));
            return;
        }
        let Ok(id) = self.new_function(decl, func, this, scope) else { return };
        match self.redeclared(scope, name, id) {
            Some(old) => {
                self.join_declarations(old, id);
                self.request(old);
            }
            None if this.is_none() => {
                self.declare_candidate(scope, name, Candidate::Fun(id), node.name_span);
                self.request(id);
            }
            None => {
                let shown = this.map(|t| self.show(t)).unwrap_or_default();
                let message = format!("`{shown}` declares no such method");
                self.error(codes::UNKNOWN_MEMBER, node.name_span, message);
            }
        }
    }

    /// A member's definition out of line, for a method of a template's instance that has no body.
    pub(crate) fn find_member_definition(&mut self, id: FnId) {
        let fun = self.s.funs[id.0 as usize].clone();
        let Some(s) = self.enclosing_of(fun.scope) else { return };
        let Some((template, args)) = self.s.instance_of.get(&s).cloned() else { return };
        let members = self.s.struct_templates[template as usize].members.clone();
        for (params, decl, func) in members {
            let node = self.ast[func];
            if node.name != fun.name || node.params.len() != fun.params.len() {
                continue;
            }
            let inside = ScopeId(self.tys.def(s).scope);
            let scope = self.bind(inside, params, &args);
            let fun = &mut self.s.funs[id.0 as usize];
            fun.body = Some((decl, func));
            fun.scope = scope;
            return;
        }
    }

    fn enclosing_of(&self, scope: ScopeId) -> Option<crate::ty::StructRef> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let ScopeKind::Struct(s) = self.scope(scope).kind {
                return Some(s);
            }
            at = self.scope(scope).parent;
        }
        None
    }

    /// The function of the module for a function; its body is lowered some time.
    pub(crate) fn ir_function(&mut self, id: FnId) -> ir::Func {
        if self.s.funs[id.0 as usize].body.is_none() {
            self.find_member_definition(id);
        }
        self.request(id);
        if let Some(func) = self.s.funs[id.0 as usize].ir {
            return func;
        }
        let fun = self.s.funs[id.0 as usize].clone();
        let name = match fun.name {
            FunctionName::Ident(name) => self.ir_name(name),
            _ => {
                let text = self.show_function_name(fun.name).replace(|c: char| !c.is_alphanumeric(), "_");
                self.b.module.names.intern(&text)
            }
        };
        let ret = self.ir(fun.ret);
        let mut func = ir::Function::new(name, ret, fun.span);
        if let Some(this) = fun.this {
            let this = self.ir(this);
            let ty = self.b.module.types.pointer(AddressSpace::Function, this);
            let name = self.b.module.names.intern("this");
            func.add_param(name, ty);
        }
        for param in &fun.params {
            let mut ty = self.ir(param.ty);
            if param.dir != Direction::In || self.is_ray_query(param.ty) {
                ty = self.b.module.types.pointer(AddressSpace::Function, ty);
            }
            let name = match param.name {
                Some(name) => self.ir_name(name),
                None => self.b.module.names.intern(""),
            };
            func.add_param(name, ty);
        }
        let func = self.b.module.functions.push(func);
        self.s.funs[id.0 as usize].ir = Some(func);
        func
    }

    /// A function's name as a person writes it.
    pub(crate) fn show_function_name(&self, name: FunctionName) -> String {
        match name {
            FunctionName::Ident(name) => self.text(name).to_owned(),
            FunctionName::Operator(op) => format!("operator{}", operator_text(op)),
            FunctionName::Conversion => "operator".into(),
        }
    }

    /// Lowers the body of a function.
    pub(crate) fn lower_body(&mut self, id: FnId) {
        let func = self.ir_function(id);
        let fun = self.s.funs[id.0 as usize].clone();
        let Some((_, node)) = fun.body else { return };
        self.s.funs[id.0 as usize].state = BodyState::Done;
        let Some(body) = self.ast[node].body else { return };
        let name = self.b.module.functions[func].name;
        let blank = ir::Function::new(name, self.b.module.functions[func].ret, fun.span);
        let function = std::mem::replace(&mut self.b.module.functions[func], blank);
        let params: Vec<ir::Value> = function.params.iter().map(|p| p.value).collect();
        let idle = self.b.begin(function);
        let outer = self.enter_function(id.0, fun.env, fun.precise);
        self.s.body.ret = Some(fun.ret);
        self.s.chain = fun.chain;
        let scope = self.new_scope(Some(fun.scope), ScopeKind::Block);
        self.in_scope(scope, |cx| {
            let mut values = params.into_iter();
            if let Some(this) = fun.this
                && let Some(root) = values.next()
            {
                cx.s.body.this = Some(Place::pointer(root, this, false));
            }
            for (param, value) in fun.params.iter().zip(values) {
                cx.declare_parameter(param, value);
            }
            for (param, global) in &fun.aliases {
                let Some(name) = param.name else { continue };
                cx.add_var(Var {
                    name,
                    ty: param.ty,
                    storage: Storage::Global(*global),
                    readonly: Some(ReadOnly::Object),
                    known: None,
                    span: param.span,
                });
            }
            cx.check_unsupported_types(&fun);
            for param in &fun.params {
                cx.decorate_variable(cx.ast[param.decl].attributes, param.name);
            }
            if let Some((decl, _)) = fun.body {
                cx.function_attributes(cx.ast[decl].attributes);
            }
            cx.body_block(body);
        });
        self.end_of_body(fun.ret, fun.span);
        self.leave_function(outer);
        let function = self.b.end(idle);
        self.b.module.functions[func] = function;
    }

    /// Enters a function's body: a fresh state; the old one is given back.
    pub(crate) fn enter_function(&mut self, key: u32, env: u32, precise: bool) -> (Body, Option<u32>, u32) {
        self.known.clear();
        let old = std::mem::take(&mut self.s.body);
        self.s.body.precise_result = precise;
        let func = self.s.func.replace(key);
        (old, func, std::mem::replace(&mut self.s.env, env))
    }

    pub(crate) fn leave_function(&mut self, (body, func, env): (Body, Option<u32>, u32)) {
        self.mark_precise();
        self.known.clear();
        self.s.body = body;
        self.s.func = func;
        self.s.env = env;
    }

    /// A body whose block shares the parameters' scope, as in C++.
    pub(crate) fn body_block(&mut self, body: ast::StmtId) {
        match self.ast[body].kind {
            ast::StmtKind::Block(list) => self.statements(list),
            _ => self.statement(body),
        }
    }

    /// Control at the end of a body: a missing value is reported.
    fn end_of_body(&mut self, ret: Ty, span: Span) {
        if !self.b.is_open() {
            return;
        }
        if ret == Ty::VOID {
            self.b.ret(None);
            return;
        }
        if ret != Ty::ERROR {
            let shown = self.show(ret);
            let d = Diagnostic::new(codes::MISSING_RETURN, span, format!("not every path returns a `{shown}`"))
                .severity(oneshader_diag::Severity::Warning);
            self.report(d);
        }
        let value = self.undef(ret);
        self.b.ret(Some(value.v));
    }

    fn check_unsupported_types(&mut self, fun: &Fun) {
        if self.holds_ray_query(fun.ret) {
            self.unsupported(fun.span, "a function cannot give back a ray query; pass it as a parameter");
        }
        for param in &fun.params {
            if param.dir != Direction::In && self.is_spirv_pointer(param.ty) {
                self.error(codes::BAD_TYPE, param.span, "a pointer of SPIR-V is bound once, to a name or a parameter");
            }
        }
        let types: Vec<(Ty, Span)> = fun.params.iter().map(|p| (p.ty, p.span)).chain([(fun.ret, fun.span)]).collect();
        for (ty, span) in types {
            if let TyKind::Object(kind, _) = self.tys.kind(self.tys.innermost(ty))
                && is_unsupported(kind)
            {
                let message = format!("`{}` is not supported", kind.text());
                self.error(codes::UNSUPPORTED_TYPE, span, message);
            }
        }
    }

    /// A parameter as a variable of the body.
    pub(crate) fn declare_parameter(&mut self, param: &Param, value: ir::Value) {
        let Some(name) = param.name else { return };
        let is_const =
            matches!(self.ast[param.decl].kind, DeclKind::Var(v) if self.mods(&self.ast[v]).contains(Mods::CONST));
        let precise = matches!(self.ast[param.decl].kind, DeclKind::Var(v) if self.ast[v].mods.contains(Mods::PRECISE));
        let storage = match (param.dir, self.tys.kind(param.ty)) {
            // A handle stays a value: which resource it is must be known.
            (Direction::In, TyKind::Object(..)) => Storage::Value(value),
            (Direction::In, _) if self.is_spirv_pointer(param.ty) => Storage::Value(value),
            (Direction::In, _) if self.is_ray_query(param.ty) => Storage::Local(value),
            (Direction::In, _) => {
                let ir_name = self.ir_name(name);
                let ty = self.ir(param.ty);
                self.at(param.span);
                let root = self.b.local(ir_name, ty);
                self.b.store(root, value);
                Storage::Local(root)
            }
            _ => Storage::Local(value),
        };
        if precise && let Storage::Local(root) = storage {
            self.s.body.precise.push(root);
        }
        let readonly = (is_const && param.dir == Direction::In).then_some(ReadOnly::Const);
        self.add_var(Var { name, ty: param.ty, storage, readonly, known: None, span: param.span });
    }
}

/// The name under which a structure's operator is found: beyond all interned names.
pub(crate) fn operator_name(op: ast::OverloadedOp) -> Name {
    use ast::OverloadedOp as O;
    let number = match op {
        O::Binary(b) => b as u32,
        O::Assign(None) => 100,
        O::Assign(Some(b)) => 101 + b as u32,
        O::Unary(u) => match u {
            // `+` and `-` are found under their binary names; the number of parameters tells.
            ast::UnaryOp::Plus => ast::BinaryOp::Add as u32,
            ast::UnaryOp::Neg => ast::BinaryOp::Sub as u32,
            ast::UnaryOp::PostInc => 200 + ast::UnaryOp::PreInc as u32,
            ast::UnaryOp::PostDec => 200 + ast::UnaryOp::PreDec as u32,
            other => 200 + other as u32,
        },
        O::Call => 300,
        O::Index => 301,
    };
    Name(u32::MAX - 1 - number)
}

fn operator_text(op: ast::OverloadedOp) -> String {
    use ast::OverloadedOp as O;
    match op {
        O::Binary(b) => b.text().into(),
        O::Assign(None) => "=".into(),
        O::Assign(Some(b)) => format!("{}=", b.text()),
        O::Unary(u) => u.text().into(),
        O::Call => "()".into(),
        O::Index => "[]".into(),
    }
}
