//! Signatures: which semantic is what, in which stage and direction, and the tree of stage variables of a type.

use oneshader_diag::{Span, codes};
use oneshader_ir as ir;
use oneshader_ir::{AddressSpace, BuiltIn, DepthMode, GlobalKind, GlobalVar, Interpolation, IoVar, Sampling, Stage};

use crate::ast::{self, Attribute, Mods, Slice};
use crate::cx::Cx;
use crate::name::Name;
use crate::ty::{Elem, Shape, Ty, TyKind};
use crate::value::{R, Value};

/// Into or out of the stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    In,
    Out,
}

/// A semantic: its name without index, and the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Semantic {
    pub name: ir::Name,
    pub index: u32,
    pub span: Span,
}

/// The stage variables of a value: a leaf, or a part for each slot, element or row.
#[derive(Clone, Debug)]
pub(crate) enum Io {
    Leaf {
        global: ir::Global,
        precise: bool,
    },
    Parts(Vec<Io>),
    /// Some elements of the array of clip or cull distances.
    Distances {
        kind: BuiltIn,
        first: u32,
        count: u32,
    },
    /// Nothing: reported already.
    None,
}

/// What is being collected for one direction.
#[derive(Debug)]
pub(crate) struct Signature {
    pub stage: Stage,
    pub way: Way,
    pub globals: Vec<ir::Global>,
    /// Locations taken so far.
    pub next_location: u32,
    /// Elements of `SV_ClipDistance` and `SV_CullDistance`.
    pub clip: u32,
    pub cull: u32,
    pub clip_global: Option<ir::Global>,
    pub cull_global: Option<ir::Global>,
    pub depth: DepthMode,
    pub seen: Vec<(String, u32)>,
    /// Locations taken, with their blend index; whether some are stated and some are not.
    pub taken: Vec<(u32, u32)>,
    pub stated: bool,
    pub counted: bool,
}

/// Where a leaf of a signature comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub mods: Mods,
    pub attributes: Slice<Attribute>,
    /// Position among the parts of an array or matrix.
    pub part: u32,
    pub span: Span,
}

/// What a system value is in a stage and direction.
enum Meaning {
    /// A variable of the target, of this type.
    System(BuiltIn, Elem, u8),
    /// A user's semantic that only looks like one.
    User,
    /// Render target.
    Target,
    /// Not allowed.
    Wrong,
}

/// The table of system values (DirectX functional specifications; DXC's `DxilSigPoint`).
fn meaning(name: &str, stage: Stage, way: Way) -> Meaning {
    use Meaning::{System, Target, User, Wrong};
    use Stage::{Compute, Pixel, Vertex};
    use Way::{In, Out};
    let uint = |b, n| System(b, Elem::Uint, n);
    match (name, stage, way) {
        ("vertexid", Vertex, In) => uint(BuiltIn::VertexId, 1),
        ("instanceid", Vertex, In) => uint(BuiltIn::InstanceId, 1),
        ("instanceid", Vertex, Out) | ("instanceid", Pixel, In) => User,
        ("startvertexlocation", Vertex, In) => System(BuiltIn::BaseVertex, Elem::Int, 1),
        ("startinstancelocation", Vertex, In) => uint(BuiltIn::BaseInstance, 1),
        ("position", Vertex, In) => User,
        ("position", Vertex, Out) | ("position", Pixel, In) => System(BuiltIn::Position, Elem::Float, 4),
        ("rendertargetarrayindex", Vertex, Out) | ("rendertargetarrayindex", Pixel, In) => uint(BuiltIn::Layer, 1),
        ("viewportarrayindex", Vertex, Out) | ("viewportarrayindex", Pixel, In) => uint(BuiltIn::ViewportIndex, 1),
        ("clipdistance", Vertex, Out) | ("clipdistance", Pixel, In) => System(BuiltIn::ClipDistance, Elem::Float, 0),
        ("culldistance", Vertex, Out) | ("culldistance", Pixel, In) => System(BuiltIn::CullDistance, Elem::Float, 0),
        ("clipdistance" | "culldistance" | "rendertargetarrayindex" | "viewportarrayindex", Vertex, In) => User,
        ("viewid", Vertex, In) | ("viewid", Pixel, In) => uint(BuiltIn::ViewId, 1),
        ("shadingrate", Vertex, Out) | ("shadingrate", Pixel, In) => uint(BuiltIn::ShadingRate, 1),
        ("primitiveid", Pixel, In) => uint(BuiltIn::PrimitiveId, 1),
        ("isfrontface", Pixel, In) => System(BuiltIn::FrontFace, Elem::Bool, 1),
        ("sampleindex", Pixel, In) => uint(BuiltIn::SampleIndex, 1),
        ("coverage", Pixel, In) => uint(BuiltIn::CoverageIn, 1),
        ("coverage", Pixel, Out) => uint(BuiltIn::CoverageOut, 1),
        ("innercoverage", Pixel, In) => uint(BuiltIn::InnerCoverage, 1),
        ("barycentrics", Pixel, In) => System(BuiltIn::Barycentrics, Elem::Float, 3),
        ("target", Pixel, Out) => Target,
        ("depth" | "depthgreaterequal" | "depthlessequal", Pixel, Out) => System(BuiltIn::Depth, Elem::Float, 1),
        ("stencilref", Pixel, Out) => uint(BuiltIn::StencilRef, 1),
        ("dispatchthreadid", Compute, In) => uint(BuiltIn::DispatchThreadId, 3),
        ("groupid", Compute, In) => uint(BuiltIn::GroupId, 3),
        ("groupthreadid", Compute, In) => uint(BuiltIn::GroupThreadId, 3),
        ("groupindex", Compute, In) => uint(BuiltIn::GroupIndex, 1),
        _ => Wrong,
    }
}

/// SPIR-V's number of `DeviceIndex`.
const DEVICE_INDEX: u32 = 4438;

/// `[[vk::builtin("...")]]`.
fn vk_builtin(name: &str, stage: Stage, way: Way) -> Option<(BuiltIn, Elem, u8)> {
    Some(match (name, stage, way) {
        ("PointSize", Stage::Vertex, Way::Out) => (BuiltIn::PointSize, Elem::Float, 1),
        ("HelperInvocation", Stage::Pixel, Way::In) => (BuiltIn::HelperInvocation, Elem::Bool, 1),
        ("BaseVertex", Stage::Vertex, Way::In) => (BuiltIn::BaseVertex, Elem::Int, 1),
        ("BaseInstance", Stage::Vertex, Way::In) => (BuiltIn::BaseInstance, Elem::Uint, 1),
        ("DrawIndex", Stage::Vertex, Way::In) => (BuiltIn::DrawIndex, Elem::Int, 1),
        ("DeviceIndex", _, Way::In) => (BuiltIn::Spirv(DEVICE_INDEX), Elem::Int, 1),
        _ => return None,
    })
}

/// A semantic's name and the number at its end.
pub(crate) fn split_semantic(text: &str) -> (&str, u32) {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    match text[name.len()..].parse() {
        Ok(index) if !name.is_empty() => (name, index),
        _ => (name, 0),
    }
}

impl Signature {
    pub fn new(stage: Stage, way: Way) -> Self {
        Signature {
            stage,
            way,
            globals: Vec::new(),
            next_location: 0,
            clip: 0,
            cull: 0,
            clip_global: None,
            cull_global: None,
            depth: DepthMode::Any,
            seen: Vec::new(),
            taken: Vec::new(),
            stated: false,
            counted: false,
        }
    }
}

impl Cx<'_> {
    pub(crate) fn make_semantic(&mut self, name: Name, span: Span) -> Semantic {
        let text = self.text(name).to_owned();
        let (base, index) = split_semantic(&text);
        Semantic { name: self.b.module.names.intern(base), index, span }
    }

    /// The stage variables of a type. `semantic` counts on for parts that share it.
    pub(crate) fn signature(
        &mut self,
        sig: &mut Signature,
        ty: Ty,
        semantic: &mut Option<Semantic>,
        path: &str,
        origin: Origin,
    ) -> Io {
        match self.tys.kind(ty) {
            TyKind::Struct(s) => {
                let def = self.tys.def(s).clone();
                let mut parts = Vec::new();
                if let Some(base) = def.base {
                    parts.push(self.signature(sig, base, semantic, path, origin));
                }
                for field in &def.fields {
                    let (Some(var), Some(decl)) = (field.var, field.decl) else { continue };
                    let node = self.ast[var];
                    let name = field.name.map(|n| self.text(n).to_owned()).unwrap_or_default();
                    let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                    let mods = self.mods(&node) | origin.mods & Mods::INTERPOLATION;
                    let own = Origin { mods, attributes: self.ast[decl].attributes, part: 0, span: field.span };
                    if field.bits.is_some() {
                        let message = "a bit-field cannot be in a signature";
                        self.error(codes::BAD_SEMANTIC, field.span, message);
                        return Io::None;
                    }
                    let part = if semantic.is_some() {
                        self.signature(sig, field.ty, semantic, &path, own)
                    } else {
                        let mut semantic = self.field_semantic(&node);
                        self.signature(sig, field.ty, &mut semantic, &path, own)
                    };
                    parts.push(part);
                }
                Io::Parts(parts)
            }
            TyKind::Array(of, n) => {
                if let Some(io) = self.distance_leaf(sig, ty, semantic) {
                    return io;
                }
                if n > 4096 {
                    self.error(codes::BAD_SEMANTIC, origin.span, "the array is too long for a signature");
                    return Io::None;
                }
                let part = |i: u32| Origin { part: origin.part * n + i, ..origin };
                let path = |i: u32| format!("{path}[{i}]");
                Io::Parts((0..n).map(|i| self.signature(sig, of, semantic, &path(i), part(i))).collect())
            }
            TyKind::Matrix(elem, r, c, _) if r > 1 && c > 1 => {
                let row = self.tys.vector(elem, c);
                let r = u32::from(r);
                let part = |i: u32| Origin { part: origin.part * r + i, ..origin };
                let path = |i: u32| format!("{path}[{i}]");
                Io::Parts((0..r).map(|i| self.signature(sig, row, semantic, &path(i), part(i))).collect())
            }
            _ => match self.distance_leaf(sig, ty, semantic) {
                Some(io) => io,
                None => self.signature_leaf(sig, ty, semantic, path, origin),
            },
        }
    }

    /// The semantic that a field states.
    pub(crate) fn field_semantic(&mut self, node: &ast::Var) -> Option<Semantic> {
        let (name, span) = self.semantic(node.annotations)?;
        Some(self.make_semantic(name, span))
    }

    /// A part of `SV_ClipDistance` or `SV_CullDistance`.
    fn distance_leaf(&mut self, sig: &mut Signature, ty: Ty, semantic: &mut Option<Semantic>) -> Option<Io> {
        let s = semantic.as_mut()?;
        let name = self.b.module.names.get(s.name).to_ascii_lowercase();
        let Meaning::System(kind, ..) = meaning(name.strip_prefix("sv_")?, sig.stage, sig.way) else { return None };
        let total = match kind {
            BuiltIn::ClipDistance => &mut sig.clip,
            BuiltIn::CullDistance => &mut sig.cull,
            _ => return None,
        };
        let leaves = self.leaves(ty)?;
        let count = leaves.len() as u32;
        let first = *total;
        *total += count;
        if leaves.iter().any(|e| !e.is_float()) || *total > 64 {
            let message = "distances are floats, and not many";
            self.error(codes::BAD_SEMANTIC, s.span, message);
            return Some(Io::None);
        }
        s.index += 1;
        Some(Io::Distances { kind, first, count })
    }

    fn signature_leaf(
        &mut self,
        sig: &mut Signature,
        ty: Ty,
        semantic: &mut Option<Semantic>,
        path: &str,
        origin: Origin,
    ) -> Io {
        let Some((elem, shape)) = self.tys.as_numeric(ty) else {
            if ty != Ty::ERROR {
                let message = format!("a `{}` cannot be in a signature", self.show(ty));
                self.error(codes::BAD_SEMANTIC, origin.span, message);
            }
            return Io::None;
        };
        let vk = self.attribute(origin.attributes, Some("vk"), "builtin");
        let Some(s) = semantic.as_mut() else {
            if vk.is_none() {
                let shown = if path.is_empty() { "the result".into() } else { format!("`{path}`") };
                self.error(codes::MISSING_SEMANTIC, origin.span, format!("{shown} has no semantic"));
                return Io::None;
            }
            let name = self.b.module.names.intern("BUILTIN");
            let made = Semantic { name, index: 0, span: origin.span };
            return self.place_leaf(sig, (elem, shape), made, path, origin, vk);
        };
        let this = *s;
        s.index += 1;
        self.place_leaf(sig, (elem, shape), this, path, origin, vk)
    }

    fn place_leaf(
        &mut self,
        sig: &mut Signature,
        (elem, shape): (Elem, Shape),
        semantic: Semantic,
        path: &str,
        origin: Origin,
        vk: Option<Attribute>,
    ) -> Io {
        let text = self.b.module.names.get(semantic.name).to_owned();
        let lower = text.to_ascii_lowercase();
        let mut builtin = None;
        let mut user = None;
        if let Some(a) = vk {
            let name = self.attribute_string(a).map(str::to_owned).unwrap_or_default();
            match vk_builtin(&name, sig.stage, sig.way) {
                Some(found) => builtin = Some(found),
                None => {
                    let message = format!("`vk::builtin(\"{name}\")` is not supported here");
                    self.error(codes::UNSUPPORTED_ATTRIBUTE, a.span, message);
                    return Io::None;
                }
            }
        } else if let Some(name) = lower.strip_prefix("sv_") {
            match meaning(name, sig.stage, sig.way) {
                Meaning::System(b, e, n) => {
                    builtin = Some((b, e, n));
                    match name {
                        "depthgreaterequal" => sig.depth = DepthMode::GreaterEqual,
                        "depthlessequal" => sig.depth = DepthMode::LessEqual,
                        _ => {}
                    }
                }
                Meaning::User => user = Some(None),
                Meaning::Target => user = Some(Some(semantic.index)),
                Meaning::Wrong => {
                    let way = if sig.way == Way::In { "an input" } else { "an output" };
                    let stage = stage_name(sig.stage);
                    let message = format!("`{text}` cannot be {way} of a {stage} shader");
                    self.error(codes::BAD_SEMANTIC, semantic.span, message);
                    return Io::None;
                }
            }
        } else if sig.stage == Stage::Vertex && sig.way == Way::Out && lower == "psize" {
            builtin = Some((BuiltIn::PointSize, Elem::Float, 1));
        } else if sig.stage == Stage::Compute || sig.stage == Stage::Pixel && sig.way == Way::Out {
            let message = format!("`{text}` is no system value; a {} shader has no others here", stage_name(sig.stage));
            self.error(codes::BAD_SEMANTIC, semantic.span, message);
            return Io::None;
        } else {
            user = Some(None);
        }
        let key = (lower.clone(), semantic.index);
        let repeats = builtin.is_none() || sig.stage != Stage::Compute;
        if vk.is_none() && repeats && sig.seen.contains(&key) {
            let message = format!("`{text}{}` stands twice in the signature", semantic.index);
            self.error(codes::DUPLICATE_SEMANTIC, semantic.span, message);
            return Io::None;
        }
        sig.seen.push(key);
        let count = shape.count().min(4) as u8;
        if let Some((b, e, _)) = builtin {
            let fits = match b {
                BuiltIn::Position => shape == Shape::Vector(4) && elem.is_float() && elem.bytes() == 4,
                _ => elem.is_float() == e.is_float() || e == Elem::Bool && !elem.is_float(),
            };
            if !fits {
                let shown = self.tys.numeric(elem, shape);
                let message = format!("`{text}` cannot be of type `{}`", self.show(shown));
                self.error(codes::BAD_SEMANTIC, semantic.span, message);
                return Io::None;
            }
        }
        let smooth = Mods::LINEAR | Mods::CENTROID | Mods::NOPERSPECTIVE | Mods::SAMPLE;
        if sig.stage == Stage::Pixel && sig.way == Way::In && !elem.is_float() && origin.mods.intersects(smooth) {
            self.error(codes::BAD_SEMANTIC, origin.span, "an integer input of a pixel shader is not interpolated");
            return Io::None;
        }
        let scalar = match builtin {
            Some((_, e, _)) => e.ir(),
            // A `bool` crosses stages as a number.
            None if elem == Elem::Bool => ir::Scalar::U32,
            None => elem.ir(),
        };
        let lanes = builtin.map_or(count, |(_, _, n)| n);
        let ir_ty = self.b.module.types.vector(scalar, lanes);
        let blend_index = self.blend_index(sig, origin);
        let location = user.map(|target| self.location(sig, target, scalar, lanes, blend_index, origin));
        let name = self.b.module.names.intern(path);
        let space = if sig.way == Way::In { AddressSpace::Input } else { AddressSpace::Output };
        let integer = !scalar.is_float();
        let io = IoVar {
            semantic: semantic.name,
            index: semantic.index,
            builtin: builtin.map(|b| b.0),
            location,
            blend_index,
            interpolation: interpolation(origin.mods, sig.stage == Stage::Pixel && integer && builtin.is_none()),
            sampling: sampling(origin.mods),
        };
        let global = self.b.module.globals.push(GlobalVar {
            name,
            ty: ir_ty,
            space,
            init: None,
            kind: GlobalKind::Io(io),
            readonly: false,
            span: origin.span,
        });
        sig.globals.push(global);
        Io::Leaf { global, precise: origin.mods.contains(Mods::PRECISE) }
    }

    /// `[[vk::index(n)]]`: which source of dual-source blending.
    fn blend_index(&mut self, sig: &Signature, origin: Origin) -> u32 {
        let Some(a) = self.attribute(origin.attributes, Some("vk"), "index") else { return 0 };
        let Ok(v) = self.attribute_ints(a, 1, 1) else { return 0 };
        let with_location = self.attribute(origin.attributes, Some("vk"), "location").is_some();
        if sig.stage != Stage::Pixel || sig.way != Way::Out || !with_location || !(0..=1).contains(&v[0]) {
            let message = "`vk::index` is 0 or 1, on a pixel shader's output with a `vk::location`";
            self.error(codes::BAD_ATTRIBUTE_USE, a.span, message);
        }
        v[0] as u32
    }

    fn location(
        &mut self,
        sig: &mut Signature,
        target: Option<u32>,
        scalar: ir::Scalar,
        lanes: u8,
        blend_index: u32,
        origin: Origin,
    ) -> u32 {
        // Three or four numbers of 64 bits take two locations.
        let count = if scalar.bits() == 64 && lanes > 2 { 2 } else { 1 };
        let stated = match self.attribute(origin.attributes, Some("vk"), "location") {
            // The parts of an array or matrix follow each other.
            Some(a) => self.attribute_ints(a, 1, 1).ok().map(|v| (v[0] as u32).saturating_add(origin.part)),
            None => None,
        };
        let location = stated.or(target).unwrap_or(sig.next_location);
        sig.stated |= stated.is_some();
        sig.counted |= stated.is_none() && target.is_none();
        if sig.stated && sig.counted {
            let message = "either all elements of a signature state `vk::location` or none does";
            self.error(codes::BAD_BINDING, origin.span, message);
        }
        for at in location..location.saturating_add(count) {
            if sig.taken.contains(&(at, blend_index)) {
                self.error(codes::BAD_BINDING, origin.span, format!("location {at} is taken twice"));
                break;
            }
            sig.taken.push((at, blend_index));
        }
        if target.is_none() || stated.is_some() {
            sig.next_location = sig.next_location.max(location.saturating_add(count));
        }
        location
    }

    /// The arrays of clip and cull distances, once all of them are known.
    pub(crate) fn finish_distances(&mut self, sig: &mut Signature, span: Span) {
        let space = if sig.way == Way::In { AddressSpace::Input } else { AddressSpace::Output };
        for (kind, count, text) in
            [(BuiltIn::ClipDistance, sig.clip, "SV_ClipDistance"), (BuiltIn::CullDistance, sig.cull, "SV_CullDistance")]
        {
            if count == 0 {
                continue;
            }
            let float = self.b.module.types.scalar(ir::Scalar::F32);
            let ty = self.b.module.types.array(float, count);
            let name = self.b.module.names.intern(text);
            let io = IoVar {
                semantic: name,
                index: 0,
                builtin: Some(kind),
                location: None,
                blend_index: 0,
                interpolation: Interpolation::Perspective,
                sampling: Sampling::Center,
            };
            let global = self.b.module.globals.push(GlobalVar {
                name,
                ty,
                space,
                init: None,
                kind: GlobalKind::Io(io),
                readonly: false,
                span,
            });
            sig.globals.push(global);
            match kind {
                BuiltIn::ClipDistance => sig.clip_global = Some(global),
                _ => sig.cull_global = Some(global),
            }
        }
    }

    /// Reads a value of a type from its stage variables.
    pub(crate) fn read_io(&mut self, sig: &Signature, ty: Ty, io: &Io, span: Span) -> R<Value> {
        match io {
            Io::None => Err(crate::value::Reported(())),
            Io::Leaf { global, .. } => {
                let root = self.b.global(*global);
                let v = self.b.load(root);
                self.io_value(v, ty, span)
            }
            Io::Distances { kind, first, count } => {
                let global = if *kind == BuiltIn::ClipDistance { sig.clip_global } else { sig.cull_global };
                let Some(global) = global else { return Err(crate::value::Reported(())) };
                let root = self.b.global(global);
                let mut values = Vec::new();
                for i in *first..first + count {
                    let index = self.b.u32(i);
                    let address = self.b.access(root, &[index]);
                    values.push((Value { v: self.b.load(address), ty: Ty::FLOAT }, span));
                }
                let mut feed = crate::sema::init::Feed::new(values);
                self.build(ty, &mut feed, span)
            }
            Io::Parts(parts) => {
                let types = self.part_types(ty);
                let mut values = Vec::with_capacity(parts.len());
                for (io, ty) in parts.iter().zip(types) {
                    values.push(self.read_io(sig, ty, io, span)?.v);
                }
                let ir = self.ir(ty);
                Ok(Value { v: self.construct(ir, &values), ty })
            }
        }
    }

    /// A value of a type from what a stage variable holds.
    fn io_value(&mut self, v: ir::Value, ty: Ty, span: Span) -> R<Value> {
        let want = self.ir(ty);
        if self.b.ty(v) == want {
            return Ok(Value { v, ty });
        }
        let held = self.type_of_ir(self.b.ty(v));
        self.cast(Value { v, ty: held }, ty, span).map(|value| Value { v: value.v, ty })
    }

    /// The semantic type of a scalar or vector of the IR.
    fn type_of_ir(&mut self, ty: ir::Type) -> Ty {
        let elem = match self.b.module.types.scalar_of(ty) {
            Some(ir::Scalar::Bool) => Elem::Bool,
            Some(ir::Scalar::Int { bits: 16, signed: true }) => Elem::Int16,
            Some(ir::Scalar::Int { bits: 16, .. }) => Elem::Uint16,
            Some(ir::Scalar::Int { bits: 64, signed: true }) => Elem::Int64,
            Some(ir::Scalar::Int { bits: 64, .. }) => Elem::Uint64,
            Some(ir::Scalar::Int { signed: true, .. }) => Elem::Int,
            Some(ir::Scalar::Int { .. }) => Elem::Uint,
            Some(ir::Scalar::Float { bits: 16 }) => Elem::Float16,
            Some(ir::Scalar::Float { bits: 64 }) => Elem::Double,
            _ => Elem::Float,
        };
        match self.b.module.types.lanes(ty) {
            0 | 1 => self.tys.scalar(elem),
            n => self.tys.vector(elem, n),
        }
    }

    /// Types of the parts that [`Io::Parts`] has for a type.
    fn part_types(&mut self, ty: Ty) -> Vec<Ty> {
        match self.tys.kind(ty) {
            TyKind::Struct(s) => {
                let def = self.tys.def(s);
                def.base.into_iter().chain(def.fields.iter().map(|f| f.ty)).collect()
            }
            TyKind::Array(of, n) => vec![of; n as usize],
            TyKind::Matrix(e, r, c, _) => vec![self.tys.vector(e, c); usize::from(r)],
            _ => Vec::new(),
        }
    }

    /// Writes a value to its stage variables.
    pub(crate) fn write_io(&mut self, sig: &Signature, value: Value, io: &Io, span: Span) -> R<()> {
        match io {
            Io::None => Ok(()),
            Io::Leaf { global, precise } => {
                let root = self.b.global(*global);
                let held = self.b.module.globals[*global].ty;
                let mut v = value.v;
                if *precise {
                    self.s.body.precise.push(v);
                }
                if self.b.ty(v) != held {
                    let to = self.type_of_ir(held);
                    v = self.cast(value, to, span)?.v;
                }
                self.b.store(root, v);
                Ok(())
            }
            Io::Distances { kind, first, .. } => {
                let global = if *kind == BuiltIn::ClipDistance { sig.clip_global } else { sig.cull_global };
                let Some(global) = global else { return Ok(()) };
                let root = self.b.global(global);
                let mut all = Vec::new();
                self.scalars(value, &mut all);
                for (i, v) in all.into_iter().enumerate() {
                    let index = self.b.u32(first + i as u32);
                    let address = self.b.access(root, &[index]);
                    let v = self.convert_numeric(v, Ty::FLOAT);
                    self.b.store(address, v.v);
                }
                Ok(())
            }
            Io::Parts(parts) => {
                let types = self.part_types(value.ty);
                for (i, (io, ty)) in parts.iter().zip(types).enumerate() {
                    let v = self.extract(value.v, i as u32);
                    self.write_io(sig, Value { v, ty }, io, span)?;
                }
                Ok(())
            }
        }
    }

    /// All scalars of numbers and arrays of them.
    fn scalars(&mut self, value: Value, out: &mut Vec<Value>) {
        if let TyKind::Array(of, n) = self.tys.kind(value.ty) {
            for i in 0..n {
                let v = self.extract(value.v, i);
                self.scalars(Value { v, ty: of }, out);
            }
            return;
        }
        let Some(elem) = self.tys.elem(value.ty) else { return };
        let ty = self.tys.scalar(elem);
        out.extend(self.components(value).into_iter().map(|v| Value { v, ty }));
    }
}

fn interpolation(mods: Mods, flat: bool) -> Interpolation {
    if flat || mods.contains(Mods::NOINTERPOLATION) {
        Interpolation::Flat
    } else if mods.contains(Mods::NOPERSPECTIVE) {
        Interpolation::NoPerspective
    } else {
        Interpolation::Perspective
    }
}

fn sampling(mods: Mods) -> Sampling {
    if mods.contains(Mods::SAMPLE) {
        Sampling::Sample
    } else if mods.contains(Mods::CENTROID) {
        Sampling::Centroid
    } else {
        Sampling::Center
    }
}

/// A stage as people call it.
pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Vertex => "vertex",
        Stage::Pixel => "pixel",
        Stage::Compute => "compute",
    }
}

#[cfg(test)]
mod tests {
    use super::split_semantic;

    #[test]
    fn splits_semantics() {
        assert_eq!(split_semantic("TEXCOORD12"), ("TEXCOORD", 12));
        assert_eq!(split_semantic("SV_Position"), ("SV_Position", 0));
        assert_eq!(split_semantic("UV2D"), ("UV2D", 0));
        assert_eq!(split_semantic("A99999999999"), ("A", 0));
    }
}
