//! Textures and samplers of a dispatch.

/// What the components of a texel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `float` and `half`: the bits of a `float`.
    Float,
    /// Signed integers, as 32 bits.
    Int,
    /// Unsigned integers, as 32 bits.
    Uint,
}

/// A texture. Texels are kept as four words of 32 bits, whatever the pixel format is: converting from and to a format,
/// and rounding to it, is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texture {
    /// Texels of level 0 along x.
    pub width: u32,
    /// Texels of level 0 along y; 1 in one dimension.
    pub height: u32,
    /// Texels of level 0 along z; 1 unless it has three dimensions.
    pub depth: u32,
    /// Array layers; a cube has 6 for each cube, in the order +x, -x, +y, -y, +z, -z.
    pub layers: u32,
    /// Mipmap levels, at least 1.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// What a component is.
    pub element: Element,
    /// Level after level; in a level by layer, z, y, x and sample.
    pub texels: Vec<[u32; 4]>,
}

impl Texture {
    /// A texture with one level, layer and sample, filled with zero.
    pub fn new(width: u32, height: u32, depth: u32, element: Element) -> Self {
        let mut texture = Self { width, height, depth, layers: 1, levels: 1, samples: 1, element, texels: Vec::new() };
        texture.texels = vec![[0; 4]; texture.count()];
        texture
    }

    /// The same texture with these layers and levels, filled with zero.
    pub fn with_layers(mut self, layers: u32, levels: u32) -> Self {
        (self.layers, self.levels) = (layers, levels);
        self.texels = vec![[0; 4]; self.count()];
        self
    }

    /// Width, height and depth of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        [self.width, self.height, self.depth].map(|n| n.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Texels of a level, over all layers.
    fn level_count(&self, level: u32) -> usize {
        self.level_size(level).iter().chain([&self.layers, &self.samples]).map(|&n| n as usize).product()
    }

    /// How many texels there must be.
    pub fn count(&self) -> usize {
        (0..self.levels).map(|l| self.level_count(l)).sum()
    }

    /// Where in `texels` sample 0 of a texel is.
    pub fn index(&self, [x, y, z]: [u32; 3], layer: u32, level: u32) -> usize {
        let [width, height, depth] = self.level_size(level).map(|n| n as usize);
        let before: usize = (0..level).map(|l| self.level_count(l)).sum();
        let within = ((layer as usize * depth + z as usize) * height + y as usize) * width + x as usize;
        before + within * self.samples as usize
    }
}

/// How a coordinate outside a texture is read: the enumerators of `address`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AddressMode {
    ClampToZero,
    ClampToEdge,
    Repeat,
    MirroredRepeat,
    ClampToBorder,
}

/// Which texels are read: the enumerators of `filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Filter {
    Nearest,
    Linear,
}

/// Which levels are read: the enumerators of `mip_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MipFilter {
    None,
    Nearest,
    Linear,
}

/// The enumerators of `compare_func`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compare {
    Never,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Always,
    None,
}

/// The enumerators of `border_color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BorderColor {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// The state of a sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Whether coordinates count texels; else they go from 0 to 1.
    pub pixel_coordinates: bool,
    /// How s, t and r are read outside the texture.
    pub address: [AddressMode; 3],
    /// The color outside, if clamped to the border.
    pub border: BorderColor,
    /// Between texels, when the texture is magnified.
    pub mag: Filter,
    /// Between texels, when the texture is minified.
    pub min: Filter,
    /// Between levels.
    pub mip: MipFilter,
    /// What `sample_compare` asks.
    pub compare: Compare,
    /// Least and greatest level of detail.
    pub lod: [f32; 2],
}

impl Default for Sampler {
    /// Metal's defaults: the nearest texel of level 0, clamped to the edge.
    fn default() -> Self {
        Self {
            pixel_coordinates: false,
            address: [AddressMode::ClampToEdge; 3],
            border: BorderColor::TransparentBlack,
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: MipFilter::None,
            compare: Compare::None,
            lod: [0.0, f32::MAX],
        }
    }
}

impl Sampler {
    /// The eight bytes that stand for it in an argument structure or a table: the bits of `struct sampler` in
    /// `c2_resources.h`. Of the levels of detail they keep 11 bits behind the point.
    pub fn handle(&self) -> u64 {
        let level = |v: f32| u64::from(v.to_bits() >> 12);
        let [s, t, r] = self.address.map(|a| a as u64);
        u64::from(self.pixel_coordinates)
            | s << 1
            | t << 4
            | r << 7
            | (self.border as u64) << 10
            | (self.mag as u64) << 12
            | (self.min as u64) << 14
            | (self.mip as u64) << 16
            | (self.compare as u64) << 18
            | level(self.lod[0]) << 24
            | level(self.lod[1]) << 44
    }
}
