//! If-conversion for `[flatten]`: a selection whose arms only compute becomes both computations and selects.

use crate::edit::{inst_data, remove_phi_pred};
use crate::manager::Cx;
use cranelift_entity::EntitySet;
use oneshader_ir::analysis::{Cfg, op_effects};
use oneshader_ir::{Block, Function, Hint, InstFlags, IrModule, Merge, Op, TerminatorKind, TypeKind};

/// Arms of more instructions are left alone.
const MAX_ARM: usize = 64;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    if !func.order.iter().any(|&b| func.blocks[b].hint == Hint::Flatten) {
        return false;
    }
    // A change takes edges to its own merge block alone, which nobody asks for again.
    let cfg = &cx.graph(func).cfg;
    let mut gone: EntitySet<Block> = EntitySet::new();
    // Inner ones first, so that outer ones become plain.
    for index in (0..func.order.len()).rev() {
        let header = func.order[index];
        if func.blocks[header].hint == Hint::Flatten {
            convert(module, func, cfg, header, &mut gone);
        }
    }
    let before = func.order.len();
    func.order.retain(|&b| !gone.contains(b));
    func.order.len() != before
}

/// Adds the blocks that it empties to `gone`.
fn convert(module: &mut IrModule, func: &mut Function, cfg: &Cfg, header: Block, gone: &mut EntitySet<Block>) {
    let Merge::Selection(merge) = func.blocks[header].merge else { return };
    let TerminatorKind::CondBranch { cond, then, els } = func.blocks[header].term.kind else { return };
    let mut sources = Vec::new();
    for arm in [then, els] {
        if arm == merge {
            sources.push(header);
            continue;
        }
        let data = &func.blocks[arm];
        let plain = data.term.kind == TerminatorKind::Branch(merge)
            && data.merge == Merge::None
            && cfg.preds(arm) == [header]
            && data.insts.len() <= MAX_ARM
            && data.insts.iter().all(|&i| {
                let op = func.insts[i].op;
                op != Op::Phi && op_effects(op).is_empty()
            });
        if !plain {
            return;
        }
        sources.push(arm);
    }
    let [from_then, from_els] = sources[..] else { return };
    if from_then == from_els || cfg.preds(merge).len() != 2 {
        return;
    }
    let chosen: Vec<_> =
        func.blocks[merge].insts.iter().copied().take_while(|&i| func.insts[i].op == Op::Phi).collect();
    // A select of structures or arrays is no gain.
    let small = |ty| matches!(module.types.kind(ty), TypeKind::Scalar(_) | TypeKind::Vector { .. });
    if !chosen.iter().all(|&i| small(func.insts[i].ty)) {
        return;
    }
    for arm in [then, els] {
        if arm != merge {
            let insts = std::mem::take(&mut func.blocks[arm].insts);
            func.blocks[header].insts.extend(insts);
            gone.insert(arm);
        }
    }
    for &phi in &chosen {
        let data = func.insts[phi].clone();
        let of = |source: Block| data.preds.iter().position(|&p| p == source).map(|at| data.args[at]);
        let (Some(a), Some(b)) = (of(from_then), of(from_els)) else { continue };
        // The phi itself becomes the select, so that its users keep their operand.
        let select = inst_data(Op::Select, data.ty, &[cond, a, b], InstFlags::empty(), data.span);
        let target = &mut func.insts[phi];
        (target.op, target.args) = (select.op, select.args);
        target.preds.clear();
        func.blocks[header].insts.push(phi);
    }
    func.blocks[merge].insts.drain(..chosen.len());
    remove_phi_pred(func, merge, from_els);
    let data = &mut func.blocks[header];
    data.term.kind = TerminatorKind::Branch(merge);
    data.merge = Merge::None;
    data.hint = Hint::None;
}
