//! Calls, and the facts about callees that decide how.

use super::body::Body;
use super::cx::{Facts, is_writable};
use super::effects;
use crate::ast::{Expr, Prefix, Stmt};
use crate::raise::usage::{self, Uses, is_resource};
use cranelift_entity::SecondaryMap;
use oneshader_ir::analysis::{OpEffects, op_effects};
use oneshader_ir::{AddressSpace, Func, Function, Inst, InstData, IrModule, Op, ResourceType, TypeKind, Value};

impl Body<'_, '_> {
    pub(super) fn call_inst(&mut self, inst: Inst, data: &InstData, callee: Func) {
        let mut args = Vec::new();
        let mut pointers = 0u64;
        for (index, &arg) in data.args.iter().enumerate() {
            let ty = self.function.ty(arg);
            if is_resource(&self.cx.types, ty) {
                self.resource_argument(callee, index, arg, &mut args);
                continue;
            }
            match self.cx.types.kind(ty) {
                TypeKind::Pointer { space: AddressSpace::Input, .. } => {
                    let place = self.place(arg);
                    args.push(place.expr);
                }
                TypeKind::Pointer { .. } => {
                    let place = self.place(arg);
                    pointers |= place.effect;
                    args.push(place.expr);
                }
                _ => args.push(self.value(arg)),
            }
        }
        let facts = self.cx.facts[callee];
        let name = self.cx.func_names[callee].map(|n| self.cx.names.get(n).to_owned()).unwrap_or_default();
        let call = self.call(&name, &args);
        self.mark_line(data.span);
        if facts.pure && pointers == 0 {
            let call = if facts.reads == 0 { call } else { self.reading(call, facts.reads) };
            if data.result.is_some() {
                self.define(inst, call);
            }
            return;
        }
        self.flush(effects::SHARED | pointers, true);
        let used = data.result.filter(|&r| self.use_count(r) > 0);
        match used {
            Some(result) => self.set_result(result, call),
            None => self.out.push(Stmt::Do(call)),
        }
    }

    fn resource_argument(&mut self, callee: Func, index: usize, arg: Value, args: &mut Vec<Expr>) {
        let expr = self.handle_as(arg, self.cx.raised.classes.class(callee, index));
        let root = usage::root(self.function, arg).map(|(param, indices)| (param, indices.to_vec()));
        let indexed = root.as_ref().is_some_and(|(_, i)| !i.is_empty());
        let is_block = matches!(
            self.resource(arg),
            Some((ResourceType::ConstantBuffer { .. } | ResourceType::TextureBuffer { .. }, _))
        );
        args.push(if indexed && is_block { self.prefix(Prefix::Deref, expr) } else { expr });
        let uses = self.cx.raised.classes.uses(callee, index);
        let Some((param, indices)) = root else { return };
        if self.is_table_entry(arg) {
            let span = self.function.def_inst(arg).map_or(self.function.span, |(_, data)| data.span);
            if uses.contains(Uses::COUNTER) {
                self.no_entry_fact(span, "counters");
            }
            if uses.contains(Uses::LENGTH) && self.cx.options.buffer_sizes {
                self.no_entry_fact(span, "known size");
            }
            return;
        }
        if uses.contains(Uses::COUNTER) {
            let counter = self.counter_of(param, &indices);
            args.push(counter);
        }
        if uses.contains(Uses::LENGTH) && self.cx.options.buffer_sizes {
            let size = match self.sizes.get(&param) {
                Some(&size) => size,
                None => self.uint(0),
            };
            args.push(size);
        }
    }

    /// The hidden counter of the buffer that is parameter `param`, or the element of it at `indices`.
    pub(super) fn counter_of(&mut self, param: usize, indices: &[Value]) -> Expr {
        let base = match self.counters.get(&param) {
            Some(&expr) => expr,
            None => self.text("0"),
        };
        self.element_of(base, param, indices)
    }

    /// The size in bytes of the buffer that a handle is, when it is passed.
    pub(super) fn buffer_size(&mut self, handle: Value) -> Option<Expr> {
        let (param, indices) = usage::root(self.function, handle)?;
        let size = *self.sizes.get(&param)?;
        match (indices.first(), self.arena[size].kind) {
            (None, _) => Some(size),
            // `buffer_sizes[first + i]`
            (Some(&index), crate::ast::ExprKind::Index(object, first)) => {
                let index = self.index_value(index);
                let at = self.infix(crate::ast::Infix::Add, first, index);
                Some(self.index(object, at))
            }
            (Some(_), _) => Some(size),
        }
    }
}

/// What calls of `func` do, from its instructions and its callees' facts.
pub(crate) fn facts(module: &IrModule, function: &Function, known: &SecondaryMap<Func, Facts>) -> Facts {
    let mut facts = Facts { pure: true, reads: 0 };
    for param in &function.params {
        if let TypeKind::Pointer { space, .. } = module.types.kind(param.ty)
            && !matches!(space, AddressSpace::Handle | AddressSpace::Input)
        {
            facts.pure = false;
        }
    }
    for (_, _, data) in function.live_insts() {
        let own = op_effects(data.op);
        match data.op {
            Op::Call(callee) => {
                facts.pure &= known[callee].pure;
                facts.reads |= known[callee].reads;
            }
            Op::Load | Op::Store => {
                let space = module.types.pointee(function.ty(data.args[0])).map(|(s, _)| s);
                match space {
                    Some(AddressSpace::Function) => {}
                    _ if data.op == Op::Store => facts.pure = false,
                    Some(AddressSpace::Workgroup) => facts.reads |= effects::WORKGROUP,
                    Some(AddressSpace::Storage | AddressSpace::Device) => facts.reads |= effects::STORAGE,
                    _ => {}
                }
            }
            Op::RawLoad => {
                let writable =
                    matches!(module.types.kind(function.ty(data.args[0])), TypeKind::Resource(r) if is_writable(r));
                if writable {
                    facts.reads |= effects::STORAGE;
                }
            }
            Op::Texture(oneshader_ir::TextureOp::Load, _) => facts.reads |= super::effects::TEXTURE,
            _ if own != OpEffects::empty() => facts.pure = false,
            _ => {}
        }
    }
    facts
}
