//! `static` variables that one entry point's function alone uses become local variables of it, which `mem2reg` promotes.

use crate::edit::{insert, inst_data};
use crate::manager::{Cx, with_function};
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::{AddressSpace, Func, Global, InstFlags, IrModule, Op, Value, ValueDef};

pub(crate) fn run(module: &mut IrModule, _: &mut Cx) -> bool {
    // Functions that no entry point reaches do not count.
    let mut reached: EntitySet<Func> = EntitySet::with_capacity(module.functions.len());
    let mut entries: EntitySet<Func> = EntitySet::with_capacity(module.functions.len());
    for entry in &module.entry_points {
        entries.insert(entry.func);
        module.reachable(entry.func).into_iter().for_each(|f| {
            reached.insert(f);
        });
    }
    let mut user: SecondaryMap<Global, Option<Func>> = SecondaryMap::new();
    let mut shared: EntitySet<Global> = EntitySet::with_capacity(module.globals.len());
    for (id, func) in module.functions.iter().filter(|(id, _)| reached.contains(*id)) {
        for (_, _, data) in func.live_insts() {
            for &arg in &data.args {
                let ValueDef::Global(global) = func.values[arg].def else { continue };
                match user[global] {
                    None => user[global] = Some(id),
                    Some(other) if other == id => {}
                    Some(_) => {
                        shared.insert(global);
                    }
                }
                // Out parameters carry the address space in their type.
                if matches!(data.op, Op::Call(_)) {
                    shared.insert(global);
                }
            }
        }
    }
    let mut changed = false;
    for index in 0..module.globals.len() {
        let global = Global::from_u32(index as u32);
        let var = module.globals[global].clone();
        let Some(id) = user[global].filter(|&f| entries.contains(f) && !shared.contains(global)) else { continue };
        if var.space != AddressSpace::Private || var.readonly {
            continue;
        }
        changed |= with_function(module, id, |module, func| {
            let local = func.add_local(&mut module.types, var.name, var.ty, var.span);
            let Some(entry) = func.entry() else { return false };
            let mut moved: Vec<Value> = Vec::new();
            for index in 0..func.order.len() {
                let block = func.order[index];
                for i in 0..func.blocks[block].insts.len() {
                    let inst = func.blocks[block].insts[i];
                    for position in 0..func.insts[inst].args.len() {
                        let arg = func.insts[inst].args[position];
                        if func.values[arg].def == ValueDef::Global(global) {
                            func.insts[inst].args[position] = local;
                            moved.extend(func.insts[inst].result.filter(|_| func.insts[inst].op == Op::Access));
                        }
                    }
                }
            }
            retype(module, func, moved);
            if let Some(init) = var.init {
                let value = func.const_value(&module.consts, init);
                let void = module.types.void();
                insert(
                    module,
                    func,
                    entry,
                    0,
                    inst_data(Op::Store, void, &[local, value], InstFlags::empty(), var.span),
                );
            }
            true
        });
    }
    changed
}

/// The addresses of parts are now of the space function, and so are those made of them.
fn retype(module: &mut IrModule, func: &mut oneshader_ir::Function, mut work: Vec<Value>) {
    let mut below: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
    for (_, _, data) in func.live_insts() {
        if let (Op::Access, Some(result), Some(&base)) = (data.op, data.result, data.args.first()) {
            below[base].push(result);
        }
    }
    while let Some(value) = work.pop() {
        let Some((_, pointee)) = module.types.pointee(func.ty(value)) else { continue };
        let ty = module.types.pointer(AddressSpace::Function, pointee);
        func.values[value].ty = ty;
        if let ValueDef::Inst(inst) = func.values[value].def {
            func.insts[inst].ty = ty;
        }
        work.append(&mut below[value]);
    }
}
