//! Arithmetic on single scalars, given and returned as zero-extended bits (`bool` as 0 and 1).
//!
//! Floats of 16 and 32 bits are computed in 64 and rounded once more. For sums, differences, products, quotients and
//! square roots that equals rounding once, as 53 bits are at least twice 24 and two more (Figueroa 1995).

use crate::inst::{BinaryOp, UnaryOp};
use crate::types::Scalar;
use half::f16;

/// The number a float's bits stand for.
pub fn to_f64(scalar: Scalar, bits: u64) -> f64 {
    match scalar.bits() {
        16 => f16::from_bits(bits as u16).to_f64(),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The bits of the float nearest to `value`, halves to even; NaN is the canonical quiet NaN.
pub fn from_f64(scalar: Scalar, value: f64) -> u64 {
    match (scalar.bits(), value.is_nan()) {
        (16, true) => 0x7e00,
        (32, true) => 0x7fc0_0000,
        (_, true) => 0x7ff8_0000_0000_0000,
        (16, _) => u64::from(f16::from_f64(value).to_bits()),
        (32, _) => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// The number an integer's bits stand for.
pub fn to_i128(scalar: Scalar, bits: u64) -> i128 {
    let unused = 64 - scalar.bits();
    match scalar.is_signed() {
        true => i128::from(((bits << unused) as i64) >> unused),
        false => i128::from(bits),
    }
}

fn mask(scalar: Scalar) -> u64 {
    u64::MAX >> (64 - scalar.bits())
}

/// One operand.
pub fn unary(op: UnaryOp, scalar: Scalar, a: u64) -> Option<u64> {
    match (op, scalar) {
        (UnaryOp::Not, Scalar::Bool) => Some(a ^ 1),
        (UnaryOp::BitNot, Scalar::Int { .. }) => Some(!a & mask(scalar)),
        (UnaryOp::Neg, Scalar::Int { .. }) => Some(a.wrapping_neg() & mask(scalar)),
        (UnaryOp::Neg, Scalar::Float { .. }) => Some(a ^ 1 << (scalar.bits() - 1)),
        _ => None,
    }
}

/// Two operands of type `scalar`.
pub fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    match scalar {
        Scalar::Bool => bool_binary(op, a, b),
        Scalar::Int { .. } => int_binary(op, scalar, a, b),
        Scalar::Float { .. } => float_binary(op, scalar, a, b),
    }
}

fn bool_binary(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    match op {
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor | BinaryOp::Ne => Some(a ^ b),
        BinaryOp::Eq => Some(a ^ b ^ 1),
        _ => None,
    }
}

fn int_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (to_i128(scalar, a), to_i128(scalar, b));
    let shift = (b & u64::from(scalar.bits() - 1)) as u32;
    let value = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => i128::from(a.wrapping_mul(b)),
        // D3D11.3 functional specification 22.12: udiv by zero gives all ones for quotient and remainder.
        BinaryOp::Div | BinaryOp::Rem if y == 0 => return (!scalar.is_signed()).then(|| mask(scalar)),
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Shl => x << shift,
        BinaryOp::Shr => x >> shift,
        BinaryOp::And => i128::from(a & b),
        BinaryOp::Or => i128::from(a | b),
        BinaryOp::Xor => i128::from(a ^ b),
        BinaryOp::Eq => i128::from(x == y),
        BinaryOp::Ne => i128::from(x != y),
        BinaryOp::Lt => i128::from(x < y),
        BinaryOp::Le => i128::from(x <= y),
        BinaryOp::Gt => i128::from(x > y),
        BinaryOp::Ge => i128::from(x >= y),
    };
    Some(value as u64 & mask(scalar))
}

fn float_binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (to_f64(scalar, a), to_f64(scalar, b));
    let value = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => libm::fmod(x, y),
        BinaryOp::Eq => return Some(u64::from(x == y)),
        BinaryOp::Ne => return Some(u64::from(x != y)),
        BinaryOp::Lt => return Some(u64::from(x < y)),
        BinaryOp::Le => return Some(u64::from(x <= y)),
        BinaryOp::Gt => return Some(u64::from(x > y)),
        BinaryOp::Ge => return Some(u64::from(x >= y)),
        _ => return None,
    };
    Some(from_f64(scalar, value))
}

/// Conversion of a value (`Op::Convert`).
pub fn convert(from: Scalar, to: Scalar, a: u64) -> u64 {
    match (from, to) {
        (_, Scalar::Bool) => u64::from(if from.is_float() { to_f64(from, a) != 0.0 } else { a != 0 }),
        (Scalar::Bool, Scalar::Int { .. }) => a,
        (Scalar::Bool, Scalar::Float { .. }) => from_f64(to, a as f64),
        (Scalar::Int { .. }, Scalar::Int { .. }) => to_i128(from, a) as u64 & mask(to),
        // Straight to the narrow format: through binary64 a 64-bit integer would be rounded twice.
        (Scalar::Int { .. }, Scalar::Float { bits: 32 }) => u64::from((to_i128(from, a) as f32).to_bits()),
        (Scalar::Int { .. }, Scalar::Float { .. }) => from_f64(to, to_i128(from, a) as f64),
        (Scalar::Float { .. }, Scalar::Int { .. }) => {
            let value = to_f64(from, a);
            let (low, high) = match to.is_signed() {
                true => (-(1i128 << (to.bits() - 1)), (1i128 << (to.bits() - 1)) - 1),
                false => (0, (1i128 << to.bits()) - 1),
            };
            // `as` truncates, saturates, and takes NaN to 0.
            (value as i128).clamp(low, high) as u64 & mask(to)
        }
        (Scalar::Float { .. }, Scalar::Float { .. }) => from_f64(to, to_f64(from, a)),
    }
}
