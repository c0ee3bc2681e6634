use super::*;

#[test]
fn endless_templates_end() {
    cs("template<int N> struct S { S<N + 1> next; };\n[numthreads(1, 1, 1)] void main() {\nS<0> s; }");
    cs("template<int N> int f() { return f<N + 1>(); } RWStructuredBuffer<int> O;
        [numthreads(1, 1, 1)] void main() { O[0] = f<0>(); }")
    .refused_somehow();
    cs("template<int N> struct S { static const int v = S<N + 1>::v; };
        [numthreads(1, 1, 1)] void main() { int x = S<0>::v; }")
    .refused_somehow();
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = format!("U[0].x = {}1{};", "(".repeat(240), ")".repeat(240));
    body(&deep).compiles();
    let types: String = (0..100).map(|i| format!("struct S{} {{ S{i} a[2]; }};\n", i + 1)).collect();
    cs(&format!("struct S0 {{ float x; }};\n{types}[numthreads(1, 1, 1)] void main() {{ S100 s = (S100)0; }}"))
        .refused_somehow();
    cs("static float a[100000][100000];\n[numthreads(1, 1, 1)] void main() {}").refused(&["OSH3012 at 1"]);
}

#[test]
fn nesting_of_any_kind_ends_in_an_error_or_a_module() {
    // Whatever the depth, the stack of a test's thread is enough.
    for depth in [60usize, 300, 2000] {
        let wrap =
            |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
        let sources = [
            wrap("if (id.x) { ", "U[0] = 1;", " }"),
            wrap("for (uint i = 0; i < 2; ++i) { ", "U[0] = i;", " }"),
            wrap("switch (id.x) { case 1: ", "U[0] = 1;", " }"),
            format!("U[0].x = {};", wrap("max(id.x, ", "1", ")")),
            format!("U[0].x = {};", wrap("id.x ? ", "1", " : 2")),
            format!("U[0].x = {};", wrap("uint3(", "id", ").xyz")),
            format!("U[0].x = {};", wrap("(uint)(", "id.x", ")")),
            format!("U[0].x = {};", wrap("id.x && ", "true", "")),
            format!("U[0].x = {};", wrap("-", "id.x", "")),
            format!("U[0].x = id{}.x;", wrap("", "", ".xyz")),
            format!("uint a[2] = {};", wrap("{ ", "1, 2", " }")),
            format!("uint{} = 1;", wrap("", " a", "[1]")),
            wrap("{", "U[0] = 1;", "}"),
            wrap("while (id.x) do ", "U[0] = 1;", " while (false);"),
        ];
        for source in sources {
            body(&source).run();
        }
    }
}

#[test]
fn the_same_source_gives_the_same_text() {
    let source = body("float4 v = F[id.x]; for (int i = 0; i < 4; ++i) v += F[i] * i; F[0] = v;");
    let first = text::print(&source.module());
    for _ in 0..5 {
        assert_eq!(text::print(&source.module()), first);
    }
}

impl Compile {
    /// It is refused, in finite time.
    fn refused_somehow(&self) {
        let (_, errors, _) = self.run();
        assert!(!errors.is_empty(), "{}", self.text);
    }
}
