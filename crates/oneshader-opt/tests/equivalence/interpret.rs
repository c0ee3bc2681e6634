//! Runs the entry point of a module: one lane, one buffer.

use oneshader_ir::{
    Block, Const, ConstData, Consts, Func, Function, Global, IrModule, Local, Op, TerminatorKind, Type, Types, Value,
    ValueDef, fold,
};
use std::collections::HashMap;

/// Memory a pointer goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Base {
    Local(u32, Local),
    Global(Global),
    Element(u32),
}

#[derive(Clone, Debug)]
enum Val {
    Const(Const),
    Pointer(Base, Vec<u32>),
    Buffer,
}

struct Machine<'m> {
    m: &'m IrModule,
    types: Types,
    consts: Consts,
    memory: HashMap<Base, Const>,
    frames: u32,
    steps: u32,
    input: u32,
}

/// The first elements of the buffer when the entry point is done, which takes at most so many instructions.
pub fn run(module: &IrModule, input: u32, steps: u32) -> Option<Vec<u32>> {
    let (types, consts) = (module.types.clone(), module.consts.clone());
    let mut machine = Machine { m: module, types, consts, memory: HashMap::new(), frames: 0, steps, input };
    for (global, var) in module.globals.iter() {
        if let Some(init) = var.init {
            machine.memory.insert(Base::Global(global), init);
        }
    }
    machine.call(module.entry_points.first()?.func, Vec::new())?;
    let element = |i: u32| match machine.memory.get(&Base::Element(i)) {
        Some(&c) => machine.consts.bits(c).map(|b| b as u32),
        None => Some(0),
    };
    (0..8).map(element).collect()
}

impl Machine<'_> {
    fn call(&mut self, id: Func, args: Vec<Val>) -> Option<Option<Val>> {
        let func = &self.m.functions[id];
        self.frames += 1;
        let frame = self.frames;
        let mut values: HashMap<Value, Val> = HashMap::new();
        for (param, arg) in func.params.iter().zip(args) {
            values.insert(param.value, arg);
        }
        let mut block = func.entry()?;
        let mut from: Option<Block> = None;
        loop {
            // Phis read what was there before any of them.
            let mut arrived = Vec::new();
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                if data.op == Op::Phi {
                    let at = data.preds.iter().position(|&p| Some(p) == from)?;
                    arrived.push((data.result?, self.value(func, frame, &values, data.args[at])?));
                }
            }
            values.extend(arrived);
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                self.steps = self.steps.checked_sub(1)?;
                if data.op == Op::Phi {
                    continue;
                }
                let args: Vec<Val> =
                    data.args.iter().map(|&a| self.value(func, frame, &values, a)).collect::<Option<_>>()?;
                let result = self.execute(data.op, data.ty, args)?;
                if let (Some(value), Some(result)) = (data.result, result) {
                    values.insert(value, result);
                }
            }
            let term = &func.blocks[block].term.kind;
            let next = match term {
                TerminatorKind::Branch(to) => *to,
                TerminatorKind::CondBranch { cond, then, els } => {
                    let cond = self.value(func, frame, &values, *cond)?;
                    if self.bits(&cond)? != 0 { *then } else { *els }
                }
                TerminatorKind::Switch { selector, default, cases } => {
                    let selector = self.value(func, frame, &values, *selector)?;
                    let bits = self.bits(&selector)?;
                    cases.iter().find(|c| c.value == bits).map_or(*default, |c| c.target)
                }
                TerminatorKind::Return(value) => {
                    return match value {
                        Some(value) => Some(Some(self.value(func, frame, &values, *value)?)),
                        None => Some(None),
                    };
                }
                TerminatorKind::Unreachable => return None,
            };
            self.steps = self.steps.checked_sub(1)?;
            from = Some(block);
            block = next;
        }
    }

    fn value(&self, func: &Function, frame: u32, values: &HashMap<Value, Val>, value: Value) -> Option<Val> {
        Some(match func.values[value].def {
            ValueDef::Const(c) => Val::Const(c),
            ValueDef::Global(g) => Val::Pointer(Base::Global(g), Vec::new()),
            ValueDef::Local(l) => Val::Pointer(Base::Local(frame, l), Vec::new()),
            ValueDef::Inst(_) | ValueDef::Param(_) => values.get(&value)?.clone(),
        })
    }

    fn bits(&self, value: &Val) -> Option<u64> {
        match value {
            Val::Const(c) => self.consts.bits(*c),
            _ => None,
        }
    }

    fn undef(&mut self, ty: Type) -> Val {
        Val::Const(self.consts.intern(ty, ConstData::Undef))
    }

    /// The outer `None` ends the run as meaningless.
    fn execute(&mut self, op: Op, ty: Type, args: Vec<Val>) -> Option<Option<Val>> {
        match (op, &args[..]) {
            (Op::Load, [Val::Pointer(Base::Global(g), path)]) if path.is_empty() && self.is_special(*g) => {
                let var = &self.m.globals[*g];
                if matches!(var.kind, oneshader_ir::GlobalKind::Io(_)) {
                    let c = self.consts.u32(&mut self.types, self.input);
                    return Some(Some(Val::Const(c)));
                }
                Some(Some(Val::Buffer))
            }
            (Op::Load, [Val::Pointer(base, path)]) => {
                let Some(&whole) = self.memory.get(base) else { return Some(Some(self.undef(ty))) };
                let mut at = whole;
                for &index in path {
                    match self.consts.part(&mut self.types, at, index) {
                        Some(part) => at = part,
                        None => return Some(Some(self.undef(ty))),
                    }
                }
                Some(Some(Val::Const(at)))
            }
            (Op::Store, [Val::Pointer(base, path), Val::Const(value)]) => {
                let whole_ty = self.type_of(*base, *value, path)?;
                let old = match self.memory.get(base) {
                    Some(&old) => old,
                    None => self.consts.intern(whole_ty, ConstData::Undef),
                };
                let new = self.replace(old, path, *value)?;
                self.memory.insert(*base, new);
                Some(None)
            }
            (Op::Access, [Val::Pointer(base, path), indices @ ..]) => {
                let mut path = path.clone();
                for index in indices {
                    path.push(u32::try_from(self.bits(index)?).ok()?);
                }
                Some(Some(Val::Pointer(*base, path)))
            }
            (Op::ElementPtr, [Val::Buffer, index]) => {
                let index = self.bits(index)? as u32;
                Some(Some(Val::Pointer(Base::Element(index), Vec::new())))
            }
            (Op::Call(callee), _) => self.call(callee, args),
            (Op::Select, [cond, a, b]) if self.bits(cond).is_some() => {
                Some(Some(if self.bits(cond)? != 0 { a.clone() } else { b.clone() }))
            }
            _ => {
                let consts: Vec<Const> = args
                    .iter()
                    .map(|a| match a {
                        Val::Const(c) => Some(*c),
                        _ => None,
                    })
                    .collect::<Option<_>>()?;
                let result = fold(&mut self.types, &mut self.consts, op, ty, &consts);
                Some(Some(match result {
                    Some(c) => Val::Const(c),
                    None => self.undef(ty),
                }))
            }
        }
    }

    fn is_special(&self, global: Global) -> bool {
        !matches!(self.m.globals[global].kind, oneshader_ir::GlobalKind::Variable)
    }

    /// The type of the memory at `base`. A local's type is not at hand here, but memory that is stored to by parts has been
    /// stored to as a whole before, or is undefined and a store of a part to it is looked up by the variable.
    fn type_of(&self, base: Base, value: Const, path: &[u32]) -> Option<Type> {
        match base {
            Base::Global(g) => Some(self.m.globals[g].ty),
            Base::Element(_) => Some(self.consts.ty(value)),
            Base::Local(..) if path.is_empty() => Some(self.consts.ty(value)),
            Base::Local(..) => self.memory.get(&base).map(|&c| self.consts.ty(c)),
        }
    }

    fn replace(&mut self, whole: Const, path: &[u32], value: Const) -> Option<Const> {
        let Some((&index, rest)) = path.split_first() else { return Some(value) };
        let part = self.consts.part(&mut self.types, whole, index)?;
        let part = self.replace(part, rest, value)?;
        let ty = self.consts.ty(whole);
        fold(&mut self.types, &mut self.consts, Op::Insert { index }, ty, &[whole, part])
    }
}
