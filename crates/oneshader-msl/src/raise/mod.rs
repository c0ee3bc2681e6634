//! Passes that change the program for Metal. Each works on the clone that [`raise`] makes of what the entry point reaches.

pub(crate) mod check;
pub(crate) mod guards;
pub(crate) mod io;
pub(crate) mod lift;
pub(crate) mod memory;
pub(crate) mod positions;
pub(crate) mod quads;
pub(crate) mod ranges;
pub(crate) mod usage;
pub(crate) mod waves;

use crate::options::{MslOptions, MslSemantics, MslVersion};
use cranelift_entity::SecondaryMap;
use lift::Lifted;
use oneshader_diag::DiagnosticBag;
use oneshader_ir::{EntryPoint, Func, Function, Intrinsic, IrModule, Op, Slots};
use ranges::Range;
use std::borrow::Cow;
use usage::Classes;

/// A program raised for Metal.
pub(crate) struct Raised<'t> {
    pub module: IrModule,
    pub entry: EntryPoint,
    /// Functions to write, callees before callers, the entry point's last.
    pub order: Vec<Func>,
    pub lifted: Lifted,
    pub classes: Classes,
    /// The numbers that the parameters of functions are given.
    pub params: SecondaryMap<Func, Vec<Range>>,
    pub slots: Cow<'t, Slots>,
    /// Whether the positions of a compute shader's threads follow from their quad-groups.
    pub moves_threads: bool,
    /// Whether the flags of a ray query are asked for.
    pub reads_ray_flags: bool,
    /// Components of the arguments that are positions in the grid.
    pub position_lanes: u8,
}

/// Clones what `entry` reaches and runs the passes over it.
pub(crate) fn raise<'t>(
    module: &IrModule,
    entry: &EntryPoint,
    options: &MslOptions,
    slots: Option<&'t Slots>,
    bag: &mut DiagnosticBag,
) -> Option<Raised<'t>> {
    let slots = match slots {
        Some(slots) => Cow::Borrowed(slots),
        None => {
            let (slots, errors) = Slots::assign(module, &options.slots);
            for error in errors {
                check::report_slot_error(module, &error, bag);
            }
            Cow::Owned(slots)
        }
    };
    let order = module.reachable(entry.func);
    let mut clone = reached(module, &order);
    check::run(&clone, entry, &order, options, bag);
    if bag.has_errors() {
        return None;
    }
    let params = match options.semantics {
        MslSemantics::Hlsl => ranges::of_params(&clone, entry.func, &order),
        MslSemantics::Metal => Default::default(),
    };
    for &func in &order {
        waves::run(&mut clone, func, entry.stage, options);
        if options.semantics == MslSemantics::Hlsl {
            guards::run(&mut clone, func, &params[func]);
        }
    }
    let reads_ray_flags = order
        .iter()
        .any(|&f| clone.functions[f].live_insts().any(|(_, _, data)| data.op == Op::Intrinsic(Intrinsic::RayFlags)));
    let moves_threads = quads::moves_threads(&clone, entry, &order);
    let position_lanes = match moves_threads {
        true => 3,
        false => positions::run(&mut clone, entry, &order),
    };
    let mut lifted = lift::run(&mut clone, entry.func, &order);
    let (classes, order) = usage::run(&mut clone, entry.func, &order, &mut lifted, options.version >= MslVersion::V3_2);
    Some(Raised {
        module: clone,
        entry: entry.clone(),
        order,
        lifted,
        classes,
        params,
        slots,
        moves_threads,
        reads_ray_flags,
        position_lanes,
    })
}

/// A clone of `module` in which only the functions of `order` have bodies.
fn reached(module: &IrModule, order: &[Func]) -> IrModule {
    let mut clone = IrModule {
        names: module.names.clone(),
        types: module.types.clone(),
        consts: module.consts.clone(),
        specs: module.specs.clone(),
        inlines: module.inlines.clone(),
        globals: module.globals.clone(),
        functions: Default::default(),
        entry_points: module.entry_points.clone(),
        properties: module.properties,
    };
    let mut wanted = cranelift_entity::EntitySet::with_capacity(module.functions.len());
    order.iter().for_each(|&f| {
        wanted.insert(f);
    });
    for (id, func) in module.functions.iter() {
        clone.functions.push(match wanted.contains(id) {
            true => func.compacted(),
            false => Function::new(func.name, func.ret, func.span),
        });
    }
    clone
}
