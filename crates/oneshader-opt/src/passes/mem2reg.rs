//! Promotes local variables to values: what is loaded and stored as a whole, or of which single components and rows are.
//!
//! Phis go where a variable lives and its definitions meet (Cytron et al. 1991, pruned by liveness).

use super::dce::local_root;
use crate::edit::{after_phis, inst_data, map_operands, remove_insts, undef};
use crate::manager::{Cx, Graph};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use oneshader_ir::analysis::{Cfg, DomTree, Frontiers};
use oneshader_ir::{Block, Function, Inst, InstFlags, IrModule, Local, Op, Type, TypeKind, Value, ValueDef};
use smallvec::SmallVec;

pub(crate) fn run(module: &mut IrModule, func: &mut Function, cx: &mut Cx) -> bool {
    let locals = candidates(module, func, &|module, ty| {
        matches!(
            module.types.kind(ty),
            TypeKind::Scalar(_)
                | TypeKind::Vector { .. }
                | TypeKind::Matrix { .. }
                | TypeKind::Resource(_)
                | TypeKind::Spirv(_)
        )
    });
    if locals.is_empty() {
        return false;
    }
    promote_all(module, func, &locals, cx.graph(func));
    true
}

/// Promotes the local variables whose type `wanted` names, as far as their uses allow it.
pub(crate) fn promote(module: &mut IrModule, func: &mut Function, wanted: impl Fn(&IrModule, Type) -> bool) {
    let locals = candidates(module, func, &wanted);
    if !locals.is_empty() {
        promote_all(module, func, &locals, &Graph::new(func));
    }
}

fn promote_all(module: &mut IrModule, func: &mut Function, locals: &EntitySet<Local>, graph: &Graph) {
    whole_accesses(module, func, locals);
    Promotion::new(func, locals, graph).run(module, func);
}

fn direct(func: &Function, value: Value) -> Option<Local> {
    match func.values[value].def {
        ValueDef::Local(local) => Some(local),
        _ => None,
    }
}

/// The constant indices of an access straight into a variable, when all are.
fn const_path(module: &IrModule, func: &Function, value: Value) -> Option<(Local, SmallVec<[u32; 2]>)> {
    let (_, data) = func.def_inst(value)?;
    if data.op != Op::Access {
        return None;
    }
    let local = direct(func, data.args[0])?;
    let ty = func.locals[local].ty;
    let mut path = SmallVec::new();
    for &index in &data.args[1..] {
        let index = u32::try_from(func.as_const(index).and_then(|c| module.consts.bits(c))?).ok()?;
        // Steps into vectors and matrices: their parts have handles only when the module has made them, so the kinds decide.
        let count = match (path.len(), module.types.kind(ty)) {
            (0, TypeKind::Vector { len, .. }) => u32::from(len),
            (0, TypeKind::Matrix { rows, .. }) => u32::from(rows),
            (1, TypeKind::Matrix { cols, .. }) => u32::from(cols),
            _ => return None,
        };
        if index >= count {
            return None;
        }
        path.push(index);
    }
    Some((local, path))
}

fn candidates(module: &IrModule, func: &Function, wanted: &impl Fn(&IrModule, Type) -> bool) -> EntitySet<Local> {
    let mut out: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    for (local, var) in func.locals.iter() {
        if wanted(module, var.ty) {
            out.insert(local);
        }
    }
    if out.is_empty() {
        return out;
    }
    let mut used: EntitySet<Local> = EntitySet::with_capacity(func.locals.len());
    for (_, _, data) in func.live_insts() {
        for (position, &arg) in data.args.iter().enumerate() {
            let Some(local) = local_root(module, func, arg) else { continue };
            used.insert(local);
            let known = direct(func, arg).is_some() || const_path(module, func, arg).is_some();
            let ok = match data.op {
                Op::Load => known,
                Op::Store => known && position == 0,
                Op::Access => data.result.is_some_and(|r| const_path(module, func, r).is_some()),
                _ => false,
            };
            if !ok {
                out.remove(local);
            }
        }
    }
    let unused: Vec<Local> = func.locals.keys().filter(|&l| !used.contains(l)).collect();
    unused.into_iter().for_each(|l| {
        out.remove(l);
    });
    out
}

/// Turns loads and stores of components and rows into those of whole variables.
fn whole_accesses(module: &mut IrModule, func: &mut Function, locals: &EntitySet<Local>) {
    for index in 0..func.order.len() {
        let block = func.order[index];
        let found = |func: &Function, inst: Inst| {
            let data = &func.insts[inst];
            let is = matches!(data.op, Op::Load | Op::Store);
            let (local, path) = is.then(|| const_path(module, func, data.args[0])).flatten()?;
            locals.contains(local).then_some((local, path))
        };
        let paths: Vec<_> = func.blocks[block].insts.iter().map(|&inst| found(func, inst)).collect();
        if paths.iter().all(Option::is_none) {
            continue;
        }
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut out: Vec<Inst> = Vec::with_capacity(insts.len() * 2);
        for (inst, path) in insts.into_iter().zip(paths) {
            if let Some((local, path)) = path {
                whole_access(module, func, &mut out, inst, local, &path);
            }
            out.push(inst);
        }
        func.blocks[block].insts = out;
    }
}

/// Rewrites one load or store of a part of `local`; what it needs before it goes to `out`.
fn whole_access(
    module: &mut IrModule,
    func: &mut Function,
    out: &mut Vec<Inst>,
    inst: Inst,
    local: Local,
    path: &[u32],
) {
    let data = func.insts[inst].clone();
    let whole_ty = func.locals[local].ty;
    let address = func.local_value(&mut module.types, local);
    let row_ty = module.types.part(whole_ty, path[0]).unwrap_or(whole_ty);
    let mut add = |func: &mut Function, op: Op, ty: Type, args: &[Value], flags: InstFlags| {
        let inst = func.add_inst(&mut module.types, inst_data(op, ty, args, flags, data.span));
        out.push(inst);
        func.insts[inst].result.unwrap_or(address)
    };
    let whole = add(func, Op::Load, whole_ty, &[address], InstFlags::empty());
    if data.op == Op::Load {
        let mut from = whole;
        if path.len() == 2 {
            from = add(func, Op::Extract { index: path[0] }, row_ty, &[from], data.flags);
        }
        let last = path[path.len() - 1];
        func.insts[inst].op = Op::Extract { index: last };
        func.insts[inst].args = SmallVec::from_slice(&[from]);
        return;
    }
    let mut value = data.args[1];
    if path.len() == 2 {
        let row = add(func, Op::Extract { index: path[0] }, row_ty, &[whole], data.flags);
        value = add(func, Op::Insert { index: path[1] }, row_ty, &[row, value], data.flags);
    }
    let new = add(func, Op::Insert { index: path[0] }, whole_ty, &[whole, value], data.flags);
    func.insts[inst].args = SmallVec::from_slice(&[address, new]);
}

struct Promotion<'a> {
    cfg: &'a Cfg,
    doms: &'a DomTree,
    /// Dense numbers of the promoted variables.
    number: SecondaryMap<Local, Option<u32>>,
    locals: Vec<Local>,
    /// The phis of a block: (number of the variable, instruction).
    phis: SecondaryMap<Block, Vec<(u32, Inst)>>,
    replaced: SecondaryMap<Value, Option<Value>>,
    dead: EntitySet<Inst>,
}

impl<'a> Promotion<'a> {
    fn new(func: &Function, locals: &EntitySet<Local>, Graph { cfg, doms }: &'a Graph) -> Self {
        let locals: Vec<Local> = func.locals.keys().filter(|&l| locals.contains(l)).collect();
        let mut number = SecondaryMap::new();
        for (i, &local) in locals.iter().enumerate() {
            number[local] = Some(i as u32);
        }
        let dead = EntitySet::with_capacity(func.insts.len());
        Self { cfg, doms, number, locals, phis: SecondaryMap::new(), replaced: SecondaryMap::new(), dead }
    }

    fn number_of(&self, func: &Function, pointer: Value) -> Option<u32> {
        self.number[direct(func, pointer)?]
    }

    fn run(mut self, module: &mut IrModule, func: &mut Function) {
        self.place_phis(module, func);
        self.rename(module, func);
        // Loads in blocks that no edge reaches give any value.
        for index in 0..func.order.len() {
            let block = func.order[index];
            if self.cfg.is_reachable(block) {
                continue;
            }
            for i in 0..func.blocks[block].insts.len() {
                let inst = func.blocks[block].insts[i];
                let data = &func.insts[inst];
                if !matches!(data.op, Op::Load | Op::Store) || self.number_of(func, data.args[0]).is_none() {
                    continue;
                }
                self.dead.insert(inst);
                if let Some(result) = func.insts[inst].result {
                    let ty = func.insts[inst].ty;
                    self.replaced[result] = Some(undef(module, func, ty));
                }
            }
        }
        for (inst, data) in func.insts.iter() {
            if data.op == Op::Access && self.number_of(func, data.args[0]).is_some() {
                self.dead.insert(inst);
            }
        }
        remove_insts(func, &self.dead);
        map_operands(func, |value| resolve(&self.replaced, value));
    }

    /// Phis at the iterated dominance frontier of the stores, where the variable is live.
    fn place_phis(&mut self, module: &mut IrModule, func: &mut Function) {
        let frontiers = Frontiers::new(self.cfg, self.doms);
        let count = self.locals.len();
        let mut defs: Vec<Vec<Block>> = vec![Vec::new(); count];
        // Blocks that load before they store.
        let mut exposed: Vec<Vec<Block>> = vec![Vec::new(); count];
        let mut stored_in = vec![u32::MAX; count];
        let mut loaded_in = vec![u32::MAX; count];
        for &block in self.cfg.rpo() {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                let Some(n) = data.args.first().and_then(|&a| self.number_of(func, a)) else { continue };
                let n = n as usize;
                match data.op {
                    Op::Store if stored_in[n] != block.as_u32() => {
                        stored_in[n] = block.as_u32();
                        defs[n].push(block);
                    }
                    Op::Load if stored_in[n] != block.as_u32() && loaded_in[n] != block.as_u32() => {
                        loaded_in[n] = block.as_u32();
                        exposed[n].push(block);
                    }
                    _ => {}
                }
            }
        }
        let mut live_mark = vec![u32::MAX; func.blocks.len()];
        let mut def_mark = vec![u32::MAX; func.blocks.len()];
        let mut join_mark = vec![u32::MAX; func.blocks.len()];
        let mut phi_mark = vec![u32::MAX; func.blocks.len()];
        let mut joins: Vec<Block> = Vec::new();
        for n in 0..count {
            let tag = n as u32;
            // Where definitions meet, whether the variable is live there or not.
            joins.clear();
            let mut next = 0;
            while let Some(&block) = defs[n].get(next).or_else(|| joins.get(next - defs[n].len())) {
                next += 1;
                for &join in frontiers.of(block) {
                    if std::mem::replace(&mut join_mark[join.index()], tag) != tag {
                        joins.push(join);
                    }
                }
            }
            if joins.is_empty() || exposed[n].is_empty() {
                continue;
            }
            // Definitions reach only what this block dominates: elsewhere it does not matter whether the variable is live.
            let above = defs[n].iter().chain(&joins).copied().reduce(|a, b| self.doms.common(a, b).unwrap_or(a));
            let reaches = |b: Block| above.is_none_or(|above| self.doms.dominates(above, b));
            defs[n].iter().for_each(|b| def_mark[b.index()] = tag);
            let mut work = std::mem::take(&mut exposed[n]);
            work.retain(|&b| reaches(b));
            work.iter().for_each(|b| live_mark[b.index()] = tag);
            while let Some(block) = work.pop() {
                for &pred in self.cfg.preds(block) {
                    let new = def_mark[pred.index()] != tag && live_mark[pred.index()] != tag;
                    if new && self.cfg.is_reachable(pred) && reaches(pred) {
                        live_mark[pred.index()] = tag;
                        work.push(pred);
                    }
                }
            }
            let mut work = std::mem::take(&mut defs[n]);
            while let Some(block) = work.pop() {
                for &join in frontiers.of(block) {
                    if phi_mark[join.index()] == tag || live_mark[join.index()] != tag {
                        continue;
                    }
                    phi_mark[join.index()] = tag;
                    let local = func.locals[self.locals[n]];
                    let data = inst_data(Op::Phi, local.ty, &[], InstFlags::empty(), local.span);
                    let inst = func.add_inst(&mut module.types, data);
                    if let Some(result) = func.insts[inst].result {
                        func.value_names[result] = Some(local.name);
                    }
                    self.phis[join].push((tag, inst));
                    work.push(join);
                }
            }
        }
        for &block in self.cfg.rpo() {
            let at = after_phis(func, block);
            let new: Vec<Inst> = self.phis[block].iter().map(|&(_, inst)| inst).collect();
            func.blocks[block].insts.splice(at..at, new);
        }
    }

    /// Walks the dominator tree with the value each variable has.
    fn rename(&mut self, module: &mut IrModule, func: &mut Function) {
        let mut current: Vec<Option<Value>> = vec![None; self.locals.len()];
        let mut undo: Vec<(u32, Option<Value>)> = Vec::new();
        enum Step {
            Enter(Block),
            Leave(usize),
        }
        let mut stack = vec![];
        stack.extend(func.entry().map(Step::Enter));
        while let Some(step) = stack.pop() {
            let block = match step {
                Step::Leave(mark) => {
                    for (n, old) in undo.drain(mark..).rev() {
                        current[n as usize] = old;
                    }
                    continue;
                }
                Step::Enter(block) => block,
            };
            stack.push(Step::Leave(undo.len()));
            for i in 0..self.phis[block].len() {
                let (n, inst) = self.phis[block][i];
                undo.push((n, current[n as usize]));
                current[n as usize] = func.insts[inst].result;
            }
            for i in 0..func.blocks[block].insts.len() {
                let inst = func.blocks[block].insts[i];
                let data = &func.insts[inst];
                let (op, ty, result) = (data.op, data.ty, data.result);
                if !matches!(op, Op::Load | Op::Store) {
                    continue;
                }
                let (address, stored) = (data.args[0], data.args.get(1).copied());
                let Some(n) = self.number_of(func, address) else { continue };
                self.dead.insert(inst);
                if let (Op::Load, Some(result)) = (op, result) {
                    let value = match current[n as usize] {
                        Some(value) => value,
                        None => undef(module, func, ty),
                    };
                    self.replaced[result] = Some(value);
                } else if let Some(stored) = stored {
                    let value = resolve(&self.replaced, stored);
                    if func.value_names[value].is_none() && matches!(func.values[value].def, ValueDef::Inst(_)) {
                        func.value_names[value] = Some(func.locals[self.locals[n as usize]].name);
                    }
                    undo.push((n, current[n as usize]));
                    current[n as usize] = Some(value);
                }
            }
            for &succ in self.cfg.succs(block) {
                for i in 0..self.phis[succ].len() {
                    let (n, inst) = self.phis[succ][i];
                    let value = match current[n as usize] {
                        Some(value) => value,
                        None => {
                            let ty = func.insts[inst].ty;
                            undef(module, func, ty)
                        }
                    };
                    func.insts[inst].preds.push(block);
                    func.insts[inst].args.push(value);
                }
            }
            stack.extend(self.doms.children(block).map(Step::Enter));
        }
        // An edge from where control never comes brings any value.
        for index in 0..func.order.len() {
            let block = func.order[index];
            for i in 0..self.phis[block].len() {
                let (_, inst) = self.phis[block][i];
                for &pred in self.cfg.preds(block).iter().filter(|&&p| !self.cfg.is_reachable(p)) {
                    let ty = func.insts[inst].ty;
                    let any = undef(module, func, ty);
                    func.insts[inst].preds.push(pred);
                    func.insts[inst].args.push(any);
                }
            }
        }
    }
}

/// What `value` was replaced by, following chains: a load of a variable that holds what another load gave.
fn resolve(replaced: &SecondaryMap<Value, Option<Value>>, mut value: Value) -> Value {
    while let Some(next) = replaced[value] {
        value = next;
    }
    value
}
