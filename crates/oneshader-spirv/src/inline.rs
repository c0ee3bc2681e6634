//! Instructions that the program names by number.

use crate::cx::Cx;
use crate::func::{Fx, Lowered};
use crate::memory::Mem;
use crate::module::MAX_OPERANDS;
use oneshader_diag::Span;
use oneshader_ir::{Inline, InlineOperand, InlineSpirv, InstData, TypeKind, Value};
use spirv::{Decoration, ExecutionMode, Op};

/// Whether an opcode declares a type that a program may name: not the module's functions and forward pointers.
fn is_type(op: Op) -> bool {
    use Op::*;
    let core = (TypeInt as u32..=TypeQueue as u32).contains(&(op as u32)) && op != TypeFunction;
    core || matches!(
        op,
        TypeAccelerationStructureKHR | TypeRayQueryKHR | TypeCooperativeMatrixKHR | TypeCooperativeMatrixNV
    )
}

/// Where an instruction stands in a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// In the function, where it is called.
    Body,
    /// It only asks for capabilities and extensions.
    Nowhere,
    /// With the execution modes of the entry point.
    Modes,
    /// With the decorations, of its first argument or of the function.
    Annotations,
    /// With types and constants.
    Globals,
}

/// The section of an opcode (SPIR-V specification 2.4 and 3.3); `None` for those that a program cannot add: the module's
/// frame, debug information, functions, variables, labels and branches.
fn section(op: Op) -> Option<Section> {
    Some(match op {
        Op::Nop => Section::Nowhere,
        Op::ExecutionMode | Op::ExecutionModeId => Section::Modes,
        Op::Decorate | Op::DecorateId | Op::DecorateString => Section::Annotations,
        Op::ConstantTrue
        | Op::ConstantFalse
        | Op::Constant
        | Op::ConstantComposite
        | Op::ConstantSampler
        | Op::ConstantNull => Section::Globals,
        Op::Undef | Op::ExtInst => Section::Body,
        Op::TerminateInvocation | Op::Kill => return None,
        _ => match op as u32 {
            0..=57 | 59 | 71..=76 | 245..=257 | 317 | 321..=322 | 330..=332 | 5632..=5633 => return None,
            _ => Section::Body,
        },
    })
}

impl Cx<'_> {
    /// A type that the program names.
    pub fn inline_type(&mut self, id: Inline) -> u32 {
        let ir = self.ir;
        let inline = ir.inlines.get(id).cloned().unwrap_or_default();
        let mut words = Vec::new();
        for operand in &inline.operands {
            match operand {
                InlineOperand::Literal(literal) => words.extend_from_slice(literal),
                &InlineOperand::Type(ty) => words.push(self.ty(ty)),
                &InlineOperand::Const(c) => words.push(self.constant(c)),
                InlineOperand::Id => {}
            }
        }
        self.ask(&inline);
        match Op::from_u32(inline.opcode).filter(|op| is_type(*op) && words.len() <= MAX_OPERANDS) {
            Some(op) => self.unique_type(op, &words),
            None => {
                self.unsupported(Span::NONE, format!("{} is no type of SPIR-V", inline.opcode));
                self.void()
            }
        }
    }

    /// Notes what an instruction asks of the module.
    fn ask(&mut self, inline: &InlineSpirv) {
        self.asked.0.extend(inline.capabilities.iter().copied());
        let names = &self.ir.names;
        self.asked.1.extend(inline.extensions.iter().map(|&name| names.get(name).to_owned()));
    }
}

impl Fx<'_, '_> {
    /// `Spirv`.
    pub fn inline(&mut self, data: &InstData, id: Inline) -> Option<u32> {
        let ir = self.cx.ir;
        let inline = ir.inlines.get(id)?;
        self.cx.ask(inline);
        let mut words = Vec::new();
        let mut args = data.args.iter();
        for operand in &inline.operands {
            match operand {
                InlineOperand::Literal(literal) => words.extend_from_slice(literal),
                InlineOperand::Id => words.push(self.operand_id(*args.next()?)?),
                &InlineOperand::Type(ty) => words.push(self.cx.ty(ty)),
                &InlineOperand::Const(c) => words.push(self.cx.constant(c)),
            }
        }
        if words.len() > MAX_OPERANDS {
            self.cx.unsupported(data.span, "an instruction of SPIR-V has at most 65535 words");
            return None;
        }
        if let Some(set) = inline.set {
            let mut all = vec![self.cx.instruction_set(ir.names.get(set)), inline.opcode];
            all.extend(words);
            return self.inline_result(Op::ExtInst, data, &all);
        }
        let op = Op::from_u32(inline.opcode);
        let Some((op, section)) = op.and_then(|op| Some((op, section(op)?))) else {
            let message = format!("{} is no instruction of SPIR-V that a function can have", inline.opcode);
            self.cx.unsupported(data.span, message);
            return None;
        };
        if data.result.is_some() && !matches!(section, Section::Body | Section::Globals) {
            self.cx.unsupported(data.span, format!("instruction {} of SPIR-V has no result", inline.opcode));
            return None;
        }
        match section {
            Section::Nowhere => None,
            Section::Body => self.inline_result(op, data, &words),
            Section::Globals => {
                let ty = self.cx.ty(data.ty);
                let id = self.cx.m.id();
                words.splice(0..0, [ty, id]);
                self.cx.m.globals.inst(op, &words);
                Some(id)
            }
            Section::Modes => {
                self.inline_mode(op, &words);
                None
            }
            Section::Annotations => {
                if words.first().is_none_or(|_| data.args.is_empty()) {
                    words.insert(0, self.id);
                }
                if words.get(1).is_none_or(|&d| Decoration::from_u32(d).is_none()) {
                    self.cx.unsupported(data.span, "SPIR-V has no decoration of this number");
                }
                // A function that is inlined twice decorates what it was given twice.
                if !self.cx.m.annotations.iter().any(|(known, all)| known == op as u32 && all == words) {
                    self.cx.m.annotations.inst(op, &words);
                }
                None
            }
        }
    }

    /// An execution mode of the entry point at hand; each once.
    fn inline_mode(&mut self, op: Op, words: &[u32]) {
        let Some(mode) = words.first().and_then(|&m| ExecutionMode::from_u32(m)) else {
            let (span, number) = (self.span, words.first().copied().unwrap_or(0));
            return self.cx.unsupported(span, format!("{number} is no execution mode of SPIR-V"));
        };
        if !self.cx.modes.iter().any(|(m, _, _)| *m == mode) {
            self.cx.modes.push((mode, op, words.to_vec()));
        }
    }

    fn inline_result(&mut self, op: Op, data: &InstData, words: &[u32]) -> Option<u32> {
        if self.cx.ir.types.kind(data.ty) == TypeKind::Void {
            // Instructions of a set always have a result.
            if op == Op::ExtInst {
                let void = self.cx.ty(data.ty);
                self.op(op, void, words);
            } else {
                self.effect(op, words);
            }
            return None;
        }
        let ty = self.cx.ty(data.ty);
        Some(self.op(op, ty, words))
    }

    /// The id of an argument: a value, a loaded resource, or an address.
    fn operand_id(&mut self, value: Value) -> Option<u32> {
        match self.lowered(value) {
            Some(Lowered::Handle(handle)) => handle.image.or(handle.whole).or(Some(handle.ptr)),
            Some(Lowered::Pointer(pointer)) => {
                let plain = self.cx.mem_ty(pointer.ty, Mem::Plain);
                if pointer.as_uint || self.cx.mem_ty(pointer.ty, pointer.mem) != plain {
                    let span = self.span;
                    self.cx.unsupported(
                        span,
                        "the variable is stored otherwise than its type says; pass a variable of the function",
                    );
                    return None;
                }
                Some(pointer.id)
            }
            Some(Lowered::Io(_) | Lowered::Place { .. }) => {
                let span = self.span;
                self.cx.unsupported(span, "a stage variable or a resource cannot be passed by reference here");
                None
            }
            _ => Some(self.use_id(value)),
        }
    }
}
