//! The table of built-in functions: names, parameters, results, and what they lower to.
//!
//! A function has at most one type that its arguments decide, `T`: a numeric type whose element is of the row's
//! [`Class`] and whose shape is one of the row's [`Shapes`]. Functions that do not fit ([`Lower::Free`]) check their
//! arguments themselves. The reference is the HLSL intrinsic functions of Direct3D and, for shader models 6.x, DXC.

use oneshader_ir::Intrinsic as I;

use super::{Call, Free, Lowered, bits, linear, math, memory};
use crate::ty::{Elem, Shape};

/// What the element of `T` may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Floats but `double`; integers and `bool` become `float`.
    Float,
    /// All floats; integers and `bool` become `float`.
    AnyFloat,
    /// Integers and floats; `bool` becomes `int`.
    Num,
    /// Integers; `bool` becomes `int`, floats are an error.
    Int,
    /// `double`.
    Double,
    /// `bool`; all others are tested against zero.
    Bool,
    /// Everything numeric.
    Any,
}

/// What the shape of `T` may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shapes {
    /// All.
    All,
    /// A scalar or a vector.
    Vector,
    /// A scalar.
    Scalar,
    /// A vector of that many components; a scalar becomes one.
    Exactly(u8),
    /// A matrix.
    Matrix,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum P {
    /// `T`.
    T,
    /// One element of `T`.
    OneOfT,
    /// A type of its own.
    Fixed(Elem, Shape),
    /// `out T`.
    OutT,
}

/// A result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ret {
    /// Nothing.
    Void,
    /// `T`.
    T,
    /// One element of `T`.
    OneOfT,
    /// The shape of `T` with this element.
    Like(Elem),
    /// A type of its own.
    Fixed(Elem, Shape),
}

/// Writes out arguments through their places and gives the result.
pub type Custom = fn(&mut Call<'_, '_>) -> Lowered;

/// How a call becomes IR.
#[derive(Clone, Copy)]
pub enum Lower {
    /// An intrinsic on scalars and vectors, row by row on matrices.
    Map(I),
    /// An intrinsic on the arguments as they are.
    Whole(I),
    /// A function that gets the converted arguments.
    Custom(Custom),
    /// A function that gets the arguments as they stand in the source.
    Free(Free),
}

/// A built-in function.
#[derive(Clone, Copy)]
pub struct Row {
    /// Name.
    pub name: &'static str,
    /// Class of the element of `T`.
    pub class: Class,
    /// Shapes of `T`.
    pub shapes: Shapes,
    /// Parameters.
    pub params: &'static [P],
    /// Result.
    pub ret: Ret,
    /// How it becomes IR.
    pub lower: Lower,
}

use Class::{Any, AnyFloat, Bool, Double, Float, Int, Num};
use Lower::{Custom as C, Free as F, Map, Whole};
use P::{Fixed, OneOfT, OutT, T};
use Shapes::{All, Exactly, Scalar, Vector};

const UINT: P = Fixed(Elem::Uint, Shape::Scalar);
const INT: P = Fixed(Elem::Int, Shape::Scalar);
const FLOAT: P = Fixed(Elem::Float, Shape::Scalar);
const fn uint(n: u8) -> P {
    Fixed(Elem::Uint, Shape::Vector(n))
}

const fn row(name: &'static str, class: Class, shapes: Shapes, params: &'static [P], ret: Ret, lower: Lower) -> Row {
    Row { name, class, shapes, params, ret, lower }
}

/// A function that checks its arguments itself.
const fn free(name: &'static str, function: Free) -> Row {
    Row { name, class: Any, shapes: All, params: &[], ret: Ret::Void, lower: F(function) }
}

/// A function without `T`.
const fn fixed(name: &'static str, params: &'static [P], ret: Ret, lower: Lower) -> Row {
    Row { name, class: Any, shapes: All, params, ret, lower }
}

const UINT_RET: Ret = Ret::Fixed(Elem::Uint, Shape::Scalar);
const BOOL_RET: Ret = Ret::Fixed(Elem::Bool, Shape::Scalar);
const BOOL: P = Fixed(Elem::Bool, Shape::Scalar);

/// The functions, sorted by name.
pub static ROWS: &[Row] = &[
    free("AddUint64", bits::add_uint64),
    fixed("AllMemoryBarrier", &[], Ret::Void, Whole(I::AllMemoryBarrier)),
    fixed("AllMemoryBarrierWithGroupSync", &[], Ret::Void, Whole(I::AllMemoryBarrierSync)),
    fixed("CheckAccessFullyMapped", &[UINT], BOOL_RET, Whole(I::FullyMapped)),
    fixed(
        "D3DCOLORtoUBYTE4",
        &[Fixed(Elem::Float, Shape::Vector(4))],
        Ret::Fixed(Elem::Int, Shape::Vector(4)),
        C(bits::color_to_ubyte4),
    ),
    fixed("DebugBreak", &[], Ret::Void, Whole(I::DebugBreak)),
    fixed("DeviceMemoryBarrier", &[], Ret::Void, Whole(I::DeviceMemoryBarrier)),
    fixed("DeviceMemoryBarrierWithGroupSync", &[], Ret::Void, Whole(I::DeviceMemoryBarrierSync)),
    free("EvaluateAttributeAtCentroid", memory::evaluate_centroid),
    free("EvaluateAttributeAtSample", memory::evaluate_sample),
    free("EvaluateAttributeCentroid", memory::evaluate_centroid),
    free("EvaluateAttributeSnapped", memory::evaluate_snapped),
    free("GetAttributeAtVertex", memory::attribute_at_vertex),
    fixed("GetGroupWaveCount", &[], UINT_RET, Whole(I::GroupWaveCount)),
    fixed("GetGroupWaveIndex", &[], UINT_RET, Whole(I::GroupWaveIndex)),
    fixed("GroupMemoryBarrier", &[], Ret::Void, Whole(I::GroupMemoryBarrier)),
    fixed("GroupMemoryBarrierWithGroupSync", &[], Ret::Void, Whole(I::GroupMemoryBarrierSync)),
    free("InterlockedAdd", memory::interlocked_add),
    free("InterlockedAnd", memory::interlocked_and),
    free("InterlockedCompareExchange", memory::compare_exchange),
    free("InterlockedCompareExchangeFloatBitwise", memory::compare_exchange_float),
    free("InterlockedCompareStore", memory::compare_store),
    free("InterlockedCompareStoreFloatBitwise", memory::compare_store_float),
    free("InterlockedExchange", memory::interlocked_exchange),
    free("InterlockedMax", memory::interlocked_max),
    free("InterlockedMin", memory::interlocked_min),
    free("InterlockedOr", memory::interlocked_or),
    free("InterlockedXor", memory::interlocked_xor),
    fixed("IsHelperLane", &[], BOOL_RET, Whole(I::IsHelperLane)),
    row("NonUniformResourceIndex", Int, Scalar, &[T], Ret::T, C(memory::non_uniform)),
    row("QuadAll", Bool, Scalar, &[T], BOOL_RET, Whole(I::QuadAll)),
    row("QuadAny", Bool, Scalar, &[T], BOOL_RET, Whole(I::QuadAny)),
    row("QuadReadAcrossDiagonal", Any, All, &[T], Ret::T, Map(I::QuadReadAcrossDiagonal)),
    row("QuadReadAcrossX", Any, All, &[T], Ret::T, Map(I::QuadReadAcrossX)),
    row("QuadReadAcrossY", Any, All, &[T], Ret::T, Map(I::QuadReadAcrossY)),
    row("QuadReadLaneAt", Any, All, &[T, UINT], Ret::T, Map(I::QuadReadLaneAt)),
    row("WaveActiveAllEqual", Any, All, &[T], Ret::Like(Elem::Bool), Map(I::WaveAllEqual)),
    fixed("WaveActiveAllTrue", &[BOOL], BOOL_RET, Whole(I::WaveAll)),
    fixed("WaveActiveAnyTrue", &[BOOL], BOOL_RET, Whole(I::WaveAny)),
    fixed("WaveActiveBallot", &[BOOL], Ret::Fixed(Elem::Uint, Shape::Vector(4)), Whole(I::WaveBallot)),
    row("WaveActiveBitAnd", Int, All, &[T], Ret::T, Map(I::WaveBitAnd)),
    row("WaveActiveBitOr", Int, All, &[T], Ret::T, Map(I::WaveBitOr)),
    row("WaveActiveBitXor", Int, All, &[T], Ret::T, Map(I::WaveBitXor)),
    fixed("WaveActiveCountBits", &[BOOL], UINT_RET, Whole(I::WaveCountBits)),
    row("WaveActiveMax", Num, All, &[T], Ret::T, Map(I::WaveMax)),
    row("WaveActiveMin", Num, All, &[T], Ret::T, Map(I::WaveMin)),
    row("WaveActiveProduct", Num, All, &[T], Ret::T, Map(I::WaveProduct)),
    row("WaveActiveSum", Num, All, &[T], Ret::T, Map(I::WaveSum)),
    fixed("WaveGetLaneCount", &[], UINT_RET, Whole(I::WaveLaneCount)),
    fixed("WaveGetLaneIndex", &[], UINT_RET, Whole(I::WaveLaneIndex)),
    fixed("WaveIsFirstLane", &[], BOOL_RET, Whole(I::WaveIsFirstLane)),
    row("WaveMatch", Any, Vector, &[T], Ret::Fixed(Elem::Uint, Shape::Vector(4)), Whole(I::WaveMatch)),
    row("WaveMultiPrefixBitAnd", Int, All, &[T, uint(4)], Ret::T, Map(I::WaveMultiPrefixBitAnd)),
    row("WaveMultiPrefixBitOr", Int, All, &[T, uint(4)], Ret::T, Map(I::WaveMultiPrefixBitOr)),
    row("WaveMultiPrefixBitXor", Int, All, &[T, uint(4)], Ret::T, Map(I::WaveMultiPrefixBitXor)),
    fixed("WaveMultiPrefixCountBits", &[BOOL, uint(4)], UINT_RET, Whole(I::WaveMultiPrefixCountBits)),
    row("WaveMultiPrefixProduct", Num, All, &[T, uint(4)], Ret::T, Map(I::WaveMultiPrefixProduct)),
    row("WaveMultiPrefixSum", Num, All, &[T, uint(4)], Ret::T, Map(I::WaveMultiPrefixSum)),
    fixed("WavePrefixCountBits", &[BOOL], UINT_RET, Whole(I::WavePrefixCountBits)),
    row("WavePrefixProduct", Num, All, &[T], Ret::T, Map(I::WavePrefixProduct)),
    row("WavePrefixSum", Num, All, &[T], Ret::T, Map(I::WavePrefixSum)),
    row("WaveReadLaneAt", Any, All, &[T, UINT], Ret::T, Map(I::WaveReadLaneAt)),
    row("WaveReadLaneFirst", Any, All, &[T], Ret::T, Map(I::WaveReadLaneFirst)),
    row("abs", Num, All, &[T], Ret::T, C(math::abs)),
    row("acos", Float, All, &[T], Ret::T, Map(I::Acos)),
    row("all", Any, All, &[T], BOOL_RET, C(math::all)),
    row("and", Bool, All, &[T, T], Ret::T, C(math::and)),
    row("any", Any, All, &[T], BOOL_RET, C(math::any)),
    free("asdouble", bits::as_double),
    free("asfloat", bits::as_float),
    free("asfloat16", bits::as_float16),
    row("asin", Float, All, &[T], Ret::T, Map(I::Asin)),
    free("asint", bits::as_int),
    free("asint16", bits::as_int16),
    free("asuint", bits::as_uint),
    free("asuint16", bits::as_uint16),
    row("atan", Float, All, &[T], Ret::T, Map(I::Atan)),
    row("atan2", Float, All, &[T, T], Ret::T, Map(I::Atan2)),
    row("ceil", Float, All, &[T], Ret::T, Map(I::Ceil)),
    row("clamp", Num, All, &[T, T, T], Ret::T, Map(I::Clamp)),
    row("clip", Float, All, &[T], Ret::Void, C(math::clip)),
    row("cos", Float, All, &[T], Ret::T, Map(I::Cos)),
    row("cosh", Float, All, &[T], Ret::T, Map(I::Cosh)),
    row("countbits", Int, All, &[T], Ret::Like(Elem::Uint), Map(I::CountBits)),
    row("cross", Float, Exactly(3), &[T, T], Ret::T, Whole(I::Cross)),
    row("ddx", Float, All, &[T], Ret::T, Map(I::Ddx)),
    row("ddx_coarse", Float, All, &[T], Ret::T, Map(I::DdxCoarse)),
    row("ddx_fine", Float, All, &[T], Ret::T, Map(I::DdxFine)),
    row("ddy", Float, All, &[T], Ret::T, Map(I::Ddy)),
    row("ddy_coarse", Float, All, &[T], Ret::T, Map(I::DdyCoarse)),
    row("ddy_fine", Float, All, &[T], Ret::T, Map(I::DdyFine)),
    row("degrees", Float, All, &[T], Ret::T, C(math::degrees)),
    row("determinant", Float, Shapes::Matrix, &[T], Ret::OneOfT, C(linear::determinant)),
    row("distance", Float, Vector, &[T, T], Ret::OneOfT, Whole(I::Distance)),
    row("dot", Num, Vector, &[T, T], Ret::OneOfT, C(linear::dot)),
    fixed(
        "dot2add",
        &[Fixed(Elem::Float16, Shape::Vector(2)), Fixed(Elem::Float16, Shape::Vector(2)), FLOAT],
        Ret::Fixed(Elem::Float, Shape::Scalar),
        C(linear::dot2add),
    ),
    fixed("dot4add_i8packed", &[UINT, UINT, INT], Ret::Fixed(Elem::Int, Shape::Scalar), C(bits::dot4add_i8)),
    fixed("dot4add_u8packed", &[UINT, UINT, UINT], UINT_RET, C(bits::dot4add_u8)),
    row("dst", Float, Exactly(4), &[T, T], Ret::T, C(math::dst)),
    row("exp", Float, All, &[T], Ret::T, Map(I::Exp)),
    row("exp2", Float, All, &[T], Ret::T, Map(I::Exp2)),
    row("f16tof32", Int, Vector, &[T], Ret::Like(Elem::Float), C(bits::f16tof32)),
    row("f32tof16", AnyFloat, Vector, &[T], Ret::Like(Elem::Uint), C(bits::f32tof16)),
    row("faceforward", Float, Vector, &[T, T, T], Ret::T, Whole(I::FaceForward)),
    row("firstbithigh", Int, All, &[T], Ret::Like(Elem::Uint), Map(I::FirstBitHigh)),
    row("firstbitlow", Int, All, &[T], Ret::Like(Elem::Uint), Map(I::FirstBitLow)),
    row("floor", Float, All, &[T], Ret::T, Map(I::Floor)),
    row("fma", Double, All, &[T, T, T], Ret::T, Map(I::Fma)),
    row("fmod", Float, All, &[T, T], Ret::T, C(math::fmod)),
    row("frac", Float, All, &[T], Ret::T, Map(I::Fract)),
    row("frexp", Float, All, &[T, OutT], Ret::T, C(math::frexp)),
    row("fwidth", Float, All, &[T], Ret::T, Map(I::Fwidth)),
    row("isfinite", AnyFloat, All, &[T], Ret::Like(Elem::Bool), Map(I::IsFinite)),
    row("isinf", AnyFloat, All, &[T], Ret::Like(Elem::Bool), Map(I::IsInf)),
    row("isnan", AnyFloat, All, &[T], Ret::Like(Elem::Bool), Map(I::IsNan)),
    row("isnormal", AnyFloat, All, &[T], Ret::Like(Elem::Bool), C(math::isnormal)),
    row("ldexp", Float, All, &[T, T], Ret::T, C(math::ldexp)),
    row("length", Float, Vector, &[T], Ret::OneOfT, Whole(I::Length)),
    row("lerp", Float, All, &[T, T, T], Ret::T, Map(I::Lerp)),
    fixed("lit", &[FLOAT, FLOAT, FLOAT], Ret::Fixed(Elem::Float, Shape::Vector(4)), C(math::lit)),
    row("log", Float, All, &[T], Ret::T, Map(I::Log)),
    row("log10", Float, All, &[T], Ret::T, Map(I::Log10)),
    row("log2", Float, All, &[T], Ret::T, Map(I::Log2)),
    row("mad", Num, All, &[T, T, T], Ret::T, C(math::mad)),
    row("max", Num, All, &[T, T], Ret::T, Map(I::Max)),
    row("min", Num, All, &[T, T], Ret::T, Map(I::Min)),
    row("modf", Float, All, &[T, OutT], Ret::T, C(math::modf)),
    fixed("msad4", &[UINT, uint(2), uint(4)], Ret::Fixed(Elem::Uint, Shape::Vector(4)), C(bits::msad4)),
    free("mul", linear::mul),
    row("normalize", Float, Vector, &[T], Ret::T, Whole(I::Normalize)),
    row("or", Bool, All, &[T, T], Ret::T, C(math::or)),
    fixed(
        "pack_clamp_s8",
        &[Fixed(Elem::Int, Shape::Vector(4))],
        Ret::Fixed(Elem::PackedInt8, Shape::Scalar),
        C(bits::pack_clamp_s8),
    ),
    fixed(
        "pack_clamp_u8",
        &[Fixed(Elem::Int, Shape::Vector(4))],
        Ret::Fixed(Elem::PackedUint8, Shape::Scalar),
        C(bits::pack_clamp_u8),
    ),
    row("pack_s8", Int, Exactly(4), &[T], Ret::Fixed(Elem::PackedInt8, Shape::Scalar), C(bits::pack_8)),
    row("pack_u8", Int, Exactly(4), &[T], Ret::Fixed(Elem::PackedUint8, Shape::Scalar), C(bits::pack_8)),
    row("pow", Float, All, &[T, T], Ret::T, Map(I::Pow)),
    free("printf", memory::printf),
    row("radians", Float, All, &[T], Ret::T, C(math::radians)),
    row("rcp", AnyFloat, All, &[T], Ret::T, C(math::rcp)),
    row("reflect", Float, Vector, &[T, T], Ret::T, Whole(I::Reflect)),
    row("refract", Float, Vector, &[T, T, OneOfT], Ret::T, Whole(I::Refract)),
    row("reversebits", Int, All, &[T], Ret::T, Map(I::ReverseBits)),
    row("round", Float, All, &[T], Ret::T, Map(I::RoundEven)),
    row("rsqrt", Float, All, &[T], Ret::T, Map(I::Rsqrt)),
    row("saturate", AnyFloat, All, &[T], Ret::T, Map(I::Saturate)),
    free("select", math::select),
    row("sign", Num, All, &[T], Ret::Like(Elem::Int), C(math::sign)),
    row("sin", Float, All, &[T], Ret::T, Map(I::Sin)),
    row("sincos", Float, All, &[T, OutT, OutT], Ret::Void, C(math::sincos)),
    row("sinh", Float, All, &[T], Ret::T, Map(I::Sinh)),
    row("smoothstep", Float, All, &[T, T, T], Ret::T, Map(I::SmoothStep)),
    row("sqrt", Float, All, &[T], Ret::T, Map(I::Sqrt)),
    row("step", Float, All, &[T, T], Ret::T, Map(I::Step)),
    row("tan", Float, All, &[T], Ret::T, Map(I::Tan)),
    row("tanh", Float, All, &[T], Ret::T, Map(I::Tanh)),
    free("transpose", linear::transpose),
    row("trunc", Float, All, &[T], Ret::T, Map(I::Trunc)),
    fixed(
        "unpack_s8s16",
        &[Fixed(Elem::PackedInt8, Shape::Scalar)],
        Ret::Fixed(Elem::Int16, Shape::Vector(4)),
        C(bits::unpack_s8),
    ),
    fixed(
        "unpack_s8s32",
        &[Fixed(Elem::PackedInt8, Shape::Scalar)],
        Ret::Fixed(Elem::Int, Shape::Vector(4)),
        C(bits::unpack_s8),
    ),
    fixed(
        "unpack_u8u16",
        &[Fixed(Elem::PackedUint8, Shape::Scalar)],
        Ret::Fixed(Elem::Uint16, Shape::Vector(4)),
        C(bits::unpack_u8),
    ),
    fixed(
        "unpack_u8u32",
        &[Fixed(Elem::PackedUint8, Shape::Scalar)],
        Ret::Fixed(Elem::Uint, Shape::Vector(4)),
        C(bits::unpack_u8),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted() {
        assert!(ROWS.windows(2).all(|w| w[0].name < w[1].name));
    }
}
