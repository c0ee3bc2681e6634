//! What the caller chooses.

use crate::extension::Extension;

/// The environment the module is for; it decides the version of SPIR-V and what needs an extension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum TargetEnv {
    /// Vulkan 1.0 with SPIR-V 1.0 and `VK_KHR_storage_buffer_storage_class`; it has no operations across lanes.
    Vulkan1_0,
    /// Vulkan 1.1 with SPIR-V 1.3.
    #[default]
    Vulkan1_1,
    /// Vulkan 1.1 with `VK_KHR_spirv_1_4`.
    Vulkan1_1Spirv1_4,
    /// Vulkan 1.2 with SPIR-V 1.5.
    Vulkan1_2,
    /// Vulkan 1.3 with SPIR-V 1.6.
    Vulkan1_3,
}

impl TargetEnv {
    /// All of them, with the names of `-fspv-target-env`.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Vulkan1_0, "vulkan1.0"),
        (Self::Vulkan1_1, "vulkan1.1"),
        (Self::Vulkan1_1Spirv1_4, "vulkan1.1spirv1.4"),
        (Self::Vulkan1_2, "vulkan1.2"),
        (Self::Vulkan1_3, "vulkan1.3"),
    ];

    /// The environment of a name of `-fspv-target-env`. `universal1.5` is SPIR-V 1.5, so the environment that has it.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "universal1.5" {
            return Some(Self::Vulkan1_2);
        }
        Self::ALL.iter().find(|(_, n)| *n == name).map(|&(env, _)| env)
    }

    /// Name as `-fspv-target-env` takes it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(env, _)| *env == self).map_or("", |&(_, n)| n)
    }

    /// Name as `spirv-val --target-env` takes it.
    pub fn validator_name(self) -> &'static str {
        match self {
            Self::Vulkan1_1Spirv1_4 => "vulkan1.1spv1.4",
            _ => self.name(),
        }
    }

    /// Version of SPIR-V, major and minor.
    pub const fn version(self) -> (u8, u8) {
        match self {
            Self::Vulkan1_0 => (1, 0),
            Self::Vulkan1_1 => (1, 3),
            Self::Vulkan1_1Spirv1_4 => (1, 4),
            Self::Vulkan1_2 => (1, 5),
            Self::Vulkan1_3 => (1, 6),
        }
    }

    /// Whether the version of SPIR-V is 1.`minor` or newer.
    pub(crate) const fn at_least(self, minor: u8) -> bool {
        self.version().1 >= minor
    }
}

/// Options of the backend; the names in backticks are DXC's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpirvOptions {
    /// `-fspv-target-env=`.
    pub target: TargetEnv,
    /// `-fvk-invert-y`: negate the y of `SV_Position` at the end of a vertex shader.
    pub invert_y: bool,
    /// `-fvk-use-dx-position-w`: `SV_Position.w` of a pixel shader is 1/w of Vulkan's.
    pub dx_position_w: bool,
    /// `-fvk-support-nonzero-base-vertex`: `SV_VertexID` counts from 0 whatever the draw's first vertex is.
    pub zero_base_vertex: bool,
    /// `-fvk-support-nonzero-base-instance`: `SV_InstanceID` counts from 0 whatever the draw's first instance is.
    pub zero_base_instance: bool,
    /// Write `OpName` and `OpMemberName`; off for `-Qstrip_debug`.
    pub names: bool,
    /// `-Zi`: write `OpLine`; needs the sources.
    pub lines: bool,
    /// `-fspv-reflect`: write the semantics and resource types as decorations of `SPV_GOOGLE_hlsl_functionality1`.
    pub reflect: bool,
    /// `-fspv-extension=`: the extensions that may be used; when empty, all.
    pub extensions: Vec<Extension>,
    /// Use `SPV_EXT_demote_to_helper_invocation` for `discard` before SPIR-V 1.6, where it is core. Without it a
    /// discarded lane ends at once.
    pub demote: bool,
    /// `-fspv-use-unknown-image-format`.
    pub unknown_image_formats: bool,
    /// `-fspv-flatten-resource-arrays`: each element of an array of resources is a variable with a binding of its own, as
    /// the slots table counts them; indices must be constants.
    pub flatten_arrays: bool,
    /// Convert floats to integers by plain instructions, whose result SPIR-V leaves undefined out of range.
    pub relaxed_conversions: bool,
    /// Shader model times 100 for `OpSource`, for example 605; 0 for none.
    pub source_version: u32,
    /// `-fspv-entrypoint-name=`: the name of the entry point in the module, when one is emitted.
    pub entry_name: Option<String>,
}

impl Default for SpirvOptions {
    fn default() -> Self {
        Self {
            target: TargetEnv::default(),
            invert_y: false,
            dx_position_w: false,
            zero_base_vertex: false,
            zero_base_instance: false,
            names: true,
            lines: false,
            reflect: false,
            extensions: Vec::new(),
            demote: false,
            unknown_image_formats: false,
            flatten_arrays: false,
            relaxed_conversions: false,
            source_version: 600,
            entry_name: None,
        }
    }
}
