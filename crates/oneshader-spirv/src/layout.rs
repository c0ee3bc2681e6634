//! Byte layout: what the types need to know of it.

use oneshader_ir::{MatrixOrder, Type, TypeKind, Types};

/// A layout rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Rule {
    Std140,
    Std430,
}

fn align_up(at: u32, align: u32) -> u32 {
    at.div_ceil(align) * align
}

/// Size and alignment in bytes.
pub(crate) fn size_align(types: &Types, ty: Type, rule: Rule, order: MatrixOrder) -> (u32, u32) {
    match types.kind(ty) {
        TypeKind::Scalar(s) => (s.bits() / 8, s.bits() / 8),
        TypeKind::Vector { elem, len } => {
            let bytes = elem.bits() / 8;
            let len = u32::from(len);
            (bytes * len, bytes * if len == 3 { 4 } else { len })
        }
        TypeKind::Matrix { rows, cols, .. } => {
            let stride = matrix_stride(types, ty, rule, order);
            let lines = if order == MatrixOrder::RowMajor { rows } else { cols };
            (stride * u32::from(lines), stride)
        }
        TypeKind::Array { elem, len } => {
            let stride = array_stride(types, elem, rule, order);
            (stride * len, element_align(types, elem, rule, order))
        }
        TypeKind::Struct(id) => {
            let (mut at, mut align) = (0, if rule == Rule::Std140 { 16 } else { 1 });
            for member in &types.structs[id].members {
                let (size, member_align) = size_align(types, member.ty, rule, member.order);
                at = align_up(at, member_align) + size;
                align = align.max(member_align);
            }
            (align_up(at, align), align)
        }
        _ => (0, 1),
    }
}

fn element_align(types: &Types, elem: Type, rule: Rule, order: MatrixOrder) -> u32 {
    let (_, align) = size_align(types, elem, rule, order);
    if rule == Rule::Std140 { align_up(align, 16) } else { align }
}

/// Bytes from one element of an array to the next.
pub(crate) fn array_stride(types: &Types, elem: Type, rule: Rule, order: MatrixOrder) -> u32 {
    let (size, _) = size_align(types, elem, rule, order);
    align_up(size, element_align(types, elem, rule, order))
}

/// Bytes from one line of a matrix to the next.
pub(crate) fn matrix_stride(types: &Types, ty: Type, rule: Rule, order: MatrixOrder) -> u32 {
    let TypeKind::Matrix { elem, rows, cols } = types.kind(ty) else { return 0 };
    let len = u32::from(if order == MatrixOrder::RowMajor { cols } else { rows });
    let align = elem.bits() / 8 * if len == 3 { 4 } else { len };
    if rule == Rule::Std140 { align_up(align, 16) } else { align }
}

/// Offsets of the members of a structure.
pub(crate) fn member_offsets(types: &Types, ty: Type, rule: Rule) -> Vec<u32> {
    let TypeKind::Struct(id) = types.kind(ty) else { return Vec::new() };
    let mut at = 0;
    types.structs[id]
        .members
        .iter()
        .map(|member| {
            let (size, align) = size_align(types, member.ty, rule, member.order);
            let offset = member.offset.unwrap_or(align_up(at, align));
            at = offset + size;
            offset
        })
        .collect()
}
