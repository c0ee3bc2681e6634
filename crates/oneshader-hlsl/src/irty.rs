//! How semantic types look in the IR.
//!
//! There are two forms. A *value* (and a local, private or threadgroup variable) has the form of [`Cx::ir`]. Memory
//! whose layout others see has the form of [`Cx::ir_mem`], which differs in three ways: integer and `bool` matrices that
//! are column-major are arrays of columns there, not of rows; matrices of one row or column may be arrays of scalars
//! (see [`Cx::is_spread`]); and the resources inside a structure are left out, since
//! they are variables of their own.

use oneshader_ir as ir;
use oneshader_ir::{
    Access, CounterKind, MatrixOrder, Member, ResourceType, StructType, TextureDim, TextureType, TypeKind,
};

use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::ty::{Elem, StructRef, Ty, TyKind};

impl Cx<'_> {
    /// The IR type of a value of a type.
    pub fn ir(&mut self, ty: Ty) -> ir::Type {
        self.ir_form(ty, false)
    }

    /// The IR type of memory with a layout that holds a type.
    pub fn ir_mem(&mut self, ty: Ty) -> ir::Type {
        self.ir_form(ty, true)
    }

    fn ir_form(&mut self, ty: Ty, layout: bool) -> ir::Type {
        if let Some(t) = self.ir_types.get(&(ty, layout)) {
            return *t;
        }
        let t = self.make_ir(ty, layout);
        self.ir_types.insert((ty, layout), t);
        t
    }

    /// Whether a matrix is an array of scalars in memory with a layout: its lines have one component, and Direct3D gives
    /// each line of a constant buffer a register of its own.
    pub(crate) fn is_spread(&self, ty: Ty) -> bool {
        self.opts.dx_layout
            && match self.tys.kind(ty) {
                TyKind::Matrix(_, r, 1, MatrixOrder::RowMajor) => r > 1,
                TyKind::Matrix(_, 1, c, MatrixOrder::ColumnMajor) => c > 1,
                _ => false,
            }
    }

    fn make_ir(&mut self, ty: Ty, layout: bool) -> ir::Type {
        match self.tys.kind(ty) {
            TyKind::Void => self.b.module.types.void(),
            TyKind::Error | TyKind::String | TyKind::HeapEntry(_) => self.b.module.types.scalar(ir::Scalar::U32),
            TyKind::RayQuery(_) => self.b.module.types.intern(TypeKind::RayQuery),
            TyKind::BufferPointer(..) => self.b.module.types.scalar(Elem::Uint64.ir()),
            // One type serves both forms.
            TyKind::Spirv(_) if layout => self.ir(ty),
            TyKind::Spirv(at) => self.spirv_ir(at),
            TyKind::Scalar(e) => self.b.module.types.scalar(e.ir()),
            TyKind::Vector(e, n) => self.b.module.types.vector(e.ir(), n),
            TyKind::Matrix(e, r, c, _) if layout && self.is_spread(ty) => {
                let scalar = self.b.module.types.scalar(e.ir());
                self.b.module.types.array(scalar, u32::from(r.max(c)))
            }
            TyKind::Matrix(e, r, c, _) if r == 1 || c == 1 => self.b.module.types.vector(e.ir(), r.max(c)),
            TyKind::Matrix(e, r, c, _) if e.is_float() => self.b.module.types.matrix(e.ir(), r, c),
            TyKind::Matrix(e, r, c, order) => {
                let columns = layout && order == MatrixOrder::ColumnMajor;
                let (lines, len) = if columns { (c, r) } else { (r, c) };
                let line = self.b.module.types.vector(e.ir(), len);
                self.b.module.types.array(line, u32::from(lines))
            }
            TyKind::Array(of, n) => {
                let of = self.ir_form(of, layout);
                self.b.module.types.array(of, n)
            }
            TyKind::Unsized(of) => {
                let elem = self.ir_form(of, layout);
                self.b.module.types.intern(TypeKind::RuntimeArray { elem })
            }
            TyKind::Struct(s) => self.make_struct(s, layout),
            TyKind::Enum(e) => {
                let elem = self.tys.enums[e.0 as usize].elem;
                self.b.module.types.scalar(elem.ir())
            }
            TyKind::Object(kind, arg) => {
                let resource = self.resource_type(kind, arg);
                let handle = self.b.module.types.intern(TypeKind::Resource(resource));
                if kind.is_sampled() { self.make_sampled(kind, handle) } else { handle }
            }
        }
    }

    /// A combined texture and sampler is a structure of both; the sampler serves comparisons too.
    fn make_sampled(&mut self, kind: ObjectKind, texture: ir::Type) -> ir::Type {
        let sampler = self.b.module.types.intern(TypeKind::Resource(COMBINED_SAMPLER));
        let order = MatrixOrder::ColumnMajor;
        let span = oneshader_diag::Span::NONE;
        let members = [("texture", texture), ("sampler", sampler)].map(|(name, ty)| Member {
            name: self.b.module.names.intern(name),
            ty,
            order,
            offset: None,
            span,
        });
        let name = self.b.module.names.intern(kind.text().trim_start_matches("vk::"));
        self.b.module.types.add_struct(StructType { name, members: members.into() })
    }

    fn make_struct(&mut self, s: StructRef, layout: bool) -> ir::Type {
        let def = self.tys.def(s).clone();
        let own = self.tys.intern(TyKind::Struct(s));
        if layout {
            // One structure serves both forms unless they differ somewhere.
            let value = self.ir(own);
            let parts: Vec<Ty> = def.base.into_iter().chain(def.fields.iter().map(|f| f.ty)).collect();
            if !def.has_objects && parts.iter().all(|p| self.ir(*p) == self.ir_mem(*p)) {
                return value;
            }
        }
        let mut members = Vec::new();
        if let Some(base) = def.base {
            let ty = self.ir_form(base, layout);
            let name = self.b.module.names.intern("base");
            members.push(Member { name, ty, order: MatrixOrder::ColumnMajor, offset: None, span: def.span });
        }
        let mut slots = usize::from(def.base.is_some()) as u32;
        for field in &def.fields {
            if field.slot < slots {
                continue;
            }
            slots += 1;
            let inner = self.tys.innermost(field.ty);
            if layout && matches!(self.tys.kind(inner), TyKind::Object(..)) {
                continue;
            }
            let ty = self.ir_form(field.ty, layout);
            let name = match field.name {
                Some(name) => self.ir_name(name),
                None => self.b.module.names.intern(""),
            };
            members.push(Member { name, ty, order: self.order_of(field.ty), offset: field.offset, span: field.span });
        }
        let name = self.ir_name(def.name);
        self.b.module.types.add_struct(StructType { name, members })
    }

    /// Member index of a field (by its slot in the value's form) in one of the two forms; `None` for a resource in
    /// memory with a layout.
    pub(crate) fn member_index(&self, s: StructRef, slot: u32, layout: bool) -> Option<u32> {
        let def = self.tys.def(s);
        if !layout || !def.has_objects {
            return Some(slot);
        }
        let is_object = |f: &crate::ty::Field| matches!(self.tys.kind(self.tys.innermost(f.ty)), TyKind::Object(..));
        let mut index = slot;
        let mut last = None;
        for field in &def.fields {
            if field.slot > slot || last == Some(field.slot) {
                continue;
            }
            last = Some(field.slot);
            if is_object(field) {
                if field.slot == slot {
                    return None;
                }
                index -= 1;
            }
        }
        Some(index)
    }

    /// Order in memory of the matrix that a type is or is an array of.
    pub(crate) fn order_of(&self, ty: Ty) -> MatrixOrder {
        match self.tys.kind(self.tys.innermost(ty)) {
            TyKind::Matrix(_, _, _, order) => order,
            _ => MatrixOrder::ColumnMajor,
        }
    }

    /// What a handle of an object type refers to.
    pub(crate) fn resource_type(&mut self, kind: ObjectKind, arg: Ty) -> ResourceType {
        use ObjectKind as O;
        let (read, write) = (Access::Read, Access::ReadWrite);
        match kind {
            O::ConstantBuffer => ResourceType::ConstantBuffer { block: self.ir_mem(arg) },
            O::TextureBuffer => ResourceType::TextureBuffer { block: self.ir_mem(arg) },
            O::StructuredBuffer => self.structured(arg, read, CounterKind::None),
            O::RwStructuredBuffer | O::RasterizerOrderedStructuredBuffer => {
                self.structured(arg, write, CounterKind::Counter)
            }
            O::AppendStructuredBuffer => self.structured(arg, write, CounterKind::Append),
            O::ConsumeStructuredBuffer => self.structured(arg, write, CounterKind::Consume),
            O::ByteAddressBuffer => ResourceType::ByteAddressBuffer { access: read },
            O::RwByteAddressBuffer | O::RasterizerOrderedByteAddressBuffer => {
                ResourceType::ByteAddressBuffer { access: write }
            }
            O::SamplerState | O::Sampler => ResourceType::Sampler { comparison: false },
            O::SamplerComparisonState => ResourceType::Sampler { comparison: true },
            O::SubpassInput | O::SubpassInputMs => {
                let texel = self.tys.elem(arg).unwrap_or(Elem::Float).ir();
                ResourceType::SubpassInput { multisampled: kind == O::SubpassInputMs, texel }
            }
            O::RaytracingAccelerationStructure => ResourceType::AccelerationStructure,
            _ => {
                let (dim, arrayed, multisampled, access) = texture_shape(kind);
                let (elem, shape) = self.tys.as_numeric(arg).unwrap_or((Elem::Float, crate::ty::Shape::Vector(4)));
                let texel = match elem {
                    Elem::Bool => ir::Scalar::U32,
                    other => other.concrete().ir(),
                };
                let components = shape.count().min(4) as u8;
                ResourceType::Texture(TextureType { dim, arrayed, multisampled, access, texel, components })
            }
        }
    }

    fn structured(&mut self, arg: Ty, access: Access, counter: CounterKind) -> ResourceType {
        ResourceType::StructuredBuffer { elem: self.ir_mem(arg), access, counter, order: self.order_of(arg) }
    }
}

/// The sampler in a combined texture and sampler.
pub(crate) const COMBINED_SAMPLER: ResourceType = ResourceType::Sampler { comparison: true };

/// Shape of a texture or typed buffer: dimension, layers, samples, access.
pub(crate) fn texture_shape(kind: ObjectKind) -> (TextureDim, bool, bool, Access) {
    use ObjectKind as O;
    let (read, write) = (Access::Read, Access::ReadWrite);
    match kind.sampled_texture().unwrap_or(kind) {
        O::Buffer => (TextureDim::Buffer, false, false, read),
        O::RwBuffer | O::RasterizerOrderedBuffer => (TextureDim::Buffer, false, false, write),
        O::Texture1D => (TextureDim::D1, false, false, read),
        O::Texture1DArray => (TextureDim::D1, true, false, read),
        O::Texture2DArray => (TextureDim::D2, true, false, read),
        O::Texture2DMs => (TextureDim::D2, false, true, read),
        O::Texture2DMsArray => (TextureDim::D2, true, true, read),
        O::Texture3D => (TextureDim::D3, false, false, read),
        O::TextureCube => (TextureDim::Cube, false, false, read),
        O::TextureCubeArray => (TextureDim::Cube, true, false, read),
        O::RwTexture1D | O::RasterizerOrderedTexture1D => (TextureDim::D1, false, false, write),
        O::RwTexture1DArray | O::RasterizerOrderedTexture1DArray => (TextureDim::D1, true, false, write),
        O::RwTexture2D | O::RasterizerOrderedTexture2D => (TextureDim::D2, false, false, write),
        O::RwTexture2DArray | O::RasterizerOrderedTexture2DArray => (TextureDim::D2, true, false, write),
        O::RwTexture2DMs => (TextureDim::D2, false, true, write),
        O::RwTexture2DMsArray => (TextureDim::D2, true, true, write),
        O::RwTexture3D | O::RasterizerOrderedTexture3D => (TextureDim::D3, false, false, write),
        // `Texture2D` and the untyped texture of the effects framework.
        _ => (TextureDim::D2, false, false, read),
    }
}

/// Whether operations of a kind of object write memory.
pub(crate) fn is_read_write(kind: ObjectKind) -> bool {
    use ObjectKind as O;
    match kind {
        O::RwStructuredBuffer
        | O::RasterizerOrderedStructuredBuffer
        | O::AppendStructuredBuffer
        | O::ConsumeStructuredBuffer
        | O::RwByteAddressBuffer
        | O::RasterizerOrderedByteAddressBuffer => true,
        _ => texture_shape(kind).3 == Access::ReadWrite,
    }
}
