//! Intrinsics of constants.

use super::scalar::{from_f64, to_f64, to_i128};
use super::{Lanes, build, lanes, map1, map2};
use crate::consts::Consts;
use crate::entity::{Const, Type};
use crate::intrinsic::Intrinsic;
use crate::types::{Scalar, TypeKind, Types};
use half::f16;
use smallvec::SmallVec;

/// Floats of one format, rounded after every step.
#[derive(Clone, Copy)]
struct Format(Scalar);

impl Format {
    fn round(self, x: f64) -> f64 {
        to_f64(self.0, from_f64(self.0, x))
    }
    fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        self.round(self.round(a * b) + c)
    }
    fn bits(self, x: f64) -> u64 {
        from_f64(self.0, x)
    }
}

/// The value of `which` for constant operands; see [`super::fold`].
pub(super) fn fold(
    types: &mut Types,
    consts: &mut Consts,
    which: Intrinsic,
    ty: Type,
    args: &[Const],
) -> Option<Const> {
    use Intrinsic as I;
    if args.len() != which.arity() || args.is_empty() {
        return None;
    }
    let scalar = types.scalar_of(consts.ty(args[0]))?;
    match which {
        I::All | I::Any => {
            let on = lanes(types, consts, args[0])?;
            let truth = if which == I::All { on.iter().all(|&b| b != 0) } else { on.iter().any(|&b| b != 0) };
            Some(consts.bool(types, truth))
        }
        I::Dot | I::Length | I::Distance | I::Cross | I::Normalize | I::Reflect | I::Refract | I::FaceForward => {
            geometry(types, consts, which, ty, scalar, args)
        }
        I::Transpose | I::Determinant => matrix(types, consts, which, ty, scalar, args[0]),
        _ if scalar.is_float() => match *args {
            [a] => map1(types, consts, ty, a, |a| float1(which, scalar, a)),
            [a, b] => map2(types, consts, ty, a, b, |a, b| float2(which, scalar, a, b)),
            [a, b, c] => {
                let (a, b, c) = (lanes(types, consts, a)?, lanes(types, consts, b)?, lanes(types, consts, c)?);
                let out = (0..a.len())
                    .map(|i| float3(which, Format(scalar), a[i], *b.get(i)?, *c.get(i)?))
                    .collect::<Option<Lanes>>()?;
                build(types, consts, ty, &out)
            }
            _ => None,
        },
        _ if scalar.is_int() => match *args {
            [a] => map1(types, consts, ty, a, |a| int1(which, scalar, a)),
            [a, b] => map2(types, consts, ty, a, b, |a, b| int2(which, scalar, a, b)),
            [a, b, c] if which == I::Clamp => {
                let low = map2(types, consts, ty, a, b, |a, b| int2(I::Max, scalar, a, b))?;
                map2(types, consts, ty, low, c, |a, b| int2(I::Min, scalar, a, b))
            }
            _ => None,
        },
        _ => None,
    }
}

fn float1(which: Intrinsic, scalar: Scalar, bits: u64) -> Option<u64> {
    use Intrinsic as I;
    let f = Format(scalar);
    let x = to_f64(scalar, bits);
    let value = match which {
        I::Abs => return Some(bits & !(1 << (scalar.bits() - 1))),
        I::Sign => f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
        I::Floor => x.floor(),
        I::Ceil => x.ceil(),
        I::Trunc => x.trunc(),
        I::RoundEven => x.round_ties_even(),
        I::Fract => x - x.floor(),
        I::FrexpMantissa if x.is_finite() => libm::frexp(x).0,
        I::FrexpExponent if x.is_finite() => return Some(u64::from(libm::frexp(x).1 as u32)),
        I::Saturate => {
            // NaN fails both comparisons and gives 0.
            if x >= 1.0 {
                1.0
            } else if x > 0.0 {
                x
            } else {
                0.0
            }
        }
        I::IsNan => return Some(u64::from(x.is_nan())),
        I::IsInf => return Some(u64::from(x.is_infinite())),
        I::IsFinite => return Some(u64::from(x.is_finite())),
        I::Sqrt => x.sqrt(),
        I::Rsqrt => 1.0 / x.sqrt(),
        I::Exp => libm::exp(x),
        I::Exp2 => libm::exp2(x),
        I::Log => libm::log(x),
        I::Log2 => libm::log2(x),
        I::Log10 => libm::log10(x),
        I::Sin => libm::sin(x),
        I::Cos => libm::cos(x),
        I::Tan => libm::tan(x),
        I::Asin => libm::asin(x),
        I::Acos => libm::acos(x),
        I::Atan => libm::atan(x),
        I::Sinh => libm::sinh(x),
        I::Cosh => libm::cosh(x),
        I::Tanh => libm::tanh(x),
        I::F32ToF16 => return Some(u64::from(f16::from_f32(f32::from_bits(bits as u32)).to_bits())),
        _ => return None,
    };
    Some(f.bits(value))
}

fn float2(which: Intrinsic, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    use Intrinsic as I;
    let (x, y) = (to_f64(scalar, a), to_f64(scalar, b));
    let value = match which {
        I::Min => return Some(min_max(a, b, x, y, x < y)),
        I::Max => return Some(min_max(a, b, x, y, x > y)),
        I::Step => f64::from(u8::from(y >= x)),
        I::Atan2 => libm::atan2(x, y),
        // `exp2(y * log2(x))` on devices: what a negative base or 0 to the 0 gives there, libm would not tell.
        I::Pow if x > 0.0 => libm::pow(x, y),
        _ => return None,
    };
    Some(from_f64(scalar, value))
}

/// `a` when `first`, else `b`; of a NaN and a number, the number.
fn min_max(a: u64, b: u64, x: f64, y: f64, first: bool) -> u64 {
    if y.is_nan() || (!x.is_nan() && first) { a } else { b }
}

fn float3(which: Intrinsic, f: Format, a: u64, b: u64, c: u64) -> Option<u64> {
    use Intrinsic as I;
    let (x, y, z) = (to_f64(f.0, a), to_f64(f.0, b), to_f64(f.0, c));
    let value = match which {
        I::Clamp => {
            let low = float2(I::Max, f.0, a, b)?;
            return float2(I::Min, f.0, low, c);
        }
        I::Lerp => f.mul_add(z, f.round(y - x), x),
        I::SmoothStep => {
            let t = f.round(f.round(z - x) / f.round(y - x));
            let t = to_f64(f.0, float1(I::Saturate, f.0, f.bits(t))?);
            f.round(t * t) * f.mul_add(-2.0, t, 3.0)
        }
        I::Mad => f.mul_add(x, y, z),
        I::Fma => match f.0.bits() {
            32 => f64::from(libm::fmaf(x as f32, y as f32, z as f32)),
            // A product of binary16 has 22 bits, so that binary64 holds what decides the rounding to 11.
            _ => libm::fma(x, y, z),
        },
        _ => return None,
    };
    Some(f.bits(value))
}

fn int1(which: Intrinsic, scalar: Scalar, a: u64) -> Option<u64> {
    use Intrinsic as I;
    let x = to_i128(scalar, a);
    let mask = u64::MAX >> (64 - scalar.bits());
    Some(match which {
        I::Abs => x.unsigned_abs() as u64 & mask,
        I::Sign => x.signum() as u64 & mask,
        I::CountBits => u64::from(a.count_ones()),
        I::ReverseBits => a.reverse_bits() >> (64 - scalar.bits()),
        I::FirstBitLow => match a {
            0 => u64::from(u32::MAX),
            _ => u64::from(a.trailing_zeros()),
        },
        I::FirstBitHigh => {
            let differs = if x < 0 { !a & mask } else { a };
            match differs {
                0 => u64::from(u32::MAX),
                _ => u64::from(63 - differs.leading_zeros()),
            }
        }
        I::F16ToF32 => u64::from(f16::from_bits(a as u16).to_f32().to_bits()),
        _ => return None,
    })
}

fn int2(which: Intrinsic, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let less = to_i128(scalar, a) < to_i128(scalar, b);
    match which {
        Intrinsic::Min => Some(if less { a } else { b }),
        Intrinsic::Max => Some(if less { b } else { a }),
        _ => None,
    }
}

type Floats = SmallVec<[f64; 4]>;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).reduce(|sum, x| sum + x).unwrap_or(0.0)
}

fn geometry(
    types: &mut Types,
    consts: &mut Consts,
    which: Intrinsic,
    ty: Type,
    scalar: Scalar,
    args: &[Const],
) -> Option<Const> {
    use Intrinsic as I;
    let mut ops: SmallVec<[Floats; 3]> = SmallVec::new();
    for &arg in args {
        ops.push(lanes(types, consts, arg)?.into_iter().map(|bits| to_f64(scalar, bits)).collect());
    }
    let sized = |i: usize| ops.get(i).is_some_and(|v| v.len() == ops[0].len());
    let a = &ops[0];
    let value: Floats = match which {
        I::Dot if sized(1) => [dot(a, &ops[1])].into_iter().collect(),
        I::Length => [dot(a, a).sqrt()].into_iter().collect(),
        I::Distance if sized(1) => {
            let d: Floats = a.iter().zip(&ops[1]).map(|(a, b)| a - b).collect();
            [dot(&d, &d).sqrt()].into_iter().collect()
        }
        I::Cross if a.len() == 3 && sized(1) => {
            let b = &ops[1];
            (0..3)
                .map(|i| (i + 1) % 3)
                .zip((0..3).map(|i| (i + 2) % 3))
                .map(|(j, k)| a[j] * b[k] - a[k] * b[j])
                .collect()
        }
        I::Normalize => {
            let length = dot(a, a).sqrt();
            a.iter().map(|x| x / length).collect()
        }
        I::Reflect if sized(1) => {
            let twice = 2.0 * dot(a, &ops[1]);
            a.iter().zip(&ops[1]).map(|(i, n)| i - twice * n).collect()
        }
        I::Refract if sized(1) => {
            let (n, eta) = (&ops[1], *ops[2].first()?);
            let d = dot(n, a);
            let k = 1.0 - eta * eta * (1.0 - d * d);
            match k < 0.0 {
                true => a.iter().map(|_| 0.0).collect(),
                false => a.iter().zip(n).map(|(i, n)| eta * i - (eta * d + k.sqrt()) * n).collect(),
            }
        }
        I::FaceForward if sized(1) && sized(2) => {
            let sign = if dot(&ops[1], &ops[2]) < 0.0 { 1.0 } else { -1.0 };
            a.iter().map(|n| sign * n).collect()
        }
        _ => return None,
    };
    let bits: Lanes = value.into_iter().map(|x| from_f64(scalar, x)).collect();
    build(types, consts, ty, &bits)
}

fn matrix(
    types: &mut Types,
    consts: &mut Consts,
    which: Intrinsic,
    ty: Type,
    scalar: Scalar,
    arg: Const,
) -> Option<Const> {
    let TypeKind::Matrix { rows, cols, .. } = types.kind(consts.ty(arg)) else { return None };
    let (rows, cols) = (usize::from(rows), usize::from(cols));
    let m = lanes(types, consts, arg)?;
    let out: Lanes = match which {
        Intrinsic::Transpose => {
            (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| m[r * cols + c]).collect()
        }
        Intrinsic::Determinant if rows == cols => {
            let m: SmallVec<[f64; 16]> = m.into_iter().map(|bits| to_f64(scalar, bits)).collect();
            [from_f64(scalar, determinant(&m, rows))].into_iter().collect()
        }
        _ => return None,
    };
    build(types, consts, ty, &out)
}

/// Laplace expansion along the first row of an `n` by `n` matrix, `n` at most 4.
fn determinant(m: &[f64], n: usize) -> f64 {
    if n == 1 {
        return m[0];
    }
    (0..n)
        .map(|col| {
            let minor: SmallVec<[f64; 16]> = (n..n * n).filter(|i| i % n != col).map(|i| m[i]).collect();
            let sign = if col % 2 == 0 { 1.0 } else { -1.0 };
            sign * m[col] * determinant(&minor, n - 1)
        })
        .sum()
}
