//! A test case: HLSL, a pipeline, commands and expectations in one file.
//!
//! The format is that of LLVM's offload-test-suite, so that suite runs unmodified from a checkout beside our corpus.

pub mod acceleration;
pub mod dump;
pub mod lit;
pub mod pipeline;
pub mod split;
pub mod values;

use pipeline::{BufferDecl, DataFormat, OutputProps, Pipeline, ResourceKind, SpecializationConstant, Stage};

/// A buffer with its bytes, before or after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The element format.
    pub format: DataFormat,
    /// Components per element.
    pub channels: u32,
    /// Bytes per element of a structured buffer, or 0.
    pub stride: u32,
    /// One block of bytes per element of a resource array, all of one size.
    pub data: Vec<Vec<u8>>,
    /// Hidden counters after the run, one per block; empty where there is none.
    pub counters: Vec<u32>,
    /// Dimensions, for an image.
    pub output: OutputProps,
}

impl Buffer {
    /// Bytes of one block.
    pub fn size(&self) -> usize {
        self.data.first().map_or(0, Vec::len)
    }

    /// Bytes of one element: the stride, or all components.
    pub fn element_size(&self) -> usize {
        if self.stride > 0 { self.stride as usize } else { self.format.size() * self.channels as usize }
    }
}

/// Kinds of pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineKind {
    /// One compute shader.
    Compute,
    /// Vertex to pixel, perhaps with stages between.
    Raster,
    /// Mesh shaders.
    Mesh,
    /// Ray tracing.
    RayTracing,
}

/// A pipeline whose names are resolved and whose numbers are bytes.
#[derive(Clone, Debug)]
pub struct Program {
    /// What the text says.
    pub pipeline: Pipeline,
    /// Its kind.
    pub kind: PipelineKind,
    /// The buffers; engines write results into them.
    pub buffers: Vec<Buffer>,
}

impl Program {
    /// Parses and checks a pipeline text.
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let pipeline: Pipeline = serde_yaml_ng::from_str(&as_llvm_reads(yaml)).map_err(|e| e.to_string())?;
        let buffers = pipeline.buffers.iter().map(buffer).collect::<Result<Vec<_>, _>>()?;
        let kind = kind(&pipeline)?;
        let program = Self { pipeline, kind, buffers };
        program.check_names()?;
        program.check_dispatch()?;
        Ok(program)
    }

    /// The buffer of that name.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|b| b.name == name)
    }

    /// The buffer of that name, to be written.
    pub fn buffer_mut(&mut self, name: &str) -> Option<&mut Buffer> {
        self.buffers.iter_mut().find(|b| b.name == name)
    }

    /// Bytes from one vertex to the next: the attributes lie one after the other.
    pub fn vertex_stride(&self) -> u32 {
        let size = |a: &pipeline::VertexAttribute| a.format.size() as u32 * a.channels;
        self.pipeline.bindings.vertex_attributes.iter().map(size).sum()
    }

    /// Vertices to draw: what the text says, or as many as the vertex buffer holds.
    pub fn vertex_count(&self) -> Result<u32, String> {
        if let Some(n) = self.pipeline.dispatch_parameters.vertex_count {
            return Ok(n);
        }
        let name = self.pipeline.bindings.vertex_buffer.as_ref();
        let size = name.and_then(|n| self.buffer(n)).map(Buffer::size).ok_or("no vertex count and no vertex buffer")?;
        match self.vertex_stride() {
            0 => Err("no vertex count and no vertex attributes".to_owned()),
            stride => Ok(size as u32 / stride),
        }
    }

    /// Thread groups to dispatch.
    pub fn groups(&self) -> [u32; 3] {
        self.pipeline.dispatch_parameters.dispatch_group_count.unwrap_or([1, 1, 1])
    }

    fn check_names(&self) -> Result<(), String> {
        let has = |name: &str, what: &str| match self.buffer(name) {
            Some(_) => Ok(()),
            None => Err(format!("{what} {name} not found!")),
        };
        for r in self.pipeline.descriptor_sets.iter().flat_map(|s| &s.resources) {
            let sampler = self.pipeline.samplers.iter().any(|s| s.name == r.name);
            match r.kind {
                ResourceKind::AccelerationStructure => {
                    if self.pipeline.acceleration_structures.scene(&r.name).is_none() {
                        return Err(format!("Referenced TLAS {} not found!", r.name));
                    }
                }
                ResourceKind::Sampler if !sampler => {
                    return Err(format!("Referenced sampler {} not found!", r.name));
                }
                ResourceKind::Sampler => {}
                ResourceKind::SampledTexture2D if !sampler => {
                    return Err(format!("Referenced sampler {} not found!", r.name));
                }
                _ => has(&r.name, "Referenced buffer")?,
            }
            if r.register.is_some() == r.heap_index.is_some() {
                return Err(format!(
                    "Resource '{}' must specify exactly one of 'DirectXBinding' or 'HeapIndex'.",
                    r.name
                ));
            }
        }
        for e in &self.pipeline.results {
            has(&e.actual, "Reference buffer")?;
            has(&e.expected, "Reference buffer")?;
            let (Some(a), Some(b)) = (self.buffer(&e.actual), self.buffer(&e.expected)) else {
                continue;
            };
            let needs = match e.rule {
                pipeline::Rule::BufferExact => continue,
                pipeline::Rule::BufferFloatUlp => e.ulp.is_some(),
                pipeline::Rule::BufferFloatEpsilon => e.epsilon.is_some(),
            };
            if !needs {
                return Err(format!("Result '{}' lacks its tolerance", e.name));
            }
            if !a.format.is_float() || !b.format.is_float() {
                return Err("BufferFloat only accepts Float buffers".to_owned());
            }
            if a.format != b.format {
                return Err("Buffers must have the same type".to_owned());
            }
        }
        let bindings = &self.pipeline.bindings;
        if let Some(name) = &bindings.vertex_buffer {
            has(name, "Referenced vertex buffer")?;
        }
        if let Some(name) = &bindings.render_target {
            has(name, "Referenced render target buffer")?;
        }
        self.pipeline.acceleration_structures.check(self)?;
        self.check_root_parameters()
    }

    fn check_root_parameters(&self) -> Result<(), String> {
        let params = &self.pipeline.runtime_settings.direct_x.root_parameters;
        let mut tables = 0;
        for p in params {
            let name = match p.kind {
                pipeline::RootParameterKind::DescriptorTable => {
                    tables += 1;
                    continue;
                }
                pipeline::RootParameterKind::Constant => p.name.as_deref().ok_or("a root constant has no Name")?,
                pipeline::RootParameterKind::RootDescriptor => {
                    let r = p.resource.as_ref().ok_or("a root descriptor has no Resource")?;
                    if !is_raw(r.kind) {
                        return Err("Root descriptors must be raw resource types.".to_owned());
                    }
                    &r.name
                }
            };
            if self.buffer(name).is_none() {
                return Err(format!("Referenced buffer in root parameter {name} not found!"));
            }
        }
        let sets = self.pipeline.descriptor_sets.len();
        if !params.is_empty() && tables != sets {
            return Err(format!("Expected {sets} DescriptorTable root parameters, found {tables}"));
        }
        Ok(())
    }

    fn check_dispatch(&self) -> Result<(), String> {
        let d = &self.pipeline.dispatch_parameters;
        match self.kind {
            PipelineKind::Raster if d.dispatch_group_count.is_some_and(|g| g != [1, 1, 1]) => {
                Err("DispatchGroupCount is for compute pipelines".to_owned())
            }
            PipelineKind::Raster => Ok(()),
            _ if d.vertex_count.is_some() => Err("VertexCount is for drawing pipelines".to_owned()),
            _ => Ok(()),
        }
    }
}

/// The bytes of a specialization constant's value.
pub fn constant_bytes(c: &SpecializationConstant) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    values::encode(c.format, &c.value, &mut bytes).map_err(|_| {
        let kind = match c.format {
            DataFormat::Float32 => "float",
            DataFormat::Float64 => "double",
            DataFormat::Int16 => "int16",
            DataFormat::UInt16 => "uint16",
            DataFormat::Int32 => "int32",
            DataFormat::UInt32 => "uint32",
            DataFormat::Bool => "bool",
            other => other.name(),
        };
        let text = match &c.value {
            serde_yaml_ng::Value::String(s) => s.clone(),
            other => serde_yaml_ng::to_string(other).unwrap_or_default().trim().to_owned(),
        };
        format!("Invalid {kind} value for specialization constant '{text}'")
    })?;
    Ok(bytes)
}

/// Whether a resource is a buffer without a format (structured, byte-address or constant).
pub fn is_raw(kind: ResourceKind) -> bool {
    use ResourceKind as K;
    matches!(
        kind,
        K::StructuredBuffer | K::RWStructuredBuffer | K::ByteAddressBuffer | K::RWByteAddressBuffer | K::ConstantBuffer
    )
}

/// Whether shaders can write the resource.
pub fn is_read_write(kind: ResourceKind) -> bool {
    use ResourceKind as K;
    matches!(kind, K::RWBuffer | K::RWStructuredBuffer | K::RWByteAddressBuffer | K::RWTexture2D)
}

/// Whether the resource is an image.
pub fn is_texture(kind: ResourceKind) -> bool {
    matches!(kind, ResourceKind::Texture2D | ResourceKind::RWTexture2D | ResourceKind::SampledTexture2D)
}

/// The letter of a resource's register: constant buffers are `b`, what is only read `t`, what is written `u`.
pub fn register_class(kind: ResourceKind) -> char {
    match kind {
        ResourceKind::ConstantBuffer => 'b',
        ResourceKind::Sampler => 's',
        _ if is_read_write(kind) => 'u',
        _ => 't',
    }
}

/// The bytes of the push constant blocks, laid over each other at their offsets.
pub fn push_constants(program: &Program) -> Result<Vec<u8>, String> {
    let mut out: Vec<u8> = Vec::new();
    for value in program.pipeline.push_constants.iter().flat_map(|b| &b.values) {
        let bytes = values::encode_list(value.format, &value.data)?;
        let start = value.offset as usize;
        if start + bytes.len() > 4096 {
            return Err("push constants of more than 4096 bytes".to_owned());
        }
        out.resize(out.len().max(start + bytes.len()), 0);
        out[start..start + bytes.len()].copy_from_slice(&bytes);
    }
    // Vulkan wants the size of a range to be a multiple of four.
    out.resize(out.len().next_multiple_of(4), 0);
    Ok(out)
}

/// LLVM's reader takes `[1,, 2]` for `[1, 2]` and `-0` for text, and tests rely on it; of YAML the one is wrong and the other
/// the integer 0. Comments stay as they are.
fn as_llvm_reads(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len());
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "[],".contains(c));
    for line in yaml.split_inclusive('\n') {
        let code = line.find('#').unwrap_or(line.len());
        let mut comma = false;
        let mut chars = line[..code].chars();
        let mut before = None;
        while let Some(c) = chars.next() {
            if c == '-' && ends(before) && chars.as_str().starts_with('0') && ends(chars.as_str().chars().nth(1)) {
                out.push_str("\"-0\"");
                chars.next();
            } else if c != ',' || !comma {
                out.push(c);
            }
            comma = c == ',' || (comma && c.is_whitespace());
            before = Some(c);
        }
        out.push_str(&line[code..]);
    }
    out
}

fn kind(p: &Pipeline) -> Result<PipelineKind, String> {
    let has = |s: Stage| p.shaders.iter().any(|x| x.stage == s);
    let ray = |s: Stage| {
        matches!(
            s,
            Stage::RayGeneration
                | Stage::Miss
                | Stage::ClosestHit
                | Stage::AnyHit
                | Stage::Intersection
                | Stage::Callable
        )
    };
    if p.shaders.iter().any(|x| ray(x.stage)) {
        return Ok(PipelineKind::RayTracing);
    }
    for (i, s) in p.shaders.iter().enumerate() {
        if p.shaders[..i].iter().any(|x| x.stage == s.stage) {
            return Err("Pipeline has multiple shaders of the same type.".to_owned());
        }
    }
    if has(Stage::Compute) {
        return match p.shaders.len() {
            1 => Ok(PipelineKind::Compute),
            _ => Err("Compute Pipeline is only allowed to have Compute Shader.".to_owned()),
        };
    }
    if has(Stage::Mesh) {
        return Ok(PipelineKind::Mesh);
    }
    if has(Stage::Vertex) {
        return Ok(PipelineKind::Raster);
    }
    Err("The pipeline misses a Compute, Vertex, Mesh, or RayGeneration Shader.".to_owned())
}

/// Largest buffer a case may ask for, in bytes over all its blocks.
const MAX_BYTES: u64 = 1 << 30;

fn buffer(decl: &BufferDecl) -> Result<Buffer, String> {
    let within = |e: String| format!("Buffer '{}': {e}", decl.name);
    if decl.stride != 0 && decl.channels != 1 {
        return Err(within("Cannot set a structure stride and more than one channel.".to_owned()));
    }
    let data = match (&decl.data, decl.fill_size.filter(|n| *n > 0)) {
        (None, Some(size)) => {
            if size.saturating_mul(u64::from(decl.array_size)) > MAX_BYTES {
                return Err(within(format!("{size} bytes are more than a case may ask for")));
            }
            let mut element = Vec::new();
            match &decl.fill_value {
                Some(v) => values::encode(decl.format, v, &mut element).map_err(within)?,
                None => element.resize(decl.format.size(), 0),
            }
            let mut block = element.repeat((size as usize).div_ceil(element.len()));
            block.truncate(size as usize);
            vec![block; decl.array_size as usize]
        }
        (Some(_), Some(_)) => {
            return Err(within("'Data' and 'FillSize' exclude each other".to_owned()));
        }
        (_, None) if decl.fill_value.is_some() => {
            return Err(within("'FillValue' specified without 'FillSize'".to_owned()));
        }
        (None, None) => return Err(within("missing required key 'Data'".to_owned())),
        (Some(list), None) if decl.array_size == 1 => {
            vec![values::encode_list(decl.format, list).map_err(within)?]
        }
        (Some(lists), None) => {
            let lists = lists.as_sequence().ok_or_else(|| within("Data must be a list of lists".to_owned()))?;
            let blocks: Vec<_> =
                lists.iter().map(|l| values::encode_list(decl.format, l).map_err(within)).collect::<Result<_, _>>()?;
            if blocks.iter().any(|b| b.len() != blocks[0].len()) {
                return Err(within("All buffers must have the same size.".to_owned()));
            }
            if blocks.len() != decl.array_size as usize {
                return Err(within(format!("Expected {} buffers, found {}", decl.array_size, blocks.len())));
            }
            blocks
        }
    };
    let buffer = Buffer {
        name: decl.name.clone(),
        format: decl.format,
        channels: decl.channels,
        stride: decl.stride,
        data,
        counters: Vec::new(),
        output: decl.output_props,
    };
    check_dimensions(&buffer)?;
    Ok(buffer)
}

fn check_dimensions(b: &Buffer) -> Result<(), String> {
    if b.output.width == 0 {
        return Ok(());
    }
    let want: u64 = mip_sizes(b.output).map(|(w, h, d)| w * h * d * b.element_size() as u64).sum();
    if b.size() as u64 != want {
        return Err(format!("Buffer '{}' size ({}) does not match OutputProps dimensions ({want})", b.name, b.size()));
    }
    Ok(())
}

/// Width, height and depth of each mip level.
pub fn mip_sizes(o: OutputProps) -> impl Iterator<Item = (u64, u64, u64)> {
    let at = |size: u32, level: u32| u64::from((size >> level.min(31)).max(1));
    (0..o.mip_levels.min(32)).map(move |l| (at(o.width, l), at(o.height, l), at(o.depth, l)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPUTE: &str = "
Shaders: [{ Stage: Compute, Entry: main }]
Buffers:
  - { Name: In, Format: Float32, Channels: 4, Data: [1, 2.5, inf, 0x1p-3] }
  - { Name: Out, Format: UInt32, Stride: 4, FillSize: 8, FillValue: 7 }
  - { Name: Arr, Format: Hex16, ArraySize: 2, Data: [[0x1, 2], [3, 4]] }
DescriptorSets:
  - Resources:
    - { Name: In, Kind: Buffer, DirectXBinding: { Register: 0, Space: 0 }, VulkanBinding: { Binding: 0 } }
";

    #[test]
    fn negative_zero_keeps_its_sign() {
        let text = "[-0, 1, -0 ,-05, 2-0]\n- -0 # -0\n";
        assert_eq!(as_llvm_reads(text), "[\"-0\", 1, \"-0\" ,-05, 2-0]\n- \"-0\" # -0\n");
        let program = Program::parse(&COMPUTE.replace("[1, 2.5,", "[-0, 2.5,")).unwrap();
        assert_eq!(program.buffers[0].data[0][..4], (-0.0f32).to_le_bytes());
    }

    #[test]
    fn data_become_bytes() {
        let p = Program::parse(COMPUTE).unwrap();
        assert_eq!(p.kind, PipelineKind::Compute);
        assert_eq!(p.buffers[0].data[0][4..8], 2.5f32.to_le_bytes());
        assert_eq!(p.buffers[0].data[0][12..], 0.125f32.to_le_bytes());
        assert_eq!(p.buffers[1].data, [[7, 0, 0, 0, 7, 0, 0, 0]]);
        assert_eq!(p.buffers[2].data, [[1, 0, 2, 0], [3, 0, 4, 0]]);
    }

    #[test]
    fn doubled_commas_are_one() {
        let p = Program::parse(&COMPUTE.replace("[1, 2.5,", "[1,  , 2.5, # a,, b\n")).unwrap();
        assert_eq!(p.buffers[0].data[0].len(), 16);
    }

    #[test]
    fn mistakes_are_refused_by_name() {
        for (from, to, want) in [
            ("Channels: 4", "Chanels: 4", "Chanels"),
            ("Name: In, Kind", "Name: Gone, Kind", "Gone"),
            ("ArraySize: 2", "ArraySize: 3", "Expected 3 buffers, found 2"),
            ("[3, 4]", "[3]", "same size"),
            ("FillSize: 8, ", "", "'FillValue' specified without 'FillSize'"),
            ("Stage: Compute", "Stage: Kitchen", "Kitchen"),
            ("0x1p-3]", "0x1p-3], OutputProps: { Width: 2, Height: 2, Depth: 1 }", "size (16)"),
            (", DirectXBinding: { Register: 0, Space: 0 }", "", "exactly one"),
        ] {
            assert!(COMPUTE.contains(from), "{from}");
            let e = Program::parse(&COMPUTE.replace(from, to)).unwrap_err();
            assert!(e.contains(want), "{to}: {e}");
        }
    }
}
