//! Variables: local, static, groupshared; what is left at file scope is a uniform (`resource.rs`).

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AddressSpace, GlobalKind, GlobalVar};

use crate::ast::{self, DeclId, ExprId, ExprKind, Mods, VarId};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::sema::{Storage, Var};
use crate::ty::{Ty, TyKind};
use crate::value::{Place, R, ReadOnly, Value};

/// A static variable whose initial value must be computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaticInit {
    pub global: ir::Global,
    pub ty: Ty,
    pub init: ExprId,
    pub scope: ScopeId,
    pub env: u32,
}

impl Cx<'_> {
    /// A variable in the scope that is current: at file scope, in a structure (static) or in a body.
    pub(crate) fn declare_variable(&mut self, decl: DeclId, id: VarId) {
        let node = self.ast[id];
        let in_body = self.s.func.is_some() && self.scope(self.s.scope).kind == ScopeKind::Block;
        if let Some(path) = node.qualifier {
            if let Some(params) = self.ast[decl].template {
                self.define_template_static(id, path, params);
            } else if let Ok(scope) = self.scope_of_path(path) {
                self.define_static_member(id, scope, scope);
            }
            return;
        }
        let Ok(ty) = self.variable_type(&node) else {
            // The initializer may have errors of its own.
            if in_body && let Some(init) = node.init {
                let _ = self.expr_or_list(init);
            }
            self.add_broken(node.name, node.name_span);
            return;
        };
        if ty == Ty::STRING {
            return self.declare_string(&node);
        }
        let mods = self.mods(&node);
        let attributes = self.ast[decl].attributes;
        if self.spirv_builtin(attributes, &node, ty) {
            return;
        }
        if in_body {
            self.ask_needs(attributes);
            if mods.intersects(Mods::STATIC | Mods::GROUPSHARED) {
                self.check_vk_attributes(attributes);
            }
        } else {
            self.note_needs(attributes);
        }
        if mods.contains(Mods::GROUPSHARED) {
            self.declare_groupshared(&node, ty);
        } else if mods.contains(Mods::STATIC) {
            if self.attribute(self.ast[decl].attributes, Some("vk"), "constant_id").is_some()
                || matches!(
                    self.tys.kind(self.tys.innermost(ty)),
                    TyKind::Object(ObjectKind::SubpassInput | ObjectKind::SubpassInputMs, _)
                )
            {
                self.error(codes::BAD_DECLARATION, node.name_span, "what the host sets cannot be `static`");
            }
            self.declare_static(&node, ty);
        } else if in_body {
            self.declare_local(&node, ty);
            self.decorate_variable(attributes, node.name);
        } else {
            self.declare_uniform(decl, id, ty);
        }
    }

    /// The type of a variable; an array without a size takes that of its initializer.
    fn variable_type(&mut self, node: &ast::Var) -> R<Ty> {
        if let (ast::TypeKind::Auto, Some(init)) = (self.ast[node.ty].kind, node.init) {
            if self.opts.version < crate::options::LanguageVersion::V202x {
                let message = "`auto` needs HLSL 202x (`-HV 202x`)";
                return Err(self.error(codes::NEEDS_NEWER_HLSL, node.name_span, message));
            }
            let ty = self.discarded(|cx| {
                let e = cx.expr(init)?;
                Ok(cx.type_of(&e))
            })?;
            return Ok(match self.tys.elem(ty) {
                Some(elem) if elem.is_literal() => self.tys.with_elem(ty, elem.concrete()),
                _ => ty,
            });
        }
        let ty = self.resolve(node.ty)?;
        let ty = self.with_order(ty, node.mods);
        self.check_object_type(ty, node.name_span)?;
        if let (TyKind::Unsized(of), Some(init)) = (self.tys.kind(ty), node.init)
            && let ExprKind::InitList(_) = self.ast[init].kind
        {
            let mut values = Vec::new();
            self.discarded(|cx| cx.list_values(init, &mut values))?;
            let total: u64 = values.iter().map(|(v, _)| self.leaf_count(v.ty)).sum();
            let each = self.leaf_count(of).max(1);
            if total == 0 || !total.is_multiple_of(each) {
                let span = self.ast[init].span;
                return Err(self.error(codes::BAD_INITIALIZER, span, "the values do not fill whole elements"));
            }
            return Ok(self.tys.array(of, (total / each) as u32));
        }
        Ok(ty)
    }

    /// `string text = "...";`: another name for a literal.
    fn declare_string(&mut self, node: &ast::Var) {
        let span = node.name_span;
        let storage = match node.init.map(|init| self.ast[init].kind) {
            Some(ExprKind::Str(text)) => Storage::Str(text),
            Some(_) => {
                self.error(codes::BAD_INITIALIZER, span, "a string is set to a literal");
                Storage::Error
            }
            None => {
                self.error(codes::MISSING_INITIALIZER, span, "a string needs a value");
                Storage::Error
            }
        };
        let Some(name) = node.name else { return };
        self.add_var(Var { name, ty: Ty::STRING, storage, readonly: Some(ReadOnly::Const), known: None, span });
    }

    fn declare_local(&mut self, node: &ast::Var, ty: Ty) {
        let Some(name) = node.name else { return };
        let span = node.name_span;
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, span, "the array needs a size");
            self.add_broken(node.name, span);
            return;
        }
        if self.is_ray_query(ty) {
            return self.declare_ray_query(node, name, ty);
        }
        let mods = self.mods(node);
        let is_pointer = self.is_spirv_pointer(ty);
        let is_const = mods.contains(Mods::CONST) || is_pointer;
        // The variable is visible in its own initializer, as in C++.
        self.at(span);
        let ir_name = self.ir_name(name);
        let ir = self.ir(ty);
        let root = self.b.local(ir_name, ir);
        let readonly = is_const.then_some(ReadOnly::Const);
        let id = self.add_var(Var { name, ty, storage: Storage::Local(root), readonly, known: None, span });
        let value = match node.init {
            Some(init) => match self.initializer(ty, init) {
                Ok(value) => Some(value),
                // Its type is known, so what uses it is checked; its value is not, so what needs that stays silent.
                Err(_) => {
                    if is_const || self.tys.has_objects(ty) {
                        self.s.vars[id.0 as usize].storage = Storage::Error;
                    }
                    return;
                }
            },
            None => None,
        };
        if is_const && value.is_none() {
            self.error(codes::MISSING_INITIALIZER, span, "a constant needs an initial value");
        }
        if let Some(value) = value
            && is_const
            && (is_pointer || matches!(self.tys.kind(ty), TyKind::Object(..)))
        {
            // Another name for a resource; a pointer lives in no variable.
            self.s.vars[id.0 as usize].storage = Storage::Value(value.v);
            return;
        }
        self.at(span);
        if let Some(value) = value {
            self.b.store(root, value.v);
        }
        if mods.contains(Mods::PRECISE) {
            self.s.body.precise.push(root);
        }
        self.s.vars[id.0 as usize].known = value.filter(|_| is_const).and_then(|v| self.known(v.v));
    }

    fn declare_groupshared(&mut self, node: &ast::Var, ty: Ty) {
        if self.tys.has_spirv(ty) {
            let message = "a groupshared variable cannot hold a type of SPIR-V";
            self.error(codes::BAD_DECLARATION, node.name_span, message);
        }
        if self.tys.has_objects(ty) || self.holds_ray_query(ty) {
            self.error(codes::BAD_DECLARATION, node.name_span, "a groupshared variable cannot hold resources");
        }
        if let Some(init) = node.init {
            let span = self.ast[init].span;
            self.warn(codes::IGNORED_ATTRIBUTE, span, "the initial value of a groupshared variable is ignored");
        }
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, node.name_span, "the array needs a size");
            self.add_broken(node.name, node.name_span);
            return;
        }
        self.add_global(node, ty, AddressSpace::Workgroup, None, None);
    }

    /// Adds a module-scope variable that is no resource.
    fn add_global(
        &mut self,
        node: &ast::Var,
        ty: Ty,
        space: AddressSpace,
        init: Option<ir::Const>,
        known: Option<ir::Const>,
    ) -> Option<ir::Global> {
        let name = node.name?;
        let ir_name = self.ir_name(name);
        let ir = self.ir(ty);
        let is_const = self.mods(node).contains(Mods::CONST) && space == AddressSpace::Private;
        let global = self.b.module.globals.push(GlobalVar {
            name: ir_name,
            ty: ir,
            space,
            init,
            kind: GlobalKind::Variable,
            readonly: known.is_some(),
            span: node.name_span,
        });
        let readonly = is_const.then_some(ReadOnly::Const);
        self.add_var(Var { name, ty, storage: Storage::Global(global), readonly, known, span: node.name_span });
        Some(global)
    }

    fn declare_static(&mut self, node: &ast::Var, ty: Ty) {
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, node.name_span, "the array needs a size");
            self.add_broken(node.name, node.name_span);
            return;
        }
        if self.is_spirv_pointer(ty) {
            self.error(codes::BAD_TYPE, node.name_span, "a pointer of SPIR-V is bound once, to a name or a parameter");
            self.add_broken(node.name, node.name_span);
            return;
        }
        let is_const = self.mods(node).contains(Mods::CONST);
        let has_objects = self.tys.has_objects(ty) || self.holds_ray_query(ty);
        let Some(init) = node.init else {
            // In a structure this only declares it; zero is what C++ has, and better than anything.
            let zero = (!has_objects).then(|| {
                let ir = self.ir(ty);
                self.b.module.consts.zero(&self.b.module.types, ir)
            });
            let global = self.add_global(node, ty, AddressSpace::Private, zero, None);
            if let (true, Some(global), Some(name), ScopeKind::Struct(_)) =
                (is_const, global, node.name, self.scope(self.s.scope).kind)
            {
                self.s.undefined_statics.push((global, name, node.name_span));
            }
            return;
        };
        // What the initial value is, or at least whether it is right.
        let value = self.discarded(|cx| cx.initializer(ty, init).map(|v| cx.known(v.v)));
        let Ok(constant) = value else {
            self.add_broken(node.name, node.name_span);
            return;
        };
        let known = constant.filter(|_| is_const);
        let scope = self.s.scope;
        let global = self.add_global(node, ty, AddressSpace::Private, constant, known);
        if let (None, Some(global)) = (constant, global) {
            self.s.static_inits.push(StaticInit { global, ty, init, scope, env: self.s.env });
        }
    }

    /// `float S::x = 1;`
    pub(crate) fn define_static_member(&mut self, id: VarId, owner: ScopeId, scope: ScopeId) {
        let node = self.ast[id];
        let found = node.name.and_then(|n| self.lookup_in(owner, n));
        let Some(Sym::Var(var)) = found else {
            if let Some(name) = node.name {
                self.unknown_name(name, Some(owner), node.name_span);
            }
            return;
        };
        let slot = var.0 as usize;
        let var = self.s.vars[slot].clone();
        let Storage::Global(global) = var.storage else { return };
        self.s.undefined_statics.retain(|(g, ..)| *g != global);
        let Some(init) = node.init else { return };
        let value = self.in_scope(scope, |cx| cx.discarded(|cx| cx.initializer(var.ty, init).map(|v| cx.known(v.v))));
        match value {
            Ok(Some(c)) => {
                self.b.module.globals[global].init = Some(c);
                let is_const = var.readonly.is_some();
                self.b.module.globals[global].readonly = is_const;
                self.s.vars[slot].known = Some(c).filter(|_| is_const);
            }
            Ok(None) => {
                self.b.module.globals[global].init = None;
                self.s.static_inits.push(StaticInit { global, ty: var.ty, init, scope, env: self.s.env });
            }
            Err(_) => {}
        }
    }

    /// `template<class T> int S<T>::x = 1;`: for the instances there are and those to come.
    fn define_template_static(&mut self, id: VarId, path: ast::PathId, params: ast::TemplateId) {
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
                    self.s.struct_templates[t as usize].statics.push((params, id));
                    let instances: Vec<Ty> = self.s.struct_templates[t as usize].instances.values().copied().collect();
                    for ty in instances {
                        self.define_instance_static(ty, params, id);
                    }
                    return;
                }
                _ => break,
            }
        }
        let span = self.ast[id].name_span;
        self.error(codes::BAD_DECLARATION, span, "expected a member of a template");
    }

    /// The definition of a static member for one instance of its structure.
    pub(crate) fn define_instance_static(&mut self, ty: Ty, params: ast::TemplateId, id: VarId) {
        let Some(s) = self.tys.as_struct(ty) else { return };
        let Some((_, args)) = self.s.instance_of.get(&s).cloned() else { return };
        let owner = ScopeId(self.tys.def(s).scope);
        let scope = self.bind(owner, params, &args);
        self.define_static_member(id, owner, scope);
    }

    /// Checks an initializer whose target failed.
    fn expr_or_list(&mut self, init: ExprId) -> R<()> {
        let mut values = Vec::new();
        self.list_values(init, &mut values)
    }

    /// The place of a variable, or its value.
    pub(crate) fn variable(&mut self, id: crate::sema::VarId, span: Span) -> R<crate::value::Expr> {
        use crate::value::Expr;
        let var = self.s.vars[id.0 as usize].clone();
        let place = match var.storage {
            Storage::Error => return Err(crate::value::Reported(())),
            Storage::Const(c) => return Ok(Expr::Value(Value { v: self.b.constant(c), ty: var.ty })),
            Storage::Str(text) => return Ok(Expr::Str(text)),
            Storage::Value(v) => return Ok(Expr::Value(Value { v, ty: var.ty })),
            Storage::Local(root) => {
                if self.s.owners[id.0 as usize] != self.s.func {
                    let message = "a variable of the enclosing function cannot be used here";
                    return Err(self.error(codes::WRONG_KIND_OF_NAME, span, message));
                }
                Place::pointer(root, var.ty, false)
            }
            Storage::Global(global) => {
                let root = self.b.global(global);
                Place::pointer(root, var.ty, false)
            }
            Storage::Block { block, member, node } => self.block_member(block, member, node, var.ty),
        };
        let mut place = place;
        place.readonly = var.readonly;
        let uniform = matches!(var.storage, Storage::Block { .. });
        if !uniform || self.s.constant > 0 {
            place.known = var.known;
        }
        Ok(Expr::Place(place))
    }
}
