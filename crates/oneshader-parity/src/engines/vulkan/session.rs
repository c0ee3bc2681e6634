//! The objects of one run. Whatever a session makes, it destroys, in reverse order.

use super::gpu::{Gpu, failed};
use crate::engines::EngineError;
use ash::vk;

/// Nanoseconds to wait for the device before the run counts as hung.
const FENCE_TIMEOUT: u64 = 60_000_000_000;

type Destroy = Box<dyn FnOnce(&ash::Device)>;

/// Owns the objects of one run.
pub struct Session<'g> {
    pub gpu: &'g Gpu,
    objects: Vec<Destroy>,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: the device is alive; after this wait nothing of the session is in use.
        unsafe {
            let _ = self.gpu.device.device_wait_idle();
        }
        while let Some(destroy) = self.objects.pop() {
            destroy(&self.gpu.device);
        }
    }
}

/// A buffer in memory that the host sees.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub handle: vk::Buffer,
    memory: vk::DeviceMemory,
    size: usize,
}

/// An image in device memory.
#[derive(Clone, Copy)]
pub struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    pub aspect: vk::ImageAspectFlags,
    pub levels: u32,
}

/// What an image is for.
#[derive(Clone, Copy)]
pub struct ImageInfo {
    pub format: vk::Format,
    pub aspect: vk::ImageAspectFlags,
    pub width: u32,
    pub height: u32,
    pub levels: u32,
    pub usage: vk::ImageUsageFlags,
}

impl<'g> Session<'g> {
    pub fn new(gpu: &'g Gpu) -> Self {
        Self { gpu, objects: Vec::new() }
    }

    pub(super) fn own(&mut self, destroy: impl FnOnce(&ash::Device) + 'static) {
        self.objects.push(Box::new(destroy));
    }

    /// A buffer that holds `bytes`.
    pub fn buffer(&mut self, bytes: &[u8], usage: vk::BufferUsageFlags) -> Result<HostBuffer, EngineError> {
        let d = &self.gpu.device;
        let info = vk::BufferCreateInfo::default().size(bytes.len().max(4) as u64).usage(usage);
        // SAFETY: `info` lives through the call; the session destroys the buffer.
        let handle = unsafe { d.create_buffer(&info, None) }.map_err(failed("cannot make a buffer"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_buffer(handle, None) });
        // SAFETY: the buffer is alive.
        let needs = unsafe { self.gpu.device.get_buffer_memory_requirements(handle) };
        let kind = self.gpu.host_memory_type(needs.memory_type_bits);
        let addressed = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        let memory = self.allocate(needs, kind, addressed)?;
        let d = &self.gpu.device;
        // SAFETY: memory and buffer are fresh and of matching type and size.
        unsafe { d.bind_buffer_memory(handle, memory, 0) }.map_err(failed("cannot bind a buffer"))?;
        let buffer = HostBuffer { handle, memory, size: bytes.len() };
        self.with_mapped(buffer, |p| p.copy_from_slice(bytes))?;
        Ok(buffer)
    }

    /// The bytes of a buffer; the device must be done with it.
    pub fn read(&self, buffer: HostBuffer) -> Result<Vec<u8>, EngineError> {
        self.with_mapped(buffer, |p| p.to_vec())
    }

    fn with_mapped<R>(&self, b: HostBuffer, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, EngineError> {
        let d = &self.gpu.device;
        // SAFETY: the memory is host-visible and coherent, not mapped elsewhere, and holds at least `size` bytes; the
        // device does not use it now (before submission or after the fence).
        unsafe {
            let p = d
                .map_memory(b.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(failed("cannot map memory"))?;
            let r = f(std::slice::from_raw_parts_mut(p.cast::<u8>(), b.size));
            d.unmap_memory(b.memory);
            Ok(r)
        }
    }

    /// Memory of a type; `addressed` when a buffer in it has an address.
    fn allocate(
        &mut self,
        needs: vk::MemoryRequirements,
        kind: Option<u32>,
        addressed: bool,
    ) -> Result<vk::DeviceMemory, EngineError> {
        let kind = kind.ok_or_else(|| EngineError::Device("no fitting memory type".to_owned()))?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        if addressed {
            info = info.push_next(&mut flags);
        }
        // SAFETY: the type index is one of the device's.
        let memory =
            unsafe { self.gpu.device.allocate_memory(&info, None) }.map_err(failed("cannot allocate memory"))?;
        // SAFETY: the device is idle by then. Memory may go before what is bound to it, if that is only destroyed after.
        self.own(move |d| unsafe { d.free_memory(memory, None) });
        Ok(memory)
    }

    /// A two-dimensional image with a view of all its levels.
    pub fn image(&mut self, i: ImageInfo) -> Result<Image, EngineError> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(i.format)
            .extent(vk::Extent3D { width: i.width, height: i.height, depth: 1 })
            .mip_levels(i.levels)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(i.usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        // SAFETY: `info` lives through the call.
        let handle = unsafe { self.gpu.device.create_image(&info, None) }.map_err(failed("cannot make an image"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_image(handle, None) });
        // SAFETY: the image is alive.
        let needs = unsafe { self.gpu.device.get_image_memory_requirements(handle) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let kind = self
            .gpu
            .memory_type(needs.memory_type_bits, local)
            .or_else(|| self.gpu.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::empty()));
        let memory = self.allocate(needs, kind, false)?;
        // SAFETY: memory and image are fresh and of matching type and size.
        unsafe { self.gpu.device.bind_image_memory(handle, memory, 0) }.map_err(failed("cannot bind an image"))?;
        let range = vk::ImageSubresourceRange::default().aspect_mask(i.aspect).level_count(i.levels).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(i.format)
            .subresource_range(range);
        // SAFETY: the image is alive and has memory.
        let view = unsafe { self.gpu.device.create_image_view(&info, None) }.map_err(failed("cannot make a view"))?;
        // SAFETY: as above.
        self.own(move |d| unsafe { d.destroy_image_view(view, None) });
        Ok(Image { handle, view, aspect: i.aspect, levels: i.levels })
    }

    /// A view of a whole buffer as texels.
    pub fn texel_view(&mut self, buffer: HostBuffer, format: vk::Format) -> Result<vk::BufferView, EngineError> {
        let info = vk::BufferViewCreateInfo::default().buffer(buffer.handle).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: the buffer is alive and was made with a texel usage.
        let view =
            unsafe { self.gpu.device.create_buffer_view(&info, None) }.map_err(failed("cannot make a texel view"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_buffer_view(view, None) });
        Ok(view)
    }

    /// A sampler.
    pub fn sampler(&mut self, info: &vk::SamplerCreateInfo<'_>) -> Result<vk::Sampler, EngineError> {
        // SAFETY: `info` lives through the call.
        let s = unsafe { self.gpu.device.create_sampler(info, None) }.map_err(failed("cannot make a sampler"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_sampler(s, None) });
        Ok(s)
    }

    /// A shader module.
    pub fn shader(&mut self, words: &[u32]) -> Result<vk::ShaderModule, EngineError> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: `words` lives through the call. Whether it is valid SPIR-V is what is being tested: drivers may do
        // anything with an invalid module, which is why cases run in a process of their own.
        let m = unsafe { self.gpu.device.create_shader_module(&info, None) }
            .map_err(failed("cannot make a shader module"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_shader_module(m, None) });
        Ok(m)
    }

    /// A descriptor set layout.
    pub fn set_layout(
        &mut self,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    ) -> Result<vk::DescriptorSetLayout, EngineError> {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
        // SAFETY: `bindings` live through the call.
        let l = unsafe { self.gpu.device.create_descriptor_set_layout(&info, None) }
            .map_err(failed("cannot make a set layout"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_descriptor_set_layout(l, None) });
        Ok(l)
    }

    /// Descriptor sets of the given layouts, from a pool of their own.
    pub fn sets(
        &mut self,
        layouts: &[vk::DescriptorSetLayout],
        sizes: &[vk::DescriptorPoolSize],
    ) -> Result<Vec<vk::DescriptorSet>, EngineError> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let spare = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 1 }];
        let sizes = if sizes.is_empty() { &spare[..] } else { sizes };
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(sizes);
        // SAFETY: `info` and its slices live through the call.
        let pool = unsafe { self.gpu.device.create_descriptor_pool(&info, None) }
            .map_err(failed("cannot make a descriptor pool"))?;
        // SAFETY: the session is dropped after the device is idle; the sets go with their pool.
        self.own(move |d| unsafe { d.destroy_descriptor_pool(pool, None) });
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
        // SAFETY: pool and layouts are alive.
        unsafe { self.gpu.device.allocate_descriptor_sets(&info) }.map_err(failed("cannot make descriptor sets"))
    }

    /// A pipeline layout.
    pub fn pipeline_layout(
        &mut self,
        sets: &[vk::DescriptorSetLayout],
        ranges: &[vk::PushConstantRange],
    ) -> Result<vk::PipelineLayout, EngineError> {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets).push_constant_ranges(ranges);
        // SAFETY: the set layouts are alive.
        let l = unsafe { self.gpu.device.create_pipeline_layout(&info, None) }
            .map_err(failed("cannot make a pipeline layout"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_pipeline_layout(l, None) });
        Ok(l)
    }

    /// A compute pipeline.
    pub fn compute_pipeline(&mut self, info: &vk::ComputePipelineCreateInfo<'_>) -> Result<vk::Pipeline, EngineError> {
        let infos = std::slice::from_ref(info);
        // SAFETY: all that `info` refers to is alive.
        let made = unsafe { self.gpu.device.create_compute_pipelines(vk::PipelineCache::null(), infos, None) };
        self.own_pipeline(made)
    }

    /// A graphics pipeline.
    pub fn graphics_pipeline(
        &mut self,
        info: &vk::GraphicsPipelineCreateInfo<'_>,
    ) -> Result<vk::Pipeline, EngineError> {
        let infos = std::slice::from_ref(info);
        // SAFETY: all that `info` refers to is alive.
        let made = unsafe { self.gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), infos, None) };
        self.own_pipeline(made)
    }

    fn own_pipeline(
        &mut self,
        made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    ) -> Result<vk::Pipeline, EngineError> {
        let p = match made {
            Ok(v) => v.first().copied().unwrap_or_default(),
            Err((_, e)) => {
                return Err(EngineError::Invalid(format!("cannot make the pipeline: {e}")));
            }
        };
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_pipeline(p, None) });
        Ok(p)
    }

    /// A pool of timestamps.
    pub fn timestamps(&mut self, count: u32) -> Result<vk::QueryPool, EngineError> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: `info` lives through the call.
        let pool = unsafe { self.gpu.device.create_query_pool(&info, None) }.map_err(failed("no timestamps"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_query_pool(pool, None) });
        Ok(pool)
    }

    /// The nanoseconds between each pair of timestamps; the device must be done with them.
    pub fn elapsed(&self, pool: vk::QueryPool, pairs: u32) -> Result<Vec<f64>, EngineError> {
        let mut ticks = vec![0u64; pairs as usize * 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the pool belongs to the session and every query of it was written by finished work.
        unsafe { self.gpu.device.get_query_pool_results(pool, 0, &mut ticks, flags) }
            .map_err(failed("no timestamps"))?;
        let period = f64::from(self.gpu.timestamp_period);
        Ok(ticks.chunks_exact(2).map(|t| t[1].wrapping_sub(t[0]) as f64 * period).collect())
    }

    /// Records commands, submits them and waits until they are done.
    pub fn submit(&mut self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), EngineError> {
        let d = self.gpu.device.clone();
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.gpu.family);
        // SAFETY: plain creation; the session destroys it.
        let pool = unsafe { d.create_command_pool(&info, None) }.map_err(failed("cannot make a command pool"))?;
        // SAFETY: the session is dropped after the device is idle.
        self.own(move |d| unsafe { d.destroy_command_pool(pool, None) });
        // SAFETY: as above.
        let fence = unsafe { d.create_fence(&vk::FenceCreateInfo::default(), None) }.map_err(failed("no fence"))?;
        // SAFETY: as above.
        self.own(move |d| unsafe { d.destroy_fence(fence, None) });
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive, one buffer is recorded by this thread alone and submitted once; every object the
        // commands name belongs to this session and outlives the wait.
        unsafe {
            let cb = d.allocate_command_buffers(&info).map_err(failed("cannot make a command buffer"))?[0];
            let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            d.begin_command_buffer(cb, &once).map_err(failed("cannot record"))?;
            record(&d, cb);
            d.end_command_buffer(cb).map_err(failed("cannot record"))?;
            let cbs = [cb];
            let submit = [vk::SubmitInfo::default().command_buffers(&cbs)];
            d.queue_submit(self.gpu.queue, &submit, fence).map_err(failed("cannot submit"))?;
            d.wait_for_fences(&[fence], true, FENCE_TIMEOUT).map_err(failed("the work did not finish"))
        }
    }
}
