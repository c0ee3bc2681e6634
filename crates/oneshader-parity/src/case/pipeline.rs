//! The pipeline of a case as its YAML spells it: typed, unknown keys are errors.
//!
//! The format is that of LLVM's offload-test-suite. This module mirrors the text; [`super::Case`] holds the checked form
//! in which names are resolved and data are bytes.

use super::acceleration::AccelerationStructures;
use serde::{Deserialize, Serialize};
use serde_yaml_ng::Value;

/// The document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Pipeline {
    /// The shaders in the order of the compiled files on the command line.
    pub shaders: Vec<Shader>,
    /// Settings that only one API reads.
    #[serde(default)]
    pub runtime_settings: RuntimeSettings,
    /// Every buffer and image, bound or not.
    #[serde(default)]
    pub buffers: Vec<BufferDecl>,
    /// Samplers by name.
    #[serde(default)]
    pub samplers: Vec<Sampler>,
    /// Comparisons made after the run.
    #[serde(default)]
    pub results: Vec<Expectation>,
    /// Descriptor sets; the position in the list is the set number.
    #[serde(default)]
    pub descriptor_sets: Vec<DescriptorSet>,
    /// Vertex buffer and render target of a drawing pipeline.
    #[serde(default)]
    pub bindings: Bindings,
    /// Push constant blocks, one per stage.
    #[serde(default)]
    pub push_constants: Vec<PushConstantBlock>,
    /// How much to dispatch or draw.
    #[serde(default)]
    pub dispatch_parameters: DispatchParameters,
    /// What rays are traced in.
    #[serde(default)]
    pub acceleration_structures: AccelerationStructures,
    /// Pipelines of ray tracing: known keys that no engine here runs.
    #[serde(default)]
    pub ray_tracing_pipeline_config: Option<Value>,
    /// See `ray_tracing_pipeline_config`.
    #[serde(default)]
    pub hit_groups: Option<Value>,
    /// See `ray_tracing_pipeline_config`.
    #[serde(default)]
    pub shader_binding_table: Option<Value>,
}

/// Programmable stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[allow(missing_docs)]
pub enum Stage {
    Compute,
    Vertex,
    Hull,
    Domain,
    Geometry,
    Pixel,
    Amplification,
    Mesh,
    RayGeneration,
    Miss,
    ClosestHit,
    AnyHit,
    Intersection,
    Callable,
}

/// One shader of the pipeline.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Shader {
    /// Its stage.
    pub stage: Stage,
    /// Its entry point.
    pub entry: String,
    /// Values of specialization constants.
    #[serde(default)]
    pub specialization_constants: Vec<SpecializationConstant>,
}

/// A value for `[[vk::constant_id(N)]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct SpecializationConstant {
    /// N.
    #[serde(rename = "ConstantID")]
    pub constant_id: u32,
    /// The type of the value.
    #[serde(rename = "Type")]
    pub format: DataFormat,
    /// The value, a number or its text.
    pub value: Value,
}

/// How the elements of a buffer are spelled and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[allow(missing_docs)]
pub enum DataFormat {
    Hex8,
    Hex16,
    Hex32,
    Hex64,
    UInt16,
    UInt32,
    UInt64,
    Int16,
    Int32,
    Int64,
    /// Spelled as the 16-bit pattern.
    Float16,
    Float32,
    Float64,
    Depth32,
    /// Four bytes, as in HLSL.
    Bool,
}

/// A buffer or image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct BufferDecl {
    /// Its name, which resources and results refer to.
    pub name: String,
    /// The element format.
    pub format: DataFormat,
    /// Components per element of a typed buffer or image.
    #[serde(default = "one")]
    pub channels: u32,
    /// Bytes per element of a structured buffer; 0 where there is none.
    #[serde(default)]
    pub stride: u32,
    /// How many buffers of the same kind an array of resources holds.
    #[serde(default = "one")]
    pub array_size: u32,
    /// The elements: a list, or a list of lists for an array.
    #[serde(default)]
    pub data: Option<Value>,
    /// Size in bytes when `Data` is not spelled out.
    #[serde(default)]
    pub fill_size: Option<u64>,
    /// The element to fill with; zero by default.
    #[serde(default)]
    pub fill_value: Option<Value>,
    /// Dimensions, for an image.
    #[serde(default)]
    pub output_props: OutputProps,
}

fn one() -> u32 {
    1
}

/// Dimensions of an image in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct OutputProps {
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// Slices.
    pub depth: u32,
    /// Mip levels; the data hold one after the other.
    #[serde(default = "one")]
    pub mip_levels: u32,
}

impl Default for OutputProps {
    fn default() -> Self {
        Self { height: 0, width: 0, depth: 0, mip_levels: 1 }
    }
}

/// A descriptor set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct DescriptorSet {
    /// Its resources.
    pub resources: Vec<ResourceDecl>,
}

/// HLSL's resource kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[allow(missing_docs)]
pub enum ResourceKind {
    Buffer,
    StructuredBuffer,
    ByteAddressBuffer,
    Texture2D,
    RWBuffer,
    RWStructuredBuffer,
    RWByteAddressBuffer,
    RWTexture2D,
    ConstantBuffer,
    Sampler,
    SampledTexture2D,
    AccelerationStructure,
}

/// A bound resource.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct ResourceDecl {
    /// The buffer or sampler of that name (a sampled texture names one of each).
    pub name: String,
    /// Its kind.
    pub kind: ResourceKind,
    /// Whether a hidden counter goes with it.
    #[serde(default)]
    pub has_counter: bool,
    /// Tiled resources: mapped tiles. No engine here has tiles.
    #[serde(default)]
    pub tiles_mapped: Option<u32>,
    /// See `tiles_mapped`.
    #[serde(default)]
    pub is_reserved: bool,
    /// HLSL register and space.
    #[serde(default, rename = "DirectXBinding")]
    pub register: Option<Register>,
    /// Vulkan binding number.
    #[serde(default)]
    pub vulkan_binding: Option<VulkanBinding>,
    /// Slot in the descriptor heap, instead of a register.
    #[serde(default)]
    pub heap_index: Option<u32>,
}

/// `register(xN, spaceM)`; the letter follows from the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Register {
    /// N.
    pub register: u32,
    /// M.
    pub space: u32,
}

/// Where Vulkan finds a resource in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct VulkanBinding {
    /// Binding number.
    pub binding: u32,
    /// Binding number of the counter.
    #[serde(default)]
    pub counter_binding: Option<u32>,
}

/// A sampler.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Whether it compares.
    #[serde(default)]
    pub kind: SamplerKind,
    /// Minification filter.
    #[serde(default)]
    pub min_filter: Filter,
    /// Magnification filter.
    #[serde(default)]
    pub mag_filter: Filter,
    /// Address mode of all three coordinates.
    #[serde(default)]
    pub address: Address,
    /// Lower clamp of the level of detail.
    #[serde(default, rename = "MinLOD")]
    pub min_lod: f32,
    /// Upper clamp of the level of detail.
    #[serde(default = "max_lod", rename = "MaxLOD")]
    pub max_lod: f32,
    /// Added to the level of detail.
    #[serde(default, rename = "MipLODBias")]
    pub mip_lod_bias: f32,
    /// The comparison of a comparison sampler.
    #[serde(default)]
    pub comparison_op: Compare,
}

fn max_lod() -> f32 {
    f32::MAX
}

/// Kinds of samplers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum SamplerKind {
    #[default]
    Sampler,
    SamplerComparison,
}

/// Filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Filter {
    Nearest,
    #[default]
    Linear,
}

/// Address modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Address {
    #[default]
    Clamp,
    Repeat,
    Mirror,
    Border,
    MirrorOnce,
}

/// Comparison functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Compare {
    #[default]
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    Always,
}

/// One comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Expectation {
    /// Its name in messages.
    #[serde(rename = "Result")]
    pub name: String,
    /// How to compare.
    pub rule: Rule,
    /// The buffer the shaders wrote.
    pub actual: String,
    /// The buffer that holds what it should be.
    pub expected: String,
    /// Tolerance in units in the last place (BufferFloatULP).
    #[serde(default, rename = "ULPT")]
    pub ulp: Option<u32>,
    /// Absolute tolerance (BufferFloatEpsilon).
    #[serde(default)]
    pub epsilon: Option<f64>,
    /// What becomes of subnormal numbers.
    #[serde(default)]
    pub denorm_mode: DenormMode,
    /// Absolute tolerance near zero (BufferFloatULP).
    #[serde(default)]
    pub zero_tolerance: f64,
}

/// Rules of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Rule {
    BufferExact,
    #[serde(rename = "BufferFloatULP")]
    BufferFloatUlp,
    BufferFloatEpsilon,
}

/// What an expected subnormal number may become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum DenormMode {
    /// Itself or a zero of the same sign.
    #[default]
    Any,
    #[serde(rename = "FTZ")]
    FlushToZero,
    Preserve,
}

/// What a drawing pipeline binds beside descriptors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct Bindings {
    /// The buffer of interleaved vertices.
    #[serde(default)]
    pub vertex_buffer: Option<String>,
    /// Its attributes; the position in the list is the location.
    #[serde(default)]
    pub vertex_attributes: Vec<VertexAttribute>,
    /// The color image.
    #[serde(default)]
    pub render_target: Option<String>,
    /// Primitives.
    #[serde(default)]
    pub topology: Topology,
    /// Control points of a patch list.
    #[serde(default)]
    pub patch_control_points: Option<u32>,
}

/// One vertex attribute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct VertexAttribute {
    /// Format of a component.
    pub format: DataFormat,
    /// Components.
    pub channels: u32,
    /// Bytes from the start of a vertex.
    pub offset: u32,
    /// The HLSL semantic.
    pub name: String,
}

/// Primitive topologies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum Topology {
    #[default]
    TriangleList,
    PointList,
    PatchList,
    LineList,
}

/// Push constants of a stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct PushConstantBlock {
    /// The stage.
    pub stage: Stage,
    /// Groups of values.
    pub values: Vec<PushConstantValue>,
}

/// Values that lie together in a push constant block.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct PushConstantValue {
    /// Their format.
    pub format: DataFormat,
    /// Bytes from the start of the block.
    #[serde(rename = "Offset")]
    pub offset: u32,
    /// The values.
    pub data: Value,
}

/// How much to run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct DispatchParameters {
    /// Thread groups in x, y and z.
    #[serde(default)]
    pub dispatch_group_count: Option<[u32; 3]>,
    /// Vertices to draw; by default all of the vertex buffer.
    #[serde(default)]
    pub vertex_count: Option<u32>,
}

/// Settings of one API.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct RuntimeSettings {
    /// Root signature parameters, which only Direct3D has.
    #[serde(default, rename = "DirectX")]
    pub direct_x: DirectXSettings,
}

/// Direct3D's settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct DirectXSettings {
    /// Root parameters in order.
    #[serde(default)]
    pub root_parameters: Vec<RootParameter>,
}

/// One root parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct RootParameter {
    /// Its kind.
    pub kind: RootParameterKind,
    /// The buffer of root constants.
    #[serde(default)]
    pub name: Option<String>,
    /// The resource of a root descriptor.
    #[serde(default)]
    pub resource: Option<RootResource>,
}

/// Kinds of root parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub enum RootParameterKind {
    Constant,
    DescriptorTable,
    RootDescriptor,
}

/// The resource of a root descriptor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct RootResource {
    /// The buffer.
    pub name: String,
    /// Its kind, one without a format.
    pub kind: ResourceKind,
}
