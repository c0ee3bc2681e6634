//! What a caller chooses.

use oneshader_diag::SourceMap;
use oneshader_ir::SlotOptions;
use oneshader_ir::layout::LayoutOptions;
use std::fmt;
use std::sync::Arc;

/// A version of the Metal Shading Language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum MslVersion {
    /// macOS 12, iOS 15.
    #[default]
    V2_4,
    /// macOS 13, iOS 16.
    V3_0,
    /// macOS 14, iOS 17: atomics on textures.
    V3_1,
    /// macOS 15, iOS 18: fences and coherent buffers.
    V3_2,
}

impl MslVersion {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V2_4, Self::V3_0, Self::V3_1, Self::V3_2];

    /// The version of a text such as `2.4`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.text() == text)
    }

    /// As in `-std=metal3.0`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::V2_4 => "2.4",
            Self::V3_0 => "3.0",
            Self::V3_1 => "3.1",
            Self::V3_2 => "3.2",
        }
    }
}

impl fmt::Display for MslVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Where the text will be compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MslPlatform {
    /// Macs.
    #[default]
    MacOs,
    /// iPhones and iPads.
    Ios,
}

/// How an entry point receives its resources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MslBinding {
    /// Each resource is an argument with an index of its own.
    #[default]
    Direct,
    /// One structure of device pointers, textures and samplers at buffer 0, in order of declaration, eight bytes each. It
    /// holds every resource of the file, so that all entry points share one structure.
    ArgumentStruct,
}

/// Whose rules hold where the two languages differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MslSemantics {
    /// HLSL's: operations that C++ leaves undefined are emitted in a guarded form unless the operands show that they need
    /// none.
    #[default]
    Hlsl,
    /// Metal's: operations are emitted as they are.
    Metal,
}

/// How an array of buffers is passed to an entry point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BufferArrays {
    /// As one `array<device T*, N>` argument.
    #[default]
    Array,
    /// As N arguments at the same indices, gathered into a local array.
    Arguments,
}

/// What a caller chooses. `MslOptions::default()` is what the documentation describes.
#[derive(Clone, Debug, Default)]
pub struct MslOptions {
    /// Language version of the text.
    pub version: MslVersion,
    /// Platform. From Metal 2.4 on the text is the same for both; what it needs of a device is reflection's to tell.
    pub platform: MslPlatform,
    /// How resources are bound.
    pub binding: MslBinding,
    /// Whose rules hold where the two languages differ.
    pub semantics: MslSemantics,
    /// How arrays of buffers are passed.
    pub buffer_arrays: BufferArrays,
    /// Emulate `WaveMatch` and `WaveMultiPrefix*`, which Metal lacks, by loops.
    pub emulate_wave_match: bool,
    /// Write vectors of 64-bit integers in buffers as arrays, and wave arithmetic on 64-bit integers as loops: Metal has
    /// neither.
    pub emulate_int64: bool,
    /// Let `GetDimensions` of buffers read a hidden `buffer_sizes` argument: the size in bytes of the buffer at each index.
    pub buffer_sizes: bool,
    /// The rules of the bytes of buffers; those of the SPIR-V target.
    pub layout: LayoutOptions,
    /// Write `#line` directives that point into these sources.
    pub line_directives: Option<Arc<SourceMap>>,
    /// How slots are chosen; must be what reflection is told.
    pub slots: SlotOptions,
}
