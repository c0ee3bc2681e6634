//! The verifier: what makes a module legal.
//!
//! It never panics on a bad module and reports every error, with the name of the pass that made it. Stage one asks whether
//! the module can be walked; only if so, stage two asks whether the rules hold. `docs/ir.md` says what each construct means.
//!
//! # Stage one: the module can be walked
//!
//! - V001 A type is made of types and structures that exist and stand before it; vectors and matrices have 2 to 4 components
//!   each way, matrices are of floats, arrays have at least one element, no structure contains itself, no type of SPIR-V is
//!   made of itself, and its operands exist.
//! - V002 A constant is made of constants that exist, and its data fits its type.
//! - V003 A function has an entry block; its order names blocks that exist, each once.
//! - V004 An instruction of a block exists and stands nowhere else.
//! - V005 An operand is a value that exists, and the value's definition refers back to it.
//! - V006 Successors, merge and continue blocks, and the blocks of phis are living blocks of the function.
//! - V007 An instruction has a result exactly if its type is not `void`.
//! - V008 A callee exists and stands before its callers.
//! - V009 Names, globals, functions and specialization constants that declarations refer to exist.
//!
//! # Stage two: the rules hold
//!
//! - V010 No edge leads to the entry block.
//! - V011 A block stands after its immediate dominator.
//! - V012 A value is defined on every path to its use.
//! - V013 Phis stand at the head of their block and name every predecessor once.
//! - V014 Operands and result have the types the operation asks for.
//! - V015 A pointer is not stored, chosen, returned or part of another type; texel and raw addresses serve atomics only.
//! - V016 Memory that is read only is not written.
//! - V017 A terminator's operand has the right type; case values differ and fit.
//! - V018 A call passes what the callee takes.
//! - V020 A block with different successors is marked as a header, unless it belongs to a short-circuit expression or ends
//!   a continue construct; a marker stands on a block that ends so.
//! - V021 A merge or continue block belongs to one header, which dominates it.
//! - V022 Control leaves a construct only by its merge block, the merge or continue block of the innermost loop, the merge
//!   block of the innermost switch, or by returning.
//! - V023 A back edge goes from a continue construct to its loop's header.
//! - V024 A case falls through only to the case that stands next.
//! - V030 A variable's kind, type and address space agree.
//! - V031 A function reaches only what its entry points' stages allow: intrinsics, discard, groupshared memory, stage
//!   variables of their signatures.
//! - V032 An entry point has no parameters and no result; its signature fits its stage.
//! - V033 With [`Properties::HANDLES_RESOLVED`](crate::Properties::HANDLES_RESOLVED) no handle is in a variable of its own, a
//!   phi or a select.

mod entry;
mod flow;
mod graph;
mod intrinsic;
mod ops;
mod structure;
mod texture;

use crate::entity::{Block, Func, Inst};
use crate::func::Function;
use crate::module::IrModule;
use std::fmt;

/// More errors than this are counted, not kept.
const MAX_ERRORS: usize = 200;

/// One broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// Number of the rule, as in V012.
    pub rule: u16,
    /// The function.
    pub func: Option<Func>,
    /// The block.
    pub block: Option<Block>,
    /// The instruction.
    pub inst: Option<Inst>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{:03}", self.rule)?;
        if let Some(func) = self.func {
            write!(f, " in {func}")?;
        }
        if let Some(block) = self.block {
            write!(f, " {block}")?;
        }
        if let Some(inst) = self.inst {
            write!(f, " {inst}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// All broken rules of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyReport {
    /// The pass after which the module was looked at.
    pub pass: String,
    /// The errors, at most some hundred.
    pub errors: Vec<VerifyError>,
    /// Number of further errors.
    pub more: usize,
}

impl fmt::Display for VerifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the module is not legal after {}", self.pass)?;
        for error in &self.errors {
            write!(f, "\n  {error}")?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyReport {}

/// Checks `module` after the pass called `pass`.
pub fn verify(module: &IrModule, pass: &str) -> Result<(), VerifyReport> {
    let mut cx = Checker { m: module, func: None, block: None, inst: None, errors: Vec::new(), more: 0 };
    graph::check(&mut cx);
    if cx.errors.is_empty() {
        for (id, func) in module.functions.iter() {
            cx.func = Some(id);
            cx.function(func);
        }
        (cx.func, cx.block, cx.inst) = (None, None, None);
        entry::check(&mut cx);
    }
    cx.report(pass)
}

/// Checks one function after a pass that changed nothing else: the rules that look at it alone.
pub fn verify_function(module: &IrModule, id: Func, pass: &str) -> Result<(), VerifyReport> {
    let mut cx = Checker { m: module, func: None, block: None, inst: None, errors: Vec::new(), more: 0 };
    let func = &module.functions[id];
    graph::one(&mut cx, id, func);
    if cx.errors.is_empty() {
        cx.func = Some(id);
        cx.function(func);
    }
    cx.report(pass)
}

struct Checker<'m> {
    m: &'m IrModule,
    func: Option<Func>,
    block: Option<Block>,
    inst: Option<Inst>,
    errors: Vec<VerifyError>,
    more: usize,
}

impl Checker<'_> {
    fn report(self, pass: &str) -> Result<(), VerifyReport> {
        if self.errors.is_empty() {
            return Ok(());
        }
        Err(VerifyReport { pass: pass.into(), errors: self.errors, more: self.more })
    }

    fn error(&mut self, rule: u16, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS {
            self.more += 1;
            return;
        }
        let (func, block, inst) = (self.func, self.block, self.inst);
        self.errors.push(VerifyError { rule, func, block, inst, message: message.into() });
    }

    /// Reports unless `ok`.
    fn check(&mut self, rule: u16, ok: bool, message: impl FnOnce() -> String) {
        if !ok {
            self.error(rule, message());
        }
    }

    /// Stage two for one function.
    fn function(&mut self, func: &Function) {
        (self.block, self.inst) = (None, None);
        self.signature(func);
        let flow = flow::check(self, func);
        for &block in &func.order {
            self.block = Some(block);
            for &inst in &func.blocks[block].insts {
                self.inst = Some(inst);
                self.op(func, &func.insts[inst]);
            }
            self.inst = None;
            self.terminator(func, &func.blocks[block].term);
        }
        self.block = None;
        structure::check(self, func, &flow);
        (self.block, self.inst) = (None, None);
    }
}

#[cfg(test)]
mod tests;
