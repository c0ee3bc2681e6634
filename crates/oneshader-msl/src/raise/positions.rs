//! Positions in the grid with as many components as the program uses, so that a kernel over a line takes a `uint`.
//!
//! All of them have the same number: Apple's compiler wants "either all scalar types or all vector types with the same number
//! of elements".

use cranelift_entity::EntitySet;
use oneshader_ir::{
    BuiltIn, EntryPoint, Func, Function, Global, GlobalKind, Inst, IrModule, Op, Type, Types, Value, ValueDef,
};

/// Whether a built-in is a position in the grid of threads, or its size: also by SPIR-V's number (`NumWorkgroups`,
/// `WorkgroupId`, `LocalInvocationId`, `GlobalInvocationId`).
pub(crate) fn is_position(builtin: BuiltIn) -> bool {
    use BuiltIn::{DispatchThreadId, GroupId, GroupThreadId, Spirv};
    matches!(builtin, DispatchThreadId | GroupId | GroupThreadId | Spirv(24 | 26..=28))
}

/// Narrows the positions that `entry` reads; the number of components is what its arguments have.
pub(crate) fn run(module: &mut IrModule, entry: &EntryPoint, order: &[Func]) -> u8 {
    let mut positions = EntitySet::new();
    for &global in &entry.inputs {
        if matches!(&module.globals[global].kind, GlobalKind::Io(io) if io.builtin.is_some_and(is_position)) {
            positions.insert(global);
        }
    }
    let uses = order.iter().map(|&func| lanes_used(module, &module.functions[func], &positions));
    let lanes = uses.max().unwrap_or(0).max(1);
    for &global in &entry.inputs {
        let ty = module.globals[global].ty;
        if positions.contains(global) && module.types.lanes(ty) > lanes {
            module.globals[global].ty = narrow(&mut module.types, ty, lanes);
        }
    }
    for &func in order {
        narrow_loads(module, func, &positions, lanes);
    }
    lanes
}

fn narrow(types: &mut Types, ty: Type, lanes: u8) -> Type {
    match types.scalar_of(ty) {
        Some(scalar) if lanes == 1 => types.scalar(scalar),
        Some(scalar) => types.vector(scalar, lanes),
        None => ty,
    }
}

/// The position that `pointer` points to.
fn position(function: &Function, positions: &EntitySet<Global>, pointer: Value) -> Option<Global> {
    match function.values[pointer].def {
        ValueDef::Global(global) if positions.contains(global) => Some(global),
        _ => None,
    }
}

/// The position that `value` was loaded from.
fn loaded(function: &Function, positions: &EntitySet<Global>, value: Value) -> Option<Global> {
    let (_, data) = function.def_inst(value)?;
    (data.op == Op::Load).then(|| position(function, positions, data.args[0])).flatten()
}

/// How many components of positions a function looks at.
fn lanes_used(module: &IrModule, function: &Function, positions: &EntitySet<Global>) -> u8 {
    let whole = |value: Value| match loaded(function, positions, value) {
        Some(global) => module.types.lanes(module.globals[global].ty),
        None => 0,
    };
    let insts = function.live_insts().map(|(_, _, data)| match (data.op, data.args.first()) {
        (Op::Extract { index }, Some(&of)) if loaded(function, positions, of).is_some() => index as u8 + 1,
        (Op::Swizzle(swizzle), Some(&of)) if loaded(function, positions, of).is_some() => {
            swizzle.comps().iter().max().map_or(0, |last| last + 1)
        }
        (Op::Load, _) => 0,
        // A pointer handed on stands for the whole.
        _ => {
            let pointees = data.args.iter().filter_map(|&a| position(function, positions, a));
            let pointed = pointees.map(|global| module.types.lanes(module.globals[global].ty)).max().unwrap_or(0);
            data.args.iter().map(|&a| whole(a)).max().unwrap_or(0).max(pointed)
        }
    });
    let ends = function.order.iter().filter_map(|&block| function.blocks[block].term.arg()).map(whole);
    insts.chain(ends).max().unwrap_or(0)
}

/// Gives loads the type their variable has now. Components that became the whole are loads of their own.
fn narrow_loads(module: &mut IrModule, func: Func, positions: &EntitySet<Global>, lanes: u8) {
    let (types, globals, function) = (&mut module.types, &module.globals, &mut module.functions[func]);
    let live: Vec<Inst> = function.live_insts().map(|(_, inst, _)| inst).collect();
    // Loads whose components became loads, and those of which other components are taken.
    let (mut split, mut kept) = (EntitySet::new(), EntitySet::new());
    for &inst in &live {
        let data = &function.insts[inst];
        let Some(&of) = data.args.first() else { continue };
        match data.op {
            Op::Load => {
                let Some(global) = position(function, positions, of) else { continue };
                let ty = globals[global].ty;
                let pointer = types.pointer(globals[global].space, ty);
                function.values[of].ty = pointer;
                function.insts[inst].ty = ty;
                if let Some(result) = function.insts[inst].result {
                    function.values[result].ty = ty;
                }
            }
            Op::Extract { .. } | Op::Swizzle(_) if loaded(function, positions, of).is_some() => {
                let Some((load, source)) = function.def_inst(of) else { continue };
                let pointer = source.args[0];
                let is_whole = match data.op {
                    Op::Swizzle(swizzle) => swizzle.comps().iter().copied().eq(0..lanes),
                    _ => lanes == 1,
                };
                if is_whole {
                    split.insert(load);
                    function.insts[inst].op = Op::Load;
                    function.insts[inst].args[0] = pointer;
                    continue;
                }
                kept.insert(load);
                if lanes == 1 {
                    function.insts[inst].op = Op::Splat;
                }
            }
            _ => {}
        }
    }
    for block in function.order.clone() {
        function.blocks[block].insts.retain(|&inst| !split.contains(inst) || kept.contains(inst));
    }
}
