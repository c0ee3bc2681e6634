use super::*;

#[test]
fn matrices_keep_their_order_in_memory() {
    cs("cbuffer C { float3x4 a; row_major float3x4 b; column_major float2x2 c; }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = a[1].x + b._m12 + c._12; }")
    .has(&["\"a\": f32x3x4", "\"b\": f32x3x4 row", "\"c\": f32x2x2", "u32 0, i32 1, u32 0", "u32 1, u32 1, u32 2"]);
}

#[test]
fn integer_matrices_are_rows_in_values_and_lines_in_memory() {
    cs("cbuffer C { int2x3 a; row_major int2x3 b; }
        RWStructuredBuffer<int> O; [numthreads(1, 1, 1)] void main() { O[0] = a[1].z; O[1] = b[1].z; int2x3 m = a; O[2] = m[0].y; }")
    .has(&["\"a\": [i32x2 x 3]", "\"b\": [i32x3 x 2]", "local l0 \"m\": [i32x3 x 2]"]);
}

#[test]
fn lines_of_one_are_vectors() {
    body("float1x3 r = F[0].xyz; float3x1 c = F[1].xyz; F[2].x = r[0].y * c[2].x + r._m02 * c._31;").compiles();
    body("float1 s = F[0].x; F[1].xyz = s.xxx; F[2].x = s[0];").compiles();
}

#[test]
fn bit_fields_share_members() {
    cs("struct B { uint a : 4; uint b : 12; uint c : 20; int d : 8; float e; };
        RWStructuredBuffer<B> O; [numthreads(1, 1, 1)] void main() { B v = (B)0; v.b = 7; v.d = -1; O[0] = v; O[1].a = O[0].c; }")
    .has(&["struct s0 \"B\"", "\"a\": u32", "\"c\": u32", "\"d\": i32", "\"e\": f32", "shl"]);
    cs("struct B { float a : 4; };").refused(&["OSH2035 at 1", "OSH2064 at 0"]);
    cs("struct B { uint a : 40; };").refused(&["OSH2035 at 1", "OSH2064 at 0"]);
}

#[test]
fn structures_inherit() {
    cs("struct A { float x; float get() { return x; } }; struct B : A { float y; float sum() { return get() + y; } };
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { B b; b.x = 1; b.y = 2; O[0] = b.sum(); A a = (A)b; O[1] = a.x; }")
    .has(&["struct s1 \"B\"", "\"base\": s0", "access", "u32 0, u32 0"]);
}

#[test]
fn initializers_are_flat() {
    cs("struct S { float2 a; int b; float3x2 m; };
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main(uint i : SV_GroupIndex) {
            S s = { float3(1, 2, 3), { 4, 5, { 6, 7 } }, 8, 9 };
            float2 p[2] = { float4(1, 2, 3, 4) };
            float q[] = { p, 5.0 };
            O[0] = s.m[2].y + q[i];
        }")
    .has(&["local l3 \"q\": [f32 x 5]"]);
    body("float3 a = { 1, 2 };").refused(&["OSH2033 at 3"]);
    body("float3 a = { 1, 2, 3, 4 };").refused(&["OSH2033 at 3"]);
}

#[test]
fn casts_flatten_and_splat() {
    cs("struct S { float a; int b[2]; float2 c; }; struct T { float4 a; float b; };
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() {
            S s = (S)0; S r = (S)2.5; T t = (T)r; float3x4 m = (float3x4)0; float2x2 v = (float2x2)m; O[0] = s.a + t.b + v._m11;
        }")
    .compiles();
    cs("struct A { float x; }; struct B { float x; };
        [numthreads(1, 1, 1)] void main() { A a = (A)0;\nB b = a; }")
    .refused(&["OSH2010 at 3"]);
    cs("struct A { float x; }; struct B { float x; }; RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { A a = (A)0; B b = a; O[0] = b.x; }")
    .hlsl2018()
    .compiles();
}

#[test]
fn enumerations_convert_one_way() {
    cs("enum E { A, B = 5 }; enum class F : uint { X = 2 };
        RWStructuredBuffer<int> O;
        [numthreads(1, 1, 1)] void main() { E e = B; O[0] = e; O[1] = (int)F::X; F f = F::X; O[2] = f == F::X; }")
    .has(&["i32 5"]);
    cs("enum E { A };\n[numthreads(1, 1, 1)] void main() {\nE e = 1; }").refused(&["OSH2010 at 3"]);
    cs("enum class E { A };\n[numthreads(1, 1, 1)] void main() {\nint e = E::A; }").refused(&["OSH2010 at 3"]);
}

#[test]
fn wrong_types_are_refused() {
    cs("float a[0];\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2032 at 1"]);
    cs("int n; float a[n];\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2034 at 1"]);
    cs("StructuredBuffer<Texture2D> b;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("Texture2D<float4x4> t;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("ConstantBuffer<float4> c;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("vector<float, 5> v;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("int16_t v;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2071 at 1"]);
    cs("void v;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2030 at 1"]);
    cs("struct S; S s;\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2031 at 1"]);
    cs("struct S { S s; };\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2031 at 1"]);
}

#[test]
fn names_are_found_in_their_scopes() {
    cs("namespace a { static const int n = 1; namespace b { int f() { return n; } } } using namespace a;
        static const int m = a::n + b::f == 0;
        [numthreads(1, 1, 1)] void main() {}")
    .refused(&["OSH2003 at 2"]);
    cs("namespace a { static const int n = 1; namespace b { int f() { return n; } } } using namespace a; using a::b::f;
        RWStructuredBuffer<int> O; [numthreads(1, 1, 1)] void main() { int n = 5; { int n = 6; O[0] = n; } O[1] = f() + ::a::n + n; }")
    .compiles();
    body("float colour = 1;\nF[0].x = color;").refused(&["OSH2001 at 4"]);
    body("int a = 1;\nint a = 2;").refused(&["OSH2002 at 4"]);
    cs("struct Constants { float x; }; ConstantBuffer<Constants> Constants;
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = Constants.x; }")
    .compiles();
}
