use super::*;

#[test]
fn overloads_are_ranked() {
    let which = |args: &str| {
        format!(
            "float f(float x) {{ return 1; }} float f(int x) {{ return 2; }} float f(float4 x) {{ return 3; }}
             RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main(uint3 id : SV_GroupID) {{ O[0] = f({args}); }}"
        )
    };
    cs(&which("1.5f")).has(&["fn0 \"f\" (v0 \"x\": f32)"]);
    cs(&which("id.x")).has(&["fn0 \"f\" (v0 \"x\": i32)"]);
    cs(&which("float4(id, 1)")).has(&["fn0 \"f\" (v0 \"x\": f32x4)"]);
    cs("void f(float a, int b) {} void f(int a, float b) {}
        [numthreads(1, 1, 1)] void main() {\nf(1.0f, 1.0f); }")
    .refused(&["OSH2021 at 3"]);
    cs("void f(float2 a) {}\n[numthreads(1, 1, 1)] void main() {\nf(1, 2); }").refused(&["OSH2020 at 3"]);
}

#[test]
fn out_arguments_are_copied_back_in_order() {
    cs("void f(out float a, inout float b) { a = b; b = 2; }
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { float x = 1; f(x, x); O[0] = x; int n; f(O[1], O[2]); }")
    .has(&["call fn0(", "load", "store"]);
    // A variable is passed as it is, once.
    cs("void f(out float a, inout float b) { a = b; b = 2; }
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { float x, y = 1; f(x, y); O[0] = x + y; }")
    .has(&["call fn0(l0, l1)"]);
    cs("void f(out float4 a) { a = 1; }
        [numthreads(1, 1, 1)] void main() { float3 v;\nf(v); }")
    .refused(&["OSH2020 at 3"]);
    cs("void f(out float a) { a = 1; }
        [numthreads(1, 1, 1)] void main() {\nf(1.0); }")
    .refused(&["OSH2014 at 3"]);
}

#[test]
fn defaults_and_forward_declarations() {
    cs("float g(float x, float y = 2); float f(float a) { return g(a); } float g(float x, float y) { return x * y; }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = f(3); }")
    .has(&["\"g\"", "\"f\"", "call fn0(v", "f32 2.0"]);
    cs("float g(float x);\n[numthreads(1, 1, 1)] void main() {\nfloat y = g(1); }").refused(&["OSH2026 at 3"]);
    cs("float f(float x);\nfloat g(float x) { return f(x); }\nfloat f(float x) { return g(x); }
        [numthreads(1, 1, 1)] void main() { float y = f(1); }")
    .refused(&["OSH2025 at 2"]);
    cs("int f() { return 1; }\nint f() { return 2; }\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2002 at 2"]);
}

#[test]
fn methods_and_operators() {
    cs("struct V { float x; V operator+(V o) { V r; r.x = x + o.x; return r; } float operator[](int i) { return x * i; }
                   float operator()(float k) { return k * x; } bool operator==(V o) { return x == o.x; }
                   static float twice(float a) { return 2 * a; } void later(); };
        void V::later() { x = 9; }
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { V a, b; a.x = 1; b.x = 2; V c = a + b; c.later();
            O[0] = c[3] + c(2) + V::twice(1); O[1] = a == b; }")
    .compiles();
    cs("struct S { float x; };\n[numthreads(1, 1, 1)] void main() { S a, b;\nS c = a + b; }")
        .refused(&["OSH2013 at 3"]);
    cs("struct S { float x; };\n[numthreads(1, 1, 1)] void main() { S a;\na.y = 1; a.f(); }")
        .refused(&["OSH2016 at 3", "OSH2024 at 3"]);
}

#[test]
fn statics_and_members() {
    cs("struct S { static const float k = 3; static int n; }; int S::n = 4;
        static float lazy = S::k * 2; static float late = sqrt(lazy);
        RWStructuredBuffer<float> O; uint counter() { static uint c = 7; return c++; }
        [numthreads(1, 1, 1)] void main() { O[0] = late + S::n + counter(); }")
    .has(&["\"lazy\": private f32", "sqrt", "store"]);
}

#[test]
fn functions_nobody_reaches_are_checked_and_dropped() {
    cs("float unused(float x) { return x; } [numthreads(1, 1, 1)] void main() {}").has_not(&["unused"]);
    cs("float unused(float x) {\nreturn y; } [numthreads(1, 1, 1)] void main() {}").refused(&["OSH2001 at 2"]);
    // What is only not compiled matters only where it is reached.
    cs("void hit() { BuiltInTriangleIntersectionAttributes a; } [numthreads(1, 1, 1)] void main() {}").compiles();
    cs("void hit() {\nBuiltInTriangleIntersectionAttributes a; }\n[numthreads(1, 1, 1)] void main() { hit(); }")
        .refused(&["OSH3004 at 2"]);
}

#[test]
fn missing_returns_are_warned_of() {
    cs("float f(float x) { if (x > 0) return 1; } RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { O[0] = f(1); }")
    .warned(&["OSH2027 at 1"]);
    cs("float f(float x) { while (true) { if (x > 0) return 1; x++; } } RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() { O[0] = f(1); }")
    .warned(&[]);
    cs("float f() {\nreturn; }\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2027 at 2"]);
    cs("void f() {\nreturn 1; }\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH2010 at 2"]);
}
