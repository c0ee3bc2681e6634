//! Functions of bits: reinterpretation, packing, 8-bit arithmetic.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{BinaryOp, Intrinsic, Op};
use smallvec::SmallVec;

use super::{Call, Lowered};
use crate::cx::Cx;
use crate::ty::{Elem, Shape, Ty};
use crate::value::{Arg, Expr, R, TemplateValue, Value};

macro_rules! reinterpret {
    ($($name:ident $text:literal $elem:ident;)*) => {$(
        #[doc = concat!("`", $text, "(x)`.")]
        pub(super) fn $name(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
            reinterpret(cx, $text, Elem::$elem, args, span)
        }
    )*};
}

reinterpret! {
    as_float "asfloat" Float;
    as_int "asint" Int;
    as_float16 "asfloat16" Float16;
    as_int16 "asint16" Int16;
    as_uint16 "asuint16" Uint16;
}

fn reinterpret(cx: &mut Cx<'_>, name: &str, to: Elem, args: &[Arg], span: Span) -> R<Expr> {
    let [arg] = args else { return Err(cx.wrong_count(name, 1, args.len(), span)) };
    let x = cx.rvalue(arg.expr.clone(), arg.span)?;
    // A literal has the width that is asked for.
    let x = match cx.tys.elem(x.ty) {
        Some(Elem::LitInt) if to.bytes() == 2 => {
            let ty = cx.tys.scalar(Elem::Int16);
            cx.convert(x, ty, arg.span)?
        }
        Some(Elem::LitFloat) if to.bytes() == 2 => {
            let ty = cx.tys.scalar(Elem::Float16);
            cx.convert(x, ty, arg.span)?
        }
        _ => cx.concrete(x),
    };
    let elem = cx.tys.elem(x.ty).filter(|e| *e != Elem::Bool && e.bytes() == to.bytes());
    if elem.is_none() {
        let (shown, bits) = (cx.show(x.ty), to.bytes() * 8);
        return Err(cx.error(codes::BAD_ARGUMENTS, arg.span, format!("{name} takes {bits}-bit numbers, not {shown}")));
    }
    cx.at(span);
    let ty = cx.tys.with_elem(x.ty, to);
    Ok(Expr::Value(cx.bitcast(x, ty)))
}

impl Cx<'_> {
    /// The same bits as another numeric type of the same shape.
    fn bitcast(&mut self, x: Value, ty: Ty) -> Value {
        self.by_rows(
            ty,
            &[x],
            false,
            |cx, to, args| {
                if cx.b.ty(args[0]) == to { args[0] } else { cx.emit(Op::Bitcast, to, args) }
            },
        )
    }

    /// A `uint` operation with a constant on the right.
    fn with_u32(&mut self, op: BinaryOp, a: ir::Value, b: u32) -> ir::Value {
        let ty = self.b.ty(a);
        let scalar = self.b.module.types.scalar_of(ty).unwrap_or(ir::Scalar::U32);
        let c = self.b.module.consts.scalar(&mut self.b.module.types, scalar, u64::from(b));
        let c = self.b.constant(c);
        self.emit(Op::Binary(op), ty, &[a, c])
    }

    /// Byte `index` of a `uint`, zero-extended.
    fn byte(&mut self, word: ir::Value, index: u32) -> ir::Value {
        let shifted = if index == 0 { word } else { self.with_u32(BinaryOp::Shr, word, 8 * index) };
        if index == 3 { shifted } else { self.with_u32(BinaryOp::And, shifted, 0xff) }
    }

    /// Byte `index` of a `uint`, sign-extended to `int`.
    fn signed_byte(&mut self, word: ir::Value, index: u32) -> ir::Value {
        let int = self.ir(Ty::INT);
        let word = self.emit(Op::Bitcast, int, &[word]);
        let high = if index == 3 { word } else { self.with_u32(BinaryOp::Shl, word, 24 - 8 * index) };
        self.with_u32(BinaryOp::Shr, high, 24)
    }

    /// The low bytes of four `uint`s as one.
    fn join_bytes(&mut self, words: &[ir::Value]) -> ir::Value {
        let uint = self.ir(Ty::UINT);
        let mut sum: Option<ir::Value> = None;
        for (i, &word) in words.iter().enumerate() {
            let byte = self.with_u32(BinaryOp::And, word, 0xff);
            let placed = if i == 0 { byte } else { self.with_u32(BinaryOp::Shl, byte, 8 * i as u32) };
            sum = Some(match sum {
                Some(before) => self.emit(Op::Binary(BinaryOp::Or), uint, &[before, placed]),
                None => placed,
            });
        }
        sum.unwrap_or_else(|| self.int(0, Elem::Uint).v)
    }
}

/// `asuint(x)`, or `asuint(double, out low, out high)`.
pub(super) fn as_uint(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [arg, low, high] = args else { return reinterpret(cx, "asuint", Elem::Uint, args, span) };
    let x = cx.rvalue(arg.expr.clone(), arg.span)?;
    let shape = cx.tys.shape(x.ty).unwrap_or(Shape::Scalar);
    let doubles = cx.tys.numeric(Elem::Double, shape);
    let x = cx.convert(x, doubles, arg.span)?;
    let (low_place, high_place) = (cx.out_place(&low.expr, low.span)?, cx.out_place(&high.expr, high.span)?);
    cx.at(span);
    let uint2 = cx.b.module.types.vector(ir::Scalar::U32, 2);
    let (mut lows, mut highs) = (SmallVec::<[ir::Value; 16]>::new(), SmallVec::<[ir::Value; 16]>::new());
    for d in cx.components(x) {
        let pair = cx.emit(Op::Bitcast, uint2, &[d]);
        lows.push(cx.extract(pair, 0));
        highs.push(cx.extract(pair, 1));
    }
    let uints = cx.tys.numeric(Elem::Uint, shape);
    let (l, h) = (cx.from_components(uints, &lows), cx.from_components(uints, &highs));
    cx.store(&low_place, l, low.span)?;
    cx.store(&high_place, h, high.span)?;
    Ok(Expr::Void)
}

/// `asdouble(low, high)`, component by component.
pub(super) fn as_double(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [low, high] = args else { return Err(cx.wrong_count("asdouble", 2, args.len(), span)) };
    let l = cx.rvalue(low.expr.clone(), low.span)?;
    let shape = match cx.tys.shape(l.ty) {
        Some(shape @ (Shape::Scalar | Shape::Vector(_))) => shape,
        _ => {
            let shown = cx.show(l.ty);
            return Err(cx.error(codes::BAD_ARGUMENTS, span, format!("asdouble takes integers, not {shown}")));
        }
    };
    let uints = cx.tys.numeric(Elem::Uint, shape);
    let l = cx.convert(l, uints, low.span)?;
    let h = cx.arg(high, uints)?;
    cx.at(span);
    let uint2 = cx.b.module.types.vector(ir::Scalar::U32, 2);
    let double = cx.b.module.types.scalar(ir::Scalar::F64);
    let (l, h) = (cx.components(l), cx.components(h));
    let doubles: SmallVec<[ir::Value; 4]> = l
        .into_iter()
        .zip(h)
        .map(|(l, h)| {
            let pair = cx.construct(uint2, &[l, h]);
            cx.emit(Op::Bitcast, double, &[pair])
        })
        .collect();
    let ty = cx.tys.numeric(Elem::Double, shape);
    Ok(Expr::Value(cx.from_components(ty, &doubles)))
}

pub(super) fn f16tof32(call: &mut Call<'_, '_>) -> Lowered {
    let uints = call.cx.tys.with_elem(call.t, Elem::Uint);
    let x = call.cx.cast(call.args[0], uints, call.span)?;
    Ok(Some(call.map(Intrinsic::F16ToF32, call.ret, &[x])))
}

pub(super) fn f32tof16(call: &mut Call<'_, '_>) -> Lowered {
    let floats = call.cx.tys.with_elem(call.t, Elem::Float);
    let x = call.cx.cast(call.args[0], floats, call.span)?;
    Ok(Some(call.map(Intrinsic::F32ToF16, call.ret, &[x])))
}

/// `int4(c.zyxw * 255.001953)`, as D3D9 defined it.
pub(super) fn color_to_ubyte4(call: &mut Call<'_, '_>) -> Lowered {
    let comps = call.cx.components(call.args[0]);
    let float4 = Ty::FLOAT4;
    let turned = call.cx.from_components(float4, &[comps[2], comps[1], comps[0], comps[3]]);
    let scale = call.cx.number(255.001_953, float4, call.span)?;
    let scaled = call.cx.binary(BinaryOp::Mul, turned, scale);
    call.cx.cast(scaled, call.ret, call.span).map(Some)
}

/// Four masked sums of absolute differences: `reference`'s bytes against `source`'s at byte offsets 0 to 3; a reference
/// byte of 0 counts nothing.
pub(super) fn msad4(call: &mut Call<'_, '_>) -> Lowered {
    let [reference, source, sums] = call.args[..] else { return Ok(None) };
    let cx = &mut *call.cx;
    let (source, sums) = (cx.components(source), cx.components(sums));
    let uint = cx.ir(Ty::UINT);
    let bool_ty = cx.ir(Ty::BOOL);
    let zero = cx.int(0, Elem::Uint).v;
    let mut out: SmallVec<[ir::Value; 4]> = SmallVec::new();
    for (i, &start) in sums.iter().enumerate() {
        let window = if i == 0 {
            source[0]
        } else {
            let low = cx.with_u32(BinaryOp::Shr, source[0], 8 * i as u32);
            let high = cx.with_u32(BinaryOp::Shl, source[1], 32 - 8 * i as u32);
            cx.emit(Op::Binary(BinaryOp::Or), uint, &[low, high])
        };
        let mut sum = start;
        for byte in 0..4 {
            let (r, s) = (cx.byte(reference.v, byte), cx.byte(window, byte));
            let high = cx.emit(Op::Intrinsic(Intrinsic::Max), uint, &[r, s]);
            let low = cx.emit(Op::Intrinsic(Intrinsic::Min), uint, &[r, s]);
            let difference = cx.emit(Op::Binary(BinaryOp::Sub), uint, &[high, low]);
            let masked = cx.emit(Op::Binary(BinaryOp::Eq), bool_ty, &[r, zero]);
            let counted = cx.emit(Op::Select, uint, &[masked, zero, difference]);
            sum = cx.emit(Op::Binary(BinaryOp::Add), uint, &[sum, counted]);
        }
        out.push(sum);
    }
    Ok(Some(cx.from_components(call.ret, &out)))
}

pub(super) fn dot4add_u8(call: &mut Call<'_, '_>) -> Lowered {
    dot4add(call, |cx, v, i| cx.byte(v, i))
}

pub(super) fn dot4add_i8(call: &mut Call<'_, '_>) -> Lowered {
    dot4add(call, |cx, v, i| cx.signed_byte(v, i))
}

fn dot4add(call: &mut Call<'_, '_>, byte: fn(&mut Cx<'_>, ir::Value, u32) -> ir::Value) -> Lowered {
    let [a, b, start] = call.args[..] else { return Ok(None) };
    let ty = call.cx.ir(call.ret);
    let mut sum = start.v;
    for i in 0..4 {
        let (x, y) = (byte(call.cx, a.v, i), byte(call.cx, b.v, i));
        let product = call.cx.emit(Op::Binary(BinaryOp::Mul), ty, &[x, y]);
        sum = call.cx.emit(Op::Binary(BinaryOp::Add), ty, &[sum, product]);
    }
    Ok(Some(Value { v: sum, ty: call.ret }))
}

/// The low bytes of four integers.
pub(super) fn pack_8(call: &mut Call<'_, '_>) -> Lowered {
    let uint4 = call.cx.tys.vector(Elem::Uint, 4);
    let x = call.cx.cast(call.args[0], uint4, call.span)?;
    let words = call.cx.components(x);
    Ok(Some(Value { v: call.cx.join_bytes(&words), ty: call.ret }))
}

pub(super) fn pack_clamp_u8(call: &mut Call<'_, '_>) -> Lowered {
    pack_clamp(call, 0, 255)
}

pub(super) fn pack_clamp_s8(call: &mut Call<'_, '_>) -> Lowered {
    pack_clamp(call, -128, 127)
}

fn pack_clamp(call: &mut Call<'_, '_>, low: i64, high: i64) -> Lowered {
    let x = call.args[0];
    let (low, high) = (call.cx.int(low, Elem::Int), call.cx.int(high, Elem::Int));
    let low = call.cx.convert(low, x.ty, call.span)?;
    let high = call.cx.convert(high, x.ty, call.span)?;
    call.args[0] = call.map(Intrinsic::Clamp, x.ty, &[x, low, high]);
    pack_8(call)
}

pub(super) fn unpack_u8(call: &mut Call<'_, '_>) -> Lowered {
    unpack(call, Elem::Uint, |cx, v, i| cx.byte(v, i))
}

pub(super) fn unpack_s8(call: &mut Call<'_, '_>) -> Lowered {
    unpack(call, Elem::Int, |cx, v, i| cx.signed_byte(v, i))
}

fn unpack(call: &mut Call<'_, '_>, elem: Elem, byte: fn(&mut Cx<'_>, ir::Value, u32) -> ir::Value) -> Lowered {
    let word = call.args[0].v;
    let bytes: SmallVec<[ir::Value; 4]> = (0..4).map(|i| byte(call.cx, word, i)).collect();
    let wide = call.cx.tys.vector(elem, 4);
    let wide = call.cx.from_components(wide, &bytes);
    call.cx.cast(wide, call.ret, call.span).map(Some)
}

/// `AddUint64(a, b)`: one or two 64-bit sums, each as (low, high).
pub(super) fn add_uint64(cx: &mut Cx<'_>, args: &[Arg], _: &[TemplateValue], span: Span) -> R<Expr> {
    let [left, right] = args else { return Err(cx.wrong_count("AddUint64", 2, args.len(), span)) };
    let a = cx.rvalue(left.expr.clone(), left.span)?;
    let n = match cx.tys.shape(a.ty) {
        Some(Shape::Vector(n @ (2 | 4))) => n,
        _ => {
            let shown = cx.show(a.ty);
            return Err(cx.error(
                codes::BAD_ARGUMENTS,
                left.span,
                format!("AddUint64 takes uint2 or uint4, not {shown}"),
            ));
        }
    };
    let ty = cx.tys.vector(Elem::Uint, n);
    let a = cx.convert(a, ty, left.span)?;
    let b = cx.arg(right, ty)?;
    cx.at(span);
    let (uint, bool_ty) = (cx.ir(Ty::UINT), cx.ir(Ty::BOOL));
    let (a, b) = (cx.components(a), cx.components(b));
    let mut out: SmallVec<[ir::Value; 4]> = SmallVec::new();
    for (a, b) in a.chunks(2).zip(b.chunks(2)) {
        let low = cx.emit(Op::Binary(BinaryOp::Add), uint, &[a[0], b[0]]);
        let carry = cx.emit(Op::Binary(BinaryOp::Lt), bool_ty, &[low, a[0]]);
        let carry = cx.emit(Op::Convert, uint, &[carry]);
        let high = cx.emit(Op::Binary(BinaryOp::Add), uint, &[a[1], b[1]]);
        let high = cx.emit(Op::Binary(BinaryOp::Add), uint, &[high, carry]);
        out.extend([low, high]);
    }
    Ok(Expr::Value(cx.from_components(ty, &out)))
}
