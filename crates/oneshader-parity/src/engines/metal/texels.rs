//! Images, typed buffers and samplers of a case as `metal-check` takes them.

use crate::case::pipeline::{Address, Compare, DataFormat, Filter, Sampler, SamplerKind};
use crate::case::{self, Buffer};
use crate::engines::EngineError;
use half::f16;
use metal_check::run::{self, AddressMode, Element, MipFilter, Texture};

/// What a component of a format is, and its bytes; none for what Metal has no texels of.
fn component(format: DataFormat) -> Option<(Element, usize)> {
    use DataFormat as D;
    Some(match format {
        D::Hex8 => (Element::Uint, 1),
        D::Hex16 | D::UInt16 => (Element::Uint, 2),
        D::Hex32 | D::UInt32 | D::Bool => (Element::Uint, 4),
        D::Int16 => (Element::Int, 2),
        D::Int32 => (Element::Int, 4),
        D::Float16 => (Element::Float, 2),
        D::Float32 | D::Depth32 => (Element::Float, 4),
        D::Hex64 | D::UInt64 | D::Int64 | D::Float64 => return None,
    })
}

fn widen(element: Element, bytes: &[u8]) -> u32 {
    let bits = bytes.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
    match (element, bytes.len()) {
        (Element::Float, 2) => f16::from_bits(bits as u16).to_f32().to_bits(),
        (Element::Int, 2) => i32::from(bits as u16 as i16) as u32,
        _ => bits,
    }
}

fn narrow(element: Element, word: u32, bytes: &mut [u8]) {
    let bits = match (element, bytes.len()) {
        (Element::Float, 2) => u32::from(f16::from_f32(f32::from_bits(word)).to_bits()),
        _ => word,
    };
    bytes.copy_from_slice(&bits.to_le_bytes()[..bytes.len()]);
}

/// A block of a buffer as a texture: an image by its dimensions, a typed buffer in one row.
pub(super) fn texture(buffer: &Buffer, block: &[u8], is_image: bool) -> Result<Texture, EngineError> {
    let channels = buffer.channels as usize;
    let Some((element, size)) = component(buffer.format).filter(|_| (1..=4).contains(&channels)) else {
        let what = format!("texels of {} with {channels} channels", buffer.format.name());
        return Err(EngineError::Unsupported(what));
    };
    let mut texture = match is_image {
        true => {
            let o = buffer.output;
            let texture = Texture::new(o.width.max(1), o.height.max(1), 1, element);
            texture.with_layers(1, case::mip_sizes(o).count().max(1) as u32)
        }
        false => Texture::new((block.len() / (size * channels)) as u32, 1, 1, element),
    };
    // Components that the format lacks are 0, 0 and 1.
    let one = if element == Element::Float { 1.0f32.to_bits() } else { 1 };
    let texels = block.chunks_exact(size * channels).map(|bytes| {
        let mut texel = [0, 0, 0, one];
        for (word, bytes) in texel.iter_mut().zip(bytes.chunks_exact(size)) {
            *word = widen(element, bytes);
        }
        texel
    });
    texture.texels = texels.collect();
    if texture.texels.len() != texture.count() {
        return Err(EngineError::Invalid(format!("'{}' has {} texels", buffer.name, texture.texels.len())));
    }
    Ok(texture)
}

/// The block of a buffer that a texture's texels are.
pub(super) fn block(buffer: &Buffer, texture: &Texture) -> Vec<u8> {
    let Some((element, size)) = component(buffer.format) else { return Vec::new() };
    let channels = (buffer.channels as usize).min(4);
    let mut out = vec![0; texture.texels.len() * channels * size];
    for (texel, bytes) in texture.texels.iter().zip(out.chunks_exact_mut(channels * size)) {
        for (word, bytes) in texel.iter().zip(bytes.chunks_exact_mut(size)) {
            narrow(element, *word, bytes);
        }
    }
    out
}

/// A sampler; the nearest level is taken, as on Vulkan.
pub(super) fn sampler(s: &Sampler) -> Result<run::Sampler, EngineError> {
    let address = match s.address {
        Address::Clamp => AddressMode::ClampToEdge,
        Address::Repeat => AddressMode::Repeat,
        Address::Mirror => AddressMode::MirroredRepeat,
        Address::Border => AddressMode::ClampToBorder,
        Address::MirrorOnce => return Err(EngineError::Unsupported("samplers that mirror once".to_owned())),
    };
    if s.mip_lod_bias != 0.0 {
        return Err(EngineError::Unsupported("samplers with a bias".to_owned()));
    }
    let filter = |f| match f {
        Filter::Nearest => run::Filter::Nearest,
        Filter::Linear => run::Filter::Linear,
    };
    let compare = match s.comparison_op {
        _ if s.kind != SamplerKind::SamplerComparison => run::Compare::None,
        Compare::Never => run::Compare::Never,
        Compare::Less => run::Compare::Less,
        Compare::Equal => run::Compare::Equal,
        Compare::LessEqual => run::Compare::LessEqual,
        Compare::Greater => run::Compare::Greater,
        Compare::NotEqual => run::Compare::NotEqual,
        Compare::GreaterEqual => run::Compare::GreaterEqual,
        Compare::Always => run::Compare::Always,
    };
    Ok(run::Sampler {
        address: [address; 3],
        mag: filter(s.mag_filter),
        min: filter(s.min_filter),
        mip: MipFilter::Nearest,
        compare,
        lod: [s.min_lod, s.max_lod],
        ..run::Sampler::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pipeline::OutputProps;

    fn buffer(format: DataFormat, channels: u32, data: &[u8]) -> Buffer {
        Buffer {
            name: "b".to_owned(),
            format,
            channels,
            stride: 0,
            data: vec![data.to_vec()],
            counters: Vec::new(),
            output: OutputProps::default(),
        }
    }

    #[test]
    fn texels_go_there_and_back() {
        // 1.0 and -2.0 as halves; -1 and 2 as shorts.
        let halves = buffer(DataFormat::Float16, 2, &[0x00, 0x3c, 0x00, 0xc0]);
        let shorts = buffer(DataFormat::Int16, 1, &[0xff, 0xff, 2, 0]);
        let t = texture(&halves, &halves.data[0], false).unwrap();
        assert_eq!(t.texels, [[1.0f32.to_bits(), (-2.0f32).to_bits(), 0, 1.0f32.to_bits()]]);
        assert_eq!(block(&halves, &t), halves.data[0]);
        let t = texture(&shorts, &shorts.data[0], false).unwrap();
        assert_eq!((t.width, &t.texels[..]), (2, &[[u32::MAX, 0, 0, 1], [2, 0, 0, 1]][..]));
        assert_eq!(block(&shorts, &t), shorts.data[0]);
        let wide = buffer(DataFormat::Float64, 1, &[0; 8]);
        assert!(matches!(texture(&wide, &wide.data[0], false), Err(EngineError::Unsupported(_))));
    }

    #[test]
    fn images_have_levels() {
        let mut image = buffer(DataFormat::UInt32, 1, &[7; 20]);
        image.output = OutputProps { width: 2, height: 2, depth: 1, mip_levels: 2 };
        let t = texture(&image, &image.data[0], true).unwrap();
        assert_eq!((t.width, t.height, t.levels, t.texels.len()), (2, 2, 2, 5));
    }
}
