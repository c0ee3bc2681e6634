//! Scalar replacement of aggregates: a local variable of structure or array type whose parts are reached by constant indices,
//! or that is loaded and stored as a whole, becomes one variable for each part.

use super::dce::local_root;
use crate::edit::{Replacements, insert, inst_data};
use crate::manager::Cx;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use oneshader_ir::{Function, Inst, IrModule, Local, Op, Type, TypeKind, Value, ValueDef};
use smallvec::SmallVec;

/// Arrays of more elements stay.
const MAX_PARTS: u32 = 64;
/// A function does not get more local variables than this by splitting.
const MAX_LOCALS: usize = 20_000;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    split_locals(module, func, |_, _| true)
}

/// Splits every local variable that `wanted` names and that can be split, and the parts again.
pub(crate) fn split_locals(
    module: &mut IrModule,
    func: &mut Function,
    wanted: impl Fn(&IrModule, Type) -> bool,
) -> bool {
    let mut changed = false;
    // Each round splits one level of nesting.
    for _ in 0..64 {
        if !round(module, func, &wanted) {
            break;
        }
        changed = true;
    }
    changed
}

/// Whether a type is a structure or small array.
fn can_split(module: &IrModule, ty: Type) -> bool {
    match module.types.kind(ty) {
        TypeKind::Struct(id) => module.types.structs[id].members.len() <= MAX_PARTS as usize,
        TypeKind::Array { len, .. } => len <= MAX_PARTS,
        _ => false,
    }
}

/// The types of the parts of a structure or small array.
fn parts(module: &IrModule, ty: Type) -> Option<SmallVec<[Type; 8]>> {
    match module.types.kind(ty) {
        _ if !can_split(module, ty) => None,
        TypeKind::Struct(id) => Some(module.types.structs[id].members.iter().map(|m| m.ty).collect()),
        TypeKind::Array { elem, len } => Some((0..len).map(|_| elem).collect()),
        _ => None,
    }
}

fn round(module: &mut IrModule, func: &mut Function, wanted: &impl Fn(&IrModule, Type) -> bool) -> bool {
    let mut kept: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    let mut any = false;
    for (local, var) in func.locals.iter() {
        match can_split(module, var.ty) && wanted(module, var.ty) {
            true => any = true,
            false => drop(kept.insert(local)),
        }
    }
    if !any {
        return false;
    }
    let direct = |func: &Function, v: Value| match func.values[v].def {
        ValueDef::Local(local) => Some(local),
        _ => None,
    };
    let mut used: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    for (_, _, data) in func.live_insts() {
        for (position, &arg) in data.args.iter().enumerate() {
            let Some(local) = local_root(module, func, arg) else { continue };
            used.insert(local);
            let ok = match (data.op, direct(func, arg)) {
                (Op::Load, Some(_)) => true,
                (Op::Store, Some(_)) => position == 0,
                (Op::Access, Some(_)) => {
                    let index = func.as_const(data.args[1]).and_then(|c| module.consts.bits(c));
                    let count = match module.types.kind(func.locals[local].ty) {
                        TypeKind::Struct(id) => module.types.structs[id].members.len() as u64,
                        TypeKind::Array { len, .. } => u64::from(len),
                        _ => 0,
                    };
                    index.is_some_and(|i| i < count)
                }
                // The address of a part: the access that made it was looked at.
                (_, None) => true,
                _ => false,
            };
            if !ok {
                kept.insert(local);
            }
        }
    }
    let mut split: SecondaryMap<Local, SmallVec<[Value; 8]>> = SecondaryMap::new();
    any = false;
    for index in 0..func.locals.len() {
        let local = Local::new(index);
        if kept.contains(local) || !used.contains(local) || func.locals.len() > MAX_LOCALS {
            continue;
        }
        let var = func.locals[local];
        let Some(types) = parts(module, var.ty) else { continue };
        let names = part_names(module, &var);
        for (i, ty) in types.into_iter().enumerate() {
            let name = module.names.intern(&names(module, i));
            let value = func.add_local(&mut module.types, name, ty, var.span);
            split[local].push(value);
        }
        any = true;
    }
    if any {
        rewrite(module, func, &split);
    }
    any
}

/// Names of parts: `light.color`, `k[2]`.
fn part_names(module: &IrModule, var: &oneshader_ir::LocalVar) -> impl Fn(&IrModule, usize) -> String + use<> {
    let base = module.names.get(var.name).to_string();
    let kind = module.types.kind(var.ty);
    move |module, i| match kind {
        TypeKind::Struct(id) => format!("{base}.{}", module.names.get(module.types.structs[id].members[i].name)),
        _ => format!("{base}[{i}]"),
    }
}

fn rewrite(module: &mut IrModule, func: &mut Function, split: &SecondaryMap<Local, SmallVec<[Value; 8]>>) {
    let mut replaced = Replacements::default();
    for index in 0..func.order.len() {
        let block = func.order[index];
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut out: Vec<Inst> = Vec::with_capacity(insts.len());
        for inst in insts {
            let data = &func.insts[inst];
            let local = data.args.first().and_then(|&a| match func.values[a].def {
                ValueDef::Local(local) if !split[local].is_empty() => Some(local),
                _ => None,
            });
            let Some(local) = local else {
                out.push(inst);
                continue;
            };
            let data = data.clone();
            let pieces = &split[local];
            func.blocks[block].insts = std::mem::take(&mut out);
            let end = |func: &Function| func.blocks[block].insts.len();
            match data.op {
                Op::Load => {
                    let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                    for &piece in pieces {
                        let ty = module.types.pointee(func.ty(piece)).map_or(data.ty, |(_, ty)| ty);
                        let load = inst_data(Op::Load, ty, &[piece], data.flags, data.span);
                        let at = end(func);
                        values.extend(insert(module, func, block, at, load));
                    }
                    let whole = &mut func.insts[inst];
                    whole.op = Op::Construct;
                    whole.args = values.into_iter().collect();
                    func.blocks[block].insts.push(inst);
                }
                Op::Store => {
                    let void = module.types.void();
                    for (i, &piece) in pieces.iter().enumerate() {
                        let ty = module.types.pointee(func.ty(piece)).map_or(void, |(_, ty)| ty);
                        let part =
                            inst_data(Op::Extract { index: i as u32 }, ty, &[data.args[1]], data.flags, data.span);
                        let at = end(func);
                        if let Some(part) = insert(module, func, block, at, part) {
                            let store = inst_data(Op::Store, void, &[piece, part], data.flags, data.span);
                            insert(module, func, block, at + 1, store);
                        }
                    }
                }
                _ => {
                    // An access; its first index is a constant that the type has.
                    let first = func.as_const(data.args[1]).and_then(|c| module.consts.bits(c)).unwrap_or(0) as usize;
                    let piece = pieces[first.min(pieces.len() - 1)];
                    let access = &mut func.insts[inst];
                    access.args.remove(1);
                    access.args[0] = piece;
                    if access.args.len() > 1 {
                        func.blocks[block].insts.push(inst);
                    } else if let Some(result) = access.result {
                        // Nothing is left to step into: the part's own address.
                        replaced.set(func, result, piece);
                    }
                }
            }
            out = std::mem::take(&mut func.blocks[block].insts);
        }
        func.blocks[block].insts = out;
    }
    replaced.apply(func);
}
