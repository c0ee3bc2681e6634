//! Lifts module-scope variables, which Metal does not have.
//!
//! What a function touches, directly or through its callees, is found in one pass over the call graph. Helpers receive it
//! as further parameters: variables by reference, resources as handles, facts about lanes and waves by value. The entry
//! point receives resources and lane facts as parameters too (its arguments); its stage, `static` and `groupshared`
//! variables stay variables, which become locals.
//!
//! Needs functions in order, callees first. Gives: no function but the entry point's names a module-scope variable, except
//! constants (`static const` with a value), which Metal keeps at file scope; no instruction reads such facts.

use cranelift_entity::SecondaryMap;
use oneshader_ir::{
    AddressSpace, Func, Global, GlobalKind, Intrinsic, IrModule, Op, Properties, TypeKind, Value, ValueDef,
};
use std::collections::BTreeSet;

/// What a function receives beyond its own parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    Global(Global),
    LaneIndex,
    LaneCount,
    WaveIndex,
    WaveCount,
}

/// The facts about lanes and waves, with the name of the parameter that brings each, and Metal's attribute.
const FACTS: &[(Item, Intrinsic, &str, &str)] = &[
    (Item::LaneIndex, Intrinsic::WaveLaneIndex, "lane_index", "thread_index_in_simdgroup"),
    (Item::LaneCount, Intrinsic::WaveLaneCount, "lane_count", "threads_per_simdgroup"),
    (Item::WaveIndex, Intrinsic::GroupWaveIndex, "wave_index", "simdgroup_index_in_threadgroup"),
    (Item::WaveCount, Intrinsic::GroupWaveCount, "wave_count", "simdgroups_per_threadgroup"),
];

impl Item {
    /// Metal's attribute of a fact about lanes and waves.
    pub(crate) fn attribute(self) -> &'static str {
        FACTS.iter().find(|(item, ..)| *item == self).map_or("", |(.., attribute)| attribute)
    }
}

/// The lifted parameters of every function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifted {
    /// The items, in the order of the parameters.
    pub items: SecondaryMap<Func, Vec<Item>>,
    /// Index of the first of those parameters.
    pub first: SecondaryMap<Func, usize>,
}

impl Lifted {
    /// What parameter `index` of `func` stands for, when it is a lifted one.
    pub(crate) fn item(&self, func: Func, index: usize) -> Option<Item> {
        index.checked_sub(self.first[func]).and_then(|i| self.items[func].get(i).copied())
    }
}

/// Whether a module-scope variable stays at file scope.
pub(crate) fn stays(module: &IrModule, global: Global) -> bool {
    let var = &module.globals[global];
    var.readonly && var.init.is_some() && matches!(var.kind, GlobalKind::Variable)
}

pub(crate) fn run(module: &mut IrModule, entry: Func, order: &[Func]) -> Lifted {
    let mut lifted = Lifted::default();
    let mut touched: SecondaryMap<Func, BTreeSet<Item>> = SecondaryMap::new();
    for &func in order {
        let mut set = touches(module, func);
        let callees: Vec<Func> = module.functions[func].callees().collect();
        for callee in callees {
            set.extend(touched[callee].iter().copied());
        }
        touched[func] = set;
    }
    for &func in order {
        let is_entry = func == entry;
        let items: Vec<Item> = touched[func]
            .iter()
            .copied()
            .filter(|&item| match item {
                Item::Global(g) => !is_entry || module.globals[g].space == AddressSpace::Handle,
                _ => true,
            })
            .collect();
        lifted.first[func] = module.functions[func].params.len();
        add_params(module, func, &items);
        lifted.items[func] = items;
        extend_calls(module, func, &touched, &lifted);
    }
    module.properties |= Properties::MSL_LIFTED;
    lifted
}

fn touches(module: &IrModule, func: Func) -> BTreeSet<Item> {
    let function = &module.functions[func];
    let mut set = BTreeSet::new();
    for (_, _, inst) in function.live_insts() {
        let fact = FACTS.iter().find(|(_, which, ..)| inst.op == Op::Intrinsic(*which));
        set.extend(fact.map(|(item, ..)| *item));
        for &arg in &inst.args {
            if let ValueDef::Global(global) = function.values[arg].def
                && !stays(module, global)
            {
                set.insert(Item::Global(global));
            }
        }
    }
    set
}

fn add_params(module: &mut IrModule, func: Func, items: &[Item]) {
    let mut function = std::mem::replace(
        &mut module.functions[func],
        oneshader_ir::Function::new(module.entry_points[0].name, module.types.void(), oneshader_diag::Span::NONE),
    );
    for &item in items {
        let index = function.params.len() as u32;
        match item {
            Item::Global(global) => {
                let var = &module.globals[global];
                let single = matches!(module.types.kind(var.ty), TypeKind::Resource(_));
                let ty = if single { var.ty } else { module.types.pointer(var.space, var.ty) };
                function.add_param(var.name, ty);
                let pointer = function.global_value(&mut module.types, global, var.space, var.ty);
                if single {
                    replace_results(&mut function, index, |op, args| op == Op::Load && args == [pointer]);
                } else {
                    function.values[pointer].def = ValueDef::Param(index);
                }
            }
            _ => {
                let Some(&(_, which, text, _)) = FACTS.iter().find(|(fact, ..)| *fact == item) else { continue };
                let name = module.names.intern(text);
                let ty = module.types.scalar(oneshader_ir::Scalar::U32);
                function.add_param(name, ty);
                replace_results(&mut function, index, |op, _| op == Op::Intrinsic(which));
            }
        }
    }
    module.functions[func] = function;
}

/// Removes the instructions that `is` holds for; their results become parameter `index`.
fn replace_results(function: &mut oneshader_ir::Function, index: u32, is: impl Fn(Op, &[Value]) -> bool) {
    for &block in &function.order {
        let (insts, values) = (&function.insts, &mut function.values);
        function.blocks[block].insts.retain(|&inst| {
            let data = &insts[inst];
            let hit = is(data.op, &data.args);
            if let (true, Some(result)) = (hit, data.result) {
                values[result].def = ValueDef::Param(index);
            }
            !hit
        });
    }
}

/// Gives the calls in `func` the arguments that their callees' new parameters ask for.
fn extend_calls(module: &mut IrModule, func: Func, touched: &SecondaryMap<Func, BTreeSet<Item>>, lifted: &Lifted) {
    let calls: Vec<(oneshader_ir::Inst, Func)> = module.functions[func]
        .live_insts()
        .filter_map(|(_, inst, data)| match data.op {
            Op::Call(callee) => Some((inst, callee)),
            _ => None,
        })
        .collect();
    for (inst, callee) in calls {
        let mut extra = Vec::new();
        for &item in &touched[callee] {
            let position = lifted.items[func].iter().position(|&i| i == item);
            let function = &mut module.functions[func];
            extra.push(match (position, item) {
                (Some(at), _) => function.params[lifted.first[func] + at].value,
                (None, Item::Global(global)) => {
                    let var = &module.globals[global];
                    function.global_value(&mut module.types, global, var.space, var.ty)
                }
                // Lane facts are in the items of every function that reaches them.
                (None, _) => continue,
            });
        }
        module.functions[func].insts[inst].args.extend(extra);
    }
}
