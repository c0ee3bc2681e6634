//! Handles become what they are: after this pass a handle is loaded from its resource's variable where it is used, or is a
//! parameter, and none is in a variable of its own, a phi or a select.
//!
//! Functions that give handles back, take structures with handles or addresses of handles or pointers of SPIR-V, or are
//! given a ray query inside of a variable, are inlined. Local variables with
//! handles are split and promoted. A choice between the same resource is that resource; a choice between elements of one
//! array is a choice of the index. A `static` variable is what is stored to it, if that is one resource. What remains is a
//! resource chosen in a way that no target can express: an error at its place.

use super::{const_branch, dce, fold, inline, localize, mem2reg, sroa, unreachable, unroll};
use crate::edit::{after_phis, insert, inst_data, undef};
use crate::manager::{Cx, with_function};
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_diag::{Diagnostic, codes};
use oneshader_ir::{
    AddressSpace, Func, Function, Global, Inst, InstData, InstFlags, IrModule, Local, Merge, Op, Properties,
    TerminatorKind, Type, TypeKind, Value, ValueDef,
};
use smallvec::SmallVec;

pub(crate) fn run(module: &mut IrModule, cx: &mut Cx) -> bool {
    if module.properties.contains(Properties::HANDLES_RESOLVED) {
        return false;
    }
    let mut wanted: EntitySet<Func> = EntitySet::with_capacity(module.functions.len());
    for (id, func) in module.functions.iter() {
        if has_handle_interface(module, func) {
            wanted.insert(id);
        }
    }
    add_callees_of_partial_queries(module, &mut wanted);
    if !wanted.is_empty() {
        inline::inline_where(module, cx, |callee| wanted.contains(callee));
    }
    if resolve_all(module, &wanted, cx, false) {
        // Not in the shape it was written in: one function, constants through branches and loops, then again.
        inline::inline_where(module, cx, |_| true);
        localize::run(module, cx);
        for index in 0..module.functions.len() {
            with_function(module, Func::from_u32(index as u32), |module, func| straighten(module, func, cx));
            cx.forget_graph();
        }
        if resolve_all(module, &wanted, cx, true) {
            return true;
        }
    }
    module.properties |= Properties::HANDLES_RESOLVED;
    true
}

/// Resolves each function as far as it can be; tells whether one that matters is left, and reports it when asked to.
fn resolve_all(module: &mut IrModule, wanted: &EntitySet<Func>, cx: &mut Cx, report: bool) -> bool {
    let holders = Holders::new(module);
    let statics = static_handles(module);
    let mut reached: EntitySet<Func> = EntitySet::with_capacity(module.functions.len());
    for entry in &module.entry_points {
        module.reachable(entry.func).into_iter().for_each(|f| {
            reached.insert(f);
        });
    }
    let mut left = false;
    for index in 0..module.functions.len() {
        let id = Func::from_u32(index as u32);
        if !wanted.contains(id) && holders.is_plain(module, &module.functions[id]) {
            continue;
        }
        let live = reached.contains(id) || (module.entry_points.is_empty() && !wanted.contains(id));
        left |= with_function(module, id, |module, func| {
            resolve(module, func, &statics);
            let unresolved = unresolved(module, func);
            if unresolved.is_empty() {
                return false;
            }
            if !live {
                // Nothing calls it: its body does not matter.
                empty(func);
                return false;
            }
            for inst in unresolved.into_iter().filter(|_| report) {
                let span = func.insts[inst].span;
                let message = "the resource used here is not known when the shader is compiled";
                cx.bag.push(
                    Diagnostic::new(codes::UNRESOLVED_OBJECT, span, message)
                        .help("choose between values read from the resources, or index an array of resources"),
                );
            }
            true
        });
    }
    left
}

/// What optimization would find out: values through memory, branches on constants, loops that count.
fn straighten(module: &mut IrModule, func: &mut Function, cx: &mut Cx) {
    for _ in 0..4 {
        sroa::split_locals(module, func, |_, _| true);
        cx.forget_graph();
        let mut changed = mem2reg::run(module, func, cx);
        while fold::fold_function(module, func) {}
        changed |= const_branch::run(module, func, cx);
        changed |= unreachable::remove(module, func);
        cx.forget_graph();
        changed |= unroll::run(module, func, cx);
        changed |= dce::remove(module, func);
        if !changed {
            break;
        }
    }
}

fn is_handle(module: &IrModule, ty: Type) -> bool {
    matches!(module.types.kind(ty), TypeKind::Resource(_))
}

/// Whether a value of the type has a handle in it.
fn holds_handle(module: &IrModule, ty: Type) -> bool {
    let ty = module.types.behind(ty);
    // One that is too large to look at is taken to hold none.
    module.types.holds(ty, |kind| matches!(kind, TypeKind::Resource(_))).unwrap_or(false)
}

/// The types that hold handles, of those there were when it was made.
struct Holders(EntitySet<Type>);

impl Holders {
    fn new(module: &IrModule) -> Self {
        let mut holders = EntitySet::with_capacity(module.types.len());
        for (ty, kind) in module.types.iter() {
            // Types are made of types that stand before them, but for the members of structures.
            let holds = match *kind {
                TypeKind::Resource(_) => true,
                TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => holders.contains(elem),
                TypeKind::Pointer { pointee, .. } => holders.contains(pointee),
                TypeKind::Struct(_) => holds_handle(module, ty),
                _ => false,
            };
            if holds {
                holders.insert(ty);
            }
        }
        Self(holders)
    }

    /// Whether every handle in a function is loaded from a resource's variable or is a parameter: nothing is left to resolve.
    fn is_plain(&self, module: &IrModule, func: &Function) -> bool {
        let holds = |ty: Type| self.0.contains(ty);
        let resource = |v: Value| module.types.pointee(func.ty(v)).is_some_and(|(s, _)| s == AddressSpace::Handle);
        let plain = |data: &InstData| {
            if holds(data.ty) {
                return match data.op {
                    Op::Load => is_handle(module, data.ty) && resource(data.args[0]),
                    Op::Access => resource(data.args[0]),
                    _ => false,
                };
            }
            data.args.iter().all(|&arg| {
                !holds(func.ty(arg))
                    || match func.values[arg].def {
                        ValueDef::Inst(_) | ValueDef::Param(_) => data.op != Op::Store,
                        _ => false,
                    }
            })
        };
        !func.locals.values().any(|l| holds(l.ty)) && func.live_insts().all(|(_, _, data)| plain(data))
    }
}

/// Whether handles go in or out in a way other than a parameter of handle type.
fn has_handle_interface(module: &IrModule, func: &Function) -> bool {
    let inside = |ty| !is_handle(module, ty) && holds_handle(module, ty);
    holds_handle(module, func.ret)
        || is_pointer(module, func.ret)
        || func.params.iter().any(|p| inside(p.ty) || is_pointer(module, p.ty))
}

/// Whether a type is a pointer of SPIR-V that the program names: a call is given addresses of whole variables alone.
fn is_pointer(module: &IrModule, ty: Type) -> bool {
    /// `OpTypePointer` (SPIR-V specification 3.3.6).
    const TYPE_POINTER: u32 = 32;
    match module.types.kind(ty) {
        TypeKind::Spirv(id) => module.inlines.get(id).is_some_and(|i| i.opcode == TYPE_POINTER),
        _ => false,
    }
}

/// Adds the functions that a call gives a ray query inside of a variable: other addresses inside of variables are passed by
/// copying where a target passes whole variables alone, and a ray query is never copied.
fn add_callees_of_partial_queries(module: &IrModule, wanted: &mut EntitySet<Func>) {
    for func in module.functions.values() {
        for (_, _, data) in func.live_insts() {
            let Op::Call(callee) = data.op else { continue };
            let partial = data.args.iter().any(|&arg| {
                matches!(func.values[arg].def, ValueDef::Inst(_))
                    && module.types.pointee(func.ty(arg)).is_some_and(|(_, ty)| module.types.holds_ray_query(ty))
            });
            if partial {
                wanted.insert(callee);
            }
        }
    }
}

/// The resource behind each `static` variable of handle type.
fn static_handles(module: &IrModule) -> Vec<(Global, Global)> {
    if !module.globals.values().any(|v| v.space != AddressSpace::Handle && is_handle(module, v.ty)) {
        return Vec::new();
    }
    let mut out: Vec<(Global, Option<Global>)> = Vec::new();
    for func in module.functions.values() {
        for (_, _, data) in func.live_insts() {
            let (Op::Store, Some(&to)) = (data.op, data.args.first()) else { continue };
            let ValueDef::Global(var) = func.values[to].def else { continue };
            if !is_handle(module, module.globals[var].ty) {
                continue;
            }
            let from = func.def_inst(data.args[1]).filter(|(_, d)| d.op == Op::Load).and_then(|(_, d)| {
                match func.values[d.args[0]].def {
                    ValueDef::Global(g) => Some(g),
                    _ => None,
                }
            });
            match out.iter_mut().find(|(v, _)| *v == var) {
                Some((_, known)) if *known == from => {}
                Some((_, known)) => *known = None,
                None => out.push((var, from)),
            }
        }
    }
    out.into_iter().filter_map(|(var, from)| Some((var, from?))).collect()
}

fn resolve(module: &mut IrModule, func: &mut Function, statics: &[(Global, Global)]) {
    unreachable::remove(module, func);
    replace_statics(module, func, statics);
    alias_copies(module, func);
    sroa::split_locals(module, func, holds_handle);
    mem2reg::promote(module, func, is_handle);
    // Composites with handles are taken apart where they are used.
    while fold::fold_function(module, func) {}
    load_elements(module, func);
    for _ in 0..8 {
        if !choose(module, func) {
            break;
        }
        while fold::fold_function(module, func) {}
    }
    dce::remove(module, func);
}

fn replace_statics(module: &mut IrModule, func: &mut Function, statics: &[(Global, Global)]) {
    let find = |func: &Function, v: Value| match func.values[v].def {
        ValueDef::Global(g) => statics.iter().find(|(var, _)| *var == g).map(|(_, from)| *from),
        _ => None,
    };
    let mut dead: EntitySet<Inst> = EntitySet::new();
    for index in 0..func.order.len() {
        let block = func.order[index];
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            let data = &func.insts[inst];
            let Some(from) = data.args.first().and_then(|&a| find(func, a)) else { continue };
            match data.op {
                Op::Store => {
                    dead.insert(inst);
                }
                Op::Load => {
                    let (space, ty) = (module.globals[from].space, module.globals[from].ty);
                    let address = func.global_value(&mut module.types, from, space, ty);
                    func.insts[inst].args[0] = address;
                }
                _ => {}
            }
        }
    }
    crate::edit::remove_insts(func, &dead);
}

/// A resource's variable, and the indices that lead to a part of it.
type Part = (Value, SmallVec<[Value; 2]>);

/// The part of a resource's variable that a value is a copy of.
fn copied_part(func: &Function, value: Value) -> Option<Part> {
    match source(func, value)? {
        Source::Element(base, indices) => Some((base, indices)),
        Source::Value(_) => None,
    }
}

/// The same where the indices are constants, so that they are at hand everywhere.
fn copied_variable(func: &Function, value: Value) -> Option<Part> {
    copied_part(func, value).filter(|(_, indices)| indices.iter().all(|&i| func.as_const(i).is_some()))
}

/// A local array that is stored once, as a copy of a whole array of resources, and only looked into else, is that array.
fn alias_copies(module: &mut IrModule, func: &mut Function) {
    let mut copies: SecondaryMap<Local, Option<Part>> = SecondaryMap::new();
    let mut other: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    for (_, _, data) in func.live_insts() {
        for (position, &arg) in data.args.iter().enumerate() {
            let ValueDef::Local(local) = func.values[arg].def else { continue };
            match data.op {
                Op::Access if module.types.pointee(data.ty).is_some_and(|(_, ty)| is_handle(module, ty)) => {}
                Op::Store if position == 0 && copies[local].is_none() => {
                    match copied_variable(func, data.args[1]).filter(|_| holds_handle(module, func.locals[local].ty)) {
                        Some(source) => copies[local] = Some(source),
                        None => {
                            other.insert(local);
                        }
                    }
                }
                _ => {
                    other.insert(local);
                }
            }
        }
    }
    let mut dead: EntitySet<Inst> = EntitySet::new();
    for index in 0..func.order.len() {
        let block = func.order[index];
        for i in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[i];
            let Some(&base) = func.insts[inst].args.first() else { continue };
            let ValueDef::Local(local) = func.values[base].def else { continue };
            let Some((source, path)) = copies[local].clone().filter(|_| !other.contains(local)) else { continue };
            if func.insts[inst].op == Op::Store {
                dead.insert(inst);
                continue;
            }
            let Some(result) = func.insts[inst].result else { continue };
            let Some((_, pointee)) = module.types.pointee(func.ty(result)) else { continue };
            let ty = module.types.pointer(AddressSpace::Handle, pointee);
            let data = &mut func.insts[inst];
            data.args[0] = source;
            data.args.insert_many(1, path);
            data.ty = ty;
            func.values[result].ty = ty;
        }
    }
    crate::edit::remove_insts(func, &dead);
}

/// An element taken out of a loaded array of resources is loaded alone.
fn load_elements(module: &mut IrModule, func: &mut Function) {
    for index in 0..func.order.len() {
        let block = func.order[index];
        let mut at = 0;
        while at < func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            let data = func.insts[inst].clone();
            at += 1;
            let Op::Extract { index } = data.op else { continue };
            let Some((source, path)) = copied_part(func, data.args[0]).filter(|_| holds_handle(module, data.ty)) else {
                continue;
            };
            let c = module.consts.u32(&mut module.types, index);
            let index = func.const_value(&module.consts, c);
            let ty = module.types.pointer(AddressSpace::Handle, data.ty);
            let args: SmallVec<[Value; 4]> = std::iter::once(source).chain(path).chain([index]).collect();
            let access = inst_data(Op::Access, ty, &args, InstFlags::empty(), data.span);
            if let Some(address) = insert(module, func, block, at - 1, access) {
                let load = &mut func.insts[inst];
                (load.op, load.args) = (Op::Load, SmallVec::from_slice(&[address]));
                at += 1;
            }
        }
    }
}

/// Where a handle comes from.
#[derive(Clone, PartialEq)]
enum Source {
    /// A parameter.
    Value(Value),
    /// A resource's variable, stepped into by these indices.
    Element(Value, SmallVec<[Value; 2]>),
}

fn source(func: &Function, value: Value) -> Option<Source> {
    if matches!(func.values[value].def, ValueDef::Param(_)) {
        return Some(Source::Value(value));
    }
    let (_, load) = func.def_inst(value).filter(|(_, d)| d.op == Op::Load)?;
    let address = load.args[0];
    match func.values[address].def {
        ValueDef::Global(_) => Some(Source::Element(address, SmallVec::new())),
        ValueDef::Inst(inst) if func.insts[inst].op == Op::Access => {
            let data = &func.insts[inst];
            let base = matches!(func.values[data.args[0]].def, ValueDef::Global(_));
            base.then(|| Source::Element(data.args[0], data.args[1..].iter().copied().collect()))
        }
        _ => None,
    }
}

/// Replaces choices of handles by handles, or by choices of indices. Tells whether it replaced any.
fn choose(module: &mut IrModule, func: &mut Function) -> bool {
    let choices: Vec<(oneshader_ir::Block, Inst)> = func
        .live_insts()
        .filter(|(_, _, d)| matches!(d.op, Op::Phi | Op::Select) && is_handle(module, d.ty))
        .map(|(b, i, _)| (b, i))
        .collect();
    let mut changed = false;
    for (block, inst) in choices {
        changed |= choose_one(module, func, block, inst);
    }
    changed
}

fn choose_one(module: &mut IrModule, func: &mut Function, block: oneshader_ir::Block, inst: Inst) -> bool {
    let data = func.insts[inst].clone();
    let Some(result) = data.result else { return false };
    let options = if data.op == Op::Select { &data.args[1..] } else { &data.args[..] };
    // What never matters: the choice itself coming around a loop, and undefined handles.
    let mut sources: SmallVec<[Option<Source>; 4]> = SmallVec::new();
    for &option in options {
        let any = func.as_const(option).is_some();
        if option == result || any {
            sources.push(None);
            continue;
        }
        match source(func, option) {
            Some(source) => sources.push(Some(source)),
            None => return false,
        }
    }
    let Some(first) = sources.iter().flatten().next().cloned() else { return false };
    let place = if data.op == Op::Phi {
        after_phis(func, block)
    } else {
        func.blocks[block].insts.iter().position(|&i| i == inst).unwrap_or(0)
    };
    let new = if sources.iter().flatten().all(|s| *s == first) {
        match &first {
            Source::Value(value) => *value,
            Source::Element(base, indices) => {
                let Some(value) = load_element(module, func, block, place, &data, *base, indices) else { return false };
                value
            }
        }
    } else {
        // Elements of one array by one index each.
        let Source::Element(base, first_indices) = &first else { return false };
        if first_indices.len() != 1 {
            return false;
        }
        let index_ty = func.ty(first_indices[0]);
        let mut indices: SmallVec<[Value; 4]> = SmallVec::new();
        for (position, source) in sources.iter().enumerate() {
            match source {
                Some(Source::Element(b, i)) if b == base && i.len() == 1 && func.ty(i[0]) == index_ty => {
                    indices.push(i[0]);
                }
                // Around the loop the index stays, which the phi of indices itself is; anything else is any index.
                None if data.op == Op::Phi && data.args[position] == result => indices.push(result),
                None => indices.push(undef(module, func, index_ty)),
                Some(_) => return false,
            }
        }
        let mut args: SmallVec<[Value; 4]> = SmallVec::new();
        if data.op == Op::Select {
            args.push(data.args[0]);
        }
        args.extend(indices.iter().copied());
        let mut choice = inst_data(data.op, index_ty, &args, data.flags, data.span);
        choice.preds = data.preds.clone();
        let at = if data.op == Op::Phi { 0 } else { place };
        let Some(index) = insert(module, func, block, at, choice) else { return false };
        if let ValueDef::Inst(choice) = func.values[index].def {
            for arg in &mut func.insts[choice].args {
                if *arg == result {
                    *arg = index;
                }
            }
        }
        let base = *base;
        let Some(value) = load_element(module, func, block, place + 1, &data, base, &[index]) else { return false };
        value
    };
    let mut replaced = crate::edit::Replacements::default();
    replaced.set(func, result, new);
    let mut dead: EntitySet<Inst> = EntitySet::new();
    dead.insert(inst);
    crate::edit::remove_insts(func, &dead);
    replaced.apply(func);
    true
}

/// Loads the handle in `base`, stepped into by `indices`, at position `at` of `block`.
fn load_element(
    module: &mut IrModule,
    func: &mut Function,
    block: oneshader_ir::Block,
    at: usize,
    like: &oneshader_ir::InstData,
    base: Value,
    indices: &[Value],
) -> Option<Value> {
    let (space, _) = module.types.pointee(func.ty(base))?;
    let mut address = base;
    let mut at = at;
    if !indices.is_empty() {
        let ty = module.types.pointer(space, like.ty);
        let args: SmallVec<[Value; 4]> = std::iter::once(base).chain(indices.iter().copied()).collect();
        address = insert(module, func, block, at, inst_data(Op::Access, ty, &args, InstFlags::empty(), like.span))?;
        at += 1;
    }
    insert(module, func, block, at, inst_data(Op::Load, like.ty, &[address], like.flags, like.span))
}

/// Instructions whose handle is not resolved.
fn unresolved(module: &IrModule, func: &Function) -> Vec<Inst> {
    // In a local variable, or never set.
    let local = |v: Value| {
        matches!(func.values[v].def, ValueDef::Local(_) | ValueDef::Const(_)) && holds_handle(module, func.ty(v))
    };
    func.live_insts()
        .filter(|(_, _, d)| {
            let chosen = matches!(d.op, Op::Phi | Op::Select | Op::Extract { .. } | Op::Construct | Op::Insert { .. });
            // Loads and stores of handles in memory that is none of the resources' variables.
            let kept = matches!(d.op, Op::Load | Op::Store)
                && module
                    .types
                    .pointee(func.ty(d.args[0]))
                    .is_some_and(|(space, pointee)| space != AddressSpace::Handle && holds_handle(module, pointee));
            (chosen && holds_handle(module, d.ty)) || kept || d.args.iter().any(|&a| local(a))
        })
        .map(|(_, inst, _)| inst)
        .collect()
}

/// Leaves a body that does nothing.
fn empty(func: &mut Function) {
    let Some(entry) = func.entry() else { return };
    func.order.truncate(1);
    let data = &mut func.blocks[entry];
    data.insts.clear();
    data.merge = Merge::None;
    data.hint = oneshader_ir::Hint::None;
    data.term.kind = TerminatorKind::Unreachable;
    func.retain_locals(|_| false);
}
