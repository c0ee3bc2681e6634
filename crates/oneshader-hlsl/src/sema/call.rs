//! Calls.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;

use crate::ast::{self, ExprId, ExprKind, OverloadedOp, Slice};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::func::operator_name;
use crate::sema::overload::Failure;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::sema::types::is_unsupported;
use crate::sema::{Candidate, Direction, FnId, Param};
use crate::ty::{Ty, TyKind};
use crate::value::{Arg, Base, Expr, Place, R, Reported, TemplateValue, Value};

/// Nothing of this name is there.
pub(crate) struct NotFound;

/// A score from which on a user's function gives way to a built-in one of its name: some argument is really cast or
/// truncated.
const POOR: u64 = 1 << (2 + 7 * 5);

impl Cx<'_> {
    pub(crate) fn call_expr(&mut self, callee: ExprId, args: Slice<ExprId>, span: Span) -> R<Expr> {
        let node = self.ast[callee];
        match node.kind {
            ExprKind::Name(name) => {
                let sym = self.lookup(name);
                let args = self.arguments(args)?;
                self.call_symbol(sym, name, None, args, node.span, span)
            }
            ExprKind::Path(path) => {
                let (sym, scope, last) = self.lookup_path(path)?;
                if sym.is_none() && scope.is_some() && scope == self.s.vk {
                    return self.call_vk(last, args, span);
                }
                if sym.is_none() && scope.is_some_and(|s| s != self.root_scope()) {
                    return Err(self.unknown_name(last.name, scope, last.span));
                }
                let given = match last.args {
                    Some(given) => Some(self.template_args(given)?),
                    None => None,
                };
                let args = self.arguments(args)?;
                self.call_symbol(sym, last.name, given, args, last.span, span)
            }
            ExprKind::Member { base, name } => {
                let name_span = node.span.tail(self.text(name).len() as u32);
                self.call_member(base, None, name, None, args, name_span, span)
            }
            ExprKind::MemberPath { base, path } => {
                let segments: Vec<ast::Segment> = self.ast.iter(self.ast[path].segments).collect();
                let Some(last) = segments.last().copied() else {
                    return Err(self.error(codes::UNKNOWN_NAME, span, "expected a name"));
                };
                let qualifier = if segments.len() > 1 { self.lookup_qualifier(path)?.0 } else { None };
                let given = match last.args {
                    Some(given) => Some(self.template_args(given)?),
                    None => None,
                };
                self.call_member(base, qualifier, last.name, given, args, last.span, span)
            }
            _ => {
                let object = self.expr(callee)?;
                let args = self.arguments(args)?;
                self.call_object(object, node.span, args, span)
            }
        }
    }

    /// Arguments, not yet loaded.
    pub(crate) fn arguments(&mut self, args: Slice<ExprId>) -> R<Vec<Arg>> {
        let mut out = Vec::with_capacity(args.len());
        let mut failed = None;
        for arg in self.ast.iter(args) {
            let span = self.ast[arg].span;
            match self.expr(arg) {
                Ok(Expr::Void) => {
                    failed = Some(self.error(codes::TYPE_MISMATCH, span, "the argument gives no value"));
                }
                Ok(expr) => out.push(Arg { expr, span }),
                Err(reported) => failed = Some(reported),
            }
        }
        match failed {
            Some(reported) => Err(reported),
            None => Ok(out),
        }
    }

    fn call_symbol(
        &mut self,
        sym: Option<Sym>,
        name: Name,
        given: Option<Vec<TemplateValue>>,
        args: Vec<Arg>,
        name_span: Span,
        span: Span,
    ) -> R<Expr> {
        self.at(span);
        match sym {
            Some(Sym::Funs(set)) => {
                let candidates = self.s.sets[set as usize].clone();
                let text = self.text(name).to_owned();
                let builtin = self.find_builtin(&text);
                match self.choose(&candidates, given.as_deref(), &args, span) {
                    Ok((_, score)) if score >= POOR && builtin.is_some() && self.s.body.this.is_none() => {
                        // The built-in may fit better; if it does not, it says so less well than the function would.
                        let errors = self.diags.len();
                        let result = self.call_builtin_named(builtin, &args, given.as_deref(), span);
                        if result.is_ok() && self.diags.len() == errors {
                            return result;
                        }
                        self.diags.truncate(errors);
                        let (fun, _) = match self.choose(&candidates, given.as_deref(), &args, span) {
                            Ok(found) => found,
                            Err(f) => return Err(self.no_overload(&text, &candidates, &f, &args, span)),
                        };
                        self.call_chosen(fun, args, span)
                    }
                    Ok((fun, _)) => self.call_chosen(fun, args, span),
                    Err(Failure::None) if builtin.is_some() => {
                        self.call_builtin_named(builtin, &args, given.as_deref(), span)
                    }
                    Err(failure) => Err(self.no_overload(&text, &candidates, &failure, &args, span)),
                }
            }
            Some(Sym::Var(var)) => {
                let object = self.variable(var, name_span)?;
                self.call_object(object, name_span, args, span)
            }
            Some(Sym::Field(..)) => {
                let object = self.symbol(sym, name, name_span)?;
                self.call_object(object, name_span, args, span)
            }
            Some(_) => {
                let message = format!("`{}` is no function", self.text(name));
                Err(self.error(codes::NOT_CALLABLE, name_span, message))
            }
            None => {
                let text = self.text(name).to_owned();
                match self.find_builtin(&text) {
                    Some(id) => self.call_builtin_named(Some(id), &args, given.as_deref(), span),
                    None => match self.lookup_beside(name, &args) {
                        Some(sym) => self.call_symbol(Some(sym), name, given, args, name_span, span),
                        None => match self.unsupported_name(name, name_span) {
                            Some(reported) => Err(reported),
                            None => Err(self.unknown_function(name, name_span)),
                        },
                    },
                }
            }
        }
    }

    /// Functions of a name that nothing visible has, beside the type of an argument (lookup that depends on arguments).
    fn lookup_beside(&mut self, name: Name, args: &[Arg]) -> Option<Sym> {
        args.iter().find_map(|arg| {
            let ty = match &arg.expr {
                Expr::Value(value) => value.ty,
                Expr::Place(place) => place.ty,
                _ => return None,
            };
            let st = self.tys.as_struct(ty)?;
            let mut at = Some(ScopeId(self.tys.def(st).scope));
            while let Some(scope) = at
                && !matches!(self.scope(scope).kind, ScopeKind::Namespace)
            {
                at = self.scope(scope).parent;
            }
            self.lookup_in(at?, name).filter(|sym| matches!(sym, Sym::Funs(_)))
        })
    }

    /// Calls a function found by its name alone: a method's object is `this`.
    fn call_chosen(&mut self, fun: FnId, args: Vec<Arg>, span: Span) -> R<Expr> {
        if self.s.funs[fun.0 as usize].this.is_none() {
            return self.call_function(fun, None, args, span);
        }
        match self.s.body.this.clone() {
            Some(this) => self.call_function(fun, Some((Expr::Place(this), span)), args, span),
            None => {
                let message = format!("`{}` is a method and needs an object", self.show_signature(fun));
                Err(self.error(codes::NOT_CALLABLE, span, message))
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn call_member(
        &mut self,
        base: ExprId,
        qualifier: Option<ScopeId>,
        name: Name,
        given: Option<Vec<TemplateValue>>,
        args: Slice<ExprId>,
        name_span: Span,
        span: Span,
    ) -> R<Expr> {
        let base_span = self.ast[base].span;
        let mut object = self.expr(base)?;
        let mut ty = self.type_of(&object);
        if let TyKind::Object(kind, arg) = self.tys.kind(ty) {
            if matches!(kind, ObjectKind::ConstantBuffer | ObjectKind::TextureBuffer) {
                let handle = self.rvalue(object, base_span)?;
                object = Expr::Place(self.block_place(handle));
                ty = arg;
            } else {
                let args = self.arguments(args)?;
                if is_unsupported(kind) {
                    let message = format!("methods of `{}` are not supported", kind.text());
                    return Err(self.error(codes::UNSUPPORTED_TYPE, span, message));
                }
                let handle = self.rvalue(object, base_span)?;
                self.at(span);
                return self.call_method(handle, name, &args, given.as_deref().unwrap_or(&[]), span);
            }
        }
        if let TyKind::RayQuery(_) = self.tys.kind(ty) {
            let args = self.arguments(args)?;
            return self.call_ray_query(&object, name, &args, span);
        }
        if let TyKind::BufferPointer(of, align) = self.tys.kind(ty)
            && self.text(name) == "Get"
            && args.is_empty()
        {
            let address = self.rvalue(object, base_span)?;
            return self.pointee(address.v, of, align, span).map(Expr::Place);
        }
        let Some(s) = self.tys.as_struct(ty) else {
            let message = format!("`{}` has no method `{}`", self.show(ty), self.text(name));
            return Err(self.error(codes::UNKNOWN_METHOD, name_span, message));
        };
        let scope = qualifier.unwrap_or(ScopeId(self.tys.def(s).scope));
        let args = self.arguments(args)?;
        match self.lookup_in(scope, name) {
            Some(Sym::Funs(set)) => {
                let candidates = self.s.sets[set as usize].clone();
                match self.choose(&candidates, given.as_deref(), &args, span) {
                    Ok((fun, _)) if self.s.funs[fun.0 as usize].this.is_some() => {
                        self.call_function(fun, Some((object, base_span)), args, span)
                    }
                    Ok((fun, _)) => self.call_function(fun, None, args, span),
                    Err(failure) => {
                        let text = self.text(name).to_owned();
                        Err(self.no_overload(&text, &candidates, &failure, &args, span))
                    }
                }
            }
            Some(Sym::Field(owner, index)) => {
                let object = self.field_of(object, owner, index, span)?;
                self.call_object(object, name_span, args, span)
            }
            Some(_) => {
                let message = format!("`{}` is no method", self.text(name));
                Err(self.error(codes::NOT_CALLABLE, name_span, message))
            }
            None => {
                let message = format!("`{}` has no method `{}`", self.show(ty), self.text(name));
                Err(self.error(codes::UNKNOWN_METHOD, name_span, message))
            }
        }
    }

    /// `object(args)`: its `operator()`.
    fn call_object(&mut self, object: Expr, object_span: Span, args: Vec<Arg>, span: Span) -> R<Expr> {
        let ty = self.type_of(&object);
        let args: Vec<(Expr, Span)> = args.into_iter().map(|a| (a.expr, a.span)).collect();
        match self.user_operator(OverloadedOp::Call, object, object_span, args, span)? {
            Ok(result) => Ok(result),
            Err(NotFound) => {
                let message = format!("a `{}` cannot be called", self.show(ty));
                Err(self.error(codes::NOT_CALLABLE, object_span, message))
            }
        }
    }

    /// An operator that a structure defines, if it does.
    pub(crate) fn user_operator(
        &mut self,
        op: OverloadedOp,
        object: Expr,
        object_span: Span,
        args: Vec<(Expr, Span)>,
        span: Span,
    ) -> R<Result<Expr, NotFound>> {
        let name = operator_name(op);
        let args: Vec<Arg> = args.into_iter().map(|(expr, span)| Arg { expr, span }).collect();
        let ty = self.type_of(&object);
        if let Some(s) = self.tys.as_struct(ty) {
            let scope = ScopeId(self.tys.def(s).scope);
            if let Some(Sym::Funs(set)) = self.lookup_in(scope, name) {
                let candidates: Vec<Candidate> = self.s.sets[set as usize]
                    .iter()
                    .copied()
                    .filter(|c| match c {
                        Candidate::Fun(f) => self.s.funs[f.0 as usize].params.len() == args.len(),
                        Candidate::Template(_) => true,
                    })
                    .collect();
                match self.choose(&candidates, None, &args, span) {
                    Ok((fun, _)) => {
                        return self.call_function(fun, Some((object, object_span)), args, span).map(Ok);
                    }
                    Err(failure @ Failure::Ambiguous(_)) => {
                        return Err(self.no_overload("operator", &candidates, &failure, &args, span));
                    }
                    Err(Failure::None) => {}
                }
            }
        }
        if let Some(Sym::Funs(set)) = self.lookup(name) {
            let candidates: Vec<Candidate> = self.s.sets[set as usize]
                .iter()
                .copied()
                .filter(|c| match c {
                    Candidate::Fun(f) => self.s.funs[f.0 as usize].this.is_none(),
                    Candidate::Template(_) => true,
                })
                .collect();
            let mut all = vec![Arg { expr: object, span: object_span }];
            all.extend(args);
            if let Ok((fun, _)) = self.choose(&candidates, None, &all, span) {
                return self.call_function(fun, None, all, span).map(Ok);
            }
        }
        Ok(Err(NotFound))
    }

    /// The argument of a parameter: what the call at `span` gives, or else the default.
    pub(crate) fn given_or_default(&mut self, given: Option<Arg>, param: &Param, span: Span) -> R<Arg> {
        match (given, param.default) {
            (Some(arg), _) => Ok(arg),
            (None, Some((default, scope))) => {
                let expr = self.in_scope(scope, |cx| cx.expr(default))?;
                Ok(Arg { expr, span })
            }
            (None, None) => Err(self.error(codes::NO_MATCHING_FUNCTION, span, "too few arguments")),
        }
    }

    /// Emits a call. Values are converted and `inout` ones copied in, left to right; after the call `out` ones are copied
    /// back in the same order.
    pub(crate) fn call_function(
        &mut self,
        fun: FnId,
        object: Option<(Expr, Span)>,
        args: Vec<Arg>,
        span: Span,
    ) -> R<Expr> {
        if let Some(decl) = self.s.funs[fun.0 as usize].inline {
            return self.call_inline(fun, decl, args, span);
        }
        let (fun, args) = self.specialize_call(fun, args);
        let f = self.s.funs[fun.0 as usize].clone();
        let mut values: Vec<ir::Value> = Vec::with_capacity(args.len() + 1);
        let mut back: Vec<(Place, Place, Span)> = Vec::new();
        // Variables whose address is passed as it is: each at most once, so that no two parameters are one variable.
        let mut passed: Vec<ir::Value> = Vec::new();
        if let Some(this) = f.this {
            let Some((object, object_span)) = object else {
                let message = format!("`{}` is a method and needs an object", self.show_signature(fun));
                return Err(self.error(codes::NOT_CALLABLE, span, message));
            };
            values.push(self.pass_object(this, object, object_span, &mut passed, &mut back)?);
        }
        let mut args = args.into_iter();
        for param in &f.params {
            let arg = self.given_or_default(args.next(), param, span)?;
            // A structure with a query inside cannot be copied in and out.
            if self.is_ray_query(param.ty) || param.dir != Direction::In && self.holds_ray_query(param.ty) {
                values.push(self.pass_ray_query(&arg, param.ty)?);
                continue;
            }
            if param.dir == Direction::In {
                values.push(self.arg(&arg, param.ty)?.v);
                continue;
            }
            let place = self.out_place(&arg.expr, arg.span)?;
            if self.tys.same(place.ty, param.ty)
                && let Some(root) = self.whole_local(&place)
                && !passed.contains(&root)
            {
                passed.push(root);
                values.push(root);
                continue;
            }
            let name = param.name.map_or("", |n| self.names.text(n));
            self.at(span);
            let temporary = self.new_local(name, param.ty);
            if param.dir == Direction::InOut {
                let value = self.load(&place, arg.span)?;
                let value = self.convert(value, param.ty, arg.span)?;
                self.store_exact(&temporary, value, arg.span)?;
            }
            if let Base::Memory(memory) = &temporary.base {
                values.push(memory.root);
            }
            back.push((temporary, place, arg.span));
        }
        if args.next().is_some() {
            return Err(self.error(codes::NO_MATCHING_FUNCTION, span, "too many arguments"));
        }
        self.at(span);
        let func = self.ir_function(fun);
        let result = self.b.call(func, &values);
        for (temporary, place, at) in back {
            let value = self.load(&temporary, at)?;
            // The way back warns of nothing: the way in did.
            let value = match self.can_convert(value.ty, place.ty, false) {
                Some(_) => self.cast(value, place.ty, at)?,
                None => return Err(self.no_conversion(value.ty, place.ty, at, false)),
            };
            self.store_exact(&place, value, at)?;
        }
        Ok(match result {
            Some(v) => Expr::Value(Value { v, ty: f.ret }),
            None => Expr::Void,
        })
    }

    /// Arrays of resources and stage inputs that are read at each vertex are not passed: the function is made again for
    /// those that a call names.
    fn specialize_call(&mut self, fun: FnId, args: Vec<Arg>) -> (FnId, Vec<Arg>) {
        let params: Vec<(Ty, bool)> = self.s.funs[fun.0 as usize]
            .params
            .iter()
            .map(|p| (p.ty, p.dir == Direction::In && self.is_flat_input(p.decl)))
            .collect();
        let is_array = |cx: &Self, ty: Ty| {
            matches!(cx.tys.kind(ty), TyKind::Array(..) | TyKind::Unsized(_))
                && cx.tys.as_object(cx.tys.innermost(ty)).is_some()
        };
        if !params.iter().any(|(ty, flat)| *flat || is_array(self, *ty)) {
            return (fun, args);
        }
        let mut key: Vec<Option<ir::Global>> = Vec::with_capacity(args.len());
        for ((ty, flat), arg) in params.iter().zip(&args) {
            key.push(match &arg.expr {
                Expr::Place(place) if is_array(self, *ty) => self.whole_global(place),
                Expr::Place(_) if *flat => self.input_address(&arg.expr).and_then(|v| self.global_of(v)),
                _ => None,
            });
        }
        if key.iter().all(Option::is_none) {
            return (fun, args);
        }
        let mut rest = Vec::new();
        let mut types = Vec::new();
        for (global, arg) in key.iter().zip(args) {
            match global {
                // The array's own length counts, not the parameter's.
                Some(_) => types.push(self.type_of(&arg.expr)),
                None => rest.push(arg),
            }
        }
        let found = self.s.special.get(&(fun, key.clone())).copied();
        let special = found.unwrap_or_else(|| {
            if self.s.funs[fun.0 as usize].body.is_none() {
                self.find_member_definition(fun);
            }
            let mut f = self.s.funs[fun.0 as usize].clone();
            let params = std::mem::take(&mut f.params);
            let mut types = types.into_iter();
            for (i, mut param) in params.into_iter().enumerate() {
                match key.get(i).copied().flatten() {
                    Some(global) => {
                        param.ty = types.next().unwrap_or(param.ty);
                        f.aliases.push((param, global));
                    }
                    None => f.params.push(param),
                }
            }
            f.state = crate::sema::BodyState::Idle;
            f.ir = None;
            let id = FnId(self.s.funs.len() as u32);
            self.s.funs.push(f);
            self.s.special.insert((fun, key), id);
            id
        });
        (special, rest)
    }

    /// The variable of the module that a place is all of.
    fn whole_global(&self, place: &Place) -> Option<ir::Global> {
        let Base::Memory(memory) = &place.base else { return None };
        if !memory.indices.is_empty() || !place.steps.is_empty() {
            return None;
        }
        self.global_of(memory.root)
    }

    fn global_of(&self, address: ir::Value) -> Option<ir::Global> {
        match self.b.func.values[address].def {
            ir::ValueDef::Global(global) => Some(global),
            _ => None,
        }
    }

    /// Whether a parameter is `nointerpolation`: it may be read at each vertex, so it stands for the stage input itself.
    fn is_flat_input(&self, decl: ast::DeclId) -> bool {
        match self.ast[decl].kind {
            ast::DeclKind::Var(var) => self.ast[var].mods.contains(ast::Mods::NOINTERPOLATION),
            _ => false,
        }
    }

    /// The address of a method's object: itself when it is a local variable, else a copy that is copied back.
    fn pass_object(
        &mut self,
        this: Ty,
        object: Expr,
        span: Span,
        passed: &mut Vec<ir::Value>,
        back: &mut Vec<(Place, Place, Span)>,
    ) -> R<ir::Value> {
        let object = match object {
            Expr::Place(place) => Expr::Place(self.upcast_place(place, this, span)?),
            Expr::Value(value) => {
                let value = self.convert(value, this, span)?;
                Expr::Value(value)
            }
            _ => return Err(self.error(codes::TYPE_MISMATCH, span, "expected an object")),
        };
        self.at(span);
        if self.holds_ray_query(this) {
            return self.pass_ray_query(&Arg { expr: object, span }, this);
        }
        if let Expr::Place(place) = &object
            && place.readonly.is_none()
            && let Some(root) = self.whole_local(place)
        {
            passed.push(root);
            return Ok(root);
        }
        let temporary = self.new_local("self", this);
        let value = self.rvalue(object.clone(), span)?;
        self.store_exact(&temporary, value, span)?;
        let Base::Memory(memory) = &temporary.base else { return Err(Reported(())) };
        let root = memory.root;
        if let Expr::Place(place) = object
            && place.readonly.is_none()
        {
            back.push((temporary, place, span));
        }
        Ok(root)
    }
}
