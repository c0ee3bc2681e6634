//! V014 to V018: types of operations, pointers, writes, terminators, calls.

use super::Checker;
use super::graph::{part_count, part_kind, part_of};
use crate::entity::{Type, Value};
use crate::func::{Function, Terminator, TerminatorKind, ValueDef};
use crate::inst::{AtomicOp, BinaryOp, InstData, Op, UnaryOp};
use crate::module::InlineOperand;
use crate::types::{Access, AddressSpace, CounterKind, ResourceType, Scalar, TypeKind};

/// Rows (0 for scalars and vectors) and columns (1 for scalars) of a numeric type.
pub(super) type Shape = (u8, u8);

impl Checker<'_> {
    pub(super) fn kind(&self, ty: Type) -> TypeKind {
        self.m.types.kind(ty)
    }

    pub(super) fn arg_kind(&self, func: &Function, data: &InstData, index: usize) -> TypeKind {
        data.args.get(index).map_or(TypeKind::Void, |&a| self.kind(func.ty(a)))
    }

    pub(super) fn arg_ty(&self, func: &Function, data: &InstData, index: usize) -> Option<Type> {
        data.args.get(index).map(|&a| func.ty(a))
    }

    pub(super) fn shape(kind: TypeKind) -> Option<(Scalar, Shape)> {
        match kind {
            TypeKind::Scalar(s) => Some((s, (0, 1))),
            TypeKind::Vector { elem, len } => Some((elem, (0, len))),
            TypeKind::Matrix { elem, rows, cols } => Some((elem, (rows, cols))),
            _ => None,
        }
    }

    /// A scalar integer.
    pub(super) fn is_index(kind: TypeKind) -> bool {
        matches!(kind, TypeKind::Scalar(s) if s.is_int())
    }

    /// Whether `ty` has no handle, no pointer and no ray query in it.
    pub(super) fn is_data(&self, ty: Type) -> bool {
        self.is_made_of(ty, |kind| kind.is_numeric())
    }

    /// Whether `leaf` holds for all that `ty` is made of beyond arrays and structures.
    fn is_made_of(&self, ty: Type, leaf: impl Fn(TypeKind) -> bool) -> bool {
        // Structures stand before those that contain them, so this ends; a stack bounds what nesting costs.
        let mut stack = vec![ty];
        let mut budget = 10_000u32;
        while let Some(ty) = stack.pop() {
            budget = budget.saturating_sub(1);
            match self.kind(ty) {
                TypeKind::Array { elem, .. } => stack.push(elem),
                TypeKind::Struct(id) if budget > 0 => {
                    stack.extend(self.m.types.structs[id].members.iter().map(|m| m.ty));
                }
                TypeKind::Struct(_) => {}
                kind if leaf(kind) => {}
                _ => return false,
            }
        }
        true
    }

    fn is_pointer(&self, ty: Type) -> bool {
        matches!(self.kind(ty), TypeKind::Pointer { .. })
    }

    fn arity(&mut self, data: &InstData, count: usize) -> bool {
        let ok = data.args.len() == count;
        self.check(14, ok, || format!("it takes {count} operands, not {}", data.args.len()));
        ok
    }

    /// V014 with the operation's rule in words.
    fn typed(&mut self, ok: bool, rule: &str) {
        self.check(14, ok, || rule.to_string());
    }

    pub(super) fn op(&mut self, func: &Function, data: &InstData) {
        let result = self.kind(data.ty);
        // Pointers are made and passed by these alone; no other operand or result is one.
        let pointers = matches!(
            data.op,
            Op::Access
                | Op::Load
                | Op::Store
                | Op::BlockPtr
                | Op::ElementPtr
                | Op::RawPtr
                | Op::TexelPtr
                | Op::AddressPtr { .. }
                | Op::Atomic(_)
                | Op::AtomicCompareExchange
                | Op::Intrinsic(_)
                | Op::Spirv(_)
                | Op::Call(_)
        );
        if !pointers {
            let any = data.args.iter().any(|&a| self.is_pointer(func.ty(a)));
            self.check(15, !any && !self.is_pointer(data.ty), || "a pointer is an operand or the result".into());
        }
        match data.op {
            Op::Unary(op) => self.unary(func, data, op),
            Op::Binary(op) => self.binary(func, data, op),
            Op::Select => self.select(func, data),
            Op::Convert => {
                if self.arity(data, 1) {
                    let (from, to) = (Self::shape(self.arg_kind(func, data, 0)), Self::shape(result));
                    let ok = from.is_some() && from.map(|s| s.1) == to.map(|s| s.1);
                    self.typed(ok, "a conversion keeps the shape");
                }
            }
            Op::Bitcast => {
                if self.arity(data, 1) {
                    let size = |kind| match Self::shape(kind) {
                        Some((Scalar::Bool, _)) | None => None,
                        Some((s, (0, n))) => Some(s.bits() * u32::from(n)),
                        Some(_) => None,
                    };
                    let (from, to) = (size(self.arg_kind(func, data, 0)), size(result));
                    self.typed(from.is_some() && from == to, "a bitcast keeps the size, of numbers that are no matrix");
                }
            }
            Op::Copy => {
                if self.arity(data, 1) {
                    self.typed(self.arg_ty(func, data, 0) == Some(data.ty), "a copy keeps the type");
                }
            }
            Op::Construct => self.construct(func, data),
            Op::Splat => {
                if self.arity(data, 1) {
                    let ok = match (self.arg_kind(func, data, 0), result) {
                        (TypeKind::Scalar(s), TypeKind::Vector { elem, .. }) => s == elem,
                        _ => false,
                    };
                    self.typed(ok, "a splat makes a vector of its scalar");
                }
            }
            Op::Extract { index } => {
                if self.arity(data, 1) {
                    let part = self.arg_ty(func, data, 0).and_then(|ty| part_kind(self.m, ty, index));
                    self.typed(part == Some(result), "it extracts a part that the composite has");
                }
            }
            Op::Insert { index } => {
                if self.arity(data, 2) {
                    let part = part_kind(self.m, data.ty, index);
                    let ok = self.arg_ty(func, data, 0) == Some(data.ty) && part == Some(self.arg_kind(func, data, 1));
                    self.typed(ok, "it replaces a part that the composite has");
                }
            }
            Op::ExtractDynamic => {
                if self.arity(data, 2) {
                    let ok = match self.arg_kind(func, data, 0) {
                        TypeKind::Vector { elem, .. } => result == TypeKind::Scalar(elem),
                        _ => false,
                    };
                    let ok = ok && Self::is_index(self.arg_kind(func, data, 1));
                    self.typed(ok, "it extracts a component of a vector by an integer");
                }
            }
            Op::Swizzle(swizzle) => {
                if self.arity(data, 1) {
                    let ok = match (self.arg_kind(func, data, 0), result) {
                        (TypeKind::Vector { elem, len }, to) => {
                            swizzle.comps().iter().all(|&c| c < len)
                                && Self::shape(to) == Some((elem, (0, swizzle.comps().len() as u8)))
                        }
                        _ => false,
                    };
                    self.typed(ok, "a swizzle takes components that the vector has");
                }
            }
            Op::MatMul => self.matmul(func, data),
            Op::Access => self.access(func, data),
            Op::Load => {
                if self.arity(data, 1) {
                    let (space, pointee) = match self.arg_kind(func, data, 0) {
                        TypeKind::Pointer { space, pointee } => (space, Some(pointee)),
                        _ => (AddressSpace::Function, None),
                    };
                    let sized = !matches!(result, TypeKind::RuntimeArray { .. });
                    self.typed(pointee == Some(data.ty) && sized, "a load gives what its pointer points to");
                    if space != AddressSpace::Handle {
                        self.resolved(data);
                    }
                    self.check(15, space != AddressSpace::Texel, || "a texel's address serves atomics only".into());
                    self.no_query(data.ty);
                    self.not_raw(func, data);
                }
            }
            Op::Store => {
                if self.arity(data, 2) {
                    let pointee = match self.arg_kind(func, data, 0) {
                        TypeKind::Pointer { pointee, .. } => Some(pointee),
                        _ => None,
                    };
                    let value = self.arg_ty(func, data, 1);
                    let ok = pointee.is_some() && pointee == value && result == TypeKind::Void;
                    self.typed(ok, "a store takes what its pointer points to");
                    self.check(15, !value.is_some_and(|v| self.is_pointer(v)), || "a pointer is stored".into());
                    value.iter().for_each(|&v| self.no_query(v));
                    self.not_raw(func, data);
                    self.writable(func, data.args[0]);
                }
            }
            Op::BlockPtr | Op::ElementPtr | Op::RawPtr | Op::TexelPtr => self.address(func, data),
            Op::AddressPtr { align, .. } => {
                let address = self.arg_kind(func, data, 0) == TypeKind::Scalar(Scalar::Int { bits: 64, signed: false });
                let device = matches!(result, TypeKind::Pointer { space: AddressSpace::Device, .. });
                let ok = address && device && data.args.len() == 1 && align.is_power_of_two();
                self.typed(
                    ok,
                    "an address is a `u64` and a multiple of a power of two, and points into the device's memory",
                );
            }
            Op::RawLoad | Op::RawStore => self.raw_memory(func, data),
            Op::Spirv(inline) => {
                let ids = self
                    .m
                    .inlines
                    .get(inline)
                    .map(|inline| inline.operands.iter().filter(|operand| **operand == InlineOperand::Id).count());
                self.check(14, ids == Some(data.args.len()), || {
                    "its arguments are not its operands that are ids".into()
                });
            }
            Op::BufferLength => {
                if self.arity(data, 1) {
                    let ok = matches!(
                        self.arg_kind(func, data, 0),
                        TypeKind::Resource(
                            ResourceType::StructuredBuffer { .. } | ResourceType::ByteAddressBuffer { .. }
                        )
                    );
                    let ok = ok && result == TypeKind::Scalar(Scalar::U32);
                    self.typed(ok, "a length is the `u32` of a structured or byte-address buffer");
                }
            }
            Op::Counter { delta } => {
                if self.arity(data, 1) {
                    let ok = match self.arg_kind(func, data, 0) {
                        TypeKind::Resource(ResourceType::StructuredBuffer { access, counter, .. }) => {
                            access == Access::ReadWrite && counter != CounterKind::None
                        }
                        _ => false,
                    };
                    let ok = ok && matches!(delta, 1 | -1) && result == TypeKind::Scalar(Scalar::U32);
                    self.typed(ok, "a counter moves by 1 or -1 and is the `u32` of a buffer that has one");
                }
            }
            Op::Atomic(op) => {
                if self.arity(data, 2) {
                    self.atomic(func, data, op == AtomicOp::Exchange);
                }
            }
            Op::AtomicCompareExchange => {
                if self.arity(data, 3) {
                    self.atomic(func, data, true);
                }
            }
            Op::Texture(op, operands) => self.texture(func, data, op, operands),
            Op::Intrinsic(which) => self.intrinsic(func, data, which),
            Op::Call(callee) => self.call(func, data, callee),
            Op::Phi => {
                let ok = data.args.iter().all(|&a| func.ty(a) == data.ty) && result != TypeKind::Void;
                self.typed(ok, "a phi's operands have its type");
                self.resolved(data);
            }
            Op::Printf(_) => {
                let printable = |arg: usize| matches!(Self::shape(self.arg_kind(func, data, arg)), Some((scalar, (0, _))) if scalar != Scalar::Bool);
                let ok = result == TypeKind::Void && (0..data.args.len()).all(printable);
                self.typed(ok, "scalars and vectors of numbers are printed, and nothing comes back");
            }
            Op::Discard => {
                self.typed(data.args.is_empty() && result == TypeKind::Void, "a discard has no operands and no result");
            }
        }
    }

    /// V014 for what is loaded or stored: a ray query is neither.
    fn no_query(&mut self, ty: Type) {
        let copied = !self.kind(ty).is_numeric() && self.m.types.holds_ray_query(ty);
        self.typed(!copied, "a ray query is never copied");
    }

    /// V033 for a value that is chosen.
    fn resolved(&mut self, data: &InstData) {
        let handle = matches!(self.kind(data.ty), TypeKind::Resource(_));
        let resolved = self.m.properties.contains(crate::Properties::HANDLES_RESOLVED);
        self.check(33, !(handle && resolved), || "a handle is chosen, or kept in a variable".into());
    }

    fn unary(&mut self, func: &Function, data: &InstData, op: UnaryOp) {
        if !self.arity(data, 1) {
            return;
        }
        let same = self.arg_ty(func, data, 0) == Some(data.ty);
        let ok = match (op, Self::shape(self.kind(data.ty))) {
            (UnaryOp::Neg, Some((s, (rows, _)))) => s.is_float() || (s.is_int() && rows == 0),
            (UnaryOp::Not, Some((s, (0, _)))) => s == Scalar::Bool,
            (UnaryOp::BitNot, Some((s, (0, _)))) => s.is_int(),
            _ => false,
        };
        self.typed(same && ok, "the operand has the result's type, which the operation admits");
    }

    fn binary(&mut self, func: &Function, data: &InstData, op: BinaryOp) {
        if !self.arity(data, 2) {
            return;
        }
        let (a, b) = (self.arg_ty(func, data, 0), self.arg_ty(func, data, 1));
        let (Some((s, shape)), true) = (Self::shape(self.arg_kind(func, data, 0)), a == b) else {
            return self.typed(false, "the operands have one numeric type");
        };
        let matrix = shape.0 > 0;
        let ok = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => s != Scalar::Bool,
            BinaryOp::Rem => s != Scalar::Bool && !matrix,
            BinaryOp::Shl | BinaryOp::Shr => s.is_int(),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !s.is_float(),
            BinaryOp::Eq | BinaryOp::Ne => !matrix,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => s != Scalar::Bool && !matrix,
        };
        let result = match op.is_comparison() {
            true => Self::shape(self.kind(data.ty)) == Some((Scalar::Bool, shape)),
            false => a == Some(data.ty),
        };
        self.typed(ok, "the operation admits the type of its operands");
        self.typed(result, "the result has the operands' type, or as many `bool`s");
    }

    fn select(&mut self, func: &Function, data: &InstData) {
        if !self.arity(data, 3) {
            return;
        }
        let same = self.arg_ty(func, data, 1) == Some(data.ty) && self.arg_ty(func, data, 2) == Some(data.ty);
        let cond = match (self.arg_kind(func, data, 0), self.kind(data.ty)) {
            (TypeKind::Scalar(Scalar::Bool), _) => true,
            (TypeKind::Vector { elem: Scalar::Bool, len }, TypeKind::Vector { len: n, .. }) => len == n,
            _ => false,
        };
        self.typed(same && cond, "a select chooses between two of its type by a `bool`, or one for each component");
        self.resolved(data);
    }

    fn construct(&mut self, func: &Function, data: &InstData) {
        let ok = match self.kind(data.ty) {
            TypeKind::Vector { elem, len } => {
                let mut lanes = 0u32;
                let fit = data.args.iter().all(|&a| match Self::shape(self.kind(func.ty(a))) {
                    Some((s, (0, n))) => {
                        lanes += u32::from(n);
                        s == elem
                    }
                    _ => false,
                });
                fit && lanes == u32::from(len)
            }
            TypeKind::Matrix { .. } | TypeKind::Array { .. } | TypeKind::Struct(_) => {
                data.args.len() == part_count(self.m, data.ty)
                    && data
                        .args
                        .iter()
                        .enumerate()
                        .all(|(i, &a)| part_kind(self.m, data.ty, i as u32) == Some(self.kind(func.ty(a))))
            }
            _ => false,
        };
        self.typed(ok, "the operands are the parts of the composite");
    }

    fn matmul(&mut self, func: &Function, data: &InstData) {
        if !self.arity(data, 2) {
            return;
        }
        use TypeKind::{Matrix, Vector};
        let expected = match (self.arg_kind(func, data, 0), self.arg_kind(func, data, 1)) {
            (Matrix { elem, rows, cols: k }, Matrix { elem: e, rows: l, cols }) if elem == e && k == l => {
                Some(Matrix { elem, rows, cols })
            }
            (Vector { elem, len }, Matrix { elem: e, rows, cols }) if elem == e && len == rows => {
                Some(Vector { elem, len: cols })
            }
            (Matrix { elem, rows, cols }, Vector { elem: e, len }) if elem == e && cols == len => {
                Some(Vector { elem, len: rows })
            }
            _ => None,
        };
        self.typed(expected == Some(self.kind(data.ty)), "rows and columns of a product fit");
    }

    fn access(&mut self, func: &Function, data: &InstData) {
        let TypeKind::Pointer { space, pointee } = self.arg_kind(func, data, 0) else {
            return self.typed(false, "an access starts at a pointer");
        };
        self.typed(data.args.len() > 1, "an access has an index");
        let mut kind = self.kind(pointee);
        for &index in &data.args[1..] {
            let known = func.as_const(index).and_then(|c| self.m.consts.bits(c));
            if !Self::is_index(self.kind(func.ty(index))) {
                return self.typed(false, "an index is an integer");
            }
            let step = match (kind, known) {
                (TypeKind::Struct(_), None) => return self.typed(false, "the index of a member is a constant"),
                (TypeKind::Array { len, .. }, Some(i)) if i < u64::from(len) => i as u32,
                // A constant index beyond an array is as undefined as a computed one; it is no malformed program.
                (TypeKind::Array { .. } | TypeKind::RuntimeArray { .. }, _) => 0,
                (_, Some(i)) => u32::try_from(i).unwrap_or(u32::MAX),
                (_, None) => 0,
            };
            match part_of(self.m, kind, step) {
                Some(part) => kind = part,
                None => return self.typed(false, "an index names a part that there is"),
            }
        }
        let ok = match self.kind(data.ty) {
            TypeKind::Pointer { space: s, pointee: p } => s == space && self.kind(p) == kind,
            _ => false,
        };
        self.typed(ok, "an access gives the address of the part, in the same space");
    }

    fn address(&mut self, func: &Function, data: &InstData) {
        let TypeKind::Pointer { space, pointee } = self.kind(data.ty) else {
            return self.typed(false, "it gives a pointer");
        };
        let TypeKind::Resource(resource) = self.arg_kind(func, data, 0) else {
            return self.typed(false, "it takes a handle");
        };
        let index = self.arg_kind(func, data, 1);
        let uint = index == TypeKind::Scalar(Scalar::U32);
        let ok = match (data.op, resource) {
            (Op::BlockPtr, ResourceType::ConstantBuffer { block }) => {
                data.args.len() == 1
                    && block == pointee
                    && matches!(space, AddressSpace::Constant | AddressSpace::PushConstant)
            }
            (Op::BlockPtr, ResourceType::TextureBuffer { block }) => {
                data.args.len() == 1 && block == pointee && space == AddressSpace::Storage
            }
            (Op::ElementPtr, ResourceType::StructuredBuffer { elem, .. }) => {
                data.args.len() == 2 && uint && elem == pointee && space == AddressSpace::Storage
            }
            (Op::RawPtr, ResourceType::ByteAddressBuffer { access }) => {
                let scalar = matches!(self.kind(pointee), TypeKind::Scalar(s) if s != Scalar::Bool && s.bits() >= 32);
                let ok = data.args.len() == 2 && uint && scalar && space == AddressSpace::Storage;
                ok && access == Access::ReadWrite
            }
            (Op::TexelPtr, ResourceType::Texture(t)) => {
                let lanes = t.dim.coords() as u8 + u8::from(t.arrayed);
                let coord = matches!(Self::shape(index), Some((s, (0, n))) if s.is_int() && n == lanes);
                let args = data.args.len() == 2 + usize::from(t.multisampled);
                let texel = self.kind(pointee) == TypeKind::Scalar(t.texel) && space == AddressSpace::Texel;
                coord && args && texel && t.access == Access::ReadWrite
            }
            _ => false,
        };
        self.typed(ok, "the address is of what the resource holds, reached as the operation reaches it");
    }

    fn raw_memory(&mut self, func: &Function, data: &InstData) {
        let store = data.op == Op::RawStore;
        if !self.arity(data, if store { 3 } else { 2 }) {
            return;
        }
        let access = match self.arg_kind(func, data, 0) {
            TypeKind::Resource(ResourceType::ByteAddressBuffer { access }) => Some(access),
            _ => None,
        };
        let offset = self.arg_kind(func, data, 1) == TypeKind::Scalar(Scalar::U32);
        let value = if store { self.arg_kind(func, data, 2) } else { self.kind(data.ty) };
        let numbers = matches!(Self::shape(value), Some((s, (0, _))) if s != Scalar::Bool);
        let void = !store || self.kind(data.ty) == TypeKind::Void;
        let ok = access.is_some() && offset && numbers && void;
        self.typed(ok, "a byte-address buffer holds scalars and vectors of numbers, reached by a `u32` of bytes");
        self.check(16, !store || access != Some(Access::Read), || "it writes a read-only buffer".into());
    }

    fn atomic(&mut self, func: &Function, data: &InstData, any: bool) {
        let ok = match self.arg_kind(func, data, 0) {
            TypeKind::Pointer { space, pointee } => {
                let scalar = match self.kind(pointee) {
                    TypeKind::Scalar(s) => s.is_int() || (any && s.is_float()),
                    _ => false,
                };
                let space = matches!(
                    space,
                    AddressSpace::Workgroup | AddressSpace::Storage | AddressSpace::Texel | AddressSpace::Device
                );
                scalar && space && data.ty == pointee && data.args[1..].iter().all(|&a| func.ty(a) == pointee)
            }
            _ => false,
        };
        self.typed(ok, "an atomic works on an integer in memory that lanes share, with operands of its type");
        self.writable(func, data.args[0]);
    }

    fn call(&mut self, func: &Function, data: &InstData, callee: crate::Func) {
        let target = &self.m.functions[callee];
        let ok = target.params.len() == data.args.len()
            && target.params.iter().zip(&data.args).all(|(p, &a)| p.ty == func.ty(a))
            && target.ret == data.ty;
        self.check(18, ok, || format!("the operands and the result are not those of {callee}"));
    }

    /// V015: an address from `RawPtr` is neither loaded nor stored.
    fn not_raw(&mut self, func: &Function, data: &InstData) {
        let raw = func.def_inst(data.args[0]).is_some_and(|(_, d)| d.op == Op::RawPtr);
        self.check(15, !raw, || "the address in a byte-address buffer serves atomics only".into());
    }

    /// V016: what `pointer` points to may be written.
    fn writable(&mut self, func: &Function, pointer: Value) {
        let mut at = pointer;
        // Chains of accesses are as long as a function at most.
        for _ in 0..func.insts.len() {
            match func.def_inst(at) {
                Some((_, data)) if data.op == Op::Access && !data.args.is_empty() => at = data.args[0],
                _ => break,
            }
        }
        let space = match self.kind(func.ty(at)) {
            TypeKind::Pointer { space, .. } => space,
            _ => return,
        };
        let read_only = match space {
            AddressSpace::Constant | AddressSpace::PushConstant | AddressSpace::Input | AddressSpace::Handle => true,
            AddressSpace::Storage => func.def_inst(at).is_some_and(|(_, data)| {
                data.op == Op::BlockPtr
                    || matches!(
                        self.arg_kind(func, data, 0),
                        TypeKind::Resource(ResourceType::StructuredBuffer { access: Access::Read, .. })
                    )
            }),
            AddressSpace::Private => match func.values[at].def {
                ValueDef::Global(g) => self.m.globals[g].readonly,
                _ => false,
            },
            _ => false,
        };
        self.check(16, !read_only, || "it writes memory that is read only".into());
    }

    pub(super) fn terminator(&mut self, func: &Function, term: &Terminator) {
        match &term.kind {
            TerminatorKind::Branch(_) | TerminatorKind::Unreachable => {}
            TerminatorKind::CondBranch { cond, .. } => {
                let ok = self.kind(func.ty(*cond)) == TypeKind::Scalar(Scalar::Bool);
                self.check(17, ok, || "a condition is a `bool`".into());
            }
            TerminatorKind::Switch { selector, cases, .. } => {
                let scalar = match self.kind(func.ty(*selector)) {
                    TypeKind::Scalar(s) if s.is_int() => s,
                    _ => return self.error(17, "a selector is an integer"),
                };
                let mut values: Vec<u64> = cases.iter().map(|c| c.value).collect();
                values.sort_unstable();
                let unique = values.windows(2).all(|w| w[0] != w[1]);
                let fit = values.last().is_none_or(|&v| v <= u64::MAX >> (64 - scalar.bits()));
                self.check(17, unique && fit, || "case values differ, and fit the selector".into());
            }
            TerminatorKind::Return(value) => {
                let ok = match value {
                    Some(value) => func.ty(*value) == func.ret,
                    None => self.kind(func.ret) == TypeKind::Void,
                };
                self.check(17, ok, || "the result is of the function's type".into());
            }
        }
    }

    /// V015 and V033 for parameters, result and local variables.
    pub(super) fn signature(&mut self, func: &Function) {
        for param in &func.params {
            let ok = match self.kind(param.ty) {
                TypeKind::Pointer { space, pointee } => {
                    let space =
                        matches!(space, AddressSpace::Function | AddressSpace::Private | AddressSpace::Workgroup);
                    space && !self.is_pointer(pointee)
                }
                TypeKind::Void | TypeKind::RuntimeArray { .. } => false,
                _ => true,
            };
            let name = self.m.names.get(param.name);
            self.check(15, ok, || format!("parameter {name} cannot be passed"));
        }
        self.check(15, !self.is_pointer(func.ret), || "a pointer is returned".into());
        let resolved = self.m.properties.contains(crate::Properties::HANDLES_RESOLVED);
        for (local, var) in func.locals.iter() {
            let kind = self.kind(var.ty);
            let ok = !matches!(kind, TypeKind::Void | TypeKind::Pointer { .. } | TypeKind::RuntimeArray { .. });
            self.check(30, ok, || format!("{local} cannot hold {}", self.m.names.get(var.name)));
            let variable = self.is_made_of(var.ty, |kind| {
                kind.is_numeric() || matches!(kind, TypeKind::RayQuery | TypeKind::Spirv(_))
            });
            self.check(33, !resolved || variable, || format!("{local} holds a handle"));
        }
    }
}
