//! Unrolls loops that ask for it with `[unroll]` and whose number of iterations is known: the header's phis begin with
//! constants and are stepped by operations on constants.
//!
//! A loop that control leaves for its merge block from inside (`break`), or whose end is reached from inside a selection (`continue`), stays a
//! loop: without it those jumps would have nothing to leave. So does one whose copies exceed the budget.

use crate::edit::{map_merge, map_operands, rename_phi_pred};
use crate::manager::{Cx, Graph};
use cranelift_entity::EntitySet;
use oneshader_ir::analysis::{ConstructId, Constructs, Loops};
use oneshader_ir::{Block, Const, Function, Hint, Inst, InstData, IrModule, Merge, Op, TerminatorKind, Value, fold};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// No loop is copied more often.
const MAX_TRIPS: usize = 1024;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let mut changed = false;
    let mut refused: EntitySet<Block> = EntitySet::new();
    let growth = cx.config.growth;
    // A round takes the innermost of the loops that are left: their copies are then part of the outer bodies.
    while func.order.iter().any(|&b| wants(func, b) && !refused.contains(b)) {
        let graph = Graph::new(func);
        let mut round = Round::new(func, &graph);
        round.run(module, func, &mut refused, growth);
        if round.placed.is_empty() {
            break;
        }
        round.finish(func);
        changed = true;
    }
    changed
}

/// Whether a block is the header of a loop that asks to be unrolled.
fn wants(func: &Function, block: Block) -> bool {
    matches!((func.blocks[block].hint, func.blocks[block].merge), (Hint::Unroll(_), Merge::Loop { .. }))
}

/// Unrolls loops of which none is in another, by the graph as it was before the first of them.
struct Round<'a> {
    graph: &'a Graph,
    tree: Constructs,
    /// The blocks of each loop that asks, in their order.
    members: FxHashMap<ConstructId, Vec<Block>>,
    /// Constructs with an unrolled loop in them: they wait for the next round.
    dirty: EntitySet<ConstructId>,
    /// Blocks that copies replace.
    gone: EntitySet<Block>,
    /// The copies that stand in the place of a header.
    placed: FxHashMap<Block, Vec<Block>>,
    /// The last copy of a header.
    last: FxHashMap<Block, Block>,
    /// What values of headers are behind their loops.
    finals: FxHashMap<Value, Value>,
}

/// A loop to be unrolled.
#[derive(Clone, Copy)]
struct Counted {
    header: Block,
    merge: Block,
    cont: Block,
    /// Where it is entered from.
    before: Block,
}

impl<'a> Round<'a> {
    fn new(func: &Function, graph: &'a Graph) -> Self {
        let tree = Constructs::new(func, &graph.doms);
        let mut members: FxHashMap<ConstructId, Vec<Block>> = FxHashMap::default();
        let asks = |id: ConstructId| wants(func, tree.get(id).header);
        // Blocks that only a marker keeps belong to the header that names them; a loop's own merge block does not.
        let mut kept: FxHashMap<Block, Option<ConstructId>> = FxHashMap::default();
        for &block in graph.cfg.rpo() {
            let (merge, cont) = match func.blocks[block].merge {
                Merge::None => continue,
                Merge::Selection(merge) => ((merge, tree.inside(block)), None),
                Merge::Loop { merge, cont } => ((merge, tree.around(block)), Some((cont, tree.inside(block)))),
            };
            for (named, inside) in std::iter::once(merge).chain(cont) {
                if !graph.cfg.is_reachable(named) {
                    kept.insert(named, inside);
                }
            }
        }
        for &block in &func.order {
            let inside = match graph.cfg.is_reachable(block) {
                true => tree.inside(block),
                false => kept.get(&block).copied().flatten(),
            };
            for (id, _) in tree.chain(inside).filter(|&(id, _)| asks(id)) {
                members.entry(id).or_default().push(block);
            }
        }
        Self {
            graph,
            tree,
            members,
            dirty: EntitySet::new(),
            gone: EntitySet::new(),
            placed: FxHashMap::default(),
            last: FxHashMap::default(),
            finals: FxHashMap::default(),
        }
    }

    fn run(&mut self, module: &mut IrModule, func: &mut Function, refused: &mut EntitySet<Block>, growth: usize) {
        let loops = Loops::new(&self.graph.cfg, &self.graph.doms);
        let cfg = &self.graph.cfg;
        let mut total = crate::edit::size(func);
        for id in loops.ids() {
            let header = loops.header(id);
            let (Hint::Unroll(most), Merge::Loop { merge, cont }) =
                (func.blocks[header].hint, func.blocks[header].merge)
            else {
                continue;
            };
            let Some(own) = self.tree.own(header).filter(|_| !refused.contains(header)) else { continue };
            if self.dirty.contains(own) {
                continue;
            }
            let members = self.members.remove(&own).unwrap_or_default();
            let size: usize =
                members.iter().filter(|&&b| cfg.is_reachable(b)).map(|&b| func.blocks[b].insts.len() + 1).sum();
            let structured = cfg.preds(merge) == [header]
                && cfg.preds(cont).iter().all(|&p| self.tree.inside(p) == Some(own) || p == header)
                && cfg.succs(cont) == [header];
            let before = match cfg.preds(header) {
                &[a, b] => Some(if a == cont { b } else { a }),
                _ => None,
            };
            // Also within this loop: what leaves it has been excluded, what stays is copied as it is.
            let counted = before.filter(|_| structured).and_then(|before| {
                let before = self.last.get(&before).copied().unwrap_or(before);
                let counted = Counted { header, merge, cont, before };
                Some((counted, trip_count(module, func, counted)?))
            });
            match counted {
                Some((counted, n)) if (most == 0 || n <= most as usize) && n.saturating_mul(size) + total <= growth => {
                    total += n.saturating_mul(size);
                    self.unroll(module, func, counted, members, n);
                    for (outer, _) in self.tree.chain(self.tree.get(own).parent) {
                        self.dirty.insert(outer);
                    }
                }
                _ => drop(refused.insert(header)),
            }
        }
    }

    /// Replaces the loop by `trips` copies of its body and one more of its header.
    fn unroll(
        &mut self,
        module: &mut IrModule,
        func: &mut Function,
        Counted { header, merge, cont, before }: Counted,
        members: Vec<Block>,
        trips: usize,
    ) {
        func.blocks[header].merge = Merge::None;
        func.blocks[header].hint = Hint::None;
        let TerminatorKind::CondBranch { then, els, .. } = func.blocks[header].term.kind else { return };
        let inner = if then == merge { els } else { then };
        // Values of the copy before, to begin with those that arrive from outside.
        let mut previous: FxHashMap<Value, Value> = FxHashMap::default();
        let mut entered_from = before;
        let mut order: Vec<Block> = Vec::with_capacity(members.len() * trips + 1);
        for trip in 0..=trips {
            let last = trip == trips;
            let mut values: FxHashMap<Value, Value> = FxHashMap::default();
            let mut blocks: FxHashMap<Block, Block> = FxHashMap::default();
            let copied: &[Block] = if last { &[header] } else { &members };
            for &block in copied {
                let new = func.add_block(func.blocks[block].term.span);
                blocks.insert(block, new);
                order.push(new);
            }
            // The header's phis are what arrives.
            for &inst in &func.blocks[header].insts {
                let data = &func.insts[inst];
                if data.op != Op::Phi {
                    break;
                }
                let from = if trip == 0 { before } else { cont };
                let arriving = data.preds.iter().position(|&p| p == from).map(|at| data.args[at]);
                if let (Some(result), Some(arriving)) = (data.result, arriving) {
                    values.insert(result, if trip == 0 { arriving } else { of(&previous, arriving) });
                }
            }
            copy(module, func, copied, header, &mut values, &blocks);
            let new_header = of(&blocks, header);
            let target = if last { merge } else { of(&blocks, inner) };
            func.blocks[new_header].term.kind = TerminatorKind::Branch(target);
            // From the copy before.
            func.blocks[entered_from].term.map_successors(|b| {
                if *b == header {
                    *b = new_header;
                }
            });
            if !last {
                entered_from = of(&blocks, cont);
            } else {
                rename_phi_pred(func, merge, header, new_header);
                self.last.insert(header, new_header);
                self.finals.extend(values.iter().map(|(&old, &new)| (old, new)));
            }
            previous = values;
        }
        members.iter().for_each(|&b| {
            self.gone.insert(b);
        });
        self.placed.insert(header, order);
    }

    /// Puts the copies in their places. Behind a loop, the header's values are those of its last copy.
    fn finish(mut self, func: &mut Function) {
        let mut order = Vec::with_capacity(func.order.len());
        for &block in &func.order {
            match self.placed.remove(&block) {
                Some(copies) => order.extend(copies),
                None if self.gone.contains(block) => {}
                None => order.push(block),
            }
        }
        func.order = order;
        let last = |mut value: Value| {
            while let Some(&next) = self.finals.get(&value) {
                value = next;
            }
            value
        };
        map_operands(func, last);
    }
}

/// How often the body runs.
fn trip_count(module: &mut IrModule, func: &Function, counted: Counted) -> Option<usize> {
    let Counted { header, merge, cont, before } = counted;
    let TerminatorKind::CondBranch { cond, then, els } = func.blocks[header].term.kind else { return None };
    if then == els || (then != merge && els != merge) {
        return None;
    }
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

/// What an entity has become, itself unless it is known.
fn of<T: Copy + Eq + Hash>(map: &FxHashMap<T, T>, key: T) -> T {
    map.get(&key).copied().unwrap_or(key)
}

/// Copies the instructions, markers and ends of `copied`; the header's phis are in `values` already.
fn copy(
    module: &mut IrModule,
    func: &mut Function,
    copied: &[Block],
    header: Block,
    values: &mut FxHashMap<Value, Value>,
    blocks: &FxHashMap<Block, Block>,
) {
    let mut pairs: Vec<(Inst, Inst)> = Vec::new();
    for &block in copied {
        let Some(&new) = blocks.get(&block) else { continue };
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
                values.insert(from, to);
                func.value_names[to] = func.value_names[from];
            }
            pairs.push((old, inst));
        }
    }
    for (_, inst) in pairs {
        for arg in &mut func.insts[inst].args {
            *arg = of(values, *arg);
        }
        for pred in &mut func.insts[inst].preds {
            *pred = of(blocks, *pred);
        }
    }
    for &block in copied {
        let Some(&new) = blocks.get(&block) else { continue };
        let mut data = func.blocks[block].clone();
        // The edge back to the header is turned to the next copy when that is there.
        data.term.map_successors(|b| *b = if *b == header { header } else { of(blocks, *b) });
        map_merge(&mut data, |b| of(blocks, b));
        if let Some(arg) = data.term.arg_mut() {
            *arg = of(values, *arg);
        }
        let target = &mut func.blocks[new];
        (target.term, target.merge, target.hint) = (data.term, data.merge, data.hint);
    }
}
