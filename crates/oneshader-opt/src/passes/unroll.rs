//! Unrolls loops that ask for it with `[unroll]` and whose number of iterations is known: the header's phis begin with
//! constants and are stepped by operations on constants.
//!
//! A loop that control leaves for its merge block from inside (`break`), or whose end is reached from inside a selection (`continue`), stays a
//! loop: without it those jumps would have nothing to leave. So does one whose copies exceed the budget.

use crate::edit::{map_merge, rename_phi_pred};
use crate::manager::Cx;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::analysis::{Cfg, Constructs, DomTree, Loops};
use oneshader_ir::{Block, Const, Function, Hint, Inst, InstData, IrModule, Merge, Op, TerminatorKind, Value, fold};
use rustc_hash::FxHashMap;

/// Blocks looked at in one run, all loops together: each unrolled one makes the graph anew.
const BUDGET: usize = 4_000_000;
/// No loop is copied more often.
const MAX_TRIPS: usize = 1024;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let mut changed = false;
    let mut refused: Vec<Block> = Vec::new();
    // Inner loops first: their copies are then part of the outer bodies.
    let mut budget = BUDGET;
    while let Some((header, trips)) = next(module, func, cx.config.growth, &mut refused) {
        let Some(left) = budget.checked_sub(func.order.len()) else { break };
        budget = left;
        unroll(module, func, header, trips);
        changed = true;
    }
    changed
}

/// An innermost loop with the hint that can be unrolled, and its number of iterations.
fn next(module: &mut IrModule, func: &Function, budget: usize, refused: &mut Vec<Block>) -> Option<(Block, usize)> {
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    let loops = Loops::new(&cfg, &doms);
    let tree = Constructs::new(func, &doms);
    let total = crate::edit::size(func);
    for id in loops.ids() {
        let header = loops.header(id);
        let (Hint::Unroll(most), Merge::Loop { merge, cont }) = (func.blocks[header].hint, func.blocks[header].merge)
        else {
            continue;
        };
        if refused.contains(&header) {
            continue;
        }
        let own = tree.own(header);
        let body = cfg.rpo().iter().filter(|&&b| is_inside(&tree, header, b));
        let size: usize = body.map(|&b| func.blocks[b].insts.len() + 1).sum();
        let structured = cfg.preds(merge) == [header]
            && cfg.preds(cont).iter().all(|&p| tree.inside(p) == own || p == header)
            && cfg.succs(cont) == [header];
        // Also within this loop: what leaves it has been excluded, what stays is copied as it is.
        let trips = if structured { trip_count(module, func, &cfg, header, merge, cont) } else { None };
        match trips {
            Some(n) if (most == 0 || n <= most as usize) && n.saturating_mul(size) + total <= budget => {
                return Some((header, n));
            }
            _ => refused.push(header),
        }
    }
    None
}

/// How often the body runs.
fn trip_count(
    module: &mut IrModule,
    func: &Function,
    cfg: &Cfg,
    header: Block,
    merge: Block,
    cont: Block,
) -> Option<usize> {
    let TerminatorKind::CondBranch { cond, then, els } = func.blocks[header].term.kind else { return None };
    if then == els || (then != merge && els != merge) {
        return None;
    }
    let [a, b] = cfg.preds(header) else { return None };
    let before = if *a == cont { *b } else { *a };
    // The phis that are constants throughout.
    let mut state: FxHashMap<Value, Const> = FxHashMap::default();
    let mut steps: Vec<(Value, Value)> = Vec::new();
    for &inst in &func.blocks[header].insts {
        let data = &func.insts[inst];
        if data.op != Op::Phi {
            break;
        }
        let from = |block: Block| data.preds.iter().position(|&p| p == block).map(|at| data.args[at]);
        let (Some(result), Some(first), Some(step)) = (data.result, from(before), from(cont)) else { return None };
        if let Some(c) = func.as_const(first) {
            state.insert(result, c);
            steps.push((result, step));
        }
    }
    for trips in 0..=MAX_TRIPS {
        let mut known = state.clone();
        let truth = evaluate(module, func, cond, &mut known, 0)?;
        let truth = module.consts.bits(truth)? != 0;
        if (if truth { then } else { els }) == merge {
            return Some(trips);
        }
        let mut after: FxHashMap<Value, Const> = FxHashMap::default();
        for &(phi, step) in &steps {
            if let Some(c) = evaluate(module, func, step, &mut known, 0) {
                after.insert(phi, c);
            }
        }
        state = after;
    }
    None
}

/// The constant that `value` is when the values of `known` are.
fn evaluate(
    module: &mut IrModule,
    func: &Function,
    value: Value,
    known: &mut FxHashMap<Value, Const>,
    depth: u32,
) -> Option<Const> {
    if let Some(c) = func.as_const(value).or_else(|| known.get(&value).copied()) {
        return Some(c);
    }
    let (_, data) = func.def_inst(value)?;
    if depth > 32 || data.op == Op::Phi || !oneshader_ir::analysis::op_effects(data.op).is_empty() {
        return None;
    }
    let mut args = smallvec::SmallVec::<[Const; 4]>::new();
    for &arg in &data.args {
        args.push(evaluate(module, func, arg, known, depth + 1)?);
    }
    let c = fold(&mut module.types, &mut module.consts, data.op, data.ty, &args)?;
    known.insert(value, c);
    Some(c)
}

/// Replaces the loop by `trips` copies of its body and one more of its header.
fn unroll(module: &mut IrModule, func: &mut Function, header: Block, trips: usize) {
    let Merge::Loop { merge, cont } = func.blocks[header].merge else { return };
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    let tree = Constructs::new(func, &doms);
    let mut is_member = EntitySet::with_capacity(func.blocks.len());
    for &block in cfg.rpo().iter().filter(|&&b| is_inside(&tree, header, b)) {
        is_member.insert(block);
        // Blocks that only a marker keeps belong to the header that names them; the loop's own merge block does not.
        let named = match func.blocks[block].merge {
            Merge::None => [None, None],
            Merge::Selection(merge) => [Some(merge), None],
            Merge::Loop { merge, cont } => [Some(merge).filter(|_| block != header), Some(cont)],
        };
        for kept in named.into_iter().flatten().filter(|&b| !cfg.is_reachable(b)) {
            is_member.insert(kept);
        }
    }
    let members: Vec<Block> = func.order.iter().copied().filter(|&b| is_member.contains(b)).collect();
    let Some(&before) = cfg.preds(header).iter().find(|&&p| p != cont) else { return };
    func.blocks[header].merge = Merge::None;
    func.blocks[header].hint = Hint::None;
    let TerminatorKind::CondBranch { then, els, .. } = func.blocks[header].term.kind else { return };
    let inner = if then == merge { els } else { then };
    // Values of the copy before, to begin with those that arrive from outside.
    let mut previous: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut entered_from = before;
    let mut order: Vec<Block> = Vec::new();
    for trip in 0..=trips {
        let last = trip == trips;
        let mut values: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
        let mut blocks: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
        let copied: Vec<Block> = if last { vec![header] } else { members.clone() };
        for &block in &copied {
            let new = func.add_block(func.blocks[block].term.span);
            blocks[block] = Some(new);
            order.push(new);
        }
        // The header's phis are what arrives.
        for i in 0..func.blocks[header].insts.len() {
            let data = &func.insts[func.blocks[header].insts[i]];
            if data.op != Op::Phi {
                break;
            }
            let from = if trip == 0 { before } else { cont };
            let arriving = data.preds.iter().position(|&p| p == from).map(|at| data.args[at]);
            if let (Some(result), Some(arriving)) = (data.result, arriving) {
                let value = if trip == 0 { arriving } else { previous[arriving].unwrap_or(arriving) };
                values[result] = Some(value);
            }
        }
        copy(module, func, &copied, header, &mut values, &blocks);
        let new_header = blocks[header].unwrap_or(header);
        let target = if last { merge } else { blocks[inner].unwrap_or(inner) };
        func.blocks[new_header].term.kind = TerminatorKind::Branch(target);
        // From the copy before.
        let to_header = |b: &mut Block| {
            if *b == header {
                *b = new_header;
            }
        };
        func.blocks[entered_from].term.map_successors(to_header);
        if !last {
            entered_from = blocks[cont].unwrap_or(cont);
        } else {
            rename_phi_pred(func, merge, header, new_header);
            finish(func, &is_member, &values);
        }
        previous = values;
    }
    let at = func.order.iter().position(|&b| b == header).unwrap_or(0);
    func.order.retain(|&b| !is_member.contains(b));
    let at = at.min(func.order.len());
    func.order.splice(at..at, order);
}

/// Whether `block` is in the loop of `header`: on its way around, or where it returns from inside.
fn is_inside(tree: &Constructs, header: Block, block: Block) -> bool {
    let own = tree.own(header);
    own.is_some() && tree.chain(tree.inside(block)).any(|(id, _)| Some(id) == own)
}

/// Copies the instructions, markers and ends of `copied`; the header's phis are in `values` already.
fn copy(
    module: &mut IrModule,
    func: &mut Function,
    copied: &[Block],
    header: Block,
    values: &mut SecondaryMap<Value, Option<Value>>,
    blocks: &SecondaryMap<Block, Option<Block>>,
) {
    let mut pairs: Vec<(Inst, Inst)> = Vec::new();
    for &block in copied {
        let Some(new) = blocks[block] else { continue };
        for i in 0..func.blocks[block].insts.len() {
            let old = func.blocks[block].insts[i];
            let data = &func.insts[old];
            if block == header && data.op == Op::Phi {
                continue;
            }
            let fresh = InstData { result: None, ..data.clone() };
            let inst = func.add_inst(&mut module.types, fresh);
            func.blocks[new].insts.push(inst);
            if let (Some(from), Some(to)) = (func.insts[old].result, func.insts[inst].result) {
                values[from] = Some(to);
                func.value_names[to] = func.value_names[from];
            }
            pairs.push((old, inst));
        }
    }
    for (_, inst) in pairs {
        for arg in &mut func.insts[inst].args {
            *arg = values[*arg].unwrap_or(*arg);
        }
        for pred in &mut func.insts[inst].preds {
            *pred = blocks[*pred].unwrap_or(*pred);
        }
    }
    for &block in copied {
        let Some(new) = blocks[block] else { continue };
        let mut data = func.blocks[block].clone();
        // The edge back to the header is turned to the next copy when that is there.
        data.term.map_successors(|b| *b = if *b == header { header } else { blocks[*b].unwrap_or(*b) });
        map_merge(&mut data, |b| blocks[b].unwrap_or(b));
        if let Some(arg) = data.term.arg_mut() {
            *arg = values[*arg].unwrap_or(*arg);
        }
        let target = &mut func.blocks[new];
        (target.term, target.merge, target.hint) = (data.term, data.merge, data.hint);
    }
}

/// Behind the loop, the header's values are those of its last copy.
fn finish(func: &mut Function, members: &EntitySet<Block>, values: &SecondaryMap<Value, Option<Value>>) {
    let of = |value: Value| values[value].unwrap_or(value);
    for index in 0..func.order.len() {
        let block = func.order[index];
        if members.contains(block) {
            continue;
        }
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            for arg in &mut func.insts[inst].args {
                *arg = of(*arg);
            }
        }
        if let Some(arg) = func.blocks[block].term.arg_mut() {
            *arg = of(*arg);
        }
    }
}
