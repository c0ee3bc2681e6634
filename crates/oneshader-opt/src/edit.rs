//! Changes that many passes make.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_diag::Span;
use oneshader_ir::analysis::{Cfg, DomTree};
use oneshader_ir::{
    Block, BlockData, Function, Hint, Inst, InstData, InstFlags, IrModule, Merge, Op, Terminator, TerminatorKind, Type,
    Value, ValueDef,
};
use smallvec::SmallVec;

/// Values to be replaced by others.
#[derive(Default)]
pub(crate) struct Replacements {
    map: SecondaryMap<Value, PackedOption<Value>>,
    any: bool,
}

impl Replacements {
    /// From now on `old` means `new`, which must not itself come to mean `old`. A name of `old` goes over to a `new` that
    /// has none.
    pub fn set(&mut self, func: &mut Function, old: Value, new: Value) {
        let new = self.get(new);
        if new == old {
            return;
        }
        self.map[old] = new.into();
        self.any = true;
        if func.value_names[new].is_none()
            && matches!(func.values[new].def, ValueDef::Inst(_))
            && func.value_names[old].is_some()
        {
            func.value_names[new] = func.value_names[old];
        }
    }

    /// What `value` means, following chains.
    pub fn get(&mut self, value: Value) -> Value {
        let mut root = value;
        while let Some(next) = self.map[root].expand() {
            root = next;
        }
        // Shorten the path, so that long chains are walked once.
        let mut at = value;
        while let Some(next) = self.map[at].expand() {
            self.map[at] = root.into();
            at = next;
        }
        root
    }

    /// Rewrites every operand. Tells whether there was anything to replace.
    pub fn apply(mut self, func: &mut Function) -> bool {
        if !self.any {
            return false;
        }
        map_operands(func, |value| self.get(value));
        true
    }
}

/// Rewrites every operand of the living instructions and ends of blocks.
pub(crate) fn map_operands(func: &mut Function, mut map: impl FnMut(Value) -> Value) {
    for &block in &func.order {
        let data = &mut func.blocks[block];
        for &inst in &data.insts {
            func.insts[inst].args.iter_mut().for_each(|arg| *arg = map(*arg));
        }
        if let Some(arg) = data.term.arg_mut() {
            *arg = map(*arg);
        }
    }
}

/// Takes the argument that comes from `pred` out of the phis of `block`.
pub(crate) fn remove_phi_pred(func: &mut Function, block: Block, pred: Block) {
    for i in 0..func.blocks[block].insts.len() {
        let data = &mut func.insts[func.blocks[block].insts[i]];
        if data.op != Op::Phi {
            break;
        }
        if let Some(at) = data.preds.iter().position(|&p| p == pred) {
            data.preds.remove(at);
            data.args.remove(at);
        }
    }
}

/// What came to the phis of `block` from `old` comes from `new`.
pub(crate) fn rename_phi_pred(func: &mut Function, block: Block, old: Block, new: Block) {
    for i in 0..func.blocks[block].insts.len() {
        let data = &mut func.insts[func.blocks[block].insts[i]];
        if data.op != Op::Phi {
            break;
        }
        for pred in &mut data.preds {
            if *pred == old {
                *pred = new;
            }
        }
    }
}

/// Rewrites the block that markers of headers name.
pub(crate) fn map_merge(data: &mut BlockData, mut f: impl FnMut(Block) -> Block) {
    data.merge = match data.merge {
        Merge::None => Merge::None,
        Merge::Selection(merge) => Merge::Selection(f(merge)),
        Merge::Loop { merge, cont } => Merge::Loop { merge: f(merge), cont: f(cont) },
    };
}

/// An instruction at the end of no block yet.
pub(crate) fn inst_data(op: Op, ty: Type, args: &[Value], flags: InstFlags, span: Span) -> InstData {
    let args = SmallVec::from_slice(args);
    InstData { op, args, preds: SmallVec::new(), ty, result: None, flags, span }
}

/// Any value of a type.
pub(crate) fn undef(module: &mut IrModule, func: &mut Function, ty: Type) -> Value {
    let c = module.consts.intern(ty, oneshader_ir::ConstData::Undef);
    func.const_value(&module.consts, c)
}

/// Adds an instruction at position `at` of `block` and gives its result.
pub(crate) fn insert(
    module: &mut IrModule,
    func: &mut Function,
    block: Block,
    at: usize,
    data: InstData,
) -> Option<Value> {
    let inst = func.add_inst(&mut module.types, data);
    func.blocks[block].insts.insert(at, inst);
    func.insts[inst].result
}

/// Where the phis of `block` end.
pub(crate) fn after_phis(func: &Function, block: Block) -> usize {
    let insts = &func.blocks[block].insts;
    insts.iter().position(|&i| func.insts[i].op != Op::Phi).unwrap_or(insts.len())
}

/// Moves what stands in `block` from `at` on, its end and its marker to a new block, which follows in the order; `block`
/// goes there. `block` must not be the header of a loop.
pub(crate) fn split(func: &mut Function, block: Block, at: usize) -> Block {
    let span = func.blocks[block].term.span;
    let rest = func.add_block(span);
    let insts = func.blocks[block].insts.split_off(at);
    let term = Terminator { kind: TerminatorKind::Branch(rest), span };
    let term = std::mem::replace(&mut func.blocks[block].term, term);
    let (merge, hint) = (func.blocks[block].merge, func.blocks[block].hint);
    func.blocks[block].merge = Merge::None;
    func.blocks[block].hint = Hint::None;
    let succs: SmallVec<[Block; 4]> = term.successors().collect();
    func.blocks[rest] = BlockData { insts, term, merge, hint };
    for succ in succs {
        rename_phi_pred(func, succ, block, rest);
    }
    place_after(func, block, rest);
    rest
}

/// Puts `block` directly behind `before` in the order.
pub(crate) fn place_after(func: &mut Function, before: Block, block: Block) {
    let at = func.order.iter().position(|&b| b == before).map_or(func.order.len(), |at| at + 1);
    func.order.insert(at, block);
}

/// Moves what the header of a loop computes and decides to a block of its own, so that it can be split further: the header
/// keeps its phis and its marker. A decision to leave the loop becomes a selection that goes on in a fresh block.
pub(crate) fn free_loop_header(func: &mut Function, header: Block) -> Block {
    let loop_merge = func.blocks[header].merge;
    func.blocks[header].merge = Merge::None;
    let hint = std::mem::take(&mut func.blocks[header].hint);
    let at = after_phis(func, header);
    let body = split(func, header, at);
    func.blocks[header].merge = loop_merge;
    func.blocks[header].hint = hint;
    if let (Merge::Loop { merge, .. }, TerminatorKind::CondBranch { then, els, .. }) =
        (loop_merge, &func.blocks[body].term.kind)
    {
        let (then, els) = (*then, *els);
        if then != els {
            let inner = if then == merge { els } else { then };
            let next = func.add_block(func.blocks[body].term.span);
            func.blocks[next].term.kind = TerminatorKind::Branch(inner);
            func.blocks[body].term.map_successors(|s| {
                if *s == inner {
                    *s = next;
                }
            });
            func.blocks[body].merge = Merge::Selection(next);
            rename_phi_pred(func, inner, body, next);
            place_after(func, body, next);
        }
    }
    body
}

/// Instructions of the living blocks.
pub(crate) fn size(func: &Function) -> usize {
    func.order.iter().map(|&b| func.blocks[b].insts.len()).sum()
}

/// Takes `dead` instructions out of their blocks.
pub(crate) fn remove_insts(func: &mut Function, dead: &EntitySet<Inst>) {
    for &block in &func.order {
        func.blocks[block].insts.retain(|&inst| !dead.contains(inst));
    }
}

/// Puts every block behind its immediate dominator and leaves the order as it is else.
pub(crate) fn fix_order(func: &mut Function) {
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    let mut placed = EntitySet::with_capacity(func.blocks.len());
    let mut order = Vec::with_capacity(func.order.len());
    let mut chain = Vec::new();
    for &block in &func.order {
        let mut at = Some(block);
        while let Some(b) = at.filter(|&b| !placed.contains(b)) {
            chain.push(b);
            at = doms.idom(b);
        }
        while let Some(b) = chain.pop() {
            placed.insert(b);
            order.push(b);
        }
    }
    func.order = order;
}
