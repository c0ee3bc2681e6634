//! What the Metal code of an entry point needs.

use serde::{Deserialize, Serialize};

/// Something that not every version or device has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// SIMD-group shuffles, votes, lane index and count.
    SimdPermute,
    /// SIMD-group sums, scans, minima and the like.
    SimdReduce,
    /// Shuffles in a quad.
    QuadPermute,
    /// 64-bit integers.
    Int64,
    /// 64-bit atomic maximum and minimum.
    Atomic64,
    /// Atomic operations on texels.
    TextureAtomics,
    /// Textures that one function reads and writes.
    ReadWriteTextures,
    /// Arrays of cube textures.
    CubeArrays,
    /// Arrays of textures, samplers or buffers.
    ResourceArrays,
    /// Arrays of textures that are written.
    WritableTextureArrays,
    /// The level of detail that a sample would use.
    LodQuery,
    /// Barycentric coordinates in pixel functions.
    Barycentrics,
    /// The primitive's number in pixel functions.
    PrimitiveId,
    /// The render target's layer or viewport chosen in vertex functions.
    LayeredRendering,
    /// Acceleration structures.
    RayTracing,
    /// Handles in buffers: arrays of resources without size, descriptor heaps. Besides, the device must have argument
    /// buffers of tier 2.
    ResourceTables,
    /// Comparison sampling with a bias, gradients or a level other than 0. Kernels that sample with an implicit level give
    /// gradients.
    CompareLevels,
}

/// One row: what a feature needs.
struct Row {
    feature: Feature,
    msl: (u8, u8),
    macos: (u8, u8),
    ios: (u8, u8),
    /// Least Apple GPU family.
    apple: u8,
    /// Whether the Mac family (Mac2) has it.
    mac: bool,
}

const fn row(feature: Feature, msl: (u8, u8), macos: (u8, u8), ios: (u8, u8), apple: u8, mac: bool) -> Row {
    Row { feature, msl, macos, ios, apple, mac }
}

/// The floor of everything the compiler writes: Metal 2.4, macOS 12, iOS 15.
const FLOOR: ((u8, u8), (u8, u8), (u8, u8)) = ((2, 4), (12, 0), (15, 0));

/// From Apple's "Metal feature set tables" (those of 2025) and the availability notes of the Metal Shading Language
/// specification.
/// Where the tables say that some devices of the family Mac2 have a feature, the family alone will not do.
const ROWS: [Row; 17] = [
    row(Feature::SimdPermute, (2, 1), (12, 0), (15, 0), 6, true),
    row(Feature::SimdReduce, (2, 1), (12, 0), (15, 0), 7, true),
    row(Feature::QuadPermute, (2, 1), (12, 0), (15, 0), 4, true),
    row(Feature::Int64, (2, 3), (12, 0), (15, 0), 3, false),
    // Family Apple8 has them in Macs only.
    row(Feature::Atomic64, (2, 4), (12, 0), (15, 0), 9, false),
    row(Feature::TextureAtomics, (3, 1), (14, 0), (17, 0), 6, true),
    row(Feature::ReadWriteTextures, (1, 2), (12, 0), (15, 0), 4, true),
    row(Feature::CubeArrays, (1, 0), (12, 0), (15, 0), 4, true),
    row(Feature::ResourceArrays, (2, 0), (12, 0), (15, 0), 3, true),
    row(Feature::WritableTextureArrays, (2, 0), (12, 0), (15, 0), 6, true),
    // Some devices of family Apple7 have it too.
    row(Feature::LodQuery, (2, 3), (12, 0), (15, 0), 8, false),
    row(Feature::Barycentrics, (2, 3), (12, 0), (15, 0), 7, false),
    row(Feature::PrimitiveId, (2, 3), (12, 0), (15, 0), 7, true),
    row(Feature::LayeredRendering, (2, 0), (12, 0), (15, 0), 5, true),
    row(Feature::RayTracing, (2, 4), (12, 0), (15, 0), 6, false),
    row(Feature::ResourceTables, (3, 0), (13, 0), (16, 0), 6, true),
    row(Feature::CompareLevels, (2, 3), (12, 0), (15, 0), 2, false),
];

/// What the Metal code of an entry point needs of language, system and device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Needs {
    /// Least Metal Shading Language version.
    pub msl: String,
    /// Least macOS version.
    pub macos: String,
    /// Least iOS version.
    pub ios: String,
    /// Least Apple GPU family, as in `MTLGPUFamily.apple6`.
    pub apple_family: u8,
    /// Whether a GPU of family `mac2` will do.
    pub mac2: bool,
    /// Why.
    pub features: Vec<Feature>,
}

impl Needs {
    /// What these features need together.
    pub fn of(features: &[Feature]) -> Self {
        let mut sorted = features.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let (mut msl, mut macos, mut ios) = FLOOR;
        // Metal 2.4 itself runs on family Apple 2 and later; iOS 15 devices begin there.
        let (mut apple_family, mut mac2) = (2, true);
        for row in ROWS.iter().filter(|r| sorted.contains(&r.feature)) {
            msl = msl.max(row.msl);
            macos = macos.max(row.macos);
            ios = ios.max(row.ios);
            apple_family = apple_family.max(row.apple);
            mac2 &= row.mac;
        }
        let text = |(major, minor): (u8, u8)| format!("{major}.{minor}");
        Self { msl: text(msl), macos: text(macos), ios: text(ios), apple_family, mac2, features: sorted }
    }
}
