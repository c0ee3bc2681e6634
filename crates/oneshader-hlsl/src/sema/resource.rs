//! Resources and uniforms: what a file-scope variable is that is neither static nor groupshared.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{
    AddressSpace, GlobalKind, GlobalVar, Member, Op, Register, RegisterClass, ResourceType, ResourceVar, SpecConst,
    StructType, TypeKind,
};
use smallvec::SmallVec;

use crate::ast::{self, AnnotationKind, Attribute, DeclId, DeclKind, Mods, Slice, VarId};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::irty::{COMBINED_SAMPLER, is_read_write};
use crate::sema::types::is_unsupported;
use crate::sema::{Block, ResourceNode, Storage, Var};
use crate::ty::{Heap, Shape, Ty, TyKind};
use crate::value::{Base, Memory, Place, ReadOnly, Split, Value};

impl Cx<'_> {
    /// A uniform: a resource, or a number in a block.
    pub(crate) fn declare_uniform(&mut self, decl: DeclId, id: VarId, ty: Ty) {
        let node = self.ast[id];
        let attributes = self.ast[decl].attributes;
        let Some(name) = node.name else { return };
        self.check_binding_attributes(attributes, &node, ty);
        if let Some(id) = self.attribute(attributes, Some("vk"), "constant_id") {
            return self.declare_spec(&node, id, ty);
        }
        self.check_vk_attributes(attributes);
        let inner = self.tys.innermost(ty);
        if let TyKind::Object(kind, _) = self.tys.kind(inner) {
            if is_unsupported(kind) {
                if matches!(kind, ObjectKind::FeedbackTexture2D | ObjectKind::FeedbackTexture2DArray) {
                    let message = format!("`{}` is not supported", kind.text());
                    self.error(codes::UNSUPPORTED_TYPE, node.name_span, message);
                }
                // Subobjects and the like: nothing that is compiled can use them.
                self.add_broken(node.name, node.name_span);
                return;
            }
            let mut resource = self.resource_var(attributes, node.annotations, Some(kind));
            resource.coherent = self.mods(&node).contains(Mods::GLOBALLYCOHERENT);
            if kind.is_sampled() {
                let path = self.text(name).to_owned();
                // Whatever its letter, the one register is the texture's.
                let register = resource.register.take();
                let mut shared = SharedResource { registers: Vec::new(), resource, span: node.name_span };
                let tree = self.resource_tree(ty, &path, &[], &mut shared);
                let texture = self.s.resource_child(tree, 0).and_then(|node| self.s.resource_leaf(node));
                if let Some(texture) = texture
                    && let GlobalKind::Resource(resource) = &mut self.b.module.globals[texture].kind
                {
                    resource.register = register;
                }
                let storage = Storage::Block { block: 0, member: None, node: Some(tree) };
                let readonly = Some(ReadOnly::Object);
                self.add_var(Var { name, ty, storage, readonly, known: None, span: node.name_span });
                return;
            }
            let global = self.add_resource(&node, name, ty, resource);
            self.add_var(Var {
                name,
                ty,
                storage: Storage::Global(global),
                readonly: Some(ReadOnly::Object),
                known: None,
                span: node.name_span,
            });
            return;
        }
        if self.holds_ray_query(ty) {
            let message = "a ray query is a local or `static` variable";
            self.error(codes::BAD_DECLARATION, node.name_span, message);
            return self.add_broken(node.name, node.name_span);
        }
        if self.tys.has_spirv(ty) {
            let message = "a value of a type of SPIR-V is a local or `static` variable";
            self.error(codes::BAD_DECLARATION, node.name_span, message);
            return self.add_broken(node.name, node.name_span);
        }
        if self.attribute(attributes, Some("vk"), "push_constant").is_some() {
            return self.declare_push_constant(&node, attributes, ty);
        }
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, node.name_span, "the array needs a size");
            self.add_broken(node.name, node.name_span);
            return;
        }
        let block = match self.has_numbers(ty) {
            true => Some(self.globals_block()),
            false => None,
        };
        let known = match node.init {
            // The host sets uniforms; an initial value matters only where a constant is asked for.
            Some(init) => match self.discarded(|cx| cx.initializer(ty, init).map(|v| cx.known(v.v))) {
                Ok(known) => known.filter(|_| self.mods(&node).contains(Mods::CONST)),
                Err(_) => None,
            },
            None => None,
        };
        self.add_block_member(block, decl, id, ty, known);
    }

    fn declare_spec(&mut self, node: &ast::Var, attribute: Attribute, ty: Ty) {
        let Some(name) = node.name else { return };
        let id = self.attribute_ints(attribute, 1, 1).ok().and_then(|v| v.first().copied());
        let ok_type = match self.tys.as_numeric(ty) {
            Some((elem, Shape::Scalar)) => {
                matches!(elem.ir(), ir::Scalar::Bool | ir::Scalar::I32 | ir::Scalar::U32 | ir::Scalar::F32)
            }
            _ => false,
        };
        if !ok_type {
            let message = "a specialization constant is a `bool`, `int`, `uint` or `float`";
            self.error(codes::BAD_ATTRIBUTE_USE, attribute.span, message);
        }
        let init = match node.init {
            Some(init) => self
                .discarded(|cx| cx.initializer(ty, init).map(|v| cx.known(v.v)))
                .ok()
                .flatten()
                .filter(|c| self.b.module.consts.bits(*c).is_some()),
            None => {
                let message = "a specialization constant needs a default value";
                self.error(codes::MISSING_INITIALIZER, node.name_span, message);
                None
            }
        };
        let (Some(id), Some(default), true) = (id, init, ok_type) else {
            if ok_type && node.init.is_some() && init.is_none() {
                self.error(codes::NOT_CONSTANT, node.name_span, "the default value must be constant");
            }
            return self.add_broken(node.name, node.name_span);
        };
        let ir_name = self.ir_name(name);
        let ir = self.ir(ty);
        let span = node.name_span;
        let spec = self.b.module.specs.push(SpecConst { name: ir_name, id: id as u32, ty: ir, default, span });
        let c = self.b.module.consts.intern(ir, ir::ConstData::Spec(spec));
        let readonly = Some(ReadOnly::Const);
        self.add_var(Var { name, ty, storage: Storage::Const(c), readonly, known: None, span });
    }

    fn declare_push_constant(&mut self, node: &ast::Var, attributes: Slice<Attribute>, ty: Ty) {
        let Some(name) = node.name else { return };
        if self.tys.as_struct(ty).is_none() {
            self.error(codes::BAD_ATTRIBUTE_USE, node.name_span, "push constants are one structure");
            return self.add_broken(node.name, node.name_span);
        }
        let block_ty = self.ir_mem(ty);
        let handle = self.b.module.types.intern(TypeKind::Resource(ResourceType::ConstantBuffer { block: block_ty }));
        let resource = ResourceVar { push_constant: true, ..self.resource_var(attributes, node.annotations, None) };
        let ir_name = self.ir_name(name);
        let global = self.b.module.globals.push(GlobalVar {
            name: ir_name,
            ty: handle,
            space: AddressSpace::Handle,
            init: None,
            kind: GlobalKind::Resource(resource),
            readonly: false,
            span: node.name_span,
        });
        self.s.blocks.push(Block { global, space: AddressSpace::Constant, ty: block_ty });
        let block = self.s.blocks.len() as u32 - 1;
        self.add_var(Var {
            name,
            ty,
            storage: Storage::Block { block, member: None, node: None },
            readonly: Some(ReadOnly::Uniform),
            known: None,
            span: node.name_span,
        });
    }

    fn add_resource(&mut self, node: &ast::Var, name: crate::name::Name, ty: Ty, resource: ResourceVar) -> ir::Global {
        let name = self.ir_name(name);
        let ir = self.ir(ty);
        self.b.module.globals.push(GlobalVar {
            name,
            ty: ir,
            space: AddressSpace::Handle,
            init: None,
            kind: GlobalKind::Resource(resource),
            readonly: false,
            span: node.name_span,
        })
    }

    /// The object that an entry of a descriptor heap is: an element of an array without size, one for each type of object,
    /// which takes its slots like any other resource that states none.
    pub(crate) fn heap_object(&mut self, entry: Value, to: Ty) -> Value {
        let TyKind::HeapEntry(heap) = self.tys.kind(entry.ty) else { return entry };
        let elem = self.ir(to);
        let array = self.b.module.types.intern(TypeKind::RuntimeArray { elem });
        let global = match self.s.heaps.get(&array) {
            Some(global) => *global,
            None => {
                let name = self.b.module.names.intern(heap.text());
                let vk_binding = self.opts.heap_bindings[usize::from(heap == Heap::Samplers)];
                let global = self.b.module.globals.push(GlobalVar {
                    name,
                    ty: array,
                    space: AddressSpace::Handle,
                    init: None,
                    kind: GlobalKind::Resource(ResourceVar { vk_binding, ..ResourceVar::default() }),
                    readonly: false,
                    span: self.b.span,
                });
                self.s.heaps.insert(array, global);
                global
            }
        };
        let base = self.b.global(global);
        let pointer = self.b.access(base, &[entry.v]);
        Value { v: self.b.load(pointer), ty: to }
    }

    /// The implicit block of loose uniforms.
    fn globals_block(&mut self) -> u32 {
        if let Some(block) = self.s.globals {
            return block;
        }
        let name = self.b.module.names.intern("$Globals");
        let resource = ResourceVar { implicit: true, ..ResourceVar::default() };
        let block = self.new_block(name, false, resource, Span::NONE);
        self.s.globals = Some(block);
        block
    }

    fn new_block(&mut self, name: ir::Name, texture: bool, resource: ResourceVar, span: Span) -> u32 {
        let ty = self.b.module.types.add_struct(StructType { name, members: Vec::new() });
        let kind = match texture {
            true => ResourceType::TextureBuffer { block: ty },
            false => ResourceType::ConstantBuffer { block: ty },
        };
        let handle = self.b.module.types.intern(TypeKind::Resource(kind));
        let global = self.b.module.globals.push(GlobalVar {
            name,
            ty: handle,
            space: AddressSpace::Handle,
            init: None,
            kind: GlobalKind::Resource(resource),
            readonly: false,
            span,
        });
        let space = if texture { AddressSpace::Storage } else { AddressSpace::Constant };
        self.s.blocks.push(Block { global, space, ty });
        self.s.blocks.len() as u32 - 1
    }

    /// Adds a variable to a block; its resources become variables of their own.
    fn add_block_member(&mut self, block: Option<u32>, decl: DeclId, id: VarId, ty: Ty, known: Option<ir::Const>) {
        let node = self.ast[id];
        let Some(name) = node.name else { return };
        let tree = match self.tys.has_objects(ty) {
            true => {
                let prefix = self.text(name).to_owned();
                let resource = self.resource_var(self.ast[decl].attributes, node.annotations, None);
                let mut shared = SharedResource {
                    registers: self.registers(node.annotations, None),
                    resource: ResourceVar { register: None, ..resource },
                    span: node.name_span,
                };
                Some(self.resource_tree(ty, &prefix, &[], &mut shared))
            }
            false => None,
        };
        let offset = self.stated_offset(self.ast[decl].attributes, &node);
        let member = block.filter(|_| self.has_numbers(ty)).map(|block| {
            let ir_name = self.ir_name(name);
            let ir = self.ir_mem(ty);
            let order = self.order_of(ty);
            let span = node.name_span;
            let block_ty = self.s.blocks[block as usize].ty;
            let TypeKind::Struct(s) = self.b.module.types.kind(block_ty) else { return 0 };
            let members = &mut self.b.module.types.structs[s].members;
            members.push(Member { name: ir_name, ty: ir, order, offset, span });
            members.len() as u32 - 1
        });
        self.add_var(Var {
            name,
            ty,
            storage: Storage::Block { block: block.unwrap_or(0), member, node: tree },
            readonly: Some(ReadOnly::Uniform),
            known,
            span: node.name_span,
        });
    }

    /// Whether anything but resources is inside a type.
    fn has_numbers(&self, ty: Ty) -> bool {
        match self.tys.kind(self.tys.innermost(ty)) {
            TyKind::Object(..) => false,
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                let own = def.fields.iter().any(|f| self.has_numbers(f.ty));
                own || def.base.is_some_and(|b| self.has_numbers(b)) || def.fields.is_empty() && !def.has_objects
            }
            _ => true,
        }
    }

    /// Variables for the resources inside a uniform; array dimensions on the way become those of the resource.
    fn resource_tree(&mut self, ty: Ty, path: &str, dims: &[Option<u32>], shared: &mut SharedResource) -> u32 {
        let mut dims = dims.to_vec();
        let mut at = ty;
        loop {
            match self.tys.kind(at) {
                TyKind::Array(of, n) => {
                    dims.push(Some(n));
                    at = of;
                }
                TyKind::Unsized(of) => {
                    dims.push(None);
                    at = of;
                }
                _ => break,
            }
        }
        match self.tys.kind(at) {
            TyKind::Struct(s) => {
                let def = self.tys.def(s).clone();
                let mut children: SmallVec<[(u32, u32); 4]> = SmallVec::new();
                if let Some(base) = def.base.filter(|b| self.tys.has_objects(*b)) {
                    let node = self.resource_tree(base, path, &dims, shared);
                    children.push((0, node));
                }
                for field in &def.fields {
                    if self.tys.has_objects(field.ty) {
                        let name = field.name.map(|n| self.text(n)).unwrap_or_default();
                        let path = format!("{path}.{name}");
                        let node = self.resource_tree(field.ty, &path, &dims, shared);
                        children.push((field.slot, node));
                    }
                }
                self.s.resources.push(ResourceNode::Struct(children));
            }
            _ => {
                let object = self.tys.as_object(at);
                let sampled = object.filter(|(kind, _)| kind.is_sampled());
                let ir = match object {
                    Some((kind, arg)) => {
                        let resource = self.resource_type(kind, arg);
                        self.b.module.types.intern(TypeKind::Resource(resource))
                    }
                    None => self.ir(at),
                };
                let ir = self.array_of(ir, &dims);
                let name = self.b.module.names.intern(path);
                let count = dims.iter().map(|d| d.unwrap_or(1)).fold(1, u32::saturating_mul);
                let register = object.and_then(|(kind, _)| shared.take(register_class(kind), count));
                let global = self.b.module.globals.push(GlobalVar {
                    name,
                    ty: ir,
                    space: AddressSpace::Handle,
                    init: None,
                    kind: GlobalKind::Resource(ResourceVar { register, ..shared.resource.clone() }),
                    readonly: false,
                    span: shared.span,
                });
                let node = match sampled {
                    Some(_) => {
                        let sampler = self.b.module.types.intern(TypeKind::Resource(COMBINED_SAMPLER));
                        let sampler = self.array_of(sampler, &dims);
                        self.sampled_node(global, sampler)
                    }
                    None => ResourceNode::Leaf(global),
                };
                self.s.resources.push(node);
            }
        }
        self.s.resources.len() as u32 - 1
    }

    /// Arrays of a type, the outermost first.
    fn array_of(&mut self, mut elem: ir::Type, dims: &[Option<u32>]) -> ir::Type {
        for dim in dims.iter().rev() {
            elem = match dim {
                Some(n) => self.b.module.types.array(elem, *n),
                None => self.b.module.types.intern(TypeKind::RuntimeArray { elem }),
            };
        }
        elem
    }

    /// A member of a block as a place.
    pub(crate) fn block_member(&mut self, block: u32, member: Option<u32>, node: Option<u32>, ty: Ty) -> Place {
        let b = self.s.blocks.get(block as usize).copied().filter(|_| member.is_some() || node.is_none());
        let data = b.map(|b| {
            let variable = self.b.global(b.global);
            let handle = self.b.load(variable);
            let root = self.b.address(Op::BlockPtr, b.space, b.ty, &[handle]);
            let indices = member.into_iter().map(|m| self.b.u32(m)).collect();
            Memory { root, indices, layout: true }
        });
        let base = match (node, data) {
            (Some(node), data) => Base::Split(Box::new(Split { data, node, indices: SmallVec::new() })),
            (None, Some(data)) => Base::Memory(data),
            (None, None) => Base::Split(Box::new(Split { data: None, node: 0, indices: SmallVec::new() })),
        };
        Place { base, steps: SmallVec::new(), ty, readonly: Some(ReadOnly::Uniform), known: None }
    }

    pub(crate) fn declare_cbuffer(&mut self, decl: DeclId, id: ast::BlockId) {
        let node = self.ast[id];
        let attributes = self.ast[decl].attributes;
        self.check_vk_attributes(attributes);
        let kind = if node.is_tbuffer { ObjectKind::TextureBuffer } else { ObjectKind::ConstantBuffer };
        let mut resource = self.resource_var(attributes, node.annotations, Some(kind));
        resource.push_constant = self.attribute(attributes, Some("vk"), "push_constant").is_some();
        let name = match node.name {
            Some(name) => self.ir_name(name),
            None => self.b.module.names.intern("cbuffer"),
        };
        // The block's structure stands behind those of its members.
        for member in self.ast.iter(node.members) {
            match self.ast[member].kind {
                DeclKind::Var(var) if !self.ast[var].mods.contains(Mods::STATIC) => {
                    if let Ok(ty) = self.resolve(self.ast[var].ty) {
                        let ty = self.with_order(ty, self.ast[var].mods);
                        self.ir_mem(ty);
                    }
                }
                DeclKind::Struct(_) | DeclKind::Enum(_) | DeclKind::Alias(_) => self.declare_one(member),
                _ => {}
            }
        }
        let block = self.new_block(name, node.is_tbuffer, resource, node.name_span);
        for member in self.ast.iter(node.members) {
            match self.ast[member].kind {
                DeclKind::Var(var) if !self.ast[var].mods.contains(Mods::STATIC) => {
                    self.declare_block_member(block, member, var);
                }
                DeclKind::Struct(_) | DeclKind::Enum(_) | DeclKind::Alias(_) => {}
                _ => self.declare_one(member),
            }
        }
    }

    fn declare_block_member(&mut self, block: u32, decl: DeclId, id: VarId) {
        let node = self.ast[id];
        let ty = self.resolve(node.ty).and_then(|ty| {
            let ty = self.with_order(ty, node.mods);
            self.check_object_type(ty, node.name_span)?;
            Ok(ty)
        });
        let Ok(ty) = ty else { return self.add_broken(node.name, node.name_span) };
        let is_object = matches!(self.tys.kind(self.tys.innermost(ty)), TyKind::Object(..));
        if is_object {
            // A resource in a constant buffer is a resource beside it.
            return self.declare_uniform(decl, id, ty);
        }
        if let TyKind::Unsized(_) = self.tys.kind(ty) {
            self.error(codes::BAD_ARRAY_SIZE, node.name_span, "the array needs a size");
            return self.add_broken(node.name, node.name_span);
        }
        let known = match node.init {
            Some(init) => self
                .discarded(|cx| cx.initializer(ty, init).map(|v| cx.known(v.v)))
                .ok()
                .flatten()
                .filter(|_| self.mods(&node).contains(Mods::CONST)),
            None => None,
        };
        self.add_block_member(Some(block), decl, id, ty, known);
    }

    /// What is known of a resource from its declaration.
    pub(crate) fn resource_var(
        &mut self,
        attributes: Slice<Attribute>,
        annotations: Slice<ast::Annotation>,
        kind: Option<ObjectKind>,
    ) -> ResourceVar {
        let mut out = ResourceVar { register: self.register(annotations, kind), ..ResourceVar::default() };
        if let Some(a) = self.attribute(attributes, Some("vk"), "binding")
            && let Ok(v) = self.attribute_ints(a, 1, 2)
        {
            out.vk_binding = Some((v[0] as u32, v.get(1).map_or(0, |s| *s as u32)));
        }
        if let Some(a) = self.attribute(attributes, Some("vk"), "counter_binding")
            && let Ok(v) = self.attribute_ints(a, 1, 1)
        {
            out.vk_counter_binding = Some(v[0] as u32);
        }
        if let Some(a) = self.attribute(attributes, Some("vk"), "input_attachment_index")
            && let Ok(v) = self.attribute_ints(a, 1, 1)
        {
            out.vk_input_attachment = Some(v[0] as u32);
        }
        if let Some(a) = self.attribute(attributes, Some("vk"), "image_format")
            && let Ok(text) = self.attribute_string(a).map(str::to_owned)
        {
            out.vk_image_format = Some(self.b.module.names.intern(&text));
        }
        if let Some(a) = self.attribute(attributes, Some("vk"), "combinedImageSampler") {
            out.combined = kind.is_some_and(|kind| {
                let texture = kind.text().starts_with("Texture") && kind != ObjectKind::TextureBuffer;
                texture || register_class(kind) == RegisterClass::S
            });
            if !out.combined {
                let message = "only a read-only texture and a sampler can be combined";
                self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
            }
        }
        out.push_constant = self.attribute(attributes, Some("vk"), "push_constant").is_some();
        out.rasterizer_ordered = kind.is_some_and(|k| k.text().starts_with("RasterizerOrdered"));
        out
    }

    /// The `register(...)` among annotations.
    fn register(&mut self, annotations: Slice<ast::Annotation>, kind: Option<ObjectKind>) -> Option<Register> {
        self.registers(annotations, kind).into_iter().next()
    }

    /// All of them: a structure may have one for each class.
    fn registers(&mut self, annotations: Slice<ast::Annotation>, kind: Option<ObjectKind>) -> Vec<Register> {
        let want = kind.map(register_class);
        let mut found = Vec::new();
        for a in self.ast.iter(annotations) {
            let AnnotationKind::Register(reg) = a.kind else { continue };
            let mut class = want;
            let mut index = None;
            if let Some((letter, number)) = reg.slot {
                let by_letter = match letter {
                    b'b' => RegisterClass::B,
                    b't' => RegisterClass::T,
                    b'u' => RegisterClass::U,
                    b's' => RegisterClass::S,
                    _ => continue,
                };
                // A texture with a sampler may take the number of either.
                let either = by_letter == RegisterClass::S && kind.is_some_and(ObjectKind::is_sampled);
                if let (Some(want), Some(kind)) = (want, kind)
                    && want != by_letter
                    && !either
                {
                    let message = format!("`{}` cannot be bound to `{}{number}`", kind.text(), letter as char);
                    self.error(codes::BAD_BINDING, a.span, message);
                    continue;
                }
                class = Some(by_letter);
                let offset = match reg.offset {
                    Some(e) => self.constant_int(e).unwrap_or(0),
                    None => 0,
                };
                index = u32::try_from(i64::from(number) + offset).ok();
            }
            let space = reg.space.unwrap_or(self.opts.default_space);
            if let Some(class) = class {
                found.push(Register { class, index, space });
            }
        }
        found
    }

    /// The offset in bytes that a member states.
    pub(crate) fn stated_offset(&mut self, attributes: Slice<Attribute>, node: &ast::Var) -> Option<u32> {
        for a in self.ast.iter(node.annotations) {
            match a.kind {
                AnnotationKind::PackOffset(p) => return Some(p.register * 16 + u32::from(p.component) * 4),
                AnnotationKind::Register(ast::Register { slot: Some((b'c', n)), .. }) => return Some(n * 16),
                _ => {}
            }
        }
        let a = self.attribute(attributes, Some("vk"), "offset")?;
        let v = self.attribute_ints(a, 1, 1).ok()?;
        u32::try_from(v[0]).ok()
    }

    /// Reports bindings on what is not bound, and push constants that are more than one block.
    fn check_binding_attributes(&mut self, attributes: Slice<Attribute>, node: &ast::Var, ty: Ty) {
        let binding = self.attribute(attributes, Some("vk"), "binding");
        let push = self.attribute(attributes, Some("vk"), "push_constant");
        if let (Some(a), Some(_)) = (binding, push) {
            self.error(codes::BAD_BINDING, a.span, "push constants have no binding");
        }
        if let Some(a) = binding
            && push.is_none()
            && !self.tys.has_objects(ty)
        {
            self.error(codes::BAD_BINDING, a.span, "a loose uniform is in `$Globals` and has no binding of its own");
        }
        if let Some(a) = push {
            if self.s.push_constants {
                self.error(codes::BAD_ATTRIBUTE_USE, a.span, "there is more than one block of push constants");
            }
            self.s.push_constants = true;
        }
        if let (Some(a), TyKind::Object(_, arg)) =
            (self.attribute(attributes, Some("vk"), "image_format"), self.tys.kind(self.tys.innermost(ty)))
            && let Ok(format) = self.attribute_string(a).map(str::to_owned)
            && let Some(elem) = self.tys.elem(arg)
        {
            let wide = format.contains("64");
            // Narrower formats hold any number of their kind.
            let exact = wide || format.contains("32");
            let fits = match (format.ends_with("ui"), format.ends_with('i')) {
                (true, _) => elem.is_unsigned() && (elem.bits() == 64) == wide,
                (_, true) => elem.is_int() && !elem.is_unsigned() && (elem.bits() == 64) == wide,
                _ => elem.is_float() || format == "unknown",
            };
            if exact && !fits {
                let message = format!("the format `{format}` does not hold `{}`", self.show(arg));
                self.error(codes::BAD_ATTRIBUTE_USE, node.name_span, message);
            }
        }
    }

    /// Reports `vk::` attributes that change the meaning of the program and are not supported.
    pub(crate) fn check_vk_attributes(&mut self, attributes: Slice<Attribute>) {
        const KNOWN: &[&str] = &[
            "binding",
            "counter_binding",
            "push_constant",
            "constant_id",
            "location",
            "index",
            "offset",
            "builtin",
            "image_format",
            "input_attachment_index",
            "combinedImageSampler",
            "ext_capability",
            "ext_extension",
            "aliased_pointer",
        ];
        for a in self.ast.iter(attributes) {
            let Some(space) = a.space else { continue };
            if self.text(space) != "vk" || KNOWN.contains(&self.text(a.name)) {
                continue;
            }
            let message = format!("`vk::{}` is not supported", self.text(a.name));
            self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, message);
        }
    }
}

/// What the resources inside one uniform share.
struct SharedResource {
    /// Registers stated and not yet taken: a resource takes as many numbers of its class as it has elements.
    registers: Vec<Register>,
    resource: ResourceVar,
    span: Span,
}

impl SharedResource {
    fn take(&mut self, class: RegisterClass, count: u32) -> Option<Register> {
        let next = self.registers.iter_mut().find(|r| r.class == class)?;
        let taken = *next;
        next.index = next.index.map(|i| i.saturating_add(count));
        Some(taken)
    }
}

/// The class of register that a kind of object is bound to.
fn register_class(kind: ObjectKind) -> RegisterClass {
    use ObjectKind as O;
    match kind {
        O::ConstantBuffer => RegisterClass::B,
        O::SamplerState | O::SamplerComparisonState | O::Sampler => RegisterClass::S,
        _ if is_read_write(kind) => RegisterClass::U,
        _ => RegisterClass::T,
    }
}
