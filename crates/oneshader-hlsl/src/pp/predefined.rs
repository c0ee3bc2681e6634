//! What is defined before the first line.

use std::fmt::Write;

use super::Limits;

/// A shader stage, numbered as DXC's `__SHADER_STAGE_*`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum ShaderStage {
    Pixel = 0,
    Vertex = 1,
    Geometry = 2,
    Hull = 3,
    Domain = 4,
    Compute = 5,
    Library = 6,
    Mesh = 13,
    Amplification = 14,
}

const STAGES: &[(&str, ShaderStage)] = &[
    ("VERTEX", ShaderStage::Vertex),
    ("PIXEL", ShaderStage::Pixel),
    ("GEOMETRY", ShaderStage::Geometry),
    ("HULL", ShaderStage::Hull),
    ("DOMAIN", ShaderStage::Domain),
    ("COMPUTE", ShaderStage::Compute),
    ("AMPLIFICATION", ShaderStage::Amplification),
    ("MESH", ShaderStage::Mesh),
    ("LIBRARY", ShaderStage::Library),
];

/// A `-D` or `-U` of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Define {
    /// `-D name=value`; without `=value` the value is 1. The name may have parameters: `F(x)`.
    Define {
        /// The name.
        name: String,
        /// The body.
        value: Option<String>,
    },
    /// `-U name`.
    Undef(String),
}

impl Define {
    /// Reads `NAME`, `NAME=VALUE`.
    pub fn parse(text: &str) -> Define {
        match text.split_once('=') {
            Some((name, value)) => Define::Define { name: name.into(), value: Some(value.into()) },
            None => Define::Define { name: text.into(), value: None },
        }
    }
}

/// How to preprocess.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-HV`: 2016, 2017, 2018, 2021, or larger for what comes after.
    pub hlsl_version: u16,
    /// `__SHADER_TARGET_STAGE`.
    pub stage: ShaderStage,
    /// `__SHADER_TARGET_MAJOR` and `_MINOR`.
    pub shader_model: (u8, u8),
    /// `-enable-16bit-types`: defines `__HLSL_ENABLE_16_BIT`.
    pub native_16bit: bool,
    /// Defines `__spirv__` with this SPIR-V version.
    pub spirv: Option<(u8, u8)>,
    /// `-flegacy-macro-expansion`: arguments are expanded before `##` too, as FXC does.
    pub legacy_macro_expansion: bool,
    /// `-D` and `-U`, in order.
    pub defines: Vec<Define>,
    /// Budgets.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            hlsl_version: 2021,
            stage: ShaderStage::Library,
            shader_model: (6, 0),
            native_16bit: false,
            spirv: None,
            legacy_macro_expansion: false,
            defines: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// The text of the predefined macros, as DXC 1.8 has them.
pub(super) fn builtin_text(options: &Options) -> String {
    let mut text = String::with_capacity(1024);
    let mut define = |name: &str, value: u32| {
        let _ = writeln!(text, "#define {name} {value}");
    };
    define("__hlsl_dx_compiler", 1);
    define("__llvm__", 1);
    define("__clang__", 1);
    define("__DXC_VERSION_MAJOR", 1);
    define("__DXC_VERSION_MINOR", 8);
    define("__DXC_VERSION_RELEASE", 0);
    define("__DXC_VERSION_COMMITS", 0);
    define("__HLSL_VERSION", u32::from(options.hlsl_version));
    if options.native_16bit {
        define("__HLSL_ENABLE_16_BIT", 1);
    }
    define("__SHADER_TARGET_STAGE", options.stage as u32);
    define("__SHADER_TARGET_MAJOR", u32::from(options.shader_model.0));
    define("__SHADER_TARGET_MINOR", u32::from(options.shader_model.1));
    if let Some((major, minor)) = options.spirv {
        define("__spirv__", 1);
        define("__SPIRV_MAJOR_VERSION__", u32::from(major));
        define("__SPIRV_MINOR_VERSION__", u32::from(minor));
    }
    for (name, stage) in STAGES {
        let _ = writeln!(text, "#define __SHADER_STAGE_{name} {}", *stage as u32);
    }
    text
}

/// The text of the command line's definitions. A line break in one ends it, as in Clang.
pub(super) fn command_line_text(options: &Options) -> String {
    let line = |text: &str| text.split(['\n', '\r']).next().unwrap_or("").to_string();
    let mut text = String::new();
    for define in &options.defines {
        let _ = match define {
            Define::Define { name, value } => {
                writeln!(text, "#define {} {}", line(name), value.as_deref().map_or("1".into(), line))
            }
            Define::Undef(name) => writeln!(text, "#undef {}", line(name)),
        };
    }
    text
}
