//! Intrinsics: a table for those that are one instruction, and the others.

use crate::func::Fx;
use oneshader_diag::codes;
use oneshader_ir::ray_query;
use oneshader_ir::{Function, Global, InstData, Intrinsic, Op as IrOp, Scalar, Stage, Type, TypeKind, Value, ValueDef};
use spirv::{GlslStd450Op as Glsl, MemorySemantics, Op, Scope};

/// An instruction of GLSL's set for floats, signed and unsigned integers, and whether floats are of 16 or 32 bits only
/// (GLSL.std.450 specification); doubles are then computed as floats, as HLSL, which has none of these for doubles, does.
struct Row {
    intrinsic: Intrinsic,
    float: Glsl,
    signed: Option<Glsl>,
    unsigned: Option<Glsl>,
    narrow: bool,
}

const fn float(intrinsic: Intrinsic, float: Glsl) -> Row {
    Row { intrinsic, float, signed: None, unsigned: None, narrow: false }
}

const fn narrow(intrinsic: Intrinsic, float: Glsl) -> Row {
    Row { intrinsic, float, signed: None, unsigned: None, narrow: true }
}

const fn any(intrinsic: Intrinsic, float: Glsl, signed: Glsl, unsigned: Option<Glsl>) -> Row {
    Row { intrinsic, float, signed: Some(signed), unsigned, narrow: false }
}

static GLSL: &[Row] = &[
    any(Intrinsic::Abs, Glsl::FAbs, Glsl::SAbs, None),
    any(Intrinsic::Sign, Glsl::FSign, Glsl::SSign, None),
    float(Intrinsic::Floor, Glsl::Floor),
    float(Intrinsic::Ceil, Glsl::Ceil),
    float(Intrinsic::Trunc, Glsl::Trunc),
    float(Intrinsic::RoundEven, Glsl::RoundEven),
    float(Intrinsic::Fract, Glsl::Fract),
    any(Intrinsic::Min, Glsl::NMin, Glsl::SMin, Some(Glsl::UMin)),
    any(Intrinsic::Max, Glsl::NMax, Glsl::SMax, Some(Glsl::UMax)),
    any(Intrinsic::Clamp, Glsl::NClamp, Glsl::SClamp, Some(Glsl::UClamp)),
    float(Intrinsic::Lerp, Glsl::FMix),
    float(Intrinsic::SmoothStep, Glsl::SmoothStep),
    float(Intrinsic::Fma, Glsl::Fma),
    float(Intrinsic::Sqrt, Glsl::Sqrt),
    float(Intrinsic::Rsqrt, Glsl::InverseSqrt),
    narrow(Intrinsic::Exp, Glsl::Exp),
    narrow(Intrinsic::Exp2, Glsl::Exp2),
    narrow(Intrinsic::Log, Glsl::Log),
    narrow(Intrinsic::Log2, Glsl::Log2),
    narrow(Intrinsic::Pow, Glsl::Pow),
    narrow(Intrinsic::Sin, Glsl::Sin),
    narrow(Intrinsic::Cos, Glsl::Cos),
    narrow(Intrinsic::Tan, Glsl::Tan),
    narrow(Intrinsic::Asin, Glsl::Asin),
    narrow(Intrinsic::Acos, Glsl::Acos),
    narrow(Intrinsic::Atan, Glsl::Atan),
    narrow(Intrinsic::Atan2, Glsl::Atan2),
    narrow(Intrinsic::Sinh, Glsl::Sinh),
    narrow(Intrinsic::Cosh, Glsl::Cosh),
    narrow(Intrinsic::Tanh, Glsl::Tanh),
    float(Intrinsic::Cross, Glsl::Cross),
    float(Intrinsic::Normalize, Glsl::Normalize),
    float(Intrinsic::Reflect, Glsl::Reflect),
    float(Intrinsic::FaceForward, Glsl::FaceForward),
];

/// The derivative instructions.
static DERIVATIVES: &[(Intrinsic, Op)] = &[
    (Intrinsic::Ddx, Op::DPdx),
    (Intrinsic::Ddy, Op::DPdy),
    (Intrinsic::DdxCoarse, Op::DPdxCoarse),
    (Intrinsic::DdyCoarse, Op::DPdyCoarse),
    (Intrinsic::DdxFine, Op::DPdxFine),
    (Intrinsic::DdyFine, Op::DPdyFine),
    (Intrinsic::Fwidth, Op::Fwidth),
];

/// The variable that an address leads to, and the indices on the way, outermost first.
pub(crate) fn root_of(func: &Function, mut address: Value) -> Option<(Global, Vec<Value>)> {
    let mut indices = Vec::new();
    loop {
        match func.values[address].def {
            ValueDef::Global(global) => return Some((global, indices)),
            ValueDef::Inst(inst) if func.insts[inst].op == IrOp::Access => {
                let args = &func.insts[inst].args;
                indices.splice(0..0, args[1..].iter().copied());
                address = args[0];
            }
            _ => return None,
        }
    }
}

/// Whether an intrinsic is a derivative.
pub(crate) fn is_derivative(intrinsic: Intrinsic) -> bool {
    DERIVATIVES.iter().any(|&(i, _)| i == intrinsic)
}

/// Whether an intrinsic looks across a quad without being a derivative.
pub(crate) fn is_of_quad(intrinsic: Intrinsic) -> bool {
    use Intrinsic::{QuadAll, QuadAny, QuadReadAcrossDiagonal, QuadReadAcrossX, QuadReadAcrossY, QuadReadLaneAt};
    matches!(intrinsic, QuadReadAcrossX | QuadReadAcrossY | QuadReadAcrossDiagonal | QuadReadLaneAt | QuadAny | QuadAll)
}

/// `NonSemantic.DebugBreak`'s one instruction.
const DEBUG_BREAK: u32 = 1;

/// log10(2), as DXC has it.
const LOG10_OF_2: f64 = std::f32::consts::LOG10_2 as f64;

impl Fx<'_, '_> {
    /// Lowers an intrinsic; `None` when it has no result.
    pub fn intrinsic(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        if let Some(row) = GLSL.iter().find(|r| r.intrinsic == intrinsic) {
            return self.glsl_row(data, row);
        }
        if let Some(&(_, op)) = DERIVATIVES.iter().find(|&&(i, _)| i == intrinsic) {
            return self.derivative(data, op);
        }
        if let Some(method) = ray_query::of_intrinsic(intrinsic) {
            return self.ray_query(data, method);
        }
        use Intrinsic as I;
        match intrinsic {
            I::FrexpMantissa | I::FrexpExponent => self.frexp(data, intrinsic == I::FrexpExponent),
            I::Saturate => {
                let (scalar, lanes, value, ty) = self.operand(data, 0)?;
                let (zero, one) = (self.cx.number(scalar, lanes, 0), self.cx.number(scalar, lanes, 1));
                Some(self.glsl(Glsl::NClamp, ty, &[value, zero, one]))
            }
            I::Step => {
                let (scalar, lanes, edge, ty) = self.operand(data, 0)?;
                let x = self.use_id(data.args[1]);
                let bools = self.cx.num(Scalar::Bool, lanes);
                let (zero, one) = (self.cx.number(scalar, lanes, 0), self.cx.number(scalar, lanes, 1));
                let reached = self.op(Op::FOrdGreaterThanEqual, bools, &[x, edge]);
                Some(self.op(Op::Select, ty, &[reached, one, zero]))
            }
            I::Mad => self.mad(data),
            I::BufferStatus => {
                let message = "Vulkan cannot tell whether the memory of a buffer is resident; leave the status out";
                self.cx.unsupported(data.span, message);
                None
            }
            I::FullyMapped => {
                let code = self.use_id(data.args[0]);
                let bool_ty = self.cx.ty(data.ty);
                Some(self.op(Op::ImageSparseTexelsResident, bool_ty, &[code]))
            }
            I::IsNan | I::IsInf | I::IsFinite => self.classify(data, intrinsic),
            I::All | I::Any => {
                let (_, lanes, value, _) = self.operand(data, 0)?;
                if lanes == 1 {
                    return Some(value);
                }
                let ty = self.cx.scalar(Scalar::Bool);
                Some(self.op(if intrinsic == I::All { Op::All } else { Op::Any }, ty, &[value]))
            }
            I::Log10 => {
                let (scalar, lanes, value, ty) = self.operand(data, 0)?;
                let log2 = self.glsl_narrow(Glsl::Log2, scalar, lanes, &[value])?;
                let factor = self.cx.f32(LOG10_OF_2 as f32);
                let factor = self.convert_const(factor, scalar);
                let factor = self.splat(factor, scalar, lanes);
                Some(self.op(Op::FMul, ty, &[log2, factor]))
            }
            I::Dot | I::Length | I::Distance => self.reduce(data, intrinsic),
            I::Refract => {
                let (_, _, i, ty) = self.operand(data, 0)?;
                let (n, eta) = (self.use_id(data.args[1]), self.use_id(data.args[2]));
                Some(self.glsl(Glsl::Refract, ty, &[i, n, eta]))
            }
            I::Transpose | I::Determinant => {
                let value = self.use_id(data.args[0]);
                let ty = self.cx.ty(data.ty);
                // The determinant of a matrix is that of its transpose.
                Some(match intrinsic {
                    I::Transpose => self.op(Op::Transpose, ty, &[value]),
                    _ => self.glsl(Glsl::Determinant, ty, &[value]),
                })
            }
            I::CountBits | I::ReverseBits | I::FirstBitHigh | I::FirstBitLow => self.bits(data, intrinsic),
            I::F32ToF16 | I::F16ToF32 => self.half_bits(data, intrinsic == I::F32ToF16),
            I::EvaluateCentroid | I::EvaluateSample | I::EvaluateSnapped | I::AttributeAtVertex => {
                self.interpolate(data, intrinsic)
            }
            I::DebugBreak => {
                let set = self.cx.instruction_set("NonSemantic.DebugBreak");
                let void = self.cx.unique_type(Op::TypeVoid, &[]);
                self.op(Op::ExtInst, void, &[set, DEBUG_BREAK]);
                None
            }
            I::GroupMemoryBarrier
            | I::GroupMemoryBarrierSync
            | I::DeviceMemoryBarrier
            | I::DeviceMemoryBarrierSync
            | I::AllMemoryBarrier
            | I::AllMemoryBarrierSync => {
                self.barrier(intrinsic);
                None
            }
            _ => self.wave(data, intrinsic),
        }
    }

    /// Scalar type, components, value and type of an operand that is a scalar or vector.
    pub fn operand(&mut self, data: &InstData, index: usize) -> Option<(Scalar, u8, u32, u32)> {
        let ty = self.func.ty(data.args[index]);
        let (scalar, lanes) = self.shape(ty)?;
        let value = self.use_id(data.args[index]);
        Some((scalar, lanes, value, self.cx.num(scalar, lanes)))
    }

    /// A float constant as a constant of another float type; 16-bit ones lose precision.
    fn convert_const(&mut self, value: u32, scalar: Scalar) -> u32 {
        if scalar == Scalar::F32 {
            return value;
        }
        let ty = self.cx.scalar(scalar);
        self.op(Op::FConvert, ty, &[value])
    }

    fn glsl_row(&mut self, data: &InstData, row: &Row) -> Option<u32> {
        let (scalar, lanes) = self.shape(data.ty)?;
        let args: Vec<u32> = data.args.iter().map(|&a| self.use_id(a)).collect();
        let ty = self.cx.num(scalar, lanes);
        let op = match scalar {
            Scalar::Float { .. } if row.narrow => return self.glsl_narrow(row.float, scalar, lanes, &args),
            Scalar::Float { .. } => row.float,
            Scalar::Int { signed: true, .. } => row.signed?,
            Scalar::Int { .. } => match (row.unsigned, row.intrinsic) {
                (Some(op), _) => op,
                (None, Intrinsic::Abs) => return args.first().copied(),
                // The sign of an unsigned number: 0 or 1.
                (None, _) => {
                    let one = self.cx.number(scalar, lanes, 1);
                    return Some(self.glsl(Glsl::UMin, ty, &[args[0], one]));
                }
            },
            Scalar::Bool => return None,
        };
        Some(self.glsl(op, ty, &args))
    }

    /// An instruction that takes 16- and 32-bit floats only.
    fn glsl_narrow(&mut self, op: Glsl, scalar: Scalar, lanes: u8, args: &[u32]) -> Option<u32> {
        if scalar.bits() != 64 {
            let ty = self.cx.num(scalar, lanes);
            return Some(self.glsl(op, ty, args));
        }
        let ty = self.cx.num(Scalar::F32, lanes);
        let mut floats = Vec::new();
        for &arg in args {
            floats.push(self.convert_shape(arg, scalar, Scalar::F32, lanes)?);
        }
        let result = self.glsl(op, ty, &floats);
        self.convert_shape(result, Scalar::F32, scalar, lanes)
    }

    fn derivative(&mut self, data: &InstData, op: Op) -> Option<u32> {
        if self.cx.entry.stage == Stage::Vertex {
            let message = "derivatives exist in pixel and compute shaders, not in vertex shaders";
            self.cx.error(codes::WRONG_STAGE, data.span, message);
            return None;
        }
        let (scalar, lanes, value, ty) = self.operand(data, 0)?;
        if scalar == Scalar::F32 {
            return Some(self.op(op, ty, &[value]));
        }
        // Derivatives are of 32-bit floats (SPIR-V specification, OpDPdx).
        let wide_ty = self.cx.num(Scalar::F32, lanes);
        let wide = self.convert_shape(value, scalar, Scalar::F32, lanes)?;
        let result = self.op(op, wide_ty, &[wide]);
        self.convert_shape(result, Scalar::F32, scalar, lanes)
    }

    fn frexp(&mut self, data: &InstData, exponent: bool) -> Option<u32> {
        let (_, lanes, value, ty) = self.operand(data, 0)?;
        let ints = self.cx.num(Scalar::I32, lanes);
        let pair = self.cx.unique_type(Op::TypeStruct, &[ty, ints]);
        let result = self.glsl(Glsl::FrexpStruct, pair, &[value]);
        let (part, index) = if exponent { (ints, 1) } else { (ty, 0) };
        Some(self.op(Op::CompositeExtract, part, &[result, index]))
    }

    fn mad(&mut self, data: &InstData) -> Option<u32> {
        let (_, _, a, ty) = self.operand(data, 0)?;
        let (b, c) = (self.use_id(data.args[1]), self.use_id(data.args[2]));
        if self.is_precise() {
            let product = self.op(Op::FMul, ty, &[a, b]);
            return Some(self.op(Op::FAdd, ty, &[product, c]));
        }
        Some(self.glsl(Glsl::Fma, ty, &[a, b, c]))
    }

    fn classify(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        let (_, lanes, value, _) = self.operand(data, 0)?;
        let bools = self.cx.num(Scalar::Bool, lanes);
        Some(match intrinsic {
            Intrinsic::IsNan => self.op(Op::IsNan, bools, &[value]),
            Intrinsic::IsInf => self.op(Op::IsInf, bools, &[value]),
            _ => {
                let nan = self.op(Op::IsNan, bools, &[value]);
                let inf = self.op(Op::IsInf, bools, &[value]);
                let either = self.op(Op::LogicalOr, bools, &[nan, inf]);
                self.op(Op::LogicalNot, bools, &[either])
            }
        })
    }

    fn reduce(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        let (scalar, lanes, a, _) = self.operand(data, 0)?;
        let ty = self.cx.scalar(scalar);
        match intrinsic {
            Intrinsic::Length => Some(self.glsl(Glsl::Length, ty, &[a])),
            Intrinsic::Distance => {
                let b = self.use_id(data.args[1]);
                Some(self.glsl(Glsl::Distance, ty, &[a, b]))
            }
            _ => {
                let b = self.use_id(data.args[1]);
                Some(self.op(if lanes == 1 { Op::FMul } else { Op::Dot }, ty, &[a, b]))
            }
        }
    }

    /// Operations on bits. Vulkan has them for 32 bits only (VUID-StandaloneSpirv-Base-04781); others are made of those.
    fn bits(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        let (scalar, lanes, value, _) = self.operand(data, 0)?;
        let (to, _) = self.shape(data.ty)?;
        let parts: Option<Vec<u32>> = match scalar.bits() {
            32 => {
                let whole = self.bits32(intrinsic, scalar, lanes, value);
                return self.convert_shape(
                    whole,
                    if intrinsic == Intrinsic::ReverseBits { scalar } else { Scalar::U32 },
                    to,
                    lanes,
                );
            }
            16 => {
                let wide = Scalar::Int { bits: 32, signed: scalar.is_signed() };
                let mut whole = self.convert_shape(value, scalar, wide, lanes)?;
                let wide_ty = self.cx.num(wide, lanes);
                if intrinsic == Intrinsic::CountBits && scalar.is_signed() {
                    // The sign was copied sixteen times.
                    let low = self.cx.number(wide, lanes, 0xffff);
                    whole = self.op(Op::BitwiseAnd, wide_ty, &[whole, low]);
                }
                let mut result = self.bits32(intrinsic, wide, lanes, whole);
                let mut from = Scalar::U32;
                if intrinsic == Intrinsic::ReverseBits {
                    let sixteen = self.cx.number(Scalar::U32, lanes, 16);
                    result = self.op(Op::ShiftRightLogical, wide_ty, &[result, sixteen]);
                    from = wide;
                }
                return self.convert_shape(result, from, to, lanes);
            }
            _ => (0..lanes)
                .map(|i| {
                    let lane = self.lane(value, scalar, lanes, i);
                    self.bits64(intrinsic, scalar, lane, to)
                })
                .collect(),
        };
        Some(self.vector_of(&parts?, to))
    }

    /// The result is of `uint`s, but for reversal, which gives the operand's type.
    fn bits32(&mut self, intrinsic: Intrinsic, scalar: Scalar, lanes: u8, value: u32) -> u32 {
        let uints = self.cx.num(Scalar::U32, lanes);
        match intrinsic {
            Intrinsic::CountBits => self.op(Op::BitCount, uints, &[value]),
            Intrinsic::ReverseBits => {
                let ty = self.cx.num(scalar, lanes);
                self.op(Op::BitReverse, ty, &[value])
            }
            Intrinsic::FirstBitHigh if scalar.is_signed() => self.glsl(Glsl::FindSMsb, uints, &[value]),
            Intrinsic::FirstBitHigh => self.glsl(Glsl::FindUMsb, uints, &[value]),
            _ => self.glsl(Glsl::FindILsb, uints, &[value]),
        }
    }

    /// One 64-bit number, by its halves.
    fn bits64(&mut self, intrinsic: Intrinsic, scalar: Scalar, value: u32, to: Scalar) -> Option<u32> {
        let uint = self.cx.scalar(Scalar::U32);
        let bool_ty = self.cx.scalar(Scalar::Bool);
        let pair_ty = self.cx.num(Scalar::U32, 2);
        let mut pair = self.op(Op::Bitcast, pair_ty, &[value]);
        if intrinsic == Intrinsic::ReverseBits {
            let reversed = self.op(Op::BitReverse, pair_ty, &[pair]);
            let swapped = self.op(Op::VectorShuffle, pair_ty, &[reversed, reversed, 1, 0]);
            let ty = self.cx.scalar(scalar);
            return Some(self.op(Op::Bitcast, ty, &[swapped]));
        }
        let mut high = self.op(Op::CompositeExtract, uint, &[pair, 1]);
        if intrinsic == Intrinsic::FirstBitHigh && scalar.is_signed() {
            // The highest bit that differs from the sign is the highest one of the number xor its sign.
            let int = self.cx.scalar(Scalar::I32);
            let shift = self.cx.u32(31);
            let signed = self.op(Op::Bitcast, int, &[high]);
            let sign = self.op(Op::ShiftRightArithmetic, int, &[signed, shift]);
            let sign = self.op(Op::Bitcast, uint, &[sign]);
            let signs = self.op(Op::CompositeConstruct, pair_ty, &[sign, sign]);
            pair = self.op(Op::BitwiseXor, pair_ty, &[pair, signs]);
            high = self.op(Op::CompositeExtract, uint, &[pair, 1]);
        }
        let low = self.op(Op::CompositeExtract, uint, &[pair, 0]);
        let thirty_two = self.cx.u32(32);
        let zero = self.cx.u32(0);
        let result = match intrinsic {
            Intrinsic::CountBits => {
                let a = self.op(Op::BitCount, uint, &[low]);
                let b = self.op(Op::BitCount, uint, &[high]);
                self.op(Op::IAdd, uint, &[a, b])
            }
            Intrinsic::FirstBitHigh => {
                let in_low = self.glsl(Glsl::FindUMsb, uint, &[low]);
                let in_high = self.glsl(Glsl::FindUMsb, uint, &[high]);
                let above = self.op(Op::IAdd, uint, &[in_high, thirty_two]);
                let empty = self.op(Op::IEqual, bool_ty, &[high, zero]);
                self.op(Op::Select, uint, &[empty, in_low, above])
            }
            _ => {
                let in_low = self.glsl(Glsl::FindILsb, uint, &[low]);
                let in_high = self.glsl(Glsl::FindILsb, uint, &[high]);
                // 32 more, but all ones stay: of no bit at all there is no position.
                let none = self.op(Op::IEqual, bool_ty, &[high, zero]);
                let above = self.op(Op::IAdd, uint, &[in_high, thirty_two]);
                let above = self.op(Op::Select, uint, &[none, in_high, above]);
                let empty = self.op(Op::IEqual, bool_ty, &[low, zero]);
                self.op(Op::Select, uint, &[empty, above, in_low])
            }
        };
        self.convert_shape(result, Scalar::U32, to, 1)
    }

    fn half_bits(&mut self, data: &InstData, pack: bool) -> Option<u32> {
        let (scalar, lanes, value, _) = self.operand(data, 0)?;
        let (to, _) = self.shape(data.ty)?;
        let pair = self.cx.num(Scalar::F32, 2);
        let (float, uint) = (self.cx.scalar(Scalar::F32), self.cx.scalar(Scalar::U32));
        let zero = self.cx.f32(0.0);
        let mut parts = Vec::new();
        for i in 0..lanes {
            let lane = self.lane(value, scalar, lanes, i);
            parts.push(if pack {
                let both = self.op(Op::CompositeConstruct, pair, &[lane, zero]);
                self.glsl(Glsl::PackHalf2x16, uint, &[both])
            } else {
                let both = self.glsl(Glsl::UnpackHalf2x16, pair, &[lane]);
                self.op(Op::CompositeExtract, float, &[both, 0])
            });
        }
        let from = if pack { Scalar::U32 } else { Scalar::F32 };
        let whole = self.vector_of(&parts, from);
        self.convert_shape(whole, from, to, lanes)
    }

    /// `EvaluateAttribute...` and `GetAttributeAtVertex`: the operand is the address of an input.
    fn interpolate(&mut self, data: &InstData, intrinsic: Intrinsic) -> Option<u32> {
        if intrinsic == Intrinsic::AttributeAtVertex {
            let vertex = self.use_id(data.args[1]);
            let Some((global, indices)) = root_of(self.func, data.args[0]) else {
                self.cx.unsupported(data.span, "the operand must be a `nointerpolation` pixel input");
                return None;
            };
            let info = self.cx.io_info(global)?;
            let indices: Vec<u32> = indices.iter().map(|&i| self.use_id(i)).collect();
            return self.vertex_value(info, data.ty, vertex, &indices);
        }
        let pointer = self.pointer(data.args[0])?;
        let (scalar, lanes) = self.interpolant(data.ty)?;
        if pointer.class != spirv::StorageClass::Input || scalar != Scalar::F32 {
            self.cx.unsupported(data.span, "only `float` pixel inputs can be evaluated at another place");
            return None;
        }
        let (op, place) = match intrinsic {
            Intrinsic::EvaluateCentroid => (Glsl::InterpolateAtCentroid, None),
            Intrinsic::EvaluateSample => (Glsl::InterpolateAtSample, Some(self.use_id(data.args[1]))),
            _ => {
                let offset = self.use_id(data.args[1]);
                let floats = self.cx.num(Scalar::F32, 2);
                // Sixteenths of a pixel (HLSL, EvaluateAttributeSnapped).
                let sixteenth = self.cx.f32(1.0 / 16.0);
                let sixteenth = self.cx.splat_const(Scalar::F32, 2, sixteenth);
                let offset = self.op(Op::ConvertSToF, floats, &[offset]);
                (Glsl::InterpolateAtOffset, Some(self.op(Op::FMul, floats, &[offset, sixteenth])))
            }
        };
        let ty = self.cx.num(scalar, lanes);
        let TypeKind::Matrix { rows, .. } = self.cx.ir.types.kind(data.ty) else {
            let mut operands = vec![pointer.id];
            operands.extend(place);
            return Some(self.glsl(op, ty, &operands));
        };
        let row_ptr = self.cx.pointer(pointer.class, ty);
        let mut parts = Vec::new();
        for i in 0..rows {
            let index = self.cx.u32(u32::from(i));
            let mut operands = vec![self.op(Op::AccessChain, row_ptr, &[pointer.id, index])];
            operands.extend(place);
            parts.push(self.glsl(op, ty, &operands));
        }
        let whole = self.cx.ty(data.ty);
        Some(self.op(Op::CompositeConstruct, whole, &parts))
    }

    /// Scalar and components of what is interpolated at once: a matrix goes row by row.
    fn interpolant(&self, ty: Type) -> Option<(Scalar, u8)> {
        match self.cx.ir.types.kind(ty) {
            TypeKind::Matrix { elem, cols, .. } => Some((elem, cols)),
            _ => self.shape(ty),
        }
    }

    fn barrier(&mut self, intrinsic: Intrinsic) {
        use Intrinsic as I;
        let group = MemorySemantics::WORKGROUP_MEMORY;
        let device = MemorySemantics::UNIFORM_MEMORY | MemorySemantics::IMAGE_MEMORY;
        let (scope, memory, waits) = match intrinsic {
            I::GroupMemoryBarrier => (Scope::Workgroup, group, false),
            I::GroupMemoryBarrierSync => (Scope::Workgroup, group, true),
            I::DeviceMemoryBarrier => (Scope::Device, device, false),
            I::DeviceMemoryBarrierSync => (Scope::Device, device, true),
            I::AllMemoryBarrier => (Scope::Device, device | group, false),
            _ => (Scope::Device, device | group, true),
        };
        let mut memory = memory | MemorySemantics::ACQUIRE_RELEASE;
        if self.cx.vulkan_memory {
            memory |= MemorySemantics::MAKE_AVAILABLE | MemorySemantics::MAKE_VISIBLE;
        }
        let semantics = self.cx.u32(memory.bits());
        let scope = self.cx.u32(scope as u32);
        if waits {
            let group = self.cx.u32(Scope::Workgroup as u32);
            self.effect(Op::ControlBarrier, &[group, scope, semantics]);
        } else {
            self.effect(Op::MemoryBarrier, &[scope, semantics]);
        }
    }
}
