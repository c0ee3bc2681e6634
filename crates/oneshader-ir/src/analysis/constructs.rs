//! The constructs that headers' markers state, and how they nest.
//!
//! A construct is what its header dominates without what its merge block dominates. Blocks that no edge reaches are in none.
//! The verifier says whether the markers of a function are sound; on one that are not, the answers mean nothing but end.

use super::dom::DomTree;
use crate::entity::Block;
use crate::func::{Function, Merge, TerminatorKind};
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};

/// A construct of one function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstructId(u32);
entity_impl!(ConstructId, "construct");

/// What a construct is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstructKind {
    /// A selection by a condition.
    If,
    /// A selection by an integer.
    Switch,
    /// A loop.
    Loop {
        /// Its continue block.
        cont: Block,
    },
}

/// A construct.
#[derive(Clone, Copy, Debug)]
pub struct Construct {
    /// Where it begins.
    pub header: Block,
    /// Where it ends.
    pub merge: Block,
    /// What it is.
    pub kind: ConstructKind,
    /// The construct around it.
    pub parent: Option<ConstructId>,
}

/// The constructs of a function.
#[derive(Clone, Debug)]
pub struct Constructs {
    list: PrimaryMap<ConstructId, Construct>,
    own: SecondaryMap<Block, Option<ConstructId>>,
    around: SecondaryMap<Block, Option<ConstructId>>,
    ended: SecondaryMap<Block, Option<ConstructId>>,
}

impl Constructs {
    /// Reads the markers.
    pub fn new(func: &Function, doms: &DomTree) -> Self {
        let mut this = Self {
            list: PrimaryMap::new(),
            own: SecondaryMap::new(),
            around: SecondaryMap::new(),
            ended: SecondaryMap::new(),
        };
        let mut conts: SecondaryMap<Block, Option<ConstructId>> = SecondaryMap::new();
        // Parents before children, so that a dominator's constructs are known.
        for &block in doms.preorder() {
            let above = doms.idom(block).and_then(|dom| this.inside(dom));
            // At its merge block a construct ends, and with it those inside. The continue block belongs to the loop itself,
            // also where a selection inside dominates it.
            this.around[block] = match (this.ended[block], conts[block]) {
                (Some(ended), _) => this.list[ended].parent,
                (None, Some(of)) if this.chain(above).any(|(id, _)| id == of) => Some(of),
                (None, _) => above,
            };
            let data = &func.blocks[block];
            let (merge, kind) = match data.merge {
                Merge::None => continue,
                Merge::Selection(merge) => match data.term.kind {
                    TerminatorKind::Switch { .. } => (merge, ConstructKind::Switch),
                    _ => (merge, ConstructKind::If),
                },
                Merge::Loop { merge, cont } => (merge, ConstructKind::Loop { cont }),
            };
            let id = this.list.push(Construct { header: block, merge, kind, parent: this.around[block] });
            this.own[block] = Some(id);
            this.ended[merge] = this.ended[merge].or(Some(id));
            if let ConstructKind::Loop { cont } = kind {
                conts[cont] = conts[cont].or(Some(id));
            }
        }
        this
    }

    /// All constructs, outer ones before those inside.
    pub fn iter(&self) -> impl Iterator<Item = (ConstructId, &Construct)> {
        self.list.iter()
    }

    /// A construct.
    pub fn get(&self, id: ConstructId) -> &Construct {
        &self.list[id]
    }

    /// The construct that `block` is the header of.
    pub fn own(&self, block: Block) -> Option<ConstructId> {
        self.own[block]
    }

    /// The innermost construct around `block`; for a header, around its construct.
    pub fn around(&self, block: Block) -> Option<ConstructId> {
        self.around[block]
    }

    /// The construct that `block` is the merge block of.
    pub fn ended(&self, block: Block) -> Option<ConstructId> {
        self.ended[block]
    }

    /// The innermost construct that the end of `block` is in.
    pub fn inside(&self, block: Block) -> Option<ConstructId> {
        self.own[block].or(self.around[block])
    }

    /// `from` and the constructs around it, innermost first.
    pub fn chain(&self, from: Option<ConstructId>) -> impl Iterator<Item = (ConstructId, Construct)> + '_ {
        std::iter::successors(from, |&id| self.list[id].parent).map(|id| (id, self.list[id]))
    }

    /// Number of constructs.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
