//! Common subexpressions: of two equal computations, the one that dominates the other stands for both.
//!
//! Walks the dominator tree with a scoped table. Loads of memory that nothing writes (constant buffers, inputs, read-only
//! buffers, handles) count as computations. Operations that depend on which lanes run stay where they are.

use crate::edit::Replacements;
use crate::manager::Cx;
use oneshader_ir::analysis::op_effects;
use oneshader_ir::{
    Access, AddressSpace, BinaryOp, Block, Function, Inst, InstData, IrModule, Op, ResourceType, TypeKind, Value,
    ValueDef,
};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Computations that are known where the walk is, by what makes two of them equal: operation, type, flags, operands.
#[derive(Default)]
struct Known {
    /// The latest entry of a hash.
    heads: FxHashMap<u64, u32>,
    /// In the order they were made: the hash, the computation and its result, and the entry of that hash before it.
    entries: Vec<(u64, Inst, Value, Option<u32>)>,
}

impl Known {
    fn hash(data: &InstData) -> u64 {
        let mut hasher = FxHasher::default();
        (data.op, data.ty, data.flags).hash(&mut hasher);
        let args = operands(data);
        args.hash(&mut hasher);
        hasher.finish()
    }

    /// The result of a computation equal to `inst`; remembers `inst` when there is none.
    fn find(&mut self, func: &Function, inst: Inst, result: Value) -> Option<Value> {
        let data = &func.insts[inst];
        let hash = Self::hash(data);
        let head = self.heads.get(&hash).copied();
        let mut at = head;
        while let Some(index) = at {
            let (_, other, known, before) = self.entries[index as usize];
            let other = &func.insts[other];
            if (other.op, other.ty, other.flags) == (data.op, data.ty, data.flags) && operands(other) == operands(data)
            {
                return Some(known);
            }
            at = before;
        }
        self.heads.insert(hash, self.entries.len() as u32);
        self.entries.push((hash, inst, result, head));
        None
    }

    /// Forgets all but the first `count`.
    fn truncate(&mut self, count: usize) {
        for (hash, _, _, before) in self.entries.drain(count..).rev() {
            match before {
                Some(before) => self.heads.insert(hash, before),
                None => self.heads.remove(&hash),
            };
        }
    }
}

/// The operands in an order that is the same for both orders of an operation that commutes.
fn operands(data: &InstData) -> (&[Value], Option<[Value; 2]>) {
    let commutes = matches!(
        data.op,
        Op::Binary(
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Eq | BinaryOp::Ne
        )
    );
    match data.args[..] {
        [a, b] if commutes => (&[], Some([a.min(b), a.max(b)])),
        _ => (&data.args, None),
    }
}

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let doms = &cx.graph(func).doms;
    let mut known = Known::default();
    let mut replaced = Replacements::default();
    let mut dead = cranelift_entity::EntitySet::with_capacity(func.insts.len());
    enum Step {
        Enter(Block),
        Leave(usize),
    }
    let mut stack: Vec<Step> = func.entry().map(Step::Enter).into_iter().collect();
    while let Some(step) = stack.pop() {
        let block = match step {
            Step::Leave(count) => {
                known.truncate(count);
                continue;
            }
            Step::Enter(block) => block,
        };
        stack.push(Step::Leave(known.entries.len()));
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            for arg in &mut func.insts[inst].args {
                *arg = replaced.get(*arg);
            }
            let data = &func.insts[inst];
            let Some(result) = data.result else { continue };
            if !is_computation(module, func, data) {
                continue;
            }
            if let Some(known) = known.find(func, inst, result) {
                replaced.set(func, result, known);
                dead.insert(inst);
            }
        }
        stack.extend(doms.children(block).map(Step::Enter));
    }
    if !replaced.apply(func) {
        return false;
    }
    crate::edit::remove_insts(func, &dead);
    true
}

/// Whether the result depends on the operands alone.
fn is_computation(module: &IrModule, func: &Function, data: &InstData) -> bool {
    match data.op {
        Op::Phi => false,
        Op::Load => is_constant_memory(module, func, data.args[0]),
        op => op_effects(op).is_empty(),
    }
}

/// Whether what `pointer` points to never changes while the shader runs.
pub(crate) fn is_constant_memory(module: &IrModule, func: &Function, pointer: Value) -> bool {
    let mut root = pointer;
    for _ in 0..func.insts.len() + 1 {
        match func.def_inst(root) {
            Some((_, data)) if data.op == Op::Access => root = data.args[0],
            _ => break,
        }
    }
    match module.types.pointee(func.ty(root)).map(|(space, _)| space) {
        Some(AddressSpace::Constant | AddressSpace::PushConstant | AddressSpace::Handle | AddressSpace::Input) => true,
        Some(AddressSpace::Private) => match func.values[root].def {
            ValueDef::Global(g) => module.globals[g].readonly,
            _ => false,
        },
        Some(AddressSpace::Storage) => func.def_inst(root).is_some_and(|(_, data)| {
            let handle = data.args.first().map(|&a| module.types.kind(func.ty(a)));
            matches!(
                handle,
                Some(TypeKind::Resource(
                    ResourceType::TextureBuffer { .. } | ResourceType::StructuredBuffer { access: Access::Read, .. }
                ))
            )
        }),
        _ => false,
    }
}
