//! Makes a function's control flow what SPIR-V asks for (SPIR-V specification 2.11, structured control flow):
//!
//! - every branch with two targets has a merge block: those of short-circuit expressions get their post-dominator;
//! - a merge block belongs to one header only, which dominates it, and is no loop's continue target: where several
//!   headers would share one, the inner ones get a block of their own before it;
//! - blocks that no edge reaches hold nothing; a loop has a back edge even when its continue block is such a one.

use oneshader_diag::Span;
use oneshader_ir::analysis::{Cfg, DomTree};
use oneshader_ir::{
    Block, BlockData, Function, Hint, InstData, InstFlags, Merge, Op, Terminator, TerminatorKind, Value, ValueData,
    ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;

/// The function with its control flow as SPIR-V asks for it.
pub(crate) fn prepare(func: &Function) -> Cow<'_, Function> {
    if is_structured(func) {
        return Cow::Borrowed(func);
    }
    let mut func = func.clone();
    empty_unreached(&mut func);
    let mut fix = Fix::new(func);
    fix.run();
    Cow::Owned(fix.func)
}

/// The merge block of a header.
fn merge_of(merge: Merge) -> Option<Block> {
    match merge {
        Merge::None => None,
        Merge::Selection(block) | Merge::Loop { merge: block, .. } => Some(block),
    }
}

/// Whether a block's terminator has two different targets.
fn branches(data: &BlockData) -> bool {
    let mut succs = data.term.successors();
    succs.next().is_some_and(|first| succs.any(|s| s != first))
}

/// Blocks that end a loop's continue construct with a condition: again, or out. They need no merge block.
fn loop_ends(func: &Function) -> FxHashSet<Block> {
    let mut loops = FxHashMap::default();
    for &block in &func.order {
        if let Merge::Loop { merge, .. } = func.blocks[block].merge {
            loops.insert(block, merge);
        }
    }
    let ends = |block: &&Block| {
        let data = &func.blocks[**block];
        let header = data.term.successors().find(|s| loops.contains_key(s));
        data.merge == Merge::None && header.is_some_and(|h| data.term.successors().all(|s| s == h || s == loops[&h]))
    };
    func.order.iter().filter(ends).copied().collect()
}

/// Whether nothing is to be done.
fn is_structured(func: &Function) -> bool {
    if Cfg::new(func).rpo().len() != func.order.len() {
        return false;
    }
    let ends = loop_ends(func);
    let mut merges = FxHashSet::default();
    let mut conts = FxHashSet::default();
    for &block in &func.order {
        let data = &func.blocks[block];
        if branches(data) && data.merge == Merge::None && !ends.contains(&block) {
            return false;
        }
        if let Some(merge) = merge_of(data.merge)
            && !merges.insert(merge)
        {
            return false;
        }
        if let Merge::Loop { cont, .. } = data.merge {
            conts.insert(cont);
        }
    }
    merges.is_disjoint(&conts)
}

/// Empties blocks that no edge reaches and that end a structure all the same: a merge block becomes an unreachable one, a
/// continue block goes back to its header. Other such blocks go.
fn empty_unreached(func: &mut Function) {
    let cfg = Cfg::new(func);
    let mut ends: FxHashMap<Block, TerminatorKind> = FxHashMap::default();
    for &header in cfg.rpo() {
        if let Some(merge) = merge_of(func.blocks[header].merge) {
            ends.entry(merge).or_insert(TerminatorKind::Unreachable);
        }
        if let Merge::Loop { cont, .. } = func.blocks[header].merge {
            ends.insert(cont, TerminatorKind::Branch(header));
        }
    }
    func.order.retain(|&b| cfg.is_reachable(b) || ends.contains_key(&b));
    for i in 0..func.order.len() {
        let block = func.order[i];
        if let (false, Some(kind)) = (cfg.is_reachable(block), ends.remove(&block)) {
            let data = &mut func.blocks[block];
            data.insts.clear();
            data.merge = Merge::None;
            data.term.kind = kind;
        }
    }
}

struct Fix {
    func: Function,
    dom: DomTree,
    preds: FxHashMap<Block, Vec<Block>>,
    /// For a block made here: the header it belongs to, which stands for it in questions of dominance.
    stands_for: FxHashMap<Block, Block>,
}

impl Fix {
    fn new(func: Function) -> Self {
        let cfg = Cfg::new(&func);
        let dom = DomTree::dominators(&cfg);
        let mut preds = FxHashMap::default();
        for &block in &func.order {
            preds.insert(block, cfg.preds(block).to_vec());
        }
        Self { func, dom, preds, stands_for: FxHashMap::default() }
    }

    fn run(&mut self) {
        let cfg = Cfg::new(&self.func);
        let post = DomTree::post_dominators(&cfg);
        let ends = loop_ends(&self.func);
        let mut taken = FxHashSet::default();
        for &block in &self.func.order {
            if let Merge::Loop { cont, .. } = self.func.blocks[block].merge {
                taken.insert(cont);
            }
        }
        // Headers by the block where they end, outer headers before inner ones.
        let mut targets: Vec<Block> = Vec::new();
        let mut headers: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
        let preorder = self.dom.preorder().to_vec();
        for header in preorder {
            let data = &self.func.blocks[header];
            let target = match merge_of(data.merge) {
                Some(merge) => merge,
                None if !branches(data) || ends.contains(&header) => continue,
                None => match post.idom(header) {
                    Some(join) => join,
                    None => {
                        // Both ways leave the function.
                        let merge = self.add_block(header, TerminatorKind::Unreachable);
                        self.set_merge(header, merge);
                        continue;
                    }
                },
            };
            let group = headers.entry(target).or_default();
            if group.is_empty() {
                targets.push(target);
            }
            group.push(header);
        }
        for target in targets {
            let group = headers.remove(&target).unwrap_or_default();
            let direct = group
                .iter()
                .position(|&h| h != target && self.dominates(h, target) && !taken.contains(&target))
                .filter(|&i| i == 0);
            for (i, &header) in group.iter().enumerate().rev() {
                if Some(i) == direct {
                    self.set_merge(header, target);
                } else {
                    self.divert(header, target);
                }
            }
        }
        if !self.stands_for.is_empty() {
            reorder(&mut self.func);
        }
    }

    fn dominates(&self, a: Block, b: Block) -> bool {
        let b = self.stands_for.get(&b).copied().unwrap_or(b);
        self.dom.dominates(a, b)
    }

    /// Whether edges reach a block from the entry.
    fn is_reached(&self, block: Block) -> bool {
        self.dom.contains(self.stands_for.get(&block).copied().unwrap_or(block))
    }

    fn set_merge(&mut self, header: Block, merge: Block) {
        let data = &mut self.func.blocks[header];
        data.merge = match data.merge {
            Merge::Loop { cont, .. } => Merge::Loop { merge, cont },
            _ => Merge::Selection(merge),
        };
    }

    fn add_block(&mut self, header: Block, kind: TerminatorKind) -> Block {
        let span = self.func.blocks[header].term.span;
        let block = self.func.blocks.push(BlockData {
            insts: Vec::new(),
            term: Terminator { kind, span },
            merge: Merge::None,
            hint: Hint::None,
        });
        self.func.order.push(block);
        self.stands_for.insert(block, header);
        self.preds.insert(block, Vec::new());
        block
    }

    /// Gives `header` a merge block of its own, through which its construct goes to `target`.
    fn divert(&mut self, header: Block, target: Block) {
        let (moved, kept): (Vec<Block>, Vec<Block>) = self
            .preds
            .get(&target)
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .partition(|&p| self.is_reached(p) && self.dominates(header, p));
        if moved.is_empty() {
            let merge = self.add_block(header, TerminatorKind::Unreachable);
            self.set_merge(header, merge);
            return;
        }
        let merge = self.add_block(header, TerminatorKind::Branch(target));
        for &pred in &moved {
            self.func.blocks[pred].term.map_successors(|s| {
                if *s == target {
                    *s = merge;
                }
            });
        }
        self.split_phis(target, merge, &moved);
        self.preds.insert(merge, moved);
        let mut preds = kept;
        preds.push(merge);
        self.preds.insert(target, preds);
        self.set_merge(header, merge);
    }

    /// Moves the arguments of `target`'s phis that come from `moved` to phis of `merge`.
    fn split_phis(&mut self, target: Block, merge: Block, moved: &[Block]) {
        for i in 0..self.func.blocks[target].insts.len() {
            let inst = self.func.blocks[target].insts[i];
            let data = &self.func.insts[inst];
            if data.op != Op::Phi {
                return;
            }
            let (ty, flags, span) = (data.ty, data.flags, data.span);
            let all: Vec<(Block, Value)> = data.preds.iter().copied().zip(data.args.iter().copied()).collect();
            let (inside, mut rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(p, _)| moved.contains(p));
            let Some(&(_, first)) = inside.first() else { continue };
            let value = if inside.iter().all(|&(_, v)| v == first) && inside.len() == moved.len() {
                first
            } else {
                self.add_phi(merge, &inside, ty, flags, span)
            };
            rest.push((merge, value));
            let data = &mut self.func.insts[inst];
            data.preds = rest.iter().map(|&(p, _)| p).collect();
            data.args = rest.iter().map(|&(_, v)| v).collect();
        }
    }

    fn add_phi(
        &mut self,
        block: Block,
        incoming: &[(Block, Value)],
        ty: oneshader_ir::Type,
        flags: InstFlags,
        span: Span,
    ) -> Value {
        let inst = self.func.insts.next_key();
        let result = self.func.values.push(ValueData { def: ValueDef::Inst(inst), ty });
        let preds: SmallVec<[Block; 2]> = incoming.iter().map(|&(p, _)| p).collect();
        let args: SmallVec<[Value; 4]> = incoming.iter().map(|&(_, v)| v).collect();
        self.func.insts.push(InstData { op: Op::Phi, args, preds, ty, result: Some(result), flags, span });
        self.func.blocks[block].insts.push(inst);
        result
    }
}

/// Puts each block after those that dominate it: reverse postorder, in which a construct's merge block counts as the
/// first successor of its header, so that it stands after the construct.
fn reorder(func: &mut Function) {
    let Some(entry) = func.entry() else { return };
    let next = |func: &Function, block: Block| -> Vec<Block> {
        let data = &func.blocks[block];
        let mut out: Vec<Block> = data.term.successors().collect();
        match data.merge {
            Merge::None => {}
            Merge::Selection(merge) => out.push(merge),
            Merge::Loop { merge, cont } => out.extend([cont, merge]),
        }
        out
    };
    let mut seen = FxHashSet::default();
    let mut order = Vec::with_capacity(func.order.len());
    seen.insert(entry);
    let mut stack = vec![(entry, next(func, entry))];
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(succ) => {
                if seen.insert(succ) {
                    let succs = next(func, succ);
                    stack.push((succ, succs));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    func.order = order;
}
