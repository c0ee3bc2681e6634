//! Control flow: the nodes of the tree to statements.

use super::body::{Body, LoopState};
use super::constant::literal;
use crate::ast::{Case, Expr, ExprKind, Stmt, Var, VarKind};
use crate::shape::{leaves, negate};
use oneshader_ir::structure::{self, Node, Region};
use oneshader_ir::{Block, Inst, Op, Scalar, Value};

/// Statements that the continue constructs of a function may take together when they are repeated.
const MAX_REPEATED: usize = 20_000;

impl Body<'_, '_> {
    pub(super) fn node(&mut self, node: &Node) {
        match node {
            Node::Block(block) => self.block(*block),
            Node::Edge { from, to } => self.edge(*from, *to),
            &Node::If { header, cond, then, els, marked } => {
                self.mark_line(self.function.blocks[header].term.span);
                self.selection(cond, then, els, marked);
            }
            &Node::Loop { body, cont, .. } => self.endless(body, cont),
            Node::Switch { selector, cases, .. } => self.switch(*selector, cases),
            Node::Break => self.out.push(Stmt::Break),
            Node::BreakLoop => self.break_loop(),
            Node::Continue => self.out.push(Stmt::Continue),
            Node::Return(block) => {
                let value = self.function.blocks[*block].term.arg();
                self.mark_line(self.function.blocks[*block].term.span);
                self.leave(value);
            }
            Node::Unreachable => {
                let ret = self.function.ret;
                if !matches!(self.cx.types.kind(ret), oneshader_ir::TypeKind::Void) {
                    let zero = self.zero(ret);
                    self.out.push(Stmt::Return(Some(zero)));
                }
            }
        }
    }

    fn block(&mut self, block: Block) {
        let function = self.function;
        for (index, &inst) in function.blocks[block].insts.iter().enumerate() {
            self.set_place(block, index);
            match function.insts[inst].op {
                Op::Phi => self.arrive(inst),
                _ => self.inst(inst),
            }
        }
    }

    /// A phi at the head of a block whose edges have been written.
    fn arrive(&mut self, inst: Inst) {
        let Some(result) = self.function.insts[inst].result else { return };
        if self.use_count(result) == 0 {
            return;
        }
        let var = self.phi(inst);
        // All ways have come together in one value just before: it need not be a variable.
        if let Some(Stmt::Set(last, value)) = self.out.last()
            && *last == var
        {
            let value = *value;
            self.out.pop();
            self.give_up(inst, var);
            self.define(inst, value);
            return;
        }
        let expr = self.var_expr(var);
        self.bind(result, expr);
    }

    /// The phis of `to` take their values for `from`, all at once.
    fn edge(&mut self, from: Block, to: Block) {
        let function = self.function;
        let mut moves: Vec<(Var, Expr)> = Vec::new();
        for &inst in &function.blocks[to].insts {
            let data = &function.insts[inst];
            if data.op != Op::Phi {
                break;
            }
            let used = data.result.is_some_and(|r| self.use_count(r) > 0);
            let Some(at) = data.preds.iter().position(|&p| p == from) else { continue };
            let value = self.value(data.args[at]);
            if used {
                let var = self.phi(inst);
                if !matches!(self.arena[value].kind, ExprKind::Var(v) if v == var) {
                    moves.push((var, value));
                }
            }
        }
        while !moves.is_empty() {
            // One whose variable no other move reads goes first.
            let free = (0..moves.len()).find(|&i| {
                moves.iter().enumerate().all(|(j, m)| {
                    let mut reads = false;
                    self.arena.each_var(m.1, &mut |v| reads |= v == moves[i].0);
                    i == j || !reads
                })
            });
            let at = free.unwrap_or(0);
            if free.is_none() {
                // A circle: the old value is kept aside.
                let (var, _) = moves[0];
                let old = self.var_expr(var);
                let ty = self.arena.vars[var].ty;
                let kept = self.var("previous", ty, VarKind::Value);
                self.out.push(Stmt::Set(kept, old));
                let kept = self.var_expr(kept);
                for m in &mut moves[1..] {
                    m.1 = replace_var(&mut self.arena, m.1, var, kept);
                }
            }
            let (var, value) = moves.remove(at);
            self.out.push(Stmt::Set(var, value));
        }
    }

    fn selection(&mut self, cond: Value, then: Region, els: Region, marked: bool) {
        let cond = self.value(cond);
        self.flush_before_branch();
        let then = self.capture(|s| s.region(then));
        let els = self.capture(|s| s.region(els));
        if let (false, [Stmt::Set(a, x)], [Stmt::Set(b, y)]) = (marked, &then[..], &els[..])
            && a == b
        {
            let value = self.short_circuit(cond, *x, *y);
            self.out.push(Stmt::Set(*a, value));
            return;
        }
        // `x = b; if (c) x = a;` where the other way does nothing else.
        if let ([Stmt::Set(a, x)], [Stmt::Set(b, y)]) = (&then[..], &els[..])
            && a == b
            && self.is_simple(*y)
            && !self.is_simple(*x)
            && !self.is_rewritten(*a)
        {
            self.out.push(Stmt::Set(*b, *y));
            self.out.push(Stmt::If { cond, then, els: Vec::new() });
            return;
        }
        if let (true, [Stmt::Set(a, x)]) = (then.len() > 1, &els[..])
            && self.is_simple(*x)
            && !leaves(&then)
            && !self.is_rewritten(*a)
        {
            let (a, x) = (*a, *x);
            self.out.push(Stmt::Set(a, x));
            self.out.push(Stmt::If { cond, then, els: Vec::new() });
            return;
        }
        if let ([Stmt::Set(a, x)], true) = (&then[..], els.len() > 1)
            && self.is_simple(*x)
            && !leaves(&els)
            && !self.is_rewritten(*a)
        {
            let (a, x) = (*a, *x);
            self.out.push(Stmt::Set(a, x));
            self.out.push(Stmt::If { cond, then: Vec::new(), els });
            return;
        }
        self.out.push(Stmt::If { cond, then, els });
    }

    /// `c ? a : b`, which for truth values may be `&&` or `||`.
    fn short_circuit(&mut self, cond: Expr, a: Expr, b: Expr) -> Expr {
        use crate::ast::Infix::{LogicalAnd, LogicalOr};
        let is = |body: &Self, e: Expr, text: &str| match body.arena[e].kind {
            ExprKind::Text(name) => body.cx.names.get(name) == text,
            _ => false,
        };
        if is(self, b, "false") {
            self.infix(LogicalAnd, cond, a)
        } else if is(self, a, "true") {
            self.infix(LogicalOr, cond, b)
        } else if is(self, a, "false") {
            let not = negate(&mut self.arena, cond);
            self.infix(LogicalAnd, not, b)
        } else if is(self, b, "true") {
            let not = negate(&mut self.arena, cond);
            self.infix(LogicalOr, not, a)
        } else {
            self.cond(cond, a, b)
        }
    }

    fn endless(&mut self, body: Region, cont: Option<Region>) {
        self.flush_before_branch();
        self.loops.push(LoopState::default());
        self.write_loop(body, cont);
        self.loops.pop();
    }

    fn write_loop(&mut self, body: Region, cont: Option<Region>) {
        let mut stmts = self.capture(|s| s.region(body));
        let step = match cont {
            Some(region) => self.capture(|s| s.region(region)),
            None => Vec::new(),
        };
        if matches!(stmts.last(), Some(Stmt::Continue)) {
            stmts.pop();
            let again = counts_continues(&stmts);
            if step.is_empty() {
                self.out.push(Stmt::While { cond: None, body: stmts });
                return;
            }
            if is_step(&step) && (again > 0 || begins_with_exit(&stmts)) {
                self.out.push(Stmt::For { init: None, cond: None, step, body: stmts });
                return;
            }
            if again == 0 {
                self.do_while(stmts, step);
                return;
            }
            self.repeat(&mut stmts, &step);
            stmts.extend(step);
            self.out.push(Stmt::While { cond: None, body: stmts });
            return;
        }
        // The body's end is not reached: it only goes on by `continue`s within, or never.
        if is_step(&step) && !step.is_empty() {
            if !leaves(&stmts) {
                stmts.push(Stmt::Break);
            }
            self.out.push(Stmt::For { init: None, cond: None, step, body: stmts });
            return;
        }
        self.repeat(&mut stmts, &step);
        if !leaves(&stmts) {
            stmts.push(Stmt::Break);
        }
        self.out.push(Stmt::While { cond: None, body: stmts });
    }

    /// A loop without `continue`, whose continue construct may end in a condition.
    fn do_while(&mut self, mut body: Vec<Stmt>, mut step: Vec<Stmt>) {
        let cond = match step.last() {
            Some(Stmt::If { cond, then, els }) if matches!(then[..], [Stmt::Break]) && els.is_empty() => {
                Some(negate(&mut self.arena, *cond))
            }
            Some(Stmt::If { cond, then, els }) if matches!(els[..], [Stmt::Break]) && then.is_empty() => Some(*cond),
            _ => None,
        };
        if cond.is_some() {
            step.pop();
        }
        body.extend(step);
        self.out.push(match cond {
            Some(cond) => Stmt::DoWhile { body, cond },
            None => Stmt::While { cond: None, body },
        });
    }

    /// Writes the continue construct before each `continue` of the loop whose body `list` is.
    fn repeat(&mut self, list: &mut Vec<Stmt>, step: &[Stmt]) {
        if step.is_empty() {
            return;
        }
        if counts_continues(list).saturating_mul(size(step)) > MAX_REPEATED {
            let span = self.function.span;
            self.error(
                oneshader_diag::codes::MSL_CONTROL_FLOW,
                span,
                "a loop's end would have to be written too many times",
            );
            return;
        }
        if breaks(step) && continues_in_switch(list) {
            // A `break` of the construct would leave the switch only.
            let leave = self.leave_variable();
            let yes = self.text("true");
            let inside = leaving_switch(step, leave, yes);
            let (no, cond) = (self.text("false"), self.var_expr(leave));
            let guard = Guard { leave, no, cond };
            insert_before_continues(list, step, Some((&inside, &guard)));
        } else {
            insert_before_continues(list, step, None);
        }
    }

    /// The variable that says that the innermost loop is to be left.
    fn leave_variable(&mut self) -> Var {
        if let Some(var) = self.loops.last().and_then(|l| l.leave) {
            return var;
        }
        let ty = self.name("bool");
        let var = self.var("leave_loop", ty, VarKind::Phi);
        if let Some(l) = self.loops.last_mut() {
            l.leave = Some(var);
        }
        var
    }

    fn switch(&mut self, selector: Value, cases: &[structure::Case]) {
        let ty = self.function.ty(selector);
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::I32);
        let selector = self.value(selector);
        self.flush_before_branch();
        let outer_leaves = self.loops.last_mut().is_some_and(|l| std::mem::take(&mut l.leaves));
        let mut out = Vec::new();
        for case in cases {
            let mut body = self.capture(|s| s.region(case.body));
            if !case.falls_through && !leaves(&body) {
                body.push(Stmt::Break);
            }
            let labels = case.values.iter().map(|&bits| self.name(&literal(scalar, bits))).collect();
            out.push(Case { labels, default: case.default, body, falls_through: case.falls_through });
        }
        let leave = self.loops.last().filter(|l| l.leaves).and_then(|l| l.leave);
        // Only a break: no case at all.
        if let [only] = &out[..]
            && only.default
            && matches!(only.body[..], [Stmt::Break])
        {
            return;
        }
        if let Some(Case { default: true, labels, body, .. }) = out.last()
            && labels.is_empty()
            && matches!(body[..], [Stmt::Break])
            && out.len() > 1
            && !out[out.len() - 2].falls_through
        {
            out.pop();
        }
        if let Some(leave) = leave {
            let no = self.text("false");
            self.out.push(Stmt::Set(leave, no));
        }
        self.out.push(Stmt::Switch { selector, cases: out });
        if let Some(leave) = leave {
            let cond = self.var_expr(leave);
            self.out.push(Stmt::If { cond, then: vec![Stmt::Break], els: Vec::new() });
        }
        if let Some(l) = self.loops.last_mut() {
            // A switch around this one is left by the same variable.
            l.leaves |= outer_leaves;
        }
    }

    /// Out of the innermost loop from inside a switch: C++ has no word for it.
    fn break_loop(&mut self) {
        let var = self.leave_variable();
        if let Some(l) = self.loops.last_mut() {
            l.leaves = true;
        }
        let yes = self.text("true");
        self.out.push(Stmt::Set(var, yes));
        self.out.push(Stmt::Break);
    }
}

/// Whether statements can stand in the head of a `for`.
fn is_step(step: &[Stmt]) -> bool {
    step.len() <= 3 && step.iter().all(|s| matches!(s, Stmt::Set(..) | Stmt::Assign(..)))
}

/// Whether a loop's body begins with a condition to leave it, which becomes the loop's own.
fn begins_with_exit(list: &[Stmt]) -> bool {
    match list.first() {
        Some(Stmt::If { then, els, .. }) => {
            (matches!(then[..], [Stmt::Break]) && els.is_empty())
                || (matches!(els[..], [Stmt::Break]) && then.is_empty())
        }
        _ => false,
    }
}

fn counts_continues(list: &[Stmt]) -> usize {
    list.iter()
        .map(|s| match s {
            Stmt::Continue => 1,
            Stmt::If { then, els, .. } => counts_continues(then) + counts_continues(els),
            Stmt::Switch { cases, .. } => cases.iter().map(|c| counts_continues(&c.body)).sum(),
            _ => 0,
        })
        .sum()
}

fn size(list: &[Stmt]) -> usize {
    list.iter()
        .map(|s| match s {
            Stmt::If { then, els, .. } => 1 + size(then) + size(els),
            Stmt::Switch { cases, .. } => 1 + cases.iter().map(|c| size(&c.body)).sum::<usize>(),
            Stmt::While { body, .. } | Stmt::DoWhile { body, .. } | Stmt::For { body, .. } => 1 + size(body),
            _ => 1,
        })
        .sum()
}

/// Whether a list leaves the loop it belongs to.
fn breaks(list: &[Stmt]) -> bool {
    list.iter().any(|s| match s {
        Stmt::Break => true,
        Stmt::If { then, els, .. } => breaks(then) || breaks(els),
        _ => false,
    })
}

/// Whether the loop whose body `list` is goes on from inside a switch.
fn continues_in_switch(list: &[Stmt]) -> bool {
    list.iter().any(|s| match s {
        Stmt::If { then, els, .. } => continues_in_switch(then) || continues_in_switch(els),
        Stmt::Switch { cases, .. } => cases.iter().any(|c| counts_continues(&c.body) > 0),
        _ => false,
    })
}

/// `list` for use inside a switch: a `break` of the loop sets `leave` first.
fn leaving_switch(list: &[Stmt], leave: Var, yes: Expr) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(list.len());
    for stmt in list {
        match stmt {
            Stmt::Break => out.extend([Stmt::Set(leave, yes), Stmt::Break]),
            Stmt::If { cond, then, els } => out.push(Stmt::If {
                cond: *cond,
                then: leaving_switch(then, leave, yes),
                els: leaving_switch(els, leave, yes),
            }),
            other => out.push(other.clone()),
        }
    }
    out
}

/// How a loop is left from inside a switch.
struct Guard {
    leave: Var,
    no: Expr,
    cond: Expr,
}

/// Writes `step` before each `continue`; `switched` is what it is inside a switch, when that differs.
fn insert_before_continues(list: &mut Vec<Stmt>, step: &[Stmt], switched: Option<(&[Stmt], &Guard)>) {
    let old = std::mem::take(list);
    for mut stmt in old {
        let mut guard = None;
        match &mut stmt {
            Stmt::Continue => {
                list.extend_from_slice(step);
                if leaves(step) {
                    continue;
                }
            }
            Stmt::If { then, els, .. } => {
                insert_before_continues(then, step, switched);
                insert_before_continues(els, step, switched);
            }
            Stmt::Switch { cases, .. } => {
                let inside = switched.map_or(step, |s| s.0);
                if cases.iter().any(|c| counts_continues(&c.body) > 0) {
                    guard = switched.map(|s| s.1);
                }
                cases.iter_mut().for_each(|c| insert_before_continues(&mut c.body, inside, switched));
            }
            _ => {}
        }
        let Some(guard) = guard else {
            list.push(stmt);
            continue;
        };
        // Unless a jump out of the loop has put it there already.
        let known = matches!(list.last(), Some(Stmt::Set(var, _)) if *var == guard.leave);
        if !known {
            list.push(Stmt::Set(guard.leave, guard.no));
        }
        list.push(stmt);
        if !known {
            list.push(Stmt::If { cond: guard.cond, then: vec![Stmt::Break], els: Vec::new() });
        }
    }
}

/// `expr` with variable `var` replaced.
fn replace_var(arena: &mut crate::ast::Arena, expr: Expr, var: Var, by: Expr) -> Expr {
    let data = arena[expr];
    if matches!(data.kind, ExprKind::Var(v) if v == var) {
        return by;
    }
    let mut mentioned = false;
    arena.each_var(expr, &mut |v| mentioned |= v == var);
    if !mentioned {
        return expr;
    }
    let go = |arena: &mut crate::ast::Arena, e: Expr| replace_var(arena, e, var, by);
    let kind = match data.kind {
        ExprKind::Prefix(op, a) => ExprKind::Prefix(op, go(arena, a)),
        ExprKind::Member(a, n) => ExprKind::Member(go(arena, a), n),
        ExprKind::Cast(t, a) => ExprKind::Cast(t, go(arena, a)),
        ExprKind::Convert(t, a) => ExprKind::Convert(t, go(arena, a)),
        ExprKind::Infix(op, a, b) => ExprKind::Infix(op, go(arena, a), go(arena, b)),
        ExprKind::Index(a, b) => ExprKind::Index(go(arena, a), go(arena, b)),
        ExprKind::Cond(a, b, c) => ExprKind::Cond(go(arena, a), go(arena, b), go(arena, c)),
        ExprKind::Call(n, args) | ExprKind::Init(n, args) => {
            let list: Vec<Expr> = arena.args(args).to_vec();
            let list: Vec<Expr> = list.into_iter().map(|e| go(arena, e)).collect();
            let args = arena.list(&list);
            match data.kind {
                ExprKind::Call(..) => ExprKind::Call(n, args),
                _ => ExprKind::Init(n, args),
            }
        }
        ExprKind::Method(object, n, args) => {
            let object = go(arena, object);
            let list: Vec<Expr> = arena.args(args).to_vec();
            let list: Vec<Expr> = list.into_iter().map(|e| go(arena, e)).collect();
            ExprKind::Method(object, n, arena.list(&list))
        }
        kind => kind,
    };
    arena.add(kind, data.depends, data.weight)
}
