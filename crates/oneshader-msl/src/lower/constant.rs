//! Constants: literals that say their type, and composites.

use super::body::{Body, Detached};
use super::cx::Cx;
use crate::ast::Expr;
use oneshader_ir::{Const, ConstData, Scalar, Type, TypeKind};

/// The literal of a scalar with these bits.
pub(crate) fn literal(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Bool => (if bits != 0 { "true" } else { "false" }).to_owned(),
        Scalar::Int { bits: 16, signed: true } => format!("short({})", bits as u16 as i16),
        Scalar::Int { bits: 16, signed: false } => format!("ushort({})", bits as u16),
        Scalar::Int { bits: 64, signed: true } => match bits as i64 {
            // The literal would be 2^63, which is no `long`.
            i64::MIN => "(-9223372036854775807l - 1l)".to_owned(),
            value => format!("{value}l"),
        },
        Scalar::Int { bits: 64, signed: false } => match bits {
            0xffff_0000.. => format!("{bits:#x}ul"),
            _ => format!("{bits}ul"),
        },
        Scalar::Int { signed: true, .. } => match bits as u32 as i32 {
            i32::MIN => "(-2147483647 - 1)".to_owned(),
            value => value.to_string(),
        },
        Scalar::Int { signed: false, .. } => match bits as u32 {
            value @ 0x00ff_ffff.. => format!("{value:#x}u"),
            value => format!("{value}u"),
        },
        Scalar::Float { bits: 16 } => half_literal(bits as u16),
        Scalar::Float { .. } => float_literal(f32::from_bits(bits as u32)),
    }
}

fn float_literal(value: f32) -> String {
    if value.is_nan() {
        return match value.to_bits() {
            0x7fc0_0000 => "NAN".to_owned(),
            bits => format!("as_type<float>({bits:#x}u)"),
        };
    }
    if value.is_infinite() {
        return (if value > 0.0 { "INFINITY" } else { "-INFINITY" }).to_owned();
    }
    // The shortest digits that read back as the same number.
    format!("{value:?}f")
}

fn half_literal(bits: u16) -> String {
    let value = half::f16::from_bits(bits);
    if value.is_nan() || value.is_infinite() {
        return format!("as_type<half>(ushort({bits:#x}))");
    }
    let exact = value.to_f32();
    // Fewer digits where these still round to the same half.
    for digits in 0..8 {
        let text = format!("{exact:.digits$}");
        if text.parse::<f32>().is_ok_and(|v| half::f16::from_f32(v).to_bits() == bits) {
            let text = if text.contains('.') { text } else { format!("{text}.0") };
            return format!("{text}h");
        }
    }
    format!("{exact:?}h")
}

impl Body<'_, '_> {
    /// The expression of a constant.
    pub(super) fn constant(&mut self, c: Const) -> Expr {
        let consts = &self.cx.raised.module.consts;
        let ty = consts.ty(c);
        match consts.data(c) {
            &ConstData::Bool(value) => self.text(&literal(Scalar::Bool, u64::from(value))),
            &ConstData::Int(bits) | &ConstData::Float(bits) => {
                let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
                self.text(&literal(scalar, bits))
            }
            ConstData::Composite(parts) => self.composite(ty, parts),
            ConstData::Zero | ConstData::Undef => self.zero(ty),
            &ConstData::Spec(spec) => {
                self.cx.specs.insert(spec);
                let name = self.cx.spec_names[spec].map_or("", |n| self.cx.names.get(n));
                let text = format!("{name}_value");
                self.text(&text)
            }
        }
    }

    fn composite(&mut self, ty: Type, parts: &[Const]) -> Expr {
        let is_vector = matches!(self.cx.types.kind(ty), TypeKind::Vector { .. });
        if is_vector && parts.windows(2).all(|p| p[0] == p[1]) && !parts.is_empty() {
            let part = self.constant(parts[0]);
            let expr = self.construct(ty, &[part]);
            self.splats.insert(expr, part);
            self.components.insert(expr, vec![part; parts.len()]);
            return expr;
        }
        let parts: Vec<Expr> = parts.iter().map(|&p| self.constant(p)).collect();
        match self.cx.types.kind(ty) {
            TypeKind::Vector { .. } => {
                let expr = self.construct(ty, &parts);
                self.components.insert(expr, parts);
                expr
            }
            TypeKind::Matrix { .. } => self.construct(ty, &parts),
            _ => self.init(ty, &parts),
        }
    }

    /// All bits zero.
    pub(super) fn zero(&mut self, ty: Type) -> Expr {
        match self.cx.types.kind(ty) {
            TypeKind::Scalar(scalar) => self.text(&literal(scalar, 0)),
            TypeKind::Vector { elem, .. } | TypeKind::Matrix { elem, .. } => {
                let zero = self.text(&literal(elem, 0));
                let expr = self.construct(ty, &[zero]);
                if let TypeKind::Vector { len, .. } = self.cx.types.kind(ty) {
                    self.splats.insert(expr, zero);
                    self.components.insert(expr, vec![zero; usize::from(len)]);
                }
                expr
            }
            _ => self.init(ty, &[]),
        }
    }
}

/// The text of a constant outside functions.
pub(crate) fn constant_text(cx: &mut Cx, c: Const) -> String {
    let detached = Detached::new(&cx.raised.module);
    let mut body = detached.body(cx);
    let expr = body.constant(c);
    let arena = std::mem::take(&mut body.arena);
    crate::print::expression(&cx.names, &arena, expr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_say_their_type() {
        let float = |v: f32| literal(Scalar::F32, u64::from(v.to_bits()));
        assert_eq!(float(1.0), "1.0f");
        assert_eq!(float(-0.0), "-0.0f");
        assert_eq!(float(0.1), "0.1f");
        assert_eq!(float(1e-7), "1e-7f");
        assert_eq!(float(3.4028235e38), "3.4028235e38f");
        assert_eq!(float(f32::INFINITY), "INFINITY");
        assert_eq!(float(f32::NEG_INFINITY), "-INFINITY");
        assert_eq!(float(f32::NAN), "NAN");
        assert_eq!(literal(Scalar::F32, 0x7fc0_0001), "as_type<float>(0x7fc00001u)");
        assert_eq!(literal(Scalar::F16, 0x3c00), "1.0h");
        assert_eq!(literal(Scalar::F16, 0x2e66), "0.1h");
        assert_eq!(literal(Scalar::F16, 0x7c00), "as_type<half>(ushort(0x7c00))");
        assert_eq!(literal(Scalar::I32, 0x8000_0000), "(-2147483647 - 1)");
        assert_eq!(literal(Scalar::I32, 0xffff_ffff), "-1");
        assert_eq!(literal(Scalar::U32, 7), "7u");
        assert_eq!(literal(Scalar::U32, 0xffff_ffff), "0xffffffffu");
        assert_eq!(literal(Scalar::Int { bits: 64, signed: true }, 1 << 63), "(-9223372036854775807l - 1l)");
        assert_eq!(literal(Scalar::Int { bits: 16, signed: true }, 0xffff), "short(-1)");
        assert_eq!(literal(Scalar::Bool, 1), "true");
    }
}
