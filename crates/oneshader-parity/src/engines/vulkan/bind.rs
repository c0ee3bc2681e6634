//! Resources of a program as descriptors.

use super::acceleration::Structures;
use super::format;
use super::session::{HostBuffer, Image, ImageInfo, Session};
use crate::case::pipeline::{ResourceDecl, ResourceKind, Sampler, SamplerKind};
use crate::case::{self, Buffer, Program};
use crate::engines::EngineError;
use ash::vk;

/// One element of a resource.
#[derive(Clone, Copy)]
enum Element {
    Buffer(HostBuffer),
    Texels(HostBuffer, vk::BufferView),
    /// An image and the host buffer its data pass through.
    Image(Image, HostBuffer, Option<vk::Sampler>),
    Sampler(vk::Sampler),
    Structure(vk::AccelerationStructureKHR),
}

struct Bound {
    set: usize,
    binding: u32,
    counter_binding: Option<u32>,
    kind: ResourceKind,
    buffer: Option<usize>,
    elements: Vec<Element>,
    counters: Vec<HostBuffer>,
}

/// Every resource of a program on the device, with the layout that its descriptors have.
pub struct Bindings {
    bound: Vec<Bound>,
    /// Layouts by set number.
    pub layouts: Vec<vk::DescriptorSetLayout>,
    /// The sets, written.
    pub sets: Vec<vk::DescriptorSet>,
}

impl Bindings {
    /// Makes the resources and writes their descriptors.
    pub fn new(
        s: &mut Session<'_>,
        program: &Program,
        structures: &Structures,
        stages: vk::ShaderStageFlags,
    ) -> Result<Self, EngineError> {
        let mut bound = Vec::new();
        for (set, decl) in program.pipeline.descriptor_sets.iter().enumerate() {
            for r in &decl.resources {
                bound.push(make(s, program, structures, set, r)?);
            }
        }
        let mut layouts = Vec::new();
        for set in 0..program.pipeline.descriptor_sets.len() {
            let mut bindings = Vec::new();
            for b in bound.iter().filter(|b| b.set == set) {
                let layout = vk::DescriptorSetLayoutBinding::default().stage_flags(stages);
                let ty = format::descriptor(b.kind);
                let count = b.elements.len() as u32;
                bindings.push(layout.binding(b.binding).descriptor_type(ty).descriptor_count(count));
                if let Some(c) = b.counter_binding.filter(|_| !b.counters.is_empty()) {
                    let ty = vk::DescriptorType::STORAGE_BUFFER;
                    bindings.push(layout.binding(c).descriptor_type(ty).descriptor_count(count));
                }
            }
            layouts.push(s.set_layout(&bindings)?);
        }
        let mut sizes = Vec::new();
        for b in &bound {
            let ty = format::descriptor(b.kind);
            sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: b.elements.len() as u32 });
            if !b.counters.is_empty() {
                let ty = vk::DescriptorType::STORAGE_BUFFER;
                sizes.push(vk::DescriptorPoolSize { ty, descriptor_count: b.counters.len() as u32 });
            }
        }
        let sets = s.sets(&layouts, &sizes)?;
        let bindings = Self { bound, layouts, sets };
        bindings.write(s);
        Ok(bindings)
    }

    fn write(&self, s: &Session<'_>) {
        for b in &self.bound {
            let set = self.sets[b.set];
            let ty = format::descriptor(b.kind);
            let (mut buffers, mut images, mut views) = (Vec::new(), Vec::new(), Vec::new());
            let mut structures = Vec::new();
            for e in &b.elements {
                match e {
                    Element::Buffer(h) => buffers.push(whole(*h)),
                    Element::Texels(_, v) => views.push(*v),
                    Element::Image(i, _, sampler) => images.push(
                        vk::DescriptorImageInfo::default()
                            .image_view(i.view)
                            .image_layout(vk::ImageLayout::GENERAL)
                            .sampler(sampler.unwrap_or_default()),
                    ),
                    Element::Sampler(x) => images.push(vk::DescriptorImageInfo::default().sampler(*x)),
                    Element::Structure(x) => structures.push(*x),
                }
            }
            let counters: Vec<_> = b.counters.iter().map(|h| whole(*h)).collect();
            let base = vk::WriteDescriptorSet::default().dst_set(set);
            let mut writes = Vec::new();
            let main = base.dst_binding(b.binding).descriptor_type(ty);
            let mut traced =
                vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(&structures);
            if !structures.is_empty() {
                writes.push(main.descriptor_count(structures.len() as u32).push_next(&mut traced));
            } else if !buffers.is_empty() {
                writes.push(main.buffer_info(&buffers));
            } else if !images.is_empty() {
                writes.push(main.image_info(&images));
            } else if !views.is_empty() {
                writes.push(main.texel_buffer_view(&views));
            }
            if let Some(c) = b.counter_binding.filter(|_| !counters.is_empty()) {
                let ty = vk::DescriptorType::STORAGE_BUFFER;
                writes.push(base.dst_binding(c).descriptor_type(ty).buffer_info(&counters));
            }
            // SAFETY: sets and resources belong to the session; no submitted work uses the sets yet.
            unsafe { s.gpu.device.update_descriptor_sets(&writes, &[]) }
        }
    }

    /// Records what fills the images.
    pub fn upload(&self, program: &Program, d: &ash::Device, cb: vk::CommandBuffer) {
        for (b, image, host) in self.images() {
            transition(d, cb, image, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
            let regions = regions(&program.buffers[b], image.aspect);
            // SAFETY: buffer and image belong to the session; the buffer holds all levels (checked at parse).
            unsafe { d.cmd_copy_buffer_to_image(cb, host.handle, image.handle, vk::ImageLayout::GENERAL, &regions) }
        }
        barrier(d, cb);
    }

    /// Records what brings written images back.
    pub fn download(&self, program: &Program, d: &ash::Device, cb: vk::CommandBuffer) {
        barrier(d, cb);
        for r in self.bound.iter().filter(|r| case::is_read_write(r.kind)) {
            for e in &r.elements {
                let (Element::Image(image, host, _), Some(b)) = (e, r.buffer) else {
                    continue;
                };
                let regions = regions(&program.buffers[b], image.aspect);
                // SAFETY: as in `upload`.
                unsafe {
                    d.cmd_copy_image_to_buffer(cb, image.handle, vk::ImageLayout::GENERAL, host.handle, &regions);
                }
            }
        }
        barrier(d, cb);
    }

    /// Copies what shaders can have written into the program's buffers.
    pub fn read_back(&self, s: &Session<'_>, program: &mut Program) -> Result<(), EngineError> {
        for r in self.bound.iter().filter(|r| case::is_read_write(r.kind)) {
            let Some(b) = r.buffer else { continue };
            for (i, e) in r.elements.iter().enumerate() {
                let (Element::Buffer(h) | Element::Texels(h, _) | Element::Image(_, h, _)) = e else {
                    continue;
                };
                program.buffers[b].data[i] = s.read(*h)?;
            }
            let mut counters = Vec::new();
            for c in &r.counters {
                let bytes = s.read(*c)?;
                counters.push(bytes.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b)));
            }
            program.buffers[b].counters = counters;
        }
        Ok(())
    }

    fn images(&self) -> impl Iterator<Item = (usize, Image, HostBuffer)> + '_ {
        self.bound.iter().flat_map(|r| {
            r.elements.iter().filter_map(|e| match (e, r.buffer) {
                (Element::Image(i, h, _), Some(b)) => Some((b, *i, *h)),
                _ => None,
            })
        })
    }
}

fn whole(h: HostBuffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo::default().buffer(h.handle).range(vk::WHOLE_SIZE)
}

fn make(
    s: &mut Session<'_>,
    program: &Program,
    structures: &Structures,
    set: usize,
    r: &ResourceDecl,
) -> Result<Bound, EngineError> {
    if r.heap_index.is_some() {
        return Err(EngineError::Unsupported("descriptor heaps".to_owned()));
    }
    if r.is_reserved || r.tiles_mapped.is_some() {
        return Err(EngineError::Unsupported("tiled resources".to_owned()));
    }
    let place = r
        .vulkan_binding
        .ok_or_else(|| EngineError::Unsupported(format!("no VulkanBinding provided for resource '{}'", r.name)))?;
    if r.has_counter && place.counter_binding.is_none() {
        return Err(EngineError::Invalid(format!(
            "No CounterBinding provided for resource '{}' with a counter",
            r.name
        )));
    }
    let index = program.buffers.iter().position(|b| b.name == r.name);
    let sampler = match r.kind {
        ResourceKind::Sampler | ResourceKind::SampledTexture2D => {
            let decl = program.pipeline.samplers.iter().find(|x| x.name == r.name);
            let decl = decl.ok_or_else(|| EngineError::Invalid(format!("no sampler '{}'", r.name)))?;
            Some(s.sampler(&sampler_info(decl))?)
        }
        _ => None,
    };
    let mut elements = Vec::new();
    let mut counters = Vec::new();
    if let (ResourceKind::Sampler, Some(x)) = (r.kind, sampler) {
        elements.push(Element::Sampler(x));
    } else if r.kind == ResourceKind::AccelerationStructure {
        let scene = structures.scene(&r.name);
        let scene = scene.ok_or_else(|| EngineError::Invalid(format!("no acceleration structure '{}'", r.name)))?;
        elements.extend(scene.iter().map(|&x| Element::Structure(x)));
    } else {
        let buffer = index.map(|i| &program.buffers[i]);
        let buffer = buffer.ok_or_else(|| EngineError::Invalid(format!("no buffer '{}'", r.name)))?;
        for block in &buffer.data {
            elements.push(element(s, r.kind, buffer, block, sampler)?);
            if r.has_counter {
                counters.push(s.buffer(&[0; 4], vk::BufferUsageFlags::STORAGE_BUFFER)?);
            }
        }
    }
    let (binding, counter_binding) = (place.binding, place.counter_binding);
    let buffer = index.filter(|_| r.kind != ResourceKind::Sampler);
    Ok(Bound { set, binding, counter_binding, kind: r.kind, buffer, elements, counters })
}

fn element(
    s: &mut Session<'_>,
    kind: ResourceKind,
    buffer: &Buffer,
    block: &[u8],
    sampler: Option<vk::Sampler>,
) -> Result<Element, EngineError> {
    use vk::BufferUsageFlags as U;
    let texel_format = || {
        format::format(buffer.format, buffer.channels).ok_or_else(|| {
            EngineError::Unsupported(format!("{} with {} channels", buffer.format.name(), buffer.channels))
        })
    };
    Ok(match kind {
        ResourceKind::Buffer | ResourceKind::RWBuffer => {
            let usage = if kind == ResourceKind::Buffer { U::UNIFORM_TEXEL_BUFFER } else { U::STORAGE_TEXEL_BUFFER };
            let host = s.buffer(block, usage)?;
            Element::Texels(host, s.texel_view(host, texel_format()?)?)
        }
        ResourceKind::ConstantBuffer => Element::Buffer(s.buffer(block, U::UNIFORM_BUFFER)?),
        _ if case::is_raw(kind) => Element::Buffer(s.buffer(block, U::STORAGE_BUFFER)?),
        _ => {
            let host = s.buffer(block, U::TRANSFER_SRC | U::TRANSFER_DST)?;
            let use_as = if kind == ResourceKind::RWTexture2D {
                vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC
            } else {
                vk::ImageUsageFlags::SAMPLED
            };
            let image = s.image(ImageInfo {
                format: texel_format()?,
                aspect: format::aspect(buffer.format),
                width: buffer.output.width.max(1),
                height: buffer.output.height.max(1),
                levels: buffer.output.mip_levels.max(1),
                usage: use_as | vk::ImageUsageFlags::TRANSFER_DST,
            })?;
            Element::Image(image, host, sampler)
        }
    })
}

fn sampler_info(s: &Sampler) -> vk::SamplerCreateInfo<'static> {
    let address = format::address(s.address);
    vk::SamplerCreateInfo::default()
        .mag_filter(format::filter(s.mag_filter))
        .min_filter(format::filter(s.min_filter))
        .mipmap_mode(vk::SamplerMipmapMode::NEAREST)
        .address_mode_u(address)
        .address_mode_v(address)
        .address_mode_w(address)
        .mip_lod_bias(s.mip_lod_bias)
        .max_anisotropy(1.0)
        .compare_enable(s.kind == SamplerKind::SamplerComparison)
        .compare_op(format::compare(s.comparison_op))
        .min_lod(s.min_lod)
        .max_lod(s.max_lod)
        .border_color(vk::BorderColor::FLOAT_TRANSPARENT_BLACK)
}

fn regions(b: &Buffer, aspect: vk::ImageAspectFlags) -> Vec<vk::BufferImageCopy> {
    let mut offset = 0;
    let mut out = Vec::new();
    for (level, (w, h, d)) in case::mip_sizes(b.output).enumerate() {
        out.push(vk::BufferImageCopy {
            buffer_offset: offset,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: aspect,
                mip_level: level as u32,
                base_array_layer: 0,
                layer_count: 1,
            },
            image_extent: vk::Extent3D { width: w as u32, height: h as u32, depth: 1 },
            ..Default::default()
        });
        offset += w * h * d * b.element_size() as u64;
    }
    out
}

/// Everything before is done and visible to everything after, the host included.
pub fn barrier(d: &ash::Device, cb: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
    let memory = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::MEMORY_READ)
        .dst_access_mask(vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::MEMORY_READ);
    // SAFETY: `cb` is being recorded, outside a rendering scope.
    unsafe { d.cmd_pipeline_barrier(cb, all, all, vk::DependencyFlags::empty(), &[memory], &[], &[]) }
}

/// Changes the layout of a whole image.
pub fn transition(d: &ash::Device, cb: vk::CommandBuffer, i: Image, from: vk::ImageLayout, to: vk::ImageLayout) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let range = vk::ImageSubresourceRange::default().aspect_mask(i.aspect).level_count(i.levels).layer_count(1);
    let change = vk::ImageMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::MEMORY_READ)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(i.handle)
        .subresource_range(range);
    // SAFETY: `cb` is being recorded, outside a rendering scope; the image belongs to the session.
    unsafe { d.cmd_pipeline_barrier(cb, all, all, vk::DependencyFlags::empty(), &[], &[], &[change]) }
}
