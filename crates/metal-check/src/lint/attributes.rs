//! Attributes: their names, arguments and, on struct members, types (MSL 5.2).
use super::Lint;
use crate::lex::{TokenKind, TokenStream};
use crate::syntax::{Attribute, attribute_list};
use crate::version::LanguageVersion;

/// What an attribute takes in parentheses.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Argument {
    None,
    /// An index below the limit.
    Index(u64),
    /// Something that must be there.
    Required,
    /// One of these words.
    Word(&'static [&'static str]),
    Optional,
}
use Argument::{Index, None as NoArgument, Optional, Required, Word};

/// An attribute Metal knows.
struct Row {
    name: &'static str,
    argument: Argument,
    /// Types a struct member with it may have; empty: not checked.
    member: &'static [&'static str],
    since: LanguageVersion,
}

const fn row(name: &'static str, argument: Argument) -> Row {
    Row { name, argument, member: &[], since: LanguageVersion::V2_4 }
}

const fn member(name: &'static str, argument: Argument, member: &'static [&'static str]) -> Row {
    Row { name, argument, member, since: LanguageVersion::V2_4 }
}

const fn mesh(name: &'static str, argument: Argument) -> Row {
    Row { name, argument, member: &[], since: LanguageVersion::V3_0 }
}

/// Attributes of versions after those that are known here.
const LATER: [(&str, &str); 2] = [("required_threads_per_threadgroup", "4.0"), ("user_annotation", "4.0")];

/// Limits of MSL 5.2.1 and Apple's feature set tables.
pub(super) const BUFFERS: u64 = 31;
pub(super) const TEXTURES: u64 = 128;
pub(super) const SAMPLERS: u64 = 16;
const COLORS: u64 = 8;
const ATTRIBUTES: u64 = 31;

const UINT: &[&str] = &["uint", "ushort", "uchar"];

/// MSL 5.1, 5.2, 5.8 and what clang itself understands.
const ROWS: &[Row] = &[
    // resources; `id` in argument buffers may be any index
    row("buffer", Index(BUFFERS)),
    row("texture", Index(TEXTURES)),
    row("sampler", Index(SAMPLERS)),
    row("threadgroup", Index(BUFFERS)),
    row("id", Required),
    row("threadgroup_imageblock", NoArgument),
    row("imageblock_data", Optional),
    row("alias_implicit_imageblock", NoArgument),
    row("alias_implicit_imageblock_color", Required),
    row("function_groups", Required),
    // functions and variables
    row("function_constant", Required),
    row("kernel", NoArgument),
    row("vertex", NoArgument),
    row("fragment", NoArgument),
    row("early_fragment_tests", NoArgument),
    row("max_total_threads_per_threadgroup", Required),
    row("patch", Word(&["triangle", "quad"])),
    row("host_name", Required),
    row("visible", NoArgument),
    row("stitchable", NoArgument),
    row("intersection", Required),
    // vertex inputs and outputs
    row("stage_in", NoArgument),
    row("attribute", Index(ATTRIBUTES)),
    row("vertex_id", NoArgument),
    row("instance_id", NoArgument),
    row("base_vertex", NoArgument),
    row("base_instance", NoArgument),
    row("amplification_id", NoArgument),
    row("amplification_count", NoArgument),
    row("patch_id", NoArgument),
    row("position_in_patch", NoArgument),
    row("control_point_index", NoArgument),
    member("position", NoArgument, &["float4"]),
    member("point_size", NoArgument, &["float"]),
    member("clip_distance", NoArgument, &["float"]),
    row("invariant", NoArgument),
    row("shared", NoArgument),
    row("user", Required),
    // fragment inputs and outputs
    row("color", Index(COLORS)),
    row("index", Index(2)),
    row("raster_order_group", Required),
    member("depth", Word(&["any", "greater", "less"]), &["float"]),
    member("stencil", NoArgument, &["uint"]),
    member("sample_mask", Optional, &["uint"]),
    row("post_depth_coverage", NoArgument),
    member("front_facing", NoArgument, &["bool"]),
    member("point_coord", NoArgument, &["float2"]),
    member("sample_id", NoArgument, &["uint"]),
    member("primitive_id", NoArgument, UINT),
    member("barycentric_coord", NoArgument, &["float", "float2", "float3"]),
    member("render_target_array_index", NoArgument, UINT),
    member("viewport_array_index", NoArgument, UINT),
    row("flat", NoArgument),
    row("center_perspective", NoArgument),
    row("center_no_perspective", NoArgument),
    row("centroid_perspective", NoArgument),
    row("centroid_no_perspective", NoArgument),
    row("sample_perspective", NoArgument),
    row("sample_no_perspective", NoArgument),
    // kernel inputs
    row("thread_position_in_grid", NoArgument),
    row("thread_position_in_threadgroup", NoArgument),
    row("thread_index_in_threadgroup", NoArgument),
    row("threadgroup_position_in_grid", NoArgument),
    row("threads_per_threadgroup", NoArgument),
    row("threadgroups_per_grid", NoArgument),
    row("threads_per_grid", NoArgument),
    row("grid_origin", NoArgument),
    row("grid_size", NoArgument),
    row("thread_index_in_simdgroup", NoArgument),
    row("thread_index_in_quadgroup", NoArgument),
    row("simdgroup_index_in_threadgroup", NoArgument),
    row("simdgroups_per_threadgroup", NoArgument),
    row("quadgroup_index_in_threadgroup", NoArgument),
    row("quadgroups_per_threadgroup", NoArgument),
    row("threads_per_simdgroup", NoArgument),
    row("thread_execution_width", NoArgument),
    row("dispatch_threads_per_threadgroup", NoArgument),
    row("dispatch_quadgroups_per_threadgroup", NoArgument),
    row("dispatch_simdgroups_per_threadgroup", NoArgument),
    row("pixel_position_in_tile", NoArgument),
    row("pixels_per_tile", NoArgument),
    row("tile_index", NoArgument),
    row("payload", Optional),
    // ray tracing
    row("origin", NoArgument),
    row("direction", NoArgument),
    row("min_distance", NoArgument),
    row("max_distance", NoArgument),
    row("geometry_id", NoArgument),
    row("user_instance_id", NoArgument),
    row("opaque", NoArgument),
    row("accept_intersection", NoArgument),
    row("continue_search", NoArgument),
    row("distance", NoArgument),
    row("primitive_data", NoArgument),
    // meshes
    mesh("object", Optional),
    mesh("mesh", Optional),
    mesh("primitive_culled", NoArgument),
    mesh("max_total_threadgroups_per_mesh_grid", Required),
    // C++
    row("maybe_unused", NoArgument),
    row("nodiscard", Optional),
    row("fallthrough", NoArgument),
    row("deprecated", Optional),
    row("likely", NoArgument),
    row("unlikely", NoArgument),
    row("noreturn", NoArgument),
    row("always_inline", NoArgument),
    row("noinline", NoArgument),
    row("clang::optnone", NoArgument),
    row("clang::always_inline", NoArgument),
    row("clang::noinline", NoArgument),
    row("gnu::always_inline", NoArgument),
    row("gnu::noinline", NoArgument),
];

/// Checks every attribute, and the members of structs.
pub(super) fn check(lint: &mut Lint<'_>) {
    let mut i = 0;
    while i < lint.s.len() {
        if let Some((attributes, end)) = attribute_list(&lint.s, i) {
            for (k, a) in attributes.iter().enumerate() {
                attribute(lint, a);
                if attributes[..k].iter().any(|b| b.name == a.name) && a.name != "raster_order_group" {
                    lint.remark(a.at, format!("attribute '{}' cannot appear more than once on a declaration", a.name));
                }
                if a.name == "early_fragment_tests" && !attributes.iter().any(|b| b.name == "fragment") {
                    let head = (end..lint.s.len()).take(64).take_while(|&k| !matches!(lint.s.str(k), "(" | "{" | ";"));
                    if !head.into_iter().any(|k| lint.s.str(k) == "fragment") {
                        lint.remark(a.at, "'early_fragment_tests' attribute only applies to fragment functions");
                    }
                }
                if a.name == "function_constant" && lint.s.str(end) == "=" {
                    lint.remark(a.at, "a function constant has no initialiser");
                }
            }
            i = end;
        } else {
            if matches!(lint.s.str(i), "struct" | "class") {
                structure(lint, i);
            }
            i += 1;
        }
    }
}

fn attribute(lint: &mut Lint<'_>, a: &Attribute<'_>) {
    if let Some((name, version)) = LATER.iter().find(|(name, _)| *name == a.name) {
        lint.remark(a.at, format!("attribute '{name}' needs Metal {version}"));
        return;
    }
    let Some(row) = ROWS.iter().find(|r| r.name == a.name) else {
        lint.remark(a.at, format!("unknown attribute '{}'", a.name));
        return;
    };
    if row.since > lint.version {
        lint.remark(a.at, format!("attribute '{}' needs Metal {}", a.name, row.since));
    }
    let empty = a.argument.is_none_or(|(from, to)| from == to);
    match row.argument {
        NoArgument if a.argument.is_some() => lint.remark(a.at, format!("attribute '{}' takes no argument", a.name)),
        Index(_) | Required | Word(_) if empty => {
            lint.remark(a.at, format!("attribute '{}' needs an argument", a.name))
        }
        Index(limit) => {
            let text = a.text(&lint.s);
            if a.argument.is_some_and(|(from, to)| operands_touch(&lint.s, from, to)) {
                lint.remark(a.at, format!("the argument of '{}' is no expression", a.name));
            } else if let Some(n) = a.index(&lint.s).filter(|n| *n >= limit) {
                lint.remark(a.at, format!("'{}({n})' is out of range: at most {}", a.name, limit - 1));
            } else if text.contains(['.', '"']) || text.starts_with('-') || super::spaces::is_type(&text) {
                lint.remark(a.at, format!("'{}({text})' must be a constant integer", a.name));
            }
        }
        // Strings side by side are one.
        _ if a.name != "host_name" && a.argument.is_some_and(|(from, to)| operands_touch(&lint.s, from, to)) => {
            lint.remark(a.at, format!("the argument of '{}' is no expression", a.name));
        }
        Word(words) => {
            // `patch(triangle, 3)` also gives the number of control points.
            let text = a.text(&lint.s);
            if !words.contains(&text.split(',').next().unwrap_or_default()) {
                lint.remark(a.at, format!("'{}({text})' must be one of: {}", a.name, words.join(", ")));
            }
        }
        _ => {}
    }
}

/// Whether two operands stand side by side among the tokens `from..to`, as they do in no expression.
fn operands_touch(s: &TokenStream<'_>, from: usize, to: usize) -> bool {
    let operand = |i: usize| matches!(s.tokens[i].kind, TokenKind::Ident | TokenKind::Number | TokenKind::Literal);
    (from + 1..to).any(|i| operand(i - 1) && operand(i))
}

/// Checks the members of the struct at token `i`: duplicate places, types.
fn structure(lint: &mut Lint<'_>, i: usize) {
    let s = &lint.s;
    // The head may have attributes, a name, a base: the body is the first brace before any of these.
    let Some(open) = (i + 1..s.len()).take(40).find(|&k| matches!(s.str(k), "{" | ";" | "(" | ")" | ">" | "=")) else {
        return;
    };
    if s.str(open) != "{" {
        return;
    }
    let Some(close) = s.closing(open) else { return };
    let mut seen: Vec<String> = Vec::new();
    let mut remarks = Vec::new();
    let mut start = open + 1;
    let mut k = start;
    while k < close {
        match s.str(k) {
            "{" | "(" => {
                k = s.closing(k).unwrap_or(close);
                if s.str(k) == "}" {
                    start = k + 1;
                }
            }
            ";" => start = k + 1,
            "[" => {
                if let Some((attributes, end)) = attribute_list(s, k) {
                    for a in &attributes {
                        let place = format!("{}({})", a.name, a.text(s));
                        if matches!(a.name, "user" | "attribute" | "color" | "id" | "position" | "depth") {
                            // One color with several raster order groups or blend indices is one member each.
                            let whole =
                                attributes.iter().map(|b| format!("{}({})", b.name, b.text(s))).collect::<Vec<_>>();
                            let key = if a.name == "color" { whole.join(",") } else { place.clone() };
                            if seen.contains(&key) {
                                remarks.push((
                                    a.at,
                                    format!("'{}' is used twice in one structure", place.trim_end_matches("()")),
                                ));
                            }
                            seen.push(key);
                        }
                        if let Some(row) = ROWS.iter().find(|r| r.name == a.name && !r.member.is_empty()) {
                            let ty = member_type(s, start, k);
                            if !ty.is_empty() && !row.member.contains(&ty.as_str()) {
                                remarks.push((a.at, format!("a member with [[{}]] cannot have type '{ty}'", a.name)));
                            }
                        }
                    }
                    k = end;
                    continue;
                }
                k = s.closing(k).unwrap_or(close);
            }
            _ => {}
        }
        k += 1;
    }
    for (at, message) in remarks {
        lint.remark(at, message);
    }
}

/// The type of the member declared by the tokens `from..to`, if it is one word; else nothing.
fn member_type(s: &TokenStream<'_>, from: usize, to: usize) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut k = from;
    while k < to {
        match s.str(k) {
            "[" => k = s.closing(k).unwrap_or(to),
            "metal" | "::" | "const" | "volatile" => {}
            word => words.push(word),
        }
        k += 1;
    }
    match words[..] {
        [ty, _] if ty.ends_with(|c: char| c.is_alphanumeric()) => ty.to_owned(),
        _ => String::new(),
    }
}
