//! Vector types (MSL 2.2) and packed vector types (MSL 2.2.3).
//!
//! A vector is a class whose swizzles are properties (`__declspec(property)`): `v.zyx` has exactly the type it names, so
//! overload resolution and deduction see what Apple's compiler sees, and `&v.x` is an error as it is there (MSL 2.2.1).
//! Constructors take exactly as many components as the vector has (MSL 2.2.2).
use super::{SCALARS, Writer, list};
use std::fmt::Write as _;

const OPERATORS: [(&str, &str); 10] = [
    ("+", "k_arith"),
    ("-", "k_arith"),
    ("*", "k_arith"),
    ("/", "k_arith"),
    ("%", "k_mod"),
    ("&", "k_bit"),
    ("|", "k_bit"),
    ("^", "k_bit"),
    ("<<", "k_shift"),
    (">>", "k_shift"),
];
const SUBSCRIPT: &str = "template<class I, class = __msl::enable_if_t<__msl::is_int<I>::v>>";
/// Names of the components: one family or the other, never mixed in one swizzle (MSL 2.2.1).
const COMPONENTS: [[char; 4]; 2] = [['x', 'y', 'z', 'w'], ['r', 'g', 'b', 'a']];

pub(super) fn vectors() -> String {
    let mut w = Writer::new("MSL 2.2: vector types; 2.2.3: packed vector types");
    w.line("namespace metal {");
    for n in 2..=4 {
        vec(&mut w, n);
        packed(&mut w, n);
    }
    w.line("}");
    w.finish()
}

/// Constructor shapes with vectors among the arguments, as component counts.
fn shapes(n: usize) -> &'static [&'static [usize]] {
    match n {
        3 => &[&[2, 1], &[1, 2]],
        4 => &[&[2, 1, 1], &[1, 2, 1], &[1, 1, 2], &[2, 2], &[3, 1], &[1, 3]],
        _ => &[],
    }
}

fn vec(w: &mut Writer, n: usize) {
    let align = if n == 3 { 4 } else { n };
    w.line(format!("template<typename T> struct alignas(sizeof(T) * {align}) vec<T,{n}> {{"));
    w.line(format!("  T __d[{n}];\n  typedef T value_type;\n  vec() = default;"));
    // From scalars: one for all components, or one each.
    let splat = list(n, |_| "static_cast<T>(s)".into());
    w.line(format!("  template<class S, class = __msl::enable_if_t<__msl::is_arith<S>::v>> constexpr vec(S s) : __d{{{splat}}} {{}}"));
    let (params, values) = (list(n, |i| format!("T a{i}")), list(n, |i| format!("a{i}")));
    w.line(format!("  constexpr vec(__raw, {params}) : __d{{{values}}} {{}}"));
    let types = list(n, |i| format!("class A{i}"));
    let scalars = (0..n).map(|i| format!("__msl::is_arith<A{i}>::v")).collect::<Vec<_>>().join(" && ");
    let (params, values) = (list(n, |i| format!("A{i} a{i}")), list(n, |i| format!("static_cast<T>(a{i})")));
    w.line(format!(
        "  template<{types}, class = __msl::enable_if_t<{scalars}>> constexpr vec({params}) : __d{{{values}}} {{}}"
    ));
    // From vectors and scalars with n components together.
    for shape in shapes(n) {
        let types = list(shape.len(), |i| format!("class A{i}"));
        let fit = shape
            .iter()
            .enumerate()
            .map(|(i, s)| format!("__msl::ctor_arg<A{i},T,{s}>::v"))
            .collect::<Vec<_>>()
            .join(" && ");
        let params = list(shape.len(), |i| format!("A{i} a{i}"));
        let values = list(shape.len(), |i| match shape[i] {
            1 => format!("static_cast<T>(a{i})"),
            s => list(s, |k| format!("a{i}.__d[{k}]")),
        });
        w.line(format!(
            "  template<{types}, __msl::enable_if_t<{fit}, int> = 0> constexpr vec({params}) : __d{{{values}}} {{}}"
        ));
    }
    // From a vector of another element type: explicit (MSL 2.13).
    let other = "template<class U, class = __msl::enable_if_t<!__msl::same<U,T>::v>>";
    let values = list(n, |i| format!("static_cast<T>(o.__d[{i}])"));
    for class in ["vec", "packed_vec"] {
        w.line(format!("  {other} constexpr explicit vec({class}<U,{n}> o) : __d{{{values}}} {{}}"));
    }
    w.line(format!("  {SUBSCRIPT} constexpr T& operator[](I i) {{ return __d[i]; }}"));
    w.line(format!("  {SUBSCRIPT} constexpr T operator[](I i) const {{ return __d[i]; }}"));
    // volatile objects
    let same = "template<class U, class = __msl::enable_if_t<__msl::same<U,T>::v>>";
    let values = list(n, |i| format!("o.__d[{i}]"));
    w.line(format!("  {same} vec(const volatile vec<U,{n}>& o) : __d{{{values}}} {{}}"));
    let copy: String = (0..n).map(|i| format!(" __d[{i}] = o.__d[{i}];")).collect();
    w.line(format!("  {same} void operator=(const vec<U,{n}>& o) volatile {{{copy} }}"));
    w.line(format!("  {SUBSCRIPT} T operator[](I i) const volatile {{ return __d[i]; }}"));
    w.line(format!("  {SUBSCRIPT} volatile T& operator[](I i) volatile {{ return __d[i]; }}"));
    for (op, kind) in OPERATORS {
        w.line(format!(
            "  template<class B> constexpr auto operator{op}=(B b) & -> __msl::lv_t<vec, __msl::bin_t<vec,B,__msl::{kind}>> {{ *this = *this {op} b; return *this; }}"
        ));
    }
    w.line(format!("  constexpr vec& operator*=(matrix<T,{n},{n}> m) & {{ *this = *this * m; return *this; }}"));
    for op in ["++", "--"] {
        let one = &op[..1];
        w.line(format!("  constexpr vec& operator{op}() & {{ *this = *this {one} vec(T(1)); return *this; }}"));
        w.line(format!(
            "  constexpr vec operator{op}(int) & {{ vec t = *this; *this = *this {one} vec(T(1)); return t; }}"
        ));
    }
    swizzles(w, n);
    w.line("};");
}

fn packed(w: &mut Writer, n: usize) {
    w.line(format!("template<typename T> struct packed_vec<T,{n}> {{"));
    w.line(format!("  T __d[{n}];\n  typedef T value_type;\n  packed_vec() = default;"));
    let values = list(n, |i| format!("o.__d[{i}]"));
    w.line(format!("  constexpr packed_vec(vec<T,{n}> o) : __d{{{values}}} {{}}"));
    w.line(format!("  template<class S, class = __msl::enable_if_t<__msl::is_arith<S>::v>> constexpr packed_vec(S s) : packed_vec(vec<T,{n}>(s)) {{}}"));
    for class in ["vec", "packed_vec"] {
        w.line(format!(
            "  template<class U, class = __msl::enable_if_t<!__msl::same<U,T>::v>> constexpr explicit packed_vec({class}<U,{n}> o) : packed_vec(vec<T,{n}>(o)) {{}}"
        ));
    }
    w.line(format!(
        "  template<class A0, class A1, class... A, class = decltype(vec<T,{n}>(__msl::declval<A0>(), __msl::declval<A1>(), __msl::declval<A>()...))> constexpr packed_vec(A0 a0, A1 a1, A... a) : packed_vec(vec<T,{n}>(a0, a1, a...)) {{}}"
    ));
    let values = list(n, |i| format!("__d[{i}]"));
    w.line(format!("  constexpr operator vec<T,{n}>() const {{ return vec<T,{n}>(__raw{{}}, {values}); }}"));
    w.line(format!("  {SUBSCRIPT} constexpr thread T& operator[](I i) thread {{ return __d[i]; }}"));
    w.line(format!("  {SUBSCRIPT} constexpr threadgroup T& operator[](I i) threadgroup {{ return __d[i]; }}"));
    w.line(format!("  {SUBSCRIPT} device T& operator[](I i) {{ return (device T&)__d[i]; }}"));
    w.line(format!("  {SUBSCRIPT} constexpr T operator[](I i) const {{ return __d[i]; }}"));
    for (op, kind) in OPERATORS {
        w.line(format!(
            "  template<class B> constexpr auto operator{op}=(B b) & -> __msl::lv_t<packed_vec, __msl::bin_t<vec<T,{n}>,B,__msl::{kind}>> {{ *this = vec<T,{n}>(*this) {op} b; return *this; }}"
        ));
    }
    swizzles(w, n);
    w.line("};");
}

/// Every choice of 1 to 4 of `n` components; those without repetition can be assigned to.
fn swizzles(w: &mut Writer, n: usize) {
    for len in 1..=4u32 {
        for code in 0..n.pow(len) {
            let picks: Vec<usize> = (0..len).rev().map(|k| code / n.pow(k) % n).collect();
            swizzle(w, n, &picks);
        }
    }
}

fn swizzle(w: &mut Writer, n: usize, picks: &[usize]) {
    let name: String = picks.iter().map(|&i| COMPONENTS[0][i]).collect();
    let len = picks.len();
    let values = list(len, |k| format!("__d[{}]", picks[k]));
    let (ty, get) = match len {
        1 => ("T".to_owned(), format!("return {values};")),
        _ => (format!("vec<T,{len}>"), format!("return vec<T,{len}>(__raw{{}}, {values});")),
    };
    w.line(format!("  constexpr {ty} __g{name}() const {{ {get} }}"));
    if len == 1 || picks.iter().copied().eq(0..len) {
        w.line(format!("  {ty} __g{name}() const volatile {{ {get} }}"));
    }
    let distinct = picks.iter().enumerate().all(|(k, i)| !picks[..k].contains(i));
    let mut accessors = format!("get=__g{name}");
    if distinct && len <= n {
        let put: String = match len {
            1 => format!("__d[{}] = v;", picks[0]),
            _ => picks.iter().enumerate().map(|(k, i)| format!("__d[{i}] = v.__d[{k}]; ")).collect(),
        };
        w.line(format!("  constexpr void __p{name}({ty} v) & {{ {put} }}"));
        if len == 1 {
            w.line(format!("  void __p{name}(T v) volatile & {{ {put} }}"));
        }
        let _ = write!(accessors, ",put=__p{name}");
    }
    for family in COMPONENTS {
        let alias: String = picks.iter().map(|&i| family[i]).collect();
        w.line(format!("  __declspec(property({accessors})) {ty} {alias};"));
    }
}

/// `float3`, `packed_float3`, `float3x4`, ...: in namespace `metal` and, as in Metal, outside of it.
pub(super) fn names() -> String {
    let mut w = Writer::new("MSL 2.2, 2.3: names of vector and matrix types");
    w.line("namespace metal {");
    for (scalar, since) in SCALARS {
        w.since(since);
        for n in 2..=4 {
            w.line(format!(
                "typedef vec<{scalar},{n}> {scalar}{n};\ntypedef packed_vec<{scalar},{n}> packed_{scalar}{n};"
            ));
        }
    }
    w.since(None);
    let matrices =
        || ["half", "float"].into_iter().flat_map(|s| (2..=4).flat_map(move |c| (2..=4).map(move |r| (s, c, r))));
    for (s, c, r) in matrices() {
        w.line(format!("typedef matrix<{s},{c},{r}> {s}{c}x{r};"));
    }
    w.line("}");
    for (scalar, since) in SCALARS {
        w.since(since);
        for n in 2..=4 {
            w.line(format!("using metal::{scalar}{n};\nusing metal::packed_{scalar}{n};"));
        }
    }
    w.since(None);
    for (s, c, r) in matrices() {
        w.line(format!("using metal::{s}{c}x{r};"));
    }
    w.finish()
}
