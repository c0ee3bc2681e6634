//! Changes that many passes make.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use oneshader_ir::{Block, Function, IrModule, Op, Type, Value};

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
            && matches!(func.values[new].def, oneshader_ir::ValueDef::Inst(_))
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
        for index in 0..func.order.len() {
            let block = func.order[index];
            for i in 0..func.blocks[block].insts.len() {
                let inst = func.blocks[block].insts[i];
                for arg in &mut func.insts[inst].args {
                    *arg = self.get(*arg);
                }
            }
            if let Some(arg) = func.blocks[block].term.arg_mut() {
                *arg = self.get(*arg);
            }
        }
        true
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

/// Any value of a type.
pub(crate) fn undef(module: &mut IrModule, func: &mut Function, ty: Type) -> Value {
    let c = module.consts.intern(ty, oneshader_ir::ConstData::Undef);
    func.const_value(&module.consts, c)
}
