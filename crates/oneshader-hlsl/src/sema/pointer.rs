//! Memory by its address: `vk::BufferPointer` (HLSL proposal 0010), `vk::RawBufferLoad`, `vk::RawBufferStore`.
//!
//! An address is a 64-bit number wherever it is kept; what it points to lies as in structured buffers.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AddressSpace, Op};

use crate::ast::{TemplateArg, TemplateArgKind};
use crate::cx::Cx;
use crate::ty::{Elem, Ty, TyKind};
use crate::value::{Arg, Expr, Place, R, TemplateValue, Value};

impl Cx<'_> {
    /// `vk::BufferPointer<T, align>`.
    pub(crate) fn buffer_pointer(&mut self, args: &[TemplateArg], span: Span) -> R<Ty> {
        let (of, align) = match args {
            [of] => (self.type_arg(of)?, 0),
            [of, TemplateArg { kind: TemplateArgKind::Expr(align), span }] => {
                let n = self.constant_int(*align)?;
                (self.type_arg(of)?, self.alignment(n, *span)?)
            }
            _ => {
                let message = "`vk::BufferPointer` takes a type and an alignment";
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
            }
        };
        self.check_pointee(of, span)?;
        Ok(self.tys.intern(TyKind::BufferPointer(of, align)))
    }

    fn check_pointee(&mut self, of: Ty, span: Span) -> R<()> {
        let bad =
            self.tys.has_objects(of) || matches!(self.tys.kind(of), TyKind::Void | TyKind::Unsized(_) | TyKind::String);
        if !bad {
            return Ok(());
        }
        let message = format!("an address is of numbers and structures of numbers, not of `{}`", self.show(of));
        Err(self.error(codes::BAD_TYPE, span, message))
    }

    fn alignment(&mut self, n: i64, span: Span) -> R<u32> {
        match u32::try_from(n) {
            Ok(n) if n.is_power_of_two() => Ok(n),
            _ => Err(self.error(codes::BAD_ARGUMENTS, span, format!("{n} is no alignment: a power of two is"))),
        }
    }

    /// The alignment that a pointer promises.
    pub(crate) fn pointer_align(&self, of: Ty, stated: u32) -> u32 {
        if stated == 0 { self.largest_scalar(of) } else { stated }
    }

    /// Bytes of the largest scalar in a type.
    fn largest_scalar(&self, ty: Ty) -> u32 {
        match self.tys.kind(self.tys.innermost(ty)) {
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                let parts = def.base.into_iter().chain(def.fields.iter().map(|f| f.ty));
                parts.map(|part| self.largest_scalar(part)).max().unwrap_or(1)
            }
            TyKind::BufferPointer(..) => 8,
            _ => self.tys.elem(self.tys.innermost(ty)).map_or(1, Elem::bytes),
        }
    }

    /// What an address points to.
    pub(crate) fn pointee(&mut self, address: ir::Value, of: Ty, stated: u32, span: Span) -> R<Place> {
        self.check_object_type(of, span)?;
        let (align, least) = (self.pointer_align(of, stated), self.largest_scalar(of));
        if align < least {
            let message = format!("`{}` is at a multiple of {least} bytes, and {align} is stated", self.show(of));
            return Err(self.error(codes::BAD_ARGUMENTS, span, message));
        }
        self.at(span);
        let (memory, order) = (self.ir_mem(of), self.order_of(of));
        let pointer = self.b.address(Op::AddressPtr { align, order }, AddressSpace::Device, memory, &[address]);
        Ok(Place::pointer(pointer, of, true))
    }

    /// The type, address and alignment of `vk::RawBufferLoad` and `vk::RawBufferStore`.
    fn raw_buffer(
        &mut self,
        given: &[TemplateValue],
        address: &Arg,
        align: Option<&Arg>,
        span: Span,
    ) -> R<(Ty, Value, u32)> {
        let ty = match given {
            [] => Ty::UINT,
            [TemplateValue::Type(ty)] => *ty,
            _ => return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, "one type is the template argument")),
        };
        self.check_pointee(ty, span)?;
        let number = self.tys.scalar(Elem::Uint64);
        let address = self.arg(address, number)?;
        let align = match align {
            None => 4,
            Some(arg) => {
                let value = self.arg(arg, Ty::INT)?;
                match self.known_int(value) {
                    Some(n) => self.alignment(n, arg.span)?,
                    None => return Err(self.error(codes::NOT_CONSTANT, arg.span, "an alignment is a constant")),
                }
            }
        };
        Ok((ty, address, align))
    }

    /// Words in the place of a 64-bit number, or of two, that is at a multiple of four bytes only: the instructions of
    /// SPIR-V ask for the alignment of the largest scalar.
    fn as_words(&mut self, ty: Ty, align: u32) -> Option<Ty> {
        let (elem, shape) = self.tys.as_numeric(ty)?;
        let words = (align == 4 && elem.bytes() == 8).then(|| shape.count() * 2).filter(|n| *n <= 4)?;
        Some(self.tys.vector(Elem::Uint, words as u8))
    }

    /// `vk::RawBufferLoad<T>(address, align)`.
    pub(crate) fn raw_buffer_load(
        &mut self,
        given: &[TemplateValue],
        address: &Arg,
        align: Option<&Arg>,
        span: Span,
    ) -> R<Expr> {
        let (ty, address, align) = self.raw_buffer(given, address, align, span)?;
        let words = self.as_words(ty, align);
        let place = self.pointee(address.v, words.unwrap_or(ty), align, span)?;
        let value = self.load(&place, span)?;
        if words.is_none() {
            return Ok(Expr::Value(value));
        }
        let ir = self.ir(ty);
        Ok(Expr::Value(Value { v: self.emit(Op::Bitcast, ir, &[value.v]), ty }))
    }

    /// `vk::RawBufferStore<T>(address, value, align)`.
    pub(crate) fn raw_buffer_store(
        &mut self,
        given: &[TemplateValue],
        address: &Arg,
        value: &Arg,
        align: Option<&Arg>,
        span: Span,
    ) -> R<Expr> {
        let (ty, address, align) = self.raw_buffer(given, address, align, span)?;
        let mut value = self.arg(value, ty)?;
        let words = self.as_words(ty, align);
        let place = self.pointee(address.v, words.unwrap_or(ty), align, span)?;
        if let Some(words) = words {
            let ir = self.ir(words);
            value = Value { v: self.emit(Op::Bitcast, ir, &[value.v]), ty: words };
        }
        self.store_exact(&place, value, span)?;
        Ok(Expr::Void)
    }

    /// `vk::static_pointer_cast<T, align>(p)` to a base class, `vk::reinterpret_pointer_cast<T, align>(p)` to any type.
    pub(crate) fn pointer_cast(
        &mut self,
        given: &[TemplateValue],
        pointer: &Arg,
        to_base: bool,
        span: Span,
    ) -> R<Expr> {
        let (to, stated) = match given {
            [TemplateValue::Type(to)] => (*to, 0),
            [TemplateValue::Type(to), TemplateValue::Const(c, _)] => {
                let n = self.b.module.consts.bits(*c).and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
                (*to, self.alignment(n, span)?)
            }
            _ => {
                return Err(self.error(
                    codes::TEMPLATE_ARGUMENTS,
                    span,
                    "a type and an alignment are the template arguments",
                ));
            }
        };
        self.check_pointee(to, span)?;
        let value = self.rvalue(pointer.expr.clone(), pointer.span)?;
        let TyKind::BufferPointer(of, align) = self.tys.kind(value.ty) else {
            let message = format!("a `vk::BufferPointer` can be cast so, not `{}`", self.show(value.ty));
            return Err(self.error(codes::BAD_ARGUMENTS, pointer.span, message));
        };
        if to_base && !self.tys.same(of, to) && !self.tys.derives_from(of, to) {
            let message =
                format!("`{}` is no base of `{}`; use `vk::reinterpret_pointer_cast`", self.show(to), self.show(of));
            return Err(self.error(codes::TYPE_MISMATCH, span, message));
        }
        let (have, want) = (self.pointer_align(of, align), self.pointer_align(to, stated));
        if want > have {
            let message = format!("the address is a multiple of {have} bytes, and {want} is asked for");
            return Err(self.error(codes::BAD_ARGUMENTS, span, message));
        }
        Ok(Expr::Value(Value { v: value.v, ty: self.tys.intern(TyKind::BufferPointer(to, stated)) }))
    }
}
