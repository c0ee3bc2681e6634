use super::*;
use crate::{Block, Function, Names, Terminator, TerminatorKind, Type};
use cranelift_entity::EntityRef;
use oneshader_diag::Span;

/// A function of blocks without instructions; `edges[i]` are block i's successors.
fn graph(edges: &[&[usize]]) -> Function {
    let mut names = Names::default();
    let mut types = crate::Types::default();
    let void = types.void();
    let mut func = Function::new(names.intern("f"), void, Span::NONE);
    let cond = func.add_param(names.intern("c"), Type::new(0));
    for _ in edges {
        let block = func.add_block(Span::NONE);
        func.order.push(block);
    }
    for (i, succs) in edges.iter().enumerate() {
        let b = Block::new;
        let kind = match **succs {
            [] => TerminatorKind::Return(None),
            [to] => TerminatorKind::Branch(b(to)),
            [then, els] => TerminatorKind::CondBranch { cond, then: b(then), els: b(els) },
            [default, ref rest @ ..] => TerminatorKind::Switch {
                selector: cond,
                default: b(default),
                cases: rest.iter().map(|&t| crate::SwitchCase { value: t as u64, target: b(t) }).collect(),
            },
        };
        func.blocks[b(i)].term = Terminator { kind, span: Span::NONE };
    }
    func
}

/// Dominators by definition: a dominates b when b is unreachable without a.
fn dominates_slowly(edges: &[Vec<usize>], roots: &[usize], a: usize, b: usize) -> bool {
    let mut seen = vec![false; edges.len()];
    let mut stack: Vec<usize> = roots.iter().copied().filter(|&r| r != a).collect();
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            stack.extend(edges[at].iter().copied().filter(|&s| s != a));
        }
    }
    !seen[b]
}

#[test]
fn dominators_agree_with_their_definition() {
    // A small generator of graphs; xorshift keeps the test repeatable.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    for _ in 0..300 {
        let n = 1 + next(12);
        let edges: Vec<Vec<usize>> = (0..n).map(|_| (0..next(4)).map(|_| next(n)).collect()).collect();
        let func = graph(&edges.iter().map(|e| &e[..]).collect::<Vec<_>>());
        let cfg = Cfg::new(&func);
        let doms = DomTree::dominators(&cfg);
        let frontiers = Frontiers::new(&cfg, &doms);
        let b = Block::new;
        for x in 0..n {
            for y in (0..n).filter(|&y| cfg.is_reachable(b(y)) && cfg.is_reachable(b(x))) {
                let expected = dominates_slowly(&edges, &[0], x, y);
                assert_eq!(doms.dominates(b(x), b(y)), expected, "{x} dom {y} in {edges:?}");
                // y is in x's frontier when x dominates a predecessor of y but not strictly y.
                let strictly = x != y && expected;
                let near = cfg.preds(b(y)).iter().any(|&p| cfg.is_reachable(p) && doms.dominates(b(x), p));
                assert_eq!(frontiers.of(b(x)).contains(&b(y)), near && !strictly, "{x} DF {y} in {edges:?}");
            }
        }
        // Post-dominators, where every block has a way out.
        let mut back = vec![Vec::new(); n];
        for (from, succs) in edges.iter().enumerate().filter(|&(i, _)| cfg.is_reachable(b(i))) {
            succs.iter().for_each(|&s| back[s].push(from));
        }
        let exits: Vec<usize> = (0..n).filter(|&i| edges[i].is_empty() && cfg.is_reachable(b(i))).collect();
        let all_leave = (0..n).filter(|&i| cfg.is_reachable(b(i))).all(|i| !dominates_slowly(&back, &exits, n, i));
        if all_leave {
            let posts = DomTree::post_dominators(&cfg);
            for x in (0..n).filter(|&x| cfg.is_reachable(b(x))) {
                for y in (0..n).filter(|&y| cfg.is_reachable(b(y))) {
                    let expected = x == y || dominates_slowly(&back, &exits, x, y);
                    assert_eq!(posts.dominates(b(x), b(y)), expected, "{x} pdom {y} in {edges:?}");
                }
            }
        }
    }
}

#[test]
fn order_follows_the_source() {
    let func = graph(&[&[1, 2], &[3], &[3], &[]]);
    let cfg = Cfg::new(&func);
    assert_eq!(cfg.rpo(), [0, 1, 2, 3].map(Block::new));
    let posts = DomTree::post_dominators(&cfg);
    assert_eq!(posts.idom(Block::new(0)), Some(Block::new(3)));
    assert_eq!(posts.idom(Block::new(3)), None);
}

#[test]
fn endless_loops_have_post_dominators() {
    let func = graph(&[&[1], &[2], &[1]]);
    let cfg = Cfg::new(&func);
    let posts = DomTree::post_dominators(&cfg);
    assert!(posts.contains(Block::new(0)));
    assert_eq!(posts.idom(Block::new(0)), Some(Block::new(1)));
}

#[test]
fn loops_nest() {
    // 1 and 2 head loops; 2 is inside 1; 5 follows.
    let func = graph(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
    let cfg = Cfg::new(&func);
    let doms = DomTree::dominators(&cfg);
    let loops = Loops::new(&cfg, &doms);
    let depth: Vec<u32> = (0..6).map(|i| loops.depth(Block::new(i))).collect();
    assert_eq!(depth, [0, 1, 2, 2, 1, 0]);
    let inner = loops.of(Block::new(3)).unwrap();
    assert_eq!(loops.header(inner), Block::new(2));
    assert_eq!(loops.header(loops.parent(inner).unwrap()), Block::new(1));
    assert!(loops.contains(loops.parent(inner).unwrap(), Block::new(2)));
    assert!(!loops.contains(inner, Block::new(4)));
}

#[test]
fn a_long_chain_of_breaks_stays_linear() {
    // 100,000 blocks that each may leave to the last one: quadratic algorithms would take minutes.
    let n = 100_000;
    let edges: Vec<Vec<usize>> = (0..n).map(|i| if i + 1 < n { vec![i + 1, n - 1] } else { vec![] }).collect();
    let func = graph(&edges.iter().map(|e| &e[..]).collect::<Vec<_>>());
    let cfg = Cfg::new(&func);
    let doms = DomTree::dominators(&cfg);
    assert_eq!(doms.idom(Block::new(n - 1)), Some(Block::new(0)));
    let posts = DomTree::post_dominators(&cfg);
    assert_eq!(posts.idom(Block::new(7)), Some(Block::new(n - 1)));
}
