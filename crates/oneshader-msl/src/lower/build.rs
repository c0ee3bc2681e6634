//! Making expressions.

use super::body::Body;
use crate::ast::{Depends, Expr, ExprKind, Infix, Prefix};
use oneshader_ir::{Name, Type};

impl Body<'_, '_> {
    pub(super) fn add(&mut self, kind: ExprKind, weight: usize) -> Expr {
        self.arena.add(kind, Depends::default(), weight as u32)
    }

    pub(super) fn name(&mut self, text: &str) -> Name {
        self.cx.names.intern(text)
    }

    /// A name or a literal.
    pub(super) fn text(&mut self, text: &str) -> Expr {
        let name = self.name(text);
        match text.strip_prefix('-') {
            Some(rest) => {
                let name = self.name(rest);
                self.add(ExprKind::Negative(name), text.len())
            }
            None => self.add(ExprKind::Text(name), text.len()),
        }
    }

    pub(super) fn uint(&mut self, value: u32) -> Expr {
        self.text(&format!("{value}u"))
    }

    /// A number without suffix: an index that is a constant, a level.
    pub(super) fn number(&mut self, value: i64) -> Expr {
        self.text(&value.to_string())
    }

    pub(super) fn call(&mut self, callee: &str, args: &[Expr]) -> Expr {
        let name = self.name(callee);
        let args = self.arena.list(args);
        self.add(ExprKind::Call(name, args), callee.len() + 2)
    }

    /// A constructor or conversion of type `ty`.
    pub(super) fn construct(&mut self, ty: Type, args: &[Expr]) -> Expr {
        let name = self.cx.value_type(ty);
        let weight = self.cx.names.get(name).len() + 2;
        let args = self.arena.list(args);
        self.add(ExprKind::Call(name, args), weight)
    }

    /// `x` where an expression is `int(x)` of a `uint` or the other way round, for places that convert by themselves.
    pub(super) fn before_recast(&self, expr: Expr) -> Expr {
        self.recast.get(&expr).copied().unwrap_or(expr)
    }

    pub(super) fn init(&mut self, ty: Type, args: &[Expr]) -> Expr {
        let name = self.cx.value_type(ty);
        let weight = self.cx.names.get(name).len() + 2;
        let args = self.arena.list(args);
        self.add(ExprKind::Init(name, args), weight)
    }

    pub(super) fn method(&mut self, object: Expr, method: &str, args: &[Expr]) -> Expr {
        let name = self.name(method);
        let args = self.arena.list(args);
        self.add(ExprKind::Method(object, name, args), method.len() + 3)
    }

    pub(super) fn member(&mut self, object: Expr, member: Name) -> Expr {
        let weight = self.cx.names.get(member).len() + 1;
        self.add(ExprKind::Member(object, member), weight)
    }

    /// Components of a vector: `.xyz`.
    pub(super) fn swizzle(&mut self, object: Expr, comps: &[u8]) -> Expr {
        let text: String = comps.iter().map(|&c| ['x', 'y', 'z', 'w'][usize::from(c & 3)]).collect();
        // `float4(x, 0, 0, 1).x` is `x`.
        if let ([c], Some(parts)) = (comps, self.components.get(&object))
            && let Some(&part) = parts.get(usize::from(*c))
        {
            return part;
        }
        if let (Some(inner), ExprKind::Member(base, _)) = (self.swizzles.get(&object), self.arena[object].kind) {
            // `v.xyz.z` is `v.z`.
            let composed: Vec<u8> = comps.iter().filter_map(|&c| inner.get(usize::from(c)).copied()).collect();
            if composed.len() == comps.len() {
                return self.swizzle(base, &composed);
            }
        }
        let name = self.name(&text);
        let expr = self.member(object, name);
        self.swizzles.insert(expr, comps.to_vec());
        expr
    }

    /// A vector of type `ty` from the parts `args`, some of which may be vectors. Neighbours that come from one vector are
    /// written together: `float3(v.x, v.y, 1)` is `float3(v.xy, 1)`.
    pub(super) fn vector(&mut self, ty: Type, args: &[Expr], arg_lanes: &[u8]) -> Expr {
        let mut parts = Vec::new();
        for (&arg, &lanes) in args.iter().zip(arg_lanes) {
            match lanes {
                1 => parts.push(arg),
                _ => match self.components.get(&arg) {
                    Some(known) => parts.extend_from_slice(known),
                    None if self.is_simple(arg) => {
                        self.lanes.insert(arg, lanes);
                        (0..lanes).for_each(|i| {
                            let part = self.swizzle(arg, &[i]);
                            parts.push(part);
                        });
                    }
                    None => return self.construct(ty, args),
                },
            }
        }
        let mut groups = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let (base, mut comps) = match self.single(parts[at]) {
                Some((base, comp)) => (base, vec![comp]),
                None => {
                    groups.push(parts[at]);
                    at += 1;
                    continue;
                }
            };
            while let Some((other, comp)) = parts.get(at + comps.len()).and_then(|&p| self.single(p))
                && self.arena.same(base, other)
            {
                comps.push(comp);
            }
            at += comps.len();
            let whole = self.lanes.get(&base).is_some_and(|&n| comps.iter().copied().eq(0..n));
            groups.push(if whole { base } else { self.swizzle(base, &comps) });
        }
        let expr = match groups[..] {
            // All of it is one vector's.
            [only] if parts.len() > 1 => only,
            // A vector's components are converted as arguments are.
            _ => {
                groups.iter_mut().for_each(|g| *g = self.before_recast(*g));
                self.construct(ty, &groups)
            }
        };
        self.components.insert(expr, parts);
        expr
    }

    /// The vector and component that an expression is.
    fn single(&self, expr: Expr) -> Option<(Expr, u8)> {
        match (self.arena[expr].kind, self.swizzles.get(&expr).map(Vec::as_slice)) {
            (ExprKind::Member(base, _), Some(&[comp])) => Some((base, comp)),
            _ => None,
        }
    }

    /// The address of a place.
    pub(super) fn address_of(&mut self, place: Expr) -> Expr {
        match self.arena[place].kind {
            ExprKind::Prefix(Prefix::Deref, pointer) => match self.arena[pointer].kind {
                ExprKind::Cast(_, inner) => inner,
                _ => pointer,
            },
            _ => self.prefix(Prefix::AddressOf, place),
        }
    }

    pub(super) fn index(&mut self, object: Expr, index: Expr) -> Expr {
        self.add(ExprKind::Index(object, index), 2)
    }

    pub(super) fn infix(&mut self, op: Infix, a: Expr, b: Expr) -> Expr {
        self.add(ExprKind::Infix(op, a, b), 4)
    }

    pub(super) fn prefix(&mut self, op: Prefix, a: Expr) -> Expr {
        self.add(ExprKind::Prefix(op, a), 1)
    }

    pub(super) fn cond(&mut self, c: Expr, a: Expr, b: Expr) -> Expr {
        self.add(ExprKind::Cond(c, a, b), 6)
    }

    pub(super) fn cast(&mut self, ty: &str, a: Expr) -> Expr {
        let name = self.name(ty);
        self.add(ExprKind::Cast(name, a), ty.len() + 2)
    }

    /// A conversion that the context may make unnecessary.
    pub(super) fn convert(&mut self, ty: Type, a: Expr) -> Expr {
        let name = self.cx.value_type(ty);
        let weight = self.cx.names.get(name).len() + 2;
        self.add(ExprKind::Convert(name, a), weight)
    }

    /// The expression, with what it reads noted.
    pub(super) fn reading(&mut self, expr: Expr, reads: u64) -> Expr {
        let kind = self.arena[expr].kind;
        let own = Depends { reads, convergent: false };
        self.again(expr, kind, own)
    }

    /// The expression, marked as one whose lanes exchange values.
    pub(super) fn convergent(&mut self, expr: Expr) -> Expr {
        let kind = self.arena[expr].kind;
        self.again(expr, kind, Depends { reads: 0, convergent: true })
    }

    fn again(&mut self, expr: Expr, kind: ExprKind, own: Depends) -> Expr {
        let mut parts = 0;
        self.arena.each_operand(expr, |e| parts += 1 + self.arena[e].weight + 1);
        let own_weight = self.arena[expr].weight.saturating_sub(parts);
        self.arena.add(kind, own, own_weight)
    }
}
