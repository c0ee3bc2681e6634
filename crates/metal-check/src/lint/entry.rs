//! Entry functions: their parameters, attributes and results (MSL 5.1, 5.2, 5.8).
use super::Lint;
use crate::lex::TokenStream;
use crate::syntax::{Entry, Parameter, Stage, attribute_list, entries, parameter};

/// An input that the device gives a function.
struct Input {
    name: &'static str,
    types: &'static [&'static str],
}

const SCALAR: &[&str] = &["uint", "ushort"];
const VECTOR: &[&str] = &["uint", "ushort", "uint2", "uint3", "ushort2", "ushort3"];

const fn input(name: &'static str, types: &'static [&'static str]) -> Input {
    Input { name, types }
}

/// MSL 5.2.3.6.
const KERNEL: &[Input] = &[
    input("dispatch_quadgroups_per_threadgroup", SCALAR),
    input("dispatch_simdgroups_per_threadgroup", SCALAR),
    input("dispatch_threads_per_threadgroup", VECTOR),
    input("grid_origin", VECTOR),
    input("grid_size", VECTOR),
    input("quadgroup_index_in_threadgroup", SCALAR),
    input("quadgroups_per_threadgroup", SCALAR),
    input("simdgroup_index_in_threadgroup", SCALAR),
    input("simdgroups_per_threadgroup", SCALAR),
    input("thread_execution_width", SCALAR),
    input("thread_index_in_quadgroup", SCALAR),
    input("thread_index_in_simdgroup", SCALAR),
    input("thread_index_in_threadgroup", SCALAR),
    input("thread_position_in_grid", VECTOR),
    input("thread_position_in_threadgroup", VECTOR),
    input("threadgroup_position_in_grid", VECTOR),
    input("threadgroups_per_grid", VECTOR),
    input("threads_per_grid", VECTOR),
    input("threads_per_simdgroup", SCALAR),
    input("threads_per_threadgroup", VECTOR),
];
/// MSL 5.2.3.1, 5.2.3.2.
const VERTEX: &[Input] = &[
    input("amplification_count", SCALAR),
    input("amplification_id", SCALAR),
    input("base_instance", SCALAR),
    input("base_vertex", SCALAR),
    input("instance_id", SCALAR),
    input("patch_id", SCALAR),
    input("position_in_patch", &["float2", "float3"]),
    input("vertex_id", SCALAR),
];
/// MSL 5.2.3.4.
const FRAGMENT: &[Input] = &[
    input("amplification_count", SCALAR),
    input("amplification_id", SCALAR),
    input("barycentric_coord", &["float", "float2", "float3"]),
    input("front_facing", &["bool"]),
    input("point_coord", &["float2"]),
    input("position", &["float4"]),
    input("primitive_culled", &["bool"]),
    input("primitive_id", SCALAR),
    input("render_target_array_index", &["uint", "ushort", "uchar"]),
    input("sample_id", &["uint"]),
    input("sample_mask", &["uint"]),
    input("thread_index_in_quadgroup", SCALAR),
    input("thread_index_in_simdgroup", SCALAR),
    input("threads_per_simdgroup", SCALAR),
    input("viewport_array_index", &["uint", "ushort", "uchar"]),
];

/// Checks every entry function.
pub(super) fn check(lint: &mut Lint<'_>) {
    let entries = entries(&lint.s);
    for (k, entry) in entries.iter().enumerate() {
        let name = lint.s.str(entry.name).to_owned();
        if name == "main" {
            lint.remark(entry.name, "an entry function cannot be called 'main'");
        }
        let defined = |e: &Entry| lint.s.str(e.close + 1) == "{";
        let twice = entries[..k].iter().any(|e| lint.s.str(e.name) == name && defined(e) && defined(entry));
        if twice {
            lint.remark(entry.name, format!("entry function '{name}' cannot be overloaded"));
        }
        let parameters: Vec<Parameter<'_>> = {
            let s = &lint.s;
            s.split_commas(entry.open + 1, entry.close).into_iter().map(|(from, to)| parameter(s, from, to)).collect()
        };
        let mut remarks = Vec::new();
        for p in &parameters {
            check_parameter(&lint.s, entry.stage, p, &mut remarks);
        }
        check_indices(&lint.s, &parameters, &mut remarks);
        check_positions(&parameters, &mut remarks);
        check_widths(&parameters, &mut remarks);
        check_result(&lint.s, entry, &mut remarks);
        for (at, message) in remarks {
            lint.remark(at, message);
        }
    }
}

fn check_parameter(s: &TokenStream<'_>, stage: Stage, p: &Parameter<'_>, remarks: &mut Vec<(usize, String)>) {
    if p.text == "void" || p.text == "..." {
        return;
    }
    let names: Vec<&str> = p.attributes.iter().map(|a| a.name).filter(|n| *n != "maybe_unused").collect();
    if names.is_empty() {
        let opaque = ["imageblock", "mesh", "mesh_grid_properties", "patch_control_point", "command_buffer"];
        let mesh_type = stage == Stage::Mesh && p.text.split(' ').count() == 2;
        if !p.is_resource() && !mesh_type && !opaque.iter().any(|o| p.ty.split('<').next() == Some(o)) {
            remarks.push((p.at, format!("{} parameter '{}' has no attribute", stage.name(), p.text)));
        }
        return;
    }
    for a in &p.attributes {
        let wrong = match a.name {
            "buffer" => {
                let pointer = (p.has_word("device") || p.has_word("constant")) && p.points();
                let array = p.ty.starts_with("array<") && (p.has_word("device") || p.has_word("constant"));
                if p.has_word("*") && p.holds_handles() {
                    Some("points to pointers, textures or samplers, which must be members of a structure".to_owned())
                } else {
                    (!pointer && !array && !p.is_table())
                        .then(|| "must be a device or constant pointer or reference".to_owned())
                }
            }
            "threadgroup" => (!(p.has_word("threadgroup") && p.points()))
                .then(|| "must be a threadgroup pointer or reference".to_owned()),
            "texture" => (!p.is_texture()).then(|| "must be a texture".to_owned()),
            "sampler" => (!p.is_sampler()).then(|| "must be a sampler".to_owned()),
            "kernel" | "vertex" | "fragment" | "early_fragment_tests" | "patch" | "host_name" => {
                Some("belongs on a function".to_owned())
            }
            "id" | "attribute" => Some("belongs on a member of a structure".to_owned()),
            name => check_input(stage, name, &p.ty),
        };
        if let Some(message) = wrong {
            remarks.push((a.at, format!("[[{}]] '{}' {message}", a.name, p.text)));
        }
    }
    let stage_ins = usize::from(names.contains(&"stage_in"));
    if stage_ins == 1 && p.points() {
        remarks.push((p.at, format!("[[stage_in]] '{}' must be a structure passed by value", p.text)));
    }
    let _ = s;
}

/// What is wrong with input `name` of type `ty` in a function of `stage`.
fn check_input(stage: Stage, name: &str, ty: &str) -> Option<String> {
    let table = match stage {
        Stage::Kernel | Stage::Mesh => KERNEL,
        Stage::Vertex => VERTEX,
        Stage::Fragment => FRAGMENT,
    };
    if let Some(input) = table.iter().find(|i| i.name == name) {
        return (!input.types.contains(&ty)).then(|| format!("cannot have type '{ty}'"));
    }
    let elsewhere = [KERNEL, VERTEX, FRAGMENT].iter().any(|t| t.iter().any(|i| i.name == name));
    (elsewhere && stage != Stage::Mesh).then(|| format!("is not an input of a {} function", stage.name()))
}

/// Positions and sizes of the grid: as many components for one as for all ("expecting input declarations with either all
/// scalar types or all vector types with the same number of elements").
fn check_positions(parameters: &[Parameter<'_>], remarks: &mut Vec<(usize, String)>) {
    let is_position = |name: &str| KERNEL.iter().any(|i| i.name == name && i.types == VECTOR);
    let mut first: Option<&Parameter<'_>> = None;
    for p in parameters.iter().filter(|p| p.attributes.iter().any(|a| is_position(a.name))) {
        let components = |ty: &str| ty.trim_start_matches(char::is_alphabetic).to_owned();
        match first {
            None => first = Some(p),
            Some(f) if components(&f.ty) == components(&p.ty) => {}
            Some(f) => remarks.push((
                p.at,
                format!(
                    "'{}' and '{}' must both be scalars or vectors with the same number of elements",
                    f.text, p.text
                ),
            )),
        }
    }
}

/// Two names of one input.
fn check_widths(parameters: &[Parameter<'_>], remarks: &mut Vec<(usize, String)>) {
    let find = |name: &str| parameters.iter().find(|p| p.attributes.iter().any(|a| a.name == name));
    if let (Some(a), Some(_)) = (find("thread_execution_width"), find("threads_per_simdgroup")) {
        let message = "a function cannot have inputs with 'thread_execution_width' and 'threads_per_simdgroup'";
        remarks.push((a.at, message.to_owned()));
    }
}

/// Indices of resources: each used once. Resources of one raster order group may share an index.
fn check_indices(s: &TokenStream<'_>, parameters: &[Parameter<'_>], remarks: &mut Vec<(usize, String)>) {
    let mut taken: Vec<(&str, u64)> = Vec::new();
    let mut singles: Vec<&str> = Vec::new();
    for p in parameters {
        let grouped = p.attributes.iter().any(|a| matches!(a.name, "raster_order_group" | "function_constant"));
        for a in &p.attributes {
            if matches!(a.name, "buffer" | "texture" | "sampler" | "threadgroup") {
                let Some(first) = a.index(s) else { continue };
                let limit = match a.name {
                    "texture" => super::attributes::TEXTURES,
                    "sampler" => super::attributes::SAMPLERS,
                    _ => super::attributes::BUFFERS,
                };
                if p.count > 1 && first + p.count > limit {
                    remarks.push((
                        a.at,
                        format!("'{}' needs {} indices from {first}: at most {limit} exist", p.text, p.count),
                    ));
                }
                for index in first..(first + p.count).min(first + 128) {
                    if taken.contains(&(a.name, index)) && !grouped {
                        remarks.push((a.at, format!("[[{}({index})]] is used twice", a.name)));
                        break;
                    }
                    taken.push((a.name, index));
                }
            } else if [KERNEL, VERTEX, FRAGMENT].iter().any(|t| t.iter().any(|i| i.name == a.name))
                || a.name == "stage_in"
            {
                if singles.contains(&a.name) {
                    remarks.push((a.at, format!("[[{}]] is used twice", a.name)));
                }
                singles.push(a.name);
            }
        }
    }
}

/// A kernel returns nothing; a fragment function returns no pointer.
fn check_result(s: &TokenStream<'_>, entry: &Entry, remarks: &mut Vec<(usize, String)>) {
    let mut words = Vec::new();
    let mut k = entry.first + 1;
    while k < entry.name {
        if let Some((_, end)) = attribute_list(s, k) {
            k = end;
            continue;
        }
        words.push(s.str(k));
        k += 1;
    }
    words.retain(|w| !matches!(*w, "]" | "inline" | "static" | "extern" | "const"));
    if entry.stage == Stage::Kernel && words != ["void"] && !words.is_empty() {
        remarks.push((entry.first, format!("a kernel must return void, not '{}'", words.join(" "))));
    }
    if words.last().is_some_and(|w| matches!(*w, "*" | "&")) {
        remarks.push((entry.first, format!("a {} function cannot return '{}'", entry.stage.name(), words.join(" "))));
    }
}
