//! The rules by which a buffer equals its expectation.

use crate::case::pipeline::{DataFormat, DenormMode, Expectation, Rule};
use crate::case::{Buffer, dump, values};
use half::f16;
use std::fmt::Write;

/// Tolerances of one comparison.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// Bytes are equal.
    Exact,
    /// Units in the last place; near zero an absolute bound if it is positive.
    Ulp {
        /// Units allowed.
        units: u32,
        /// Bound when either side is at most this far from zero.
        zero: f64,
    },
    /// Absolute difference below the bound.
    Epsilon(f64),
}

/// What a failed comparison has to say, in the words of the format's own tool.
pub fn failure(e: &Expectation, actual: &Buffer, expected: &Buffer) -> Option<String> {
    let tolerance = match e.rule {
        Rule::BufferExact => Tolerance::Exact,
        Rule::BufferFloatUlp => Tolerance::Ulp { units: e.ulp.unwrap_or(0), zero: e.zero_tolerance },
        Rule::BufferFloatEpsilon => Tolerance::Epsilon(e.epsilon.unwrap_or(0.0)),
    };
    let wrong = mismatches(actual, expected, tolerance, e.denorm_mode);
    if wrong.is_empty() {
        return None;
    }
    let mut out = format!("Test failed: {}\n", e.name);
    let _ = match tolerance {
        Tolerance::Exact => writeln!(out, "Comparison Rule: BufferExact"),
        Tolerance::Ulp { units, .. } => {
            writeln!(out, "Comparison Rule: BufferFloatULP\nULP: {units}")
        }
        Tolerance::Epsilon(eps) => {
            writeln!(out, "Comparison Rule: BufferFloatEpsilon\nEpsilon: {}", values::general(eps))
        }
    };
    for m in wrong.iter().take(16) {
        let _ = writeln!(out, "  {m}");
    }
    if wrong.len() > 16 {
        let _ = writeln!(out, "  and {} more", wrong.len() - 16);
    }
    let _ = write!(out, "Expected:\n{}Got:\n{}", dump::document(expected), dump::document(actual));
    for (what, b) in [("Expected", expected), ("Actual", actual)] {
        let _ = writeln!(out, "Full Hex representation of {what} Buffer Values:");
        for block in &b.data {
            let lead = if b.data.len() > 1 { " - " } else { "" };
            let _ = writeln!(out, "{lead}[ {} ]", values::decode_bits(b.format, block).join(", "));
        }
    }
    Some(out)
}

/// The places where two buffers differ by more than allowed, described.
pub fn mismatches(actual: &Buffer, expected: &Buffer, tolerance: Tolerance, denorm: DenormMode) -> Vec<String> {
    if actual.data.len() != expected.data.len() || actual.size() != expected.size() {
        return vec![format!(
            "sizes differ: expected {} x {} bytes, actual {} x {} bytes",
            expected.data.len(),
            expected.size(),
            actual.data.len(),
            actual.size()
        )];
    }
    let mut out = Vec::new();
    for (block, (a, b)) in actual.data.iter().zip(&expected.data).enumerate() {
        let place = |i: usize| {
            if actual.data.len() > 1 { format!("element {i} of buffer {block}") } else { format!("element {i}") }
        };
        let size = actual.format.size();
        for (i, (x, y)) in a.chunks(size).zip(b.chunks(size)).enumerate() {
            let same = match tolerance {
                Tolerance::Exact => x == y,
                _ => element_matches(actual.format, x, y, tolerance, denorm),
            };
            if !same {
                let show = |c: &[u8]| {
                    format!(
                        "{} ({})",
                        values::decode(actual.format, c).concat(),
                        values::decode_bits(actual.format, c).concat()
                    )
                };
                out.push(format!("Mismatch at {}: expected={}, actual={}", place(i), show(y), show(x)));
            }
        }
    }
    out
}

fn element_matches(format: DataFormat, x: &[u8], y: &[u8], tolerance: Tolerance, denorm: DenormMode) -> bool {
    match (format, x.len(), y.len()) {
        (DataFormat::Float16, 2, 2) => {
            // Subnormal halves are always kept, so the mode does not matter.
            let (a, b) = (u16::from_le_bytes([x[0], x[1]]), u16::from_le_bytes([y[0], y[1]]));
            let order = |h: u16| i64::from(if h & 0x8000 != 0 { !h } else { h | 0x8000 });
            let distance = (order(a) - order(b)).unsigned_abs();
            close(f16::from_bits(a).to_f64(), f16::from_bits(b).to_f64(), distance, tolerance)
        }
        (DataFormat::Float32 | DataFormat::Depth32, 4, 4) => {
            let (a, b) = (f32::from_le_bytes([x[0], x[1], x[2], x[3]]), f32::from_le_bytes([y[0], y[1], y[2], y[3]]));
            if flushed(f64::from(a), f64::from(b), b.is_subnormal(), denorm) {
                return true;
            }
            let distance = a.to_bits().wrapping_sub(b.to_bits()).cast_signed().unsigned_abs();
            close(f64::from(a), f64::from(b), u64::from(distance), tolerance)
        }
        (DataFormat::Float64, 8, 8) => {
            let bits = |c: &[u8]| c.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
            let (a, b) = (f64::from_bits(bits(x)), f64::from_bits(bits(y)));
            if flushed(a, b, b.is_subnormal(), denorm) {
                return true;
            }
            let distance = a.to_bits().wrapping_sub(b.to_bits()).cast_signed().unsigned_abs();
            close(a, b, distance, tolerance)
        }
        _ => x == y,
    }
}

/// A subnormal expectation may have become a zero of its sign.
fn flushed(actual: f64, expected: f64, subnormal: bool, denorm: DenormMode) -> bool {
    denorm == DenormMode::Any && subnormal && actual == 0.0 && actual.is_sign_negative() == expected.is_sign_negative()
}

fn close(a: f64, b: f64, distance: u64, tolerance: Tolerance) -> bool {
    if a == b {
        return true;
    }
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    match tolerance {
        Tolerance::Exact => false,
        Tolerance::Epsilon(eps) => (a - b).abs() < eps,
        Tolerance::Ulp { zero, .. } if zero > 0.0 && (a.abs() <= zero || b.abs() <= zero) => (a - b).abs() <= zero,
        Tolerance::Ulp { units, .. } => distance <= u64::from(units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pipeline::OutputProps;

    fn floats(v: &[f32]) -> Buffer {
        Buffer {
            name: "B".into(),
            format: DataFormat::Float32,
            channels: 1,
            stride: 4,
            data: vec![v.iter().flat_map(|f| f.to_le_bytes()).collect()],
            counters: vec![],
            output: OutputProps::default(),
        }
    }

    fn wrong(a: f32, b: f32, t: Tolerance, d: DenormMode) -> bool {
        !mismatches(&floats(&[a]), &floats(&[b]), t, d).is_empty()
    }

    #[test]
    fn units_in_the_last_place() {
        let ulp = |units| Tolerance::Ulp { units, zero: 0.0 };
        let next = f32::from_bits(1f32.to_bits() + 2);
        assert!(!wrong(next, 1.0, ulp(2), DenormMode::Any));
        assert!(wrong(next, 1.0, ulp(1), DenormMode::Any));
        assert!(!wrong(f32::NAN, -f32::NAN, ulp(0), DenormMode::Any));
        assert!(wrong(f32::NAN, 1.0, ulp(u32::MAX), DenormMode::Any));
        assert!(!wrong(-0.0, 0.0, ulp(0), DenormMode::Any));
        assert!(!wrong(1e-7, 0.0, Tolerance::Ulp { units: 0, zero: 1e-6 }, DenormMode::Any));
    }

    #[test]
    fn subnormals_may_be_flushed_with_their_sign() {
        let tiny = f32::from_bits(5);
        let t = Tolerance::Ulp { units: 1, zero: 0.0 };
        assert!(!wrong(0.0, tiny, t, DenormMode::Any));
        assert!(wrong(-0.0, tiny, t, DenormMode::Any));
        assert!(wrong(0.0, tiny, t, DenormMode::Preserve));
        assert!(wrong(0.0, tiny, Tolerance::Epsilon(0.0), DenormMode::FlushToZero));
    }

    #[test]
    fn halves_cross_zero_in_order() {
        let half =
            |bits: u16| Buffer { format: DataFormat::Float16, data: vec![bits.to_le_bytes().to_vec()], ..floats(&[]) };
        let t = |units| Tolerance::Ulp { units, zero: 0.0 };
        assert!(mismatches(&half(0x0001), &half(0x8001), t(3), DenormMode::Any).is_empty());
        assert!(!mismatches(&half(0x0001), &half(0x8001), t(2), DenormMode::Any).is_empty());
        assert!(mismatches(&half(0x8000), &half(0x0000), t(0), DenormMode::Any).is_empty());
    }

    #[test]
    fn sizes_and_bytes() {
        assert!(!mismatches(&floats(&[1.0]), &floats(&[1.0, 2.0]), Tolerance::Exact, DenormMode::Any).is_empty());
        assert!(wrong(-0.0, 0.0, Tolerance::Exact, DenormMode::Any));
    }
}
