//! Brings a function to one return, at its end, so that it can be inlined.
//!
//! The body becomes the default of a switch without cases, and a return a jump to the switch's merge block. A return inside
//! loops or switches first leaves the innermost one with a flag set, which is looked at behind each of them.

use super::unreachable;
use crate::edit::{after_phis, insert, inst_data, split};
use crate::manager::Cx;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_diag::Span;
use oneshader_ir::analysis::{Cfg, ConstructId, ConstructKind, Constructs, DomTree};
use oneshader_ir::{Block, Function, InstFlags, IrModule, Merge, Op, TerminatorKind, Type, TypeKind, Value};

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    transform(module, func)
}

/// Whether the function returns in one place, outside every construct, or not at all.
pub(crate) fn is_single(func: &Function) -> bool {
    let cfg = Cfg::new(func);
    let returns = return_blocks(func, &cfg);
    match returns[..] {
        [] => true,
        [only] => {
            let doms = DomTree::dominators(&cfg);
            Constructs::new(func, &doms).inside(only).is_none()
        }
        _ => false,
    }
}

/// The same, where no block is unreachable.
pub(crate) fn is_single_as_it_is(func: &Function) -> bool {
    Cfg::new(func).rpo().len() == func.order.len() && is_single(func)
}

fn return_blocks(func: &Function, cfg: &Cfg) -> Vec<Block> {
    let returns = |b: &Block| matches!(func.blocks[*b].term.kind, TerminatorKind::Return(_));
    cfg.rpo().iter().copied().filter(returns).collect()
}

/// Gives back whether it changed anything; what it cannot change stays as it is.
pub(crate) fn transform(module: &mut IrModule, func: &mut Function) -> bool {
    let Some(entry) = func.entry() else { return false };
    unreachable::remove(module, func);
    if is_single(func) {
        return false;
    }
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    let tree = Constructs::new(func, &doms);
    let returns = return_blocks(func, &cfg);
    // What each return leaves: loops and switches, innermost first.
    let leaves = |from: Option<ConstructId>| -> Vec<ConstructId> {
        tree.chain(from).filter(|(_, c)| c.kind != ConstructKind::If).map(|(id, _)| id).collect()
    };
    let mut checked: EntitySet<ConstructId> = EntitySet::new();
    for &block in &returns {
        for id in leaves(tree.inside(block)) {
            checked.insert(id);
        }
    }
    // Behind a construct there must be room for the check: not the header or the continue block of a loop.
    let conts: Vec<Block> = tree
        .iter()
        .filter_map(|(_, c)| if let ConstructKind::Loop { cont } = c.kind { Some(cont) } else { None })
        .collect();
    let stuck = tree
        .iter()
        .filter(|(id, _)| checked.contains(*id))
        .any(|(_, c)| matches!(func.blocks[c.merge].merge, Merge::Loop { .. }) || conts.contains(&c.merge));
    let carried = carried_out(func, &tree, &checked);
    // Addresses and handles cannot be carried in memory.
    if stuck || carried.iter().any(|&v| !is_data(module, func.ty(v))) {
        return false;
    }
    carry_in_memory(module, func, &carried);
    let span = func.span;
    let exit = func.add_block(span);
    let head = func.add_block(span);
    let names = Names::new(module, func, span);
    head_and_exit(module, func, &names, (head, entry, exit), span);
    for &block in &returns {
        let TerminatorKind::Return(value) = func.blocks[block].term.kind else { continue };
        let span = func.blocks[block].term.span;
        if let (Some(value), Some((slot, _))) = (value, names.result) {
            store(module, func, block, slot, value, span);
        }
        let target = match leaves(tree.inside(block)).first() {
            None => exit,
            Some(&innermost) => {
                let c = module.consts.bool(&mut module.types, true);
                let yes = func.const_value(&module.consts, c);
                store(module, func, block, names.flag, yes, span);
                tree.get(innermost).merge
            }
        };
        func.blocks[block].term.kind = TerminatorKind::Branch(target);
        if target != exit {
            add_phi_pred(module, func, target, block);
        }
    }
    for (_, construct) in tree.iter().filter(|(id, _)| checked.contains(*id)) {
        let outer = leaves(construct.parent).first().map_or(exit, |&o| tree.get(o).merge);
        check_behind(module, func, &names, construct.merge, outer, outer != exit);
    }
    true
}

/// Values that are computed inside a construct that returns leave, and used behind it: once there is a way around them, they
/// do not dominate their uses any more.
fn carried_out(func: &Function, tree: &Constructs, checked: &EntitySet<ConstructId>) -> Vec<Value> {
    let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for (block, _, data) in func.live_insts() {
        if let Some(result) = data.result {
            home[result] = Some(block);
        }
    }
    let mut found: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    let mut out = Vec::new();
    let mut used = |value: Value, at: Block| {
        let Some(home) = home[value].filter(|&h| h != at) else { return };
        let leaves = tree
            .chain(tree.inside(home))
            .filter(|(id, _)| checked.contains(*id))
            .any(|(id, _)| !tree.chain(tree.inside(at)).any(|(other, _)| other == id));
        if leaves && found.insert(value) {
            out.push(value);
        }
    };
    for &block in &func.order {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            for (i, &arg) in data.args.iter().enumerate() {
                // A phi uses its operands where they come from.
                used(arg, if data.op == Op::Phi { data.preds[i] } else { block });
            }
        }
        if let Some(arg) = func.blocks[block].term.arg() {
            used(arg, block);
        }
    }
    out
}

fn is_data(module: &IrModule, ty: Type) -> bool {
    match module.types.kind(ty) {
        TypeKind::Array { elem, .. } => is_data(module, elem),
        TypeKind::Struct(id) => module.types.structs[id].members.iter().all(|m| is_data(module, m.ty)),
        TypeKind::Scalar(_) | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => true,
        _ => false,
    }
}

/// Stores each value where it is computed and loads it where it is used.
fn carry_in_memory(module: &mut IrModule, func: &mut Function, values: &[Value]) {
    let mut slots: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    for &value in values {
        let name = match func.value_names[value] {
            Some(name) => name,
            None => module.names.intern("carried"),
        };
        let ty = func.ty(value);
        slots[value] = Some(func.add_local(&mut module.types, name, ty, func.span));
    }
    let load = |module: &mut IrModule, func: &mut Function, block: Block, at: usize, value: Value| {
        let slot = slots[value]?;
        let (ty, span) = (func.ty(value), func.blocks[block].term.span);
        insert(module, func, block, at, inst_data(Op::Load, ty, &[slot], InstFlags::empty(), span))
    };
    for index in 0..func.order.len() {
        let block = func.order[index];
        let mut at = 0;
        while at < func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            for i in 0..func.insts[inst].args.len() {
                let arg = func.insts[inst].args[i];
                // Loads for phis stand at the ends of the blocks they come from.
                let place = match func.insts[inst].op {
                    Op::Phi => (func.insts[inst].preds[i], func.blocks[func.insts[inst].preds[i]].insts.len()),
                    _ => (block, at),
                };
                if let Some(loaded) = load(module, func, place.0, place.1, arg) {
                    func.insts[inst].args[i] = loaded;
                    at += usize::from(place.0 == block && place.1 <= at);
                }
            }
            at += 1;
        }
        let end = func.blocks[block].insts.len();
        if let Some(arg) = func.blocks[block].term.arg()
            && let Some(loaded) = load(module, func, block, end, arg)
            && let Some(slot) = func.blocks[block].term.arg_mut()
        {
            *slot = loaded;
        }
    }
    for index in 0..func.order.len() {
        let block = func.order[index];
        let phis = after_phis(func, block);
        let mut at = 0;
        while at < func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            let result = func.insts[inst].result;
            at += 1;
            let (Some(value), true) = (result, result.is_some_and(|r| slots[r].is_some())) else { continue };
            let (Some(slot), span) = (slots[value], func.insts[inst].span) else { continue };
            let void = module.types.void();
            let store = inst_data(Op::Store, void, &[slot, value], InstFlags::empty(), span);
            insert(module, func, block, at.max(phis), store);
        }
    }
}

/// The variables that carry the result and whether the function has returned.
struct Names {
    result: Option<(Value, Type)>,
    flag: Value,
    bool_ty: Type,
}

impl Names {
    fn new(module: &mut IrModule, func: &mut Function, span: Span) -> Self {
        let (name, flag_name) = (module.names.intern("result"), module.names.intern("returned"));
        let bool_ty = module.types.bool();
        let void = module.types.void();
        let ret = func.ret;
        let result = (ret != void).then(|| (func.add_local(&mut module.types, name, ret, span), ret));
        Self { result, flag: func.add_local(&mut module.types, flag_name, bool_ty, span), bool_ty }
    }
}

fn store(module: &mut IrModule, func: &mut Function, block: Block, to: Value, value: Value, span: Span) {
    let void = module.types.void();
    let at = func.blocks[block].insts.len();
    insert(module, func, block, at, inst_data(Op::Store, void, &[to, value], InstFlags::empty(), span));
}

/// The switch around the body, and what stands behind it.
fn head_and_exit(
    module: &mut IrModule,
    func: &mut Function,
    names: &Names,
    (head, entry, exit): (Block, Block, Block),
    span: Span,
) {
    let c = module.consts.bool(&mut module.types, false);
    let no = func.const_value(&module.consts, c);
    store(module, func, head, names.flag, no, span);
    let zero = module.consts.u32(&mut module.types, 0);
    let selector = func.const_value(&module.consts, zero);
    func.blocks[head].term.kind = TerminatorKind::Switch { selector, default: entry, cases: Vec::new() };
    func.blocks[head].merge = Merge::Selection(exit);
    func.order.insert(0, head);
    func.order.push(exit);
    let value = names.result.and_then(|(slot, ty)| {
        insert(module, func, exit, 0, inst_data(Op::Load, ty, &[slot], InstFlags::empty(), span))
    });
    func.blocks[exit].term.kind = TerminatorKind::Return(value);
}

/// A new edge brings any value to the phis it meets.
fn add_phi_pred(module: &mut IrModule, func: &mut Function, block: Block, pred: Block) {
    for i in 0..after_phis(func, block) {
        let inst = func.blocks[block].insts[i];
        let ty = func.insts[inst].ty;
        let any = crate::edit::undef(module, func, ty);
        func.insts[inst].preds.push(pred);
        func.insts[inst].args.push(any);
    }
}

/// At the start of `merge`: goes on to `outer` when the function has returned.
fn check_behind(module: &mut IrModule, func: &mut Function, names: &Names, merge: Block, outer: Block, phis: bool) {
    let at = after_phis(func, merge);
    let span = func.blocks[merge].term.span;
    let rest = split(func, merge, at);
    let leave = func.add_block(span);
    crate::edit::place_after(func, merge, leave);
    func.blocks[leave].term.kind = TerminatorKind::Branch(outer);
    let load = inst_data(Op::Load, names.bool_ty, &[names.flag], InstFlags::empty(), span);
    let end = func.blocks[merge].insts.len();
    if let Some(cond) = insert(module, func, merge, end, load) {
        func.blocks[merge].term.kind = TerminatorKind::CondBranch { cond, then: leave, els: rest };
        func.blocks[merge].merge = Merge::Selection(rest);
    }
    if phis {
        add_phi_pred(module, func, outer, leave);
    }
}
