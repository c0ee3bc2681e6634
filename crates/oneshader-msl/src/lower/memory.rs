//! Pointers, loads and stores. A pointer is never a value in Metal's text: it is the expression of the place it names, made
//! anew at each load and store.

use super::body::Body;
use super::cx::{is_writable, space_of};
use super::effects;
use super::entry::array_sizes;
use crate::ast::{Expr, ExprKind, Prefix, Stmt};
use crate::raise::io::Form;
use crate::raise::lift::Item;
use crate::raise::memory::{Mem, MemKind};
use crate::raise::usage;
use oneshader_diag::{Span, codes};
use oneshader_ir::{
    Access, AddressSpace, CounterKind, GlobalKind, Inst, InstData, MatrixOrder, Op, ResourceType, Scalar, Type,
    TypeKind, Value, ValueDef,
};

/// What a place holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holds {
    /// A value as it is.
    Value,
    /// A type of a buffer.
    Mem(Mem),
    /// One component of a packed vector or of a line of a matrix; a `bool` is a `uint`.
    Component,
    /// Row or column of a matrix in memory that is not a line: component `index` of each line.
    AcrossLines,
}

/// A place in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub expr: Expr,
    pub holds: Holds,
    /// Type of the value it holds.
    pub ty: Type,
    /// `const device`, `device`, `coherent device`, `constant`; `thread` and `threadgroup` for values.
    pub space: &'static str,
    /// What a load reads and a store writes.
    pub effect: u64,
    /// For [`Holds::AcrossLines`]: the matrix's memory type and the index.
    pub across: Option<(Mem, Expr)>,
}

impl Body<'_, '_> {
    /// The resource that a handle is, and whether it is a block of push constants.
    pub(super) fn resource(&self, handle: Value) -> Option<(ResourceType, bool)> {
        let TypeKind::Resource(resource) = self.cx.types.kind(self.function.ty(handle)) else { return None };
        let push = usage::root(self.function, handle).is_some_and(|(param, _)| self.is_push_constant(param));
        Some((resource, push))
    }

    /// The address space behind a buffer's handle.
    fn space(&self, handle: Value) -> &'static str {
        let class = usage::root(self.function, handle).and_then(|(p, _)| self.cx.raised.classes.class(self.func, p));
        self.resource(handle).map_or("device", |(resource, _)| space_of(resource, class))
    }

    pub(super) fn is_push_constant(&self, param: usize) -> bool {
        let Some(Item::Global(global)) = self.cx.raised.lifted.item(self.func, param) else { return false };
        match &self.cx.raised.module.globals[global].kind {
            GlobalKind::Resource(resource) => resource.push_constant,
            _ => false,
        }
    }

    /// The expression of a handle.
    pub(super) fn handle(&mut self, handle: Value) -> Expr {
        self.handle_as(handle, None)
    }

    /// The expression of a handle where a texture of `class` is wanted, which decides for an entry of a table.
    pub(super) fn handle_as(&mut self, handle: Value, class: Option<usage::Class>) -> Expr {
        let function = self.function;
        match usage::root(function, handle) {
            Some((param, indices)) if param < self.params.len() && self.reaches_element(param, indices) => {
                if self.is_table(param) && !indices.is_empty() {
                    return self.table_entry(param, indices, class);
                }
                let expr = self.params[param];
                self.element_of(expr, param, indices)
            }
            _ => {
                let span = function.def_inst(handle).map_or(function.span, |(_, data)| data.span);
                self.error(
                    codes::MSL_UNSUPPORTED_RESOURCE,
                    span,
                    "a resource is chosen at run time in a way Metal cannot pass",
                );
                self.text("0")
            }
        }
    }

    /// Whether indices into a parameter lead to one resource, or to all of the array.
    fn reaches_element(&self, param: usize, indices: &[Value]) -> bool {
        indices.is_empty() || indices.len() == self.dimensions(param).len()
    }

    /// The sizes of the array that a parameter is, the outermost first; that of a table is none's.
    fn dimensions(&self, param: usize) -> Vec<u32> {
        let sizes = array_sizes(&self.cx.types, self.function.params[param].ty);
        if self.is_table(param) { [0].into_iter().chain(sizes).collect() } else { sizes }
    }

    /// Element `indices` of an array of resources, which is flat in Metal.
    pub(super) fn element_of(&mut self, array: Expr, param: usize, indices: &[Value]) -> Expr {
        let sizes = self.dimensions(param);
        let mut at: Option<Expr> = None;
        for (&index, &size) in indices.iter().zip(&sizes) {
            let index = self.index_value(index);
            at = Some(match at {
                None => index,
                Some(outer) => {
                    let size = self.number(i64::from(size));
                    let row = self.infix(crate::ast::Infix::Mul, outer, size);
                    self.infix(crate::ast::Infix::Add, row, index)
                }
            });
        }
        match at {
            Some(at) => self.index(array, at),
            None => array,
        }
    }

    /// An index: without suffix when it is a constant.
    pub(super) fn index_value(&mut self, value: Value) -> Expr {
        let bits = self.function.as_const(value).and_then(|c| self.cx.raised.module.consts.bits(c));
        match bits {
            Some(bits) => self.number(bits as u32 as i32 as i64),
            None => {
                let expr = self.value(value);
                match self.function.def_inst(value) {
                    // `uint(i)` of an `i` that is never negative.
                    Some((_, data))
                        if matches!(data.op, Op::Bitcast | Op::Convert) && self.ranges().is_natural(data.args[0]) =>
                    {
                        self.before_recast(expr)
                    }
                    _ => expr,
                }
            }
        }
    }

    /// The place a pointer names.
    pub(super) fn place(&mut self, pointer: Value) -> Place {
        let function = self.function;
        let ty = function.ty(pointer);
        let (space, pointee) = self.cx.types.pointee(ty).unwrap_or((AddressSpace::Function, ty));
        let (text, shared) = match space {
            AddressSpace::Workgroup => ("threadgroup", effects::WORKGROUP),
            AddressSpace::Private => ("thread", effects::PRIVATE),
            AddressSpace::Output => ("thread", effects::OUTPUT),
            _ => ("thread", 0),
        };
        let value = |expr, effect| Place { expr, holds: Holds::Value, ty: pointee, space: text, effect, across: None };
        match function.values[pointer].def {
            ValueDef::Local(local) => {
                let var = self.local(local);
                let expr = self.var_expr(var);
                value(expr, effects::local(local))
            }
            ValueDef::Param(index) => {
                let index = index as usize;
                let expr = self.params.get(index).copied().unwrap_or_else(|| self.pointer_fallback());
                let effect = if space == AddressSpace::Function { effects::param(index) } else { shared };
                value(expr, effect)
            }
            ValueDef::Global(global) => {
                let expr = self.global(global);
                value(expr, shared)
            }
            ValueDef::Inst(inst) => self.computed_place(&function.insts[inst], pointee),
            ValueDef::Const(_) => {
                let expr = self.pointer_fallback();
                value(expr, 0)
            }
        }
    }

    fn pointer_fallback(&mut self) -> Expr {
        self.text("0")
    }

    /// A module-scope variable that the entry point holds, or a constant of the file.
    fn global(&mut self, global: oneshader_ir::Global) -> Expr {
        if let Some(&expr) = self.globals.get(&global) {
            return expr;
        }
        if let Some(name) = self.cx.constant_names[global] {
            if !self.cx.constants.contains(&global) {
                self.cx.constants.push(global);
                let ty = self.cx.raised.module.globals[global].ty;
                self.cx.value_type(ty);
            }
            return self.add(ExprKind::Text(name), 8);
        }
        if let Some(Form::Place(text)) = self.io.as_ref().and_then(|io| io.forms[global].clone()) {
            let expr = self.dotted(&text);
            self.globals.insert(global, expr);
            return expr;
        }
        self.text("0")
    }

    /// `in.uv` as a member expression.
    pub(super) fn dotted(&mut self, text: &str) -> Expr {
        let mut parts = text.split('.');
        let mut expr = self.text(parts.next().unwrap_or(text));
        for part in parts {
            let name = self.name(part);
            expr = self.member(expr, name);
        }
        expr
    }

    fn computed_place(&mut self, data: &InstData, pointee: Type) -> Place {
        match data.op {
            Op::BlockPtr => {
                let expr = self.handle(data.args[0]);
                self.buffer_place(data.args[0], expr, pointee)
            }
            Op::ElementPtr => {
                let buffer = self.handle(data.args[0]);
                let index = self.index_value(data.args[1]);
                let expr = self.index(buffer, index);
                self.buffer_place(data.args[0], expr, pointee)
            }
            Op::RawPtr => {
                let expr = self.raw_address(data.args[0], data.args[1], "uint");
                let space = self.space(data.args[0]);
                let effect = effects::STORAGE;
                Place { expr, holds: Holds::Value, ty: pointee, space, effect, across: None }
            }
            Op::AddressPtr { order, .. } => self.address_place(data.args[0], pointee, order),
            Op::Access => {
                let mut place = self.place(data.args[0]);
                for &index in &data.args[1..] {
                    place = self.part(place, index, data.span);
                }
                place.ty = pointee;
                place
            }
            _ => {
                let expr = self.pointer_fallback();
                Place { expr, holds: Holds::Value, ty: pointee, space: "thread", effect: 0, across: None }
            }
        }
    }

    /// The block or element of a buffer.
    fn buffer_place(&mut self, handle: Value, expr: Expr, ty: Type) -> Place {
        let value = Place { expr, holds: Holds::Value, ty, space: "device", effect: effects::STORAGE, across: None };
        let Some((resource, push)) = self.resource(handle) else { return value };
        let Some((mem, wrapped, _)) = self.cx.memory_of(resource, push) else { return value };
        let expr = if wrapped {
            let name = self.name("value");
            self.member(expr, name)
        } else if self.is_array_element(handle) && !matches!(resource, ResourceType::StructuredBuffer { .. }) {
            // An element of an array of constant buffers is a pointer.
            self.prefix(Prefix::Deref, expr)
        } else {
            expr
        };
        let space = self.space(handle);
        let effect = if is_writable(resource) { effects::STORAGE } else { 0 };
        Place { expr, holds: Holds::Mem(mem), ty, space, effect, across: None }
    }

    /// `*(device T*)address`, where `T` is as the element of a structured buffer.
    fn address_place(&mut self, address: Value, ty: Type, order: MatrixOrder) -> Place {
        let (access, counter) = (Access::ReadWrite, CounterKind::None);
        let like = ResourceType::StructuredBuffer { elem: ty, access, counter, order };
        let number = self.value(address);
        let Some((mem, wrapped, spelled)) = self.cx.memory_of(like, false) else {
            let (space, effect) = ("device", effects::STORAGE);
            return Place { expr: number, holds: Holds::Value, ty, space, effect, across: None };
        };
        let pointer = self.cast(&format!("device {spelled}*"), number);
        let mut expr = self.prefix(Prefix::Deref, pointer);
        if wrapped {
            let name = self.name("value");
            expr = self.member(expr, name);
        }
        Place { expr, holds: Holds::Mem(mem), ty, space: "device", effect: effects::STORAGE, across: None }
    }

    fn is_array_element(&self, handle: Value) -> bool {
        usage::root(self.function, handle).is_some_and(|(_, indices)| !indices.is_empty())
    }

    /// `*(device T*)(buffer + offset)`.
    pub(super) fn raw_address(&mut self, buffer: Value, offset: Value, ty: &str) -> Expr {
        let base = self.handle(buffer);
        let offset = self.index_value(offset);
        let sum = match self.arena[offset].kind {
            ExprKind::Text(name) if self.cx.names.get(name) == "0" => base,
            _ => self.infix(crate::ast::Infix::Add, base, offset),
        };
        let space = self.space(buffer);
        let pointer = self.cast(&format!("{space} {ty}*"), sum);
        self.prefix(Prefix::Deref, pointer)
    }

    /// Part `index` of what a place holds.
    fn part(&mut self, place: Place, index: Value, span: Span) -> Place {
        let known = self.function.as_const(index).and_then(|c| self.cx.raised.module.consts.bits(c)).map(|b| b as u32);
        let part_ty = self.cx.types.part(place.ty, known.unwrap_or(0)).unwrap_or(place.ty);
        let next = |expr, holds| Place { expr, holds, ty: part_ty, ..place };
        match place.holds {
            Holds::Value => {
                let expr = match (self.cx.types.kind(place.ty), known) {
                    (TypeKind::Struct(id), Some(known)) => {
                        let name = self.cx.member_name(id, known as usize);
                        self.member(place.expr, name)
                    }
                    (TypeKind::Vector { .. }, Some(known)) => self.swizzle(place.expr, &[known as u8]),
                    (kind, _) => {
                        let mut index = self.index_value(index);
                        // No array is so long that the sign matters.
                        if matches!(kind, TypeKind::Array { .. }) {
                            index = self.before_recast(index);
                        }
                        self.index(place.expr, index)
                    }
                };
                next(expr, Holds::Value)
            }
            Holds::Mem(mem) => self.mem_part(place, mem, index, known, span, part_ty),
            Holds::AcrossLines => {
                let Some((matrix, row)) = place.across else { return next(place.expr, Holds::Value) };
                let column = self.index_value(index);
                let line = self.line(place.expr, matrix, column);
                let expr = self.index(line, row);
                next(expr, Holds::Component)
            }
            Holds::Component => next(place.expr, Holds::Component),
        }
    }

    fn mem_part(
        &mut self,
        place: Place,
        mem: Mem,
        index: Value,
        known: Option<u32>,
        span: Span,
        part_ty: Type,
    ) -> Place {
        let next = |expr, holds| Place { expr, holds, ty: part_ty, ..place };
        let part = match &self.cx.memory.mems[mem].kind {
            MemKind::Struct(members) => members.get(known.unwrap_or(0) as usize).cloned(),
            _ => None,
        };
        if let Some(member) = part {
            let expr = self.memory_member(place.expr, &member, place.space);
            return next(expr, Holds::Mem(member.mem));
        }
        match self.cx.memory.mems[mem].kind.clone() {
            MemKind::Array { elem, wrapped, .. } => {
                let index = self.index_value(index);
                let mut expr = self.index(place.expr, index);
                if wrapped {
                    let name = self.name("value");
                    expr = self.member(expr, name);
                }
                next(expr, Holds::Mem(elem))
            }
            MemKind::Matrix { order, line, .. } => {
                let index = self.index_value(index);
                match order {
                    MatrixOrder::RowMajor => {
                        let expr = self.line(place.expr, mem, index);
                        next(expr, Holds::Mem(line))
                    }
                    MatrixOrder::ColumnMajor => {
                        Place { holds: Holds::AcrossLines, across: Some((mem, index)), ty: part_ty, ..place }
                    }
                }
            }
            MemKind::Vector | MemKind::Components => {
                let index = self.index_value(index);
                let expr = self.index(place.expr, index);
                next(expr, Holds::Component)
            }
            MemKind::Opaque => {
                self.opaque(span);
                place
            }
            MemKind::Scalar | MemKind::Bool | MemKind::Struct(_) => place,
        }
    }

    pub(super) fn opaque(&mut self, span: Span) {
        self.error(
            codes::MSL_UNSUPPORTED_TYPE,
            span,
            "Metal has no double and no packed vectors of 64-bit integers for the memory of a buffer",
        );
    }

    /// Line `index` of a matrix in memory.
    pub(super) fn line(&mut self, matrix: Expr, mem: Mem, index: Expr) -> Expr {
        let wrapped = matches!(self.cx.memory.mems[mem].kind, MemKind::Matrix { wrapped: true, .. });
        let expr = self.index(matrix, index);
        if wrapped {
            let name = self.name("value");
            self.member(expr, name)
        } else {
            expr
        }
    }

    /// The value a place holds.
    pub(super) fn load(&mut self, place: Place, span: Span) -> Expr {
        let expr = match place.holds {
            Holds::Value => place.expr,
            Holds::Component if self.cx.types.scalar_of(place.ty) == Some(Scalar::Bool) => self.is_nonzero(place.expr),
            Holds::Component => place.expr,
            Holds::AcrossLines => {
                let Some((matrix, row)) = place.across else { return place.expr };
                let lines = u32::from(self.cx.types.lanes(place.ty));
                let parts: Vec<Expr> = (0..lines)
                    .map(|i| {
                        let i = self.number(i64::from(i));
                        let line = self.line(place.expr, matrix, i);
                        self.index(line, row)
                    })
                    .collect();
                self.construct(place.ty, &parts)
            }
            Holds::Mem(mem) => self.load_mem(place.expr, mem, place.space, span),
        };
        if place.effect == 0 { expr } else { self.reading(expr, place.effect) }
    }

    fn is_nonzero(&mut self, expr: Expr) -> Expr {
        let zero = self.uint(0);
        self.infix(crate::ast::Infix::Ne, expr, zero)
    }

    /// The value of a memory type at `expr`.
    pub(super) fn load_mem(&mut self, expr: Expr, mem: Mem, space: &'static str, span: Span) -> Expr {
        let ty = self.cx.memory.mems[mem].ty;
        match self.cx.memory.mems[mem].kind.clone() {
            MemKind::Scalar => expr,
            MemKind::Bool => self.is_nonzero(expr),
            MemKind::Vector => self.load_vector(expr, ty),
            MemKind::Components => self.gather_components(expr, ty),
            MemKind::Matrix { .. } | MemKind::Array { .. } | MemKind::Struct(_) => self.unpack(expr, mem, space),
            MemKind::Opaque => {
                self.opaque(span);
                expr
            }
        }
    }

    pub(super) fn load_vector(&mut self, expr: Expr, ty: Type) -> Expr {
        if self.cx.types.scalar_of(ty) == Some(Scalar::Bool) {
            let uints = self.cx.types.with_scalar(ty, Scalar::U32);
            let expr = self.construct(uints, &[expr]);
            return self.construct(ty, &[expr]);
        }
        self.convert(ty, expr)
    }

    /// The vector whose components stand at `expr`, an array or a pointer.
    fn gather_components(&mut self, expr: Expr, ty: Type) -> Expr {
        let parts: Vec<Expr> = (0..self.cx.types.lanes(ty)).map(|i| self.component_at(expr, i)).collect();
        self.construct(ty, &parts)
    }

    fn scatter_components(&mut self, expr: Expr, ty: Type, value: Expr) {
        let value = self.temporary("value", ty, value);
        for i in 0..self.cx.types.lanes(ty) {
            let to = self.component_at(expr, i);
            let part = self.swizzle(value, &[i]);
            self.assign(to, part);
        }
    }

    fn component_at(&mut self, expr: Expr, index: u8) -> Expr {
        let index = self.number(i64::from(index));
        self.index(expr, index)
    }

    /// Writes `value` to a place.
    pub(super) fn store(&mut self, place: Place, value: Expr, span: Span) {
        self.flush(place.effect, false);
        match place.holds {
            Holds::Value => self.assign_vector(place, value),
            Holds::Component => {
                let is_bool = self.cx.types.scalar_of(place.ty) == Some(Scalar::Bool);
                let value = if is_bool { self.call("uint", &[value]) } else { value };
                self.assign(place.expr, value);
            }
            Holds::AcrossLines => {
                let Some((matrix, row)) = place.across else { return };
                let value = self.temporary("row", place.ty, value);
                for i in 0..self.cx.types.lanes(place.ty) {
                    let at = self.number(i64::from(i));
                    let line = self.line(place.expr, matrix, at);
                    let to = self.index(line, row);
                    let part = self.swizzle(value, &[i]);
                    self.assign(to, part);
                }
            }
            Holds::Mem(mem) => self.store_mem(place.expr, mem, value, place.space, span),
        }
    }

    /// Writes `value` to a memory type at `expr`.
    pub(super) fn store_mem(&mut self, expr: Expr, mem: Mem, value: Expr, space: &'static str, span: Span) {
        let ty = self.cx.memory.mems[mem].ty;
        match self.cx.memory.mems[mem].kind.clone() {
            MemKind::Scalar => self.assign(expr, value),
            MemKind::Bool => {
                let value = self.call("uint", &[value]);
                self.assign(expr, value);
            }
            MemKind::Vector => {
                let value = match self.cx.types.scalar_of(ty) {
                    Some(Scalar::Bool) => {
                        let uints = self.cx.types.with_scalar(ty, Scalar::U32);
                        self.construct(uints, &[value])
                    }
                    _ => value,
                };
                self.assign(expr, value);
            }
            MemKind::Components => self.scatter_components(expr, ty, value),
            MemKind::Matrix { .. } | MemKind::Array { .. } | MemKind::Struct(_) => {
                let call = self.pack(expr, mem, value, space);
                self.out.push(Stmt::Do(call));
            }
            MemKind::Opaque => self.opaque(span),
        }
    }

    /// `v.xy = ...` where the other components keep their values.
    fn assign_vector(&mut self, place: Place, value: Expr) {
        let TypeKind::Vector { elem, .. } = self.cx.types.kind(place.ty) else { return self.assign(place.expr, value) };
        let Some(parts) = self.components.get(&value).cloned() else { return self.assign(place.expr, value) };
        let mut changed: Vec<(u8, Expr)> = Vec::new();
        for (i, &part) in parts.iter().enumerate() {
            let own = self.swizzle(place.expr, &[i as u8]);
            if !self.arena.same(own, part) {
                changed.push((i as u8, part));
            }
        }
        if changed.len() == parts.len() || changed.is_empty() {
            return self.assign(place.expr, value);
        }
        let (comps, parts): (Vec<u8>, Vec<Expr>) = changed.into_iter().unzip();
        let ty = self.cx.types.vector(elem, comps.len() as u8);
        let value = match parts[..] {
            [only] => only,
            _ => self.vector(ty, &parts, &[1, 1, 1, 1][..parts.len()]),
        };
        let place = self.swizzle(place.expr, &comps);
        self.out.push(Stmt::Assign(place, value));
    }

    fn assign(&mut self, place: Expr, value: Expr) {
        match self.arena[place].kind {
            ExprKind::Var(var) => self.out.push(Stmt::Set(var, value)),
            _ => self.out.push(Stmt::Assign(place, value)),
        }
    }

    pub(super) fn load_inst(&mut self, inst: Inst, data: &InstData) {
        let place = self.place(data.args[0]);
        let expr = self.load(place, data.span);
        let named = data.result.is_some_and(|r| self.function.value_names[r].is_some());
        let own = place.effect & effects::STORAGE == 0 && place.effect & effects::WORKGROUP == 0;
        let uses = data.result.map_or(0, |r| self.use_count(r));
        let again = match (place.effect, place.holds) {
            // What never changes and is short may be read again.
            (0, Holds::Mem(_) | Holds::Component) => !named && uses <= 4 && self.arena[expr].weight <= 28,
            _ => own && !named && matches!(place.holds, Holds::Value) && self.stays_until_used(inst, place.effect),
        };
        match data.result {
            Some(result) if again && uses > 1 => self.bind(result, expr),
            _ => self.define(inst, expr),
        }
    }

    pub(super) fn store_inst(&mut self, data: &InstData) {
        let value = self.value(data.args[1]);
        let place = self.place(data.args[0]);
        self.mark_line(data.span);
        self.store(place, value, data.span);
    }

    /// A load from a byte-address buffer.
    pub(super) fn raw_load(&mut self, inst: Inst, data: &InstData) {
        let (scalar, len, ty) = self.raw_type(data.ty, data.span);
        let expr = self.raw_address(data.args[0], data.args[1], &ty);
        let value = match (scalar, len) {
            (Scalar::Int { bits: 64, .. }, 2..) => {
                let pointer = self.pointer_of(expr);
                self.gather_components(pointer, data.ty)
            }
            (Scalar::Bool, 1) => self.is_nonzero(expr),
            (_, 1) => expr,
            _ => self.load_vector(expr, data.ty),
        };
        let writable = self.resource(data.args[0]).is_some_and(|(r, _)| is_writable(r));
        let value = if writable { self.reading(value, effects::STORAGE) } else { value };
        self.define(inst, value);
    }

    pub(super) fn raw_store(&mut self, data: &InstData) {
        let value = self.value(data.args[2]);
        let value_ty = self.function.ty(data.args[2]);
        let (scalar, len, ty) = self.raw_type(value_ty, data.span);
        let place = self.raw_address(data.args[0], data.args[1], &ty);
        if let (Scalar::Int { bits: 64, .. }, 2..) = (scalar, len) {
            let pointer = self.pointer_of(place);
            self.mark_line(data.span);
            self.flush(effects::STORAGE, false);
            return self.scatter_components(pointer, value_ty, value);
        }
        let value = match (scalar, len) {
            (Scalar::Bool, 1) => self.call("uint", &[value]),
            (Scalar::Bool, _) => {
                let uints = self.cx.types.with_scalar(value_ty, Scalar::U32);
                self.construct(uints, &[value])
            }
            _ => value,
        };
        self.mark_line(data.span);
        self.flush(effects::STORAGE, false);
        self.out.push(Stmt::Assign(place, value));
    }

    /// The pointer that a place is reached through.
    fn pointer_of(&self, place: Expr) -> Expr {
        match self.arena[place].kind {
            ExprKind::Prefix(Prefix::Deref, pointer) => pointer,
            _ => place,
        }
    }

    /// The packed type of a raw access; of a vector of 64-bit integers that of a component.
    fn raw_type(&mut self, ty: Type, span: Span) -> (Scalar, u8, String) {
        let scalar = self.cx.types.scalar_of(ty).unwrap_or(Scalar::U32);
        let len = self.cx.types.lanes(ty).max(1);
        let wide = scalar.bits() == 64 && len > 1;
        if wide && !self.cx.options.emulate_int64 || scalar.bits() == 64 && scalar.is_float() {
            self.opaque(span);
        }
        let memory = if scalar == Scalar::Bool { Scalar::U32 } else { scalar };
        let name = crate::raise::memory::scalar_name(memory);
        (scalar, len, if len == 1 || wide { name.to_owned() } else { format!("packed_{name}{len}") })
    }

    /// The values that a pointer or handle is made of must outlive it when it has several users.
    pub(super) fn settle_operands(&mut self, data: &InstData) {
        let Some(result) = data.result else { return };
        if !self.is_local_to_region(result) {
            data.args.iter().for_each(|&a| self.settle(a));
        }
    }
}
