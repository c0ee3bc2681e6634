//! Which types convert to which, how well, and in what type two operands meet. The rules are DXC's (its `SemaHLSL`), which
//! are fxc's.

use crate::cx::Cx;
use crate::ty::{Elem, Heap, Shape, Ty, TyKind};

/// How a value gets from one type to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// Nothing to do.
    Same,
    /// Element and shape of a numeric type.
    Numeric,
    /// A derived structure to its base.
    ToBase,
    /// An entry of a descriptor heap to the object it is.
    Heap,
    /// The structure inside a constant or texture buffer.
    Block,
    /// Between an address and a number.
    Address,
    /// All numbers of the source in order.
    Flat,
}

/// How a conversion changes the shape of a numeric type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reshape {
    /// Not at all, or the same components in another form.
    Same,
    /// One number to all components.
    Splat,
    /// Components are dropped.
    Truncate,
}

/// How the shape changes from `from` to `to`, when it can.
pub fn reshape(from: Shape, to: Shape) -> Option<Reshape> {
    use Reshape::{Same, Splat, Truncate};
    let (n, m) = (from.count(), to.count());
    let line = |s: Shape| matches!(s, Shape::Matrix(1, _) | Shape::Matrix(_, 1));
    Some(match (from, to) {
        (_, _) if n == 1 && m == 1 => Same,
        (_, _) if n == 1 => Splat,
        (_, _) if m == 1 => Truncate,
        (Shape::Vector(_), Shape::Vector(_)) if n == m => Same,
        (Shape::Vector(_), Shape::Vector(_)) if n > m => Truncate,
        (Shape::Matrix(..), Shape::Vector(_)) | (Shape::Vector(_), Shape::Matrix(..)) if n == m => Same,
        (Shape::Matrix(..), Shape::Vector(_)) if line(from) && n > m => Truncate,
        (Shape::Vector(_), Shape::Matrix(..)) if line(to) && n > m => Truncate,
        (Shape::Matrix(r, c), Shape::Matrix(tr, tc)) if r == tr && c == tc => Same,
        (Shape::Matrix(r, c), Shape::Matrix(tr, tc)) if tr <= r && tc <= c => Truncate,
        _ => return None,
    })
}

/// The element type two operands meet in.
pub fn combine(l: Elem, r: Elem) -> Elem {
    if l == r {
        return l;
    }
    let float = l.is_float() || r.is_float();
    if l.is_literal() && r.is_literal() {
        return if float { Elem::LitFloat } else { Elem::LitInt };
    }
    let weak = |e: Elem| e.is_literal() || e == Elem::Bool;
    let mut min = l.is_min_precision() && r.is_min_precision();
    if weak(l) || weak(r) {
        min = l.is_min_precision() || r.is_min_precision();
        if l == Elem::Half || r == Elem::Half {
            return Elem::Half;
        }
    }
    let mut bits = l.bits().max(r.bits());
    let unsigned = l.is_unsigned() || r.is_unsigned();
    if float && l.is_float() != r.is_float() {
        let side = if l.is_float() { l } else { r };
        bits = side.bits();
        min = side.is_min_precision();
    }
    match (float, bits, min) {
        (true, 10, _) => Elem::Min10Float,
        (true, 12 | 16, true) => Elem::Min16Float,
        (true, 12 | 16, false) => Elem::Float16,
        (true, 64, _) => Elem::Double,
        (true, ..) => Elem::Float,
        (false, 12, true) => Elem::Min12Int,
        (false, 16, true) if unsigned => Elem::Min16Uint,
        (false, 16, true) => Elem::Min16Int,
        (false, 16, false) if unsigned => Elem::Uint16,
        (false, 12 | 16, false) => Elem::Int16,
        (false, 64, _) if unsigned => Elem::Uint64,
        (false, 64, _) => Elem::Int64,
        (false, ..) if unsigned => Elem::Uint,
        (false, ..) => Elem::Int,
    }
}

/// Whether going from `from` to `to` is a promotion: to a wider type of its kind.
fn is_promotion(to: Elem, from: Elem) -> bool {
    use Elem as E;
    match from {
        E::Float16 => matches!(to, E::Float | E::Half | E::Double),
        E::Half => matches!(to, E::Float | E::Double),
        E::Float => matches!(to, E::Double),
        E::Min10Float => matches!(to, E::Min16Float | E::Float16 | E::Float | E::Half | E::Double),
        E::Min16Float => matches!(to, E::Float16 | E::Float | E::Half | E::Double),
        E::Int16 | E::Uint16 => matches!(to, E::Int | E::Uint | E::Int64 | E::Uint64),
        E::Int | E::Uint => matches!(to, E::Int64 | E::Uint64),
        E::Min12Int => matches!(to, E::Min16Int | E::Int | E::Int64),
        E::Min16Int => matches!(to, E::Int | E::Int64),
        E::Min16Uint => matches!(to, E::Uint | E::Uint64),
        _ => false,
    }
}

/// Width of the integers that count as one for backward compatibility, whatever their sign.
fn plain_int_bits(e: Elem) -> Option<u32> {
    matches!(e, Elem::Int16 | Elem::Uint16 | Elem::Int | Elem::Uint | Elem::Int64 | Elem::Uint64).then(|| e.bits())
}

fn plain_float(e: Elem) -> bool {
    matches!(e, Elem::Float16 | Elem::Half | Elem::Float | Elem::Double)
}

/// Whether two different elements are related by a real cast.
fn is_cast(l: Elem, r: Elem) -> bool {
    use Elem::{LitFloat, LitInt};
    if l == r {
        return false;
    }
    match (l, r) {
        (LitInt, e) | (e, LitInt) if plain_int_bits(e).is_some() => false,
        (LitFloat, e) | (e, LitFloat) if plain_float(e) => false,
        _ => match (plain_int_bits(l), plain_int_bits(r)) {
            (Some(a), Some(b)) => a != b,
            _ => true,
        },
    }
}

/// Whether two different elements are related by a cast among integers (which [`is_cast`] let pass).
fn is_int_cast(l: Elem, r: Elem) -> bool {
    use Elem::{LitFloat, LitInt};
    if l == r {
        return false;
    }
    match (l, r) {
        (LitInt, e) | (e, LitInt) if plain_int_bits(e).is_some() => false,
        (LitFloat, e) | (e, LitFloat) if plain_float(e) => false,
        _ => true,
    }
}

/// Bits of a score that one criterion takes: arguments are counted in them.
const SCORE_BITS: u32 = 7;

/// The worst score.
pub const SCORE_MAX: u64 = u64::MAX;

/// How bad a conversion between two numeric types is; the sum over the arguments of a call decides between overloads.
pub fn score(from: (Elem, Shape), to: (Elem, Shape)) -> u64 {
    let (r, l) = (from.0, to.0);
    let (from_count, to_count) = (from.1.count(), to.1.count());
    let both = combine(l, r);
    let l_promo = is_promotion(l, both);
    let r_promo = is_promotion(both, r);
    let l_cast = !l_promo && is_cast(l, both);
    let r_cast = !r_promo && is_cast(both, r);
    let l_int = !l_promo && !l_cast && is_int_cast(l, both);
    let r_int = !r_promo && !r_cast && is_int_cast(both, r);
    [from_count < to_count, l_promo, r_promo, l_int, r_int, l_cast, r_cast, to_count < from_count]
        .iter()
        .enumerate()
        .map(|(i, on)| u64::from(*on) << (2 + SCORE_BITS * i as u32))
        .sum()
}

impl Cx<'_> {
    /// Element and shape of the type that two operands of an operator meet in: the larger shape when the other converts
    /// to it, the combined element.
    pub fn common_type(&mut self, a: Ty, b: Ty) -> Option<Ty> {
        let (ea, sa) = self.tys.as_numeric(a)?;
        let (eb, sb) = self.tys.as_numeric(b)?;
        let shape = common_shape(sa, sb)?;
        Some(self.tys.numeric(combine(ea, eb), shape))
    }

    /// How a value of a type converts to another, implicitly or by a cast.
    pub fn can_convert(&mut self, from: Ty, to: Ty, explicit: bool) -> Option<Route> {
        if self.tys.same(from, to) || from == Ty::ERROR || to == Ty::ERROR {
            return Some(Route::Same);
        }
        match (self.tys.kind(from), self.tys.kind(to)) {
            (_, TyKind::Void) => return explicit.then_some(Route::Same),
            (TyKind::Void, _) => return None,
            (TyKind::BufferPointer(a, from), TyKind::BufferPointer(b, to)) => {
                return (explicit && self.tys.same(a, b) && self.pointer_align(a, from) >= self.pointer_align(b, to))
                    .then_some(Route::Same);
            }
            (TyKind::BufferPointer(..), TyKind::Scalar(elem)) | (TyKind::Scalar(elem), TyKind::BufferPointer(..)) => {
                return (explicit && elem.is_int()).then_some(Route::Address);
            }
            (TyKind::HeapEntry(heap), TyKind::Object(kind, _)) => {
                use crate::builtin::ObjectKind as O;
                let sampler = matches!(kind, O::SamplerState | O::SamplerComparisonState | O::Sampler);
                return (!kind.is_sampled() && sampler == (heap == Heap::Samplers)).then_some(Route::Heap);
            }
            (TyKind::Object(kind, arg), TyKind::Struct(_)) => {
                use crate::builtin::ObjectKind as O;
                return (matches!(kind, O::ConstantBuffer | O::TextureBuffer) && self.tys.same(arg, to))
                    .then_some(Route::Block);
            }
            _ => {}
        }
        let is_enum = |cx: &Self, ty| match cx.tys.kind(ty) {
            TyKind::Enum(e) => Some(cx.tys.enums[e.0 as usize].scoped),
            _ => None,
        };
        if !explicit {
            // To an enumeration, and from a scoped one, only by a cast.
            if is_enum(self, to).is_some() || is_enum(self, from) == Some(true) {
                return None;
            }
        }
        if let (Some((_, a)), Some((_, b))) = (self.tys.as_numeric(from), self.tys.as_numeric(to)) {
            return reshape(a, b).map(|_| Route::Numeric);
        }
        self.can_flatten(from, to, explicit)
    }

    fn can_flatten(&mut self, from: Ty, to: Ty, explicit: bool) -> Option<Route> {
        let aggregate = |cx: &Self, ty| matches!(cx.tys.kind(ty), TyKind::Struct(_) | TyKind::Array(..));
        let (from_agg, to_agg) = (aggregate(self, from), aggregate(self, to));
        if !from_agg && !to_agg {
            return None;
        }
        let structs = (self.tys.as_struct(from), self.tys.as_struct(to));
        if let (Some(_), Some(_)) = structs
            && self.tys.derives_from(from, to)
        {
            return Some(Route::ToBase);
        }
        if !explicit {
            if from_agg != to_agg {
                return None;
            }
            let strict = self.opts.version.is_2021() && (structs.0.is_some() || structs.1.is_some());
            let anonymous = structs.1.is_some_and(|s| self.text(self.tys.def(s).name).is_empty());
            if strict && !anonymous {
                return None;
            }
            let (a, b) = (self.leaves(from)?, self.leaves(to)?);
            return (a == b).then_some(Route::Flat);
        }
        if matches!(self.tys.kind(from), TyKind::BufferPointer(..)) {
            return (self.leaf_count(to) == 1).then_some(Route::Flat);
        }
        let single = self.tys.shape(from).is_some_and(|s| s.count() == 1);
        if single {
            return self.tys.is_numeric_aggregate(to).then_some(Route::Flat);
        }
        let (a, b) = (self.leaves(from)?, self.leaves(to)?);
        (a.len() >= b.len()).then_some(Route::Flat)
    }

    /// The elements of all numbers inside a type, in order; `None` when there is something else inside or too many.
    pub(crate) fn leaves(&self, ty: Ty) -> Option<Vec<Elem>> {
        let mut out = Vec::new();
        self.push_leaves(ty, &mut out)?;
        Some(out)
    }

    fn push_leaves(&self, ty: Ty, out: &mut Vec<Elem>) -> Option<()> {
        const MAX: usize = 1 << 16;
        match self.tys.kind(ty) {
            TyKind::Array(of, n) => {
                let from = out.len();
                self.push_leaves(of, out)?;
                let one: Vec<Elem> = out[from..].to_vec();
                for _ in 1..n {
                    if out.len() > MAX {
                        return None;
                    }
                    out.extend_from_slice(&one);
                }
            }
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                if let Some(base) = def.base {
                    self.push_leaves(base, out)?;
                }
                for field in &def.fields {
                    self.push_leaves(field.ty, out)?;
                }
            }
            _ => {
                let (elem, shape) = self.tys.as_numeric(ty)?;
                (0..shape.count()).for_each(|_| out.push(elem));
            }
        }
        (out.len() <= MAX).then_some(())
    }

    /// How bad the implicit conversion of an argument is; `None` when there is none.
    pub fn conversion_score(&mut self, from: Ty, to: Ty) -> Option<u64> {
        match self.can_convert(from, to, false)? {
            // An address converts only by a cast.
            Route::Address => None,
            Route::Heap => Some(0),
            Route::Same => {
                // An enumeration to itself, a structure to itself.
                Some(0)
            }
            Route::Numeric => {
                let (from, to) = (self.tys.as_numeric(from)?, self.tys.as_numeric(to)?);
                Some(score(from, to))
            }
            // To a shorter type, as a truncation; by depth, so that the nearest base wins.
            Route::ToBase => {
                let mut depth = 0;
                let mut at = from;
                while at != to
                    && let Some(base) = self.tys.as_struct(at).and_then(|s| self.tys.def(s).base)
                {
                    at = base;
                    depth += 1;
                }
                Some(depth)
            }
            Route::Block => Some(1),
            Route::Flat => Some(1 << (2 + SCORE_BITS * 5)),
        }
    }
}

/// The shape two operands meet in: the larger when the other converts to it, the left one when both do.
pub fn common_shape(a: Shape, b: Shape) -> Option<Shape> {
    let (first, second) = if a.count() >= b.count() { (a, b) } else { (b, a) };
    if reshape(second, first).is_some() {
        Some(first)
    } else if reshape(first, second).is_some() {
        Some(second)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types of `a + b` in DXC's syntax trees (`-ast-dump`), for the types of the first line each beside each; without and
    /// with `-enable-16bit-types`. The arguments of a built-in function of one type meet in the same.
    const SUMS: [&[&str]; 2] = [
        &[
            "biuIUhfdmnstwlx",
            "iiuIUhfdmnstwif",
            "iiuIUffdmniiuif",
            "uuuUUffdmnuuuuf",
            "IIUIUffdmnIIUIf",
            "UUUUUffdmnUUUUf",
            "hffffhfdfffffhh",
            "fffffffdfffffff",
            "ddddddddddddddd",
            "mmmmmffdmmmmmmm",
            "nnnnnffdmnnnnnn",
            "siuIUffdmnsswsf",
            "tiuIUffdmnstwtf",
            "wuuUUffdmnwwwwf",
            "iiuIUhfdmnstwlx",
            "fffffhfdmnfffxx",
        ],
        &[
            "biuIUfdSWHlx",
            "iiuIUfdSWHif",
            "iiuIUfdiuHif",
            "uuuUUfduuHuf",
            "IIUIUfdIUHIf",
            "UUUUUfdUUHUf",
            "ffffffdfffff",
            "dddddddddddd",
            "SiuIUfdSWHSf",
            "WuuUUfdWWHWf",
            "HHHHHfdHHHHH",
            "iiuIUfdSWHlx",
            "ffffffdffHxx",
        ],
    ];

    fn elem(letter: u8) -> Elem {
        use Elem as E;
        match letter {
            b'b' => E::Bool,
            b'i' => E::Int,
            b'u' => E::Uint,
            b'I' => E::Int64,
            b'U' => E::Uint64,
            b'h' => E::Half,
            b'f' => E::Float,
            b'd' => E::Double,
            b'm' => E::Min16Float,
            b'n' => E::Min10Float,
            b's' => E::Min16Int,
            b't' => E::Min12Int,
            b'w' => E::Min16Uint,
            b'S' => E::Int16,
            b'W' => E::Uint16,
            b'H' => E::Float16,
            b'l' => E::LitInt,
            _ => E::LitFloat,
        }
    }

    #[test]
    fn elements_meet_as_in_dxc() {
        for table in SUMS {
            let (head, rows) = (table[0].as_bytes(), &table[1..]);
            for (a, row) in head.iter().zip(rows) {
                for (b, want) in head.iter().zip(row.bytes()) {
                    let (a, b) = (elem(*a), elem(*b));
                    // The operands of an operator are numbers.
                    let met = if (a, b) == (Elem::Bool, Elem::Bool) { Elem::Int } else { combine(a, b) };
                    assert_eq!(met, elem(want), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn scores_order_conversions() {
        let s = |a: Elem, b: Elem| score((a, Shape::Scalar), (b, Shape::Scalar));
        assert_eq!(s(Elem::Int, Elem::Int), 0);
        assert_eq!(s(Elem::LitInt, Elem::Int), s(Elem::LitInt, Elem::Uint));
        assert!(s(Elem::Float, Elem::Double) < s(Elem::Float, Elem::Int));
        assert!(s(Elem::Int, Elem::Uint) < s(Elem::Int, Elem::Float));
        let splat = score((Elem::Float, Shape::Scalar), (Elem::Float, Shape::Vector(3)));
        let cut = score((Elem::Float, Shape::Vector(4)), (Elem::Float, Shape::Vector(3)));
        assert!(splat < cut && splat > 0);
    }

    #[test]
    fn shapes_convert_as_in_fxc() {
        use Shape::{Matrix, Scalar, Vector};
        assert_eq!(reshape(Scalar, Matrix(3, 4)), Some(Reshape::Splat));
        assert_eq!(reshape(Vector(1), Vector(4)), Some(Reshape::Splat));
        assert_eq!(reshape(Vector(2), Vector(4)), None);
        assert_eq!(reshape(Matrix(2, 2), Vector(4)), Some(Reshape::Same));
        assert_eq!(reshape(Matrix(2, 2), Vector(3)), None);
        assert_eq!(reshape(Matrix(1, 4), Vector(3)), Some(Reshape::Truncate));
        assert_eq!(reshape(Matrix(4, 4), Matrix(3, 3)), Some(Reshape::Truncate));
        assert_eq!(reshape(Matrix(3, 3), Matrix(4, 4)), None);
        assert_eq!(common_shape(Vector(3), Scalar), Some(Vector(3)));
        assert_eq!(common_shape(Vector(3), Vector(2)), Some(Vector(2)));
    }
}
