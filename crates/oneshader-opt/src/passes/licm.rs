//! Loop-invariant code: computations whose operands do not change in a loop move in front of it.
//!
//! Only what may be computed although the loop might not run: no memory but constant buffers at constant places, nothing that
//! depends on which lanes run.

use super::gvn::is_constant_memory;
use crate::manager::{Cx, Graph};
use cranelift_entity::SecondaryMap;
use oneshader_ir::analysis::{LoopId, Loops, op_effects};
use oneshader_ir::{Block, Function, Inst, IrModule, Merge, Op, TerminatorKind, Value, ValueDef};
use smallvec::SmallVec;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let Graph { cfg, doms } = cx.graph(func);
    let loops = Loops::new(cfg, doms);
    // The blocks of each loop, in the order of the walk.
    let mut bodies: SecondaryMap<LoopId, Vec<Block>> = SecondaryMap::new();
    for &block in cfg.rpo() {
        let mut around = loops.of(block);
        while let Some(id) = around {
            bodies[id].push(block);
            around = loops.parent(id);
        }
    }
    if bodies.is_empty() {
        return false;
    }
    let mut home: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    for (block, _, data) in func.live_insts() {
        if let Some(result) = data.result {
            home[result] = Some(block);
        }
    }
    let mut changed = false;
    // Inner loops first, so that what leaves one may leave the next.
    for id in loops.ids() {
        let header = loops.header(id);
        let outside: SmallVec<[Block; 2]> =
            cfg.preds(header).iter().copied().filter(|&p| cfg.is_reachable(p) && !loops.contains(id, p)).collect();
        let [before] = outside[..] else { continue };
        let plain = func.blocks[before].term.kind == TerminatorKind::Branch(header);
        if !plain || func.blocks[before].merge != Merge::None {
            continue;
        }
        for &block in &bodies[id] {
            let insts = std::mem::take(&mut func.blocks[block].insts);
            let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
            for inst in insts {
                let data = &func.insts[inst];
                let invariant = data.args.iter().all(|&a| home[a].is_none_or(|h| !loops.contains(id, h)));
                if !invariant || !may_move(module, func, data) {
                    kept.push(inst);
                    continue;
                }
                if let Some(result) = data.result {
                    home[result] = Some(before);
                }
                func.blocks[before].insts.push(inst);
                changed = true;
            }
            func.blocks[block].insts = kept;
        }
    }
    changed
}

fn may_move(module: &IrModule, func: &Function, data: &oneshader_ir::InstData) -> bool {
    match data.op {
        Op::Phi => false,
        Op::Load => is_constant_memory(module, func, data.args[0]) && at_constant_place(func, data.args[0]),
        op => data.result.is_some() && op_effects(op).is_empty(),
    }
}

/// Whether an address is reached by constant indices alone, so that it lies in its memory.
fn at_constant_place(func: &Function, mut pointer: Value) -> bool {
    for _ in 0..func.insts.len() + 1 {
        match func.values[pointer].def {
            ValueDef::Global(_) => return true,
            ValueDef::Inst(inst) => {
                let data = &func.insts[inst];
                match data.op {
                    Op::BlockPtr => return true,
                    Op::Access if data.args[1..].iter().all(|&a| func.as_const(a).is_some()) => pointer = data.args[0],
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    false
}
