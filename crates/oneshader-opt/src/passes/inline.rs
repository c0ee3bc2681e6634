//! Inlining: replaces calls by the bodies of their callees, callees first, so that a body is copied when it is done.
//!
//! [`inline_where`] takes the calls that a predicate names; the pass takes all, within the budget of growth.

use super::{nest_exits, single_return};
use crate::edit::{Replacements, free_loop_header, map_merge, rename_phi_pred, size};
use crate::manager::{Cx, with_function};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use oneshader_ir::{
    Block, BlockData, ConstData, Consts, Func, Function, Global, GlobalVar, Inst, InstData, IrModule, Local, Merge, Op,
    Terminator, TerminatorKind, Type, Types, Value, ValueDef,
};
use smallvec::SmallVec;

pub(crate) fn run(module: &mut IrModule, cx: &mut Cx) -> bool {
    inline_where(module, cx, |_| true)
}

/// Inlines the calls whose callee `wanted` names, in all functions.
pub(crate) fn inline_where(module: &mut IrModule, cx: &Cx, wanted: impl Fn(Func) -> bool) -> bool {
    let mut inliner =
        Inliner { budget: cx.config.growth, bodies: SecondaryMap::new(), order: Vec::new(), copy: Copy::default() };
    let mut changed = false;
    for index in 0..module.functions.len() {
        let id = Func::from_u32(index as u32);
        if module.functions[id].callees().any(&wanted) {
            changed |= with_function(module, id, |module, func| inliner.function(module, func, &wanted));
        }
    }
    changed
}

/// A callee's body, brought to one return.
#[derive(Clone, Default)]
enum Body {
    /// Nobody has asked yet.
    #[default]
    Unknown,
    /// It has one return as it is.
    Own,
    /// A copy that was brought to one.
    Ready(Box<Function>),
    /// It cannot be brought to one return, and stays a call.
    Stuck,
}

struct Inliner {
    budget: usize,
    bodies: SecondaryMap<Func, Body>,
    /// The blocks of the function being worked on.
    order: Vec<Block>,
    copy: Copy,
}

/// What bodies are put together from besides functions.
struct Parts<'a> {
    types: &'a mut Types,
    consts: &'a mut Consts,
    globals: &'a PrimaryMap<Global, GlobalVar>,
}

impl Parts<'_> {
    fn undef(&mut self, func: &mut Function, ty: Type) -> Value {
        let c = self.consts.intern(ty, ConstData::Undef);
        func.const_value(self.consts, c)
    }
}

impl Inliner {
    fn function(&mut self, module: &mut IrModule, func: &mut Function, wanted: &impl Fn(Func) -> bool) -> bool {
        let mut replaced = Replacements::default();
        let mut changed = false;
        self.order = Vec::with_capacity(func.order.len());
        // Calls in the bodies put in are those that their own turn left.
        let mut index = 0;
        while index < func.order.len() {
            let block = func.order[index];
            index += 1;
            let calls = |func: &Function, inst: Inst| match func.insts[inst].op {
                Op::Call(callee) => Some(callee).filter(|&c| wanted(c)),
                _ => None,
            };
            if !func.blocks[block].insts.iter().any(|&i| calls(func, i).is_some()) {
                self.order.push(block);
                continue;
            }
            // A loop's header keeps its edges: what is split stands in a block of its own, which comes next.
            if matches!(func.blocks[block].merge, Merge::Loop { .. })
                && (0..func.blocks[block].insts.len()).any(|i| {
                    let callee = calls(func, func.blocks[block].insts[i]);
                    callee.is_some_and(|c| self.body(module, c).is_some_and(|b| !is_one_block(b)))
                })
            {
                free_loop_header(func, block);
                index -= 1;
                continue;
            }
            changed |= self.block(module, func, block, calls, &mut replaced);
        }
        func.order = std::mem::take(&mut self.order);
        replaced.apply(func);
        changed
    }

    /// Inlines the calls of one block, which it and what it is split into are put in the order of.
    fn block(
        &mut self,
        module: &mut IrModule,
        func: &mut Function,
        block: Block,
        calls: impl Fn(&Function, Inst) -> Option<Func>,
        replaced: &mut Replacements,
    ) -> bool {
        let mut changed = false;
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut out: Vec<Inst> = Vec::with_capacity(insts.len());
        let mut at = block;
        self.order.push(block);
        for inst in insts {
            let Some(callee) = calls(func, inst) else {
                out.push(inst);
                continue;
            };
            self.body(module, callee);
            let IrModule { types, consts, globals, functions, .. } = &mut *module;
            let body = match &self.bodies[callee] {
                Body::Own => Some(&functions[callee]),
                Body::Ready(body) => Some(&**body),
                Body::Unknown | Body::Stuck => None,
            };
            let Some(body) = body.filter(|b| size(b) <= self.budget) else {
                out.push(inst);
                continue;
            };
            self.budget -= size(body);
            changed = true;
            for arg in &mut func.insts[inst].args {
                *arg = replaced.get(*arg);
            }
            let parts = &mut Parts { types, consts, globals };
            self.copy.begin(parts, func, body, inst);
            let value = if is_one_block(body) {
                // Its instructions take the place of the call.
                let only = body.order[0];
                self.copy.instructions(parts, func, body, only, &mut out);
                body.blocks[only].term.arg().map(|v| self.copy.value(parts, func, body, v))
            } else {
                func.blocks[at].insts = std::mem::take(&mut out);
                let rest = split_off(func, at);
                let value = self.copy.blocks(parts, func, body, at, rest, &mut self.order);
                self.order.push(rest);
                at = rest;
                value
            };
            if let Some(result) = func.insts[inst].result {
                let value = match value {
                    Some(value) => value,
                    None => {
                        let ty = func.ty(result);
                        parts.undef(func, ty)
                    }
                };
                replaced.set(func, result, value);
            }
        }
        func.blocks[at].insts = out;
        if at != block {
            let succs: SmallVec<[Block; 4]> = func.blocks[at].term.successors().collect();
            for succ in succs {
                rename_phi_pred(func, succ, block, at);
            }
        }
        changed
    }

    /// The body of `callee`, unless it is stuck.
    fn body<'b>(&'b mut self, module: &'b mut IrModule, callee: Func) -> Option<&'b Function> {
        if matches!(self.bodies[callee], Body::Unknown) {
            self.bodies[callee] = if decorates_itself(module, callee) {
                Body::Stuck
            } else if single_return::is_single_as_it_is(&module.functions[callee]) {
                Body::Own
            } else {
                let mut body = module.functions[callee].clone();
                if single_return::transform(module, &mut body) {
                    // Once here, and not in every copy.
                    nest_exits::nest_all(module, &mut body);
                }
                if single_return::is_single(&body) { Body::Ready(Box::new(body)) } else { Body::Stuck }
            };
        }
        match &self.bodies[callee] {
            Body::Own => Some(&module.functions[callee]),
            Body::Ready(body) => Some(body),
            Body::Unknown | Body::Stuck => None,
        }
    }
}

/// Whether a decoration of SPIR-V holds for the function itself: it must not become its caller's.
fn decorates_itself(module: &IrModule, func: Func) -> bool {
    /// `OpDecorate` (SPIR-V specification 3.3.3).
    const DECORATE: u32 = 71;
    !module.inlines.is_empty()
        && module.functions[func].live_insts().any(|(_, _, data)| match data.op {
            Op::Spirv(id) => data.args.is_empty() && module.inlines.get(id).is_some_and(|i| i.opcode == DECORATE),
            _ => false,
        })
}

/// Whether a body can stand in the place of a call.
fn is_one_block(body: &Function) -> bool {
    matches!(body.order[..], [only] if matches!(body.blocks[only].term.kind, TerminatorKind::Return(_)))
}

/// Moves the end and the marker of `block` to a new block; where `block` goes is left open. Phis that name `block` are left to
/// the caller.
fn split_off(func: &mut Function, block: Block) -> Block {
    let span = func.blocks[block].term.span;
    let rest = func.add_block(span);
    let data = &mut func.blocks[block];
    let term = std::mem::replace(&mut data.term, Terminator { kind: TerminatorKind::Unreachable, span });
    let (merge, hint) = (std::mem::take(&mut data.merge), std::mem::take(&mut data.hint));
    func.blocks[rest] = BlockData { insts: Vec::new(), term, merge, hint };
    rest
}

/// What the callee's entities are in the caller.
#[derive(Default)]
struct Copy {
    values: SecondaryMap<Value, Option<Value>>,
    blocks: SecondaryMap<Block, Option<Block>>,
    locals: Vec<Value>,
}

impl Copy {
    /// Forgets what was copied before, and makes arguments and variables what they are in the caller.
    fn begin(&mut self, parts: &mut Parts, func: &mut Function, callee: &Function, call: Inst) {
        self.values.clear();
        self.blocks.clear();
        self.locals.clear();
        for (param, &arg) in callee.params.iter().zip(&func.insts[call].args) {
            self.values[param.value] = Some(arg);
        }
        for var in callee.locals.values() {
            self.locals.push(func.add_local(parts.types, var.name, var.ty, var.span));
        }
    }

    fn value(&mut self, parts: &mut Parts, func: &mut Function, callee: &Function, value: Value) -> Value {
        if let Some(known) = self.values[value] {
            return known;
        }
        let new = match callee.values[value].def {
            ValueDef::Const(c) => func.const_value(parts.consts, c),
            ValueDef::Global(g) => {
                let (space, ty) = (parts.globals[g].space, parts.globals[g].ty);
                func.global_value(parts.types, g, space, ty)
            }
            ValueDef::Local(local) => self.local(local),
            // Results get their values before operands are looked at, parameters before everything.
            ValueDef::Inst(_) | ValueDef::Param(_) => parts.undef(func, callee.ty(value)),
        };
        self.values[value] = Some(new);
        new
    }

    fn local(&self, local: Local) -> Value {
        self.locals[local.as_u32() as usize]
    }

    /// Copies of a block's instructions, their operands mapped as far as they are known.
    fn instructions(
        &mut self,
        parts: &mut Parts,
        func: &mut Function,
        callee: &Function,
        block: Block,
        out: &mut Vec<Inst>,
    ) {
        let from = out.len();
        for &inst in &callee.blocks[block].insts {
            out.push(self.create(parts, func, callee, inst));
        }
        for (&old, &new) in callee.blocks[block].insts.iter().zip(&out[from..]) {
            self.fill(parts, func, callee, old, new);
        }
    }

    fn create(&mut self, parts: &mut Parts, func: &mut Function, callee: &Function, old: Inst) -> Inst {
        let data = &callee.insts[old];
        let copy = InstData { args: SmallVec::new(), preds: SmallVec::new(), result: None, ..*data };
        let new = func.add_inst(parts.types, copy);
        if let (Some(old), Some(new)) = (data.result, func.insts[new].result) {
            self.values[old] = Some(new);
            if let Some(name) = callee.value_names[old] {
                func.value_names[new] = Some(name);
            }
        }
        new
    }

    fn fill(&mut self, parts: &mut Parts, func: &mut Function, callee: &Function, old: Inst, new: Inst) {
        for &arg in &callee.insts[old].args {
            let arg = self.value(parts, func, callee, arg);
            func.insts[new].args.push(arg);
        }
        for &pred in &callee.insts[old].preds {
            func.insts[new].preds.extend(self.blocks[pred]);
        }
    }

    /// Copies all blocks between `before` and `rest`, and puts them in `order`; gives the result.
    fn blocks(
        &mut self,
        parts: &mut Parts,
        func: &mut Function,
        callee: &Function,
        before: Block,
        rest: Block,
        order: &mut Vec<Block>,
    ) -> Option<Value> {
        for &block in &callee.order {
            self.blocks[block] = Some(func.add_block(callee.blocks[block].term.span));
        }
        let first_placed = order.len();
        for &block in &callee.order {
            let Some(new) = self.blocks[block] else { continue };
            order.push(new);
            let insts = &callee.blocks[block].insts;
            let mut copies = Vec::with_capacity(insts.len());
            copies.extend(insts.iter().map(|&inst| self.create(parts, func, callee, inst)));
            func.blocks[new].insts = copies;
        }
        let mut result = None;
        for (&block, &new) in callee.order.iter().zip(&order[first_placed..]) {
            let data = &callee.blocks[block];
            for (i, &old_inst) in data.insts.iter().enumerate() {
                let new_inst = func.blocks[new].insts[i];
                self.fill(parts, func, callee, old_inst, new_inst);
            }
            let mut data = BlockData { insts: Vec::new(), term: data.term.clone(), ..*data };
            let map = |b: Block| self.blocks[b].unwrap_or(rest);
            data.term.map_successors(|b| *b = map(*b));
            map_merge(&mut data, map);
            if let TerminatorKind::Return(value) = data.term.kind {
                result = value.map(|v| self.value(parts, func, callee, v));
                data.term.kind = TerminatorKind::Branch(rest);
            } else if let Some(arg) = data.term.arg() {
                let arg = self.value(parts, func, callee, arg);
                if let Some(slot) = data.term.arg_mut() {
                    *slot = arg;
                }
            }
            let target = &mut func.blocks[new];
            (target.term, target.merge, target.hint) = (data.term, data.merge, data.hint);
        }
        if let Some(&first) = order.get(first_placed) {
            func.blocks[before].term.kind = TerminatorKind::Branch(first);
        }
        result
    }
}
