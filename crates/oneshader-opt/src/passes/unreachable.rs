//! Unreachable blocks: removes what no edge reaches from the entry.
//!
//! A merge block that is still named by a header stays, empty and unreachable; so does a continue block, which still goes
//! back to its header. Phi arguments from removed blocks go.

use crate::edit::{remove_phi_pred, undef};
use crate::manager::Cx;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::analysis::Cfg;
use oneshader_ir::{Block, Function, Hint, IrModule, Merge, Op, TerminatorKind};

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    remove_by(module, func, &cx.graph(func).cfg)
}

/// Removes them, and tells whether there were any.
pub(crate) fn remove(module: &mut IrModule, func: &mut Function) -> bool {
    remove_by(module, func, &Cfg::new(func))
}

fn remove_by(module: &mut IrModule, func: &mut Function, cfg: &Cfg) -> bool {
    if cfg.rpo().len() == func.order.len() {
        return false;
    }
    // Blocks kept for a marker alone: (block, where a continue block goes back to).
    let mut kept: Vec<(Block, Option<Block>)> = Vec::new();
    let mut keep = EntitySet::with_capacity(func.blocks.len());
    for &block in cfg.rpo() {
        keep.insert(block);
        let (merge, cont) = match func.blocks[block].merge {
            Merge::None => continue,
            Merge::Selection(merge) => (merge, None),
            Merge::Loop { merge, cont } => (merge, Some(cont)),
        };
        if !cfg.is_reachable(merge) {
            kept.push((merge, None));
        }
        kept.extend(cont.filter(|&c| !cfg.is_reachable(c)).map(|c| (c, Some(block))));
    }
    // The first entry of a block counts.
    let mut wanted_at: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    for (at, &(block, _)) in kept.iter().enumerate() {
        wanted_at[block].get_or_insert(at as u32);
    }
    let mut changed = false;
    for index in 0..func.order.len() {
        let block = func.order[index];
        if cfg.is_reachable(block) {
            continue;
        }
        let wanted = wanted_at[block].map(|at| kept[at as usize]);
        let back = wanted.and_then(|(_, back)| back);
        // Edges out of it go, but for a continue block's back edge.
        for &succ in cfg.succs(block) {
            if Some(succ) != back {
                remove_phi_pred(func, succ, block);
            }
        }
        let had = cfg.succs(block).first() == back.as_ref() && cfg.succs(block).len() == usize::from(back.is_some());
        let data = &mut func.blocks[block];
        let empty = data.insts.is_empty() && data.merge == Merge::None;
        if wanted.is_none() || !empty || !had {
            changed = true;
        }
        data.insts.clear();
        data.merge = Merge::None;
        data.hint = Hint::None;
        data.term.kind = match back {
            Some(header) => TerminatorKind::Branch(header),
            None => TerminatorKind::Unreachable,
        };
        if wanted.is_some() {
            keep.insert(block);
        }
    }
    func.order.retain(|&b| keep.contains(b));
    // What arrives over an edge that is never taken is any value.
    for (cont, header) in kept.into_iter().filter_map(|(b, h)| Some((b, h?))) {
        for i in 0..func.blocks[header].insts.len() {
            let inst = func.blocks[header].insts[i];
            if func.insts[inst].op != Op::Phi {
                break;
            }
            let ty = func.insts[inst].ty;
            let any = undef(module, func, ty);
            let data = &mut func.insts[inst];
            match data.preds.iter().position(|&p| p == cont) {
                Some(at) => data.args[at] = any,
                None => {
                    data.preds.push(cont);
                    data.args.push(any);
                }
            }
        }
    }
    changed
}
