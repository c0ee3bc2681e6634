//! Runs Metal text on the CPU, through `metal-check`.
//!
//! What `metal-check` can execute bounds this engine: compute kernels whose arguments are buffers.

use super::{Code, CompiledShader, Engine, EngineError};
use crate::case::lit::Features;
use crate::case::pipeline::{DataFormat, ResourceDecl, ResourceKind, SpecializationConstant};
use crate::case::{self, PipelineKind, Program};
use metal_check::run::{Binding, Dispatch, Error, Executor, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a Metal function takes its arguments, as reflection tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetalInterface {
    /// The function's name in the text.
    pub function: String,
    /// Threads per threadgroup.
    pub threads: [u32; 3],
    /// Every resource of the file.
    pub resources: Vec<MetalResource>,
    /// The buffer index of the push constant block.
    pub push_constants: Option<u32>,
    /// The buffer index of the hidden buffer that holds, at index i, the size in bytes of the buffer at index i.
    pub sizes: Option<u32>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetalResource {
    /// Its HLSL name.
    pub name: String,
    /// Register class (`b`, `t`, `u`, `s`), number and space, where the source says them.
    pub register: Option<(char, u32, u32)>,
    /// Its first index, if it is a buffer in Metal; textures and samplers have none here.
    pub buffer: Option<u32>,
    /// The first buffer index of its hidden counters.
    pub counter: Option<u32>,
}

/// The engine.
pub struct MetalEngine {
    executor: Executor,
    features: Features,
    simd_width: u32,
    slack: usize,
    timeout: Duration,
}

impl MetalEngine {
    /// Finds clang and prepares the headers. `version` is Metal's language version, `simd_width` the lanes of a
    /// SIMD-group, `slack` the bytes of zeros behind each buffer: an access beyond it is an error, one within it is as
    /// harmless as out-of-bounds accesses of Direct3D.
    pub fn new(version: &str, simd_width: u32, slack: usize, timeout: Duration) -> Result<Self, EngineError> {
        let version = version.parse().map_err(|e: metal_check::UnknownVersion| EngineError::Device(e.to_string()))?;
        let options = metal_check::Options { version, check_layout: true, timeout, ..metal_check::Options::default() };
        let executor = Executor::new(options).map_err(|e| EngineError::Device(e.to_string()))?;
        let names = ["Metal", "Int16", "Half", "Int64", "Linux"];
        let mut features: Features = names.iter().map(|n| (*n).to_owned()).collect();
        features.extend((0..=9).map(|minor| format!("SM_6_{minor}")));
        features.insert(format!("WaveSize_{simd_width}"));
        Ok(Self { executor, features, simd_width, slack, timeout })
    }
}

impl Engine for MetalEngine {
    fn description(&self) -> String {
        format!("Metal text on the CPU, SIMD-groups of {}", self.simd_width)
    }

    fn features(&self) -> &Features {
        &self.features
    }

    fn run(&mut self, program: &mut Program, shaders: &[CompiledShader]) -> Result<(), EngineError> {
        let [shader] = shaders else { return Err(EngineError::Unsupported("drawing".to_owned())) };
        if program.kind != PipelineKind::Compute {
            return Err(EngineError::Unsupported(format!("{:?} pipelines", program.kind)));
        }
        let Code::Metal { text, interface, .. } = &shader.code else {
            return Err(EngineError::Invalid("this engine runs Metal text only".to_owned()));
        };
        let decl = program.pipeline.shaders.first();
        let constants = constants(decl.map_or(&[][..], |d| &d.specialization_constants))?;
        let kernel = self
            .executor
            .compile(&format!("{}.metal", shader.entry), text, Some(&interface.function), &constants)
            .map_err(error)?;
        let mut dispatch = Dispatch::new(program.groups(), interface.threads);
        dispatch.simd_width = self.simd_width;
        dispatch.timeout = self.timeout;
        let bound = bind(program, interface, &mut dispatch)?;
        for r in &mut dispatch.resources {
            r.resize(r.len() + self.slack, 0);
        }
        let done = kernel.dispatch(&dispatch).map_err(error)?;
        if let Some(note) = done.notes.first() {
            return Err(EngineError::Invalid(format!("what Metal leaves undefined happened: {note}")));
        }
        read_back(program, &bound, &done.resources);
        Ok(())
    }
}

fn error(e: Error) -> EngineError {
    match e {
        Error::Unsupported(what) => EngineError::Unsupported(what),
        Error::Setup(e) => EngineError::Device(e.to_string()),
        other => EngineError::Invalid(other.to_string()),
    }
}

fn constants(list: &[SpecializationConstant]) -> Result<BTreeMap<u32, Value>, EngineError> {
    let mut out = BTreeMap::new();
    for c in list {
        let bytes = case::constant_bytes(c).map_err(EngineError::Invalid)?;
        let bits = bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let value = match c.format {
            DataFormat::Bool => Value::Bool(bits != 0),
            DataFormat::Int16 => Value::Int(i32::from(bits as u16 as i16)),
            DataFormat::Int32 => Value::Int(bits as u32 as i32),
            DataFormat::UInt16 | DataFormat::UInt32 => Value::Uint(bits as u32),
            DataFormat::Float32 => Value::Float(f32::from_bits(bits as u32)),
            other => return Err(EngineError::Unsupported(format!("function constants of {}", other.name()))),
        };
        if out.insert(c.constant_id, value).is_some() {
            return Err(EngineError::Invalid(format!(
                "Test configuration contains multiple entries for specialization constant ID {}.",
                c.constant_id
            )));
        }
    }
    Ok(out)
}

/// A resource of the dispatch that the kernel can have written.
struct Written {
    /// The buffer of the program, and which block of it; a counter if `counter`.
    buffer: usize,
    block: usize,
    counter: bool,
    resource: usize,
}

fn bind(program: &Program, interface: &MetalInterface, dispatch: &mut Dispatch) -> Result<Vec<Written>, EngineError> {
    let mut written = Vec::new();
    for r in program.pipeline.descriptor_sets.iter().flat_map(|s| &s.resources) {
        if r.heap_index.is_some() {
            return Err(EngineError::Unsupported("descriptor heaps".to_owned()));
        }
        if !case::is_raw(r.kind) {
            return Err(EngineError::Unsupported(format!("{:?} resources", r.kind)));
        }
        // A resource that the file does not declare is bound to nothing, as in Vulkan.
        let Some(slot) = slot(interface, r) else { continue };
        let index = slot.buffer.ok_or_else(|| EngineError::Invalid(format!("'{}' is no buffer in Metal", r.name)))?;
        let buffer = program.buffers.iter().position(|b| b.name == r.name);
        let buffer = buffer.ok_or_else(|| EngineError::Invalid(format!("no buffer '{}'", r.name)))?;
        for (block, bytes) in program.buffers[buffer].data.iter().enumerate() {
            let mut bytes = bytes.clone();
            if r.kind == ResourceKind::ConstantBuffer {
                // A constant buffer ends with a whole row of 16 bytes, whatever the case spells out.
                bytes.resize(bytes.len().next_multiple_of(16), 0);
            }
            let resource = add(dispatch, index + block as u32, bytes);
            if case::is_read_write(r.kind) {
                written.push(Written { buffer, block, counter: false, resource });
            }
            if r.has_counter {
                let first = slot
                    .counter
                    .ok_or_else(|| EngineError::Invalid(format!("reflection names no counter of '{}'", r.name)))?;
                let resource = add(dispatch, first + block as u32, vec![0; 4]);
                written.push(Written { buffer, block, counter: true, resource });
            }
        }
    }
    if let Some(index) = interface.push_constants {
        let bytes = case::push_constants(program).map_err(EngineError::Invalid)?;
        if !bytes.is_empty() {
            add(dispatch, index, bytes);
        }
    }
    if let Some(index) = interface.sizes {
        let mut table: Vec<u8> = Vec::new();
        for b in &dispatch.buffers {
            let size = dispatch.resources[b.resource as usize].len() as u32;
            let at = b.index as usize * 4;
            table.resize(table.len().max(at + 4), 0);
            table[at..at + 4].copy_from_slice(&size.to_le_bytes());
        }
        add(dispatch, index, table);
    }
    Ok(written)
}

/// Adds memory bound as buffer `index`; gives its number among the resources.
fn add(dispatch: &mut Dispatch, index: u32, bytes: Vec<u8>) -> usize {
    let resource = dispatch.resources.len();
    dispatch.resources.push(bytes);
    dispatch.buffers.push(Binding { index, resource: resource as u32, offset: 0 });
    resource
}

/// The resource at the register that the case names; where the source names no register, the one of that name.
fn slot<'i>(interface: &'i MetalInterface, r: &ResourceDecl) -> Option<&'i MetalResource> {
    let place = r.register.map(|d| (case::register_class(r.kind), d.register, d.space));
    let by_register = interface.resources.iter().find(|s| s.register.is_some() && s.register == place);
    by_register.or_else(|| interface.resources.iter().find(|s| s.name == r.name))
}

fn read_back(program: &mut Program, written: &[Written], resources: &[Vec<u8>]) {
    for w in written {
        let (Some(bytes), Some(buffer)) = (resources.get(w.resource), program.buffers.get_mut(w.buffer)) else {
            continue;
        };
        if w.counter {
            let value = bytes[..4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
            buffer.counters.resize(buffer.counters.len().max(w.block + 1), 0);
            buffer.counters[w.block] = value;
        } else {
            let block = &mut buffer.data[w.block];
            let size = block.len();
            block.copy_from_slice(&bytes[..size]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pipeline::Stage;
    use crate::case::values;

    const PIPELINE: &str = "
Shaders:
  - { Stage: Compute, Entry: main, SpecializationConstants: [{ ConstantID: 2, Type: UInt32, Value: 3 }] }
DispatchParameters: { DispatchGroupCount: [2, 1, 1] }
Buffers:
  - { Name: C, Format: UInt32, Data: [10] }
  - { Name: Out, Format: UInt32, Stride: 4, ArraySize: 2, Data: [[1, 2, 3, 4], [5, 6, 7, 8]] }
PushConstants: [{ Stage: Compute, Values: [{ Format: UInt32, Offset: 0, Data: [100] }] }]
DescriptorSets:
  - Resources:
    - { Name: C, Kind: ConstantBuffer, DirectXBinding: { Register: 0, Space: 0 } }
    - { Name: Out, Kind: RWStructuredBuffer, HasCounter: true, DirectXBinding: { Register: 0, Space: 0 } }
";

    /// Hand-written Metal: buffers 0 (push), 1 (cbuffer), 2 and 3 (array), 4 and 5 (counters), 6 (sizes).
    const TEXT: &str = "#include <metal_stdlib>
using namespace metal;
constant uint Scale [[function_constant(2)]];
kernel void main0(constant uint& push [[buffer(0)]], constant uint4& c [[buffer(1)]],
    device uint* a [[buffer(2)]], device uint* b [[buffer(3)]], device atomic_uint* counter [[buffer(5)]],
    constant uint* sizes [[buffer(6)]], uint i [[thread_position_in_grid]])
{
    a[i] += push + c.x * Scale;
    b[i] = sizes[3] + i;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}";

    fn resource(name: &str, class: char, buffer: u32, counter: Option<u32>) -> MetalResource {
        MetalResource { name: name.to_owned(), register: Some((class, 0, 0)), buffer: Some(buffer), counter }
    }

    #[test]
    fn arguments_find_their_places() {
        let mut engine = MetalEngine::new("2.4", 8, 16, Duration::from_secs(30)).unwrap();
        let mut program = Program::parse(PIPELINE).unwrap();
        let interface = MetalInterface {
            function: "main0".to_owned(),
            threads: [2, 1, 1],
            resources: vec![resource("C", 'b', 1, None), resource("Out", 'u', 2, Some(4))],
            push_constants: Some(0),
            sizes: Some(6),
        };
        let code = Code::Metal { text: TEXT.to_owned(), interface, reflection: String::new() };
        let shader = CompiledShader { stage: Stage::Compute, entry: "main".to_owned(), code };
        engine.run(&mut program, std::slice::from_ref(&shader)).unwrap();
        let words = |b: &[u8]| values::decode(DataFormat::UInt32, b);
        assert_eq!(words(&program.buffers[1].data[0]), ["131", "132", "133", "134"]);
        assert_eq!(words(&program.buffers[1].data[1]), ["16", "17", "18", "19"]);
        assert_eq!(program.buffers[1].counters, [0, 4]);
    }
}
