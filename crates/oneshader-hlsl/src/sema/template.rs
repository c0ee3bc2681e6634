//! Templates: an instance is the declaration walked again with the parameters' names bound to arguments.

use oneshader_diag::{Span, codes};
use rustc_hash::FxHashMap;

use crate::ast::{self, DeclId, Mods, Slice, TemplateArg, TemplateArgKind, TemplateId, TemplateParamKind};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::sema::{FnId, Special, Storage, Var, VarId, VarTemplate};
use crate::ty::{SpirvDef, Ty, TyKind};
use crate::value::{R, Reported, TemplateValue};

/// Instances inside instances.
const MAX_DEPTH: u32 = 64;
/// Instances that call instances.
const MAX_CHAIN: u32 = 512;
/// Instances of a compile.
const MAX_INSTANCES: u32 = 20_000;

/// Arguments bound so far, one slot for each parameter.
type Bindings = Vec<Option<TemplateValue>>;

impl Cx<'_> {
    /// Evaluates one template argument.
    pub(crate) fn template_arg(&mut self, arg: &TemplateArg) -> R<TemplateValue> {
        match arg.kind {
            TemplateArgKind::Type(ty) => Ok(TemplateValue::Type(self.resolve(ty)?)),
            TemplateArgKind::Expr(expr) => {
                let (c, ty) = self.constant(expr)?;
                Ok(TemplateValue::Const(c, ty))
            }
        }
    }

    /// Evaluates template arguments.
    pub(crate) fn template_args(&mut self, args: Slice<TemplateArg>) -> R<Vec<TemplateValue>> {
        let args: Vec<TemplateArg> = self.ast.iter(args).collect();
        args.iter().map(|a| self.template_arg(a)).collect()
    }

    /// A scope in which a template's parameters mean their arguments.
    pub(crate) fn bind(&mut self, parent: ScopeId, template: TemplateId, args: &[TemplateValue]) -> ScopeId {
        let scope = self.new_scope(Some(parent), ScopeKind::Block);
        let params: Vec<ast::TemplateParam> = self.ast.iter(self.ast[template].params).collect();
        for (param, arg) in params.iter().zip(args) {
            if let Some(name) = param.name {
                self.bind_one(scope, name, *arg, param.span);
            }
        }
        scope
    }

    fn bind_one(&mut self, scope: ScopeId, name: Name, arg: TemplateValue, span: Span) {
        let sym = match arg {
            TemplateValue::Type(ty) => Sym::Type(ty),
            TemplateValue::Const(c, ty) => {
                let id = self.push_var(Var {
                    name,
                    ty,
                    storage: Storage::Const(c),
                    readonly: Some(crate::value::ReadOnly::Const),
                    known: Some(c),
                    span,
                });
                Sym::Var(id)
            }
        };
        self.scope_mut(scope).names.insert(name, sym);
    }

    /// Converts an argument to its parameter's kind and type.
    fn fit_arg(
        &mut self,
        param: &ast::TemplateParam,
        arg: TemplateValue,
        scope: ScopeId,
        span: Span,
    ) -> R<TemplateValue> {
        match (param.kind, arg) {
            (TemplateParamKind::Type { .. }, TemplateValue::Type(ty)) => Ok(TemplateValue::Type(ty)),
            (TemplateParamKind::Value { ty, .. }, TemplateValue::Const(c, from)) => {
                let to = self.in_scope(scope, |cx| cx.resolve(ty))?;
                let v = self.b.constant(c);
                let value = self.convert(crate::value::Value { v, ty: from }, to, span)?;
                match self.known(value.v) {
                    Some(c) => Ok(TemplateValue::Const(c, to)),
                    None => Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "the argument is no constant")),
                }
            }
            (TemplateParamKind::Type { .. }, _) => {
                Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "expected a type as template argument"))
            }
            _ => Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "expected a value as template argument")),
        }
    }

    /// Completes bound arguments with defaults; all of them, or `None` when one is missing.
    fn complete(
        &mut self,
        parent: ScopeId,
        template: TemplateId,
        bound: &Bindings,
        span: Span,
    ) -> R<Option<Vec<TemplateValue>>> {
        let params: Vec<ast::TemplateParam> = self.ast.iter(self.ast[template].params).collect();
        let scope = self.new_scope(Some(parent), ScopeKind::Block);
        let mut out = Vec::with_capacity(params.len());
        for (i, param) in params.iter().enumerate() {
            let arg = match (bound.get(i).copied().flatten(), param.kind) {
                (Some(arg), _) => self.fit_arg(param, arg, scope, span)?,
                (None, TemplateParamKind::Type { default: Some(ty) }) => {
                    TemplateValue::Type(self.in_scope(scope, |cx| cx.resolve(ty))?)
                }
                (None, TemplateParamKind::Value { default: Some(value), .. }) => {
                    let (c, ty) = self.in_scope(scope, |cx| cx.constant(value))?;
                    self.fit_arg(param, TemplateValue::Const(c, ty), scope, span)?
                }
                _ => return Ok(None),
            };
            if let Some(name) = param.name {
                self.bind_one(scope, name, arg, param.span);
            }
            out.push(arg);
        }
        Ok(Some(out))
    }

    fn too_many(&mut self, span: Span) -> Option<Reported> {
        if self.s.template_depth >= MAX_DEPTH {
            return Some(self.error(codes::TEMPLATE_DEPTH, span, "templates are nested too deeply"));
        }
        if self.s.envs >= MAX_INSTANCES {
            return Some(self.error(codes::INSTANCE_LIMIT, span, "too many instances of templates"));
        }
        None
    }

    /// Runs as a new instance.
    fn as_instance<T>(&mut self, scope: ScopeId, f: impl FnOnce(&mut Self) -> T) -> T {
        self.s.envs += 1;
        let env = std::mem::replace(&mut self.s.env, self.s.envs);
        self.s.template_depth += 1;
        let result = self.in_scope(scope, f);
        self.s.template_depth -= 1;
        self.s.env = env;
        result
    }

    /// The structure that a template gives for arguments.
    pub(crate) fn instantiate_struct(&mut self, template: u32, args: Slice<TemplateArg>, span: Span) -> R<Ty> {
        let given = self.template_args(args)?;
        self.struct_instance(template, &given, span)
    }

    pub(crate) fn struct_instance(&mut self, template: u32, given: &[TemplateValue], span: Span) -> R<Ty> {
        let t = self.s.struct_templates[template as usize].shallow();
        let params = self.ast[t.params].params.len();
        if given.len() > params {
            let message = format!("`{}` takes {params} template arguments", self.text(t.name));
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        }
        let bound: Bindings = given.iter().map(|a| Some(*a)).collect();
        let Some(args) = self.complete(t.scope, t.params, &bound, span)? else {
            let message = format!("`{}` needs more template arguments", self.text(t.name));
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        };
        let key = self.plain_args(&args);
        if let Some(ty) = self.s.struct_templates[template as usize].instances.get(&key) {
            return Ok(*ty);
        }
        if let Some(reported) = self.too_many(span) {
            return Err(reported);
        }
        let specials: Vec<Special<ast::StructId>> =
            t.specials.iter().filter_map(|&(special, body)| Some((special, self.ast[body].args?, body))).collect();
        let chosen = self.best_special(t.scope, &specials, &args);
        let shown = self.show_instance(t.name, &args);
        let (params, body, bound) = match chosen {
            Some((params, body, bound)) => (params, Some(body), bound),
            None => (t.params, t.body, args.clone()),
        };
        let scope = self.bind(t.scope, params, &bound);
        let ty = self.new_struct(t.name, scope, Some(shown), t.span);
        self.s.struct_templates[template as usize].instances.insert(key, ty);
        if let Some(s) = self.tys.as_struct(ty) {
            self.s.instance_of.insert(s, (template, args));
            if let Some(body) = body {
                self.as_instance(scope, |cx| cx.define_struct(ty, s, body));
            }
            for (params, var) in self.s.struct_templates[template as usize].statics.clone() {
                self.define_instance_static(ty, params, var);
            }
        }
        Ok(ty)
    }

    /// The best specialization for arguments, with what its own parameters are; `None`: the primary template.
    fn best_special<B: Copy>(
        &mut self,
        scope: ScopeId,
        specials: &[Special<B>],
        args: &[TemplateValue],
    ) -> Option<(TemplateId, B, Vec<TemplateValue>)> {
        let mut chosen: Option<(TemplateId, B, Vec<TemplateValue>)> = None;
        for &(special, pattern, body) in specials {
            let count = self.ast[special].params.len();
            let mut bound: Bindings = vec![None; count];
            let patterns: Vec<TemplateArg> = self.ast.iter(pattern).collect();
            let fits = patterns.len() == args.len()
                && patterns.iter().zip(args).all(|(p, a)| self.match_arg(special, scope, p, *a, &mut bound));
            if fits && let Some(found) = bound.into_iter().collect::<Option<Vec<_>>>() {
                // Fewer parameters left open is more special.
                if chosen.as_ref().is_none_or(|(other, ..)| count < self.ast[*other].params.len()) {
                    chosen = Some((special, body, found));
                }
            }
        }
        chosen
    }

    /// `template<class T> static const T pi = T(3.14);` and specializations of such.
    pub(crate) fn declare_variable_template(&mut self, decl: DeclId, var: ast::VarId, params: TemplateId) {
        let node = self.ast[var];
        let Some(name) = node.name else { return };
        if !self.mods(&node).contains(Mods::STATIC) {
            let message = "a variable template is `static`: the host cannot set what has no one type";
            self.error(codes::BAD_DECLARATION, node.name_span, message);
        }
        let scope = self.s.scope;
        if let Some(args) = node.args {
            match self.scope(scope).names.get(&name).copied() {
                Some(Sym::VarTemplate(t)) => {
                    self.s.var_templates[t as usize].specials.push((params, args, (decl, var)));
                }
                _ => {
                    self.unknown_name(name, None, node.name_span);
                }
            }
            return;
        }
        let instances = Self::no_instances();
        let t = self.s.var_templates.len() as u32;
        let body = (decl, var);
        self.s.var_templates.push(VarTemplate { name, params, body, scope, specials: Vec::new(), instances });
        self.declare(name, Sym::VarTemplate(t), node.name_span);
    }

    /// The variable that a template gives for arguments.
    pub(crate) fn instantiate_variable(&mut self, template: u32, args: Slice<TemplateArg>, span: Span) -> R<VarId> {
        let given = self.template_args(args)?;
        let t = &self.s.var_templates[template as usize];
        let (name, params, body, home) = (t.name, t.params, t.body, t.scope);
        let count = self.ast[params].params.len();
        if given.len() > count {
            let message = format!("`{}` takes {count} template arguments", self.text(name));
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        }
        let bound: Bindings = given.iter().map(|a| Some(*a)).collect();
        let Some(args) = self.complete(home, params, &bound, span)? else {
            let message = format!("`{}` needs more template arguments", self.text(name));
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        };
        if let Some(var) = self.s.var_templates[template as usize].instances.get(&args) {
            return Ok(*var);
        }
        if let Some(reported) = self.too_many(span) {
            return Err(reported);
        }
        let specials = self.s.var_templates[template as usize].specials.clone();
        let (params, (decl, node), bound) =
            self.best_special(home, &specials, &args).unwrap_or((params, body, args.clone()));
        let scope = self.bind(home, params, &bound);
        // It belongs to no function, whichever one asks for it.
        let func = self.s.func.take();
        self.as_instance(scope, |cx| cx.declare_variable(decl, node));
        self.s.func = func;
        match self.scope(scope).names.get(&name).copied() {
            Some(Sym::Var(var)) => {
                self.s.var_templates[template as usize].instances.insert(args, var);
                Ok(var)
            }
            _ => Err(Reported(())),
        }
    }

    /// The type that an alias template gives for arguments.
    pub(crate) fn instantiate_alias(&mut self, template: u32, args: Slice<TemplateArg>, span: Span) -> R<Ty> {
        let t = self.s.alias_templates[template as usize];
        let given = self.template_args(args)?;
        let bound: Bindings = given.iter().map(|a| Some(*a)).collect();
        let Some(args) = self.complete(t.scope, t.params, &bound, span)? else {
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "the alias needs more template arguments"));
        };
        if let Some(reported) = self.too_many(span) {
            return Err(reported);
        }
        let scope = self.bind(t.scope, t.params, &args);
        self.as_instance(scope, |cx| cx.resolve(t.ty))
    }

    /// Arguments as keys: the order of matrices makes no other instance... except where memory is concerned, so only
    /// constants are brought to one form.
    fn plain_args(&mut self, args: &[TemplateValue]) -> Vec<TemplateValue> {
        args.to_vec()
    }

    fn show_instance(&self, name: Name, args: &[TemplateValue]) -> String {
        let shown: Vec<String> = args
            .iter()
            .map(|a| match a {
                TemplateValue::Type(ty) => self.show(*ty),
                TemplateValue::Const(c, _) => match self.b.module.consts.bits(*c) {
                    Some(bits) => (bits as i64 as i32).to_string(),
                    None => "...".into(),
                },
            })
            .collect();
        format!("{}<{}>", self.text(name), shown.join(", "))
    }

    /// The instance of a function template for a call; `None`, silently, when the arguments do not fit.
    pub(crate) fn function_instance(
        &mut self,
        template: u32,
        given: &[TemplateValue],
        args: &[Ty],
        span: Span,
    ) -> Option<FnId> {
        let t = self.s.fun_templates[template as usize].shallow();
        let func = self.ast[t.func];
        let count = self.ast[t.params].params.len();
        if given.len() > count || args.len() > func.params.len() {
            return None;
        }
        let mut bound: Bindings = vec![None; count];
        for (slot, arg) in bound.iter_mut().zip(given) {
            *slot = Some(*arg);
        }
        let params: Vec<ast::DeclId> = self.ast.iter(func.params).collect();
        for (param, arg) in params.iter().zip(args) {
            let ast::DeclKind::Var(var) = self.ast[*param].kind else { continue };
            let ty = self.ast[var].ty;
            // A parameter whose type depends on no argument that is to be deduced converts like any other.
            if self.depends(t.params, given.len(), ty) && !self.match_type(t.params, t.scope, ty, *arg, &mut bound) {
                return None;
            }
        }
        // Errors while substituting only mean that the template does not fit.
        let errors = self.diags.len();
        let (env, depth) = (self.s.env, self.s.template_depth);
        let found = self.complete(t.scope, t.params, &bound, span);
        let result = match found {
            Ok(Some(args)) => self.make_function_instance(template, &args, span),
            _ => None,
        };
        self.s.env = env;
        self.s.template_depth = depth;
        if result.is_none() {
            let limits = [codes::TEMPLATE_DEPTH, codes::INSTANCE_LIMIT];
            let keep: Vec<_> = self.diags.drain(errors..).filter(|(_, d)| limits.contains(&d.code)).collect();
            self.diags.extend(keep);
        }
        result
    }

    fn make_function_instance(&mut self, template: u32, args: &[TemplateValue], span: Span) -> Option<FnId> {
        let t = self.s.fun_templates[template as usize].shallow();
        if let Some(found) = self.s.fun_templates[template as usize].instances.get(args) {
            return Some(*found);
        }
        if self.too_many(span).is_some() {
            return None;
        }
        if self.s.chain >= MAX_CHAIN {
            self.error(codes::TEMPLATE_DEPTH, span, "instances of templates call each other without end");
            return None;
        }
        let scope = self.bind(t.scope, t.params, args);
        let errors = self.diags.len();
        let id = self.as_instance(scope, |cx| cx.new_function(t.decl, t.func, t.this, scope)).ok()?;
        if self.diags.len() > errors {
            return None;
        }
        self.s.funs[id.0 as usize].chain = self.s.chain + 1;
        if let Some((decl, func, params)) = t.body {
            // The definition names its parameters itself.
            let scope = self.bind(t.scope, params, args);
            let fun = &mut self.s.funs[id.0 as usize];
            fun.body = Some((decl, func));
            fun.scope = scope;
        }
        self.s.fun_templates[template as usize].instances.insert(args.to_vec(), id);
        Some(id)
    }

    /// Whether a type names one of a template's parameters from number `from` on.
    fn depends(&self, template: TemplateId, from: usize, ty: ast::TypeId) -> bool {
        let is_param = |name: Name| self.param_index(template, name).is_some_and(|i| i >= from);
        let in_args = |args: Slice<TemplateArg>| {
            self.ast[args].iter().any(|a| match a.kind {
                TemplateArgKind::Type(ty) => self.depends(template, from, ty),
                TemplateArgKind::Expr(e) => matches!(self.ast[e].kind, ast::ExprKind::Name(name) if is_param(name)),
            })
        };
        match self.ast[ty].kind {
            ast::TypeKind::Path(path) => {
                // What follows `::` is not deduced, as in C++.
                let segments = &self.ast[self.ast[path].segments];
                match segments {
                    [only] => only.args.map_or_else(|| is_param(only.name), in_args),
                    [outer @ .., last] => outer.iter().all(|s| s.args.is_none()) && last.args.is_some_and(in_args),
                    [] => false,
                }
            }
            ast::TypeKind::Object { args, .. } => in_args(args),
            ast::TypeKind::Array { element, size } => {
                let by_size = size.is_some_and(|e| matches!(self.ast[e].kind, ast::ExprKind::Name(n) if is_param(n)));
                by_size || self.depends(template, from, element)
            }
            _ => false,
        }
    }

    fn param_index(&self, template: TemplateId, name: Name) -> Option<usize> {
        self.ast[self.ast[template].params].iter().position(|p| p.name == Some(name))
    }

    /// Binds the parameter that a type pattern is, if it is one.
    fn bind_param(&mut self, index: usize, arg: TemplateValue, bound: &mut Bindings) -> bool {
        match bound.get_mut(index) {
            Some(slot @ None) => {
                *slot = Some(arg);
                true
            }
            Some(Some(old)) => match (*old, arg) {
                (TemplateValue::Type(a), TemplateValue::Type(b)) => self.tys.same(a, b),
                (TemplateValue::Const(a, _), TemplateValue::Const(b, _)) => {
                    self.b.module.consts.bits(a) == self.b.module.consts.bits(b)
                }
                _ => false,
            },
            None => false,
        }
    }

    /// Matches a pattern of a type against a type. Whether it is consistent so far.
    fn match_type(
        &mut self,
        template: TemplateId,
        scope: ScopeId,
        pattern: ast::TypeId,
        ty: Ty,
        bound: &mut Bindings,
    ) -> bool {
        let node = self.ast[pattern];
        match node.kind {
            ast::TypeKind::Path(path) => {
                if let Some(matched) = self.match_named(template, scope, path, ty, bound) {
                    return matched;
                }
                let [segment] = self.ast[self.ast[path].segments] else {
                    return self.match_plain(scope, template, pattern, ty);
                };
                match (self.param_index(template, segment.name), segment.args) {
                    (Some(index), None) => {
                        let ty = self.deduced(ty);
                        self.bind_param(index, TemplateValue::Type(ty), bound)
                    }
                    (None, Some(args)) => {
                        let mut at = Some(ty);
                        while let Some(s) = at.and_then(|t| self.tys.as_struct(t)) {
                            if let Some((found, values)) = self.s.instance_of.get(&s).cloned()
                                && self.s.struct_templates[found as usize].name == segment.name
                            {
                                let patterns: Vec<TemplateArg> = self.ast.iter(args).collect();
                                return patterns
                                    .iter()
                                    .zip(values)
                                    .all(|(p, v)| self.match_arg(template, scope, p, v, bound));
                            }
                            at = self.tys.def(s).base;
                        }
                        false
                    }
                    _ => self.match_plain(scope, template, pattern, ty),
                }
            }
            ast::TypeKind::Object { kind, args } => {
                let patterns: Vec<TemplateArg> = self.ast.iter(args).collect();
                self.match_object(template, scope, kind, &patterns, ty, bound)
            }
            ast::TypeKind::Array { element, size } => {
                let TyKind::Array(of, n) = self.tys.kind(ty) else { return false };
                if let Some(size) = size {
                    let c = self.b.module.consts.i32(&mut self.b.module.types, n as i32);
                    let arg = TemplateArg { kind: TemplateArgKind::Expr(size), span: node.span };
                    if !self.match_arg(template, scope, &arg, TemplateValue::Const(c, Ty::INT), bound) {
                        return false;
                    }
                }
                self.match_type(template, scope, element, of, bound)
            }
            _ => self.match_plain(scope, template, pattern, ty),
        }
    }

    /// Matches a name with arguments against a type: `None` when the name is of no template that can be looked into.
    fn match_named(
        &mut self,
        template: TemplateId,
        scope: ScopeId,
        path: ast::PathId,
        ty: Ty,
        bound: &mut Bindings,
    ) -> Option<bool> {
        let segments: Vec<ast::Segment> = self.ast.iter(self.ast[path].segments).collect();
        let (last, outer) = segments.split_last()?;
        let args = last.args?;
        if outer.iter().any(|s| s.args.is_some()) {
            return None;
        }
        let patterns: Vec<TemplateArg> = self.ast.iter(args).collect();
        if let Some((kind, _)) = self.vk_object(&segments) {
            return Some(self.match_object(template, scope, kind, &patterns, ty, bound));
        }
        let errors = self.diags.len();
        let found = self.in_scope(scope, |cx| cx.lookup_path(path));
        self.diags.truncate(errors);
        let values = match found.ok()?.0? {
            Sym::Object(kind) => return Some(self.match_object(template, scope, kind, &patterns, ty, bound)),
            Sym::StructTemplate(t) if !outer.is_empty() => {
                let mut at = Some(ty);
                loop {
                    let s = at.and_then(|t| self.tys.as_struct(t));
                    let Some(s) = s else { return Some(false) };
                    match self.s.instance_of.get(&s) {
                        Some((found, values)) if *found == t => break values.clone(),
                        _ => at = self.tys.def(s).base,
                    }
                }
            }
            Sym::AliasTemplate(t) => {
                // What the alias stands for says its arguments, and they say the template's.
                let alias = self.s.alias_templates[t as usize];
                let mut inner: Bindings = vec![None; self.ast[alias.params].params.len()];
                if self.s.template_depth >= MAX_DEPTH {
                    return Some(false);
                }
                self.s.template_depth += 1;
                let matched = self.match_type(alias.params, alias.scope, alias.ty, ty, &mut inner);
                self.s.template_depth -= 1;
                match inner.into_iter().collect() {
                    Some(values) if matched => values,
                    _ => return Some(false),
                }
            }
            _ => return None,
        };
        Some(patterns.iter().zip(values).all(|(p, v)| self.match_arg(template, scope, p, v, bound)))
    }

    fn match_object(
        &mut self,
        template: TemplateId,
        scope: ScopeId,
        kind: ObjectKind,
        patterns: &[TemplateArg],
        ty: Ty,
        bound: &mut Bindings,
    ) -> bool {
        let mut values: Vec<TemplateValue> = Vec::new();
        let number = |cx: &mut Self, n: u8| {
            let c = cx.b.module.consts.i32(&mut cx.b.module.types, i32::from(n));
            TemplateValue::Const(c, Ty::INT)
        };
        match (kind, self.tys.kind(ty)) {
            (ObjectKind::Vector, TyKind::Vector(e, n)) => {
                let elem = self.tys.scalar(e);
                values.push(TemplateValue::Type(elem));
                values.push(number(self, n));
            }
            (ObjectKind::Matrix, TyKind::Matrix(e, r, c, _)) => {
                let elem = self.tys.scalar(e);
                values.push(TemplateValue::Type(elem));
                values.push(number(self, r));
                values.push(number(self, c));
            }
            (ObjectKind::BufferPointer, TyKind::BufferPointer(of, align)) => {
                let align = self.pointer_align(of, align);
                let align = self.b.module.consts.u32(&mut self.b.module.types, align);
                values.extend([TemplateValue::Type(of), TemplateValue::Const(align, Ty::UINT)]);
            }
            (_, TyKind::Spirv(at)) => match (kind, self.tys.spirv[at as usize].clone()) {
                (ObjectKind::SpirvOpaqueType, SpirvDef::Type(opcode, operands)) => {
                    let opcode = self.b.module.consts.u32(&mut self.b.module.types, opcode);
                    values.push(TemplateValue::Const(opcode, Ty::UINT));
                    values.extend(operands.into_iter().map(TemplateValue::Type));
                }
                (ObjectKind::SpirvConstant, SpirvDef::Constant(c, of)) => {
                    values.extend([TemplateValue::Type(of), TemplateValue::Const(c, of)]);
                }
                (ObjectKind::SpirvLiteral, SpirvDef::Literal(of, _)) => values.push(TemplateValue::Type(of)),
                _ => return false,
            },
            (ObjectKind::RayQuery, TyKind::RayQuery(flags)) => {
                let scalar = oneshader_ir::Scalar::U32;
                let c = self.b.module.consts.scalar(&mut self.b.module.types, scalar, u64::from(flags));
                values.push(TemplateValue::Const(c, Ty::UINT));
            }
            (_, TyKind::Object(other, arg)) if other == kind => values.push(TemplateValue::Type(arg)),
            _ => return false,
        }
        patterns.iter().zip(values).all(|(p, v)| self.match_arg(template, scope, p, v, bound))
    }

    fn match_arg(
        &mut self,
        template: TemplateId,
        scope: ScopeId,
        pattern: &TemplateArg,
        value: TemplateValue,
        bound: &mut Bindings,
    ) -> bool {
        match (pattern.kind, value) {
            (TemplateArgKind::Type(p), TemplateValue::Type(ty)) => {
                // A parameter is bound to the very type; anything else is matched by its form.
                if let ast::TypeKind::Path(path) = self.ast[p].kind
                    && let [segment] = &self.ast[self.ast[path].segments]
                    && segment.args.is_none()
                    && let Some(index) = self.param_index(template, segment.name)
                {
                    return self.bind_param(index, value, bound);
                }
                self.match_type(template, scope, p, ty, bound)
            }
            (TemplateArgKind::Expr(e), TemplateValue::Const(c, _)) => {
                if let ast::ExprKind::Name(name) = self.ast[e].kind
                    && let Some(index) = self.param_index(template, name)
                {
                    return self.bind_param(index, value, bound);
                }
                let errors = self.diags.len();
                let own = self.in_scope(scope, |cx| cx.constant(e));
                self.diags.truncate(errors);
                own.is_ok_and(|(own, _)| self.b.module.consts.bits(own) == self.b.module.consts.bits(c))
            }
            _ => false,
        }
    }

    /// Matches a pattern that has no parameters inside.
    fn match_plain(&mut self, scope: ScopeId, template: TemplateId, pattern: ast::TypeId, ty: Ty) -> bool {
        let _ = template;
        let errors = self.diags.len();
        let own = self.in_scope(scope, |cx| cx.resolve(pattern));
        self.diags.truncate(errors);
        own.is_ok_and(|own| self.tys.same(own, ty))
    }

    /// The type a parameter is deduced to be from an argument's: literals become `int` and `float`.
    fn deduced(&mut self, ty: Ty) -> Ty {
        match self.tys.elem(ty) {
            Some(elem) if elem.is_literal() => self.tys.with_elem(ty, elem.concrete()),
            _ => ty,
        }
    }

    /// Empty tables for a template's instances.
    pub(crate) fn no_instances<V>() -> FxHashMap<Vec<TemplateValue>, V> {
        FxHashMap::default()
    }
}
