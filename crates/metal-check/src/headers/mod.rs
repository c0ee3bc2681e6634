//! The headers that declare Metal's standard library to clang.
//!
//! What is short is written by hand, one file a chapter of the MSL specification, under `include/`. What is long is
//! generated from tables here: vectors ([`vectors`]), functions over scalars and vectors ([`functions`]), SIMD-group and
//! quad-group functions ([`groups`]) and textures ([`textures`]). Each row of a table says since which language version
//! it exists; the text tests `__METAL_VERSION__`, so there is one set of headers for all versions.
mod functions;
mod groups;
mod textures;
mod vectors;

use crate::version::LanguageVersion;
use std::fmt::Write as _;

/// A header: its path below the include directory, and its text.
pub(crate) type Header = (&'static str, String);

macro_rules! embedded {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../../include/", $path)))),*] };
}

/// Headers written by hand.
const EMBEDDED: [(&str, &str); 23] = embedded![
    "msl/prelude.h",
    "msl/c2_types.h",
    "msl/c2_resources.h",
    "msl/c2_matrices.h",
    "msl/c2_arrays.h",
    "msl/c3_operators.h",
    "msl/c6_math_detail.h",
    "msl/c6_traits.h",
    "msl/c6_matrix.h",
    "msl/c6_simdgroup_detail.h",
    "msl/c6_simdgroup_matrix.h",
    "msl/c6_synchronization.h",
    "msl/c6_graphics.h",
    "msl/c6_pack.h",
    "msl/c6_atomics.h",
    "msl/c6_mesh.h",
    "msl/c6_raytracing.h",
    "msl/c6_imageblocks.h",
    "msl/c6_logging.h",
    "msl/c6_textures_detail.h",
    "msl/execute.h",
    "simd/simd.h",
    "metal_stdlib",
];

/// The standard library's other headers, each of which includes all of it (MSL 6.1 lets a header include others).
const ALIASES: [&str; 28] = [
    "metal_array",
    "metal_atomic",
    "metal_common",
    "metal_command_buffer",
    "metal_compute",
    "metal_config",
    "metal_extended_vector",
    "metal_geometric",
    "metal_graphics",
    "metal_imageblocks",
    "metal_integer",
    "metal_interpolate",
    "metal_limits",
    "metal_logging",
    "metal_math",
    "metal_matrix",
    "metal_mesh",
    "metal_numeric",
    "metal_pack",
    "metal_quadgroup",
    "metal_raytracing",
    "metal_relational",
    "metal_simdgroup",
    "metal_simdgroup_matrix",
    "metal_tessellation",
    "metal_texture",
    "metal_type_traits",
    "metal_types",
];

/// Further public names.
const MORE: [&str; 5] =
    ["metal_stdlib", "metal_uniform", "metal_visible_function_table", "metal_assert", "metal_initializer_list"];
const SIMD: [&str; 3] = ["simd/simd.h", "simd/vector_types.h", "simd/matrix_types.h"];

/// Whether a text may include `name` and get the standard library.
pub(crate) fn is_public(name: &str) -> bool {
    ALIASES.contains(&name) || MORE.contains(&name) || SIMD.contains(&name)
}

/// Headers for the preprocessor: in place of the standard library, a sign that it was included.
pub(crate) fn stubs() -> Vec<Header> {
    let text = "#pragma once\n#pragma metal_check_included\n";
    ALIASES.iter().chain(&MORE).chain(&SIMD).map(|&path| (path, text.to_owned())).collect()
}

/// All headers. The same text on every call.
pub(crate) fn all() -> Vec<Header> {
    let mut out: Vec<Header> = EMBEDDED.iter().map(|&(path, text)| (path, text.to_owned())).collect();
    out.extend(ALIASES.map(|path| (path, "#pragma once\n#include \"metal_stdlib\"\n".to_owned())));
    out.push(("simd/vector_types.h", "#pragma once\n#include \"simd.h\"\n".to_owned()));
    out.push(("simd/matrix_types.h", "#pragma once\n#include \"simd.h\"\n".to_owned()));
    out.push(("metal_uniform", "#pragma once\n#include \"metal_stdlib\"\n".to_owned()));
    out.push(("metal_visible_function_table", "#pragma once\n#include \"metal_stdlib\"\n".to_owned()));
    out.push(("msl/c2_vectors.h", vectors::vectors()));
    out.push(("msl/c2_names.h", vectors::names()));
    out.push(("msl/c6_functions.h", functions::text()));
    out.push(("msl/c6_groups.h", groups::text()));
    out.push(("msl/c6_textures.h", textures::text()));
    out
}

/// Text of a header under construction.
struct Writer {
    text: String,
    since: Option<LanguageVersion>,
}

impl Writer {
    fn new(title: &str) -> Self {
        Self {
            text: format!(
                "// {title}\n// Generated from the tables in src/headers; not a file to edit.\n#pragma once\n"
            ),
            since: None,
        }
    }

    /// Appends a line that every version sees, or those from the current `since` on.
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// From here on, lines exist since `version` (`None`: since the oldest version known).
    fn since(&mut self, version: Option<LanguageVersion>) {
        if self.since == version {
            return;
        }
        if self.since.is_some() {
            self.line("#endif");
        }
        if let Some(v) = version {
            let _ = writeln!(self.text, "#if __METAL_VERSION__ >= {}", v.number());
        }
        self.since = version;
    }

    fn finish(mut self) -> String {
        self.since(None);
        self.text
    }
}

/// `float` and 3 give `vec<float,3>`; one component gives the scalar.
fn vector(scalar: &str, components: usize) -> String {
    if components == 1 { scalar.to_owned() } else { format!("vec<{scalar},{components}>") }
}

/// `f(0), f(1), ...` with `n` elements.
fn list(n: usize, element: impl Fn(usize) -> String) -> String {
    (0..n).map(element).collect::<Vec<_>>().join(", ")
}

/// Scalar types that have vectors (MSL 2.2), with the version they came with.
const SCALARS: [(&str, Option<LanguageVersion>); 12] = [
    ("bool", None),
    ("char", None),
    ("uchar", None),
    ("short", None),
    ("ushort", None),
    ("int", None),
    ("uint", None),
    ("long", None),
    ("ulong", None),
    ("half", None),
    ("float", None),
    ("bfloat", Some(LanguageVersion::V3_1)),
];

/// An integer type and what its functions need to know about it.
struct Integer {
    name: &'static str,
    unsigned: &'static str,
    bits: u32,
    signed: bool,
}

const INTEGERS: [Integer; 8] = [
    Integer { name: "char", unsigned: "uchar", bits: 8, signed: true },
    Integer { name: "uchar", unsigned: "uchar", bits: 8, signed: false },
    Integer { name: "short", unsigned: "ushort", bits: 16, signed: true },
    Integer { name: "ushort", unsigned: "ushort", bits: 16, signed: false },
    Integer { name: "int", unsigned: "uint", bits: 32, signed: true },
    Integer { name: "uint", unsigned: "uint", bits: 32, signed: false },
    Integer { name: "long", unsigned: "ulong", bits: 64, signed: true },
    Integer { name: "ulong", unsigned: "ulong", bits: 64, signed: false },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_include_exists_and_conditionals_balance() {
        let headers = all();
        for (path, text) in &headers {
            let (mut depth, dir) = (0i32, path.rsplit_once('/').map_or("", |(d, _)| d));
            for line in text.lines().map(str::trim_start) {
                match line {
                    l if l.starts_with("#if") => depth += 1,
                    l if l.starts_with("#endif") => depth -= 1,
                    l if l.starts_with("#include \"") => {
                        let name = l.split('"').nth(1).unwrap_or_default();
                        let found = headers.iter().any(|(p, _)| {
                            *p == name
                                || *p == format!("{dir}/{name}")
                                || format!("simd/../{p}") == format!("{dir}/{name}")
                        });
                        assert!(found, "{path} includes {name}");
                    }
                    _ => {}
                }
            }
            assert_eq!(depth, 0, "{path}");
        }
    }
}
