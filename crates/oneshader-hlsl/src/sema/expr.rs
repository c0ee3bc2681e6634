//! Expressions.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;

use crate::ast::{self, BinaryOp, ExprId, ExprKind, FloatSuffix, IntSuffix, UnaryOp};
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::Storage;
use crate::sema::scope::Sym;
use crate::ty::{Elem, Ty, TyKind};
use crate::value::{Expr, Place, R, Value};

/// Constructs inside each other, at most.
const MAX_DEPTH: u32 = 400;

impl Cx<'_> {
    /// Runs one level deeper; too deep is an error.
    pub(crate) fn nested<T>(&mut self, span: Span, f: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        if self.s.depth >= MAX_DEPTH {
            return Err(self.error(codes::LOWERING_DEPTH, span, "nested too deeply"));
        }
        self.s.depth += 1;
        let result = f(self);
        self.s.depth -= 1;
        result
    }

    /// Lowers an expression.
    pub(crate) fn expr(&mut self, id: ExprId) -> R<Expr> {
        let span = self.ast[id].span;
        self.nested(span, |cx| cx.expr_inner(id))
    }

    /// Lowers an expression to a value.
    pub(crate) fn value(&mut self, id: ExprId) -> R<Value> {
        let expr = self.expr(id)?;
        self.rvalue(expr, self.ast[id].span)
    }

    fn expr_inner(&mut self, id: ExprId) -> R<Expr> {
        let node = self.ast[id];
        let span = node.span;
        self.at(span);
        match node.kind {
            ExprKind::Error => Err(crate::value::Reported(())),
            ExprKind::Bool(b) => Ok(Expr::Value(Value { v: self.b.bool(b), ty: Ty::BOOL })),
            ExprKind::Int(value, suffix) => Ok(Expr::Value(self.int_literal(value, suffix))),
            ExprKind::Float(value, suffix) => Ok(Expr::Value(self.float_literal(value, suffix))),
            ExprKind::Str(s) => Ok(Expr::Str(s)),
            ExprKind::Name(name) => {
                let sym = self.lookup(name);
                self.symbol(sym, name, span)
            }
            ExprKind::Path(path) => {
                let (sym, scope, last) = self.lookup_path(path)?;
                if sym.is_none() && scope.is_some() {
                    return Err(self.unknown_name(last.name, scope, last.span));
                }
                match sym {
                    Some(Sym::VarTemplate(t)) => {
                        let var = self.instantiate_variable(t, last.args.unwrap_or(ast::Slice::EMPTY), span)?;
                        self.variable(var, span)
                    }
                    _ => self.symbol(sym, last.name, span),
                }
            }
            ExprKind::This => match &self.s.body.this {
                Some(place) => Ok(Expr::Place(place.clone())),
                None => Err(self.error(codes::WRONG_KIND_OF_NAME, span, "`this` stands in methods only")),
            },
            ExprKind::Unary { op, operand } => self.unary_expr(op, operand, span),
            ExprKind::Binary { .. } => self.binary_spine(id),
            ExprKind::Assign { op, lhs, rhs } => self.assign(op, lhs, rhs, span),
            ExprKind::Ternary { cond, yes, no } => self.ternary(cond, yes, no, span),
            ExprKind::Cast { ty, operand } => self.cast_expr(ty, operand, span),
            ExprKind::Construct { ty, args } => self.construct_expr(ty, args, span),
            ExprKind::Call { callee, args } => self.call_expr(callee, args, span),
            ExprKind::Index { base, index } => self.index_expr(base, index, span),
            ExprKind::Member { base, name } => {
                let base_span = self.ast[base].span;
                let base = self.expr(base)?;
                self.member(base, base_span, name, span)
            }
            ExprKind::MemberPath { base, path } => self.member_path(base, path, span),
            ExprKind::InitList(_) => {
                Err(self.error(codes::BAD_INITIALIZER, span, "an initializer list cannot stand here"))
            }
            ExprKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                self.sizeof(ty, span)
            }
            ExprKind::SizeofExpr(operand) => {
                let ty = self.discarded(|cx| {
                    let e = cx.expr(operand)?;
                    Ok(cx.type_of(&e))
                })?;
                self.sizeof(ty, span)
            }
            ExprKind::DeclCondition(decl) => {
                self.declare_one(decl);
                match self.ast[decl].kind {
                    ast::DeclKind::Var(var) => match self.ast[var].name {
                        Some(name) => {
                            let sym = self.lookup(name);
                            self.symbol(sym, name, span)
                        }
                        None => Err(self.error(codes::BAD_CONDITION, span, "expected a variable")),
                    },
                    _ => Err(self.error(codes::BAD_CONDITION, span, "expected a variable")),
                }
            }
            ExprKind::EffectState => Err(self.error(codes::BAD_INITIALIZER, span, "a state block is no value")),
        }
    }

    /// What a name gives in an expression.
    pub(crate) fn symbol(&mut self, sym: Option<Sym>, name: Name, span: Span) -> R<Expr> {
        match sym {
            Some(Sym::Var(var)) => self.variable(var, span),
            Some(Sym::Field(s, index)) => {
                let Some(this) = self.s.body.this.clone() else {
                    let message = format!("`{}` is a member and needs an object", self.text(name));
                    return Err(self.error(codes::WRONG_KIND_OF_NAME, span, message));
                };
                self.field_of(Expr::Place(this), s, index, span)
            }
            Some(Sym::Funs(_)) => {
                let message = format!("`{}` is a function; call it", self.text(name));
                Err(self.error(codes::WRONG_KIND_OF_NAME, span, message))
            }
            Some(Sym::VarTemplate(_)) => {
                let message = format!("`{}` is a template: write its arguments between `<` and `>`", self.text(name));
                Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message))
            }
            Some(_) => {
                let message = format!("`{}` is no value", self.text(name));
                Err(self.error(codes::WRONG_KIND_OF_NAME, span, message))
            }
            None => match (self.ray_constant(name), self.unsupported_name(name, span)) {
                (Some(value), _) => Ok(Expr::Value(value)),
                (None, Some(reported)) => Err(reported),
                (None, None) => Err(self.unknown_name(name, None, span)),
            },
        }
    }

    fn int_literal(&mut self, value: u64, suffix: IntSuffix) -> Value {
        // From HLSL 202x on a literal without suffix has C's type.
        let conforming = self.opts.version >= crate::options::LanguageVersion::V202x;
        let elem = match suffix {
            IntSuffix::None if conforming && i32::try_from(value).is_ok() => Elem::Int,
            IntSuffix::None if conforming && i64::try_from(value).is_ok() => Elem::Int64,
            IntSuffix::None if conforming => Elem::Uint64,
            IntSuffix::None => Elem::LitInt,
            IntSuffix::U if value <= u64::from(u32::MAX) => Elem::Uint,
            IntSuffix::U => Elem::Uint64,
            IntSuffix::L | IntSuffix::Ll => Elem::Int64,
            IntSuffix::Ul | IntSuffix::Ull => Elem::Uint64,
        };
        self.int(value as i64, elem)
    }

    fn float_literal(&mut self, value: f64, suffix: FloatSuffix) -> Value {
        let elem = match suffix {
            FloatSuffix::None if self.opts.version >= crate::options::LanguageVersion::V202x => Elem::Float,
            FloatSuffix::None => Elem::LitFloat,
            FloatSuffix::F => Elem::Float,
            FloatSuffix::L => Elem::Double,
            FloatSuffix::H if self.opts.native_16bit => Elem::Float16,
            FloatSuffix::H => Elem::Half,
        };
        let scalar = elem.ir();
        let bits = match scalar.bits() {
            16 => u64::from(half::f16::from_f64(value).to_bits()),
            32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let c = self.b.module.consts.scalar(&mut self.b.module.types, scalar, bits);
        let ty = self.tys.scalar(elem);
        Value { v: self.b.constant(c), ty }
    }

    /// A chain of binary operators, which leans to the left and may be long: walked without recursion.
    fn binary_spine(&mut self, id: ExprId) -> R<Expr> {
        let mut chain = Vec::new();
        let mut at = id;
        while let ExprKind::Binary { op, lhs, rhs } = self.ast[at].kind {
            chain.push((op, lhs, rhs, self.ast[at].span));
            at = lhs;
        }
        let mut left = self.expr(at)?;
        while let Some((op, lhs, rhs, span)) = chain.pop() {
            let lhs_span = self.ast[lhs].span;
            left = match op {
                BinaryOp::Comma => self.expr(rhs)?,
                BinaryOp::And | BinaryOp::Or => Expr::Value(self.logical(op, left, lhs_span, rhs, span)?),
                _ => {
                    // What the left side is now is what it is, whatever the right side does.
                    let left = match left {
                        Expr::Place(place) if self.tys.as_struct(place.ty).is_none() => {
                            Expr::Value(self.load(&place, lhs_span)?)
                        }
                        other => other,
                    };
                    let rhs_span = self.ast[rhs].span;
                    let right = self.expr(rhs)?;
                    self.at(span);
                    self.binary_expr(op, left, lhs_span, right, rhs_span, span)?
                }
            };
        }
        Ok(left)
    }

    fn cast_expr(&mut self, ty: ast::TypeId, operand: ExprId, span: Span) -> R<Expr> {
        let to = self.resolve(ty)?;
        let expr = self.expr(operand)?;
        if to == Ty::VOID {
            return Ok(Expr::Void);
        }
        if let Expr::Place(place) = &expr
            && self.tys.same(place.ty, to)
        {
            // A cast to the same type stays a place, which DXC has as well.
            return Ok(expr);
        }
        if let Expr::Place(place) = &expr
            && self.tys.as_struct(place.ty).is_some()
            && self.tys.derives_from(place.ty, to)
        {
            return self.upcast_place(place.clone(), to, span).map(Expr::Place);
        }
        let value = self.rvalue(expr, self.ast[operand].span)?;
        if let TyKind::Unsized(_) = self.tys.kind(to) {
            return Err(self.error(codes::BAD_TYPE, span, "cannot cast to an array without a size"));
        }
        if let Some(value) = self.user_conversion(value, to, span)? {
            return Ok(Expr::Value(value));
        }
        self.cast(value, to, span).map(Expr::Value)
    }

    fn construct_expr(&mut self, ty: ast::TypeId, args: ast::Slice<ExprId>, span: Span) -> R<Expr> {
        let to = self.resolve(ty)?;
        let args: Vec<ExprId> = self.ast.iter(args).collect();
        if let [only] = args[..] {
            return match self.ast[only].kind {
                ExprKind::InitList(_) => self.initializer(to, only).map(Expr::Value),
                _ => {
                    let expr = self.expr(only)?;
                    let value = self.rvalue(expr, self.ast[only].span)?;
                    if let Some(value) = self.user_conversion(value, to, span)? {
                        return Ok(Expr::Value(value));
                    }
                    // A constructor takes as many numbers as its type has, one or several arguments.
                    if let (Some(shape), Some(from)) = (self.tys.shape(to), self.tys.shape(value.ty))
                        && shape.count() != from.count()
                    {
                        let (shown, given) = (self.show(to), self.show(value.ty));
                        let d = oneshader_diag::Diagnostic::new(
                            codes::BAD_INITIALIZER,
                            span,
                            format!("`{shown}` takes {} numbers, and a `{given}` has {}", shape.count(), from.count()),
                        )
                        .help(format!("to repeat or drop components, cast: `({shown})x`"));
                        return Err(self.report(d));
                    }
                    self.cast(value, to, span).map(Expr::Value)
                }
            };
        }
        let mut values = Vec::new();
        for arg in &args {
            let expr = self.expr(*arg)?;
            let arg_span = self.ast[*arg].span;
            values.push((self.rvalue(expr, arg_span)?, arg_span));
        }
        self.at(span);
        if self.is_ray_query(to) && values.is_empty() {
            return Ok(self.new_ray_query(to, span));
        }
        if self.tys.as_numeric(to).is_none() {
            let shown = self.show(to);
            let message = format!("`{shown}` has no constructor; use an initializer list");
            return Err(self.error(codes::BAD_INITIALIZER, span, message));
        }
        if values.is_empty() {
            return Err(self.error(codes::BAD_INITIALIZER, span, "the constructor needs values"));
        }
        let mut feed = crate::sema::init::Feed::new(values).casting();
        let value = self.build(to, &mut feed, span)?;
        if let Some(rest) = feed.rest() {
            let message = format!("too many values for `{}`", self.show(to));
            return Err(self.error(codes::BAD_INITIALIZER, rest, message));
        }
        Ok(Expr::Value(value))
    }

    /// `operator T()` of a structure.
    fn user_conversion(&mut self, value: Value, to: Ty, span: Span) -> R<Option<Value>> {
        if self.tys.as_struct(value.ty).is_none() || self.tys.same(value.ty, to) {
            return Ok(None);
        }
        let Some(s) = self.tys.as_struct(value.ty) else { return Ok(None) };
        let scope = crate::sema::ScopeId(self.tys.def(s).scope);
        let Some(Sym::Funs(set)) = self.lookup_in(scope, Name(u32::MAX)) else { return Ok(None) };
        for candidate in self.s.sets[set as usize].clone() {
            if let crate::sema::Candidate::Fun(fun) = candidate
                && self.tys.same(self.s.funs[fun.0 as usize].ret, to)
            {
                let result = self.call_function(fun, Some((Expr::Value(value), span)), Vec::new(), span)?;
                return self.rvalue(result, span).map(Some);
            }
        }
        Ok(None)
    }

    fn sizeof(&mut self, ty: Ty, span: Span) -> R<Expr> {
        match self.size_align(ty) {
            Some((size, _)) => Ok(Expr::Value(self.int(i64::from(size), Elem::Uint))),
            None => {
                let message = format!("`{}` has no size", self.show(ty));
                Err(self.error(codes::BAD_TYPE, span, message))
            }
        }
    }

    /// Size and alignment in bytes, as in structured buffers.
    fn size_align(&self, ty: Ty) -> Option<(u32, u32)> {
        match self.tys.kind(ty) {
            TyKind::Array(of, n) => {
                let (size, align) = self.size_align(of)?;
                Some((size.checked_mul(n)?, align))
            }
            TyKind::BufferPointer(..) => Some((8, 8)),
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                let (mut size, mut align) = (0u32, 1u32);
                let parts = def.base.into_iter().chain(crate::place::slot_types(&def.fields));
                for part in parts {
                    let (s, a) = self.size_align(part)?;
                    size = size.next_multiple_of(a).checked_add(s)?;
                    align = align.max(a);
                }
                Some((size.next_multiple_of(align), align))
            }
            _ => {
                let (elem, shape) = self.tys.as_numeric(ty)?;
                Some((elem.bytes() * shape.count(), elem.bytes()))
            }
        }
    }

    /// Whether an expression can be computed although its value is not needed: it has no effect, cannot fail, and is
    /// short. Such operands of `&&`, `||` and `?:` need no branch.
    pub(crate) fn is_simple(&mut self, id: ExprId, budget: &mut u32) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        match self.ast[id].kind {
            ExprKind::Bool(_) | ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::This => true,
            ExprKind::Name(name) => match self.lookup(name) {
                Some(Sym::Var(var)) => {
                    let var = &self.s.vars[var.0 as usize];
                    self.tys.as_numeric(var.ty).is_some() && !matches!(var.storage, Storage::Error)
                }
                Some(Sym::Field(..)) => true,
                _ => false,
            },
            ExprKind::Unary { op, operand } => {
                matches!(op, UnaryOp::Plus | UnaryOp::Neg | UnaryOp::Not | UnaryOp::BitNot)
                    && self.is_simple(operand, budget)
            }
            ExprKind::Binary { op, lhs, rhs } => {
                !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Comma)
                    && self.is_simple(lhs, budget)
                    && self.is_simple(rhs, budget)
            }
            ExprKind::Member { base, .. } => self.is_plain_path(base, budget),
            ExprKind::Construct { ty, args } => {
                matches!(self.ast[ty].kind, ast::TypeKind::Numeric(_))
                    && self.ast.iter(args).collect::<Vec<_>>().into_iter().all(|a| self.is_simple(a, budget))
            }
            ExprKind::Cast { ty, operand } => {
                matches!(self.ast[ty].kind, ast::TypeKind::Numeric(_)) && self.is_simple(operand, budget)
            }
            _ => false,
        }
    }

    /// A variable and members of it.
    fn is_plain_path(&mut self, id: ExprId, budget: &mut u32) -> bool {
        let Some(left) = budget.checked_sub(1) else { return false };
        *budget = left;
        match self.ast[id].kind {
            ExprKind::This => true,
            ExprKind::Name(name) => matches!(self.lookup(name), Some(Sym::Var(_) | Sym::Field(..))),
            ExprKind::Member { base, .. } => self.is_plain_path(base, budget),
            _ => false,
        }
    }

    /// A variable's address when a place is all of a local variable.
    pub(crate) fn whole_local(&self, place: &Place) -> Option<ir::Value> {
        let crate::value::Base::Memory(memory) = &place.base else { return None };
        let (space, _) = self.b.module.types.pointee(self.b.func.ty(memory.root))?;
        let whole = memory.indices.is_empty() && place.steps.is_empty() && !memory.layout;
        (whole && space == ir::AddressSpace::Function).then_some(memory.root)
    }
}
