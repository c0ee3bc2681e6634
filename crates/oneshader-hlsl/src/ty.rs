//! Semantic types: interned, compared by handle.
//!
//! A [`Ty`] is what the language calls a type. Qualifiers that are no part of it (`const`, storage) live with the
//! declaration. The order of a matrix in memory is kept in the type, so that typedefs and template arguments carry it,
//! but it does not make two types different: [`Tys::same`] ignores it.
//!
//! How a type looks in the IR, which depends on whether its memory has a layout that others see, is `irty.rs`.

use oneshader_diag::Span;
use oneshader_ir::MatrixOrder;
use rustc_hash::FxHashMap;

use crate::ast;
use crate::builtin::ObjectKind;
use crate::name::{Interner, Name};

/// The element of a numeric type. The order of the variants means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Elem {
    /// `bool`.
    Bool,
    /// The type of an integer literal without suffix. Values of it are always constants, 64 bits in the IR.
    LitInt,
    /// The type of a floating literal without suffix. Values of it are always constants, 64 bits in the IR.
    LitFloat,
    /// `min12int`: 32 bits, relaxed.
    Min12Int,
    /// `min16int`: 32 bits, relaxed.
    Min16Int,
    /// `min16uint`: 32 bits, relaxed.
    Min16Uint,
    /// `min10float`: 32 bits, relaxed.
    Min10Float,
    /// `min16float`: 32 bits, relaxed.
    Min16Float,
    /// `half` without 16-bit types: a `float`, of another type for overloads.
    Half,
    /// `int16_t`.
    Int16,
    /// `uint16_t`.
    Uint16,
    /// `float16_t`, and `half` with 16-bit types.
    Float16,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `float`.
    Float,
    /// `int64_t`.
    Int64,
    /// `uint64_t`.
    Uint64,
    /// `double`.
    Double,
    /// `int8_t4_packed`: a `uint` of another type.
    PackedInt8,
    /// `uint8_t4_packed`: a `uint` of another type.
    PackedUint8,
}

impl Elem {
    /// Floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Elem::LitFloat
                | Elem::Min10Float
                | Elem::Min16Float
                | Elem::Half
                | Elem::Float16
                | Elem::Float
                | Elem::Double
        )
    }

    /// Integer types, `bool` left out.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Elem::Bool)
    }

    /// Unsigned integer types.
    pub const fn is_unsigned(self) -> bool {
        matches!(
            self,
            Elem::Min16Uint | Elem::Uint16 | Elem::Uint | Elem::Uint64 | Elem::PackedInt8 | Elem::PackedUint8
        )
    }

    /// The types of literals without suffix.
    pub const fn is_literal(self) -> bool {
        matches!(self, Elem::LitInt | Elem::LitFloat)
    }

    /// The min-precision types.
    pub const fn is_min_precision(self) -> bool {
        matches!(self, Elem::Min12Int | Elem::Min16Int | Elem::Min16Uint | Elem::Min10Float | Elem::Min16Float)
    }

    /// Bits of precision that are promised; 0 for `bool` and literals, as conversions rank them.
    pub const fn bits(self) -> u32 {
        match self {
            Elem::Bool | Elem::LitInt | Elem::LitFloat => 0,
            Elem::Min10Float => 10,
            Elem::Min12Int => 12,
            Elem::Min16Int | Elem::Min16Uint | Elem::Min16Float | Elem::Int16 | Elem::Uint16 | Elem::Float16 => 16,
            Elem::Half | Elem::Int | Elem::Uint | Elem::Float | Elem::PackedInt8 | Elem::PackedUint8 => 32,
            Elem::Int64 | Elem::Uint64 | Elem::Double => 64,
        }
    }

    /// Bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Elem::Int16 | Elem::Uint16 | Elem::Float16 => 2,
            Elem::Int64 | Elem::Uint64 | Elem::Double => 8,
            _ => 4,
        }
    }

    /// What a literal type becomes where nothing else decides: `int`, `float`. Others stay.
    pub const fn concrete(self) -> Elem {
        match self {
            Elem::LitInt => Elem::Int,
            Elem::LitFloat => Elem::Float,
            other => other,
        }
    }

    /// The IR's scalar.
    pub const fn ir(self) -> oneshader_ir::Scalar {
        use oneshader_ir::Scalar;
        match self {
            Elem::Bool => Scalar::Bool,
            Elem::LitInt | Elem::Int64 => Scalar::Int { bits: 64, signed: true },
            Elem::LitFloat | Elem::Double => Scalar::F64,
            Elem::Min12Int | Elem::Min16Int | Elem::Int => Scalar::I32,
            Elem::Min16Uint | Elem::Uint | Elem::PackedInt8 | Elem::PackedUint8 => Scalar::U32,
            Elem::Min10Float | Elem::Min16Float | Elem::Half | Elem::Float => Scalar::F32,
            Elem::Int16 => Scalar::Int { bits: 16, signed: true },
            Elem::Uint16 => Scalar::Int { bits: 16, signed: false },
            Elem::Float16 => Scalar::F16,
            Elem::Uint64 => Scalar::Int { bits: 64, signed: false },
        }
    }

    /// The spelling.
    pub const fn text(self) -> &'static str {
        match self {
            Elem::Bool => "bool",
            Elem::LitInt => "literal int",
            Elem::LitFloat => "literal float",
            Elem::Min12Int => "min12int",
            Elem::Min16Int => "min16int",
            Elem::Min16Uint => "min16uint",
            Elem::Min10Float => "min10float",
            Elem::Min16Float => "min16float",
            Elem::Half => "half",
            Elem::Int16 => "int16_t",
            Elem::Uint16 => "uint16_t",
            Elem::Float16 => "float16_t",
            Elem::Int => "int",
            Elem::Uint => "uint",
            Elem::Float => "float",
            Elem::Int64 => "int64_t",
            Elem::Uint64 => "uint64_t",
            Elem::Double => "double",
            Elem::PackedInt8 => "int8_t4_packed",
            Elem::PackedUint8 => "uint8_t4_packed",
        }
    }
}

/// A structure of [`Tys`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct StructRef(pub u32);

/// An enumeration of [`Tys`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct EnumRef(pub u32);

/// An interned type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Ty(u32);

macro_rules! fixed {
    ($($(#[$doc:meta])* $name:ident = $index:literal $kind:expr;)*) => {
        impl Ty {
            $($(#[$doc])* pub const $name: Ty = Ty($index);)*
        }
        const FIXED: &[TyKind] = &[$($kind),*];
    };
}

fixed! {
    /// Of something that was reported already.
    ERROR = 0 TyKind::Error;
    /// `void`.
    VOID = 1 TyKind::Void;
    /// `bool`.
    BOOL = 2 TyKind::Scalar(Elem::Bool);
    /// `int`.
    INT = 3 TyKind::Scalar(Elem::Int);
    /// `uint`.
    UINT = 4 TyKind::Scalar(Elem::Uint);
    /// `float`.
    FLOAT = 5 TyKind::Scalar(Elem::Float);
    /// An integer literal's.
    LIT_INT = 6 TyKind::Scalar(Elem::LitInt);
    /// A floating literal's.
    LIT_FLOAT = 7 TyKind::Scalar(Elem::LitFloat);
    /// `string`.
    STRING = 8 TyKind::String;
    /// `float4`.
    FLOAT4 = 9 TyKind::Vector(Elem::Float, 4);
    /// `ResourceDescriptorHeap[i]`.
    HEAP_RESOURCE = 10 TyKind::HeapEntry(Heap::Resources);
    /// `SamplerDescriptorHeap[i]`.
    HEAP_SAMPLER = 11 TyKind::HeapEntry(Heap::Samplers);
}

/// The shape of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TyKind {
    /// Of something that was reported already.
    Error,
    /// `void`.
    Void,
    /// `float`.
    Scalar(Elem),
    /// `float3`; `float1` is a vector, not a scalar.
    Vector(Elem, u8),
    /// Rows, columns and the order in memory.
    Matrix(Elem, u8, u8, MatrixOrder),
    /// `T[n]`, n at least 1.
    Array(Ty, u32),
    /// `T[]`.
    Unsized(Ty),
    /// `struct`, `class` or an instance of a template of one.
    Struct(StructRef),
    /// `enum`.
    Enum(EnumRef),
    /// An object type with its first template argument ([`Ty::VOID`] where it takes none).
    Object(ObjectKind, Ty),
    /// `vk::BufferPointer<T, align>`: an address of a `T`; the alignment is 0 when none is stated.
    BufferPointer(Ty, u32),
    /// A type of SPIR-V, or an operand of one: an entry of [`Tys::spirv`].
    Spirv(u32),
    /// `string`.
    String,
    /// `RayQuery<flags>`.
    RayQuery(u32),
    /// An entry of a descriptor heap, which becomes the object it is assigned to; its value is the index.
    HeapEntry(Heap),
}

/// A descriptor heap of shader model 6.6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Heap {
    /// `ResourceDescriptorHeap`.
    Resources,
    /// `SamplerDescriptorHeap`.
    Samplers,
}

impl Heap {
    /// The heap of a name.
    pub fn find(name: &str) -> Option<Heap> {
        [Heap::Resources, Heap::Samplers].into_iter().find(|heap| heap.text() == name)
    }

    /// Its name.
    pub const fn text(self) -> &'static str {
        match self {
            Heap::Resources => "ResourceDescriptorHeap",
            Heap::Samplers => "SamplerDescriptorHeap",
        }
    }

    /// The type of an entry.
    pub const fn entry(self) -> Ty {
        match self {
            Heap::Resources => Ty::HEAP_RESOURCE,
            Heap::Samplers => Ty::HEAP_SAMPLER,
        }
    }
}

/// Rows and columns of a numeric type, and which of the three forms it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// One number.
    Scalar,
    /// That many components, 1 to 4.
    Vector(u8),
    /// Rows and columns, 1 to 4 each.
    Matrix(u8, u8),
}

impl Shape {
    /// How many components.
    pub const fn count(self) -> u32 {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n as u32,
            Shape::Matrix(r, c) => r as u32 * c as u32,
        }
    }
}

/// A field of a structure.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name; `None` for padding bit-fields.
    pub name: Option<Name>,
    /// Type.
    pub ty: Ty,
    /// Bits of a bit-field: first bit in the member and width.
    pub bits: Option<(u8, u8)>,
    /// Member index in the IR structure; bit-fields share one.
    pub slot: u32,
    /// Semantics and modifiers as written, for signatures and layout.
    pub var: Option<ast::VarId>,
    /// Its declaration, for attributes.
    pub decl: Option<ast::DeclId>,
    /// `const` or `static const` members are handled elsewhere; this is `[[vk::offset(n)]]` or `packoffset` in bytes.
    pub offset: Option<u32>,
    /// Place of its name.
    pub span: Span,
}

/// A structure.
#[derive(Clone, Debug)]
pub struct StructDef {
    /// Name, arguments of a template instance included when it is shown.
    pub name: Name,
    /// As shown, if that differs from `name`.
    pub shown: Option<String>,
    /// The base class, which comes first in memory.
    pub base: Option<Ty>,
    /// Further bases: interfaces, without data.
    pub interfaces: Vec<Ty>,
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Members by name (methods, static variables, nested types): a scope of the context.
    pub scope: u32,
    /// Whether its body has been seen.
    pub complete: bool,
    /// Whether it is an `interface`.
    pub is_interface: bool,
    /// Whether a resource is somewhere inside.
    pub has_objects: bool,
    /// Whether a ray query is somewhere inside.
    pub has_queries: bool,
    /// Whether a type of SPIR-V is somewhere inside.
    pub has_spirv: bool,
    /// How deep structures and arrays nest inside.
    pub depth: u32,
    /// Place of its name.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumDef {
    /// Name.
    pub name: Option<Name>,
    /// `enum class`.
    pub scoped: bool,
    /// The integer it is.
    pub elem: Elem,
    /// The enumerators of a scoped one: a scope of the context.
    pub scope: u32,
}

/// Owns the types.
#[derive(Debug, Default)]
pub struct Tys {
    kinds: Vec<TyKind>,
    index: FxHashMap<TyKind, Ty>,
    /// The same type with its matrices column-major.
    plain: Vec<Ty>,
    /// Structures.
    pub structs: Vec<StructDef>,
    /// Enumerations.
    pub enums: Vec<EnumDef>,
    /// Types of SPIR-V and operands of such types, each once.
    pub spirv: Vec<SpirvDef>,
}

/// A type of SPIR-V that the program names, or an operand of one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SpirvDef {
    /// `vk::SpirvOpaqueType<opcode, operands...>` and `vk::SpirvType`: opcode, operands, each a type or an operand.
    Type(u32, Vec<Ty>),
    /// `vk::integral_constant<T, n>`: the constant and its type.
    Constant(oneshader_ir::Const, Ty),
    /// `vk::Literal<vk::integral_constant<T, n>>`: the constant and its words.
    Literal(Ty, Vec<u32>),
}

impl Tys {
    /// The type of an entry of [`Tys::spirv`].
    pub fn spirv_type(&mut self, def: SpirvDef) -> Ty {
        let at = self.spirv.iter().position(|d| *d == def).unwrap_or_else(|| {
            self.spirv.push(def);
            self.spirv.len() - 1
        });
        self.intern(TyKind::Spirv(at as u32))
    }

    /// With the types that have constants.
    pub fn new() -> Self {
        let mut tys = Tys::default();
        for kind in FIXED {
            tys.intern(*kind);
        }
        tys
    }

    /// The handle of a type.
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(ty) = self.index.get(&kind) {
            return *ty;
        }
        let plain = match kind {
            TyKind::Matrix(e, r, c, MatrixOrder::RowMajor) => {
                Some(self.intern(TyKind::Matrix(e, r, c, MatrixOrder::ColumnMajor)))
            }
            TyKind::Array(of, n) if self.plain(of) != of => Some(self.intern(TyKind::Array(self.plain(of), n))),
            TyKind::Unsized(of) if self.plain(of) != of => Some(self.intern(TyKind::Unsized(self.plain(of)))),
            _ => None,
        };
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.plain.push(plain.unwrap_or(ty));
        self.index.insert(kind, ty);
        ty
    }

    /// The shape of a type.
    pub fn kind(&self, ty: Ty) -> TyKind {
        self.kinds[ty.0 as usize]
    }

    /// The type without orders of matrices.
    pub fn plain(&self, ty: Ty) -> Ty {
        self.plain[ty.0 as usize]
    }

    /// Whether two types are the same one, whatever the order of matrices.
    pub fn same(&self, a: Ty, b: Ty) -> bool {
        self.plain(a) == self.plain(b)
    }

    /// A scalar type.
    pub fn scalar(&mut self, elem: Elem) -> Ty {
        self.intern(TyKind::Scalar(elem))
    }

    /// A vector type; `float1` when `n` is 1.
    pub fn vector(&mut self, elem: Elem, n: u8) -> Ty {
        self.intern(TyKind::Vector(elem, n))
    }

    /// A matrix type, column-major.
    pub fn matrix(&mut self, elem: Elem, rows: u8, cols: u8) -> Ty {
        self.intern(TyKind::Matrix(elem, rows, cols, MatrixOrder::ColumnMajor))
    }

    /// An array type.
    pub fn array(&mut self, of: Ty, len: u32) -> Ty {
        self.intern(TyKind::Array(of, len))
    }

    /// A numeric type of a shape.
    pub fn numeric(&mut self, elem: Elem, shape: Shape) -> Ty {
        match shape {
            Shape::Scalar => self.scalar(elem),
            Shape::Vector(n) => self.vector(elem, n),
            Shape::Matrix(r, c) => self.matrix(elem, r, c),
        }
    }

    /// Element and shape of a numeric type; an enumeration counts as the integer it is.
    pub fn as_numeric(&self, ty: Ty) -> Option<(Elem, Shape)> {
        match self.kind(ty) {
            TyKind::Scalar(e) => Some((e, Shape::Scalar)),
            TyKind::Vector(e, n) => Some((e, Shape::Vector(n))),
            TyKind::Matrix(e, r, c, _) => Some((e, Shape::Matrix(r, c))),
            TyKind::Enum(e) => Some((self.enums[e.0 as usize].elem, Shape::Scalar)),
            _ => None,
        }
    }

    /// The element of a numeric type.
    pub fn elem(&self, ty: Ty) -> Option<Elem> {
        self.as_numeric(ty).map(|(e, _)| e)
    }

    /// The shape of a numeric type.
    pub fn shape(&self, ty: Ty) -> Option<Shape> {
        self.as_numeric(ty).map(|(_, s)| s)
    }

    /// The numeric type with another element.
    pub fn with_elem(&mut self, ty: Ty, elem: Elem) -> Ty {
        match self.kind(ty) {
            TyKind::Matrix(_, r, c, order) => self.intern(TyKind::Matrix(elem, r, c, order)),
            _ => match self.shape(ty) {
                Some(shape) => self.numeric(elem, shape),
                None => ty,
            },
        }
    }

    /// The structure a type is.
    pub fn as_struct(&self, ty: Ty) -> Option<StructRef> {
        match self.kind(ty) {
            TyKind::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// A structure.
    pub fn def(&self, s: StructRef) -> &StructDef {
        &self.structs[s.0 as usize]
    }

    /// The object type a type is, with its argument.
    pub fn as_object(&self, ty: Ty) -> Option<(ObjectKind, Ty)> {
        match self.kind(ty) {
            TyKind::Object(kind, arg) => Some((kind, arg)),
            _ => None,
        }
    }

    /// What an array type is made of, down to what is no array.
    pub fn innermost(&self, mut ty: Ty) -> Ty {
        while let TyKind::Array(of, _) | TyKind::Unsized(of) = self.kind(ty) {
            ty = of;
        }
        ty
    }

    /// Whether an object is the type or inside it.
    pub fn has_objects(&self, ty: Ty) -> bool {
        match self.kind(self.innermost(ty)) {
            TyKind::Object(..) => true,
            TyKind::Struct(s) => self.def(s).has_objects,
            _ => false,
        }
    }

    /// Whether a type of SPIR-V is somewhere inside: such values have no bytes.
    pub fn has_spirv(&self, ty: Ty) -> bool {
        match self.kind(self.innermost(ty)) {
            TyKind::Spirv(_) => true,
            TyKind::Struct(s) => self.def(s).has_spirv,
            _ => false,
        }
    }

    /// Whether nothing but numbers is inside (structures, arrays and enumerations count by what they hold).
    pub fn is_numeric_aggregate(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Scalar(_) | TyKind::Vector(..) | TyKind::Matrix(..) | TyKind::Enum(_) => true,
            TyKind::Array(of, _) => self.is_numeric_aggregate(of),
            TyKind::Struct(s) => {
                let def = self.def(s);
                def.complete
                    && def.base.is_none_or(|b| self.is_numeric_aggregate(b))
                    && def.fields.iter().all(|f| self.is_numeric_aggregate(f.ty))
            }
            _ => false,
        }
    }

    /// Whether `derived` is `base` or inherits from it.
    pub fn derives_from(&self, derived: Ty, base: Ty) -> bool {
        let mut stack = vec![derived];
        while let Some(ty) = stack.pop() {
            if ty == base {
                return true;
            }
            if let TyKind::Struct(s) = self.kind(ty) {
                let def = self.def(s);
                stack.extend(def.base);
                stack.extend(def.interfaces.iter().copied());
            }
        }
        false
    }

    /// The type as a person writes it.
    pub fn show(&self, names: &Interner, ty: Ty) -> String {
        match self.kind(ty) {
            TyKind::Error => "<error>".into(),
            TyKind::Void => "void".into(),
            TyKind::String => "string".into(),
            TyKind::RayQuery(flags) => format!("RayQuery<{flags}>"),
            TyKind::HeapEntry(heap) => format!("entry of {}", heap.text()),
            TyKind::Scalar(e) => e.text().into(),
            TyKind::Vector(e, n) if e.is_literal() => format!("vector<{}, {n}>", e.text()),
            TyKind::Vector(e, n) => format!("{}{n}", e.text()),
            TyKind::Matrix(e, r, c, _) if e.is_literal() => format!("matrix<{}, {r}, {c}>", e.text()),
            TyKind::Matrix(e, r, c, _) => format!("{}{r}x{c}", e.text()),
            TyKind::Array(mut of, n) => {
                let mut brackets = format!("[{n}]");
                while let TyKind::Array(inner, n) = self.kind(of) {
                    brackets.push_str(&format!("[{n}]"));
                    of = inner;
                }
                self.show(names, of) + &brackets
            }
            TyKind::Unsized(of) => self.show(names, of) + "[]",
            TyKind::Struct(s) => {
                let def = self.def(s);
                def.shown.clone().unwrap_or_else(|| match names.text(def.name) {
                    "" => "<anonymous struct>".into(),
                    text => text.into(),
                })
            }
            TyKind::Enum(e) => self.enums[e.0 as usize].name.map_or("<anonymous enum>", |n| names.text(n)).into(),
            TyKind::Spirv(at) => match &self.spirv[at as usize] {
                SpirvDef::Type(opcode, _) => format!("vk::SpirvOpaqueType<{opcode}, ...>"),
                SpirvDef::Constant(..) => "vk::integral_constant".into(),
                SpirvDef::Literal(..) => "vk::Literal".into(),
            },
            TyKind::BufferPointer(of, 0) => format!("vk::BufferPointer<{}>", self.show(names, of)),
            TyKind::BufferPointer(of, align) => format!("vk::BufferPointer<{}, {align}>", self.show(names, of)),
            TyKind::Object(kind, Ty::VOID) => kind.text().into(),
            TyKind::Object(kind, arg) => format!("{}<{}>", kind.text(), self.show(names, arg)),
        }
    }
}
