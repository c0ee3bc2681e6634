//! Constant folding: evaluates operations whose operands are constants, exactly as they are defined, and finds the parts of
//! composites that are put together and taken apart again. It reorders nothing and so needs no regard for `precise`.

use crate::edit::Replacements;
use crate::manager::Cx;
use cranelift_entity::EntitySet;
use oneshader_ir::{Const, Function, Inst, InstFlags, IrModule, Op, Swizzle, TypeKind, Value, ValueDef, fold};
use smallvec::SmallVec;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    fold_function(module, func)
}

/// Folds what can be, once over; tells whether anything was.
pub(crate) fn fold_function(module: &mut IrModule, func: &mut Function) -> bool {
    let mut replaced = Replacements::default();
    let (mut changed, mut looked) = (false, false);
    for index in 0..func.order.len() {
        let block = func.order[index];
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            for arg in &mut func.insts[inst].args {
                *arg = replaced.get(*arg);
            }
            let Some(result) = func.insts[inst].result else { continue };
            if let Some(new) = simplify(module, func, result) {
                replaced.set(func, result, new);
                changed = true;
            } else {
                looked |= look_through(module, func, inst);
            }
        }
    }
    // The instructions themselves are dead now.
    replaced.apply(func);
    let removed = changed && remove_dead(func);
    removed || looked
}

/// Drops the folded instructions: those without effect that nobody uses.
fn remove_dead(func: &mut Function) -> bool {
    let mut used: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    for &block in &func.order {
        let data = &func.blocks[block];
        for &inst in &data.insts {
            for &arg in &func.insts[inst].args {
                used.insert(arg);
            }
        }
        if let Some(arg) = data.term.arg() {
            used.insert(arg);
        }
    }
    let mut removed = false;
    for &block in &func.order {
        let insts = &mut func.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| {
            let data = &func.insts[inst];
            data.result.is_none_or(|r| used.contains(r)) || !oneshader_ir::analysis::op_effects(data.op).is_removable()
        });
        removed |= insts.len() != before;
    }
    removed
}

/// A value that is there already, or a constant, equal to `result`.
pub(crate) fn simplify(module: &mut IrModule, func: &mut Function, result: Value) -> Option<Value> {
    let (_, data) = func.def_inst(result)?;
    let (op, ty, flags) = (data.op, data.ty, data.flags);
    if op == Op::Phi {
        return simplify_phi(func, result, &data.args);
    }
    if data.args.iter().all(|&a| func.as_const(a).is_some()) {
        let consts: SmallVec<[Const; 4]> = data.args.iter().filter_map(|&a| func.as_const(a)).collect();
        if let Some(c) = fold(&mut module.types, &mut module.consts, op, ty, &consts) {
            return Some(func.const_value(&module.consts, c));
        }
    }
    let args: SmallVec<[Value; 4]> = SmallVec::from_slice(&func.def_inst(result)?.1.args);
    match op {
        // A copy exists to carry the mark of an index that is not uniform.
        Op::Copy if !flags.contains(InstFlags::NONUNIFORM) => Some(args[0]),
        Op::Convert if func.ty(args[0]) == ty => Some(args[0]),
        Op::Bitcast => {
            let (_, inner) = func.def_inst(args[0])?;
            (inner.op == Op::Bitcast && func.ty(inner.args[0]) == ty).then_some(inner.args[0])
        }
        Op::Select if args[1] == args[2] => Some(args[1]),
        Op::Select => {
            let cond = func.as_const(args[0]).and_then(|c| module.consts.bits(c))?;
            Some(if cond != 0 { args[1] } else { args[2] })
        }
        Op::Extract { index } => part(module, func, args[0], index).known(),
        Op::ExtractDynamic => {
            let index = func.as_const(args[1]).and_then(|c| module.consts.bits(c))?;
            part(module, func, args[0], u32::try_from(index).ok()?).known()
        }
        Op::Swizzle(swizzle) => {
            let comps = swizzle.comps();
            let identity = comps.iter().enumerate().all(|(i, &c)| i == usize::from(c));
            (identity && func.ty(args[0]) == ty).then_some(args[0])
        }
        Op::Construct => whole(module, func, ty, &args),
        Op::Load if module.types.scalar_of(ty).is_some() => constant_load(module, func, args[0]),
        _ => None,
    }
}

/// What lies at an address in a variable that is never written, when the way there is constant.
fn constant_load(module: &mut IrModule, func: &mut Function, mut address: Value) -> Option<Value> {
    let mut path: SmallVec<[u32; 4]> = SmallVec::new();
    let mut constant = loop {
        match func.values[address].def {
            ValueDef::Global(global) if module.globals[global].readonly => break module.globals[global].init?,
            ValueDef::Inst(inst) if func.insts[inst].op == Op::Access => {
                let args = &func.insts[inst].args;
                for &index in args[1..].iter().rev() {
                    let bits = func.as_const(index).and_then(|c| module.consts.bits(c))?;
                    path.push(u32::try_from(bits).ok()?);
                }
                address = args[0];
            }
            _ => return None,
        }
    };
    for &index in path.iter().rev() {
        constant = module.consts.part(&mut module.types, constant, index)?;
    }
    Some(func.const_value(&module.consts, constant))
}

/// The one value that comes to a phi, besides itself.
fn simplify_phi(func: &Function, result: Value, args: &[Value]) -> Option<Value> {
    let mut only = None;
    for &arg in args.iter().filter(|&&a| a != result) {
        match only {
            None => only = Some(arg),
            Some(seen) if seen == arg => {}
            Some(_) => return None,
        }
    }
    // A value that dominates every predecessor dominates the phi; one defined by the phi's own block does not, but then it
    // arrives over a back edge only, and another value arrives from outside.
    only.filter(|&v| func.ty(v) == func.ty(result))
}

/// Where a part of a composite comes from.
enum Part {
    /// From a value that is there already.
    Known(Value),
    /// From this composite, which is not looked into.
    Of(Value, u32),
}

impl Part {
    fn known(self) -> Option<Value> {
        match self {
            Self::Known(value) => Some(value),
            Self::Of(..) => None,
        }
    }
}

/// Takes a part, or components, from where the composite has them from.
fn look_through(module: &mut IrModule, func: &mut Function, inst: Inst) -> bool {
    let (op, from) = (func.insts[inst].op, func.insts[inst].args.first().copied());
    let Some(from) = from else { return false };
    match op {
        Op::Extract { index } => match part(module, func, from, index) {
            Part::Of(source, at) if source != from => {
                func.insts[inst].op = Op::Extract { index: at };
                func.insts[inst].args[0] = source;
                true
            }
            _ => false,
        },
        Op::Swizzle(outer) => {
            let Some((_, data)) = func.def_inst(from) else { return false };
            let (inner_op, source) = (data.op, data.args.first().copied());
            let (Op::Swizzle(inner), Some(source)) = (inner_op, source) else { return false };
            let comps: Option<SmallVec<[u8; 4]>> =
                outer.comps().iter().map(|&c| inner.comps().get(usize::from(c)).copied()).collect();
            let Some(swizzle) = comps.and_then(|c| Swizzle::new(&c)) else { return false };
            func.insts[inst].op = Op::Swizzle(swizzle);
            func.insts[inst].args[0] = source;
            true
        }
        _ => false,
    }
}

/// Part `index` of `composite`.
fn part(module: &mut IrModule, func: &mut Function, mut composite: Value, mut index: u32) -> Part {
    // Each step goes to an operand, which stands before; the bound is against chains of insertions.
    for _ in 0..64 {
        if let Some(c) = func.as_const(composite) {
            return match module.consts.part(&mut module.types, c, index) {
                Some(part) => Part::Known(func.const_value(&module.consts, part)),
                None => Part::Of(composite, index),
            };
        }
        let Some((_, data)) = func.def_inst(composite) else { break };
        match data.op {
            Op::Insert { index: at } if at == index => return Part::Known(data.args[1]),
            Op::Insert { .. } => composite = data.args[0],
            Op::Splat => return Part::Known(data.args[0]),
            Op::Swizzle(swizzle) => {
                let Some(&at) = swizzle.comps().get(index as usize) else { break };
                index = u32::from(at);
                composite = data.args[0];
            }
            Op::Construct if !matches!(module.types.kind(data.ty), TypeKind::Vector { .. }) => {
                return match data.args.get(index as usize) {
                    Some(&part) => Part::Known(part),
                    None => Part::Of(composite, index),
                };
            }
            Op::Construct => {
                let mut rest = index;
                let found = data.args.iter().find_map(|&arg| {
                    let lanes = u32::from(module.types.lanes(func.ty(arg)));
                    if rest < lanes {
                        return Some((arg, lanes));
                    }
                    rest -= lanes;
                    None
                });
                match found {
                    Some((part, 1)) => return Part::Known(part),
                    Some((vector, _)) => (composite, index) = (vector, rest),
                    None => break,
                }
            }
            _ => break,
        }
    }
    Part::Of(composite, index)
}

/// The composite of which `parts` are all the parts in order.
fn whole(module: &IrModule, func: &Function, ty: oneshader_ir::Type, parts: &[Value]) -> Option<Value> {
    let (_, first) = func.def_inst(*parts.first()?)?;
    let source = *first.args.first()?;
    let all = parts.iter().enumerate().all(|(i, &p)| {
        func.def_inst(p).is_some_and(|(_, d)| d.op == Op::Extract { index: i as u32 } && d.args[0] == source)
    });
    let count = match module.types.kind(ty) {
        TypeKind::Vector { len, .. } => usize::from(len),
        TypeKind::Matrix { rows, .. } => usize::from(rows),
        TypeKind::Array { len, .. } => len as usize,
        TypeKind::Struct(id) => module.types.structs[id].members.len(),
        _ => return None,
    };
    (all && count == parts.len() && func.ty(source) == ty).then_some(source)
}
