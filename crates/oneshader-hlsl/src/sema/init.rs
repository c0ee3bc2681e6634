//! Initializer lists and flat conversions: numbers in order fill the target in order, whatever the nesting of either.

use std::collections::VecDeque;

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;

use crate::ast::{ExprId, ExprKind};
use crate::cx::Cx;
use crate::place::slot_types;
use crate::ty::{Shape, Ty, TyKind};
use crate::value::{R, Value};

/// Targets of more components than this are not built one by one.
const MAX_COMPONENTS: u32 = 1 << 16;

/// Values that wait to fill a target.
pub(crate) struct Feed {
    queue: VecDeque<(Value, Span)>,
    /// Gives its only value again and again.
    repeat: Option<Value>,
    /// Whether values convert as in a cast.
    cast: bool,
}

impl Feed {
    /// Of values in order.
    pub fn new(values: Vec<(Value, Span)>) -> Self {
        Feed { queue: values.into(), repeat: None, cast: false }
    }

    /// Of one scalar, as often as it is asked for.
    pub fn repeat(value: Value) -> Self {
        Feed { queue: VecDeque::new(), repeat: Some(value), cast: true }
    }

    /// The same, with values that convert as in a cast.
    #[must_use]
    pub fn casting(mut self) -> Self {
        self.cast = true;
        self
    }

    /// What is left over.
    pub fn rest(&self) -> Option<Span> {
        self.queue.front().map(|(_, span)| *span)
    }
}

impl Cx<'_> {
    /// A value of a type from an initializer: a list, or an expression that converts.
    pub(crate) fn initializer(&mut self, ty: Ty, init: ExprId) -> R<Value> {
        let node = self.ast[init];
        let ExprKind::InitList(_) = node.kind else {
            let expr = self.expr(init)?;
            let value = self.rvalue(expr, node.span)?;
            return self.convert(value, ty, node.span);
        };
        let mut values = Vec::new();
        self.list_values(init, &mut values)?;
        if values.is_empty() {
            // `{}` is all zeros.
            if self.tys.is_numeric_aggregate(ty) {
                return Ok(self.zero(ty));
            }
            return Err(self.error(codes::BAD_INITIALIZER, node.span, "the initializer list is empty"));
        }
        if let TyKind::Void | TyKind::Error = self.tys.kind(ty) {
            return Err(crate::value::Reported(()));
        }
        // `{ 0 }` for one number fills a scalar alone: a list has one value for each component.
        let mut feed = Feed::new(values);
        let value = self.build(ty, &mut feed, node.span)?;
        if let Some(span) = feed.rest() {
            let shown = self.show(ty);
            let message = format!("too many values in the initializer of `{shown}`");
            return Err(self.error(codes::BAD_INITIALIZER, span, message));
        }
        Ok(value)
    }

    /// The values of an initializer list, nested lists opened.
    pub(crate) fn list_values(&mut self, init: ExprId, out: &mut Vec<(Value, Span)>) -> R<()> {
        let node = self.ast[init];
        if let ExprKind::InitList(items) = node.kind {
            return self.nested(node.span, |cx| {
                for item in cx.ast.iter(items) {
                    cx.list_values(item, out)?;
                }
                Ok(())
            });
        }
        let expr = self.expr(init)?;
        let value = self.rvalue(expr, node.span)?;
        out.push((value, node.span));
        Ok(())
    }

    /// Number of scalars (resources count one) inside a type.
    pub(crate) fn leaf_count(&self, ty: Ty) -> u64 {
        match self.tys.kind(ty) {
            TyKind::Array(of, n) => self.leaf_count(of).saturating_mul(u64::from(n)),
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                let fields: u64 = def.fields.iter().map(|f| self.leaf_count(f.ty)).sum();
                fields + def.base.map_or(0, |b| self.leaf_count(b))
            }
            _ => self.tys.shape(ty).map_or(1, |s| u64::from(s.count())),
        }
    }

    /// A value of a type from what a feed gives.
    pub(crate) fn build(&mut self, ty: Ty, feed: &mut Feed, span: Span) -> R<Value> {
        if let Some(value) = feed.repeat
            && let Some(c) = self.known(value.v)
            && self.b.module.consts.is_zero(c)
            && self.tys.is_numeric_aggregate(ty)
        {
            return Ok(self.zero(ty));
        }
        if let Some((value, _)) = feed.queue.front()
            && self.tys.same(value.ty, ty)
            && let Some((value, _)) = feed.queue.pop_front()
        {
            return Ok(Value { v: value.v, ty });
        }
        if self.leaf_count(ty) > u64::from(MAX_COMPONENTS) {
            return Err(self.error(codes::TYPE_TOO_LARGE, span, "too many components to initialize one by one"));
        }
        match self.tys.kind(ty) {
            TyKind::Array(of, n) => {
                let mut parts = Vec::with_capacity(n as usize);
                for _ in 0..n {
                    parts.push(self.build(of, feed, span)?.v);
                }
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &parts), ty })
            }
            TyKind::Struct(s) => self.build_struct(ty, s, feed, span),
            _ => match self.tys.as_numeric(ty) {
                Some((_, Shape::Scalar)) => self.build_scalar(ty, feed, span),
                Some((elem, shape)) => {
                    let scalar = self.tys.scalar(elem);
                    let mut comps: smallvec::SmallVec<[ir::Value; 16]> = smallvec::SmallVec::new();
                    for _ in 0..shape.count() {
                        comps.push(self.build_scalar(scalar, feed, span)?.v);
                    }
                    Ok(self.from_components(ty, &comps))
                }
                None => self.build_scalar(ty, feed, span),
            },
        }
    }

    fn build_struct(&mut self, ty: Ty, s: crate::ty::StructRef, feed: &mut Feed, span: Span) -> R<Value> {
        let def = self.tys.def(s).clone();
        if !def.complete {
            let shown = self.show(ty);
            return Err(self.error(codes::INCOMPLETE_TYPE, span, format!("`{shown}` is not defined here")));
        }
        let has_bits = def.fields.iter().any(|f| f.bits.is_some());
        let mut parts = Vec::new();
        if let Some(base) = def.base {
            parts.push(self.build(base, feed, span)?.v);
        }
        if !has_bits {
            for part in slot_types(&def.fields).collect::<Vec<_>>() {
                parts.push(self.build(part, feed, span)?.v);
            }
        } else {
            // Bit-fields of one member take a value each.
            let mut at: Option<(u32, Value)> = None;
            for field in &def.fields {
                if field.name.is_none() {
                    continue;
                }
                let value = self.build(field.ty, feed, span)?;
                match (at, field.bits) {
                    (Some((slot, whole)), Some((first, width))) if slot == field.slot => {
                        at = Some((slot, self.set_bits(whole, first, width, value)));
                    }
                    (before, bits) => {
                        parts.extend(before.map(|(_, v)| v.v));
                        at = Some(match bits {
                            Some((first, width)) => {
                                let zero = self.zero(field.ty);
                                (field.slot, self.set_bits(zero, first, width, value))
                            }
                            None => (field.slot, value),
                        });
                    }
                }
            }
            parts.extend(at.map(|(_, v)| v.v));
        }
        let ir = self.ir(ty);
        Ok(Value { v: self.construct(ir, &parts), ty })
    }

    fn build_scalar(&mut self, ty: Ty, feed: &mut Feed, span: Span) -> R<Value> {
        if let Some(value) = feed.repeat {
            return self.cast(value, ty, span);
        }
        loop {
            let Some((value, at)) = feed.queue.pop_front() else {
                let shown = self.show(ty);
                let message = format!("too few values in the initializer: one of `{shown}` is missing");
                return Err(self.error(codes::BAD_INITIALIZER, span, message));
            };
            let parts = self.split(value, at)?;
            let Some(parts) = parts else {
                // Literals and the like convert as in an assignment.
                let from_enum = feed.cast || self.is_enum(value.ty) && self.tys.as_numeric(ty).is_some();
                return if from_enum && self.can_convert(value.ty, ty, true).is_some() {
                    self.cast(value, ty, at)
                } else {
                    self.convert(value, ty, at)
                };
            };
            for part in parts.into_iter().rev() {
                feed.queue.push_front((part, at));
            }
        }
    }

    /// The parts of a composite value, one level down; `None` for what has none.
    fn split(&mut self, value: Value, span: Span) -> R<Option<Vec<Value>>> {
        let mut out = Vec::new();
        match self.tys.kind(value.ty) {
            TyKind::Array(of, n) => {
                if n > MAX_COMPONENTS {
                    return Err(self.error(codes::TYPE_TOO_LARGE, span, "the array is too large to be taken apart"));
                }
                for i in 0..n {
                    out.push(Value { v: self.extract(value.v, i), ty: of });
                }
            }
            TyKind::Struct(s) => {
                let def = self.tys.def(s).clone();
                if let Some(base) = def.base {
                    out.push(Value { v: self.extract(value.v, 0), ty: base });
                }
                for field in def.fields.iter().filter(|f| f.name.is_some()) {
                    let part = Value { v: self.extract(value.v, field.slot), ty: field.ty };
                    out.push(match field.bits {
                        Some((first, width)) => self.get_bits(part, first, width),
                        None => part,
                    });
                }
            }
            TyKind::Object(kind, arg) if matches!(self.tys.kind(arg), TyKind::Struct(_)) => {
                use crate::builtin::ObjectKind as O;
                if !matches!(kind, O::ConstantBuffer | O::TextureBuffer) {
                    return Ok(None);
                }
                let place = self.block_place(value);
                out.push(self.load(&place, span)?);
            }
            _ => match self.tys.as_numeric(value.ty) {
                Some((elem, shape)) if shape != Shape::Scalar => {
                    let ty = self.tys.scalar(elem);
                    out.extend(self.components(value).into_iter().map(|v| Value { v, ty }));
                }
                _ => return Ok(None),
            },
        }
        Ok(Some(out))
    }
}
