//! Types. Scalars, vectors, matrices and pointers exist once; a structure or array exists once for each way its bytes
//! lie in memory.

use crate::cx::Cx;
use crate::memory::Mem;
use crate::module::MAX_OPERANDS;
use oneshader_diag::Span;
use oneshader_ir::layout::{Layout, LayoutKind, LayoutRule};
use oneshader_ir::{Access, MatrixOrder, Scalar, TextureDim, TextureType, Type, TypeKind};
use spirv::{Decoration, Dim, ImageFormat, Op, StorageClass};

impl Cx<'_> {
    pub fn void(&mut self) -> u32 {
        self.unique_type(Op::TypeVoid, &[])
    }

    pub fn scalar(&mut self, scalar: Scalar) -> u32 {
        match scalar {
            Scalar::Bool => self.unique_type(Op::TypeBool, &[]),
            Scalar::Int { bits, signed } => self.unique_type(Op::TypeInt, &[u32::from(bits), u32::from(signed)]),
            Scalar::Float { bits } => self.unique_type(Op::TypeFloat, &[u32::from(bits)]),
        }
    }

    /// A vector, or the scalar when `lanes` is 1.
    pub fn num(&mut self, scalar: Scalar, lanes: u8) -> u32 {
        let elem = self.scalar(scalar);
        if lanes <= 1 { elem } else { self.unique_type(Op::TypeVector, &[elem, u32::from(lanes)]) }
    }

    pub fn array(&mut self, elem: u32, len: u32, stride: Option<u32>) -> u32 {
        let len = self.u32(len);
        self.strided(Op::TypeArray, &[elem, len], stride)
    }

    pub fn runtime_array(&mut self, elem: u32, stride: Option<u32>) -> u32 {
        self.strided(Op::TypeRuntimeArray, &[elem], stride)
    }

    fn strided(&mut self, op: Op, operands: &[u32], stride: Option<u32>) -> u32 {
        let (id, new) = self.unique_by(op, stride.unwrap_or(u32::MAX), operands);
        if let Some(stride) = stride.filter(|_| new) {
            self.m.decorate(id, Decoration::ArrayStride, &[stride]);
        }
        id
    }

    pub fn pointer(&mut self, class: StorageClass, pointee: u32) -> u32 {
        self.unique_type(Op::TypePointer, &[class as u32, pointee])
    }

    /// The type of a value.
    pub fn ty(&mut self, ty: Type) -> u32 {
        self.mem_ty(ty, Mem::Plain)
    }

    /// The type of what lies in memory `mem`.
    pub fn mem_ty(&mut self, ty: Type, mem: Mem) -> u32 {
        match self.ir.types.kind(ty) {
            TypeKind::Void => self.void(),
            TypeKind::Scalar(s) => self.scalar(mem.scalar(s)),
            TypeKind::Vector { elem, len } => self.num(mem.scalar(elem), len),
            TypeKind::Matrix { elem, rows, cols } => {
                // A list of rows: SPIR-V's columns are HLSL's rows.
                let row = self.num(elem, cols);
                self.unique_type(Op::TypeMatrix, &[row, u32::from(rows)])
            }
            TypeKind::Array { elem, len } => {
                let part = self.mem_ty(elem, mem);
                let stride = match mem {
                    Mem::Laid { rule, order } => self.layout(ty, rule, order).and_then(|l| match l.kind {
                        LayoutKind::Array { stride, .. } => Some(stride),
                        _ => None,
                    }),
                    Mem::Plain | Mem::Io => None,
                };
                self.array(part, len, stride)
            }
            TypeKind::Struct(_) => self.struct_ty(ty, mem, false),
            TypeKind::RayQuery => self.ray_query_type(),
            TypeKind::Spirv(id) => self.inline_type(id),
            TypeKind::Pointer { .. } | TypeKind::RuntimeArray { .. } | TypeKind::Resource(_) => {
                self.internal(Span::NONE, "a value of an opaque type reached memory");
                self.void()
            }
        }
    }

    /// A structure; `block` when it is the block of a constant buffer or push constants.
    pub fn struct_ty(&mut self, ty: Type, mem: Mem, block: bool) -> u32 {
        // The order of matrices is stated member by member.
        let mem = match mem {
            Mem::Laid { rule, .. } => Mem::Laid { rule, order: MatrixOrder::ColumnMajor },
            mem => mem,
        };
        if let Some(&id) = self.structs.get(&(ty, mem, block)) {
            return id;
        }
        let TypeKind::Struct(sid) = self.ir.types.kind(ty) else { return self.mem_ty(ty, mem) };
        let ir = self.ir;
        let data = &ir.types.structs[sid];
        if data.members.len() > MAX_OPERANDS {
            self.unsupported(Span::NONE, "the structure has too many members for one instruction");
            return self.void();
        }
        let mut words = vec![0];
        for member in &data.members {
            let part = self.mem_ty(member.ty, mem.member(member.order));
            words.push(part);
        }
        let id = self.m.id();
        words[0] = id;
        self.m.globals.inst(Op::TypeStruct, &words);
        self.structs.insert((ty, mem, block), id);
        let name = ir.names.get(data.name);
        if block {
            self.name(id, &format!("type.{name}"))
        } else {
            self.name(id, name)
        }
        for (i, member) in data.members.iter().enumerate() {
            self.member_name(id, i as u32, ir.names.get(member.name));
        }
        if let Mem::Laid { rule, .. } = mem {
            let offsets: Vec<u32> = match self.layout(ty, rule, MatrixOrder::ColumnMajor).map(|l| &l.kind) {
                Some(LayoutKind::Struct(members)) => members.iter().map(|m| m.offset).collect(),
                _ => Vec::new(),
            };
            for (i, (member, offset)) in data.members.iter().zip(offsets).enumerate() {
                self.m.decorate_member(id, i as u32, Decoration::Offset, &[offset]);
                self.matrix_decorations(id, i as u32, member.ty, Mem::Laid { rule, order: member.order });
            }
            if block {
                self.m.decorate(id, Decoration::Block, &[]);
            }
        }
        id
    }

    /// `MatrixStride` and the order of a member that is a matrix or an array of them. Since our matrices are lists of
    /// rows, HLSL's column-major is SPIR-V's `RowMajor`.
    pub fn matrix_decorations(&mut self, strukt: u32, member: u32, mut ty: Type, mem: Mem) {
        while let TypeKind::Array { elem, .. } = self.ir.types.kind(ty) {
            ty = elem;
        }
        if let (TypeKind::Matrix { .. }, Mem::Laid { rule, order }) = (self.ir.types.kind(ty), mem) {
            let stride = match self.layout(ty, rule, order).map(|l| &l.kind) {
                Some(&LayoutKind::Matrix { stride, .. }) => stride,
                _ => 0,
            };
            self.m.decorate_member(strukt, member, Decoration::MatrixStride, &[stride]);
            let decoration = match order {
                MatrixOrder::ColumnMajor => Decoration::RowMajor,
                MatrixOrder::RowMajor => Decoration::ColMajor,
            };
            self.m.decorate_member(strukt, member, decoration, &[]);
        }
    }

    /// Whether a `bool` is somewhere in `ty`.
    pub fn has_bool(&mut self, ty: Type) -> bool {
        if let Some(&known) = self.bools.get(&ty) {
            return known;
        }
        let ir = self.ir;
        let found = match ir.types.kind(ty) {
            TypeKind::Array { elem, .. } => self.has_bool(elem),
            TypeKind::Struct(id) => ir.types.structs[id].members.iter().any(|m| self.has_bool(m.ty)),
            _ => ir.types.scalar_of(ty) == Some(Scalar::Bool),
        };
        self.bools.insert(ty, found);
        found
    }

    /// The bytes of a type. Every type behind a resource has been laid out before; one that has not is reported.
    pub fn layout(&mut self, ty: Type, rule: LayoutRule, order: MatrixOrder) -> Option<&Layout> {
        let layouts = self.layouts;
        match layouts.find(&self.ir.types, ty, rule, order) {
            Some(id) => Some(layouts.get(id)),
            None => {
                self.internal(Span::NONE, "a type in a buffer has no layout");
                None
            }
        }
    }

    /// The type of an image. Depth is 2, no indication: one texture may serve comparisons and plain reads.
    pub fn image(&mut self, texture: TextureType, format: ImageFormat) -> u32 {
        let sampled = self.scalar(sampled_scalar(texture.texel));
        let dim = match texture.dim {
            TextureDim::D1 => Dim::Dim1D,
            TextureDim::D2 => Dim::Dim2D,
            TextureDim::D3 => Dim::Dim3D,
            TextureDim::Cube => Dim::DimCube,
            TextureDim::Buffer => Dim::DimBuffer,
        };
        let storage = if texture.access == Access::ReadWrite { 2 } else { 1 };
        self.unique_type(
            Op::TypeImage,
            &[
                sampled,
                dim as u32,
                2,
                u32::from(texture.arrayed),
                u32::from(texture.multisampled),
                storage,
                format as u32,
            ],
        )
    }

    /// The type of a function.
    pub fn function(&mut self, ret: u32, params: &[u32]) -> u32 {
        let mut words = vec![ret];
        words.extend_from_slice(params);
        self.unique_type(Op::TypeFunction, &words)
    }
}

/// The scalar type an image is declared with: Vulkan admits 32-bit numbers and 64-bit integers.
pub(crate) fn sampled_scalar(texel: Scalar) -> Scalar {
    match texel {
        Scalar::Bool => Scalar::U32,
        Scalar::Int { bits: 64, signed } => Scalar::Int { bits: 64, signed },
        Scalar::Int { signed, .. } => Scalar::Int { bits: 32, signed },
        Scalar::Float { .. } => Scalar::F32,
    }
}

/// The format DXC derives from the element type of a read-write texture; a host that creates the view with another one
/// says so with `[[vk::image_format]]`.
pub(crate) fn derived_format(texture: TextureType) -> ImageFormat {
    let formats = match sampled_scalar(texture.texel) {
        Scalar::Float { .. } => [ImageFormat::R32f, ImageFormat::Rg32f, ImageFormat::Rgba32f],
        Scalar::Int { bits: 64, signed: true } => [ImageFormat::R64i, ImageFormat::Unknown, ImageFormat::Unknown],
        Scalar::Int { bits: 64, signed: false } => [ImageFormat::R64ui, ImageFormat::Unknown, ImageFormat::Unknown],
        Scalar::Int { signed: true, .. } => [ImageFormat::R32i, ImageFormat::Rg32i, ImageFormat::Rgba32i],
        _ => [ImageFormat::R32ui, ImageFormat::Rg32ui, ImageFormat::Rgba32ui],
    };
    match texture.components {
        1 => formats[0],
        2 => formats[1],
        4 => formats[2],
        _ => ImageFormat::Unknown,
    }
}

/// The names of `[[vk::image_format("...")]]`.
pub(crate) static IMAGE_FORMATS: &[(&str, ImageFormat)] = &[
    ("unknown", ImageFormat::Unknown),
    ("rgba32f", ImageFormat::Rgba32f),
    ("rgba16f", ImageFormat::Rgba16f),
    ("r32f", ImageFormat::R32f),
    ("rgba8", ImageFormat::Rgba8),
    ("rgba8snorm", ImageFormat::Rgba8Snorm),
    ("rg32f", ImageFormat::Rg32f),
    ("rg16f", ImageFormat::Rg16f),
    ("r11g11b10f", ImageFormat::R11fG11fB10f),
    ("r16f", ImageFormat::R16f),
    ("rgba16", ImageFormat::Rgba16),
    ("rgb10a2", ImageFormat::Rgb10A2),
    ("rg16", ImageFormat::Rg16),
    ("rg8", ImageFormat::Rg8),
    ("r16", ImageFormat::R16),
    ("r8", ImageFormat::R8),
    ("rgba16snorm", ImageFormat::Rgba16Snorm),
    ("rg16snorm", ImageFormat::Rg16Snorm),
    ("rg8snorm", ImageFormat::Rg8Snorm),
    ("r16snorm", ImageFormat::R16Snorm),
    ("r8snorm", ImageFormat::R8Snorm),
    ("rgba32i", ImageFormat::Rgba32i),
    ("rgba16i", ImageFormat::Rgba16i),
    ("rgba8i", ImageFormat::Rgba8i),
    ("r32i", ImageFormat::R32i),
    ("rg32i", ImageFormat::Rg32i),
    ("rg16i", ImageFormat::Rg16i),
    ("rg8i", ImageFormat::Rg8i),
    ("r16i", ImageFormat::R16i),
    ("r8i", ImageFormat::R8i),
    ("rgba32ui", ImageFormat::Rgba32ui),
    ("rgba16ui", ImageFormat::Rgba16ui),
    ("rgba8ui", ImageFormat::Rgba8ui),
    ("r32ui", ImageFormat::R32ui),
    ("rgb10a2ui", ImageFormat::Rgb10a2ui),
    ("rg32ui", ImageFormat::Rg32ui),
    ("rg16ui", ImageFormat::Rg16ui),
    ("rg8ui", ImageFormat::Rg8ui),
    ("r16ui", ImageFormat::R16ui),
    ("r8ui", ImageFormat::R8ui),
    ("r64ui", ImageFormat::R64ui),
    ("r64i", ImageFormat::R64i),
];
