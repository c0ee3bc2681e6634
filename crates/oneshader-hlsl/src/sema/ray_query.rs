//! Ray queries (shader model 6.5): the type `RayQuery<flags>`, its objects, and the names of its constants.
//!
//! An object is memory that is never a value: it is declared, passed and asked through its address. As in DXC a parameter
//! is the caller's object whatever its direction, and an object that is initialized with another one is another name for
//! it.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::ray_query::{RayMethod, RayType, find, flag};
use oneshader_ir::{BinaryOp, Intrinsic, Op};
use smallvec::SmallVec;

use crate::ast::{self, TemplateArg, TemplateArgKind};
use crate::builtin::ObjectKind;
use crate::cx::Cx;
use crate::name::Name;
use crate::sema::{Storage, Var};
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{Arg, Base, Expr, Place, R, Reported, Value};

/// `RAY_FLAG`, `RAYQUERY_FLAG`, `CANDIDATE_TYPE` and `COMMITTED_STATUS` (DirectX Raytracing specification), all `uint`.
static CONSTANTS: &[(&str, u32)] = &[
    ("RAY_FLAG_NONE", 0),
    ("RAY_FLAG_FORCE_OPAQUE", flag::FORCE_OPAQUE),
    ("RAY_FLAG_FORCE_NON_OPAQUE", flag::FORCE_NON_OPAQUE),
    ("RAY_FLAG_ACCEPT_FIRST_HIT_AND_END_SEARCH", flag::ACCEPT_FIRST_HIT_AND_END_SEARCH),
    ("RAY_FLAG_SKIP_CLOSEST_HIT_SHADER", flag::SKIP_CLOSEST_HIT_SHADER),
    ("RAY_FLAG_CULL_BACK_FACING_TRIANGLES", flag::CULL_BACK_FACING_TRIANGLES),
    ("RAY_FLAG_CULL_FRONT_FACING_TRIANGLES", flag::CULL_FRONT_FACING_TRIANGLES),
    ("RAY_FLAG_CULL_OPAQUE", flag::CULL_OPAQUE),
    ("RAY_FLAG_CULL_NON_OPAQUE", flag::CULL_NON_OPAQUE),
    ("RAY_FLAG_SKIP_TRIANGLES", flag::SKIP_TRIANGLES),
    ("RAY_FLAG_SKIP_PROCEDURAL_PRIMITIVES", flag::SKIP_PROCEDURAL_PRIMITIVES),
    ("RAYQUERY_FLAG_NONE", 0),
    ("CANDIDATE_NON_OPAQUE_TRIANGLE", 0),
    ("CANDIDATE_PROCEDURAL_PRIMITIVE", 1),
    ("COMMITTED_NOTHING", 0),
    ("COMMITTED_TRIANGLE_HIT", 1),
    ("COMMITTED_PROCEDURAL_PRIMITIVE_HIT", 2),
];

/// The call of a method.
struct Call<'c> {
    /// The object's address.
    query: ir::Value,
    /// Flags of its type.
    flags: u32,
    args: &'c [Arg],
    span: Span,
}

impl Cx<'_> {
    /// The constant of the language that a name is which nobody declared.
    pub(crate) fn ray_constant(&mut self, name: Name) -> Option<Value> {
        let &(_, value) = CONSTANTS.iter().find(|(text, _)| *text == self.text(name))?;
        Some(Value { v: self.b.u32(value), ty: Ty::UINT })
    }

    /// `RayQuery<ray flags, query flags>`.
    pub(crate) fn ray_query_type(&mut self, args: &[TemplateArg], span: Span) -> R<Ty> {
        let mut flags = [0u32; 2];
        if args.is_empty() || args.len() > flags.len() {
            let message = "`RayQuery` takes its ray flags and perhaps its query flags";
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, span, message));
        }
        for (slot, arg) in flags.iter_mut().zip(args) {
            let TemplateArgKind::Expr(expr) = arg.kind else {
                let message = "the flags of a `RayQuery` are a number";
                return Err(self.error(codes::TEMPLATE_ARGUMENTS, arg.span, message));
            };
            let value = self.constant_int(expr)?;
            *slot = u32::try_from(value & 0xffff_ffff).unwrap_or_default();
        }
        if flags[1] != 0 {
            let message = "query flags of a `RayQuery` need shader model 6.9";
            return Err(self.error(codes::TEMPLATE_ARGUMENTS, args[1].span, message));
        }
        Ok(self.tys.intern(TyKind::RayQuery(flags[0])))
    }

    /// Whether a type is a ray query or an array of them.
    pub(crate) fn is_ray_query(&self, ty: Ty) -> bool {
        matches!(self.tys.kind(self.tys.innermost(ty)), TyKind::RayQuery(_))
    }

    /// Whether a ray query is the type or inside it.
    pub(crate) fn holds_ray_query(&self, ty: Ty) -> bool {
        let inner = self.tys.innermost(ty);
        match self.tys.kind(inner) {
            TyKind::RayQuery(_) => true,
            TyKind::Struct(s) => self.tys.def(s).has_queries,
            _ => false,
        }
    }

    /// Reports a ray query where a value is asked for.
    pub(crate) fn ray_query_is_no_value(&mut self, span: Span) -> Reported {
        self.unsupported(span, "a ray query cannot be copied; pass it to a function or give it another name")
    }

    /// A local ray query or array of them.
    pub(crate) fn declare_ray_query(&mut self, node: &ast::Var, name: Name, ty: Ty) {
        let span = node.name_span;
        let storage = match self.ray_query_storage(node, name, ty) {
            Ok(root) => Storage::Local(root),
            Err(_) => Storage::Error,
        };
        self.add_var(Var { name, ty, storage, readonly: None, known: None, span });
    }

    fn ray_query_storage(&mut self, node: &ast::Var, name: Name, ty: Ty) -> R<ir::Value> {
        let span = node.name_span;
        self.at(span);
        let Some(init) = node.init else {
            let (name, ir) = (self.ir_name(name), self.ir(ty));
            return Ok(self.b.local(name, ir));
        };
        let init_span = self.ast[init].span;
        let expr = match self.ast[init].kind {
            ast::ExprKind::InitList(_) => {
                let message = "a ray query cannot be made of an initializer list";
                return Err(self.error(codes::BAD_INITIALIZER, init_span, message));
            }
            _ => self.expr(init)?,
        };
        self.ray_query_address(&expr, ty, init_span)
    }

    /// `RayQuery<flags>()`: a new object.
    pub(crate) fn new_ray_query(&mut self, ty: Ty, span: Span) -> Expr {
        self.at(span);
        Expr::Place(self.new_local("query", ty))
    }

    /// The address of an object of type `ty`.
    pub(crate) fn ray_query_address(&mut self, expr: &Expr, ty: Ty, span: Span) -> R<ir::Value> {
        let from = self.type_of(expr);
        if !self.tys.same(from, ty) {
            return Err(self.no_conversion(from, ty, span, false));
        }
        self.at(span);
        match expr {
            Expr::Place(Place { base: Base::Memory(memory), steps, .. }) if steps.is_empty() => {
                let memory = memory.clone();
                Ok(self.memory_address(&memory))
            }
            _ => Err(self.ray_query_is_no_value(span)),
        }
    }

    /// The address of an object that is passed: a parameter's memory is a function's.
    pub(crate) fn pass_ray_query(&mut self, arg: &Arg, ty: Ty) -> R<ir::Value> {
        let address = self.ray_query_address(&arg.expr, ty, arg.span)?;
        match self.b.module.types.pointee(self.b.ty(address)) {
            Some((ir::AddressSpace::Function, _)) => Ok(address),
            _ => Err(self.unsupported(arg.span, "a `static` ray query cannot be passed to a function")),
        }
    }

    /// A call of a method of an object of type `ty`.
    pub(crate) fn call_ray_query(&mut self, object: &Expr, name: Name, args: &[Arg], span: Span) -> R<Expr> {
        let ty = self.type_of(object);
        let TyKind::RayQuery(flags) = self.tys.kind(ty) else { return Err(self.ray_query_is_no_value(span)) };
        let Some((method, transposed)) = find(self.text(name)) else {
            let message = format!("`{}` has no method `{}`", self.show(ty), self.text(name));
            return Err(self.error(codes::UNKNOWN_METHOD, span, message));
        };
        let query = self.ray_query_address(object, ty, span)?;
        let call = Call { query, flags, args, span };
        let operands = match method.intrinsic {
            Intrinsic::RayTrace => self.trace_operands(&call)?,
            _ => self.ray_operands(&call, method)?,
        };
        self.at(span);
        let op = Op::Intrinsic(method.intrinsic);
        let ty = match self.ray_type(method.result) {
            Ty::VOID => {
                self.b.effect(op, &operands);
                return Ok(Expr::Void);
            }
            ty => ty,
        };
        let ir = self.ir(ty);
        let value = Value { v: self.b.value(op, ir, &operands), ty };
        if !transposed {
            return Ok(Expr::Value(value));
        }
        let ty = self.tys.matrix(Elem::Float, 3, 4);
        let ir = self.ir(ty);
        Ok(Expr::Value(Value { v: self.b.value(Op::Intrinsic(Intrinsic::Transpose), ir, &[value.v]), ty }))
    }

    /// The type of a result or operand that is a number.
    fn ray_type(&mut self, ty: RayType) -> Ty {
        match ty {
            RayType::Void | RayType::Structure => Ty::VOID,
            RayType::Bool => Ty::BOOL,
            RayType::Uint => Ty::UINT,
            RayType::Float => Ty::FLOAT,
            RayType::Float2 => self.tys.vector(Elem::Float, 2),
            RayType::Float3 => self.tys.vector(Elem::Float, 3),
            RayType::Float4x3 => self.tys.numeric(Elem::Float, Shape::Matrix(4, 3)),
        }
    }

    fn ray_operands(&mut self, call: &Call<'_>, method: &RayMethod) -> R<SmallVec<[ir::Value; 8]>> {
        if call.args.len() != method.operands.len() {
            return Err(self.wrong_ray_arguments(method.name, method.operands.len(), call));
        }
        let mut operands = SmallVec::from_slice(&[call.query]);
        for (arg, operand) in call.args.iter().zip(method.operands) {
            let ty = self.ray_type(*operand);
            operands.push(self.arg(arg, ty)?.v);
        }
        Ok(operands)
    }

    /// `TraceRayInline(structure, flags, mask, ray)`: the flags of the type hold always, and the ray is a `RayDesc`.
    fn trace_operands(&mut self, call: &Call<'_>) -> R<SmallVec<[ir::Value; 8]>> {
        let [structure, flags, mask, ray] = call.args else {
            return Err(self.wrong_ray_arguments("TraceRayInline", 4, call));
        };
        let structure_ty = self.tys.intern(TyKind::Object(ObjectKind::RaytracingAccelerationStructure, Ty::VOID));
        let structure = self.arg(structure, structure_ty)?;
        let flags = self.arg(flags, Ty::UINT)?;
        let mask = self.arg(mask, Ty::UINT)?;
        let ray_ty = self.ray_desc();
        let ray = self.arg(ray, ray_ty)?;
        self.at(call.span);
        let uint = self.ir(Ty::UINT);
        let flags = match call.flags {
            0 => flags.v,
            own => {
                let own = self.b.u32(own);
                self.emit(Op::Binary(BinaryOp::Or), uint, &[flags.v, own])
            }
        };
        // Origin, TMin, Direction, TMax.
        let parts: SmallVec<[ir::Value; 4]> = (0..4).map(|i| self.extract(ray.v, i)).collect();
        let mut operands = SmallVec::from_slice(&[call.query, structure.v, flags, mask.v]);
        operands.extend(parts);
        Ok(operands)
    }

    fn wrong_ray_arguments(&mut self, name: &str, want: usize, call: &Call<'_>) -> Reported {
        let s = if want == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {want} argument{s}, not {}", call.args.len());
        self.error(codes::BAD_ARGUMENTS, call.span, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneshader_ir::ray_query::METHODS;

    #[test]
    fn every_method_takes_numbers_or_is_trace() {
        for method in METHODS {
            let structure = method.operands.contains(&RayType::Structure);
            assert_eq!(structure, method.intrinsic == Intrinsic::RayTrace, "{}", method.name);
        }
    }

    #[test]
    fn flags_are_single_bits_and_distinct() {
        let flags: Vec<u32> =
            CONSTANTS.iter().filter(|(n, v)| n.starts_with("RAY_FLAG_") && *v != 0).map(|c| c.1).collect();
        assert!(flags.iter().all(|f| f.is_power_of_two()));
        assert_eq!(flags.iter().fold(0, |all, f| all | f).count_ones() as usize, flags.len());
    }
}
