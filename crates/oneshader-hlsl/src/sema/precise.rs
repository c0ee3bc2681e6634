//! `precise`: whatever a precise variable's value is computed from, in the same function, is computed as written.

use oneshader_ir as ir;
use oneshader_ir::{InstFlags, Intrinsic, Op, TerminatorKind, ValueDef};
use rustc_hash::FxHashSet;

use crate::cx::Cx;

/// Whether the flag means something on an operation.
fn takes_precise(op: Op) -> bool {
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::MatMul => true,
        Op::Intrinsic(i) => matches!(
            i,
            Intrinsic::Mad
                | Intrinsic::Fma
                | Intrinsic::Dot
                | Intrinsic::Cross
                | Intrinsic::Length
                | Intrinsic::Distance
                | Intrinsic::Normalize
                | Intrinsic::Reflect
                | Intrinsic::Refract
                | Intrinsic::Lerp
                | Intrinsic::SmoothStep
                | Intrinsic::Sqrt
                | Intrinsic::Rsqrt
                | Intrinsic::Pow
                | Intrinsic::Exp
                | Intrinsic::Exp2
                | Intrinsic::Log
                | Intrinsic::Log2
        ),
        _ => false,
    }
}

impl Cx<'_> {
    /// Marks what the current function's precise values come from.
    pub(crate) fn mark_precise(&mut self) {
        let func = &mut self.b.func;
        if self.opts.ieee_strict {
            for data in func.insts.values_mut() {
                if takes_precise(data.op) {
                    data.flags |= InstFlags::PRECISE;
                }
            }
            return;
        }
        let mut work: Vec<ir::Value> = std::mem::take(&mut self.s.body.precise);
        if self.s.body.precise_result {
            for &block in &func.order {
                if let TerminatorKind::Return(Some(value)) = func.blocks[block].term.kind {
                    work.push(value);
                }
            }
        }
        if work.is_empty() {
            return;
        }
        // What is stored where, by the variable.
        let mut stores: Vec<(ir::Value, ir::Value)> = Vec::new();
        for (_, _, data) in func.live_insts() {
            match (data.op, &data.args[..]) {
                (Op::Store, &[pointer, value]) => stores.push((root(func, pointer), value)),
                (Op::Call(_), args) => {
                    // A variable passed by address is as precise as what the call makes of it.
                    stores.extend(args.iter().map(|a| (root(func, *a), *a)));
                }
                _ => {}
            }
        }
        let mut seen: FxHashSet<ir::Value> = FxHashSet::default();
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            match func.values[value].def {
                ValueDef::Inst(inst) => {
                    let data = &mut func.insts[inst];
                    if takes_precise(data.op) {
                        data.flags |= InstFlags::PRECISE;
                    }
                    work.extend(data.args.iter().copied());
                }
                ValueDef::Local(_) | ValueDef::Param(_) => {
                    work.extend(stores.iter().filter(|(r, _)| *r == value).map(|(_, v)| *v));
                }
                ValueDef::Global(_) | ValueDef::Const(_) => {}
            }
        }
    }
}

/// The variable that a pointer leads into.
fn root(func: &ir::Function, mut pointer: ir::Value) -> ir::Value {
    while let Some((_, data)) = func.def_inst(pointer) {
        match (data.op, data.args.first()) {
            (Op::Access, Some(base)) => pointer = *base,
            _ => break,
        }
    }
    pointer
}
