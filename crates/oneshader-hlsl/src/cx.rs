//! The context of checking and lowering: one walk over the tree that gives typed values and IR at once.
//!
//! # How built-in functions plug in
//!
//! The module `builtins` holds all intrinsic functions and all methods of objects. It provides
//!
//! - `builtins::lookup(text: &str) -> Option<BuiltinId>`: the built-in function of a name;
//! - `impl Cx { fn call_builtin(&mut self, id: BuiltinId, args: &[Arg], targs: &[TemplateValue], span: Span) -> R<Expr>`;
//! - `fn call_method(&mut self, object: Value, method: Name, args: &[Arg], targs: &[TemplateValue], span) -> R<Expr>`
//!   for objects (`object.ty` is a [`TyKind::Object`], `object.v` its handle);
//! - `fn index_object(&mut self, object: Value, index: Arg, span) -> R<Expr>` for `buffer[i]`, `texture[uv]`;
//! - `fn index_proxy(&mut self, proxy: Proxy, index: Arg, span) -> R<Expr>` for `.mips[][]` and `.sample[][]`: the
//!   first subscript gives the proxy back with its index, the second one the place;
//! - `fn member_object(&mut self, object: Value, name: Name, span) -> R<Expr>` for `.mips` and `.sample`. Members of the
//!   structure inside `ConstantBuffer<T>` and `TextureBuffer<T>` are found before it is asked.
//!
//! Arguments come as [`Arg`]: what the expression gives, places not yet loaded. What a built-in needs:
//!
//! - [`Cx::rvalue`] loads; [`Cx::convert`] converts implicitly (warnings and errors are its business); [`Cx::cast`] as
//!   `(T)x` does; [`Cx::can_convert`] asks. [`Cx::arg`] is `rvalue` and `convert` in one.
//! - For `out` parameters: [`Cx::out_place`] gives the place of an argument or reports that it cannot be written, and
//!   [`Cx::store`] converts and stores. [`Cx::address`] gives a pointer to it for atomics (texels too).
//! - Types: constants such as [`Ty::FLOAT`], constructors on [`Cx::tys`] ([`Tys::vector`], [`Tys::numeric`], ...),
//!   queries ([`Tys::as_numeric`], [`Tys::elem`], [`Tys::shape`], [`Tys::as_object`]); [`Cx::ir`] is the IR type of a
//!   value. [`Cx::common_type`] is the type two operands meet in.
//! - Emission: [`Cx::emit`] appends an instruction, folds it when all operands are known, and sets the flag `relaxed`
//!   for types of min-precision; [`Cx::binary`] and [`Cx::unary`] also take matrices of any kind; [`Cx::by_rows`] maps
//!   a component-wise operation over whatever shape a value has. Control flow and odd instructions go to [`Cx::b`], the
//!   [`FunctionBuilder`], directly; its span and flags are set.
//! - Numbers of literal types ([`Elem::LitInt`]) are constants of 64 bits: convert them before any instruction but a
//!   folded one; [`Cx::concrete`] makes `int` and `float` of them.
//! - Matrices: float ones of two or more rows and columns are IR matrices; integer and bool ones are IR arrays of rows;
//!   with one row or column they are IR vectors. [`Cx::rows`] and [`Cx::from_rows`] take any of them apart and together.
//! - A matrix or vector of one component is a scalar in the IR.
//! - Errors: [`Cx::error`], [`Cx::warn`]; [`Cx::unsupported`] for what is legal but not compiled, which is dropped when
//!   no entry point reaches the function. [`Cx::show`] names a type.
//! - The stage, where it matters, is known only to the verifier of intrinsics: a function may be called from several.

use oneshader_diag::{Code, Diagnostic, Span, codes};
use oneshader_ir as ir;
use oneshader_ir::layout::Layouts;
use oneshader_ir::{BinaryOp, FunctionBuilder, InstFlags, Op, TypeKind, UnaryOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ast::Ast;
use crate::name::{Interner, Name};
use crate::options::LowerOptions;
use crate::sema::State;
use crate::ty::{Elem, Shape, Ty, TyKind, Tys};
use crate::value::{Arg, Expr, Place, R, Reported, Value};

/// The context.
pub struct Cx<'a> {
    /// The tree.
    pub ast: &'a Ast,
    /// Names.
    pub names: &'a Interner,
    /// What the caller decided.
    pub opts: &'a LowerOptions,
    /// Builds the function that is being lowered.
    pub b: FunctionBuilder<'a>,
    /// Types.
    pub tys: Tys,
    /// Values that are known although an instruction computes them (loads of named constants).
    pub(crate) known: FxHashMap<ir::Value, ir::Const>,
    /// Declarations, scopes and the state of the walk.
    pub(crate) s: State,
    pub(crate) diags: Vec<(Option<u32>, Diagnostic)>,
    pub(crate) ir_names: FxHashMap<Name, ir::Name>,
    pub(crate) ir_types: FxHashMap<(Ty, bool), ir::Type>,
    /// Layouts of what byte-address buffers hold.
    pub(crate) layouts: Layouts,
    /// Structures of a status and a texture operation's result, by the type of the result.
    pub(crate) status_types: FxHashMap<ir::Type, ir::Type>,
}

impl Cx<'_> {
    // Diagnostics.

    /// Reports an error of a code at a place.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::new(code, span, message))
    }

    /// Reports a warning.
    pub fn warn(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    /// Reports legal HLSL that is not compiled; dropped when no entry point reaches the function.
    pub fn unsupported(&mut self, span: Span, message: impl Into<String>) -> Reported {
        self.error(codes::UNSUPPORTED, span, message)
    }

    /// Reports.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diags.push((self.s.func, diagnostic));
        Reported(())
    }

    /// A type as a person writes it.
    pub fn show(&self, ty: Ty) -> String {
        self.tys.show(self.names, ty)
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// The IR's handle of a name.
    pub fn ir_name(&mut self, name: Name) -> ir::Name {
        let (names, module) = (self.names, &mut *self.b.module);
        *self.ir_names.entry(name).or_insert_with(|| module.names.intern(names.text(name)))
    }

    // Values.

    /// A value of an expression: places are loaded.
    pub fn rvalue(&mut self, expr: Expr, span: Span) -> R<Value> {
        match expr {
            Expr::Value(value) => Ok(value),
            Expr::Place(place) => self.load(&place, span),
            Expr::Void => Err(self.error(codes::TYPE_MISMATCH, span, "the expression gives no value")),
            Expr::Str(_) => Err(self.error(codes::TYPE_MISMATCH, span, "a string cannot be used as a value")),
            Expr::Proxy(_) => Err(self.error(codes::BAD_SUBSCRIPT, span, "expected a subscript behind this member")),
        }
    }

    /// The value of an argument, converted to a type.
    pub fn arg(&mut self, arg: &Arg, ty: Ty) -> R<Value> {
        let value = self.rvalue(arg.expr.clone(), arg.span)?;
        self.convert(value, ty, arg.span)
    }

    /// The type of an expression; [`Ty::VOID`] where there is none.
    pub fn type_of(&self, expr: &Expr) -> Ty {
        match expr {
            Expr::Void | Expr::Proxy(_) => Ty::VOID,
            Expr::Value(value) => value.ty,
            Expr::Place(place) => place.ty,
            Expr::Str(_) => Ty::STRING,
        }
    }

    /// The place of an argument that is written, or the reason why it cannot be.
    pub fn out_place(&mut self, expr: &Expr, span: Span) -> R<Place> {
        match expr {
            Expr::Place(place) => {
                self.check_writable(place, span)?;
                Ok(place.clone())
            }
            _ => Err(self.error(codes::NOT_ASSIGNABLE, span, "expected a variable that can be written")),
        }
    }

    /// The constant that a value is known to be.
    pub fn known(&self, v: ir::Value) -> Option<ir::Const> {
        self.b.func.as_const(v).or_else(|| self.known.get(&v).copied())
    }

    /// The integer that a value is known to be (truth values as 0 and 1).
    pub fn known_int(&self, value: Value) -> Option<i64> {
        let c = self.known(value.v)?;
        let bits = self.b.module.consts.bits(c)?;
        match self.b.module.types.scalar_of(self.b.module.consts.ty(c))? {
            ir::Scalar::Float { .. } => None,
            ir::Scalar::Int { bits: 16, signed: true } => Some(i64::from(bits as i16)),
            ir::Scalar::Int { bits: 32, signed: true } => Some(i64::from(bits as i32)),
            _ => Some(bits as i64),
        }
    }

    /// An integer constant of a scalar type.
    pub fn int(&mut self, value: i64, elem: Elem) -> Value {
        let scalar = elem.ir();
        let bits = match scalar {
            ir::Scalar::Float { bits: 64 } => (value as f64).to_bits(),
            ir::Scalar::Float { bits: 32 } => u64::from((value as f32).to_bits()),
            ir::Scalar::Float { .. } => u64::from(half::f16::from_f64(value as f64).to_bits()),
            _ => value as u64,
        };
        let c = self.b.module.consts.scalar(&mut self.b.module.types, scalar, bits);
        let ty = self.tys.scalar(elem);
        Value { v: self.b.constant(c), ty }
    }

    /// All bits zero, of any type but one with objects.
    pub fn zero(&mut self, ty: Ty) -> Value {
        let ir = self.ir(ty);
        Value { v: self.b.zero(ir), ty }
    }

    /// Any value of a type.
    pub fn undef(&mut self, ty: Ty) -> Value {
        let ir = self.ir(ty);
        let c = self.b.module.consts.intern(ir, ir::ConstData::Undef);
        Value { v: self.b.constant(c), ty }
    }

    /// A literal as `int` or `float`; a literal that does not fit in `int` becomes `uint` or a 64-bit integer. Others
    /// stay.
    pub fn concrete(&mut self, value: Value) -> Value {
        let Some((elem, shape)) = self.tys.as_numeric(value.ty) else { return value };
        if !elem.is_literal() {
            return value;
        }
        let elem = match (elem, self.known_int(value)) {
            (Elem::LitInt, Some(n)) if i32::try_from(n).is_err() => match u32::try_from(n) {
                Ok(_) => Elem::Uint,
                Err(_) => Elem::Int64,
            },
            _ => elem.concrete(),
        };
        let ty = self.tys.numeric(elem, shape);
        self.convert_numeric(value, ty)
    }

    // Emission.

    /// Sets the place in the source of what is emitted next.
    pub fn at(&mut self, span: Span) {
        self.b.span = span;
    }

    /// Appends an instruction that has a result, or gives the constant it would compute.
    pub fn emit(&mut self, op: Op, ty: ir::Type, args: &[ir::Value]) -> ir::Value {
        let consts: Option<SmallVec<[ir::Const; 4]>> = args.iter().map(|&a| self.known(a)).collect();
        if let Some(consts) = consts {
            let module = &mut *self.b.module;
            if let Some(c) = ir::eval::fold(&mut module.types, &mut module.consts, op, ty, &consts) {
                return self.b.constant(c);
            }
        }
        self.b.value(op, ty, args)
    }

    /// The same with the flag `relaxed` when the element is of min-precision.
    pub fn emit_as(&mut self, elem: Elem, op: Op, ty: ir::Type, args: &[ir::Value]) -> ir::Value {
        let before = self.b.flags;
        if elem.is_min_precision() {
            self.b.flags |= InstFlags::RELAXED;
        }
        let v = self.emit(op, ty, args);
        self.b.flags = before;
        v
    }

    /// Part of a composite, folded when known; a scalar is its own only part.
    pub fn extract(&mut self, a: ir::Value, index: u32) -> ir::Value {
        let ty = self.b.ty(a);
        if matches!(self.b.module.types.kind(ty), TypeKind::Scalar(_)) {
            return a;
        }
        match self.b.module.types.part(ty, index) {
            Some(part) => self.emit(Op::Extract { index }, part, &[a]),
            None => a,
        }
    }

    /// A composite from its parts, folded when they are known; the part itself for a scalar type.
    pub fn construct(&mut self, ty: ir::Type, parts: &[ir::Value]) -> ir::Value {
        match (self.b.module.types.kind(ty), parts) {
            (TypeKind::Scalar(_), &[only]) => only,
            _ => self.emit(Op::Construct, ty, parts),
        }
    }

    /// The rows of a numeric value as IR vectors: one row for a vector or scalar.
    pub fn rows(&mut self, value: Value) -> SmallVec<[ir::Value; 4]> {
        match self.tys.shape(value.ty) {
            Some(Shape::Matrix(r, c)) if r > 1 && c > 1 => {
                (0..u32::from(r)).map(|i| self.extract(value.v, i)).collect()
            }
            _ => SmallVec::from_slice(&[value.v]),
        }
    }

    /// The value of a numeric type whose rows these are; the opposite of [`rows`](Self::rows).
    pub fn from_rows(&mut self, ty: Ty, rows: &[ir::Value]) -> Value {
        let ir = self.ir(ty);
        let v = match rows {
            [only] => *only,
            _ => self.construct(ir, rows),
        };
        Value { v, ty }
    }

    /// Applies `f`, which works component by component on IR scalars and vectors, to values of one shape. `ty` is the
    /// type of the result, of the same shape. IR matrices are passed whole when `whole` says that `f` takes them.
    pub fn by_rows(
        &mut self,
        ty: Ty,
        args: &[Value],
        whole: bool,
        mut f: impl FnMut(&mut Self, ir::Type, &[ir::Value]) -> ir::Value,
    ) -> Value {
        let result = self.ir(ty);
        let types = &self.b.module.types;
        let is_rows = |t: ir::Type| match types.kind(t) {
            TypeKind::Array { .. } => true,
            TypeKind::Matrix { .. } => !whole,
            _ => false,
        };
        let split = is_rows(result) || args.iter().any(|a| is_rows(self.b.func.ty(a.v)));
        if !split {
            let args: SmallVec<[ir::Value; 4]> = args.iter().map(|a| a.v).collect();
            return Value { v: f(self, result, &args), ty };
        }
        let Some((elem, Shape::Matrix(r, c))) = self.tys.as_numeric(ty) else { return self.undef(ty) };
        let row = self.b.module.types.vector(elem.ir(), c);
        let mut rows: SmallVec<[ir::Value; 4]> = SmallVec::new();
        for i in 0..u32::from(r) {
            let args: SmallVec<[ir::Value; 4]> = args.iter().map(|a| self.extract(a.v, i)).collect();
            rows.push(f(self, row, &args));
        }
        Value { v: self.construct(result, &rows), ty }
    }

    /// `op a`, component by component.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let elem = self.tys.elem(a.ty).unwrap_or(Elem::Int);
        self.by_rows(a.ty, &[a], false, |cx, ty, args| cx.emit_as(elem, Op::Unary(op), ty, args))
    }

    /// `a op b`, component by component; both of one type. Comparisons give `bool`s.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let elem = self.tys.elem(a.ty).unwrap_or(Elem::Int);
        let ty = if op.is_comparison() { self.tys.with_elem(a.ty, Elem::Bool) } else { a.ty };
        let whole = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
        self.by_rows(ty, &[a, b], whole, |cx, ty, args| cx.emit_as(elem, Op::Binary(op), ty, args))
    }

    /// `cond ? a : b`, component by component; `cond` is a `bool` or as many as `a` has.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let scalar = self.tys.shape(cond.ty).is_some_and(|s| s.count() == 1);
        if scalar {
            let ty = self.ir(a.ty);
            return Value { v: self.emit(Op::Select, ty, &[cond.v, a.v, b.v]), ty: a.ty };
        }
        self.by_rows(a.ty, &[cond, a, b], false, |cx, ty, args| cx.emit(Op::Select, ty, args))
    }

    /// The scalars of a numeric value, row after row.
    pub fn components(&mut self, value: Value) -> SmallVec<[ir::Value; 16]> {
        let mut out = SmallVec::new();
        for row in self.rows(value) {
            let lanes = self.b.module.types.lanes(self.b.ty(row)).max(1);
            (0..u32::from(lanes)).for_each(|i| out.push(self.extract(row, i)));
        }
        out
    }

    /// A numeric value from its scalars, row after row; missing ones repeat the last.
    pub fn from_components(&mut self, ty: Ty, comps: &[ir::Value]) -> Value {
        let Some((elem, shape)) = self.tys.as_numeric(ty) else { return self.undef(ty) };
        let (r, c) = match shape {
            Shape::Scalar => (1, 1),
            Shape::Vector(n) => (1, n),
            Shape::Matrix(r, 1) => (1, r),
            Shape::Matrix(r, c) => (r, c),
        };
        let row_ty = self.b.module.types.vector(elem.ir(), c);
        let mut rows: SmallVec<[ir::Value; 4]> = SmallVec::new();
        for i in 0..usize::from(r) {
            let row: SmallVec<[ir::Value; 4]> = (0..usize::from(c))
                .filter_map(|j| comps.get(i * usize::from(c) + j).or(comps.last()).copied())
                .collect();
            rows.push(self.construct(row_ty, &row));
        }
        let ir = self.ir(ty);
        let v = match rows[..] {
            [only] => only,
            _ => self.construct(ir, &rows),
        };
        Value { v, ty }
    }

    /// Whether a type is an enumeration.
    pub(crate) fn is_enum(&self, ty: Ty) -> bool {
        matches!(self.tys.kind(ty), TyKind::Enum(_))
    }
}
