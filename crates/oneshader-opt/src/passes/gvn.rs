//! Common subexpressions: of two equal computations, the one that dominates the other stands for both.
//!
//! Walks the dominator tree with a scoped table. Loads of memory that nothing writes (constant buffers, inputs, read-only
//! buffers, handles) count as computations. Operations that depend on which lanes run stay where they are.

use crate::edit::Replacements;
use crate::manager::Cx;
use oneshader_ir::analysis::{Cfg, DomTree, op_effects};
use oneshader_ir::{
    Access, AddressSpace, BinaryOp, Block, Function, InstData, InstFlags, IrModule, Op, ResourceType, Type, TypeKind,
    Value, ValueDef,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What makes two computations equal.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    ty: Type,
    flags: InstFlags,
    args: SmallVec<[Value; 4]>,
}

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    let cfg = Cfg::new(func);
    let doms = DomTree::dominators(&cfg);
    let mut table: FxHashMap<Key, Value> = FxHashMap::default();
    let mut replaced = Replacements::default();
    let mut dead = cranelift_entity::EntitySet::with_capacity(func.insts.len());
    enum Step {
        Enter(Block),
        Leave(Vec<Key>),
    }
    let mut stack: Vec<Step> = func.entry().map(Step::Enter).into_iter().collect();
    while let Some(step) = stack.pop() {
        let block = match step {
            Step::Leave(keys) => {
                keys.iter().for_each(|k| {
                    table.remove(k);
                });
                continue;
            }
            Step::Enter(block) => block,
        };
        let mut added = Vec::new();
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
            let key = key(data);
            match table.get(&key) {
                Some(&known) => {
                    replaced.set(func, result, known);
                    dead.insert(inst);
                }
                None => {
                    table.insert(key.clone(), result);
                    added.push(key);
                }
            }
        }
        stack.push(Step::Leave(added));
        stack.extend(doms.children(block).map(Step::Enter));
    }
    if !replaced.apply(func) {
        return false;
    }
    crate::edit::remove_insts(func, &dead);
    true
}

fn key(data: &InstData) -> Key {
    let mut args = data.args.clone();
    let commutes = matches!(
        data.op,
        Op::Binary(
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Eq | BinaryOp::Ne
        )
    );
    if commutes && args[0] > args[1] {
        args.swap(0, 1);
    }
    Key { op: data.op, ty: data.ty, flags: data.flags, args }
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
