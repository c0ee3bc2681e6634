//! Evaluates pure operations on constants, exactly as `docs/ir.md` says a program computes them.
//!
//! The front end's constant expressions and the optimizer share this one evaluator. Results do not depend on the machine
//! that compiles: floats are computed by `libm`'s portable code, and a computed NaN is always the canonical quiet one.

mod intrinsic;
pub mod scalar;

use crate::consts::{ConstData, Consts};
use crate::entity::{Const, Type};
use crate::inst::Op;
use crate::types::{Scalar, TypeKind, Types};
use smallvec::SmallVec;

/// Bits of the scalars of a scalar, vector or matrix constant, row after row.
type Lanes = SmallVec<[u64; 16]>;

/// Composites of more parts than this are not rebuilt by [`Op::Insert`].
const MAX_PARTS: u32 = 4096;

/// The constant that `op` gives for constant operands, or `None` when it is not known at compile time: an operand is
/// undefined or a specialization constant, the result is undefined (signed division by zero), or the operation depends on
/// more than its operands. `ty` is the type of the result.
pub fn fold(types: &mut Types, consts: &mut Consts, op: Op, ty: Type, args: &[Const]) -> Option<Const> {
    match (op, args) {
        (Op::Copy, &[a]) => Some(a),
        (Op::Unary(op), &[a]) => {
            let scalar = types.scalar_of(ty)?;
            map1(types, consts, ty, a, |a| scalar::unary(op, scalar, a))
        }
        (Op::Binary(op), &[a, b]) => {
            let scalar = types.scalar_of(consts.ty(a))?;
            map2(types, consts, ty, a, b, |a, b| scalar::binary(op, scalar, a, b))
        }
        (Op::Select, &[cond, a, b]) => fold_select(types, consts, ty, cond, a, b),
        (Op::Convert, &[a]) => {
            let (from, to) = (types.scalar_of(consts.ty(a))?, types.scalar_of(ty)?);
            map1(types, consts, ty, a, |a| Some(scalar::convert(from, to, a)))
        }
        (Op::Bitcast, &[a]) => fold_bitcast(types, consts, ty, a),
        (Op::Construct, parts) => fold_construct(types, consts, ty, parts),
        (Op::Splat, &[a]) => Some(consts.splat(types, a, types.lanes(ty))),
        (Op::Extract { index }, &[a]) => consts.part(types, a, index),
        (Op::Insert { index }, &[a, part]) => fold_insert(types, consts, ty, a, index, part),
        (Op::ExtractDynamic, &[a, index]) => {
            let index = consts.bits(index)?;
            consts.part(types, a, u32::try_from(index).ok()?)
        }
        (Op::Swizzle(swizzle), &[a]) => {
            let mut parts: SmallVec<[Const; 4]> = SmallVec::new();
            for &c in swizzle.comps() {
                parts.push(consts.part(types, a, u32::from(c))?);
            }
            match parts[..] {
                [only] => Some(only),
                _ => Some(consts.composite(types, ty, &parts)),
            }
        }
        (Op::MatMul, &[a, b]) => fold_matmul(types, consts, ty, a, b),
        (Op::Intrinsic(which), args) => intrinsic::fold(types, consts, which, ty, args),
        _ => None,
    }
}

/// Bits of all scalars of `c`, when it is a known scalar, vector or matrix.
fn lanes(types: &Types, consts: &Consts, c: Const) -> Option<Lanes> {
    let count = match types.kind(consts.ty(c)) {
        TypeKind::Scalar(_) => 1,
        TypeKind::Vector { len, .. } => usize::from(len),
        TypeKind::Matrix { rows, cols, .. } => usize::from(rows) * usize::from(cols),
        _ => return None,
    };
    let mut out = Lanes::new();
    push_lanes(consts, c, count, &mut out)?;
    (out.len() == count).then_some(out)
}

fn push_lanes(consts: &Consts, c: Const, count: usize, out: &mut Lanes) -> Option<()> {
    match consts.data(c) {
        ConstData::Bool(b) => out.push(u64::from(*b)),
        ConstData::Int(bits) | ConstData::Float(bits) => out.push(*bits),
        ConstData::Zero => out.resize(out.len() + count, 0),
        ConstData::Composite(parts) => {
            // A matrix of rows of scalars: two levels.
            let each = count / parts.len().max(1);
            for &part in parts {
                push_lanes(consts, part, each, out)?;
            }
        }
        ConstData::Undef | ConstData::Spec(_) => return None,
    }
    Some(())
}

/// The scalar, vector or matrix constant of type `ty` with these scalars.
fn build(types: &mut Types, consts: &mut Consts, ty: Type, bits: &[u64]) -> Option<Const> {
    match types.kind(ty) {
        TypeKind::Scalar(s) => Some(consts.scalar(types, s, *bits.first()?)),
        TypeKind::Vector { elem, len } if bits.len() == usize::from(len) => {
            let parts: SmallVec<[Const; 4]> = bits.iter().map(|&b| consts.scalar(types, elem, b)).collect();
            Some(consts.composite(types, ty, &parts))
        }
        TypeKind::Matrix { elem, rows, cols } if bits.len() == usize::from(rows) * usize::from(cols) => {
            let row = types.vector(elem, cols);
            let mut parts: SmallVec<[Const; 4]> = SmallVec::new();
            for line in bits.chunks(usize::from(cols)) {
                parts.push(build(types, consts, row, line)?);
            }
            Some(consts.composite(types, ty, &parts))
        }
        _ => None,
    }
}

fn map1(types: &mut Types, consts: &mut Consts, ty: Type, a: Const, f: impl Fn(u64) -> Option<u64>) -> Option<Const> {
    let out = lanes(types, consts, a)?.into_iter().map(f).collect::<Option<Lanes>>()?;
    build(types, consts, ty, &out)
}

fn map2(
    types: &mut Types,
    consts: &mut Consts,
    ty: Type,
    a: Const,
    b: Const,
    f: impl Fn(u64, u64) -> Option<u64>,
) -> Option<Const> {
    let (a, b) = (lanes(types, consts, a)?, lanes(types, consts, b)?);
    if a.len() != b.len() {
        return None;
    }
    let out = a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect::<Option<Lanes>>()?;
    build(types, consts, ty, &out)
}

fn fold_select(types: &mut Types, consts: &mut Consts, ty: Type, cond: Const, a: Const, b: Const) -> Option<Const> {
    if a == b {
        return Some(a);
    }
    if let Some(cond) = consts.bits(cond) {
        return Some(if cond != 0 { a } else { b });
    }
    let conds = lanes(types, consts, cond)?;
    let mut parts: SmallVec<[Const; 4]> = SmallVec::new();
    for (i, cond) in conds.into_iter().enumerate() {
        parts.push(consts.part(types, if cond != 0 { a } else { b }, i as u32)?);
    }
    Some(consts.composite(types, ty, &parts))
}

fn fold_bitcast(types: &mut Types, consts: &mut Consts, ty: Type, a: Const) -> Option<Const> {
    let (from, to) = (types.scalar_of(consts.ty(a))?, types.scalar_of(ty)?);
    if from == Scalar::Bool || to == Scalar::Bool {
        return None;
    }
    // Little-endian bytes, low component first.
    let bytes: SmallVec<[u8; 32]> = lanes(types, consts, a)?
        .into_iter()
        .flat_map(|bits| bits.to_le_bytes().into_iter().take(from.bits() as usize / 8))
        .collect();
    let out: Lanes = bytes
        .chunks(to.bits() as usize / 8)
        .map(|chunk| chunk.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
        .collect();
    build(types, consts, ty, &out)
}

fn fold_construct(types: &mut Types, consts: &mut Consts, ty: Type, parts: &[Const]) -> Option<Const> {
    let TypeKind::Vector { len, .. } = types.kind(ty) else {
        return Some(consts.composite(types, ty, parts));
    };
    let mut flat: SmallVec<[Const; 4]> = SmallVec::new();
    for &part in parts {
        match types.lanes(consts.ty(part)) {
            1 => flat.push(part),
            n => {
                for i in 0..u32::from(n) {
                    flat.push(consts.part(types, part, i)?);
                }
            }
        }
    }
    (flat.len() == usize::from(len)).then(|| consts.composite(types, ty, &flat))
}

fn fold_insert(types: &mut Types, consts: &mut Consts, ty: Type, a: Const, index: u32, part: Const) -> Option<Const> {
    let count = match types.kind(ty) {
        TypeKind::Vector { len, .. } => u32::from(len),
        TypeKind::Matrix { rows, .. } => u32::from(rows),
        TypeKind::Array { len, .. } => len,
        TypeKind::Struct(id) => types.structs[id].members.len() as u32,
        _ => return None,
    };
    if index >= count || count > MAX_PARTS {
        return None;
    }
    let mut parts = Vec::with_capacity(count as usize);
    for i in 0..count {
        parts.push(if i == index { part } else { consts.part(types, a, i)? });
    }
    Some(consts.composite(types, ty, &parts))
}

fn fold_matmul(types: &mut Types, consts: &mut Consts, ty: Type, a: Const, b: Const) -> Option<Const> {
    // A vector on the left is one row, on the right one column.
    let (rows, inner, scalar) = match types.kind(consts.ty(a)) {
        TypeKind::Matrix { rows, cols, elem } => (usize::from(rows), usize::from(cols), elem),
        TypeKind::Vector { len, elem } => (1, usize::from(len), elem),
        _ => return None,
    };
    let (depth, cols) = match types.kind(consts.ty(b)) {
        TypeKind::Matrix { rows, cols, .. } => (usize::from(rows), usize::from(cols)),
        TypeKind::Vector { len, .. } => (usize::from(len), 1),
        _ => return None,
    };
    let (a, b) = (lanes(types, consts, a)?, lanes(types, consts, b)?);
    if inner != depth {
        return None;
    }
    let mut out = Lanes::new();
    for r in 0..rows {
        for c in 0..cols {
            let sum = (0..inner).fold(0.0, |sum, k| {
                let product = scalar::to_f64(scalar, a[r * inner + k]) * scalar::to_f64(scalar, b[k * cols + c]);
                if k == 0 { product } else { sum + product }
            });
            out.push(scalar::from_f64(scalar, sum));
        }
    }
    build(types, consts, ty, &out)
}

#[cfg(test)]
mod tests;
