use super::*;
use crate::inst::{BinaryOp, UnaryOp};
use crate::intrinsic::Intrinsic;

const I32: Scalar = Scalar::I32;
const U32: Scalar = Scalar::U32;
const F32: Scalar = Scalar::F32;

fn f(x: f32) -> u64 {
    u64::from(x.to_bits())
}

#[test]
fn integers_wrap_and_mask_shifts() {
    let bin = |op, s, a: i64, b: i64| {
        let m = u64::MAX >> (64 - s);
        let scalar = Scalar::Int { bits: s, signed: true };
        scalar::binary(op, scalar, a as u64 & m, b as u64 & m).map(|r| to_i64(scalar, r))
    };
    fn to_i64(s: Scalar, bits: u64) -> i64 {
        scalar::to_i128(s, bits) as i64
    }
    assert_eq!(bin(BinaryOp::Add, 32, i64::from(i32::MAX), 1), Some(i64::from(i32::MIN)));
    assert_eq!(bin(BinaryOp::Mul, 32, 0x10001, 0x10001), Some(0x20001));
    assert_eq!(bin(BinaryOp::Div, 32, i64::from(i32::MIN), -1), Some(i64::from(i32::MIN)));
    assert_eq!(bin(BinaryOp::Div, 32, -7, 2), Some(-3));
    assert_eq!(bin(BinaryOp::Rem, 32, -7, 2), Some(-1));
    assert_eq!(bin(BinaryOp::Div, 32, 1, 0), None);
    assert_eq!(bin(BinaryOp::Shl, 32, 1, 33), Some(2));
    assert_eq!(bin(BinaryOp::Shr, 32, -8, 33), Some(-4));
    assert_eq!(bin(BinaryOp::Shl, 16, 1, 17), Some(2));
    assert_eq!(bin(BinaryOp::Shl, 64, 1, 65), Some(2));
    assert_eq!(scalar::binary(BinaryOp::Div, U32, 1, 0), Some(0xffff_ffff));
    assert_eq!(scalar::binary(BinaryOp::Rem, U32, 1, 0), Some(0xffff_ffff));
    assert_eq!(scalar::binary(BinaryOp::Lt, U32, 1, 0xffff_ffff), Some(1));
    assert_eq!(scalar::binary(BinaryOp::Lt, I32, 1, 0xffff_ffff), Some(0));
}

#[test]
fn floats_follow_ieee_and_nan_is_canonical() {
    let bin = |op, a, b| scalar::binary(op, F32, f(a), f(b)).unwrap();
    assert_eq!(bin(BinaryOp::Add, 0.1, 0.2), f(0.1f32 + 0.2f32));
    assert_eq!(bin(BinaryOp::Div, 1.0, 3.0), f(1.0f32 / 3.0f32));
    assert_eq!(bin(BinaryOp::Div, 0.0, 0.0), 0x7fc0_0000);
    assert_eq!(bin(BinaryOp::Rem, -5.5, 2.0), f(-1.5));
    assert_eq!(bin(BinaryOp::Ne, f32::NAN, f32::NAN), 1);
    assert_eq!(bin(BinaryOp::Eq, f32::NAN, f32::NAN), 0);
    assert_eq!(bin(BinaryOp::Eq, 0.0, -0.0), 1);
    assert_eq!(scalar::unary(UnaryOp::Neg, F32, f(0.0)), Some(f(-0.0)));
    // 2049 is not a binary16; halves go to even.
    assert_eq!(scalar::convert(U32, Scalar::F16, 2049), 0x6800);
    assert_eq!(scalar::convert(U32, Scalar::F16, 2051), 0x6802);
}

#[test]
fn conversions_saturate() {
    assert_eq!(scalar::convert(F32, I32, f(3e9)), 0x7fff_ffff);
    assert_eq!(scalar::convert(F32, I32, f(-3e9)), 0x8000_0000);
    assert_eq!(scalar::convert(F32, U32, f(-1.0)), 0);
    assert_eq!(scalar::convert(F32, U32, f(5e9)), 0xffff_ffff);
    assert_eq!(scalar::convert(F32, I32, f(f32::NAN)), 0);
    assert_eq!(scalar::convert(F32, I32, f(-1.9)), 0xffff_ffff);
    assert_eq!(scalar::convert(I32, F32, 0xffff_ffff), f(-1.0));
    assert_eq!(scalar::convert(F32, Scalar::Bool, f(f32::NAN)), 1);
    assert_eq!(scalar::convert(F32, Scalar::Bool, f(-0.0)), 0);
    let i64_ = Scalar::Int { bits: 64, signed: true };
    assert_eq!(scalar::convert(I32, i64_, 0xffff_ffff), u64::MAX);
    // 2^60 + 2^36 + 1 lies just above half way between two binary32; through binary64 it would be a tie.
    let x = (1u64 << 60) + (1 << 36) + 1;
    assert_eq!(scalar::convert(i64_, F32, x), f(((1u64 << 60) + (1 << 37)) as f32));
}

struct Pool(Types, Consts);

impl Pool {
    fn f(&mut self, x: f32) -> Const {
        self.1.f32(&mut self.0, x)
    }
    fn vec(&mut self, xs: &[f32]) -> Const {
        let parts: Vec<_> = xs.iter().map(|&x| self.f(x)).collect();
        let ty = self.0.vector(F32, xs.len() as u8);
        self.1.composite(&self.0, ty, &parts)
    }
    fn fold(&mut self, op: Op, ty: Type, args: &[Const]) -> Option<Const> {
        fold(&mut self.0, &mut self.1, op, ty, args)
    }
    fn int1(&mut self, which: Intrinsic, s: Scalar, bits: u64) -> u64 {
        let a = self.1.scalar(&mut self.0, s, bits);
        let ty = self.0.scalar(U32);
        let r = self.fold(Op::Intrinsic(which), ty, &[a]).unwrap();
        self.1.bits(r).unwrap()
    }
    fn float(&mut self, which: Intrinsic, args: &[f32]) -> f32 {
        let args: Vec<_> = args.iter().map(|&x| self.f(x)).collect();
        let ty = self.0.scalar(F32);
        let r = self.fold(Op::Intrinsic(which), ty, &args).unwrap();
        f32::from_bits(self.1.bits(r).unwrap() as u32)
    }
}

#[test]
fn intrinsics_take_the_documented_values() {
    let p = &mut Pool(Types::default(), Consts::default());
    assert_eq!(p.int1(Intrinsic::FirstBitHigh, U32, 0), 0xffff_ffff);
    assert_eq!(p.int1(Intrinsic::FirstBitHigh, U32, 0x8000_0000), 31);
    assert_eq!(p.int1(Intrinsic::FirstBitHigh, I32, 0xffff_ffff), 0xffff_ffff);
    assert_eq!(p.int1(Intrinsic::FirstBitHigh, I32, 0xffff_fffb), 2);
    assert_eq!(p.int1(Intrinsic::FirstBitLow, U32, 8), 3);
    assert_eq!(p.int1(Intrinsic::ReverseBits, U32, 1), 0x8000_0000);
    assert_eq!(p.int1(Intrinsic::CountBits, U32, 0xff00), 8);
    assert_eq!(p.float(Intrinsic::RoundEven, &[2.5]), 2.0);
    assert_eq!(p.float(Intrinsic::RoundEven, &[-3.5]), -4.0);
    assert_eq!(p.float(Intrinsic::Saturate, &[f32::NAN]), 0.0);
    assert_eq!(p.float(Intrinsic::Min, &[f32::NAN, 2.0]), 2.0);
    assert_eq!(p.float(Intrinsic::Max, &[2.0, f32::NAN]), 2.0);
    assert_eq!(p.float(Intrinsic::Clamp, &[5.0, 0.0, 1.0]), 1.0);
    assert_eq!(p.float(Intrinsic::Lerp, &[1.0, 3.0, 0.25]), 1.5);
    assert_eq!(p.float(Intrinsic::SmoothStep, &[0.0, 2.0, 1.0]), 0.5);
    assert_eq!(p.float(Intrinsic::Fract, &[-0.25]), 0.75);
    assert_eq!(p.float(Intrinsic::Sqrt, &[2.0]), 2.0f32.sqrt());
    assert_eq!(p.float(Intrinsic::FrexpMantissa, &[6.0]), 0.75);
}

#[test]
fn composites_are_taken_apart_and_rebuilt() {
    let p = &mut Pool(Types::default(), Consts::default());
    let (a, b) = (p.vec(&[1.0, 2.0, 3.0]), p.vec(&[4.0, 5.0, 6.0]));
    let (v3, v2, f1) = (p.0.vector(F32, 3), p.0.vector(F32, 2), p.0.scalar(F32));
    let sum = p.vec(&[5.0, 7.0, 9.0]);
    assert_eq!(p.fold(Op::Binary(BinaryOp::Add), v3, &[a, b]), Some(sum));
    let dot = p.f(32.0);
    assert_eq!(p.fold(Op::Intrinsic(Intrinsic::Dot), f1, &[a, b]), Some(dot));
    let cross = p.vec(&[-3.0, 6.0, -3.0]);
    assert_eq!(p.fold(Op::Intrinsic(Intrinsic::Cross), v3, &[a, b]), Some(cross));
    let zy = p.vec(&[3.0, 2.0]);
    assert_eq!(p.fold(Op::Swizzle(crate::Swizzle::new(&[2, 1]).unwrap()), v2, &[a]), Some(zy));
    let x = p.f(0.0);
    let inserted = p.vec(&[1.0, 0.0, 3.0]);
    assert_eq!(p.fold(Op::Insert { index: 1 }, v3, &[a, x]), Some(inserted));
    assert_eq!(p.fold(Op::Construct, v3, &[zy, x]), Some(p.vec(&[3.0, 2.0, 0.0])));
    // A row times a 2x3 matrix, and transposition.
    let m23 = p.0.matrix(F32, 2, 3);
    let m = p.1.composite(&p.0, m23, &[a, b]);
    let row = p.vec(&[1.0, 10.0]);
    assert_eq!(p.fold(Op::MatMul, v3, &[row, m]), Some(p.vec(&[41.0, 52.0, 63.0])));
    assert_eq!(p.fold(Op::MatMul, v2, &[m, a]), Some(p.vec(&[14.0, 32.0])));
    let m32 = p.0.matrix(F32, 3, 2);
    let t = p.fold(Op::Intrinsic(Intrinsic::Transpose), m32, &[m]).unwrap();
    assert_eq!(p.1.part(&mut p.0, t, 1), Some(p.vec(&[2.0, 5.0])));
    let undef = p.1.intern(v3, ConstData::Undef);
    assert_eq!(p.fold(Op::Binary(BinaryOp::Add), v3, &[a, undef]), None);
    // Bits: a float is the uint 0x3f800000; a double is two uints, low first.
    let one = p.f(1.0);
    let u = p.0.scalar(U32);
    let bits = p.fold(Op::Bitcast, u, &[one]).unwrap();
    assert_eq!(p.1.bits(bits), Some(0x3f80_0000));
    let d = p.1.scalar(&mut p.0, Scalar::F64, 1.0f64.to_bits());
    let u2 = p.0.vector(U32, 2);
    let pair = p.fold(Op::Bitcast, u2, &[d]).unwrap();
    let high = p.1.part(&mut p.0, pair, 1).unwrap();
    assert_eq!(p.1.bits(high), Some(0x3ff0_0000));
}
