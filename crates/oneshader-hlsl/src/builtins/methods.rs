//! Methods, subscripts and members of objects: dispatch, and buffers.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{Access, AddressSpace, AtomicOp, CounterKind, Op, ResourceType, TypeKind};

use super::raw::Cursor;
use crate::cx::Cx;
use crate::name::Name;
use crate::ty::{Elem, Ty};
use crate::value::{Arg, Expr, Place, Proxy, ProxyKind, R, ReadOnly, Reported, TemplateValue, Value};

/// A call of a method.
#[derive(Clone, Copy)]
pub(super) struct Method<'m> {
    /// The object; its value is the handle.
    pub(super) object: Value,
    /// The sampler that a texture is combined with: methods take none.
    pub(super) sampler: Option<ir::Value>,
    /// The method's name.
    pub(super) name: &'m str,
    /// Arguments.
    pub(super) args: &'m [Arg],
    /// Template arguments.
    pub(super) targs: &'m [TemplateValue],
    /// The call.
    pub(super) span: Span,
}

impl Cx<'_> {
    /// Lowers a call of a method of an object.
    pub fn call_method(
        &mut self,
        object: Value,
        method: Name,
        args: &[Arg],
        targs: &[TemplateValue],
        span: Span,
    ) -> R<Expr> {
        let names = self.names;
        self.at(span);
        let (object, sampler) = self.halves(object);
        let m = Method { object, sampler, name: names.text(method), args, targs, span };
        match self.resource(object) {
            Some(ResourceType::Texture(texture)) => self.texture_method(m, texture),
            Some(ResourceType::StructuredBuffer { counter, .. }) => self.structured_method(m, counter),
            Some(ResourceType::ByteAddressBuffer { access }) => self.raw_method(m, access),
            Some(ResourceType::SubpassInput { multisampled, texel }) => self.subpass_method(m, multisampled, texel),
            _ => Err(self.unknown_method(m)),
        }
    }

    /// The resource that a handle refers to.
    pub(super) fn resource(&self, object: Value) -> Option<ResourceType> {
        match self.b.module.types.kind(self.b.func.ty(object.v)) {
            TypeKind::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// Reports that the object has no such method.
    pub(super) fn unknown_method(&mut self, m: Method<'_>) -> Reported {
        let shown = self.show(m.object.ty);
        self.error(codes::UNKNOWN_METHOD, m.span, format!("{shown} has no method {}", m.name))
    }

    /// Reports that the method takes other arguments.
    pub(super) fn bad_method(&mut self, m: Method<'_>, takes: &str) -> Reported {
        let shown = self.show(m.object.ty);
        let (name, count) = (m.name, m.args.len());
        self.error(codes::BAD_ARGUMENTS, m.span, format!("{name} of {shown} takes {takes}, not {count} arguments"))
    }

    /// Lowers `object[index]`.
    pub fn index_object(&mut self, object: Value, index: Arg, span: Span) -> R<Expr> {
        self.at(span);
        let (object, _) = self.halves(object);
        match self.resource(object) {
            Some(ResourceType::Texture(texture)) => self.index_texture(object, texture, &index, None, None),
            Some(ResourceType::StructuredBuffer {
                access, counter: CounterKind::None | CounterKind::Counter, ..
            }) => {
                let index = self.arg(&index, Ty::UINT)?;
                self.at(span);
                Ok(Expr::Place(self.element(object, index, access)))
            }
            _ => {
                let shown = self.show(object.ty);
                Err(self.error(codes::BAD_SUBSCRIPT, span, format!("{shown} cannot be indexed")))
            }
        }
    }

    /// Lowers `.mips` and `.sample`.
    pub fn member_object(&mut self, object: Value, name: Name, span: Span) -> R<Expr> {
        let names = self.names;
        let (object, _) = self.halves(object);
        let kind = match (names.text(name), self.resource(object)) {
            ("mips", Some(ResourceType::Texture(t))) if t.access == Access::Read && !t.multisampled => ProxyKind::Mips,
            ("sample", Some(ResourceType::Texture(t))) if t.multisampled => ProxyKind::Sample,
            _ => {
                let (shown, name) = (self.show(object.ty), names.text(name));
                return Err(self.error(codes::UNKNOWN_MEMBER, span, format!("{shown} has no member {name}")));
            }
        };
        Ok(Expr::Proxy(Proxy { object, kind, index: None }))
    }

    /// Lowers a subscript behind `.mips` or `.sample`.
    pub fn index_proxy(&mut self, proxy: Proxy, index: Arg, span: Span) -> R<Expr> {
        self.at(span);
        let Some(first) = proxy.index else {
            let first = self.arg(&index, Ty::UINT)?;
            return Ok(Expr::Proxy(Proxy { index: Some(first), ..proxy }));
        };
        let Some(ResourceType::Texture(texture)) = self.resource(proxy.object) else { return Ok(Expr::Void) };
        let (level, sample) = match proxy.kind {
            ProxyKind::Mips => (Some(first), None),
            ProxyKind::Sample => (None, Some(first)),
        };
        self.index_texture(proxy.object, texture, &index, level, sample)
    }

    /// Element of a structured buffer.
    fn element(&mut self, object: Value, index: Value, access: Access) -> Place {
        let ty = self.tys.as_object(object.ty).map_or(Ty::ERROR, |(_, elem)| elem);
        let memory = self.ir_mem(ty);
        let pointer = self.b.address(Op::ElementPtr, AddressSpace::Storage, memory, &[object.v, index.v]);
        let place = Place::pointer(pointer, ty, true);
        if access == Access::Read { place.readonly(ReadOnly::Resource) } else { place }
    }

    fn structured_method(&mut self, m: Method<'_>, counter: CounterKind) -> R<Expr> {
        let plain = matches!(counter, CounterKind::None | CounterKind::Counter);
        match (m.name, m.args) {
            ("Load", [index] | [index, _]) if plain => {
                let index = self.arg(index, Ty::UINT)?;
                self.at(m.span);
                let place = self.element(m.object, index, Access::Read);
                let value = self.load(&place, m.span)?;
                self.store_status(m.args.get(1))?;
                Ok(Expr::Value(value))
            }
            ("GetDimensions", [count, stride]) => {
                let length = self.buffer_length(m.object);
                self.store_out(count, length)?;
                let ty = self.tys.as_object(m.object.ty).map_or(Ty::ERROR, |(_, elem)| elem);
                let bytes = self.structure_stride(ty, m.span)?;
                let bytes = self.int(i64::from(bytes), Elem::Uint);
                self.store_out(stride, bytes)?;
                Ok(Expr::Void)
            }
            ("IncrementCounter", []) if counter == CounterKind::Counter => Ok(Expr::Value(self.count(m.object, 1))),
            ("DecrementCounter", []) if counter == CounterKind::Counter => Ok(Expr::Value(self.count(m.object, -1))),
            ("Append", [value]) if counter == CounterKind::Append => {
                let ty = self.tys.as_object(m.object.ty).map_or(Ty::ERROR, |(_, elem)| elem);
                let value = self.arg(value, ty)?;
                self.at(m.span);
                let index = self.count(m.object, 1);
                let place = self.element(m.object, index, Access::ReadWrite);
                self.store(&place, value, m.span)?;
                Ok(Expr::Void)
            }
            ("Consume", []) if counter == CounterKind::Consume => {
                let index = self.count(m.object, -1);
                let place = self.element(m.object, index, Access::Read);
                self.load(&place, m.span).map(Expr::Value)
            }
            ("Load" | "GetDimensions" | "IncrementCounter" | "DecrementCounter" | "Append" | "Consume", _) => {
                Err(self.bad_method(m, "other arguments on this kind of buffer"))
            }
            _ => Err(self.unknown_method(m)),
        }
    }

    fn count(&mut self, object: Value, delta: i8) -> Value {
        let uint = self.ir(Ty::UINT);
        Value { v: self.b.value(Op::Counter { delta }, uint, &[object.v]), ty: Ty::UINT }
    }

    fn buffer_length(&mut self, object: Value) -> Value {
        let uint = self.ir(Ty::UINT);
        Value { v: self.b.value(Op::BufferLength, uint, &[object.v]), ty: Ty::UINT }
    }

    /// Stores into an `out` argument.
    pub(super) fn store_out(&mut self, arg: &Arg, value: Value) -> R<()> {
        let place = self.out_place(&arg.expr, arg.span)?;
        let value = self.cast(value, place.ty, arg.span)?;
        self.store(&place, value, arg.span)
    }

    /// Stores the residency of what a buffer's load read, where it is asked for.
    fn store_status(&mut self, status: Option<&Arg>) -> R<()> {
        let Some(status) = status else { return Ok(()) };
        let uint = self.ir(Ty::UINT);
        let v = self.b.intrinsic(ir::Intrinsic::BufferStatus, uint, &[]);
        self.store_out(status, Value { v, ty: Ty::UINT })
    }

    fn raw_method(&mut self, m: Method<'_>, access: Access) -> R<Expr> {
        let (stem, count) = match m.name.as_bytes() {
            [.., n @ b'2'..=b'4'] if !m.name.starts_with("Interlocked") => (&m.name[..m.name.len() - 1], n - b'0'),
            _ => (m.name, 1),
        };
        let ty = match m.targs {
            [TemplateValue::Type(ty)] => *ty,
            [] if count == 1 => Ty::UINT,
            [] => self.tys.vector(Elem::Uint, count),
            _ => return Err(self.error(codes::BAD_ARGUMENTS, m.span, format!("{} takes one type", m.name))),
        };
        match (stem, m.args) {
            ("Load", [address] | [address, _]) => {
                let base = self.arg(address, Ty::UINT)?;
                let value = self.raw_load(Cursor { buffer: m.object.v, base: base.v, offset: 0 }, ty, m.span)?;
                self.store_status(m.args.get(1))?;
                Ok(Expr::Value(value))
            }
            ("Store", [address, value]) if access == Access::ReadWrite => {
                let base = self.arg(address, Ty::UINT)?;
                let value = match m.targs {
                    // `Store(address, value)` of one `uint` takes the type of the value in newer languages.
                    [] if count == 1 && self.stores_any_type() => {
                        let value = self.rvalue(value.expr.clone(), value.span)?;
                        self.concrete(value)
                    }
                    _ => self.arg(value, ty)?,
                };
                self.raw_store(Cursor { buffer: m.object.v, base: base.v, offset: 0 }, value, m.span)?;
                Ok(Expr::Void)
            }
            ("GetDimensions", [bytes]) => {
                let length = self.buffer_length(m.object);
                self.store_out(bytes, length)?;
                Ok(Expr::Void)
            }
            _ if access == Access::ReadWrite && m.name.starts_with("Interlocked") => self.raw_atomic(m),
            ("Load" | "Store" | "GetDimensions", _) => Err(self.bad_method(m, "other arguments")),
            _ => Err(self.unknown_method(m)),
        }
    }

    /// Whether `Store` without a template argument stores the type of its value (HLSL 2018 and later).
    fn stores_any_type(&self) -> bool {
        self.opts.version >= crate::options::LanguageVersion::V2018
    }

    fn raw_atomic(&mut self, m: Method<'_>) -> R<Expr> {
        use AtomicOp::{Add, And, Exchange, Max, Min, Or, Xor};
        /// Name after `Interlocked`, operation (a comparison when there is none), element.
        const ATOMICS: &[(&str, Option<AtomicOp>, Elem)] = &[
            ("Add", Some(Add), Elem::Uint),
            ("Add64", Some(Add), Elem::Uint64),
            ("And", Some(And), Elem::Uint),
            ("And64", Some(And), Elem::Uint64),
            ("CompareExchange", None, Elem::Uint),
            ("CompareExchange64", None, Elem::Uint64),
            ("CompareExchangeFloatBitwise", None, Elem::Float),
            ("CompareStore", None, Elem::Uint),
            ("CompareStore64", None, Elem::Uint64),
            ("CompareStoreFloatBitwise", None, Elem::Float),
            ("Exchange", Some(Exchange), Elem::Uint),
            ("Exchange64", Some(Exchange), Elem::Uint64),
            ("ExchangeFloat", Some(Exchange), Elem::Float),
            ("Max", Some(Max), Elem::Uint),
            ("Max64", Some(Max), Elem::Uint64),
            ("Min", Some(Min), Elem::Uint),
            ("Min64", Some(Min), Elem::Uint64),
            ("Or", Some(Or), Elem::Uint),
            ("Or64", Some(Or), Elem::Uint64),
            ("Xor", Some(Xor), Elem::Uint),
            ("Xor64", Some(Xor), Elem::Uint64),
        ];
        let suffix = m.name.trim_start_matches("Interlocked");
        let Some(&(_, op, elem)) = ATOMICS.iter().find(|(name, ..)| *name == suffix) else {
            return Err(self.unknown_method(m));
        };
        let elem = self.signed_as_argument(elem, op, m.args);
        let ty = self.tys.scalar(elem);
        let [address, rest @ ..] = m.args else { return Err(self.bad_method(m, "an address")) };
        let offset = self.arg(address, Ty::UINT)?;
        self.at(m.span);
        let pointee = self.ir(ty);
        let pointer = self.b.address(Op::RawPtr, AddressSpace::Storage, pointee, &[m.object.v, offset.v]);
        match (op, rest) {
            (Some(op), [value]) => self.interlocked(op, pointer, ty, value, None, m.span),
            (Some(op), [value, original]) => self.interlocked(op, pointer, ty, value, Some(original), m.span),
            (None, [expected, value]) if suffix.starts_with("CompareStore") => {
                self.interlocked_compare(pointer, ty, [expected, value], None, m.span)
            }
            (None, [expected, value, original]) if suffix.starts_with("CompareExchange") => {
                self.interlocked_compare(pointer, ty, [expected, value], Some(original), m.span)
            }
            _ => Err(self.bad_method(m, "other arguments")),
        }
    }

    /// `Max` and `Min` of a byte-address buffer compare as signed when the value is.
    fn signed_as_argument(&self, elem: Elem, op: Option<AtomicOp>, args: &[Arg]) -> Elem {
        let signed = matches!(op, Some(AtomicOp::Max | AtomicOp::Min))
            && args
                .get(1)
                .and_then(|a| self.tys.elem(self.type_of(&a.expr)))
                .is_some_and(|e| e.is_int() && !e.is_unsigned() && !e.is_literal());
        match elem {
            Elem::Uint if signed => Elem::Int,
            Elem::Uint64 if signed => Elem::Int64,
            other => other,
        }
    }

    fn subpass_method(&mut self, m: Method<'_>, multisampled: bool, texel: ir::Scalar) -> R<Expr> {
        let ty = match self.tys.as_object(m.object.ty) {
            Some((_, ty)) if ty != Ty::VOID => ty,
            _ => Ty::FLOAT4,
        };
        let mut operands = vec![m.object.v];
        let mut flags = ir::TextureOperands::empty();
        match (m.name, m.args) {
            ("SubpassLoad", []) if !multisampled => {}
            ("SubpassLoad", [sample]) if multisampled => {
                operands.push(self.arg(sample, Ty::INT)?.v);
                flags |= ir::TextureOperands::SAMPLE_INDEX;
            }
            _ => return Err(self.unknown_method(m)),
        }
        let vec4 = self.b.module.types.vector(texel, 4);
        let v = self.b.value(Op::Texture(ir::TextureOp::Load, flags), vec4, &operands);
        Ok(Expr::Value(self.texel_value(v, texel, ty)))
    }
}
