//! Guards for what C++ leaves undefined and HLSL does not, as far as they can be said in the IR: sums, differences,
//! products, negations and left shifts of signed integers are computed unsigned; shift amounts are masked. Guards that need
//! a function of Metal's (division, conversion of floats) are chosen when they are lowered, by the same ranges.

use super::ranges::{Places, Range, Ranges};
use oneshader_ir::{
    BinaryOp, Func, Function, Inst, InstData, InstFlags, IrModule, Op, Scalar, Type, TypeKind, UnaryOp, Value,
};
use smallvec::{SmallVec, smallvec};

/// What one instruction needs.
enum Guard {
    /// Computed in the unsigned type.
    Unsigned,
    /// The shift amount masked.
    Mask,
    /// Both.
    UnsignedMask,
    /// Computed in 32 bits: C++ multiplies `ushort`s as `int`s.
    Wide,
}

/// `params`: the numbers that the function's parameters are given.
pub(crate) fn run(module: &mut IrModule, func: Func, params: &[Range]) {
    // Decided on the program as it was: what guards change is not looked at.
    let function = &module.functions[func];
    if !function.live_insts().any(|(_, _, data)| may_need_guard(module, data)) {
        return;
    }
    let places = Places::new(function);
    let ranges = Ranges { module, function, places: &places, params, lifted: None };
    let mut guards: Vec<(Inst, Guard)> = Vec::new();
    for (_, inst, data) in function.live_insts() {
        if let Some(guard) = guard_of(&ranges, inst, data) {
            guards.push((inst, guard));
        }
    }
    if guards.is_empty() {
        return;
    }
    let any = module.functions[func].name;
    let void = module.types.void();
    let mut function =
        std::mem::replace(&mut module.functions[func], Function::new(any, void, oneshader_diag::Span::NONE));
    let mut todo = guards.into_iter().peekable();
    for block in function.order.clone() {
        let old = std::mem::take(&mut function.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len());
        for inst in old {
            if let Some((_, guard)) = todo.next_if(|(i, _)| *i == inst) {
                let mut rewrite = Rewrite { module, function: &mut function, new: &mut new };
                rewrite.apply(inst, &guard);
            }
            new.push(inst);
        }
        function.blocks[block].insts = new;
    }
    module.functions[func] = function;
}

/// Whether an operation is one of those that are guarded.
fn may_need_guard(module: &IrModule, data: &InstData) -> bool {
    use BinaryOp::{Add, Mul, Shl, Shr, Sub};
    matches!(data.op, Op::Binary(Add | Sub | Mul | Shl | Shr) | Op::Unary(UnaryOp::Neg))
        && module.types.scalar_of(data.ty).is_some_and(Scalar::is_int)
}

fn guard_of(ranges: &Ranges, inst: Inst, data: &InstData) -> Option<Guard> {
    let module = ranges.module;
    let scalar = module.types.scalar_of(data.ty)?;
    let Scalar::Int { bits, signed } = scalar else { return None };
    let is_vector = matches!(module.types.kind(data.ty), TypeKind::Vector { .. });
    match data.op {
        Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) | Op::Unary(UnaryOp::Neg) if signed => {
            // Scalars of 16 bits are computed as `int`s, where they do not overflow.
            let safe = (bits == 16 && !is_vector) || ranges.stays(inst);
            (!safe).then_some(Guard::Unsigned)
        }
        Op::Binary(BinaryOp::Mul) if bits == 16 && !is_vector => Some(Guard::Wide),
        Op::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr)) => {
            let amount = ranges.of(data.args[1]);
            let masked = amount.low >= 0.0 && amount.high < f64::from(bits);
            match (op == BinaryOp::Shl && signed && !(masked && ranges.stays(inst)), masked) {
                (true, true) => Some(Guard::Unsigned),
                (true, false) => Some(Guard::UnsignedMask),
                (false, true) => None,
                (false, false) => Some(Guard::Mask),
            }
        }
        _ => None,
    }
}

struct Rewrite<'a> {
    module: &'a mut IrModule,
    function: &'a mut Function,
    new: &'a mut Vec<Inst>,
}

impl Rewrite<'_> {
    fn apply(&mut self, inst: Inst, guard: &Guard) {
        let data = self.function.insts[inst].clone();
        match guard {
            Guard::Mask => {
                let amount = self.masked(&data, data.args[1]);
                self.function.insts[inst].args[1] = amount;
            }
            Guard::Unsigned | Guard::UnsignedMask => {
                let unsigned = self.unsigned(data.ty);
                let mut args: SmallVec<[Value; 4]> =
                    data.args.iter().map(|&a| self.bitcast(&data, a, unsigned)).collect();
                if matches!(guard, Guard::UnsignedMask) {
                    args[1] = self.masked(&data, args[1]);
                }
                let computed = self.add(&data, data.op, unsigned, args);
                self.function.insts[inst].op = Op::Bitcast;
                self.function.insts[inst].args = smallvec![computed];
            }
            Guard::Wide => {
                let wide = self.module.types.with_scalar(data.ty, Scalar::U32);
                let args = data.args.iter().map(|&a| self.add(&data, Op::Convert, wide, smallvec![a])).collect();
                let computed = self.add(&data, data.op, wide, args);
                self.function.insts[inst].op = Op::Convert;
                self.function.insts[inst].args = smallvec![computed];
            }
        }
    }

    fn add(&mut self, like: &InstData, op: Op, ty: Type, args: SmallVec<[Value; 4]>) -> Value {
        let data =
            InstData { op, args, preds: SmallVec::new(), ty, result: None, flags: InstFlags::empty(), span: like.span };
        let inst = self.function.add_inst(&mut self.module.types, data);
        self.new.push(inst);
        self.function.insts[inst].result.unwrap_or(like.args[0])
    }

    fn unsigned(&mut self, ty: Type) -> Type {
        let bits = self.module.types.scalar_of(ty).map_or(32, |s| s.bits() as u8);
        self.module.types.with_scalar(ty, Scalar::Int { bits, signed: false })
    }

    /// The same bits as `ty`; what was brought from there goes back for nothing.
    fn bitcast(&mut self, like: &InstData, value: Value, ty: Type) -> Value {
        if self.function.ty(value) == ty {
            return value;
        }
        if let Some(c) = self.function.as_const(value)
            && let Some(c) = self.cast_constant(c, ty)
        {
            return self.function.const_value(&self.module.consts, c);
        }
        if let Some((_, data)) = self.function.def_inst(value)
            && data.op == Op::Bitcast
            && self.function.ty(data.args[0]) == ty
            && self.function.value_names[value].is_none()
        {
            return data.args[0];
        }
        self.add(like, Op::Bitcast, ty, smallvec![value])
    }

    fn cast_constant(&mut self, c: oneshader_ir::Const, ty: Type) -> Option<oneshader_ir::Const> {
        let scalar = self.module.types.scalar_of(ty)?;
        if let Some(bits) = self.module.consts.bits(c) {
            return Some(self.module.consts.scalar(&mut self.module.types, scalar, bits));
        }
        let oneshader_ir::ConstData::Composite(parts) = self.module.consts.data(c).clone() else {
            return self.module.consts.is_zero(c).then(|| self.module.consts.zero(&self.module.types, ty));
        };
        let part_ty = self.module.types.scalar(scalar);
        let parts = parts.iter().map(|&p| self.cast_constant(p, part_ty)).collect::<Option<Vec<_>>>()?;
        Some(self.module.consts.composite(&self.module.types, ty, &parts))
    }

    /// The low bits of a shift amount.
    fn masked(&mut self, like: &InstData, amount: Value) -> Value {
        let ty = self.function.ty(amount);
        let Some(scalar) = self.module.types.scalar_of(ty) else { return amount };
        let mask = self.module.consts.scalar(&mut self.module.types, scalar, u64::from(scalar.bits() - 1));
        let lanes = self.module.types.lanes(ty);
        let mask = self.module.consts.splat(&mut self.module.types, mask, lanes);
        if let Some(bits) = self.function.as_const(amount).and_then(|c| self.module.consts.bits(c)) {
            let bits = bits & u64::from(scalar.bits() - 1);
            let masked = self.module.consts.scalar(&mut self.module.types, scalar, bits);
            return self.function.const_value(&self.module.consts, masked);
        }
        let mask = self.function.const_value(&self.module.consts, mask);
        self.add(like, Op::Binary(BinaryOp::And), ty, smallvec![amount, mask])
    }
}
