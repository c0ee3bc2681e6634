//! Arithmetic, conversions, and the dispatch of instructions.

use super::body::Body;
use super::effects;
use crate::ast::{Expr, ExprKind, Infix, Prefix, Stmt, VarKind};
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::{BinaryOp, Inst, InstData, InstFlags, Op, Scalar, Type, TypeKind, UnaryOp};

impl Body<'_, '_> {
    pub(super) fn inst(&mut self, inst: Inst) {
        let function = self.function;
        let data = &function.insts[inst];
        // A value nobody asks for is not written, unless something happens on the way.
        let unused = data.result.is_none_or(|r| self.use_count(r) == 0);
        match data.op {
            Op::Access | Op::BlockPtr | Op::ElementPtr | Op::RawPtr | Op::TexelPtr | Op::AddressPtr { .. } => {
                return self.settle_operands(data);
            }
            Op::Load if self.is_handle(data.ty) => return self.settle_operands(data),
            Op::Store => return self.store_inst(data),
            Op::RawStore => return self.raw_store(data),
            Op::Call(callee) => return self.call_inst(inst, data, callee),
            Op::Atomic(op) => return self.atomic(data, op),
            Op::AtomicCompareExchange => return self.compare_exchange(data),
            Op::Counter { delta } => return self.counter(data, delta),
            Op::Discard => return self.discard(data),
            Op::Printf(_) => {
                return self.error(codes::MSL_DEBUGGING, data.span, "Metal prints nothing from shaders");
            }
            Op::Texture(op, operands) => return self.texture(inst, data, op, operands),
            Op::Intrinsic(which) => return self.intrinsic(inst, data, which),
            _ if unused => return,
            Op::Insert { index } => return self.insert(data, index),
            Op::Load => return self.load_inst(inst, data),
            Op::RawLoad => return self.raw_load(inst, data),
            Op::BufferLength => return self.buffer_length(inst, data),
            _ => {}
        }
        let expr = self.pure(data);
        self.define(inst, expr);
    }

    fn is_handle(&self, ty: Type) -> bool {
        matches!(self.cx.types.kind(ty), TypeKind::Resource(_))
    }

    fn pure(&mut self, data: &InstData) -> Expr {
        let ty = data.ty;
        match data.op {
            Op::Unary(op) => {
                let a = self.value(data.args[0]);
                self.unary(op, a, ty)
            }
            Op::Binary(op) => self.binary(op, data),
            Op::Select => {
                let args = self.values(&data.args);
                self.select(args[0], args[1], args[2], self.function.ty(data.args[0]), ty)
            }
            Op::Convert => self.conversion(data),
            Op::Bitcast => {
                let from = self.function.ty(data.args[0]);
                let a = self.value(data.args[0]);
                self.bitcast(a, from, ty)
            }
            Op::Copy => self.value(data.args[0]),
            Op::Construct => {
                let args = self.values(&data.args);
                match self.cx.types.kind(ty) {
                    TypeKind::Array { .. } | TypeKind::Struct(_) => self.init(ty, &args),
                    TypeKind::Vector { .. } => {
                        let lanes: Vec<u8> =
                            data.args.iter().map(|&a| self.cx.types.lanes(self.function.ty(a))).collect();
                        self.vector(ty, &args, &lanes)
                    }
                    _ => self.construct(ty, &args),
                }
            }
            Op::Splat => {
                let a = self.value(data.args[0]);
                let expr = self.construct(ty, &[a]);
                self.splats.insert(expr, a);
                expr
            }
            Op::Extract { index } => {
                let a = self.value(data.args[0]);
                self.extract(a, self.function.ty(data.args[0]), index)
            }
            Op::ExtractDynamic => {
                let args = self.values(&data.args);
                self.index(args[0], args[1])
            }
            Op::Swizzle(swizzle) => {
                let a = self.value(data.args[0]);
                self.lanes.insert(a, self.cx.types.lanes(self.function.ty(data.args[0])));
                // Of known components, those that are picked.
                let picked: Option<Vec<Expr>> = self
                    .components
                    .get(&a)
                    .and_then(|parts| swizzle.comps().iter().map(|&c| parts.get(usize::from(c)).copied()).collect());
                match picked {
                    Some(parts) if parts.iter().all(|&p| self.is_simple(p)) => {
                        self.vector(ty, &parts, &[1, 1, 1, 1][..parts.len()])
                    }
                    _ => self.swizzle(a, swizzle.comps()),
                }
            }
            Op::MatMul => {
                // A matrix of HLSL and its namesake of Metal are each other's transpose.
                let args = self.values(&data.args);
                let is_vector =
                    |i: usize| matches!(self.cx.types.kind(self.function.ty(data.args[i])), TypeKind::Vector { .. });
                // `v * transpose(m)` is `m * v`, and the other way round.
                match (self.transposed(args[0]), self.transposed(args[1])) {
                    (Some(m), _) if is_vector(1) => self.infix(Infix::Mul, m, args[1]),
                    (_, Some(m)) if is_vector(0) => self.infix(Infix::Mul, args[0], m),
                    _ => self.infix(Infix::Mul, args[1], args[0]),
                }
            }
            _ => self.zero(ty),
        }
    }

    /// What `expr` is the transpose of, when it is written so.
    fn transposed(&self, expr: Expr) -> Option<Expr> {
        match self.arena[expr].kind {
            ExprKind::Call(name, args) if self.cx.names.get(name) == "transpose" => {
                self.arena.args(args).first().copied()
            }
            _ => None,
        }
    }

    pub(super) fn extract(&mut self, a: Expr, ty: Type, index: u32) -> Expr {
        match self.cx.types.kind(ty) {
            TypeKind::Vector { len, .. } => {
                self.lanes.insert(a, len);
                self.swizzle(a, &[index as u8])
            }
            TypeKind::Struct(id) => {
                let name = self.cx.member_name(id, index as usize);
                self.member(a, name)
            }
            TypeKind::Scalar(_) => a,
            _ => {
                let index = self.number(i64::from(index));
                self.index(a, index)
            }
        }
    }

    /// `T t = a; t.x = b;`
    fn insert(&mut self, data: &InstData, index: u32) {
        let Some(result) = data.result else { return };
        let args = self.values(&data.args);
        let name = match self.function.value_names[result] {
            Some(name) => self.cx.raised.module.names.get(name).to_owned(),
            None => "t".to_owned(),
        };
        let ty = self.cx.value_type(data.ty);
        // A chain of replacements goes on in the same variable when nobody else sees the steps.
        let chained = match (self.arena[args[0]].kind, self.function.def_inst(data.args[0])) {
            (ExprKind::Var(var), Some((_, previous)))
                if matches!(previous.op, Op::Insert { .. })
                    && self.use_count(data.args[0]) == 1
                    && self.is_local_to_region(data.args[0]) =>
            {
                Some(var)
            }
            _ => None,
        };
        let var = match chained {
            Some(var) => var,
            None => {
                let var = self.var(&name, ty, VarKind::Phi);
                self.out.push(Stmt::Set(var, args[0]));
                var
            }
        };
        let object = self.var_expr(var);
        let place = self.extract(object, data.ty, index);
        self.out.push(Stmt::Assign(place, args[1]));
        self.bind(result, object);
    }

    fn unary(&mut self, op: UnaryOp, a: Expr, ty: Type) -> Expr {
        match op {
            UnaryOp::Neg => {
                if let TypeKind::Matrix { elem, .. } = self.cx.types.kind(ty) {
                    let minus = self.text(if elem == Scalar::F16 { "-1.0h" } else { "-1.0f" });
                    return self.infix(Infix::Mul, a, minus);
                }
                let expr = self.prefix(Prefix::Neg, a);
                self.narrow(expr, ty)
            }
            UnaryOp::Not => match self.arena[a].kind {
                ExprKind::Prefix(Prefix::Not, inner) => inner,
                _ => self.prefix(Prefix::Not, a),
            },
            UnaryOp::BitNot => {
                let expr = self.prefix(Prefix::BitNot, a);
                self.narrow(expr, ty)
            }
        }
    }

    /// C++ computes scalars of 16 bits in 32: brings the result back.
    fn narrow(&mut self, expr: Expr, ty: Type) -> Expr {
        match self.cx.types.kind(ty) {
            TypeKind::Scalar(Scalar::Int { bits: 16, .. }) => self.construct(ty, &[expr]),
            _ => expr,
        }
    }

    fn binary(&mut self, op: BinaryOp, data: &InstData) -> Expr {
        let operand_ty = self.function.ty(data.args[0]);
        let scalar = self.cx.types.scalar_of(operand_ty).unwrap_or(Scalar::U32);
        let is_matrix = matches!(self.cx.types.kind(operand_ty), TypeKind::Matrix { .. });
        let mut args = self.values(&data.args);
        let is_scalar_bool = scalar == Scalar::Bool && self.cx.types.lanes(operand_ty) == 1;
        if is_scalar_bool && matches!(op, BinaryOp::And | BinaryOp::Or) {
            // `&&` computes its right side only sometimes: what lanes exchange there must come before.
            if self.arena[args[1]].depends.convergent {
                args[1] = self.temporary("condition", operand_ty, args[1]);
            }
        }
        let (mut a, mut b) = (args[0], args[1]);
        // A scalar beside a vector counts for each component.
        if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) && !is_matrix {
            match (self.splats.get(&a), self.splats.get(&b)) {
                (None, Some(&scalar)) => b = scalar,
                (Some(&scalar), None) => a = scalar,
                _ => {}
            }
        }
        match op {
            BinaryOp::Mul if is_matrix => {
                let name = self.cx.need(Helper::MatrixMultiply);
                return self.call(name, &[a, b]);
            }
            BinaryOp::Div if is_matrix => {
                let name = self.cx.need(Helper::MatrixDivide);
                return self.call(name, &[a, b]);
            }
            BinaryOp::Rem if scalar.is_float() => return self.call("fmod", &args),
            BinaryOp::Div if scalar.is_float() && data.flags.contains(InstFlags::PRECISE) => {
                return self.call("precise::divide", &args);
            }
            BinaryOp::Div | BinaryOp::Rem if scalar.is_int() => return self.divide(op, args[0], args[1], data),
            _ => {}
        }
        let infix = match op {
            BinaryOp::Add => Infix::Add,
            BinaryOp::Sub => Infix::Sub,
            BinaryOp::Mul => Infix::Mul,
            BinaryOp::Div => Infix::Div,
            BinaryOp::Rem => Infix::Rem,
            BinaryOp::Shl => Infix::Shl,
            BinaryOp::Shr => Infix::Shr,
            BinaryOp::And if scalar == Scalar::Bool => Infix::LogicalAnd,
            BinaryOp::Or if scalar == Scalar::Bool => Infix::LogicalOr,
            BinaryOp::Xor if scalar == Scalar::Bool => Infix::Ne,
            BinaryOp::And => Infix::And,
            BinaryOp::Or => Infix::Or,
            BinaryOp::Xor => Infix::Xor,
            BinaryOp::Eq => Infix::Eq,
            BinaryOp::Ne => Infix::Ne,
            BinaryOp::Lt => Infix::Lt,
            BinaryOp::Le => Infix::Le,
            BinaryOp::Gt => Infix::Gt,
            BinaryOp::Ge => Infix::Ge,
        };
        let expr = self.infix(infix, a, b);
        if op.is_comparison() {
            if scalar.is_int() {
                self.arena.set_total(expr);
            }
            expr
        } else {
            self.narrow(expr, data.ty)
        }
    }

    /// Division of integers: guarded unless the divisor is a constant that needs no guard.
    fn divide(&mut self, op: BinaryOp, a: Expr, b: Expr, data: &InstData) -> Expr {
        let ty = data.ty;
        let infix = if op == BinaryOp::Div { Infix::Div } else { Infix::Rem };
        if self.ranges().divides(data.args[1]) || self.cx.options.semantics == crate::options::MslSemantics::Metal {
            let expr = self.infix(infix, a, b);
            return self.narrow(expr, ty);
        }
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        if !scalar.is_signed() {
            let name = self.cx.need(if op == BinaryOp::Div { Helper::UDiv } else { Helper::UMod });
            return self.call(name, &[a, b]);
        }
        let helper = match (op == BinaryOp::Div, scalar.bits() == 64) {
            (true, false) => Helper::IDiv,
            (false, false) => Helper::IMod,
            (true, true) => Helper::LDiv,
            (false, true) => Helper::LMod,
        };
        let name = self.cx.need(helper);
        self.call(name, &[a, b])
    }

    fn select(&mut self, cond: Expr, a: Expr, b: Expr, cond_ty: Type, ty: Type) -> Expr {
        if self.cx.types.lanes(cond_ty) > 1 {
            return self.call("select", &[b, a, cond]);
        }
        // Both operands are computed whatever the condition: only one of them would be by `?:`.
        let mut arms = [a, b];
        for arm in &mut arms {
            if self.arena[*arm].depends.convergent {
                *arm = self.temporary("t", ty, *arm);
            }
        }
        self.cond(cond, arms[0], arms[1])
    }

    pub(super) fn bitcast(&mut self, a: Expr, from: Type, to: Type) -> Expr {
        if from == to {
            return a;
        }
        let scalars = (self.cx.types.scalar_of(from), self.cx.types.scalar_of(to));
        if let (Some(Scalar::Int { bits: x, .. }), Some(Scalar::Int { bits: y, .. })) = scalars
            && x == y
        {
            // `uint2(int2(x))` of one number is `uint2(uint(x))`.
            if let (Some(&scalar), Some(part)) = (self.splats.get(&a), scalars.1) {
                return self.splat_of(to, part, scalar);
            }
            let expr = self.construct(to, &[a]);
            if self.cx.types.lanes(to) == 1 {
                self.recast.insert(expr, a);
            }
            return expr;
        }
        let name = self.cx.value_type(to);
        let callee = format!("as_type<{}>", self.cx.names.get(name));
        // C++ computes 16-bit scalars as `int`, which has another size.
        self.call(&callee, &[a])
    }

    /// A vector of which every component is `value` converted: `float2(float(x))` for `float2(int2(x))`.
    fn splat_of(&mut self, ty: Type, part: Scalar, value: Expr) -> Expr {
        let part = self.cx.types.scalar(part);
        let value = self.construct(part, &[value]);
        let expr = self.construct(ty, &[value]);
        self.splats.insert(expr, value);
        expr
    }

    fn conversion(&mut self, data: &InstData) -> Expr {
        let (from_ty, to_ty) = (self.function.ty(data.args[0]), data.ty);
        let a = self.value(data.args[0]);
        if from_ty == to_ty {
            return a;
        }
        let (Some(from), Some(to)) = (self.cx.types.scalar_of(from_ty), self.cx.types.scalar_of(to_ty)) else {
            return a;
        };
        if let TypeKind::Matrix { rows, cols, .. } = self.cx.types.kind(to_ty) {
            let a = self.temporary("m", from_ty, a);
            let row_ty = self.cx.types.vector(to, cols);
            let rows: Vec<Expr> = (0..rows)
                .map(|i| {
                    let i = self.number(i64::from(i));
                    let row = self.index(a, i);
                    self.construct(row_ty, &[row])
                })
                .collect();
            return self.construct(to_ty, &rows);
        }
        if to == Scalar::Bool {
            let zero = self.zero(from_ty);
            return self.infix(Infix::Ne, a, zero);
        }
        if from.is_float() && to.is_int() && !self.fits(data) {
            return self.saturating(a, from, from_ty, to, to_ty);
        }
        if let Some(&scalar) = self.splats.get(&a) {
            return self.splat_of(to_ty, to, scalar);
        }
        let expr = self.construct(to_ty, &[a]);
        if from.is_int() && to.is_int() && from.bits() == to.bits() && self.cx.types.lanes(to_ty) == 1 {
            self.recast.insert(expr, a);
        }
        expr
    }

    /// Whether a float is known to lie in the range of the integer type it is converted to.
    fn fits(&self, data: &InstData) -> bool {
        self.cx.options.semantics == crate::options::MslSemantics::Metal || self.ranges().fits(data.args[0], data.ty)
    }

    /// Float to integer with HLSL's saturation.
    fn saturating(&mut self, a: Expr, from: Scalar, from_ty: Type, to: Scalar, to_ty: Type) -> Expr {
        let spelled = self.cx.value_type(to_ty);
        let spelled = self.cx.names.get(spelled).to_owned();
        // A half's range is small, but not its infinity.
        let a = match from {
            Scalar::Float { bits: 16 } => {
                let wide = self.cx.types.with_scalar(from_ty, Scalar::F32);
                self.construct(wide, &[a])
            }
            _ => a,
        };
        let helper = match to {
            Scalar::Int { bits: 16, signed } => {
                let name = self.cx.need(Helper::ToShort);
                let wide = self.cx.types.with_scalar(from_ty, Scalar::F32);
                let (low, high) = if signed { ("-32768.0f", "32767.0f") } else { ("0.0f", "65535.0f") };
                let (mut low, mut high) = (self.text(low), self.text(high));
                if self.cx.types.lanes(wide) > 1 {
                    low = self.construct(wide, &[low]);
                    high = self.construct(wide, &[high]);
                }
                return self.call(&format!("{name}<{spelled}>"), &[a, low, high]);
            }
            Scalar::Int { bits: 64, signed: true } => Helper::ToLong,
            Scalar::Int { bits: 64, signed: false } => Helper::ToUlong,
            Scalar::Int { signed: true, .. } => Helper::ToInt,
            _ => Helper::ToUint,
        };
        let name = self.cx.need(helper);
        self.call(&format!("{name}<{spelled}>"), &[a])
    }

    fn discard(&mut self, data: &InstData) {
        self.mark_line(data.span);
        self.flush(effects::ALL, true);
        let call = self.call("discard_fragment", &[]);
        self.out.push(Stmt::Do(call));
    }

    fn buffer_length(&mut self, inst: Inst, data: &InstData) {
        let Some(size) = self.buffer_size(data.args[0]) else {
            self.error(
                codes::MSL_BUFFER_LENGTH,
                data.span,
                "GetDimensions of this buffer needs its length, which Metal cannot tell",
            );
            return;
        };
        let expr = match self.resource(data.args[0]) {
            Some((resource @ oneshader_ir::ResourceType::StructuredBuffer { .. }, push)) => {
                let (ty, rule, order) = match self.cx.options.layout.rule_for(resource, push) {
                    Some(found) => found,
                    None => return,
                };
                let stride = self.cx.layout(ty, rule, order).map_or(1, |id| {
                    let layout = self.cx.layouts.get(id);
                    layout.stride().max(1)
                });
                let stride = self.uint(stride);
                self.infix(Infix::Div, size, stride)
            }
            _ => size,
        };
        self.define(inst, expr);
    }
}
