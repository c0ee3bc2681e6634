//! V014 for texture instructions.

use super::Checker;
use crate::func::Function;
use crate::inst::{InstData, TextureOp, TextureOperands};
use crate::types::{Access, ResourceType, Scalar, TextureDim, TypeKind};

/// What an operation must and may have.
fn operands(op: TextureOp) -> (TextureOperands, TextureOperands) {
    use TextureOperands as O;
    match op {
        TextureOp::Sample => (
            O::SAMPLER.union(O::COORD),
            O::COMPARE
                .union(O::BIAS)
                .union(O::LEVEL)
                .union(O::GRAD)
                .union(O::OFFSET)
                .union(O::MIN_LOD)
                .union(O::STATUS),
        ),
        TextureOp::Gather { .. } => {
            (O::SAMPLER.union(O::COORD), O::COMPARE.union(O::OFFSET).union(O::OFFSETS).union(O::STATUS))
        }
        TextureOp::Load => (O::COORD, O::LEVEL.union(O::OFFSET).union(O::SAMPLE_INDEX).union(O::STATUS)),
        TextureOp::Store => (O::COORD.union(O::VALUE), O::SAMPLE_INDEX),
        TextureOp::Size => (O::empty(), O::LEVEL),
        TextureOp::Levels | TextureOp::Samples => (O::empty(), O::empty()),
        TextureOp::Lod | TextureOp::LodUnclamped => (O::SAMPLER.union(O::COORD), O::empty()),
    }
}

impl Checker<'_> {
    pub(super) fn texture(&mut self, func: &Function, data: &InstData, op: TextureOp, has: TextureOperands) {
        let t = match self.arg_kind(func, data, 0) {
            TypeKind::Resource(ResourceType::Texture(t)) => t,
            TypeKind::Resource(ResourceType::SubpassInput { texel, .. }) => {
                let kind = self.kind(data.ty);
                let ok = op == TextureOp::Load && kind == TypeKind::Vector { elem: texel, len: 4 };
                return self.check(14, ok, || "a subpass input is loaded, four components".into());
            }
            _ => return self.error(14, "the first operand is a texture"),
        };
        let (must, may) = operands(op);
        let present = crate::text::TEXTURE_OPERANDS.iter().filter(|(operand, ..)| has.contains(*operand));
        let count = 1 + present.map(|(.., values)| values).sum::<usize>();
        let levels = [TextureOperands::BIAS, TextureOperands::LEVEL, TextureOperands::GRAD];
        let one_level = levels.iter().filter(|&&l| has.contains(l)).count() <= 1;
        let ok = has.contains(must) && must.union(may).contains(has) && one_level && data.args.len() == count;
        if !ok {
            return self.error(14, "the operands are not those of this texture operation");
        }
        let coords = t.dim.coords() as u8;
        let sampled =
            matches!(op, TextureOp::Sample | TextureOp::Gather { .. } | TextureOp::Lod | TextureOp::LodUnclamped);
        for (operand, word, values) in crate::text::TEXTURE_OPERANDS {
            if !has.contains(operand) {
                continue;
            }
            let at = has.position(operand);
            for i in at..at + values {
                let kind = self.arg_kind(func, data, i);
                let shape = Self::shape(kind);
                let float = |n| matches!(shape, Some((s, (0, m))) if s.is_float() && m == n);
                let int = |n| matches!(shape, Some((s, (0, m))) if s.is_int() && m == n);
                let ok = match operand {
                    TextureOperands::SAMPLER => match kind {
                        TypeKind::Resource(ResourceType::Sampler { comparison }) => {
                            comparison || !has.contains(TextureOperands::COMPARE)
                        }
                        _ => false,
                    },
                    TextureOperands::COORD => {
                        let lanes = coords + u8::from(t.arrayed);
                        match op {
                            // Layers do not matter to the level of detail and may be left out.
                            TextureOp::Lod | TextureOp::LodUnclamped => float(coords) || float(lanes),
                            _ if sampled => float(lanes),
                            _ => int(lanes),
                        }
                    }
                    TextureOperands::LEVEL if op == TextureOp::Sample => float(1),
                    TextureOperands::LEVEL | TextureOperands::SAMPLE_INDEX => int(1),
                    TextureOperands::GRAD => float(coords),
                    TextureOperands::OFFSET | TextureOperands::OFFSETS => int(coords),
                    TextureOperands::VALUE => kind == TypeKind::Vector { elem: t.texel, len: 4 },
                    _ => float(1),
                };
                self.check(14, ok, || format!("the operand `{word}` has the wrong type for this texture"));
            }
        }
        let compare = has.contains(TextureOperands::COMPARE);
        let Some(result) = self.texel_kind(data, has) else {
            return self.error(14, "with a status it gives a structure of a uint and the result");
        };
        let four = result == TypeKind::Vector { elem: t.texel, len: 4 };
        let uint = |n: u8| Self::shape(result) == Some((Scalar::U32, (0, n)));
        let ok = match op {
            TextureOp::Sample if compare => matches!(result, TypeKind::Scalar(s) if s.is_float()),
            TextureOp::Gather { component } => four && component < 4,
            TextureOp::Sample | TextureOp::Load => four,
            TextureOp::Store => result == TypeKind::Void,
            TextureOp::Size => {
                let lanes = match t.dim {
                    TextureDim::D1 | TextureDim::Buffer => 1,
                    TextureDim::D2 | TextureDim::Cube => 2,
                    TextureDim::D3 => 3,
                };
                uint(lanes + u8::from(t.arrayed))
            }
            TextureOp::Levels | TextureOp::Samples => uint(1),
            TextureOp::Lod | TextureOp::LodUnclamped => result == TypeKind::Scalar(Scalar::F32),
        };
        self.check(14, ok, || "the result is not what this texture operation gives".into());
        let writes = op == TextureOp::Store && t.access == Access::Read;
        self.check(16, !writes, || "it writes a read-only texture".into());
    }

    /// What the operation gives, without the status beside it; `None` when that has another form.
    fn texel_kind(&self, data: &InstData, has: TextureOperands) -> Option<TypeKind> {
        if !has.contains(TextureOperands::STATUS) {
            return Some(self.kind(data.ty));
        }
        let TypeKind::Struct(id) = self.kind(data.ty) else { return None };
        match &self.m.types.structs[id].members[..] {
            [code, texel] if self.kind(code.ty) == TypeKind::Scalar(Scalar::U32) => Some(self.kind(texel.ty)),
            _ => None,
        }
    }
}
