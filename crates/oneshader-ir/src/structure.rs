//! A function's control flow as a tree: what a consumer needs that writes `if`, `while` and `switch`.
//!
//! Marked selections and loops become nodes that end at their merge block. A branch without a marker becomes a selection
//! that ends at its immediate post-dominator, unless one of its ways leaves a loop or a switch. The continue construct of
//! a loop is kept beside the body; a consumer whose language has no place for it repeats it before each `continue`.
//!
//! The tree has one node for each living block and one [`Node::Edge`] for each edge into a block with phis, standing
//! where control takes the edge.

use crate::analysis::{Cfg, DomTree};
use crate::entity::{Block, Value};
use crate::func::{Function, Merge, SwitchCase, TerminatorKind};
use crate::inst::Op;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption};
use oneshader_diag::Span;

/// Structures nested deeper than this are refused, so that consumers may recurse.
pub const MAX_DEPTH: u32 = 250;

/// A sequence of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(u32);
entity_impl!(Region, "region");

/// What a region is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionKind {
    /// The function.
    Function,
    /// A way of a selection, or a case of a switch.
    Arm,
    /// The body of a loop, from the header on.
    Body,
    /// The continue construct of a loop; its parent is the body.
    Continue,
}

/// A region.
#[derive(Clone, Debug)]
pub struct RegionData {
    /// Its nodes in order.
    pub nodes: Vec<Node>,
    /// The region around it.
    pub parent: Option<Region>,
    /// What it is a part of.
    pub kind: RegionKind,
    /// Distance from the function's region.
    pub depth: u32,
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// Bits of the selector's values that lead here.
    pub values: Vec<u64>,
    /// Whether all other values do.
    pub default: bool,
    /// What happens; empty when the case only leaves the switch.
    pub body: Region,
    /// Whether control may go on in the next case.
    pub falls_through: bool,
}

/// A part of a function.
#[derive(Clone, Debug)]
pub enum Node {
    /// The instructions of a block, without phis and terminator.
    Block(Block),
    /// The phis of `to` take the values that belong to `from`, all at once.
    Edge {
        /// Where control comes from.
        from: Block,
        /// Where it goes.
        to: Block,
    },
    /// A selection by the condition at the end of `header`.
    If {
        /// Block that ends in the branch.
        header: Block,
        /// The condition.
        cond: Value,
        /// When true.
        then: Region,
        /// When false.
        els: Region,
        /// Whether the branch has a marker; else it is part of a short-circuit expression or leaves a loop.
        marked: bool,
    },
    /// An endless loop.
    Loop {
        /// Its header, the first block of `body`.
        header: Block,
        /// From the header on.
        body: Region,
        /// What happens between a `continue` and the header, when anything does.
        cont: Option<Region>,
    },
    /// A selection by an integer.
    Switch {
        /// Block that ends in the switch.
        header: Block,
        /// The selector.
        selector: Value,
        /// In an order in which each case stands after the one that falls into it.
        cases: Vec<Case>,
    },
    /// To the end of the innermost loop or switch.
    Break,
    /// To the end of the innermost loop, out of switches within it.
    BreakLoop,
    /// To the continue construct of the innermost loop.
    Continue,
    /// Out of the function, as the block's terminator says.
    Return(Block),
    /// Control does not come here.
    Unreachable,
}

/// A function as a tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The regions.
    pub regions: PrimaryMap<Region, RegionData>,
    /// The function's region.
    pub root: Region,
    /// Where each block stands.
    pub home: SecondaryMap<Block, PackedOption<Region>>,
}

impl Tree {
    /// Whether `inner` is `outer` or lies within it.
    pub fn contains(&self, outer: Region, inner: Region) -> bool {
        let mut at = Some(inner);
        while let Some(region) = at {
            if region == outer {
                return true;
            }
            at = self.regions[region].parent;
        }
        false
    }
}

/// Why there is no tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StructureError {
    /// Structures are nested more than [`MAX_DEPTH`] deep.
    TooDeep(Span),
    /// A branch leaves more than the innermost loop or switch.
    Unstructured(Span),
}

/// The tree of `func`.
pub fn structure(func: &Function) -> Result<Tree, StructureError> {
    let cfg = Cfg::new(func);
    let mut regions = PrimaryMap::new();
    let root = regions.push(RegionData { nodes: Vec::new(), parent: None, kind: RegionKind::Function, depth: 0 });
    let tree = Tree { regions, root, home: SecondaryMap::new() };
    let mut builder = Builder { func, cfg, post: None, tree, frames: Vec::new() };
    if let Some(entry) = func.entry() {
        builder.follow(root, None, entry)?;
    }
    Ok(builder.tree)
}

/// A structure around the place being built.
enum Frame {
    Selection { merge: Block, reached: bool },
    Loop { header: Block, merge: Block, cont: Block, left: bool, continued: bool },
    Continue { header: Block },
    Switch { merge: Block, reached: bool, targets: Vec<Block>, falls_to: Option<Block> },
}

/// Where a branch leads, seen from inside the frames.
enum Target {
    /// To a block that belongs here.
    Inside,
    /// To the end of the region.
    End,
    /// Out, by this node.
    Leave(Node),
}

struct Builder<'f> {
    func: &'f Function,
    cfg: Cfg,
    post: Option<DomTree>,
    tree: Tree,
    frames: Vec<Frame>,
}

impl Builder<'_> {
    fn push(&mut self, region: Region, node: Node) {
        self.tree.regions[region].nodes.push(node);
    }

    fn add_region(&mut self, parent: Region, kind: RegionKind, span: Span) -> Result<Region, StructureError> {
        let depth = self.tree.regions[parent].depth + 1;
        if depth > MAX_DEPTH {
            return Err(StructureError::TooDeep(span));
        }
        Ok(self.tree.regions.push(RegionData { nodes: Vec::new(), parent: Some(parent), kind, depth }))
    }

    fn has_phis(&self, block: Block) -> bool {
        self.func.blocks[block].insts.first().is_some_and(|&i| self.func.insts[i].op == Op::Phi)
    }

    fn edge(&mut self, region: Region, from: Block, to: Block) {
        if self.has_phis(to) {
            self.push(region, Node::Edge { from, to });
        }
    }

    /// Where `to` lies, and notes in the frames that it is reached.
    fn target(&mut self, to: Block, span: Span) -> Result<Target, StructureError> {
        // What lies between the place and the frame that names `to`.
        let (mut in_selection, mut in_switch, mut in_loop) = (false, false, false);
        // Whether a frame names it that cannot be left from here; one further out may name it too.
        let mut blocked = false;
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Selection { merge, reached } => {
                    if *merge == to && !(in_selection || in_switch || in_loop) {
                        *reached = true;
                        return Ok(Target::End);
                    }
                    blocked |= *merge == to;
                    in_selection = true;
                }
                Frame::Switch { merge, reached, targets, falls_to } => {
                    if *merge == to && !(in_switch || in_loop) {
                        *reached = true;
                        return Ok(Target::Leave(Node::Break));
                    }
                    if targets.contains(&to) {
                        if in_selection || in_switch || in_loop || falls_to.is_some_and(|t| t != to) {
                            return Err(StructureError::Unstructured(span));
                        }
                        *falls_to = Some(to);
                        return Ok(Target::End);
                    }
                    blocked |= *merge == to;
                    in_switch = true;
                }
                Frame::Continue { header } => {
                    if *header == to && !(in_selection || in_switch || in_loop) {
                        return Ok(Target::End);
                    }
                }
                Frame::Loop { header, merge, cont, left, continued } => {
                    if *merge == to && !in_loop {
                        *left = true;
                        return Ok(Target::Leave(if in_switch { Node::BreakLoop } else { Node::Break }));
                    }
                    let is_continue = *cont == to || *header == to;
                    if is_continue && !in_loop {
                        *continued = true;
                        return Ok(Target::Leave(Node::Continue));
                    }
                    blocked |= *merge == to || is_continue;
                    in_loop = true;
                }
            }
        }
        if blocked { Err(StructureError::Unstructured(span)) } else { Ok(Target::Inside) }
    }

    /// Whether a branch to `to` leaves a loop or switch around or goes to the loop's next round, by a statement of its own.
    fn leaves(&self, to: Block) -> bool {
        for frame in self.frames.iter().rev() {
            match frame {
                Frame::Selection { .. } => {}
                Frame::Switch { merge, .. } if *merge == to => return true,
                Frame::Switch { .. } => {}
                // The end of the continue construct: no statement is needed.
                Frame::Continue { header } if *header == to => return false,
                Frame::Continue { .. } => {}
                Frame::Loop { header, merge, cont, .. } => {
                    if *header == to || *merge == to || *cont == to {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Appends to `region` what happens from `to` on, until control leaves the region.
    fn follow(&mut self, region: Region, from: Option<Block>, to: Block) -> Result<(), StructureError> {
        let (mut from, mut to) = (from, to);
        loop {
            let span = from.map_or(self.func.span, |b| self.func.blocks[b].term.span);
            if let Some(from) = from {
                self.edge(region, from, to);
            }
            match self.target(to, span)? {
                Target::End => return Ok(()),
                Target::Leave(node) => {
                    self.push(region, node);
                    return Ok(());
                }
                Target::Inside => {}
            }
            if self.tree.home[to].is_some() {
                return Err(StructureError::Unstructured(span));
            }
            let next = match self.func.blocks[to].merge {
                Merge::Loop { merge, cont } => self.follow_loop(region, to, merge, cont)?,
                _ => self.follow_block(region, to)?,
            };
            match next {
                None => return Ok(()),
                Some((f, t)) => (from, to) = (f, t),
            }
        }
    }

    fn follow_loop(&mut self, region: Region, header: Block, merge: Block, cont: Block) -> Next {
        let span = self.func.blocks[header].term.span;
        let body = self.add_region(region, RegionKind::Body, span)?;
        self.frames.push(Frame::Loop { header, merge, cont, left: false, continued: false });
        if let Some((from, to)) = self.follow_block(body, header)? {
            self.follow(body, from, to)?;
        }
        let continued = matches!(self.frames.last(), Some(Frame::Loop { continued: true, .. }));
        let mut construct = None;
        if continued && cont != header && self.tree.home[cont].is_none() {
            let region = self.add_region(body, RegionKind::Continue, span)?;
            self.frames.push(Frame::Continue { header });
            // The frame of the loop below names `cont` too; its block is entered by hand.
            if let Some((from, to)) = self.enter(region, cont)? {
                self.follow(region, from, to)?;
            }
            self.frames.pop();
            construct = Some(region);
        }
        let left = matches!(self.frames.pop(), Some(Frame::Loop { left: true, .. }));
        self.push(region, Node::Loop { header, body, cont: construct });
        Ok(left.then_some((None, merge)))
    }

    fn enter(&mut self, region: Region, block: Block) -> Next {
        match self.func.blocks[block].merge {
            Merge::Loop { merge, cont } => self.follow_loop(region, block, merge, cont),
            _ => self.follow_block(region, block),
        }
    }

    /// A block and what its terminator makes of it; gives where to go on in the same region.
    fn follow_block(&mut self, region: Region, block: Block) -> Next {
        self.tree.home[block] = region.into();
        self.push(region, Node::Block(block));
        let data = &self.func.blocks[block];
        let span = data.term.span;
        match &data.term.kind {
            TerminatorKind::Branch(to) => Ok(Some((Some(block), *to))),
            TerminatorKind::Return(_) => {
                self.push(region, Node::Return(block));
                Ok(None)
            }
            TerminatorKind::Unreachable => {
                self.push(region, Node::Unreachable);
                Ok(None)
            }
            TerminatorKind::CondBranch { then, els, .. } if then == els => Ok(Some((Some(block), *then))),
            &TerminatorKind::CondBranch { cond, then, els } => {
                let marked = match data.merge {
                    Merge::Selection(merge) => Some(merge),
                    _ => None,
                };
                let Some(merge) = marked.or_else(|| self.join(block, then, els)) else {
                    return self.leaving_branch(region, block, cond, then, els);
                };
                self.frames.push(Frame::Selection { merge, reached: false });
                let then_region = self.arm(region, block, then, span)?;
                let els_region = self.arm(region, block, els, span)?;
                let reached = matches!(self.frames.pop(), Some(Frame::Selection { reached: true, .. }));
                let marked = marked.is_some();
                self.push(region, Node::If { header: block, cond, then: then_region, els: els_region, marked });
                Ok(reached.then_some((None, merge)))
            }
            TerminatorKind::Switch { selector, default, cases } => {
                let merge = match data.merge {
                    Merge::Selection(merge) => Some(merge),
                    _ => self.post_dominator(block),
                };
                let merge = merge.ok_or(StructureError::Unstructured(span))?;
                self.follow_switch(region, block, *selector, *default, cases, merge)
            }
        }
    }

    /// Where the two ways of an unmarked branch meet; `None` when one of them leaves the loop or switch around.
    fn join(&mut self, block: Block, then: Block, els: Block) -> Option<Block> {
        if self.leaves(then) || self.leaves(els) {
            return None;
        }
        self.post_dominator(block)
    }

    fn post_dominator(&mut self, block: Block) -> Option<Block> {
        let cfg = &self.cfg;
        self.post.get_or_insert_with(|| DomTree::post_dominators(cfg)).idom(block)
    }

    fn arm(&mut self, region: Region, from: Block, to: Block, span: Span) -> Result<Region, StructureError> {
        let arm = self.add_region(region, RegionKind::Arm, span)?;
        self.follow(arm, Some(from), to)?;
        Ok(arm)
    }

    /// A branch of which one way leaves a loop or switch, or none ever meets the other: the other way goes on here.
    fn leaving_branch(&mut self, region: Region, block: Block, cond: Value, then: Block, els: Block) -> Next {
        let span = self.func.blocks[block].term.span;
        let leave_by_then = self.leaves(then) || !self.leaves(els);
        let (out, on) = if leave_by_then { (then, els) } else { (els, then) };
        let leaving = self.arm(region, block, out, span)?;
        let empty = self.add_region(region, RegionKind::Arm, span)?;
        let (then, els) = if leave_by_then { (leaving, empty) } else { (empty, leaving) };
        self.push(region, Node::If { header: block, cond, then, els, marked: false });
        Ok(Some((Some(block), on)))
    }

    fn follow_switch(
        &mut self,
        region: Region,
        header: Block,
        selector: Value,
        default: Block,
        list: &[SwitchCase],
        merge: Block,
    ) -> Next {
        let span = self.func.blocks[header].term.span;
        // Distinct targets in the order of the source; the default stands where a case shares it, else last.
        let mut targets: Vec<(Block, Vec<u64>, bool)> = Vec::new();
        let mut index = rustc_hash::FxHashMap::default();
        for case in list {
            let at = *index.entry(case.target).or_insert(targets.len());
            if at == targets.len() {
                targets.push((case.target, Vec::new(), false));
            }
            targets[at].1.push(case.value);
        }
        let at = *index.entry(default).or_insert(targets.len());
        if at == targets.len() {
            targets.push((default, Vec::new(), true));
        } else {
            targets[at].2 = true;
        }
        let blocks: Vec<Block> = targets.iter().map(|t| t.0).filter(|&t| t != merge && !self.leaves(t)).collect();
        self.frames.push(Frame::Switch { merge, reached: false, targets: blocks, falls_to: None });
        let mut cases = Vec::with_capacity(targets.len());
        let mut falls: Vec<Option<usize>> = Vec::with_capacity(targets.len());
        for (target, values, default) in targets {
            let body = self.add_region(region, RegionKind::Arm, span)?;
            if target == merge {
                self.note_merge();
            } else if self.leaves(target) {
                self.follow(body, Some(header), target)?;
            } else {
                self.enter_case(body, target)?;
            }
            let falls_to = match self.frames.last_mut() {
                Some(Frame::Switch { falls_to, .. }) => falls_to.take(),
                _ => None,
            };
            falls.push(falls_to.and_then(|b| index.get(&b).copied()));
            let case = Case { values, default, body, falls_through: falls_to.is_some() };
            cases.push((target, case));
        }
        let reached = matches!(self.frames.pop(), Some(Frame::Switch { reached: true, .. }));
        let order = case_order(&falls).ok_or(StructureError::Unstructured(span))?;
        // Phis of cases that another falls into, and of the merge block, take the values of the switch before it.
        for (i, (target, case)) in cases.iter().enumerate() {
            if *target == merge || falls.contains(&Some(i)) {
                self.edge(region, header, *target);
            } else if !self.leaves(*target) && self.has_phis(*target) {
                self.tree.regions[case.body].nodes.insert(0, Node::Edge { from: header, to: *target });
            }
        }
        let mut slots: Vec<Option<Case>> = cases.into_iter().map(|(_, case)| Some(case)).collect();
        let cases = order.into_iter().filter_map(|i| slots[i].take()).collect();
        self.push(region, Node::Switch { header, selector, cases });
        Ok(reached.then_some((None, merge)))
    }

    fn note_merge(&mut self) {
        if let Some(Frame::Switch { reached, .. }) = self.frames.last_mut() {
            *reached = true;
        }
    }

    /// The body of a case. Its first block is a target of the switch, which from inside means falling through.
    fn enter_case(&mut self, body: Region, target: Block) -> Result<(), StructureError> {
        if self.tree.home[target].is_some() {
            return Err(StructureError::Unstructured(self.func.blocks[target].term.span));
        }
        if let Some((from, to)) = self.enter(body, target)? {
            self.follow(body, from, to)?;
        }
        Ok(())
    }
}

/// Where to go on in the same region: the edge's source, unless its phis are done, and the block.
type Next = Result<Option<(Option<Block>, Block)>, StructureError>;

/// An order in which each case stands directly before the one it falls into; `None` when two fall into one.
fn case_order(falls: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut fallen_into = vec![false; falls.len()];
    for &to in falls.iter().flatten() {
        if std::mem::replace(&mut fallen_into[to], true) {
            return None;
        }
    }
    let mut order = Vec::with_capacity(falls.len());
    for head in (0..falls.len()).filter(|&i| !fallen_into[i]) {
        let mut at = Some(head);
        while let Some(i) = at {
            order.push(i);
            at = falls[i];
        }
    }
    (order.len() == falls.len()).then_some(order)
}
