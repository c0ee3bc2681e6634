//! Stage inputs and outputs.
//!
//! Most are variables of their own type. Some are not stored as their type says: `bool`s, built-in variables whose type
//! Vulkan fixes, distances that share one array. Those are converted where they are loaded and stored; when only a part
//! is stored, a private variable stands in and is stored when the entry point returns.

use crate::cx::Cx;
use crate::func::{Fx, Lowered};
use crate::memory::{Mem, Pointer};
use oneshader_ir::{
    AddressSpace, BuiltIn, DepthMode, Global, GlobalKind, Interpolation, IoVar, Sampling, Scalar, Stage, Type, TypeKind,
};
use spirv::{BuiltIn as SpvBuiltIn, Decoration, ExecutionMode, Op, StorageClass};

/// How a stage variable is stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Stored {
    /// As its type.
    Same,
    /// As its type, `bool`s as `uint`s.
    Bools,
    /// A built-in number or vector of a fixed type.
    Number(Scalar, u8),
    /// An array of one `uint`.
    Mask,
    /// `len` elements of a shared array of floats, from `first`.
    Distances { first: u32, len: u32 },
    /// An array of the values at three vertices.
    PerVertex,
    /// The position of a vertex, to be adapted.
    Position,
    /// The position of a pixel, to be adapted.
    FragCoord,
    /// A `uint` that counts from the value of another built-in.
    From(SpvBuiltIn),
}

/// A stage variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IoInfo {
    pub var: u32,
    pub class: StorageClass,
    pub stored: Stored,
    /// The private variable that stands in for an output of which parts are stored.
    pub stand_in: Option<u32>,
}

/// The built-in variable of a system value, and the type Vulkan gives it: a scalar type, components, whether it is an
/// array of one.
fn builtin(which: BuiltIn, stage: Stage, interpolation: Interpolation, output: bool) -> (SpvBuiltIn, Stored) {
    use SpvBuiltIn as B;
    use Stored::{Mask, Number, Same};
    let uint = |lanes| Number(Scalar::U32, lanes);
    let float = |lanes| Number(Scalar::F32, lanes);
    match which {
        BuiltIn::Position if stage == Stage::Pixel => (B::FragCoord, float(4)),
        BuiltIn::Position => (B::Position, float(4)),
        BuiltIn::VertexId => (B::VertexIndex, uint(1)),
        BuiltIn::InstanceId => (B::InstanceIndex, uint(1)),
        BuiltIn::BaseVertex => (B::BaseVertex, uint(1)),
        BuiltIn::BaseInstance => (B::BaseInstance, uint(1)),
        BuiltIn::DrawIndex => (B::DrawIndex, uint(1)),
        BuiltIn::PrimitiveId => (B::PrimitiveId, uint(1)),
        BuiltIn::FrontFace => (B::FrontFacing, Number(Scalar::Bool, 1)),
        BuiltIn::SampleIndex => (B::SampleId, uint(1)),
        BuiltIn::CoverageIn | BuiltIn::CoverageOut => (B::SampleMask, Mask),
        BuiltIn::InnerCoverage => (B::FullyCoveredEXT, Number(Scalar::Bool, 1)),
        BuiltIn::Depth => (B::FragDepth, float(1)),
        BuiltIn::StencilRef => (B::FragStencilRefEXT, uint(1)),
        BuiltIn::ClipDistance => (B::ClipDistance, Same),
        BuiltIn::CullDistance => (B::CullDistance, Same),
        BuiltIn::Layer => (B::Layer, uint(1)),
        BuiltIn::ViewportIndex => (B::ViewportIndex, uint(1)),
        BuiltIn::ViewId => (B::ViewIndex, uint(1)),
        BuiltIn::ShadingRate if output => (B::PrimitiveShadingRateKHR, uint(1)),
        BuiltIn::ShadingRate => (B::ShadingRateKHR, uint(1)),
        BuiltIn::Barycentrics if interpolation == Interpolation::NoPerspective => (B::BaryCoordNoPerspKHR, float(3)),
        BuiltIn::Barycentrics => (B::BaryCoordKHR, float(3)),
        BuiltIn::DispatchThreadId => (B::GlobalInvocationId, uint(3)),
        BuiltIn::GroupId => (B::WorkgroupId, uint(3)),
        BuiltIn::GroupThreadId => (B::LocalInvocationId, uint(3)),
        BuiltIn::GroupIndex => (B::LocalInvocationIndex, uint(1)),
        BuiltIn::PointSize => (B::PointSize, float(1)),
        BuiltIn::HelperInvocation => (B::HelperInvocation, Number(Scalar::Bool, 1)),
        BuiltIn::Spirv(number) => {
            let which = B::from_u32(number).unwrap_or(B::Position);
            (which, fixed_type(which))
        }
    }
}

/// The type that Vulkan gives a built-in variable; the declared one where it leaves a choice or several are sensible.
fn fixed_type(which: SpvBuiltIn) -> Stored {
    use SpvBuiltIn as B;
    let (scalar, lanes) = match which {
        B::Position | B::FragCoord => (Scalar::F32, 4),
        B::TessCoord | B::BaryCoordKHR | B::BaryCoordNoPerspKHR => (Scalar::F32, 3),
        B::PointCoord | B::SamplePosition => (Scalar::F32, 2),
        B::PointSize | B::FragDepth => (Scalar::F32, 1),
        B::FrontFacing | B::HelperInvocation | B::FullyCoveredEXT => (Scalar::Bool, 1),
        B::NumWorkgroups | B::WorkgroupSize | B::WorkgroupId | B::LocalInvocationId | B::GlobalInvocationId => {
            (Scalar::U32, 3)
        }
        B::SubgroupEqMask | B::SubgroupGeMask | B::SubgroupGtMask | B::SubgroupLeMask | B::SubgroupLtMask => {
            (Scalar::U32, 4)
        }
        B::SampleMask | B::ClipDistance | B::CullDistance | B::TessLevelOuter | B::TessLevelInner => {
            return Stored::Same;
        }
        B::VertexIndex
        | B::InstanceIndex
        | B::BaseVertex
        | B::BaseInstance
        | B::DrawIndex
        | B::PrimitiveId
        | B::SampleId
        | B::Layer
        | B::ViewportIndex
        | B::ViewIndex
        | B::DeviceIndex
        | B::LocalInvocationIndex
        | B::SubgroupSize
        | B::NumSubgroups
        | B::SubgroupId
        | B::SubgroupLocalInvocationId
        | B::FragStencilRefEXT
        | B::PrimitiveShadingRateKHR
        | B::ShadingRateKHR => (Scalar::U32, 1),
        _ => return Stored::Same,
    };
    Stored::Number(scalar, lanes)
}

/// Floats of a stage variable that is distances: components, times elements.
fn floats(cx: &Cx, ty: Type) -> u32 {
    match cx.ir.types.kind(ty) {
        TypeKind::Array { elem, len } => len.saturating_mul(floats(cx, elem)),
        _ => u32::from(cx.ir.types.lanes(ty)).max(1),
    }
}

impl Cx<'_> {
    /// The declaration of a stage variable.
    fn io_var(&self, global: Global) -> Option<&IoVar> {
        match &self.ir.globals[global].kind {
            GlobalKind::Io(io) => Some(io),
            _ => None,
        }
    }

    /// A stage variable, made at its first use.
    pub fn io_info(&mut self, global: Global) -> Option<IoInfo> {
        if let Some(&info) = self.io.get(&global) {
            return Some(info);
        }
        let io = self.io_var(global)?.clone();
        let ir = self.ir;
        let data = &ir.globals[global];
        let output = data.space == AddressSpace::Output;
        let class = if output { StorageClass::Output } else { StorageClass::Input };
        let (var, stored) = match io.builtin {
            Some(which) => self.builtin_io(global, &io, which, output)?,
            None => self.user_io(global, &io, class),
        };
        let mut info = IoInfo { var, class, stored, stand_in: None };
        if output && stored != Stored::Same && self.usage.parts.contains(&global) {
            let pointee = self.ty(data.ty);
            info.stand_in = Some(self.private_variable(pointee));
        }
        self.touch(var, class);
        self.io.insert(global, info);
        Some(info)
    }

    /// A variable for a value of the user's.
    fn user_io(&mut self, global: Global, io: &IoVar, class: StorageClass) -> (u32, Stored) {
        let ir = self.ir;
        let data = &ir.globals[global];
        let pixel_input = self.entry.stage == Stage::Pixel && class == StorageClass::Input;
        let per_vertex =
            pixel_input && (io.interpolation == Interpolation::PerVertex || self.usage.per_vertex.contains(&global));
        let inner = self.mem_ty(data.ty, Mem::Io);
        let pointee = if per_vertex { self.array(inner, 3, None) } else { inner };
        let var = self.io_declare(pointee, class, &self.io_name(global, io));
        if let Some(location) = io.location {
            self.m.decorate(var, Decoration::Location, &[location]);
        }
        if io.blend_index != 0 {
            self.m.decorate(var, Decoration::Index, &[io.blend_index]);
        }
        if pixel_input {
            if per_vertex {
                self.m.decorate(var, Decoration::PerVertexKHR, &[]);
            } else {
                self.interpolation(var, io, data.ty);
            }
        }
        self.reflect_semantic(var, io);
        let stored = match () {
            () if per_vertex => Stored::PerVertex,
            () if inner != self.ty(data.ty) => Stored::Bools,
            () => Stored::Same,
        };
        (var, stored)
    }

    /// DXC's names: `in.var.TEXCOORD0`, `out.var.SV_Target`.
    fn io_name(&self, global: Global, io: &IoVar) -> String {
        let way = if self.ir.globals[global].space == AddressSpace::Output { "out" } else { "in" };
        let index = if io.index == 0 { String::new() } else { io.index.to_string() };
        format!("{way}.var.{}{index}", self.ir.names.get(io.semantic))
    }

    fn io_declare(&mut self, pointee: u32, class: StorageClass, name: &str) -> u32 {
        let ty = self.pointer(class, pointee);
        let var = self.m.id();
        self.m.globals.inst(Op::Variable, &[ty, var, class as u32]);
        self.name(var, name);
        var
    }

    /// Interpolation of a pixel input. What is no float of 32 bits or less is never interpolated
    /// (VUID-StandaloneSpirv-Flat-04744).
    fn interpolation(&mut self, var: u32, io: &IoVar, ty: Type) {
        let mut scalar_ty = ty;
        while let TypeKind::Array { elem, .. } = self.ir.types.kind(scalar_ty) {
            scalar_ty = elem;
        }
        let scalar = self.ir.types.scalar_of(scalar_ty).unwrap_or(Scalar::F32);
        match io.interpolation {
            Interpolation::PerVertex | Interpolation::Flat => return self.m.decorate(var, Decoration::Flat, &[]),
            _ if !scalar.is_float() || scalar.bits() == 64 => {
                return self.m.decorate(var, Decoration::Flat, &[]);
            }
            Interpolation::NoPerspective => self.m.decorate(var, Decoration::NoPerspective, &[]),
            Interpolation::Perspective => {}
        }
        match io.sampling {
            Sampling::Center => {}
            Sampling::Centroid => self.m.decorate(var, Decoration::Centroid, &[]),
            Sampling::Sample => self.m.decorate(var, Decoration::Sample, &[]),
        }
    }

    fn builtin_io(&mut self, global: Global, io: &IoVar, which: BuiltIn, output: bool) -> Option<(u32, Stored)> {
        let stage = self.entry.stage;
        let class = if output { StorageClass::Output } else { StorageClass::Input };
        let (id, fixed) = builtin(which, stage, io.interpolation, output);
        if matches!(which, BuiltIn::ClipDistance | BuiltIn::CullDistance) {
            return self.distances(global, which, id, output);
        }
        if let BuiltIn::Spirv(number) = which
            && SpvBuiltIn::from_u32(number).is_none()
        {
            let span = self.ir.globals[global].span;
            self.unsupported(span, format!("{number} is no built-in variable of SPIR-V"));
            return None;
        }
        let pointee = match fixed {
            Stored::Number(scalar, lanes) => self.num(scalar, lanes),
            Stored::Same => self.ty(self.ir.globals[global].ty),
            _ => {
                let uint = self.scalar(Scalar::U32);
                self.array(uint, 1, None)
            }
        };
        let name = self.io_name(global, io);
        let var = match self.builtins.get(&(id as u32, output)) {
            Some(&var) => var,
            None => {
                let var = self.builtin_variable(id, pointee, class, &name);
                self.reflect_semantic(var, io);
                if let (Stage::Pixel, false, Stored::Number(Scalar::Int { .. }, _)) = (stage, output, fixed) {
                    self.m.decorate(var, Decoration::Flat, &[]);
                }
                var
            }
        };
        let ty = self.ir.globals[global].ty;
        let stored = match which {
            BuiltIn::Position if stage == Stage::Vertex && self.opts.invert_y => Stored::Position,
            BuiltIn::Position if stage == Stage::Pixel && self.opts.dx_position_w => Stored::FragCoord,
            BuiltIn::VertexId if self.opts.zero_base_vertex => Stored::From(SpvBuiltIn::BaseVertex),
            BuiltIn::InstanceId if self.opts.zero_base_instance => Stored::From(SpvBuiltIn::BaseInstance),
            _ if self.ty(ty) == pointee => Stored::Same,
            _ => fixed,
        };
        Some((var, stored))
    }

    /// The variable of a built-in.
    pub fn builtin_variable(&mut self, id: SpvBuiltIn, pointee: u32, class: StorageClass, name: &str) -> u32 {
        let output = class == StorageClass::Output;
        let var = match self.builtins.get(&(id as u32, output)) {
            Some(&var) => var,
            None => {
                let var = self.io_declare(pointee, class, name);
                self.m.decorate(var, Decoration::BuiltIn, &[id as u32]);
                self.builtins.insert((id as u32, output), var);
                var
            }
        };
        self.touch(var, class);
        var
    }

    /// The array of all clip or cull distances of a signature, in the order of their semantic indices.
    fn distances(&mut self, global: Global, which: BuiltIn, id: SpvBuiltIn, output: bool) -> Option<(u32, Stored)> {
        let ir = self.ir;
        let list = if output { &self.entry.outputs } else { &self.entry.inputs };
        let mut all: Vec<(u32, Global)> = list
            .iter()
            .filter_map(|&g| self.io_var(g).filter(|io| io.builtin == Some(which)).map(|io| (io.index, g)))
            .collect();
        all.sort_by_key(|&(index, _)| index);
        let mut first = 0;
        let mut place = None;
        for (_, g) in all {
            let len = floats(self, ir.globals[g].ty);
            if g == global {
                place = Some((first, len));
            }
            first = u32::saturating_add(first, len);
        }
        let (at, len) = place?;
        let float = self.scalar(Scalar::F32);
        let array = self.array(float, first, None);
        let class = if output { StorageClass::Output } else { StorageClass::Input };
        let name = if id == SpvBuiltIn::ClipDistance { "gl_ClipDistance" } else { "gl_CullDistance" };
        let var = self.builtin_variable(id, array, class, name);
        let same = self.ty(ir.globals[global].ty) == array;
        Some((var, if same { Stored::Same } else { Stored::Distances { first: at, len } }))
    }

    /// Execution modes of the entry point at hand.
    pub fn execution_modes(&mut self, func: u32) {
        let entry = self.entry;
        let mode = |cx: &mut Self, mode: ExecutionMode, operands: &[u32]| {
            let mut words = vec![func, mode as u32];
            words.extend_from_slice(operands);
            cx.m.modes.inst(Op::ExecutionMode, &words);
        };
        match entry.stage {
            Stage::Vertex => {}
            Stage::Compute => {
                mode(self, ExecutionMode::LocalSize, &entry.threads);
                if let Some(group) = self.derivative_group() {
                    mode(self, group, &[]);
                }
            }
            Stage::Pixel => {
                mode(self, ExecutionMode::OriginUpperLeft, &[]);
                if entry.early_depth_stencil {
                    mode(self, ExecutionMode::EarlyFragmentTests, &[]);
                }
                let writes = |cx: &Self, which, by_number: SpvBuiltIn| {
                    let either = [Some(which), Some(BuiltIn::Spirv(by_number as u32))];
                    entry.outputs.iter().any(|&g| cx.io_var(g).is_some_and(|io| either.contains(&io.builtin)))
                };
                if writes(self, BuiltIn::Depth, SpvBuiltIn::FragDepth) {
                    mode(self, ExecutionMode::DepthReplacing, &[]);
                    match entry.depth {
                        DepthMode::Any => {}
                        DepthMode::GreaterEqual => mode(self, ExecutionMode::DepthGreater, &[]),
                        DepthMode::LessEqual => mode(self, ExecutionMode::DepthLess, &[]),
                    }
                }
                if writes(self, BuiltIn::StencilRef, SpvBuiltIn::FragStencilRefEXT) {
                    mode(self, ExecutionMode::StencilRefReplacingEXT, &[]);
                }
                if self.usage.ordered {
                    mode(self, ExecutionMode::PixelInterlockOrderedEXT, &[]);
                }
            }
        }
        for &number in &entry.spirv_modes {
            self.stated_mode(func, number);
        }
    }

    /// An execution mode that the source states, unless it follows from something else.
    fn stated_mode(&mut self, func: u32, number: u32) {
        let there = |(op, words): (u32, &[u32])| op == Op::ExecutionMode as u32 && words == [func, number];
        if !self.m.modes.iter().any(there) {
            self.m.modes.inst(Op::ExecutionMode, &[func, number]);
        }
    }

    /// How the threads of a compute shader that takes derivatives form quads.
    fn derivative_group(&self) -> Option<ExecutionMode> {
        if !self.usage.derivatives {
            return None;
        }
        let [x, y, _] = self.entry.threads;
        // HLSL: quads of two by two when both sizes are even, else four in a row.
        let quads = x % 2 == 0 && y % 2 == 0;
        Some(if quads { ExecutionMode::DerivativeGroupQuadsKHR } else { ExecutionMode::DerivativeGroupLinearKHR })
    }
}

impl Fx<'_, '_> {
    /// The address of a stage variable, or a note that it is converted.
    pub fn io_variable(&mut self, global: Global) -> Option<Lowered> {
        let info = self.cx.io_info(global)?;
        if info.stored != Stored::Same {
            return Some(Lowered::Io(global));
        }
        Some(Lowered::Pointer(Pointer {
            id: info.var,
            ty: self.cx.ir.globals[global].ty,
            mem: Mem::Plain,
            class: info.class,
            nonuniform: false,
            as_uint: false,
            block: false,
            align: 0,
        }))
    }

    /// Memory that holds a converted stage variable: the stand-in of an output, a copy of an input.
    pub fn io_pointer(&mut self, global: Global) -> Option<Pointer> {
        let info = self.cx.io_info(global)?;
        let ty = self.cx.ir.globals[global].ty;
        let (id, class) = match info.stand_in {
            Some(id) => {
                self.cx.touch(id, StorageClass::Private);
                (id, StorageClass::Private)
            }
            None => {
                let pointee = self.cx.ty(ty);
                (self.variable(pointee), StorageClass::Function)
            }
        };
        let pointer = Pointer::variable(id, ty, class);
        if info.stand_in.is_none() {
            let value = self.load_io(global)?;
            self.store(pointer, value);
        }
        Some(pointer)
    }

    /// The value of a converted stage variable.
    pub fn load_io(&mut self, global: Global) -> Option<u32> {
        let info = self.cx.io_info(global)?;
        let ty = self.cx.ir.globals[global].ty;
        if info.stand_in.is_some() {
            let pointer = self.io_pointer(global)?;
            return Some(self.load(pointer));
        }
        self.cx.touch(info.var, info.class);
        match info.stored {
            Stored::Number(scalar, lanes) => {
                let raw_ty = self.cx.num(scalar, lanes);
                let raw = self.op(Op::Load, raw_ty, &[info.var]);
                self.adapt(raw, scalar, lanes, ty)
            }
            Stored::From(base) => {
                let uint = self.cx.scalar(Scalar::U32);
                let index = self.op(Op::Load, uint, &[info.var]);
                let name = if base == SpvBuiltIn::BaseVertex { "gl_BaseVertex" } else { "gl_BaseInstance" };
                let first = self.cx.builtin_variable(base, uint, info.class, name);
                let first = self.op(Op::Load, uint, &[first]);
                let value = self.op(Op::ISub, uint, &[index, first]);
                self.adapt(value, Scalar::U32, 1, ty)
            }
            Stored::Mask => {
                let raw = self.load_part(info, Scalar::U32, 0);
                self.adapt(raw, Scalar::U32, 1, ty)
            }
            Stored::Distances { first, len } => {
                let parts: Vec<u32> = (0..len).map(|i| self.load_part(info, Scalar::F32, first + i)).collect();
                self.gather_floats(ty, &mut parts.into_iter())
            }
            Stored::PerVertex => {
                let first = self.cx.u32(0);
                self.vertex_value(info, ty, first, &[])
            }
            Stored::FragCoord => {
                let vec4 = self.cx.num(Scalar::F32, 4);
                let float = self.cx.scalar(Scalar::F32);
                let raw = self.op(Op::Load, vec4, &[info.var]);
                let w = self.op(Op::CompositeExtract, float, &[raw, 3]);
                let one = self.cx.f32(1.0);
                let inverse = self.op(Op::FDiv, float, &[one, w]);
                let whole = self.op(Op::CompositeInsert, vec4, &[inverse, raw, 3]);
                self.adapt(whole, Scalar::F32, 4, ty)
            }
            Stored::Same | Stored::Bools | Stored::Position => {
                let pointer = Pointer {
                    id: info.var,
                    ty,
                    mem: Mem::Io,
                    class: info.class,
                    nonuniform: false,
                    as_uint: false,
                    block: false,
                    align: 0,
                };
                Some(self.load(pointer))
            }
        }
    }

    /// The value of an input, or of the part of it at `indices`, at vertex `vertex`.
    pub fn vertex_value(&mut self, info: IoInfo, ty: Type, vertex: u32, indices: &[u32]) -> Option<u32> {
        let inner = self.cx.mem_ty(ty, Mem::Io);
        let ptr_ty = self.cx.pointer(info.class, inner);
        let mut operands = vec![info.var, vertex];
        operands.extend_from_slice(indices);
        let ptr = self.op(Op::AccessChain, ptr_ty, &operands);
        let raw = self.op(Op::Load, inner, &[ptr]);
        Some(self.unpack(raw, ty, Mem::Io))
    }

    fn load_part(&mut self, info: IoInfo, scalar: Scalar, index: u32) -> u32 {
        let ptr = self.part_ptr(info, scalar, index);
        let ty = self.cx.scalar(scalar);
        self.op(Op::Load, ty, &[ptr])
    }

    fn part_ptr(&mut self, info: IoInfo, scalar: Scalar, index: u32) -> u32 {
        let inner = self.cx.scalar(scalar);
        let ptr_ty = self.cx.pointer(info.class, inner);
        let index = self.cx.u32(index);
        self.op(Op::AccessChain, ptr_ty, &[info.var, index])
    }

    /// A value of `ty` from floats in order.
    fn gather_floats(&mut self, ty: Type, parts: &mut dyn Iterator<Item = u32>) -> Option<u32> {
        if let TypeKind::Array { elem, len } = self.cx.ir.types.kind(ty) {
            let mut ids = Vec::new();
            for _ in 0..len {
                ids.push(self.gather_floats(elem, parts)?);
            }
            let id = self.cx.ty(ty);
            return Some(self.op(Op::CompositeConstruct, id, &ids));
        }
        let (scalar, lanes) = self.shape(ty)?;
        let ids: Vec<u32> = parts.take(usize::from(lanes)).collect();
        let whole = self.vector_of(&ids, Scalar::F32);
        self.convert_shape(whole, Scalar::F32, scalar, lanes)
    }

    /// Brings a built-in's value to the type the shader declares: fewer or more components, another scalar type.
    fn adapt(&mut self, raw: u32, scalar: Scalar, lanes: u8, ty: Type) -> Option<u32> {
        let (to, wanted) = self.shape(ty)?;
        let mut value = raw;
        if wanted != lanes {
            let parts: Vec<u32> = (0..wanted)
                .map(|i| if i < lanes { self.lane(raw, scalar, lanes, i) } else { self.cx.number(scalar, 1, 0) })
                .collect();
            value = self.vector_of(&parts, scalar);
        }
        self.convert_shape(value, scalar, to, wanted)
    }

    /// Stores a converted stage output.
    pub fn store_io(&mut self, global: Global, value: u32) {
        let Some(info) = self.cx.io_info(global) else { return };
        if info.stand_in.is_some() {
            if let Some(pointer) = self.io_pointer(global) {
                self.store(pointer, value);
            }
            return;
        }
        self.store_output(global, info, value);
    }

    fn store_output(&mut self, global: Global, info: IoInfo, value: u32) {
        let ty = self.cx.ir.globals[global].ty;
        self.cx.touch(info.var, info.class);
        let shape = self.shape(ty);
        match (info.stored, shape) {
            (Stored::Number(scalar, lanes), Some((from, have))) => {
                let Some(value) = self.fit(value, from, have, scalar, lanes) else { return };
                self.effect(Op::Store, &[info.var, value]);
            }
            (Stored::Mask, Some((from, have))) => {
                let Some(value) = self.fit(value, from, have, Scalar::U32, 1) else { return };
                let ptr = self.part_ptr(info, Scalar::U32, 0);
                self.effect(Op::Store, &[ptr, value]);
            }
            (Stored::Distances { first, len }, _) => {
                let mut parts = Vec::new();
                self.spread_floats(ty, value, &mut parts);
                for (i, part) in parts.into_iter().take(len as usize).enumerate() {
                    let ptr = self.part_ptr(info, Scalar::F32, first + i as u32);
                    self.effect(Op::Store, &[ptr, part]);
                }
            }
            (Stored::Position, Some((from, have))) => {
                let Some(value) = self.fit(value, from, have, Scalar::F32, 4) else { return };
                let vec4 = self.cx.num(Scalar::F32, 4);
                let float = self.cx.scalar(Scalar::F32);
                let y = self.op(Op::CompositeExtract, float, &[value, 1]);
                let down = self.op(Op::FNegate, float, &[y]);
                let whole = self.op(Op::CompositeInsert, vec4, &[down, value, 1]);
                self.effect(Op::Store, &[info.var, whole]);
            }
            _ => {
                let class = info.class;
                let pointer = Pointer {
                    id: info.var,
                    ty,
                    mem: Mem::Io,
                    class,
                    nonuniform: false,
                    as_uint: false,
                    block: false,
                    align: 0,
                };
                self.store(pointer, value);
            }
        }
    }

    /// A value of another scalar type and number of components; missing ones are 0.
    fn fit(&mut self, value: u32, from: Scalar, have: u8, to: Scalar, lanes: u8) -> Option<u32> {
        let value = self.convert_shape(value, from, to, have)?;
        if have == lanes {
            return Some(value);
        }
        let parts: Vec<u32> = (0..lanes)
            .map(|i| if i < have { self.lane(value, to, have, i) } else { self.cx.number(to, 1, 0) })
            .collect();
        Some(self.vector_of(&parts, to))
    }

    fn spread_floats(&mut self, ty: Type, value: u32, parts: &mut Vec<u32>) {
        if let TypeKind::Array { elem, len } = self.cx.ir.types.kind(ty) {
            let elem_ty = self.cx.ty(elem);
            for i in 0..len {
                let part = self.op(Op::CompositeExtract, elem_ty, &[value, i]);
                self.spread_floats(elem, part, parts);
            }
        } else if let Some((scalar, lanes)) = self.shape(ty) {
            for i in 0..lanes {
                let part = self.lane(value, scalar, lanes, i);
                parts.extend(self.convert_shape(part, scalar, Scalar::F32, 1));
            }
        }
    }

    /// What the entry point does first.
    pub fn enter_entry_point(&mut self) {
        if self.cx.usage.ordered {
            self.effect(Op::BeginInvocationInterlockEXT, &[]);
        }
    }

    /// What the entry point does before it returns: stores the outputs that have a stand-in.
    pub fn leave_entry_point(&mut self) {
        for &global in &self.cx.entry.outputs.clone() {
            let Some(&info) = self.cx.io.get(&global) else { continue };
            if info.stand_in.is_none() {
                continue;
            }
            let Some(pointer) = self.io_pointer(global) else { continue };
            let value = self.load(pointer);
            self.store_output(global, info, value);
        }
        if self.cx.usage.ordered {
            self.effect(Op::EndInvocationInterlockEXT, &[]);
        }
    }
}
