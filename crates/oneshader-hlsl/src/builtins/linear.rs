//! Linear algebra.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{BinaryOp, Intrinsic, Op};
use smallvec::SmallVec;

use super::{Call, Class, Lowered, admit};
use crate::cx::Cx;
use crate::rank::combine;
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, R, TemplateValue, Value};

/// Whether a matrix of this element and shape is a matrix of the IR.
fn is_native(elem: Elem, rows: u8, cols: u8) -> bool {
    elem.is_float() && rows > 1 && cols > 1
}

impl Cx<'_> {
    /// Sum of products of scalars.
    fn sum_of_products(
        &mut self,
        elem: Elem,
        pairs: impl Iterator<Item = (ir::Value, ir::Value)>,
    ) -> Option<ir::Value> {
        let ty = self.b.module.types.scalar(elem.ir());
        let mut sum = None;
        for (a, b) in pairs {
            let product = self.emit_as(elem, Op::Binary(BinaryOp::Mul), ty, &[a, b]);
            sum = Some(match sum {
                Some(before) => self.emit_as(elem, Op::Binary(BinaryOp::Add), ty, &[before, product]),
                None => product,
            });
        }
        sum
    }

    /// Dot product of two vectors (or scalars) of one type.
    fn dot(&mut self, a: Value, b: Value) -> Value {
        let (elem, shape) = self.tys.as_numeric(a.ty).unwrap_or((Elem::Float, Shape::Scalar));
        let ty = self.tys.scalar(elem);
        if elem.is_float() && shape.count() > 1 {
            let result = self.ir(ty);
            return Value { v: self.emit_as(elem, Op::Intrinsic(Intrinsic::Dot), result, &[a.v, b.v]), ty };
        }
        let (a, b) = (self.components(a), self.components(b));
        match self.sum_of_products(elem, a.into_iter().zip(b)) {
            Some(v) => Value { v, ty },
            None => self.zero(ty),
        }
    }
}

pub(super) fn dot(call: &mut Call<'_, '_>) -> Lowered {
    Ok(Some(call.cx.dot(call.args[0], call.args[1])))
}

/// `dot(a, b) + c`, the halves widened first.
pub(super) fn dot2add(call: &mut Call<'_, '_>) -> Lowered {
    let float2 = call.cx.tys.vector(Elem::Float, 2);
    let a = call.cx.cast(call.args[0], float2, call.span)?;
    let b = call.cx.cast(call.args[1], float2, call.span)?;
    let dot = call.cx.dot(a, b);
    Ok(Some(call.cx.binary(BinaryOp::Add, dot, call.args[2])))
}

pub(super) fn determinant(call: &mut Call<'_, '_>) -> Lowered {
    let m = call.args[0];
    match call.cx.tys.as_numeric(m.ty) {
        Some((_, Shape::Matrix(1, 1))) => Ok(Some(Value { v: m.v, ty: call.ret })),
        Some((elem, Shape::Matrix(r, c))) if r == c => {
            let ty = call.cx.ir(call.ret);
            let v = call.cx.emit_as(elem, Op::Intrinsic(Intrinsic::Determinant), ty, &[m.v]);
            Ok(Some(Value { v, ty: call.ret }))
        }
        _ => {
            let shown = call.cx.show(m.ty);
            let message = format!("determinant takes a square matrix, not {shown}");
            Err(call.cx.error(codes::BAD_ARGUMENTS, call.span, message))
        }
    }
}

/// `transpose(m)` of any element.
pub(super) fn transpose(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [arg] = args else { return Err(cx.wrong_count("transpose", 1, args.len(), span)) };
    let m = cx.rvalue(arg.expr.clone(), arg.span)?;
    let m = cx.concrete(m);
    let Some((elem, Shape::Matrix(r, c))) = cx.tys.as_numeric(m.ty) else {
        let shown = cx.show(m.ty);
        return Err(cx.error(codes::BAD_ARGUMENTS, arg.span, format!("transpose takes a matrix, not {shown}")));
    };
    cx.at(span);
    let ty = cx.tys.matrix(elem, c, r);
    if is_native(elem, r, c) {
        let result = cx.ir(ty);
        return Ok(Expr::Value(Value { v: cx.emit_as(elem, Op::Intrinsic(Intrinsic::Transpose), result, &[m.v]), ty }));
    }
    let comps = cx.components(m);
    let (rows, cols) = (usize::from(r), usize::from(c));
    let turned: SmallVec<[ir::Value; 16]> =
        (0..cols).flat_map(|j| (0..rows).map(move |i| i * cols + j)).map(|at| comps[at]).collect();
    Ok(Expr::Value(cx.from_components(ty, &turned)))
}

/// `mul(a, b)`: scalars scale, vectors on the left are rows, on the right columns.
pub(super) fn mul(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [left, right] = args else { return Err(cx.wrong_count("mul", 2, args.len(), span)) };
    let a = cx.rvalue(left.expr.clone(), left.span)?;
    let b = cx.rvalue(right.expr.clone(), right.span)?;
    let (Some((ae, a_shape)), Some((be, b_shape))) = (cx.tys.as_numeric(a.ty), cx.tys.as_numeric(b.ty)) else {
        let (a, b) = (cx.show(a.ty), cx.show(b.ty));
        return Err(cx.error(codes::BAD_ARGUMENTS, span, format!("mul cannot multiply {a} and {b}")));
    };
    let elem = admit(Class::Num, combine(ae, be));
    let to = |cx: &mut Cx<'_>, value: Value, shape: Shape, at: Span| {
        let ty = cx.tys.numeric(elem, shape);
        cx.convert(value, ty, at)
    };
    let value = match (a_shape, b_shape) {
        (Shape::Scalar, shape) | (shape, Shape::Scalar) => {
            let (a, b) = (to(cx, a, shape, left.span)?, to(cx, b, shape, right.span)?);
            cx.at(span);
            cx.binary(BinaryOp::Mul, a, b)
        }
        (Shape::Vector(n), Shape::Vector(m)) => {
            let shape = Shape::Vector(n.min(m));
            let (a, b) = (to(cx, a, shape, left.span)?, to(cx, b, shape, right.span)?);
            cx.at(span);
            cx.dot(a, b)
        }
        (Shape::Vector(n), Shape::Matrix(r, c)) => {
            let k = n.min(r);
            let (a, b) = (to(cx, a, Shape::Vector(k), left.span)?, to(cx, b, Shape::Matrix(k, c), right.span)?);
            cx.at(span);
            let ty = cx.tys.vector(elem, c);
            cx.product(elem, (a, 1, k), (b, k, c), ty)
        }
        (Shape::Matrix(r, c), Shape::Vector(n)) => {
            let k = n.min(c);
            let (a, b) = (to(cx, a, Shape::Matrix(r, k), left.span)?, to(cx, b, Shape::Vector(k), right.span)?);
            cx.at(span);
            let ty = cx.tys.vector(elem, r);
            cx.product(elem, (a, r, k), (b, k, 1), ty)
        }
        (Shape::Matrix(r, c), Shape::Matrix(s, d)) => {
            let k = c.min(s);
            let (a, b) = (to(cx, a, Shape::Matrix(r, k), left.span)?, to(cx, b, Shape::Matrix(k, d), right.span)?);
            cx.at(span);
            let ty = cx.tys.matrix(elem, r, d);
            cx.product(elem, (a, r, k), (b, k, d), ty)
        }
    };
    Ok(Expr::Value(value))
}

impl Cx<'_> {
    /// The product of an r x k and a k x c matrix, vectors counting as matrices of one row or column.
    fn product(&mut self, elem: Elem, (a, r, k): (Value, u8, u8), (b, _, c): (Value, u8, u8), ty: Ty) -> Value {
        // The IR multiplies when its result and operands are vectors and matrices of its own.
        let a_ok = is_native(elem, r, k) || r == 1 && k > 1;
        let b_ok = is_native(elem, k, c) || c == 1 && k > 1;
        if a_ok && b_ok && (r > 1 || c > 1) && self.ir_is_product(a, b) {
            let result = self.ir(ty);
            return Value { v: self.emit_as(elem, Op::MatMul, result, &[a.v, b.v]), ty };
        }
        let (r, k, c) = (usize::from(r), usize::from(k), usize::from(c));
        let (left, right) = (self.components(a), self.components(b));
        let mut out: SmallVec<[ir::Value; 16]> = SmallVec::new();
        for i in 0..r {
            for j in 0..c {
                out.extend(self.sum_of_products(elem, (0..k).map(|n| (left[i * k + n], right[n * c + j]))));
            }
        }
        self.from_components(ty, &out)
    }

    /// Whether one of two IR values is an IR matrix.
    fn ir_is_product(&self, a: Value, b: Value) -> bool {
        let is_matrix = |v: Value| matches!(self.b.module.types.kind(self.b.func.ty(v.v)), ir::TypeKind::Matrix { .. });
        is_matrix(a) || is_matrix(b)
    }
}
