//! Types: interned, free of layout. Bytes are the business of the layout tables.

use crate::entity::{Name, StructId, Type};
use cranelift_entity::PrimaryMap;
use cranelift_entity::packed_option::PackedOption;
use oneshader_diag::Span;
use rustc_hash::FxHashMap;

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// True or false; four bytes in memory that others see.
    Bool,
    /// An integer of 16, 32 or 64 bits; arithmetic wraps.
    Int {
        /// Width in bits: 16, 32 or 64.
        bits: u8,
        /// Two's complement when true.
        signed: bool,
    },
    /// An IEEE 754 binary16, binary32 or binary64 number.
    Float {
        /// Width in bits: 16, 32 or 64.
        bits: u8,
    },
}

impl Scalar {
    /// `int`.
    pub const I32: Self = Self::Int { bits: 32, signed: true };
    /// `uint`.
    pub const U32: Self = Self::Int { bits: 32, signed: false };
    /// `float`.
    pub const F32: Self = Self::Float { bits: 32 };
    /// `half` with 16-bit types.
    pub const F16: Self = Self::Float { bits: 16 };
    /// `double`.
    pub const F64: Self = Self::Float { bits: 64 };

    /// Width in bits; a `bool` counts 32, what it takes in memory.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 32,
            Self::Int { bits, .. } | Self::Float { bits } => bits as u32,
        }
    }

    /// Name in HLSL with 16-bit types.
    pub const fn hlsl_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { bits: 16, signed: true } => "int16_t",
            Self::Int { bits: 16, signed: false } => "uint16_t",
            Self::Int { bits: 64, signed: true } => "int64_t",
            Self::Int { bits: 64, signed: false } => "uint64_t",
            Self::Int { signed: true, .. } => "int",
            Self::Int { signed: false, .. } => "uint",
            Self::Float { bits: 16 } => "half",
            Self::Float { bits: 64 } => "double",
            Self::Float { .. } => "float",
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float { .. })
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        matches!(self, Self::Int { .. })
    }

    /// Whether it is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Int { signed: true, .. })
    }
}

/// Where memory lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressSpace {
    /// One invocation, one call.
    Function,
    /// One invocation, the whole run (`static`).
    Private,
    /// One threadgroup (`groupshared`).
    Workgroup,
    /// A stage input.
    Input,
    /// A stage output.
    Output,
    /// The block of a constant buffer; read only.
    Constant,
    /// The elements of a structured or byte-address buffer, or the block of a texture buffer.
    Storage,
    /// The block of push constants; read only.
    PushConstant,
    /// A variable that holds a resource.
    Handle,
    /// One texel of a read-write texture or typed buffer; atomics only.
    Texel,
    /// Memory of the device that is reached by its address as a number.
    Device,
}

/// Reading or also writing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Shader resource view.
    Read,
    /// Unordered access view.
    ReadWrite,
}

/// The order of a matrix's elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MatrixOrder {
    /// Lines are columns; HLSL's default.
    #[default]
    ColumnMajor,
    /// Lines are rows.
    RowMajor,
}

/// The shape of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextureDim {
    /// One-dimensional.
    D1,
    /// Two-dimensional.
    D2,
    /// Three-dimensional.
    D3,
    /// Six faces.
    Cube,
    /// A typed buffer (`Buffer<T>`, `RWBuffer<T>`).
    Buffer,
}

impl TextureDim {
    /// Components of a coordinate, without array layer: 3 for a cube's direction.
    pub const fn coords(self) -> u32 {
        match self {
            Self::D1 | Self::Buffer => 1,
            Self::D2 => 2,
            Self::D3 | Self::Cube => 3,
        }
    }
}

/// A texture or typed buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TextureType {
    /// Shape.
    pub dim: TextureDim,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether texels have several samples.
    pub multisampled: bool,
    /// Reading or also writing.
    pub access: Access,
    /// Type of one component of a texel.
    pub texel: Scalar,
    /// Components of the HLSL element type, 1 to 4. Operations give and take four all the same.
    pub components: u8,
}

/// The hidden counter of a structured buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CounterKind {
    /// No counter can be used.
    None,
    /// `IncrementCounter` and `DecrementCounter` of an `RWStructuredBuffer`.
    Counter,
    /// `AppendStructuredBuffer`.
    Append,
    /// `ConsumeStructuredBuffer`.
    Consume,
}

/// What a handle refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResourceType {
    /// `cbuffer`, `ConstantBuffer<T>`, push constants: one structure, read only.
    ConstantBuffer {
        /// The structure.
        block: Type,
    },
    /// `tbuffer`, `TextureBuffer<T>`: one structure, read only, in buffer memory.
    TextureBuffer {
        /// The structure.
        block: Type,
    },
    /// `StructuredBuffer<T>` and its kin.
    StructuredBuffer {
        /// Element.
        elem: Type,
        /// Reading or also writing.
        access: Access,
        /// Hidden counter.
        counter: CounterKind,
        /// Order of matrices that are, or are elements of an array that is, the element itself.
        order: MatrixOrder,
    },
    /// `ByteAddressBuffer`, `RWByteAddressBuffer`.
    ByteAddressBuffer {
        /// Reading or also writing.
        access: Access,
    },
    /// A texture or typed buffer.
    Texture(TextureType),
    /// A sampler.
    Sampler {
        /// `SamplerComparisonState` when true.
        comparison: bool,
    },
    /// `SubpassInput<T>` and `SubpassInputMS<T>` (SPIR-V only).
    SubpassInput {
        /// Whether texels have several samples.
        multisampled: bool,
        /// Type of one component.
        texel: Scalar,
    },
    /// `RaytracingAccelerationStructure` (ray queries).
    AccelerationStructure,
}

/// The shape of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// No value.
    Void,
    /// One number or truth value.
    Scalar(Scalar),
    /// Two to four scalars.
    Vector {
        /// Component type.
        elem: Scalar,
        /// Components, 2 to 4.
        len: u8,
    },
    /// `rows` rows of `cols` components, each count 2 to 4, of floating-point numbers. Index `i` is row `i`. Other HLSL
    /// matrices are lowered to arrays of rows, or to a vector when one count is 1.
    Matrix {
        /// Component type, a float.
        elem: Scalar,
        /// Rows.
        rows: u8,
        /// Columns.
        cols: u8,
    },
    /// `len` elements; `len` is at least 1.
    Array {
        /// Element type.
        elem: Type,
        /// Number of elements.
        len: u32,
    },
    /// An array of resources without a stated size.
    RuntimeArray {
        /// Element type, a resource.
        elem: Type,
    },
    /// A nominal structure.
    Struct(StructId),
    /// The address of memory that holds `pointee`. Never stored, never chosen by a phi or a select.
    Pointer {
        /// Where it points.
        space: AddressSpace,
        /// What it points to.
        pointee: Type,
    },
    /// A handle.
    Resource(ResourceType),
    /// The state of a ray query. It lives in variables alone: never a value, and never copied.
    RayQuery,
    /// A type of SPIR-V that the program names ([`InlineSpirv`](crate::InlineSpirv) with the opcode of a type).
    Spirv(crate::Inline),
}

impl TypeKind {
    /// Whether it is a scalar, a vector or a matrix.
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Scalar(_) | Self::Vector { .. } | Self::Matrix { .. })
    }
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// HLSL name.
    pub name: Name,
    /// Type.
    pub ty: Type,
    /// Order in memory of a matrix, or of the matrices of an array.
    pub order: MatrixOrder,
    /// Bytes from the start of the block, when `packoffset` or `[[vk::offset]]` states them.
    pub offset: Option<u32>,
    /// Place of its declaration.
    pub span: Span,
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructType {
    /// HLSL name.
    pub name: Name,
    /// Members in order of declaration; members of a base class come first, as one member of the base's type.
    pub members: Vec<Member>,
}

/// The types of a module.
#[derive(Clone, Debug, Default)]
pub struct Types {
    kinds: PrimaryMap<Type, TypeKind>,
    index: FxHashMap<TypeKind, Type>,
    /// `void`, once it has been asked for: every new instruction asks.
    void: PackedOption<Type>,
    /// Structures; each is also the type [`TypeKind::Struct`].
    pub structs: PrimaryMap<StructId, StructType>,
}

impl Types {
    /// The handle of `kind`.
    pub fn intern(&mut self, kind: TypeKind) -> Type {
        if let Some(&ty) = self.index.get(&kind) {
            return ty;
        }
        let ty = self.kinds.push(kind);
        self.index.insert(kind, ty);
        ty
    }

    /// The shape of `ty`.
    pub fn kind(&self, ty: Type) -> TypeKind {
        self.kinds[ty]
    }

    /// Number of types.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// All types, each after those it is made of.
    pub fn iter(&self) -> impl Iterator<Item = (Type, &TypeKind)> {
        self.kinds.iter()
    }

    /// Adds a structure and gives its type.
    pub fn add_struct(&mut self, data: StructType) -> Type {
        let id = self.structs.push(data);
        self.intern(TypeKind::Struct(id))
    }

    /// Renumbers structures so that each stands after those in its members: a front end may add members to a structure
    /// after it added others. Types keep their handles.
    pub fn sort_structs(&mut self) {
        let mut order: Vec<StructId> = Vec::with_capacity(self.structs.len());
        let mut placed = cranelift_entity::EntitySet::with_capacity(self.structs.len());
        let mut stack: Vec<(StructId, bool)> = self.structs.keys().rev().map(|id| (id, false)).collect();
        while let Some((id, children_done)) = stack.pop() {
            if children_done {
                order.push(id);
            } else if placed.insert(id) {
                stack.push((id, true));
                let inner = self.structs[id].members.iter().rev().filter_map(|m| self.struct_inside(m.ty));
                stack.extend(inner.filter(|&i| !placed.contains(i)).map(|i| (i, false)));
            }
        }
        let mut renumbered = cranelift_entity::SecondaryMap::new();
        order.iter().enumerate().for_each(|(at, &old)| renumbered[old] = Some(StructId::from_u32(at as u32)));
        self.structs = order.iter().map(|&id| self.structs[id].clone()).collect();
        for kind in self.kinds.values_mut() {
            if let TypeKind::Struct(id) = kind {
                *id = renumbered[*id].unwrap_or(*id);
            }
        }
        let structs = self.kinds.iter().filter(|(_, kind)| matches!(kind, TypeKind::Struct(_)));
        self.index.extend(structs.map(|(ty, kind)| (*kind, ty)));
    }

    /// The structure that a type is an array of, or is.
    fn struct_inside(&self, mut ty: Type) -> Option<StructId> {
        loop {
            match self.kinds[ty] {
                TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => ty = elem,
                TypeKind::Struct(id) => return Some(id),
                _ => return None,
            }
        }
    }

    /// `void`.
    pub fn void(&mut self) -> Type {
        if let Some(void) = self.void.expand() {
            return void;
        }
        let void = self.intern(TypeKind::Void);
        self.void = void.into();
        void
    }

    /// A scalar type.
    pub fn scalar(&mut self, scalar: Scalar) -> Type {
        self.intern(TypeKind::Scalar(scalar))
    }

    /// `bool`.
    pub fn bool(&mut self) -> Type {
        self.scalar(Scalar::Bool)
    }

    /// A vector type; the scalar itself when `len` is 1.
    pub fn vector(&mut self, elem: Scalar, len: u8) -> Type {
        match len {
            1 => self.scalar(elem),
            _ => self.intern(TypeKind::Vector { elem, len }),
        }
    }

    /// A matrix type.
    pub fn matrix(&mut self, elem: Scalar, rows: u8, cols: u8) -> Type {
        self.intern(TypeKind::Matrix { elem, rows, cols })
    }

    /// An array type.
    pub fn array(&mut self, elem: Type, len: u32) -> Type {
        self.intern(TypeKind::Array { elem, len })
    }

    /// A pointer type.
    pub fn pointer(&mut self, space: AddressSpace, pointee: Type) -> Type {
        self.intern(TypeKind::Pointer { space, pointee })
    }

    /// The scalar of a scalar, vector or matrix type.
    pub fn scalar_of(&self, ty: Type) -> Option<Scalar> {
        match self.kind(ty) {
            TypeKind::Scalar(s) => Some(s),
            TypeKind::Vector { elem, .. } | TypeKind::Matrix { elem, .. } => Some(elem),
            _ => None,
        }
    }

    /// Components of a scalar (1) or vector type; 0 for any other.
    pub fn lanes(&self, ty: Type) -> u8 {
        match self.kind(ty) {
            TypeKind::Scalar(_) => 1,
            TypeKind::Vector { len, .. } => len,
            _ => 0,
        }
    }

    /// `ty` with its scalar replaced; `ty` must be a scalar, vector or matrix.
    pub fn with_scalar(&mut self, ty: Type, scalar: Scalar) -> Type {
        match self.kind(ty) {
            TypeKind::Vector { len, .. } => self.vector(scalar, len),
            TypeKind::Matrix { rows, cols, .. } => self.matrix(scalar, rows, cols),
            _ => self.scalar(scalar),
        }
    }

    /// Where a pointer type points and to what.
    pub fn pointee(&self, ty: Type) -> Option<(AddressSpace, Type)> {
        match self.kind(ty) {
            TypeKind::Pointer { space, pointee } => Some((space, pointee)),
            _ => None,
        }
    }

    /// What a pointer points to; another type itself.
    pub fn behind(&self, ty: Type) -> Type {
        self.pointee(ty).map_or(ty, |(_, pointee)| pointee)
    }

    /// Whether such a type is `ty` or inside it: an element or a member. Types of hostile input multiply; of one that is
    /// too large to look at nothing is known.
    pub fn holds(&self, ty: Type, is_such: impl Fn(TypeKind) -> bool) -> Option<bool> {
        let mut stack = vec![ty];
        for _ in 0..10_000 {
            let Some(ty) = stack.pop() else { return Some(false) };
            match self.kind(ty) {
                kind if is_such(kind) => return Some(true),
                TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => stack.push(elem),
                TypeKind::Struct(id) => stack.extend(self.structs[id].members.iter().map(|m| m.ty)),
                _ => {}
            }
        }
        None
    }

    /// Whether a ray query is the type or inside it; one that is too large to look at is taken to hold one.
    pub fn holds_ray_query(&self, ty: Type) -> bool {
        self.holds(ty, |kind| kind == TypeKind::RayQuery).unwrap_or(true)
    }

    /// The type of part `index` of a composite: a row, an element, a member or a component.
    pub fn part(&mut self, ty: Type, index: u32) -> Option<Type> {
        match self.kind(ty) {
            TypeKind::Vector { elem, len } => (index < u32::from(len)).then(|| self.scalar(elem)),
            TypeKind::Matrix { elem, rows, cols } => (index < u32::from(rows)).then(|| self.vector(elem, cols)),
            TypeKind::Array { elem, len } => (index < len).then_some(elem),
            TypeKind::RuntimeArray { elem } => Some(elem),
            TypeKind::Struct(id) => self.structs[id].members.get(index as usize).map(|m| m.ty),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_sorted_by_need() {
        let mut types = Types::default();
        let name = Name::from_u32(0);
        let member = |ty| Member { name, ty, order: MatrixOrder::default(), offset: None, span: Span::NONE };
        let outer = types.add_struct(StructType { name, members: Vec::new() });
        let float = types.scalar(Scalar::F32);
        let inner = types.add_struct(StructType { name, members: vec![member(float)] });
        let array = types.array(inner, 4);
        let TypeKind::Struct(outer_id) = types.kind(outer) else { panic!("a structure") };
        types.structs[outer_id].members.push(member(array));

        types.sort_structs();
        let (TypeKind::Struct(outer_id), TypeKind::Struct(inner_id)) = (types.kind(outer), types.kind(inner)) else {
            panic!("structures")
        };
        assert!(inner_id < outer_id);
        assert_eq!(types.structs[outer_id].members[0].ty, array);
        assert_eq!(types.structs[inner_id].members[0].ty, float);
        assert_eq!(types.intern(TypeKind::Struct(inner_id)), inner);
    }
}
