//! V020 to V024: markers and how constructs nest.
//!
//! A construct is what a header dominates without what its merge block dominates. A loop's continue construct is what the
//! continue block dominates within the loop. Blocks that no edge reaches are not looked at.

use super::Checker;
use super::flow::Flow;
use crate::analysis::{Construct, ConstructKind, Constructs, DomTree};
use crate::entity::Block;
use crate::func::{Function, Merge, TerminatorKind};
use cranelift_entity::EntitySet;

pub(super) fn check(cx: &mut Checker, func: &Function, flow: &Flow) {
    let tree = Constructs::new(func, &flow.doms);
    ends(cx, flow, &tree);
    for &block in flow.cfg.rpo() {
        cx.block = Some(block);
        marker(cx, func, flow, &tree, block);
        for &to in flow.cfg.succs(block) {
            edge(cx, flow, &tree, block, to);
        }
    }
    for (_, construct) in tree.iter() {
        cx.block = Some(construct.header);
        if let (ConstructKind::Switch, TerminatorKind::Switch { default, cases, .. }) =
            (construct.kind, &func.blocks[construct.header].term.kind)
        {
            let mut targets: Vec<Block> = cases.iter().map(|c| c.target).chain([*default]).collect();
            targets.sort_unstable();
            targets.dedup();
            cases_fall_through(cx, func, flow, construct, &targets);
        }
    }
}

/// V021.
fn ends(cx: &mut Checker, flow: &Flow, tree: &Constructs) {
    let (mut merges, mut conts) = (EntitySet::new(), EntitySet::new());
    for (id, construct) in tree.iter() {
        let (header, merge) = (construct.header, construct.merge);
        cx.block = Some(header);
        cx.check(21, flow.doms.dominates(header, merge) && merge != header && merges.insert(merge), || {
            format!("{merge} is the merge block of another header too, or it does not dominate it")
        });
        if let ConstructKind::Loop { cont } = construct.kind {
            let ok = flow.doms.dominates(header, cont) && conts.insert(cont) && cont != merge;
            cx.check(21, ok, || {
                format!("{cont} is the continue block of another loop too, or it does not dominate it")
            });
        }
        if let Some(dom) = flow.doms.idom(merge) {
            let nested = tree.chain(tree.inside(dom)).any(|(c, _)| c == id);
            cx.check(21, nested, || format!("its merge block {merge} is reached from outside only"));
        }
    }
}

/// V020.
fn marker(cx: &mut Checker, func: &Function, flow: &Flow, tree: &Constructs, block: Block) {
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
    if let Some((_, l)) = tree.chain(inside).find(|(_, c)| matches!(c.kind, ConstructKind::Loop { .. }))
        && succs.iter().all(|&s| s == l.header || s == l.merge)
    {
        return;
    }
    // A short-circuit expression stays within its construct.
    let stays = succs.iter().all(|&s| tree.around(s) == inside && (tree.ended(s).is_none() || tree.ended(s) != inside));
    cx.check(20, stays, || "a condition that is no part of a short-circuit expression has no merge block".into());
}

/// V022 and V023.
fn edge(cx: &mut Checker, flow: &Flow, tree: &Constructs, from: Block, to: Block) {
    let inside = tree.inside(from);
    if flow.doms.dominates(to, from) {
        let ok = match tree.own(to).map(|id| *tree.get(id)) {
            Some(Construct { kind: ConstructKind::Loop { cont }, merge, .. }) => {
                flow.doms.dominates(cont, from) && !outside(&flow.doms, merge, from)
            }
            _ => false,
        };
        return cx
            .check(23, ok, || format!("the edge to {to} goes back, but not from a continue construct to its loop"));
    }
    // Onward in the same construct, or into one that begins there.
    if tree.around(to) == inside && tree.ended(to).is_none() {
        return;
    }
    // Out of the innermost construct.
    if tree.chain(inside).next().is_some_and(|(_, innermost)| to == innermost.merge) {
        return;
    }
    let mut breakable = true;
    for (_, construct) in tree.chain(inside) {
        match construct.kind {
            ConstructKind::If => {}
            ConstructKind::Switch => {
                if breakable && to == construct.merge {
                    return;
                }
                breakable = false;
            }
            ConstructKind::Loop { cont } => {
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
