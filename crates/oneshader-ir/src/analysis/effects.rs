//! What an operation does besides giving its result.

use crate::inst::{Op, TextureOp};
use crate::intrinsic::Effects;
use bitflags::bitflags;

bitflags! {
    /// What an operation does besides giving its result. None of them: it may be removed, repeated and moved wherever its
    /// operands are available.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct OpEffects: u8 {
        /// Depends on memory.
        const READS = 1;
        /// Changes memory.
        const WRITES = 1 << 1;
        /// Orders memory or lanes: loads and stores do not move across, and it is never removed.
        const BARRIER = 1 << 2;
        /// Depends on which lanes run: does not move into or out of control flow.
        const CONVERGENT = 1 << 3;
        /// Changes how the invocation goes on (`discard`, what a callee does).
        const CONTROL = 1 << 4;
    }
}

impl OpEffects {
    /// Whether an instruction with these effects and an unused result can be removed.
    pub const fn is_removable(self) -> bool {
        !self.intersects(Self::WRITES.union(Self::BARRIER).union(Self::CONTROL))
    }
}

/// The effects of `op`. A call counts as everything; who knows its callee knows better.
pub fn op_effects(op: Op) -> OpEffects {
    match op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Select
        | Op::Convert
        | Op::Bitcast
        | Op::Copy
        | Op::Construct
        | Op::Splat
        | Op::Extract { .. }
        | Op::Insert { .. }
        | Op::ExtractDynamic
        | Op::Swizzle(_)
        | Op::MatMul
        | Op::Access
        | Op::BlockPtr
        | Op::ElementPtr
        | Op::RawPtr
        | Op::TexelPtr
        | Op::AddressPtr { .. }
        | Op::BufferLength
        | Op::Phi => OpEffects::empty(),
        Op::Load | Op::RawLoad => OpEffects::READS,
        Op::Store | Op::RawStore => OpEffects::WRITES,
        Op::Counter { .. } | Op::Atomic(_) | Op::AtomicCompareExchange => OpEffects::READS.union(OpEffects::WRITES),
        Op::Texture(op, _) => match op {
            TextureOp::Store => OpEffects::WRITES,
            TextureOp::Load => OpEffects::READS,
            // Implicit derivatives; with an explicit level the restriction costs nothing that matters.
            TextureOp::Sample | TextureOp::Lod | TextureOp::LodUnclamped => OpEffects::CONVERGENT,
            TextureOp::Gather { .. } | TextureOp::Size | TextureOp::Levels | TextureOp::Samples => OpEffects::empty(),
        },
        Op::Intrinsic(which) => {
            let effects = which.effects();
            let mut out = OpEffects::empty();
            out.set(OpEffects::BARRIER, effects.contains(Effects::MEMORY));
            out.set(OpEffects::CONVERGENT, effects.contains(Effects::CONVERGENT));
            out.set(OpEffects::READS, effects.contains(Effects::READS));
            out.set(OpEffects::WRITES, effects.contains(Effects::WRITES));
            out
        }
        // What the program's own instruction does is the program's affair.
        Op::Call(_) | Op::Spirv(_) => OpEffects::all(),
        // What is printed comes out in order.
        Op::Printf(_) => OpEffects::BARRIER,
        Op::Discard => OpEffects::CONTROL,
    }
}
