//! Arithmetic, comparisons, conversions and composites.

use crate::func::Fx;
use crate::module::MAX_OPERANDS;
use oneshader_ir::{BinaryOp, InstData, InstFlags, Op as IrOp, Scalar, Type, TypeKind, UnaryOp};
use spirv::{GlslStd450Op as Glsl, Op};

/// The instructions of one binary operation by the operands' type; `Nop` where there is none.
struct Row {
    op: BinaryOp,
    float: Op,
    signed: Op,
    unsigned: Op,
    bool: Op,
}

const fn row(op: BinaryOp, float: Op, signed: Op, unsigned: Op, bool: Op) -> Row {
    Row { op, float, signed, unsigned, bool }
}

static BINARY: &[Row] = &[
    row(BinaryOp::Add, Op::FAdd, Op::IAdd, Op::IAdd, Op::Nop),
    row(BinaryOp::Sub, Op::FSub, Op::ISub, Op::ISub, Op::Nop),
    row(BinaryOp::Mul, Op::FMul, Op::IMul, Op::IMul, Op::Nop),
    row(BinaryOp::Div, Op::FDiv, Op::SDiv, Op::UDiv, Op::Nop),
    // The signed remainder is made of a quotient: see `signed_rem`.
    row(BinaryOp::Rem, Op::FRem, Op::Nop, Op::UMod, Op::Nop),
    row(BinaryOp::Shl, Op::Nop, Op::ShiftLeftLogical, Op::ShiftLeftLogical, Op::Nop),
    row(BinaryOp::Shr, Op::Nop, Op::ShiftRightArithmetic, Op::ShiftRightLogical, Op::Nop),
    row(BinaryOp::And, Op::Nop, Op::BitwiseAnd, Op::BitwiseAnd, Op::LogicalAnd),
    row(BinaryOp::Or, Op::Nop, Op::BitwiseOr, Op::BitwiseOr, Op::LogicalOr),
    row(BinaryOp::Xor, Op::Nop, Op::BitwiseXor, Op::BitwiseXor, Op::LogicalNotEqual),
    row(BinaryOp::Eq, Op::FOrdEqual, Op::IEqual, Op::IEqual, Op::LogicalEqual),
    row(BinaryOp::Ne, Op::FUnordNotEqual, Op::INotEqual, Op::INotEqual, Op::LogicalNotEqual),
    row(BinaryOp::Lt, Op::FOrdLessThan, Op::SLessThan, Op::ULessThan, Op::Nop),
    row(BinaryOp::Le, Op::FOrdLessThanEqual, Op::SLessThanEqual, Op::ULessThanEqual, Op::Nop),
    row(BinaryOp::Gt, Op::FOrdGreaterThan, Op::SGreaterThan, Op::UGreaterThan, Op::Nop),
    row(BinaryOp::Ge, Op::FOrdGreaterThanEqual, Op::SGreaterThanEqual, Op::UGreaterThanEqual, Op::Nop),
];

impl Fx<'_, '_> {
    /// Instructions that only compute.
    pub fn arithmetic(&mut self, data: &InstData) -> Option<u32> {
        match data.op {
            IrOp::Unary(op) => self.unary(data, op),
            IrOp::Binary(op) => self.binary(data, op),
            IrOp::Select => self.select(data),
            IrOp::Convert => self.convert(data),
            IrOp::Bitcast => self.bitcast(data),
            IrOp::Construct => self.construct(data),
            IrOp::Splat => {
                let (scalar, lanes) = self.shape(data.ty)?;
                let value = self.use_id(data.args[0]);
                Some(self.splat(value, scalar, lanes))
            }
            IrOp::Extract { index } => {
                let value = self.use_id(data.args[0]);
                if self.shape(self.func.ty(data.args[0])).is_some_and(|(_, lanes)| lanes == 1) {
                    return Some(value);
                }
                let ty = self.cx.ty(data.ty);
                Some(self.op(Op::CompositeExtract, ty, &[value, index]))
            }
            IrOp::Insert { index } => {
                let (whole, part) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
                let ty = self.cx.ty(data.ty);
                Some(self.op(Op::CompositeInsert, ty, &[part, whole, index]))
            }
            IrOp::ExtractDynamic => {
                let (vector, index) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
                let ty = self.cx.ty(data.ty);
                Some(self.op(Op::VectorExtractDynamic, ty, &[vector, index]))
            }
            IrOp::Swizzle(swizzle) => {
                let (scalar, lanes) = self.shape(self.func.ty(data.args[0]))?;
                let value = self.use_id(data.args[0]);
                let comps = swizzle.comps();
                if lanes == 1 {
                    return Some(self.splat(value, scalar, comps.len() as u8));
                }
                if let [only] = comps {
                    return Some(self.lane(value, scalar, lanes, *only));
                }
                let ty = self.cx.ty(data.ty);
                let mut operands = vec![value, value];
                operands.extend(comps.iter().map(|&c| u32::from(c)));
                Some(self.op(Op::VectorShuffle, ty, &operands))
            }
            IrOp::MatMul => self.mat_mul(data),
            _ => None,
        }
    }

    /// A composite; one of constants is a constant.
    fn construct(&mut self, data: &InstData) -> Option<u32> {
        let parts: Vec<u32> = data.args.iter().map(|&a| self.use_id(a)).collect();
        if parts.len() > MAX_OPERANDS {
            self.cx.unsupported(data.span, "the composite has too many parts for one instruction");
            return None;
        }
        let ty = self.cx.ty(data.ty);
        Some(self.op(Op::CompositeConstruct, ty, &parts))
    }

    /// Rows of a matrix: the type of the matrix, of a row, and how many.
    fn rows(&mut self, ty: Type) -> Option<(u32, u32, Scalar, u8, u8)> {
        match self.cx.ir.types.kind(ty) {
            TypeKind::Matrix { elem, rows, cols } => {
                let whole = self.cx.ty(ty);
                let row = self.cx.num(elem, cols);
                Some((whole, row, elem, rows, cols))
            }
            _ => None,
        }
    }

    fn unary(&mut self, data: &InstData, op: UnaryOp) -> Option<u32> {
        let value = self.use_id(data.args[0]);
        if let Some((ty, row_ty, _, rows, _)) = self.rows(data.ty) {
            let parts: Vec<u32> = (0..u32::from(rows))
                .map(|i| {
                    let row = self.op(Op::CompositeExtract, row_ty, &[value, i]);
                    self.op(Op::FNegate, row_ty, &[row])
                })
                .collect();
            return Some(self.op(Op::CompositeConstruct, ty, &parts));
        }
        let (scalar, _) = self.shape(data.ty)?;
        let ty = self.cx.ty(data.ty);
        let opcode = match (op, scalar) {
            (UnaryOp::Neg, Scalar::Float { .. }) => Op::FNegate,
            (UnaryOp::Neg, Scalar::Int { .. }) => Op::SNegate,
            (UnaryOp::Not, Scalar::Bool) => Op::LogicalNot,
            (UnaryOp::BitNot, Scalar::Int { .. }) => Op::Not,
            _ => return None,
        };
        Some(self.op(opcode, ty, &[value]))
    }

    fn binary(&mut self, data: &InstData, op: BinaryOp) -> Option<u32> {
        let (a, b) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
        let operand_ty = self.func.ty(data.args[0]);
        if let Some((ty, row_ty, scalar, rows, _)) = self.rows(operand_ty) {
            let row = BINARY.iter().find(|r| r.op == op)?;
            debug_assert!(scalar.is_float());
            let parts: Vec<u32> = (0..u32::from(rows))
                .map(|i| {
                    let left = self.op(Op::CompositeExtract, row_ty, &[a, i]);
                    let right = self.op(Op::CompositeExtract, row_ty, &[b, i]);
                    self.op(row.float, row_ty, &[left, right])
                })
                .collect();
            return Some(self.op(Op::CompositeConstruct, ty, &parts));
        }
        let (scalar, lanes) = self.shape(operand_ty)?;
        let ty = self.cx.ty(data.ty);
        match op {
            BinaryOp::Shl | BinaryOp::Shr => return self.shift(data, op, scalar, lanes, ty, a, b),
            BinaryOp::Rem if scalar.is_signed() => return Some(self.signed_rem(ty, a, b)),
            BinaryOp::Div | BinaryOp::Rem if scalar.is_int() && !scalar.is_signed() => {
                return self.unsigned_div(data, op, scalar, lanes, ty, a, b);
            }
            _ => {}
        }
        let opcode = opcode(op, scalar)?;
        Some(self.op(opcode, ty, &[a, b]))
    }

    /// Every component of a constant operand satisfies `test`.
    fn const_lanes(&self, value: oneshader_ir::Value, test: impl Fn(u64) -> bool) -> bool {
        let consts = &self.cx.ir.consts;
        let Some(c) = self.func.as_const(value) else { return false };
        match consts.data(c) {
            oneshader_ir::ConstData::Composite(parts) => parts.iter().all(|&p| consts.bits(p).is_some_and(&test)),
            _ => consts.bits(c).is_some_and(test),
        }
    }

    /// Shifts take the low bits of the amount; a larger amount is undefined in SPIR-V.
    #[expect(clippy::too_many_arguments, reason = "operands of one instruction, already taken apart")]
    fn shift(
        &mut self,
        data: &InstData,
        op: BinaryOp,
        scalar: Scalar,
        lanes: u8,
        ty: u32,
        a: u32,
        b: u32,
    ) -> Option<u32> {
        let opcode = opcode(op, scalar)?;
        let bits = u64::from(scalar.bits());
        let amount_ty = self.func.ty(data.args[1]);
        let (amount, amount_lanes) = self.shape(amount_ty)?;
        let mut b = b;
        if !self.const_lanes(data.args[1], |n| n < bits) {
            let mask = self.cx.number(amount, amount_lanes, bits as i64 - 1);
            let b_ty = self.cx.ty(amount_ty);
            b = self.op(Op::BitwiseAnd, b_ty, &[b, mask]);
        }
        debug_assert_eq!(lanes, amount_lanes);
        Some(self.op(opcode, ty, &[a, b]))
    }

    /// `a - a / b * b`. OpSRem of a negative operand is undefined in Vulkan (Vulkan specification, "Precision and operation
    /// of SPIR-V instructions"), and wrong on real devices; OpSDiv rounds toward zero for all operands.
    fn signed_rem(&mut self, ty: u32, a: u32, b: u32) -> u32 {
        let quotient = self.op(Op::SDiv, ty, &[a, b]);
        let whole = self.op(Op::IMul, ty, &[quotient, b]);
        self.op(Op::ISub, ty, &[a, whole])
    }

    /// Unsigned quotient and remainder by 0 are all ones in D3D and undefined in SPIR-V.
    #[expect(clippy::too_many_arguments, reason = "operands of one instruction, already taken apart")]
    fn unsigned_div(
        &mut self,
        data: &InstData,
        op: BinaryOp,
        scalar: Scalar,
        lanes: u8,
        ty: u32,
        a: u32,
        b: u32,
    ) -> Option<u32> {
        let opcode = opcode(op, scalar)?;
        if self.const_lanes(data.args[1], |n| n != 0) {
            return Some(self.op(opcode, ty, &[a, b]));
        }
        let zero = self.cx.number(scalar, lanes, 0);
        let one = self.cx.number(scalar, lanes, 1);
        let ones = self.cx.number(scalar, lanes, -1);
        let bools = self.cx.num(Scalar::Bool, lanes);
        let by_zero = self.op(Op::IEqual, bools, &[b, zero]);
        let divisor = self.op(Op::Select, ty, &[by_zero, one, b]);
        let quotient = self.op(opcode, ty, &[a, divisor]);
        Some(self.op(Op::Select, ty, &[by_zero, ones, quotient]))
    }

    fn select(&mut self, data: &InstData) -> Option<u32> {
        let cond = self.use_id(data.args[0]);
        let (a, b) = (self.use_id(data.args[1]), self.use_id(data.args[2]));
        let scalar_cond = self.shape(self.func.ty(data.args[0])).is_some_and(|(_, lanes)| lanes == 1);
        self.select_value(cond, scalar_cond, a, b, data.ty)
    }

    /// `cond ? a : b`. Before SPIR-V 1.4 the condition has as many components as the operands, which are no composites.
    fn select_value(&mut self, cond: u32, scalar_cond: bool, a: u32, b: u32, ty: Type) -> Option<u32> {
        let id = self.cx.ty(ty);
        let newer = self.cx.opts.target.at_least(4);
        if let Some((_, lanes)) = self.shape(ty) {
            let cond = if scalar_cond && lanes > 1 && !newer { self.splat(cond, Scalar::Bool, lanes) } else { cond };
            return Some(self.op(Op::Select, id, &[cond, a, b]));
        }
        if newer {
            return Some(self.op(Op::Select, id, &[cond, a, b]));
        }
        let ir = self.cx.ir;
        let parts: Vec<Option<Type>> = match ir.types.kind(ty) {
            TypeKind::Array { elem, len } if len <= 4096 => vec![Some(elem); len as usize],
            TypeKind::Struct(sid) => ir.types.structs[sid].members.iter().map(|m| Some(m.ty)).collect(),
            TypeKind::Matrix { rows, .. } => vec![None; usize::from(rows)],
            _ => {
                let span = self.span;
                self.cx.unsupported(span, "a selection between arrays of this size needs SPIR-V 1.4");
                return None;
            }
        };
        if !self.spend(parts.len() as u64) {
            return None;
        }
        let mut ids = Vec::new();
        for (i, part) in parts.into_iter().enumerate() {
            let row = match ir.types.kind(ty) {
                TypeKind::Matrix { elem, cols, .. } => Some((self.cx.num(elem, cols), cols)),
                _ => None,
            };
            let part_ty = match (part, row) {
                (Some(part), _) => self.cx.ty(part),
                (None, Some((row, _))) => row,
                (None, None) => return None,
            };
            let left = self.op(Op::CompositeExtract, part_ty, &[a, i as u32]);
            let right = self.op(Op::CompositeExtract, part_ty, &[b, i as u32]);
            ids.push(match (part, row) {
                (None, Some((row, cols))) => {
                    let conds = self.splat(cond, Scalar::Bool, cols);
                    self.op(Op::Select, row, &[conds, left, right])
                }
                (Some(part), _) => self.select_value(cond, true, left, right, part)?,
                (None, None) => return None,
            });
        }
        Some(self.op(Op::CompositeConstruct, id, &ids))
    }

    fn convert(&mut self, data: &InstData) -> Option<u32> {
        let value = self.use_id(data.args[0]);
        let from_ty = self.func.ty(data.args[0]);
        if let Some((ty, row_ty, to, rows, cols)) = self.rows(data.ty) {
            let (_, from_row, from, _, _) = self.rows(from_ty)?;
            let parts: Vec<u32> = (0..u32::from(rows))
                .filter_map(|i| {
                    let row = self.op(Op::CompositeExtract, from_row, &[value, i]);
                    self.convert_shape(row, from, to, cols)
                })
                .collect();
            debug_assert_ne!(row_ty, 0);
            return Some(self.op(Op::CompositeConstruct, ty, &parts));
        }
        let (from, lanes) = self.shape(from_ty)?;
        let (to, _) = self.shape(data.ty)?;
        if from.is_float() && to.is_int() && self.is_in_range(data.args[0], to, 0) {
            return Some(self.plain_float_to_int(value, to, lanes));
        }
        self.convert_shape(value, from, to, lanes)
    }

    /// Converts a scalar or vector.
    pub fn convert_shape(&mut self, value: u32, from: Scalar, to: Scalar, lanes: u8) -> Option<u32> {
        if from == to {
            return Some(value);
        }
        let ty = self.cx.num(to, lanes);
        Some(match (from, to) {
            (Scalar::Bool, _) => {
                let (one, zero) = (self.cx.number(to, lanes, 1), self.cx.number(to, lanes, 0));
                self.op(Op::Select, ty, &[value, one, zero])
            }
            (_, Scalar::Bool) => {
                let zero = self.cx.number(from, lanes, 0);
                let op = if from.is_float() { Op::FUnordNotEqual } else { Op::INotEqual };
                self.op(op, ty, &[value, zero])
            }
            (Scalar::Float { .. }, Scalar::Float { .. }) => self.op(Op::FConvert, ty, &[value]),
            (Scalar::Int { signed, .. }, Scalar::Float { .. }) => {
                self.op(if signed { Op::ConvertSToF } else { Op::ConvertUToF }, ty, &[value])
            }
            (Scalar::Float { .. }, Scalar::Int { .. }) => self.float_to_int(value, from, to, lanes),
            (Scalar::Int { bits: a, signed }, Scalar::Int { bits: b, signed: to_signed }) => {
                if a == b {
                    self.op(Op::Bitcast, ty, &[value])
                } else if signed {
                    self.op(Op::SConvert, ty, &[value])
                } else if !to_signed {
                    self.op(Op::UConvert, ty, &[value])
                } else {
                    let middle = self.cx.num(Scalar::Int { bits: b, signed: false }, lanes);
                    let wide = self.op(Op::UConvert, middle, &[value]);
                    self.op(Op::Bitcast, ty, &[wide])
                }
            }
        })
    }

    fn plain_float_to_int(&mut self, value: u32, to: Scalar, lanes: u8) -> u32 {
        let ty = self.cx.num(to, lanes);
        self.op(if to.is_signed() { Op::ConvertFToS } else { Op::ConvertFToU }, ty, &[value])
    }

    /// Float to integer as D3D has it: toward zero, saturating, NaN gives 0. SPIR-V's instruction is undefined outside of
    /// the range, so the operand is clamped to the floats next to the limits; what lies above them is replaced after.
    fn float_to_int(&mut self, value: u32, from: Scalar, to: Scalar, lanes: u8) -> u32 {
        if self.cx.opts.relaxed_conversions {
            return self.plain_float_to_int(value, to, lanes);
        }
        let (mut value, mut from) = (value, from);
        if from.bits() == 16 && to.bits() > 16 {
            let wide = self.cx.num(Scalar::F32, lanes);
            value = self.op(Op::FConvert, wide, &[value]);
            from = Scalar::F32;
        }
        let from_ty = self.cx.num(from, lanes);
        let ty = self.cx.num(to, lanes);
        let bools = self.cx.num(Scalar::Bool, lanes);
        let limits = Limits::new(from, to);
        let low = self.cx.float(from, limits.low);
        let low = self.cx.splat_const(from, lanes, low);
        let high = self.cx.float(from, limits.high);
        let high = self.cx.splat_const(from, lanes, high);
        let clamped = self.glsl(Glsl::NClamp, from_ty, &[value, low, high]);
        let mut result = self.plain_float_to_int(clamped, to, lanes);
        if !limits.exact {
            let above = self.op(Op::FOrdGreaterThan, bools, &[value, high]);
            let most = self.cx.number(to, lanes, limits.most);
            result = self.op(Op::Select, ty, &[above, most, result]);
        }
        if to.is_signed() {
            // NClamp gives the lower limit for NaN, which is 0 for unsigned numbers.
            let nan = self.op(Op::IsNan, bools, &[value]);
            let zero = self.cx.number(to, lanes, 0);
            result = self.op(Op::Select, ty, &[nan, zero, result]);
        }
        result
    }

    /// Whether a float is known to lie within the range of an integer type and to be a number: it was an integer of that
    /// range, or is clamped by constants. Rounding and multiplication by a small constant keep it so.
    fn is_in_range(&self, value: oneshader_ir::Value, to: Scalar, depth: u32) -> bool {
        use oneshader_ir::Intrinsic as I;
        let Some((_, data)) = self.func.def_inst(value) else { return false };
        if depth > 4 {
            return false;
        }
        match data.op {
            IrOp::Convert => match self.shape(self.func.ty(data.args[0])) {
                // Rounding to the float must not leave the range: 2^32 - 1 becomes 2^32.
                Some((Scalar::Int { bits, signed }, _)) => u32::from(bits) < to.bits() && (to.is_signed() || !signed),
                Some((Scalar::Bool, _)) => true,
                _ => false,
            },
            IrOp::Intrinsic(I::Saturate) => true,
            IrOp::Intrinsic(I::Floor | I::Ceil | I::Trunc | I::RoundEven) => {
                self.is_in_range(data.args[0], to, depth + 1)
            }
            IrOp::Binary(BinaryOp::Mul) => (0..2).any(|i| {
                matches!(self.func.def_inst(data.args[i]), Some((_, d)) if d.op == IrOp::Intrinsic(I::Saturate))
                    && self.const_lanes(data.args[1 - i], |bits| (0.0..=65536.0).contains(&f32::from_bits(bits as u32)))
                    && self.shape(data.ty).is_some_and(|(s, _)| s == Scalar::F32)
                    && to.bits() >= 32
            }),
            IrOp::Copy => self.is_in_range(data.args[0], to, depth + 1),
            _ => false,
        }
    }

    fn bitcast(&mut self, data: &InstData) -> Option<u32> {
        let value = self.use_id(data.args[0]);
        let (from, to) = (self.cx.ty(self.func.ty(data.args[0])), self.cx.ty(data.ty));
        if from == to {
            return Some(value);
        }
        Some(self.op(Op::Bitcast, to, &[value]))
    }

    /// HLSL's `mul`. Our matrices are lists of rows where SPIR-V's are lists of columns, that is, transposed: the operands
    /// change places.
    fn mat_mul(&mut self, data: &InstData) -> Option<u32> {
        let (a, b) = (self.use_id(data.args[0]), self.use_id(data.args[1]));
        let ty = self.cx.ty(data.ty);
        let is_matrix =
            |fx: &Self, i: usize| matches!(fx.cx.ir.types.kind(fx.func.ty(data.args[i])), TypeKind::Matrix { .. });
        let op = match (is_matrix(self, 0), is_matrix(self, 1)) {
            (true, true) => Op::MatrixTimesMatrix,
            (true, false) => Op::VectorTimesMatrix,
            (false, true) => Op::MatrixTimesVector,
            (false, false) => return None,
        };
        Some(self.op(op, ty, &[b, a]))
    }

    /// Whether the instruction at hand must be computed as written.
    pub fn is_precise(&self) -> bool {
        self.flags.contains(InstFlags::PRECISE)
    }
}

/// The instruction of a binary operation on scalars or vectors.
fn opcode(op: BinaryOp, scalar: Scalar) -> Option<Op> {
    let row = BINARY.iter().find(|r| r.op == op)?;
    let opcode = match scalar {
        Scalar::Float { .. } => row.float,
        Scalar::Int { signed: true, .. } => row.signed,
        Scalar::Int { .. } => row.unsigned,
        Scalar::Bool => row.bool,
    };
    (opcode != Op::Nop).then_some(opcode)
}

/// Where a conversion from float to integer saturates.
struct Limits {
    /// The least float that converts.
    low: f64,
    /// The greatest one.
    high: f64,
    /// The greatest integer.
    most: i64,
    /// `high` converts to `most`, or nothing finite lies above.
    exact: bool,
}

impl Limits {
    fn new(from: Scalar, to: Scalar) -> Self {
        let bits = to.bits() - u32::from(to.is_signed());
        let most = if to.is_signed() {
            if to.bits() == 64 { i64::MAX } else { (1i64 << bits) - 1 }
        } else if to.bits() == 64 {
            -1
        } else {
            (1i64 << bits) - 1
        };
        // The greatest float of the format below 2^bits: all of its mantissa's bits set, none below 1.
        let mantissa = match from.bits() {
            16 => 11,
            64 => 53,
            _ => 24,
        };
        let top = f64::from(bits).exp2();
        let exact = bits <= mantissa;
        let high = if exact { top - 1.0 } else { top - f64::from(bits - mantissa).exp2() };
        let low = if to.is_signed() { -top } else { 0.0 };
        Self { low, high, most, exact }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_operation_has_a_row() {
        for (i, row) in BINARY.iter().enumerate() {
            assert!(BINARY[..i].iter().all(|r| r.op != row.op));
        }
        assert_eq!(BINARY.len(), 16);
    }

    #[test]
    fn limits_are_the_floats_next_to_the_integers_limits() {
        let i = Limits::new(Scalar::F32, Scalar::I32);
        assert_eq!((i.low, i.high, i.most, i.exact), (-2147483648.0, 2147483520.0, 2147483647, false));
        let u = Limits::new(Scalar::F32, Scalar::U32);
        assert_eq!((u.low, u.high, u.most, u.exact), (0.0, 4294967040.0, 4294967295, false));
        let d = Limits::new(Scalar::F64, Scalar::I32);
        assert_eq!((d.high, d.exact), (2147483647.0, true));
        let s = Limits::new(Scalar::F16, Scalar::Int { bits: 16, signed: true });
        assert_eq!((s.low, s.high, s.most, s.exact), (-32768.0, 32752.0, 32767, false));
    }
}
