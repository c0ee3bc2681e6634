//! Functions over scalars and vectors: common (MSL 6.3), integer (6.4), relational (6.5), math (6.6), geometric (6.9).
//!
//! Each is a plain overload per type, not a template, so a call that is ambiguous in Metal is ambiguous here. Bodies are
//! given for scalars; vectors go component by component. Floating-point bodies compute in `float` and round once to the
//! type.
use super::{INTEGERS, Integer, SCALARS, Writer, vector};
use crate::version::LanguageVersion;

/// A function of `args` arguments of the same type, which is also its result's.
struct Float {
    name: &'static str,
    args: usize,
    /// An expression over `$x`, `$y`, `$z`: the arguments as `float`.
    body: &'static str,
    since: Option<LanguageVersion>,
    /// Whether `metal::precise` and `metal::fast` have it.
    variants: bool,
}

const fn f(name: &'static str, args: usize, body: &'static str) -> Float {
    Float { name, args, body, since: None, variants: true }
}

/// A function that `metal::precise` and `metal::fast` lack.
const fn plain(name: &'static str, args: usize, body: &'static str) -> Float {
    Float { name, args, body, since: None, variants: false }
}

/// MSL 6.3 and 6.6.
const FLOATS: &[Float] = &[
    f("acos", 1, "__builtin_acosf($x)"),
    f("acosh", 1, "__builtin_acoshf($x)"),
    f("asin", 1, "__builtin_asinf($x)"),
    f("asinh", 1, "__builtin_asinhf($x)"),
    f("atan", 1, "__builtin_atanf($x)"),
    f("atan2", 2, "__builtin_atan2f($x, $y)"),
    f("atanh", 1, "__builtin_atanhf($x)"),
    f("ceil", 1, "__builtin_ceilf($x)"),
    f("copysign", 2, "__builtin_copysignf($x, $y)"),
    f("cos", 1, "__builtin_cosf($x)"),
    f("cosh", 1, "__builtin_coshf($x)"),
    f("cospi", 1, "__msl::__msl_cospi($x)"),
    f("divide", 2, "$x / $y"),
    f("exp", 1, "__builtin_expf($x)"),
    f("exp2", 1, "__builtin_exp2f($x)"),
    f("exp10", 1, "__msl::__msl_exp10($x)"),
    f("fabs", 1, "__builtin_fabsf($x)"),
    f("abs", 1, "__builtin_fabsf($x)"),
    f("fdim", 2, "__builtin_fdimf($x, $y)"),
    f("floor", 1, "__builtin_floorf($x)"),
    f("fma", 3, "__msl::fma<{T}>($x, $y, $z)"),
    f("fmax", 2, "__builtin_fmaxf($x, $y)"),
    f("fmax3", 3, "__builtin_fmaxf(__builtin_fmaxf($x, $y), $z)"),
    f("fmedian3", 3, "__msl::median($x, $y, $z)"),
    f("fmin", 2, "__builtin_fminf($x, $y)"),
    f("fmin3", 3, "__builtin_fminf(__builtin_fminf($x, $y), $z)"),
    f("fmod", 2, "__builtin_fmodf($x, $y)"),
    f("fract", 1, "__msl::fract<{T}>($x)"),
    f("log", 1, "__builtin_logf($x)"),
    f("log2", 1, "__builtin_log2f($x)"),
    f("log10", 1, "__builtin_log10f($x)"),
    f("max", 2, "__builtin_fmaxf($x, $y)"),
    f("max3", 3, "__builtin_fmaxf(__builtin_fmaxf($x, $y), $z)"),
    f("median3", 3, "__msl::median($x, $y, $z)"),
    f("min", 2, "__builtin_fminf($x, $y)"),
    f("min3", 3, "__builtin_fminf(__builtin_fminf($x, $y), $z)"),
    Float {
        name: "nextafter",
        args: 2,
        body: "__msl::nextafter(x, y)",
        since: Some(LanguageVersion::V3_1),
        variants: true,
    },
    f("pow", 2, "__builtin_powf($x, $y)"),
    f("powr", 2, "__builtin_powf($x, $y)"),
    f("rint", 1, "__builtin_rintf($x)"),
    f("round", 1, "__builtin_roundf($x)"),
    f("rsqrt", 1, "1.0f / __builtin_sqrtf($x)"),
    f("sin", 1, "__builtin_sinf($x)"),
    f("sinh", 1, "__builtin_sinhf($x)"),
    f("sinpi", 1, "__msl::__msl_sinpi($x)"),
    f("sqrt", 1, "__builtin_sqrtf($x)"),
    f("tan", 1, "__builtin_tanf($x)"),
    f("tanh", 1, "__builtin_tanhf($x)"),
    f("tanpi", 1, "__msl::__msl_tanpi($x)"),
    f("trunc", 1, "__builtin_truncf($x)"),
    // common functions
    f("clamp", 3, "__builtin_fminf(__builtin_fmaxf($x, $y), $z)"),
    plain("mix", 3, "$x + ($y - $x) * $z"),
    f("saturate", 1, "__builtin_fminf(__builtin_fmaxf($x, 0.0f), 1.0f)"),
    plain("sign", 1, "$x > 0.0f ? 1.0f : $x < 0.0f ? -1.0f : $x == 0.0f ? $x : 0.0f"),
    plain("smoothstep", 3, "__msl::smoothstep($x, $y, $z)"),
    plain("step", 2, "$y < $x ? 0.0f : 1.0f"),
];

/// An integer function: arguments are all of the type `{T}`; `{U}` is its unsigned type, `{W}` its width, `{wide}` a type
/// that holds any sum or product.
struct Int {
    name: &'static str,
    args: usize,
    unsigned_result: bool,
    /// Body for signed types, and for unsigned ones.
    body: [&'static str; 2],
    /// Whether only `int` and `uint` have it.
    only32: bool,
}

const fn i(name: &'static str, args: usize, body: &'static str) -> Int {
    Int { name, args, unsigned_result: false, body: [body; 2], only32: false }
}

/// MSL 6.4; a row may use those above it.
const INTS: &[Int] = &[
    i("max", 2, "x > y ? x : y"),
    i("min", 2, "x < y ? x : y"),
    i("mulhi", 2, "({wide}(x) * {wide}(y)) >> {W}"),
    Int { name: "abs", args: 1, unsigned_result: false, body: ["x < 0 ? -x : x", "x"], only32: false },
    Int {
        name: "absdiff",
        args: 2,
        unsigned_result: true,
        body: ["x > y ? {U}(x) - {U}(y) : {U}(y) - {U}(x)"; 2],
        only32: false,
    },
    i("addsat", 2, "__msl::sat<{T}>({wide}(x) + {wide}(y))"),
    i("clamp", 3, "x < y ? y : (x > z ? z : x)"),
    i("clz", 1, "__msl::clz<{W}>({U}(x))"),
    i("ctz", 1, "__msl::ctz<{W}>({U}(x))"),
    i("hadd", 2, "({wide}(x) + {wide}(y)) >> 1"),
    i("madhi", 3, "mulhi(x, y) + z"),
    i("madsat", 3, "__msl::sat<{T}>({wide}(x) * {wide}(y) + {wide}(z))"),
    i("max3", 3, "max(max(x, y), z)"),
    i("median3", 3, "max(min(x, y), min(max(x, y), z))"),
    i("min3", 3, "min(min(x, y), z)"),
    i("popcount", 1, "__builtin_popcountl(ulong({U}(x)))"),
    i("reverse_bits", 1, "__builtin_bitreverse{W}({U}(x))"),
    i("rhadd", 2, "({wide}(x) + {wide}(y) + 1) >> 1"),
    i("rotate", 2, "__msl::rotate<{W}>({U}(x), {U}(y))"),
    Int {
        name: "subsat",
        args: 2,
        unsigned_result: false,
        body: ["__msl::sat<{T}>({wide}(x) - {wide}(y))", "x > y ? x - y : 0"],
        only32: false,
    },
    Int { name: "mad24", args: 3, unsigned_result: false, body: ["x * y + z"; 2], only32: true },
    Int { name: "mul24", args: 2, unsigned_result: false, body: ["x * y"; 2], only32: true },
];

/// Functions of floating-point arguments with a boolean result (MSL 6.5).
const TESTS: [(&str, usize, &str); 7] = [
    ("isfinite", 1, "__builtin_isfinite($x)"),
    ("isinf", 1, "__builtin_isinf($x)"),
    ("isnan", 1, "__builtin_isnan($x)"),
    ("isnormal", 1, "__msl::isnormal<{T}>($x)"),
    ("isordered", 2, "$x == $x && $y == $y"),
    ("isunordered", 2, "$x != $x || $y != $y"),
    ("signbit", 1, "__builtin_signbitf($x)"),
];

/// Functions of one vector type `V` of elements `T`, for vectors only (MSL 6.9).
const GEOMETRIC: &[(&str, &str)] = &[
    (
        "T dot(V x, V y)",
        "T r = x.__d[0] * y.__d[0]; for (int i = 1; i < N; ++i) r = T(r + x.__d[i] * y.__d[i]); return r;",
    ),
    ("T length_squared(V x)", "return dot(x, x);"),
    ("T length(V x)", "return sqrt(dot(x, x));"),
    ("T distance(V x, V y)", "return length(x - y);"),
    ("T distance_squared(V x, V y)", "return length_squared(x - y);"),
    ("V normalize(V x)", "return x * rsqrt(dot(x, x));"),
    ("V faceforward(V n, V i, V r)", "return dot(r, i) < T(0) ? +n : -n;"),
    ("V reflect(V i, V n)", "return i - T(2) * dot(n, i) * n;"),
    (
        "V refract(V i, V n, T e)",
        "T d = dot(n, i), k = T(T(1) - e * e * (T(1) - d * d)); return k < T(0) ? V(T(0)) : e * i - (e * d + sqrt(k)) * n;",
    ),
];

const NAMES: [&str; 3] = ["x", "y", "z"];
const FLOAT_TYPES: [(&str, Option<LanguageVersion>); 2] = [("float", None), ("half", None)];

pub(super) fn text() -> String {
    let mut w = Writer::new("MSL 6.3 - 6.6, 6.9: common, integer, relational, math and geometric functions");
    w.line("namespace metal {");
    for (ty, since) in FLOAT_TYPES {
        for n in 1..=4 {
            floats(&mut w, ty, since, n);
        }
    }
    for ty in &INTEGERS {
        for n in 1..=4 {
            integers(&mut w, ty, n);
        }
    }
    relational(&mut w);
    variants(&mut w);
    w.line("}");
    w.finish()
}

/// Emits one function: `body` for the scalar, component by component for vectors.
fn emit(w: &mut Writer, result: &str, name: &str, ty: &str, args: usize, n: usize, body: &str) {
    let (v, r) = (vector(ty, n), vector(result, n));
    let params = NAMES[..args].iter().map(|a| format!("{v} {a}")).collect::<Vec<_>>().join(", ");
    if n == 1 {
        w.line(format!("METAL_FUNC {r} {name}({params}) {{ return {result}({body}); }}"));
    } else {
        let call = NAMES[..args].iter().map(|a| format!("{a}.__d[i]")).collect::<Vec<_>>().join(", ");
        w.line(format!(
            "METAL_FUNC {r} {name}({params}) {{ {r} r; for (int i = 0; i < {n}; ++i) r.__d[i] = {name}({call}); return r; }}"
        ));
    }
}

fn float_body(body: &str, ty: &str) -> String {
    // Where a dispatch flushes denormal numbers, the C library must not see them; those of `half` are none of `float`.
    let convert = if ty == "float" { "__msl::flushed" } else { "float" };
    NAMES.iter().fold(body.replace("{T}", ty), |b, n| b.replace(&format!("${n}"), &format!("{convert}({n})")))
}

fn floats(w: &mut Writer, ty: &str, since: Option<LanguageVersion>, n: usize) {
    w.since(since);
    tests(w, ty, n);
    for row in FLOATS {
        w.since(since.max(row.since));
        emit(w, ty, row.name, ty, row.args, n, &float_body(row.body, ty));
    }
    w.since(since);
    let (v, e) = (vector(ty, n), vector("int", n));
    // Functions with a second result (MSL 6.6).
    if n == 1 {
        w.line(format!("METAL_FUNC {v} sincos({v} x, thread {v}& c) {{ c = cos(x); return sin(x); }}"));
        w.line(format!("METAL_FUNC {v} modf({v} x, thread {v}& w) {{ w = trunc(x); return {v}(isinf(x) ? copysign({v}(0), x) : copysign({v}(x - w), x)); }}"));
        w.line(format!("METAL_FUNC {v} frexp({v} x, thread int& e) {{ int t = 0; float r = __builtin_frexpf(float(x), &t); e = t; return {v}(r); }}"));
        w.line(format!("METAL_FUNC {v} ldexp({v} x, int k) {{ return {v}(__builtin_ldexpf(float(x), k)); }}"));
        w.line(format!("METAL_FUNC int ilogb({v} x) {{ return __builtin_ilogbf(float(x)); }}"));
    } else {
        for (name, out, element) in [("sincos", &v, ty), ("modf", &v, ty), ("frexp", &e, "int")] {
            w.line(format!(
                "METAL_FUNC {v} {name}({v} x, thread {out}& o) {{ {v} r; for (int i = 0; i < {n}; ++i) {{ {element} t; r.__d[i] = {name}(x.__d[i], t); o.__d[i] = t; }} return r; }}"
            ));
        }
        w.line(format!("METAL_FUNC {v} ldexp({v} x, {e} k) {{ {v} r; for (int i = 0; i < {n}; ++i) r.__d[i] = ldexp(x.__d[i], k.__d[i]); return r; }}"));
        w.line(format!("METAL_FUNC {e} ilogb({v} x) {{ {e} r; for (int i = 0; i < {n}; ++i) r.__d[i] = ilogb(x.__d[i]); return r; }}"));
        for (head, body) in GEOMETRIC {
            let spell = |s: &str| words(s, &[("V", &v), ("T", ty), ("N", &n.to_string())]);
            w.line(format!("METAL_FUNC {} {{ {} }}", spell(head), spell(body)));
        }
        if n == 3 {
            w.line(format!("METAL_FUNC {v} cross({v} a, {v} b) {{ return a.yzx * b.zxy - a.zxy * b.yzx; }}"));
        }
    }
}

fn tests(w: &mut Writer, ty: &str, n: usize) {
    let v = vector(ty, n);
    for (name, args, body) in TESTS {
        let result = vector("bool", n);
        let params = NAMES[..args].iter().map(|a| format!("{v} {a}")).collect::<Vec<_>>().join(", ");
        if n == 1 {
            w.line(format!("METAL_FUNC bool {name}({params}) {{ return {}; }}", float_body(body, ty)));
        } else {
            let call = NAMES[..args].iter().map(|a| format!("{a}.__d[i]")).collect::<Vec<_>>().join(", ");
            w.line(format!("METAL_FUNC {result} {name}({params}) {{ {result} r; for (int i = 0; i < {n}; ++i) r.__d[i] = {name}({call}); return r; }}"));
        }
    }
}

/// `metal::fast` and `metal::precise`: the same functions of `float`, by name (MSL 6.6).
fn variants(w: &mut Writer) {
    for space in ["fast", "precise"] {
        w.line(format!("namespace {space} {{"));
        for n in 1..=4 {
            let v = vector("float", n);
            for row in FLOATS.iter().filter(|r| r.variants) {
                w.since(row.since);
                let params = NAMES[..row.args].iter().map(|a| format!("{v} {a}")).collect::<Vec<_>>().join(", ");
                let name = row.name;
                w.line(format!(
                    "METAL_FUNC {v} {name}({params}) {{ return metal::{name}({}); }}",
                    NAMES[..row.args].join(", ")
                ));
            }
            w.since(None);
            let e = vector("int", n);
            for (head, args) in [
                ("V sincos(V x, thread V& o)", "x, o"),
                ("V modf(V x, thread V& o)", "x, o"),
                ("V frexp(V x, thread E& o)", "x, o"),
                ("V ldexp(V x, E o)", "x, o"),
                ("E ilogb(V x)", "x"),
            ] {
                let name = head.split([' ', '(']).nth(1).unwrap_or_default();
                let head = words(head, &[("V", &v), ("E", &e)]);
                w.line(format!("METAL_FUNC {head} {{ return metal::{name}({args}); }}"));
            }
            w.since(Some(LanguageVersion::V3_2));
            let b = vector("bool", n);
            w.line(format!("METAL_FUNC {v} select({v} x, {v} y, {b} c) {{ return metal::select(x, y, c); }}"));
            w.since(None);
            if n > 1 {
                for (head, args) in
                    [("float length(V x)", "x"), ("float distance(V x, V y)", "x, y"), ("V normalize(V x)", "x")]
                {
                    let name = head.split([' ', '(']).nth(1).unwrap_or_default();
                    w.line(format!("METAL_FUNC {} {{ return metal::{name}({args}); }}", words(head, &[("V", &v)])));
                }
            }
        }
        w.line("}");
    }
}

fn integers(w: &mut Writer, ty: &Integer, n: usize) {
    let wide = match (ty.bits, ty.signed) {
        (64, true) => "__int128_t",
        (64, false) => "__uint128_t",
        (_, true) => "long",
        (_, false) => "ulong",
    };
    for row in INTS.iter().filter(|r| !r.only32 || ty.bits == 32) {
        let body = row.body[usize::from(!ty.signed)]
            .replace("{T}", ty.name)
            .replace("{U}", ty.unsigned)
            .replace("{W}", &ty.bits.to_string())
            .replace("{wide}", wide);
        emit(w, if row.unsigned_result { ty.unsigned } else { ty.name }, row.name, ty.name, row.args, n, &body);
    }
    let (t, v) = (ty.name, vector(ty.name, n));
    if n == 1 {
        w.line(format!(
            "METAL_FUNC {t} extract_bits({t} x, uint o, uint b) {{ return __msl::extract<{t},{},{}>(x, o, b); }}",
            ty.unsigned, ty.bits
        ));
        w.line(format!("METAL_FUNC {t} insert_bits({t} x, {t} y, uint o, uint b) {{ return __msl::insert<{t},{},{}>(x, y, o, b); }}", ty.unsigned, ty.bits));
    } else {
        w.line(format!("METAL_FUNC {v} extract_bits({v} x, uint o, uint b) {{ {v} r; for (int i = 0; i < {n}; ++i) r.__d[i] = extract_bits(x.__d[i], o, b); return r; }}"));
        w.line(format!("METAL_FUNC {v} insert_bits({v} x, {v} y, uint o, uint b) {{ {v} r; for (int i = 0; i < {n}; ++i) r.__d[i] = insert_bits(x.__d[i], y.__d[i], o, b); return r; }}"));
    }
}

/// `any`, `all`, `select` (MSL 6.5) and derivatives (MSL 6.11.1).
fn relational(w: &mut Writer) {
    w.line("METAL_FUNC constexpr bool all(bool x) { return x; }\nMETAL_FUNC constexpr bool any(bool x) { return x; }");
    for n in 2..=4 {
        for (name, op) in [("all", "&&"), ("any", "||")] {
            let terms = (0..n).map(|i| format!("x.__d[{i}]")).collect::<Vec<_>>().join(&format!(" {op} "));
            w.line(format!("METAL_FUNC constexpr bool {name}(vec<bool,{n}> x) {{ return {terms}; }}"));
        }
    }
    for (ty, since) in SCALARS {
        w.since(since);
        w.line(format!("METAL_FUNC {ty} select({ty} a, {ty} b, bool c) {{ return c ? b : a; }}"));
        for n in 2..=4 {
            let v = vector(ty, n);
            w.line(format!("METAL_FUNC {v} select({v} a, {v} b, vec<bool,{n}> c) {{ {v} r; for (int i = 0; i < {n}; ++i) r.__d[i] = c.__d[i] ? b.__d[i] : a.__d[i]; return r; }}"));
        }
    }
    w.since(None);
    for (ty, since) in FLOAT_TYPES {
        w.since(since);
        for n in 1..=4 {
            let v = vector(ty, n);
            for name in ["dfdx", "dfdy", "fwidth"] {
                w.line(format!("METAL_FUNC {v} {name}({v} p) {{ return p - p; }}"));
            }
        }
    }
    w.since(None);
}

/// Replaces whole words of `text`.
fn words(text: &str, table: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(table.iter().find(|(k, _)| *k == word).map_or(word.as_str(), |(_, v)| v));
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}
