//! Numbers of the pipeline text to bytes and back.

use super::pipeline::DataFormat;
use serde_yaml_ng::Value;

impl DataFormat {
    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Self::Hex8 => 1,
            Self::Hex16 | Self::UInt16 | Self::Int16 | Self::Float16 => 2,
            Self::Hex32 | Self::UInt32 | Self::Int32 | Self::Float32 | Self::Depth32 | Self::Bool => 4,
            Self::Hex64 | Self::UInt64 | Self::Int64 | Self::Float64 => 8,
        }
    }

    /// Whether the float rules of comparison apply.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// The name in the pipeline text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hex8 => "Hex8",
            Self::Hex16 => "Hex16",
            Self::Hex32 => "Hex32",
            Self::Hex64 => "Hex64",
            Self::UInt16 => "UInt16",
            Self::UInt32 => "UInt32",
            Self::UInt64 => "UInt64",
            Self::Int16 => "Int16",
            Self::Int32 => "Int32",
            Self::Int64 => "Int64",
            Self::Float16 => "Float16",
            Self::Float32 => "Float32",
            Self::Float64 => "Float64",
            Self::Depth32 => "Depth32",
            Self::Bool => "Bool",
        }
    }
}

/// Appends one element, little-endian.
pub fn encode(format: DataFormat, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    match format {
        DataFormat::Float32 | DataFormat::Depth32 => out.extend((float(value)? as f32).to_le_bytes()),
        DataFormat::Float64 => out.extend(float(value)?.to_le_bytes()),
        _ => {
            let n = integer(value)?;
            let bits = format.size() * 8;
            let signed = matches!(format, DataFormat::Int16 | DataFormat::Int32 | DataFormat::Int64);
            let (low, high) =
                if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
            if n < low || n > high {
                return Err(format!("{n} does not fit {}", format.name()));
            }
            out.extend_from_slice(&n.to_le_bytes()[..format.size()]);
        }
    }
    Ok(())
}

/// Appends every element of a list.
pub fn encode_list(format: DataFormat, list: &Value) -> Result<Vec<u8>, String> {
    let items = list.as_sequence().ok_or("Data must be a list")?;
    let mut out = Vec::with_capacity(items.len() * format.size());
    for item in items {
        encode(format, item, &mut out)?;
    }
    Ok(out)
}

fn integer(value: &Value) -> Result<i128, String> {
    match value {
        Value::Number(n) => n
            .as_i64()
            .map(i128::from)
            .or_else(|| n.as_u64().map(i128::from))
            .ok_or_else(|| format!("{n} is no integer")),
        Value::Bool(b) => Ok(i128::from(*b)),
        Value::String(s) => integer_text(s).ok_or_else(|| format!("'{s}' is no integer")),
        other => Err(format!("{other:?} is no integer")),
    }
}

fn integer_text(s: &str) -> Option<i128> {
    let (negative, digits) = match s.trim().strip_prefix('-') {
        Some(d) => (true, d),
        None => (false, s.trim()),
    };
    let lower = digits.to_ascii_lowercase();
    let n = if let Some(d) = lower.strip_prefix("0x") {
        i128::from_str_radix(d, 16)
    } else if let Some(d) = lower.strip_prefix("0b") {
        i128::from_str_radix(d, 2)
    } else {
        lower.parse()
    }
    .ok()?;
    Some(if negative { -n } else { n })
}

fn float(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(n) => n.as_f64().ok_or_else(|| format!("{n} is no number")),
        Value::String(s) => float_text(s).ok_or_else(|| format!("'{s}' is no number")),
        other => Err(format!("{other:?} is no number")),
    }
}

/// Decimal, `nan`, `inf`, or C's hexadecimal floating-point notation.
pub fn float_text(s: &str) -> Option<f64> {
    let s = s.trim();
    let (sign, body) = match s.as_bytes().first()? {
        b'-' => (-1.0, &s[1..]),
        b'+' => (1.0, &s[1..]),
        _ => (1.0, s),
    };
    let lower = body.to_ascii_lowercase();
    match lower.trim_start_matches('.') {
        "nan" => return Some(f64::NAN.copysign(sign)),
        "inf" | "infinity" => return Some(f64::INFINITY.copysign(sign)),
        _ => {}
    }
    let Some(hex) = lower.strip_prefix("0x") else {
        return lower.trim_end_matches('f').parse::<f64>().ok().map(|v| v * sign);
    };
    let (mantissa, exponent) = match hex.split_once('p') {
        Some((m, e)) => (m, e.parse::<i32>().ok()?),
        None => (hex, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(fraction.chars()).collect();
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    // Exact: at most 64 bits of mantissa, then a power of two applied in two steps so that neither overflows early.
    let m = u64::from_str_radix(&digits, 16).ok()? as f64;
    let e = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?.clamp(-2200, 2200);
    Some(sign * m * 2f64.powi(e / 2) * 2f64.powi(e - e / 2))
}

/// C's `%g`: six significant digits, no trailing zeros.
pub fn general(v: f64) -> String {
    if v.is_nan() {
        return if v.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if v.is_infinite() {
        return if v < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    if v == 0.0 {
        return if v.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{v:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| {
        if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s.to_owned() }
    };
    if (-4..6).contains(&exponent) {
        let digits = usize::try_from(5 - exponent).unwrap_or(0);
        trim(&format!("{v:.digits$}"))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    }
}

/// The elements of a buffer as the pipeline text spells them.
pub fn decode(format: DataFormat, bytes: &[u8]) -> Vec<String> {
    bytes
        .chunks_exact(format.size())
        .map(|c| {
            let mut raw = [0u8; 8];
            raw[..c.len()].copy_from_slice(c);
            let n = u64::from_le_bytes(raw);
            match format {
                DataFormat::Hex8 | DataFormat::Hex16 | DataFormat::Hex32 | DataFormat::Hex64 | DataFormat::Float16 => {
                    format!("0x{n:X}")
                }
                DataFormat::UInt16 | DataFormat::UInt32 | DataFormat::UInt64 | DataFormat::Bool => n.to_string(),
                DataFormat::Int16 => (n as u16 as i16).to_string(),
                DataFormat::Int32 => (n as u32 as i32).to_string(),
                DataFormat::Int64 => (n as i64).to_string(),
                DataFormat::Float32 | DataFormat::Depth32 => general(f64::from(f32::from_bits(n as u32))),
                DataFormat::Float64 => general(f64::from_bits(n)),
            }
        })
        .collect()
}

/// The elements as bit patterns.
pub fn decode_bits(format: DataFormat, bytes: &[u8]) -> Vec<String> {
    bytes
        .chunks_exact(format.size())
        .map(|c| {
            let mut raw = [0u8; 8];
            raw[..c.len()].copy_from_slice(c);
            format!("0x{:x}", u64::from_le_bytes(raw))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_every_spelling() {
        for (text, want) in [
            ("1.5", 1.5f64),
            ("-0x1.8p+1", -3.0),
            ("0x1p-149", 2f64.powi(-149)),
            ("0x1p-1074", f64::from_bits(1)),
            ("inf", f64::INFINITY),
            ("-Inf", f64::NEG_INFINITY),
            ("1e3", 1000.0),
        ] {
            assert_eq!(float_text(text), Some(want), "{text}");
        }
        assert!(float_text("nan").unwrap().is_nan());
        assert_eq!(float_text("x"), None);
    }

    #[test]
    fn general_is_percent_g() {
        for (v, want) in [
            (0.0, "0"),
            (20.3, "20.3"),
            (1e-5, "1e-05"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (0.0001, "0.0001"),
            (1.12e-38, "1.12e-38"),
            (-2.5, "-2.5"),
            (999999.5, "1e+06"),
        ] {
            assert_eq!(general(v), want);
        }
    }

    #[test]
    fn ranges_are_checked() {
        let mut out = Vec::new();
        assert!(encode(DataFormat::Int16, &Value::from(40000), &mut out).is_err());
        assert!(encode(DataFormat::UInt32, &Value::from(-1), &mut out).is_err());
        encode(DataFormat::Int64, &Value::from(i64::MIN), &mut out).unwrap();
        encode(DataFormat::Hex64, &Value::from(u64::MAX), &mut out).unwrap();
        assert_eq!(decode(DataFormat::Int64, &out[..8]), [i64::MIN.to_string()]);
        assert_eq!(decode(DataFormat::Hex64, &out[8..]), ["0xFFFFFFFFFFFFFFFF"]);
    }
}
