//! The rules, as DXC's `AlignmentSizeCalculator` states them for SPIR-V.

use super::{Layout, LayoutError, LayoutId, LayoutKind, LayoutRule, Layouts, MemberLayout, own_order};
use crate::entity::{StructId, Type};
use crate::types::{MatrixOrder, Scalar, TypeKind, Types};

/// A register of a constant buffer, a `vec4`.
const VEC4: u32 = 16;
/// Types nested deeper than this have no layout; the front end's limits lie below.
const MAX_DEPTH: u32 = 256;
/// Keeps every offset in an `i32`.
const MAX_SIZE: u64 = 0x7fff_ffff;

pub(super) fn layout(
    table: &mut Layouts,
    types: &Types,
    ty: Type,
    rule: LayoutRule,
    order: MatrixOrder,
    depth: u32,
) -> Result<LayoutId, LayoutError> {
    let order = own_order(types, ty, order);
    let key = (ty, rule, order);
    if let Some(&id) = table.index.get(&key) {
        return Ok(id);
    }
    if depth > MAX_DEPTH {
        return Err(LayoutError::TooLarge(ty));
    }
    let (size, align, kind) = match types.kind(ty) {
        TypeKind::Scalar(s) => (u64::from(bytes(s)), bytes(s), LayoutKind::Scalar),
        TypeKind::Vector { elem, len } => {
            let align = vector_align(elem, len, rule);
            (u64::from(bytes(elem) * u32::from(len)), align, LayoutKind::Vector)
        }
        TypeKind::Matrix { elem, rows, cols } => matrix(elem, rows, cols, rule, order),
        TypeKind::Array { elem, len } => {
            let elem = layout(table, types, elem, rule, order, depth + 1)?;
            array(&table.table[elem], elem, len, rule)
        }
        TypeKind::Struct(id) => structure(table, types, ty, id, rule, depth)?,
        TypeKind::Void
        | TypeKind::RuntimeArray { .. }
        | TypeKind::Pointer { .. }
        | TypeKind::Resource(_)
        | TypeKind::RayQuery
        | TypeKind::Spirv(_) => return Err(LayoutError::NotData(ty)),
    };
    if size > MAX_SIZE {
        return Err(LayoutError::TooLarge(ty));
    }
    let id = table.table.push(Layout { ty, rule, size: size as u32, align, kind });
    table.index.insert(key, id);
    Ok(id)
}

fn bytes(scalar: Scalar) -> u32 {
    scalar.bits() / 8
}

fn vector_align(elem: Scalar, len: u8, rule: LayoutRule) -> u32 {
    match rule {
        LayoutRule::DxConstantBuffer | LayoutRule::DxStructured | LayoutRule::Scalar => bytes(elem),
        // std140 rules 2 and 3: three components are aligned as four.
        _ => bytes(elem) * u32::from(len.next_power_of_two()),
    }
}

fn matrix(elem: Scalar, rows: u8, cols: u8, rule: LayoutRule, order: MatrixOrder) -> (u64, u32, LayoutKind) {
    let (lines, len) = match order {
        MatrixOrder::RowMajor => (u32::from(rows), cols),
        MatrixOrder::ColumnMajor => (u32::from(cols), rows),
    };
    let line = bytes(elem) * u32::from(len);
    if rule.is_scalar() {
        return (u64::from(lines * line), bytes(elem), LayoutKind::Matrix { order, lines, stride: line });
    }
    let mut stride = bytes(elem) * u32::from(len.next_power_of_two());
    if rule.is_uniform() {
        stride = stride.next_multiple_of(VEC4);
    }
    let size = match rule {
        // The last line leaves its rest free.
        LayoutRule::DxConstantBuffer => stride * (lines - 1) + line,
        _ => stride * lines,
    };
    (u64::from(size), stride, LayoutKind::Matrix { order, lines, stride })
}

fn array(elem: &Layout, id: LayoutId, len: u32, rule: LayoutRule) -> (u64, u32, LayoutKind) {
    let mut align = elem.align;
    let mut size = elem.size;
    if rule.is_uniform() {
        align = align.next_multiple_of(VEC4);
        if size == 0 {
            size = align;
        }
    }
    let stride = size.next_multiple_of(align);
    let kind = LayoutKind::Array { elem: id, len, stride };
    let total = match rule {
        // What follows may use the rest of the last register.
        LayoutRule::DxConstantBuffer => u64::from(stride) * u64::from(len.max(1) - 1) + u64::from(size),
        _ => u64::from(stride) * u64::from(len),
    };
    (total, align, kind)
}

fn structure(
    table: &mut Layouts,
    types: &Types,
    ty: Type,
    id: StructId,
    rule: LayoutRule,
    depth: u32,
) -> Result<(u64, u32, LayoutKind), LayoutError> {
    let members = &types.structs[id].members;
    let mut out: Vec<MemberLayout> = Vec::with_capacity(members.len());
    let (mut align, mut end, mut size) = (1, 0u64, 0u64);
    for (index, member) in members.iter().enumerate() {
        let layout_id = layout(table, types, member.ty, rule, member.order, depth + 1)?;
        let member_layout = &table.table[layout_id];
        let offset = match member.offset {
            Some(offset) => {
                let align = stated_align(table, types, layout_id, rule);
                if offset % align != 0 {
                    let (member, span) = (index as u32, member.span);
                    return Err(LayoutError::Misaligned { ty, member, align, span });
                }
                u64::from(offset)
            }
            None => place(types, member_layout, rule, end),
        };
        align = align.max(member_layout.align);
        end = offset + u64::from(member_layout.size);
        size = size.max(end);
        if end > MAX_SIZE {
            return Err(LayoutError::TooLarge(ty));
        }
        out.push(MemberLayout { offset: offset as u32, size: member_layout.size, layout: layout_id });
    }
    if members.iter().any(|m| m.offset.is_some()) {
        check_overlap(types, ty, id, &out)?;
    }
    if rule.is_uniform() {
        align = align.next_multiple_of(VEC4);
    }
    if rule != LayoutRule::DxConstantBuffer {
        size = size.next_multiple_of(u64::from(align));
    }
    Ok((size, align, LayoutKind::Struct(out)))
}

/// The first place for a member at or after `end`.
fn place(types: &Types, member: &Layout, rule: LayoutRule, end: u64) -> u64 {
    let align = u64::from(member.align);
    let TypeKind::Vector { elem, .. } = types.kind(member.ty) else { return end.next_multiple_of(align) };
    if !rule.is_relaxed() {
        return end.next_multiple_of(align);
    }
    // Aligned as its scalars, if these have up to 4 bytes, unless it would straddle 16 bytes.
    let scalar = u64::from(bytes(elem));
    let offset = end.next_multiple_of(if scalar <= 4 { scalar } else { align });
    let (size, vec4) = (u64::from(member.size), u64::from(VEC4));
    let straddles = match size <= vec4 {
        true => offset / vec4 != (offset + size - 1) / vec4,
        false => offset % vec4 != 0,
    };
    if straddles { offset.next_multiple_of(vec4) } else { offset }
}

/// What a stated offset must be a multiple of: numbers are aligned as their scalars, and what is made of parts as the rule
/// says, since its parts count on that (Vulkan, Offset and Stride Assignment).
fn stated_align(table: &Layouts, types: &Types, id: LayoutId, rule: LayoutRule) -> u32 {
    let layout = &table.table[id];
    match layout.kind {
        LayoutKind::Array { .. } | LayoutKind::Struct(_) if !rule.is_scalar() => match rule.is_uniform() {
            true => layout.align.next_multiple_of(VEC4),
            false => layout.align,
        },
        _ => scalar_align(table, types, id),
    }
}

/// The largest alignment of the scalars of a layout.
fn scalar_align(table: &Layouts, types: &Types, id: LayoutId) -> u32 {
    let layout = &table.table[id];
    match &layout.kind {
        LayoutKind::Scalar | LayoutKind::Vector | LayoutKind::Matrix { .. } => {
            types.scalar_of(layout.ty).map_or(1, bytes)
        }
        LayoutKind::Array { elem, .. } => scalar_align(table, types, *elem),
        LayoutKind::Struct(members) => members.iter().map(|m| scalar_align(table, types, m.layout)).max().unwrap_or(1),
    }
}

fn check_overlap(types: &Types, ty: Type, id: StructId, members: &[MemberLayout]) -> Result<(), LayoutError> {
    let mut order: Vec<u32> = (0..members.len() as u32).filter(|&i| members[i as usize].size > 0).collect();
    order.sort_by_key(|&i| (members[i as usize].offset, i));
    for pair in order.windows(2) {
        let (a, b) = (&members[pair[0] as usize], &members[pair[1] as usize]);
        if b.offset < a.offset + a.size {
            // The later declaration is the culprit.
            let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            let span = types.structs[id].members[second as usize].span;
            return Err(LayoutError::Overlap { ty, first, second, span });
        }
    }
    Ok(())
}
