//! What a preprocessing number means.

use crate::ast::{FloatSuffix, IntSuffix};

/// The value of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Int(u64, IntSuffix),
    /// A floating value.
    Float(f64, FloatSuffix),
}

/// Why a number has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberError {
    /// It is no number of HLSL's.
    Malformed(&'static str),
    /// It needs more than 64 bits.
    TooLarge,
}

/// Reads a preprocessing number.
///
/// Integers are decimal, octal with a leading `0`, hexadecimal or binary. Floating literals are rounded to the nearest
/// double; `1.#INF` is infinity. Suffixes: `u l ul ll ull` in any case and order; `h f l` and the fixed-width
/// `f16 f32 f64`.
pub fn parse(text: &str) -> Result<Number, NumberError> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return integer(digits, 16, "hexadecimal");
    }
    if let Some(digits) = lower.strip_prefix("0b") {
        return integer(digits, 2, "binary");
    }
    let whole = lower.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &lower[whole..];
    if !rest.starts_with(['.', 'e']) {
        return if lower.starts_with('0') { integer(&lower, 8, "octal") } else { integer(&lower, 10, "decimal") };
    }
    float(&lower)
}

fn integer(text: &str, radix: u32, what: &'static str) -> Result<Number, NumberError> {
    let count = text.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
    let (digits, suffix) = text.split_at(count);
    let suffix = match suffix {
        "" => IntSuffix::None,
        "u" => IntSuffix::U,
        "l" => IntSuffix::L,
        "ul" | "lu" => IntSuffix::Ul,
        "ll" | "i64" => IntSuffix::Ll,
        "ull" | "llu" | "ui64" => IntSuffix::Ull,
        _ if suffix.starts_with(|c: char| c.is_ascii_digit()) => {
            return Err(NumberError::Malformed(match what {
                "octal" => "a number that begins with 0 is octal and has the digits 0 to 7",
                _ => "a binary number has the digits 0 and 1",
            }));
        }
        _ => return Err(NumberError::Malformed("unknown suffix of an integer")),
    };
    if digits.is_empty() {
        return Err(NumberError::Malformed("no digits"));
    }
    let value = digits.bytes().try_fold(0u64, |value, b| {
        let digit = u64::from(char::from(b).to_digit(radix).unwrap_or(0));
        value.checked_mul(u64::from(radix))?.checked_add(digit)
    });
    value.map(|value| Number::Int(value, suffix)).ok_or(NumberError::TooLarge)
}

fn float(text: &str) -> Result<Number, NumberError> {
    if let Some((_, suffix)) = text.split_once(".#inf") {
        return Ok(Number::Float(f64::INFINITY, float_suffix(suffix)?));
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if bytes.get(end) == Some(&b'e') {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        match digits(end + 1 + sign) {
            0 => return Err(NumberError::Malformed("the exponent has no digits")),
            n => end += 1 + sign + n,
        }
    }
    let suffix = float_suffix(&text[end..])?;
    let value = text[..end].parse().map_err(|_| NumberError::Malformed("no digits"))?;
    Ok(Number::Float(value, suffix))
}

fn float_suffix(text: &str) -> Result<FloatSuffix, NumberError> {
    Ok(match text {
        "" => FloatSuffix::None,
        "f" | "f32" => FloatSuffix::F,
        "h" | "f16" => FloatSuffix::H,
        "l" | "f64" => FloatSuffix::L,
        _ => return Err(NumberError::Malformed("unknown suffix of a floating literal")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers() {
        use Number::{Float, Int};
        let cases = [
            ("0", Int(0, IntSuffix::None)),
            ("42u", Int(42, IntSuffix::U)),
            ("0x1F", Int(31, IntSuffix::None)),
            ("0xFFFFFFFFu", Int(0xffff_ffff, IntSuffix::U)),
            ("017", Int(15, IntSuffix::None)),
            ("0b101L", Int(5, IntSuffix::L)),
            ("1ull", Int(1, IntSuffix::Ull)),
            ("1LLU", Int(1, IntSuffix::Ull)),
            ("18446744073709551615", Int(u64::MAX, IntSuffix::None)),
            ("1.", Float(1.0, FloatSuffix::None)),
            (".5f", Float(0.5, FloatSuffix::F)),
            ("1e3h", Float(1000.0, FloatSuffix::H)),
            ("1.5E-2L", Float(0.015, FloatSuffix::L)),
            ("1.0f16", Float(1.0, FloatSuffix::H)),
            ("1.#INF", Float(f64::INFINITY, FloatSuffix::None)),
            ("1.#INFf", Float(f64::INFINITY, FloatSuffix::F)),
            ("08.5", Float(8.5, FloatSuffix::None)),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["08", "0x", "0b2", "1x", "1e", "1e+", "1.5u", "1fl", "1f", "0xg", "1.#IND"] {
            assert!(matches!(parse(text), Err(NumberError::Malformed(_))), "{text}");
        }
        assert_eq!(parse("18446744073709551616"), Err(NumberError::TooLarge));
        assert_eq!(parse("0x10000000000000000"), Err(NumberError::TooLarge));
    }
}
