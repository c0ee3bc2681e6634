//! Statements, lowered to blocks with markers.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{Hint, Merge, Op, TerminatorKind};

use crate::ast::{Attribute, ExprId, Slice, StmtId, StmtKind};
use crate::cx::Cx;
use crate::sema::Jump;
use crate::ty::Ty;
use crate::value::{Expr, R};

impl Cx<'_> {
    /// A list of statements in the current scope.
    pub(crate) fn statements(&mut self, list: Slice<StmtId>) {
        for stmt in self.ast.iter(list) {
            self.statement(stmt);
        }
    }

    /// A statement. What follows a jump is checked and dropped.
    pub(crate) fn statement(&mut self, id: StmtId) {
        let node = self.ast[id];
        let dead = !self.b.is_open();
        let _ = self.nested(node.span, |cx| {
            cx.at(node.span);
            cx.statement_inner(id);
            Ok(())
        });
        if dead && self.b.is_open() {
            self.b.terminate(TerminatorKind::Unreachable);
        }
    }

    fn statement_inner(&mut self, id: StmtId) {
        let node = self.ast[id];
        let span = node.span;
        match node.kind {
            StmtKind::Error | StmtKind::Empty => {}
            StmtKind::Expr(expr) => {
                self.ask_needs(node.attributes);
                let _ = self.expr(expr);
            }
            StmtKind::Decl(list) => {
                for decl in self.ast.iter(list) {
                    self.at(self.ast[decl].span);
                    self.declare_one(decl);
                }
            }
            StmtKind::Block(list) => self.in_block(|cx| cx.statements(list)),
            StmtKind::If { .. } => self.in_block(|cx| cx.if_statement(id)),
            StmtKind::For { init, cond, step, body } => self.in_block(|cx| {
                if let Some(init) = init {
                    cx.statement(init);
                }
                cx.loop_statement(node.attributes, cond, step, body, span);
            }),
            StmtKind::While { cond, body } => {
                self.in_block(|cx| cx.loop_statement(node.attributes, Some(cond), None, body, span));
            }
            StmtKind::DoWhile { body, cond } => self.do_while(node.attributes, body, cond, span),
            StmtKind::Switch { on, body } => self.in_block(|cx| cx.switch_statement(node.attributes, on, body, span)),
            StmtKind::Case(value) => {
                let _ = self.constant_int(value);
                self.error(codes::MISPLACED_STATEMENT, span, "`case` stands in the block of a `switch`");
            }
            StmtKind::Default => {
                self.error(codes::MISPLACED_STATEMENT, span, "`default` stands in the block of a `switch`");
            }
            StmtKind::Break => match self.s.body.jumps.last_mut() {
                Some(jump) => {
                    jump.broke |= self.b.is_open();
                    let target = jump.brk;
                    self.b.branch(target);
                }
                None => {
                    self.error(codes::MISPLACED_STATEMENT, span, "`break` stands in a loop or `switch`");
                }
            },
            StmtKind::Continue => self.continue_statement(span),
            StmtKind::Discard => self.b.effect(Op::Discard, &[]),
            StmtKind::Return(value) => self.return_statement(value, span),
        }
    }

    fn continue_statement(&mut self, span: Span) {
        let target = self.s.body.jumps.last().and_then(|j| j.cont);
        let Some(target) = target else {
            self.error(codes::MISPLACED_STATEMENT, span, "`continue` stands in a loop");
            return;
        };
        if let Some(jump) = self.s.body.jumps.iter_mut().rev().find(|j| !j.is_switch) {
            jump.continued |= self.b.is_open();
        }
        self.b.branch(target);
    }

    fn return_statement(&mut self, value: Option<ExprId>, span: Span) {
        let ret = self.s.body.ret.unwrap_or(Ty::VOID);
        let result = match value {
            None if ret == Ty::VOID => None,
            None => {
                let message = format!("the function returns a `{}`", self.show(ret));
                self.error(codes::MISSING_RETURN, span, message);
                Some(self.undef(ret))
            }
            Some(value) if ret == Ty::VOID => {
                let value_span = self.ast[value].span;
                match self.expr(value) {
                    Ok(Expr::Void) | Err(_) => {}
                    Ok(_) => {
                        self.error(codes::TYPE_MISMATCH, value_span, "the function returns nothing");
                    }
                }
                None
            }
            Some(value) => match self.initializer(ret, value) {
                Ok(value) => Some(value),
                Err(_) => Some(self.undef(ret)),
            },
        };
        self.at(span);
        if self.s.body.outputs.is_some() {
            self.return_outputs(result, span);
            self.b.ret(None);
        } else {
            self.b.ret(result.map(|v| v.v));
        }
    }

    /// A hint among attributes; unknown attributes are warned of.
    pub(crate) fn hint(&mut self, attributes: Slice<Attribute>) -> Hint {
        let mut hint = Hint::None;
        for a in self.ast.iter(attributes) {
            let name = self.text(a.name).to_ascii_lowercase();
            match (a.space, name.as_str()) {
                (None, "branch") => hint = Hint::Branch,
                (None, "flatten") => hint = Hint::Flatten,
                (None, "loop") => hint = Hint::Loop,
                (None, "unroll") => {
                    hint = Hint::Unroll(0);
                    if !a.args.is_empty()
                        && let Ok(n) = self.attribute_ints(a, 1, 1)
                    {
                        match u32::try_from(n[0]) {
                            Ok(n) => hint = Hint::Unroll(n),
                            Err(_) => {
                                self.error(codes::BAD_ATTRIBUTE_USE, a.span, "`unroll` takes a count of at least 0");
                            }
                        }
                    }
                }
                (None, "fastopt" | "allow_uav_condition" | "forcecase" | "call") => {}
                _ => {
                    let message = format!("the attribute `{name}` has no effect here");
                    self.warn(codes::IGNORED_ATTRIBUTE, a.span, message);
                }
            }
        }
        hint
    }

    /// A condition; a constant stands for one that failed.
    fn test(&mut self, cond: ExprId) -> ir::Value {
        let span = self.ast[cond].span;
        let value = self.expr(cond).and_then(|e| self.condition(e, span));
        self.at(span);
        match value {
            Ok(value) => value.v,
            Err(_) => self.b.bool(true),
        }
    }

    /// A chain of `if ... else if ...`, without recursion.
    fn if_statement(&mut self, id: StmtId) {
        let mut merges: Vec<(ir::Block, bool)> = Vec::new();
        let mut at = id;
        loop {
            let node = self.ast[at];
            let StmtKind::If { cond, then, otherwise } = node.kind else { break };
            let hint = self.hint(node.attributes);
            let test = self.test(cond);
            self.at(node.span);
            let (yes, merge) = (self.b.create_block(), self.b.create_block());
            let no = if otherwise.is_some() { self.b.create_block() } else { merge };
            self.b.set_merge(Merge::Selection(merge), hint);
            self.b.cond_branch(test, yes, no);
            self.b.switch_to(yes);
            self.in_block(|cx| cx.statement(then));
            let mut reached = self.go_on(merge);
            let Some(otherwise) = otherwise else {
                merges.push((merge, true));
                break;
            };
            self.b.switch_to(no);
            if let StmtKind::If { .. } = self.ast[otherwise].kind {
                merges.push((merge, reached));
                at = otherwise;
                continue;
            }
            self.in_block(|cx| cx.statement(otherwise));
            reached |= self.go_on(merge);
            merges.push((merge, reached));
            break;
        }
        // Inner merges lead to outer ones.
        let mut open = false;
        for (i, (merge, reached)) in merges.iter().enumerate().rev() {
            let reached = *reached || open;
            self.b.switch_to(*merge);
            if !reached {
                self.b.terminate(TerminatorKind::Unreachable);
            }
            open = reached;
            if i > 0 && open {
                let outer = merges[i - 1].0;
                self.b.branch(outer);
            }
        }
    }

    /// Goes on at a block unless control is gone. Whether it went.
    pub(crate) fn go_on(&mut self, block: ir::Block) -> bool {
        let open = self.b.is_open();
        if open {
            self.b.branch(block);
        }
        open
    }

    /// `for` and `while`.
    fn loop_statement(
        &mut self,
        attributes: Slice<Attribute>,
        cond: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
        span: Span,
    ) {
        let hint = self.hint(attributes);
        self.at(span);
        let (header, test, inside) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let (cont, merge) = (self.b.create_block(), self.b.create_block());
        self.b.branch(header);
        self.b.switch_to(header);
        self.b.set_merge(Merge::Loop { merge, cont }, hint);
        let mut leaves = false;
        match cond {
            None => self.b.branch(inside),
            Some(cond) => {
                self.b.branch(test);
                self.b.switch_to(test);
                let value = self.test(cond);
                let known = self.known_bool(value);
                leaves = known != Some(true);
                self.at(span);
                if self.b.current() == test {
                    // One block of test is the header's own.
                    let insts = std::mem::take(&mut self.b.func.blocks[test].insts);
                    self.b.func.blocks[header].insts = insts;
                    self.b.func.order.pop();
                    self.b.resume(header);
                    if leaves {
                        self.b.cond_branch(value, inside, merge);
                    } else {
                        self.b.branch(inside);
                    }
                } else {
                    let exit = self.b.create_block();
                    self.b.set_merge(Merge::Selection(inside), Hint::None);
                    self.b.cond_branch(value, inside, exit);
                    self.b.switch_to(exit);
                    self.b.branch(merge);
                }
            }
        }
        self.b.switch_to(inside);
        let jump = Jump { brk: merge, cont: Some(cont), broke: false, is_switch: false, continued: false };
        self.s.body.jumps.push(jump);
        self.in_block(|cx| cx.statement(body));
        self.at(span);
        self.go_on(cont);
        let jump = self.s.body.jumps.pop();
        self.b.switch_to(cont);
        if let Some(step) = step {
            let _ = self.expr(step);
        }
        self.at(span);
        self.b.branch(header);
        self.b.switch_to(merge);
        if !leaves && !jump.is_some_and(|j| j.broke) {
            self.b.terminate(TerminatorKind::Unreachable);
        }
    }

    fn known_bool(&self, value: ir::Value) -> Option<bool> {
        let c = self.known(value)?;
        self.b.module.consts.bits(c).map(|b| b != 0)
    }

    fn do_while(&mut self, attributes: Slice<Attribute>, body: StmtId, cond: ExprId, span: Span) {
        let hint = self.hint(attributes);
        self.at(span);
        let (header, inside) = (self.b.create_block(), self.b.create_block());
        let (cont, merge) = (self.b.create_block(), self.b.create_block());
        self.b.branch(header);
        self.b.switch_to(header);
        self.b.set_merge(Merge::Loop { merge, cont }, hint);
        self.b.branch(inside);
        self.b.switch_to(inside);
        let jump = Jump { brk: merge, cont: Some(cont), broke: false, is_switch: false, continued: false };
        self.s.body.jumps.push(jump);
        self.in_block(|cx| cx.statement(body));
        self.at(span);
        let tested = self.go_on(cont);
        let jump = self.s.body.jumps.pop();
        self.b.switch_to(cont);
        let value = self.test(cond);
        self.at(span);
        let known = self.known_bool(value);
        match known {
            Some(true) => self.b.branch(header),
            _ => self.b.cond_branch(value, header, merge),
        }
        self.b.switch_to(merge);
        let (broke, continued) = jump.map_or((false, false), |j| (j.broke, j.continued));
        let leaves = broke || (tested || continued) && known != Some(true);
        if !leaves {
            self.b.terminate(TerminatorKind::Unreachable);
        }
    }

    /// Stores an entry point's outputs before it returns.
    fn return_outputs(&mut self, value: Option<crate::value::Value>, span: Span) {
        let outputs = self.s.body.outputs.clone();
        if let Some(outputs) = outputs {
            let _: R<()> = self.store_outputs(&outputs, value, span);
        }
    }
}
