//! SIMD-group and quad-group functions.

use super::body::Body;
use crate::ast::{Expr, Infix};
use crate::runtime::Helper;
use oneshader_diag::codes;
use oneshader_ir::{Inst, InstData, Intrinsic, Scalar, Type};

/// The Metal function of a wave intrinsic with the same operands.
fn same_function(which: Intrinsic) -> Option<&'static str> {
    Some(match which {
        Intrinsic::WaveIsFirstLane => "simd_is_first",
        Intrinsic::WaveSum => "simd_sum",
        Intrinsic::WaveProduct => "simd_product",
        Intrinsic::WaveBitAnd => "simd_and",
        Intrinsic::WaveBitOr => "simd_or",
        Intrinsic::WaveBitXor => "simd_xor",
        Intrinsic::WaveMin => "simd_min",
        Intrinsic::WaveMax => "simd_max",
        Intrinsic::WavePrefixSum => "simd_prefix_exclusive_sum",
        Intrinsic::WavePrefixProduct => "simd_prefix_exclusive_product",
        Intrinsic::IsHelperLane => "simd_is_helper_thread",
        _ => return None,
    })
}

impl Body<'_, '_> {
    pub(super) fn wave(&mut self, inst: Inst, data: &InstData, which: Intrinsic) {
        let args = self.values(&data.args);
        let operand_ty = data.args.first().map_or(data.ty, |&a| self.function.ty(a));
        let expr = self.wave_function(data, which, &args, operand_ty);
        let expr = self.convergent(expr);
        self.define(inst, expr);
    }

    fn wave_function(&mut self, data: &InstData, which: Intrinsic, args: &[Expr], ty: Type) -> Expr {
        use Intrinsic as I;
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        match which {
            I::WaveAny | I::WaveAll => {
                let cond = self.one_condition(which, args[0], ty);
                self.call(if which == I::WaveAny { "simd_any" } else { "simd_all" }, &[cond])
            }
            I::QuadAny | I::QuadAll => {
                let cond = self.one_condition(which, args[0], ty);
                self.call(if which == I::QuadAny { "quad_any" } else { "quad_all" }, &[cond])
            }
            I::WaveAllEqual => {
                let value = self.temporary("value", ty, args[0]);
                let first = self.exchange("simd_broadcast_first", value, ty, &[]);
                let equal = self.infix(Infix::Eq, value, first);
                self.each_component(equal, ty, "simd_all", data.ty)
            }
            I::WaveBallot => {
                let name = self.cx.need(Helper::Ballot);
                self.call(name, args)
            }
            I::WaveReadLaneAt => {
                let lane = self.call("ushort", &[args[1]]);
                self.exchange("simd_shuffle", args[0], ty, &[lane])
            }
            I::WaveReadLaneFirst => self.exchange("simd_broadcast_first", args[0], ty, &[]),
            I::WaveCountBits => {
                let count = self.call("uint", args);
                self.call("simd_sum", &[count])
            }
            I::WavePrefixCountBits => {
                let count = self.call("uint", args);
                self.call("simd_prefix_exclusive_sum", &[count])
            }
            I::QuadReadAcrossX | I::QuadReadAcrossY | I::QuadReadAcrossDiagonal => {
                let mask = self.text(match which {
                    I::QuadReadAcrossX => "1",
                    I::QuadReadAcrossY => "2",
                    _ => "3",
                });
                let mask = self.call("ushort", &[mask]);
                self.exchange("quad_shuffle_xor", args[0], ty, &[mask])
            }
            I::QuadReadLaneAt => {
                let lane = self.call("ushort", &[args[1]]);
                self.exchange("quad_shuffle", args[0], ty, &[lane])
            }
            I::WaveMatch
            | I::WaveMultiPrefixSum
            | I::WaveMultiPrefixProduct
            | I::WaveMultiPrefixBitAnd
            | I::WaveMultiPrefixBitOr
            | I::WaveMultiPrefixBitXor
            | I::WaveMultiPrefixCountBits => {
                if self.cx.options.emulate_wave_match {
                    return self.emulated(data, which, args, ty);
                }
                self.error(
                    codes::MSL_WAVE_INTRINSIC,
                    data.span,
                    format!("Metal has no counterpart of `{}`", which.text()),
                );
                self.zero(data.ty)
            }
            _ => {
                if scalar.bits() == 64 && self.cx.options.emulate_int64 {
                    return self.wide_arithmetic(which, args, ty);
                }
                if scalar.bits() == 64 {
                    self.wide(data);
                    return self.zero(data.ty);
                }
                match same_function(which) {
                    Some(name) => self.call(name, args),
                    None => self.zero(data.ty),
                }
            }
        }
    }

    /// Functions of ours that do what Metal has no function for.
    fn emulated(&mut self, data: &InstData, which: Intrinsic, args: &[Expr], ty: Type) -> Expr {
        use Intrinsic as I;
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        if scalar.bits() == 64 {
            self.wide(data);
            return self.zero(data.ty);
        }
        let helper = match which {
            I::WaveMatch => Helper::Match,
            I::WaveMultiPrefixProduct => Helper::MultiProduct,
            I::WaveMultiPrefixBitAnd => Helper::MultiAnd,
            I::WaveMultiPrefixBitOr => Helper::MultiOr,
            I::WaveMultiPrefixBitXor => Helper::MultiXor,
            _ => Helper::MultiSum,
        };
        let name = self.cx.need(helper);
        let mut args = args.to_vec();
        match (which, scalar) {
            // Equal as bits: a NaN is in the group of its like, and the loop ends.
            (I::WaveMatch, Scalar::Float { .. }) => {
                let bits = self.cx.types.with_scalar(ty, Scalar::Int { bits: scalar.bits() as u8, signed: false });
                args[0] = self.bitcast(args[0], ty, bits);
            }
            (_, Scalar::Bool) => {
                let uints = self.cx.types.with_scalar(ty, Scalar::U32);
                args[0] = self.construct(uints, &[args[0]]);
            }
            _ => {}
        }
        // `all` takes vectors only.
        if which == I::WaveMatch && self.cx.types.lanes(ty) == 1 {
            let pair = self.name("uint2");
            let list = self.arena.list(&[args[0]]);
            args[0] = self.add(crate::ast::ExprKind::Call(pair, list), 7);
        }
        self.call(name, &args)
    }

    /// Arithmetic on 64-bit integers, component by component: bits by halves, the rest by loops over the lanes.
    fn wide_arithmetic(&mut self, which: Intrinsic, args: &[Expr], ty: Type) -> Expr {
        use Intrinsic as I;
        let lanes = self.cx.types.lanes(ty);
        let value = self.temporary("wide", ty, args[0]);
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        let own = self.cx.types.scalar(scalar);
        let unsigned = self.cx.types.scalar(Scalar::Int { bits: 64, signed: false });
        let (helper, wraps) = match which {
            I::WaveSum => (Some(Helper::WideSum), true),
            I::WaveProduct => (Some(Helper::WideProduct), true),
            I::WavePrefixSum => (Some(Helper::WidePrefixSum), true),
            I::WavePrefixProduct => (Some(Helper::WidePrefixProduct), true),
            I::WaveMin => (Some(Helper::WideMin), false),
            I::WaveMax => (Some(Helper::WideMax), false),
            _ => (None, false),
        };
        let name = match helper {
            Some(helper) => self.cx.need(helper),
            None => same_function(which).unwrap_or("simd_and"),
        };
        let back = self.cx.value_type(own);
        let back = format!("as_type<{}>", self.cx.names.get(back));
        let parts: Vec<Expr> = (0..lanes)
            .map(|i| {
                let part = if lanes == 1 { value } else { self.swizzle(value, &[i]) };
                if helper.is_none() {
                    let halves = self.call("as_type<uint2>", &[part]);
                    let halves = self.call(name, &[halves]);
                    return self.call(&back, &[halves]);
                }
                let converts = wraps && own != unsigned;
                let part = if converts { self.construct(unsigned, &[part]) } else { part };
                let mut list = vec![part];
                list.extend_from_slice(&args[1..]);
                let call = self.call(name, &list);
                if converts { self.construct(own, &[call]) } else { call }
            })
            .collect();
        if lanes == 1 { parts[0] } else { self.construct(ty, &parts) }
    }

    fn wide(&mut self, data: &InstData) {
        self.error(codes::MSL_WAVE_INTRINSIC, data.span, "Metal has no SIMD-group arithmetic on 64-bit integers");
    }

    /// A condition of several components: any or all of them, as the intrinsic asks.
    fn one_condition(&mut self, which: Intrinsic, cond: Expr, ty: Type) -> Expr {
        match self.cx.types.lanes(ty) {
            1 => cond,
            _ if matches!(which, Intrinsic::WaveAny | Intrinsic::QuadAny) => self.call("any", &[cond]),
            _ => self.call("all", &[cond]),
        }
    }

    /// A function that hands values from lane to lane: it knows no `bool`s and no 64-bit integers.
    fn exchange(&mut self, name: &str, value: Expr, ty: Type, more: &[Expr]) -> Expr {
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        let mut args = vec![value];
        args.extend_from_slice(more);
        if scalar == Scalar::Bool {
            let uints = self.cx.types.with_scalar(ty, Scalar::U32);
            args[0] = self.construct(uints, &[value]);
            let call = self.call(name, &args);
            return self.construct(ty, &[call]);
        }
        if scalar.bits() == 64 {
            let lanes = self.cx.types.lanes(ty);
            let value = self.temporary("wide", ty, value);
            let part_ty = self.cx.types.scalar(scalar);
            let part_name = self.cx.value_type(part_ty);
            let back = format!("as_type<{}>", self.cx.names.get(part_name));
            let parts: Vec<Expr> = (0..lanes)
                .map(|i| {
                    let part = if lanes == 1 { value } else { self.swizzle(value, &[i]) };
                    args[0] = self.call("as_type<uint2>", &[part]);
                    let call = self.call(name, &args);
                    self.call(&back, &[call])
                })
                .collect();
            return if lanes == 1 { parts[0] } else { self.construct(ty, &parts) };
        }
        self.call(name, &args)
    }

    /// A function of one condition for each component.
    fn each_component(&mut self, value: Expr, ty: Type, name: &str, result: Type) -> Expr {
        let lanes = self.cx.types.lanes(ty);
        if lanes == 1 {
            return self.call(name, &[value]);
        }
        let value = self.temporary("equal", result, value);
        let parts: Vec<Expr> = (0..lanes)
            .map(|i| {
                let part = self.swizzle(value, &[i]);
                self.call(name, &[part])
            })
            .collect();
        self.construct(result, &parts)
    }
}
