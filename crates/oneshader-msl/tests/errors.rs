//! Every construct that Metal lacks is its error, at its place, and no text.

mod common;

use oneshader_diag::{DiagnosticBag, Span};
use oneshader_ir::text::parse;
use oneshader_msl::{MslBackend, MslOptions, MslVersion};

const HEAD: &str = "module handles_resolved
struct s0 \"Wide\" {
  \"v\": i64x2
  \"d\": f64
  \"f\": f32
}
struct s1 \"Overlap\" {
  \"a\": f32x4 at 0
  \"b\": f32 at 8
}
global g0 \"words\": handle rwstructured<u32> resource
global g1 \"t1\": handle texture_1d<f32> resource
global g2 \"t2\": handle texture_2d<f32x4> resource
global g3 \"t3\": handle texture_3d<f32> resource
global g4 \"tc\": handle texture_cube<f32x4> resource
global g5 \"cmp\": handle samplercmp resource
global g6 \"smp\": handle sampler resource
global g7 \"image\": handle rwtexture_2d<u32> resource
global g8 \"many\": handle [texture_2d<f32x4>] resource
global g9 \"wide\": handle rwstructured<s0> resource
global g10 \"longs\": handle rwstructured<u64> resource
global g11 \"overlap\": handle cbuffer<s1> resource
global g12 \"uv\": input f32x3 io(\"TEXCOORD\", 0) location(0)
global g13 \"color\": output f32x4 io(\"SV_Target\", 0) location(0)
global g14 \"cull\": output f32 io(\"SV_CullDistance\", 0) builtin(cull_distance)
global g15 \"inner\": input u32 io(\"SV_InnerCoverage\", 0) builtin(inner_coverage)
global g16 \"each\": input f32 io(\"EACH\", 0) location(1) pervertex
global g17 \"floats\": handle rwstructured<f32> resource
global g18 \"queues\": handle [rwstructured<u32, append>] resource
global g19 \"SamplerDescriptorHeap\": handle [sampler] resource
";

fn module(stage: &str, body: &str) -> String {
    let (inputs, outputs) = match stage {
        "pixel" => ("g12, g15, g16", "g13"),
        "vertex" => ("", "g14"),
        _ => ("", ""),
    };
    format!(
        "{HEAD}func fn0 \"main\" () -> void {{\nblock0:\n{body}\n  ret\n}}\nentry {stage} \"main\" fn0 in({inputs}) out({outputs}) threads(1, 1, 1)\n"
    )
}

/// Codes and messages.
fn errors(stage: &str, body: &str, options: &MslOptions) -> Vec<String> {
    let text = module(stage, body);
    let module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut bag = DiagnosticBag::new();
    let output = MslBackend::emit(&module, "main", options, &mut bag);
    assert_eq!(output.is_none(), bag.has_errors(), "no text, or no error");
    bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
}

#[track_caller]
fn refused(stage: &str, body: &str, expected: &str) {
    assert_eq!(errors(stage, body, &MslOptions::default()), [expected], "{body}");
}

#[test]
fn double_has_no_values() {
    refused(
        "compute",
        "  v0: rwstructured<s0> = load g9
  v1: ptr<storage, s0> = elementptr v0, u32 0
  v2: ptr<storage, f64> = access v1, u32 1
  v3: f64 = load v2
  store v2, v3",
        "OSH5102 Metal has no `double`",
    );
}

#[test]
fn vectors_of_64_bit_integers_have_no_packed_type() {
    let expected = "OSH5102 Metal has no double and no packed vectors of 64-bit integers for the memory of a buffer";
    let body = "  v0: rwstructured<s0> = load g9
  v1: ptr<storage, s0> = elementptr v0, u32 0
  v2: ptr<storage, i64x2> = access v1, u32 0
  v3: i64x2 = load v2
  store v2, v3";
    refused("compute", body, expected);
    // The members beside them can be used.
    let body = "  v0: rwstructured<s0> = load g9
  v1: ptr<storage, s0> = elementptr v0, u32 0
  v2: ptr<storage, f32> = access v1, u32 2
  store v2, f32 1.0";
    assert_eq!(errors("compute", body, &MslOptions::default()), [""; 0]);
}

#[test]
fn wide_atomics_but_unsigned_max_and_min_without_result() {
    let expected = "OSH5102 of the 64-bit atomics Metal has unsigned max and min in device memory without a result";
    let head = "  v0: rwstructured<u64> = load g10\n  v1: ptr<storage, u64> = elementptr v0, u32 0\n";
    refused("compute", &format!("{head}  v2: u64 = atomic_add v1, u64 1"), expected);
    refused("compute", &format!("{head}  v2: u64 = atomic_max v1, u64 1\n  store v1, v2"), expected);
    refused("compute", &format!("{head}  v2: u64 = atomic_cmpxchg v1, u64 1, u64 2\n  store v1, v2"), expected);
    let body = format!("{head}  v2: u64 = atomic_min v1, u64 1");
    assert_eq!(errors("compute", &body, &MslOptions::default()), [""; 0]);
}

#[test]
fn semantics_without_counterpart() {
    let inner = "  v0: u32 = load g15\n  v1: f32 = convert v0\n  v2: f32x4 = splat v1\n  store g13, v2";
    let found = errors("pixel", inner, &MslOptions::default());
    assert!(found.contains(&"OSH5103 Metal has no input for SV_InnerCoverage".to_owned()), "{found:?}");
    assert!(
        found.contains(&"OSH5103 Metal has no pixel inputs of each vertex (GetAttributeAtVertex)".to_owned()),
        "{found:?}"
    );
    refused("vertex", "  store g14, f32 1.0", "OSH5103 Metal has no output for SV_CullDistance");
}

#[test]
fn lengths_of_buffers() {
    let body = "  v0: rwstructured<u32> = load g0
  v1: u32 = bufferlength v0
  v2: ptr<storage, u32> = elementptr v0, u32 0
  store v2, v1";
    refused("compute", body, "OSH5104 GetDimensions of this buffer needs its length, which Metal cannot tell");
    let options = MslOptions { buffer_sizes: true, ..MslOptions::default() };
    assert_eq!(errors("compute", body, &options), [""; 0]);
}

#[test]
fn atomics_on_textures_before_metal_3_1() {
    let body = "  v0: rwtexture_2d<u32> = load g7
  v1: ptr<texel, u32> = texelptr v0, u32x2 zero
  v2: u32 = atomic_add v1, u32 1";
    refused("compute", body, "OSH5106 atomic operations on textures need Metal 3.1");
    let options = MslOptions { version: MslVersion::V3_1, ..MslOptions::default() };
    assert_eq!(errors("compute", body, &options), [""; 0]);
}

#[test]
fn wave_functions_without_counterpart() {
    let store = "  v8: rwstructured<u32> = load g0\n  v9: ptr<storage, u32> = elementptr v8, u32 0\n  store v9, v1";
    refused(
        "compute",
        &format!("  v0: u32x4 = wavematch u32 1\n  v1: u32 = extract v0, #0\n{store}"),
        "OSH5107 Metal has no counterpart of `wavematch`",
    );
    refused(
        "compute",
        &format!("  v1: u32 = wavemultiprefixsum u32 1, u32x4 zero\n{store}"),
        "OSH5107 Metal has no counterpart of `wavemultiprefixsum`",
    );
    refused(
        "compute",
        &format!("  v0: u64 = wavesum u64 1\n  v1: u32 = convert v0\n{store}"),
        "OSH5107 Metal has no SIMD-group arithmetic on 64-bit integers",
    );
    refused(
        "vertex",
        &format!("  v1: u32 = wavelaneindex\n{store}"),
        "OSH5107 Metal has no lane index and lane count in vertex functions",
    );
}

#[test]
fn arrays_without_size_need_metal_3() {
    let body = "  v0: ptr<handle, texture_2d<f32x4>> = access g8, u32 1
  v1: texture_2d<f32x4> = load v0
  v2: u32 = texlevels v1
  v3: rwstructured<u32> = load g0
  v4: ptr<storage, u32> = elementptr v3, u32 0
  store v4, v2";
    let expected = "OSH5108 `many` is an array of resources without a size, which needs Metal 3.0 (-msl-version 3.0)";
    refused("compute", body, expected);
    let options = MslOptions { version: MslVersion::V3_0, ..MslOptions::default() };
    assert_eq!(errors("compute", body, &options), [""; 0]);
    let heap = "  v0: ptr<handle, sampler> = access g19, u32 1
  v1: sampler = load v0
  v2: texture_2d<f32x4> = load g2
  v3: f32x4 = sample v2, sampler v1, coord f32x2 zero, level f32 0.0";
    let expected = "OSH5108 `SamplerDescriptorHeap` is a descriptor heap, which needs Metal 3.0 (-msl-version 3.0)";
    refused("compute", heap, expected);
    assert_eq!(errors("compute", heap, &options), [""; 0]);
}

#[test]
fn buffers_of_tables_have_no_counter_and_no_length() {
    let options = MslOptions { version: MslVersion::V3_0, buffer_sizes: true, ..MslOptions::default() };
    let head = "  v0: ptr<handle, rwstructured<u32, append>> = access g18, u32 1
  v1: rwstructured<u32, append> = load v0";
    assert_eq!(
        errors("compute", &format!("{head}\n  v2: u32 = counter v1, #1"), &options),
        ["OSH5113 the buffers of an array without size have no counters in Metal"]
    );
    let length = format!(
        "{head}
  v2: u32 = bufferlength v1
  v3: rwstructured<u32> = load g0
  v4: ptr<storage, u32> = elementptr v3, u32 0
  store v4, v2"
    );
    assert_eq!(
        errors("compute", &length, &options),
        ["OSH5104 GetDimensions of this buffer needs its length, which Metal cannot tell"]
    );
    // Nor through the parameter of a function.
    let text = format!(
        "{HEAD}func fn0 \"use\" (v0 \"b\": rwstructured<u32, append>) -> u32 {{
block0:
  v1: u32 = counter v0, #1
  v2: u32 = bufferlength v0
  v3: u32 = add v1, v2
  ret v3
}}
func fn1 \"main\" () -> void {{
block0:
{head}
  v2: u32 = call fn0(v1)
  v3: rwstructured<u32> = load g0
  v4: ptr<storage, u32> = elementptr v3, u32 0
  store v4, v2
  ret
}}
entry compute \"main\" fn1 in() out() threads(1, 1, 1)
"
    );
    let mut bag = DiagnosticBag::new();
    assert!(MslBackend::emit(&parse(&text).unwrap(), "main", &options, &mut bag).is_none());
    let found: Vec<String> = bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(
        found,
        [
            "OSH5113 the buffers of an array without size have no counters in Metal",
            "OSH5113 the buffers of an array without size have no known size in Metal",
        ]
    );
}

#[test]
fn jumps_out_of_two_loops() {
    let text = format!(
        "{HEAD}func fn0 \"main\" () -> void {{
block0:
  br block1
block1 loop(block5, block4):
  br block2
block2 loop(block4, block3):
  condbr bool true, block3, block5
block3:
  br block2
block4:
  br block1
block5:
  ret
}}
entry compute \"main\" fn0 in() out() threads(1, 1, 1)
"
    );
    let module = parse(&text).unwrap();
    let mut bag = DiagnosticBag::new();
    assert!(MslBackend::emit(&module, "main", &MslOptions::default(), &mut bag).is_none());
    let found: Vec<String> = bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(found, ["OSH5109 control flow leaves several structures at once"]);
}

#[test]
fn textures_that_cannot_be_compared_or_shifted() {
    let sample = |texture: &str, ty: &str, result: &str, operands: &str| {
        format!(
            "  v0: {ty} = load {texture}\n  v1: sampler = load g6\n  v2: samplercmp = load g5\n  v3: {result} = sample v0, {operands}\n  v4: u32 = texlevels v0\n  store g13, f32x4 zero\n  v5: f32 = extract v6, #0"
        )
        .replace("v5: f32 = extract v6, #0", if result == "f32" { "v6: f32x4 = splat v3" } else { "v6: f32x4 = copy v3" })
            + "\n  store g13, v6"
    };
    let pixel = |body: String| {
        let found = errors("pixel", &body, &MslOptions::default());
        found.into_iter().filter(|e| !e.starts_with("OSH5103")).collect::<Vec<_>>()
    };
    let compare = "OSH5110 Metal has no comparison sampling of one- and three-dimensional textures";
    let found = pixel(sample("g1", "texture_1d<f32>", "f32", "sampler v2, coord f32 0.5, compare f32 0.5"));
    assert_eq!(found, [compare]);
    let found = pixel(sample("g3", "texture_3d<f32>", "f32", "sampler v2, coord f32x3 zero, compare f32 0.5"));
    assert_eq!(found, [compare]);
    let offset = "OSH5111 Metal has no texel offsets for cube and one-dimensional textures";
    let found = pixel(sample("g1", "texture_1d<f32>", "f32x4", "sampler v1, coord f32 0.5, offset i32 1"));
    assert_eq!(found, [offset]);
    let found =
        pixel(sample("g4", "texture_cube<f32x4>", "f32x4", "sampler v1, coord f32x3 zero, offset i32x3 [1, 1, 1]"));
    assert_eq!(found, [offset]);
}

#[test]
fn members_that_overlap() {
    refused(
        "compute",
        "  v0: cbuffer<s1> = load g11
  v1: ptr<constant, s1> = blockptr v0
  v2: ptr<constant, f32> = access v1, u32 1
  v3: f32 = load v2
  v4: rwstructured<f32> = load g17
  v5: ptr<storage, f32> = elementptr v4, u32 0
  store v5, v3",
        "OSH5112 `b` overlaps `a`",
    );
}

#[test]
fn derivatives_without_quads_and_clamped_lod_queries_of_kernels() {
    let store = "  v8: rwstructured<f32> = load g17\n  v9: ptr<storage, f32> = elementptr v8, u32 0\n  store v9, v1";
    refused(
        "compute",
        &format!("  v1: f32 = ddx f32 1.0\n{store}"),
        "OSH5114 derivatives need quads of threads: numthreads with even sizes in x and y, or a multiple of 4 in x alone",
    );
    refused(
        "compute",
        &format!(
            "  v0: texture_2d<f32x4> = load g2\n  v2: sampler = load g6\n  v1: f32 = texlod v0, sampler v2, coord f32x2 zero\n{store}"
        ),
        "OSH5114 Metal tells a kernel nothing of a sampler's limits for the level of detail",
    );
}

#[test]
fn too_many_resources() {
    let mut text = String::from("module handles_resolved\n");
    for i in 0..32 {
        text += &format!("global g{i} \"b{i}\": handle rwstructured<u32> resource\n");
    }
    text += "global g32 \"pos\": input f32x3 io(\"POSITION\", 0) location(0)
global g33 \"out\": output f32x3 io(\"OUT\", 0) location(0)
func fn0 \"main\" () -> void {
block0:
  v0: rwstructured<u32> = load g30
  v1: ptr<storage, u32> = elementptr v0, u32 0
  store v1, u32 0
  v2: f32x3 = load g32
  store g33, v2
  ret
}
func fn1 \"other\" () -> void {
block0:
  v0: rwstructured<u32> = load g31
  v1: ptr<storage, u32> = elementptr v0, u32 0
  store v1, u32 0
  ret
}
entry vertex \"main\" fn0 in(g32) out(g33) threads(1, 1, 1)
entry compute \"other\" fn1 in() out() threads(1, 1, 1)
";
    let module = parse(&text).unwrap();
    let messages = |entry: &str| {
        let mut bag = DiagnosticBag::new();
        assert!(MslBackend::emit(&module, entry, &MslOptions::default(), &mut bag).is_none());
        bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(messages("main"), ["OSH5105 `b30` has buffer index 30, which holds the vertex attributes"]);
    assert_eq!(messages("other"), ["OSH5105 `b31` has buffer index 31, but a Metal function has 31 of them"]);
}

#[test]
fn errors_stand_at_the_instruction() {
    let text = module(
        "compute",
        "  v0: u64 = wavesum u64 1 !0:10..20\n  v1: rwstructured<u64> = load g10\n  v2: ptr<storage, u64> = elementptr v1, u32 0\n  store v2, v0",
    );
    let module = parse(&text).unwrap();
    let mut bag = DiagnosticBag::new();
    assert!(MslBackend::emit(&module, "main", &MslOptions::default(), &mut bag).is_none());
    let span = bag.iter().next().unwrap().primary;
    assert_ne!(span, Span::NONE);
    assert_eq!((span.lo, span.hi), (10, 20));
}

/// The same module and options give the same text, from any thread.
#[test]
fn the_text_is_always_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../oneshader-filetests/filetests/msl/layouts.ir");
    let text = std::fs::read_to_string(path).unwrap();
    let input = text.split_once("; expect\n").map_or(text.as_str(), |(i, _)| i).to_owned();
    let emit = |input: &str| common::emit(input, &MslOptions::default());
    let first = emit(&input);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let input = input.clone();
            std::thread::spawn(move || emit(&input))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), first);
    }
    for _ in 0..100 {
        assert_eq!(emit(&input), first);
    }
}

#[test]
fn too_many_attributes() {
    let text = "module handles_resolved
global g0 \"rows\": input [f32x4x4 x 8] io(\"ROWS\", 0) location(0)
global g1 \"pos\": output f32x4 io(\"SV_Position\", 0) builtin(position)
func fn0 \"main\" () -> void {
block0:
  store g1, f32x4 zero
  ret
}
entry vertex \"main\" fn0 in(g0) out(g1) threads(1, 1, 1)
";
    let module = parse(text).unwrap();
    let mut bag = DiagnosticBag::new();
    assert!(MslBackend::emit(&module, "main", &MslOptions::default(), &mut bag).is_none());
    let found: Vec<String> = bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(found, ["OSH5105 a vertex function of Metal has 31 attributes"]);
}

#[test]
fn ray_queries_that_ask_for_the_offset_of_an_instance() {
    let text = |method: &str| {
        format!(
            "module handles_resolved
global g0 \"words\": handle rwstructured<u32> resource
func fn0 \"main\" () -> void {{
  local l0 \"q\": rayquery
block0:
  v0: u32 = {method} l0
  v1: rwstructured<u32> = load g0
  v2: ptr<storage, u32> = elementptr v1, u32 0
  store v2, v0
  ret
}}
entry pixel \"main\" fn0 in() out() threads(1, 1, 1)
"
        )
    };
    let found = |method: &str| {
        let text = text(method);
        let module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut bag = DiagnosticBag::new();
        let output = MslBackend::emit(&module, "main", &MslOptions::default(), &mut bag);
        assert_eq!(output.is_none(), bag.has_errors(), "no text, or no error");
        bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>()
    };
    assert_eq!(
        found("raycandidateinstancecontribution"),
        ["OSH5118 Metal's intersection query has no `CandidateInstanceContributionToHitGroupIndex`"]
    );
    assert_eq!(
        found("raycommittedinstancecontribution"),
        ["OSH5118 Metal's intersection query has no `CommittedInstanceContributionToHitGroupIndex`"]
    );
    assert_eq!(found("raycommittedinstanceid"), [""; 0]);
}
