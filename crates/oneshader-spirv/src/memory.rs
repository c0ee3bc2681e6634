//! Memory: access chains, loads and stores, the difference between a value and its bytes, raw buffers, atomics.

use crate::func::Fx;
use crate::resource::{RawView, ResourceSlot};
use oneshader_ir::layout::{LayoutKind, LayoutRule};
use oneshader_ir::{AddressSpace, AtomicOp, InstData, MatrixOrder, ResourceType, Scalar, Type, TypeKind, Value};
use smallvec::SmallVec;
use spirv::{MemoryAccess, MemorySemantics, Op, Scope, StorageClass};

/// How a type lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mem {
    /// As a value: nobody else sees the bytes.
    Plain,
    /// As a stage input or output: `bool` is `uint`.
    Io,
    /// With stated bytes: `bool` is `uint`, offsets and strides by the rule; `order` is that of the matrices at hand.
    Laid { rule: LayoutRule, order: MatrixOrder },
}

impl Mem {
    /// The scalar that stands for `scalar` in memory.
    pub fn scalar(self, scalar: Scalar) -> Scalar {
        if scalar == Scalar::Bool && self != Self::Plain { Scalar::U32 } else { scalar }
    }

    /// Memory of a member whose matrices have `order`.
    pub fn member(self, order: MatrixOrder) -> Self {
        match self {
            Self::Laid { rule, .. } => Self::Laid { rule, order },
            mem => mem,
        }
    }
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    pub id: u32,
    /// What it points to.
    pub ty: Type,
    pub mem: Mem,
    pub class: StorageClass,
    /// The way to it has a nonuniform index.
    pub nonuniform: bool,
    /// The address of a 32-bit `uint` that stands for another type of that size.
    pub as_uint: bool,
    /// The address of a whole block, whose type is one of its own.
    pub block: bool,
    /// Of the device's memory: the address is a multiple of it. 0 for variables, which need no such promise.
    pub align: u32,
}

impl Pointer {
    /// The address of a variable that holds `ty` as a value does.
    pub fn variable(id: u32, ty: Type, class: StorageClass) -> Self {
        Self { id, ty, mem: Mem::Plain, class, nonuniform: false, as_uint: false, block: false, align: 0 }
    }
}

/// What is known of an address that is `offset` bytes from one that is a multiple of `align`.
fn align_at(align: u32, offset: u32) -> u32 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}

/// Most parts of one composite that are converted one by one.
const MAX_PARTS: u64 = 1 << 16;

impl Fx<'_, '_> {
    /// Whether a value of `ty` and its memory have the same type.
    fn same_bytes(&mut self, ty: Type, mem: Mem) -> bool {
        self.cx.mem_ty(ty, mem) == self.cx.ty(ty)
    }

    /// Memory operands of a load or store.
    fn memory_operands(&mut self, class: StorageClass, align: u32, write: bool) -> SmallVec<[u32; 4]> {
        let mut mask = MemoryAccess::NONE;
        mask.set(MemoryAccess::ALIGNED, align > 0);
        let device = matches!(class, StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer);
        let coherent = device && self.cx.coherent;
        if self.cx.vulkan_memory && (device || class == StorageClass::Workgroup) {
            mask |= MemoryAccess::NON_PRIVATE_POINTER;
        }
        mask.set(MemoryAccess::MAKE_POINTER_AVAILABLE, coherent && write);
        mask.set(MemoryAccess::MAKE_POINTER_VISIBLE, coherent && !write);
        let mut words = SmallVec::new();
        if !mask.is_empty() {
            words.push(mask.bits());
        }
        if align > 0 {
            words.push(align);
        }
        if coherent {
            words.push(self.cx.u32(Scope::QueueFamily as u32));
        }
        words
    }

    /// The value in memory at `pointer`.
    pub fn load(&mut self, pointer: Pointer) -> u32 {
        let mem_ty = match pointer.block {
            true => self.cx.struct_ty(pointer.ty, pointer.mem, true),
            false => self.cx.mem_ty(pointer.ty, pointer.mem),
        };
        let mut words: SmallVec<[u32; 3]> = SmallVec::from_slice(&[pointer.id]);
        words.extend(self.memory_operands(pointer.class, pointer.align, false));
        let raw = self.op(Op::Load, mem_ty, &words);
        if pointer.nonuniform {
            self.nonuniform(raw);
        }
        self.unpack(raw, pointer.ty, pointer.mem)
    }

    /// Writes `value` to `pointer`.
    pub fn store(&mut self, pointer: Pointer, value: u32) {
        let raw = self.pack(value, pointer.ty, pointer.mem);
        let mut words: SmallVec<[u32; 4]> = SmallVec::from_slice(&[pointer.id, raw]);
        words.extend(self.memory_operands(pointer.class, pointer.align, true));
        self.effect(Op::Store, &words);
    }

    /// A value from what lies in memory.
    pub fn unpack(&mut self, raw: u32, ty: Type, mem: Mem) -> u32 {
        self.repack(raw, ty, mem, false)
    }

    /// What lies in memory for a value.
    pub fn pack(&mut self, value: u32, ty: Type, mem: Mem) -> u32 {
        self.repack(value, ty, mem, true)
    }

    fn repack(&mut self, id: u32, ty: Type, mem: Mem, to_memory: bool) -> u32 {
        if self.same_bytes(ty, mem) {
            return id;
        }
        let types = &self.cx.ir.types;
        let result = if to_memory { self.cx.mem_ty(ty, mem) } else { self.cx.ty(ty) };
        match types.kind(ty) {
            TypeKind::Scalar(_) | TypeKind::Vector { .. } => {
                let lanes = types.lanes(ty);
                let zero = self.cx.number(Scalar::U32, lanes, 0);
                if to_memory {
                    let one = self.cx.number(Scalar::U32, lanes, 1);
                    self.op(Op::Select, result, &[id, one, zero])
                } else {
                    self.op(Op::INotEqual, result, &[id, zero])
                }
            }
            // OpCopyLogical: types that match but for their decorations, since SPIR-V 1.4.
            _ if self.cx.opts.target.at_least(4) && !self.cx.has_bool(ty) => self.op(Op::CopyLogical, result, &[id]),
            TypeKind::Array { elem, len } => {
                if !self.spend(u64::from(len)) {
                    return self.cx.undef(result);
                }
                let parts: Vec<u32> = (0..len).map(|i| self.repack_part(id, i, elem, mem, to_memory)).collect();
                self.op(Op::CompositeConstruct, result, &parts)
            }
            TypeKind::Struct(sid) => {
                let ir = self.cx.ir;
                let members = &ir.types.structs[sid].members;
                if !self.spend(members.len() as u64) {
                    return self.cx.undef(result);
                }
                let parts: Vec<u32> = members
                    .iter()
                    .enumerate()
                    .map(|(i, m)| self.repack_part(id, i as u32, m.ty, mem.member(m.order), to_memory))
                    .collect();
                self.op(Op::CompositeConstruct, result, &parts)
            }
            _ => id,
        }
    }

    fn repack_part(&mut self, id: u32, index: u32, ty: Type, mem: Mem, to_memory: bool) -> u32 {
        let part_ty = if to_memory { self.cx.ty(ty) } else { self.cx.mem_ty(ty, mem) };
        let part = self.op(Op::CompositeExtract, part_ty, &[id, index]);
        self.repack(part, ty, mem, to_memory)
    }

    /// Counts parts converted one by one; reports when there are too many.
    pub fn spend(&mut self, parts: u64) -> bool {
        self.parts += parts;
        if self.parts > MAX_PARTS && !self.cx.failed {
            let span = self.span;
            self.cx.unsupported(
                span,
                "the function copies arrays of too many elements between layouts; copy elements in a loop",
            );
        }
        self.parts <= MAX_PARTS
    }

    /// `Access`: the address of a part, which is of type `part`.
    pub fn access(&mut self, base: Pointer, indices: &[Value], part: Type) -> Option<Pointer> {
        let ir = self.cx.ir;
        let (mut ty, mut mem) = (base.ty, base.mem);
        let mut align = base.align;
        let mut ids: SmallVec<[u32; 8]> = SmallVec::from_slice(&[base.id]);
        for &index in indices {
            match ir.types.kind(ty) {
                TypeKind::Struct(sid) => {
                    let known = self.func.as_const(index).and_then(|c| ir.consts.bits(c));
                    let members = &ir.types.structs[sid].members;
                    let at = known.and_then(|k| usize::try_from(k).ok()).filter(|&k| k < members.len())?;
                    ids.push(self.cx.u32(at as u32));
                    if let (true, Mem::Laid { rule, order }) = (align > 0, mem)
                        && let Some(LayoutKind::Struct(members)) = self.cx.layout(ty, rule, order).map(|l| &l.kind)
                    {
                        align = align_at(align, members.get(at).map_or(1, |m| m.offset));
                    }
                    ty = members[at].ty;
                    mem = mem.member(members[at].order);
                }
                TypeKind::Array { elem, .. } => {
                    ids.push(self.use_id(index));
                    if let (true, Mem::Laid { rule, order }) = (align > 0, mem)
                        && let Some(&LayoutKind::Array { stride, .. }) =
                            self.cx.layout(ty, rule, order).map(|l| &l.kind)
                    {
                        align = align_at(align, stride);
                    }
                    ty = elem;
                }
                // Rows and components: nothing more to know of what follows, but that scalars are aligned.
                _ => {
                    let bytes = ir.types.scalar_of(ty).map_or(1, |s| (s.bits() / 8).max(1));
                    align = align.min(bytes);
                    ids.push(self.use_id(index));
                }
            }
        }
        if ids.len() == 1 {
            return Some(base);
        }
        let pointee = self.cx.mem_ty(part, mem);
        let result = self.cx.pointer(base.class, pointee);
        let id = self.op(Op::AccessChain, result, &ids);
        if base.nonuniform {
            self.nonuniform(id);
        }
        Some(Pointer { id, ty: part, mem, block: false, align, ..base })
    }

    /// `ElementPtr`.
    pub fn element_ptr(&mut self, data: &InstData) -> Option<Pointer> {
        let (slot, handle) = self.buffer(data.args[0])?;
        let ResourceType::StructuredBuffer { elem, order, .. } = slot.ty else { return None };
        let zero = self.cx.u32(0);
        let index = self.use_id(data.args[1]);
        let mem = Mem::Laid { rule: self.cx.rules.storage, order };
        let pointee = self.cx.mem_ty(elem, mem);
        let ty = self.cx.pointer(StorageClass::StorageBuffer, pointee);
        let id = self.op(Op::AccessChain, ty, &[handle.ptr, zero, index]);
        let nonuniform = handle.nonuniform;
        if nonuniform {
            self.nonuniform(id);
        }
        Some(Pointer {
            id,
            ty: elem,
            mem,
            class: StorageClass::StorageBuffer,
            nonuniform,
            as_uint: false,
            block: false,
            align: 0,
        })
    }

    /// `AddressPtr`.
    pub fn address_ptr(&mut self, data: &InstData, align: u32, order: MatrixOrder) -> Option<Pointer> {
        let (_, ty) = self.cx.ir.types.pointee(data.ty)?;
        let mem = Mem::Laid { rule: self.cx.rules.storage, order };
        let pointee = self.cx.mem_ty(ty, mem);
        let class = StorageClass::PhysicalStorageBuffer;
        let pointer = self.cx.pointer(class, pointee);
        let address = self.use_id(data.args[0]);
        let id = self.op(Op::ConvertUToPtr, pointer, &[address]);
        Some(Pointer { id, ty, mem, class, nonuniform: false, as_uint: false, block: false, align })
    }

    /// `BlockPtr`.
    pub fn block_ptr(&mut self, data: &InstData) -> Option<Pointer> {
        let (slot, handle) = self.buffer(data.args[0])?;
        let (block, rule) = match slot.ty {
            ResourceType::ConstantBuffer { block } => (block, self.cx.constant_rule(slot.class)),
            ResourceType::TextureBuffer { block } => (block, self.cx.rules.texture),
            _ => return None,
        };
        let mem = Mem::Laid { rule, order: MatrixOrder::ColumnMajor };
        Some(Pointer {
            id: handle.ptr,
            ty: block,
            mem,
            class: slot.class,
            nonuniform: handle.nonuniform,
            as_uint: false,
            block: true,
            align: 0,
        })
    }

    /// The address of the unit at `index` (in units of the view) of a byte-address buffer.
    fn raw_unit(&mut self, buffer: Value, view: RawView, index: u32) -> Option<(u32, bool)> {
        let handle = self.handle(buffer)?;
        let handle = self.raw_view(handle, view)?;
        let unit = self.cx.scalar(view.scalar());
        let ty = self.cx.pointer(StorageClass::StorageBuffer, unit);
        let zero = self.cx.u32(0);
        let id = self.op(Op::AccessChain, ty, &[handle.ptr, zero, index]);
        if handle.nonuniform {
            self.nonuniform(id);
        }
        Some((id, handle.nonuniform))
    }

    /// `RawPtr`.
    pub fn raw_ptr(&mut self, data: &InstData) -> Option<Pointer> {
        let (_, ty) = self.cx.ir.types.pointee(data.ty)?;
        let scalar = self.cx.ir.types.scalar_of(ty)?;
        let view = if scalar.bits() == 64 { RawView::U64 } else { RawView::U32 };
        let offset = self.use_id(data.args[1]);
        let index = self.shift_right(offset, view.shift());
        let (id, nonuniform) = self.raw_unit(data.args[0], view, index)?;
        let class = StorageClass::StorageBuffer;
        let as_uint = scalar != view.scalar();
        let mem = Mem::Laid { rule: self.cx.rules.storage, order: MatrixOrder::ColumnMajor };
        Some(Pointer { id, ty, mem, class, nonuniform, as_uint, block: false, align: 0 })
    }

    fn shift_right(&mut self, offset: u32, shift: u32) -> u32 {
        let uint = self.cx.scalar(Scalar::U32);
        let shift = self.cx.u32(shift);
        self.op(Op::ShiftRightLogical, uint, &[offset, shift])
    }

    /// `offset + add`, in units.
    fn add_units(&mut self, index: u32, add: u32) -> u32 {
        if add == 0 {
            return index;
        }
        let uint = self.cx.scalar(Scalar::U32);
        let add = self.cx.u32(add);
        self.op(Op::IAdd, uint, &[index, add])
    }

    /// `RawLoad`: components follow each other. 64-bit components are made of two words, so that a module without
    /// 64-bit atomics needs no second view of the buffer.
    pub fn raw_load(&mut self, data: &InstData) -> Option<u32> {
        let scalar = self.cx.ir.types.scalar_of(data.ty)?;
        let lanes = self.cx.ir.types.lanes(data.ty).max(1);
        let offset = self.use_id(data.args[1]);
        let view = RawView::of(scalar);
        let first = self.shift_right(offset, view.shift());
        let uint = self.cx.scalar(view.scalar());
        let units = if scalar.bits() == 64 { 2 } else { 1 };
        let mut parts = Vec::new();
        for lane in 0..u32::from(lanes) {
            let mut words = SmallVec::<[u32; 2]>::new();
            for unit in 0..units {
                let index = self.add_units(first, lane * units + unit);
                let (ptr, nonuniform) = self.raw_unit(data.args[0], view, index)?;
                let mut operands = self.memory_operands(StorageClass::StorageBuffer, 0, false);
                operands.insert(0, ptr);
                let word = self.op(Op::Load, uint, &operands);
                if nonuniform {
                    self.nonuniform(word);
                }
                words.push(word);
            }
            let whole = match words.as_slice() {
                [word] => *word,
                _ => {
                    let pair = self.cx.num(Scalar::U32, 2);
                    self.op(Op::CompositeConstruct, pair, &words)
                }
            };
            parts.push(self.scalar_in_unit(whole, view, scalar));
        }
        Some(self.vector_of(&parts, scalar))
    }

    /// A scalar from the unit (or pair of units) that holds its bits.
    fn scalar_in_unit(&mut self, unit: u32, view: RawView, scalar: Scalar) -> u32 {
        let ty = self.cx.scalar(scalar);
        match scalar {
            Scalar::Bool => {
                let zero = self.cx.u32(0);
                self.op(Op::INotEqual, ty, &[unit, zero])
            }
            _ if scalar == view.scalar() => unit,
            _ => self.op(Op::Bitcast, ty, &[unit]),
        }
    }

    /// `RawStore`.
    pub fn raw_store(&mut self, data: &InstData) -> Option<()> {
        let value_ty = self.func.ty(data.args[2]);
        let scalar = self.cx.ir.types.scalar_of(value_ty)?;
        let lanes = self.cx.ir.types.lanes(value_ty).max(1);
        let offset = self.use_id(data.args[1]);
        let value = self.use_id(data.args[2]);
        let view = RawView::of(scalar);
        let first = self.shift_right(offset, view.shift());
        let uint = self.cx.scalar(view.scalar());
        for lane in 0..lanes {
            let part = self.lane(value, scalar, lanes, lane);
            let units: SmallVec<[u32; 2]> = match scalar {
                Scalar::Bool => {
                    let (one, zero) = (self.cx.u32(1), self.cx.u32(0));
                    SmallVec::from_slice(&[self.op(Op::Select, uint, &[part, one, zero])])
                }
                _ if scalar == view.scalar() => SmallVec::from_slice(&[part]),
                _ if scalar.bits() == 64 => {
                    let pair_ty = self.cx.num(Scalar::U32, 2);
                    let pair = self.op(Op::Bitcast, pair_ty, &[part]);
                    (0..2).map(|i| self.op(Op::CompositeExtract, uint, &[pair, i])).collect()
                }
                _ => SmallVec::from_slice(&[self.op(Op::Bitcast, uint, &[part])]),
            };
            let count = units.len() as u32;
            for (i, unit) in units.into_iter().enumerate() {
                let index = self.add_units(first, u32::from(lane) * count + i as u32);
                let (ptr, _) = self.raw_unit(data.args[0], view, index)?;
                let mut operands = self.memory_operands(StorageClass::StorageBuffer, 0, true);
                operands.insert_from_slice(0, &[ptr, unit]);
                self.effect(Op::Store, &operands);
            }
        }
        Some(())
    }

    /// `BufferLength`.
    pub fn buffer_length(&mut self, data: &InstData) -> Option<u32> {
        let (slot, handle) = self.buffer(data.args[0])?;
        let uint = self.cx.scalar(Scalar::U32);
        let count = self.op(Op::ArrayLength, uint, &[handle.ptr, 0]);
        if handle.nonuniform {
            self.nonuniform(count);
        }
        if matches!(slot.ty, ResourceType::ByteAddressBuffer { .. }) {
            let four = self.cx.u32(4);
            return Some(self.op(Op::IMul, uint, &[count, four]));
        }
        Some(count)
    }

    /// `Counter`: append and increment give the value before, consume and decrement the value after.
    pub fn counter(&mut self, data: &InstData, delta: i8) -> Option<u32> {
        let (_, handle) = self.buffer(data.args[0])?;
        let counter = self.counter_of(handle)?;
        let int = self.cx.scalar(Scalar::I32);
        let uint = self.cx.scalar(Scalar::U32);
        let ty = self.cx.pointer(StorageClass::StorageBuffer, int);
        let zero = self.cx.u32(0);
        let ptr = self.op(Op::AccessChain, ty, &[counter.ptr, zero]);
        if counter.nonuniform {
            self.nonuniform(ptr);
        }
        let (scope, semantics) = (self.cx.u32(Scope::Device as u32), self.cx.u32(0));
        let one = self.cx.i32(1);
        let op = if delta > 0 { Op::AtomicIAdd } else { Op::AtomicISub };
        let before = self.op(op, int, &[ptr, scope, semantics, one]);
        let before = self.op(Op::Bitcast, uint, &[before]);
        if delta > 0 {
            return Some(before);
        }
        let one = self.cx.u32(1);
        Some(self.op(Op::ISub, uint, &[before, one]))
    }

    /// Scope and semantics of an atomic operation in a storage class. HLSL's atomics order nothing but themselves.
    fn atomic_scope(&mut self, class: StorageClass) -> (u32, u32) {
        let scope = if class == StorageClass::Workgroup { Scope::Workgroup } else { Scope::Device };
        (self.cx.u32(scope as u32), self.cx.u32(MemorySemantics::RELAXED.bits()))
    }

    /// `Atomic`.
    pub fn atomic(&mut self, data: &InstData, op: AtomicOp) -> Option<u32> {
        let pointer = self.pointer(data.args[0])?;
        let scalar = self.cx.ir.types.scalar_of(pointer.ty)?;
        let signed = scalar.is_signed();
        let float = scalar.is_float();
        let opcode = match op {
            AtomicOp::Exchange => Op::AtomicExchange,
            _ if float => {
                self.cx.unsupported(data.span, "atomic arithmetic on floats has no spelling in SPIR-V for Vulkan 1.3");
                return None;
            }
            AtomicOp::Add => Op::AtomicIAdd,
            AtomicOp::Min if signed => Op::AtomicSMin,
            AtomicOp::Min => Op::AtomicUMin,
            AtomicOp::Max if signed => Op::AtomicSMax,
            AtomicOp::Max => Op::AtomicUMax,
            AtomicOp::And => Op::AtomicAnd,
            AtomicOp::Or => Op::AtomicOr,
            AtomicOp::Xor => Op::AtomicXor,
        };
        let value = self.use_id(data.args[1]);
        let (scope, semantics) = self.atomic_scope(pointer.class);
        // SMin and SMax read the bits as signed whatever the declared type is.
        if pointer.as_uint {
            return self.atomic_as_uint(opcode, pointer, scalar, &[scope, semantics], &[value]);
        }
        let ty = self.cx.scalar(scalar);
        Some(self.op(opcode, ty, &[pointer.id, scope, semantics, value]))
    }

    /// An atomic operation on the unsigned unit that stands for another type.
    fn atomic_as_uint(
        &mut self,
        op: Op,
        pointer: Pointer,
        scalar: Scalar,
        order: &[u32],
        values: &[u32],
    ) -> Option<u32> {
        let unit = Scalar::Int { bits: scalar.bits() as u8, signed: false };
        let unit_ty = self.cx.scalar(unit);
        let mut operands = vec![pointer.id];
        operands.extend_from_slice(order);
        for &value in values {
            operands.push(self.op(Op::Bitcast, unit_ty, &[value]));
        }
        let before = self.op(op, unit_ty, &operands);
        let ty = self.cx.scalar(scalar);
        Some(self.op(Op::Bitcast, ty, &[before]))
    }

    /// `AtomicCompareExchange`.
    pub fn atomic_compare_exchange(&mut self, data: &InstData) -> Option<u32> {
        let pointer = self.pointer(data.args[0])?;
        let scalar = self.cx.ir.types.scalar_of(pointer.ty)?;
        let expected = self.use_id(data.args[1]);
        let value = self.use_id(data.args[2]);
        let (scope, semantics) = self.atomic_scope(pointer.class);
        if pointer.as_uint {
            let order = [scope, semantics, semantics];
            return self.atomic_as_uint(Op::AtomicCompareExchange, pointer, scalar, &order, &[value, expected]);
        }
        if scalar.is_float() {
            self.cx.unsupported(
                data.span,
                "compare-exchange on a float variable has no spelling in SPIR-V; use a byte-address buffer or `uint`",
            );
            return None;
        }
        let ty = self.cx.scalar(scalar);
        let operands = [pointer.id, scope, semantics, semantics, value, expected];
        Some(self.op(Op::AtomicCompareExchange, ty, &operands))
    }

    /// The resource behind a handle that must be a buffer.
    pub fn buffer(&mut self, value: Value) -> Option<(ResourceSlot, crate::func::Handle)> {
        let handle = self.handle(value)?;
        let slot = self.cx.resource(handle.which)?;
        Some((slot, handle))
    }
}

/// The storage class of a variable in an address space that needs no resource.
pub(crate) fn storage_class(space: AddressSpace) -> Option<StorageClass> {
    Some(match space {
        AddressSpace::Function => StorageClass::Function,
        AddressSpace::Private => StorageClass::Private,
        AddressSpace::Workgroup => StorageClass::Workgroup,
        AddressSpace::Input => StorageClass::Input,
        AddressSpace::Output => StorageClass::Output,
        _ => return None,
    })
}
