//! The layout of a block as a table for people.

use super::{LayoutId, LayoutKind, Layouts};
use crate::entity::Type;
use crate::module::IrModule;
use crate::types::{MatrixOrder, TypeKind};
use std::fmt::Write;

/// Rows beyond this are not written; nested structures of hostile input multiply.
const MAX_ROWS: usize = 10_000;

/// One row: where a field stands, how much it takes, what it is called.
struct Row {
    offset: u32,
    size: u32,
    text: String,
}

/// Offset, size and padding of every field of the block called `name`, nested ones indented, in the order of their
/// offsets. Arrays show their stride and the fields of one element, with the first element's offsets.
pub fn render(module: &IrModule, layouts: &Layouts, name: &str, id: LayoutId) -> String {
    let layout = layouts.get(id);
    let mut out = format!(
        "{name}: {} bytes, aligned to {} ({})\n  offset    size  field\n",
        layout.size,
        layout.align,
        layout.rule.name()
    );
    let mut rows = Vec::new();
    fields(module, layouts, id, 0, 0, &mut rows);
    if rows.is_empty() {
        let text = format!("{}{}", spell(module, layout.ty), details(layouts, id));
        rows.push(Row { offset: 0, size: layout.size, text });
    }
    for row in &rows {
        let _ = writeln!(out, "{:>8}{:>8}  {}", row.offset, row.size, row.text);
    }
    if rows.len() == MAX_ROWS {
        out.push_str("     ...\n");
    }
    out
}

fn fields(module: &IrModule, layouts: &Layouts, id: LayoutId, base: u32, depth: usize, rows: &mut Vec<Row>) {
    let layout = layouts.get(id);
    let TypeKind::Struct(sid) = module.types.kind(layout.ty) else { return };
    let mut members: Vec<_> = module.types.structs[sid].members.iter().zip(layouts.members(id)).collect();
    members.sort_by_key(|(_, at)| at.offset);
    let indent = "  ".repeat(depth);
    let mut end = 0;
    let padding = |from: u32, to: u32, rows: &mut Vec<Row>| {
        if to > from && rows.len() < MAX_ROWS {
            rows.push(Row { offset: base + from, size: to - from, text: format!("{indent}(padding)") });
        }
    };
    for (member, at) in members {
        padding(end, at.offset, rows);
        if rows.len() >= MAX_ROWS {
            return;
        }
        let text = format!(
            "{indent}{} {}{}",
            spell(module, member.ty),
            module.names.get(member.name),
            details(layouts, at.layout)
        );
        rows.push(Row { offset: base + at.offset, size: at.size, text });
        let mut inner = at.layout;
        while let LayoutKind::Array { elem, .. } = layouts.get(inner).kind {
            inner = elem;
        }
        fields(module, layouts, inner, base + at.offset, depth + 1, rows);
        end = end.max(at.offset + at.size);
    }
    padding(end, layout.size, rows);
}

/// Strides, behind the name.
fn details(layouts: &Layouts, id: LayoutId) -> String {
    let mut out = String::new();
    let mut at = id;
    let mut strides = Vec::new();
    while let LayoutKind::Array { elem, len, stride } = layouts.get(at).kind {
        let _ = write!(out, "[{len}]");
        strides.push(stride);
        at = elem;
    }
    for stride in strides {
        let _ = write!(out, ", stride {stride}");
    }
    if let LayoutKind::Matrix { order, stride, .. } = layouts.get(at).kind {
        let line = match order {
            MatrixOrder::RowMajor => "rows",
            MatrixOrder::ColumnMajor => "columns",
        };
        let _ = write!(out, ", {line} {stride} apart");
    }
    out
}

/// A type in HLSL's words; of an array, its innermost element.
fn spell(module: &IrModule, mut ty: Type) -> String {
    while let TypeKind::Array { elem, .. } = module.types.kind(ty) {
        ty = elem;
    }
    match module.types.kind(ty) {
        TypeKind::Scalar(s) => s.hlsl_name().to_string(),
        TypeKind::Vector { elem, len } => format!("{}{len}", elem.hlsl_name()),
        TypeKind::Matrix { elem, rows, cols } => format!("{}{rows}x{cols}", elem.hlsl_name()),
        TypeKind::Struct(id) => module.names.get(module.types.structs[id].name).to_string(),
        _ => String::from("?"),
    }
}
