//! Texel offsets of loads: "an offset must be static" (HLSL, Load), that is, known once functions are inlined and loops
//! unrolled.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AddressSpace, Op, ValueDef};

use crate::cx::Cx;
use crate::value::R;

/// Instructions looked at for one offset.
const MAX_STEPS: usize = 256;

impl Cx<'_> {
    /// Reports an offset that is computed from what only the running shader knows: inputs, memory, textures. One computed
    /// from parameters and loop counters may become a constant.
    pub(super) fn check_static_offset(&mut self, offset: ir::Value, span: Span) -> R<()> {
        let mut work = vec![offset];
        for _ in 0..MAX_STEPS {
            let Some(value) = work.pop() else { return Ok(()) };
            if self.known(value).is_some() {
                continue;
            }
            let ValueDef::Inst(inst) = self.b.func.values[value].def else { continue };
            let data = &self.b.func.insts[inst];
            let running = match data.op {
                Op::RawLoad | Op::Texture(..) | Op::Atomic(_) | Op::BufferLength => true,
                Op::Load => self.is_running(data.args[0]),
                Op::Phi | Op::Call(_) => false,
                _ => {
                    work.extend(data.args.iter().copied());
                    false
                }
            };
            if running {
                let message = "the offset of a Load must be known when the shader is compiled";
                let d = oneshader_diag::Diagnostic::new(codes::NOT_CONSTANT, span, message);
                return Err(self.report(d.help("add what varies to the location instead")));
            }
        }
        Ok(())
    }

    /// Whether an address leads to what only the running shader knows.
    fn is_running(&self, mut address: ir::Value) -> bool {
        loop {
            match self.b.func.values[address].def {
                ValueDef::Inst(inst) => match self.b.func.insts[inst].op {
                    Op::Access => address = self.b.func.insts[inst].args[0],
                    Op::BlockPtr | Op::ElementPtr | Op::RawPtr => return true,
                    _ => return false,
                },
                ValueDef::Global(global) => return self.b.module.globals[global].space == AddressSpace::Input,
                // A parameter of the entry point that nothing else was stored in.
                ValueDef::Local(_) => {
                    let input = self.s.body.inputs.iter().any(|(root, _)| *root == address);
                    return input && self.stores_to(address) == 1;
                }
                _ => return false,
            }
        }
    }

    fn stores_to(&self, root: ir::Value) -> usize {
        let func = &self.b.func;
        let leads = |mut at: ir::Value| loop {
            match func.values[at].def {
                ValueDef::Inst(inst) if func.insts[inst].op == Op::Access => at = func.insts[inst].args[0],
                _ => return at == root,
            }
        };
        func.insts.values().filter(|data| data.op == Op::Store && leads(data.args[0])).count()
    }
}
