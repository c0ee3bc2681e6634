//! Finding and opening a device.

use super::features::{EXTENSIONS, FeatureChain};
use crate::case::lit::Features;
use crate::engines::EngineError;
use ash::vk;
use std::collections::BTreeSet;

/// An opened device with one queue that can compute and draw.
pub struct Gpu {
    pub(super) device: ash::Device,
    pub(super) queue: vk::Queue,
    pub(super) family: u32,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    /// Nanoseconds of one step of a timestamp; 0 where the queue has none.
    pub(super) timestamp_period: f32,
    /// What makes and builds acceleration structures, where rays can be queried.
    pub(super) acceleration: Option<ash::khr::acceleration_structure::Device>,
    /// What the address of memory to build in is a multiple of.
    pub(super) scratch_alignment: u32,
    description: String,
    features: Features,
    /// Dropped after the device, which `Gpu::drop` destroys.
    _instance: Instance,
}

/// An instance and the library it came from, destroyed together.
struct Instance {
    raw: ash::Instance,
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: every device of the instance is destroyed before it (`Gpu::drop` runs before its fields are dropped).
        unsafe { self.raw.destroy_instance(None) }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: sessions borrow the Gpu, so no object of the device is alive.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_device(None);
        }
    }
}

pub(super) fn failed(what: &'static str) -> impl Fn(vk::Result) -> EngineError {
    move |e| EngineError::Device(format!("{what}: {e}"))
}

fn instance() -> Result<Instance, EngineError> {
    // SAFETY: the loader is the system's Vulkan library, whose initialization has no requirement of ours.
    let entry = unsafe { ash::Entry::load() }.map_err(|e| EngineError::Device(format!("no Vulkan loader: {e}")))?;
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&app);
    // SAFETY: `info` and what it points to live through the call.
    let raw = unsafe { entry.create_instance(&info, None) }.map_err(failed("no Vulkan instance"))?;
    Ok(Instance { raw, _entry: entry })
}

fn devices(instance: &Instance) -> Result<Vec<(vk::PhysicalDevice, String)>, EngineError> {
    // SAFETY: the instance is alive; the handles it returns are valid while it is.
    let found = unsafe { instance.raw.enumerate_physical_devices() }.map_err(failed("cannot list devices"))?;
    Ok(found
        .into_iter()
        .map(|d| {
            // SAFETY: `d` comes from this instance.
            let p = unsafe { instance.raw.get_physical_device_properties(d) };
            (d, p.device_name_as_c_str().map_or(String::new(), |n| n.to_string_lossy().into_owned()))
        })
        .collect())
}

/// The names of the devices of this machine.
pub fn device_names() -> Result<Vec<String>, EngineError> {
    Ok(devices(&instance()?)?.into_iter().map(|(_, n)| n).collect())
}

impl Gpu {
    /// Opens the first device whose name contains `name`, in any case.
    pub fn open(name: &str) -> Result<Self, EngineError> {
        let instance = instance()?;
        let all = devices(&instance)?;
        let wanted = name.to_lowercase();
        let (physical, device_name) =
            all.iter().find(|(_, n)| n.to_lowercase().contains(&wanted)).cloned().ok_or_else(|| {
                let names: Vec<_> = all.iter().map(|(_, n)| n.as_str()).collect();
                EngineError::Device(format!("no Vulkan device '{name}' among {names:?}"))
            })?;
        let raw = &instance.raw;
        // SAFETY: `physical` comes from this instance, which is alive.
        let (families, memory, limits, available) = unsafe {
            (
                raw.get_physical_device_queue_family_properties(physical),
                raw.get_physical_device_memory_properties(physical),
                raw.get_physical_device_properties(physical).limits,
                raw.enumerate_device_extension_properties(physical).map_err(failed("cannot list extensions"))?,
            )
        };
        let both = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS;
        let family = families
            .iter()
            .position(|f| f.queue_flags.contains(both))
            .or_else(|| families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE)))
            .ok_or_else(|| EngineError::Device("the device has no compute queue".to_owned()))?
            as u32;
        let timestamps = families.get(family as usize).is_some_and(|f| f.timestamp_valid_bits > 0);
        let timestamp_period = if timestamps { limits.timestamp_period } else { 0.0 };
        let extensions: BTreeSet<String> = available
            .iter()
            .filter_map(|e| e.extension_name_as_c_str().ok())
            .map(|n| n.to_string_lossy().into_owned())
            .collect();
        let mut chain = FeatureChain::default();
        // SAFETY: every structure of the chain is initialized and alive.
        chain.with(&extensions, |f| unsafe { raw.get_physical_device_features2(physical, f) });
        let enabled: Vec<_> =
            EXTENSIONS.iter().filter(|n| extensions.contains(&*n.to_string_lossy())).map(|n| n.as_ptr()).collect();
        let priority = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priority)];
        let device = chain
            .with(&extensions, |f| {
                let info = vk::DeviceCreateInfo::default()
                    .queue_create_infos(&queues)
                    .enabled_extension_names(&enabled)
                    .push_next(f);
                // SAFETY: the features are those the device reported; all pointers live through the call.
                unsafe { raw.create_device(physical, &info, None) }
            })
            .map_err(failed("cannot open the device"))?;
        // SAFETY: queue 0 of `family` was asked for above.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let features = chain.names(&device_name, &extensions);
        let traces = chain.traces_rays();
        let acceleration = traces.then(|| ash::khr::acceleration_structure::Device::new(raw, &device));
        let mut limits = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        if traces {
            let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
            // SAFETY: both structures are initialized and alive; the device has the extension.
            unsafe { raw.get_physical_device_properties2(physical, &mut all) }
        }
        Ok(Self {
            device,
            queue,
            family,
            memory,
            timestamp_period,
            acceleration,
            scratch_alignment: limits.min_acceleration_structure_scratch_offset_alignment,
            description: device_name,
            features,
            _instance: instance,
        })
    }

    /// The device's name.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Names of what it can do.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The memory type for buffers the host writes and reads: on the device too, where there is such memory.
    pub(super) fn host_memory_type(&self, allowed: u32) -> Option<u32> {
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let both = host | vk::MemoryPropertyFlags::DEVICE_LOCAL;
        self.memory_type(allowed, both).or_else(|| self.memory_type(allowed, host))
    }

    /// The first memory type that has all the flags.
    pub(super) fn memory_type(&self, allowed: u32, flags: vk::MemoryPropertyFlags) -> Option<u32> {
        self.memory
            .memory_types_as_slice()
            .iter()
            .enumerate()
            .find(|(i, t)| allowed & (1 << i) != 0 && t.property_flags.contains(flags))
            .map(|(i, _)| i as u32)
    }
}
