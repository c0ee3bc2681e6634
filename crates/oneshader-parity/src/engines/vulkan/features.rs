//! What a device can do: the feature structures to switch on, and the names that test conditions use.

use crate::case::lit::Features;
use ash::vk;
use std::collections::BTreeSet;

/// Everything the engine asks a device about, to be switched on as answered.
#[derive(Default)]
pub struct FeatureChain {
    pub core: vk::PhysicalDeviceFeatures,
    pub v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub image_atomic_int64: vk::PhysicalDeviceShaderImageAtomicInt64FeaturesEXT<'static>,
    pub compute_derivatives: vk::PhysicalDeviceComputeShaderDerivativesFeaturesNV<'static>,
    pub interlock: vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT<'static>,
    pub barycentric: vk::PhysicalDeviceFragmentShaderBarycentricFeaturesKHR<'static>,
    pub reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    pub quad_control: vk::PhysicalDeviceShaderQuadControlFeaturesKHR<'static>,
    pub acceleration: vk::PhysicalDeviceAccelerationStructureFeaturesKHR<'static>,
    pub ray_query: vk::PhysicalDeviceRayQueryFeaturesKHR<'static>,
}

/// Extensions that are switched on where a device has them, and no others.
pub const EXTENSIONS: [&std::ffi::CStr; 11] = [
    vk::EXT_SHADER_IMAGE_ATOMIC_INT64_NAME,
    vk::NV_COMPUTE_SHADER_DERIVATIVES_NAME,
    vk::EXT_FRAGMENT_SHADER_INTERLOCK_NAME,
    vk::KHR_FRAGMENT_SHADER_BARYCENTRIC_NAME,
    vk::KHR_SHADER_MAXIMAL_RECONVERGENCE_NAME,
    vk::KHR_SHADER_QUAD_CONTROL_NAME,
    vk::GOOGLE_HLSL_FUNCTIONALITY1_NAME,
    vk::GOOGLE_USER_TYPE_NAME,
    vk::KHR_DEFERRED_HOST_OPERATIONS_NAME,
    vk::KHR_ACCELERATION_STRUCTURE_NAME,
    vk::KHR_RAY_QUERY_NAME,
];

impl FeatureChain {
    /// Links the structures of core Vulkan 1.3 and of the extensions named, and hands them to `f`.
    pub fn with<R>(
        &mut self,
        extensions: &BTreeSet<String>,
        f: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R,
    ) -> R {
        let has = |name: &std::ffi::CStr| name.to_str().is_ok_and(|n| extensions.contains(n));
        let mut all = vk::PhysicalDeviceFeatures2::default()
            .features(self.core)
            .push_next(&mut self.v11)
            .push_next(&mut self.v12)
            .push_next(&mut self.v13);
        if has(vk::EXT_SHADER_IMAGE_ATOMIC_INT64_NAME) {
            all = all.push_next(&mut self.image_atomic_int64);
        }
        if has(vk::NV_COMPUTE_SHADER_DERIVATIVES_NAME) {
            all = all.push_next(&mut self.compute_derivatives);
        }
        if has(vk::EXT_FRAGMENT_SHADER_INTERLOCK_NAME) {
            all = all.push_next(&mut self.interlock);
        }
        if has(vk::KHR_FRAGMENT_SHADER_BARYCENTRIC_NAME) {
            all = all.push_next(&mut self.barycentric);
        }
        if has(vk::KHR_SHADER_MAXIMAL_RECONVERGENCE_NAME) {
            all = all.push_next(&mut self.reconvergence);
        }
        if has(vk::KHR_SHADER_QUAD_CONTROL_NAME) {
            all = all.push_next(&mut self.quad_control);
        }
        if has(vk::KHR_ACCELERATION_STRUCTURE_NAME) && has(vk::KHR_DEFERRED_HOST_OPERATIONS_NAME) {
            all = all.push_next(&mut self.acceleration);
        }
        if has(vk::KHR_RAY_QUERY_NAME) {
            all = all.push_next(&mut self.ray_query);
        }
        let result = f(&mut all);
        self.core = all.features;
        // The structures are linked anew on every call: no pointer may outlive this one.
        self.v11.p_next = std::ptr::null_mut();
        self.v12.p_next = std::ptr::null_mut();
        self.v13.p_next = std::ptr::null_mut();
        self.image_atomic_int64.p_next = std::ptr::null_mut();
        self.compute_derivatives.p_next = std::ptr::null_mut();
        self.interlock.p_next = std::ptr::null_mut();
        self.barycentric.p_next = std::ptr::null_mut();
        self.reconvergence.p_next = std::ptr::null_mut();
        self.quad_control.p_next = std::ptr::null_mut();
        self.acceleration.p_next = std::ptr::null_mut();
        self.ray_query.p_next = std::ptr::null_mut();
        result
    }

    /// Whether shaders can query rays in structures that this engine builds.
    pub fn traces_rays(&self) -> bool {
        [self.acceleration.acceleration_structure, self.ray_query.ray_query, self.v12.buffer_device_address]
            .iter()
            .all(|&has| has == vk::TRUE)
    }

    /// The names that conditions of tests use for this device.
    pub fn names(&self, device: &str, extensions: &BTreeSet<String>) -> Features {
        let mut out: Features = extensions.clone();
        out.insert("Vulkan".to_owned());
        out.insert(match std::env::consts::OS {
            "linux" => "Linux".to_owned(),
            "macos" => "Darwin".to_owned(),
            "windows" => "Windows".to_owned(),
            other => other.to_owned(),
        });
        if cfg!(target_arch = "aarch64") {
            out.insert("host-arm64".to_owned());
        }
        for minor in 0..=9 {
            out.insert(format!("SM_6_{minor}"));
        }
        for (name, holds) in [
            ("Int16", self.core.shader_int16),
            ("Half", self.v12.shader_float16),
            ("Double", self.core.shader_float64),
            ("Int64", self.core.shader_int64),
            ("Int64GroupSharedAtomics", self.v12.shader_shared_int64_atomics),
            ("VulkanInt64BufferAtomics", self.v12.shader_buffer_int64_atomics),
            ("Int64TypedResourceAtomics", self.image_atomic_int64.shader_image_int64_atomics),
            ("acceleration-structure", vk::Bool32::from(self.traces_rays())),
        ] {
            if holds == vk::TRUE {
                out.insert(name.to_owned());
            }
        }
        let lower = device.to_lowercase();
        for (part, name) in [
            ("llvmpipe", "Lavapipe"),
            ("nvidia", "NV"),
            ("amd", "AMD"),
            ("radeon", "AMD"),
            ("intel", "Intel"),
            ("qualcomm", "QC"),
        ] {
            if lower.contains(part) {
                out.insert(name.to_owned());
            }
        }
        out
    }
}
