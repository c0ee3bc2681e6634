//! Reading and writing places.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AddressSpace, BinaryOp, Op, TextureOp, TextureOperands, UnaryOp};
use smallvec::SmallVec;

use crate::cx::Cx;
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{Base, Memory, Place, R, ReadOnly, Split, Step, Texel, Value};

/// Arrays of more elements than this are not rebuilt element by element.
const MAX_REBUILT: u32 = 1024;

impl Cx<'_> {
    /// Reports an error when a place cannot be written.
    pub fn check_writable(&mut self, place: &Place, span: Span) -> R<()> {
        let why = match place.readonly {
            None => {
                let twice = place.steps.iter().any(|(step, _)| match step {
                    Step::Swizzle(c) => (1..c.len()).any(|i| c[..i].contains(&c[i])),
                    Step::Elements(c) => (1..c.len()).any(|i| c[..i].contains(&c[i])),
                    _ => false,
                });
                if !twice {
                    return Ok(());
                }
                "a component stands twice on the left side"
            }
            Some(ReadOnly::Const) => "the variable is declared `const`",
            Some(ReadOnly::Uniform) => "constant buffers and loose uniforms cannot be written",
            Some(ReadOnly::Resource) => "the resource is read-only",
            Some(ReadOnly::Temporary) => "the left side is no variable",
            Some(ReadOnly::Object) => "a resource of the module cannot be assigned",
        };
        Err(self.error(codes::NOT_ASSIGNABLE, span, why))
    }

    /// The address of a memory place.
    pub(crate) fn memory_address(&mut self, memory: &Memory) -> ir::Value {
        if memory.indices.is_empty() { memory.root } else { self.b.access(memory.root, &memory.indices) }
    }

    /// A pointer to a place, for atomics: memory or texels, down to one scalar. `None` when the place has none.
    pub fn address(&mut self, place: &Place) -> Option<ir::Value> {
        match &place.base {
            Base::Memory(memory) => {
                let mut memory = memory.clone();
                match &place.steps[..] {
                    [] => {}
                    [(Step::Swizzle(comps), ty)] if comps.len() == 1 => {
                        if self.tys.shape(*ty).is_some_and(|s| s != Shape::Scalar && s.count() > 1) {
                            memory.indices.push(self.b.u32(u32::from(comps[0])));
                        }
                    }
                    _ => return None,
                }
                Some(self.memory_address(&memory))
            }
            // The whole texel is exchanged.
            Base::Texel(texel) if texel.kind.components > 1 => None,
            Base::Texel(texel) => {
                let elem = self.b.module.types.scalar(texel.kind.texel);
                let mut args: SmallVec<[ir::Value; 3]> = SmallVec::from_slice(&[texel.texture, texel.coord]);
                args.extend(texel.sample);
                Some(self.b.address(Op::TexelPtr, AddressSpace::Texel, elem, &args))
            }
            Base::Split(_) => None,
        }
    }

    /// The value in a place.
    pub fn load(&mut self, place: &Place, span: Span) -> R<Value> {
        self.at(span);
        if let TyKind::Unsized(_) = self.tys.kind(place.ty) {
            return Err(self.unsupported(span, "an array without a size can only be indexed and passed on"));
        }
        if self.holds_ray_query(place.ty) {
            return Err(self.ray_query_is_no_value(span));
        }
        self.load_steps(place, place.steps.len(), span)
    }

    /// Loads what the first `n` steps lead to.
    fn load_steps(&mut self, place: &Place, n: usize, span: Span) -> R<Value> {
        let ty = place.steps.get(n).map_or(place.ty, |s| s.1);
        let Some((step, before)) = n.checked_sub(1).map(|i| &place.steps[i]) else {
            return self.load_base(place, ty, span);
        };
        if n == 1
            && let Base::Memory(memory) = &place.base
        {
            let memory = memory.clone();
            if let Some(value) = self.load_part(&memory, step, *before, ty) {
                return Ok(value);
            }
        }
        let whole = self.load_steps(place, n - 1, span)?;
        Ok(self.read_step(whole, step, ty))
    }

    /// Loads a part directly where that reads less than the whole.
    fn load_part(&mut self, memory: &Memory, step: &Step, before: Ty, ty: Ty) -> Option<Value> {
        let (space, _) = self.b.module.types.pointee(self.b.ty(memory.root))?;
        match step {
            Step::Row(row) => {
                let TyKind::Matrix(_, _, c, _) = self.tys.kind(before) else { return None };
                let parts: SmallVec<[ir::Value; 4]> = (0..u32::from(c))
                    .map(|col| {
                        let col = self.b.u32(col);
                        let mut indices = memory.indices.clone();
                        indices.extend([col, *row]);
                        let address = self.b.access(memory.root, &indices);
                        self.b.load(address)
                    })
                    .collect();
                let ir = self.ir(ty);
                Some(Value { v: self.construct(ir, &parts), ty })
            }
            Step::Swizzle(comps) if comps.len() == 1 => {
                let local = matches!(space, AddressSpace::Function | AddressSpace::Private);
                let vector = self.tys.shape(before).is_some_and(|s| s.count() > 1);
                (!local && vector).then(|| {
                    let mut memory = memory.clone();
                    memory.indices.push(self.b.u32(u32::from(comps[0])));
                    let address = self.memory_address(&memory);
                    Value { v: self.b.load(address), ty }
                })
            }
            Step::Elements(elements) if elements.len() == 1 => {
                let indices = self.element_indices(before, elements[0], memory.layout);
                let mut memory = memory.clone();
                memory.indices.extend(indices);
                let address = self.memory_address(&memory);
                Some(Value { v: self.b.load(address), ty })
            }
            _ => None,
        }
    }

    /// Indices in the IR that lead from a matrix to one element.
    fn element_indices(&mut self, matrix: Ty, (r, c): (u8, u8), layout: bool) -> SmallVec<[ir::Value; 2]> {
        let mut out = SmallVec::new();
        match self.tys.kind(matrix) {
            TyKind::Matrix(_, 1, 1, _) => {}
            TyKind::Matrix(_, rows, cols, _) if rows == 1 || cols == 1 => out.push(self.b.u32(u32::from(r + c))),
            TyKind::Matrix(elem, _, _, order) => {
                let columns = layout && !elem.is_float() && order == ir::MatrixOrder::ColumnMajor;
                let (first, second) = if columns { (c, r) } else { (r, c) };
                out.push(self.b.u32(u32::from(first)));
                out.push(self.b.u32(u32::from(second)));
            }
            _ => {}
        }
        out
    }

    fn load_base(&mut self, place: &Place, ty: Ty, span: Span) -> R<Value> {
        match &place.base {
            Base::Memory(memory) => {
                let address = self.memory_address(memory);
                let v = self.b.load(address);
                let value = if memory.layout { self.memory_to_value(v, ty, span)? } else { Value { v, ty } };
                if let Some(c) = place.known {
                    self.known.insert(value.v, c);
                }
                Ok(value)
            }
            Base::Texel(texel) => Ok(self.read_texel(*texel, ty)),
            Base::Split(split) => self.load_split(split, ty, span),
        }
    }

    /// A value from what is in memory with a layout.
    pub(crate) fn memory_to_value(&mut self, v: ir::Value, ty: Ty, span: Span) -> R<Value> {
        let (value_ty, memory_ty) = (self.ir(ty), self.ir_mem(ty));
        if value_ty == memory_ty {
            return Ok(Value { v, ty });
        }
        let parts = self.reform(v, ty, span, false)?;
        Ok(Value { v: self.construct(value_ty, &parts), ty })
    }

    /// What is to be in memory with a layout from a value.
    pub(crate) fn value_to_memory(&mut self, value: Value, span: Span) -> R<ir::Value> {
        let (value_ty, memory_ty) = (self.ir(value.ty), self.ir_mem(value.ty));
        if value_ty == memory_ty {
            return Ok(value.v);
        }
        let parts = self.reform(value.v, value.ty, span, true)?;
        Ok(self.construct(memory_ty, &parts))
    }

    /// The parts of a composite in the other form: of memory when `to`, else of values.
    fn reform(&mut self, v: ir::Value, ty: Ty, span: Span, to: bool) -> R<Vec<ir::Value>> {
        let mut parts = Vec::new();
        match self.tys.kind(ty) {
            // A vector and an array of its components.
            TyKind::Matrix(_, r, c, _) if r == 1 || c == 1 => {
                parts.extend((0..u32::from(r.max(c))).map(|i| self.extract(v, i)));
            }
            // The two forms of an integer matrix are each other's transposition.
            TyKind::Matrix(e, r, c, _) => {
                let (lines, len) = if to { (c, r) } else { (r, c) };
                let line = self.b.module.types.vector(e.ir(), len);
                for i in 0..u32::from(lines) {
                    let comps: SmallVec<[ir::Value; 4]> = (0..u32::from(len))
                        .map(|j| {
                            let other = self.extract(v, j);
                            self.extract(other, i)
                        })
                        .collect();
                    parts.push(self.construct(line, &comps));
                }
            }
            TyKind::Array(of, n) => {
                if n > MAX_REBUILT {
                    return Err(self.error(codes::TYPE_TOO_LARGE, span, "the array is too large to copy as a whole"));
                }
                for i in 0..n {
                    let part = self.extract(v, i);
                    parts.push(self.reform_one(part, of, span, to)?);
                }
            }
            TyKind::Struct(s) => {
                let def = self.tys.def(s).clone();
                if def.has_objects {
                    return Err(
                        self.unsupported(span, "a structure with resources cannot be copied from or to a buffer")
                    );
                }
                let slots = def.base.into_iter().chain(slot_types(&def.fields));
                for (i, part_ty) in slots.enumerate() {
                    let part = self.extract(v, i as u32);
                    parts.push(self.reform_one(part, part_ty, span, to)?);
                }
            }
            _ => parts.push(v),
        }
        Ok(parts)
    }

    fn reform_one(&mut self, part: ir::Value, ty: Ty, span: Span, to: bool) -> R<ir::Value> {
        match to {
            true => self.value_to_memory(Value { v: part, ty }, span),
            false => Ok(self.memory_to_value(part, ty, span)?.v),
        }
    }

    fn read_texel(&mut self, texel: Texel, ty: Ty) -> Value {
        let four = self.b.module.types.vector(texel.kind.texel, 4);
        let mut which = TextureOperands::COORD;
        let mut args: SmallVec<[ir::Value; 4]> = SmallVec::from_slice(&[texel.texture, texel.coord]);
        if let Some(level) = texel.level {
            which |= TextureOperands::LEVEL;
            args.push(level);
        }
        if let Some(sample) = texel.sample {
            which |= TextureOperands::SAMPLE_INDEX;
            args.push(sample);
        }
        let v = self.b.value(Op::Texture(TextureOp::Load, which), four, &args);
        self.texel_value(v, texel.kind.texel, ty)
    }

    /// A value of the element type of a texture from the four components an instruction gives.
    pub fn texel_value(&mut self, v: ir::Value, texel: ir::Scalar, ty: Ty) -> Value {
        let (elem, shape) = self.tys.as_numeric(ty).unwrap_or((Elem::Float, Shape::Vector(4)));
        let comps = [0u8, 1, 2, 3];
        let v = self.b.swizzle(v, &comps[..(shape.count() as usize).clamp(1, 4)]);
        if elem == Elem::Bool && texel != ir::Scalar::Bool {
            let to = self.ir(ty);
            return Value { v: self.b.convert(v, to), ty };
        }
        Value { v, ty }
    }

    fn write_texel(&mut self, texel: Texel, value: Value) {
        let four = self.b.module.types.vector(texel.kind.texel, 4);
        let elem = self.b.module.types.scalar(texel.kind.texel);
        let mut comps: SmallVec<[ir::Value; 16]> = self.components(value);
        for c in comps.iter_mut() {
            *c = self.b.convert(*c, elem);
        }
        while comps.len() < 4 {
            comps.push(self.b.zero(elem));
        }
        comps.truncate(4);
        let v = self.construct(four, &comps);
        let mut which = TextureOperands::COORD | TextureOperands::VALUE;
        let mut args: SmallVec<[ir::Value; 4]> = SmallVec::from_slice(&[texel.texture, texel.coord]);
        if let Some(sample) = texel.sample {
            which |= TextureOperands::SAMPLE_INDEX;
            args.push(sample);
        }
        args.push(v);
        self.b.effect(Op::Texture(TextureOp::Store, which), &args);
    }

    /// The part of a loaded value that a step leads to.
    pub(crate) fn read_step(&mut self, whole: Value, step: &Step, ty: Ty) -> Value {
        match step {
            Step::Swizzle(comps) => self.swizzle_value(whole, comps, ty),
            Step::Elements(elements) => {
                let cols = match self.tys.shape(whole.ty) {
                    Some(Shape::Matrix(_, c)) => usize::from(c),
                    _ => 1,
                };
                let all = self.components(whole);
                let parts: SmallVec<[ir::Value; 4]> = elements
                    .iter()
                    .filter_map(|(r, c)| all.get(usize::from(*r) * cols + usize::from(*c)).copied())
                    .collect();
                let ir = self.ir(ty);
                Value { v: self.construct(ir, &parts), ty }
            }
            // Only memory with a layout has such rows, and there they are loaded directly.
            Step::Row(_) => self.undef(ty),
            Step::Component(index) => {
                let ir = self.ir(ty);
                if self.tys.shape(whole.ty).is_none_or(|s| s.count() == 1) {
                    return Value { v: whole.v, ty };
                }
                Value { v: self.emit(Op::ExtractDynamic, ir, &[whole.v, *index]), ty }
            }
            Step::Bits(first, width) => self.read_bits(whole, *first, *width, ty),
        }
    }

    /// Components of a vector or scalar value.
    pub(crate) fn swizzle_value(&mut self, whole: Value, comps: &[u8], ty: Ty) -> Value {
        let from = self.b.ty(whole.v);
        let ir = self.ir(ty);
        let v = match (self.b.module.types.lanes(from), comps) {
            (1, [_]) => whole.v,
            (1, _) => self.emit(Op::Splat, ir, &[whole.v]),
            (n, _) if usize::from(n) == comps.len() && comps.iter().enumerate().all(|(i, c)| i == usize::from(*c)) => {
                whole.v
            }
            (_, [only]) => self.extract(whole.v, u32::from(*only)),
            _ => match ir::Swizzle::new(comps) {
                Some(swizzle) => self.emit(Op::Swizzle(swizzle), ir, &[whole.v]),
                None => whole.v,
            },
        };
        Value { v, ty }
    }

    /// A bit-field's value from the member it is in.
    pub(crate) fn get_bits(&mut self, whole: Value, first: u8, width: u8) -> Value {
        let ty = whole.ty;
        self.read_bits(whole, first, width, ty)
    }

    /// A member with a bit-field replaced.
    pub(crate) fn set_bits(&mut self, whole: Value, first: u8, width: u8, part: Value) -> Value {
        self.write_bits(whole, first, width, part)
    }

    fn read_bits(&mut self, whole: Value, first: u8, width: u8, ty: Ty) -> Value {
        let ir = self.b.ty(whole.v);
        let scalar = self.b.module.types.scalar_of(ir).unwrap_or(ir::Scalar::U32);
        let left = scalar.bits() as u8 - first - width;
        // Up to the top and down again: the shift right extends the sign where there is one.
        let elem = self.tys.elem(whole.ty).unwrap_or(Elem::Uint);
        let up = self.int(i64::from(left), elem);
        let down = self.int(i64::from(left + first), elem);
        let mut v = whole.v;
        if left > 0 {
            v = self.emit(Op::Binary(BinaryOp::Shl), ir, &[v, up.v]);
        }
        if left + first > 0 {
            v = self.emit(Op::Binary(BinaryOp::Shr), ir, &[v, down.v]);
        }
        Value { v, ty }
    }

    /// Stores a value, converted to the place's type.
    pub fn store(&mut self, place: &Place, value: Value, span: Span) -> R<()> {
        let value = self.convert(value, place.ty, span)?;
        self.store_exact(place, value, span)
    }

    /// Stores a value of the place's type.
    pub fn store_exact(&mut self, place: &Place, value: Value, span: Span) -> R<()> {
        self.at(span);
        self.store_steps(place, place.steps.len(), value, span)
    }

    fn store_steps(&mut self, place: &Place, n: usize, value: Value, span: Span) -> R<()> {
        let Some((step, before)) = n.checked_sub(1).map(|i| place.steps[i].clone()) else {
            return self.store_base(place, value, span);
        };
        if n == 1
            && let Base::Memory(memory) = &place.base
        {
            let memory = memory.clone();
            if self.store_parts(&memory, &step, before, value) {
                return Ok(());
            }
        }
        let whole = self.load_steps(place, n - 1, span)?;
        let new = self.write_step(whole, &step, value);
        self.store_steps(place, n - 1, new, span)
    }

    /// Stores parts directly where that writes no more than is meant. Whether it did.
    fn store_parts(&mut self, memory: &Memory, step: &Step, before: Ty, value: Value) -> bool {
        let Some((space, _)) = self.b.module.types.pointee(self.b.ty(memory.root)) else { return false };
        let mut targets: SmallVec<[SmallVec<[ir::Value; 2]>; 4]> = SmallVec::new();
        match step {
            Step::Swizzle(comps) => {
                // A read and write of the whole would race with other lanes' writes to other components.
                let own = matches!(space, AddressSpace::Function | AddressSpace::Private | AddressSpace::Output);
                let count = self.tys.shape(before).map_or(1, |s| s.count());
                if count == 1 || (own && comps.len() > 1) {
                    return false;
                }
                for &c in comps {
                    targets.push(SmallVec::from_slice(&[self.b.u32(u32::from(c))]));
                }
            }
            Step::Elements(elements) => {
                for &e in elements {
                    targets.push(self.element_indices(before, e, memory.layout));
                }
            }
            Step::Row(row) => {
                let TyKind::Matrix(_, _, c, _) = self.tys.kind(before) else { return false };
                for col in 0..u32::from(c) {
                    targets.push(SmallVec::from_slice(&[self.b.u32(col), *row]));
                }
            }
            _ => return false,
        }
        let comps = self.components(value);
        for (target, comp) in targets.iter().zip(comps) {
            let mut memory = memory.clone();
            memory.indices.extend(target.iter().copied());
            let address = self.memory_address(&memory);
            self.b.store(address, comp);
        }
        true
    }

    /// A whole with the part that a step leads to replaced.
    fn write_step(&mut self, whole: Value, step: &Step, part: Value) -> Value {
        match step {
            Step::Swizzle(comps) => {
                let mut all = self.components(whole);
                let new = self.components(part);
                for (c, v) in comps.iter().zip(new) {
                    if let Some(slot) = all.get_mut(usize::from(*c)) {
                        *slot = v;
                    }
                }
                self.from_components(whole.ty, &all)
            }
            Step::Elements(elements) => {
                let cols = match self.tys.shape(whole.ty) {
                    Some(Shape::Matrix(_, c)) => usize::from(c),
                    _ => 1,
                };
                let mut all = self.components(whole);
                let new = self.components(part);
                for ((r, c), v) in elements.iter().zip(new) {
                    if let Some(slot) = all.get_mut(usize::from(*r) * cols + usize::from(*c)) {
                        *slot = v;
                    }
                }
                self.from_components(whole.ty, &all)
            }
            Step::Row(_) => whole,
            Step::Component(index) => {
                let place = self.spill(whole, "component");
                if let Base::Memory(memory) = &place.base {
                    let address = self.b.access(memory.root, &[*index]);
                    self.b.store(address, part.v);
                    return Value { v: self.b.load(memory.root), ty: whole.ty };
                }
                whole
            }
            Step::Bits(first, width) => self.write_bits(whole, *first, *width, part),
        }
    }

    fn write_bits(&mut self, whole: Value, first: u8, width: u8, part: Value) -> Value {
        let ir = self.b.ty(whole.v);
        let elem = self.tys.elem(whole.ty).unwrap_or(Elem::Uint);
        let ones = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let mask = self.int(ones as i64, elem);
        let hole = self.int(!(ones << first) as i64, elem);
        let at = self.int(i64::from(first), elem);
        let mut new = self.emit(Op::Binary(BinaryOp::And), ir, &[part.v, mask.v]);
        if first > 0 {
            new = self.emit(Op::Binary(BinaryOp::Shl), ir, &[new, at.v]);
        }
        let old = self.emit(Op::Binary(BinaryOp::And), ir, &[whole.v, hole.v]);
        Value { v: self.emit(Op::Binary(BinaryOp::Or), ir, &[old, new]), ty: whole.ty }
    }

    fn store_base(&mut self, place: &Place, value: Value, span: Span) -> R<()> {
        match &place.base {
            Base::Memory(memory) => {
                let v = if memory.layout { self.value_to_memory(value, span)? } else { value.v };
                let address = self.memory_address(memory);
                self.b.store(address, v);
                Ok(())
            }
            Base::Texel(texel) => {
                self.write_texel(*texel, value);
                Ok(())
            }
            Base::Split(_) => Err(self.error(codes::NOT_ASSIGNABLE, span, "loose uniforms cannot be written")),
        }
    }

    /// A new local variable that holds a value.
    pub fn spill(&mut self, value: Value, name: &str) -> Place {
        let place = self.new_local(name, value.ty);
        if let Base::Memory(memory) = &place.base {
            self.b.store(memory.root, value.v);
        }
        place
    }

    /// A new local variable.
    pub fn new_local(&mut self, name: &str, ty: Ty) -> Place {
        let name = self.b.module.names.intern(name);
        let ir = self.ir(ty);
        let root = self.b.local(name, ir);
        Place::pointer(root, ty, false)
    }

    fn load_split(&mut self, split: &Split, ty: Ty, span: Span) -> R<Value> {
        match self.tys.kind(ty) {
            TyKind::Struct(s) => {
                let def = self.tys.def(s).clone();
                let mut parts = Vec::new();
                for (slot, part_ty) in def.base.into_iter().chain(slot_types(&def.fields)).enumerate() {
                    let place = self.split_member(split, s, slot as u32, part_ty);
                    parts.push(self.load(&place, span)?.v);
                }
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &parts), ty })
            }
            TyKind::Object(kind, _) if kind.is_sampled() => Ok(self.load_sampled(split, ty)),
            TyKind::Array(of, n) if n <= MAX_REBUILT => {
                let mut parts = Vec::new();
                for i in 0..n {
                    let index = self.b.u32(i);
                    let place = self.split_index(split, index, of);
                    parts.push(self.load(&place, span)?.v);
                }
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &parts), ty })
            }
            _ => Err(self.unsupported(span, "this uniform cannot be copied as a whole")),
        }
    }

    /// Member of a structure of uniforms that has resources inside.
    pub(crate) fn split_member(&mut self, split: &Split, s: crate::ty::StructRef, slot: u32, ty: Ty) -> Place {
        let data = split.data.clone().and_then(|mut memory| {
            let index = self.member_index(s, slot, true)?;
            memory.indices.push(self.b.u32(index));
            Some(memory)
        });
        let node = self.s.resource_child(split.node, slot);
        self.split_place(data, node, split.indices.clone(), ty)
    }

    /// Element of an array of uniforms that has resources inside.
    pub(crate) fn split_index(&mut self, split: &Split, index: ir::Value, of: Ty) -> Place {
        let data = split.data.clone().map(|mut memory| {
            memory.indices.push(index);
            memory
        });
        let mut indices = split.indices.clone();
        indices.push(index);
        self.split_place(data, Some(split.node), indices, of)
    }

    fn split_place(
        &mut self,
        data: Option<Memory>,
        node: Option<u32>,
        indices: SmallVec<[ir::Value; 2]>,
        ty: Ty,
    ) -> Place {
        let inner = self.tys.innermost(ty);
        let is_object = matches!(self.tys.kind(inner), TyKind::Object(..));
        let leaf = node.and_then(|n| self.s.resource_leaf(n));
        let base = match (leaf, node, data) {
            (Some(global), _, _) if is_object => {
                let root = self.b.global(global);
                Base::Memory(Memory { root, indices: indices.iter().copied().collect(), layout: false })
            }
            (_, Some(node), data) if self.tys.has_objects(ty) => Base::Split(Box::new(Split { data, node, indices })),
            (_, _, Some(memory)) => Base::Memory(memory),
            (_, node, None) => Base::Split(Box::new(Split { data: None, node: node.unwrap_or(0), indices })),
        };
        Place { base, steps: SmallVec::new(), ty, readonly: Some(ReadOnly::Uniform), known: None }
    }

    /// `!x` of a `bool`.
    pub(crate) fn not(&mut self, v: Value) -> Value {
        self.unary(UnaryOp::Not, v)
    }
}

/// The types of the members that the IR structure has for these fields: bit-fields share one.
pub(crate) fn slot_types(fields: &[crate::ty::Field]) -> impl Iterator<Item = Ty> + '_ {
    fields.iter().enumerate().filter(|(i, f)| *i == 0 || fields[i - 1].slot != f.slot).map(|(_, f)| f.ty)
}
