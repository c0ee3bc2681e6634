//! Vulkan's names for the formats and states of the pipeline text.

use crate::case::pipeline::{Address, Compare, DataFormat, Filter, ResourceKind, Stage, Topology};
use ash::vk;

/// The format of a typed buffer, image or attribute. Hex formats are unsigned integers of their size.
pub fn format(format: DataFormat, channels: u32) -> Option<vk::Format> {
    use DataFormat as D;
    use vk::Format as F;
    let row = match format {
        D::Hex8 => [F::R8_UINT, F::R8G8_UINT, F::R8G8B8_UINT, F::R8G8B8A8_UINT],
        D::Hex16 | D::UInt16 => [F::R16_UINT, F::R16G16_UINT, F::R16G16B16_UINT, F::R16G16B16A16_UINT],
        D::Int16 => [F::R16_SINT, F::R16G16_SINT, F::R16G16B16_SINT, F::R16G16B16A16_SINT],
        D::Float16 => [F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16_SFLOAT, F::R16G16B16A16_SFLOAT],
        D::Hex32 | D::UInt32 | D::Bool => [F::R32_UINT, F::R32G32_UINT, F::R32G32B32_UINT, F::R32G32B32A32_UINT],
        D::Int32 => [F::R32_SINT, F::R32G32_SINT, F::R32G32B32_SINT, F::R32G32B32A32_SINT],
        D::Float32 => [F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32_SFLOAT, F::R32G32B32A32_SFLOAT],
        // Two 64-bit components travel as four of 32 bits: no device has storage of R64G64.
        D::Hex64 | D::UInt64 => [F::R64_UINT, F::R32G32B32A32_UINT, F::UNDEFINED, F::UNDEFINED],
        D::Int64 => [F::R64_SINT, F::R32G32B32A32_SINT, F::UNDEFINED, F::UNDEFINED],
        D::Float64 => [F::R64_SFLOAT, F::R64G64_SFLOAT, F::R64G64B64_SFLOAT, F::R64G64B64A64_SFLOAT],
        D::Depth32 => [F::D32_SFLOAT, F::UNDEFINED, F::UNDEFINED, F::UNDEFINED],
    };
    let f = *row.get(channels.checked_sub(1)? as usize)?;
    (f != F::UNDEFINED).then_some(f)
}

/// The aspect of an image of that format.
pub fn aspect(format: DataFormat) -> vk::ImageAspectFlags {
    if format == DataFormat::Depth32 { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR }
}

/// The descriptor type of a resource.
pub fn descriptor(kind: ResourceKind) -> vk::DescriptorType {
    use ResourceKind as K;
    match kind {
        K::Buffer => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        K::RWBuffer => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        K::Texture2D => vk::DescriptorType::SAMPLED_IMAGE,
        K::RWTexture2D => vk::DescriptorType::STORAGE_IMAGE,
        K::StructuredBuffer | K::RWStructuredBuffer | K::ByteAddressBuffer | K::RWByteAddressBuffer => {
            vk::DescriptorType::STORAGE_BUFFER
        }
        K::ConstantBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        K::Sampler => vk::DescriptorType::SAMPLER,
        K::SampledTexture2D => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        K::AccelerationStructure => vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
    }
}

/// The stage flag; none for stages this engine does not run.
pub fn stage(stage: Stage) -> Option<vk::ShaderStageFlags> {
    Some(match stage {
        Stage::Compute => vk::ShaderStageFlags::COMPUTE,
        Stage::Vertex => vk::ShaderStageFlags::VERTEX,
        Stage::Hull => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        Stage::Domain => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        Stage::Geometry => vk::ShaderStageFlags::GEOMETRY,
        Stage::Pixel => vk::ShaderStageFlags::FRAGMENT,
        _ => return None,
    })
}

/// The primitive topology.
pub fn topology(t: Topology) -> vk::PrimitiveTopology {
    match t {
        Topology::TriangleList => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::PointList => vk::PrimitiveTopology::POINT_LIST,
        Topology::PatchList => vk::PrimitiveTopology::PATCH_LIST,
        Topology::LineList => vk::PrimitiveTopology::LINE_LIST,
    }
}

/// The filter.
pub fn filter(f: Filter) -> vk::Filter {
    match f {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    }
}

/// The address mode.
pub fn address(a: Address) -> vk::SamplerAddressMode {
    match a {
        Address::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Address::Repeat => vk::SamplerAddressMode::REPEAT,
        Address::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Address::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        Address::MirrorOnce => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    }
}

/// The comparison.
pub fn compare(c: Compare) -> vk::CompareOp {
    match c {
        Compare::Never => vk::CompareOp::NEVER,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::LessEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::GreaterEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
    }
}
