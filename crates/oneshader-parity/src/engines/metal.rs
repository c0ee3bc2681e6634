//! Runs Metal text on the CPU, through `metal-check`.
//!
//! What `metal-check` can execute bounds this engine: compute kernels.

mod bind;
mod texels;

use super::{Code, CompiledShader, Engine, EngineError};
use crate::case::lit::Features;
use crate::case::pipeline::{DataFormat, ResourceKind, SpecializationConstant};
use crate::case::{self, PipelineKind, Program};
use metal_check::run::{Dispatch, Error, Executor, Value};
use metal_check::{Checker, LanguageVersion};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where a Metal function takes its arguments, as reflection tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetalInterface {
    /// The function's name in the text.
    pub function: String,
    /// The language version of the text, where it is not the engine's.
    pub version: Option<String>,
    /// Threads per threadgroup.
    pub threads: [u32; 3],
    /// Every resource of the file.
    pub resources: Vec<MetalResource>,
    /// The buffer index of the push constant block.
    pub push_constants: Option<u32>,
    /// The buffer index of the hidden buffer that holds, at index i, the size in bytes of the buffer at index i.
    pub sizes: Option<u32>,
    /// The buffer indices of the heaps of resources and of samplers.
    pub heaps: [Option<u32>; 2],
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetalResource {
    /// Its HLSL name.
    pub name: String,
    /// Register class (`b`, `t`, `u`, `s`), number and space, where the source says them.
    pub register: Option<(char, u32, u32)>,
    /// Those that it gets where the source does not say them.
    pub implicit: Option<(char, u32, u32)>,
    /// Its Vulkan descriptor: set and binding.
    pub descriptor: Option<(u32, u32)>,
    /// Its first index among the arguments of its kind.
    pub index: Option<u32>,
    /// Its elements, when it is an array of a size.
    pub count: u32,
    /// Whether it is an array without size: then `index` is the buffer of its entries.
    pub is_table: bool,
    /// The first buffer index of its hidden counters.
    pub counter: Option<u32>,
}

/// The engine.
pub struct MetalEngine {
    options: metal_check::Options,
    /// By language version, made when a text asks for it.
    executors: BTreeMap<LanguageVersion, Executor>,
    features: Features,
    /// Lanes of a SIMD-group where a case does not ask for a number.
    default_width: u32,
    /// Those of the case at hand.
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
        let executor = Executor::new(options.clone()).map_err(|e| EngineError::Device(e.to_string()))?;
        let executors = BTreeMap::from([(version, executor)]);
        let names = ["Metal", "Int16", "Half", "Int64", "Linux"];
        let mut features: Features = names.iter().map(|n| (*n).to_owned()).collect();
        features.extend((0..=9).map(|minor| format!("SM_6_{minor}")));
        features.insert(format!("WaveSize_{simd_width}"));
        Ok(Self { options, executors, features, default_width: simd_width, simd_width, slack, timeout })
    }
}

impl MetalEngine {
    /// The language version of a text that asks for one, or the engine's.
    fn version(&self, asked: Option<&str>) -> Result<LanguageVersion, EngineError> {
        match asked {
            Some(text) => text.parse().map_err(|e: metal_check::UnknownVersion| EngineError::Invalid(e.to_string())),
            None => Ok(self.options.version),
        }
    }

    fn executor(&mut self, version: Option<&str>) -> Result<&Executor, EngineError> {
        let version = self.version(version)?;
        match self.executors.entry(version) {
            std::collections::btree_map::Entry::Occupied(known) => Ok(known.into_mut()),
            std::collections::btree_map::Entry::Vacant(free) => {
                let options = metal_check::Options { version, ..self.options.clone() };
                Ok(free.insert(Executor::new(options).map_err(|e| EngineError::Device(e.to_string()))?))
            }
        }
    }

    /// What is said of a text that cannot be executed: what is wrong with it, or that it is right.
    fn only_checked(&self, entry: &str, text: &str, version: Option<&str>) -> EngineError {
        let options = match self.version(version) {
            Ok(version) => metal_check::Options { version, ..self.options.clone() },
            Err(e) => return e,
        };
        match Checker::new(options).and_then(|c| c.check_text(&format!("{entry}.metal"), text)) {
            Ok(report) if report.passed() => {
                EngineError::Unsupported("ray queries, which are checked and not executed".to_owned())
            }
            Ok(report) => EngineError::Invalid(report.to_string()),
            Err(e) => EngineError::Device(e.to_string()),
        }
    }
}

impl Engine for MetalEngine {
    fn description(&self) -> String {
        format!("Metal text on the CPU, SIMD-groups of {}", self.default_width)
    }

    fn features(&self) -> &Features {
        &self.features
    }

    fn suit(&mut self, requires: &[String]) {
        let asked = requires.iter().find_map(|r| r.strip_prefix("WaveSize_")?.parse().ok());
        let width = asked.filter(|w: &u32| (4..=64).contains(w) && w.is_power_of_two()).unwrap_or(self.default_width);
        self.features.remove(&format!("WaveSize_{}", self.simd_width));
        self.features.insert(format!("WaveSize_{width}"));
        self.simd_width = width;
    }

    fn run(&mut self, program: &mut Program, shaders: &[CompiledShader]) -> Result<(), EngineError> {
        let [shader] = shaders else { return Err(EngineError::Unsupported("drawing".to_owned())) };
        if program.kind != PipelineKind::Compute {
            return Err(EngineError::Unsupported(format!("{:?} pipelines", program.kind)));
        }
        let Code::Metal { text, interface, .. } = &shader.code else {
            return Err(EngineError::Invalid("this engine runs Metal text only".to_owned()));
        };
        let mut resources = program.pipeline.descriptor_sets.iter().flat_map(|s| &s.resources);
        if resources.any(|r| r.kind == ResourceKind::AccelerationStructure) {
            return Err(self.only_checked(&shader.entry, text, interface.version.as_deref()));
        }
        let decl = program.pipeline.shaders.first();
        let constants = constants(decl.map_or(&[][..], |d| &d.specialization_constants))?;
        let kernel = self
            .executor(interface.version.as_deref())?
            .compile(&format!("{}.metal", shader.entry), text, Some(&interface.function), &constants)
            .map_err(error)?;
        let mut dispatch = Dispatch::new(program.groups(), interface.threads);
        dispatch.simd_width = self.simd_width;
        // As Direct3D asks for (D3D11.3 functional specification 3.1.3.4), and GPUs of Apple do.
        dispatch.flush_denormals = true;
        dispatch.timeout = self.timeout;
        let bound = bind::bind(program, interface, &mut dispatch)?;
        for r in &mut dispatch.resources {
            r.resize(r.len() + self.slack, 0);
        }
        let done = kernel.dispatch(&dispatch).map_err(error)?;
        if let Some(note) = done.notes.first() {
            return Err(EngineError::Invalid(format!("what Metal leaves undefined happened: {note}")));
        }
        bound.read_back(program, &done);
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

    fn resource(name: &str, class: char, index: u32, counter: Option<u32>) -> MetalResource {
        let register = Some((class, 0, 0));
        let (name, index) = (name.to_owned(), Some(index));
        MetalResource { name, register, implicit: None, descriptor: None, index, count: 1, is_table: false, counter }
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
            ..MetalInterface::default()
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
