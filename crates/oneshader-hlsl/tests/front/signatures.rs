use super::*;

#[test]
fn leaves_of_structures_are_variables() {
    vs("struct In { float3 pos : POSITION; float2 uv[2] : TEXCOORD; uint id : SV_VertexID; };
        struct Out { float4 pos : SV_Position; float2 uv : TEXCOORD3; nointerpolation uint n : N; };
        Out main(In i, uint inst : SV_InstanceID) { Out o = (Out)0; o.pos = float4(i.pos, i.id + inst); o.uv = i.uv[1]; return o; }")
    .has(&[
        "io(\"POSITION\", 0) location(0)",
        "io(\"TEXCOORD\", 0) location(1)",
        "io(\"TEXCOORD\", 1) location(2)",
        "builtin(vertex_id)",
        "builtin(instance_id)",
        "builtin(position)",
        "io(\"TEXCOORD\", 3) location(0)",
        "io(\"N\", 0) location(1)",
        "flat",
    ]);
}

#[test]
fn pixels_write_targets_and_depth() {
    ps("struct Out { float4 a : SV_Target0; float2 b : SV_Target2; float d : SV_DepthLessEqual; };
        void main(float4 p : SV_Position, bool front : SV_IsFrontFace, out Out o, out uint mask : SV_Coverage) {
            o.a = p; o.b = front; o.d = 0.5; mask = 1; }")
    .has(&["builtin(front_face)", "location(0)", "location(2)", "builtin(depth)", "builtin(coverage_out)"]);
}

#[test]
fn distances_are_one_array() {
    vs("struct Out { float4 p : SV_Position; float2 a : SV_ClipDistance0; float b[2] : SV_ClipDistance1; float c : SV_CullDistance; };
        Out main() { return (Out)1; }")
    .has(&["[f32 x 4] io(\"SV_ClipDistance\", 0)", "[f32 x 1] io(\"SV_CullDistance\", 0)"]);
}

#[test]
fn system_values_convert_to_the_types_asked_for() {
    cs("RWStructuredBuffer<uint> O;
        [numthreads(4, 2, 1)] void main(uint2 id : SV_DispatchThreadID, int g : SV_GroupIndex) { O[id.x] = g; }")
    .has(&["u32x3 io(\"SV_DispatchThreadID\", 0)", "threads(4, 2, 1)"]);
}

#[test]
fn wrong_signatures_are_refused() {
    vs("float4 main(float3 p) : SV_Position { return 0; }").refused(&["OSH2062 at 1"]);
    vs("float4 main(float3 p : A, float3 q : A) : SV_Position { return 0; }").refused(&["OSH2063 at 1"]);
    vs("float3 main() : SV_Position { return 0; }").refused(&["OSH2061 at 1"]);
    vs("float4 main(uint i : SV_GroupIndex) : SV_Position { return 0; }").refused(&["OSH2061 at 1"]);
    ps("float4 main() : COLOR { return 0; }").refused(&["OSH2061 at 1"]);
    ps("float4 main(linear int x : X) : SV_Target { return x; }").refused(&["OSH2061 at 1"]);
    ps("float4 main([[vk::builtin(\"BaseVertex\")]] int v : B) : SV_Target { return v; }").refused(&["OSH3003 at 1"]);
    cs("void main() {}").refused(&["OSH2065 at 1"]);
    cs("[numthreads(1024, 2, 1)] void main() {}").refused(&["OSH2065 at 1"]);
    cs("[numthreads(1, 1, 1)] void mian() {}").refused(&["OSH2064 at 0"]);
    vs("[[vk::location(1)]] float a; float4 main([[vk::location(1)]] float a : A, [[vk::location(1)]] float b : B) : SV_Position { return a + b; }")
        .refused(&["OSH2066 at 1"]);
}

#[test]
fn every_marked_function_is_an_entry_point() {
    cs("[shader(\"vertex\")] float4 v(float4 p : P) : SV_Position { return p; }
        [shader(\"pixel\")] float4 p(float4 c : C) : SV_Target { return v(c); }
        [shader(\"compute\")] [numthreads(1, 1, 1)] void c() {}")
    .library()
    .has(&["entry vertex \"v\"", "entry pixel \"p\"", "entry compute \"c\""]);
    cs("\n[shader(\"hull\")] void h() {}").library().refused(&["OSH3001 at 2", "OSH2064 at 0"]);
    cs("void f() {}").library().refused(&["OSH2064 at 0"]);
}

#[test]
fn precise_goes_back_to_what_values_come_from() {
    vs("struct Out { precise float4 p : SV_Position; float q : Q; };
        Out main(float4 a : A, float4 b : B) { float4 t = a * b; float u = a.x * b.y; Out o; o.p = t + a; o.q = u; return o; }")
    .has(&["precise"]);
    body("precise float x = F[0].x * F[1].y + F[2].z; F[3].x = x; F[3].y = F[0].x * 2;")
        .has(&["mul", "precise", "add"]);
}
