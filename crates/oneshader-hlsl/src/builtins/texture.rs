//! Methods and subscripts of textures and typed buffers.

use oneshader_diag::codes;
use oneshader_ir as ir;
use oneshader_ir::{Access, BinaryOp, Op, TextureDim, TextureOp, TextureOperands as Ops, TextureType};
use smallvec::SmallVec;

use super::methods::Method;
use crate::cx::Cx;
use crate::ty::{Elem, Ty};
use crate::value::{Arg, Base, Expr, Place, R, ReadOnly, Texel, Value};

/// What stands between the location and the optional arguments of a sampling method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Derivatives of the location decide.
    Implicit,
    /// A bias is added to that.
    Bias,
    /// Stated.
    Stated,
    /// The first level.
    Zero,
    /// Two gradients.
    Gradients,
}

/// A sampling method.
struct Sampling {
    name: &'static str,
    /// Whether the sampler compares.
    compare: bool,
    /// How the level is found.
    level: Level,
    /// Whether a least level can be stated.
    clamp: bool,
}

const fn sampling(name: &'static str, compare: bool, level: Level, clamp: bool) -> Sampling {
    Sampling { name, compare, level, clamp }
}

static SAMPLING: &[Sampling] = &[
    sampling("Sample", false, Level::Implicit, true),
    sampling("SampleBias", false, Level::Bias, true),
    sampling("SampleCmp", true, Level::Implicit, true),
    sampling("SampleCmpBias", true, Level::Bias, true),
    sampling("SampleCmpGrad", true, Level::Gradients, true),
    sampling("SampleCmpLevel", true, Level::Stated, false),
    sampling("SampleCmpLevelZero", true, Level::Zero, false),
    sampling("SampleGrad", false, Level::Gradients, true),
    sampling("SampleLevel", false, Level::Stated, false),
];

/// Gathering methods: name, component, whether the sampler compares.
static GATHERS: &[(&str, u8, bool)] = &[
    ("Gather", 0, false),
    ("GatherAlpha", 3, false),
    ("GatherBlue", 2, false),
    ("GatherCmp", 0, true),
    ("GatherCmpAlpha", 3, true),
    ("GatherCmpBlue", 2, true),
    ("GatherCmpGreen", 1, true),
    ("GatherCmpRed", 0, true),
    ("GatherGreen", 1, false),
    ("GatherRed", 0, false),
];

/// Operands of a texture instruction, collected in any order.
struct Operands {
    texture: ir::Value,
    list: SmallVec<[(Ops, SmallVec<[ir::Value; 4]>); 6]>,
}

impl Operands {
    fn new(texture: ir::Value) -> Self {
        Operands { texture, list: SmallVec::new() }
    }

    fn set(&mut self, which: Ops, values: &[ir::Value]) {
        self.list.push((which, SmallVec::from_slice(values)));
    }

    /// The flags and the arguments in the order of the flags.
    fn finish(mut self) -> (Ops, SmallVec<[ir::Value; 8]>) {
        self.list.sort_by_key(|(which, _)| which.bits());
        let mut args = SmallVec::from_slice(&[self.texture]);
        let mut flags = Ops::empty();
        for (which, values) in self.list {
            flags |= which;
            args.extend(values);
        }
        (flags, args)
    }
}

impl Cx<'_> {
    pub(super) fn texture_method(&mut self, m: Method<'_>, texture: TextureType) -> R<Expr> {
        let sampled = texture.access == Access::Read && texture.dim != TextureDim::Buffer && !texture.multisampled;
        if sampled && let Some(row) = SAMPLING.iter().find(|row| row.name == m.name) {
            return self.sample(m, texture, row);
        }
        let gathers = matches!(texture.dim, TextureDim::D2 | TextureDim::Cube);
        if sampled
            && gathers
            && let Some(&(_, component, compare)) = GATHERS.iter().find(|(name, ..)| *name == m.name)
        {
            return self.gather(m, texture, component, compare);
        }
        match m.name {
            "Load" => self.load_texel(m, texture),
            "GetDimensions" => self.texture_size(m, texture),
            "CalculateLevelOfDetail" if sampled => self.level_of_detail(m, texture, TextureOp::Lod),
            "CalculateLevelOfDetailUnclamped" if sampled => self.level_of_detail(m, texture, TextureOp::LodUnclamped),
            "GetSamplePosition" if texture.multisampled => self.sample_position(m),
            _ => Err(self.unknown_method(m)),
        }
    }

    /// The element type of a texture.
    fn texel_type(&self, object: Value) -> Ty {
        match self.tys.as_object(object.ty) {
            Some((_, ty)) if ty != Ty::VOID => ty,
            _ => Ty::FLOAT4,
        }
    }

    /// A vector argument (a scalar for one component) as an IR value.
    fn vector_arg(&mut self, arg: &Arg, elem: Elem, len: u32) -> R<ir::Value> {
        let ty = if len == 1 { self.tys.scalar(elem) } else { self.tys.vector(elem, len as u8) };
        self.arg(arg, ty).map(|v| v.v)
    }

    /// The sampler and the float location; gives the arguments behind them.
    fn sampler_and_location<'m>(
        &mut self,
        ops: &mut Operands,
        m: Method<'m>,
        texture: TextureType,
        compare: bool,
    ) -> R<&'m [Arg]> {
        let len = texture.dim.coords() + u32::from(texture.arrayed);
        if let Some(sampler) = m.sampler {
            let [location, rest @ ..] = m.args else { return Err(self.bad_method(m, "a location first")) };
            ops.set(Ops::SAMPLER, &[sampler]);
            let location = self.vector_arg(location, Elem::Float, len)?;
            ops.set(Ops::COORD, &[location]);
            return Ok(rest);
        }
        let [sampler, location, rest @ ..] = m.args else {
            return Err(self.bad_method(m, "a sampler and a location first"));
        };
        let handle = self.rvalue(sampler.expr.clone(), sampler.span)?;
        if !matches!(self.resource(handle), Some(ir::ResourceType::Sampler { comparison }) if comparison == compare) {
            let (shown, name) = (self.show(handle.ty), m.name);
            let want = if compare { "SamplerComparisonState" } else { "SamplerState" };
            let message = format!("{name} takes a {want}, not {shown}");
            return Err(self.error(codes::BAD_ARGUMENTS, sampler.span, message));
        }
        ops.set(Ops::SAMPLER, &[handle.v]);
        let location = self.vector_arg(location, Elem::Float, len)?;
        ops.set(Ops::COORD, &[location]);
        Ok(rest)
    }

    /// An offset in texels, unless it is zero.
    fn offset_arg(&mut self, arg: &Arg, texture: TextureType) -> R<Option<ir::Value>> {
        let offset = self.vector_arg(arg, Elem::Int, texture.dim.coords())?;
        let zero = self.known(offset).is_some_and(|c| self.b.module.consts.is_zero(c));
        Ok((!zero).then_some(offset))
    }

    fn sample(&mut self, m: Method<'_>, texture: TextureType, row: &Sampling) -> R<Expr> {
        let mut ops = Operands::new(m.object.v);
        let mut rest = self.sampler_and_location(&mut ops, m, texture, row.compare)?.iter();
        let missing = "more arguments";
        if row.compare {
            let Some(arg) = rest.next() else { return Err(self.bad_method(m, missing)) };
            let reference = self.arg(arg, Ty::FLOAT)?;
            ops.set(Ops::COMPARE, &[reference.v]);
        }
        match row.level {
            Level::Implicit => {}
            Level::Zero => {
                let zero = self.zero(Ty::FLOAT);
                ops.set(Ops::LEVEL, &[zero.v]);
            }
            Level::Bias | Level::Stated => {
                let Some(arg) = rest.next() else { return Err(self.bad_method(m, missing)) };
                let value = self.arg(arg, Ty::FLOAT)?;
                ops.set(if row.level == Level::Bias { Ops::BIAS } else { Ops::LEVEL }, &[value.v]);
            }
            Level::Gradients => {
                let (Some(x), Some(y)) = (rest.next(), rest.next()) else { return Err(self.bad_method(m, missing)) };
                let len = texture.dim.coords();
                let x = self.vector_arg(x, Elem::Float, len)?;
                let y = self.vector_arg(y, Elem::Float, len)?;
                ops.set(Ops::GRAD, &[x, y]);
            }
        }
        // Then an offset (cubes have none), a least level and the residency.
        if texture.dim != TextureDim::Cube
            && let Some(arg) = rest.next()
        {
            let offset = self.offset_arg(arg, texture)?;
            offset.iter().for_each(|&o| ops.set(Ops::OFFSET, &[o]));
        }
        if row.clamp
            && let Some(arg) = rest.next()
        {
            let least = self.arg(arg, Ty::FLOAT)?;
            if !self.known(least.v).is_some_and(|c| self.b.module.consts.is_zero(c)) {
                ops.set(Ops::MIN_LOD, &[least.v]);
            }
        }
        let status = rest.next();
        if rest.next().is_some() {
            return Err(self.bad_method(m, "fewer arguments"));
        }
        self.at(m.span);
        if row.compare {
            let float = self.ir(Ty::FLOAT);
            let v = self.texture_value(TextureOp::Sample, ops, float, status)?;
            return Ok(Expr::Value(Value { v, ty: Ty::FLOAT }));
        }
        let vec4 = self.b.module.types.vector(texture.texel, 4);
        let v = self.texture_value(TextureOp::Sample, ops, vec4, status)?;
        let ty = self.texel_type(m.object);
        Ok(Expr::Value(self.texel_value(v, texture.texel, ty)))
    }

    /// Emits an operation that gives texels; with a place for the status, the status goes there.
    fn texture_value(&mut self, op: TextureOp, mut ops: Operands, ty: ir::Type, status: Option<&Arg>) -> R<ir::Value> {
        let Some(status) = status else {
            let (flags, args) = ops.finish();
            return Ok(self.b.value(Op::Texture(op, flags), ty, &args));
        };
        ops.set(Ops::STATUS, &[]);
        let (flags, args) = ops.finish();
        let both = self.status_and(ty);
        let both = self.b.value(Op::Texture(op, flags), both, &args);
        let code = Value { v: self.b.extract(both, 0), ty: Ty::UINT };
        self.store_out(status, code)?;
        Ok(self.b.extract(both, 1))
    }

    /// The structure of a status and a result; one for each type of result.
    fn status_and(&mut self, ty: ir::Type) -> ir::Type {
        if let Some(&known) = self.status_types.get(&ty) {
            return known;
        }
        let uint = self.ir(Ty::UINT);
        let span = self.b.span;
        let mut member = |name: &str, ty| {
            let name = self.b.module.names.intern(name);
            ir::Member { name, ty, order: ir::MatrixOrder::default(), offset: None, span }
        };
        let members = vec![member("status", uint), member("texel", ty)];
        let name = self.b.module.names.intern("SparseTexel");
        let made = self.b.module.types.add_struct(ir::StructType { name, members });
        self.status_types.insert(ty, made);
        made
    }

    fn gather(&mut self, m: Method<'_>, texture: TextureType, component: u8, compare: bool) -> R<Expr> {
        let mut ops = Operands::new(m.object.v);
        let mut rest = self.sampler_and_location(&mut ops, m, texture, compare)?;
        if compare {
            let [reference, more @ ..] = rest else { return Err(self.bad_method(m, "a reference value")) };
            let reference = self.arg(reference, Ty::FLOAT)?;
            ops.set(Ops::COMPARE, &[reference.v]);
            rest = more;
        }
        // Cubes take no offsets; two or five arguments are one or four offsets and the status.
        let offsets = match rest.len() {
            _ if texture.dim == TextureDim::Cube => 0,
            1 | 2 => 1,
            4 | 5 => 4,
            _ => 0,
        };
        let (offsets, status) = rest.split_at(offsets);
        match offsets {
            [] => {}
            [only] => {
                let offset = self.offset_arg(only, texture)?;
                offset.iter().for_each(|&o| ops.set(Ops::OFFSET, &[o]));
            }
            all => {
                let list: SmallVec<[ir::Value; 4]> =
                    all.iter().map(|arg| self.vector_arg(arg, Elem::Int, 2)).collect::<R<_>>()?;
                ops.set(Ops::OFFSETS, &list);
            }
        }
        if status.len() > 1 {
            return Err(self.bad_method(m, "one offset or four"));
        }
        if compare && component != 0 {
            let name = m.name;
            return Err(self.unsupported(m.span, format!("{name} is not supported: a depth texture has one component")));
        }
        self.at(m.span);
        let vec4 = self.b.module.types.vector(texture.texel, 4);
        let v = self.texture_value(TextureOp::Gather { component }, ops, vec4, status.first())?;
        // Four texels of one component, in the element of the texture.
        let elem = self.tys.elem(self.texel_type(m.object)).unwrap_or(Elem::Float);
        let ty = self.tys.vector(elem, 4);
        Ok(Expr::Value(self.texel_value(v, texture.texel, ty)))
    }

    fn level_of_detail(&mut self, m: Method<'_>, texture: TextureType, op: TextureOp) -> R<Expr> {
        let (sampler, location) = match (m.sampler, m.args) {
            (Some(sampler), [location]) => (sampler, location),
            (None, [sampler, location]) => {
                let handle = self.rvalue(sampler.expr.clone(), sampler.span)?;
                if !matches!(self.resource(handle), Some(ir::ResourceType::Sampler { .. })) {
                    return Err(self.bad_method(m, "a sampler and a location"));
                }
                (handle.v, location)
            }
            (Some(_), _) => return Err(self.bad_method(m, "a location")),
            (None, _) => return Err(self.bad_method(m, "a sampler and a location")),
        };
        let location = self.vector_arg(location, Elem::Float, texture.dim.coords())?;
        let mut ops = Operands::new(m.object.v);
        ops.set(Ops::SAMPLER, &[sampler]);
        ops.set(Ops::COORD, &[location]);
        self.at(m.span);
        let (flags, args) = ops.finish();
        let float = self.ir(Ty::FLOAT);
        Ok(Expr::Value(Value { v: self.b.value(Op::Texture(op, flags), float, &args), ty: Ty::FLOAT }))
    }

    /// The place of a texel.
    pub(super) fn index_texture(
        &mut self,
        object: Value,
        texture: TextureType,
        index: &Arg,
        level: Option<Value>,
        sample: Option<Value>,
    ) -> R<Expr> {
        let len = texture.dim.coords() + u32::from(texture.arrayed);
        if texture.dim == TextureDim::Cube {
            let shown = self.show(object.ty);
            return Err(self.error(codes::BAD_SUBSCRIPT, index.span, format!("{shown} cannot be indexed")));
        }
        let coord = self.vector_arg(index, Elem::Uint, len)?;
        let sample = match sample {
            None if texture.multisampled => Some(self.int(0, Elem::Uint)),
            sample => sample,
        };
        Ok(Expr::Place(self.texel(object, texture, coord, level, sample)))
    }

    fn texel(
        &mut self,
        object: Value,
        texture: TextureType,
        coord: ir::Value,
        level: Option<Value>,
        sample: Option<Value>,
    ) -> Place {
        let has_levels = texture.access == Access::Read && texture.dim != TextureDim::Buffer && !texture.multisampled;
        let level = match level {
            None if has_levels => Some(self.int(0, Elem::Int)),
            level => level,
        };
        let texel =
            Texel { texture: object.v, kind: texture, coord, level: level.map(|v| v.v), sample: sample.map(|v| v.v) };
        Place {
            base: Base::Texel(texel),
            steps: SmallVec::new(),
            ty: self.texel_type(object),
            readonly: (texture.access == Access::Read).then_some(ReadOnly::Resource),
            known: None,
        }
    }

    fn load_texel(&mut self, m: Method<'_>, texture: TextureType) -> R<Expr> {
        let dims = texture.dim.coords();
        let len = dims + u32::from(texture.arrayed);
        let has_levels = texture.access == Access::Read && texture.dim != TextureDim::Buffer && !texture.multisampled;
        if texture.dim == TextureDim::Cube {
            return Err(self.unknown_method(m));
        }
        let [location, rest @ ..] = m.args else { return Err(self.bad_method(m, "a location")) };
        let location = self.vector_arg(location, Elem::Int, len + u32::from(has_levels))?;
        let (mut coord, level) = if has_levels {
            let level = self.extract(location, len);
            (self.leading(location, len), Some(Value { v: level, ty: Ty::INT }))
        } else {
            (location, None)
        };
        let (sample, rest) = match rest {
            [sample, rest @ ..] if texture.multisampled => (Some(self.arg(sample, Ty::INT)?), rest),
            _ if texture.multisampled => return Err(self.bad_method(m, "a location and a sample")),
            rest => (None, rest),
        };
        let (offset, rest) = match rest {
            [offset, rest @ ..] if texture.dim != TextureDim::Buffer && texture.access == Access::Read => {
                (Some(offset), rest)
            }
            rest => (None, rest),
        };
        if let Some(arg) = offset
            && let Some(offset) = self.offset_arg(arg, texture)?
        {
            self.check_static_offset(offset, arg.span)?;
            coord = self.add_offset(coord, offset, dims, len);
        }
        let status = match rest {
            [] => None,
            [status] => Some(status),
            _ => return Err(self.bad_method(m, "fewer arguments")),
        };
        self.at(m.span);
        let mut ops = Operands::new(m.object.v);
        ops.set(Ops::COORD, &[coord]);
        level.iter().for_each(|level| ops.set(Ops::LEVEL, &[level.v]));
        sample.iter().for_each(|sample| ops.set(Ops::SAMPLE_INDEX, &[sample.v]));
        let vec4 = self.b.module.types.vector(texture.texel, 4);
        let v = self.texture_value(TextureOp::Load, ops, vec4, status)?;
        let ty = self.texel_type(m.object);
        Ok(Expr::Value(self.texel_value(v, texture.texel, ty)))
    }

    /// The first components of a vector.
    fn leading(&mut self, v: ir::Value, len: u32) -> ir::Value {
        let scalar = self.b.module.types.scalar_of(self.b.ty(v)).unwrap_or(ir::Scalar::I32);
        let ty = self.b.module.types.vector(scalar, len as u8);
        if let Some(swizzle) = ir::Swizzle::new(&[0, 1, 2, 3][..len as usize])
            && len > 1
            && self.known(v).is_none()
        {
            return self.emit(Op::Swizzle(swizzle), ty, &[v]);
        }
        let comps: SmallVec<[ir::Value; 4]> = (0..len).map(|i| self.extract(v, i)).collect();
        self.construct(ty, &comps)
    }

    /// A coordinate moved by an offset that has no layer.
    fn add_offset(&mut self, coord: ir::Value, offset: ir::Value, dims: u32, len: u32) -> ir::Value {
        let ty = self.b.ty(coord);
        let offset = if len > dims {
            let mut comps: SmallVec<[ir::Value; 4]> = (0..dims).map(|i| self.extract(offset, i)).collect();
            comps.push(self.int(0, Elem::Int).v);
            self.construct(ty, &comps)
        } else {
            offset
        };
        self.emit(Op::Binary(BinaryOp::Add), ty, &[coord, offset])
    }

    /// `GetDimensions`: [level,] sizes, [layers,] [levels or samples].
    fn texture_size(&mut self, m: Method<'_>, texture: TextureType) -> R<Expr> {
        let dims = if texture.dim == TextureDim::Cube { 2 } else { texture.dim.coords() };
        let sizes = (dims + u32::from(texture.arrayed)) as usize;
        let has_levels = texture.access == Access::Read && texture.dim != TextureDim::Buffer && !texture.multisampled;
        let (level, outs): (Option<&Arg>, &[Arg]) = match m.args {
            [level, outs @ ..] if has_levels && outs.len() == sizes + 1 => (Some(level), outs),
            outs if outs.len() == sizes + usize::from(texture.multisampled) => (None, outs),
            _ => return Err(self.bad_method(m, "an out argument for each size")),
        };
        let mut ops = Operands::new(m.object.v);
        if has_levels {
            let level = match level {
                Some(arg) => self.arg(arg, Ty::UINT)?,
                None => self.int(0, Elem::Uint),
            };
            ops.set(Ops::LEVEL, &[level.v]);
        }
        let (flags, args) = ops.finish();
        let uints = self.b.module.types.vector(ir::Scalar::U32, sizes as u8);
        let size = self.b.value(Op::Texture(TextureOp::Size, flags), uints, &args);
        for (i, arg) in outs.iter().take(sizes).enumerate() {
            let one = Value { v: self.extract(size, i as u32), ty: Ty::UINT };
            self.store_out(arg, one)?;
        }
        if let Some(arg) = outs.get(sizes) {
            let op = if texture.multisampled { TextureOp::Samples } else { TextureOp::Levels };
            let uint = self.ir(Ty::UINT);
            let v = self.b.value(Op::Texture(op, Ops::empty()), uint, &[m.object.v]);
            self.store_out(arg, Value { v, ty: Ty::UINT })?;
        }
        Ok(Expr::Void)
    }
}
