//! Slots: where the host binds each resource, for every target.
//!
//! Slots are a pure function of the module's declarations, used or not, and the options; `docs/slots.md` states the rules.
//! Backends and reflection read the table and nothing else.

mod heap;
mod map;
mod msl;
mod spirv;

use crate::entity::Global;
use crate::module::{GlobalKind, IrModule, RegisterClass, ResourceVar};
use crate::types::{Access, CounterKind, ResourceType, TypeKind, Types};
use cranelift_entity::SecondaryMap;
use serde::{Deserialize, Serialize};

pub use heap::DescriptorHeap;
pub use map::{BindingEntry, BindingMap};

/// A Vulkan descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct SpirvSlot {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
}

/// One of Metal's argument tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MslTable {
    /// `[[buffer(n)]]`.
    Buffer,
    /// `[[texture(n)]]`.
    Texture,
    /// `[[sampler(n)]]`.
    Sampler,
}

impl MslTable {
    /// Attribute in Metal's text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::Texture => "texture",
            Self::Sampler => "sampler",
        }
    }
}

/// Metal indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MslSlot {
    /// The table.
    pub table: MslTable,
    /// The first index.
    pub index: u32,
    /// Number of indices: 1, or the elements of an array. An array without size is one buffer of entries.
    pub count: u32,
}

/// The slots of one module-scope variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GlobalSlots {
    /// Its descriptor; none for push constants.
    pub spirv: Option<SpirvSlot>,
    /// Its hidden counter's descriptor.
    pub spirv_counter: Option<SpirvSlot>,
    /// Its Metal indices. Arrays without size that are views of one table have the same.
    pub msl: Option<MslSlot>,
    /// Its hidden counter's Metal indices; an array without size has none.
    pub msl_counter: Option<MslSlot>,
}

/// `-fvk-{b,t,u,s}-shift`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shift {
    /// What is added in every space that [`spaces`](Self::spaces) does not name.
    pub all: i32,
    /// (space, what is added).
    pub spaces: Vec<(u32, i32)>,
}

impl Shift {
    fn of(&self, space: u32) -> i32 {
        self.spaces.iter().rev().find(|(s, _)| *s == space).map_or(self.all, |(_, n)| *n)
    }
}

/// `-fvk-bind-register`: a register and its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BindRegister {
    /// Register class.
    pub class: RegisterClass,
    /// Register number.
    pub index: u32,
    /// Register space.
    pub space: u32,
    /// Descriptor.
    pub slot: SpirvSlot,
}

/// How SPIR-V descriptors are chosen; DXC's options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpirvSlotOptions {
    /// `-fvk-b-shift`.
    pub b_shift: Shift,
    /// `-fvk-t-shift`.
    pub t_shift: Shift,
    /// `-fvk-u-shift`.
    pub u_shift: Shift,
    /// `-fvk-s-shift`.
    pub s_shift: Shift,
    /// `-fvk-auto-shift-bindings`: shifts apply where no register is written too.
    pub auto_shift: bool,
    /// `-fvk-bind-register`. When not empty, every resource must have a register named here.
    pub bind_register: Vec<BindRegister>,
    /// `-fvk-bind-globals`.
    pub bind_globals: Option<SpirvSlot>,
    /// `-auto-binding-space`: the set of what has no register.
    pub default_space: u32,
    /// `-fvk-bind-counter-heap`: the counters of what `ResourceDescriptorHeap` holds.
    pub counter_heap: Option<SpirvSlot>,
    /// Descriptors that nothing else is given: those of the heaps that options state, used or not.
    pub reserved: Vec<SpirvSlot>,
    /// `-fspv-flatten-resource-arrays`: an array takes a binding for each element.
    pub flatten_arrays: bool,
}

impl SpirvSlotOptions {
    fn shift(&self, class: RegisterClass) -> &Shift {
        match class {
            RegisterClass::B => &self.b_shift,
            RegisterClass::T => &self.t_shift,
            RegisterClass::U => &self.u_shift,
            RegisterClass::S => &self.s_shift,
        }
    }
}

/// How slots are chosen.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SlotOptions {
    /// For SPIR-V.
    pub spirv: SpirvSlotOptions,
    /// What the caller dictates.
    pub map: BindingMap,
}

/// Which slot of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotOwner {
    /// A resource.
    Resource(Global),
    /// The hidden counter of a resource.
    Counter(Global),
    /// The hidden buffer of buffer sizes.
    Sizes,
}

/// Why slots cannot be chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotError {
    /// The binding map puts two things on one slot; named as in `[[buffer(3)]]` or `set 0, binding 1`.
    Overlap {
        /// Declared first.
        first: SlotOwner,
        /// Declared later.
        second: SlotOwner,
        /// The slot they share.
        slot: String,
    },
    /// `-fvk-bind-register` is given, but not for this resource's register, or it has none.
    NoBindRegister(Global),
    /// `-fvk-bind-register` is given and there are loose uniforms, but no `-fvk-bind-globals`.
    NoBindGlobals(Global),
    /// Half of a combined image sampler has a descriptor that no other half has.
    Unpaired(Global, SpirvSlot),
    /// A binding or index is beyond what 32 bits hold.
    OutOfRange(Global),
}

/// The slots of a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Slots {
    globals: SecondaryMap<Global, GlobalSlots>,
    msl_sizes: u32,
}

impl Slots {
    /// Chooses the slots of every resource of `module`; with the errors, in order of the declarations.
    pub fn assign(module: &IrModule, options: &SlotOptions) -> (Self, Vec<SlotError>) {
        let mut this = Self::default();
        let mut errors = Vec::new();
        let resources = resources(module);
        spirv::assign(&resources, options, &mut this, &mut errors);
        msl::assign(&resources, options, &mut this, &mut errors);
        (this, errors)
    }

    /// The slots of a module-scope variable; all none when it is no resource.
    pub fn of(&self, global: Global) -> &GlobalSlots {
        &self.globals[global]
    }

    /// Metal buffer index of the hidden buffer of buffer sizes: one `uint` of bytes for each buffer index.
    pub fn msl_sizes(&self) -> u32 {
        self.msl_sizes
    }
}

/// A resource as the assignments see it.
struct Resource<'m> {
    global: Global,
    name: &'m str,
    var: &'m ResourceVar,
    kind: ResourceType,
    /// Elements of the arrays around it, 1 for none; an array without size counts 1.
    count: u32,
    /// Whether it is an array without size.
    unbounded: bool,
    /// The descriptor heap that it is a view of.
    heap: Option<DescriptorHeap>,
}

impl Resource<'_> {
    fn counter(&self) -> CounterKind {
        match self.kind {
            ResourceType::StructuredBuffer { counter, .. } => counter,
            _ => CounterKind::None,
        }
    }

    /// The register class its type belongs to.
    fn class(&self) -> RegisterClass {
        match self.kind {
            ResourceType::ConstantBuffer { .. } => RegisterClass::B,
            ResourceType::Sampler { .. } => RegisterClass::S,
            ResourceType::StructuredBuffer { access: Access::ReadWrite, .. }
            | ResourceType::ByteAddressBuffer { access: Access::ReadWrite } => RegisterClass::U,
            ResourceType::Texture(texture) if texture.access == Access::ReadWrite => RegisterClass::U,
            _ => RegisterClass::T,
        }
    }
}

impl Resource<'_> {
    /// The class whose shift moves it: a sampler that is combined with a texture is numbered as the texture.
    fn shifted_as(&self, class: RegisterClass) -> RegisterClass {
        let sampler = matches!(self.kind, ResourceType::Sampler { .. });
        if self.var.combined && sampler { RegisterClass::T } else { class }
    }
}

fn resources(module: &IrModule) -> Vec<Resource<'_>> {
    let mut out = Vec::new();
    for (global, var) in module.globals.iter() {
        let GlobalKind::Resource(resource) = &var.kind else { continue };
        let Some((kind, count, unbounded)) = element(&module.types, var.ty) else { continue };
        let heap = DescriptorHeap::of(module, global);
        out.push(Resource { global, name: module.names.get(var.name), var: resource, kind, count, unbounded, heap });
    }
    out
}

/// The resource that a type is one or an array of, the number of elements, and whether that is without bound.
fn element(types: &Types, mut ty: crate::Type) -> Option<(ResourceType, u32, bool)> {
    let (mut count, mut unbounded) = (1u32, false);
    loop {
        match types.kind(ty) {
            TypeKind::Array { elem, len } => {
                count = count.saturating_mul(len);
                ty = elem;
            }
            TypeKind::RuntimeArray { elem } => {
                unbounded = true;
                ty = elem;
            }
            TypeKind::Resource(kind) => return Some((kind, count, unbounded)),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests;
