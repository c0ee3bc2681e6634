//! Functions: blocks, instructions, values.

use crate::consts::Consts;
use crate::entity::{Block, Const, Global, Inst, Local, Name, Type, Value};
use crate::inst::{InstData, Op};
use crate::types::{AddressSpace, Types};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use oneshader_diag::Span;
use rustc_hash::FxHashMap;

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueDef {
    /// The result of an instruction.
    Inst(Inst),
    /// A parameter.
    Param(u32),
    /// A constant.
    Const(Const),
    /// The address of a module-scope variable.
    Global(Global),
    /// The address of a local variable.
    Local(Local),
}

/// A value and its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// What it is.
    pub def: ValueDef,
    /// Its type; a pointer for variables.
    pub ty: Type,
}

/// A parameter: a value, a handle, or a pointer for `out` and `inout`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// HLSL name.
    pub name: Name,
    /// Type.
    pub ty: Type,
    /// The parameter as a value.
    pub value: Value,
}

/// A variable of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalVar {
    /// HLSL name.
    pub name: Name,
    /// Type of what it holds.
    pub ty: Type,
    /// Place of its declaration.
    pub span: Span,
}

/// The structure that a block is the header of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Merge {
    /// None.
    #[default]
    None,
    /// A selection: control meets again in the block.
    Selection(Block),
    /// A loop: the header itself is the target of the back edge, which leaves from the continue construct.
    Loop {
        /// Where the loop ends.
        merge: Block,
        /// Where `continue` goes.
        cont: Block,
    },
}

/// What the author asked for at a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hint {
    /// Nothing.
    #[default]
    None,
    /// `[branch]`.
    Branch,
    /// `[flatten]`.
    Flatten,
    /// `[unroll]` (0) or `[unroll(n)]`.
    Unroll(u32),
    /// `[loop]`.
    Loop,
}

/// A case of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchCase {
    /// Bits of the selector, zero-extended.
    pub value: u64,
    /// Target.
    pub target: Block,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TerminatorKind {
    /// Goes on there.
    Branch(Block),
    /// Goes on by a `bool`.
    CondBranch {
        /// The condition.
        cond: Value,
        /// When true.
        then: Block,
        /// When false.
        els: Block,
    },
    /// Goes on by an integer. The order of the cases is the source's; a case may fall through to the next one.
    Switch {
        /// The selector.
        selector: Value,
        /// When no case is equal.
        default: Block,
        /// The cases, values unique.
        cases: Vec<SwitchCase>,
    },
    /// Leaves the function.
    Return(Option<Value>),
    /// Control does not come here.
    Unreachable,
}

/// How a block ends, and where the source says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terminator {
    /// How.
    pub kind: TerminatorKind,
    /// Where.
    pub span: Span,
}

impl Terminator {
    /// Blocks control may go to, in order, a block as often as it is named.
    pub fn successors(&self) -> impl Iterator<Item = Block> + '_ {
        let (first, second, cases): (_, _, &[SwitchCase]) = match &self.kind {
            TerminatorKind::Branch(b) => (Some(*b), None, &[]),
            TerminatorKind::CondBranch { then, els, .. } => (Some(*then), Some(*els), &[]),
            TerminatorKind::Switch { default, cases, .. } => (Some(*default), None, cases),
            TerminatorKind::Return(_) | TerminatorKind::Unreachable => (None, None, &[]),
        };
        first.into_iter().chain(second).chain(cases.iter().map(|c| c.target))
    }

    /// Calls `f` on each of those blocks so that it may be changed.
    pub fn map_successors(&mut self, mut f: impl FnMut(&mut Block)) {
        match &mut self.kind {
            TerminatorKind::Branch(b) => f(b),
            TerminatorKind::CondBranch { then, els, .. } => {
                f(then);
                f(els);
            }
            TerminatorKind::Switch { default, cases, .. } => {
                f(default);
                cases.iter_mut().for_each(|c| f(&mut c.target));
            }
            TerminatorKind::Return(_) | TerminatorKind::Unreachable => {}
        }
    }

    /// The value it uses, so that it may be changed.
    pub fn arg_mut(&mut self) -> Option<&mut Value> {
        match &mut self.kind {
            TerminatorKind::CondBranch { cond, .. } => Some(cond),
            TerminatorKind::Switch { selector, .. } => Some(selector),
            TerminatorKind::Return(value) => value.as_mut(),
            TerminatorKind::Branch(_) | TerminatorKind::Unreachable => None,
        }
    }

    /// The value it uses.
    pub fn arg(&self) -> Option<Value> {
        match self.kind {
            TerminatorKind::CondBranch { cond, .. } => Some(cond),
            TerminatorKind::Switch { selector, .. } => Some(selector),
            TerminatorKind::Return(value) => value,
            TerminatorKind::Branch(_) | TerminatorKind::Unreachable => None,
        }
    }
}

/// A basic block.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockData {
    /// Instructions in order, phis first.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub term: Terminator,
    /// The structure it is the header of.
    pub merge: Merge,
    /// What the author asked for, when it is a header.
    pub hint: Hint,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// HLSL name, without namespace decoration that a backend may need.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Param>,
    /// Type of the result.
    pub ret: Type,
    /// Blocks; those not in `order` are dead.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// Living blocks, the entry first, each after its immediate dominator.
    pub order: Vec<Block>,
    /// Instructions; those in no block are dead.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Values.
    pub values: PrimaryMap<Value, ValueData>,
    /// Local variables.
    pub locals: PrimaryMap<Local, LocalVar>,
    /// Names of values that have one in the source.
    pub value_names: SecondaryMap<Value, Option<Name>>,
    /// Place of its declaration.
    pub span: Span,
    consts: FxHashMap<Const, Value>,
    globals: FxHashMap<Global, Value>,
    local_values: SecondaryMap<Local, Option<Value>>,
}

impl Function {
    /// A function without parameters or blocks.
    pub fn new(name: Name, ret: Type, span: Span) -> Self {
        Self {
            name,
            params: Vec::new(),
            ret,
            blocks: PrimaryMap::new(),
            order: Vec::new(),
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            locals: PrimaryMap::new(),
            value_names: SecondaryMap::new(),
            span,
            consts: FxHashMap::default(),
            globals: FxHashMap::default(),
            local_values: SecondaryMap::new(),
        }
    }

    /// Adds a parameter and gives its value.
    pub fn add_param(&mut self, name: Name, ty: Type) -> Value {
        let value = self.values.push(ValueData { def: ValueDef::Param(self.params.len() as u32), ty });
        self.params.push(Param { name, ty, value });
        value
    }

    /// Adds a local variable and gives its address.
    pub fn add_local(&mut self, types: &mut Types, name: Name, ty: Type, span: Span) -> Value {
        let local = self.locals.push(LocalVar { name, ty, span });
        self.local_value(types, local)
    }

    /// Adds an empty block, unreachable until its terminator is set and it is put in `order`.
    pub fn add_block(&mut self, span: Span) -> Block {
        self.blocks.push(BlockData {
            insts: Vec::new(),
            term: Terminator { kind: TerminatorKind::Unreachable, span },
            merge: Merge::None,
            hint: Hint::None,
        })
    }

    /// Adds an instruction to no block; its result gets a value unless `ty` is `void`.
    pub fn add_inst(&mut self, types: &mut Types, mut data: InstData) -> Inst {
        let void = types.void();
        let inst = self.insts.next_key();
        data.result = (data.ty != void).then(|| self.values.push(ValueData { def: ValueDef::Inst(inst), ty: data.ty }));
        self.insts.push(data)
    }

    /// The value of a constant; one for each constant.
    pub fn const_value(&mut self, consts: &Consts, c: Const) -> Value {
        let values = &mut self.values;
        *self.consts.entry(c).or_insert_with(|| values.push(ValueData { def: ValueDef::Const(c), ty: consts.ty(c) }))
    }

    /// The address of a module-scope variable that holds `ty` in `space`; one value for each.
    pub fn global_value(&mut self, types: &mut Types, global: Global, space: AddressSpace, ty: Type) -> Value {
        let values = &mut self.values;
        *self
            .globals
            .entry(global)
            .or_insert_with(|| values.push(ValueData { def: ValueDef::Global(global), ty: types.pointer(space, ty) }))
    }

    /// The address of a local variable; one value for each.
    pub fn local_value(&mut self, types: &mut Types, local: Local) -> Value {
        if let Some(value) = self.local_values[local] {
            return value;
        }
        let ty = types.pointer(AddressSpace::Function, self.locals[local].ty);
        let value = self.values.push(ValueData { def: ValueDef::Local(local), ty });
        self.local_values[local] = Some(value);
        value
    }

    /// Drops the local variables that `keep` does not want, and renumbers the others. No living instruction may use a dropped
    /// one.
    pub fn retain_locals(&mut self, keep: impl Fn(Local) -> bool) {
        let old = std::mem::take(&mut self.locals);
        let values = std::mem::take(&mut self.local_values);
        for (local, var) in old.iter() {
            if !keep(local) {
                continue;
            }
            let new = self.locals.push(*var);
            if let Some(value) = values[local] {
                self.values[value].def = ValueDef::Local(new);
                self.local_values[new] = Some(value);
            }
        }
    }

    /// Gives up dead blocks, instructions and values, and numbers the living ones in the order they stand in, so that a walk
    /// over the function is one over memory. Handles into the function mean nothing afterwards.
    pub fn compact(&mut self) {
        *self = self.compacted();
    }

    /// A copy that is [compact](Self::compact).
    pub fn compacted(&self) -> Self {
        let mut blocks: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::with_capacity(self.blocks.len());
        for (at, &block) in self.order.iter().enumerate() {
            blocks[block] = Block::from_u32(at as u32).into();
        }
        let target = |b: Block| blocks[b].expand().unwrap_or(b);
        let count = self.order.iter().map(|&b| self.blocks[b].insts.len()).sum();
        let mut new = Self::new(self.name, self.ret, self.span);
        new.locals = self.locals.clone();
        new.insts = PrimaryMap::with_capacity(count);
        new.values = PrimaryMap::with_capacity(self.params.len() + count + self.consts.len());
        new.blocks = PrimaryMap::with_capacity(self.order.len());
        new.order = Vec::with_capacity(self.order.len());
        let mut values: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::with_capacity(self.values.len());
        for param in &self.params {
            let value = self.keep(&mut new, &mut values, param.value);
            new.params.push(Param { value, ..*param });
        }
        for &block in &self.order {
            let data = &self.blocks[block];
            let mut insts = Vec::with_capacity(data.insts.len());
            for &inst in &data.insts {
                let mut data = self.insts[inst].clone();
                if let Some(result) = &mut data.result {
                    *result = self.keep(&mut new, &mut values, *result);
                    new.values[*result].def = ValueDef::Inst(new.insts.next_key());
                }
                insts.push(new.insts.push(data));
            }
            let mut term = data.term.clone();
            term.map_successors(|b| *b = target(*b));
            let merge = match data.merge {
                Merge::None => Merge::None,
                Merge::Selection(merge) => Merge::Selection(target(merge)),
                Merge::Loop { merge, cont } => Merge::Loop { merge: target(merge), cont: target(cont) },
            };
            let block = new.blocks.push(BlockData { insts, term, merge, hint: data.hint });
            new.order.push(block);
        }
        // Operands, once every result has its number.
        for index in 0..new.insts.len() {
            let inst = Inst::from_u32(index as u32);
            for at in 0..new.insts[inst].args.len() {
                let arg = new.insts[inst].args[at];
                new.insts[inst].args[at] = self.keep(&mut new, &mut values, arg);
            }
            new.insts[inst].preds.iter_mut().for_each(|pred| *pred = target(*pred));
        }
        for index in 0..new.order.len() {
            let block = new.order[index];
            if let Some(arg) = new.blocks[block].term.arg() {
                let arg = self.keep(&mut new, &mut values, arg);
                new.blocks[block].term.arg_mut().into_iter().for_each(|slot| *slot = arg);
            }
        }
        new
    }

    /// The number in `new`, a copy of this function, of a value that lives; `known` has those given already.
    fn keep(&self, new: &mut Self, known: &mut SecondaryMap<Value, PackedOption<Value>>, value: Value) -> Value {
        if let Some(number) = known[value].expand() {
            return number;
        }
        let number = new.values.push(self.values[value]);
        if let Some(name) = self.value_names[value] {
            new.value_names[number] = Some(name);
        }
        match self.values[value].def {
            ValueDef::Const(c) => drop(new.consts.insert(c, number)),
            ValueDef::Global(g) => drop(new.globals.insert(g, number)),
            ValueDef::Local(l) => new.local_values[l] = Some(number),
            ValueDef::Inst(_) | ValueDef::Param(_) => {}
        }
        known[value] = number.into();
        number
    }

    /// The block where the function begins.
    pub fn entry(&self) -> Option<Block> {
        self.order.first().copied()
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The instruction that computes `value`, if one does.
    pub fn def_inst(&self, value: Value) -> Option<(Inst, &InstData)> {
        match self.values[value].def {
            ValueDef::Inst(inst) => Some((inst, &self.insts[inst])),
            _ => None,
        }
    }

    /// The constant that `value` is, if it is one.
    pub fn as_const(&self, value: Value) -> Option<Const> {
        match self.values[value].def {
            ValueDef::Const(c) => Some(c),
            _ => None,
        }
    }

    /// Living instructions in order of the blocks.
    pub fn live_insts(&self) -> impl Iterator<Item = (Block, Inst, &InstData)> {
        self.order.iter().flat_map(move |&b| self.blocks[b].insts.iter().map(move |&i| (b, i, &self.insts[i])))
    }

    /// Functions it calls, in order of the calls.
    pub fn callees(&self) -> impl Iterator<Item = crate::Func> + '_ {
        self.live_insts().filter_map(|(_, _, data)| match data.op {
            Op::Call(f) => Some(f),
            _ => None,
        })
    }
}
