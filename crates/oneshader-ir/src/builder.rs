//! Building functions block by block.

use crate::entity::{Block, Const, Func, Global, Name, Type, Value};
use crate::func::{Function, Hint, Merge, SwitchCase, Terminator, TerminatorKind};
use crate::inst::{AtomicOp, BinaryOp, InstData, InstFlags, Op, Swizzle, UnaryOp};
use crate::intrinsic::Intrinsic;
use crate::module::IrModule;
use crate::types::{AddressSpace, Scalar, TypeKind};
use oneshader_diag::Span;
use smallvec::SmallVec;

/// Appends instructions to the blocks of one function. Every instruction takes the current span and flags.
///
/// Instructions appended while there is no current block (after a terminator) go to a block that no edge reaches, so a
/// caller need not ask whether code is reachable; [`finish`](Self::finish) drops such blocks.
pub struct FunctionBuilder<'m> {
    /// The module.
    pub module: &'m mut IrModule,
    /// The function.
    pub func: Function,
    /// Span of what is appended.
    pub span: Span,
    /// Flags of what is appended.
    pub flags: InstFlags,
    block: Option<Block>,
}

/// See [`FunctionBuilder::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    block: Block,
    insts: usize,
    order: usize,
}

impl<'m> FunctionBuilder<'m> {
    /// Starts a function with an empty entry block, which becomes the current one.
    pub fn new(module: &'m mut IrModule, func: Function) -> Self {
        let span = func.span;
        let mut builder = Self { module, func, span, flags: InstFlags::empty(), block: None };
        builder.enter();
        builder
    }

    /// Makes the entry block, and room for a function of some lines.
    fn enter(&mut self) {
        self.func.insts.reserve(32);
        self.func.values.reserve(48);
        let entry = self.create_block();
        self.func.blocks[entry].insts.reserve(32);
        self.switch_to(entry);
    }

    /// Begins another function in the place of the current one, which is given back as it is. The new one has an empty
    /// entry block, unless it has blocks already.
    pub fn begin(&mut self, func: Function) -> Function {
        self.span = func.span;
        self.block = None;
        let old = std::mem::replace(&mut self.func, func);
        if self.func.order.is_empty() {
            self.enter();
        }
        old
    }

    /// Ends the current function as [`finish`](Self::finish) does and puts `next` in its place, without a current block.
    pub fn end(&mut self, next: Function) -> Function {
        if self.block.is_some() {
            self.terminate(TerminatorKind::Unreachable);
        }
        drop_unreachable(&mut self.func);
        std::mem::replace(&mut self.func, next)
    }

    /// Goes on at the end of a block that is placed already and has no terminator that counts.
    pub fn resume(&mut self, block: Block) {
        self.block = Some(block);
    }

    /// The place where the builder stands, for [`rewind`](Self::rewind).
    pub fn mark(&mut self) -> Mark {
        let block = self.current();
        Mark { block, insts: self.func.blocks[block].insts.len(), order: self.func.order.len() }
    }

    /// Forgets all instructions and blocks since `mark`. Their values must not be used.
    pub fn rewind(&mut self, mark: Mark) {
        self.func.order.truncate(mark.order);
        let span = self.span;
        let data = &mut self.func.blocks[mark.block];
        data.insts.truncate(mark.insts);
        data.merge = Merge::None;
        data.hint = Hint::None;
        data.term = Terminator { kind: TerminatorKind::Unreachable, span };
        self.block = Some(mark.block);
    }

    /// Creates a block that is placed when it is switched to.
    pub fn create_block(&mut self) -> Block {
        self.func.add_block(self.span)
    }

    /// Places `block` after the others and makes it the current one. A block is placed once.
    pub fn switch_to(&mut self, block: Block) {
        self.func.order.push(block);
        self.block = Some(block);
    }

    /// The current block; a fresh unreachable one after a terminator.
    pub fn current(&mut self) -> Block {
        match self.block {
            Some(block) => block,
            None => {
                let block = self.create_block();
                self.switch_to(block);
                block
            }
        }
    }

    /// Whether the current block still lacks its terminator.
    pub fn is_open(&self) -> bool {
        self.block.is_some()
    }

    /// Appends an instruction; gives its result, or `None` when `ty` is `void`.
    pub fn push(&mut self, op: Op, ty: Type, args: &[Value]) -> Option<Value> {
        let data = InstData {
            op,
            args: SmallVec::from_slice(args),
            preds: SmallVec::new(),
            ty,
            result: None,
            flags: self.flags,
            span: self.span,
        };
        let block = self.current();
        let inst = self.func.add_inst(&mut self.module.types, data);
        self.func.blocks[block].insts.push(inst);
        self.func.insts[inst].result
    }

    /// Appends an instruction that has a result.
    pub fn value(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        self.push(op, ty, args).expect("an instruction whose type is not void has a result")
    }

    /// Appends an instruction that has none.
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        let void = self.module.types.void();
        self.push(op, void, args);
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// A constant as a value.
    pub fn constant(&mut self, c: Const) -> Value {
        self.func.const_value(&self.module.consts, c)
    }

    /// A `uint` constant.
    pub fn u32(&mut self, value: u32) -> Value {
        let c = self.module.consts.u32(&mut self.module.types, value);
        self.constant(c)
    }

    /// An `int` constant.
    pub fn i32(&mut self, value: i32) -> Value {
        let c = self.module.consts.i32(&mut self.module.types, value);
        self.constant(c)
    }

    /// A `float` constant.
    pub fn f32(&mut self, value: f32) -> Value {
        let c = self.module.consts.f32(&mut self.module.types, value);
        self.constant(c)
    }

    /// A `bool` constant.
    pub fn bool(&mut self, value: bool) -> Value {
        let c = self.module.consts.bool(&mut self.module.types, value);
        self.constant(c)
    }

    /// All bits zero.
    pub fn zero(&mut self, ty: Type) -> Value {
        let c = self.module.consts.zero(&self.module.types, ty);
        self.constant(c)
    }

    /// The address of a module-scope variable.
    pub fn global(&mut self, global: Global) -> Value {
        let var = &self.module.globals[global];
        let (space, ty) = (var.space, var.ty);
        self.func.global_value(&mut self.module.types, global, space, ty)
    }

    /// A new local variable's address.
    pub fn local(&mut self, name: Name, ty: Type) -> Value {
        self.func.add_local(&mut self.module.types, name, ty, self.span)
    }

    /// `op a`.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Unary(op), ty, &[a])
    }

    /// `a op b`.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let mut ty = self.ty(a);
        if op.is_comparison() {
            ty = self.module.types.with_scalar(ty, Scalar::Bool);
        }
        self.value(Op::Binary(op), ty, &[a, b])
    }

    /// `cond ? a : b`, both computed.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Select, ty, &[cond, a, b])
    }

    /// Conversion; the operand itself when the type is the same.
    pub fn convert(&mut self, a: Value, ty: Type) -> Value {
        if self.ty(a) == ty { a } else { self.value(Op::Convert, ty, &[a]) }
    }

    /// The same bits; the operand itself when the type is the same.
    pub fn bitcast(&mut self, a: Value, ty: Type) -> Value {
        if self.ty(a) == ty { a } else { self.value(Op::Bitcast, ty, &[a]) }
    }

    /// A composite from its parts.
    pub fn construct(&mut self, ty: Type, parts: &[Value]) -> Value {
        self.value(Op::Construct, ty, parts)
    }

    /// A vector of equal components; the operand itself when `len` is 1.
    pub fn splat(&mut self, a: Value, len: u8) -> Value {
        if len == 1 {
            return a;
        }
        let elem = self.module.types.scalar_of(self.ty(a)).expect("a splat is of a scalar");
        let ty = self.module.types.vector(elem, len);
        self.value(Op::Splat, ty, &[a])
    }

    /// Part `index` of a composite value; the operand itself when it is a scalar.
    pub fn extract(&mut self, a: Value, index: u32) -> Value {
        let ty = self.ty(a);
        if matches!(self.module.types.kind(ty), TypeKind::Scalar(_)) {
            return a;
        }
        let part = self.module.types.part(ty, index).expect("an index of the composite");
        self.value(Op::Extract { index }, part, &[a])
    }

    /// A composite with part `index` replaced.
    pub fn insert(&mut self, a: Value, index: u32, part: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Insert { index }, ty, &[a, part])
    }

    /// Components of a vector; a scalar operand counts as a vector of one.
    pub fn swizzle(&mut self, a: Value, comps: &[u8]) -> Value {
        let ty = self.ty(a);
        let elem = self.module.types.scalar_of(ty).expect("a swizzle is of a vector");
        if self.module.types.lanes(ty) == 1 {
            return self.splat(a, comps.len() as u8);
        }
        if let [only] = comps {
            return self.extract(a, u32::from(*only));
        }
        let swizzle = Swizzle::new(comps).expect("one to four components");
        let result = self.module.types.vector(elem, comps.len() as u8);
        self.value(Op::Swizzle(swizzle), result, &[a])
    }

    /// The address of a part of what `base` points to.
    pub fn access(&mut self, base: Value, indices: &[Value]) -> Value {
        let (space, mut ty) = self.module.types.pointee(self.ty(base)).expect("an access starts at a pointer");
        for &index in indices {
            let known = self.func.as_const(index).and_then(|c| self.module.consts.bits(c));
            ty = self.module.types.part(ty, known.unwrap_or(0) as u32).expect("an index of the composite");
        }
        let ty = self.module.types.pointer(space, ty);
        let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&[base]);
        args.extend_from_slice(indices);
        self.value(Op::Access, ty, &args)
    }

    /// What `pointer` points to.
    pub fn load(&mut self, pointer: Value) -> Value {
        let (_, ty) = self.module.types.pointee(self.ty(pointer)).expect("a load is from a pointer");
        self.value(Op::Load, ty, &[pointer])
    }

    /// Writes to memory.
    pub fn store(&mut self, pointer: Value, value: Value) {
        self.effect(Op::Store, &[pointer, value]);
    }

    /// A pointer-producing instruction in `space`.
    pub fn address(&mut self, op: Op, space: AddressSpace, pointee: Type, args: &[Value]) -> Value {
        let ty = self.module.types.pointer(space, pointee);
        self.value(op, ty, args)
    }

    /// An atomic operation; gives the value before.
    pub fn atomic(&mut self, op: AtomicOp, pointer: Value, value: Value) -> Value {
        let ty = self.ty(value);
        self.value(Op::Atomic(op), ty, &[pointer, value])
    }

    /// An intrinsic with a result of type `ty`.
    pub fn intrinsic(&mut self, intrinsic: Intrinsic, ty: Type, args: &[Value]) -> Value {
        self.value(Op::Intrinsic(intrinsic), ty, args)
    }

    /// An intrinsic whose result has the type of its first operand.
    pub fn intrinsic_same(&mut self, intrinsic: Intrinsic, args: &[Value]) -> Value {
        let ty = self.ty(args[0]);
        self.intrinsic(intrinsic, ty, args)
    }

    /// A call; gives its result, or `None` for `void`.
    pub fn call(&mut self, func: Func, args: &[Value]) -> Option<Value> {
        let ty = self.module.functions[func].ret;
        self.push(Op::Call(func), ty, args)
    }

    /// A phi at the head of the current block, which must hold only phis so far.
    pub fn phi(&mut self, ty: Type, incoming: &[(Block, Value)]) -> Value {
        let block = self.current();
        let data = InstData {
            op: Op::Phi,
            args: incoming.iter().map(|&(_, v)| v).collect(),
            preds: incoming.iter().map(|&(b, _)| b).collect(),
            ty,
            result: None,
            flags: self.flags,
            span: self.span,
        };
        let inst = self.func.add_inst(&mut self.module.types, data);
        self.func.blocks[block].insts.push(inst);
        self.func.insts[inst].result.expect("a phi has a result")
    }

    /// Marks the current block as the header of a selection or loop.
    pub fn set_merge(&mut self, merge: Merge, hint: Hint) {
        let block = self.current();
        self.func.blocks[block].merge = merge;
        self.func.blocks[block].hint = hint;
    }

    /// Ends the current block.
    pub fn terminate(&mut self, kind: TerminatorKind) {
        let block = self.current();
        self.func.blocks[block].term = Terminator { kind, span: self.span };
        self.block = None;
    }

    /// Goes on at `target`.
    pub fn branch(&mut self, target: Block) {
        self.terminate(TerminatorKind::Branch(target));
    }

    /// Goes on by `cond`.
    pub fn cond_branch(&mut self, cond: Value, then: Block, els: Block) {
        self.terminate(TerminatorKind::CondBranch { cond, then, els });
    }

    /// Goes on by an integer.
    pub fn switch(&mut self, selector: Value, default: Block, cases: Vec<SwitchCase>) {
        self.terminate(TerminatorKind::Switch { selector, default, cases });
    }

    /// Leaves the function.
    pub fn ret(&mut self, value: Option<Value>) {
        self.terminate(TerminatorKind::Return(value));
    }

    /// Gives the function back. Blocks no edge reaches are dropped, but for merge and continue blocks, which keep their
    /// place as the end of a structure and become unreachable ones.
    pub fn finish(mut self) -> (&'m mut IrModule, Function) {
        if self.block.is_some() {
            self.terminate(TerminatorKind::Unreachable);
        }
        crate::builder::drop_unreachable(&mut self.func);
        (self.module, self.func)
    }
}

/// Drops blocks that neither an edge nor a marker of a living block reaches, and phi arguments from them.
pub fn drop_unreachable(func: &mut Function) {
    let Some(entry) = func.entry() else { return };
    let mut live = cranelift_entity::EntitySet::with_capacity(func.blocks.len());
    let mut stack = vec![entry];
    while let Some(block) = stack.pop() {
        if !live.insert(block) {
            continue;
        }
        let data = &func.blocks[block];
        stack.extend(data.term.successors());
        match data.merge {
            Merge::None => {}
            Merge::Selection(merge) => stack.push(merge),
            Merge::Loop { merge, cont } => stack.extend([merge, cont]),
        }
    }
    func.order.retain(|&b| live.contains(b));
    for &block in &func.order {
        for &inst in &func.blocks[block].insts {
            let data = &mut func.insts[inst];
            if data.op != Op::Phi {
                break;
            }
            let keep: SmallVec<[bool; 4]> = data.preds.iter().map(|&b| live.contains(b)).collect();
            let mut keep_args = keep.iter();
            data.args.retain(|_| *keep_args.next().unwrap());
            let mut keep_preds = keep.iter();
            data.preds.retain(|_| *keep_preds.next().unwrap());
        }
    }
}
