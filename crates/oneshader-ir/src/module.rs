//! Modules: what one HLSL file compiles to.

use crate::consts::Consts;
use crate::entity::{Const, Func, Global, Inline, Name, SpecId, Type};
use crate::func::Function;
use crate::names::Names;
use crate::types::{AddressSpace, Types};
use bitflags::bitflags;
use cranelift_entity::{EntitySet, PrimaryMap};
use oneshader_diag::Span;

/// A pipeline stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Vertex shader.
    Vertex,
    /// Pixel shader.
    Pixel,
    /// Compute shader.
    Compute,
}

/// The class of an HLSL register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RegisterClass {
    /// `b`: constant buffers.
    B,
    /// `t`: read-only resources.
    T,
    /// `u`: read-write resources.
    U,
    /// `s`: samplers.
    S,
}

/// An HLSL register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Register {
    /// Class.
    pub class: RegisterClass,
    /// Number; `None` when only a space is given.
    pub index: Option<u32>,
    /// Space.
    pub space: u32,
}

/// What is known of a resource from its declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResourceVar {
    /// `register(...)`.
    pub register: Option<Register>,
    /// `[[vk::binding(binding, set)]]`.
    pub vk_binding: Option<(u32, u32)>,
    /// `[[vk::counter_binding(n)]]`.
    pub vk_counter_binding: Option<u32>,
    /// `[[vk::image_format("...")]]`.
    pub vk_image_format: Option<Name>,
    /// `[[vk::input_attachment_index(n)]]`.
    pub vk_input_attachment: Option<u32>,
    /// `[[vk::push_constant]]`.
    pub push_constant: bool,
    /// `globallycoherent`.
    pub coherent: bool,
    /// `RasterizerOrdered...`.
    pub rasterizer_ordered: bool,
    /// The implicit block of loose uniforms (`$Globals`).
    pub implicit: bool,
    /// Half of a combined image sampler: a texture or sampler whose Vulkan descriptor holds both
    /// (`[[vk::combinedImageSampler]]`, `vk::SampledTexture2D`).
    pub combined: bool,
    /// For the sampler of a `vk::SampledTexture2D` and the like: the texture whose descriptor it is in.
    pub sampler_of: Option<Global>,
}

/// How a pixel input is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Interpolation {
    /// `linear`.
    #[default]
    Perspective,
    /// `noperspective`.
    NoPerspective,
    /// `nointerpolation`.
    Flat,
    /// `nointerpolation` read at each vertex by `GetAttributeAtVertex`.
    PerVertex,
}

/// Where a pixel input is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sampling {
    /// At the centre.
    #[default]
    Center,
    /// `centroid`.
    Centroid,
    /// `sample`.
    Sample,
}

/// A system value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BuiltIn {
    /// `SV_Position`: vertex output, or pixel input.
    Position,
    /// `SV_VertexID`.
    VertexId,
    /// `SV_InstanceID`.
    InstanceId,
    /// `SV_StartVertexLocation`.
    BaseVertex,
    /// `SV_StartInstanceLocation`.
    BaseInstance,
    /// `[[vk::builtin("DrawIndex")]]`.
    DrawIndex,
    /// `SV_PrimitiveID`.
    PrimitiveId,
    /// `SV_IsFrontFace`.
    FrontFace,
    /// `SV_SampleIndex`.
    SampleIndex,
    /// `SV_Coverage` as input.
    CoverageIn,
    /// `SV_Coverage` as output.
    CoverageOut,
    /// `SV_InnerCoverage`.
    InnerCoverage,
    /// `SV_Depth`, `SV_DepthGreaterEqual`, `SV_DepthLessEqual`; see [`EntryPoint::depth`].
    Depth,
    /// `SV_StencilRef`.
    StencilRef,
    /// `SV_ClipDistanceN`; one array of floats over all of them.
    ClipDistance,
    /// `SV_CullDistanceN`; one array of floats over all of them.
    CullDistance,
    /// `SV_RenderTargetArrayIndex`.
    Layer,
    /// `SV_ViewportArrayIndex`.
    ViewportIndex,
    /// `SV_ViewID`.
    ViewId,
    /// `SV_ShadingRate`.
    ShadingRate,
    /// `SV_Barycentrics`.
    Barycentrics,
    /// `SV_DispatchThreadID`.
    DispatchThreadId,
    /// `SV_GroupID`.
    GroupId,
    /// `SV_GroupThreadID`.
    GroupThreadId,
    /// `SV_GroupIndex`.
    GroupIndex,
    /// `[[vk::builtin("PointSize")]]` and `PSIZE`.
    PointSize,
    /// `[[vk::builtin("HelperInvocation")]]`.
    HelperInvocation,
    /// `[[vk::ext_builtin_input(n)]]`, `[[vk::ext_builtin_output(n)]]`: a built-in variable by SPIR-V's number.
    Spirv(u32),
}

/// A stage input or output: one leaf of the entry point's signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IoVar {
    /// Semantic as written, without index: `TEXCOORD`, `SV_Target`.
    pub semantic: Name,
    /// Semantic index.
    pub index: u32,
    /// The system value, unless it is the user's (`SV_Target` is the user's: its location is the target's number).
    pub builtin: Option<BuiltIn>,
    /// Location; counted in the order of declaration unless `[[vk::location(n)]]` states it. `None` for a system value.
    pub location: Option<u32>,
    /// Dual-source blend index (`[[vk::index(n)]]`), 0 else.
    pub blend_index: u32,
    /// How a pixel input is interpolated.
    pub interpolation: Interpolation,
    /// Where a pixel input is interpolated.
    pub sampling: Sampling,
}

/// What kind of module-scope variable it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GlobalKind {
    /// `static` or `groupshared`.
    Variable,
    /// A resource or an array of resources; space [`AddressSpace::Handle`].
    Resource(ResourceVar),
    /// A stage input or output.
    Io(IoVar),
}

/// A module-scope variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlobalVar {
    /// HLSL name. For a leaf of a structure in a signature: the path without the parameter, `.` between.
    pub name: Name,
    /// Type of what it holds.
    pub ty: Type,
    /// Where it lives.
    pub space: AddressSpace,
    /// Initial value; else undefined.
    pub init: Option<Const>,
    /// What kind it is.
    pub kind: GlobalKind,
    /// `static const` with an initial value: never written.
    pub readonly: bool,
    /// Place of its declaration.
    pub span: Span,
}

/// How a pixel shader's depth relates to the interpolated one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DepthMode {
    /// Anything.
    #[default]
    Any,
    /// `SV_DepthGreaterEqual`.
    GreaterEqual,
    /// `SV_DepthLessEqual`.
    LessEqual,
}

/// An entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryPoint {
    /// HLSL name.
    pub name: Name,
    /// Stage.
    pub stage: Stage,
    /// Its function: no parameters, no result; reads [`inputs`](Self::inputs), writes [`outputs`](Self::outputs).
    pub func: Func,
    /// Stage inputs in order of declaration.
    pub inputs: Vec<Global>,
    /// Stage outputs in order of declaration.
    pub outputs: Vec<Global>,
    /// `[numthreads(x, y, z)]`; ones for other stages.
    pub threads: [u32; 3],
    /// `[WaveSize(n)]` or `[WaveSize(min, max[, preferred])]`.
    pub wave_size: Option<(u32, u32, u32)>,
    /// `[earlydepthstencil]`.
    pub early_depth_stencil: bool,
    /// How a pixel shader's depth relates to the interpolated one.
    pub depth: DepthMode,
    /// Execution modes of SPIR-V that attributes of `vk::` state, by number, without repetition; other targets have no
    /// counterpart.
    pub spirv_modes: Vec<u32>,
    /// Place of its declaration.
    pub span: Span,
}

/// A specialization constant (`[[vk::constant_id(id)]]`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecConst {
    /// HLSL name.
    pub name: Name,
    /// Identifier for the host.
    pub id: u32,
    /// `bool`, `int`, `uint` or `float`.
    pub ty: Type,
    /// Value when the host sets none.
    pub default: Const,
    /// Place of its declaration.
    pub span: Span,
}

/// An operand of an [`InlineSpirv`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum InlineOperand {
    /// The instruction's next argument: a value, a resource, or the address of a variable.
    Id,
    /// Literal words.
    Literal(Vec<u32>),
    /// A type.
    Type(Type),
    /// A constant.
    Const(Const),
}

/// An instruction of SPIR-V that the program names by its number (HLSL proposal 0011, inline SPIR-V).
///
/// Some are not executed where they stand: `OpNop` only asks for the capabilities and extensions, `OpExecutionMode` and
/// `OpExecutionModeId` hold for the entry points that reach them, and decorations hold for their first argument, or for
/// the function around them when they have none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct InlineSpirv {
    /// Opcode, or the instruction's number in [`set`](Self::set).
    pub opcode: u32,
    /// Name of an extended instruction set.
    pub set: Option<Name>,
    /// Capabilities that the module declares when it has this instruction.
    pub capabilities: Vec<u32>,
    /// Extensions that the module declares when it has this instruction.
    pub extensions: Vec<Name>,
    /// Operands behind the result's.
    pub operands: Vec<InlineOperand>,
}

bitflags! {
    /// What a module has been brought to, so that a stage can say which constructs are still legal.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Properties: u32 {
        /// Handles are only ever loaded from a variable where they are used, or are parameters: none is in a local
        /// variable, a phi or a select.
        const HANDLES_RESOLVED = 1;
        /// Raised for Metal: module-scope variables are gone from functions.
        const MSL_LIFTED = 1 << 1;
    }
}

/// A module.
#[derive(Clone, Debug, Default)]
pub struct IrModule {
    /// Names.
    pub names: Names,
    /// Types and structures.
    pub types: Types,
    /// Constants.
    pub consts: Consts,
    /// Specialization constants in order of declaration.
    pub specs: PrimaryMap<SpecId, SpecConst>,
    /// Instructions of SPIR-V that the program names.
    pub inlines: PrimaryMap<Inline, InlineSpirv>,
    /// Module-scope variables in order of declaration over the whole file, used or not.
    pub globals: PrimaryMap<Global, GlobalVar>,
    /// Functions, each after those it calls.
    pub functions: PrimaryMap<Func, Function>,
    /// Entry points in order of declaration.
    pub entry_points: Vec<EntryPoint>,
    /// What it has been brought to.
    pub properties: Properties,
}

impl IrModule {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entry point called `name`.
    pub fn entry_point(&self, name: &str) -> Option<&EntryPoint> {
        self.entry_points.iter().find(|e| self.names.get(e.name) == name)
    }

    /// The functions that `root` reaches, callees before callers, `root` last.
    pub fn reachable(&self, root: Func) -> Vec<Func> {
        self.reach(root, &mut EntitySet::with_capacity(self.functions.len()))
    }

    /// The functions that `root` reaches and that are not in `done`, which they are added to; in the same order.
    pub fn reach(&self, root: Func, done: &mut EntitySet<Func>) -> Vec<Func> {
        // An explicit stack: call chains of hostile input are as deep as the input is long.
        let mut order = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((func, left)) = stack.pop() {
            if left {
                order.push(func);
            } else if done.insert(func) {
                stack.push((func, true));
                stack.extend(self.functions[func].callees().filter(|&f| !done.contains(f)).map(|f| (f, false)));
            }
        }
        order
    }
}
