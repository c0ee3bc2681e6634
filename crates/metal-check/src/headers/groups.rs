//! SIMD-group and quad-group functions (MSL 6.10.2, 6.10.3).
use super::Writer;

/// Data exchange: takes a value and a lane or distance `i`. The body names the lane whose value is taken.
const EXCHANGES: [(&str, &str); 7] = [
    ("broadcast", "i"),
    ("shuffle", "i"),
    ("shuffle_xor", "lane ^ i"),
    ("shuffle_up", "lane - i"),
    ("shuffle_down", "lane + i"),
    ("shuffle_rotate_up", "(lane - i) & (W - 1)"),
    ("shuffle_rotate_down", "(lane + i) & (W - 1)"),
];
const REDUCTIONS: [&str; 8] = [
    "sum",
    "product",
    "prefix_exclusive_sum",
    "prefix_inclusive_sum",
    "prefix_exclusive_product",
    "prefix_inclusive_product",
    "min",
    "max",
];
const BITWISE: [&str; 3] = ["and", "or", "xor"];

/// The last parameter of every collective: where the call is, for lanes to find each other (never written by a caller).
const SITE: &str = "__msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())";

pub(super) fn text() -> String {
    let mut w = Writer::new("MSL 6.10.2, 6.10.3: SIMD-group and quad-group functions");
    w.line("namespace metal {");
    for (prefix, quad) in [("simd", false), ("quad", true)] {
        group(&mut w, prefix, quad);
        votes(&mut w, prefix, quad);
    }
    w.line("}");
    w.finish()
}

/// One template for all types, as in Metal's library: numbers of up to 32 bits and vectors of them, neither 64-bit integers
/// nor `bfloat`; the type of the call decides, so nothing converts.
fn group(w: &mut Writer, prefix: &str, quad: bool) {
    let number = "template<class V, class = __msl::if_lane<V>> METAL_FUNC V";
    let integer = "template<class V, class = __msl::if_lane_integer<V>> METAL_FUNC V";
    for (name, lane) in EXCHANGES {
        let lane = lane.replace('W', if quad { "4" } else { "int(__msl::__msl_simd_width())" });
        w.line(format!("{number} {prefix}_{name}(V x, ushort i, {SITE}) {{ int lane = __msl::lane<{quad}>(); return __msl::exchange<{quad}>(x, {lane}, s); }}"));
    }
    w.line(format!("{number} {prefix}_broadcast_first(V x, {SITE}) {{ return __msl::first<{quad}>(x, s); }}"));
    for (name, sign) in [("up", "-"), ("down", "+")] {
        let width = if quad { "ushort(4)" } else { "ushort(__msl::__msl_simd_width())" };
        let body = format!("return __msl::fill<{quad}>(x, fill, {sign}int(i), m, s);");
        w.line(format!(
            "{number} {prefix}_shuffle_and_fill_{name}(V x, V fill, ushort i, ushort m, {SITE}) {{ {body} }}"
        ));
        w.line(format!(
            "{number} {prefix}_shuffle_and_fill_{name}(V x, V fill, ushort i, {SITE}) {{ ushort m = {width}; {body} }}"
        ));
    }
    for (head, names) in [(number, &REDUCTIONS[..]), (integer, &BITWISE[..])] {
        for name in names {
            w.line(format!(
                "{head} {prefix}_{name}(V x, {SITE}) {{ return __msl::reduce<{quad}, __msl::op_{name}>(x, s); }}"
            ));
        }
    }
}

fn votes(w: &mut Writer, prefix: &str, quad: bool) {
    let p = prefix;
    for line in [
        format!("METAL_FUNC {p}_vote {p}_ballot(bool b, {SITE}) {{ return {p}_vote(__msl::ballot<{quad}>(b, s)); }}"),
        format!(
            "METAL_FUNC {p}_vote {p}_active_threads_mask({SITE}) {{ return {p}_vote(__msl::ballot<{quad}>(true, s)); }}"
        ),
        format!("METAL_FUNC bool {p}_all(bool b, {SITE}) {{ return __msl::ballot<{quad}>(!b, s) == 0; }}"),
        format!("METAL_FUNC bool {p}_any(bool b, {SITE}) {{ return __msl::ballot<{quad}>(b, s) != 0; }}"),
        format!(
            "METAL_FUNC bool {p}_is_first({SITE}) {{ ulong m = __msl::ballot<{quad}>(true, s); return __msl::lane<{quad}>() == __builtin_ctzl(m); }}"
        ),
        format!("METAL_FUNC bool {p}_is_helper_thread() {{ return false; }}"),
    ] {
        w.line(line);
    }
}
