//! Atomic operations: on 32-bit integers in device and threadgroup memory, relaxed; on texels from Metal 3.1 on.

use super::body::Body;
use super::effects;
use crate::ast::{Expr, Prefix, Stmt};
use crate::options::MslVersion;
use crate::raise::usage;
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::{AddressSpace, AtomicOp, InstData, Op, Scalar, Value};

fn stem(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Add => "fetch_add",
        AtomicOp::Min => "fetch_min",
        AtomicOp::Max => "fetch_max",
        AtomicOp::And => "fetch_and",
        AtomicOp::Or => "fetch_or",
        AtomicOp::Xor => "fetch_xor",
        AtomicOp::Exchange => "exchange",
    }
}

/// How the memory of an atomic operation is seen.
struct Cell {
    /// `(device atomic_uint*)&place`.
    object: Expr,
    /// What it holds.
    scalar: Scalar,
}

impl Body<'_, '_> {
    pub(super) fn atomic(&mut self, data: &InstData, op: AtomicOp) {
        if let Some((texture, coordinate)) = self.texel(data.args[0]) {
            return self.texel_atomic(data, op, texture, &coordinate);
        }
        let used = data.result.is_some_and(|r| self.use_count(r) > 0);
        let value = self.value(data.args[1]);
        let ty = self.function.ty(data.args[1]);
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        if scalar.bits() == 64 {
            return self.wide_atomic(data, op, scalar, value, used);
        }
        let Some(cell) = self.cell(data, scalar) else { return };
        let value = self.cell_value(value, scalar, cell.scalar);
        let order = self.text("memory_order_relaxed");
        let call = self.call(&format!("atomic_{}_explicit", stem(op)), &[cell.object, value, order]);
        self.finish(data, call, scalar, cell.scalar);
    }

    /// The address of 32-bit memory as an atomic type.
    fn cell(&mut self, data: &InstData, scalar: Scalar) -> Option<Cell> {
        let pointer = data.args[0];
        let space = self.cx.types.pointee(self.function.ty(pointer)).map(|(s, _)| s);
        let supported = matches!(space, Some(AddressSpace::Storage | AddressSpace::Device | AddressSpace::Workgroup))
            && scalar.bits() == 32;
        if !supported || scalar == Scalar::Bool {
            self.error(
                codes::MSL_ATOMIC,
                data.span,
                "Metal has atomic operations on 32-bit numbers in device and threadgroup memory only",
            );
            return None;
        }
        let place = self.place(pointer);
        // A float is exchanged as the bits it is.
        let cell = if scalar.is_float() { Scalar::U32 } else { scalar };
        let name = if cell.is_signed() { "atomic_int" } else { "atomic_uint" };
        let address = self.address_of(place.expr);
        // Atomics reach the whole device by themselves.
        let space = place.space.strip_prefix("coherent ").unwrap_or(place.space);
        let object = self.cast(&format!("{space} {name}*"), address);
        Some(Cell { object, scalar: cell })
    }

    fn cell_value(&mut self, value: Expr, from: Scalar, to: Scalar) -> Expr {
        if from == to { value } else { self.call("as_type<uint>", &[value]) }
    }

    /// Writes the operation; its result becomes a variable when it is used.
    fn finish(&mut self, data: &InstData, call: Expr, scalar: Scalar, cell: Scalar) {
        self.mark_line(data.span);
        let writes = match self.cx.types.pointee(self.function.ty(data.args[0])) {
            Some((AddressSpace::Workgroup, _)) => effects::WORKGROUP,
            _ => effects::STORAGE,
        };
        self.flush(writes, false);
        match data.result.filter(|&r| self.use_count(r) > 0) {
            Some(result) => {
                let call = if scalar == cell { call } else { self.call("as_type<float>", &[call]) };
                self.set_result(result, call);
            }
            None => self.out.push(Stmt::Do(call)),
        }
    }

    /// MSL specification 6.15.4.6: `atomic_max_explicit` and `atomic_min_explicit` on `atomic_ulong`, without result.
    fn wide_atomic(&mut self, data: &InstData, op: AtomicOp, scalar: Scalar, value: Expr, used: bool) {
        let space = self.cx.types.pointee(self.function.ty(data.args[0])).map(|(s, _)| s);
        let name = match op {
            AtomicOp::Max => "atomic_max_explicit",
            AtomicOp::Min => "atomic_min_explicit",
            _ => "",
        };
        let integer = matches!(scalar, Scalar::Int { signed: false, .. });
        let device = matches!(space, Some(AddressSpace::Storage | AddressSpace::Device));
        if used || name.is_empty() || !integer || !device {
            return self.error(
                codes::MSL_UNSUPPORTED_TYPE,
                data.span,
                "of the 64-bit atomics Metal has unsigned max and min in device memory without a result",
            );
        }
        let place = self.place(data.args[0]);
        let address = self.address_of(place.expr);
        let object = self.cast("device atomic_ulong*", address);
        let order = self.text("memory_order_relaxed");
        let call = self.call(name, &[object, value, order]);
        self.mark_line(data.span);
        self.flush(effects::STORAGE, false);
        self.out.push(Stmt::Do(call));
    }

    pub(super) fn compare_exchange(&mut self, data: &InstData) {
        let args = self.values(&data.args[1..]);
        let ty = self.function.ty(data.args[2]);
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        if let Some((texture, coordinate)) = self.texel(data.args[0]) {
            return self.texel_compare_exchange(data, texture, &coordinate, &args);
        }
        if scalar.bits() == 64 {
            return self.error(
                codes::MSL_UNSUPPORTED_TYPE,
                data.span,
                "of the 64-bit atomics Metal has unsigned max and min in device memory without a result",
            );
        }
        let Some(cell) = self.cell(data, scalar) else { return };
        let expected = self.cell_value(args[0], scalar, cell.scalar);
        let desired = self.cell_value(args[1], scalar, cell.scalar);
        let name = self.cx.need(Helper::CompareExchange);
        let call = self.call(name, &[cell.object, expected, desired]);
        self.finish(data, call, scalar, cell.scalar);
    }

    /// `IncrementCounter` gives the value before, `DecrementCounter` the one after.
    pub(super) fn counter(&mut self, data: &InstData, delta: i8) {
        let Some((param, indices)) = usage::root(self.function, data.args[0]) else { return };
        if self.is_table(param) {
            return self.no_entry_fact(data.span, "counters");
        }
        let object = self.counter_of(param, indices);
        let one = self.uint(1);
        let order = self.text("memory_order_relaxed");
        let name = if delta > 0 { "atomic_fetch_add_explicit" } else { "atomic_fetch_sub_explicit" };
        let call = self.call(name, &[object, one, order]);
        self.mark_line(data.span);
        self.flush(effects::STORAGE, false);
        match data.result.filter(|&r| self.use_count(r) > 0) {
            Some(result) => {
                let value = match delta > 0 {
                    true => call,
                    false => {
                        let one = self.uint(1);
                        self.infix(crate::ast::Infix::Sub, call, one)
                    }
                };
                self.set_result(result, value);
            }
            None => self.out.push(Stmt::Do(call)),
        }
    }

    /// The texture and coordinate of a texel's address.
    fn texel(&self, pointer: Value) -> Option<(Value, Vec<Value>)> {
        let (_, data) = self.function.def_inst(pointer)?;
        (data.op == Op::TexelPtr).then(|| (data.args[0], data.args[1..].to_vec()))
    }

    fn texel_place(&mut self, data: &InstData, texture: Value, coordinate: &[Value]) -> Option<(Expr, Vec<Expr>)> {
        if self.cx.options.version < MslVersion::V3_1 {
            self.error(codes::MSL_TEXTURE_ATOMIC, data.span, "atomic operations on textures need Metal 3.1");
            return None;
        }
        let object = self.handle(texture);
        let coordinate = self.texel_coordinate(texture, coordinate[0]);
        Some((object, coordinate))
    }

    fn texel_atomic(&mut self, data: &InstData, op: AtomicOp, texture: Value, coordinate: &[Value]) {
        let value = self.value(data.args[1]);
        let Some((object, mut args)) = self.texel_place(data, texture, coordinate) else { return };
        args.push(value);
        let call = self.method(object, &format!("atomic_{}", stem(op)), &args);
        self.finish_texel(data, call);
    }

    fn texel_compare_exchange(&mut self, data: &InstData, texture: Value, coordinate: &[Value], args: &[Expr]) {
        let Some((object, mut list)) = self.texel_place(data, texture, coordinate) else { return };
        // The old value comes back in the variable of the expected one; again while it failed without reason.
        let elem = self.cx.types.scalar_of(data.ty).unwrap_or(Scalar::U32);
        let vector = self.cx.types.vector(elem, 4);
        let ty = self.cx.value_type(vector);
        let expected = self.temporary("expected", data.ty, args[0]);
        let old = self.var("old", ty, crate::ast::VarKind::Phi);
        let old_expr = self.var_expr(old);
        let splat = self.construct(vector, &[expected]);
        let address = self.prefix(Prefix::AddressOf, old_expr);
        list.push(address);
        let desired = self.construct(vector, &[args[1]]);
        list.push(desired);
        let call = self.method(object, "atomic_compare_exchange_weak", &list);
        self.flush(effects::TEXTURE, false);
        let part = self.swizzle(old_expr, &[0]);
        let failed = self.prefix(Prefix::Not, call);
        let same = self.infix(crate::ast::Infix::Eq, part, expected);
        let cond = self.infix(crate::ast::Infix::LogicalAnd, failed, same);
        let body = vec![Stmt::Set(old, splat)];
        self.out.push(Stmt::DoWhile { body, cond });
        if let Some(result) = data.result {
            self.bind(result, part);
        }
    }

    fn finish_texel(&mut self, data: &InstData, call: Expr) {
        self.mark_line(data.span);
        self.flush(effects::TEXTURE, false);
        match data.result.filter(|&r| self.use_count(r) > 0) {
            Some(result) => {
                let call = self.swizzle(call, &[0]);
                self.set_result(result, call);
            }
            None => self.out.push(Stmt::Do(call)),
        }
    }
}
