//! Simplifies the graph and keeps its structure: joins blocks that always follow each other, and drops selections that choose
//! between nothing and nothing.

use crate::edit::{Replacements, remove_phi_pred, rename_phi_pred};
use crate::manager::Cx;
use cranelift_entity::EntitySet;
use oneshader_ir::analysis::Cfg;
use oneshader_ir::{Block, Function, Hint, IrModule, Merge, Op, TerminatorKind};
use smallvec::SmallVec;

pub(crate) fn run(_: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let named = named_blocks(func);
    // Edges only go while this runs, so those of the graph are at least those there are.
    let dropped = drop_empty_selections(func, &cx.graph(func).cfg, &named);
    match dropped {
        true => join_chains(func, &Cfg::new(func), &named) || dropped,
        false => join_chains(func, &cx.graph(func).cfg, &named),
    }
}

/// A selection of which both arms are empty, and whose merge block does not care which one control came from.
fn drop_empty_selections(func: &mut Function, cfg: &Cfg, named: &EntitySet<Block>) -> bool {
    let mut changed = false;
    let mut gone: EntitySet<Block> = EntitySet::new();
    // Inner ones first: an arm may be empty once its own selection is gone.
    for index in (0..func.order.len()).rev() {
        let header = func.order[index];
        let Merge::Selection(merge) = func.blocks[header].merge else { continue };
        let succs: SmallVec<[Block; 4]> = func.blocks[header].term.successors().collect();
        let empty = |func: &Function, arm: Block| {
            let data = &func.blocks[arm];
            data.insts.is_empty() && data.merge == Merge::None && data.term.kind == TerminatorKind::Branch(merge)
        };
        if !succs.iter().all(|&s| s == merge || empty(func, s)) {
            continue;
        }
        let arms: SmallVec<[Block; 4]> = {
            let mut arms: SmallVec<[Block; 4]> = succs.iter().copied().filter(|&s| s != merge).collect();
            arms.sort_unstable();
            arms.dedup();
            arms
        };
        let direct = succs.contains(&merge);
        // What arrives over the arms is one value for each phi.
        let sources: SmallVec<[Block; 4]> = arms.iter().copied().chain(direct.then_some(header)).collect();
        let same = func.blocks[merge].insts.iter().map(|&i| &func.insts[i]).take_while(|d| d.op == Op::Phi).all(|d| {
            let mut values = d.preds.iter().zip(&d.args).filter(|(p, _)| sources.contains(p)).map(|(_, &v)| v);
            let first = values.next();
            values.all(|v| Some(v) == first)
        });
        if !same || arms.iter().any(|&a| cfg.preds(a).len() > 1 || named.contains(a)) {
            continue;
        }
        // One source stays and becomes the header.
        let mut rest = sources.iter().copied();
        let kept = if direct { header } else { rest.next().unwrap_or(header) };
        for source in sources.iter().copied().filter(|&s| s != kept) {
            remove_phi_pred(func, merge, source);
        }
        rename_phi_pred(func, merge, kept, header);
        let data = &mut func.blocks[header];
        data.term.kind = TerminatorKind::Branch(merge);
        data.merge = Merge::None;
        data.hint = Hint::None;
        arms.iter().for_each(|&a| {
            gone.insert(a);
        });
        changed = true;
    }
    // Arms stand behind their header, where this has been already.
    if changed {
        func.order.retain(|&b| !gone.contains(b));
    }
    changed
}

/// Appends a block to the only one that leads to it, where that leads nowhere else.
fn join_chains(func: &mut Function, cfg: &Cfg, named: &EntitySet<Block>) -> bool {
    let mut gone: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    let mut replaced = Replacements::default();
    for index in 0..func.order.len() {
        let block = func.order[index];
        if gone.contains(block) {
            continue;
        }
        while let TerminatorKind::Branch(next) = func.blocks[block].term.kind {
            let alone = cfg.preds(next).len() == 1 && next != block && !named.contains(next);
            if !alone || func.blocks[block].merge != Merge::None || func.entry() == Some(next) {
                break;
            }
            let (insts, term) = (std::mem::take(&mut func.blocks[next].insts), func.blocks[next].term.clone());
            let (merge, hint) = (func.blocks[next].merge, func.blocks[next].hint);
            for inst in insts {
                let phi = func.insts[inst].op == Op::Phi;
                match (phi, func.insts[inst].result, func.insts[inst].args.first().copied()) {
                    (true, Some(result), Some(value)) => replaced.set(func, result, value),
                    _ => func.blocks[block].insts.push(inst),
                }
            }
            let succs: SmallVec<[Block; 4]> = term.successors().collect();
            let target = &mut func.blocks[block];
            (target.term, target.merge, target.hint) = (term, merge, hint);
            for succ in succs {
                rename_phi_pred(func, succ, next, block);
            }
            gone.insert(next);
        }
    }
    replaced.apply(func);
    let before = func.order.len();
    func.order.retain(|&b| !gone.contains(b));
    func.order.len() != before
}

/// Blocks that a marker names: they keep their beginning.
fn named_blocks(func: &Function) -> EntitySet<Block> {
    let mut named: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    for &block in &func.order {
        match func.blocks[block].merge {
            Merge::None => {}
            Merge::Selection(merge) => {
                named.insert(merge);
            }
            Merge::Loop { merge, cont } => {
                named.insert(merge);
                named.insert(cont);
            }
        }
    }
    named
}
