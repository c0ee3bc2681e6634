//! Dominators and post-dominators.

use super::cfg::Cfg;
use super::csr::Csr;
use crate::entity::Block;
use cranelift_entity::EntityRef;

const NONE: u32 = u32::MAX;

/// A tree of immediate dominators or post-dominators.
///
/// The post-dominators' root is a virtual exit after all blocks that leave the function; a block of a region without a
/// way out has a way chosen for it. Blocks that edges do not reach from the entry are in no dominator tree: everything
/// dominates them.
#[derive(Clone, Debug)]
pub struct DomTree {
    idom: Vec<u32>,
    /// Interval of the tree's preorder numbers: a dominates b when b's first number lies in a's interval.
    first: Vec<u32>,
    last: Vec<u32>,
    preorder: Vec<Block>,
    children: Csr<u32>,
    blocks: usize,
}

impl DomTree {
    /// Dominators.
    pub fn dominators(cfg: &Cfg) -> Self {
        let root = cfg.rpo().first().map_or(0, |b| b.as_u32());
        let n = cfg.block_count();
        Self::build(n, n.max(1), root, |v| cfg.succs(Block::from_u32(v)), |v| cfg.preds(Block::from_u32(v)), &[])
    }

    /// Post-dominators of all blocks that edges reach from the entry.
    pub fn post_dominators(cfg: &Cfg) -> Self {
        let exit = cfg.block_count() as u32;
        let mut exits: Vec<Block> = cfg.rpo().iter().copied().filter(|&b| cfg.succs(b).is_empty()).collect();
        // Regions that never leave: their last block in the order of the walk counts as an exit, until all are covered.
        let mut reached = vec![false; exit as usize];
        let mut stack = exits.clone();
        let mut rest = cfg.rpo().iter().rev();
        loop {
            while let Some(block) = stack.pop() {
                if !std::mem::replace(&mut reached[block.index()], true) {
                    stack.extend(cfg.preds(block).iter().filter(|&&p| cfg.is_reachable(p)));
                }
            }
            match rest.find(|b| !reached[b.index()]) {
                Some(&block) => {
                    exits.push(block);
                    stack.push(block);
                }
                None => break,
            }
        }
        let none: &[Block] = &[];
        let walk = |v: u32| if v == exit { none } else { cfg.preds(Block::from_u32(v)) };
        let back = |v: u32| if v == exit { none } else { cfg.succs(Block::from_u32(v)) };
        Self::build(exit as usize, exit as usize + 1, exit, walk, back, &exits)
    }

    /// `extra`: successors of the root besides those of `succs`.
    fn build<'a>(
        blocks: usize,
        nodes: usize,
        root: u32,
        succs: impl Fn(u32) -> &'a [Block],
        preds: impl Fn(u32) -> &'a [Block],
        extra: &[Block],
    ) -> Self {
        let idom = if blocks == 0 { vec![NONE; nodes] } else { semi_nca(nodes, root, succs, preds, extra) };
        let mut pairs = Vec::with_capacity(nodes);
        for (node, &dom) in idom.iter().enumerate() {
            if dom != NONE {
                pairs.push((dom, node as u32));
            }
        }
        let children = Csr::new(nodes, &pairs);
        let (mut first, mut last) = (vec![NONE; nodes], vec![0; nodes]);
        let mut preorder = Vec::with_capacity(blocks);
        let mut counter = 0;
        let mut stack = vec![(root, false)];
        while let Some((node, left)) = stack.pop() {
            if left {
                last[node as usize] = counter;
                continue;
            }
            first[node as usize] = counter;
            counter += 1;
            if (node as usize) < blocks {
                preorder.push(Block::from_u32(node));
            }
            stack.push((node, true));
            stack.extend(children.row(node as usize).iter().rev().map(|&c| (c, false)));
        }
        Self { idom, first, last, preorder, children, blocks }
    }

    /// The immediate (post-)dominator; `None` for the root, below the virtual exit, and outside the tree.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idom.get(block.index()).copied().and_then(|d| self.block(d))
    }

    /// Whether every path to (from) `b` passes `a`; every block dominates itself, and everything a block outside the tree.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (a, b) = (a.index(), b.index());
        let at = self.first[b];
        a == b || at == NONE || (self.first[a] != NONE && self.first[a] <= at && at < self.last[a])
    }

    /// Whether `block` is in the tree.
    pub fn contains(&self, block: Block) -> bool {
        self.first.get(block.index()).is_some_and(|&f| f != NONE)
    }

    /// Blocks whose immediate dominator `block` is, in order of their numbers.
    pub fn children(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.children.row(block.index()).iter().filter_map(|&c| self.block(c))
    }

    /// The blocks of the tree, parents before children.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The nearest block that dominates both.
    pub fn common(&self, a: Block, b: Block) -> Option<Block> {
        let mut at = Some(a);
        while let Some(block) = at {
            if self.dominates(block, b) {
                return at;
            }
            at = self.idom(block);
        }
        None
    }

    fn block(&self, node: u32) -> Option<Block> {
        ((node as usize) < self.blocks).then(|| Block::from_u32(node))
    }
}

/// Immediate dominators by the algorithm SEMI-NCA (Georgiadis 2005), the root's and those of unreached nodes `NONE`.
fn semi_nca<'a>(
    nodes: usize,
    root: u32,
    succs: impl Fn(u32) -> &'a [Block],
    preds: impl Fn(u32) -> &'a [Block],
    extra: &[Block],
) -> Vec<u32> {
    // Depth-first numbers from 1; 0 stands for "none".
    let mut number = vec![0u32; nodes];
    let (mut vertex, mut parent) = (Vec::with_capacity(nodes + 1), Vec::with_capacity(nodes + 1));
    vertex.push(root);
    parent.push(0u32);
    let mut stack = vec![(root, 0u32)];
    while let Some((node, from)) = stack.pop() {
        if number[node as usize] != 0 {
            continue;
        }
        let n = vertex.len() as u32;
        number[node as usize] = n;
        vertex.push(node);
        parent.push(from);
        let more = if node == root { extra } else { &[] };
        stack.extend(succs(node).iter().chain(more).map(|b| (b.as_u32(), n)));
    }
    let count = vertex.len();
    let mut is_extra = vec![false; nodes];
    extra.iter().for_each(|b| is_extra[b.index()] = true);

    let mut idom = parent.clone();
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut label = semi.clone();
    let mut path = Vec::new();
    for w in (2..count).rev() {
        let node = vertex[w];
        semi[w] = parent[w];
        let root_too = if is_extra[node as usize] { Some(1) } else { None };
        for pred in preds(node).iter().map(|b| number[b.index()]).chain(root_too) {
            if pred != 0 {
                let best = eval(pred, w as u32 + 1, &mut parent, &mut label, &semi, &mut path);
                semi[w] = semi[w].min(semi[best as usize]);
            }
        }
    }
    for w in 2..count {
        let mut dom = idom[w];
        while dom > semi[w] {
            dom = idom[dom as usize];
        }
        idom[w] = dom;
    }
    let mut out = vec![NONE; nodes];
    for w in 2..count {
        out[vertex[w] as usize] = vertex[idom[w] as usize];
    }
    out
}

/// The node of least semidominator on the linked path above `v`, compressing the path.
fn eval(v: u32, linked: u32, parent: &mut [u32], label: &mut [u32], semi: &[u32], path: &mut Vec<u32>) -> u32 {
    if parent[v as usize] < linked {
        return label[v as usize];
    }
    let mut top = v;
    while parent[top as usize] >= linked {
        path.push(top);
        top = parent[top as usize];
    }
    while let Some(node) = path.pop() {
        if semi[label[top as usize] as usize] < semi[label[node as usize] as usize] {
            label[node as usize] = label[top as usize];
        }
        parent[node as usize] = parent[top as usize];
        top = node;
    }
    label[v as usize]
}
