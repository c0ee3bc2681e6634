//! Built-in functions and the methods of objects.
//!
//! Functions are rows of [`table`]; this file finds the type `T` of a call, converts the arguments and lowers the plain
//! rows. What is more than one intrinsic is in the file of its topic.

mod bits;
mod linear;
mod math;
mod memory;
mod methods;
mod offset;
mod positions;
mod raw;
mod table;
mod texture;

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{Intrinsic, Op};
use smallvec::SmallVec;

use crate::cx::Cx;
use crate::rank::combine;
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, Place, R, TemplateValue, Value};
use table::{Class, Lower, P, ROWS, Ret, Row, Shapes};

/// A built-in function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltinId(u16);

/// The built-in function of a name.
pub fn lookup(text: &str) -> Option<BuiltinId> {
    ROWS.binary_search_by(|row| row.name.cmp(text)).ok().map(|i| BuiltinId(i as u16))
}

/// The names of all built-in functions, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}

/// Lowers a call from its arguments as they stand in the source.
type Free = fn(&mut Cx<'_>, &[Arg], &[TemplateValue], Span) -> R<Expr>;

/// The result of a function that gets converted arguments; `None` for `void`.
type Lowered = R<Option<Value>>;

/// A call whose arguments are converted.
pub struct Call<'c, 'a> {
    cx: &'c mut Cx<'a>,
    /// Arguments that are read, in order.
    args: SmallVec<[Value; 4]>,
    /// Places of the `out` arguments, in order.
    outs: SmallVec<[Place; 2]>,
    /// `T`.
    t: Ty,
    /// Type of the result.
    ret: Ty,
    span: Span,
}

impl Call<'_, '_> {
    /// Stores into `out` argument `index`.
    fn out(&mut self, index: usize, value: Value) -> R<()> {
        let place = self.outs[index].clone();
        self.cx.store(&place, value, self.span)
    }

    /// An intrinsic, component by component, whose result has type `ty`.
    fn map(&mut self, intrinsic: Intrinsic, ty: Ty, args: &[Value]) -> Value {
        self.cx.map_intrinsic(intrinsic, ty, args)
    }
}

impl Cx<'_> {
    /// Lowers a call of a built-in function.
    pub fn call_builtin(&mut self, id: BuiltinId, args: &[Arg], targs: &[TemplateValue], span: Span) -> R<Expr> {
        let row = &ROWS[usize::from(id.0)];
        self.at(span);
        if let Lower::Free(function) = row.lower {
            return function(self, args, targs, span);
        }
        if args.len() != row.params.len() {
            return Err(self.wrong_count(row.name, row.params.len(), args.len(), span));
        }
        let is_out = |p: &P| matches!(p, P::OutT);
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (arg, _) in args.iter().zip(row.params).filter(|(_, p)| !is_out(p)) {
            values.push(self.rvalue(arg.expr.clone(), arg.span)?);
        }
        let ins = || row.params.iter().filter(|p| !is_out(p));
        let t = self.find_t(row, ins().zip(&values).map(|(p, v)| (*p, *v)), span)?;
        let in_args = args.iter().zip(row.params).filter(|(_, p)| !is_out(p));
        for (value, (arg, param)) in values.iter_mut().zip(in_args) {
            let ty = self.param_ty(*param, t);
            *value = self.convert(*value, ty, arg.span)?;
        }
        let mut outs: SmallVec<[Place; 2]> = SmallVec::new();
        for (arg, _) in args.iter().zip(row.params).filter(|(_, p)| is_out(p)) {
            outs.push(self.out_place(&arg.expr, arg.span)?);
        }
        self.at(span);
        let ret = match row.ret {
            Ret::Void => Ty::VOID,
            Ret::T => t,
            Ret::OneOfT => self.param_ty(P::OneOfT, t),
            Ret::Like(elem) => self.tys.with_elem(t, elem),
            Ret::Fixed(elem, shape) => self.tys.numeric(elem, shape),
        };
        let value = match row.lower {
            Lower::Map(intrinsic) => Some(self.map_intrinsic(intrinsic, ret, &values)),
            Lower::Whole(intrinsic) => {
                let operands: SmallVec<[ir::Value; 4]> = values.iter().map(|v| v.v).collect();
                self.whole_intrinsic(intrinsic, ret, &operands)
            }
            Lower::Custom(function) => function(&mut Call { cx: self, args: values, outs, t, ret, span })?,
            Lower::Free(_) => None,
        };
        Ok(value.map_or(Expr::Void, Expr::Value))
    }

    /// Reports a wrong number of arguments.
    fn wrong_count(&mut self, name: &str, want: usize, got: usize, span: Span) -> crate::value::Reported {
        let s = if want == 1 { "" } else { "s" };
        self.error(codes::BAD_ARGUMENTS, span, format!("{name} takes {want} argument{s}, not {got}"))
    }

    /// The type that the arguments decide.
    fn find_t(&mut self, row: &Row, args: impl Iterator<Item = (P, Value)>, span: Span) -> R<Ty> {
        let mut elem: Option<Elem> = None;
        let mut shape = Shape::Scalar;
        for (param, value) in args {
            let is_elem = matches!(param, P::T | P::OneOfT);
            let is_shape = param == P::T;
            if !is_elem && !is_shape {
                continue;
            }
            let Some((e, s)) = self.tys.as_numeric(value.ty) else {
                let shown = self.show(value.ty);
                return Err(self.error(codes::BAD_ARGUMENTS, span, format!("{} takes numbers, not {shown}", row.name)));
            };
            if is_elem {
                elem = Some(elem.map_or(e, |known| combine(known, e)));
            }
            if is_shape {
                shape = meet_shapes(shape, s);
            }
        }
        let elem = admit(row.class, elem.unwrap_or(Elem::Int));
        let shape = match (row.shapes, shape) {
            (Shapes::Scalar, _) => Shape::Scalar,
            (Shapes::Exactly(n), _) => Shape::Vector(n),
            (Shapes::Vector, Shape::Matrix(r, 1)) => Shape::Vector(r),
            (Shapes::Vector, Shape::Matrix(1, c)) => Shape::Vector(c),
            (Shapes::Vector, Shape::Matrix(..)) => {
                return Err(self.error(
                    codes::BAD_ARGUMENTS,
                    span,
                    format!("{} takes vectors, not matrices", row.name),
                ));
            }
            (Shapes::Matrix, Shape::Scalar | Shape::Vector(_)) => {
                return Err(self.error(codes::BAD_ARGUMENTS, span, format!("{} takes a matrix", row.name)));
            }
            (_, shape) => shape,
        };
        Ok(self.tys.numeric(elem, shape))
    }

    /// The type of a parameter when `T` is known.
    fn param_ty(&mut self, param: P, t: Ty) -> Ty {
        match param {
            P::T | P::OutT => t,
            P::OneOfT => {
                let elem = self.tys.elem(t).unwrap_or(Elem::Float);
                self.tys.scalar(elem)
            }
            P::Fixed(elem, shape) => self.tys.numeric(elem, shape),
        }
    }

    /// An intrinsic, component by component (row by row on matrices), whose result has type `ty`.
    pub(crate) fn map_intrinsic(&mut self, intrinsic: Intrinsic, ty: Ty, args: &[Value]) -> Value {
        let elem = args.first().and_then(|a| self.tys.elem(a.ty)).unwrap_or(Elem::Int);
        self.by_rows(ty, args, false, |cx, ty, args| cx.emit_as(elem, Op::Intrinsic(intrinsic), ty, args))
    }

    /// An intrinsic on IR values as they are; `None` when it gives nothing.
    fn whole_intrinsic(&mut self, intrinsic: Intrinsic, ret: Ty, args: &[ir::Value]) -> Option<Value> {
        let op = Op::Intrinsic(intrinsic);
        if ret == Ty::VOID {
            self.b.effect(op, args);
            return None;
        }
        let ty = self.ir(ret);
        let elem = self.tys.elem(ret).unwrap_or(Elem::Int);
        Some(Value { v: self.emit_as(elem, op, ty, args), ty: ret })
    }
}

/// The shape arguments of one type meet in: scalars become what the others are, vectors the shortest of them.
fn meet_shapes(a: Shape, b: Shape) -> Shape {
    match (a, b) {
        (Shape::Scalar, other) | (other, Shape::Scalar) => other,
        (Shape::Vector(1), other) | (other, Shape::Vector(1)) => other,
        (Shape::Vector(n), Shape::Vector(m)) => Shape::Vector(n.min(m)),
        (Shape::Matrix(r, c), Shape::Matrix(s, d)) => Shape::Matrix(r.min(s), c.min(d)),
        (vector @ Shape::Vector(_), _) | (_, vector) => vector,
    }
}

/// The element of `T` for a class.
fn admit(class: Class, elem: Elem) -> Elem {
    let elem = elem.concrete();
    match class {
        Class::Float if !elem.is_float() || elem == Elem::Double => Elem::Float,
        Class::AnyFloat if !elem.is_float() => Elem::Float,
        Class::Num | Class::Int if elem == Elem::Bool => Elem::Int,
        Class::Int if elem.is_float() => Elem::Int,
        Class::Double => Elem::Double,
        Class::Bool => Elem::Bool,
        _ => elem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_meet() {
        assert_eq!(meet_shapes(Shape::Scalar, Shape::Vector(3)), Shape::Vector(3));
        assert_eq!(meet_shapes(Shape::Vector(4), Shape::Vector(3)), Shape::Vector(3));
        assert_eq!(meet_shapes(Shape::Matrix(4, 4), Shape::Scalar), Shape::Matrix(4, 4));
    }

    #[test]
    fn finds_functions_by_name() {
        assert!(lookup("lerp").is_some() && lookup("InterlockedAdd").is_some());
        assert!(lookup("Lerp").is_none() && lookup("").is_none());
        assert!(names().all(|name| lookup(name).is_some()));
    }
}
