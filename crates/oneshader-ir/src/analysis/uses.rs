//! Who uses a value.

use super::csr::Csr;
use crate::entity::{Block, Inst, Value};
use crate::func::Function;
use cranelift_entity::EntityRef;

/// A user of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum User {
    /// An operand of an instruction.
    Inst(Inst),
    /// The condition, selector or result of a block's end.
    Term(Block),
}

/// The users of every value of a function, in order of the blocks; a user that uses a value twice stands twice.
#[derive(Clone, Debug)]
pub struct Uses {
    rows: Csr<User>,
}

impl Uses {
    /// Collects them over the living blocks.
    pub fn new(func: &Function) -> Self {
        let mut pairs = Vec::with_capacity(func.insts.len() * 2);
        for &block in &func.order {
            let data = &func.blocks[block];
            for &inst in &data.insts {
                pairs.extend(func.insts[inst].args.iter().map(|a| (a.as_u32(), User::Inst(inst))));
            }
            pairs.extend(data.term.arg().map(|a| (a.as_u32(), User::Term(block))));
        }
        Self { rows: Csr::new(func.values.len(), &pairs) }
    }

    /// The users of `value`.
    pub fn of(&self, value: Value) -> &[User] {
        self.rows.row(value.index())
    }

    /// Number of uses of `value`.
    pub fn count(&self, value: Value) -> usize {
        self.of(value).len()
    }
}
