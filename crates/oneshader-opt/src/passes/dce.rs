//! Dead code: removes instructions without effect whose results nobody needs.
//!
//! Starts from what has an effect and from the ends of blocks, so cycles of phis that only feed each other go too. A call
//! stays unless its callee, and all that it calls, has no effect.

use crate::manager::Cx;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::analysis::{OpEffects, op_effects};
use oneshader_ir::{AddressSpace, Func, Function, Inst, IrModule, Op, Value, ValueDef};

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    remove_by(module, func, &mut cx.pure)
}

/// Removes it, and tells whether there was any.
pub(crate) fn remove(module: &IrModule, func: &mut Function) -> bool {
    remove_by(module, func, &mut SecondaryMap::new())
}

/// `pure`: what is known of callees.
fn remove_by(module: &IrModule, func: &mut Function, pure: &mut SecondaryMap<Func, Option<bool>>) -> bool {
    let mut live = EntitySet::with_capacity(func.insts.len());
    let mut work: Vec<Inst> = Vec::with_capacity(func.insts.len());
    let need = |value: Value, live: &mut EntitySet<Inst>, work: &mut Vec<Inst>| {
        if let ValueDef::Inst(inst) = func.values[value].def
            && live.insert(inst)
        {
            work.push(inst);
        }
    };
    for &block in &func.order {
        for &inst in &func.blocks[block].insts {
            if has_effect(module, func, inst, pure) && live.insert(inst) {
                work.push(inst);
            }
        }
        if let Some(arg) = func.blocks[block].term.arg() {
            need(arg, &mut live, &mut work);
        }
    }
    while let Some(inst) = work.pop() {
        for &arg in &func.insts[inst].args {
            need(arg, &mut live, &mut work);
        }
    }
    let mut changed = false;
    for &block in &func.order {
        let insts = &mut func.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| live.contains(inst));
        changed |= insts.len() != before;
    }
    changed | drop_unused_locals(func)
}

/// Drops the local variables that no living instruction names.
fn drop_unused_locals(func: &mut Function) -> bool {
    if func.locals.is_empty() {
        return false;
    }
    let mut used: EntitySet<oneshader_ir::Local> = EntitySet::with_capacity(func.locals.len());
    for (_, _, data) in func.live_insts() {
        for &arg in &data.args {
            if let ValueDef::Local(local) = func.values[arg].def {
                used.insert(local);
            }
        }
    }
    let unused = func.locals.keys().any(|l| !used.contains(l));
    if unused {
        func.retain_locals(|l| used.contains(l));
    }
    unused
}

fn has_effect(module: &IrModule, func: &Function, inst: Inst, pure: &mut SecondaryMap<Func, Option<bool>>) -> bool {
    match func.insts[inst].op {
        Op::Call(callee) => !*pure[callee].get_or_insert_with(|| is_pure(module, callee)),
        op => !op_effects(op).is_removable(),
    }
}

/// Whether calls of `callee` may be dropped when their results are not needed: it writes only its own variables.
fn is_pure(module: &IrModule, callee: Func) -> bool {
    let func = &module.functions[callee];
    // Calls inside would need their own answer; a call in a callee counts as an effect.
    func.live_insts().all(|(_, _, data)| match data.op {
        Op::Store => root_is_local(func, data.args[0]),
        op => op_effects(op).is_removable() && !op_effects(op).contains(OpEffects::CONTROL),
    }) && !has_loop(func)
}

/// An endless loop is an effect: no optimization may assume that a loop ends.
fn has_loop(func: &Function) -> bool {
    func.order.iter().any(|&b| matches!(func.blocks[b].merge, oneshader_ir::Merge::Loop { .. }))
}

fn root_is_local(func: &Function, mut pointer: Value) -> bool {
    for _ in 0..func.insts.len() + 1 {
        match func.values[pointer].def {
            ValueDef::Local(_) => return true,
            ValueDef::Inst(inst) if func.insts[inst].op == Op::Access => pointer = func.insts[inst].args[0],
            _ => return false,
        }
    }
    false
}

/// Whether the address is of a local variable; shared with passes that look at memory.
pub(crate) fn local_root(module: &IrModule, func: &Function, pointer: Value) -> Option<oneshader_ir::Local> {
    match func.values[pointer].def {
        ValueDef::Local(local) => return Some(local),
        ValueDef::Inst(_) if module.types.pointee(func.ty(pointer))?.0 == AddressSpace::Function => {}
        _ => return None,
    }
    let mut at = pointer;
    for _ in 0..func.insts.len() + 1 {
        match func.values[at].def {
            ValueDef::Local(local) => return Some(local),
            ValueDef::Inst(inst) if func.insts[inst].op == Op::Access => at = func.insts[inst].args[0],
            _ => return None,
        }
    }
    None
}
