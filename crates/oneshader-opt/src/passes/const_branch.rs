//! Branches on constants become unconditional; what is cut off is left to `unreachable`.
//!
//! A selection loses its marker with its choice. A switch keeps both when something nested deeper leaves it for its merge
//! block: without the switch that jump would have no construct to leave. A loop whose condition is false from the start
//! stops being a loop.

use crate::edit::remove_phi_pred;
use crate::manager::{Cx, Graph};
use oneshader_ir::analysis::Cfg;
use oneshader_ir::{Block, Function, Hint, IrModule, Merge, TerminatorKind};

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let mut changed = false;
    let mut ended: Vec<Block> = Vec::new();
    // As it is before: edges only go while this runs, so that nothing more leaves a construct than here.
    let graph = cx.graph(func);
    for index in 0..func.order.len() {
        let block = func.order[index];
        let Some(target) = known_target(module, func, block) else { continue };
        if is_switch(func, block) && !may_straighten(func, graph, block) {
            continue;
        }
        let succs: Vec<Block> = func.blocks[block].term.successors().collect();
        for &succ in succs.iter().filter(|&&s| s != target) {
            remove_phi_pred(func, succ, block);
        }
        let data = &mut func.blocks[block];
        data.term.kind = TerminatorKind::Branch(target);
        match data.merge {
            Merge::Loop { merge, .. } if merge == target => {
                data.merge = Merge::None;
                data.hint = Hint::None;
                ended.push(block);
            }
            Merge::Loop { .. } => {}
            Merge::None | Merge::Selection(_) => {
                data.merge = Merge::None;
                data.hint = Hint::None;
            }
        }
        changed = true;
    }
    if !ended.is_empty() {
        drop_back_edges(func, &ended);
    }
    changed
}

/// Where a conditional end of a block goes always.
fn known_target(module: &IrModule, func: &Function, block: Block) -> Option<Block> {
    let term = &func.blocks[block].term;
    let bits = |v| func.as_const(v).and_then(|c| module.consts.bits(c));
    match &term.kind {
        TerminatorKind::CondBranch { then, els, .. } if then == els => Some(*then),
        TerminatorKind::CondBranch { cond, then, els } => Some(if bits(*cond)? != 0 { *then } else { *els }),
        TerminatorKind::Switch { selector, default, cases } => {
            let value = bits(*selector)?;
            Some(cases.iter().find(|c| c.value == value).map_or(*default, |c| c.target))
        }
        _ => None,
    }
}

fn is_switch(func: &Function, block: Block) -> bool {
    matches!(func.blocks[block].term.kind, TerminatorKind::Switch { .. })
}

/// Whether no block of a construct nested in the switch leaves for its merge block.
fn may_straighten(func: &Function, Graph { cfg, doms }: &Graph, header: Block) -> bool {
    let Merge::Selection(merge) = func.blocks[header].merge else { return true };
    cfg.preds(merge).iter().filter(|&&p| cfg.is_reachable(p)).all(|&pred| {
        // The nearest header around the block that has not ended before it.
        let mut at = Some(pred);
        while let Some(block) = at.filter(|&b| b != header) {
            let inside = match func.blocks[block].merge {
                Merge::None => false,
                Merge::Selection(end) | Merge::Loop { merge: end, .. } => {
                    !(doms.contains(end) && doms.dominates(end, pred))
                }
            };
            if inside {
                return false;
            }
            at = doms.idom(block);
        }
        true
    })
}

/// Headers that are no longer loops' have no back edges; their sources are cut off with the bodies.
fn drop_back_edges(func: &mut Function, headers: &[Block]) {
    let cfg = Cfg::new(func);
    for &header in headers {
        for &pred in cfg.preds(header) {
            if !cfg.is_reachable(pred) {
                remove_phi_pred(func, header, pred);
                func.blocks[pred].term.kind = TerminatorKind::Unreachable;
            }
        }
    }
}
