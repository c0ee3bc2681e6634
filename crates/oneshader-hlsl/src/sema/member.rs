//! Members, swizzles and subscripts.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::Op;
use smallvec::SmallVec;

use crate::ast::{ExprId, ExprKind, OverloadedOp, PathId};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::scope::{ScopeId, Sym};
use crate::ty::{Elem, Heap, Shape, StructRef, Ty, TyKind};
use crate::value::{Arg, Base, Expr, Place, R, ReadOnly, Step, Value};

impl Cx<'_> {
    /// `base.name`.
    pub(crate) fn member(&mut self, base: Expr, base_span: Span, name: Name, span: Span) -> R<Expr> {
        let ty = self.type_of(&base);
        let name_span = span.tail(self.text(name).len() as u32);
        match self.tys.kind(ty) {
            TyKind::Error => Err(crate::value::Reported(())),
            TyKind::Struct(s) => self.struct_member(base, s, ScopeId(self.tys.def(s).scope), name, name_span, span),
            TyKind::Scalar(_) | TyKind::Vector(..) => self.swizzle(base, ty, name, name_span),
            TyKind::Matrix(_, r, c, _) => self.matrix_swizzle(base, ty, (r, c), name, name_span),
            TyKind::Object(kind, arg) => {
                let handle = self.rvalue(base, base_span)?;
                self.at(span);
                if matches!(kind, ObjectKind::ConstantBuffer | ObjectKind::TextureBuffer) {
                    let place = self.block_place(handle);
                    let TyKind::Struct(s) = self.tys.kind(arg) else { return Err(crate::value::Reported(())) };
                    let scope = ScopeId(self.tys.def(s).scope);
                    return self.struct_member(Expr::Place(place), s, scope, name, name_span, span);
                }
                if crate::sema::types::is_unsupported(kind) {
                    let message = format!("members of `{}` are not supported", kind.text());
                    return Err(self.error(codes::UNSUPPORTED_TYPE, span, message));
                }
                self.member_object(handle, name, span)
            }
            _ => {
                let message = format!("`{}` has no members", self.show(ty));
                Err(self.error(codes::UNKNOWN_MEMBER, name_span, message))
            }
        }
    }

    /// `base.S::name`.
    pub(crate) fn member_path(&mut self, base: ExprId, path: PathId, span: Span) -> R<Expr> {
        let (scope, last) = self.lookup_qualifier(path)?;
        let base_span = self.ast[base].span;
        let base = self.expr(base)?;
        let ty = self.type_of(&base);
        match (self.tys.as_struct(ty), scope) {
            (Some(s), Some(scope)) => self.struct_member(base, s, scope, last.name, last.span, span),
            _ => self.member(base, base_span, last.name, span),
        }
    }

    fn struct_member(
        &mut self,
        base: Expr,
        s: StructRef,
        scope: ScopeId,
        name: Name,
        name_span: Span,
        span: Span,
    ) -> R<Expr> {
        match self.lookup_in(scope, name) {
            Some(Sym::Field(owner, index)) => self.field_of(base, owner, index, span),
            Some(Sym::Var(var)) => self.variable(var, span),
            Some(Sym::Funs(_)) => {
                let message = format!("`{}` is a method; call it", self.text(name));
                Err(self.error(codes::WRONG_KIND_OF_NAME, name_span, message))
            }
            Some(_) => {
                let message = format!("`{}` is no field", self.text(name));
                Err(self.error(codes::UNKNOWN_MEMBER, name_span, message))
            }
            None => {
                let def = self.tys.def(s);
                if !def.complete {
                    let message = format!("`{}` is not defined here", self.text(def.name));
                    return Err(self.error(codes::INCOMPLETE_TYPE, span, message));
                }
                let text = self.text(name).to_owned();
                let fields = def.fields.iter().filter_map(|f| f.name).map(|name| self.text(name));
                let near = crate::sema::scope::near(&text, fields).map(str::to_owned);
                let owner = self.tys.intern(TyKind::Struct(s));
                let mut d = oneshader_diag::Diagnostic::new(
                    codes::UNKNOWN_MEMBER,
                    name_span,
                    format!("`{}` has no member `{text}`", self.show(owner)),
                );
                if let Some(near) = near {
                    d = d.help(format!("did you mean `{near}`?"));
                }
                Err(self.report(d))
            }
        }
    }

    /// Field `index` of the structure `owner`, which the object is or inherits from.
    pub(crate) fn field_of(&mut self, base: Expr, owner: StructRef, index: u32, span: Span) -> R<Expr> {
        let owner_ty = self.tys.intern(TyKind::Struct(owner));
        let Some(field) = self.tys.def(owner).fields.get(index as usize).cloned() else {
            return Err(crate::value::Reported(()));
        };
        match base {
            Expr::Place(place) => {
                let mut place = self.upcast_place(place, owner_ty, span)?;
                place = self.slot_place(place, owner, field.slot, field.ty);
                if let Some((first, width)) = field.bits {
                    place.steps.push((Step::Bits(first, width), field.ty));
                    place.known = None;
                }
                Ok(Expr::Place(place))
            }
            Expr::Value(value) => {
                let value = self.convert(value, owner_ty, span)?;
                let part = Value { v: self.extract(value.v, field.slot), ty: field.ty };
                Ok(Expr::Value(match field.bits {
                    Some((first, width)) => self.get_bits(part, first, width),
                    None => part,
                }))
            }
            _ => Err(self.error(codes::UNKNOWN_MEMBER, span, "expected an object")),
        }
    }

    /// The part of a structure's place that is its base `to`.
    pub(crate) fn upcast_place(&mut self, mut place: Place, to: Ty, span: Span) -> R<Place> {
        while place.ty != to {
            let Some(s) = self.tys.as_struct(place.ty) else { break };
            let Some(base) = self.tys.def(s).base else { break };
            place = self.slot_place(place, s, 0, base);
        }
        if place.ty != to && !self.tys.derives_from(place.ty, to) {
            return Err(self.no_conversion(place.ty, to, span, false));
        }
        place.ty = to;
        Ok(place)
    }

    /// Member `slot` of a structure's place.
    fn slot_place(&mut self, mut place: Place, s: StructRef, slot: u32, ty: Ty) -> Place {
        let known = self.known_part(place.known, slot);
        match &mut place.base {
            Base::Memory(memory) => {
                let layout = memory.layout;
                let index = self.member_index(s, slot, layout).unwrap_or(slot);
                let index = self.b.u32(index);
                memory.indices.push(index);
            }
            Base::Split(split) => {
                let split = split.clone();
                let readonly = place.readonly;
                let mut part = self.split_member(&split, s, slot, ty);
                part.readonly = readonly.or(part.readonly);
                return part;
            }
            Base::Texel(_) => {}
        }
        place.ty = ty;
        place.known = known;
        place
    }

    fn known_part(&mut self, known: Option<ir::Const>, index: u32) -> Option<ir::Const> {
        let c = known?;
        let module = &mut *self.b.module;
        module.consts.part(&mut module.types, c, index)
    }

    /// `v.xyz`.
    fn swizzle(&mut self, base: Expr, ty: Ty, name: Name, span: Span) -> R<Expr> {
        let Some((elem, shape)) = self.tys.as_numeric(ty) else { return Err(crate::value::Reported(())) };
        let text = self.text(name).to_owned();
        let Some(comps) = parse_swizzle(&text, shape.count() as u8) else {
            let message = format!("`{text}` is no swizzle of `{}`", self.show(ty));
            return Err(self.error(codes::BAD_SWIZZLE, span, message));
        };
        let to = match comps.len() {
            1 => self.tys.scalar(elem),
            n => self.tys.vector(elem, n as u8),
        };
        Ok(match base {
            Expr::Place(mut place) => {
                if let Some((Step::Swizzle(before), _)) = place.steps.last_mut() {
                    *before = comps.iter().filter_map(|c| before.get(usize::from(*c)).copied()).collect();
                } else {
                    place.steps.push((Step::Swizzle(comps), ty));
                }
                place.ty = to;
                Expr::Place(place)
            }
            Expr::Value(value) => Expr::Value(self.swizzle_value(value, &comps, to)),
            other => other,
        })
    }

    /// `m._m00_m11`, `m._11`.
    fn matrix_swizzle(&mut self, base: Expr, ty: Ty, dims: (u8, u8), name: Name, span: Span) -> R<Expr> {
        let text = self.text(name).to_owned();
        let Some(elements) = parse_elements(&text, dims) else {
            let message = format!("`{text}` names no elements of `{}`", self.show(ty));
            return Err(self.error(codes::BAD_SWIZZLE, span, message));
        };
        let elem = self.tys.elem(ty).unwrap_or(Elem::Float);
        let to = match elements.len() {
            1 => self.tys.scalar(elem),
            n => self.tys.vector(elem, n as u8),
        };
        Ok(match base {
            Expr::Place(mut place) => {
                place.steps.push((Step::Elements(elements), ty));
                place.ty = to;
                Expr::Place(place)
            }
            Expr::Value(value) => Expr::Value(self.read_step(value, &Step::Elements(elements), to)),
            other => other,
        })
    }

    /// `base[index]`.
    pub(crate) fn index_expr(&mut self, base: ExprId, index: ExprId, span: Span) -> R<Expr> {
        let (base_span, index_span) = (self.ast[base].span, self.ast[index].span);
        if let ExprKind::Name(name) = self.ast[base].kind
            && let Some(heap) = Heap::find(self.text(name))
        {
            let index = Arg { expr: self.expr(index)?, span: index_span };
            let index = self.arg(&index, Ty::UINT)?;
            return Ok(Expr::Value(Value { v: index.v, ty: heap.entry() }));
        }
        let base = self.expr(base)?;
        let index = self.expr(index)?;
        self.at(span);
        let ty = self.type_of(&base);
        if let Expr::Proxy(proxy) = base {
            return self.index_proxy(proxy, Arg { expr: index, span: index_span }, span);
        }
        match self.tys.kind(ty) {
            TyKind::Error => Err(crate::value::Reported(())),
            TyKind::Object(kind, _) => {
                let handle = self.rvalue(base, base_span)?;
                if crate::sema::types::is_unsupported(kind) {
                    let message = format!("`{}` is not supported", kind.text());
                    return Err(self.error(codes::UNSUPPORTED_TYPE, span, message));
                }
                let scalar = matches!(
                    kind,
                    ObjectKind::StructuredBuffer
                        | ObjectKind::RwStructuredBuffer
                        | ObjectKind::RasterizerOrderedStructuredBuffer
                        | ObjectKind::Buffer
                        | ObjectKind::RwBuffer
                        | ObjectKind::RasterizerOrderedBuffer
                );
                if scalar && self.tys.shape(self.type_of(&index)).is_some_and(|s| s.count() > 1) {
                    let message = format!("an index is one number, not `{}`", self.show(self.type_of(&index)));
                    return Err(self.error(codes::BAD_SUBSCRIPT, index_span, message));
                }
                self.index_object(handle, Arg { expr: index, span: index_span }, span)
            }
            TyKind::Struct(_) => {
                let args = vec![(index, index_span)];
                match self.user_operator(OverloadedOp::Index, base, base_span, args, span)? {
                    Ok(result) => Ok(result),
                    Err(_) => {
                        let message = format!("`{}` cannot be indexed", self.show(ty));
                        Err(self.error(codes::BAD_SUBSCRIPT, base_span, message))
                    }
                }
            }
            _ => {
                let index = self.rvalue(index, index_span)?;
                let index = self.index_value(index, index_span)?;
                self.at(span);
                self.subscript(base, base_span, index, index_span)
            }
        }
    }

    /// An index as a 32-bit integer.
    pub fn index_value(&mut self, index: Value, span: Span) -> R<Value> {
        let Some((elem, _)) = self.tys.as_numeric(index.ty) else {
            let message = format!("an index cannot be of type `{}`", self.show(index.ty));
            return Err(self.error(codes::BAD_SUBSCRIPT, span, message));
        };
        let to = match elem {
            Elem::Int | Elem::LitInt | Elem::Min12Int | Elem::Min16Int | Elem::Int16 => Ty::INT,
            _ => Ty::UINT,
        };
        if self.tys.shape(index.ty).is_some_and(|s| s.count() > 1) {
            let message = format!("an index is one number, not `{}`", self.show(index.ty));
            return Err(self.error(codes::BAD_SUBSCRIPT, span, message));
        }
        match self.is_enum(index.ty) {
            true => self.cast(index, to, span),
            false => self.convert(index, to, span),
        }
    }

    /// An element of an array, component of a vector, or row of a matrix.
    fn subscript(&mut self, base: Expr, base_span: Span, index: Value, index_span: Span) -> R<Expr> {
        let ty = self.type_of(&base);
        let known = self.known_int(index);
        let (part, count) = match self.tys.kind(ty) {
            TyKind::Array(of, n) => (of, Some(i64::from(n))),
            TyKind::Unsized(of) => (of, None),
            TyKind::Vector(e, n) => (self.tys.scalar(e), Some(i64::from(n))),
            TyKind::Matrix(e, r, c, _) => (self.tys.vector(e, c), Some(i64::from(r))),
            _ => {
                let message = format!("a `{}` cannot be indexed", self.show(ty));
                return Err(self.error(codes::BAD_SUBSCRIPT, base_span, message));
            }
        };
        if let (Some(i), Some(n)) = (known, count)
            && !(0..n).contains(&i)
        {
            let message = format!("index {i} is outside of `{}`", self.show(ty));
            return Err(self.error(codes::INDEX_OUT_OF_BOUNDS, index_span, message));
        }
        let place = match base {
            Expr::Place(place) => place,
            Expr::Value(value) => match self.subscript_value(value, index, known, part) {
                Ok(value) => return Ok(Expr::Value(value)),
                Err(place) => place,
            },
            _ => return Err(self.error(codes::BAD_SUBSCRIPT, base_span, "expected something to index")),
        };
        self.subscript_place(place, ty, index, known, part).map(Expr::Place)
    }

    /// A part of a value; where only memory can be indexed so, the place of a copy.
    fn subscript_value(&mut self, value: Value, index: Value, known: Option<i64>, part: Ty) -> Result<Value, Place> {
        let ir = self.b.ty(value.v);
        let lanes = self.b.module.types.lanes(ir);
        if let (Some(i), Some(shape)) = (known, self.tys.shape(value.ty)) {
            let v = match shape {
                Shape::Matrix(1, _) => value.v,
                _ => self.extract(value.v, i as u32),
            };
            return Ok(Value { v, ty: part });
        }
        if let Some(i) = known {
            return Ok(Value { v: self.extract(value.v, i as u32), ty: part });
        }
        match self.tys.shape(value.ty) {
            Some(Shape::Matrix(1, _)) => return Ok(Value { v: value.v, ty: part }),
            Some(_) if lanes == 1 => return Ok(Value { v: value.v, ty: part }),
            Some(_) if lanes > 1 => {
                let to = self.ir(part);
                return Ok(Value { v: self.emit(Op::ExtractDynamic, to, &[value.v, index.v]), ty: part });
            }
            _ => {}
        }
        Err(self.spill(value, "indexed").readonly(ReadOnly::Temporary))
    }

    fn subscript_place(&mut self, mut place: Place, ty: Ty, index: Value, known: Option<i64>, part: Ty) -> R<Place> {
        let c = known.and_then(|i| u32::try_from(i).ok()).and_then(|i| self.known_part(place.known, i));
        place.known = None;
        place.ty = part;
        if let Base::Split(split) = &place.base {
            let readonly = place.readonly;
            let split = split.clone();
            let mut element = self.split_index(&split, index.v, part);
            element.readonly = readonly.or(element.readonly);
            return Ok(element);
        }
        match self.tys.kind(ty) {
            TyKind::Vector(..) => match (known, place.steps.last_mut()) {
                (Some(i), Some((Step::Swizzle(before), _))) => {
                    let comp = before.get(i as usize).copied().unwrap_or(0);
                    *before = SmallVec::from_slice(&[comp]);
                }
                (Some(i), _) => place.steps.push((Step::Swizzle(SmallVec::from_slice(&[i as u8])), ty)),
                (None, None) if self.tys.shape(ty).is_some_and(|s| s.count() > 1) => match &mut place.base {
                    Base::Memory(memory) => memory.indices.push(index.v),
                    _ => place.steps.push((Step::Component(index.v), ty)),
                },
                (None, None) => place.steps.push((Step::Swizzle(SmallVec::from_slice(&[0])), ty)),
                (None, Some(_)) => place.steps.push((Step::Component(index.v), ty)),
            },
            TyKind::Matrix(_, 1, c, _) => {
                if matches!(&place.base, Base::Memory(memory) if memory.layout) && self.is_spread(ty) {
                    place.steps.push((Step::Elements((0..c).map(|j| (0, j)).collect()), ty));
                }
            }
            TyKind::Matrix(elem, _, c, order) => {
                let Base::Memory(memory) = &mut place.base else { return Ok(place) };
                let by_columns = memory.layout && !elem.is_float() && c > 1 && order == ir::MatrixOrder::ColumnMajor;
                if by_columns {
                    place.steps.push((Step::Row(index.v), ty));
                } else {
                    memory.indices.push(index.v);
                }
            }
            _ => {
                if let Base::Memory(memory) = &mut place.base {
                    memory.indices.push(index.v);
                }
                place.known = c;
            }
        }
        Ok(place)
    }
}

/// Components of a swizzle: letters of one of the two alphabets that the vector has.
pub(crate) fn parse_swizzle(text: &str, count: u8) -> Option<SmallVec<[u8; 4]>> {
    if text.is_empty() || text.len() > 4 {
        return None;
    }
    let by = |alphabet: &str| -> Option<SmallVec<[u8; 4]>> {
        text.chars().map(|c| alphabet.find(c).map(|i| i as u8).filter(|i| *i < count)).collect()
    };
    by("xyzw").or_else(|| by("rgba"))
}

/// Elements of a matrix: `_m00_m11` counts from 0, `_11_22` from 1; the two do not mix.
pub(crate) fn parse_elements(text: &str, (rows, cols): (u8, u8)) -> Option<SmallVec<[(u8, u8); 4]>> {
    let bytes = text.as_bytes();
    let from_zero = text.starts_with("_m");
    let each = if from_zero { 4 } else { 3 };
    if bytes.is_empty() || !bytes.len().is_multiple_of(each) || bytes.len() / each > 4 {
        return None;
    }
    bytes
        .chunks(each)
        .map(|chunk| {
            let (r, c) = match (from_zero, chunk) {
                (true, [b'_', b'm', r, c]) => (r.checked_sub(b'0')?, c.checked_sub(b'0')?),
                (false, [b'_', r, c]) => (r.checked_sub(b'1')?, c.checked_sub(b'1')?),
                _ => return None,
            };
            (r < rows && c < cols).then_some((r, c))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_swizzles() {
        assert_eq!(parse_swizzle("xyz", 3).as_deref(), Some(&[0, 1, 2][..]));
        assert_eq!(parse_swizzle("bgra", 4).as_deref(), Some(&[2, 1, 0, 3][..]));
        assert_eq!(parse_swizzle("xxxx", 1).as_deref(), Some(&[0, 0, 0, 0][..]));
        assert_eq!(parse_swizzle("xg", 4), None);
        assert_eq!(parse_swizzle("w", 3), None);
        assert_eq!(parse_swizzle("xyzwx", 4), None);
    }

    #[test]
    fn reads_elements() {
        assert_eq!(parse_elements("_m00_m12", (2, 3)).as_deref(), Some(&[(0, 0), (1, 2)][..]));
        assert_eq!(parse_elements("_11_23", (2, 3)).as_deref(), Some(&[(0, 0), (1, 2)][..]));
        assert_eq!(parse_elements("_m00_11", (4, 4)), None);
        assert_eq!(parse_elements("_m33", (3, 3)), None);
        assert_eq!(parse_elements("_00", (3, 3)), None);
    }
}
