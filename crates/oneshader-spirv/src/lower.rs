//! Instructions: what each becomes; resources, loads and stores, calls.

use crate::func::{Fx, HandleArg, Instance, Lowered};
use crate::memory::{Mem, Pointer};
use crate::resource::Which;
use oneshader_ir::{Func, InstData, InstFlags, Name, Op as IrOp, Scalar, TypeKind, Value, ValueDef};
use smallvec::SmallVec;
use spirv::{Op, SelectionControl, StorageClass};

/// `NonSemantic.DebugPrintf`'s one instruction.
const DEBUG_PRINTF: u32 = 1;

impl Fx<'_, '_> {
    /// Lowers an instruction other than a phi. `None` when it has no result, or after an error.
    pub fn lower(&mut self, data: &InstData) -> Option<Lowered> {
        let id = match data.op {
            IrOp::Access => return self.lower_access(data),
            IrOp::Load => return self.lower_load(data),
            IrOp::Store => return self.lower_store(data),
            IrOp::BlockPtr => return self.block_ptr(data).map(Lowered::Pointer),
            IrOp::ElementPtr => return self.element_ptr(data).map(Lowered::Pointer),
            IrOp::RawPtr => return self.raw_ptr(data).map(Lowered::Pointer),
            IrOp::AddressPtr { align, order } => return self.address_ptr(data, align, order).map(Lowered::Pointer),
            IrOp::TexelPtr => return self.texel_ptr(data).map(Lowered::Pointer),
            IrOp::RawStore => {
                self.raw_store(data);
                return None;
            }
            IrOp::RawLoad => self.raw_load(data),
            IrOp::BufferLength => self.buffer_length(data),
            IrOp::Counter { delta } => self.counter(data, delta),
            IrOp::Atomic(op) => self.atomic(data, op),
            IrOp::AtomicCompareExchange => self.atomic_compare_exchange(data),
            IrOp::Texture(op, operands) => self.texture(data, op, operands),
            IrOp::Spirv(inline) => self.inline(data, inline),
            IrOp::Intrinsic(intrinsic) => self.intrinsic(data, intrinsic),
            IrOp::Call(func) => return self.call(data, func),
            IrOp::Copy => return self.lowered(data.args[0]).or_else(|| Some(Lowered::Id(self.use_id(data.args[0])))),
            IrOp::Discard => {
                self.discard();
                None
            }
            IrOp::Printf(format) => {
                self.printf(data, format);
                None
            }
            IrOp::Phi => None,
            _ => self.arithmetic(data),
        };
        id.map(Lowered::Id)
    }

    fn printf(&mut self, data: &InstData, format: Name) {
        let (set, format) = (self.cx.instruction_set("NonSemantic.DebugPrintf"), self.cx.string(format));
        let mut operands = vec![set, DEBUG_PRINTF, format];
        operands.extend(data.args.iter().map(|&arg| self.use_id(arg)));
        let void = self.cx.unique_type(Op::TypeVoid, &[]);
        self.op(Op::ExtInst, void, &operands);
    }

    fn lower_access(&mut self, data: &InstData) -> Option<Lowered> {
        if let Lowered::Place { which, index, nonuniform } = self.lowered(data.args[0])? {
            return self.access_place(which, index, nonuniform, &data.args[1..]);
        }
        let (_, part) = self.cx.ir.types.pointee(data.ty)?;
        let base = self.pointer(data.args[0])?;
        self.access(base, &data.args[1..], part).map(Lowered::Pointer)
    }

    /// An element of an array of resources. Arrays of arrays are one array in Vulkan.
    fn access_place(
        &mut self,
        which: Which,
        index: Option<u32>,
        mut nonuniform: bool,
        indices: &[Value],
    ) -> Option<Lowered> {
        let ir = self.cx.ir;
        let mut ty = ir.globals[which.global].ty;
        if self.cx.opts.flatten_arrays {
            return self.flat_element(which, indices);
        }
        let uint = self.cx.scalar(Scalar::U32);
        let mut flat = index;
        for &at in indices {
            nonuniform |= self.is_nonuniform(at) || self.flags.contains(InstFlags::NONUNIFORM);
            let elem = match ir.types.kind(ty) {
                TypeKind::Array { elem, .. } | TypeKind::RuntimeArray { elem } => elem,
                _ => return None,
            };
            let id = self.use_id(at);
            let step = match ir.types.kind(elem) {
                TypeKind::Array { len, .. } => Some(len),
                _ => None,
            };
            let mut whole = match flat {
                Some(before) => self.op(Op::IAdd, uint, &[before, id]),
                None => id,
            };
            if let Some(len) = step {
                let len = self.cx.u32(len);
                whole = self.op(Op::IMul, uint, &[whole, len]);
            }
            flat = Some(whole);
            ty = elem;
        }
        Some(Lowered::Place { which, index: flat, nonuniform })
    }

    /// An element of an array of resources whose elements have variables of their own.
    fn flat_element(&mut self, which: Which, indices: &[Value]) -> Option<Lowered> {
        let ir = self.cx.ir;
        let mut ty = ir.globals[which.global].ty;
        let mut element = which.element;
        for &at in indices {
            let TypeKind::Array { elem, len } = ir.types.kind(ty) else { return None };
            let known = self.func.as_const(at).and_then(|c| ir.consts.bits(c)).and_then(|k| u32::try_from(k).ok());
            let Some(known) = known.filter(|&k| k < len) else {
                let span = self.span;
                self.cx.unsupported(span, "an array of resources that is flattened needs constant indices");
                return None;
            };
            let inner = match ir.types.kind(elem) {
                TypeKind::Array { len, .. } => len,
                _ => 1,
            };
            element = element.saturating_add(known).saturating_mul(inner);
            ty = elem;
        }
        Some(Lowered::Place { which: Which { element, ..which }, index: None, nonuniform: false })
    }

    fn lower_load(&mut self, data: &InstData) -> Option<Lowered> {
        match self.lowered(data.args[0])? {
            Lowered::Place { which, index, nonuniform } => {
                let nonuniform = nonuniform || self.flags.contains(InstFlags::NONUNIFORM);
                self.handle_of(which, index, nonuniform).map(Lowered::Handle)
            }
            Lowered::Io(global) => self.load_io(global).map(Lowered::Id),
            Lowered::Pointer(pointer) => Some(Lowered::Id(self.load(pointer))),
            _ => None,
        }
    }

    fn lower_store(&mut self, data: &InstData) -> Option<Lowered> {
        let value = self.use_id(data.args[1]);
        match self.lowered(data.args[0])? {
            Lowered::Io(global) => self.store_io(global, value),
            Lowered::Pointer(pointer) => self.store(pointer, value),
            _ => {
                let span = self.span;
                self.cx.unsupported(span, "a resource cannot be assigned to a variable in SPIR-V");
            }
        }
        None
    }

    /// A call. Addresses inside of variables are passed by copying in and out: SPIR-V passes whole variables only.
    fn call(&mut self, data: &InstData, callee: Func) -> Option<Lowered> {
        let ir = self.cx.ir;
        let params = &ir.functions[callee].params;
        let mut handles = SmallVec::new();
        let mut args = Vec::new();
        let mut back = Vec::new();
        for (param, &arg) in params.iter().zip(&data.args) {
            match ir.types.kind(param.ty) {
                TypeKind::Resource(_) => {
                    let handle = self.handle(arg)?;
                    handles.push(HandleArg {
                        which: handle.which,
                        indexed: handle.index.is_some(),
                        nonuniform: handle.nonuniform,
                    });
                    args.extend(handle.index);
                }
                TypeKind::Pointer { .. } => {
                    let pointer = self.pointer(arg)?;
                    let whole = !matches!(self.func.values[arg].def, ValueDef::Inst(_)) && pointer.mem == Mem::Plain;
                    if whole {
                        args.push(pointer.id);
                        continue;
                    }
                    if ir.types.holds_ray_query(pointer.ty) {
                        let message = "a ray query inside of a variable is passed to a function that cannot be inlined";
                        self.cx.unsupported(data.span, message);
                        return None;
                    }
                    let pointee = self.cx.ty(pointer.ty);
                    let Some(id) = self.temporary(pointer.class, pointee) else {
                        self.cx.unsupported(data.span, "part of a groupshared variable is passed as `out` or `inout`");
                        return None;
                    };
                    let copy = Pointer { id, mem: Mem::Plain, nonuniform: false, ..pointer };
                    let value = self.load(pointer);
                    self.store(copy, value);
                    back.push((copy, pointer));
                    args.push(id);
                }
                _ => args.push(self.use_id(arg)),
            }
        }
        let id = self.cx.instance(Instance { func: callee, handles });
        let ty = self.cx.ty(data.ty);
        args.insert(0, id);
        let result = self.op(Op::FunctionCall, ty, &args);
        for (copy, pointer) in back {
            let value = self.load(copy);
            self.store(pointer, value);
        }
        data.result.map(|_| Lowered::Id(result))
    }

    /// A variable to copy into, in the storage class that a parameter has.
    fn temporary(&mut self, class: StorageClass, pointee: u32) -> Option<u32> {
        match class {
            StorageClass::Function => Some(self.variable(pointee)),
            StorageClass::Private => Some(self.cx.private_variable(pointee)),
            _ => None,
        }
    }

    /// Ends the lane's effects. Before SPIR-V 1.6 and without the extension the lane ends: the rest of the block is made
    /// a block of its own, which the lane does not reach.
    fn discard(&mut self) {
        if self.cx.opts.demote || self.cx.opts.target.at_least(6) {
            self.effect(Op::DemoteToHelperInvocation, &[]);
            return;
        }
        let (kill, rest) = (self.cx.m.id(), self.cx.m.id());
        let always = self.cx.scalar_const(Scalar::Bool, 1);
        self.effect(Op::SelectionMerge, &[rest, SelectionControl::NONE.bits()]);
        self.effect(Op::BranchConditional, &[always, kill, rest]);
        self.begin_block(kill);
        self.effect(Op::Kill, &[]);
        self.begin_block(rest);
    }
}
