//! Vertex formats and component types.

use super::ScalarKind;
use oneshader_ir::Scalar;

pub(super) fn scalar(s: Scalar) -> ScalarKind {
    match s {
        Scalar::Bool => ScalarKind::Bool,
        Scalar::Int { bits: 16, signed: true } => ScalarKind::Int16,
        Scalar::Int { bits: 16, signed: false } => ScalarKind::Uint16,
        Scalar::Int { bits: 64, signed: true } => ScalarKind::Int64,
        Scalar::Int { bits: 64, signed: false } => ScalarKind::Uint64,
        Scalar::Int { signed: true, .. } => ScalarKind::Int,
        Scalar::Int { signed: false, .. } => ScalarKind::Uint,
        Scalar::Float { bits: 16 } => ScalarKind::Half,
        Scalar::Float { bits: 64 } => ScalarKind::Double,
        Scalar::Float { .. } => ScalarKind::Float,
    }
}

/// Metal's name (`MTLVertexFormat`), Vulkan's name, and bytes of a vertex attribute. 64-bit attributes have no Metal format.
pub(super) fn vertex_format(s: Scalar, components: u8) -> (String, String, u32) {
    let (metal, vulkan, bits) = match s {
        Scalar::Float { bits: 16 } => ("half", "SFLOAT", 16),
        Scalar::Float { bits: 64 } => ("", "SFLOAT", 64),
        Scalar::Float { .. } => ("float", "SFLOAT", 32),
        Scalar::Int { bits: 16, signed: true } => ("short", "SINT", 16),
        Scalar::Int { bits: 16, signed: false } => ("ushort", "UINT", 16),
        Scalar::Int { bits: 64, signed: true } => ("", "SINT", 64),
        Scalar::Int { bits: 64, signed: false } => ("", "UINT", 64),
        Scalar::Int { signed: true, .. } => ("int", "SINT", 32),
        // A `bool` attribute is read as a `uint`.
        Scalar::Int { signed: false, .. } | Scalar::Bool => ("uint", "UINT", 32),
    };
    let count = usize::from(components.clamp(1, 4));
    let letters: String = ["R", "G", "B", "A"][..count].iter().map(|c| format!("{c}{bits}")).collect();
    let metal = match (metal, count) {
        ("", _) => String::new(),
        (name, 1) => name.into(),
        (name, n) => format!("{name}{n}"),
    };
    (metal, format!("{letters}_{vulkan}"), bits / 8 * count as u32)
}
