//! Compact numbers for the values and blocks of a function.

use crate::entity::{Block, Value};
use crate::func::Function;
use cranelift_entity::SecondaryMap;

/// Numbers by which values and blocks are printed: parameters, then results in the order of the blocks; blocks in order.
pub(super) struct Numbering {
    values: SecondaryMap<Value, Option<u32>>,
    blocks: SecondaryMap<Block, Option<u32>>,
}

impl Numbering {
    pub fn new(func: &Function) -> Self {
        let mut values = SecondaryMap::new();
        let mut blocks = SecondaryMap::new();
        let results = func.live_insts().filter_map(|(_, _, data)| data.result);
        for (number, value) in func.params.iter().map(|p| p.value).chain(results).enumerate() {
            values[value] = Some(number as u32);
        }
        for (number, &block) in func.order.iter().enumerate() {
            blocks[block] = Some(number as u32);
        }
        Self { values, blocks }
    }

    /// `v3`; what has no number, because nothing living defines it, is `v!id`, which does not parse.
    pub fn value(&self, value: Value) -> String {
        match self.values[value] {
            Some(number) => format!("v{number}"),
            None => format!("v!{}", value.as_u32()),
        }
    }

    /// `block3`, or `block!id` for a block that is not living.
    pub fn block(&self, block: Block) -> String {
        match self.blocks[block] {
            Some(number) => format!("block{number}"),
            None => format!("block!{}", block.as_u32()),
        }
    }
}
