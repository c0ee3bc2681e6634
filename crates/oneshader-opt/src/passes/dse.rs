//! Dead stores: stores to local variables that nothing loads, and stores that the next one in the block overwrites.

use super::dce::local_root;
use crate::manager::Cx;
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_ir::{Block, Function, Inst, IrModule, Local, Op, ValueDef};

pub(crate) fn run(module: &mut IrModule, func: &mut Function, _: &mut Cx) -> bool {
    if func.locals.is_empty() {
        return false;
    }
    let mut read: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    for (_, _, data) in func.live_insts() {
        for (position, &arg) in data.args.iter().enumerate() {
            let Some(local) = local_root(module, func, arg) else { continue };
            let only_written = matches!(data.op, Op::Store | Op::Access) && position == 0;
            if !only_written {
                read.insert(local);
            }
        }
    }
    let mut dead: EntitySet<Inst> = EntitySet::with_capacity(func.insts.len());
    let mut any = false;
    // The last store of each variable as a whole that nothing has looked at yet, and the block it is in.
    let mut pending: SecondaryMap<Local, Option<(Block, Inst)>> = SecondaryMap::with_capacity(func.locals.len());
    for &block in &func.order {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            for (position, &arg) in data.args.iter().enumerate() {
                let Some(local) = local_root(module, func, arg) else { continue };
                let whole = matches!(func.values[arg].def, ValueDef::Local(_));
                if data.op == Op::Store && position == 0 {
                    if !read.contains(local) {
                        any |= dead.insert(inst);
                    } else if whole
                        && let Some((at, before)) = pending[local].replace((block, inst))
                        && at == block
                    {
                        any |= dead.insert(before);
                    }
                } else {
                    pending[local] = None;
                }
            }
        }
    }
    if any {
        crate::edit::remove_insts(func, &dead);
    }
    any
}
