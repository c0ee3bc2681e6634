//! Constants: interned values that need no computation.

use crate::entity::{Const, SpecId, Type};
use crate::types::{Scalar, TypeKind, Types};
use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;

/// A constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ConstData {
    /// A truth value.
    Bool(bool),
    /// The bits of an integer, zero-extended to 64.
    Int(u64),
    /// The bits of a float in its own format, zero-extended to 64.
    Float(u64),
    /// The parts of a vector, matrix (rows), array or structure.
    Composite(Box<[Const]>),
    /// All bits zero, of any type but a resource.
    Zero,
    /// Any value; the backend may choose, but one choice for each use.
    Undef,
    /// The value of a specialization constant.
    Spec(SpecId),
}

/// The constants of a module.
#[derive(Clone, Debug, Default)]
pub struct Consts {
    data: PrimaryMap<Const, (Type, ConstData)>,
    index: FxHashMap<(Type, ConstData), Const>,
}

impl Consts {
    /// The handle of a constant of type `ty`.
    pub fn intern(&mut self, ty: Type, data: ConstData) -> Const {
        if let Some(&c) = self.index.get(&(ty, data.clone())) {
            return c;
        }
        let c = self.data.push((ty, data.clone()));
        self.index.insert((ty, data), c);
        c
    }

    /// The value of `c`.
    pub fn data(&self, c: Const) -> &ConstData {
        &self.data[c].1
    }

    /// The type of `c`.
    pub fn ty(&self, c: Const) -> Type {
        self.data[c].0
    }

    /// All constants, each after those it is made of.
    pub fn iter(&self) -> impl Iterator<Item = (Const, Type, &ConstData)> {
        self.data.iter().map(|(c, (ty, data))| (c, *ty, data))
    }

    /// Number of constants.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A scalar constant of type `scalar` from its bits (a truth value is 0 or 1).
    pub fn scalar(&mut self, types: &mut Types, scalar: Scalar, bits: u64) -> Const {
        let ty = types.scalar(scalar);
        let mask = if scalar.bits() == 64 { u64::MAX } else { (1 << scalar.bits()) - 1 };
        let data = match scalar {
            Scalar::Bool => ConstData::Bool(bits != 0),
            Scalar::Int { .. } => ConstData::Int(bits & mask),
            Scalar::Float { .. } => ConstData::Float(bits & mask),
        };
        self.intern(ty, data)
    }

    /// `bool`.
    pub fn bool(&mut self, types: &mut Types, value: bool) -> Const {
        self.scalar(types, Scalar::Bool, u64::from(value))
    }

    /// `uint`.
    pub fn u32(&mut self, types: &mut Types, value: u32) -> Const {
        self.scalar(types, Scalar::U32, u64::from(value))
    }

    /// `int`.
    pub fn i32(&mut self, types: &mut Types, value: i32) -> Const {
        self.scalar(types, Scalar::I32, u64::from(value as u32))
    }

    /// `float`.
    pub fn f32(&mut self, types: &mut Types, value: f32) -> Const {
        self.scalar(types, Scalar::F32, u64::from(value.to_bits()))
    }

    /// A vector whose components are all `scalar`, or `scalar` itself when `len` is 1.
    pub fn splat(&mut self, types: &mut Types, scalar: Const, len: u8) -> Const {
        if len == 1 {
            return scalar;
        }
        let elem = types.scalar_of(self.ty(scalar)).expect("a splat is of a scalar");
        let ty = types.vector(elem, len);
        self.intern(ty, ConstData::Composite(vec![scalar; usize::from(len)].into()))
    }

    /// All bits zero, in the form that is unique for the type: scalars are never [`ConstData::Zero`].
    pub fn zero(&mut self, types: &Types, ty: Type) -> Const {
        let data = match types.kind(ty) {
            TypeKind::Scalar(Scalar::Bool) => ConstData::Bool(false),
            TypeKind::Scalar(Scalar::Int { .. }) => ConstData::Int(0),
            TypeKind::Scalar(Scalar::Float { .. }) => ConstData::Float(0),
            _ => ConstData::Zero,
        };
        self.intern(ty, data)
    }

    /// A composite; all-zero parts give [`ConstData::Zero`].
    pub fn composite(&mut self, types: &Types, ty: Type, parts: &[Const]) -> Const {
        if parts.iter().all(|&p| self.is_zero(p)) {
            return self.zero(types, ty);
        }
        self.intern(ty, ConstData::Composite(parts.into()))
    }

    /// Whether all bits of `c` are known to be zero.
    pub fn is_zero(&self, c: Const) -> bool {
        matches!(self.data(c), ConstData::Zero | ConstData::Bool(false) | ConstData::Int(0) | ConstData::Float(0))
    }

    /// The bits of a scalar constant, truth values as 0 and 1; `None` for any other.
    pub fn bits(&self, c: Const) -> Option<u64> {
        match *self.data(c) {
            ConstData::Bool(b) => Some(u64::from(b)),
            ConstData::Int(bits) | ConstData::Float(bits) => Some(bits),
            _ => None,
        }
    }

    /// Part `index` of a composite constant, when it is known.
    pub fn part(&mut self, types: &mut Types, c: Const, index: u32) -> Option<Const> {
        let (ty, data) = self.data[c].clone();
        match data {
            ConstData::Composite(parts) => parts.get(index as usize).copied(),
            ConstData::Zero => types.part(ty, index).map(|part| self.zero(types, part)),
            ConstData::Undef => types.part(ty, index).map(|part| self.intern(part, ConstData::Undef)),
            _ => None,
        }
    }
}
