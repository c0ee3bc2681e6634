//! Operators.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::TerminatorKind;

use crate::ast::{BinaryOp, ExprId, UnaryOp};
use crate::cx::Cx;
use crate::rank::{combine, common_shape};
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{Expr, Place, R, Value};

/// Nodes of an operand that is computed without a branch.
const SIMPLE: u32 = 8;

fn ir_op(op: BinaryOp) -> ir::BinaryOp {
    match op {
        BinaryOp::Mul => ir::BinaryOp::Mul,
        BinaryOp::Div => ir::BinaryOp::Div,
        BinaryOp::Rem => ir::BinaryOp::Rem,
        BinaryOp::Add | BinaryOp::Comma => ir::BinaryOp::Add,
        BinaryOp::Sub => ir::BinaryOp::Sub,
        BinaryOp::Shl => ir::BinaryOp::Shl,
        BinaryOp::Shr => ir::BinaryOp::Shr,
        BinaryOp::Lt => ir::BinaryOp::Lt,
        BinaryOp::Le => ir::BinaryOp::Le,
        BinaryOp::Gt => ir::BinaryOp::Gt,
        BinaryOp::Ge => ir::BinaryOp::Ge,
        BinaryOp::Eq => ir::BinaryOp::Eq,
        BinaryOp::Ne => ir::BinaryOp::Ne,
        BinaryOp::BitAnd | BinaryOp::And => ir::BinaryOp::And,
        BinaryOp::BitXor => ir::BinaryOp::Xor,
        BinaryOp::BitOr | BinaryOp::Or => ir::BinaryOp::Or,
    }
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}

fn needs_integers(op: BinaryOp) -> bool {
    is_shift(op) || matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
}

fn is_comparison(op: BinaryOp) -> bool {
    ir_op(op).is_comparison() && !matches!(op, BinaryOp::Comma)
}

impl Cx<'_> {
    fn bad_operands(&mut self, op: &str, tys: &[Ty], span: Span) -> crate::value::Reported {
        let shown: Vec<String> = tys.iter().map(|t| format!("`{}`", self.show(*t))).collect();
        self.error(codes::INVALID_OPERANDS, span, format!("`{op}` does not take {}", shown.join(" and ")))
    }

    pub(crate) fn unary_expr(&mut self, op: UnaryOp, operand: ExprId, span: Span) -> R<Expr> {
        let expr = self.expr(operand)?;
        let operand_span = self.ast[operand].span;
        let ty = self.type_of(&expr);
        if self.tys.as_struct(ty).is_some() {
            return match self.user_operator(
                crate::ast::OverloadedOp::Unary(op),
                expr,
                operand_span,
                Vec::new(),
                span,
            )? {
                Ok(result) => Ok(result),
                Err(_) => Err(self.bad_operands(op.text(), &[ty], span)),
            };
        }
        if matches!(op, UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec) {
            return self.step_expr(op, expr, operand_span, span);
        }
        let value = self.rvalue(expr, operand_span)?;
        self.at(span);
        let Some((elem, shape)) = self.tys.as_numeric(value.ty) else {
            return Err(self.bad_operands(op.text(), &[ty], span));
        };
        let promoted = if elem == Elem::Bool || self.is_enum(value.ty) { Elem::Int } else { elem };
        let ty = self.tys.numeric(promoted, shape);
        Ok(Expr::Value(match op {
            UnaryOp::Not => {
                let ty = self.tys.numeric(Elem::Bool, shape);
                let value = self.convert_numeric(value, ty);
                self.not(value)
            }
            UnaryOp::Neg => {
                let value = self.convert_numeric(value, ty);
                self.unary(ir::UnaryOp::Neg, value)
            }
            UnaryOp::BitNot => {
                if elem.is_float() {
                    return Err(self.bad_operands(op.text(), &[value.ty], span));
                }
                let value = self.convert_numeric(value, ty);
                self.unary(ir::UnaryOp::BitNot, value)
            }
            _ => self.convert_numeric(value, ty),
        }))
    }

    fn step_expr(&mut self, op: UnaryOp, expr: Expr, operand_span: Span, span: Span) -> R<Expr> {
        let place = self.out_place(&expr, operand_span)?;
        let Some((elem, shape)) = self.tys.as_numeric(place.ty) else {
            return Err(self.bad_operands(op.text(), &[place.ty], span));
        };
        if elem == Elem::Bool || self.is_enum(place.ty) {
            return Err(self.bad_operands(op.text(), &[place.ty], span));
        }
        let old = self.load(&place, operand_span)?;
        self.at(span);
        let one = self.int(1, elem);
        let ty = self.tys.numeric(elem, shape);
        let one = self.convert_numeric(one, ty);
        let up = matches!(op, UnaryOp::PreInc | UnaryOp::PostInc);
        let new = self.binary(if up { ir::BinaryOp::Add } else { ir::BinaryOp::Sub }, old, one);
        self.store_exact(&place, Value { v: new.v, ty: place.ty }, span)?;
        Ok(if op.is_postfix() { Expr::Value(old) } else { Expr::Place(place) })
    }

    /// A binary operator that computes both sides.
    pub(crate) fn binary_expr(
        &mut self,
        op: BinaryOp,
        left: Expr,
        left_span: Span,
        right: Expr,
        right_span: Span,
        span: Span,
    ) -> R<Expr> {
        let (lt, rt) = (self.type_of(&left), self.type_of(&right));
        if self.tys.as_struct(lt).is_some() || self.tys.as_struct(rt).is_some() {
            let args = vec![(right.clone(), right_span)];
            let which = crate::ast::OverloadedOp::Binary(op);
            return match self.user_operator(which, left, left_span, args, span)? {
                Ok(result) => Ok(result),
                Err(_) => Err(self.bad_operands(op.text(), &[lt, rt], span)),
            };
        }
        let left = self.rvalue(left, left_span)?;
        let right = self.rvalue(right, right_span)?;
        self.arithmetic(op, left, right, (left_span, right_span), span).map(Expr::Value)
    }

    /// An arithmetic, bitwise or comparing operator on values.
    pub(crate) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: Value,
        right: Value,
        (left_span, right_span): (Span, Span),
        span: Span,
    ) -> R<Value> {
        let (Some((le, ls)), Some((re, rs))) = (self.tys.as_numeric(left.ty), self.tys.as_numeric(right.ty)) else {
            return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span));
        };
        // Enumerators of one scoped enumeration compare with each other alone.
        let scoped = |cx: &Self, ty| match cx.tys.kind(ty) {
            TyKind::Enum(e) => cx.tys.enums[e.0 as usize].scoped,
            _ => false,
        };
        if (scoped(self, left.ty) || scoped(self, right.ty)) && !(left.ty == right.ty && is_comparison(op)) {
            return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span));
        }
        if needs_integers(op) && (le.is_float() || re.is_float()) {
            return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span));
        }
        let elem = self.computed_in(op, le, re, right_span);
        let shape = match common_shape(ls, rs) {
            Some(shape) => shape,
            None => return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span)),
        };
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            if elem.is_min_precision() && elem.is_int() && !elem.is_unsigned() {
                let message = "integers of min-precision cannot be divided";
                return Err(self.error(codes::INVALID_OPERANDS, span, message));
            }
            if op == BinaryOp::Rem && elem == Elem::Double {
                return Err(self.error(codes::INVALID_OPERANDS, span, "`%` does not take `double`"));
            }
        }
        let ty = self.tys.numeric(elem, shape);
        // Two values of one enumeration give one of it.
        let same_enum = left.ty == right.ty && self.is_enum(left.ty) && !is_comparison(op);
        let result_ty = left.ty;
        let mut a = self.operand(left, ty, left_span)?;
        let mut b = self.operand(right, ty, right_span)?;
        self.at(span);
        let mut result = self.binary(ir_op(op), a, b);
        if elem.is_literal() && self.known(result.v).is_none() {
            // Literals divided by zero: there is nothing to know, and no literal type at run time.
            let ty = self.tys.numeric(elem.concrete(), shape);
            a = self.convert_numeric(a, ty);
            b = self.convert_numeric(b, ty);
            result = self.binary(ir_op(op), a, b);
        }
        if same_enum {
            result.ty = result_ty;
        }
        Ok(result)
    }

    /// An operand of an operator; an enumeration counts as its integer.
    fn operand(&mut self, value: Value, ty: Ty, span: Span) -> R<Value> {
        match self.is_enum(value.ty) {
            true => Ok(self.convert_numeric(value, ty)),
            false => self.convert(value, ty, span),
        }
    }

    fn computed_in(&mut self, op: BinaryOp, le: Elem, re: Elem, right_span: Span) -> Elem {
        if is_shift(op) {
            return match (le, re) {
                (Elem::Bool, _) => Elem::Int,
                (Elem::LitInt, Elem::LitInt) => Elem::LitInt,
                (Elem::LitInt, re) => {
                    let message = "the literal takes the type of the amount it is shifted by";
                    self.warn(codes::LITERAL_SHIFT, right_span, message);
                    if re == Elem::Uint { Elem::Uint } else { Elem::Int }
                }
                (le, _) => le,
            };
        }
        if le == Elem::Bool && re == Elem::Bool {
            let keeps = is_comparison(op) && matches!(op, BinaryOp::Eq | BinaryOp::Ne)
                || matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
            return if keeps { Elem::Bool } else { Elem::Int };
        }
        combine(le, re)
    }

    /// `&&` and `||`.
    pub(crate) fn logical(&mut self, op: BinaryOp, left: Expr, left_span: Span, rhs: ExprId, span: Span) -> R<Value> {
        let right_span = self.ast[rhs].span;
        let is_and = op == BinaryOp::And;
        let lt = self.type_of(&left);
        if !self.opts.version.is_2021() {
            let left = self.rvalue(left, left_span)?;
            let right = self.value(rhs)?;
            return self.logical_values(op, left, right, (left_span, right_span), span);
        }
        if self.tys.shape(lt).is_none_or(|s| s.count() != 1) {
            let function = if is_and { "and" } else { "or" };
            let d = oneshader_diag::Diagnostic::new(
                codes::INVALID_OPERANDS,
                span,
                format!("`{}` takes scalars; here is `{}`", op.text(), self.show(lt)),
            )
            .help(format!("use `{function}(a, b)`"));
            return Err(self.report(d));
        }
        let a = self.condition(left, left_span)?;
        let check = |cx: &mut Self, e: Expr| -> R<Value> {
            let ty = cx.type_of(&e);
            if cx.tys.shape(ty).is_none_or(|s| s.count() != 1) {
                let message = format!("`{}` takes scalars; here is `{}`", op.text(), cx.show(ty));
                return Err(cx.error(codes::INVALID_OPERANDS, right_span, message));
            }
            cx.condition(e, right_span)
        };
        if let Some(known) = self.known_int(a) {
            // The right side decides, or is only checked.
            if (known != 0) == is_and {
                let right = self.expr(rhs)?;
                return check(self, right);
            }
            self.discarded(|cx| {
                let right = cx.expr(rhs)?;
                check(cx, right)
            })?;
            return Ok(a);
        }
        if self.is_simple(rhs, &mut SIMPLE.clone()) {
            let right = self.expr(rhs)?;
            let b = check(self, right)?;
            self.at(span);
            return Ok(self.binary(ir_op(op), a, b));
        }
        self.at(span);
        let (more, join) = (self.b.create_block(), self.b.create_block());
        let from = self.b.current();
        let (then, els) = if is_and { (more, join) } else { (join, more) };
        self.b.cond_branch(a.v, then, els);
        self.b.switch_to(more);
        let right = self.expr(rhs).and_then(|e| check(self, e));
        self.at(span);
        let end = self.b.current();
        self.b.branch(join);
        self.b.switch_to(join);
        let b = right?;
        let short = self.b.bool(!is_and);
        let ty = self.b.module.types.bool();
        Ok(Value { v: self.b.phi(ty, &[(from, short), (end, b.v)]), ty: Ty::BOOL })
    }

    fn logical_values(&mut self, op: BinaryOp, left: Value, right: Value, spans: (Span, Span), span: Span) -> R<Value> {
        let (Some((_, ls)), Some((_, rs))) = (self.tys.as_numeric(left.ty), self.tys.as_numeric(right.ty)) else {
            return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span));
        };
        let Some(shape) = common_shape(ls, rs) else {
            return Err(self.bad_operands(op.text(), &[left.ty, right.ty], span));
        };
        let ty = self.tys.numeric(Elem::Bool, shape);
        let a = self.operand(left, ty, spans.0)?;
        let b = self.operand(right, ty, spans.1)?;
        self.at(span);
        Ok(self.binary(ir_op(op), a, b))
    }

    /// `cond ? yes : no`.
    pub(crate) fn ternary(&mut self, cond: ExprId, yes: ExprId, no: ExprId, span: Span) -> R<Expr> {
        let cond_span = self.ast[cond].span;
        let c = self.value(cond)?;
        let shape = self.tys.shape(c.ty);
        let Some(shape) = shape else {
            let message = format!("a condition cannot be of type `{}`", self.show(c.ty));
            return Err(self.error(codes::BAD_CONDITION, cond_span, message));
        };
        if shape.count() != 1 {
            if self.opts.version.is_2021() {
                let d = oneshader_diag::Diagnostic::new(
                    codes::BAD_CONDITION,
                    span,
                    "the condition of `?:` is a scalar in HLSL 2021",
                )
                .help("use `select(condition, a, b)`");
                return Err(self.report(d));
            }
            return self.vector_ternary(c, shape, yes, no, span);
        }
        let c = self.condition(Expr::Value(c), cond_span)?;
        if let Some(known) = self.known_int(c) {
            let (taken, other) = if known != 0 { (yes, no) } else { (no, yes) };
            let other_ty = self.discarded(|cx| Ok(cx.value(other)?.ty))?;
            let value = self.value(taken)?;
            let ty = self.ternary_type(value.ty, other_ty, span)?;
            return self.convert(value, ty, self.ast[taken].span).map(Expr::Value);
        }
        let both = !self.opts.version.is_2021()
            || self.is_simple(yes, &mut SIMPLE.clone()) && self.is_simple(no, &mut SIMPLE.clone());
        if both {
            let a = self.value(yes)?;
            let b = self.value(no)?;
            let ty = self.ternary_type(a.ty, b.ty, span)?;
            if self.tys.as_numeric(ty).is_some() {
                let (a, b, _) = self.arms(a, b, ty, yes, no)?;
                self.at(span);
                return Ok(Expr::Value(self.select(c, a, b)));
            }
            return Err(self.chosen_object(span));
        }
        self.at(span);
        let (then, els, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.cond_branch(c.v, then, els);
        self.b.switch_to(then);
        let a = self.value(yes);
        let then_end = self.b.current();
        self.b.switch_to(els);
        let b = self.value(no);
        let else_end = self.b.current();
        let ty = match (&a, &b) {
            (Ok(a), Ok(b)) => self.ternary_type(a.ty, b.ty, span),
            _ => Err(crate::value::Reported(())),
        };
        // Both arms go on here, whatever happened in them.
        let mut incoming = Vec::new();
        let mut result_ty = Ty::ERROR;
        for (end, value, arm) in [(then_end, a, yes), (else_end, b, no)] {
            self.b.resume(end);
            let arm_span = self.ast[arm].span;
            if let (Ok(value), Ok(ty)) = (value, ty) {
                let ty = self.at_run_time(ty);
                result_ty = ty;
                if let Ok(value) = self.convert(value, ty, arm_span) {
                    incoming.push((end, value.v));
                }
            }
            self.at(span);
            self.b.terminate(TerminatorKind::Branch(join));
        }
        self.b.switch_to(join);
        let ty = ty?;
        if self.tys.as_numeric(ty).is_none() {
            return Err(self.chosen_object(span));
        }
        if incoming.len() != 2 {
            return Err(crate::value::Reported(()));
        }
        let ir = self.ir(result_ty);
        Ok(Expr::Value(Value { v: self.b.phi(ir, &incoming), ty: result_ty }))
    }

    /// Reports a resource chosen by `?:`.
    fn chosen_object(&mut self, span: Span) -> crate::value::Reported {
        self.error(codes::UNRESOLVED_OBJECT, span, "a resource cannot be chosen by a condition; choose among results")
    }

    /// A type that values have at run time: literal types become `int` and `float`.
    fn at_run_time(&mut self, ty: Ty) -> Ty {
        match self.tys.elem(ty) {
            Some(elem) if elem.is_literal() => self.tys.with_elem(ty, elem.concrete()),
            _ => ty,
        }
    }

    /// Both arms in the type they meet in.
    fn arms(&mut self, a: Value, b: Value, ty: Ty, yes: ExprId, no: ExprId) -> R<(Value, Value, Ty)> {
        let ty = self.at_run_time(ty);
        let a = self.convert(a, ty, self.ast[yes].span)?;
        let b = self.convert(b, ty, self.ast[no].span)?;
        Ok((a, b, ty))
    }

    /// The type the arms of `?:` meet in.
    fn ternary_type(&mut self, a: Ty, b: Ty, span: Span) -> R<Ty> {
        if self.tys.same(a, b) && (self.tys.as_numeric(a).is_some() || self.tys.as_object(a).is_some()) {
            return Ok(a);
        }
        match self.common_type(a, b) {
            Some(ty) => Ok(ty),
            None => Err(self.bad_operands("?:", &[a, b], span)),
        }
    }

    fn vector_ternary(&mut self, c: Value, shape: Shape, yes: ExprId, no: ExprId, span: Span) -> R<Expr> {
        let a = self.value(yes)?;
        let b = self.value(no)?;
        let ty = self.ternary_type(a.ty, b.ty, span)?;
        let Some((elem, mut result)) = self.tys.as_numeric(ty) else {
            return Err(self.bad_operands("?:", &[a.ty, b.ty], span));
        };
        if result.count() == 1 {
            result = shape;
        } else if result.count() != shape.count() {
            let message = "the condition has another number of components than the values";
            return Err(self.error(codes::BAD_CONDITION, span, message));
        }
        let ty = self.tys.numeric(elem, result);
        let (a, b, _) = self.arms(a, b, ty, yes, no)?;
        let cond_ty = self.tys.numeric(Elem::Bool, result);
        let c = self.convert_numeric(c, cond_ty);
        self.at(span);
        Ok(Expr::Value(self.select(c, a, b)))
    }

    /// `=` and compound assignment. The right side is computed first.
    pub(crate) fn assign(&mut self, op: Option<BinaryOp>, lhs: ExprId, rhs: ExprId, span: Span) -> R<Expr> {
        let (lhs_span, rhs_span) = (self.ast[lhs].span, self.ast[rhs].span);
        if let (None, crate::ast::ExprKind::InitList(_)) = (op, self.ast[rhs].kind) {
            let left = self.expr(lhs)?;
            let place = self.out_place(&left, lhs_span)?;
            let value = self.initializer(place.ty, rhs)?;
            self.store_exact(&place, value, span)?;
            return Ok(Expr::Place(place));
        }
        let right = self.expr(rhs)?;
        let is_struct = self.tys.as_struct(self.type_of(&right)).is_some();
        let right = match right {
            Expr::Place(_) if is_struct && op.is_some() => right,
            other => Expr::Value(self.rvalue(other, rhs_span)?),
        };
        let left = self.expr(lhs)?;
        let lt = self.type_of(&left);
        if self.tys.as_struct(lt).is_some() {
            let args = vec![(right.clone(), rhs_span)];
            let which = crate::ast::OverloadedOp::Assign(op);
            match self.user_operator(which, left.clone(), lhs_span, args, span)? {
                Ok(result) => return Ok(result),
                Err(_) if op.is_some() => {
                    let rt = self.type_of(&right);
                    return Err(self.bad_operands("op=", &[lt, rt], span));
                }
                Err(_) => {}
            }
        }
        let place = self.out_place(&left, lhs_span)?;
        let right = self.rvalue(right, rhs_span)?;
        let value = match op {
            None => self.convert(right, place.ty, rhs_span)?,
            Some(op) => self.compound(op, &place, right, lhs_span, rhs_span, span)?,
        };
        self.store_exact(&place, value, span)?;
        Ok(Expr::Place(place))
    }

    fn compound(
        &mut self,
        op: BinaryOp,
        place: &Place,
        right: Value,
        lhs_span: Span,
        rhs_span: Span,
        span: Span,
    ) -> R<Value> {
        let (Some((le, ls)), Some((re, _))) = (self.tys.as_numeric(place.ty), self.tys.as_numeric(right.ty)) else {
            return Err(self.bad_operands(op.text(), &[place.ty, right.ty], span));
        };
        let bitwise = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        if le == Elem::Bool && !bitwise || self.is_enum(place.ty) {
            return Err(self.bad_operands(&format!("{}=", op.text()), &[place.ty, right.ty], span));
        }
        if needs_integers(op) && (le.is_float() || re.is_float()) {
            return Err(self.bad_operands(&format!("{}=", op.text()), &[place.ty, right.ty], span));
        }
        let elem = self.computed_in(op, le, re, rhs_span);
        let ty = self.tys.numeric(elem, ls);
        let b = self.operand(right, ty, rhs_span)?;
        let old = self.load(place, lhs_span)?;
        let a = self.convert_numeric(old, ty);
        self.at(span);
        let result = self.arithmetic(op, a, b, (lhs_span, rhs_span), span)?;
        Ok(self.convert_numeric(result, place.ty))
    }
}
