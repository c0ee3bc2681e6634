//! Layout tables: what a type's bytes are under a rule.
//!
//! A layout is computed once for each (type, rule, matrix order) and is all that backends, reflection, layout asserts and
//! the `layout` table know of bytes. The rules are those of DXC's `-fvk-use-*-layout` options (DXC `docs/SPIR-V.rst`,
//! "Memory layout rules"), of which `Dx*` are Direct3D's own (Microsoft, "Packing rules for constant variables").

mod compute;
mod table;

use crate::entity::{Type, Value};
use crate::func::Function;
use crate::module::{GlobalKind, IrModule};
use crate::types::{MatrixOrder, ResourceType, TypeKind, Types};
use cranelift_entity::{PrimaryMap, entity_impl};
use oneshader_diag::Span;
use rustc_hash::FxHashMap;

pub use table::render;

/// How the bytes of a type are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum LayoutRule {
    /// Direct3D constant buffers: 16-byte registers; arrays, structures and matrices start a register and leave the rest
    /// of their last one to what follows.
    DxConstantBuffer,
    /// Direct3D structured buffers: everything at the alignment of its scalars.
    DxStructured,
    /// `std140`, but vectors of 2- and 4-byte scalars are aligned as their scalars and never straddle 16 bytes.
    RelaxedStd140,
    /// `std430` relaxed likewise.
    RelaxedStd430,
    /// OpenGL `std140`.
    Std140,
    /// OpenGL `std430`.
    Std430,
    /// `VK_EXT_scalar_block_layout`.
    Scalar,
}

impl LayoutRule {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DxConstantBuffer => "DX constant buffer",
            Self::DxStructured => "DX structured buffer",
            Self::RelaxedStd140 => "std140, relaxed vectors",
            Self::RelaxedStd430 => "std430, relaxed vectors",
            Self::Std140 => "std140",
            Self::Std430 => "std430",
            Self::Scalar => "scalar",
        }
    }

    /// Whether arrays and structures are aligned to 16 bytes at least.
    const fn is_uniform(self) -> bool {
        matches!(self, Self::DxConstantBuffer | Self::RelaxedStd140 | Self::Std140)
    }

    /// Whether vectors, arrays and matrices are aligned as their scalars.
    const fn is_scalar(self) -> bool {
        matches!(self, Self::DxStructured | Self::Scalar)
    }

    /// Whether a vector may not straddle 16 bytes and is otherwise aligned as its scalars.
    const fn is_relaxed(self) -> bool {
        matches!(self, Self::DxConstantBuffer | Self::RelaxedStd140 | Self::RelaxedStd430)
    }
}

/// The rule of each kind of buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LayoutOptions {
    /// `cbuffer`, `ConstantBuffer<T>`, `$Globals`.
    pub constant: LayoutRule,
    /// `tbuffer`, `TextureBuffer<T>`.
    pub texture: LayoutRule,
    /// Structured buffers and push constants.
    pub storage: LayoutRule,
}

impl LayoutOptions {
    /// DXC's default for Vulkan.
    pub const VULKAN: Self = Self {
        constant: LayoutRule::RelaxedStd140,
        texture: LayoutRule::RelaxedStd430,
        storage: LayoutRule::RelaxedStd430,
    };
    /// `-fvk-use-dx-layout`.
    pub const DX: Self = Self {
        constant: LayoutRule::DxConstantBuffer,
        texture: LayoutRule::DxConstantBuffer,
        storage: LayoutRule::DxStructured,
    };
    /// `-fvk-use-gl-layout`.
    pub const GL: Self =
        Self { constant: LayoutRule::Std140, texture: LayoutRule::Std430, storage: LayoutRule::Std430 };
    /// `-fvk-use-scalar-layout`.
    pub const SCALAR: Self =
        Self { constant: LayoutRule::Scalar, texture: LayoutRule::Scalar, storage: LayoutRule::Scalar };

    /// The layout of the memory behind a resource: the block of a constant or texture buffer, or the element of a
    /// structured one. `None` for resources without a type in memory. `push_constant`: the block is one of push constants.
    pub fn rule_for(&self, resource: ResourceType, push_constant: bool) -> Option<(Type, LayoutRule, MatrixOrder)> {
        match resource {
            ResourceType::ConstantBuffer { block } => {
                let rule = if push_constant { self.storage } else { self.constant };
                Some((block, rule, MatrixOrder::default()))
            }
            ResourceType::TextureBuffer { block } => Some((block, self.texture, MatrixOrder::default())),
            ResourceType::StructuredBuffer { elem, order, .. } => Some((elem, self.storage, order)),
            ResourceType::ByteAddressBuffer { .. }
            | ResourceType::Texture(_)
            | ResourceType::Sampler { .. }
            | ResourceType::SubpassInput { .. }
            | ResourceType::AccelerationStructure => None,
        }
    }
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self::VULKAN
    }
}

/// A layout of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayoutId(u32);
entity_impl!(LayoutId, "layout");

/// The bytes of a type. All numbers are bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The type.
    pub ty: Type,
    /// The rule.
    pub rule: LayoutRule,
    /// Bytes it takes. Under [`LayoutRule::DxConstantBuffer`] not rounded to the alignment.
    pub size: u32,
    /// Its address is a multiple of this; a vector's may be less where the rule relaxes it.
    pub align: u32,
    /// Its parts.
    pub kind: LayoutKind,
}

impl Layout {
    /// Bytes from one element to the next in an array without end (the elements of a structured buffer).
    pub fn stride(&self) -> u32 {
        self.size.next_multiple_of(self.align)
    }
}

/// The parts of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayoutKind {
    /// A scalar.
    Scalar,
    /// Scalars, one directly after the other.
    Vector,
    /// Lines, each a vector: rows of `cols` components when row-major, columns of `rows` components when column-major.
    Matrix {
        /// What a line is.
        order: MatrixOrder,
        /// Number of lines.
        lines: u32,
        /// From one line to the next.
        stride: u32,
    },
    /// An array.
    Array {
        /// Layout of an element.
        elem: LayoutId,
        /// Number of elements.
        len: u32,
        /// From one element to the next.
        stride: u32,
    },
    /// A structure: its members in order of declaration.
    Struct(Vec<MemberLayout>),
}

/// Where a member stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberLayout {
    /// From the start of the structure.
    pub offset: u32,
    /// Bytes it takes.
    pub size: u32,
    /// Its layout.
    pub layout: LayoutId,
}

/// Why a type has no layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayoutError {
    /// Two members take the same bytes.
    Overlap {
        /// The structure.
        ty: Type,
        /// Index of the member that stands first.
        first: u32,
        /// Index of the member that begins before the first one ends.
        second: u32,
        /// Place of the second one's declaration.
        span: Span,
    },
    /// A stated offset is not a multiple of the size of the member's scalars.
    Misaligned {
        /// The structure.
        ty: Type,
        /// Index of the member.
        member: u32,
        /// What its offset must be a multiple of.
        align: u32,
        /// Place of its declaration.
        span: Span,
    },
    /// It takes 2 GiB or more, or is nested too deep.
    TooLarge(Type),
    /// It cannot lie in memory: a handle, a pointer, `void`, an array without size.
    NotData(Type),
}

/// The layouts of a module.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    options: LayoutOptions,
    table: PrimaryMap<LayoutId, Layout>,
    index: FxHashMap<(Type, LayoutRule, MatrixOrder), LayoutId>,
}

impl Layouts {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The layouts of everything behind the module's resources; with the errors, in order of the declarations.
    pub fn of_module(module: &IrModule, options: &LayoutOptions) -> (Self, Vec<LayoutError>) {
        let mut this = Self { options: *options, ..Self::default() };
        let mut errors = Vec::new();
        for var in module.globals.values() {
            let GlobalKind::Resource(resource) = &var.kind else { continue };
            let Some(handle) = resource_type(&module.types, var.ty) else { continue };
            if let Some((ty, rule, order)) = options.rule_for(handle, resource.push_constant)
                && let Err(error) = this.compute(&module.types, ty, rule, order)
                && !errors.contains(&error)
            {
                errors.push(error);
            }
        }
        // What is reached by address lies as in structured buffers.
        for func in module.functions.values() {
            for (_, _, data) in func.live_insts() {
                if let crate::Op::AddressPtr { order, .. } = data.op
                    && let Some((_, ty)) = module.types.pointee(data.ty)
                    && let Err(error) = this.compute(&module.types, ty, options.storage, order)
                    && !errors.contains(&error)
                {
                    errors.push(error);
                }
            }
        }
        (this, errors)
    }

    /// The rules of a module's buffers; those of Vulkan unless the table was made for a module with others.
    pub fn options(&self) -> &LayoutOptions {
        &self.options
    }

    /// The layout of `ty`. `order` is the order of `ty` when it is a matrix or an array of them, else without effect.
    pub fn compute(
        &mut self,
        types: &Types,
        ty: Type,
        rule: LayoutRule,
        order: MatrixOrder,
    ) -> Result<LayoutId, LayoutError> {
        compute::layout(self, types, ty, rule, order, 0)
    }

    /// The layout of `ty`, when it has been computed.
    pub fn find(&self, types: &Types, ty: Type, rule: LayoutRule, order: MatrixOrder) -> Option<LayoutId> {
        self.index.get(&(ty, rule, own_order(types, ty, order))).copied()
    }

    /// A layout.
    pub fn get(&self, id: LayoutId) -> &Layout {
        &self.table[id]
    }

    /// The members of a structure's layout; none for any other.
    pub fn members(&self, id: LayoutId) -> &[MemberLayout] {
        match &self.table[id].kind {
            LayoutKind::Struct(members) => members,
            _ => &[],
        }
    }

    /// The layout behind handle `value` of `func`, when it has been computed.
    pub fn behind(
        &self,
        types: &Types,
        func: &Function,
        value: Value,
        options: &LayoutOptions,
        push_constant: bool,
    ) -> Option<LayoutId> {
        let TypeKind::Resource(resource) = types.kind(func.ty(value)) else { return None };
        let (ty, rule, order) = options.rule_for(resource, push_constant)?;
        self.find(types, ty, rule, order)
    }
}

/// The resource in a variable's type: itself, or the element of arrays of any depth.
pub fn resource_type(types: &Types, mut ty: Type) -> Option<ResourceType> {
    loop {
        match types.kind(ty) {
            TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => ty = elem,
            TypeKind::Resource(resource) => return Some(resource),
            _ => return None,
        }
    }
}

/// `order` where it makes a difference: a matrix, or arrays of one. Keeps one table entry for each layout there is.
fn own_order(types: &Types, mut ty: Type, order: MatrixOrder) -> MatrixOrder {
    loop {
        match types.kind(ty) {
            TypeKind::Array { elem, .. } => ty = elem,
            TypeKind::Matrix { .. } => return order,
            _ => return MatrixOrder::default(),
        }
    }
}

#[cfg(test)]
mod tests;
