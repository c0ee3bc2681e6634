//! Intrinsics whose emulation asks for the lane's index: `WaveMultiPrefix*` where it is wanted, and fine derivatives of
//! threads, scans of 64-bit integers. They receive it as a further operand, so that lifting brings it along.

use crate::options::MslOptions;
use oneshader_ir::{Func, Inst, InstData, InstFlags, Intrinsic, IrModule, Op, Scalar, Stage};
use smallvec::SmallVec;

/// Whether an intrinsic scans the lanes of a partition.
pub(crate) fn is_multi_prefix(which: Intrinsic) -> bool {
    (Intrinsic::WaveMultiPrefixSum..=Intrinsic::WaveMultiPrefixCountBits).contains(&which)
}

pub(crate) fn run(module: &mut IrModule, func: Func, stage: Stage, options: &MslOptions) {
    let wants = |which, wide: bool| match which {
        Intrinsic::DdxFine | Intrinsic::DdyFine => stage == Stage::Compute,
        Intrinsic::WavePrefixSum | Intrinsic::WavePrefixProduct => wide && options.emulate_int64,
        _ => options.emulate_wave_match && is_multi_prefix(which),
    };
    let uint = module.types.scalar(Scalar::U32);
    let (types, function) = (&mut module.types, &mut module.functions[func]);
    for block in function.order.clone() {
        let old = std::mem::take(&mut function.blocks[block].insts);
        let mut new: Vec<Inst> = Vec::with_capacity(old.len());
        for inst in old {
            let (span, ty) = (function.insts[inst].span, function.insts[inst].ty);
            let wide = types.scalar_of(ty).is_some_and(|s| s.bits() == 64);
            if matches!(function.insts[inst].op, Op::Intrinsic(which) if wants(which, wide)) {
                let lane = InstData {
                    op: Op::Intrinsic(Intrinsic::WaveLaneIndex),
                    args: SmallVec::new(),
                    preds: SmallVec::new(),
                    ty: uint,
                    result: None,
                    flags: InstFlags::empty(),
                    span,
                };
                let lane = function.add_inst(types, lane);
                new.push(lane);
                let lane = function.insts[lane].result;
                function.insts[inst].args.extend(lane);
            }
            new.push(inst);
        }
        function.blocks[block].insts = new;
    }
}
