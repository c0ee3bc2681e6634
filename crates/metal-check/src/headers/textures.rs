//! Texture types and their member functions (MSL 2.8, 6.12).
//!
//! Each type is specialised per access mode, so that a function the mode lacks is not declared. Only the executor sees
//! the bodies (`MSL_BODY`): checking needs none.
use super::Writer;
use crate::version::LanguageVersion;

/// A texture type.
struct Texture {
    name: &'static str,
    /// Components of a sampling coordinate.
    dims: usize,
    array: bool,
    shape: Shape,
    depth: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Plain,
    Cube,
    Multisampled,
    Buffer,
}

const fn texture(name: &'static str, dims: usize, array: bool, shape: Shape) -> Texture {
    Texture { name, dims, array, shape, depth: false }
}

const fn depth(name: &'static str, dims: usize, array: bool, shape: Shape) -> Texture {
    Texture { name, dims, array, shape, depth: true }
}

/// MSL 2.8.
const TEXTURES: [Texture; 16] = [
    texture("texture1d", 1, false, Shape::Plain),
    texture("texture1d_array", 1, true, Shape::Plain),
    texture("texture2d", 2, false, Shape::Plain),
    texture("texture2d_array", 2, true, Shape::Plain),
    texture("texture3d", 3, false, Shape::Plain),
    texture("texturecube", 3, false, Shape::Cube),
    texture("texturecube_array", 3, true, Shape::Cube),
    texture("texture2d_ms", 2, false, Shape::Multisampled),
    texture("texture2d_ms_array", 2, true, Shape::Multisampled),
    texture("texture_buffer", 1, false, Shape::Buffer),
    depth("depth2d", 2, false, Shape::Plain),
    depth("depth2d_array", 2, true, Shape::Plain),
    depth("depthcube", 3, false, Shape::Cube),
    depth("depthcube_array", 3, true, Shape::Cube),
    depth("depth2d_ms", 2, false, Shape::Multisampled),
    depth("depth2d_ms_array", 2, true, Shape::Multisampled),
];

#[derive(Clone, Copy, PartialEq)]
enum Access {
    Sample,
    Read,
    Write,
    ReadWrite,
}

impl Access {
    const ALL: [Self; 4] = [Self::Sample, Self::Read, Self::Write, Self::ReadWrite];

    fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read_write",
        }
    }
}

impl Texture {
    /// MSL 2.8: which access modes a type may have.
    fn allows(&self, access: Access) -> bool {
        match self.shape {
            Shape::Multisampled => access == Access::Read,
            Shape::Buffer => access != Access::Sample,
            _ => !self.depth || matches!(access, Access::Sample | Access::Read),
        }
    }

    /// What sampling and reading give: a scalar for depth, else four components.
    fn texel(&self) -> &'static str {
        if self.depth { "T" } else { "vec<T,4>" }
    }

    fn has_mipmaps(&self) -> bool {
        matches!(self.shape, Shape::Plain | Shape::Cube)
    }
}

pub(super) fn text() -> String {
    let mut w = Writer::new("MSL 2.8, 6.12: texture types and their functions");
    w.line("namespace metal {");
    for t in &TEXTURES {
        let default = if t.has_mipmaps() { "sample" } else { "read" };
        let name = t.name;
        w.line(format!(
            "template<typename T, access A = access::{default}, __msl::coherence C = __msl::coherence_default> struct {name};"
        ));
        for access in Access::ALL.into_iter().filter(|a| t.allows(*a)) {
            specialisation(&mut w, t, access);
        }
        w.line(format!(
            "template<typename T, access A, __msl::coherence C> METAL_FUNC bool is_null_texture({name}<T,A,C> t) {{ return t.__h == 0; }}"
        ));
    }
    w.line("}");
    w.finish()
}

fn method(w: &mut Writer, result: &str, name: &str, params: &[String], body: &str) {
    w.line(format!("  {result} {name}({}) const MSL_BODY({{ {body} }})", params.join(", ")));
}

/// The name of a parameter as declared.
fn name_of(param: &str) -> &str {
    param.split(" =").next().and_then(|p| p.rsplit(' ').next()).unwrap_or_default()
}

/// What a sampling function does: builds a lookup from its parameters.
fn lookup_body(t: &Texture, result: &str, gathers: bool, params: &[String]) -> String {
    let mut body = format!("__msl::lookup q = __msl::look({}, {}); ", t.dims, t.shape == Shape::Cube);
    if gathers {
        body.push_str("q.gather = 1; ");
    }
    for param in params {
        body.push_str(match name_of(param) {
            "coord" => "__msl::at(q, coord); ",
            "array" => "q.layer = array; ",
            "compare_value" => "q.reference = compare_value; q.compare = 1; ",
            "opt" => "__msl::with(q, opt); ",
            "clamp" => "__msl::with(q, clamp); ",
            "offset" => "__msl::with(q, offset); ",
            "c" => "q.gather = 1 + uint(c); ",
            _ => "",
        });
    }
    format!("{body}return __msl::sampled<{result}>(__h, s, q);")
}

/// `a` followed by the parts of `b`.
fn join(a: &[String], b: &[&str]) -> Vec<String> {
    a.iter().cloned().chain(b.iter().map(|s| (*s).to_owned())).collect()
}

fn specialisation(w: &mut Writer, t: &Texture, access: Access) {
    w.line(format!("template<typename T, __msl::coherence C> struct {}<T, access::{}, C> {{", t.name, access.name()));
    let element = if t.depth { "__msl::is_depth_element" } else { "__msl::is_texture_element" };
    w.line(format!("  static_assert({element}<T>::v, \"invalid texture component type\");"));
    if t.shape == Shape::Cube && !t.depth {
        w.line("  static_assert(!__msl::is_ulong<T>::v, \"invalid texture component type\");");
    }
    w.line("  typedef T value_type;\n  ulong __h = 0;");
    if access == Access::Sample {
        sampling(w, t);
    }
    access_functions(w, t, access);
    queries(w, t);
    w.line("};");
}

/// `sample`, `sample_compare`, `gather`, `gather_compare` (MSL 6.12) and their sparse forms.
fn sampling(w: &mut Writer, t: &Texture) {
    let coord = if t.dims == 1 { "float coord".to_owned() } else { format!("float{} coord", t.dims) };
    let mut base = vec!["sampler s".to_owned(), coord.clone()];
    if t.array {
        base.push("uint array".to_owned());
    }
    let offset = format!("__msl::offset<{0}> offset = __msl::offset<{0}>(vec<int,{0}>(0))", t.dims);
    let offset: &[&str] = if t.shape == Shape::Cube || t.dims == 1 { &[] } else { &[&offset] };
    let both = |w: &mut Writer, result: &str, name: &str, params: Vec<String>| {
        method(w, result, name, &params, &lookup_body(t, result, name.starts_with("gather"), &params));
        let color = format!("sparse_color<{result}>");
        let names: Vec<&str> = params.iter().map(|p| name_of(p)).collect();
        let body = format!("return __msl::sparse<{color}>({name}({}));", names.join(", "));
        method(w, &color, &format!("sparse_{name}"), &params, &body);
    };
    if t.dims == 1 {
        both(w, t.texel(), "sample", base);
        return;
    }
    let gradient = match (t.shape, t.dims) {
        (Shape::Cube, _) => "gradientcube opt",
        (_, 3) => "gradient3d opt",
        _ => "gradient2d opt",
    };
    let options: [&[&str]; 7] = [
        &[],
        &["bias opt"],
        &["level opt"],
        &["min_lod_clamp opt"],
        &[gradient],
        &["bias opt", "min_lod_clamp clamp"],
        &[gradient, "min_lod_clamp clamp"],
    ];
    for option in options {
        both(w, t.texel(), "sample", join(&join(&base, option), offset));
        if t.depth {
            both(w, "T", "sample_compare", join(&join(&join(&base, &["float compare_value"]), option), offset));
        }
    }
    if t.dims == 2 || t.shape == Shape::Cube {
        if t.depth {
            both(w, "vec<T,4>", "gather", join(&base, offset));
            both(w, "vec<T,4>", "gather_compare", join(&join(&base, &["float compare_value"]), offset));
        } else {
            both(w, "vec<T,4>", "gather", join(&join(&base, offset), &["component c = component::x"]));
        }
    }
    for name in ["calculate_clamped_lod", "calculate_unclamped_lod"] {
        // Threads of a kernel have no derivatives.
        method(w, "float", name, &["sampler s".to_owned(), coord.clone()], "return 0.0f;");
    }
}

/// `read`, `write` and atomics.
fn access_functions(w: &mut Writer, t: &Texture, access: Access) {
    let dims = if t.shape == Shape::Cube { 2 } else { t.dims };
    for index in ["uint", "ushort"] {
        let mut place = vec![if dims == 1 { format!("{index} coord") } else { format!("{index}{dims} coord") }];
        if t.shape == Shape::Cube {
            place.push(format!("{index} face"));
        }
        if t.array {
            place.push(format!("{index} array"));
        }
        let level = match t.shape {
            Shape::Buffer => vec![],
            Shape::Multisampled => vec![format!("{index} sample")],
            _ => vec![format!("{index} lod = 0")],
        };
        let at: Vec<String> = place.iter().chain(&level).cloned().collect();
        let layer = match (t.shape == Shape::Cube, t.array) {
            (true, true) => "array * 6 + face",
            (true, false) => "face",
            (false, true) => "array",
            (false, false) => "0",
        };
        let (lod, sample) = match t.shape {
            Shape::Buffer => ("0", "0"),
            Shape::Multisampled => ("0", "sample"),
            _ => ("lod", "0"),
        };
        let spot = |lod: &str| format!("__msl::put(coord, {layer}, {lod}, {sample})");
        if access != Access::Write {
            let body = format!("return __msl::read<{}>(__h, {});", t.texel(), spot(lod));
            method(w, t.texel(), "read", &at, &body);
            if t.shape != Shape::Buffer {
                let color = format!("sparse_color<{}>", t.texel());
                let names: Vec<&str> = at.iter().map(|p| name_of(p)).collect();
                let body = format!("return __msl::sparse<{color}>(read({}));", names.join(", "));
                method(w, &color, "sparse_read", &at, &body);
            }
        }
        if matches!(access, Access::Write | Access::ReadWrite) {
            let params: Vec<String> = ["vec<T,4> color".to_owned()].into_iter().chain(at).collect();
            method(w, "void", "write", &params, &format!("__msl::write<T>(__h, {}, color);", spot(lod)));
        }
        if access == Access::ReadWrite && t.shape != Shape::Cube {
            atomics(w, &place, &spot("0"));
        }
    }
    if access == Access::ReadWrite {
        // Not const in Apple's headers, so not callable on elements of const arrays and tables.
        w.line("  void fence() MSL_BODY({})");
    }
}

/// Texture atomics (MSL 6.12, Metal 3.1): `int` and `uint`; minimum and maximum of `ulong`.
fn atomics(w: &mut Writer, place: &[String], spot: &str) {
    w.since(Some(LanguageVersion::V3_1));
    let place = place.join(", ");
    let only = |ty: &str| format!("template<class Q = T, class = __msl::enable_if_t<__msl::{ty}<Q>::v>>");
    let int = only("is_int32");
    let operation =
        |op: &str, v: &str| format!("MSL_BODY({{ return __msl::atomic_texel<T>(__h, {spot}, __msl::{op}, {v}); }})");
    for (name, op) in [
        ("fetch_add", "add"),
        ("fetch_sub", "sub"),
        ("fetch_and", "and_"),
        ("fetch_or", "or_"),
        ("fetch_xor", "xor_"),
        ("fetch_min", "min_"),
        ("fetch_max", "max_"),
        ("exchange", "exchange_"),
    ] {
        w.line(format!("  {int} vec<T,4> atomic_{name}({place}, vec<T,4> v) const {}", operation(op, "v")));
    }
    w.line(format!(
        "  {int} bool atomic_compare_exchange_weak({place}, thread vec<T,4>* expected, vec<T,4> v) const MSL_BODY({{ return __msl::compare_exchange_texel<T>(__h, {spot}, expected, v); }})"
    ));
    w.line(format!("  {int} vec<T,4> atomic_load({place}) const {}", operation("load_", "vec<T,4>(T(0))")));
    w.line(format!(
        "  {int} void atomic_store(vec<T,4> v, {place}) const MSL_BODY({{ __msl::atomic_texel<T>(__h, {spot}, __msl::store_, v); }})"
    ));
    for name in ["min", "max"] {
        w.line(format!("  {} void atomic_{name}({place}, vec<T,4> v) const;", only("is_ulong")));
    }
    w.since(None);
}

/// Sizes; the numbers are those of textures.c.
fn queries(w: &mut Writer, t: &Texture) {
    let level: &[String] = if t.has_mipmaps() { &["uint lod = 0".to_owned()] } else { &[] };
    let mut size = |name: &str, what: u32, params: &[String]| {
        let lod = if params.is_empty() { "0" } else { "lod" };
        method(w, "uint", name, params, &format!("return __msl::__msl_texture_size(__h, {what}, {lod});"));
    };
    size("get_width", 0, level);
    if t.dims > 1 {
        size("get_height", 1, level);
    }
    if t.dims == 3 && t.shape != Shape::Cube {
        size("get_depth", 2, level);
    }
    if t.array {
        size("get_array_size", if t.shape == Shape::Cube { 6 } else { 3 }, &[]);
    }
    match t.shape {
        Shape::Multisampled => size("get_num_samples", 5, &[]),
        Shape::Buffer => {}
        _ => size("get_num_mip_levels", 4, &[]),
    }
}
