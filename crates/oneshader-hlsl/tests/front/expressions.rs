use super::*;

#[test]
fn literals_fold_with_their_own_rules() {
    holds(
        "static const uint N = 3; static const float H = 0.5; enum E { A = 4, B, C = A * 2 };",
        &[
            "7 / 2 == 3",
            "-7 / 2 == -3",
            "-7 % 3 == -1",
            "7.5 % 2 == 1.5",
            "(uint)-1 == 0xffffffff",
            "0xffffffffu + 1u == 0u",
            "(int)3.99 == 3",
            "(int)-3.99 == -3",
            "(bool)0.5",
            "!(bool)0",
            "1 << 4 == 16",
            "-8 >> 1 == -4",
            "0x80000000u >> 31 == 1u",
            "~0u == 0xffffffffu",
            "(5 & 3) == 1 && (5 | 3) == 7 && (5 ^ 3) == 6",
            "N * 2 == 6",
            "H + H == 1.0f",
            "B == 5 && C == 8",
            "true ? N == 3 : false",
            "(1 > 2 ? 10 : 20) == 20",
            "1.0f / 4 == 0.25f",
            "2147483647 + 1 == 2147483648",
        ],
    );
}

#[test]
fn sizes_are_those_of_structured_buffers() {
    holds(
        "struct S { float a; double b; float3 c; int d[3]; }; struct P : S { bool e; };",
        &[
            "sizeof(float3) == 12",
            "sizeof(float4x4) == 64",
            "sizeof(double2) == 16",
            "sizeof(S) == 40",
            "sizeof(P) == 48",
            "sizeof(bool) == 4",
            "sizeof(uint64_t) == 8",
            "sizeof(float[3][2]) == 24",
        ],
    );
}

#[test]
fn operators_meet_in_the_wider_type() {
    body("int a = id.x; uint b = id.y; F[0] = a * 0.5f; U[0].x = a + b;").has(&["f32 = mul", "u32 = add"]);
    body("bool p = id.x > 2; I[0].x = p + p;").has(&["i32 = add"]);
    body("half h = 1.5h; float f = id.x; F[0].x = h * f;").has(&["f32 = mul"]);
    body("min16float h = id.x; F[0].x = h * h;").has(&["mul", "relaxed"]);
    body("half h = id.x; F[0].x = h * h;").native16().has(&["f16 = mul"]);
    body("float3 v = F[0].xyz; float s = F[1].x; F[2].xyz = v * s;").has(&["splat", "f32x3 = mul"]);
}

#[test]
fn truncations_are_warned_of() {
    body("float3 v = F[0]; F[1].xyz = v;").warned(&["OSH2011 at 3"]);
    body("float3 v = F[0].xyz; F[1].xyz = v + F[2];").warned(&["OSH2011 at 3"]);
    body("float3 v = (float3)F[0]; F[1].xyz = v;").warned(&[]);
    body("double d = id.x; F[0].x = d;").warned(&["OSH2012 at 3"]);
}

#[test]
fn wrong_operands_are_refused_at_their_place() {
    body("float f = 1;\nf = f & 1;").refused(&["OSH2013 at 4"]);
    body("float f = 1;\nf <<= 1;").refused(&["OSH2013 at 4"]);
    body("float2 a = 0; float3 b = 0;\nfloat3x3 m = a * b.xxxx;").refused(&["OSH2010 at 4"]);
    body("const int c = 1;\nc = 2;").refused(&["OSH2014 at 4"]);
    body("float4 v = 0;\nv.xx = 1;").refused(&["OSH2014 at 4"]);
    body("1 = id.x;").refused(&["OSH2014 at 3"]);
    body("float2 v = 0;\nv.z = 1;").refused(&["OSH2015 at 4"]);
    body("float2x2 m = 0;\nF[0].x = m._m20;").refused(&["OSH2015 at 4"]);
    body("bool b = true;\nb++;").refused(&["OSH2013 at 4"]);
    body("float3 v = float3(1, 2);").refused(&["OSH2033 at 3"]);
    body("float3 v = float3(1, 2, 3, 4);").refused(&["OSH2033 at 3"]);
    body("float3 v = float3(1);").refused(&["OSH2033 at 3"]);
    body("int a[2] = { 1, 2 };\nI[0].x = a[2];").refused(&["OSH2018 at 4"]);
}

#[test]
fn short_circuit_depends_on_the_version() {
    let call = "bool side(inout uint n) { n++; return n > 3; }
         RWStructuredBuffer<uint> U;
         [numthreads(8, 1, 1)] void main(uint id : SV_GroupIndex) { uint n = 0; if (id > 2 && side(n)) U[0] = n; }";
    cs(call).has(&["condbr", "call fn0", "phi"]);
    cs(call).hlsl2018().has_not(&["phi"]);
    body("bool2 a = id.xy > 1; if (any(a && a)) U[0] = 1;").refused(&["OSH2013 at 3"]);
    body("bool2 a = id.xy > 1; if (any(a && a)) U[0] = 1;").hlsl2018().compiles();
    body("bool2 a = id.xy > 1; F[0].xy = a ? 1.0 : 2.0;").refused(&["OSH2052 at 3"]);
    body("bool2 a = id.xy > 1; F[0].xy = a ? 1.0 : 2.0;").hlsl2018().has(&["f32x2 = select"]);
    // An operand without effect needs no branch.
    body("if (id.x > 1 && id.y > 2) U[0] = 1;").has(&["bool = and"]);
}

#[test]
fn ternary_values_meet_in_one_type() {
    body("F[0].x = id.x > 2 ? 1 : 2.5;").has(&["f32 = select"]);
    body("I[0].x = id.x > 2 ? 1 : -1;").has(&["i32 = select"]);
    body("float3 v = F[0].xyz; F[1].xyz = id.x > 2 ? v : 0;").has(&["f32x3 = select"]);
    body("F[0] = id.x > 2 ? normalize(F[1]) : F[2];").has(&["condbr", "normalize", "phi"]);
}

#[test]
fn assignments_reach_parts() {
    body("float4 v = 0; v.zx = F[0].xy; F[1] = v;").has(&["construct"]);
    body("F[id.x].y = 2;").has(&["elementptr", "access", "store"]);
    body("float3x3 m = 0; m._m01_m20 = F[0].xy; F[1].xyz = m[2];")
        .has(&["access l1, u32 0, u32 1", "access l1, u32 2, u32 0"]);
    body("float3x3 m = 0; m[id.x] = F[0].xyz; m[1][2] = 4; F[1].xyz = m[0];").compiles();
    body("float4 v = F[0]; v[id.x] = 3; F[1] = v;").has(&["access l1, v"]);
    body("float4 v = F[0]; v.wzyx[id.x] = 3; F[1] = v;").compiles();
    body("int3x3 m = 0; m[1] = I[0].xyz; m._m22 += 4; I[1].xyz = m[2] * m[1];").compiles();
    body("I[0].xy += 3; I[0].z = I[0].w++;").compiles();
}

#[test]
fn compound_assignment_computes_in_the_wider_type() {
    body("int i = id.x; i *= 0.5; I[0].x = i;").has(&["f32 = mul", "i32 = convert"]);
    body("uint u = id.x; u <<= 3; U[0].x = u;").has(&["u32 = shl"]);
}
