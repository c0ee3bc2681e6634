//! Extensions of SPIR-V by name.

/// An extension that a caller may allow, by its name in the registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Extension(&'static str);

/// All of Khronos' at once.
const KHRONOS: &str = "KHR";

/// The names that `-fspv-extension` takes: those DXC knows, and every one that this backend writes.
static NAMES: &[&str] = &[
    KHRONOS,
    "SPV_AMDX_shader_enqueue",
    "SPV_AMD_shader_early_and_late_fragment_tests",
    "SPV_EXT_demote_to_helper_invocation",
    "SPV_EXT_descriptor_heap",
    "SPV_EXT_descriptor_indexing",
    "SPV_EXT_fragment_fully_covered",
    "SPV_EXT_fragment_invocation_density",
    "SPV_EXT_fragment_shader_interlock",
    "SPV_EXT_mesh_shader",
    "SPV_EXT_shader_image_int64",
    "SPV_EXT_shader_stencil_export",
    "SPV_EXT_shader_viewport_index_layer",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
    "SPV_KHR_16bit_storage",
    "SPV_KHR_compute_shader_derivatives",
    "SPV_KHR_device_group",
    "SPV_KHR_float_controls",
    "SPV_KHR_fragment_shader_barycentric",
    "SPV_KHR_fragment_shading_rate",
    "SPV_KHR_maximal_reconvergence",
    "SPV_KHR_multiview",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_physical_storage_buffer",
    "SPV_KHR_post_depth_coverage",
    "SPV_KHR_quad_control",
    "SPV_KHR_ray_query",
    "SPV_KHR_ray_tracing",
    "SPV_KHR_shader_clock",
    "SPV_KHR_shader_draw_parameters",
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_untyped_pointers",
    "SPV_KHR_vulkan_memory_model",
    "SPV_NV_compute_shader_derivatives",
    "SPV_NV_mesh_shader",
    "SPV_NV_ray_tracing",
    "SPV_NV_shader_subgroup_partitioned",
];

/// Extensions that were a vendor's before they were Khronos', with the same numbers: a module is right under both names.
static FORMER_NAMES: &[(&str, &str)] = &[("SPV_KHR_compute_shader_derivatives", "SPV_NV_compute_shader_derivatives")];

impl Extension {
    /// The extension of a name; `KHR` stands for all of Khronos'.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|n| **n == name).map(|n| Self(n))
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    fn allows(self, name: &str) -> bool {
        self.0 == name || self.0 == KHRONOS && name.starts_with("SPV_KHR_")
    }
}

/// The name under which an extension may be used; `None` when it may not.
pub(crate) fn permitted<'n>(allowed: &[Extension], name: &'n str) -> Option<&'n str> {
    if allowed.is_empty() || allowed.iter().any(|e| e.allows(name)) {
        return Some(name);
    }
    let (_, former) = FORMER_NAMES.iter().find(|(now, _)| *now == name)?;
    allowed.iter().any(|e| e.allows(former)).then_some(*former)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_extensions_permits_those_on_it() {
        let list = |names: &[&str]| names.iter().map(|n| Extension::parse(n).unwrap()).collect::<Vec<_>>();
        let (multiview, derivatives) = ("SPV_KHR_multiview", "SPV_KHR_compute_shader_derivatives");
        assert_eq!(permitted(&[], multiview), Some(multiview));
        assert_eq!(permitted(&list(&["KHR"]), multiview), Some(multiview));
        assert_eq!(permitted(&list(&["SPV_EXT_mesh_shader"]), multiview), None);
        let former = "SPV_NV_compute_shader_derivatives";
        assert_eq!(permitted(&list(&[former]), derivatives), Some(former));
        assert_eq!(Extension::parse("SPV_KHR_none"), None);
    }
}
