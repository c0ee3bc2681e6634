//! Dominance frontiers (Cooper, Harvey, Kennedy 2001).

use super::cfg::Cfg;
use super::csr::Csr;
use super::dom::DomTree;
use crate::entity::Block;
use cranelift_entity::EntityRef;

/// For each block, the blocks where its dominance ends: where phis of what it defines are due.
#[derive(Clone, Debug)]
pub struct Frontiers {
    rows: Csr<Block>,
}

impl Frontiers {
    /// From the dominator tree.
    pub fn new(cfg: &Cfg, doms: &DomTree) -> Self {
        let mut pairs = Vec::new();
        let mut last = vec![u32::MAX; cfg.block_count()];
        for &join in cfg.rpo() {
            let preds = cfg.preds(join);
            if preds.len() < 2 && doms.idom(join).is_some() {
                continue;
            }
            for &pred in preds.iter().filter(|&&p| cfg.is_reachable(p)) {
                let mut at = Some(pred);
                while let Some(block) = at {
                    // Above a block that has been walked for this join, everything has.
                    if at == doms.idom(join) || last[block.index()] == join.as_u32() {
                        break;
                    }
                    last[block.index()] = join.as_u32();
                    pairs.push((block.as_u32(), join));
                    at = doms.idom(block);
                }
            }
        }
        Self { rows: Csr::new(cfg.block_count(), &pairs) }
    }

    /// The frontier of `block`.
    pub fn of(&self, block: Block) -> &[Block] {
        self.rows.row(block.index())
    }
}
