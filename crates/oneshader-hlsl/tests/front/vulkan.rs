//! The namespace `vk`.

use super::*;

#[test]
fn a_sampled_texture_is_a_texture_and_a_sampler() {
    ps("vk::SampledTexture2D<float4> one : register(t3, space1); vk::SampledTextureCUBEArray<float> many[2] : register(s4);
        struct Mat { vk::SampledTexture3D t; float k; }; Mat mat;
        float4 at(vk::SampledTexture2D<float4> t, float2 uv) { return t.Sample(uv); }
        float4 main(float4 p : SV_Position) : SV_Target {
            vk::SampledTexture2D<float4> local = one;
            return at(local, p.xy) + many[1].SampleCmp(p, 0.5) * mat.t.SampleLevel(p.xyz, 0) * mat.k + one[uint2(p.xy)];
        }").has(&["resource register(t, 3, space 1) combined", "\"one.sampler\": handle samplercmp resource combined sampler_of(g", "[texture_cubearray<f32> x 2] resource register(s, 4, space 0) combined", "\"mat.t.sampler\""]);
    ps("vk::SampledTexture2D t; SamplerState s;\nfloat4 main(float4 p : SV_Position) : SV_Target { return t.Sample(s, p.xy); }")
        .refused(&["OSH2010 at 2"]);
    ps("vk::SampledTexture4D t;\nfloat4 main() : SV_Target { return 0; }").refused(&["OSH3003 at 1"]);
    ps("vk::SampledTexture2D t : register(b0);\nfloat4 main() : SV_Target { return 0; }").refused(&["OSH2066 at 1"]);
}

#[test]
fn only_textures_and_samplers_are_combined() {
    ps("[[vk::combinedImageSampler]] Texture2D t : register(t1); [[vk::combinedImageSampler]] SamplerState s : register(s1);
        float4 main(float4 p : SV_Position) : SV_Target { return t.Sample(s, p.xy); }").has(&["register(t, 1, space 0) combined", "register(s, 1, space 0) combined"]);
    ps("[[vk::combinedImageSampler]] RWTexture2D<float4> t;\nfloat4 main() : SV_Target { return t[uint2(0, 0)]; }")
        .refused(&["OSH2068 at 1"]);
}

#[test]
fn samples_have_positions() {
    ps("Texture2DMS<float4> t;\nfloat4 main(float4 p : SV_Position) : SV_Target { return t.GetSamplePosition(uint(p.x)).xyxy; }").has(&["texsamples"]);
}

#[test]
fn scopes_have_numbers() {
    cs("RWStructuredBuffer<uint> b; [numthreads(vk::WorkgroupScope, 1, 1)] void main() { b[vk::QueueFamilyScope] = vk::DeviceScope; }").has(&["threads(2, 1, 1)"]);
}

#[test]
fn instructions_by_number() {
    cs("[[vk::ext_capability(5055)]] [[vk::ext_extension(\"SPV_KHR_shader_clock\")]] [[vk::ext_instruction(5056)]] uint64_t Clock(uint scope);
        [[vk::ext_instruction(13, \"GLSL.std.450\")]] float4 Sin(float4 v);
        [[vk::ext_instruction(61)]] float Load([[vk::ext_reference]] float from, [[vk::ext_literal]] uint mask = 1);
        RWStructuredBuffer<float4> F;
        [numthreads(1, 1, 1)] void main() { float x = 2; F[0] = Sin(F[1]) + float(Clock(1)) + Load(x); }")
    .has(&[
        "inline asm0 13 set(\"GLSL.std.450\") operands(id)",
        "inline asm1 5056 capabilities(5055) extensions(\"SPV_KHR_shader_clock\") operands(id)",
        "inline asm2 61 operands(id, [1])",
        "= spirv asm0, v",
        "= spirv asm1, u32 1",
        "= spirv asm2, l",
    ]);
    let load =
        "[[vk::ext_instruction(61)]] float Load([[vk::ext_reference]] float from, [[vk::ext_literal]] uint mask);\n";
    cs(&format!("{load}[numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) {{ float x = 1;\nLoad(x, i); }}"))
        .refused(&["OSH2034 at 3"]);
    cs(&format!("{load}[numthreads(1, 1, 1)] void main() {{\nLoad(1.5, 0); }}")).refused(&["OSH2023 at 3"]);
}

/// What the language has too becomes the language's, with the signs that the instruction and not the types state.
#[test]
fn instructions_that_hlsl_has() {
    cs("template <class R, class A> [[vk::ext_instruction(114)]] R SConvert(A a);
        template <class R> [[vk::ext_instruction(134)]] R UDiv(R a, R b);
        [[vk::ext_instruction(124)]] uint2 Bits(float2 v);
        RWStructuredBuffer<int> I; RWStructuredBuffer<int64_t> L; RWStructuredBuffer<float2> F;
        [numthreads(1, 1, 1)] void main() { L[0] = SConvert<int64_t>(uint(I[0])); I[1] = UDiv(I[2], I[3]) + Bits(F[0]).y; }")
    .has(&["= bitcast v", "i64 = convert v", "u32 = bitcast", "u32 = bitcast", "u32 = div", "i32 = bitcast", "u32x2 = bitcast"]);
    cs("template <class R> [[vk::ext_instruction(134)]] R UDiv(R a, R b); RWStructuredBuffer<float> F;
        [numthreads(1, 1, 1)] void main() { F[0] = UDiv(F[1], F[2]); }")
    .has(&["inline asm0 134", "spirv asm0"]);
}

#[test]
fn built_in_variables_by_number() {
    cs("[[vk::ext_builtin_input(24)]] static const uint3 Groups; [[vk::ext_builtin_input(36)]] static const uint Width;
        RWStructuredBuffer<uint> U; uint f() { return Groups.y; }
        [numthreads(1, 1, 1)] void main() { U[0] = f(); }")
    .has(&["\"Groups\": input u32x3 io(\"Groups\", 0) builtin(spirv, 24)", "in(g0) out()"]);
    let input = |text: &str| format!("{text}\nfloat4 main() : SV_Target {{ return 0; }}");
    ps(&input("[[vk::ext_builtin_input(18)]] static uint a;")).refused(&["OSH2068 at 1"]);
    ps(&input("[[vk::ext_builtin_input(18)]] uint a;")).refused(&["OSH2068 at 1"]);
    ps(&input("[[vk::ext_builtin_input(18)]] static const uint a = 1;")).refused(&["OSH2068 at 1"]);
    ps(&input("[[vk::ext_builtin_output(22)]] static const float a;")).refused(&["OSH2068 at 1"]);
    ps(&input("[[vk::ext_builtin_input(18)]] [[vk::ext_builtin_output(18)]] static uint a;"))
        .refused(&["OSH2068 at 1"]);
}

#[test]
fn execution_modes_and_decorations() {
    ps("void f() { vk::ext_execution_mode(4461, 32); }
        [[vk::early_and_late_tests]] [[vk::stencil_ref_unchanged_back]] float4 main() : SV_Target {
            [[vk::ext_decorate(20)]] float x = 1; f(); return x; }")
    .has(&["16 operands([4461], [32])", "71 operands(id, [20])", "spirv asm1, l0", "modes(5017, 5082)"]);
    ps("[[vk::what]] float4 main() : SV_Target { return 0; }").refused(&["OSH3003 at 1"]);
}

#[test]
fn the_header_of_selectors_is_part_of_the_language() {
    cs("#include <vk/opcode_selector.h>
        RWStructuredBuffer<int4> I; RWStructuredBuffer<float4> F;
        [numthreads(1, 1, 1)] void main() {
            F[0] = vk::util::ConversionSelector<int, float>::Convert<float4>(I[0]);
            I[1] = vk::util::ArithmeticSelector<int>::Negate(vk::util::ArithmeticSelector<int>::Mul(I[2], I[3])); }")
    .has(&["f32x4 = convert", "= mul", "= neg"]);
}

#[test]
fn addresses_point_to_memory_laid_out_as_buffers_are() {
    cs("struct N { float4 v; bool b; vk::BufferPointer<float2x3, 8> m; };
        struct P { vk::BufferPointer<N, 32> root; uint64_t raw; }; [[vk::push_constant]] P pc; RWStructuredBuffer<float4> F;
        [numthreads(1, 1, 1)] void main() {
            vk::BufferPointer<N, 32> p = pc.root; p = vk::BufferPointer<N, 32>((uint64_t)p + 32);
            F[0] = p.Get().v; p.Get().b = true; F[1].xyz = p.Get().m.Get()[1];
            F[2] = vk::RawBufferLoad<float4>(pc.raw, 16); vk::RawBufferStore<uint64_t>(pc.raw, 1); }")
    .has(&[
        "\"m\": u64",
        "= addressptr v",
        "#32",
        "ptr<device, f32x2x3> = addressptr",
        "#8",
        "ptr<device, f32x4> = addressptr",
        "#16",
        "ptr<device, u32x2> = addressptr",
        "#4",
    ]);
    let refused = |body: &str, code: &str| {
        let text = format!(
            "struct B {{ int a; }}; struct D : B {{ int b; }}; struct P {{ vk::BufferPointer<D> d; vk::BufferPointer<int> i; uint64_t n; }};
            [[vk::push_constant]] P pc;\n[numthreads(1, 1, 1)] void main() {{\n{body}\n}}"
        );
        cs(&text).refused(&[&format!("{code} at 4")]);
    };
    cs("struct B { int a; }; struct D : B { int b; }; struct P { vk::BufferPointer<D, 16> d; }; [[vk::push_constant]] P pc;
        RWStructuredBuffer<float> F;
        [numthreads(1, 1, 1)] void main() { F[0] = vk::static_pointer_cast<B, 8>(pc.d).Get().a + vk::reinterpret_pointer_cast<float>(pc.d).Get(); }")
    .has(&["#8", "ptr<device, f32> = addressptr"]);
    refused("vk::static_pointer_cast<float>(pc.i).Get();", "OSH2010");
    refused("vk::static_pointer_cast<B, 64>(pc.d).Get();", "OSH2023");
    refused("vk::BufferPointer<int> p = pc.n;", "OSH2010");
    refused("vk::BufferPointer<int> p = pc.d;", "OSH2010");
    refused("vk::RawBufferLoad<float4>(pc.n, -16);", "OSH2023");
    refused("vk::RawBufferLoad<double3>(pc.n);", "OSH2023");
    refused("vk::RawBufferLoad<Texture2D>(pc.n);", "OSH2030");
    refused("pc.d.Load();", "OSH2024");
}

#[test]
fn the_number_of_the_device_is_an_input_of_every_stage() {
    vs("float4 main([[vk::builtin(\"DeviceIndex\")]] int d : A) : SV_Position { return d; }")
        .has(&["builtin(spirv, 4438)"]);
    ps("float4 main([[vk::builtin(\"DeviceIndex\")]] int d : A) : SV_Target { return d; }")
        .has(&["builtin(spirv, 4438)"]);
}

#[test]
fn types_of_vk_take_part_in_deduction() {
    cs("template <class T> T at(vk::SampledTexture2D<T> t) { return t.Load(int3(0, 0, 0)); }
        template <class T> T get(vk::BufferPointer<T> p) { return p.Get(); }
        template <class T, uint A> uint align(vk::BufferPointer<T, A> p) { return A; }
        using namespace vk; SampledTexture2D<float2> t; struct P { BufferPointer<float2, 16> p; BufferPointer<int> q; };
        [[vk::push_constant]] P pc; RWStructuredBuffer<float2> F;
        [numthreads(1, 1, 1)] void main() { F[0] = at(t) + get(pc.q) + align(pc.p); F[1] = get<float2>((BufferPointer<float2>)pc.p); }")
    .has(&["texload", "addressptr"]);
}

#[test]
fn types_of_spirv_are_named_by_number() {
    cs("typedef vk::SpirvOpaqueType<4456, float, vk::integral_constant<uint, 3>, vk::integral_constant<uint, 8>,
            vk::integral_constant<uint, 4>, vk::integral_constant<uint, 0> > M;
        template <class T> using Pointer = const vk::SpirvOpaqueType<32, vk::Literal<vk::integral_constant<uint, 4> >, T>;
        template <class T> [[vk::ext_instruction(83)]] Pointer<T> address([[vk::ext_reference]] T variable);
        template <class T> [[vk::ext_instruction(61)]] T load(Pointer<T> from);
        template <class T, class U> [[vk::ext_instruction(80)]] T splat(U value);
        [[vk::ext_instruction(129)]] M add(M a, M b);
        groupshared float S[4]; RWStructuredBuffer<float> F;
        float through(Pointer<float> p) { return load(p); }
        [numthreads(1, 1, 1)] void main() {
            M m = splat<M>(2.0f); m = add(m, m); Pointer<float> p = address(S[1]); F[0] = through(p); }")
    .has(&[
        "32 operands([4], type f32)",
        "4456 operands(type f32, const u32 3, const u32 8, const u32 4, const u32 0)",
        "129 operands(id, id)",
        "local l0 \"m\": asm",
    ]);
    let refused = |text: &str, code: &str| {
        cs(&format!(
            "typedef vk::SpirvOpaqueType<32, vk::Literal<vk::integral_constant<uint, 4> >, float> P;
            [[vk::ext_instruction(83)]] P address([[vk::ext_reference]] float variable); groupshared float S;\n{text}"
        ))
        .refused(&[&format!("{code} at 3")]);
    };
    refused("[numthreads(1, 1, 1)] void main() { P p; }", "OSH2037");
    refused("[numthreads(1, 1, 1)] void main() { P p = address(S); p = address(S); }", "OSH2014");
    for (decl, code) in [
        ("RWStructuredBuffer<P> b;", "OSH2030"),
        ("P p;", "OSH2060"),
        ("groupshared P p;", "OSH2060"),
        ("struct H { P p; };", "OSH2030"),
        ("static P p;", "OSH2030"),
        ("void f(out P p) {}", "OSH2030"),
        ("void f() { P p[2]; }", "OSH2030"),
    ] {
        refused(&format!("{decl} [numthreads(1, 1, 1)] void main() {{}}"), code);
    }
    refused("[numthreads(1, 1, 1)] void main() { vk::SpirvOpaqueType<25, 3> p; }", "OSH2040");
}

#[test]
fn functions_are_found_beside_their_arguments_and_through_aliases() {
    cs("namespace a { namespace b {
            template <class T, uint n> struct S { T v[n]; };
            template <class T> using Two = S<T, 2>;
            template <class T> T second(Two<T> s) { return s.v[1]; }
            template <class T, uint n> uint count(S<T, n> s) { return n; }
            struct P { float f; }; float get(P p) { return p.f; }
        } }
        template <class T> T first(a::b::Two<T> s) { return s.v[0]; }
        template <class T, uint n> T last(a::b::S<T, n> s) { return s.v[n - 1]; }
        RWStructuredBuffer<float> F;
        [numthreads(1, 1, 1)] void main() { a::b::S<float, 2> s = { 1, 2 }; a::b::P p = { 3 };
            F[0] = second(s) + count(s) + get(p) + first(s) + last(s); }")
    .has(&["call"]);
    cs("namespace a { struct P { float f; }; }\n[numthreads(1, 1, 1)] void main() { a::P p = { 3 };\nnowhere(p); }")
        .refused(&["OSH2001 at 3"]);
    cs("namespace a { template <class T> struct S { T v; }; template <class T> struct Q { T v; }; template <class T> using A = S<T>; }
        template <class T> T get(a::A<T> s) { return s.v; }
        [numthreads(1, 1, 1)] void main() { a::Q<float> q = { 3 };\nget(q); }")
    .refused(&["OSH2020 at 4"]);
}

#[test]
fn cooperative_matrices_come_with_a_header() {
    let spirv16 = "#define __SPIRV_MAJOR_VERSION__ 1\n#define __SPIRV_MINOR_VERSION__ 6\n";
    cs(&format!(
        "{spirv16}#include <vk/khr/cooperative_matrix.h>
        groupshared int S[64]; RWStructuredBuffer<int> D;
        typedef vk::khr::CooperativeMatrixA<int, vk::ScopeSubgroup, 16, 4> A;
        typedef vk::khr::CooperativeMatrixB<int, vk::ScopeSubgroup, 4, 8> B;
        typedef vk::khr::CooperativeMatrixAccumulator<int, vk::ScopeSubgroup, 16, 8> C;
        [numthreads(32, 1, 1)] void main() {{
            A a = A::Load<vk::CooperativeMatrixLayoutRowMajorKHR>(vk::GetGroupSharedAddress(S[0]), 4);
            B b = B::Load<vk::MemoryAccessNontemporalMask, vk::CooperativeMatrixLayoutColumnMajorKHR>(D, 0, 4);
            a.Set(a.Get(0) + a.GetLength(), 0);
            C c = cooperativeMatrixMultiplyAdd(a * 2, b, C::Splat(1));
            (c + c.negate()).cast<float>().Store<vk::CooperativeMatrixLayoutRowMajorKHR>(D, 64, 8); }}"
    ))
    .has(&[
        "4457 ",
        "operands(id, id, id, [4])",
        "4460 ",
        "4459 ",
        "operands(id, id, id, [15])",
        "operands(id, id, id, [48], id)",
    ]);
    cs("#define __SPIRV_MAJOR_VERSION__ 1\n#include <vk/khr/cooperative_matrix.h>\n[numthreads(1, 1, 1)] void main() {}")
        .refused(&["OSH1014 at 5"]);
}
