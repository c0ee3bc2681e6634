//! V010 to V013: order, dominance, phis.

use super::Checker;
use crate::analysis::{Cfg, DomTree};
use crate::entity::{Block, Value};
use crate::func::{Function, ValueDef};
use crate::inst::Op;
use cranelift_entity::SecondaryMap;

/// What the other checks of a function share.
pub(super) struct Flow {
    pub cfg: Cfg,
    pub doms: DomTree,
}

pub(super) fn check(cx: &mut Checker, func: &Function) -> Flow {
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    if let Some(entry) = func.entry() {
        cx.check(10, cfg.preds(entry).is_empty(), || "an edge leads to the entry block".into());
    }
    let mut place: SecondaryMap<Block, u32> = SecondaryMap::with_default(u32::MAX);
    for (i, &block) in func.order.iter().enumerate() {
        place[block] = i as u32;
        if let Some(idom) = doms.idom(block) {
            cx.block = Some(block);
            cx.check(11, place[idom] < i as u32, || format!("its immediate dominator {idom} stands behind it"));
        }
    }
    // Where each result is defined: its block and the position there.
    let mut defs: SecondaryMap<Value, Option<(Block, u32)>> = SecondaryMap::new();
    for &block in &func.order {
        for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
            if let Some(result) = func.insts[inst].result {
                defs[result] = Some((block, i as u32));
            }
        }
    }
    let available = |value: Value, block: Block, position: u32| match func.values[value].def {
        ValueDef::Inst(_) => match defs[value] {
            Some((at, index)) if at == block => index < position,
            Some((at, _)) => doms.dominates(at, block),
            None => false,
        },
        _ => true,
    };
    for &block in &func.order {
        cx.block = Some(block);
        let data = &func.blocks[block];
        let mut phis_over = false;
        for (i, &inst) in data.insts.iter().enumerate() {
            cx.inst = Some(inst);
            let inst = &func.insts[inst];
            if inst.op == Op::Phi {
                cx.check(13, !phis_over, || "a phi stands behind another instruction".into());
                phi(cx, &cfg, block, inst, &available);
                continue;
            }
            phis_over = true;
            for &arg in &inst.args {
                cx.check(12, available(arg, block, i as u32), || format!("{arg} may be undefined here"));
            }
        }
        cx.inst = None;
        if let Some(arg) = data.term.arg() {
            cx.check(12, available(arg, block, u32::MAX), || format!("{arg} may be undefined here"));
        }
    }
    cx.block = None;
    Flow { cfg, doms }
}

fn phi(
    cx: &mut Checker,
    cfg: &Cfg,
    block: Block,
    inst: &crate::InstData,
    available: &dyn Fn(Value, Block, u32) -> bool,
) {
    let preds = cfg.preds(block);
    let mut named: Vec<Block> = inst.preds.to_vec();
    named.sort_unstable();
    let mut expected = preds.to_vec();
    expected.sort_unstable();
    cx.check(13, named == expected && inst.args.len() == inst.preds.len(), || {
        format!("a phi names {named:?}, but the predecessors are {expected:?}")
    });
    for (&arg, &pred) in inst.args.iter().zip(&inst.preds) {
        cx.check(12, available(arg, pred, u32::MAX), || format!("{arg} may be undefined at the end of {pred}"));
    }
}
