//! Algebraic identities that hold for every operand.
//!
//! On integers and `bool`s all of them; on floats those that give the same bits (`x * 1`, `x - 0`, `x / 2` as `x * 0.5`), and,
//! unless the instruction is `precise`, those that differ in the sign of zero alone (`x + 0`).

use crate::edit::Replacements;
use crate::manager::Cx;
use oneshader_ir::eval::scalar;
use oneshader_ir::{BinaryOp, Const, ConstData, Function, Inst, InstFlags, IrModule, Op, Scalar, Type, UnaryOp, Value};
use smallvec::SmallVec;

/// What an instruction becomes.
enum Change {
    /// A value that is there already.
    Value(Value),
    /// A constant of the result's type.
    Const(Const),
    /// Another operation on these operands.
    Op(Op, SmallVec<[Value; 4]>),
    /// Another operation on a value and a constant.
    OpConst(BinaryOp, Value, Const),
}

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    let mut replaced = Replacements::default();
    let mut changed = false;
    for index in 0..func.order.len() {
        let block = func.order[index];
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            for arg in &mut func.insts[inst].args {
                *arg = replaced.get(*arg);
            }
            let Some(change) = simplify(module, func, inst) else { continue };
            changed = true;
            let Some(result) = func.insts[inst].result else { continue };
            match change {
                Change::Value(value) => replaced.set(func, result, value),
                Change::Const(c) => {
                    let value = func.const_value(&module.consts, c);
                    replaced.set(func, result, value);
                }
                Change::Op(op, args) => {
                    let data = &mut func.insts[inst];
                    (data.op, data.args) = (op, args);
                }
                Change::OpConst(op, a, c) => {
                    let c = func.const_value(&module.consts, c);
                    let data = &mut func.insts[inst];
                    (data.op, data.args) = (Op::Binary(op), SmallVec::from_slice(&[a, c]));
                }
            }
        }
    }
    replaced.apply(func);
    changed
}

/// The bits of a scalar constant, or of a vector constant of equal components.
fn uniform(module: &IrModule, func: &Function, value: Value) -> Option<u64> {
    let c = func.as_const(value)?;
    match module.consts.data(c) {
        ConstData::Composite(parts) => {
            let first = *parts.first()?;
            if parts.iter().all(|&p| p == first) { module.consts.bits(first) } else { None }
        }
        ConstData::Zero if module.types.lanes(module.consts.ty(c)) > 0 => Some(0),
        _ => module.consts.bits(c),
    }
}

/// A constant of type `ty`, a scalar or vector, of which all components have these bits.
fn constant(module: &mut IrModule, ty: Type, bits: u64) -> Option<Const> {
    let elem = module.types.scalar_of(ty)?;
    let c = module.consts.scalar(&mut module.types, elem, bits);
    match module.types.lanes(ty) {
        0 => None,
        1 => Some(c),
        len => {
            let parts: SmallVec<[Const; 4]> = (0..len).map(|_| c).collect();
            Some(module.consts.composite(&module.types, ty, &parts))
        }
    }
}

fn simplify(module: &mut IrModule, func: &mut Function, inst: Inst) -> Option<Change> {
    let (op, ty, flags) = (func.insts[inst].op, func.insts[inst].ty, func.insts[inst].flags);
    if !matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Select) {
        return None;
    }
    let args: SmallVec<[Value; 4]> = SmallVec::from_slice(&func.insts[inst].args);
    match op {
        Op::Unary(op) => {
            let (_, inner) = func.def_inst(args[0])?;
            if inner.op == Op::Unary(op) {
                return Some(Change::Value(inner.args[0]));
            }
            // not (a < b) is not a >= b for NaN; equality alone turns around.
            let turned = match (op, inner.op) {
                (UnaryOp::Not, Op::Binary(BinaryOp::Eq)) => BinaryOp::Ne,
                (UnaryOp::Not, Op::Binary(BinaryOp::Ne)) => BinaryOp::Eq,
                _ => return None,
            };
            Some(Change::Op(Op::Binary(turned), inner.args.clone()))
        }
        Op::Binary(op) => binary(module, func, op, ty, flags, args[0], args[1]),
        Op::Select => {
            let bools = module.types.scalar_of(ty) == Some(Scalar::Bool) && func.ty(args[0]) == ty;
            match (uniform(module, func, args[1]), uniform(module, func, args[2])) {
                (Some(1), Some(0)) if bools => Some(Change::Value(args[0])),
                (Some(0), Some(1)) if bools => {
                    Some(Change::Op(Op::Unary(UnaryOp::Not), SmallVec::from_slice(&args[..1])))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn binary(
    module: &mut IrModule,
    func: &Function,
    op: BinaryOp,
    ty: Type,
    flags: InstFlags,
    a: Value,
    b: Value,
) -> Option<Change> {
    let elem = module.types.scalar_of(func.ty(a))?;
    let (left, right) = (uniform(module, func, a), uniform(module, func, b));
    match elem {
        Scalar::Float { .. } => float(module, func, op, ty, flags, (a, left), (b, right), elem),
        _ => integer(module, op, ty, (a, left), (b, right), elem),
    }
}

#[expect(clippy::too_many_arguments, reason = "one operation, spelled out")]
fn float(
    module: &mut IrModule,
    func: &Function,
    op: BinaryOp,
    ty: Type,
    flags: InstFlags,
    (a, left): (Value, Option<u64>),
    (b, right): (Value, Option<u64>),
    elem: Scalar,
) -> Option<Change> {
    let number = |bits: u64| scalar::to_f64(elem, bits);
    let one = scalar::from_f64(elem, 1.0);
    let minus_zero = scalar::from_f64(elem, -0.0);
    let precise = flags.contains(InstFlags::PRECISE);
    match op {
        BinaryOp::Mul if right == Some(one) => Some(Change::Value(a)),
        BinaryOp::Mul if left == Some(one) => Some(Change::Value(b)),
        BinaryOp::Div if right == Some(one) => Some(Change::Value(a)),
        BinaryOp::Sub if right == Some(0) => Some(Change::Value(a)),
        BinaryOp::Add if right == Some(minus_zero) || (!precise && right == Some(0)) => Some(Change::Value(a)),
        BinaryOp::Add if left == Some(minus_zero) || (!precise && left == Some(0)) => Some(Change::Value(b)),
        // a + -b, a - -b.
        BinaryOp::Add | BinaryOp::Sub => {
            let (_, inner) = func.def_inst(b).filter(|(_, d)| d.op == Op::Unary(UnaryOp::Neg))?;
            let turned = if op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add };
            Some(Change::Op(Op::Binary(turned), SmallVec::from_slice(&[a, inner.args[0]])))
        }
        // The reciprocal of a power of two is exact, if it is a normal number.
        BinaryOp::Div => {
            let divisor = number(right?);
            let reciprocal = 1.0 / divisor;
            let back = scalar::from_f64(elem, reciprocal);
            let exact = divisor.is_normal() && number(back) == reciprocal && reciprocal.is_normal() && {
                let mantissa = divisor.abs().to_bits() & ((1 << 52) - 1);
                mantissa == 0
            };
            let narrow = elem.bits() < 64 && reciprocal.abs() < least_normal(elem);
            if !exact || narrow {
                return None;
            }
            let c = constant(module, ty, back)?;
            Some(Change::OpConst(BinaryOp::Mul, a, c))
        }
        _ => None,
    }
}

fn least_normal(elem: Scalar) -> f64 {
    match elem.bits() {
        16 => f64::powi(2.0, -14),
        _ => f64::powi(2.0, -126),
    }
}

fn integer(
    module: &mut IrModule,
    op: BinaryOp,
    ty: Type,
    (a, left): (Value, Option<u64>),
    (b, right): (Value, Option<u64>),
    elem: Scalar,
) -> Option<Change> {
    let ones = if elem == Scalar::Bool { 1 } else { u64::MAX >> (64 - elem.bits()) };
    let zero = |module: &mut IrModule| constant(module, ty, 0).map(Change::Const);
    let signed = elem.is_signed();
    match op {
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if right == Some(0) => Some(Change::Value(a)),
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if left == Some(0) => Some(Change::Value(b)),
        BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr if right == Some(0) => Some(Change::Value(a)),
        BinaryOp::Sub | BinaryOp::Xor if a == b => zero(module),
        BinaryOp::And | BinaryOp::Or if a == b => Some(Change::Value(a)),
        BinaryOp::And if right == Some(ones) => Some(Change::Value(a)),
        BinaryOp::And if left == Some(ones) => Some(Change::Value(b)),
        BinaryOp::And | BinaryOp::Mul if right == Some(0) || left == Some(0) => zero(module),
        BinaryOp::Or if right == Some(ones) || left == Some(ones) => constant(module, ty, ones).map(Change::Const),
        BinaryOp::Mul | BinaryOp::Div if right == Some(1) => Some(Change::Value(a)),
        BinaryOp::Mul if left == Some(1) => Some(Change::Value(b)),
        BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge if a == b => constant(module, ty, 1).map(Change::Const),
        BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt if a == b => zero(module),
        BinaryOp::Eq if elem == Scalar::Bool && right == Some(1) => Some(Change::Value(a)),
        BinaryOp::Ne if elem == Scalar::Bool && right == Some(0) => Some(Change::Value(a)),
        BinaryOp::Mul if right.is_some_and(u64::is_power_of_two) => shift(module, BinaryOp::Shl, ty, a, right?),
        BinaryOp::Mul if left.is_some_and(u64::is_power_of_two) => shift(module, BinaryOp::Shl, ty, b, left?),
        BinaryOp::Div if !signed && right.is_some_and(u64::is_power_of_two) => {
            shift(module, BinaryOp::Shr, ty, a, right?)
        }
        BinaryOp::Rem if !signed && right.is_some_and(u64::is_power_of_two) => {
            let c = constant(module, ty, right? - 1)?;
            Some(Change::OpConst(BinaryOp::And, a, c))
        }
        _ => None,
    }
}

fn shift(module: &mut IrModule, op: BinaryOp, ty: Type, a: Value, power: u64) -> Option<Change> {
    let c = constant(module, ty, u64::from(power.trailing_zeros()))?;
    Some(Change::OpConst(op, a, c))
}
