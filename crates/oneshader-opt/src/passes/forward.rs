//! Forwards single stores: a local variable that is stored as a whole exactly once, where every load comes after the store,
//! is what was stored. Loads of variables that nothing stores give any value. The value takes the variable's name, so the
//! text that a backend writes keeps it.

use super::dce::local_root;
use crate::edit::{Replacements, undef};
use crate::manager::Cx;
use cranelift_entity::{EntityRef, SecondaryMap};
use oneshader_ir::{Block, Function, Inst, IrModule, Local, Op, ValueDef};
use smallvec::SmallVec;

/// What is known of a local variable.
#[derive(Clone, Default)]
struct Use {
    stores: SmallVec<[(Block, u32, Inst); 1]>,
    loads: SmallVec<[(Block, u32, Inst); 2]>,
    /// Its address, or a part's, goes somewhere else.
    other: bool,
}

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    if func.locals.is_empty() {
        return false;
    }
    let uses = collect(module, func);
    let doms = &cx.graph(func).doms;
    let mut replaced = Replacements::default();
    let mut dead = vec![false; func.insts.len()];
    for index in 0..func.locals.len() {
        let local = Local::new(index);
        let var = &uses[local];
        if var.other || var.stores.len() > 1 {
            continue;
        }
        let Some(&(at, place, store)) = var.stores.first() else {
            for &(_, _, load) in &var.loads {
                let any = undef(module, func, func.locals[local].ty);
                if let Some(result) = func.insts[load].result {
                    replaced.set(func, result, any);
                    dead[load.index()] = true;
                }
            }
            continue;
        };
        let after = |&(block, i, _): &(Block, u32, Inst)| {
            if block == at { i > place } else { doms.dominates(at, block) }
        };
        if !var.loads.iter().all(after) {
            continue;
        }
        let value = replaced.get(func.insts[store].args[1]);
        if func.value_names[value].is_none() && matches!(func.values[value].def, ValueDef::Inst(_)) {
            func.value_names[value] = Some(func.locals[local].name);
        }
        dead[store.index()] = true;
        for &(_, _, load) in &var.loads {
            if let Some(result) = func.insts[load].result {
                replaced.set(func, result, value);
                dead[load.index()] = true;
            }
        }
    }
    if !dead.contains(&true) {
        return false;
    }
    replaced.apply(func);
    for &block in &func.order {
        func.blocks[block].insts.retain(|inst| !dead[inst.index()]);
    }
    true
}

fn collect(module: &IrModule, func: &Function) -> SecondaryMap<Local, Use> {
    let mut uses: SecondaryMap<Local, Use> = SecondaryMap::with_capacity(func.locals.len());
    for &block in &func.order {
        for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
            let data = &func.insts[inst];
            let whole = |v| match func.values[v].def {
                ValueDef::Local(local) => Some(local),
                _ => None,
            };
            for (position, &arg) in data.args.iter().enumerate() {
                let Some(local) = local_root(module, func, arg) else { continue };
                match data.op {
                    Op::Load if whole(arg).is_some() => uses[local].loads.push((block, i as u32, inst)),
                    Op::Store if position == 0 && whole(arg).is_some() => {
                        uses[local].stores.push((block, i as u32, inst));
                    }
                    _ => uses[local].other = true,
                }
            }
        }
    }
    uses
}
