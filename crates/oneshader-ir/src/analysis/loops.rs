//! Natural loops, from back edges: independent of the markers, which the verifier compares with them.

use super::cfg::Cfg;
use super::dom::DomTree;
use crate::entity::Block;
use cranelift_entity::{EntityRef, entity_impl};

/// A loop of one function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopId(u32);
entity_impl!(LoopId);

#[derive(Clone, Debug)]
struct LoopData {
    header: Block,
    parent: Option<LoopId>,
    depth: u32,
}

/// The loops of a function as a forest.
#[derive(Clone, Debug)]
pub struct Loops {
    loops: Vec<LoopData>,
    innermost: Vec<Option<LoopId>>,
}

impl Loops {
    /// Finds them.
    pub fn new(cfg: &Cfg, doms: &DomTree) -> Self {
        let mut this = Self { loops: Vec::new(), innermost: vec![None; cfg.block_count()] };
        // Inner headers come before outer ones: children of the dominator tree before their parents.
        let mut stack = Vec::<Block>::new();
        for &header in doms.preorder().iter().rev() {
            stack.extend(cfg.preds(header).iter().filter(|&&p| cfg.is_reachable(p) && doms.dominates(header, p)));
            if stack.is_empty() {
                continue;
            }
            let id = LoopId(this.loops.len() as u32);
            this.loops.push(LoopData { header, parent: None, depth: 0 });
            while let Some(block) = stack.pop() {
                match this.innermost[block.index()] {
                    None => {
                        this.innermost[block.index()] = Some(id);
                        if block != header {
                            stack.extend(cfg.preds(block).iter().filter(|&&p| cfg.is_reachable(p)));
                        }
                    }
                    Some(inner) => {
                        let outermost = this.outermost(inner);
                        if outermost != id {
                            let data = &mut this.loops[outermost.index()];
                            data.parent = Some(id);
                            stack.extend(cfg.preds(data.header).iter().filter(|&&p| cfg.is_reachable(p)));
                        }
                    }
                }
            }
            this.innermost[header.index()] = Some(id);
        }
        for i in (0..this.loops.len()).rev() {
            this.loops[i].depth = match this.loops[i].parent {
                Some(parent) => this.loops[parent.index()].depth + 1,
                None => 1,
            };
        }
        this
    }

    fn outermost(&self, mut id: LoopId) -> LoopId {
        while let Some(parent) = self.loops[id.index()].parent {
            id = parent;
        }
        id
    }

    /// All loops, inner ones before those around them.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = LoopId> + use<> {
        (0..self.loops.len()).map(LoopId::new)
    }

    /// The block a loop is entered by.
    pub fn header(&self, id: LoopId) -> Block {
        self.loops[id.index()].header
    }

    /// The loop around a loop.
    pub fn parent(&self, id: LoopId) -> Option<LoopId> {
        self.loops[id.index()].parent
    }

    /// The innermost loop that `block` is in.
    pub fn of(&self, block: Block) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    /// Number of loops around `block`.
    pub fn depth(&self, block: Block) -> u32 {
        self.of(block).map_or(0, |id| self.loops[id.index()].depth)
    }

    /// Whether `block` is in the loop.
    pub fn contains(&self, id: LoopId, block: Block) -> bool {
        let mut at = self.of(block);
        while let Some(l) = at {
            if l == id {
                return true;
            }
            at = self.parent(l);
        }
        false
    }
}
