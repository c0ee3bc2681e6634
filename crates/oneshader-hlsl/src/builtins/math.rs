//! Functions of numbers that are more than one intrinsic.

use oneshader_diag::{Span, codes};
use oneshader_ir::{BinaryOp, Hint, Intrinsic, Merge, Op};

use super::{Call, Lowered, meet_shapes};
use crate::cx::Cx;
use crate::rank::combine;
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, R, TemplateValue, Value};

impl Call<'_, '_> {
    /// The element of `T`.
    fn elem(&self) -> Elem {
        self.cx.tys.elem(self.t).unwrap_or(Elem::Float)
    }

    /// A float constant in the shape and element of `T`.
    fn number(&mut self, value: f64) -> R<Value> {
        self.cx.number(value, self.t, self.span)
    }
}

impl Cx<'_> {
    /// A float constant in every component of a numeric type.
    pub(crate) fn number(&mut self, value: f64, ty: Ty, span: Span) -> R<Value> {
        let c = self.b.module.consts.scalar(&mut self.b.module.types, oneshader_ir::Scalar::F64, value.to_bits());
        let literal = Value { v: self.b.constant(c), ty: Ty::LIT_FLOAT };
        self.convert(literal, ty, span)
    }
}

pub(super) fn abs(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.args[0];
    if call.elem().is_unsigned() {
        return Ok(Some(x));
    }
    Ok(Some(call.map(Intrinsic::Abs, call.ret, &[x])))
}

pub(super) fn all(call: &mut Call<'_, '_>) -> Lowered {
    reduce_bools(call, Intrinsic::All, BinaryOp::And)
}

pub(super) fn any(call: &mut Call<'_, '_>) -> Lowered {
    reduce_bools(call, Intrinsic::Any, BinaryOp::Or)
}

fn reduce_bools(call: &mut Call<'_, '_>, intrinsic: Intrinsic, op: BinaryOp) -> Lowered {
    let bools = call.cx.tys.with_elem(call.t, Elem::Bool);
    let x = call.cx.cast(call.args[0], bools, call.span)?;
    let bool_ty = call.cx.ir(Ty::BOOL);
    let mut result = None;
    for row in call.cx.rows(x) {
        let one = match call.cx.b.module.types.lanes(call.cx.b.ty(row)) {
            1 => row,
            _ => call.cx.emit(Op::Intrinsic(intrinsic), bool_ty, &[row]),
        };
        result = Some(match result {
            Some(before) => call.cx.emit(Op::Binary(op), bool_ty, &[before, one]),
            None => one,
        });
    }
    Ok(result.map(|v| Value { v, ty: Ty::BOOL }))
}

pub(super) fn and(call: &mut Call<'_, '_>) -> Lowered {
    Ok(Some(call.cx.binary(BinaryOp::And, call.args[0], call.args[1])))
}

pub(super) fn or(call: &mut Call<'_, '_>) -> Lowered {
    Ok(Some(call.cx.binary(BinaryOp::Or, call.args[0], call.args[1])))
}

/// Discards when a component is less than zero.
pub(super) fn clip(call: &mut Call<'_, '_>) -> Lowered {
    let zero = call.cx.zero(call.t);
    let less = call.cx.binary(BinaryOp::Lt, call.args[0], zero);
    call.args[0] = less;
    call.t = less.ty;
    let Some(cond) = any(call)? else { return Ok(None) };
    let b = &mut call.cx.b;
    let (then, merge) = (b.create_block(), b.create_block());
    b.set_merge(Merge::Selection(merge), Hint::None);
    b.cond_branch(cond.v, then, merge);
    b.switch_to(then);
    b.effect(Op::Discard, &[]);
    b.branch(merge);
    b.switch_to(merge);
    Ok(None)
}

pub(super) fn degrees(call: &mut Call<'_, '_>) -> Lowered {
    scaled(call, 180.0 / std::f64::consts::PI)
}

pub(super) fn radians(call: &mut Call<'_, '_>) -> Lowered {
    scaled(call, std::f64::consts::PI / 180.0)
}

fn scaled(call: &mut Call<'_, '_>, by: f64) -> Lowered {
    let by = call.number(by)?;
    Ok(Some(call.cx.binary(BinaryOp::Mul, call.args[0], by)))
}

pub(super) fn rcp(call: &mut Call<'_, '_>) -> Lowered {
    let one = call.number(1.0)?;
    Ok(Some(call.cx.binary(BinaryOp::Div, one, call.args[0])))
}

pub(super) fn fmod(call: &mut Call<'_, '_>) -> Lowered {
    Ok(Some(call.cx.binary(BinaryOp::Rem, call.args[0], call.args[1])))
}

pub(super) fn frexp(call: &mut Call<'_, '_>) -> Lowered {
    let ints = call.cx.tys.with_elem(call.t, Elem::Int);
    let x = call.args[0];
    let exponent = call.map(Intrinsic::FrexpExponent, ints, &[x]);
    let exponent = call.cx.cast(exponent, call.t, call.span)?;
    let mantissa = call.map(Intrinsic::FrexpMantissa, call.t, &[x]);
    call.out(0, exponent)?;
    Ok(Some(mantissa))
}

/// `x * exp2(e)`: Direct3D rounds the exponent's power like any other.
pub(super) fn ldexp(call: &mut Call<'_, '_>) -> Lowered {
    let e = call.args[1];
    let scale = call.map(Intrinsic::Exp2, call.t, &[e]);
    Ok(Some(call.cx.binary(BinaryOp::Mul, call.args[0], scale)))
}

pub(super) fn modf(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.args[0];
    let whole = call.map(Intrinsic::Trunc, call.t, &[x]);
    call.out(0, whole)?;
    Ok(Some(call.cx.binary(BinaryOp::Sub, x, whole)))
}

pub(super) fn sincos(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.args[0];
    let sin = call.map(Intrinsic::Sin, call.t, &[x]);
    let cos = call.map(Intrinsic::Cos, call.t, &[x]);
    call.out(0, sin)?;
    call.out(1, cos)?;
    Ok(None)
}

pub(super) fn mad(call: &mut Call<'_, '_>) -> Lowered {
    let [a, b, c] = call.args[..] else { return Ok(None) };
    if call.elem().is_float() {
        return Ok(Some(call.map(Intrinsic::Mad, call.t, &[a, b, c])));
    }
    let product = call.cx.binary(BinaryOp::Mul, a, b);
    Ok(Some(call.cx.binary(BinaryOp::Add, product, c)))
}

/// `int`s: -1, 0 or 1.
pub(super) fn sign(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.args[0];
    if call.elem().is_unsigned() {
        let zero = call.cx.zero(call.t);
        let set = call.cx.binary(BinaryOp::Ne, x, zero);
        return call.cx.cast(set, call.ret, call.span).map(Some);
    }
    let sign = call.map(Intrinsic::Sign, call.t, &[x]);
    call.cx.cast(sign, call.ret, call.span).map(Some)
}

/// Whether neither zero, subnormal, infinite nor NaN: the magnitude is finite and at least the least normal number.
pub(super) fn isnormal(call: &mut Call<'_, '_>) -> Lowered {
    let x = call.args[0];
    let least = match call.elem() {
        Elem::Float16 => 6.103_515_625e-5,
        Elem::Double => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    let least = call.number(least)?;
    let magnitude = call.map(Intrinsic::Abs, call.t, &[x]);
    let large = call.cx.binary(BinaryOp::Ge, magnitude, least);
    let finite = call.map(Intrinsic::IsFinite, call.ret, &[x]);
    Ok(Some(call.cx.binary(BinaryOp::And, large, finite)))
}

/// Ambient, diffuse and specular coefficients: `(1, max(l, 0), l < 0 || h < 0 ? 0 : pow(h, m), 1)`.
pub(super) fn lit(call: &mut Call<'_, '_>) -> Lowered {
    let [l, h, m] = call.args[..] else { return Ok(None) };
    let cx = &mut *call.cx;
    let zero = cx.zero(Ty::FLOAT);
    let one = cx.number(1.0, Ty::FLOAT, call.span)?;
    let diffuse = cx.map_intrinsic(Intrinsic::Max, Ty::FLOAT, &[l, zero]);
    let dark_l = cx.binary(BinaryOp::Lt, l, zero);
    let dark_h = cx.binary(BinaryOp::Lt, h, zero);
    let dark = cx.binary(BinaryOp::Or, dark_l, dark_h);
    let power = cx.map_intrinsic(Intrinsic::Pow, Ty::FLOAT, &[h, m]);
    let specular = cx.select(dark, zero, power);
    Ok(Some(cx.from_components(call.ret, &[one.v, diffuse.v, specular.v, one.v])))
}

/// `(1, a.y * b.y, a.z, b.w)`.
pub(super) fn dst(call: &mut Call<'_, '_>) -> Lowered {
    let elem = call.elem();
    let one = call.cx.tys.scalar(elem);
    let product = call.cx.binary(BinaryOp::Mul, call.args[0], call.args[1]);
    let one = call.cx.number(1.0, one, call.span)?;
    let y = call.cx.extract(product.v, 1);
    let z = call.cx.extract(call.args[0].v, 2);
    let w = call.cx.extract(call.args[1].v, 3);
    Ok(Some(call.cx.from_components(call.ret, &[one.v, y, z, w])))
}

/// `select(cond, a, b)`, component by component.
pub(super) fn select(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [cond, a, b] = args else { return Err(cx.wrong_count("select", 3, args.len(), span)) };
    let (c, x, y) = (
        cx.rvalue(cond.expr.clone(), cond.span)?,
        cx.rvalue(a.expr.clone(), a.span)?,
        cx.rvalue(b.expr.clone(), b.span)?,
    );
    let (Some((_, cs)), Some((xe, xs)), Some((ye, ys))) =
        (cx.tys.as_numeric(c.ty), cx.tys.as_numeric(x.ty), cx.tys.as_numeric(y.ty))
    else {
        // Aggregates and handles: one condition for the whole.
        if cx.tys.same(x.ty, y.ty) && cx.tys.shape(c.ty).is_some_and(|s| s.count() == 1) {
            let c = cx.cast(c, Ty::BOOL, cond.span)?;
            return Ok(Expr::Value(cx.select(c, x, y)));
        }
        let (x, y) = (cx.show(x.ty), cx.show(y.ty));
        return Err(cx.error(codes::BAD_ARGUMENTS, span, format!("select cannot choose between {x} and {y}")));
    };
    let shape = meet_shapes(meet_shapes(xs, ys), if cs.count() == 1 { Shape::Scalar } else { cs });
    let ty = cx.tys.numeric(combine(xe, ye).concrete(), shape);
    let x = cx.convert(x, ty, a.span)?;
    let y = cx.convert(y, ty, b.span)?;
    let bools = if cs.count() == 1 { Ty::BOOL } else { cx.tys.with_elem(ty, Elem::Bool) };
    let same_elem = cx.tys.with_elem(c.ty, Elem::Bool);
    let c = cx.cast(c, same_elem, cond.span)?;
    let c = cx.convert(c, bools, cond.span)?;
    cx.at(span);
    Ok(Expr::Value(cx.select(c, x, y)))
}
