//! Constants.

use crate::cx::Cx;
use crate::module::MAX_OPERANDS;
use oneshader_diag::Span;
use oneshader_ir::{Const, ConstData, Scalar, SpecId};
use spirv::{Decoration, Op};

impl Cx<'_> {
    /// A scalar of a type from its bits.
    pub fn scalar_const(&mut self, scalar: Scalar, bits: u64) -> u32 {
        let ty = self.scalar(scalar);
        match scalar {
            Scalar::Bool if bits != 0 => self.unique_const(Op::ConstantTrue, ty, &[]),
            Scalar::Bool => self.unique_const(Op::ConstantFalse, ty, &[]),
            _ => {
                let words = literal(scalar, bits);
                let count = if scalar.bits() == 64 { 2 } else { 1 };
                self.unique_const(Op::Constant, ty, &words[..count])
            }
        }
    }

    pub fn u32(&mut self, value: u32) -> u32 {
        self.scalar_const(Scalar::U32, u64::from(value))
    }

    pub fn i32(&mut self, value: i32) -> u32 {
        self.scalar_const(Scalar::I32, u64::from(value as u32))
    }

    pub fn f32(&mut self, value: f32) -> u32 {
        self.scalar_const(Scalar::F32, u64::from(value.to_bits()))
    }

    /// The float `value` in a float type; `value` must be exact in it.
    pub fn float(&mut self, scalar: Scalar, value: f64) -> u32 {
        let bits = match scalar.bits() {
            16 => u64::from(half(value)),
            64 => value.to_bits(),
            _ => u64::from((value as f32).to_bits()),
        };
        self.scalar_const(scalar, bits)
    }

    /// A scalar constant repeated, or the scalar itself when `lanes` is 1.
    pub fn splat_const(&mut self, scalar: Scalar, lanes: u8, value: u32) -> u32 {
        if lanes <= 1 {
            return value;
        }
        let ty = self.num(scalar, lanes);
        self.unique_const(Op::ConstantComposite, ty, &vec![value; usize::from(lanes)])
    }

    /// The number `value` in any numeric type, in every lane.
    pub fn number(&mut self, scalar: Scalar, lanes: u8, value: i64) -> u32 {
        let one = match scalar {
            Scalar::Bool => self.scalar_const(scalar, u64::from(value != 0)),
            Scalar::Int { bits, .. } => {
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                self.scalar_const(scalar, value as u64 & mask)
            }
            Scalar::Float { .. } => self.float(scalar, value as f64),
        };
        self.splat_const(scalar, lanes, one)
    }

    /// Any value of a type.
    pub fn undef(&mut self, ty: u32) -> u32 {
        self.unique_const(Op::Undef, ty, &[])
    }

    /// All bits zero.
    pub fn null(&mut self, ty: u32) -> u32 {
        self.unique_const(Op::ConstantNull, ty, &[])
    }

    /// A constant of the module.
    pub fn constant(&mut self, c: Const) -> u32 {
        let ir = self.ir;
        let ty = ir.consts.ty(c);
        match ir.consts.data(c) {
            ConstData::Bool(_) | ConstData::Int(_) | ConstData::Float(_) => {
                let scalar = ir.types.scalar_of(ty).unwrap_or(Scalar::U32);
                self.scalar_const(scalar, ir.consts.bits(c).unwrap_or(0))
            }
            ConstData::Composite(parts) if parts.len() > MAX_OPERANDS => {
                self.unsupported(Span::NONE, "the constant has too many parts for one instruction");
                let id = self.ty(ty);
                self.null(id)
            }
            ConstData::Composite(parts) => {
                let ids: Vec<u32> = parts.iter().map(|&p| self.constant(p)).collect();
                let spec = parts.iter().any(|&p| self.is_spec(p));
                let id = self.ty(ty);
                self.unique_const(if spec { Op::SpecConstantComposite } else { Op::ConstantComposite }, id, &ids)
            }
            ConstData::Zero => {
                let id = self.ty(ty);
                self.null(id)
            }
            ConstData::Undef => {
                let id = self.ty(ty);
                self.undef(id)
            }
            ConstData::Spec(spec) => self.spec(*spec),
        }
    }

    /// Whether a constant depends on a specialization constant.
    fn is_spec(&self, c: Const) -> bool {
        match self.ir.consts.data(c) {
            ConstData::Spec(_) => true,
            ConstData::Composite(parts) => parts.iter().any(|&p| self.is_spec(p)),
            _ => false,
        }
    }

    /// A specialization constant.
    fn spec(&mut self, spec: SpecId) -> u32 {
        if let Some(&id) = self.specs.get(&spec) {
            return id;
        }
        let ir = self.ir;
        let data = &ir.specs[spec];
        let scalar = ir.types.scalar_of(data.ty).unwrap_or(Scalar::U32);
        let bits = ir.consts.bits(data.default).unwrap_or(0);
        let ty = self.scalar(scalar);
        let id = self.m.id();
        match scalar {
            Scalar::Bool if bits != 0 => self.m.globals.inst(Op::SpecConstantTrue, &[ty, id]),
            Scalar::Bool => self.m.globals.inst(Op::SpecConstantFalse, &[ty, id]),
            _ => {
                let words = literal(scalar, bits);
                let count = if scalar.bits() == 64 { 2 } else { 1 };
                let mut all = vec![ty, id];
                all.extend_from_slice(&words[..count]);
                self.m.globals.inst(Op::SpecConstant, &all);
            }
        }
        self.m.decorate(id, Decoration::SpecId, &[data.id]);
        self.name(id, ir.names.get(data.name));
        self.specs.insert(spec, id);
        id
    }
}

/// The words of a literal number. Narrow signed integers are sign-extended, other narrow numbers have zeros above
/// (SPIR-V specification 2.2.1).
fn literal(scalar: Scalar, bits: u64) -> [u32; 2] {
    match scalar {
        Scalar::Int { bits: 16, signed: true } => [bits as u16 as i16 as i32 as u32, 0],
        _ => [bits as u32, (bits >> 32) as u32],
    }
}

/// The bits of a binary16 that is exact, or infinite beyond its range.
fn half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return sign;
    }
    if magnitude > 65504.0 {
        return sign | 0x7c00;
    }
    let exponent = magnitude.log2().floor().max(-14.0);
    let scaled = (magnitude / exponent.exp2() * 1024.0) as u16;
    // A normal number has its leading bit at 1024; a subnormal one has biased exponent 0 and none.
    if scaled < 1024 { sign | scaled } else { sign | (((exponent as i32 + 15) as u16) << 10) | (scaled - 1024) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_are_extended_by_their_sign() {
        assert_eq!(literal(Scalar::Int { bits: 16, signed: true }, 0xffff), [u32::MAX, 0]);
        assert_eq!(literal(Scalar::Int { bits: 16, signed: false }, 0xffff), [0xffff, 0]);
        assert_eq!(literal(Scalar::F64, 1.0f64.to_bits()), [0, 0x3ff0_0000]);
    }

    #[test]
    fn halves_are_those_of_ieee_754() {
        for (value, bits) in
            [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (0.0, 0), (0.0625, 0x2c00), (1e9, 0x7c00)]
        {
            assert_eq!(half(value), bits, "{value}");
        }
    }
}
