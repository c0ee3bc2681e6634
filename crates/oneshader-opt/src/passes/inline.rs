//! Inlining: replaces calls by the bodies of their callees, callees first, so that a body is copied when it is done.
//!
//! [`inline_where`] takes the calls that a predicate names; the pass takes all, within the budget of growth.

use super::single_return;
use crate::edit::{Replacements, free_loop_header, map_merge, size, split, undef};
use crate::manager::{Cx, with_function};
use cranelift_entity::SecondaryMap;
use oneshader_ir::{
    Block, Func, Function, Inst, InstData, IrModule, Local, Merge, Op, TerminatorKind, Value, ValueDef,
};

pub(crate) fn run(module: &mut IrModule, cx: &mut Cx) -> bool {
    inline_where(module, cx, |_, _| true)
}

/// Inlines the calls whose callee `wanted` names, in all functions.
pub(crate) fn inline_where(module: &mut IrModule, cx: &Cx, wanted: impl Fn(&IrModule, Func) -> bool) -> bool {
    let mut inliner = Inliner { budget: cx.config.growth, bodies: Vec::new() };
    inliner.bodies.resize_with(module.functions.len(), || None);
    let mut changed = false;
    for index in 0..module.functions.len() {
        let id = Func::from_u32(index as u32);
        let calls = module.functions[id].callees().any(|f| wanted(module, f));
        if calls {
            changed |= with_function(module, id, |module, func| inliner.function(module, func, &wanted));
        }
    }
    changed
}

/// A callee's body, brought to one return.
enum Body {
    Ready(Box<Function>),
    /// It cannot be brought to one return, and stays a call.
    Stuck,
}

struct Inliner {
    budget: usize,
    bodies: Vec<Option<Body>>,
}

impl Inliner {
    fn function(
        &mut self,
        module: &mut IrModule,
        func: &mut Function,
        wanted: &impl Fn(&IrModule, Func) -> bool,
    ) -> bool {
        let mut replaced = Replacements::default();
        let mut changed = false;
        // Calls in the bodies put in are those that their own turn left.
        let mut index = 0;
        while index < func.order.len() {
            let mut block = func.order[index];
            let mut at = 0;
            while at < func.blocks[block].insts.len() {
                let inst = func.blocks[block].insts[at];
                let Op::Call(callee) = func.insts[inst].op else {
                    at += 1;
                    continue;
                };
                let wanted = wanted(module, callee);
                let Some(body) = body(&mut self.bodies, module, callee).filter(|_| wanted) else {
                    at += 1;
                    continue;
                };
                let body_size = size(body);
                if body_size > self.budget {
                    at += 1;
                    continue;
                }
                for arg in &mut func.insts[inst].args {
                    *arg = replaced.get(*arg);
                }
                let end = inline_call(module, func, block, at, body, &mut replaced);
                self.budget -= body_size;
                changed = true;
                match end {
                    // The body stands in the block itself.
                    None => at += body_size,
                    Some(rest) => {
                        index = func.order.iter().position(|&b| b == rest).unwrap_or(func.order.len());
                        (block, at) = (rest, 0);
                    }
                }
            }
            index += 1;
        }
        replaced.apply(func);
        changed
    }
}

/// The body of `callee`, unless it is stuck.
fn body<'b>(bodies: &'b mut [Option<Body>], module: &mut IrModule, callee: Func) -> Option<&'b Function> {
    let slot = bodies.get_mut(callee.as_u32() as usize)?;
    if slot.is_none() {
        let mut body = module.functions[callee].clone();
        single_return::transform(module, &mut body);
        let single = single_return::is_single(&body);
        *slot = Some(if single { Body::Ready(Box::new(body)) } else { Body::Stuck });
    }
    match slot {
        Some(Body::Ready(body)) => Some(body),
        _ => None,
    }
}

/// Puts `callee`'s body in the place of the call at position `at` of `block`. Gives the block where the caller goes on when
/// that is another one.
fn inline_call(
    module: &mut IrModule,
    func: &mut Function,
    block: Block,
    at: usize,
    callee: &Function,
    replaced: &mut Replacements,
) -> Option<Block> {
    let call = func.blocks[block].insts[at];
    let (args, result) = (func.insts[call].args.clone(), func.insts[call].result);
    let mut copy = Copy { values: SecondaryMap::new(), blocks: SecondaryMap::new(), locals: Vec::new() };
    for (param, &arg) in callee.params.iter().zip(&args) {
        copy.values[param.value] = Some(arg);
    }
    for var in callee.locals.values() {
        let value = func.add_local(&mut module.types, var.name, var.ty, var.span);
        copy.locals.push(value);
    }
    let (value, end) = match callee.order[..] {
        // One block: its instructions take the place of the call.
        [only] if matches!(callee.blocks[only].term.kind, TerminatorKind::Return(_)) => {
            let insts = copy.instructions(module, func, callee, only);
            func.blocks[block].insts.splice(at..=at, insts);
            let value = callee.blocks[only].term.arg().map(|v| copy.value(module, func, callee, v));
            (value, None)
        }
        _ => {
            let block = match func.blocks[block].merge {
                Merge::Loop { .. } => free_loop_header(func, block),
                _ => block,
            };
            let at = func.blocks[block].insts.iter().position(|&i| i == call).unwrap_or(0);
            let rest = split(func, block, at + 1);
            func.blocks[block].insts.pop();
            (copy.blocks(module, func, callee, block, rest), Some(rest))
        }
    };
    if let Some(result) = result {
        let value = match value {
            Some(value) => value,
            None => {
                let ty = func.ty(result);
                undef(module, func, ty)
            }
        };
        replaced.set(func, result, value);
    }
    end
}

/// What the callee's entities are in the caller.
struct Copy {
    values: SecondaryMap<Value, Option<Value>>,
    blocks: SecondaryMap<Block, Option<Block>>,
    locals: Vec<Value>,
}

impl Copy {
    fn value(&mut self, module: &mut IrModule, func: &mut Function, callee: &Function, value: Value) -> Value {
        if let Some(known) = self.values[value] {
            return known;
        }
        let new = match callee.values[value].def {
            ValueDef::Const(c) => func.const_value(&module.consts, c),
            ValueDef::Global(g) => {
                let (space, ty) = (module.globals[g].space, module.globals[g].ty);
                func.global_value(&mut module.types, g, space, ty)
            }
            ValueDef::Local(local) => self.local(local),
            // Results get their values before operands are looked at, parameters before everything.
            ValueDef::Inst(_) | ValueDef::Param(_) => undef(module, func, callee.ty(value)),
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
        module: &mut IrModule,
        func: &mut Function,
        callee: &Function,
        block: Block,
    ) -> Vec<Inst> {
        let mut out = Vec::with_capacity(callee.blocks[block].insts.len());
        for &inst in &callee.blocks[block].insts {
            out.push(self.create(module, func, callee, inst));
        }
        for (&old, &new) in callee.blocks[block].insts.iter().zip(&out) {
            self.fill(module, func, callee, old, new);
        }
        out
    }

    fn create(&mut self, module: &mut IrModule, func: &mut Function, callee: &Function, old: Inst) -> Inst {
        let data = &callee.insts[old];
        let copy = InstData { args: Default::default(), preds: Default::default(), result: None, ..data.clone() };
        let new = func.add_inst(&mut module.types, copy);
        if let (Some(old), Some(new)) = (data.result, func.insts[new].result) {
            self.values[old] = Some(new);
            func.value_names[new] = callee.value_names[old];
        }
        new
    }

    fn fill(&mut self, module: &mut IrModule, func: &mut Function, callee: &Function, old: Inst, new: Inst) {
        for &arg in &callee.insts[old].args {
            let arg = self.value(module, func, callee, arg);
            func.insts[new].args.push(arg);
        }
        for &pred in &callee.insts[old].preds {
            func.insts[new].preds.extend(self.blocks[pred]);
        }
    }

    /// Copies all blocks between `before` and `rest`; gives the result.
    fn blocks(
        &mut self,
        module: &mut IrModule,
        func: &mut Function,
        callee: &Function,
        before: Block,
        rest: Block,
    ) -> Option<Value> {
        for &block in &callee.order {
            self.blocks[block] = Some(func.add_block(callee.blocks[block].term.span));
        }
        let mut placed = Vec::with_capacity(callee.order.len());
        for &block in &callee.order {
            let Some(new) = self.blocks[block] else { continue };
            placed.push(new);
            for &inst in &callee.blocks[block].insts {
                let copy = self.create(module, func, callee, inst);
                func.blocks[new].insts.push(copy);
            }
        }
        let mut result = None;
        for (&block, &new) in callee.order.iter().zip(&placed) {
            for i in 0..callee.blocks[block].insts.len() {
                let (old_inst, new_inst) = (callee.blocks[block].insts[i], func.blocks[new].insts[i]);
                self.fill(module, func, callee, old_inst, new_inst);
            }
            let mut data = callee.blocks[block].clone();
            let map = |b: Block| self.blocks[b].unwrap_or(rest);
            data.term.map_successors(|b| *b = map(*b));
            map_merge(&mut data, map);
            if let TerminatorKind::Return(value) = data.term.kind {
                result = value.map(|v| self.value(module, func, callee, v));
                data.term.kind = TerminatorKind::Branch(rest);
            } else if let Some(arg) = data.term.arg() {
                let arg = self.value(module, func, callee, arg);
                if let Some(slot) = data.term.arg_mut() {
                    *slot = arg;
                }
            }
            let target = &mut func.blocks[new];
            (target.term, target.merge, target.hint) = (data.term, data.merge, data.hint);
        }
        if let Some(&first) = placed.first() {
            func.blocks[before].term.kind = TerminatorKind::Branch(first);
        }
        let at = func.order.iter().position(|&b| b == before).map_or(func.order.len(), |at| at + 1);
        func.order.splice(at..at, placed);
        result
    }
}
