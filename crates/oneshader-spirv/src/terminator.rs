//! Ends of blocks.

use crate::func::Fx;
use crate::module::MAX_OPERANDS;
use oneshader_ir::{Block, Hint, InstFlags, Merge, Scalar, TerminatorKind};
use spirv::{LoopControl, Op, SelectionControl};

impl Fx<'_, '_> {
    /// Appends the end of a block, with its merge instruction.
    pub fn terminator(&mut self, block: Block) {
        let data = &self.func.blocks[block];
        self.span = data.term.span;
        self.flags = InstFlags::empty();
        self.line(data.term.span);
        match &data.term.kind {
            TerminatorKind::Branch(to) => {
                let to = self.labels[to];
                self.loop_merge(data.merge, data.hint);
                self.effect(Op::Branch, &[to]);
            }
            TerminatorKind::CondBranch { then, els, .. } if then == els => {
                let to = self.labels[then];
                self.loop_merge(data.merge, data.hint);
                self.effect(Op::Branch, &[to]);
            }
            TerminatorKind::CondBranch { cond, then, els } => {
                let cond = self.use_id(*cond);
                let (then, els) = (self.labels[then], self.labels[els]);
                self.loop_merge(data.merge, data.hint);
                self.selection_merge(data.merge, data.hint);
                self.effect(Op::BranchConditional, &[cond, then, els]);
            }
            TerminatorKind::Switch { selector, default, cases } => {
                let scalar = self.cx.ir.types.scalar_of(self.func.ty(*selector)).unwrap_or(Scalar::U32);
                let mut operands = vec![self.use_id(*selector), self.labels[default]];
                // A case that another falls through to must come right after it (SPIR-V specification 2.11.1): the blocks
                // stand in the order of the source, and all values of one case together.
                let mut cases = cases.clone();
                cases.sort_by_key(|case| self.source_order[case.target]);
                for case in cases {
                    operands.push(match scalar {
                        Scalar::Int { bits: 16, signed: true } => case.value as u16 as i16 as i32 as u32,
                        _ => case.value as u32,
                    });
                    if scalar.bits() == 64 {
                        operands.push((case.value >> 32) as u32);
                    }
                    operands.push(self.labels[&case.target]);
                }
                self.loop_merge(data.merge, data.hint);
                self.selection_merge(data.merge, data.hint);
                if operands.len() > MAX_OPERANDS {
                    self.cx.unsupported(data.term.span, "the switch has too many cases for one instruction");
                    return;
                }
                self.effect(Op::Switch, &operands);
            }
            TerminatorKind::Return(value) => {
                if self.entry {
                    self.leave_entry_point();
                }
                match value {
                    Some(value) => {
                        let id = self.use_id(*value);
                        self.effect(Op::ReturnValue, &[id]);
                    }
                    None => self.effect(Op::Return, &[]),
                }
            }
            TerminatorKind::Unreachable => self.effect(Op::Unreachable, &[]),
        }
    }

    fn loop_merge(&mut self, merge: Merge, hint: Hint) {
        if let Merge::Loop { merge, cont } = merge {
            let control = match hint {
                Hint::Unroll(_) => LoopControl::UNROLL,
                Hint::Loop => LoopControl::DONT_UNROLL,
                _ => LoopControl::NONE,
            };
            let (merge, cont) = (self.labels[&merge], self.labels[&cont]);
            self.effect(Op::LoopMerge, &[merge, cont, control.bits()]);
        }
    }

    fn selection_merge(&mut self, merge: Merge, hint: Hint) {
        if let Merge::Selection(merge) = merge {
            let control = match hint {
                Hint::Flatten => SelectionControl::FLATTEN,
                Hint::Branch => SelectionControl::DONT_FLATTEN,
                _ => SelectionControl::NONE,
            };
            let merge = self.labels[&merge];
            self.effect(Op::SelectionMerge, &[merge, control.bits()]);
        }
    }
}
