//! Types and constants.

use super::{Parser, Result, id_number};
use crate::consts::ConstData;
use crate::entity::{Const, SpecId, StructId, Type};
use crate::text::lex::Token;
use crate::text::spell;
use crate::types::{Access, CounterKind, MatrixOrder, ResourceType, Scalar, TextureDim, TextureType, TypeKind};
use half::f16;

/// Types and constants nested deeper do not parse.
const MAX_DEPTH: u32 = 200;

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.ty_at(0)
    }

    fn ty_at(&mut self, depth: u32) -> Result<Type> {
        if depth > MAX_DEPTH {
            return self.error("types are nested too deep");
        }
        if self.eat('[') {
            let elem = self.ty_at(depth + 1)?;
            let kind = match self.eat_word("x") {
                true => TypeKind::Array { elem, len: self.number()? },
                false => TypeKind::RuntimeArray { elem },
            };
            self.expect(']')?;
            return Ok(self.m.types.intern(kind));
        }
        let at = self.at;
        let word = self.word()?;
        if let Some(kind) = numeric(word) {
            return Ok(self.m.types.intern(kind));
        }
        if let Some(id) = id_number(word, "s").map(StructId::from_u32) {
            if !self.m.types.structs.is_valid(id) {
                return self.error_at(at, format!("there is no {id} yet"));
            }
            return Ok(self.m.types.intern(TypeKind::Struct(id)));
        }
        // Structures stand before the instructions and types of SPIR-V; the verifier looks whether there is one.
        if let Some(id) = id_number(word, "asm").map(crate::Inline::from_u32) {
            return Ok(self.m.types.intern(TypeKind::Spirv(id)));
        }
        let kind = match word {
            "void" => TypeKind::Void,
            "rayquery" => TypeKind::RayQuery,
            "ptr" => {
                self.expect('<')?;
                let space = self.spelled(spell::address_space_from_name, "address space")?;
                self.expect(',')?;
                let pointee = self.ty_at(depth + 1)?;
                self.expect('>')?;
                TypeKind::Pointer { space, pointee }
            }
            _ => match self.resource_type(word, depth)? {
                Some(resource) => TypeKind::Resource(resource),
                None => return self.error_at(at, format!("`{word}` is no type")),
            },
        };
        Ok(self.m.types.intern(kind))
    }

    fn resource_type(&mut self, word: &str, depth: u32) -> Result<Option<ResourceType>> {
        let (access, rest) = match word.strip_prefix("rw") {
            Some(rest) => (Access::ReadWrite, rest),
            None => (Access::Read, word),
        };
        Ok(Some(match (word, rest) {
            ("cbuffer" | "tbuffer", _) => {
                self.expect('<')?;
                let block = self.ty_at(depth + 1)?;
                self.expect('>')?;
                match word {
                    "cbuffer" => ResourceType::ConstantBuffer { block },
                    _ => ResourceType::TextureBuffer { block },
                }
            }
            ("sampler" | "samplercmp", _) => ResourceType::Sampler { comparison: word == "samplercmp" },
            ("subpass" | "subpassms", _) => {
                self.expect('<')?;
                let texel = self.spelled(spell::scalar_from_name, "scalar type")?;
                self.expect('>')?;
                ResourceType::SubpassInput { multisampled: word == "subpassms", texel }
            }
            ("accelstruct", _) => ResourceType::AccelerationStructure,
            (_, "bytes") => ResourceType::ByteAddressBuffer { access },
            (_, "structured") => {
                self.expect('<')?;
                let elem = self.ty_at(depth + 1)?;
                let (mut counter, mut order) = (CounterKind::None, MatrixOrder::ColumnMajor);
                while self.eat(',') {
                    if self.eat_word("row") {
                        order = MatrixOrder::RowMajor;
                    } else {
                        counter = self.spelled(spell::counter_from_name, "kind of counter")?;
                    }
                }
                self.expect('>')?;
                ResourceType::StructuredBuffer { elem, access, counter, order }
            }
            _ => {
                let Some((dim, multisampled, arrayed)) = texture_shape(rest) else { return Ok(None) };
                self.expect('<')?;
                let at = self.at;
                let (texel, components) = match numeric(self.word()?) {
                    Some(TypeKind::Scalar(s)) => (s, 1),
                    Some(TypeKind::Vector { elem, len }) => (elem, len),
                    _ => return self.error_at(at, "a texel is a scalar or a vector"),
                };
                self.expect('>')?;
                ResourceType::Texture(TextureType { dim, arrayed, multisampled, access, texel, components })
            }
        }))
    }

    /// A type and a literal of it.
    pub(super) fn constant(&mut self) -> Result<Const> {
        let ty = self.ty()?;
        self.literal(ty, 0)
    }

    fn literal(&mut self, ty: Type, depth: u32) -> Result<Const> {
        if depth > MAX_DEPTH {
            return self.error("constants are nested too deep");
        }
        let kind = self.m.types.kind(ty);
        let data = match (self.peek().clone(), kind) {
            (Token::Word("true"), TypeKind::Scalar(Scalar::Bool)) => ConstData::Bool(true),
            (Token::Word("false"), TypeKind::Scalar(Scalar::Bool)) => ConstData::Bool(false),
            (Token::Word("zero"), _) => ConstData::Zero,
            (Token::Word("undef"), _) => ConstData::Undef,
            (Token::Word(word), _) if id_number(word, "spec").is_some() => {
                let spec = SpecId::from_u32(id_number(word, "spec").unwrap_or(0));
                if !self.m.specs.is_valid(spec) {
                    return self.error(format!("there is no {spec}"));
                }
                ConstData::Spec(spec)
            }
            (Token::Number(text), TypeKind::Scalar(s)) => match scalar_bits(s, text) {
                Some(bits) if s.is_float() => ConstData::Float(bits),
                Some(bits) => ConstData::Int(bits),
                None => return self.error(format!("`{text}` is no value of this type")),
            },
            (Token::Mark('['), _) => return self.composite(ty, depth),
            _ => return self.error("expected a value of this type"),
        };
        self.next();
        // A scalar has one zero.
        Ok(match data {
            ConstData::Zero => self.m.consts.zero(&self.m.types, ty),
            data => self.m.consts.intern(ty, data),
        })
    }

    fn composite(&mut self, ty: Type, depth: u32) -> Result<Const> {
        let mut index = 0;
        let parts = self.list('[', ']', |p| {
            let Some(part) = p.m.types.part(ty, index) else { return p.error("more parts than the type has") };
            index += 1;
            p.literal(part, depth + 1)
        })?;
        Ok(self.m.consts.intern(ty, ConstData::Composite(parts.into())))
    }
}

/// A scalar, vector or matrix type.
fn numeric(word: &str) -> Option<TypeKind> {
    let mut parts = word.split('x');
    let elem = spell::scalar_from_name(parts.next()?)?;
    let count = |text: Option<&str>| text.map(|t| t.parse::<u8>().ok().filter(|n| (2..=4).contains(n)));
    Some(match (count(parts.next()), count(parts.next()), parts.next()) {
        (None, None, None) => TypeKind::Scalar(elem),
        (Some(len), None, None) => TypeKind::Vector { elem, len: len? },
        (Some(rows), Some(cols), None) => TypeKind::Matrix { elem, rows: rows?, cols: cols? },
        _ => return None,
    })
}

fn texture_shape(word: &str) -> Option<(TextureDim, bool, bool)> {
    let word = word.strip_prefix("texture_")?;
    let (word, arrayed) = word.strip_suffix("array").map_or((word, false), |w| (w, true));
    let (word, multisampled) = word.strip_suffix("ms").map_or((word, false), |w| (w, true));
    Some((spell::dim_from_name(word)?, multisampled, arrayed))
}

/// The bits of a number; hexadecimal numbers are bits.
fn scalar_bits(scalar: Scalar, text: &str) -> Option<u64> {
    let max = u64::MAX >> (64 - scalar.bits());
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|&bits| bits <= max);
    }
    match scalar {
        Scalar::Bool => None,
        Scalar::Int { signed, .. } => {
            let value: i128 = text.parse().ok()?;
            let range = match signed {
                true => -(i128::from(max >> 1) + 1)..=i128::from(max >> 1),
                false => 0..=i128::from(max),
            };
            range.contains(&value).then_some(value as u64 & max)
        }
        Scalar::Float { bits: 16 } => Some(u64::from(f16::from_f32(text.parse().ok()?).to_bits())),
        Scalar::Float { bits: 64 } => Some(text.parse::<f64>().ok()?.to_bits()),
        Scalar::Float { .. } => Some(u64::from(text.parse::<f32>().ok()?.to_bits())),
    }
}
