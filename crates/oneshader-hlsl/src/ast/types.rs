//! Types, paths and template arguments as written.

use oneshader_diag::Span;

use super::*;
use crate::builtin::{NumericType, ObjectKind};
use crate::name::Name;

/// A type as written.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// The modifiers that belong to the type ([`Mods::TYPE`]).
    pub mods: Mods,
    /// Where.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Copy, Debug)]
pub enum TypeKind {
    /// Reported already.
    Error,
    /// `float`, `int3`, `half4x4`, `void`, `unsigned int`.
    Numeric(NumericType),
    /// `Texture2D<float4>`, `vector<float, N>`.
    Object {
        /// Which.
        kind: ObjectKind,
        /// Its arguments; empty where none are written (`Texture2D`, `vector`).
        args: Slice<TemplateArg>,
    },
    /// A name the source declares (or fails to).
    Path(PathId),
    /// `element[size]`; `size` is `None` for `[]`. Its modifiers repeat the element's. `float a[2][3]` is an array of 2 arrays of 3.
    Array {
        /// Of what.
        element: TypeId,
        /// How many.
        size: Option<ExprId>,
    },
    /// `struct S { ... } x`: a definition inside a declaration. The declaration also precedes in the list it is in,
    /// unless it has no name.
    Struct(DeclId),
    /// `enum E { ... } x`: as for `Struct`.
    Enum(DeclId),
    /// `decltype(expression)`.
    Decltype(ExprId),
    /// `auto` as the type of a variable that has an initializer (HLSL 202x).
    Auto,
}

/// `a::b<int>::c`.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Whether it begins with `::`.
    pub global: bool,
    /// At least one.
    pub segments: Slice<Segment>,
    /// Where.
    pub span: Span,
}

/// One name of a [`Path`].
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The name.
    pub name: Name,
    /// Its template arguments; `Some` of an empty slice for `f<>`.
    pub args: Option<Slice<TemplateArg>>,
    /// Where the name is.
    pub span: Span,
}

/// A template argument.
#[derive(Clone, Copy, Debug)]
pub struct TemplateArg {
    /// What it is.
    pub kind: TemplateArgKind,
    /// Where.
    pub span: Span,
}

/// The kinds of template arguments.
#[derive(Clone, Copy, Debug)]
pub enum TemplateArgKind {
    /// A type.
    Type(TypeId),
    /// A value.
    Expr(ExprId),
}

bitflags::bitflags! {
    /// Modifiers as written.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Mods: u64 {
        /// `static`
        const STATIC = 1;
        /// `extern`
        const EXTERN = 1 << 1;
        /// `const`
        const CONST = 1 << 2;
        /// `volatile`
        const VOLATILE = 1 << 3;
        /// `uniform`
        const UNIFORM = 1 << 4;
        /// `inline`
        const INLINE = 1 << 5;
        /// `groupshared`
        const GROUPSHARED = 1 << 6;
        /// `shared`
        const SHARED = 1 << 7;
        /// `in` or `inout`
        const IN = 1 << 8;
        /// `out` or `inout`
        const OUT = 1 << 9;
        /// `row_major`
        const ROW_MAJOR = 1 << 10;
        /// `column_major`
        const COLUMN_MAJOR = 1 << 11;
        /// `nointerpolation`
        const NOINTERPOLATION = 1 << 12;
        /// `linear`
        const LINEAR = 1 << 13;
        /// `centroid`
        const CENTROID = 1 << 14;
        /// `noperspective`
        const NOPERSPECTIVE = 1 << 15;
        /// `sample`
        const SAMPLE = 1 << 16;
        /// `center`
        const CENTER = 1 << 17;
        /// `snorm`
        const SNORM = 1 << 18;
        /// `unorm`
        const UNORM = 1 << 19;
        /// `precise`
        const PRECISE = 1 << 20;
        /// `globallycoherent`
        const GLOBALLYCOHERENT = 1 << 21;
        /// `reordercoherent`
        const REORDERCOHERENT = 1 << 22;
        /// `export`
        const EXPORT = 1 << 23;
        /// `point`
        const POINT = 1 << 24;
        /// `line`
        const LINE = 1 << 25;
        /// `lineadj`
        const LINEADJ = 1 << 26;
        /// `triangle`
        const TRIANGLE = 1 << 27;
        /// `triangleadj`
        const TRIANGLEADJ = 1 << 28;
        /// `indices`
        const INDICES = 1 << 29;
        /// `vertices`
        const VERTICES = 1 << 30;
        /// `primitives`
        const PRIMITIVES = 1 << 31;
        /// `payload`
        const PAYLOAD = 1 << 32;
        /// `constexpr`
        const CONSTEXPR = 1 << 33;
        /// `#pragma pack_matrix(row_major)` is in force (on type nodes of matrices and on paths).
        const PACK_ROW_MAJOR = 1 << 40;
        /// `#pragma pack_matrix(column_major)` is in force (on type nodes of matrices and on paths).
        const PACK_COLUMN_MAJOR = 1 << 41;

        /// Those that belong to the type.
        const TYPE = Self::CONST.bits() | Self::VOLATILE.bits() | Self::ROW_MAJOR.bits() | Self::COLUMN_MAJOR.bits()
            | Self::SNORM.bits() | Self::UNORM.bits() | Self::PRECISE.bits() | Self::GLOBALLYCOHERENT.bits()
            | Self::REORDERCOHERENT.bits() | Self::PACK_ROW_MAJOR.bits() | Self::PACK_COLUMN_MAJOR.bits();
        /// Those that say how an input is interpolated.
        const INTERPOLATION = Self::NOINTERPOLATION.bits() | Self::LINEAR.bits() | Self::CENTROID.bits()
            | Self::NOPERSPECTIVE.bits() | Self::SAMPLE.bits() | Self::CENTER.bits();
    }
}
