//! Brings a function to one return, at its end, so that it can be inlined.
//!
//! The body becomes the default of a switch without cases, and a return a jump to the switch's merge block. A return inside
//! loops or switches first leaves the innermost one with a flag set, which is looked at behind each of them.

use super::unreachable;
use crate::edit::{after_phis, insert, inst_data, split};
use crate::manager::Cx;
use cranelift_entity::EntitySet;
use oneshader_diag::Span;
use oneshader_ir::analysis::{Cfg, ConstructId, ConstructKind, Constructs, DomTree};
use oneshader_ir::{Block, Function, InstFlags, IrModule, Merge, Op, TerminatorKind, Type, Value};

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
    if stuck {
        return false;
    }
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
