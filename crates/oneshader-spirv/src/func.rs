//! Functions: values, blocks, terminators, calls.

use crate::cx::Cx;
use crate::memory::{Mem, Pointer, storage_class};
use crate::module::Words;
use crate::resource::Which;
use crate::structure;
use cranelift_entity::SecondaryMap;
use oneshader_diag::Span;
use oneshader_ir::{
    AddressSpace, Block, Func, Function, Global, Inst, InstData, InstFlags, Op as IrOp, Scalar, Type, TypeKind, Value,
    ValueDef,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{Decoration, FunctionControl, Op, StorageClass};

/// A function as it is called: one is emitted for each choice of resources, since Vulkan passes none of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Instance {
    pub func: Func,
    /// For each parameter that is a handle, in order: what is passed.
    pub handles: SmallVec<[HandleArg; 2]>,
}

/// A resource passed to a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct HandleArg {
    pub which: Which,
    /// One of an array; its index is passed as a `uint`.
    pub indexed: bool,
    pub nonuniform: bool,
}

/// Most functions that one entry point is made of.
const MAX_INSTANCES: usize = 1 << 14;

/// A resource at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub which: Which,
    /// Index in an array of resources.
    pub index: Option<u32>,
    pub nonuniform: bool,
    /// The address of the resource's block, image or sampler.
    pub ptr: u32,
    /// The image or sampler, loaded.
    pub image: Option<u32>,
    /// An image with a sampler, loaded.
    pub whole: Option<u32>,
}

/// What became of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lowered {
    /// A value.
    Id(u32),
    /// An address.
    Pointer(Pointer),
    /// A stage variable that is not stored as its type says; see [`crate::io`].
    Io(Global),
    /// The address of a variable that holds a resource, or of an element of an array of them.
    Place { which: Which, index: Option<u32>, nonuniform: bool },
    /// A resource.
    Handle(Handle),
}

/// A phi whose operands are filled in when all blocks stand.
struct PhiPatch {
    /// Where its operands begin in the body.
    at: usize,
    inst: Inst,
    block: Block,
}

/// The emission of one function.
pub(crate) struct Fx<'c, 'a> {
    pub cx: &'c mut Cx<'a>,
    pub func: &'c Function,
    values: SecondaryMap<Value, Option<Lowered>>,
    body: Words,
    /// `OpVariable`s; they stand first in the entry block.
    locals: Words,
    pub labels: FxHashMap<Block, u32>,
    /// Where a block stands in the source; blocks made for structure come last.
    pub source_order: SecondaryMap<Block, u32>,
    ends: FxHashMap<Block, u32>,
    preds: FxHashMap<Block, Vec<Block>>,
    phis: Vec<PhiPatch>,
    /// The block being filled.
    label: u32,
    pub flags: InstFlags,
    pub span: Span,
    line: Option<[u32; 3]>,
    /// Parts of composites converted so far.
    pub parts: u64,
    /// Whether this is the entry point's own function.
    pub entry: bool,
    /// Its id.
    pub id: u32,
}

impl<'a> Cx<'a> {
    /// The id of a function called with certain resources; it is emitted later.
    pub fn instance(&mut self, instance: Instance) -> u32 {
        if let Some(&id) = self.instances.get(&instance) {
            return id;
        }
        if self.instances.len() >= MAX_INSTANCES && !self.failed {
            let span = self.ir.functions[instance.func].span;
            self.unsupported(span, "functions are called with too many combinations of resources");
        }
        let id = self.m.id();
        self.instances.insert(instance.clone(), id);
        if !self.failed {
            self.queue.push(instance);
        }
        id
    }

    /// Emits one function.
    pub fn emit_function(&mut self, instance: &Instance, id: u32) {
        let source = &self.ir.functions[instance.func];
        let mut source_order = SecondaryMap::with_default(u32::MAX);
        for (i, &block) in source.order.iter().enumerate() {
            source_order[block] = i as u32;
        }
        let func = structure::prepare(source);
        let entry = instance.func == self.entry.func;
        let mut fx = Fx {
            cx: self,
            func: &func,
            values: SecondaryMap::new(),
            body: Words::default(),
            locals: Words::default(),
            labels: FxHashMap::default(),
            source_order,
            ends: FxHashMap::default(),
            preds: FxHashMap::default(),
            phis: Vec::new(),
            label: 0,
            flags: InstFlags::empty(),
            span: func.span,
            line: None,
            parts: 0,
            entry,
            id,
        };
        fx.emit(instance, id);
    }
}

/// Whether `NoContraction` may decorate the result.
fn is_arithmetic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FAdd | FSub
            | FMul
            | FDiv
            | FRem
            | FNegate
            | Dot
            | VectorTimesScalar
            | MatrixTimesScalar
            | VectorTimesMatrix
            | MatrixTimesVector
            | MatrixTimesMatrix
    )
}

impl Fx<'_, '_> {
    /// Appends an instruction and gives its result.
    pub fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.cx.m.id();
        let mut words: SmallVec<[u32; 16]> = SmallVec::from_slice(&[ty, id]);
        words.extend_from_slice(operands);
        self.body.inst(op, &words);
        if self.flags.contains(InstFlags::PRECISE) && is_arithmetic(op) {
            self.cx.m.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    /// Appends an instruction without a result.
    pub fn effect(&mut self, op: Op, operands: &[u32]) {
        self.body.inst(op, operands);
    }

    /// Appends an instruction of GLSL's set.
    pub fn glsl(&mut self, op: spirv::GlslStd450Op, ty: u32, operands: &[u32]) -> u32 {
        let set = self.cx.glsl_set();
        let mut words: SmallVec<[u32; 8]> = SmallVec::from_slice(&[set, op as u32]);
        words.extend_from_slice(operands);
        self.op(Op::ExtInst, ty, &words)
    }

    /// Decorates `id` as nonuniform.
    pub fn nonuniform(&mut self, id: u32) {
        self.cx.m.decorate(id, Decoration::NonUniform, &[]);
    }

    /// Begins a block that the IR does not have.
    pub fn begin_block(&mut self, label: u32) {
        self.body.inst(Op::Label, &[label]);
        self.label = label;
        self.line = None;
    }

    /// A variable of the function.
    pub fn variable(&mut self, pointee: u32) -> u32 {
        let ty = self.cx.pointer(StorageClass::Function, pointee);
        let id = self.cx.m.id();
        self.locals.inst(Op::Variable, &[ty, id, StorageClass::Function as u32]);
        id
    }

    /// A component of a scalar or vector.
    pub fn lane(&mut self, value: u32, scalar: Scalar, lanes: u8, lane: u8) -> u32 {
        if lanes <= 1 {
            return value;
        }
        let ty = self.cx.scalar(scalar);
        self.op(Op::CompositeExtract, ty, &[value, u32::from(lane)])
    }

    /// A vector of scalars, or the scalar itself when there is one.
    pub fn vector_of(&mut self, parts: &[u32], scalar: Scalar) -> u32 {
        match parts {
            [one] => *one,
            _ => {
                let ty = self.cx.num(scalar, parts.len() as u8);
                self.op(Op::CompositeConstruct, ty, parts)
            }
        }
    }

    /// Repeats a scalar.
    pub fn splat(&mut self, value: u32, scalar: Scalar, lanes: u8) -> u32 {
        self.vector_of(&vec![value; usize::from(lanes.max(1))], scalar)
    }

    /// Scalar type and components of a value of numbers.
    pub fn shape(&self, ty: Type) -> Option<(Scalar, u8)> {
        match self.cx.ir.types.kind(ty) {
            TypeKind::Scalar(s) => Some((s, 1)),
            TypeKind::Vector { elem, len } => Some((elem, len)),
            _ => None,
        }
    }

    fn emit(&mut self, instance: &Instance, id: u32) {
        let ir = self.cx.ir;
        let ret = self.cx.ty(self.func.ret);
        let mut head = Words::default();
        let mut param_types = Vec::new();
        let mut handles = instance.handles.iter();
        for param in &self.func.params {
            let lowered = match ir.types.kind(param.ty) {
                TypeKind::Resource(_) => match handles.next() {
                    Some(arg) => {
                        let index = arg.indexed.then(|| {
                            let uint = self.cx.scalar(Scalar::U32);
                            param_types.push(uint);
                            self.parameter(&mut head, uint, ir.names.get(param.name))
                        });
                        // The handle itself is made in the entry block, below.
                        Lowered::Place { which: arg.which, index, nonuniform: arg.nonuniform }
                    }
                    None => continue,
                },
                TypeKind::Pointer { space, pointee } => {
                    let Some(class) = storage_class(space) else { continue };
                    let inner = self.cx.ty(pointee);
                    let ty = self.cx.pointer(class, inner);
                    param_types.push(ty);
                    let id = self.parameter(&mut head, ty, ir.names.get(param.name));
                    Lowered::Pointer(Pointer {
                        id,
                        ty: pointee,
                        mem: Mem::Plain,
                        class,
                        nonuniform: false,
                        as_uint: false,
                        block: false,
                        align: 0,
                    })
                }
                _ => {
                    let ty = self.cx.ty(param.ty);
                    param_types.push(ty);
                    Lowered::Id(self.parameter(&mut head, ty, ir.names.get(param.name)))
                }
            };
            self.values[param.value] = Some(lowered);
        }
        let fn_ty = self.cx.function(ret, &param_types);
        self.blocks();
        let name = ir.names.get(self.func.name);
        self.cx.name(id, name);
        let out = &mut self.cx.m.functions;
        out.inst(Op::Function, &[ret, id, FunctionControl::NONE.bits(), fn_ty]);
        out.0.append(&mut head.0);
        // The body begins with the entry block's label, two words; variables come next.
        let (label, rest) = self.body.0.split_at(2.min(self.body.0.len()));
        out.0.extend_from_slice(label);
        out.0.append(&mut self.locals.0);
        out.0.extend_from_slice(rest);
        out.inst(Op::FunctionEnd, &[]);
    }

    fn parameter(&mut self, head: &mut Words, ty: u32, name: &str) -> u32 {
        let id = self.cx.m.id();
        head.inst(Op::FunctionParameter, &[ty, id]);
        self.cx.name(id, name);
        id
    }

    fn blocks(&mut self) {
        let func = self.func;
        for &block in &func.order {
            let label = self.cx.m.id();
            self.labels.insert(block, label);
        }
        for &block in &func.order {
            for succ in func.blocks[block].term.successors() {
                let preds = self.preds.entry(succ).or_default();
                if !preds.contains(&block) {
                    preds.push(block);
                }
            }
        }
        for (i, &block) in func.order.iter().enumerate() {
            self.begin_block(self.labels[&block]);
            if i == 0 {
                self.enter();
            }
            for &inst in &func.blocks[block].insts {
                self.inst(block, inst);
            }
            self.terminator(block);
            self.ends.insert(block, self.label);
        }
        self.patch_phis();
    }

    /// What stands before everything else in the entry block.
    fn enter(&mut self) {
        for param in &self.func.params {
            if let Some(Lowered::Place { which, index, nonuniform }) = self.values[param.value] {
                self.values[param.value] = self.handle_of(which, index, nonuniform).map(Lowered::Handle);
            }
        }
        if self.entry {
            self.enter_entry_point();
        }
    }

    fn patch_phis(&mut self) {
        for patch in std::mem::take(&mut self.phis) {
            let data = &self.func.insts[patch.inst];
            let preds = self.preds.get(&patch.block).cloned().unwrap_or_default();
            let mut at = patch.at;
            for pred in preds {
                let value = data.preds.iter().position(|&p| p == pred).map(|i| data.args[i]);
                let id = match value {
                    Some(value) => self.use_id(value),
                    None => {
                        let ty = self.cx.ty(data.ty);
                        self.cx.undef(ty)
                    }
                };
                self.body.0[at] = id;
                self.body.0[at + 1] = self.ends.get(&pred).copied().unwrap_or(0);
                at += 2;
            }
        }
    }

    fn phi(&mut self, block: Block, inst: Inst) -> u32 {
        let data = &self.func.insts[inst];
        let preds = self.preds.get(&block).map_or(0, Vec::len);
        let ty = self.cx.ty(data.ty);
        if preds == 0 {
            return self.cx.undef(ty);
        }
        let id = self.op(Op::Phi, ty, &vec![0; preds * 2]);
        self.phis.push(PhiPatch { at: self.body.0.len() - preds * 2, inst, block });
        id
    }

    /// The id of a value used as an operand.
    pub fn use_id(&mut self, value: Value) -> u32 {
        match self.values[value] {
            Some(Lowered::Id(id)) => return id,
            Some(Lowered::Pointer(pointer)) => return pointer.id,
            Some(_) => {}
            None => match self.func.values[value].def {
                ValueDef::Const(c) => {
                    let id = self.cx.constant(c);
                    self.values[value] = Some(Lowered::Id(id));
                    return id;
                }
                ValueDef::Global(_) | ValueDef::Local(_) => {
                    if let Some(pointer) = self.pointer(value) {
                        return pointer.id;
                    }
                }
                // Code that no edge reaches may name anything.
                ValueDef::Inst(_) | ValueDef::Param(_) => {
                    let ty = self.cx.ty(self.func.ty(value));
                    return self.cx.undef(ty);
                }
            },
        }
        if !self.cx.failed {
            let span = self.span;
            self.cx.unsupported(span, "a resource is used as a value here; it must be known which one it is");
        }
        let ty = self.cx.scalar(Scalar::U32);
        self.cx.undef(ty)
    }

    /// What became of a value; of a variable, its address.
    pub fn lowered(&mut self, value: Value) -> Option<Lowered> {
        if let Some(lowered) = self.values[value] {
            return Some(lowered);
        }
        let lowered = match self.func.values[value].def {
            ValueDef::Global(global) => self.global(global)?,
            ValueDef::Local(local) => {
                let ir = self.cx.ir;
                let local = &self.func.locals[local];
                let ty = local.ty;
                let pointee = self.cx.ty(ty);
                let id = self.variable(pointee);
                self.cx.name(id, ir.names.get(local.name));
                let class = StorageClass::Function;
                Lowered::Pointer(Pointer::variable(id, ty, class))
            }
            _ => return None,
        };
        self.values[value] = Some(lowered);
        Some(lowered)
    }

    /// The address of a module-scope variable.
    fn global(&mut self, global: Global) -> Option<Lowered> {
        let ir = self.cx.ir;
        let var = &ir.globals[global];
        match var.space {
            AddressSpace::Handle => Some(Lowered::Place { which: Which::new(global), index: None, nonuniform: false }),
            AddressSpace::Input | AddressSpace::Output => self.io_variable(global),
            _ => {
                let class = storage_class(var.space)?;
                let id = self.cx.module_variable(global, class);
                let ty = var.ty;
                Some(Lowered::Pointer(Pointer::variable(id, ty, class)))
            }
        }
    }

    /// The address that a value is.
    pub fn pointer(&mut self, value: Value) -> Option<Pointer> {
        match self.lowered(value)? {
            Lowered::Pointer(pointer) => Some(pointer),
            Lowered::Io(global) => self.io_pointer(global),
            _ => None,
        }
    }

    /// The resource that a value is.
    pub fn handle(&mut self, value: Value) -> Option<Handle> {
        match self.lowered(value) {
            Some(Lowered::Handle(handle)) => Some(handle),
            _ => {
                if !self.cx.failed {
                    let span = self.span;
                    self.cx.unsupported(
                        span,
                        "it is not known at compile time which resource is used here; index an array of resources",
                    );
                }
                None
            }
        }
    }

    /// Whether a value may differ between lanes as its author says: it, or what it is computed from, is flagged.
    pub fn is_nonuniform(&self, value: Value) -> bool {
        let mut stack: SmallVec<[(Value, u32); 8]> = SmallVec::from_slice(&[(value, 0)]);
        while let Some((value, depth)) = stack.pop() {
            let Some((_, data)) = self.func.def_inst(value) else { continue };
            if data.flags.contains(InstFlags::NONUNIFORM) {
                return true;
            }
            let pure = matches!(
                data.op,
                IrOp::Unary(_) | IrOp::Binary(_) | IrOp::Convert | IrOp::Bitcast | IrOp::Copy | IrOp::Extract { .. }
            );
            if pure && depth < 8 {
                stack.extend(data.args.iter().map(|&a| (a, depth + 1)));
            }
        }
        false
    }

    /// `OpLine` for what follows, when asked for.
    pub fn line(&mut self, span: Span) {
        if !self.cx.opts.lines || span.is_none() {
            return;
        }
        if let Some(place) = self.cx.place(span)
            && self.line != Some(place)
        {
            self.body.inst(Op::Line, &place);
            self.line = Some(place);
        }
    }

    fn inst(&mut self, block: Block, inst: Inst) {
        let data = &self.func.insts[inst];
        self.flags = data.flags;
        self.span = data.span;
        if data.op == IrOp::Phi {
            let id = self.phi(block, inst);
            self.define(data, Lowered::Id(id));
            return;
        }
        self.line(data.span);
        let fresh = self.cx.m.id();
        let failed_before = self.cx.failed;
        match self.lower(data) {
            Some(lowered) => {
                if let Lowered::Id(id) = lowered
                    && id > fresh
                    && data.flags.contains(InstFlags::RELAXED)
                    && self.cx.ir.types.scalar_of(data.ty).is_some_and(|s| s != Scalar::Bool && s.bits() == 32)
                {
                    self.cx.m.decorate(id, Decoration::RelaxedPrecision, &[]);
                }
                self.define(data, lowered);
            }
            None if data.result.is_some() && !failed_before && !self.cx.failed => {
                self.cx.internal(data.span, format!("{:?} has operands the SPIR-V backend does not know", data.op));
            }
            None => {}
        }
        self.flags = InstFlags::empty();
    }

    fn define(&mut self, data: &InstData, lowered: Lowered) {
        if let Some(result) = data.result {
            self.values[result] = Some(lowered);
        }
    }
}
