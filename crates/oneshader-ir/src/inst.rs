//! Instructions.

use crate::entity::{Block, Func, Type, Value};
use crate::intrinsic::Intrinsic;
use bitflags::bitflags;
use oneshader_diag::Span;
use smallvec::SmallVec;

bitflags! {
    /// What else is true of an instruction.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct InstFlags: u8 {
        /// Computed exactly as written: no contraction, no reassociation.
        const PRECISE = 1;
        /// The result may differ between lanes where the target assumes it does not (`NonUniformResourceIndex`).
        const NONUNIFORM = 2;
        /// Sixteen bits of precision are enough (min-precision types).
        const RELAXED = 4;
    }
}

/// One operand, one result of the same type unless stated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Neg,
    /// Logical negation of `bool`s.
    Not,
    /// Bitwise complement of integers.
    BitNot,
}

/// Two operands of one type. Scalars, vectors and, for the first four, matrices; signedness is the type's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product, component by component; integers wrap.
    Mul,
    /// Quotient; integers truncate. An integer divided by 0 is all ones when unsigned and undefined when signed (D3D11.3
    /// functional specification 22.12).
    Div,
    /// Remainder with the sign of the dividend (`fmod` for floats).
    Rem,
    /// Shift left by the low 5 bits (4 or 6 for 16- and 64-bit types) of the right operand.
    Shl,
    /// Shift right, masked likewise; arithmetic when the type is signed.
    Shr,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
    /// Equal; floats ordered. Comparisons give `bool`s.
    Eq,
    /// Not equal; floats unordered, so NaN differs from itself.
    Ne,
    /// Less; floats ordered.
    Lt,
    /// Less or equal; floats ordered.
    Le,
    /// Greater; floats ordered.
    Gt,
    /// Greater or equal; floats ordered.
    Ge,
}

impl BinaryOp {
    /// Whether the result is of `bool`s whatever the operands.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }
}

/// An atomic operation on memory that gives the value before; signedness is the type's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// Sum.
    Add,
    /// Lesser value.
    Min,
    /// Greater value.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand itself.
    Exchange,
}

/// Components taken from a vector, 1 to 4, each 0 to 3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle {
    len: u8,
    comps: [u8; 4],
}

impl Swizzle {
    /// From 1 to 4 component indices, each 0 to 3.
    pub fn new(comps: &[u8]) -> Option<Self> {
        if comps.is_empty() || comps.len() > 4 || comps.iter().any(|&c| c > 3) {
            return None;
        }
        let mut all = [0; 4];
        all[..comps.len()].copy_from_slice(comps);
        Some(Self { len: comps.len() as u8, comps: all })
    }

    /// The component indices.
    pub fn comps(&self) -> &[u8] {
        &self.comps[..usize::from(self.len)]
    }
}

/// What a texture instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TextureOp {
    /// Filtered read through a sampler. Gives four components, or one number with [`TextureOperands::COMPARE`].
    Sample,
    /// The given component of the four texels that a bilinear read would use.
    Gather {
        /// Component, 0 to 3.
        component: u8,
    },
    /// Read of one texel by integer coordinate. Gives four components.
    Load,
    /// Write of one texel (four components) by integer coordinate.
    Store,
    /// Size in texels of a level, then the number of layers when arrayed: a `uint` or a vector of `uint`.
    Size,
    /// Number of mip levels, `uint`.
    Levels,
    /// Number of samples, `uint`.
    Samples,
    /// The level of detail that `Sample` would use, clamped to the levels there are, `float`.
    Lod,
    /// The same, unclamped.
    LodUnclamped,
}

bitflags! {
    /// The operands of a texture instruction. They stand in its arguments in the order of the bits; each is one value,
    /// but [`GRAD`](Self::GRAD) is two and [`OFFSETS`](Self::OFFSETS) four. The texture itself comes before all of them.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct TextureOperands: u16 {
        /// The sampler.
        const SAMPLER = 1;
        /// The coordinate: float for `Sample`, `Gather` and `Lod`, integer else; its last component is the array layer.
        const COORD = 1 << 1;
        /// Reference value of a comparison.
        const COMPARE = 1 << 2;
        /// Level-of-detail bias, `float`.
        const BIAS = 1 << 3;
        /// Level of detail, `float` for `Sample`, integer for `Load` and `Size`.
        const LEVEL = 1 << 4;
        /// Two gradients of the coordinate's size without layer.
        const GRAD = 1 << 5;
        /// Offset in texels, integers of the coordinate's size without layer.
        const OFFSET = 1 << 6;
        /// Four offsets, one for each texel of a gather.
        const OFFSETS = 1 << 7;
        /// Index of the sample, integer.
        const SAMPLE_INDEX = 1 << 8;
        /// Least level of detail, `float`.
        const MIN_LOD = 1 << 9;
        /// The texel to store, four components.
        const VALUE = 1 << 10;
        /// No value: the operation gives a structure of a `uint`, for [`Intrinsic::FullyMapped`], and what it gives else.
        const STATUS = 1 << 11;
    }
}

impl TextureOperands {
    /// Where operand `which` (one bit, which must be present) stands in the arguments, the texture being 0.
    pub fn position(self, which: Self) -> usize {
        let before = self.bits() & (which.bits() - 1);
        let before = Self::from_bits_truncate(before);
        let mut at = 1 + before.bits().count_ones() as usize;
        if before.contains(Self::GRAD) {
            at += 1;
        }
        if before.contains(Self::OFFSETS) {
            at += 3;
        }
        at
    }
}

/// What an instruction computes. Operands stand in [`InstData::args`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// `op a`.
    Unary(UnaryOp),
    /// `a op b`.
    Binary(BinaryOp),
    /// `cond, a, b`: `a` where `cond`, else `b`. `cond` is a `bool`, or as many as `a` has components.
    Select,
    /// Value-preserving conversion between scalars, or vectors or matrices of one shape. To `bool`: differs from zero.
    /// Float to integer truncates, saturates, NaN gives 0 (D3D11.3 functional specification 3.1.6).
    Convert,
    /// The same bits as another type of equal size.
    Bitcast,
    /// The operand itself; exists to carry [`InstFlags::NONUNIFORM`].
    Copy,
    /// A composite from its parts. A vector takes scalars and vectors whose components add up to its own.
    Construct,
    /// A vector whose components all are the operand.
    Splat,
    /// Part `index` of a vector, matrix, array or structure.
    Extract {
        /// Index of the part.
        index: u32,
    },
    /// `composite, part`: the composite with part `index` replaced.
    Insert {
        /// Index of the part.
        index: u32,
    },
    /// `vector, index`: one component, index not constant.
    ExtractDynamic,
    /// Components of a vector.
    Swizzle(Swizzle),
    /// `a, b`: linear-algebra product; at least one is a matrix. A vector on the left is a row, on the right a column.
    MatMul,
    /// `base, indices...`: the address of a part of what `base` points to. Members are `uint` constants.
    Access,
    /// `pointer`.
    Load,
    /// `pointer, value`.
    Store,
    /// `buffer`: the address of the block of a constant or texture buffer.
    BlockPtr,
    /// `buffer, index`: the address of an element of a structured buffer; `index` is `uint`.
    ElementPtr,
    /// `buffer, byte offset`: the address of a scalar in a byte-address buffer, for atomics.
    RawPtr,
    /// `buffer, byte offset`: a scalar or vector from a byte-address buffer. Components follow each other.
    RawLoad,
    /// `buffer, byte offset, value`.
    RawStore,
    /// `address` (`u64`): the address of a value laid out as in structured buffers.
    AddressPtr {
        /// The address is a multiple of it: a power of two, at least the bytes of the largest scalar inside.
        align: u32,
        /// Order of what it points to, when that is a matrix or an array of them.
        order: crate::MatrixOrder,
    },
    /// `texture, coordinate[, sample]`: the address of a texel of a read-write texture, for atomics.
    TexelPtr,
    /// `buffer`: elements of a structured buffer, bytes of a byte-address buffer, as `uint`.
    BufferLength,
    /// `buffer`: adds `delta` (1 or -1) to the hidden counter and gives its value before (1) or after (-1), `uint`.
    Counter {
        /// 1 or -1.
        delta: i8,
    },
    /// `pointer, value`: gives the value before.
    Atomic(AtomicOp),
    /// `pointer, expected, value`: stores `value` when memory holds `expected`; gives the value before.
    AtomicCompareExchange,
    /// A texture instruction.
    Texture(TextureOp, TextureOperands),
    /// An instruction of SPIR-V that the program names ([`InlineSpirv`](crate::InlineSpirv)): its operands that are no
    /// literals.
    Spirv(crate::Inline),
    /// A function of the table.
    Intrinsic(Intrinsic),
    /// Arguments by value, pointers for `out` and `inout`, handles for resources.
    Call(Func),
    /// The argument that belongs to the block control came from.
    Phi,
    /// Prints numbers, scalars and vectors, by a format in the manner of C's `printf`, where the driver shows such.
    Printf(crate::Name),
    /// From here on the fragment's writes have no effect; it runs on as a helper lane (D3D11.3 functional specification
    /// 16.8).
    Discard,
}

/// An instruction.
#[derive(PartialEq, Debug)]
pub struct InstData {
    /// What it computes.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// For [`Op::Phi`]: the block each argument comes from. Else empty.
    pub preds: SmallVec<[Block; 2]>,
    /// Type of the result, `void` when there is none.
    pub ty: Type,
    /// The result, when `ty` is not `void`.
    pub result: Option<Value>,
    /// Flags.
    pub flags: InstFlags,
    /// Place in the source.
    pub span: Span,
}

impl Clone for InstData {
    fn clone(&self) -> Self {
        // `SmallVec::clone` goes element by element.
        Self { args: SmallVec::from_slice(&self.args), preds: SmallVec::from_slice(&self.preds), ..*self }
    }
}
