//! Spelling statements.

use super::expr;
use crate::ast::{Arena, Case, Expr, ExprKind, Infix, Stmt, VarKind};
use oneshader_ir::{Name, Names};

pub(super) struct Printer<'a> {
    pub names: &'a Names,
    pub arena: &'a Arena,
    pub out: &'a mut String,
    pub indent: usize,
}

impl Printer<'_> {
    pub(super) fn block(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.stmt(stmt);
        }
    }

    fn start(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
    }

    fn expr(&mut self, e: Expr) {
        expr::write(self.out, self.names, self.arena, e, 0);
    }

    fn name(&mut self, name: Name) {
        self.out.push_str(self.names.get(name));
    }

    fn is_one(&self, e: Expr) -> bool {
        matches!(self.arena[e].kind, ExprKind::Text(name) if matches!(self.names.get(name), "1" | "1u"))
    }

    /// A value where the context has type `ty`: a conversion to it need not be written.
    fn value(&mut self, e: Expr, ty: Name) {
        match self.arena[e].kind {
            ExprKind::Convert(to, inner) if to == ty => self.expr(inner),
            _ => self.expr(e),
        }
    }

    /// A statement without indentation, semicolon and line end.
    fn simple(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(var, value) => {
                let data = self.arena.vars[*var];
                self.name(data.name);
                self.out.push_str(" = ");
                self.value(*value, data.ty);
            }
            Stmt::Declare(var, value) => {
                let data = self.arena.vars[*var];
                if data.kind == VarKind::Value && value.is_some() {
                    self.out.push_str("const ");
                }
                self.name(data.ty);
                self.out.push(' ');
                self.name(data.name);
                if let Some(value) = value {
                    self.out.push_str(" = ");
                    match self.arena[*value].kind {
                        ExprKind::Init(ty, args) if ty == data.ty => {
                            expr::braces(self.out, self.names, self.arena, args)
                        }
                        _ => self.value(*value, data.ty),
                    }
                }
            }
            Stmt::Assign(place, value) => {
                self.expr(*place);
                self.out.push_str(" = ");
                self.expr(*value);
            }
            Stmt::Update(place, op @ (Infix::Add | Infix::Sub), value) if self.is_one(*value) => {
                self.out.push_str(if *op == Infix::Add { "++" } else { "--" });
                self.expr(*place);
            }
            Stmt::Update(place, op, value) => {
                self.expr(*place);
                self.out.push(' ');
                self.out.push_str(op.text());
                self.out.push_str("= ");
                self.expr(*value);
            }
            Stmt::Do(value) => self.expr(*value),
            _ => {}
        }
    }

    fn braced(&mut self, list: &[Stmt]) {
        self.out.push_str("{\n");
        self.indent += 1;
        self.block(list);
        self.indent -= 1;
        self.start();
        self.out.push('}');
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Line(text) = stmt {
            let text = self.names.get(*text);
            if !text.starts_with('#') {
                self.start();
            }
            self.out.push_str(text);
            self.out.push('\n');
            return;
        }
        self.start();
        match stmt {
            Stmt::Set(..) | Stmt::Declare(..) | Stmt::Assign(..) | Stmt::Update(..) | Stmt::Do(_) => {
                self.simple(stmt);
                self.out.push(';');
            }
            Stmt::If { cond, then, els } => self.if_chain(*cond, then, els),
            Stmt::While { cond, body } => {
                self.out.push_str("while (");
                match cond {
                    Some(cond) => self.expr(*cond),
                    None => self.out.push_str("true"),
                }
                self.out.push_str(") ");
                self.braced(body);
            }
            Stmt::DoWhile { body, cond } => {
                self.out.push_str("do ");
                self.braced(body);
                self.out.push_str(" while (");
                self.expr(*cond);
                self.out.push_str(");");
            }
            Stmt::For { init, cond, step, body } => {
                self.out.push_str("for (");
                if let Some(init) = init {
                    self.simple(init);
                }
                self.out.push_str("; ");
                if let Some(cond) = cond {
                    self.expr(*cond);
                }
                self.out.push_str("; ");
                for (i, step) in step.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.simple(step);
                }
                self.out.push_str(") ");
                self.braced(body);
            }
            Stmt::Switch { selector, cases } => {
                self.out.push_str("switch (");
                self.expr(*selector);
                self.out.push_str(") {\n");
                cases.iter().for_each(|c| self.case(c));
                self.start();
                self.out.push('}');
            }
            Stmt::Break => self.out.push_str("break;"),
            Stmt::Continue => self.out.push_str("continue;"),
            Stmt::Return(None) => self.out.push_str("return;"),
            Stmt::Return(Some(value)) => {
                self.out.push_str("return ");
                self.expr(*value);
                self.out.push(';');
            }
            Stmt::Line(_) => {}
        }
        self.out.push('\n');
    }

    fn if_chain(&mut self, cond: Expr, then: &[Stmt], els: &[Stmt]) {
        let (mut cond, mut then, mut els) = (cond, then, els);
        loop {
            self.out.push_str("if (");
            self.expr(cond);
            self.out.push_str(") ");
            self.braced(then);
            match els {
                [] => return,
                [Stmt::If { cond: c, then: t, els: e }] => {
                    self.out.push_str(" else ");
                    (cond, then, els) = (*c, t, e);
                }
                _ => {
                    self.out.push_str(" else ");
                    self.braced(els);
                    return;
                }
            }
        }
    }

    fn case(&mut self, case: &Case) {
        for label in &case.labels {
            self.start();
            self.out.push_str("case ");
            self.name(*label);
            self.out.push_str(":\n");
        }
        if case.default {
            self.start();
            self.out.push_str("default:\n");
        }
        // Braces, so that a case may declare variables.
        let declares = case.body.iter().any(|s| matches!(s, Stmt::Declare(..)));
        self.indent += 1;
        if declares {
            self.start();
            self.braced(&case.body);
            self.out.push('\n');
        } else {
            self.block(&case.body);
        }
        if case.falls_through {
            self.start();
            self.out.push_str("// falls through\n");
        }
        self.indent -= 1;
    }
}
