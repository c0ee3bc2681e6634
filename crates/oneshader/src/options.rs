//! What a caller chooses.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use oneshader_diag::Warnings;
use oneshader_hlsl::options::{EntryRequest, FrontOptions, LanguageVersion, LowerOptions};
use oneshader_hlsl::pp::{self, Define, IncludeLoader, NoIncludes};
use oneshader_ir::layout::{LayoutOptions, LayoutRule};
use oneshader_ir::slots::SlotOptions;
use oneshader_ir::{MatrixOrder, Stage};
use oneshader_msl::MslOptions;
use oneshader_opt::Pipeline;
use oneshader_spirv::SpirvOptions;

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompileTarget {
    /// One Metal Shading Language text for each entry point.
    Msl,
    /// One SPIR-V module for each entry point.
    Spirv,
}

/// A target profile: a stage, or all of them, and a shader model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Profile {
    /// The stage; `None` for a library (`lib_6_3`).
    pub stage: Option<Stage>,
    /// Major and minor version of the shader model.
    pub model: (u8, u8),
}

/// A profile that is none, or of a stage this compiler does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProfileError {
    /// Not of the form `ps_6_0`.
    #[error("`{0}` is no target profile; expected for example vs_6_0, ps_6_0, cs_6_0 or lib_6_3")]
    Malformed(String),
    /// A stage that exists but is not compiled.
    #[error("{1} shaders (`{0}`) are not supported; vertex, pixel and compute shaders are")]
    Stage(String, &'static str),
}

/// Stages by prefix; those without a [`Stage`] are known and not supported.
const STAGES: &[(&str, Result<Option<Stage>, &str>)] = &[
    ("vs", Ok(Some(Stage::Vertex))),
    ("ps", Ok(Some(Stage::Pixel))),
    ("cs", Ok(Some(Stage::Compute))),
    ("lib", Ok(None)),
    ("gs", Err("geometry")),
    ("hs", Err("hull")),
    ("ds", Err("domain")),
    ("ms", Err("mesh")),
    ("as", Err("amplification")),
];

impl Profile {
    /// `lib_6_3`.
    pub const LIBRARY: Self = Self { stage: None, model: (6, 3) };
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let malformed = || ProfileError::Malformed(text.into());
        let mut parts = text.split('_');
        let (Some(stage), Some(major), Some(minor), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(malformed());
        };
        let (_, stage) = STAGES.iter().find(|(name, _)| *name == stage).ok_or_else(malformed)?;
        let stage = stage.map_err(|name| ProfileError::Stage(text.into(), name))?;
        // `lib_6_x` is the library profile without a version.
        let minor = if minor == "x" { 7 } else { minor.parse().map_err(|_| malformed())? };
        Ok(Self { stage, model: (major.parse().map_err(|_| malformed())?, minor) })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = STAGES.iter().find(|(_, stage)| *stage == Ok(self.stage)).map_or("lib", |(name, _)| name);
        write!(f, "{name}_{}_{}", self.model.0, self.model.1)
    }
}

/// How much is optimized.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OptLevel {
    /// Only what legality needs.
    O0,
    /// Cleanup that keeps the shape of the source; the default for Metal, whose compiler optimizes.
    O1,
    /// Everything; the default for SPIR-V.
    O3,
}

impl OptLevel {
    /// The passes.
    pub const fn pipeline(self) -> Pipeline {
        match self {
            Self::O0 => Pipeline::LEGAL,
            Self::O1 => Pipeline::CLEANUP,
            Self::O3 => Pipeline::FULL,
        }
    }
}

/// What a caller chooses. Make one with [`Options::new`] and set what differs.
#[derive(Clone)]
pub struct Options {
    /// What is made.
    pub target: CompileTarget,
    /// Stage and shader model; default [`Profile::LIBRARY`].
    pub profile: Profile,
    /// Entry points by HLSL name. When empty: `main` when the profile has a stage, else every function with
    /// `[shader("...")]`.
    pub entries: Vec<String>,
    /// Year of the language: 2016, 2017, 2018, 2021 (default) or 202x as 2022.
    pub hlsl_version: u16,
    /// Order in memory of matrices that state none; default column-major.
    pub matrix_order: MatrixOrder,
    /// `half`, `int16_t` and their kin have 16 bits.
    pub native_16bit: bool,
    /// Macros defined and undefined before the first line, in order.
    pub defines: Vec<Define>,
    /// Macro arguments are expanded before `##` too, as FXC does.
    pub legacy_macros: bool,
    /// Finds included files; default none.
    pub loader: Arc<dyn IncludeLoader>,
    /// Optimization; default [`OptLevel::O1`] for Metal and [`OptLevel::O3`] for SPIR-V.
    pub opt_level: OptLevel,
    /// What happens to warnings.
    pub warnings: Warnings,
    /// Rules of the bytes of buffers, for all targets; default DXC's for Vulkan.
    pub layout: LayoutOptions,
    /// How slots are chosen, for all targets.
    pub slots: SlotOptions,
    /// All arithmetic is precise.
    pub ieee_strict: bool,
    /// Matrices in byte-address buffers are row-major, whatever their type says: what DXC once did.
    pub raw_row_major: bool,
    /// Binding and set of the arrays that stand for `ResourceDescriptorHeap` and `SamplerDescriptorHeap`.
    pub heap_bindings: [Option<(u32, u32)>; 2],
    /// For Metal; its layout and slots are taken from here.
    pub msl: MslOptions,
    /// `#line` directives in the Metal text.
    pub msl_lines: bool,
    /// For SPIR-V.
    pub spirv: SpirvOptions,
}

impl Options {
    /// The defaults of a target.
    pub fn new(target: CompileTarget) -> Self {
        Self {
            target,
            profile: Profile::LIBRARY,
            entries: Vec::new(),
            hlsl_version: 2021,
            matrix_order: MatrixOrder::default(),
            native_16bit: false,
            defines: Vec::new(),
            legacy_macros: false,
            loader: Arc::new(NoIncludes),
            opt_level: match target {
                CompileTarget::Msl => OptLevel::O1,
                CompileTarget::Spirv => OptLevel::O3,
            },
            warnings: Warnings::default(),
            layout: LayoutOptions::default(),
            slots: SlotOptions::default(),
            ieee_strict: false,
            raw_row_major: false,
            heap_bindings: [None; 2],
            msl: MslOptions::default(),
            msl_lines: false,
            spirv: SpirvOptions::default(),
        }
    }

    /// What the preprocessor must know.
    pub(crate) fn preprocessor(&self) -> pp::Options {
        pp::Options {
            hlsl_version: self.hlsl_version,
            stage: match self.profile.stage {
                Some(Stage::Vertex) => pp::ShaderStage::Vertex,
                Some(Stage::Pixel) => pp::ShaderStage::Pixel,
                Some(Stage::Compute) => pp::ShaderStage::Compute,
                None => pp::ShaderStage::Library,
            },
            shader_model: self.profile.model,
            native_16bit: self.native_16bit,
            spirv: (self.target == CompileTarget::Spirv).then(|| self.spirv.target.version()),
            legacy_macro_expansion: self.legacy_macros,
            defines: self.defines.clone(),
            limits: pp::Limits::default(),
        }
    }

    /// What the front end must know.
    pub(crate) fn front_end(&self) -> FrontOptions {
        let entry = |name: &str| EntryRequest { name: name.into(), stage: self.profile.stage };
        let entries = match (&self.entries[..], self.profile.stage) {
            ([], Some(_)) => vec![entry("main")],
            (names, _) => names.iter().map(|name| entry(name)).collect(),
        };
        let lower = LowerOptions {
            entries,
            shader_model: self.profile.model,
            version: match self.hlsl_version {
                ..=2016 => LanguageVersion::V2016,
                2017 => LanguageVersion::V2017,
                2018..=2020 => LanguageVersion::V2018,
                2021 => LanguageVersion::V2021,
                _ => LanguageVersion::V202x,
            },
            matrix_order: self.matrix_order,
            native_16bit: self.native_16bit,
            ieee_strict: self.ieee_strict,
            raw_row_major: self.raw_row_major,
            default_space: self.slots.spirv.default_space,
            dx_layout: self.layout.constant == LayoutRule::DxConstantBuffer,
            heap_bindings: self.heap_bindings,
        };
        FrontOptions { preprocessor: self.preprocessor(), lower }
    }

    /// Sets the profile from its text, such as `ps_6_0`.
    ///
    /// # Errors
    /// The text is no profile, or one of a stage that is not supported.
    pub fn profile(mut self, text: &str) -> Result<Self, ProfileError> {
        self.profile = text.parse()?;
        Ok(self)
    }

    /// Adds an entry point.
    #[must_use]
    pub fn entry(mut self, name: impl Into<String>) -> Self {
        self.entries.push(name.into());
        self
    }

    /// Defines a macro: `NAME` or `NAME=VALUE`.
    #[must_use]
    pub fn define(mut self, text: &str) -> Self {
        self.defines.push(Define::parse(text));
        self
    }

    /// Sets where included files come from.
    #[must_use]
    pub fn includes(mut self, loader: impl IncludeLoader + 'static) -> Self {
        self.loader = Arc::new(loader);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        assert_eq!("ps_6_2".parse(), Ok(Profile { stage: Some(Stage::Pixel), model: (6, 2) }));
        assert_eq!("lib_6_x".parse::<Profile>().map(|p| p.stage), Ok(None));
        assert!(matches!("gs_5_0".parse::<Profile>(), Err(ProfileError::Stage(_, "geometry"))));
        for bad in ["", "ps", "ps_6", "ps_6_0_1", "xs_6_0", "ps_a_b"] {
            assert!(matches!(bad.parse::<Profile>(), Err(ProfileError::Malformed(_))), "{bad}");
        }
        assert_eq!("cs_6_6".parse::<Profile>().unwrap().to_string(), "cs_6_6");
    }
}
