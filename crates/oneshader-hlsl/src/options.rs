//! What the caller of the front end decides.

use oneshader_ir::{MatrixOrder, Stage};

/// An entry point that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryRequest {
    /// HLSL name of the function.
    pub name: String,
    /// Stage; `None` takes it from `[shader("...")]`.
    pub stage: Option<Stage>,
}

/// Version of the language (`-HV`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LanguageVersion {
    /// HLSL 2016.
    V2016,
    /// HLSL 2017.
    V2017,
    /// HLSL 2018.
    V2018,
    /// HLSL 2021, the default.
    #[default]
    V2021,
    /// HLSL 202x.
    V202x,
}

impl LanguageVersion {
    /// Whether `&&`, `||` and `?:` are C's, structures convert by name only and templates exist.
    pub fn is_2021(self) -> bool {
        self >= LanguageVersion::V2021
    }
}

/// What the type checker and the lowering need to know from the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerOptions {
    /// Entry points; when empty, every function with `[shader("...")]`.
    pub entries: Vec<EntryRequest>,
    /// Shader model, major and minor.
    pub shader_model: (u8, u8),
    /// Version of the language.
    pub version: LanguageVersion,
    /// Order of matrices without a stated one.
    pub matrix_order: MatrixOrder,
    /// `-enable-16bit-types`: `half` and the min-precision types have 16 bits.
    pub native_16bit: bool,
    /// `-Gis`: all arithmetic is precise.
    pub ieee_strict: bool,
    /// `-flegacy-resource-reservation` and the like change nothing here; `-auto-binding-space`: the space of resources
    /// without one.
    pub default_space: u32,
    /// Constant buffers are laid out as Direct3D does (`-fvk-use-dx-layout`): lines of matrices that have one component
    /// take a register each.
    pub dx_layout: bool,
    /// `-fspv-use-legacy-buffer-matrix-order`: matrices in byte-address buffers are row-major, whatever their type says.
    pub raw_row_major: bool,
    /// `-fvk-bind-resource-heap` and `-fvk-bind-sampler-heap`: binding and set of the arrays that stand for the descriptor
    /// heaps.
    pub heap_bindings: [Option<(u32, u32)>; 2],
}

impl Default for LowerOptions {
    fn default() -> Self {
        LowerOptions {
            entries: Vec::new(),
            shader_model: (6, 0),
            version: LanguageVersion::default(),
            matrix_order: MatrixOrder::ColumnMajor,
            native_16bit: false,
            ieee_strict: false,
            default_space: 0,
            dx_layout: false,
            raw_row_major: false,
            heap_bindings: [None; 2],
        }
    }
}

/// All options of the front end.
#[derive(Clone, Debug, Default)]
pub struct FrontOptions {
    /// Defines, include limits, predefined macros.
    pub preprocessor: crate::pp::Options,
    /// Types, entry points.
    pub lower: LowerOptions,
}
