//! Atomics, interpolation functions, and hints about resources.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AtomicOp, InstFlags, Interpolation, Intrinsic, Op};

use super::{Call, Lowered};
use crate::cx::Cx;
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, R, TemplateValue, Value};

macro_rules! interlocked {
    ($($name:ident $text:literal $op:ident;)*) => {$(
        #[doc = concat!("`", $text, "(dest, value[, out original])`.")]
        pub(super) fn $name(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
            let ([dest, value] | [dest, value, _]) = args else { return Err(cx.wrong_count($text, 3, args.len(), span)) };
            let (pointer, ty) = cx.atomic_target($text, dest, AtomicOp::$op == AtomicOp::Exchange)?;
            cx.interlocked(AtomicOp::$op, pointer, ty, value, args.get(2), span)
        }
    )*};
}

interlocked! {
    interlocked_add "InterlockedAdd" Add;
    interlocked_and "InterlockedAnd" And;
    interlocked_exchange "InterlockedExchange" Exchange;
    interlocked_max "InterlockedMax" Max;
    interlocked_min "InterlockedMin" Min;
    interlocked_or "InterlockedOr" Or;
    interlocked_xor "InterlockedXor" Xor;
}

macro_rules! compare {
    ($($name:ident $text:literal $args:literal $floats:literal;)*) => {$(
        #[doc = concat!("`", $text, "`.")]
        pub(super) fn $name(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
            if args.len() != $args {
                return Err(cx.wrong_count($text, $args, args.len(), span));
            }
            let (pointer, ty) = cx.atomic_target($text, &args[0], $floats)?;
            cx.interlocked_compare(pointer, ty, [&args[1], &args[2]], args.get(3), span)
        }
    )*};
}

compare! {
    compare_exchange "InterlockedCompareExchange" 4 false;
    compare_exchange_float "InterlockedCompareExchangeFloatBitwise" 4 true;
    compare_store "InterlockedCompareStore" 3 false;
    compare_store_float "InterlockedCompareStoreFloatBitwise" 3 true;
}

impl Cx<'_> {
    /// The address and type of what an atomic function works on.
    fn atomic_target(&mut self, name: &str, dest: &Arg, floats: bool) -> R<(ir::Value, Ty)> {
        let place = self.out_place(&dest.expr, dest.span)?;
        let elem = self.tys.elem(place.ty).filter(|_| self.tys.shape(place.ty).is_some_and(|s| s.count() == 1));
        let fits = elem.is_some_and(|e| e.is_int() && e.bytes() >= 4 || floats && e.bytes() == 4 && e.is_float());
        if !fits {
            let shown = self.show(place.ty);
            let what = if floats { "an integer or float" } else { "an integer" };
            return Err(self.error(codes::BAD_ARGUMENTS, dest.span, format!("{name} works on {what}, not {shown}")));
        }
        let pointer = self.address(&place).filter(|&p| {
            let space = self.b.module.types.pointee(self.b.func.ty(p)).map(|(space, _)| space);
            matches!(
                space,
                Some(
                    ir::AddressSpace::Workgroup
                        | ir::AddressSpace::Storage
                        | ir::AddressSpace::Texel
                        | ir::AddressSpace::Device
                )
            )
        });
        match pointer {
            Some(pointer) => Ok((pointer, place.ty)),
            None => {
                let message = format!("{name} works on groupshared variables and read-write resources");
                Err(self.error(codes::BAD_ARGUMENTS, dest.span, message))
            }
        }
    }

    /// Emits an atomic operation and stores the value before.
    pub(super) fn interlocked(
        &mut self,
        op: AtomicOp,
        pointer: ir::Value,
        ty: Ty,
        value: &Arg,
        original: Option<&Arg>,
        span: Span,
    ) -> R<Expr> {
        let value = self.arg(value, ty)?;
        let out = original.map(|arg| self.out_place(&arg.expr, arg.span)).transpose()?;
        self.at(span);
        let before = Value { v: self.b.atomic(op, pointer, value.v), ty };
        if let Some(place) = out {
            self.store(&place, before, span)?;
        }
        Ok(Expr::Void)
    }

    /// Emits a compare-exchange and stores the value before.
    pub(super) fn interlocked_compare(
        &mut self,
        pointer: ir::Value,
        ty: Ty,
        [expected, value]: [&Arg; 2],
        original: Option<&Arg>,
        span: Span,
    ) -> R<Expr> {
        let expected = self.arg(expected, ty)?;
        let value = self.arg(value, ty)?;
        let out = original.map(|arg| self.out_place(&arg.expr, arg.span)).transpose()?;
        self.at(span);
        let result = self.b.ty(value.v);
        let before = self.b.value(Op::AtomicCompareExchange, result, &[pointer, expected.v, value.v]);
        if let Some(place) = out {
            self.store(&place, Value { v: before, ty }, span)?;
        }
        Ok(Expr::Void)
    }

    /// Whether the stage input of an address is the same for the whole triangle.
    fn is_flat(&self, address: ir::Value) -> bool {
        let ir::ValueDef::Global(global) = self.b.func.values[address].def else { return false };
        match &self.b.module.globals[global].kind {
            ir::GlobalKind::Io(io) => matches!(io.interpolation, Interpolation::Flat | Interpolation::PerVertex),
            _ => false,
        }
    }

    /// An interpolation function of a pixel input.
    fn evaluate(&mut self, intrinsic: Intrinsic, name: &str, arg: &Arg, more: &[Value], span: Span) -> R<Expr> {
        let ty = self.type_of(&arg.expr);
        let Some(input) = self.input_address(&arg.expr) else {
            // In a function's own right its parameters are no inputs; made again for a call they may be.
            return Err(self.error(codes::UNSUPPORTED, arg.span, format!("{name} takes an input of the pixel shader")));
        };
        self.at(span);
        let mut args = smallvec::SmallVec::<[ir::Value; 4]>::from_slice(&[input]);
        args.extend(more.iter().map(|v| v.v));
        let result = self.ir(ty);
        Ok(Expr::Value(Value { v: self.b.intrinsic(intrinsic, result, &args), ty }))
    }
}

pub(super) fn evaluate_centroid(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [input] = args else { return Err(cx.wrong_count("EvaluateAttributeCentroid", 1, args.len(), span)) };
    cx.evaluate(Intrinsic::EvaluateCentroid, "EvaluateAttributeCentroid", input, &[], span)
}

pub(super) fn evaluate_sample(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [input, sample] = args else { return Err(cx.wrong_count("EvaluateAttributeAtSample", 2, args.len(), span)) };
    let sample = cx.arg(sample, Ty::UINT)?;
    cx.evaluate(Intrinsic::EvaluateSample, "EvaluateAttributeAtSample", input, &[sample], span)
}

pub(super) fn evaluate_snapped(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [input, offset] = args else { return Err(cx.wrong_count("EvaluateAttributeSnapped", 2, args.len(), span)) };
    let int2 = cx.tys.vector(Elem::Int, 2);
    let offset = cx.arg(offset, int2)?;
    cx.evaluate(Intrinsic::EvaluateSnapped, "EvaluateAttributeSnapped", input, &[offset], span)
}

pub(super) fn attribute_at_vertex(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [input, vertex] = args else { return Err(cx.wrong_count("GetAttributeAtVertex", 2, args.len(), span)) };
    let index = cx.arg(vertex, Ty::UINT)?;
    if cx.known_int(index).is_some_and(|i| !(0..3).contains(&i)) {
        let message = "the vertex of GetAttributeAtVertex is 0, 1 or 2";
        return Err(cx.error(codes::BAD_ARGUMENTS, vertex.span, message));
    }
    if cx.input_address(&input.expr).is_some_and(|address| !cx.is_flat(address)) {
        let message = "GetAttributeAtVertex takes an input that is declared `nointerpolation`";
        return Err(cx.error(codes::BAD_ARGUMENTS, input.span, message));
    }
    cx.evaluate(Intrinsic::AttributeAtVertex, "GetAttributeAtVertex", input, &[index], span)
}

/// The operand, flagged.
pub(super) fn non_uniform(call: &mut Call<'_, '_>) -> Lowered {
    let index = call.args[0];
    let b = &mut call.cx.b;
    let (before, ty) = (b.flags, b.ty(index.v));
    b.flags |= InstFlags::NONUNIFORM;
    let v = b.value(Op::Copy, ty, &[index.v]);
    b.flags = before;
    Ok(Some(Value { v, ty: index.ty }))
}

/// `printf(format, numbers...)`. Narrow numbers are widened, as C widens what follows a format.
pub(super) fn printf(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [format, numbers @ ..] = args else { return Err(cx.wrong_count("printf", 1, 0, span)) };
    let Expr::Str(text) = format.expr else {
        let message = "printf takes a format first: a string literal, or a `string` set to one";
        return Err(cx.error(codes::BAD_ARGUMENTS, format.span, message));
    };
    let mut values: smallvec::SmallVec<[ir::Value; 4]> = smallvec::SmallVec::new();
    for arg in numbers {
        let value = cx.rvalue(arg.expr.clone(), arg.span)?;
        let value = cx.concrete(value);
        let elem = match cx.tys.as_numeric(value.ty) {
            Some((elem, Shape::Scalar | Shape::Vector(_))) => elem,
            _ => {
                let message = format!("printf prints scalars and vectors, not {}", cx.show(value.ty));
                return Err(cx.error(codes::BAD_ARGUMENTS, arg.span, message));
            }
        };
        let wide = match elem {
            Elem::Bool => Elem::Int,
            e if e.bytes() >= 4 && !e.is_min_precision() => e,
            e if e.is_float() => Elem::Float,
            e if e.is_unsigned() => Elem::Uint,
            _ => Elem::Int,
        };
        let ty = cx.tys.with_elem(value.ty, wide);
        values.push(cx.convert_numeric(value, ty).v);
    }
    cx.at(span);
    let format = cx.b.module.names.intern(cx.ast.string(text));
    cx.b.effect(Op::Printf(format), &values);
    Ok(Expr::Void)
}
