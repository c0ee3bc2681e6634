//! Variables of resources: their types, storage classes, sets and bindings.

use crate::cx::Cx;
use crate::func::{Fx, Handle};
use crate::memory::Mem;
use crate::types::{IMAGE_FORMATS, derived_format};
use oneshader_diag::Span;
use oneshader_ir::layout::{LayoutRule, resource_type};
use oneshader_ir::{
    Access, CounterKind, Global, GlobalKind, MatrixOrder, ResourceType, ResourceVar, Scalar, Type, TypeKind,
};
use spirv::{Decoration, Dim, ImageFormat, Op, StorageClass};

/// What a byte-address buffer is an array of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RawView {
    /// 16-bit numbers, for 16-bit loads and stores: a read-modify-write of the word around would race.
    U16,
    /// Words.
    U32,
    /// 64-bit numbers, for 64-bit atomics.
    U64,
}

impl RawView {
    /// The view that holds the bits of `scalar`; 64-bit numbers are pairs of words.
    pub fn of(scalar: Scalar) -> Self {
        if scalar.bits() == 16 { Self::U16 } else { Self::U32 }
    }

    /// The scalar of a unit.
    pub fn scalar(self) -> Scalar {
        let bits = match self {
            Self::U16 => 16,
            Self::U32 => 32,
            Self::U64 => 64,
        };
        Scalar::Int { bits, signed: false }
    }

    /// How far a byte offset is shifted to count units.
    pub fn shift(self) -> u32 {
        match self {
            Self::U16 => 1,
            Self::U32 => 2,
            Self::U64 => 3,
        }
    }
}

/// A resource, or one element of an array of them that is flattened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Which {
    pub global: Global,
    /// Number of the element; 0 when the array is one variable.
    pub element: u32,
}

impl Which {
    pub fn new(global: Global) -> Self {
        Self { global, element: 0 }
    }
}

/// A variable made for a resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ResourceKey {
    /// The resource; a byte-address buffer by words.
    Main(Which),
    /// Another view of a byte-address buffer.
    Raw(Which, RawView),
    /// The hidden counter.
    Counter(Which),
}

/// A variable of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceSlot {
    pub var: u32,
    pub class: StorageClass,
    pub ty: ResourceType,
    /// Type of one resource.
    pub pointee: u32,
    /// Whether the variable is an array of resources.
    pub arrayed: bool,
    /// Type of the image, when the variable holds it with a sampler.
    pub combined: Option<u32>,
}

impl Cx<'_> {
    /// The layout rule of a constant buffer or of push constants.
    pub fn constant_rule(&self, class: StorageClass) -> LayoutRule {
        if class == StorageClass::PushConstant { self.rules.storage } else { self.rules.constant }
    }

    /// What a module-scope variable of resources is declared with: the resource's type, the number of them (0 when
    /// unbounded, `None` when not an array), the declaration.
    fn declaration(&self, global: Global) -> Option<(ResourceType, Option<u32>, &ResourceVar)> {
        let ir = self.ir;
        let var = &ir.globals[global];
        let GlobalKind::Resource(resource) = &var.kind else { return None };
        let handle = resource_type(&ir.types, var.ty)?;
        let (mut ty, mut count) = (var.ty, None);
        loop {
            match ir.types.kind(ty) {
                TypeKind::Array { elem, len } => {
                    count = Some(count.unwrap_or(1u32).saturating_mul(len));
                    ty = elem;
                }
                TypeKind::RuntimeArray { elem } => {
                    count = Some(0);
                    ty = elem;
                }
                _ => return Some((handle, count, resource)),
            }
        }
    }

    /// Whether a resource is the sampler in a combined image sampler.
    pub fn is_combined_sampler(&self, which: Which) -> bool {
        self.declaration(which.global)
            .is_some_and(|(ty, _, var)| var.combined && matches!(ty, ResourceType::Sampler { .. }))
    }

    /// Whether a texture and a sampler are in one descriptor.
    pub fn is_pair(&self, texture: Which, sampler: Which) -> bool {
        self.is_combined_sampler(sampler)
            && texture.element == sampler.element
            && self.slots.of(texture.global).spirv == self.slots.of(sampler.global).spirv
    }

    /// The variable of a resource.
    pub fn resource(&mut self, which: Which) -> Option<ResourceSlot> {
        self.resource_variable(ResourceKey::Main(which))
    }

    /// A variable of a resource, made at its first use.
    pub fn resource_variable(&mut self, key: ResourceKey) -> Option<ResourceSlot> {
        let slot = match self.resources.get(&key) {
            Some(&slot) => slot,
            None => {
                let slot = self.make_resource(key)?;
                self.resources.insert(key, slot);
                slot
            }
        };
        self.touch(slot.var, slot.class);
        Some(slot)
    }

    fn make_resource(&mut self, key: ResourceKey) -> Option<ResourceSlot> {
        let (ResourceKey::Main(which) | ResourceKey::Raw(which, _) | ResourceKey::Counter(which)) = key;
        let global = which.global;
        let (ty, count, resource) = self.declaration(global)?;
        let count = count.filter(|_| !self.opts.flatten_arrays);
        let resource = resource.clone();
        let ir = self.ir;
        let name = ir.names.get(ir.globals[global].name);
        // Reflection names the counter at its buffer, and an id that a decoration names stands before its target.
        let has_counter = matches!(ty, ResourceType::StructuredBuffer { counter, .. } if counter != CounterKind::None);
        let counter = match key {
            ResourceKey::Main(_) if self.opts.reflect && has_counter => {
                self.resource_variable(ResourceKey::Counter(which))
            }
            _ => None,
        };
        let mut format = ImageFormat::Unknown;
        let (class, pointee) = match key {
            ResourceKey::Main(_) => self.resource_type(ty, &resource, ir.globals[global].span, &mut format),
            ResourceKey::Raw(_, view) => (StorageClass::StorageBuffer, self.raw_block(view, read_only(ty))),
            ResourceKey::Counter(_) => (StorageClass::StorageBuffer, self.counter_block()),
        };
        let combined = (resource.combined && matches!(ty, ResourceType::Texture(_))).then_some(pointee);
        let pointee = match combined {
            Some(image) => self.unique_type(Op::TypeSampledImage, &[image]),
            None => pointee,
        };
        let whole = match count {
            None => pointee,
            Some(0) => self.runtime_array(pointee, None),
            Some(len) => self.array(pointee, len, None),
        };
        let ptr = self.pointer(class, whole);
        let var = self.m.id();
        self.m.globals.inst(Op::Variable, &[ptr, var, class as u32]);
        match key {
            ResourceKey::Counter(_) => self.name(var, &format!("counter.var.{name}")),
            _ => self.name(var, name),
        }
        if class != StorageClass::PushConstant {
            let slots = self.slots.of(global);
            let slot = if let ResourceKey::Counter(_) = key { slots.spirv_counter } else { slots.spirv };
            let Some(slot) = slot else {
                self.internal(ir.globals[global].span, format!("`{name}` has no descriptor"));
                return None;
            };
            self.m.decorate(var, Decoration::DescriptorSet, &[slot.set]);
            self.m.decorate(var, Decoration::Binding, &[slot.binding.saturating_add(which.element)]);
        }
        if !matches!(key, ResourceKey::Counter(_)) {
            self.reflect_resource(var, ty);
        }
        if let Some(counter) = counter {
            self.reflect_counter(var, counter.var);
        }
        if resource.coherent && !read_only(ty) && !self.vulkan_memory {
            self.m.decorate(var, Decoration::Coherent, &[]);
        }
        if let (ResourceType::SubpassInput { .. }, Some(index)) = (ty, resource.vk_input_attachment) {
            self.m.decorate(var, Decoration::InputAttachmentIndex, &[index]);
        }
        if let ResourceKey::Raw(which, _) = key {
            self.alias(var, which);
        }
        Some(ResourceSlot { var, class, ty, pointee, arrayed: count.is_some(), combined })
    }

    /// Marks the views of a byte-address buffer as aliases of each other.
    fn alias(&mut self, var: u32, which: Which) {
        let others =
            [ResourceKey::Main(which), ResourceKey::Raw(which, RawView::U16), ResourceKey::Raw(which, RawView::U64)];
        let views: Vec<u32> = others.iter().filter_map(|key| self.resources.get(key)).map(|slot| slot.var).collect();
        match views.as_slice() {
            [] => {}
            [first] => {
                self.m.decorate(*first, Decoration::Aliased, &[]);
                self.m.decorate(var, Decoration::Aliased, &[]);
            }
            _ => self.m.decorate(var, Decoration::Aliased, &[]),
        }
    }

    /// Storage class and type of one resource.
    fn resource_type(
        &mut self,
        ty: ResourceType,
        resource: &ResourceVar,
        span: Span,
        format: &mut ImageFormat,
    ) -> (StorageClass, u32) {
        match ty {
            ResourceType::ConstantBuffer { block } => {
                let class = if resource.push_constant { StorageClass::PushConstant } else { StorageClass::Uniform };
                let mem = Mem::Laid { rule: self.constant_rule(class), order: MatrixOrder::ColumnMajor };
                (class, self.struct_ty(block, mem, true))
            }
            ResourceType::TextureBuffer { block } => {
                let mem = Mem::Laid { rule: self.rules.texture, order: MatrixOrder::ColumnMajor };
                let id = self.read_only_block(block, mem);
                (StorageClass::StorageBuffer, id)
            }
            ResourceType::StructuredBuffer { elem, order, .. } => {
                (StorageClass::StorageBuffer, self.structured_block(elem, order, read_only(ty)))
            }
            ResourceType::ByteAddressBuffer { .. } => {
                (StorageClass::StorageBuffer, self.raw_block(RawView::U32, read_only(ty)))
            }
            ResourceType::Texture(texture) => {
                if texture.access == Access::ReadWrite {
                    *format = self.image_format(texture, resource, span);
                }
                (StorageClass::UniformConstant, self.image(texture, *format))
            }
            ResourceType::Sampler { .. } => (StorageClass::UniformConstant, self.unique_type(Op::TypeSampler, &[])),
            ResourceType::SubpassInput { multisampled, texel } => {
                let sampled = self.scalar(crate::types::sampled_scalar(texel));
                let words = [
                    sampled,
                    Dim::DimSubpassData as u32,
                    2,
                    0,
                    u32::from(multisampled),
                    2,
                    ImageFormat::Unknown as u32,
                ];
                (StorageClass::UniformConstant, self.unique_type(Op::TypeImage, &words))
            }
            ResourceType::AccelerationStructure => (StorageClass::UniformConstant, self.acceleration_structure_type()),
        }
    }

    /// The format of a storage image: stated, or derived from the element's type.
    fn image_format(&mut self, texture: oneshader_ir::TextureType, resource: &ResourceVar, span: Span) -> ImageFormat {
        if let Some(name) = resource.vk_image_format {
            let name = self.ir.names.get(name);
            if let Some(&(_, format)) = IMAGE_FORMATS.iter().find(|(n, _)| *n == name) {
                return format;
            }
            self.unsupported(span, format!("`{name}` is not an image format"));
        }
        if self.opts.unknown_image_formats || resource.rasterizer_ordered && texture.components == 3 {
            return ImageFormat::Unknown;
        }
        derived_format(texture)
    }

    /// A structure of one runtime array, as a block.
    fn array_block(&mut self, name: &str, elem: u32, stride: u32, read_only: bool) -> u32 {
        let array = self.runtime_array(elem, Some(stride));
        let id = self.m.id();
        self.m.globals.inst(Op::TypeStruct, &[id, array]);
        self.name(id, name);
        self.m.decorate(id, Decoration::Block, &[]);
        self.m.decorate_member(id, 0, Decoration::Offset, &[0]);
        if read_only {
            self.m.decorate_member(id, 0, Decoration::NonWritable, &[]);
        }
        id
    }

    fn structured_block(&mut self, elem: Type, order: MatrixOrder, read_only: bool) -> u32 {
        let mem = Mem::Laid { rule: self.rules.storage, order };
        let key = BlockKey::Structured(elem, mem, read_only);
        if let Some(&id) = self.blocks.get(&key) {
            return id;
        }
        let part = self.mem_ty(elem, mem);
        let rule = self.rules.storage;
        let stride = self.layout(elem, rule, order).map_or(0, |l| l.stride());
        let name = format!("type.{}StructuredBuffer.{}", if read_only { "" } else { "RW" }, self.spelled(elem));
        let id = self.array_block(&name, part, stride, read_only);
        self.matrix_decorations(id, 0, elem, mem);
        self.blocks.insert(key, id);
        id
    }

    fn raw_block(&mut self, view: RawView, read_only: bool) -> u32 {
        let key = BlockKey::Raw(view, read_only);
        if let Some(&id) = self.blocks.get(&key) {
            return id;
        }
        let unit = self.scalar(view.scalar());
        let name = if read_only { "type.ByteAddressBuffer" } else { "type.RWByteAddressBuffer" };
        let id = self.array_block(name, unit, view.scalar().bits() / 8, read_only);
        self.blocks.insert(key, id);
        id
    }

    fn counter_block(&mut self) -> u32 {
        if let Some(&id) = self.blocks.get(&BlockKey::Counter) {
            return id;
        }
        let int = self.scalar(Scalar::I32);
        let id = self.m.id();
        self.m.globals.inst(Op::TypeStruct, &[id, int]);
        self.name(id, "type.ACSBuffer.counter");
        self.member_name(id, 0, "counter");
        self.m.decorate(id, Decoration::Block, &[]);
        self.m.decorate_member(id, 0, Decoration::Offset, &[0]);
        self.blocks.insert(BlockKey::Counter, id);
        id
    }

    /// The block of a texture buffer: every member is read only.
    fn read_only_block(&mut self, block: Type, mem: Mem) -> u32 {
        let known = self.structs.contains_key(&(block, mem, true));
        let id = self.struct_ty(block, mem, true);
        if let (false, TypeKind::Struct(sid)) = (known, self.ir.types.kind(block)) {
            for i in 0..self.ir.types.structs[sid].members.len() {
                self.m.decorate_member(id, i as u32, Decoration::NonWritable, &[]);
            }
        }
        id
    }
}

/// A block of our own making.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BlockKey {
    /// A structured buffer: element, memory, read only.
    Structured(Type, Mem, bool),
    /// A byte-address buffer: view, read only.
    Raw(RawView, bool),
    /// A counter.
    Counter,
}

/// Whether a resource is a shader resource view.
fn read_only(ty: ResourceType) -> bool {
    match ty {
        ResourceType::StructuredBuffer { access, .. } | ResourceType::ByteAddressBuffer { access } => {
            access == Access::Read
        }
        ResourceType::Texture(texture) => texture.access == Access::Read,
        _ => true,
    }
}

impl Fx<'_, '_> {
    /// The handle of a resource: `index` selects one of an array.
    pub fn make_handle(&mut self, which: Which, index: Option<u32>, nonuniform: bool) -> Option<Handle> {
        self.view_handle(ResourceKey::Main(which), which, index, nonuniform)
    }

    fn view_handle(&mut self, key: ResourceKey, which: Which, index: Option<u32>, nonuniform: bool) -> Option<Handle> {
        let slot = self.cx.resource_variable(key)?;
        let ptr = match index {
            Some(index) if slot.arrayed => {
                let ty = self.cx.pointer(slot.class, slot.pointee);
                let id = self.op(Op::AccessChain, ty, &[slot.var, index]);
                if nonuniform {
                    self.nonuniform(id);
                }
                id
            }
            _ => slot.var,
        };
        Some(Handle { which, index, nonuniform, ptr, image: None, whole: None })
    }

    /// A byte-address buffer seen as another array.
    pub fn raw_view(&mut self, handle: Handle, view: RawView) -> Option<Handle> {
        if view == RawView::U32 {
            return Some(handle);
        }
        self.view_handle(ResourceKey::Raw(handle.which, view), handle.which, handle.index, handle.nonuniform)
    }

    /// The hidden counter of a buffer.
    pub fn counter_of(&mut self, handle: Handle) -> Option<Handle> {
        let slot = self.cx.resource(handle.which)?;
        if let ResourceType::StructuredBuffer { counter: CounterKind::None, .. } = slot.ty {
            return None;
        }
        self.view_handle(ResourceKey::Counter(handle.which), handle.which, handle.index, handle.nonuniform)
    }
}
