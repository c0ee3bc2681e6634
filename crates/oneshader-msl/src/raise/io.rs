//! Stage inputs and outputs: the `[[stage_in]]` structure, the structure that is returned, and built-in arguments.
//!
//! A field of either structure is a scalar or vector. Arrays and matrices take one field (and location) for each element or
//! row and are gathered into a local variable; so are values whose Metal type is another (`bool`s, signed built-ins).

use super::Raised;
use super::memory::scalar_name;
use super::positions;
use crate::names::{Inner, Scope, member};
use cranelift_entity::SecondaryMap;
use oneshader_diag::{DiagnosticBag, codes};
use oneshader_ir::{
    BuiltIn, DepthMode, EntryPoint, Function, Global, GlobalKind, Interpolation, Intrinsic, IoVar, IrModule, Op,
    Sampling, Scalar, Stage, Type, TypeKind, ValueDef,
};

/// Where a stage variable's parts are found.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// It is this expression, of its own type.
    Place(String),
    /// It is a local variable: a value of its type is made of these expressions, one for each element or row. `convert`:
    /// each part has the Metal type of that name and must be converted.
    Parts { parts: Vec<String>, convert: Option<String> },
    /// It is made of the places of [`QuadPlaces`].
    Thread(BuiltIn),
    /// An `interpolant<...>` field: read by its methods.
    Interpolant { field: String, method: &'static str },
}

/// A structure of stage inputs or outputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct IoStruct {
    pub name: String,
    /// Declarations without indentation.
    pub fields: Vec<String>,
}

/// The arguments from which positions of threads are computed, where those follow from the quad-groups.
#[derive(Clone, Debug)]
pub(crate) struct QuadPlaces {
    /// Index of the quad-group in the threadgroup.
    pub quad: String,
    /// Index of the thread in it.
    pub lane: String,
    /// Position of the threadgroup, a `uint3`; empty where nothing asks for it.
    pub group: String,
}

/// The interface of an entry point.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageIo {
    pub input: Option<IoStruct>,
    pub output: Option<IoStruct>,
    /// Built-in arguments: (declaration, attribute).
    pub params: Vec<(String, String)>,
    pub forms: SecondaryMap<Global, Option<Form>>,
    /// Whether vertex attributes are read.
    pub has_attributes: bool,
    pub quads: Option<QuadPlaces>,
}

/// What is needed to lay out the interface.
pub(crate) struct Interface<'a> {
    pub module: &'a IrModule,
    pub entry: &'a EntryPoint,
    pub function: &'a Function,
    pub scope: Inner<'a>,
    /// Whether positions of threads follow from the quad-groups.
    pub moves_threads: bool,
    /// Components of positions in the grid.
    pub position_lanes: u8,
    pub bag: &'a mut DiagnosticBag,
    pub io: StageIo,
    fields: Scope,
    /// Built-in arguments that there are.
    arguments: Vec<(BuiltIn, String)>,
}

pub(crate) fn stage_io(
    raised: &Raised,
    function: &Function,
    scope: Inner,
    names: (String, String),
    bag: &mut DiagnosticBag,
) -> StageIo {
    let entry = &raised.entry;
    let mut this = Interface {
        module: &raised.module,
        entry,
        function,
        scope,
        moves_threads: raised.moves_threads,
        position_lanes: raised.position_lanes,
        bag,
        io: StageIo::default(),
        fields: Scope::default(),
        arguments: Vec::new(),
    };
    let mut input = IoStruct { name: names.0, fields: Vec::new() };
    for &global in &entry.inputs {
        this.input(global, &mut input);
    }
    let mut output = IoStruct { name: names.1, fields: Vec::new() };
    this.fields = Scope::default();
    for &global in &entry.outputs {
        this.output(global, &mut output);
    }
    // MSL 5.2.3.3: a vertex function returns nothing or a position too; without one HLSL draws nothing, as zeros do.
    let positioned = output.fields.iter().any(|field| field.contains("[[position"));
    if entry.stage == Stage::Vertex && !output.fields.is_empty() && !positioned {
        let field = this.fields.unique("position");
        output.fields.push(format!("float4 {field} [[position]];"));
    }
    let mut io = this.io;
    io.has_attributes = entry.stage == Stage::Vertex && !input.fields.is_empty();
    io.input = (!input.fields.is_empty()).then_some(input);
    io.output = (!output.fields.is_empty()).then_some(output);
    io
}

/// Metal's type and attribute of a built-in argument, and the scalar it is made of.
fn argument(builtin: BuiltIn, stage: Stage) -> Option<(Scalar, u8, &'static str)> {
    let uint = Scalar::U32;
    Some(match (builtin, stage) {
        (BuiltIn::VertexId, Stage::Vertex) => (uint, 1, "vertex_id"),
        (BuiltIn::InstanceId, Stage::Vertex) => (uint, 1, "instance_id"),
        (BuiltIn::BaseVertex, Stage::Vertex) => (uint, 1, "base_vertex"),
        (BuiltIn::BaseInstance, Stage::Vertex) => (uint, 1, "base_instance"),
        (BuiltIn::ViewId, Stage::Vertex | Stage::Pixel) => (uint, 1, "amplification_id"),
        (BuiltIn::Position, Stage::Pixel) => (Scalar::F32, 4, "position"),
        (BuiltIn::PrimitiveId, Stage::Pixel) => (uint, 1, "primitive_id"),
        (BuiltIn::FrontFace, Stage::Pixel) => (Scalar::Bool, 1, "front_facing"),
        (BuiltIn::SampleIndex, Stage::Pixel) => (uint, 1, "sample_id"),
        (BuiltIn::CoverageIn, Stage::Pixel) => (uint, 1, "sample_mask"),
        (BuiltIn::Layer, Stage::Pixel) => (uint, 1, "render_target_array_index"),
        (BuiltIn::ViewportIndex, Stage::Pixel) => (uint, 1, "viewport_array_index"),
        (BuiltIn::Barycentrics, Stage::Pixel) => (Scalar::F32, 3, "barycentric_coord"),
        (BuiltIn::DispatchThreadId, Stage::Compute) => (uint, 3, "thread_position_in_grid"),
        (BuiltIn::GroupId, Stage::Compute) => (uint, 3, "threadgroup_position_in_grid"),
        (BuiltIn::GroupThreadId, Stage::Compute) => (uint, 3, "thread_position_in_threadgroup"),
        (BuiltIn::GroupIndex, Stage::Compute) => (uint, 1, "thread_index_in_threadgroup"),
        (BuiltIn::Spirv(number), _) => return by_number(number, stage),
        _ => return None,
    })
}

/// The same of a built-in variable by SPIR-V's number (SPIR-V specification 3.21).
fn by_number(number: u32, stage: Stage) -> Option<(Scalar, u8, &'static str)> {
    let uint = Scalar::U32;
    Some(match (number, stage) {
        (15, Stage::Pixel) => (Scalar::F32, 4, "position"),
        (17, Stage::Pixel) => (Scalar::Bool, 1, "front_facing"),
        (18, Stage::Pixel) => (uint, 1, "sample_id"),
        (24, Stage::Compute) => (uint, 3, "threadgroups_per_grid"),
        (26, Stage::Compute) => (uint, 3, "threadgroup_position_in_grid"),
        (27, Stage::Compute) => (uint, 3, "thread_position_in_threadgroup"),
        (28, Stage::Compute) => (uint, 3, "thread_position_in_grid"),
        (29, Stage::Compute) => (uint, 1, "thread_index_in_threadgroup"),
        (36, Stage::Compute) => (uint, 1, "threads_per_simdgroup"),
        (38, Stage::Compute) => (uint, 1, "simdgroups_per_threadgroup"),
        (40, Stage::Compute) => (uint, 1, "simdgroup_index_in_threadgroup"),
        (41, Stage::Compute) => (uint, 1, "thread_index_in_simdgroup"),
        _ => return None,
    })
}

/// Whether a built-in says where in its threadgroup a thread is.
fn moves(builtin: BuiltIn) -> bool {
    matches!(builtin, BuiltIn::DispatchThreadId | BuiltIn::GroupThreadId | BuiltIn::GroupIndex)
}

impl Interface<'_> {
    fn io_var(&self, global: Global) -> Option<IoVar> {
        match &self.module.globals[global].kind {
            GlobalKind::Io(io) => Some(io.clone()),
            _ => None,
        }
    }

    fn name(&self, global: Global, io: &IoVar) -> String {
        let name = self.module.names.get(self.module.globals[global].name);
        let semantic = self.module.names.get(io.semantic);
        if !name.is_empty() {
            return name.replace('.', "_");
        }
        let base = semantic.trim_start_matches("SV_").to_ascii_lowercase();
        if io.index == 0 && io.location.is_none() { base } else { format!("{base}{}", io.index) }
    }

    fn is_used(&self, global: Global) -> bool {
        self.function
            .live_insts()
            .any(|(_, _, inst)| inst.args.iter().any(|&a| self.function.values[a].def == ValueDef::Global(global)))
    }

    /// Whether a value of the variable's name is made of it by a conversion.
    fn is_converted(&self, global: Global) -> bool {
        let is_load = |value: oneshader_ir::Value| {
            let load = self.function.def_inst(value).filter(|(_, data)| data.op == Op::Load);
            load.is_some_and(|(_, data)| self.function.values[data.args[0]].def == ValueDef::Global(global))
        };
        self.function.live_insts().any(|(_, _, data)| {
            let named =
                data.result.is_some_and(|r| self.function.value_names[r] == Some(self.module.globals[global].name));
            named && matches!(data.op, Op::Bitcast | Op::Convert) && is_load(data.args[0])
        })
    }

    fn is_evaluated(&self, global: Global) -> bool {
        use Intrinsic::{EvaluateCentroid, EvaluateSample, EvaluateSnapped};
        self.function.live_insts().any(|(_, _, inst)| {
            matches!(inst.op, Op::Intrinsic(EvaluateCentroid | EvaluateSample | EvaluateSnapped))
                && self.function.values[inst.args[0]].def == ValueDef::Global(global)
        })
    }

    fn unsupported(&mut self, global: Global, what: &str) {
        let span = self.module.globals[global].span;
        self.bag.report(codes::MSL_UNSUPPORTED_SEMANTIC, span, format!("Metal has no {what}"));
    }

    fn input(&mut self, global: Global, out: &mut IoStruct) {
        let Some(io) = self.io_var(global) else { return };
        let ty = self.module.globals[global].ty;
        let name = self.name(global, &io);
        if let Some(builtin) = io.builtin {
            if matches!(builtin, BuiltIn::ClipDistance) && self.entry.stage == Stage::Pixel {
                return self.clip_inputs(global, ty, out);
            }
            if !self.is_used(global) {
                return;
            }
            let Some((scalar, len, attribute)) = argument(builtin, self.entry.stage) else {
                let semantic = self.module.names.get(io.semantic).to_owned();
                return self.unsupported(global, &format!("input for {semantic}"));
            };
            if self.moves_threads && moves(builtin) {
                return self.thread(global, builtin);
            }
            return self.argument(global, &io, &name, (scalar, len, attribute));
        }
        let location = io.location.unwrap_or(0);
        let interpolation = match self.entry.stage {
            Stage::Pixel => self.interpolation(global, &io),
            _ => "",
        };
        if self.entry.stage == Stage::Pixel && io.interpolation == Interpolation::PerVertex {
            return self.unsupported(global, "pixel inputs of each vertex (GetAttributeAtVertex)");
        }
        if self.entry.stage == Stage::Pixel && self.is_evaluated(global) {
            return self.interpolant(global, &io, &name, location, out);
        }
        let attribute = match self.entry.stage {
            Stage::Vertex => "attribute",
            _ => "user",
        };
        self.fields_of(global, ty, &name, out, "in", |i| match attribute {
            "attribute" => format!("[[attribute({})]]", location + i),
            _ if interpolation.is_empty() => format!("[[user(locn{})]]", location + i),
            _ => format!("[[user(locn{}), {interpolation}]]", location + i),
        });
    }

    fn interpolation(&self, global: Global, io: &IoVar) -> &'static str {
        let scalar = self.leaf(self.module.globals[global].ty).map(|(s, _)| s);
        if io.interpolation == Interpolation::Flat || scalar.is_some_and(|s| !s.is_float()) {
            return "flat";
        }
        match (io.sampling, io.interpolation) {
            (Sampling::Center, Interpolation::NoPerspective) => "center_no_perspective",
            (Sampling::Center, _) => "",
            (Sampling::Centroid, Interpolation::NoPerspective) => "centroid_no_perspective",
            (Sampling::Centroid, _) => "centroid_perspective",
            (Sampling::Sample, Interpolation::NoPerspective) => "sample_no_perspective",
            (Sampling::Sample, _) => "sample_perspective",
        }
    }

    fn interpolant(&mut self, global: Global, io: &IoVar, name: &str, location: u32, out: &mut IoStruct) {
        let Some((scalar, len)) = self.leaf(self.module.globals[global].ty) else {
            return self.unsupported(global, "interpolation functions for arrays and matrices");
        };
        let field = self.fields.unique(&member(name));
        let kind = match io.interpolation {
            Interpolation::NoPerspective => "no_perspective",
            _ => "perspective",
        };
        let ty = spell(scalar, len);
        out.fields.push(format!("interpolant<{ty}, interpolation::{kind}> {field} [[user(locn{location})]];"));
        let method = match io.sampling {
            Sampling::Center => "interpolate_at_center",
            Sampling::Centroid => "interpolate_at_centroid",
            Sampling::Sample => "interpolate_at_center",
        };
        self.io.forms[global] = Some(Form::Interpolant { field: format!("in.{field}"), method });
    }

    fn argument(&mut self, global: Global, io: &IoVar, name: &str, (scalar, len, attribute): (Scalar, u8, &str)) {
        let Some((own, own_len)) = self.leaf(self.module.globals[global].ty) else {
            return self.unsupported(global, "system value of this type");
        };
        let len_spelled = match io.builtin {
            Some(builtin) if positions::is_position(builtin) => self.position_lanes,
            _ => len,
        };
        let ty = spell(scalar, len_spelled);
        let known = self.arguments.iter().find(|(b, _)| Some(*b) == io.builtin).map(|(_, name)| name.clone());
        let converts = own != scalar || self.is_converted(global);
        let argument = match &known {
            Some(name) => name.clone(),
            // The local that the argument is converted to takes the name.
            None if converts && io.builtin != Some(BuiltIn::FrontFace) => self.scope.variable(attribute),
            None => self.scope.variable(name),
        };
        let attribute = match (attribute, io.interpolation) {
            ("barycentric_coord", Interpolation::NoPerspective) => {
                "barycentric_coord, center_no_perspective".to_owned()
            }
            _ => attribute.to_owned(),
        };
        if known.is_none() {
            self.io.params.push((format!("{ty} {argument}"), format!("[[{attribute}]]")));
            self.arguments.extend(io.builtin.map(|b| (b, argument.clone())));
        }
        let same = own == scalar && own_len == len_spelled;
        self.io.forms[global] = Some(if same {
            Form::Place(argument)
        } else {
            let swizzle = &".xyzw"[..=usize::from(own_len)];
            let part = if own_len < len_spelled { format!("{argument}{swizzle}") } else { argument };
            let convert = (own != scalar).then(|| spell(own, own_len));
            Form::Parts { parts: vec![part], convert }
        });
    }

    /// A position that follows from the thread's quad-group.
    fn thread(&mut self, global: Global, builtin: BuiltIn) {
        if self.leaf(self.module.globals[global].ty).is_none() {
            return self.unsupported(global, "system value of this type");
        }
        if self.io.quads.is_none() {
            let mut argument = |name: &str, attribute: &str| {
                let name = self.scope.variable(name);
                self.io.params.push((format!("uint {name}"), format!("[[{attribute}]]")));
                name
            };
            let quad = argument("quad_index", "quadgroup_index_in_threadgroup");
            let lane = argument("quad_lane", "thread_index_in_quadgroup");
            self.io.quads = Some(QuadPlaces { quad, lane, group: String::new() });
        }
        if builtin == BuiltIn::DispatchThreadId && self.io.quads.as_ref().is_some_and(|q| q.group.is_empty()) {
            let known = self.arguments.iter().find(|(b, _)| *b == BuiltIn::GroupId).map(|(_, name)| name.clone());
            let group = known.unwrap_or_else(|| {
                let name = self.scope.variable("group");
                self.io.params.push((format!("uint3 {name}"), "[[threadgroup_position_in_grid]]".to_owned()));
                self.arguments.push((BuiltIn::GroupId, name.clone()));
                name
            });
            self.io.quads.iter_mut().for_each(|q| q.group.clone_from(&group));
        }
        self.io.forms[global] = Some(Form::Thread(builtin));
    }

    /// A pixel shader reads the copies that the vertex shader hands on in the user's varyings `clipN`.
    fn clip_inputs(&mut self, global: Global, ty: Type, out: &mut IoStruct) {
        let count = self.clip_count(ty);
        let mut parts = Vec::new();
        for i in 0..count {
            let field = self.fields.unique(&format!("clip_distance_{i}"));
            out.fields.push(format!("float {field} [[user(clip{i})]];"));
            parts.push(format!("in.{field}"));
        }
        self.io.forms[global] = Some(Form::Parts { parts, convert: None });
    }

    fn clip_count(&self, ty: Type) -> u32 {
        match self.module.types.kind(ty) {
            TypeKind::Array { len, .. } => len,
            _ => u32::from(self.module.types.lanes(ty)).max(1),
        }
    }

    fn output(&mut self, global: Global, out: &mut IoStruct) {
        let Some(io) = self.io_var(global) else { return };
        let ty = self.module.globals[global].ty;
        let name = self.name(global, &io);
        let stage = self.entry.stage;
        let Some(builtin) = io.builtin else {
            let location = io.location.unwrap_or(0);
            let blend = io.blend_index;
            return self.fields_of(global, ty, &name, out, "out", |i| match stage {
                Stage::Pixel if blend > 0 => format!("[[color({}), index({blend})]]", location + i),
                Stage::Pixel => format!("[[color({})]]", location + i),
                _ => format!("[[user(locn{})]]", location + i),
            });
        };
        let depth = match self.entry.depth {
            DepthMode::Any => "depth(any)",
            DepthMode::GreaterEqual => "depth(greater)",
            DepthMode::LessEqual => "depth(less)",
        };
        let (scalar, len, attribute) = match (builtin, stage) {
            (BuiltIn::Position, Stage::Vertex) => (Scalar::F32, 4, "position"),
            (BuiltIn::PointSize, Stage::Vertex) => (Scalar::F32, 1, "point_size"),
            (BuiltIn::Layer, Stage::Vertex) => (Scalar::U32, 1, "render_target_array_index"),
            (BuiltIn::ViewportIndex, Stage::Vertex) => (Scalar::U32, 1, "viewport_array_index"),
            (BuiltIn::Depth | BuiltIn::Spirv(22), Stage::Pixel) => (Scalar::F32, 1, depth),
            (BuiltIn::CoverageOut, Stage::Pixel) => (Scalar::U32, 1, "sample_mask"),
            (BuiltIn::StencilRef | BuiltIn::Spirv(5014), Stage::Pixel) => (Scalar::U32, 1, "stencil"),
            (BuiltIn::ClipDistance, Stage::Vertex) => return self.clip_outputs(global, ty, out),
            _ => {
                let semantic = self.module.names.get(io.semantic).to_owned();
                return self.unsupported(global, &format!("output for {semantic}"));
            }
        };
        let field = self.fields.unique(&member(&name));
        let spelled = spell(scalar, len);
        out.fields.push(format!("{spelled} {field} [[{attribute}]];"));
        let place = format!("out.{field}");
        self.io.forms[global] = Some(match self.leaf(ty) {
            Some((s, l)) if s == scalar && l == len => Form::Place(place),
            _ => Form::Parts { parts: vec![place], convert: Some(spelled) },
        });
    }

    fn clip_outputs(&mut self, global: Global, ty: Type, out: &mut IoStruct) {
        let count = self.clip_count(ty);
        let field = self.fields.unique("clip_distance");
        out.fields.push(format!("float {field} [[clip_distance]] [{count}];"));
        let mut parts = Vec::new();
        for i in 0..count {
            let copy = self.fields.unique(&format!("clip_distance_{i}"));
            out.fields.push(format!("float {copy} [[user(clip{i})]];"));
            parts.push(format!("out.{field}[{i}] = out.{copy}"));
        }
        self.io.forms[global] = Some(Form::Parts { parts, convert: None });
    }

    /// The scalar and length of a scalar or vector type.
    fn leaf(&self, ty: Type) -> Option<(Scalar, u8)> {
        match self.module.types.kind(ty) {
            TypeKind::Scalar(s) => Some((s, 1)),
            TypeKind::Vector { elem, len } => Some((elem, len)),
            _ => None,
        }
    }

    /// The leaves of a user's variable: elements of arrays and rows of matrices, in order.
    fn leaves(&self, ty: Type, out: &mut Vec<(Scalar, u8)>) {
        // More than a stage has locations is refused below.
        if out.len() > 64 {
            return;
        }
        match self.module.types.kind(ty) {
            TypeKind::Scalar(s) => out.push((s, 1)),
            TypeKind::Vector { elem, len } => out.push((elem, len)),
            TypeKind::Matrix { elem, rows, cols } => out.extend((0..rows).map(|_| (elem, cols))),
            TypeKind::Array { elem, len } => {
                for _ in 0..len.min(65) {
                    self.leaves(elem, out);
                }
            }
            _ => {}
        }
    }

    fn fields_of(
        &mut self,
        global: Global,
        ty: Type,
        name: &str,
        out: &mut IoStruct,
        object: &str,
        attribute: impl Fn(u32) -> String,
    ) {
        let mut leaves = Vec::new();
        self.leaves(ty, &mut leaves);
        if leaves.is_empty() || leaves.len() > 64 {
            return self.unsupported(global, "stage variable of this type");
        }
        let single = matches!(self.module.types.kind(ty), TypeKind::Scalar(_) | TypeKind::Vector { .. });
        let mut parts = Vec::new();
        let mut convert = None;
        if object == "in" && self.entry.stage == Stage::Vertex {
            let first = self.io_var(global).and_then(|io| io.location).unwrap_or(0);
            if u64::from(first) + leaves.len() as u64 > 31 {
                let span = self.module.globals[global].span;
                let message = "a vertex function of Metal has 31 attributes";
                return self.bag.report(codes::MSL_TOO_MANY_RESOURCES, span, message);
            }
        }
        for (i, &(scalar, len)) in leaves.iter().enumerate() {
            if scalar.bits() == 64 {
                return self.unsupported(global, "stage variable of 64-bit numbers");
            }
            let field = self.fields.unique(&member(&if single { name.to_owned() } else { format!("{name}_{i}") }));
            let spelled = if scalar == Scalar::Bool { spell(Scalar::U32, len) } else { spell(scalar, len) };
            out.fields.push(format!("{spelled} {field} {};", attribute(i as u32)));
            parts.push(format!("{object}.{field}"));
            if scalar == Scalar::Bool {
                convert = Some(if object == "in" { spell(scalar, len) } else { spelled });
            }
        }
        self.io.forms[global] = Some(match (single, &convert) {
            (true, None) => Form::Place(parts.remove(0)),
            _ => Form::Parts { parts, convert },
        });
    }
}

/// The name of a scalar or vector type.
pub(crate) fn spell(scalar: Scalar, len: u8) -> String {
    if len == 1 { scalar_name(scalar).to_owned() } else { format!("{}{len}", scalar_name(scalar)) }
}
