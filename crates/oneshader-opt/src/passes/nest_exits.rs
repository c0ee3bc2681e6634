//! Nests early exits: what `single-return` made of `if (c) return a; return b;`, a jump out of a selection to the end of a
//! switch that chooses nothing, becomes an `else`.
//!
//! For each selection inside such a switch, innermost and last first: when its arms leave for the end of the switch and all
//! that follows it does too, what follows moves into the selection, whose new merge block goes to the end. Once nothing nested
//! leaves for the end any more, `const-branch` drops the switch.

use crate::edit::{fix_order, insert, inst_data, map_merge};
use crate::manager::Cx;
use oneshader_ir::analysis::{Cfg, ConstructId, ConstructKind, Constructs, DomTree};
use oneshader_ir::{Block, Function, Inst, InstFlags, IrModule, Merge, Op, TerminatorKind, Value};

/// Blocks looked at in one run, all changes together: each change looks at the whole function anew.
const BUDGET: usize = 4_000_000;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    nest_all(module, func)
}

/// Nests all that can be, and tells whether there was any.
pub(crate) fn nest_all(module: &mut IrModule, func: &mut Function) -> bool {
    let mut changed = false;
    let mut budget = BUDGET;
    while let Some(left) = budget.checked_sub(func.order.len()) {
        budget = left;
        let cfg = Cfg::new(func);
        let doms = DomTree::dominators(&cfg);
        let tree = Constructs::new(func, &doms);
        let Some((header, end)) = candidate(func, &cfg, &doms, &tree) else { break };
        nest(module, func, &cfg, &doms, header, end);
        changed = true;
    }
    if changed {
        fix_order(func);
    }
    changed
}

/// A selection to change, and the end of the switch around it.
fn candidate(func: &Function, cfg: &Cfg, doms: &DomTree, tree: &Constructs) -> Option<(Block, Block)> {
    let constructs: Vec<(ConstructId, _)> = tree.iter().map(|(id, c)| (id, *c)).collect();
    constructs.iter().rev().find_map(|&(id, construct)| {
        let outer = *tree.get(construct.parent?);
        let trivial = match &func.blocks[outer.header].term.kind {
            TerminatorKind::Switch { cases, .. } => cases.is_empty() && outer.kind == ConstructKind::Switch,
            _ => false,
        };
        if construct.kind != ConstructKind::If || !trivial {
            return None;
        }
        let (end, merge) = (outer.merge, construct.merge);
        let inside = |b: Block| tree.chain(tree.inside(b)).any(|(c, _)| c == id);
        // Jumps to the end from inside, all of them from this selection itself and none from constructs in it.
        let leaving: Vec<Block> = cfg.preds(end).iter().copied().filter(|&p| inside(p)).collect();
        if leaving.is_empty() || leaving.iter().any(|&p| tree.inside(p) != Some(id)) {
            return None;
        }
        // What follows, up to the end, is in the switch and nowhere else: only the end is left for.
        let reached = cfg.is_reachable(merge);
        let follows = |b: Block| reached && doms.dominates(merge, b) && !(doms.contains(end) && doms.dominates(end, b));
        // What goes there must not be nested deeper than the selection's end will be.
        let flat = cfg.preds(end).iter().filter(|&&p| follows(p)).all(|&p| tree.inside(p) == construct.parent);
        let closed =
            cfg.rpo().iter().filter(|&&b| follows(b)).all(|&b| cfg.succs(b).iter().all(|&s| s == end || follows(s)));
        (flat && closed).then_some((construct.header, end))
    })
}

fn nest(module: &mut IrModule, func: &mut Function, cfg: &Cfg, doms: &DomTree, header: Block, end: Block) {
    let span = func.blocks[end].term.span;
    let meet = func.add_block(span);
    // Everything that goes to the end from what the header dominates goes through the new block.
    let through: Vec<Block> = cfg.preds(end).iter().copied().filter(|&p| doms.dominates(header, p)).collect();
    for &block in &through {
        func.blocks[block].term.map_successors(|s| {
            if *s == end {
                *s = meet;
            }
        });
    }
    func.blocks[meet].term.kind = TerminatorKind::Branch(end);
    let phis: Vec<Inst> = func.blocks[end].insts.iter().copied().take_while(|&i| func.insts[i].op == Op::Phi).collect();
    for (at, phi) in phis.into_iter().enumerate() {
        let data = func.insts[phi].clone();
        let mut gathered = inst_data(Op::Phi, data.ty, &[], InstFlags::empty(), data.span);
        let target = &mut func.insts[phi];
        target.args.clear();
        target.preds.clear();
        for (&pred, &arg) in data.preds.iter().zip(&data.args) {
            let into = if through.contains(&pred) { &mut gathered } else { &mut *target };
            into.preds.push(pred);
            into.args.push(arg);
        }
        let value: Option<Value> = insert(module, func, meet, at, gathered);
        let target = &mut func.insts[phi];
        target.preds.push(meet);
        target.args.extend(value);
    }
    let old = match func.blocks[header].merge {
        Merge::Selection(old) => old,
        _ => return,
    };
    map_merge(&mut func.blocks[header], |b| if b == old { meet } else { b });
    let at = func.order.iter().position(|&b| b == end).unwrap_or(func.order.len());
    func.order.insert(at, meet);
}
