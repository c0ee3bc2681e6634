//! Edges between blocks, and an order to walk them in.

use super::csr::Csr;
use crate::entity::Block;
use crate::func::Function;
use cranelift_entity::EntityRef;

/// The flow graph of a function: each pair of blocks is joined by at most one edge, however often a terminator names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    preds: Csr<Block>,
    succs: Csr<Block>,
    rpo: Vec<Block>,
    index: Vec<u32>,
    blocks: usize,
}

impl Cfg {
    /// Reads the edges of the living blocks.
    pub fn new(func: &Function) -> Self {
        let blocks = func.blocks.len();
        let edges = func.order.len() * 2;
        let (mut out, mut back) = (Vec::with_capacity(edges), Vec::with_capacity(edges));
        let mut seen_from = vec![u32::MAX; blocks];
        for &block in &func.order {
            for succ in func.blocks[block].term.successors() {
                if std::mem::replace(&mut seen_from[succ.index()], block.as_u32()) != block.as_u32() {
                    out.push((block.as_u32(), succ));
                    back.push((succ.as_u32(), block));
                }
            }
        }
        let succs = Csr::new(blocks, &out);
        let preds = Csr::new(blocks, &back);
        let (rpo, index) = reverse_post_order(func.entry(), &succs, blocks);
        Self { preds, succs, rpo, index, blocks }
    }

    /// Blocks that lead to `block`.
    pub fn preds(&self, block: Block) -> &[Block] {
        self.preds.row(block.index())
    }

    /// Blocks that `block` leads to, in the order its terminator first names them.
    pub fn succs(&self, block: Block) -> &[Block] {
        self.succs.row(block.index())
    }

    /// Blocks that edges reach from the entry, each before its successors but for back edges.
    pub fn rpo(&self) -> &[Block] {
        &self.rpo
    }

    /// Where `block` stands in [`rpo`](Self::rpo); `None` when no edge path reaches it.
    pub fn rpo_index(&self, block: Block) -> Option<u32> {
        self.index.get(block.index()).copied().filter(|&i| i != u32::MAX)
    }

    /// Whether edges reach `block` from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.rpo_index(block).is_some()
    }

    /// Blocks of the function, dead ones too.
    pub(super) fn block_count(&self) -> usize {
        self.blocks
    }
}

fn reverse_post_order(entry: Option<Block>, succs: &Csr<Block>, blocks: usize) -> (Vec<Block>, Vec<u32>) {
    let mut index = vec![u32::MAX; blocks];
    let mut order = Vec::with_capacity(blocks);
    let mut stack = Vec::with_capacity(blocks);
    if let Some(entry) = entry {
        index[entry.index()] = 0;
        stack.push((entry, succs.row(entry.index()).len()));
    }
    // Successors from the last to the first, so that the first stands first when the order is reversed.
    while let Some((block, left)) = stack.last_mut() {
        if *left == 0 {
            order.push(*block);
            stack.pop();
            continue;
        }
        *left -= 1;
        let succ = succs.row(block.index())[*left];
        if index[succ.index()] == u32::MAX {
            index[succ.index()] = 0;
            stack.push((succ, succs.row(succ.index()).len()));
        }
    }
    order.reverse();
    for (i, block) in order.iter().enumerate() {
        index[block.index()] = i as u32;
    }
    (order, index)
}
