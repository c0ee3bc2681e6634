//! Reflection: what a host needs to know to run what was compiled, for every target at once.
//!
//! It is plain data that goes to JSON and back ([`Reflection::to_json`], [`Reflection::from_json`]). Resources, their slots
//! and the bytes of their blocks come from declarations alone; what an entry point uses, and what its code needs of a
//! device, come from the functions it reaches.

mod build;
mod format;
mod needs;
mod spec;
mod usage;

use oneshader_ir::slots::SpirvSlot;
use oneshader_msl::MslOutput;
use serde::{Deserialize, Serialize};

pub use needs::{Feature, Needs};
pub use oneshader_ir::slots::{DescriptorHeap, MslTable};
pub use spec::{MetalConstant, SpecValue, SpecializationValues};

/// The number of the JSON form; raised when a reader of the old form would misread the new one.
pub const SCHEMA: u32 = 1;

/// What a host needs to know of a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reflection {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Entry points in order of declaration.
    pub entry_points: Vec<EntryPointInfo>,
    /// Resources, used or not, in order of declaration.
    pub resources: Vec<ResourceInfo>,
    /// Specialization constants in order of declaration.
    pub specialization_constants: Vec<SpecInfo>,
    /// Structures with their bytes; types refer to them by index. One structure has an entry for each rule it is laid out by.
    pub structs: Vec<StructInfo>,
}

/// A pipeline stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// Vertex.
    Vertex,
    /// Pixel: Metal's and Vulkan's fragment.
    Pixel,
    /// Compute: Metal's kernel.
    Compute,
}

/// An entry point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntryPointInfo {
    /// HLSL name.
    pub name: String,
    /// Name of the function in Metal's text, once that is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl_function: Option<String>,
    /// Name of the entry point in SPIR-V, once that is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv_function: Option<String>,
    /// Stage.
    pub stage: StageKind,
    /// Threads of a threadgroup in x, y and z; ones for other stages than compute.
    pub threads: [u32; 3],
    /// `[WaveSize]`: least, greatest and preferred number of lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wave_size: Option<[u32; 3]>,
    /// Stage inputs in order of declaration.
    pub inputs: Vec<IoInfo>,
    /// Stage outputs in order of declaration.
    pub outputs: Vec<IoInfo>,
    /// The vertex attributes, when it is a vertex function with attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertex_buffer: Option<VertexBufferInfo>,
    /// The resources it uses, in order of declaration.
    pub resources: Vec<UseInfo>,
    /// Indices of the specialization constants it reads.
    pub specialization_constants: Vec<usize>,
    /// Metal arguments besides the declared resources, and how to fill them.
    pub hidden: Vec<HiddenInfo>,
    /// The members of the structure at Metal buffer 0, in order, once code with that binding model is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentInfo>,
    /// Bytes of threadgroup memory.
    pub threadgroup_memory: u32,
    /// What its Metal code needs.
    pub needs: Needs,
}

/// How an entry point uses a resource.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UseInfo {
    /// Index of the resource.
    pub resource: usize,
    /// HLSL name of the resource.
    pub name: String,
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
    /// Whether atomic operations change it.
    pub atomics: bool,
}

/// A member of the structure of arguments: the GPU address of a buffer, or the resource id of a texture or sampler, eight
/// bytes each; an array has as many of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ArgumentInfo {
    /// HLSL name of the resource; for hidden members the name in the text (`list_counter`, `buffer_sizes`).
    pub name: String,
    /// Index of the resource; none for hidden members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<usize>,
    /// Bytes from the beginning of the structure.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A Metal argument that no declaration states.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HiddenInfo {
    /// The hidden counter of a structured buffer: a buffer of one `uint`, which the host sets before the first use.
    Counter {
        /// Index of the resource.
        resource: usize,
        /// Metal buffer index.
        msl: u32,
    },
    /// Sizes: a buffer of `uint`s, of which number `i` is the bytes bound at Metal buffer index `i`. Bound only when
    /// buffer sizes are turned on.
    BufferSizes {
        /// Metal buffer index.
        msl: u32,
    },
    /// A descriptor heap: a buffer of entries, of which number `i` is element `i` of the heap. The resources of the heap's
    /// name (`ResourceDescriptorHeap`, `SamplerDescriptorHeap`) say what kinds of entries are read.
    DescriptorHeap {
        /// Which one.
        heap: DescriptorHeap,
        /// Metal buffer index.
        msl: u32,
        /// Bytes from one entry to the next.
        entry_size: u32,
    },
}

/// A stage input or output.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IoInfo {
    /// HLSL name: the path without the parameter.
    pub name: String,
    /// Semantic, without index.
    pub semantic: String,
    /// Semantic index.
    pub semantic_index: u32,
    /// The system value, unless it is the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_value: Option<String>,
    /// First location, unless it is a system value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<u32>,
    /// Number of locations it takes.
    pub locations: u32,
    /// Component type.
    pub scalar: ScalarKind,
    /// Components of one location, 1 to 4.
    pub components: u8,
    /// How a pixel input is interpolated.
    pub interpolation: String,
    /// Where a pixel input is interpolated.
    pub sampling: String,
}

/// The buffer that a vertex function reads its attributes from: one, interleaved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VertexBufferInfo {
    /// Metal buffer index.
    pub msl_buffer: u32,
    /// Bytes from one vertex to the next.
    pub stride: u32,
    /// The attributes in order of location.
    pub attributes: Vec<AttributeInfo>,
}

/// A vertex attribute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AttributeInfo {
    /// HLSL name of the input.
    pub name: String,
    /// Location: Metal's `[[attribute(n)]]`.
    pub location: u32,
    /// Bytes from the start of the vertex.
    pub offset: u32,
    /// `MTLVertexFormat`, such as `float3`.
    pub metal_format: String,
    /// `VkFormat` without prefix, such as `R32G32B32_SFLOAT`.
    pub vulkan_format: String,
}

/// What a resource is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// `cbuffer`, `ConstantBuffer<T>`, loose uniforms.
    ConstantBuffer,
    /// `[[vk::push_constant]]`.
    PushConstant,
    /// `tbuffer`, `TextureBuffer<T>`.
    TextureBuffer,
    /// `StructuredBuffer<T>`, `RWStructuredBuffer<T>`.
    StructuredBuffer,
    /// `AppendStructuredBuffer<T>`.
    AppendBuffer,
    /// `ConsumeStructuredBuffer<T>`.
    ConsumeBuffer,
    /// `ByteAddressBuffer`, `RWByteAddressBuffer`.
    ByteAddressBuffer,
    /// A texture.
    Texture,
    /// `Buffer<T>`, `RWBuffer<T>`.
    TypedBuffer,
    /// A sampler.
    Sampler,
    /// `SubpassInput`.
    SubpassInput,
    /// `RaytracingAccelerationStructure`.
    AccelerationStructure,
}

/// A resource.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ResourceInfo {
    /// HLSL name.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Whether it is declared to be written (`RW...`).
    pub writable: bool,
    /// Elements of an array; absent when it is none. 0: an array without size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<u32>,
    /// HLSL register, when one is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register: Option<RegisterInfo>,
    /// Vulkan descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv: Option<SpirvSlot>,
    /// Vulkan descriptor of the hidden counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv_counter: Option<SpirvSlot>,
    /// Metal index: the first one of an array; of an array without size, the buffer of its entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl: Option<MslSlotInfo>,
    /// What Metal reads from that buffer, when it is an array without size. Such arrays with the same index are views of
    /// one buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl_table: Option<TableInfo>,
    /// Metal buffer index of the hidden counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl_counter: Option<u32>,
    /// The bytes of its block, or of one element of a structured buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockInfo>,
    /// The texture's or typed buffer's shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureInfo>,
    /// Whether it is a comparison sampler; its function is the host's sampler's. The sampler of a `vk::SampledTexture2D` and
    /// the like serves both, as the texture's methods ask for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub comparison: bool,
}

/// An HLSL register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RegisterInfo {
    /// `b`, `t`, `u` or `s`.
    pub class: String,
    /// Number; absent when only the space is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Space.
    pub space: u32,
}

/// Metal indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MslSlotInfo {
    /// The argument table.
    pub table: MslTable,
    /// The first index.
    pub index: u32,
    /// Number of indices.
    pub count: u32,
}

/// The entries of an array without size in Metal: the elements follow each other in a buffer that the host fills. What it
/// writes there must be made resident before the work runs (`useResource`, or a residency set), as Metal does not see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TableInfo {
    /// Bytes from one entry to the next.
    pub entry_size: u32,
    /// What an entry is.
    pub entry: EntryKind,
}

/// What the host writes to an entry: eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// The `MTLResourceID` of a texture, a texture of a buffer (`Buffer<T>`), a sampler that supports argument buffers, or
    /// an acceleration structure.
    ResourceId,
    /// The `gpuAddress` of a buffer, and an offset if it begins within.
    GpuAddress,
}

/// Memory behind a resource.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BlockInfo {
    /// The rule its bytes follow, in words.
    pub rule: String,
    /// Bytes of the block; of one element, without what follows it, in a structured buffer.
    pub size: u32,
    /// Bytes from one element to the next in a structured buffer; the size rounded up to the alignment in any other.
    pub stride: u32,
    /// Type of the block or element.
    #[serde(rename = "type")]
    pub ty: TypeInfo,
}

/// A component type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ScalarKind {
    Bool,
    Int16,
    Uint16,
    Int,
    Uint,
    Int64,
    Uint64,
    Half,
    Float,
    Double,
}

/// A type in memory. All numbers are bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TypeInfo {
    /// A scalar; a `bool` takes four bytes, 0 or 1.
    Scalar {
        /// Type.
        scalar: ScalarKind,
    },
    /// A vector.
    Vector {
        /// Component type.
        scalar: ScalarKind,
        /// Components.
        components: u8,
    },
    /// A matrix.
    Matrix {
        /// Component type.
        scalar: ScalarKind,
        /// Rows.
        rows: u8,
        /// Columns.
        columns: u8,
        /// Whether a line in memory is a row; else it is a column.
        row_major: bool,
        /// From one line to the next.
        line_stride: u32,
    },
    /// An array.
    Array {
        /// Type of an element.
        element: Box<TypeInfo>,
        /// Number of elements.
        count: u32,
        /// From one element to the next.
        stride: u32,
    },
    /// A structure.
    Struct {
        /// Index in [`Reflection::structs`].
        index: usize,
    },
}

/// A structure with its bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StructInfo {
    /// HLSL name.
    pub name: String,
    /// Bytes it takes.
    pub size: u32,
    /// Alignment.
    pub align: u32,
    /// Members in order of declaration.
    pub members: Vec<MemberInfo>,
}

/// A member.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemberInfo {
    /// HLSL name.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: u32,
    /// Bytes it takes.
    pub size: u32,
    /// Type.
    #[serde(rename = "type")]
    pub ty: TypeInfo,
}

/// A texture's or typed buffer's shape.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TextureInfo {
    /// `1d`, `2d`, `3d`, `cube` or `buffer`.
    pub dimension: String,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether its texels have several samples.
    pub multisampled: bool,
    /// Component type of the HLSL element type.
    pub scalar: ScalarKind,
    /// Components of the HLSL element type.
    pub components: u8,
    /// `[[vk::image_format]]`, when one is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// A specialization constant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpecInfo {
    /// HLSL name.
    pub name: String,
    /// Identifier: Vulkan's `constantID`, Metal's `[[function_constant(n)]]`.
    pub id: u32,
    /// Value when the host sets none.
    pub default: SpecValue,
}

impl Reflection {
    /// Sets what is known of an entry point once its Metal text is made: the function's name and the argument structure.
    pub fn set_msl(&mut self, entry: &str, output: &MslOutput) {
        let Some(info) = self.entry_points.iter_mut().find(|e| e.name == entry) else { return };
        info.msl_function = Some(output.function.clone());
        info.arguments = output
            .arguments
            .iter()
            .map(|(name, offset, size)| ArgumentInfo {
                name: name.clone(),
                resource: self.resources.iter().position(|r| r.name == *name),
                offset: *offset,
                size: *size,
            })
            .collect();
    }

    /// Sets the name that an entry point has in SPIR-V.
    pub fn set_spirv_function(&mut self, entry: &str, function: &str) {
        if let Some(info) = self.entry_points.iter_mut().find(|e| e.name == entry) {
            info.spirv_function = Some(function.into());
        }
    }

    /// The entry point called `name`.
    pub fn entry_point(&self, name: &str) -> Option<&EntryPointInfo> {
        self.entry_points.iter().find(|e| e.name == name)
    }

    /// The resource called `name`.
    pub fn resource(&self, name: &str) -> Option<&ResourceInfo> {
        self.resources.iter().find(|r| r.name == name)
    }

    /// JSON, indented, with a line end at its end.
    pub fn to_json(&self) -> String {
        // Of plain data with text keys; what serde_json refuses (maps with other keys) is not in it.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// The text is no JSON of this form, or of another schema version.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        let head: Head = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if head.schema != SCHEMA {
            return Err(format!("schema {} instead of {SCHEMA}", head.schema));
        }
        serde_json::from_str(text).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests;
