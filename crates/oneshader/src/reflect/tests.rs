use super::*;
use oneshader_ir::IrModule;
use oneshader_ir::layout::{LayoutOptions, Layouts};
use oneshader_ir::slots::{SlotOptions, Slots};
use oneshader_ir::text::parse;

/// A vertex and a compute shader that share one file.
const MODULE: &str = r#"module
struct s0 "Light" { "color": f32x3 "power": f32 }
struct s1 "Scene" { "lights": [s0 x 2] "view": f32x4x4 "flag": bool }
spec0 "COUNT" id 7 = u32 4
spec1 "SCALE" id 9 = f32 0.5
global g0 "Scene": handle cbuffer<s1> resource register(b, 2, space 1)
global g1 "albedo": handle [texture_2d<f32x4> x 3] resource
global g2 "smp": handle sampler resource
global g3 "queue": handle rwstructured<u32, append> resource
global g4 "push": handle cbuffer<s0> resource push_constant
global g5 "unused": handle rwtexture_3d<f32x2> resource
global g6 "in.pos": input f32x3 io("POSITION", 0) location(0)
global g7 "in.id": input u32 io("SV_VertexID", 0) builtin(vertex_id)
global g8 "in.m": input f32x2x3 io("XFORM", 0) location(1)
global g9 "out.pos": output f32x4 io("SV_Position", 0) builtin(position)
global g10 "out.uv": output f32x2 io("TEXCOORD", 3) location(0)
global g11 "tid": input u32x3 io("SV_DispatchThreadID", 0) builtin(dispatch_thread_id)
global g12 "shared": workgroup [f32x3 x 8]
func fn0 "push_back" (v0 "q": rwstructured<u32, append>, v1 "x": u32) -> void {
block0:
  v2: u32 = counter v0, #1
  v3: ptr<storage, u32> = elementptr v0, v2
  store v3, v1
  ret
}
func fn1 "VS" () -> void {
block0:
  v0: cbuffer<s1> = load g0
  v1: ptr<constant, s1> = blockptr v0
  v2: ptr<constant, f32> = access v1, u32 0, u32 1, u32 1
  v3: f32 = load v2
  v4: f32x4 = splat v3
  store g9, v4
  ret
}
func fn2 "CS" () -> void {
block0:
  v0: rwstructured<u32, append> = load g3
  v1: u32 = wavelaneindex
  v2: u32 = wavesum v1
  v3: u32 = add v2, u32 spec0
  call fn0(v0, v3)
  v4: ptr<handle, texture_2d<f32x4>> = access g1, v1
  v5: texture_2d<f32x4> = load v4
  v6: f32x4 = texload v5, coord i32x2 zero
  v7: ptr<workgroup, f32x3> = access g12, v1
  v8: f32x3 = swizzle v6, #xyz
  store v7, v8
  ret
}
entry vertex "VS" fn1 in(g6, g7, g8) out(g9, g10) threads(1, 1, 1)
entry compute "CS" fn2 in(g11) out() threads(8, 8, 1) wave(32, 32, 32)
"#;

fn reflect() -> (IrModule, Reflection) {
    let module = parse(MODULE).unwrap_or_else(|e| panic!("{e}"));
    oneshader_ir::verify(&module, "the test's input").unwrap_or_else(|e| panic!("{e}"));
    let (layouts, errors) = Layouts::of_module(&module, &LayoutOptions::default());
    assert!(errors.is_empty());
    let (slots, errors) = Slots::assign(&module, &SlotOptions::default());
    assert!(errors.is_empty());
    let reflection = Reflection::new(&module, &layouts, &slots);
    (module, reflection)
}

#[test]
fn resources_have_registers_slots_and_bytes() {
    let (_, r) = reflect();
    let scene = r.resource("Scene").unwrap();
    assert_eq!(scene.kind, ResourceKind::ConstantBuffer);
    let register = scene.register.as_ref().unwrap();
    assert_eq!((register.class.as_str(), register.index, register.space), ("b", Some(2), 1));
    assert_eq!(scene.spirv.map(|s| (s.set, s.binding)), Some((1, 2)));
    assert_eq!(scene.msl.map(|s| (s.table, s.index)), Some((MslTable::Buffer, 0)));
    let TypeInfo::Struct { index } = scene.block.as_ref().unwrap().ty else { panic!() };
    let members: Vec<_> = r.structs[index].members.iter().map(|m| (m.name.as_str(), m.offset, m.size)).collect();
    // Two lights of 16 bytes, a matrix of four columns of 16, a bool.
    assert_eq!(members, [("lights", 0, 32), ("view", 32, 64), ("flag", 96, 4)]);
    assert_eq!(scene.block.as_ref().unwrap().size, 112);
    let albedo = r.resource("albedo").unwrap();
    assert_eq!(albedo.array, Some(3));
    assert_eq!(albedo.msl, Some(MslSlotInfo { table: MslTable::Texture, index: 0, count: 3 }));
    // Push constants are the buffer after the queue; the queue's counter comes after all of them.
    assert_eq!(r.resource("push").unwrap().msl.unwrap().index, 2);
    assert_eq!(r.resource("push").unwrap().spirv, None);
    assert_eq!(r.resource("queue").unwrap().msl_counter, Some(3));
    assert!(r.resource("unused").unwrap().writable);
}

#[test]
fn entry_points_say_what_they_use() {
    let (_, r) = reflect();
    let vs = r.entry_point("VS").unwrap();
    let names = |e: &EntryPointInfo| e.resources.iter().map(|u| u.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(vs), ["Scene"]);
    assert_eq!((vs.hidden.len(), vs.needs.msl.as_str(), vs.needs.macos.as_str()), (0, "2.4", "12.0"));
    let buffer = vs.vertex_buffer.as_ref().unwrap();
    let attributes: Vec<_> =
        buffer.attributes.iter().map(|a| (a.location, a.offset, a.metal_format.as_str())).collect();
    assert_eq!(attributes, [(0, 0, "float3"), (1, 12, "float3"), (2, 24, "float3")]);
    assert_eq!((buffer.msl_buffer, buffer.stride), (30, 36));
    assert_eq!(buffer.attributes[0].vulkan_format, "R32G32B32_SFLOAT");
    let cs = r.entry_point("CS").unwrap();
    assert_eq!(names(cs), ["albedo", "queue"]);
    // Through the parameter of a helper.
    let queue = &cs.resources[1];
    assert_eq!((queue.reads, queue.writes, queue.atomics), (false, true, false));
    assert_eq!(cs.hidden, [HiddenInfo::Counter { resource: queue.resource, msl: 3 }]);
    assert_eq!(cs.specialization_constants, [0]);
    assert_eq!(cs.threadgroup_memory, 128);
    assert_eq!(cs.wave_size, Some([32, 32, 32]));
    assert_eq!(cs.needs.features, [Feature::SimdPermute, Feature::SimdReduce, Feature::ResourceArrays]);
    assert_eq!((cs.needs.apple_family, cs.needs.mac2), (7, true));
}

#[test]
fn derivatives_of_threads_need_quads() {
    let text = |stage: &str| {
        format!(
            r#"module
global g0 "t": handle texture_2d<f32> resource
global g1 "s": handle samplercmp resource
func fn0 "lit" () -> f32 {{
block0:
  v0: texture_2d<f32> = load g0
  v1: samplercmp = load g1
  v2: f32 = sample v0, sampler v1, coord f32x2 zero, compare f32 0.5
  ret v2
}}
func fn1 "main" () -> void {{
block0:
  v0: f32 = call fn0()
  ret
}}
entry {stage} "main" fn1 in() out() threads(4, 1, 1)
"#
        )
    };
    let needs = |stage: &str| {
        let module = oneshader_ir::text::parse(&text(stage)).unwrap_or_else(|e| panic!("{e}"));
        let (layouts, _) = Layouts::of_module(&module, &LayoutOptions::default());
        let (slots, _) = Slots::assign(&module, &SlotOptions::default());
        Reflection::new(&module, &layouts, &slots).entry_points[0].needs.clone()
    };
    assert_eq!(needs("pixel").features, []);
    let kernel = needs("compute");
    assert_eq!(kernel.features, [Feature::QuadPermute, Feature::CompareLevels]);
    assert_eq!((kernel.apple_family, kernel.mac2), (4, false));
}

#[test]
fn tables_and_heaps_say_what_the_host_writes() {
    let text = r#"module
global g0 "out": handle rwstructured<u32> resource
global g1 "maps": handle [texture_2d<f32x4>] resource register(t, 0, space 1)
global g2 "words": handle [bytes] resource register(t, 0, space 1)
global g3 "ResourceDescriptorHeap": handle [bytes] resource
global g4 "SamplerDescriptorHeap": handle [sampler] resource
func fn0 "CS" () -> void {
block0:
  v0: ptr<handle, bytes> = access g2, u32 3
  v1: bytes = load v0
  v2: u32 = rawload v1, u32 0
  v3: ptr<handle, bytes> = access g3, v2
  v4: bytes = load v3
  v5: u32 = rawload v4, u32 0
  v6: rwstructured<u32> = load g0
  v7: ptr<storage, u32> = elementptr v6, u32 0
  store v7, v5
  ret
}
entry compute "CS" fn0 in() out() threads(1, 1, 1)
"#;
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let (layouts, _) = Layouts::of_module(&module, &LayoutOptions::default());
    let (slots, _) = Slots::assign(&module, &SlotOptions::default());
    let r = Reflection::new(&module, &layouts, &slots);
    let table = |name: &str| {
        let resource = r.resource(name).unwrap();
        let slot = resource.msl.unwrap();
        let table = resource.msl_table.unwrap();
        (slot.table, slot.index, slot.count, table.entry_size, table.entry, resource.array)
    };
    assert_eq!(table("maps"), (MslTable::Buffer, 1, 1, 8, EntryKind::ResourceId, Some(0)));
    assert_eq!(table("words"), (MslTable::Buffer, 1, 1, 8, EntryKind::GpuAddress, Some(0)));
    // 0 and 1 are declared, 2 holds sizes.
    assert_eq!(table("ResourceDescriptorHeap"), (MslTable::Buffer, 3, 1, 8, EntryKind::GpuAddress, Some(0)));
    assert_eq!(table("SamplerDescriptorHeap"), (MslTable::Buffer, 4, 1, 8, EntryKind::ResourceId, Some(0)));
    assert_eq!(r.resource("out").unwrap().msl_table, None);
    let cs = r.entry_point("CS").unwrap();
    let heap = HiddenInfo::DescriptorHeap { heap: DescriptorHeap::Resources, msl: 3, entry_size: 8 };
    assert_eq!(cs.hidden, [heap]);
    assert_eq!(cs.needs.features, [Feature::ResourceTables]);
    let needs = (cs.needs.msl.as_str(), cs.needs.macos.as_str(), cs.needs.ios.as_str());
    assert_eq!((needs, cs.needs.apple_family, cs.needs.mac2), (("3.0", "13.0", "16.0"), 6, true));
    assert_eq!(Reflection::from_json(&r.to_json()).unwrap(), r);
}

#[test]
fn json_goes_there_and_back() {
    let (_, mut r) = reflect();
    r.set_msl("VS", &oneshader_msl::MslOutput { source: String::new(), function: "VS".into(), arguments: Vec::new() });
    r.specialization_constants[1].default = SpecValue::Float(f32::INFINITY);
    let json = r.to_json();
    assert_eq!(Reflection::from_json(&json).unwrap(), r);
    let other = json.replacen("\"schema\": 1", "\"schema\": 99", 1);
    assert_eq!(Reflection::from_json(&other).unwrap_err(), "schema 99 instead of 1");
}

#[test]
fn specialization_values_for_metal() {
    let mut values = SpecializationValues::new();
    values.set(9, SpecValue::Float(1.5)).set(0, SpecValue::Bool(true)).set(3, SpecValue::Int(-1));
    values.set(4, SpecValue::Uint(7));
    let metal: Vec<_> = values.to_metal().iter().map(|c| (c.index, c.data_type, c.bits)).collect();
    assert_eq!(metal, [(0, 53, 1), (3, 29, 0xffff_ffff), (4, 33, 7), (9, 3, 0x3fc0_0000)]);
    let (entries, data) = values.to_vulkan();
    assert_eq!(entries, [(0, 0), (3, 4), (4, 8), (9, 12)]);
    assert_eq!(data.len(), 16);
}

#[test]
fn texture_atomics_need_metal_3_1() {
    let needs = Needs::of(&[Feature::TextureAtomics, Feature::Atomic64]);
    assert_eq!((needs.msl.as_str(), needs.macos.as_str(), needs.ios.as_str()), ("3.1", "14.0", "17.0"));
    assert_eq!((needs.apple_family, needs.mac2), (9, false));
}

#[test]
fn acceleration_structures_are_buffers_that_rays_need() {
    let text = "module handles_resolved
global g0 \"words\": handle rwstructured<u32> resource
global g1 \"scenes\": handle [accelstruct x 2] resource register(t, 3, space 1)
global g2 \"idle\": handle accelstruct resource
func fn0 \"trace\" (v0 \"q\": ptr<function, rayquery>, v1 \"s\": accelstruct) -> void {
block0:
  raytrace v0, v1, u32 0, u32 255, f32x3 zero, f32 0.0, f32x3 zero, f32 1.0
  ret
}
func fn1 \"main\" () -> void {
  local l0 \"q\": rayquery
block0:
  v0: ptr<handle, accelstruct> = access g1, u32 1
  v1: accelstruct = load v0
  call fn0(l0, v1)
  ret
}
entry pixel \"main\" fn1 in() out() threads(1, 1, 1)
";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    oneshader_ir::verify(&module, "the test's input").unwrap_or_else(|e| panic!("{e}"));
    let (layouts, _) = Layouts::of_module(&module, &LayoutOptions::default());
    let (slots, _) = Slots::assign(&module, &SlotOptions::default());
    let reflection = Reflection::new(&module, &layouts, &slots);
    let scenes = &reflection.resources[1];
    assert_eq!(scenes.kind, ResourceKind::AccelerationStructure);
    assert_eq!(serde_json::to_string(&scenes.kind).unwrap(), "\"acceleration_structure\"");
    let msl = scenes.msl.as_ref().unwrap();
    assert_eq!((msl.index, reflection.resources[2].msl.as_ref().unwrap().index), (1, 3));
    let entry = &reflection.entry_points[0];
    let used: Vec<(&str, bool)> = entry.resources.iter().map(|r| (r.name.as_str(), r.reads)).collect();
    assert_eq!(used, [("scenes", true)]);
    assert_eq!(entry.needs.features, [Feature::ResourceArrays, Feature::RayTracing]);
    assert_eq!((entry.needs.msl.as_str(), entry.needs.apple_family), ("2.4", 6));
}

#[test]
fn the_argument_structure_is_listed() {
    let text = "cbuffer Params : register(b0) { float scale; };
        Texture2D<float4> maps[3] : register(t0);
        SamplerState s : register(s0);
        AppendStructuredBuffer<float> found : register(u0);
        [numthreads(8, 1, 1)]
        void main(uint id : SV_DispatchThreadID) { found.Append(maps[1].SampleLevel(s, 0, 0).x * scale); }";
    let mut options = crate::Options::new(crate::CompileTarget::Msl).profile("cs_6_0").unwrap();
    options.msl.binding = oneshader_msl::MslBinding::ArgumentStruct;
    let output = crate::compile(&crate::Source::new("a.hlsl", text), &options).unwrap();
    let members: Vec<_> = output.reflection.entry_points[0]
        .arguments
        .iter()
        .map(|a| (a.name.as_str(), a.resource.map(|r| output.reflection.resources[r].name.as_str()), a.offset, a.size))
        .collect();
    // MSL 2.14: a pointer and a resource id have eight bytes.
    assert_eq!(
        members,
        [
            ("Params", Some("Params"), 0, 8),
            ("maps", Some("maps"), 8, 24),
            ("s", Some("s"), 32, 8),
            ("found", Some("found"), 40, 8),
            ("found_counter", None, 48, 8),
        ]
    );
    let direct = crate::Options::new(crate::CompileTarget::Msl).profile("cs_6_0").unwrap();
    let output = crate::compile(&crate::Source::new("a.hlsl", text), &direct).unwrap();
    assert!(output.reflection.entry_points[0].arguments.is_empty());
}
