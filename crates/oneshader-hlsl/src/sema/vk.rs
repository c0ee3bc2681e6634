//! The namespace `vk`: what the language adds for Vulkan.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{GlobalKind, ResourceVar};
use smallvec::SmallVec;

use crate::ast::{self, Slice};
use crate::builtin::{ObjectKind, objects_of};
use crate::cx::Cx;
use crate::name::kw;
use crate::sema::scope::{ScopeId, ScopeKind, Sym};
use crate::sema::{ResourceNode, Storage, Var};
use crate::ty::Ty;
use crate::value::{Expr, Memory, R, ReadOnly, Split, Value};

/// Scopes of memory and execution, as SPIR-V numbers them (SPIR-V specification, "Scope").
const SCOPES: &[(&str, u32)] = &[
    ("CrossDeviceScope", 0),
    ("DeviceScope", 1),
    ("WorkgroupScope", 2),
    ("SubgroupScope", 3),
    ("InvocationScope", 4),
    ("QueueFamilyScope", 5),
];

impl Cx<'_> {
    /// The scope of `vk`, made when a program first names it; programs may add to it.
    pub(crate) fn vk_scope(&mut self) -> ScopeId {
        if let Some(scope) = self.s.vk {
            return scope;
        }
        let root = self.root_scope();
        let scope = self.new_scope(Some(root), ScopeKind::Namespace);
        self.s.vk = Some(scope);
        self.scope_mut(root).names.insert(kw::VK, Sym::Namespace(scope));
        for (text, kind) in objects_of("vk") {
            if let Some(name) = self.names.get(text) {
                self.scope_mut(scope).names.insert(name, Sym::Object(kind));
            }
        }
        for &(text, value) in SCOPES {
            let Some(name) = self.names.get(text) else { continue };
            let c = self.b.module.consts.u32(&mut self.b.module.types, value);
            let (storage, readonly) = (Storage::Const(c), Some(ReadOnly::Const));
            let var = self.push_var(Var { name, ty: Ty::UINT, storage, readonly, known: Some(c), span: Span::NONE });
            self.scope_mut(scope).names.insert(name, Sym::Var(var));
        }
        scope
    }

    /// The object type that a path such as `vk::SampledTexture2D<T>` names, with its arguments.
    pub(crate) fn vk_object(&mut self, path: &[ast::Segment]) -> Option<(ObjectKind, Slice<ast::TemplateArg>)> {
        let [first, last] = path else { return None };
        if first.name != kw::VK || self.lookup(kw::VK).is_some() && self.s.vk.is_none() {
            return None;
        }
        let scope = self.vk_scope();
        match (self.lookup_in(scope, last.name)?, last.args) {
            (Sym::Object(kind), Some(args)) => Some((kind, args)),
            _ => None,
        }
    }

    /// A function of `vk` that the program does not declare.
    pub(crate) fn call_vk(&mut self, callee: ast::Segment, args: Slice<ast::ExprId>, span: Span) -> R<Expr> {
        let given = match callee.args {
            Some(given) => self.template_args(given)?,
            None => Vec::new(),
        };
        let args = self.arguments(args)?;
        self.at(span);
        match (self.text(callee.name), &args[..]) {
            ("RawBufferLoad", [address, rest @ ..]) if rest.len() < 2 => {
                self.raw_buffer_load(&given, address, rest.first(), span)
            }
            ("RawBufferStore", [address, value, rest @ ..]) if rest.len() < 2 => {
                self.raw_buffer_store(&given, address, value, rest.first(), span)
            }
            ("static_pointer_cast", [pointer]) => self.pointer_cast(&given, pointer, true, span),
            ("reinterpret_pointer_cast", [pointer]) => self.pointer_cast(&given, pointer, false, span),
            ("CooperativeMatrixLength", []) => self.matrix_length(&given, span),
            ("ReadClock", [scope]) => self.read_clock(scope),
            ("ext_execution_mode", [_, ..]) => self.execution_mode(&args, false, span),
            ("ext_execution_mode_id", [_, ..]) => self.execution_mode(&args, true, span),
            (
                "ReadClock"
                | "ext_execution_mode"
                | "ext_execution_mode_id"
                | "RawBufferLoad"
                | "RawBufferStore"
                | "static_pointer_cast"
                | "reinterpret_pointer_cast",
                _,
            ) => {
                let message = format!("`vk::{}` takes other arguments", self.text(callee.name));
                Err(self.error(codes::BAD_ARGUMENTS, span, message))
            }
            (name, _) => {
                let message = format!("`vk::{name}` is not supported");
                Err(self.error(codes::UNSUPPORTED_ATTRIBUTE, span, message))
            }
        }
    }

    /// The node of a texture and the sampler it is combined with. The sampler takes its texture's Vulkan descriptor, and a
    /// slot of its own on Metal, as if it were declared behind the texture.
    pub(crate) fn sampled_node(&mut self, texture: ir::Global, sampler_ty: ir::Type) -> ResourceNode {
        let var = &mut self.b.module.globals[texture];
        let (name, span) = (var.name, var.span);
        if let GlobalKind::Resource(resource) = &mut var.kind {
            resource.combined = true;
        }
        let name = format!("{}.sampler", self.b.module.names.get(name));
        let name = self.b.module.names.intern(&name);
        let resource = ResourceVar { combined: true, sampler_of: Some(texture), ..ResourceVar::default() };
        let sampler = self.b.module.globals.push(ir::GlobalVar {
            name,
            ty: sampler_ty,
            space: ir::AddressSpace::Handle,
            init: None,
            kind: GlobalKind::Resource(resource),
            readonly: false,
            span,
        });
        let mut leaf = |global| {
            self.s.resources.push(ResourceNode::Leaf(global));
            self.s.resources.len() as u32 - 1
        };
        ResourceNode::Struct(SmallVec::from_slice(&[(0, leaf(texture)), (1, leaf(sampler))]))
    }

    /// Loads a texture and the sampler it is combined with.
    pub(crate) fn load_sampled(&mut self, split: &Split, ty: Ty) -> Value {
        let mut parts: SmallVec<[ir::Value; 2]> = SmallVec::new();
        for slot in 0..2 {
            let Some(global) = self.s.resource_child(split.node, slot).and_then(|n| self.s.resource_leaf(n)) else {
                return self.undef(ty);
            };
            let root = self.b.global(global);
            let indices = split.indices.iter().copied().collect();
            let address = self.memory_address(&Memory { root, indices, layout: false });
            parts.push(self.b.load(address));
        }
        let ir = self.ir(ty);
        Value { v: self.construct(ir, &parts), ty }
    }

    /// The texture that methods of an object work on, and the sampler it is combined with. Other objects stay.
    pub(crate) fn halves(&mut self, object: Value) -> (Value, Option<ir::Value>) {
        match self.tys.as_object(object.ty) {
            Some((kind, _)) if kind.is_sampled() => {
                let texture = self.extract(object.v, 0);
                let sampler = self.extract(object.v, 1);
                (Value { v: texture, ty: object.ty }, Some(sampler))
            }
            _ => (object, None),
        }
    }
}
