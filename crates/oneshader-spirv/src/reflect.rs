//! `-fspv-reflect`: what HLSL says and SPIR-V does not, as decorations (`SPV_GOOGLE_hlsl_functionality1`,
//! `SPV_GOOGLE_user_type`).

use crate::cx::Cx;
use oneshader_ir::{Access, CounterKind, IoVar, ResourceType, Scalar, TextureDim, TextureType, Type, TypeKind};
use spirv::{Decoration, Op};

/// `UserTypeGOOGLE`.
pub(crate) const USER_TYPE: u32 = Decoration::UserTypeGOOGLE as u32;

impl Cx<'_> {
    /// The semantic of a stage variable.
    pub fn reflect_semantic(&mut self, var: u32, io: &IoVar) {
        if self.opts.reflect {
            let index = if io.index == 0 { String::new() } else { io.index.to_string() };
            let text = format!("{}{index}", self.ir.names.get(io.semantic));
            let words = [var, Decoration::UserSemantic as u32];
            self.m.annotations.inst_str(Op::DecorateString, &words, &text, &[]);
        }
    }

    /// The HLSL type of a resource.
    pub fn reflect_resource(&mut self, var: u32, ty: ResourceType) {
        if !self.opts.reflect {
            return;
        }
        if let Some(text) = self.user_type(ty) {
            self.m.annotations.inst_str(Op::DecorateString, &[var, USER_TYPE], &text, &[]);
        }
    }

    /// The counter that belongs to a buffer.
    pub fn reflect_counter(&mut self, var: u32, counter: u32) {
        if self.opts.reflect {
            let words = [var, Decoration::CounterBuffer as u32, counter];
            self.m.annotations.inst(Op::DecorateId, &words);
        }
    }

    /// A resource type in the words of `SPV_GOOGLE_user_type`.
    fn user_type(&self, ty: ResourceType) -> Option<String> {
        let rw = |access| if access == Access::ReadWrite { "rw" } else { "" };
        Some(match ty {
            ResourceType::ConstantBuffer { .. } => "cbuffer".into(),
            ResourceType::TextureBuffer { .. } => "tbuffer".into(),
            ResourceType::StructuredBuffer { elem, access, counter, .. } => {
                let kind = match counter {
                    CounterKind::Append => "append",
                    CounterKind::Consume => "consume",
                    _ => rw(access),
                };
                format!("{kind}structuredbuffer:<{}>", self.spelled(elem))
            }
            ResourceType::ByteAddressBuffer { access } => format!("{}byteaddressbuffer", rw(access)),
            ResourceType::Texture(texture) => {
                format!(
                    "{}{}:<{}>",
                    rw(texture.access),
                    texture_kind(texture),
                    numbers(texture.texel, texture.components)
                )
            }
            ResourceType::AccelerationStructure => "raytracingaccelerationstructure".into(),
            ResourceType::Sampler { .. } | ResourceType::SubpassInput { .. } => return None,
        })
    }

    /// A type of data in HLSL's words.
    pub fn spelled(&self, ty: Type) -> String {
        let types = &self.ir.types;
        match types.kind(ty) {
            TypeKind::Struct(id) => self.ir.names.get(types.structs[id].name).to_string(),
            TypeKind::Matrix { elem, rows, cols } => format!("{}{rows}x{cols}", numbers(elem, 1)),
            TypeKind::Array { elem, len } => format!("{}[{len}]", self.spelled(elem)),
            _ => types.scalar_of(ty).map_or(String::new(), |s| numbers(s, types.lanes(ty))),
        }
    }
}

fn texture_kind(texture: TextureType) -> String {
    let base = match texture.dim {
        TextureDim::Buffer => return "buffer".into(),
        TextureDim::D1 => "texture1d",
        TextureDim::D2 => "texture2d",
        TextureDim::D3 => "texture3d",
        TextureDim::Cube => "texturecube",
    };
    let ms = if texture.multisampled { "ms" } else { "" };
    let array = if texture.arrayed { "array" } else { "" };
    format!("{base}{ms}{array}")
}

fn numbers(scalar: Scalar, lanes: u8) -> String {
    let name = scalar.hlsl_name();
    if lanes > 1 { format!("{name}{lanes}") } else { name.into() }
}
