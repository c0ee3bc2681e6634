//! Building the pipeline of a program and running it once.

use super::acceleration::Structures;
use super::bind::{self, Bindings};
use super::format;
use super::gpu::Gpu;
use super::session::{HostBuffer, Image, ImageInfo, Session};
use crate::case::pipeline::{SpecializationConstant, Stage};
use crate::case::{self, PipelineKind, Program};
use crate::engines::{Code, CompiledShader, EngineError};
use ash::vk;
use std::ffi::CString;

/// A stage ready for a pipeline: module, entry name, specialization data.
struct StageParts {
    flag: vk::ShaderStageFlags,
    module: vk::ShaderModule,
    entry: CString,
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

/// Runs a program; its work is repeated over the same memory. Gives the nanoseconds of each repetition when there are
/// several, else nothing.
pub fn run(
    gpu: &Gpu,
    program: &mut Program,
    shaders: &[CompiledShader],
    repeats: u32,
) -> Result<Vec<f64>, EngineError> {
    match program.kind {
        PipelineKind::Compute | PipelineKind::Raster => {}
        other => return Err(EngineError::Unsupported(format!("{other:?} pipelines"))),
    }
    let mut session = Session::new(gpu);
    let s = &mut session;
    let mut stages = Vec::new();
    for shader in shaders {
        let decl = program.pipeline.shaders.iter().find(|d| d.stage == shader.stage);
        let constants = decl.map_or(&[][..], |d| &d.specialization_constants);
        stages.push(stage_parts(s, shader, constants)?);
    }
    let flags = stages.iter().fold(vk::ShaderStageFlags::empty(), |f, p| f | p.flag);
    let structures = Structures::new(s, program)?;
    let builder = s.gpu.acceleration.clone();
    let bindings = Bindings::new(s, program, &structures, flags)?;
    let push = case::push_constants(program).map_err(EngineError::Invalid)?;
    let range = vk::PushConstantRange { stage_flags: flags, offset: 0, size: push.len() as u32 };
    let ranges = [range];
    let layout = s.pipeline_layout(&bindings.layouts, if push.is_empty() { &[] } else { &ranges })?;
    let work = match program.kind {
        PipelineKind::Compute => Work::Dispatch(compute_pipeline(s, &stages, layout)?, program.groups()),
        _ => Work::Draw(Box::new(draw(s, program, &stages, layout)?)),
    };
    let timer = if repeats > 1 { Some(s.timestamps(repeats * 2)?) } else { None };
    let reader: &Program = program;
    s.submit(|d, cb| {
        if let Some(builder) = &builder {
            structures.build(builder, d, cb);
        }
        bindings.upload(reader, d, cb);
        work.prepare(d, cb);
        let point = work.bind_point();
        // SAFETY: `cb` is being recorded and everything bound belongs to the session.
        unsafe {
            if !bindings.sets.is_empty() {
                d.cmd_bind_descriptor_sets(cb, point, layout, 0, &bindings.sets, &[]);
            }
            if !push.is_empty() {
                d.cmd_push_constants(cb, layout, flags, 0, &push);
            }
        }
        for i in 0..repeats {
            if let Some(pool) = timer {
                bind::barrier(d, cb);
                // SAFETY: `cb` is being recorded outside a rendering scope; the pool has two queries a repetition.
                unsafe {
                    d.cmd_reset_query_pool(cb, pool, i * 2, 2);
                    d.cmd_write_timestamp(cb, vk::PipelineStageFlags::ALL_COMMANDS, pool, i * 2);
                }
            }
            work.record(d, cb);
            if let Some(pool) = timer {
                // SAFETY: as above.
                unsafe { d.cmd_write_timestamp(cb, vk::PipelineStageFlags::ALL_COMMANDS, pool, i * 2 + 1) }
            }
        }
        bindings.download(reader, d, cb);
    })?;
    bindings.read_back(s, program)?;
    if let Work::Draw(draw) = &work {
        let bytes = s.read(draw.readback)?;
        program.buffers[draw.target_buffer].data[0] = bytes;
    }
    timer.map_or(Ok(Vec::new()), |pool| s.elapsed(pool, repeats))
}

fn stage_parts(
    s: &mut Session<'_>,
    shader: &CompiledShader,
    constants: &[SpecializationConstant],
) -> Result<StageParts, EngineError> {
    let Code::Spirv(words) = &shader.code else {
        return Err(EngineError::Invalid("Vulkan runs SPIR-V only".to_owned()));
    };
    let flag =
        format::stage(shader.stage).ok_or_else(|| EngineError::Unsupported(format!("{:?} shaders", shader.stage)))?;
    let entry = CString::new(shader.entry.as_str()).map_err(|e| EngineError::Invalid(e.to_string()))?;
    let (mut entries, mut data) = (Vec::<vk::SpecializationMapEntry>::new(), Vec::new());
    for c in constants {
        if entries.iter().any(|e| e.constant_id == c.constant_id) {
            return Err(EngineError::Invalid(format!(
                "Test configuration contains multiple entries for specialization constant ID {}.",
                c.constant_id
            )));
        }
        let offset = data.len();
        data.extend(case::constant_bytes(c).map_err(EngineError::Invalid)?);
        let size = data.len() - offset;
        entries.push(vk::SpecializationMapEntry { constant_id: c.constant_id, offset: offset as u32, size });
    }
    Ok(StageParts { flag, module: s.shader(words)?, entry, entries, data })
}

/// Calls `f` with the create information of the stages, which borrows from them.
fn with_stages<R>(parts: &[StageParts], f: impl FnOnce(&[vk::PipelineShaderStageCreateInfo<'_>]) -> R) -> R {
    let special: Vec<_> =
        parts.iter().map(|p| vk::SpecializationInfo::default().map_entries(&p.entries).data(&p.data)).collect();
    let infos: Vec<_> = parts
        .iter()
        .zip(&special)
        .map(|(p, special)| {
            let info = vk::PipelineShaderStageCreateInfo::default().stage(p.flag).module(p.module).name(&p.entry);
            if p.entries.is_empty() { info } else { info.specialization_info(special) }
        })
        .collect();
    f(&infos)
}

fn compute_pipeline(
    s: &mut Session<'_>,
    parts: &[StageParts],
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline, EngineError> {
    with_stages(parts, |stages| {
        let stage = stages.first().copied().ok_or_else(|| EngineError::Invalid("no shader".to_owned()))?;
        s.compute_pipeline(&vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout))
    })
}

/// What is recorded once everything is bound.
enum Work {
    Dispatch(vk::Pipeline, [u32; 3]),
    Draw(Box<Draw>),
}

/// A draw into one color image, with a depth image beside it.
struct Draw {
    pipeline: vk::Pipeline,
    color: Image,
    depth: Image,
    width: u32,
    height: u32,
    vertices: Option<HostBuffer>,
    vertex_count: u32,
    target_buffer: usize,
    readback: HostBuffer,
}

impl Work {
    fn bind_point(&self) -> vk::PipelineBindPoint {
        match self {
            Self::Dispatch(..) => vk::PipelineBindPoint::COMPUTE,
            Self::Draw(_) => vk::PipelineBindPoint::GRAPHICS,
        }
    }

    fn prepare(&self, d: &ash::Device, cb: vk::CommandBuffer) {
        if let Self::Draw(draw) = self {
            for image in [draw.color, draw.depth] {
                bind::transition(d, cb, image, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
            }
        }
    }

    fn record(&self, d: &ash::Device, cb: vk::CommandBuffer) {
        match self {
            // SAFETY: `cb` is being recorded; the pipeline belongs to the session.
            Self::Dispatch(pipeline, [x, y, z]) => unsafe {
                d.cmd_bind_pipeline(cb, vk::PipelineBindPoint::COMPUTE, *pipeline);
                d.cmd_dispatch(cb, *x, *y, *z);
            },
            Self::Draw(draw) => draw.record(d, cb),
        }
    }
}

impl Draw {
    fn record(&self, d: &ash::Device, cb: vk::CommandBuffer) {
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: vk::Extent2D { width: self.width, height: self.height },
        };
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(self.color.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.depth.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } });
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&color)
            .depth_attachment(&depth);
        // A viewport of negative height: clip space has Y up, as in Direct3D and Metal.
        let viewport = vk::Viewport {
            x: 0.0,
            y: self.height as f32,
            width: self.width as f32,
            height: -(self.height as f32),
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let region = vk::BufferImageCopy {
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: self.color.aspect,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            },
            image_extent: vk::Extent3D { width: self.width, height: self.height, depth: 1 },
            ..Default::default()
        };
        // SAFETY: `cb` is being recorded; pipeline, images and buffers belong to the session; the readback buffer has
        // the size of the image.
        unsafe {
            d.cmd_begin_rendering(cb, &info);
            d.cmd_bind_pipeline(cb, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
            d.cmd_set_viewport(cb, 0, &[viewport]);
            d.cmd_set_scissor(cb, 0, &[area]);
            if let Some(v) = self.vertices {
                d.cmd_bind_vertex_buffers(cb, 0, &[v.handle], &[0]);
            }
            d.cmd_draw(cb, self.vertex_count, 1, 0, 0);
            d.cmd_end_rendering(cb);
            bind::barrier(d, cb);
            let general = vk::ImageLayout::GENERAL;
            d.cmd_copy_image_to_buffer(cb, self.color.handle, general, self.readback.handle, &[region]);
        }
    }
}

fn draw(
    s: &mut Session<'_>,
    program: &Program,
    parts: &[StageParts],
    layout: vk::PipelineLayout,
) -> Result<Draw, EngineError> {
    let invalid = |m: &str| EngineError::Invalid(m.to_owned());
    let bindings = &program.pipeline.bindings;
    let name =
        bindings.render_target.as_ref().ok_or_else(|| invalid("No render target bound for graphics pipeline."))?;
    let target_buffer =
        program.buffers.iter().position(|b| &b.name == name).ok_or_else(|| invalid("no render target"))?;
    let target = &program.buffers[target_buffer];
    let (width, height) = (target.output.width, target.output.height);
    if width == 0 || height == 0 || target.data.len() != 1 {
        return Err(invalid("a render target needs OutputProps and one block of data"));
    }
    let color_format = format::format(target.format, target.channels)
        .ok_or_else(|| EngineError::Unsupported(format!("render targets of {}", target.format.name())))?;
    let color = s.image(ImageInfo {
        format: color_format,
        aspect: vk::ImageAspectFlags::COLOR,
        width,
        height,
        levels: 1,
        usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC,
    })?;
    let depth = s.image(ImageInfo {
        format: vk::Format::D32_SFLOAT,
        aspect: vk::ImageAspectFlags::DEPTH,
        width,
        height,
        levels: 1,
        usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
    })?;
    let readback = s.buffer(&target.data[0], vk::BufferUsageFlags::TRANSFER_DST)?;
    let vertices = match bindings.vertex_buffer.as_ref().and_then(|n| program.buffer(n)) {
        Some(b) => Some(s.buffer(b.data.first().map_or(&[], Vec::as_slice), vk::BufferUsageFlags::VERTEX_BUFFER)?),
        None => None,
    };
    let pipeline = graphics_pipeline(s, program, parts, layout, color_format)?;
    let vertex_count = program.vertex_count().map_err(EngineError::Invalid)?;
    Ok(Draw { pipeline, color, depth, width, height, vertices, vertex_count, target_buffer, readback })
}

fn graphics_pipeline(
    s: &mut Session<'_>,
    program: &Program,
    parts: &[StageParts],
    layout: vk::PipelineLayout,
    color_format: vk::Format,
) -> Result<vk::Pipeline, EngineError> {
    let bindings = &program.pipeline.bindings;
    let mut attributes = Vec::new();
    for (location, a) in bindings.vertex_attributes.iter().enumerate() {
        let format = format::format(a.format, a.channels)
            .ok_or_else(|| EngineError::Unsupported(format!("attributes of {}", a.format.name())))?;
        attributes.push(vk::VertexInputAttributeDescription {
            location: location as u32,
            binding: 0,
            format,
            offset: a.offset,
        });
    }
    let stream = [vk::VertexInputBindingDescription {
        binding: 0,
        stride: program.vertex_stride(),
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    let mut input = vk::PipelineVertexInputStateCreateInfo::default();
    if !attributes.is_empty() {
        input = input.vertex_binding_descriptions(&stream).vertex_attribute_descriptions(&attributes);
    }
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(format::topology(bindings.topology));
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(vk::CullModeFlags::NONE)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let attachments =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let formats = [color_format];
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&formats)
        .depth_attachment_format(vk::Format::D32_SFLOAT);
    let mut patches = vk::PipelineTessellationStateCreateInfo::default();
    if let Some(n) = bindings.patch_control_points {
        patches = patches.patch_control_points(n);
    }
    let tessellated = program.pipeline.shaders.iter().any(|d| d.stage == Stage::Hull);
    with_stages(parts, |stages| {
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering);
        if tessellated {
            info = info.tessellation_state(&patches);
        }
        s.graphics_pipeline(&info)
    })
}
