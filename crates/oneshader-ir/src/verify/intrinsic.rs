//! V014 for intrinsics, from their table.

use super::Checker;
use crate::func::Function;
use crate::inst::InstData;
use crate::intrinsic::{Class, Intrinsic, Signature};
use crate::ray_query;
use crate::types::{AddressSpace, ResourceType, Scalar, TypeKind};

fn admits(class: Class, scalar: Scalar) -> bool {
    match class {
        Class::Float => scalar.is_float(),
        Class::Int => scalar.is_int(),
        Class::Num => scalar != Scalar::Bool,
        Class::Any => true,
    }
}

impl Checker<'_> {
    pub(super) fn intrinsic(&mut self, func: &Function, data: &InstData, which: Intrinsic) {
        if data.args.len() != which.arity() {
            return self.error(14, format!("it takes {} operands, not {}", which.arity(), data.args.len()));
        }
        let result = Self::shape(self.kind(data.ty));
        let first = Self::shape(self.arg_kind(func, data, 0));
        let one = self.arg_ty(func, data, 0);
        let same = data.args.iter().all(|&a| Some(func.ty(a)) == one);
        let uniform = |class| matches!(first, Some((s, (0, _))) if admits(class, s)) && same;
        let lanes = first.map_or((0, 0), |(_, shape)| shape);
        let scalar = first.map(|(s, _)| s);
        let ok = match which.signature() {
            Signature::Same(class) => uniform(class) && one == Some(data.ty),
            Signature::Test(class) => uniform(class) && result == Some((Scalar::Bool, lanes)),
            Signature::Reduce(class) => uniform(class) && result == scalar.map(|s| (s, (0, 1))),
            Signature::Bools => matches!(first, Some((Scalar::Bool, (0, _)))) && result == Some((Scalar::Bool, (0, 1))),
            Signature::Bits => uniform(Class::Int) && result == Some((Scalar::U32, lanes)),
            Signature::Ray => self.ray(func, data, which),
            Signature::Own => self.own(func, data, which),
        };
        self.check(14, ok, || format!("the operands and the result are not what `{}` takes", which.text()));
    }

    /// An operation of a ray query: the address of one, then what the table says.
    fn ray(&self, func: &Function, data: &InstData, which: Intrinsic) -> bool {
        let Some(method) = ray_query::of_intrinsic(which) else { return false };
        let query = match self.arg_kind(func, data, 0) {
            TypeKind::Pointer { space: AddressSpace::Function | AddressSpace::Private, pointee } => {
                self.kind(pointee) == TypeKind::RayQuery
            }
            _ => false,
        };
        let operands = method.operands.iter().enumerate().all(|(i, operand)| {
            let kind = self.arg_kind(func, data, i + 1);
            kind == operand.kind().unwrap_or(TypeKind::Resource(ResourceType::AccelerationStructure))
        });
        query && operands && Some(self.kind(data.ty)) == method.result.kind()
    }

    fn own(&self, func: &Function, data: &InstData, which: Intrinsic) -> bool {
        use Intrinsic as I;
        let kind = |i| self.arg_kind(func, data, i);
        let shape = |i| Self::shape(kind(i));
        let result_kind = self.kind(data.ty);
        let result = Self::shape(result_kind);
        let one = |s| Some((s, (0, 1)));
        let like = |i: usize, from: fn(Scalar) -> bool, to: Scalar| match shape(i) {
            Some((s, (0, n))) => from(s) && result == Some((to, (0, n))),
            _ => false,
        };
        let same = self.arg_ty(func, data, 0) == Some(data.ty);
        let mask = |i| kind(i) == TypeKind::Vector { elem: Scalar::U32, len: 4 };
        let index = |i| kind(i) == TypeKind::Scalar(Scalar::U32);
        match which {
            I::FrexpExponent => like(0, Scalar::is_float, Scalar::I32),
            I::Refract => {
                let vector = matches!(shape(0), Some((s, (0, _))) if s.is_float() && shape(2) == one(s));
                vector && same && kind(1) == result_kind
            }
            I::Transpose => match (kind(0), result_kind) {
                (TypeKind::Matrix { elem, rows, cols }, to) => to == TypeKind::Matrix { elem, rows: cols, cols: rows },
                _ => false,
            },
            I::Determinant => match kind(0) {
                TypeKind::Matrix { elem, rows, cols } => rows == cols && result == one(elem),
                _ => false,
            },
            I::F32ToF16 => like(0, |s| s == Scalar::F32, Scalar::U32),
            I::F16ToF32 => like(0, |s| s == Scalar::U32, Scalar::F32),
            I::EvaluateCentroid | I::EvaluateSample | I::EvaluateSnapped | I::AttributeAtVertex => {
                let input = match kind(0) {
                    TypeKind::Pointer { space: AddressSpace::Input, pointee } => pointee == data.ty,
                    _ => false,
                };
                let second = match which {
                    I::EvaluateCentroid => true,
                    I::EvaluateSnapped => kind(1) == TypeKind::Vector { elem: Scalar::I32, len: 2 },
                    _ => Self::is_index(kind(1)),
                };
                input && second
            }
            I::GroupMemoryBarrier
            | I::GroupMemoryBarrierSync
            | I::DeviceMemoryBarrier
            | I::DeviceMemoryBarrierSync
            | I::AllMemoryBarrier
            | I::AllMemoryBarrierSync
            | I::DebugBreak => result_kind == TypeKind::Void,
            I::FullyMapped => index(0) && result == one(Scalar::Bool),
            I::WaveIsFirstLane | I::IsHelperLane => result == one(Scalar::Bool),
            I::WaveLaneIndex | I::WaveLaneCount | I::GroupWaveIndex | I::GroupWaveCount | I::BufferStatus => {
                result == one(Scalar::U32)
            }
            I::WaveBallot => shape(0) == one(Scalar::Bool) && result == Some((Scalar::U32, (0, 4))),
            I::WaveReadLaneAt | I::QuadReadLaneAt => same && matches!(shape(0), Some((_, (0, _)))) && index(1),
            I::WaveCountBits | I::WavePrefixCountBits => shape(0) == one(Scalar::Bool) && result == one(Scalar::U32),
            I::WaveMatch => matches!(shape(0), Some((_, (0, _)))) && result == Some((Scalar::U32, (0, 4))),
            I::WaveMultiPrefixSum | I::WaveMultiPrefixProduct => {
                matches!(shape(0), Some((s, (0, _))) if s != Scalar::Bool) && same && mask(1)
            }
            I::WaveMultiPrefixBitAnd | I::WaveMultiPrefixBitOr | I::WaveMultiPrefixBitXor => {
                matches!(shape(0), Some((s, (0, _))) if s.is_int()) && same && mask(1)
            }
            I::WaveMultiPrefixCountBits => shape(0) == one(Scalar::Bool) && mask(1) && result == one(Scalar::U32),
            // The signatures of all others are in the table.
            _ => false,
        }
    }
}
