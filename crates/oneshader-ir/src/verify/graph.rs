//! Stage one: V001 to V009.

use super::Checker;
use crate::consts::ConstData;
use crate::entity::{Func, Type, Value};
use crate::func::{Function, Merge, ValueDef};
use crate::inst::Op;
use crate::module::{GlobalKind, InlineOperand};
use crate::types::{ResourceType, Scalar, TypeKind};
use cranelift_entity::{EntityRef, EntitySet};

pub(super) fn check(cx: &mut Checker) {
    types(cx);
    structs(cx);
    if cx.errors.is_empty() {
        inlines(cx);
        consts(cx);
    }
    declarations(cx);
    for (id, func) in cx.m.functions.iter() {
        one(cx, id, func);
    }
}

/// Stage one for one function.
pub(super) fn one(cx: &mut Checker, id: Func, func: &Function) {
    cx.func = Some(id);
    function(cx, id, func);
    (cx.func, cx.block, cx.inst) = (None, None, None);
}

fn types(cx: &mut Checker) {
    let m = cx.m;
    for (ty, kind) in m.types.iter() {
        let inner = match *kind {
            TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => Some(elem),
            TypeKind::Pointer { pointee, .. } => Some(pointee),
            TypeKind::Resource(
                ResourceType::ConstantBuffer { block: elem }
                | ResourceType::TextureBuffer { block: elem }
                | ResourceType::StructuredBuffer { elem, .. },
            ) => Some(elem),
            _ => None,
        };
        let count = |n: u8| (2..=4).contains(&n);
        let ok = match *kind {
            TypeKind::Vector { len, elem } => count(len) && width(elem),
            TypeKind::Matrix { rows, cols, elem } => count(rows) && count(cols) && elem.is_float() && width(elem),
            TypeKind::Scalar(s) => width(s),
            TypeKind::Array { len, .. } => len > 0,
            TypeKind::Struct(id) => m.types.structs.is_valid(id),
            TypeKind::Spirv(id) => m.inlines.is_valid(id),
            TypeKind::Resource(ResourceType::Texture(t)) => (1..=4).contains(&t.components),
            _ => true,
        };
        cx.check(1, ok && inner.is_none_or(|i| i.index() < ty.index()), || format!("{ty} is malformed"));
    }
}

fn width(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Bool => true,
        Scalar::Int { bits, .. } | Scalar::Float { bits } => matches!(bits, 16 | 32 | 64),
    }
}

/// Members exist, and no structure contains itself: every structure in a member was added before.
fn structs(cx: &mut Checker) {
    let m = cx.m;
    for (id, data) in m.types.structs.iter() {
        for member in &data.members {
            let mut ty = member.ty;
            let mut steps = m.types.len();
            let ok = loop {
                if ty.index() >= m.types.len() || steps == 0 {
                    break false;
                }
                steps -= 1;
                match m.types.kind(ty) {
                    TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => ty = elem,
                    TypeKind::Struct(inner) => break inner.index() < id.index(),
                    TypeKind::Void | TypeKind::Pointer { .. } => break false,
                    _ => break true,
                }
            };
            let name = m.names.get(member.name);
            cx.check(1, ok, || format!("{id} has a member {name} of a type that cannot be a member's"));
        }
    }
}

/// Types and constants that are operands exist, and no type of SPIR-V is made of itself: those it is made of were added before.
fn inlines(cx: &mut Checker) {
    let m = cx.m;
    for (id, inline) in m.inlines.iter() {
        let mut stack = Vec::new();
        let mut ok = true;
        for operand in &inline.operands {
            match *operand {
                InlineOperand::Type(ty) => stack.push(ty),
                InlineOperand::Const(c) => ok &= c.index() < m.consts.len(),
                InlineOperand::Id | InlineOperand::Literal(_) => {}
            }
        }
        let mut seen = EntitySet::new();
        while let Some(ty) = stack.pop() {
            if ty.index() >= m.types.len() {
                ok = false;
                continue;
            }
            if !seen.insert(ty) {
                continue;
            }
            match m.types.kind(ty) {
                TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => stack.push(elem),
                TypeKind::Pointer { pointee, .. } => stack.push(pointee),
                TypeKind::Struct(inner) => stack.extend(m.types.structs[inner].members.iter().map(|member| member.ty)),
                TypeKind::Spirv(inner) => ok &= inner.index() < id.index(),
                _ => {}
            }
        }
        cx.check(1, ok, || format!("{id} has an operand that does not exist, or is a type made of itself"));
    }
}

fn consts(cx: &mut Checker) {
    let m = cx.m;
    for (c, ty, data) in m.consts.iter() {
        if ty.index() >= m.types.len() {
            cx.error(2, format!("{c} has a type that does not exist"));
            continue;
        }
        let kind = m.types.kind(ty);
        let ok = match data {
            ConstData::Bool(_) => kind == TypeKind::Scalar(Scalar::Bool),
            ConstData::Int(bits) => matches!(kind, TypeKind::Scalar(s) if s.is_int() && fits(s, *bits)),
            ConstData::Float(bits) => matches!(kind, TypeKind::Scalar(s) if s.is_float() && fits(s, *bits)),
            ConstData::Composite(parts) => {
                parts.len() == part_count(m, ty)
                    && parts.iter().enumerate().all(|(i, &p)| {
                        p.index() < c.index() && part_kind(m, ty, i as u32) == Some(m.types.kind(m.consts.ty(p)))
                    })
            }
            ConstData::Zero => !matches!(
                kind,
                TypeKind::Scalar(_)
                    | TypeKind::Void
                    | TypeKind::Pointer { .. }
                    | TypeKind::RuntimeArray { .. }
                    | TypeKind::RayQuery
            ),
            ConstData::Undef => !matches!(kind, TypeKind::Void | TypeKind::Pointer { .. }),
            ConstData::Spec(id) => m.specs.get(*id).is_some_and(|s| s.ty == ty),
        };
        cx.check(2, ok, || format!("{c} does not fit its type {}", crate::text::type_text(&m.types, ty)));
    }
}

fn fits(scalar: Scalar, bits: u64) -> bool {
    bits <= u64::MAX >> (64 - scalar.bits())
}

/// Parts of a composite type; `usize::MAX` for one that is none.
pub(super) fn part_count(m: &crate::IrModule, ty: Type) -> usize {
    match m.types.kind(ty) {
        TypeKind::Vector { len, .. } => usize::from(len),
        TypeKind::Matrix { rows, .. } => usize::from(rows),
        TypeKind::Array { len, .. } => len as usize,
        TypeKind::Struct(id) => m.types.structs[id].members.len(),
        _ => usize::MAX,
    }
}

/// The kind of a part's type. Kinds are interned, so equal kinds are equal types.
pub(super) fn part_kind(m: &crate::IrModule, ty: Type, index: u32) -> Option<TypeKind> {
    part_of(m, m.types.kind(ty), index)
}

/// The same for a type of which the kind is known.
pub(super) fn part_of(m: &crate::IrModule, kind: TypeKind, index: u32) -> Option<TypeKind> {
    match kind {
        TypeKind::Vector { elem, len } => (index < u32::from(len)).then_some(TypeKind::Scalar(elem)),
        TypeKind::Matrix { elem, rows, cols } => {
            (index < u32::from(rows)).then_some(TypeKind::Vector { elem, len: cols })
        }
        TypeKind::Array { elem, len } => (index < len).then(|| m.types.kind(elem)),
        TypeKind::RuntimeArray { elem } => Some(m.types.kind(elem)),
        TypeKind::Struct(id) => m.types.structs[id].members.get(index as usize).map(|member| m.types.kind(member.ty)),
        _ => None,
    }
}

fn declarations(cx: &mut Checker) {
    let m = cx.m;
    let (types, consts) = (m.types.len(), m.consts.len());
    for (id, spec) in m.specs.iter() {
        let ok = spec.ty.index() < types && spec.default.index() < consts && m.consts.ty(spec.default) == spec.ty;
        cx.check(9, ok, || format!("{id} refers to what does not exist"));
    }
    for (id, var) in m.globals.iter() {
        let ok = var.ty.index() < types && var.init.is_none_or(|c| c.index() < consts);
        cx.check(9, ok, || format!("{id} refers to what does not exist"));
    }
    for entry in &m.entry_points {
        let io = entry.inputs.iter().chain(&entry.outputs);
        let ok = m.functions.is_valid(entry.func)
            && io.clone().all(|&g| m.globals.get(g).is_some_and(|v| matches!(v.kind, GlobalKind::Io(_))));
        cx.check(9, ok, || format!("entry point {} refers to what does not exist", m.names.get(entry.name)));
    }
}

fn function(cx: &mut Checker, id: Func, func: &Function) {
    let types = cx.m.types.len();
    cx.check(9, func.ret.index() < types, || "the type of the result does not exist".into());
    for (i, param) in func.params.iter().enumerate() {
        let back = func.values.get(param.value).is_some_and(|v| v.def == ValueDef::Param(i as u32) && v.ty == param.ty);
        cx.check(5, back && param.ty.index() < types, || format!("parameter {i} is not the value it names"));
    }
    for (local, var) in func.locals.iter() {
        cx.check(9, var.ty.index() < types, || format!("the type of {local} does not exist"));
    }
    let mut living = EntitySet::with_capacity(func.blocks.len());
    cx.check(3, !func.order.is_empty(), || "the function has no entry block".into());
    for &block in &func.order {
        let ok = func.blocks.is_valid(block) && living.insert(block);
        cx.check(3, ok, || format!("{block} does not exist or stands twice"));
    }
    if cx.errors.iter().any(|e| e.rule == 3 && e.func == Some(id)) {
        return;
    }
    let mut placed = EntitySet::with_capacity(func.insts.len());
    for &block in &func.order {
        cx.block = Some(block);
        let data = &func.blocks[block];
        for &inst in &data.insts {
            cx.inst = Some(inst);
            if !func.insts.is_valid(inst) || !placed.insert(inst) {
                cx.error(4, format!("{inst} does not exist or stands twice"));
                continue;
            }
            let data = &func.insts[inst];
            if data.ty.index() >= types {
                cx.error(9, "the type of the result does not exist");
                continue;
            }
            let void = cx.m.types.kind(data.ty) == TypeKind::Void;
            let ok = match data.result {
                None => void,
                Some(v) => {
                    !void && func.values.get(v).is_some_and(|v| v.def == ValueDef::Inst(inst) && v.ty == data.ty)
                }
            };
            cx.check(7, ok, || "the result and the type of the instruction disagree".into());
            data.args.iter().for_each(|&arg| value(cx, func, arg));
            for &pred in &data.preds {
                cx.check(6, living.contains(pred), || format!("{pred} is no living block"));
            }
            cx.check(6, data.op == Op::Phi || data.preds.is_empty(), || "only phis name blocks".into());
            if let Op::Call(callee) = data.op {
                cx.check(8, callee.index() < id.index(), || format!("{callee} does not stand before {id}"));
            }
        }
        cx.inst = None;
        if let Some(arg) = data.term.arg() {
            value(cx, func, arg);
        }
        let marked = match data.merge {
            Merge::None => [None, None],
            Merge::Selection(merge) => [Some(merge), None],
            Merge::Loop { merge, cont } => [Some(merge), Some(cont)],
        };
        for to in data.term.successors().chain(marked.into_iter().flatten()) {
            cx.check(6, living.contains(to), || format!("{to} is no living block"));
        }
    }
    (cx.block, cx.inst) = (None, None);
}

fn value(cx: &mut Checker, func: &Function, value: Value) {
    let m = cx.m;
    let Some(data) = func.values.get(value) else {
        return cx.error(5, format!("{value} does not exist"));
    };
    let points_to = |space, ty| m.types.pointee(data.ty) == Some((space, ty));
    let ok = data.ty.index() < m.types.len()
        && match data.def {
            ValueDef::Inst(inst) => func.insts.get(inst).is_some_and(|i| i.result == Some(value)),
            ValueDef::Param(i) => func.params.get(i as usize).is_some_and(|p| p.value == value),
            ValueDef::Const(c) => c.index() < m.consts.len() && m.consts.ty(c) == data.ty,
            ValueDef::Global(g) => m.globals.get(g).is_some_and(|v| points_to(v.space, v.ty)),
            ValueDef::Local(l) => func.locals.get(l).is_some_and(|v| points_to(crate::AddressSpace::Function, v.ty)),
        };
    cx.check(5, ok, || format!("{value} and its definition disagree"));
}
