//! Intrinsics other than those of waves.

use super::body::Body;
use super::effects;
use crate::ast::{Expr, Infix, Stmt};
use crate::options::{MslSemantics, MslVersion};
use crate::raise::io::Form;
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::intrinsic::Effects;
use oneshader_ir::ray_query;
use oneshader_ir::{Inst, InstData, Intrinsic, Scalar, Stage, TypeKind, ValueDef};

/// The Metal function of an intrinsic that has one with the same operands and meaning.
fn same_function(which: Intrinsic) -> Option<&'static str> {
    Some(match which {
        Intrinsic::Floor => "floor",
        Intrinsic::Ceil => "ceil",
        Intrinsic::Trunc => "trunc",
        Intrinsic::RoundEven => "rint",
        Intrinsic::Fract => "fract",
        Intrinsic::Lerp => "mix",
        Intrinsic::Step => "step",
        Intrinsic::SmoothStep => "smoothstep",
        Intrinsic::Fma => "fma",
        Intrinsic::IsNan => "isnan",
        Intrinsic::IsInf => "isinf",
        Intrinsic::IsFinite => "isfinite",
        Intrinsic::Sqrt => "sqrt",
        Intrinsic::Rsqrt => "rsqrt",
        Intrinsic::Exp => "exp",
        Intrinsic::Exp2 => "exp2",
        Intrinsic::Log => "log",
        Intrinsic::Log2 => "log2",
        Intrinsic::Log10 => "log10",
        Intrinsic::Pow => "pow",
        Intrinsic::Sin => "sin",
        Intrinsic::Cos => "cos",
        Intrinsic::Tan => "tan",
        Intrinsic::Asin => "asin",
        Intrinsic::Acos => "acos",
        Intrinsic::Atan => "atan",
        Intrinsic::Atan2 => "atan2",
        Intrinsic::Sinh => "sinh",
        Intrinsic::Cosh => "cosh",
        Intrinsic::Tanh => "tanh",
        Intrinsic::Cross => "cross",
        Intrinsic::Saturate => "saturate",
        Intrinsic::Transpose => "transpose",
        Intrinsic::Determinant => "determinant",
        Intrinsic::ReverseBits => "reverse_bits",
        Intrinsic::Ddx | Intrinsic::DdxCoarse | Intrinsic::DdxFine => "dfdx",
        Intrinsic::Ddy | Intrinsic::DdyCoarse | Intrinsic::DdyFine => "dfdy",
        Intrinsic::Fwidth => "fwidth",
        _ => return None,
    })
}

impl Body<'_, '_> {
    pub(super) fn intrinsic(&mut self, inst: Inst, data: &InstData, which: Intrinsic) {
        use Intrinsic as I;
        let unused = data.result.is_none_or(|r| self.use_count(r) == 0);
        if unused && !which.effects().intersects(Effects::MEMORY.union(Effects::WRITES)) {
            return;
        }
        if let Some(method) = ray_query::of_intrinsic(which) {
            return self.ray_query(inst, data, method);
        }
        match which {
            I::GroupMemoryBarrier
            | I::GroupMemoryBarrierSync
            | I::DeviceMemoryBarrier
            | I::DeviceMemoryBarrierSync
            | I::AllMemoryBarrier
            | I::AllMemoryBarrierSync => return self.barrier(data, which),
            I::EvaluateCentroid | I::EvaluateSample | I::EvaluateSnapped => return self.evaluate(inst, data, which),
            // Metal's buffers are resident as a whole.
            I::BufferStatus => {
                let resident = self.uint(1);
                return self.define(inst, resident);
            }
            I::DebugBreak => {
                return self.error(codes::MSL_DEBUGGING, data.span, "Metal cannot stop a shader in a debugger");
            }
            I::AttributeAtVertex => {
                let span = data.span;
                return self.error(codes::MSL_UNSUPPORTED_SEMANTIC, span, "Metal cannot read an attribute at a vertex");
            }
            _ => {}
        }
        if which >= I::WaveIsFirstLane {
            return self.wave(inst, data, which);
        }
        let is_derivative = which.effects().contains(Effects::CONVERGENT);
        if is_derivative && self.cx.raised.entry.stage != Stage::Pixel {
            return self.quad_derivative(inst, data, which);
        }
        let args = self.values(&data.args);
        let expr = self.function_of(data, which, &args);
        let expr = if is_derivative { self.convergent(expr) } else { expr };
        self.define(inst, expr);
    }

    fn function_of(&mut self, data: &InstData, which: Intrinsic, args: &[Expr]) -> Expr {
        use Intrinsic as I;
        let operand_ty = data.args.first().map_or(data.ty, |&a| self.function.ty(a));
        let scalar = self.cx.types.scalar_of(operand_ty).unwrap_or(Scalar::F32);
        let lanes = self.cx.types.lanes(operand_ty);
        match which {
            I::Abs if scalar.is_int() && !scalar.is_signed() => args[0],
            I::Abs if scalar.bits() == 16 && scalar.is_int() => {
                let abs = self.call("abs", args);
                self.construct(data.ty, &[abs])
            }
            I::Abs => self.call("abs", args),
            I::Sign if scalar.is_int() => {
                let zero = self.zero(operand_ty);
                let above = self.infix(Infix::Gt, args[0], zero);
                let below = self.infix(Infix::Lt, args[0], zero);
                let above = self.construct(data.ty, &[above]);
                let below = self.construct(data.ty, &[below]);
                let sign = self.infix(Infix::Sub, above, below);
                self.narrow_to(sign, data.ty)
            }
            I::Sign => self.call("sign", args),
            I::FullyMapped => {
                let zero = self.uint(0);
                self.infix(Infix::Ne, args[0], zero)
            }
            I::Fract if self.cx.options.semantics == MslSemantics::Hlsl => {
                let name = self.cx.need(Helper::Fraction);
                self.call(name, args)
            }
            I::Min | I::Max => self.min_max(which, scalar, args),
            I::Clamp => self.clamp(data, scalar, args),
            I::Mad => {
                let product = self.infix(Infix::Mul, args[0], args[1]);
                self.infix(Infix::Add, product, args[2])
            }
            I::All | I::Any if lanes == 1 => args[0],
            I::All => self.call("all", args),
            I::Any => self.call("any", args),
            I::Dot if lanes == 1 => self.infix(Infix::Mul, args[0], args[1]),
            I::Length if lanes == 1 => self.call("abs", args),
            I::Distance if lanes == 1 => {
                let difference = self.infix(Infix::Sub, args[0], args[1]);
                self.call("abs", &[difference])
            }
            I::Normalize | I::Reflect | I::Refract | I::FaceForward if lanes == 1 => self.of_plane(data, which, args),
            I::Dot => self.call("dot", args),
            I::Length => self.call("length", args),
            I::Distance => self.call("distance", args),
            I::Normalize => self.call("normalize", args),
            I::Reflect => self.call("reflect", args),
            I::Refract => self.call("refract", args),
            I::FaceForward => self.call("faceforward", args),
            I::FrexpMantissa => {
                let int = self.cx.types.with_scalar(operand_ty, Scalar::I32);
                let int = self.cx.value_type(int);
                let (float, int) = (self.cx.value_type(data.ty), int);
                let name = self.cx.need(Helper::FrexpMantissa);
                let float_text = self.cx.names.get(float).to_owned();
                let int_text = self.cx.names.get(int).to_owned();
                let zero = self.text("0");
                let exponent = self.call(&int_text, &[zero]);
                self.call(&format!("{name}<{float_text}, {int_text}>"), &[args[0], exponent])
            }
            I::FrexpExponent => {
                let int = self.cx.value_type(data.ty);
                let int = self.cx.names.get(int).to_owned();
                let name = self.cx.need(Helper::FrexpExponent);
                self.call(&format!("{name}<{int}>"), args)
            }
            I::CountBits => {
                let count = self.call("popcount", args);
                self.bits_result(count, operand_ty, data.ty)
            }
            I::FirstBitHigh | I::FirstBitLow => self.first_bit(data, which, scalar, args[0]),
            I::F32ToF16 => {
                let half = self.cx.types.with_scalar(operand_ty, Scalar::F16);
                let ushort = self.cx.types.with_scalar(operand_ty, Scalar::Int { bits: 16, signed: false });
                let half = self.construct(half, args);
                let name = self.cx.value_type(ushort);
                let callee = format!("as_type<{}>", self.cx.names.get(name));
                let bits = self.call(&callee, &[half]);
                self.construct(data.ty, &[bits])
            }
            I::F16ToF32 => {
                let half = self.cx.types.with_scalar(operand_ty, Scalar::F16);
                let ushort = self.cx.types.with_scalar(operand_ty, Scalar::Int { bits: 16, signed: false });
                let bits = self.construct(ushort, args);
                let name = self.cx.value_type(half);
                let callee = format!("as_type<{}>", self.cx.names.get(name));
                let half = self.call(&callee, &[bits]);
                self.construct(data.ty, &[half])
            }
            _ => match same_function(which) {
                Some(name) => self.call(name, args),
                None => self.zero(data.ty),
            },
        }
    }

    fn narrow_to(&mut self, expr: Expr, ty: oneshader_ir::Type) -> Expr {
        match self.cx.types.kind(ty) {
            TypeKind::Scalar(Scalar::Int { bits: 16, .. }) => self.construct(ty, &[expr]),
            _ => expr,
        }
    }

    /// Of a NaN and a number HLSL takes the number, as `fmin` and `fmax` do; `min` and `max` of floats leave it open (MSL
    /// specification 6.3, 6.5).
    fn min_max(&mut self, which: Intrinsic, scalar: Scalar, args: &[Expr]) -> Expr {
        let strict = scalar.is_float() && self.cx.options.semantics == MslSemantics::Hlsl;
        let name = match (which, strict) {
            (Intrinsic::Min, false) => "min",
            (Intrinsic::Min, true) => "fmin",
            (_, false) => "max",
            (_, true) => "fmax",
        };
        self.call(name, args)
    }

    /// `clamp` is undefined when the bounds are in the wrong order (MSL specification 6.3): used where they are known.
    fn clamp(&mut self, data: &InstData, scalar: Scalar, args: &[Expr]) -> Expr {
        let ordered = self.ranges().ordered(data.args[1], data.args[2]);
        if ordered || self.cx.options.semantics == MslSemantics::Metal {
            return self.call("clamp", args);
        }
        let low = self.min_max(Intrinsic::Max, scalar, &args[..2]);
        self.min_max(Intrinsic::Min, scalar, &[low, args[2]])
    }

    /// Functions that Metal has for vectors only: a scalar is a vector on a line.
    fn of_plane(&mut self, data: &InstData, which: Intrinsic, args: &[Expr]) -> Expr {
        let elem = self.cx.types.scalar_of(data.ty).unwrap_or(Scalar::F32);
        let pair = self.cx.types.vector(elem, 2);
        let zero_ty = self.cx.types.scalar(elem);
        let name = match which {
            Intrinsic::Normalize => "normalize",
            Intrinsic::Reflect => "reflect",
            Intrinsic::Refract => "refract",
            _ => "faceforward",
        };
        let widened: Vec<Expr> = args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                if which == Intrinsic::Refract && i == 2 {
                    return arg;
                }
                let zero = self.zero(zero_ty);
                self.construct(pair, &[arg, zero])
            })
            .collect();
        let call = self.call(name, &widened);
        self.swizzle(call, &[0])
    }

    /// The result of a bit function, which Metal gives in the operand's type, as `uint`s.
    fn bits_result(&mut self, expr: Expr, from: oneshader_ir::Type, to: oneshader_ir::Type) -> Expr {
        if from == to { expr } else { self.construct(to, &[expr]) }
    }

    fn first_bit(&mut self, data: &InstData, which: Intrinsic, scalar: Scalar, arg: Expr) -> Expr {
        let operand_ty = self.function.ty(data.args[0]);
        let is_high = which == Intrinsic::FirstBitHigh;
        if scalar.bits() == 64 {
            let ulong = self.cx.types.scalar(Scalar::Int { bits: 64, signed: false });
            let one = |body: &mut Self, x: Expr| {
                let x = if scalar.is_signed() {
                    let zero = body.text("0l");
                    let below = body.infix(Infix::Lt, x, zero);
                    let not = body.prefix(crate::ast::Prefix::BitNot, x);
                    let x = if is_high { body.cond(below, not, x) } else { x };
                    body.construct(ulong, &[x])
                } else {
                    x
                };
                let helper = if is_high { Helper::FirstBitHigh64 } else { Helper::FirstBitLow64 };
                let name = body.cx.need(helper);
                body.call(name, &[x])
            };
            let lanes = self.cx.types.lanes(operand_ty);
            if lanes == 1 {
                let arg = if is_high && scalar.is_signed() { self.temporary("x", operand_ty, arg) } else { arg };
                return one(self, arg);
            }
            let arg = self.temporary("x", operand_ty, arg);
            let parts: Vec<Expr> = (0..lanes)
                .map(|i| {
                    let part = self.swizzle(arg, &[i]);
                    one(self, part)
                })
                .collect();
            return self.construct(data.ty, &parts);
        }
        // 16-bit numbers are looked at in 32 bits, where signed ones keep their sign.
        let wide = if scalar.is_signed() { Scalar::I32 } else { Scalar::U32 };
        let wide_ty = self.cx.types.with_scalar(operand_ty, wide);
        let arg = if wide_ty == operand_ty { arg } else { self.construct(wide_ty, &[arg]) };
        match (is_high, scalar.is_signed()) {
            (true, true) => {
                let name = self.cx.need(Helper::FirstBitHighSigned);
                let uint = self.cx.value_type(data.ty);
                let callee = format!("{name}<{}>", self.cx.names.get(uint));
                self.call(&callee, &[arg])
            }
            (true, false) => {
                let name = self.cx.need(Helper::FirstBitHigh);
                self.call(name, &[arg])
            }
            (false, signed) => {
                let arg = if signed { self.construct(data.ty, &[arg]) } else { arg };
                let name = self.cx.need(Helper::FirstBitLow);
                self.call(name, &[arg])
            }
        }
    }

    /// Metal 2.4 has no fence: a barrier that only orders memory waits too (a documented deviation). In a fragment function
    /// it has neither, and memory is ordered within an invocation by itself.
    fn barrier(&mut self, data: &InstData, which: Intrinsic) {
        use Intrinsic as I;
        let flags = match which {
            I::GroupMemoryBarrier | I::GroupMemoryBarrierSync => "mem_flags::mem_threadgroup",
            I::DeviceMemoryBarrier | I::DeviceMemoryBarrierSync => "mem_flags::mem_device | mem_flags::mem_texture",
            _ => "mem_flags::mem_device | mem_flags::mem_threadgroup | mem_flags::mem_texture",
        };
        let waits = which.effects().contains(Effects::CONVERGENT);
        self.mark_line(data.span);
        self.flush(effects::ALL, true);
        let flags = self.text(flags);
        let of_group = matches!(which, I::GroupMemoryBarrier | I::GroupMemoryBarrierSync);
        // A barrier orders memory for the threadgroup alone; what other threadgroups see needs the fence too.
        let for_device = waits && !of_group && self.cx.raised.classes.any_coherent(self.cx.raised.entry.func);
        if (!waits || for_device) && self.cx.options.version >= MslVersion::V3_2 {
            let order = self.text("memory_order_seq_cst");
            let scope = self.text(if of_group { "thread_scope_threadgroup" } else { "thread_scope_device" });
            let call = self.call("atomic_thread_fence", &[flags, order, scope]);
            self.out.push(Stmt::Do(call));
            if !waits {
                return;
            }
        }
        if self.cx.raised.entry.stage == Stage::Compute {
            let call = self.call("threadgroup_barrier", &[flags]);
            self.out.push(Stmt::Do(call));
        }
    }

    /// Interpolation of a stage input at a place of the shader's choice.
    fn evaluate(&mut self, inst: Inst, data: &InstData, which: Intrinsic) {
        let field = match self.function.values[data.args[0]].def {
            ValueDef::Global(global) => match self.io.as_ref().and_then(|io| io.forms[global].clone()) {
                Some(Form::Interpolant { field, .. }) => Some(field),
                _ => None,
            },
            _ => None,
        };
        let Some(field) = field else {
            return self.error(
                codes::MSL_UNSUPPORTED_SEMANTIC,
                data.span,
                "Metal interpolates whole stage inputs of the entry point only",
            );
        };
        let object = self.dotted(&field);
        let expr = match which {
            Intrinsic::EvaluateCentroid => self.method(object, "interpolate_at_centroid", &[]),
            Intrinsic::EvaluateSample => {
                let index = self.value(data.args[1]);
                let index = self.call("uint", &[index]);
                self.method(object, "interpolate_at_sample", &[index])
            }
            _ => {
                // Metal counts from the upper left corner of the pixel, HLSL from its centre in sixteenths. 7/16 and not 8/16:
                // what SPIRV-Cross found on hardware.
                let offset = self.value(data.args[1]);
                let offset = self.call("float2", &[offset]);
                let (step, centre) = (self.text("0.0625f"), self.text("0.4375f"));
                let offset = self.infix(Infix::Mul, offset, step);
                let offset = self.infix(Infix::Add, offset, centre);
                self.method(object, "interpolate_at_offset", &[offset])
            }
        };
        self.define(inst, expr);
    }
}
