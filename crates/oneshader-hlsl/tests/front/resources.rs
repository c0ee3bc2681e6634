use super::*;

#[test]
fn registers_and_bindings_are_kept() {
    cs("struct S { float4 x; };
        Texture2D t : register(t3, space1); SamplerState s : register(s2); [[vk::binding(5, 2)]] RWBuffer<uint> b : register(u1);
        ConstantBuffer<S> c : register(b0);
        [numthreads(1, 1, 1)] void main() { b[0] = t.SampleLevel(s, 0, 0).x + c.x.y; }")
    .has(&["register(t, 3, space 1)", "register(s, 2", "register(u, 1", "register(b, 0"]);
    cs("Texture2D t : register(u3);\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2066 at 1"]);
}

#[test]
fn loose_uniforms_are_one_block() {
    cs("uniform float a; struct S { float2 p; Texture2D t; SamplerState s; }; S u : register(t4); float b[2];
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) { O[0] = a + u.p.y + b[i] + u.t.SampleLevel(u.s, 0, 0).x; }")
    .has(&["\"$Globals\"", "\"a\": f32", "\"u\"", "\"b\": [f32 x 2]", "\"u.t\"", "register(t, 4", "\"u.s\""]);
}

#[test]
fn leaves_of_blocks_are_loaded_alone() {
    cs("struct L { float3 color; float range; }; cbuffer C { float4x4 m; L lights[8]; float4 v; }
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) { O[0] = lights[i].color.y + v.z; }")
    .has(&["access", "u32 1, v", "u32 0, u32 1", "f32 = load"]);
}

#[test]
fn arrays_of_resources_go_to_functions_by_name() {
    cs("Texture2D all[]; SamplerState s; RWStructuredBuffer<float4> O;
        float4 pick(Texture2D t[], uint i) { return t[i].SampleLevel(s, 0, 0); }
        [numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) { O[0] = pick(all, i) + pick(all, 3); }")
    .has(&["\"pick\" (v0 \"i\": u32)", "access g0, v"]);
}

#[test]
fn a_resource_is_chosen_by_what_is_known() {
    let choice = |condition: &str| {
        cs(&format!(
            "Buffer<uint> a; Buffer<uint> b; RWStructuredBuffer<uint> O; static const bool second = true;
             [numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) {{\nBuffer<uint> c = {condition} ? a : b; O[0] = c[i]; }}"
        ))
    };
    choice("!second").has(&["load g1"]);
    choice("sizeof(float) == 4").has(&["load g0"]);
    choice("(i == 0)").refused(&["OSH3005 at 3"]);
}

#[test]
fn loads_of_buffers_have_a_status() {
    cs("StructuredBuffer<float4> s; ByteAddressBuffer r; RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { uint a; int b; O[0] = s.Load(1, a).x + r.Load3(4, b).y + r.Load<float>(8, a); }")
    .has(&["= bufferstatus"]);
    cs("ByteAddressBuffer r; RWStructuredBuffer<float> O;\n[numthreads(1, 1, 1)] void main() {\nO[0] = r.Load(1, 2); }")
        .refused(&["OSH2014 at 3"]);
}

#[test]
fn formats_are_literals_by_whatever_name() {
    cs("const string a = \"first %d\"; static const string b = \"second\"; RWStructuredBuffer<half> O;
        [numthreads(1, 1, 1)] void main() { string c = \"third %f\"; printf(a, true); printf(b); printf(c, O[0]); printf(\"%u\", 1u); }")
    .has(&["printf \"first %d\", i32 1", "printf \"second\"", "printf \"third %f\", v", "printf \"%u\", u32 1"]);
    cs("[numthreads(1, 1, 1)] void main() {\nprintf(1);\nprintf(\"\", float2x2(1, 2, 3, 4)); }")
        .refused(&["OSH2023 at 2", "OSH2023 at 3"]);
    cs("string s;\nstring t = 3;\n[numthreads(1, 1, 1)] void main() { }").refused(&["OSH2037 at 1", "OSH2033 at 2"]);
}

#[test]
fn host_constants() {
    cs("[[vk::constant_id(3)]] const uint n = 4; [[vk::push_constant]] struct { float4 a; uint b; } pc;
        RWStructuredBuffer<uint> O; [numthreads(1, 1, 1)] void main() { O[0] = n + pc.b; }")
    .has(&["push", "spec0"]);
    cs("[[vk::constant_id(3)]] const uint n;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2037 at 1"]);
    cs("[[vk::constant_id(3)]] const float3 n = 1;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2068 at 1"]);
}

#[test]
fn offsets_must_fit() {
    cs("cbuffer C { float4 a : packoffset(c0); float b : packoffset(c1.y); float2 c : packoffset(c1.z); }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = a.x + b + c.y; }")
    .has(&["at 0", "at 20", "at 24"]);
    cs("cbuffer C { float4 a : packoffset(c0);\nfloat b : packoffset(c0.y); }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = a.x + b; }")
    .refused(&["OSH2067 at 2"]);
}

#[test]
fn read_only_things_are_not_written() {
    cs("cbuffer C { float a; }\n[numthreads(1, 1, 1)] void main() {\na = 1; }").refused(&["OSH2014 at 3"]);
    cs("StructuredBuffer<float> b;\n[numthreads(1, 1, 1)] void main() {\nb[0] = 1; }").refused(&["OSH2014 at 3"]);
    cs("Texture2D t; Texture2D u;\n[numthreads(1, 1, 1)] void main() {\nt = u; }").refused(&["OSH2014 at 3"]);
}

#[test]
fn what_is_not_compiled_says_so() {
    cs("[numthreads(1, 1, 1)] void main() {\nuint x = vk::ReadWatch(1); }").refused(&["OSH3003 at 2"]);
}

#[test]
fn descriptor_heaps_are_arrays_without_size_one_for_each_type() {
    let module = cs("RWStructuredBuffer<float4> o; [numthreads(1, 1, 1)] void main() {
        Texture2D a = ResourceDescriptorHeap[0]; Texture2D b = ResourceDescriptorHeap[1];
        Texture3D c = ResourceDescriptorHeap[2]; SamplerState s = SamplerDescriptorHeap[3];
        o[0] = a.SampleLevel(s, 0, 0) + b.SampleLevel(s, 0, 0) + c.SampleLevel(s, 0, 0); }")
    .module();
    let heaps = module.globals.values().filter(|g| module.names.get(g.name).ends_with("DescriptorHeap"));
    assert_eq!(heaps.count(), 3);
    cs("[numthreads(1, 1, 1)] void main() {\nTexture2D t = SamplerDescriptorHeap[0]; }").refused(&["OSH2010 at 2"]);
}
