//! V020 to V024: markers and how constructs nest.
//!
//! A construct is what a header dominates without what its merge block dominates. A loop's continue construct is what the
//! continue block dominates within the loop. Blocks that no edge reaches are not looked at.

use super::Checker;
use super::flow::Flow;
use crate::analysis::DomTree;
use crate::entity::Block;
use crate::func::{Function, Merge, TerminatorKind};
use cranelift_entity::SecondaryMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    If,
    Switch,
    Loop { cont: Block },
}

#[derive(Clone, Copy, Debug)]
struct Construct {
    header: Block,
    merge: Block,
    kind: Kind,
    parent: Option<u32>,
}

struct Tree {
    constructs: Vec<Construct>,
    /// The construct a block is the header of.
    own: SecondaryMap<Block, Option<u32>>,
    /// The innermost construct around a block; for a header, around its construct.
    around: SecondaryMap<Block, Option<u32>>,
    /// The construct a block is the merge block of.
    merges: SecondaryMap<Block, Option<u32>>,
}

impl Tree {
    /// The innermost construct that the end of `block` is in.
    fn inside(&self, block: Block) -> Option<u32> {
        self.own[block].or(self.around[block])
    }

    /// `from` and the constructs around it, innermost first.
    fn chain(&self, from: Option<u32>) -> impl Iterator<Item = (u32, Construct)> + '_ {
        std::iter::successors(from, |&id| self.constructs[id as usize].parent)
            .map(|id| (id, self.constructs[id as usize]))
    }
}

pub(super) fn check(cx: &mut Checker, func: &Function, flow: &Flow) {
    let tree = build(cx, func, flow);
    for &block in flow.cfg.rpo() {
        cx.block = Some(block);
        marker(cx, func, flow, &tree, block);
        for &to in flow.cfg.succs(block) {
            edge(cx, flow, &tree, block, to);
        }
    }
    for construct in &tree.constructs {
        cx.block = Some(construct.header);
        if let (Kind::Switch, TerminatorKind::Switch { default, cases, .. }) =
            (construct.kind, &func.blocks[construct.header].term.kind)
        {
            let mut targets: Vec<Block> = cases.iter().map(|c| c.target).chain([*default]).collect();
            targets.sort_unstable();
            targets.dedup();
            cases_fall_through(cx, func, flow, construct, &targets);
        }
    }
}

fn build(cx: &mut Checker, func: &Function, flow: &Flow) -> Tree {
    let mut tree = Tree {
        constructs: Vec::new(),
        own: SecondaryMap::new(),
        around: SecondaryMap::new(),
        merges: SecondaryMap::new(),
    };
    let mut conts: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    // Parents before children, so that a dominator's constructs are known.
    for &block in flow.doms.preorder() {
        cx.block = Some(block);
        let above = flow.doms.idom(block).and_then(|dom| tree.inside(dom));
        // At its merge block a construct ends, and with it those inside.
        tree.around[block] = match (tree.merges[block], conts[block]) {
            (Some(ended), _) => {
                let nested = tree.chain(above).any(|(id, _)| id == ended);
                cx.check(21, nested, || "it is the merge block of a construct that it is not in".into());
                tree.constructs[ended as usize].parent
            }
            // The continue block belongs to the loop itself, also where a selection inside dominates it.
            (None, Some(of)) if tree.chain(above).any(|(id, _)| id == of) => Some(of),
            (None, _) => above,
        };
        let data = &func.blocks[block];
        let (merge, kind) = match data.merge {
            Merge::None => continue,
            Merge::Selection(merge) => match data.term.kind {
                TerminatorKind::Switch { .. } => (merge, Kind::Switch),
                _ => (merge, Kind::If),
            },
            Merge::Loop { merge, cont } => (merge, Kind::Loop { cont }),
        };
        let id = tree.constructs.len() as u32;
        tree.constructs.push(Construct { header: block, merge, kind, parent: tree.around[block] });
        tree.own[block] = Some(id);
        for end in [Some(merge), if let Kind::Loop { cont } = kind { Some(cont) } else { None }].into_iter().flatten() {
            let dominated = flow.doms.dominates(block, end) && (end != block || end != merge);
            cx.check(21, dominated, || format!("it does not dominate its merge or continue block {end}"));
        }
        cx.check(21, merge != block && tree.merges[merge].is_none(), || {
            format!("{merge} is the merge block of another header too, or of itself")
        });
        if let Kind::Loop { cont } = kind {
            let free = conts[cont].replace(id).is_none() && cont != merge;
            cx.check(21, free, || format!("{cont} is the continue block of another loop too, or a merge block"));
        }
        tree.merges[merge] = Some(id);
    }
    tree
}

/// V020.
fn marker(cx: &mut Checker, func: &Function, flow: &Flow, tree: &Tree, block: Block) {
    let data = &func.blocks[block];
    let succs = flow.cfg.succs(block);
    match data.merge {
        Merge::None => {}
        Merge::Selection(_) => {
            let ok = matches!(data.term.kind, TerminatorKind::CondBranch { .. } | TerminatorKind::Switch { .. });
            return cx.check(20, ok, || "a selection's header does not end in a condition or a switch".into());
        }
        Merge::Loop { .. } => {
            let ok = matches!(data.term.kind, TerminatorKind::CondBranch { .. } | TerminatorKind::Branch(_));
            return cx.check(20, ok, || "a loop's header does not end in a branch".into());
        }
    }
    if succs.len() < 2 {
        return;
    }
    if !matches!(data.term.kind, TerminatorKind::CondBranch { .. }) {
        return cx.error(20, "a switch without a merge block");
    }
    let inside = tree.inside(block);
    // The end of a continue construct: again, or out.
    if let Some((_, l)) = tree.chain(inside).find(|(_, c)| matches!(c.kind, Kind::Loop { .. }))
        && succs.iter().all(|&s| s == l.header || s == l.merge)
    {
        return;
    }
    // A short-circuit expression stays within its construct.
    let stays = succs.iter().all(|&s| tree.around[s] == inside && tree.merges[s].is_none_or(|m| Some(m) != inside));
    cx.check(20, stays, || "a condition that is no part of a short-circuit expression has no merge block".into());
}

/// V022 and V023.
fn edge(cx: &mut Checker, flow: &Flow, tree: &Tree, from: Block, to: Block) {
    let inside = tree.inside(from);
    if flow.doms.dominates(to, from) {
        let ok = match tree.own[to].map(|id| tree.constructs[id as usize]) {
            Some(Construct { kind: Kind::Loop { cont }, merge, .. }) => {
                flow.doms.dominates(cont, from) && !outside(&flow.doms, merge, from)
            }
            _ => false,
        };
        return cx
            .check(23, ok, || format!("the edge to {to} goes back, but not from a continue construct to its loop"));
    }
    // Onward in the same construct, or into one that begins there.
    if tree.around[to] == inside && tree.merges[to].is_none() {
        return;
    }
    // Out of the innermost construct.
    if tree.chain(inside).next().is_some_and(|(_, innermost)| to == innermost.merge) {
        return;
    }
    let mut breakable = true;
    for (_, construct) in tree.chain(inside) {
        match construct.kind {
            Kind::If => {}
            Kind::Switch => {
                if breakable && to == construct.merge {
                    return;
                }
                breakable = false;
            }
            Kind::Loop { cont } => {
                if to == construct.merge || to == cont {
                    return;
                }
                break;
            }
        }
    }
    cx.error(22, format!("the edge to {to} leaves its construct in a way that is not structured"));
}

/// Whether `block` is where `merge` dominates, so outside the construct that `merge` ends.
fn outside(doms: &DomTree, merge: Block, block: Block) -> bool {
    doms.contains(merge) && doms.dominates(merge, block)
}

/// V024: an edge to a case from another case comes from the one before it.
fn cases_fall_through(cx: &mut Checker, func: &Function, flow: &Flow, construct: &Construct, targets: &[Block]) {
    let is_target = |b: Block| b != construct.merge && targets.binary_search(&b).is_ok();
    let mut before = None;
    for &target in func.order.iter().filter(|&&b| is_target(b)) {
        for &pred in flow.cfg.preds(target).iter().filter(|&&p| p != construct.header) {
            let from_previous = before.is_some_and(|b| flow.doms.dominates(b, pred));
            let own = flow.doms.dominates(target, pred);
            cx.check(24, from_previous || own, || {
                format!("{pred} falls through to the case {target}, which does not stand next")
            });
        }
        before = Some(target);
    }
}
