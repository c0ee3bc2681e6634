//! `Load<T>` and `Store<T>` of byte-address buffers: a value of any numeric type, piece by piece, laid out as D3D lays
//! out structured buffers: every member at a multiple of its largest scalar's size.

use oneshader_diag::Span;
use oneshader_ir as ir;
use oneshader_ir::layout::{LayoutId, LayoutKind, LayoutRule};
use oneshader_ir::{BinaryOp, MatrixOrder, Op};
use smallvec::SmallVec;

use crate::cx::Cx;
use crate::place::slot_types;
use crate::ty::{Elem, Ty, TyKind};
use crate::value::{R, Value};

/// A buffer and a byte offset in it: a value plus a constant.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) buffer: ir::Value,
    pub(super) base: ir::Value,
    pub(super) offset: u32,
}

impl Cursor {
    fn at(self, offset: u32) -> Self {
        Cursor { offset: self.offset + offset, ..self }
    }
}

impl Cx<'_> {
    /// The layout of a type in a byte-address buffer, that of D3D's structured buffers.
    fn raw_layout(&mut self, ty: Ty, span: Span) -> R<LayoutId> {
        let memory = self.ir_mem(ty);
        let order = self.order_of(ty);
        match self.layouts.compute(&self.b.module.types, memory, LayoutRule::DxStructured, order) {
            Ok(id) => Ok(id),
            Err(_) => {
                let message = format!("{} has no place in a buffer", self.show(ty));
                Err(self.unsupported(span, message))
            }
        }
    }

    /// Bytes from one element of an array to the next.
    fn raw_stride(&mut self, array: Ty, span: Span) -> R<u32> {
        let id = self.raw_layout(array, span)?;
        match self.layouts.get(id).kind {
            LayoutKind::Array { stride, .. } => Ok(stride),
            _ => Ok(0),
        }
    }

    /// The order of a matrix in a byte-address buffer.
    fn raw_order(&self, order: MatrixOrder) -> MatrixOrder {
        if self.opts.raw_row_major { MatrixOrder::RowMajor } else { order }
    }

    /// The parts of a structure in order, the base class first: offset and type of each.
    fn raw_parts(&mut self, ty: Ty, span: Span) -> R<SmallVec<[(u32, Ty); 8]>> {
        let id = self.raw_layout(ty, span)?;
        let Some(s) = self.tys.as_struct(ty) else { return Ok(SmallVec::new()) };
        let def = self.tys.def(s);
        let parts = def.base.into_iter().chain(slot_types(&def.fields));
        Ok(self.layouts.members(id).iter().map(|m| m.offset).zip(parts).collect())
    }

    /// The byte offset as a value.
    fn raw_offset(&mut self, at: Cursor) -> ir::Value {
        if at.offset == 0 {
            return at.base;
        }
        let uint = self.ir(Ty::UINT);
        let offset = self.int(i64::from(at.offset), Elem::Uint).v;
        self.emit(Op::Binary(BinaryOp::Add), uint, &[at.base, offset])
    }

    /// Loads a value.
    pub(super) fn raw_load(&mut self, at: Cursor, ty: Ty, span: Span) -> R<Value> {
        match self.tys.kind(ty) {
            TyKind::Array(of, len) => {
                let stride = self.raw_stride(ty, span)?;
                let parts = (0..len).map(|i| self.raw_load(at.at(i * stride), of, span).map(|v| v.v));
                let parts: SmallVec<[ir::Value; 16]> = parts.collect::<R<_>>()?;
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &parts), ty })
            }
            TyKind::Struct(_) => {
                let parts = self.raw_parts(ty, span)?;
                let parts: SmallVec<[ir::Value; 16]> = parts
                    .into_iter()
                    .map(|(offset, part)| self.raw_load(at.at(offset), part, span).map(|v| v.v))
                    .collect::<R<_>>()?;
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &parts), ty })
            }
            TyKind::Matrix(elem, rows, cols, order) if rows > 1 && cols > 1 => {
                let order = self.raw_order(order);
                let (lines, len) = if order == MatrixOrder::RowMajor { (rows, cols) } else { (cols, rows) };
                let line_ty = self.tys.vector(elem, len);
                let stride = elem.bytes() * u32::from(len);
                let mut comps: SmallVec<[ir::Value; 16]> = SmallVec::new();
                for line in 0..u32::from(lines) {
                    let line = self.raw_load(at.at(line * stride), line_ty, span)?;
                    comps.extend(self.components(line));
                }
                if order == MatrixOrder::ColumnMajor {
                    let (r, c) = (usize::from(rows), usize::from(cols));
                    comps = (0..r).flat_map(|i| (0..c).map(move |j| j * r + i)).map(|k| comps[k]).collect();
                }
                Ok(self.from_components(ty, &comps))
            }
            TyKind::BufferPointer(..) => {
                let number = self.tys.scalar(Elem::Uint64);
                Ok(Value { ty, ..self.raw_load(at, number, span)? })
            }
            _ => {
                let Some((elem, _)) = self.tys.as_numeric(ty) else {
                    let shown = self.show(ty);
                    return Err(self.unsupported(span, format!("{shown} cannot be loaded from a byte-address buffer")));
                };
                let offset = self.raw_offset(at);
                self.at(span);
                // Truth values are `uint`s in memory that others see.
                let stored = if elem == Elem::Bool { Elem::Uint } else { elem };
                let memory = self.tys.with_elem(ty, stored);
                let ir = self.ir(memory);
                let value = Value { v: self.b.value(Op::RawLoad, ir, &[at.buffer, offset]), ty: memory };
                if elem == Elem::Bool { self.cast(value, ty, span) } else { Ok(Value { v: value.v, ty }) }
            }
        }
    }

    /// Stores a value.
    pub(super) fn raw_store(&mut self, at: Cursor, value: Value, span: Span) -> R<()> {
        match self.tys.kind(value.ty) {
            TyKind::Array(of, len) => {
                let stride = self.raw_stride(value.ty, span)?;
                (0..len).try_for_each(|i| {
                    let part = Value { v: self.extract(value.v, i), ty: of };
                    self.raw_store(at.at(i * stride), part, span)
                })
            }
            TyKind::Struct(_) => {
                let parts = self.raw_parts(value.ty, span)?;
                parts.into_iter().enumerate().try_for_each(|(i, (offset, ty))| {
                    let part = Value { v: self.extract(value.v, i as u32), ty };
                    self.raw_store(at.at(offset), part, span)
                })
            }
            TyKind::Matrix(elem, rows, cols, order) if rows > 1 && cols > 1 => {
                let order = self.raw_order(order);
                let comps = self.components(value);
                let (r, c) = (usize::from(rows), usize::from(cols));
                let (lines, len) = if order == MatrixOrder::RowMajor { (r, c) } else { (c, r) };
                let line_ty = self.tys.vector(elem, len as u8);
                let stride = elem.bytes() * len as u32;
                for line in 0..lines {
                    let at_element =
                        |k: usize| if order == MatrixOrder::RowMajor { line * c + k } else { k * c + line };
                    let part: SmallVec<[ir::Value; 4]> = (0..len).map(|k| comps[at_element(k)]).collect();
                    let part = self.from_components(line_ty, &part);
                    self.raw_store(at.at(line as u32 * stride), part, span)?;
                }
                Ok(())
            }
            TyKind::BufferPointer(..) => {
                let number = self.tys.scalar(Elem::Uint64);
                self.raw_store(at, Value { ty: number, ..value }, span)
            }
            _ => {
                let Some((elem, _)) = self.tys.as_numeric(value.ty) else {
                    let shown = self.show(value.ty);
                    return Err(self.unsupported(span, format!("{shown} cannot be stored in a byte-address buffer")));
                };
                let stored = if elem == Elem::Bool { Elem::Uint } else { elem };
                let memory = self.tys.with_elem(value.ty, stored);
                let value = self.cast(value, memory, span)?;
                let offset = self.raw_offset(at);
                self.at(span);
                self.b.effect(Op::RawStore, &[at.buffer, offset, value.v]);
                Ok(())
            }
        }
    }
}

impl Cx<'_> {
    /// Bytes from one element of a structured buffer to the next, as D3D counts them.
    pub(super) fn structure_stride(&mut self, ty: Ty, span: Span) -> R<u32> {
        let id = self.raw_layout(ty, span)?;
        Ok(self.layouts.get(id).stride())
    }
}
