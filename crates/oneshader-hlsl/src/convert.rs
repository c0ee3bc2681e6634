//! Emitting conversions.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::Op;
use smallvec::SmallVec;

use crate::cx::Cx;
use crate::rank::{Reshape, Route, reshape};
use crate::sema::init::Feed;
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{Expr, Place, R, ReadOnly, Value};

impl Cx<'_> {
    /// Converts implicitly; a truncation or loss of precision is warned of, the impossible is an error.
    pub fn convert(&mut self, value: Value, to: Ty, span: Span) -> R<Value> {
        if value.ty == to {
            return Ok(value);
        }
        match self.can_convert(value.ty, to, false) {
            Some(route) => {
                self.warn_conversion(value, to, span);
                self.convert_by(route, value, to, span)
            }
            None => Err(self.no_conversion(value.ty, to, span, false)),
        }
    }

    /// Converts as a cast does.
    pub fn cast(&mut self, value: Value, to: Ty, span: Span) -> R<Value> {
        if value.ty == to {
            return Ok(value);
        }
        match self.can_convert(value.ty, to, true) {
            Some(route) => self.convert_by(route, value, to, span),
            None => Err(self.no_conversion(value.ty, to, span, true)),
        }
    }

    /// Reports that there is no conversion.
    pub(crate) fn no_conversion(&mut self, from: Ty, to: Ty, span: Span, explicit: bool) -> crate::value::Reported {
        let (from, to) = (self.show(from), self.show(to));
        let how = if explicit { "cast" } else { "convert implicitly" };
        self.error(codes::TYPE_MISMATCH, span, format!("cannot {how} from `{from}` to `{to}`"))
    }

    fn warn_conversion(&mut self, value: Value, to: Ty, span: Span) {
        let (Some((fe, fs)), Some((te, ts))) = (self.tys.as_numeric(value.ty), self.tys.as_numeric(to)) else { return };
        if reshape(fs, ts) == Some(Reshape::Truncate) {
            let message = format!("implicit truncation from `{}` to `{}`", self.show(value.ty), self.show(to));
            self.warn(codes::IMPLICIT_TRUNCATION, span, message);
        }
        let narrower = te.bits() != 0 && te.bits() < fe.bits();
        let lossy = narrower && !(fe.bits() <= 32 && te.is_min_precision()) && self.known(value.v).is_none();
        if lossy {
            let message = format!("conversion from `{}` to `{}` may lose data", self.show(value.ty), self.show(to));
            self.warn(codes::PRECISION_LOSS, span, message);
        }
    }

    fn convert_by(&mut self, route: Route, value: Value, to: Ty, span: Span) -> R<Value> {
        self.at(span);
        match route {
            Route::Same if to == Ty::ERROR || value.ty == Ty::ERROR => Err(crate::value::Reported(())),
            Route::Same if to == Ty::VOID => Ok(Value { v: value.v, ty: to }),
            Route::Same => Ok(Value { v: value.v, ty: to }),
            Route::Numeric => Ok(self.convert_numeric(value, to)),
            Route::Address => {
                let number = self.tys.scalar(Elem::Uint64);
                let from = if self.tys.elem(value.ty).is_some() { value.ty } else { number };
                let value = Value { v: value.v, ty: from };
                let ty = if self.tys.elem(to).is_some() { to } else { number };
                Ok(Value { v: self.convert_numeric(value, ty).v, ty: to })
            }
            Route::ToBase => self.base_value(value, to),
            Route::Block => {
                let place = self.block_place(value);
                let value = self.load(&place, span)?;
                Ok(Value { v: value.v, ty: to })
            }
            Route::Heap => Ok(self.heap_object(value, to)),
            Route::Flat => self.convert_flat(value, to, span),
        }
    }

    /// The structure inside a constant or texture buffer.
    pub(crate) fn block_place(&mut self, object: Value) -> Place {
        let Some((kind, arg)) = self.tys.as_object(object.ty) else { return self.spill(object, "block") };
        let block = self.ir_mem(arg);
        let space = match kind {
            crate::builtin::ObjectKind::TextureBuffer => ir::AddressSpace::Storage,
            _ => ir::AddressSpace::Constant,
        };
        let root = self.b.address(Op::BlockPtr, space, block, &[object.v]);
        Place::pointer(root, arg, true).readonly(ReadOnly::Uniform)
    }

    fn base_value(&mut self, value: Value, to: Ty) -> R<Value> {
        let mut at = value;
        while at.ty != to {
            let Some(base) = self.tys.as_struct(at.ty).and_then(|s| self.tys.def(s).base) else {
                return Ok(Value { v: at.v, ty: to });
            };
            at = Value { v: self.extract(at.v, 0), ty: base };
        }
        Ok(at)
    }

    /// Converts between numeric types whose shapes convert.
    pub fn convert_numeric(&mut self, value: Value, to: Ty) -> Value {
        let (Some((fe, fs)), Some((_, ts))) = (self.tys.as_numeric(value.ty), self.tys.as_numeric(to)) else {
            return Value { v: value.v, ty: to };
        };
        let shaped = self.reshape_value(value, fe, fs, ts);
        if self.b.ty(shaped.v) == self.ir(to) {
            return Value { v: shaped.v, ty: to };
        }
        // `relaxed` is the flag of what computes in min precision; going there is no computation.
        self.by_rows(
            to,
            &[shaped],
            true,
            |cx, ty, args| {
                if cx.b.ty(args[0]) == ty { args[0] } else { cx.emit(Op::Convert, ty, args) }
            },
        )
    }

    fn reshape_value(&mut self, value: Value, elem: Elem, from: Shape, to: Shape) -> Value {
        let ty = self.tys.numeric(elem, to);
        if from == to {
            return value;
        }
        let ir = self.ir(ty);
        if self.b.ty(value.v) == ir {
            return Value { v: value.v, ty };
        }
        match (from, to) {
            (_, Shape::Scalar | Shape::Vector(_)) if from.count() == 1 => {
                Value { v: self.emit(Op::Splat, ir, &[value.v]), ty }
            }
            (Shape::Vector(_), Shape::Scalar | Shape::Vector(_)) => {
                let comps = [0, 1, 2, 3];
                let n = (to.count() as usize).min(4);
                self.swizzle_value(value, &comps[..n], ty)
            }
            (Shape::Matrix(..), Shape::Matrix(r, c)) if from.count() > 1 => {
                // The upper left part.
                let rows: SmallVec<[ir::Value; 4]> = self.rows(value);
                let cols = match from {
                    Shape::Matrix(_, cols) => cols,
                    _ => 1,
                };
                let all: SmallVec<[ir::Value; 16]> = if rows.len() == 1 {
                    self.components(value)
                } else {
                    let mut all = SmallVec::new();
                    for row in rows.iter().take(usize::from(r)) {
                        for i in 0..u32::from(c) {
                            all.push(self.extract(*row, i));
                        }
                    }
                    all
                };
                let all: SmallVec<[ir::Value; 16]> =
                    if rows.len() == 1 && cols == 1 { all.into_iter().take(usize::from(r)).collect() } else { all };
                self.from_components(ty, &all)
            }
            _ => {
                let all = self.components(value);
                self.from_components(ty, &all)
            }
        }
    }

    fn convert_flat(&mut self, value: Value, to: Ty, span: Span) -> R<Value> {
        if let Some(c) = self.known(value.v)
            && self.b.module.consts.is_zero(c)
            && self.tys.is_numeric_aggregate(to)
        {
            return Ok(self.zero(to));
        }
        let mut feed = match self.tys.shape(value.ty).is_some_and(|s| s.count() == 1) {
            true => Feed::repeat(self.convert_to_scalar(value)),
            false => Feed::new(vec![(value, span)]).casting(),
        };
        self.build(to, &mut feed, span)
    }

    /// A value of one component as a scalar.
    fn convert_to_scalar(&mut self, value: Value) -> Value {
        match self.tys.elem(value.ty) {
            Some(elem) => {
                let ty = self.tys.scalar(elem);
                Value { v: value.v, ty }
            }
            None => value,
        }
    }

    /// A truth value for a condition.
    pub fn condition(&mut self, expr: Expr, span: Span) -> R<Value> {
        let value = self.rvalue(expr, span)?;
        match self.tys.as_numeric(value.ty) {
            Some((_, shape)) if shape.count() == 1 => {
                if matches!(self.tys.kind(value.ty), TyKind::Enum(_)) {
                    return self.cast(value, Ty::BOOL, span);
                }
                Ok(self.convert_numeric(value, Ty::BOOL))
            }
            _ => {
                let shown = self.show(value.ty);
                Err(self.error(codes::BAD_CONDITION, span, format!("a condition cannot be of type `{shown}`")))
            }
        }
    }
}
