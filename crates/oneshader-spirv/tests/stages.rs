//! Stage inputs and outputs, execution modes, interfaces.

mod common;

use common::{check_all, check_for, check_with, emit, for_target, has, lacks, validate};
use oneshader_spirv::{SpirvOptions, TargetEnv};

const VERTEX: &str = r#"module handles_resolved
global g0 "pos": input f32x3 io("POSITION", 0) location(0)
global g1 "world": input f32x4x4 io("WORLD", 0) location(1)
global g2 "flag": input bool io("FLAG", 0) location(5)
global g3 "vid": input i32 io("SV_VertexID", 0) builtin(vertex_id)
global g4 "iid": input u32 io("SV_InstanceID", 0) builtin(instance_id)
global g5 "opos": output f32x4 io("SV_Position", 0) builtin(position)
global g6 "uv": output f32x2 io("TEXCOORD", 0) location(0)
global g7 "clip0": output f32x3 io("SV_ClipDistance", 0) builtin(clip_distance)
global g8 "clip1": output f32x2 io("SV_ClipDistance", 1) builtin(clip_distance)
global g9 "layer": output u32 io("SV_RenderTargetArrayIndex", 0) builtin(layer)
global g10 "kind": output bool io("KIND", 0) location(1)
func fn0 "main" () -> void {
block0:
  v0: f32x3 = load g0
  v1: f32x4x4 = load g1
  v2: f32x4 = construct v0, f32 1.0
  v3: f32x4 = matmul v2, v1
  store g5, v3
  v4: i32 = load g3
  v5: f32 = convert v4
  v6: f32x2 = splat v5
  store g6, v6
  v7: ptr<output, f32> = access g7, u32 1
  store v7, f32 0.5
  store g8, v6
  v8: u32 = load g4
  store g9, v8
  v9: bool = load g2
  v10: bool = not v9
  store g10, v10
  ret
}
entry vertex "main" fn0 in(g0, g1, g2, g3, g4) out(g5, g6, g7, g8, g9, g10) threads(1, 1, 1)
"#;

#[test]
fn a_vertex_shader() {
    let out = check_all(VERTEX);
    has(&out, "BuiltIn VertexIndex");
    has(&out, "BuiltIn InstanceIndex");
    has(&out, "OpCapability ClipDistance");
    has(&out, "OpCapability ShaderLayer");
    // Both semantics share one array of five floats.
    assert_eq!(out.matches("BuiltIn ClipDistance").count(), 1);
    let older = check_for(VERTEX, TargetEnv::Vulkan1_1);
    has(&older, "OpCapability ShaderViewportIndexLayerEXT");
    has(&older, "OpExtension \"SPV_EXT_shader_viewport_index_layer\"");
    lacks(&out, "OpExtension");
}

#[test]
fn y_can_be_inverted() {
    let out = check_with(VERTEX, &SpirvOptions { invert_y: true, ..SpirvOptions::default() });
    has(&out, "OpFNegate");
    lacks(&check_all(VERTEX), "OpFNegate");
}

const PIXEL: &str = r#"module handles_resolved
global g0 "pos": input f32x4 io("SV_Position", 0) builtin(position)
global g1 "uv": input f32x2 io("TEXCOORD", 0) location(0) noperspective centroid
global g2 "id": input u32x2 io("ID", 0) location(1)
global g3 "front": input bool io("SV_IsFrontFace", 0) builtin(front_face)
global g4 "cov": input u32 io("SV_Coverage", 0) builtin(coverage_in)
global g5 "sample": input u32 io("SV_SampleIndex", 0) builtin(sample_index)
global g6 "s": input f32 io("S", 0) location(2) persample
global g7 "on": input bool io("ON", 0) location(3)
global g8 "wave": input f64 io("D", 0) location(4)
global g9 "prim": input u32 io("SV_PrimitiveID", 0) builtin(primitive_id)
global g10 "color": output f32x4 io("SV_Target", 0) location(0)
global g11 "color1": output f32x4 io("SV_Target", 1) location(0) blend(1)
global g12 "depth": output f32 io("SV_Depth", 0) builtin(depth)
global g13 "mask": output u32 io("SV_Coverage", 0) builtin(coverage_out)
global g14 "stencil": output u32 io("SV_StencilRef", 0) builtin(stencil_ref)
func fn0 "main" () -> void {
block0 selection(block2):
  v0: f32x4 = load g0
  v1: f32x2 = load g1
  v2: u32x2 = load g2
  v3: bool = load g3
  v4: u32 = load g4
  v5: u32 = load g5
  v6: f32 = load g6
  v7: bool = load g7
  v8: bool = and v3, v7
  v9: f64 = load g8
  v10: f32 = convert v9
  v11: u32 = load g9
  condbr v8, block1, block2
block1:
  discard
  br block2
block2:
  v12: f32x2 = ddx v1
  v13: f32x2 = ddy_fine_placeholder v1
  v14: f32x2 = evaluatesnapped g1, i32x2 [3, -8]
  v15: f32x2 = add v12, v13
  v16: f32x2 = add v15, v14
  v17: f32x4 = construct v16, v6, v10
  v18: f32x4 = add v17, v0
  store g10, v18
  store g11, v18
  store g12, v6
  v19: u32 = extract v2, #1
  v20: u32 = or v4, v19
  v21: u32 = or v20, v5
  v22: u32 = or v21, v11
  store g13, v22
  store g14, v22
  ret
}
entry pixel "main" fn0 in(g0, g1, g2, g3, g4, g5, g6, g7, g8, g9) out(g10, g11, g12, g13, g14) threads(1, 1, 1) depth(greater)
"#;

fn pixel() -> String {
    PIXEL.replace("ddy_fine_placeholder", "ddyfine")
}

#[test]
fn a_pixel_shader() {
    let out = check_all(&pixel());
    for mode in ["OriginUpperLeft", "DepthReplacing", "DepthGreater", "StencilRefReplacingEXT"] {
        has(&out, mode);
    }
    for capability in [
        "SampleRateShading",
        "Geometry",
        "StencilExportEXT",
        "InterpolationFunction",
        "DerivativeControl",
        "DemoteToHelperInvocation",
        "Float64",
    ] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    has(&out, "NoPerspective");
    has(&out, "Centroid");
    has(&out, "Index 1");
    has(&out, "OpDemoteToHelperInvocation");
    lacks(&out, "OpKill");
}

#[test]
fn discard_before_spirv_1_6_is_kill_unless_asked() {
    let older = check_for(&pixel(), TargetEnv::Vulkan1_2);
    has(&older, "OpKill");
    lacks(&older, "Demote");
    let options = SpirvOptions { demote: true, ..for_target(TargetEnv::Vulkan1_2) };
    let words = emit(&pixel(), &options);
    validate(&words, TargetEnv::Vulkan1_2, &[]);
    let out = common::disassemble(&words);
    has(&out, "OpDemoteToHelperInvocation");
    has(&out, "SPV_EXT_demote_to_helper_invocation");
}

#[test]
fn position_w_can_be_direct3ds() {
    let out = check_with(&pixel(), &SpirvOptions { dx_position_w: true, ..SpirvOptions::default() });
    has(&out, "OpFDiv");
}

#[test]
fn the_interface_is_what_the_version_asks_for() {
    let text = r#"module handles_resolved
global g0 "a": handle rwbytes resource
global g1 "p": private u32
global g2 "x": input f32 io("X", 0) location(0)
global g3 "o": output f32 io("SV_Target", 0) location(0)
global g4 "unused": input f32 io("Y", 0) location(1)
func fn0 "helper" () -> void {
block0:
  v0: rwbytes = load g0
  v1: u32 = load g1
  rawstore v0, u32 0, v1
  ret
}
func fn1 "main" () -> void {
block0:
  store g1, u32 3
  call fn0()
  v0: f32 = load g2
  store g3, v0
  ret
}
entry pixel "main" fn1 in(g2, g4) out(g3) threads(1, 1, 1)
"#;
    let entry = |out: &str| out.lines().find(|l| l.contains("OpEntryPoint")).unwrap().matches(" %").count();
    // The function, then two stage variables, or those and the buffer and the static variable.
    assert_eq!(entry(&check_for(text, TargetEnv::Vulkan1_1)), 3);
    assert_eq!(entry(&check_for(text, TargetEnv::Vulkan1_1Spirv1_4)), 5);
    assert_eq!(entry(&check_for(text, TargetEnv::Vulkan1_3)), 5);
}

#[test]
fn several_entry_points_in_one_module() {
    let both = r#"module handles_resolved
global g0 "p": input f32x4 io("POSITION", 0) location(0)
global g1 "o": output f32x4 io("SV_Position", 0) builtin(position)
global g2 "c": output f32x4 io("SV_Target", 0) location(0)
global g3 "k": input f32x4 io("SV_Position", 0) builtin(position)
func fn0 "vs" () -> void {
block0:
  v0: f32x4 = load g0
  store g1, v0
  ret
}
func fn1 "ps" () -> void {
block0:
  v0: f32x4 = load g3
  store g2, v0
  ret
}
entry vertex "vs" fn0 in(g0) out(g1) threads(1, 1, 1)
entry pixel "ps" fn1 in(g3) out(g2) threads(1, 1, 1)
"#;
    let out = check_all(both);
    has(&out, "OpEntryPoint Vertex");
    has(&out, "OpEntryPoint Fragment");
}

#[test]
fn barycentrics_and_per_vertex_values() {
    let text = r#"module handles_resolved
global g0 "b": input f32x3 io("SV_Barycentrics", 0) builtin(barycentrics) noperspective
global g1 "v": input f32x3 io("V", 0) location(0) pervertex
global g2 "o": output f32x4 io("SV_Target", 0) location(0)
global g3 "w": input f32x2 io("W", 0) location(1) flat
func fn0 "main" () -> void {
block0:
  v0: f32x3 = load g0
  v1: f32x3 = attributeatvertex g1, u32 2
  v4: ptr<input, f32> = access g3, u32 1
  v5: f32 = attributeatvertex v4, u32 1
  v6: f32x3 = splat v5
  v7: f32x3 = add v1, v6
  v2: f32x3 = mul v0, v7
  v3: f32x4 = construct v2, f32 1.0
  store g2, v3
  ret
}
entry pixel "main" fn0 in(g0, g1, g3) out(g2) threads(1, 1, 1)
"#;
    // One is read at its vertices as declared, the other because it is asked for.
    let out = check_all(text);
    assert_eq!(out.matches("PerVertexKHR").count(), 2, "{out}");
    has(&out, "BaryCoordNoPerspKHR");
    has(&out, "SPV_KHR_fragment_shader_barycentric");
}

#[test]
fn semantics_are_reflected_on_request() {
    let options = SpirvOptions { reflect: true, ..SpirvOptions::default() };
    let words = emit(VERTEX, &SpirvOptions { target: TargetEnv::Vulkan1_1, ..options.clone() });
    validate(&words, TargetEnv::Vulkan1_1, &[]);
    let out = common::disassemble(&words);
    has(&out, "SPV_GOOGLE_hlsl_functionality1");
    has(&out, "SPV_GOOGLE_decorate_string");
    has(&out, "\"TEXCOORD\"");
    check_with(VERTEX, &options);
}

#[test]
fn names_can_be_left_out() {
    let out = check_with(VERTEX, &SpirvOptions { names: false, ..SpirvOptions::default() });
    lacks(&out, "OpName");
    lacks(&out, "OpMemberName");
}

#[test]
fn specialization_and_push_constants() {
    let text = r#"module handles_resolved
struct s0 "Push" {
  "a": f32x3
  "n": u32
}
spec0 "COUNT" id 7 = u32 4
spec1 "ON" id 8 = bool true
global g0 "push": handle cbuffer<s0> resource push_constant
global g1 "out": handle rwbytes resource
func fn0 "main" () -> void {
block0 selection(block2):
  condbr bool spec1, block1, block2
block1:
  v0: cbuffer<s0> = load g0
  v1: ptr<constant, s0> = blockptr v0
  v2: ptr<constant, u32> = access v1, u32 1
  v3: u32 = load v2
  v4: u32 = add v3, u32 spec0
  v5: rwbytes = load g1
  rawstore v5, u32 0, v4
  br block2
block2:
  ret
}
entry compute "main" fn0 in() out() threads(1, 1, 1)
"#;
    let out = check_all(text);
    has(&out, "OpSpecConstantTrue");
    has(&out, "OpSpecConstant ");
    has(&out, "SpecId 7");
    has(&out, "PushConstant");
}

#[test]
fn lines_name_the_source() {
    let text = "module handles_resolved
global g0 \"o\": output f32 io(\"SV_Target\", 0) location(0)
func fn0 \"main\" () -> void {
block0:
  v0: f32 = add f32 1.0, f32 2.0 !0:10..12
  store g0, v0 !0:3..4
  ret !0:3..4
}
entry pixel \"main\" fn0 in() out(g0) threads(1, 1, 1)
";
    let module = common::parse(text);
    let mut sources = oneshader_diag::SourceMap::new();
    sources.add("dir/a.hlsl", "one\ntwo\nthree\n");
    let rules = oneshader_ir::layout::LayoutOptions::VULKAN;
    let (layouts, _) = oneshader_ir::layout::Layouts::of_module(&module, &rules);
    let (slots, _) = oneshader_ir::slots::Slots::assign(&module, &Default::default());
    let tables = oneshader_spirv::Tables { layouts: &layouts, rules: &rules, slots: &slots };
    let options = SpirvOptions { lines: true, ..for_target(TargetEnv::Vulkan1_1) };
    let backend = oneshader_spirv::SpirvBackend::new(&module, tables, &options).with_sources(&sources);
    let words = backend.emit(oneshader_spirv::Entries::One("main"), &mut Default::default()).unwrap();
    validate(&words, TargetEnv::Vulkan1_1, &[]);
    let out = common::disassemble(&words);
    has(&out, "\"dir/a.hlsl\"");
    // Bytes 10 and 3 are in line 3, column 3 and line 1, column 4; one line stands for both of the last instructions.
    assert_eq!(out.matches("OpLine").count(), 2, "{out}");
    has(&out, " 3 3");
    has(&out, " 1 4");
}

#[test]
fn resource_types_and_counters_are_reflected_on_request() {
    let text = "module handles_resolved
global g0 \"list\": handle rwstructured<f32x4, append> resource
global g1 \"t\": handle rwtexture_2darray<f32x2> resource
func fn0 \"main\" () -> void {
block0:
  v0: rwstructured<f32x4, append> = load g0
  v1: u32 = counter v0, #1
  v2: rwtexture_2darray<f32x2> = load g1
  v3: u32x3 = texsize v2
  ret
}
entry compute \"main\" fn0 in() out() threads(1, 1, 1)
";
    let options = SpirvOptions { reflect: true, ..SpirvOptions::default() };
    let out = check_with(text, &options);
    has(&out, "\"appendstructuredbuffer:<float4>\"");
    has(&out, "\"rwtexture2darray:<float2>\"");
    has(&out, "OpDecorateId");
    has(&out, "OpExtension \"SPV_GOOGLE_user_type\"");
    lacks(&check_all(text), "OpExtension");
}

#[test]
fn draws_can_count_from_zero() {
    let options = SpirvOptions { zero_base_vertex: true, zero_base_instance: true, ..SpirvOptions::default() };
    let out = check_with(VERTEX, &options);
    has(&out, "BuiltIn BaseVertex");
    has(&out, "BuiltIn BaseInstance");
    has(&out, "OpCapability DrawParameters\n");
    assert_eq!(out.matches("OpISub").count(), 2, "{out}");
    lacks(&check_all(VERTEX), "OpISub");
}
