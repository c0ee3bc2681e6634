use super::*;

#[test]
fn functions_are_instantiated_once_for_each_set_of_arguments() {
    cs("template<typename T> T twice(T x) { return x + x; }
        template<typename T, int N> T sum(T a[N]) { T s = (T)0; for (int i = 0; i < N; ++i) s += a[i]; return s; }
        template<typename T, uint N> T first(vector<T, N> v) { return v[0]; }
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main(uint3 id : SV_GroupID) {
            float a[3] = { 1, 2, 3 };
            O[0] = twice(1.5f) + twice(2.5f) + twice(id.x) + sum(a) + first(float2(1, 2)) + twice<int>(2.5);
        }")
    .has(&[
        "\"twice\" (v0 \"x\": f32)",
        "\"twice\" (v0 \"x\": u32)",
        "\"sum\"",
        "\"first\"",
        "\"twice\" (v0 \"x\": i32)",
    ]);
}

#[test]
fn structures_specialize() {
    cs("template<typename T, int N = 2> struct Box { T v[N]; T get(int i) { return v[i]; } static const int size = N; };
        template<> struct Box<int, 1> { int only; int get(int i) { return only; } };
        template<typename T> struct Box<T, 3> { T three; };
        template<typename T> struct Pair { T a, b; T sum(); };
        template<typename T> T Pair<T>::sum() { return a + b; }
        template<typename T> using Two = Box<T, 2>;
        RWStructuredBuffer<float> O;
        [numthreads(1, 1, 1)] void main() {
            Box<float> b; b.v[1] = 2; Box<int, 1> o; o.only = 3; Box<float, 3> t; t.three = 4; Pair<float> p; p.a = p.b = 5;
            Two<float> w = b;
            O[0] = b.get(1) + o.get(0) + t.three + p.sum() + Box<float, 7>::size + w.v[0];
        }")
    .has(&["[f32 x 2]", "\"only\"", "\"three\""]);
    holds("template<typename T> struct S { T x[3]; };", &["sizeof(S<float>) == 12", "sizeof(S<double2>) == 48"]);
}

#[test]
fn explicit_specializations_win() {
    cs("template<typename T> float name(T x) { return 1; } template<> float name<int>(int x) { return 2; }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = name(1) + name(1.0f); }")
    .has(&["f32 2.0", "f32 1.0"]);
}

#[test]
fn variables_are_instantiated() {
    holds(
        "template<typename A, typename B> static const bool same = false;
         template<typename T> static const bool same<T, T> = true;
         template<uint N, uint M = N> static const uint product = N * M;
         namespace space { template<typename T> static const T one = T(1); }",
        &["same<int, int>", "!same<int, uint>", "product<3> == 9", "product<3, 2> == 6", "space::one<float> == 1.0f"],
    );
    cs("template<typename T> static const T one = T(1);\n[numthreads(1, 1, 1)] void main() {\none<float, int>; one<>; one; }")
        .refused(&["OSH2040 at 3", "OSH2040 at 3", "OSH2040 at 3"]);
    cs("template<typename T>\nconst T one = T(1);\n[numthreads(1, 1, 1)] void main() { }").refused(&["OSH2060 at 2"]);
    // An instance that needs itself ends.
    cs("template<int N> static const int down =\ndown<N + 1>;\n[numthreads(1, 1, 1)] void main() {\nint x = down<0>; }")
        .refused(&["OSH3010 at 2"]);
}

#[test]
fn failures_of_deduction_are_explained_not_reported() {
    cs("template<typename T> T f(T a, T b) { return a; }
        [numthreads(1, 1, 1)] void main() {\nf(1, 2.5f); }")
    .refused(&["OSH2020 at 3"]);
    cs("template<typename T> struct S { T x; };\n[numthreads(1, 1, 1)] void main() {\nS<float, int> s; }")
        .refused(&["OSH2040 at 3"]);
    cs("template<typename T> T f(T x) {\nreturn x.nothing; }
        RWStructuredBuffer<float> O; [numthreads(1, 1, 1)] void main() { O[0] = f(F4()); }"
        .replace("F4()", "1.0f")
        .as_str())
    .refused(&["OSH2015 at 2"]);
}
