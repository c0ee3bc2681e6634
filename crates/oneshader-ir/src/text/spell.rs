//! One spelling for everything that has a name.

use crate::inst::{AtomicOp, BinaryOp, InstFlags, Op, TextureOp, TextureOperands, UnaryOp};
use crate::module::{BuiltIn, DepthMode, Interpolation, Properties, RegisterClass, Sampling, Stage};
use crate::types::{AddressSpace, CounterKind, Scalar, TextureDim};

/// A total function to words and its inverse, from one table.
macro_rules! spelling {
    ($(#[$doc:meta])* $to:ident, $from:ident: $ty:ty { $($variant:pat => $text:literal = $value:expr,)* }) => {
        $(#[$doc])*
        pub fn $to(x: $ty) -> &'static str {
            match x { $($variant => $text,)* }
        }
        /// The inverse.
        pub fn $from(text: &str) -> Option<$ty> {
            match text { $($text => Some($value),)* _ => None }
        }
    };
}

spelling! {
    /// Word of an address space.
    address_space_name, address_space_from_name: AddressSpace {
        AddressSpace::Function => "function" = AddressSpace::Function,
        AddressSpace::Private => "private" = AddressSpace::Private,
        AddressSpace::Workgroup => "workgroup" = AddressSpace::Workgroup,
        AddressSpace::Input => "input" = AddressSpace::Input,
        AddressSpace::Output => "output" = AddressSpace::Output,
        AddressSpace::Constant => "constant" = AddressSpace::Constant,
        AddressSpace::Storage => "storage" = AddressSpace::Storage,
        AddressSpace::PushConstant => "push" = AddressSpace::PushConstant,
        AddressSpace::Handle => "handle" = AddressSpace::Handle,
        AddressSpace::Texel => "texel" = AddressSpace::Texel,
        AddressSpace::Device => "device" = AddressSpace::Device,
    }
}

spelling! {
    /// Word of a stage.
    stage_name, stage_from_name: Stage {
        Stage::Vertex => "vertex" = Stage::Vertex,
        Stage::Pixel => "pixel" = Stage::Pixel,
        Stage::Compute => "compute" = Stage::Compute,
    }
}

spelling! {
    /// Word of a system value.
    builtin_name, builtin_from_name: BuiltIn {
        BuiltIn::Position => "position" = BuiltIn::Position,
        BuiltIn::VertexId => "vertex_id" = BuiltIn::VertexId,
        BuiltIn::InstanceId => "instance_id" = BuiltIn::InstanceId,
        BuiltIn::BaseVertex => "base_vertex" = BuiltIn::BaseVertex,
        BuiltIn::BaseInstance => "base_instance" = BuiltIn::BaseInstance,
        BuiltIn::DrawIndex => "draw_index" = BuiltIn::DrawIndex,
        BuiltIn::PrimitiveId => "primitive_id" = BuiltIn::PrimitiveId,
        BuiltIn::FrontFace => "front_face" = BuiltIn::FrontFace,
        BuiltIn::SampleIndex => "sample_index" = BuiltIn::SampleIndex,
        BuiltIn::CoverageIn => "coverage_in" = BuiltIn::CoverageIn,
        BuiltIn::CoverageOut => "coverage_out" = BuiltIn::CoverageOut,
        BuiltIn::InnerCoverage => "inner_coverage" = BuiltIn::InnerCoverage,
        BuiltIn::Depth => "depth" = BuiltIn::Depth,
        BuiltIn::StencilRef => "stencil_ref" = BuiltIn::StencilRef,
        BuiltIn::ClipDistance => "clip_distance" = BuiltIn::ClipDistance,
        BuiltIn::CullDistance => "cull_distance" = BuiltIn::CullDistance,
        BuiltIn::Layer => "layer" = BuiltIn::Layer,
        BuiltIn::ViewportIndex => "viewport_index" = BuiltIn::ViewportIndex,
        BuiltIn::ViewId => "view_id" = BuiltIn::ViewId,
        BuiltIn::ShadingRate => "shading_rate" = BuiltIn::ShadingRate,
        BuiltIn::Barycentrics => "barycentrics" = BuiltIn::Barycentrics,
        BuiltIn::DispatchThreadId => "dispatch_thread_id" = BuiltIn::DispatchThreadId,
        BuiltIn::GroupId => "group_id" = BuiltIn::GroupId,
        BuiltIn::GroupThreadId => "group_thread_id" = BuiltIn::GroupThreadId,
        BuiltIn::GroupIndex => "group_index" = BuiltIn::GroupIndex,
        BuiltIn::PointSize => "point_size" = BuiltIn::PointSize,
        BuiltIn::HelperInvocation => "helper_invocation" = BuiltIn::HelperInvocation,
        BuiltIn::Spirv(_) => "spirv" = BuiltIn::Spirv(0),
    }
}

spelling! {
    /// How a pixel input is interpolated, in a word.
    interpolation_name, interpolation_from_name: Interpolation {
        Interpolation::Perspective => "perspective" = Interpolation::Perspective,
        Interpolation::NoPerspective => "noperspective" = Interpolation::NoPerspective,
        Interpolation::Flat => "flat" = Interpolation::Flat,
        Interpolation::PerVertex => "pervertex" = Interpolation::PerVertex,
    }
}

spelling! {
    /// Where a pixel input is interpolated, in a word.
    sampling_name, sampling_from_name: Sampling {
        Sampling::Center => "center" = Sampling::Center,
        Sampling::Centroid => "centroid" = Sampling::Centroid,
        Sampling::Sample => "persample" = Sampling::Sample,
    }
}

spelling! {
    /// Word of a depth mode.
    depth_mode_name, depth_mode_from_name: DepthMode {
        DepthMode::Any => "any" = DepthMode::Any,
        DepthMode::GreaterEqual => "greater" = DepthMode::GreaterEqual,
        DepthMode::LessEqual => "less" = DepthMode::LessEqual,
    }
}

spelling! {
    /// Letter of a register class.
    register_class_name, register_class_from_name: RegisterClass {
        RegisterClass::B => "b" = RegisterClass::B,
        RegisterClass::T => "t" = RegisterClass::T,
        RegisterClass::U => "u" = RegisterClass::U,
        RegisterClass::S => "s" = RegisterClass::S,
    }
}

spelling! {
    /// Word of a kind of counter.
    counter_name, counter_from_name: CounterKind {
        CounterKind::None => "nocounter" = CounterKind::None,
        CounterKind::Counter => "counter" = CounterKind::Counter,
        CounterKind::Append => "append" = CounterKind::Append,
        CounterKind::Consume => "consume" = CounterKind::Consume,
    }
}

spelling! {
    /// Word of a texture's shape.
    dim_name, dim_from_name: TextureDim {
        TextureDim::D1 => "1d" = TextureDim::D1,
        TextureDim::D2 => "2d" = TextureDim::D2,
        TextureDim::D3 => "3d" = TextureDim::D3,
        TextureDim::Cube => "cube" = TextureDim::Cube,
        TextureDim::Buffer => "buffer" = TextureDim::Buffer,
    }
}

spelling! {
    /// Word of an operation.
    unary_name, unary_from_name: UnaryOp {
        UnaryOp::Neg => "neg" = UnaryOp::Neg,
        UnaryOp::Not => "not" = UnaryOp::Not,
        UnaryOp::BitNot => "bitnot" = UnaryOp::BitNot,
    }
}

spelling! {
    /// Word of an operation.
    binary_name, binary_from_name: BinaryOp {
        BinaryOp::Add => "add" = BinaryOp::Add,
        BinaryOp::Sub => "sub" = BinaryOp::Sub,
        BinaryOp::Mul => "mul" = BinaryOp::Mul,
        BinaryOp::Div => "div" = BinaryOp::Div,
        BinaryOp::Rem => "rem" = BinaryOp::Rem,
        BinaryOp::Shl => "shl" = BinaryOp::Shl,
        BinaryOp::Shr => "shr" = BinaryOp::Shr,
        BinaryOp::And => "and" = BinaryOp::And,
        BinaryOp::Or => "or" = BinaryOp::Or,
        BinaryOp::Xor => "xor" = BinaryOp::Xor,
        BinaryOp::Eq => "eq" = BinaryOp::Eq,
        BinaryOp::Ne => "ne" = BinaryOp::Ne,
        BinaryOp::Lt => "lt" = BinaryOp::Lt,
        BinaryOp::Le => "le" = BinaryOp::Le,
        BinaryOp::Gt => "gt" = BinaryOp::Gt,
        BinaryOp::Ge => "ge" = BinaryOp::Ge,
    }
}

spelling! {
    /// Word of an operation.
    atomic_name, atomic_from_name: AtomicOp {
        AtomicOp::Add => "atomic_add" = AtomicOp::Add,
        AtomicOp::Min => "atomic_min" = AtomicOp::Min,
        AtomicOp::Max => "atomic_max" = AtomicOp::Max,
        AtomicOp::And => "atomic_and" = AtomicOp::And,
        AtomicOp::Or => "atomic_or" = AtomicOp::Or,
        AtomicOp::Xor => "atomic_xor" = AtomicOp::Xor,
        AtomicOp::Exchange => "atomic_exchange" = AtomicOp::Exchange,
    }
}

spelling! {
    /// Word of a scalar type.
    scalar_name, scalar_from_name: Scalar {
        Scalar::Bool => "bool" = Scalar::Bool,
        Scalar::Int { bits: 16, signed: true } => "i16" = Scalar::Int { bits: 16, signed: true },
        Scalar::Int { bits: 16, signed: false } => "u16" = Scalar::Int { bits: 16, signed: false },
        Scalar::Int { bits: 64, signed: true } => "i64" = Scalar::Int { bits: 64, signed: true },
        Scalar::Int { bits: 64, signed: false } => "u64" = Scalar::Int { bits: 64, signed: false },
        Scalar::Int { signed: true, .. } => "i32" = Scalar::I32,
        Scalar::Int { signed: false, .. } => "u32" = Scalar::U32,
        Scalar::Float { bits: 16 } => "f16" = Scalar::F16,
        Scalar::Float { bits: 64 } => "f64" = Scalar::F64,
        Scalar::Float { .. } => "f32" = Scalar::F32,
    }
}

/// The name of an operation, without its immediate operand.
pub fn op_name(op: Op) -> &'static str {
    match op {
        Op::Unary(op) => unary_name(op),
        Op::Binary(op) => binary_name(op),
        Op::Select => "select",
        Op::Convert => "convert",
        Op::Bitcast => "bitcast",
        Op::Copy => "copy",
        Op::Construct => "construct",
        Op::Splat => "splat",
        Op::Extract { .. } => "extract",
        Op::Insert { .. } => "insert",
        Op::ExtractDynamic => "extractdynamic",
        Op::Swizzle(_) => "swizzle",
        Op::MatMul => "matmul",
        Op::Access => "access",
        Op::Load => "load",
        Op::Store => "store",
        Op::BlockPtr => "blockptr",
        Op::ElementPtr => "elementptr",
        Op::RawPtr => "rawptr",
        Op::RawLoad => "rawload",
        Op::RawStore => "rawstore",
        Op::TexelPtr => "texelptr",
        Op::BufferLength => "bufferlength",
        Op::AddressPtr { .. } => "addressptr",
        Op::Counter { .. } => "counter",
        Op::Atomic(op) => atomic_name(op),
        Op::AtomicCompareExchange => "atomic_cmpxchg",
        Op::Texture(op, _) => texture_op_name(op),
        Op::Spirv(_) => "spirv",
        Op::Intrinsic(which) => which.text(),
        Op::Call(_) => "call",
        Op::Phi => "phi",
        Op::Printf(_) => "printf",
        Op::Discard => "discard",
    }
}

/// The operations without an immediate operand, by name; those of the tables above too.
pub(super) fn plain_op_from_name(text: &str) -> Option<Op> {
    Some(match text {
        "select" => Op::Select,
        "convert" => Op::Convert,
        "bitcast" => Op::Bitcast,
        "copy" => Op::Copy,
        "construct" => Op::Construct,
        "splat" => Op::Splat,
        "extractdynamic" => Op::ExtractDynamic,
        "matmul" => Op::MatMul,
        "access" => Op::Access,
        "load" => Op::Load,
        "store" => Op::Store,
        "blockptr" => Op::BlockPtr,
        "elementptr" => Op::ElementPtr,
        "rawptr" => Op::RawPtr,
        "rawload" => Op::RawLoad,
        "rawstore" => Op::RawStore,
        "texelptr" => Op::TexelPtr,
        "bufferlength" => Op::BufferLength,
        "atomic_cmpxchg" => Op::AtomicCompareExchange,
        "discard" => Op::Discard,
        _ => {
            return unary_from_name(text)
                .map(Op::Unary)
                .or_else(|| binary_from_name(text).map(Op::Binary))
                .or_else(|| atomic_from_name(text).map(Op::Atomic))
                .or_else(|| intrinsic_from_name(text));
        }
    })
}

fn intrinsic_from_name(text: &str) -> Option<Op> {
    crate::Intrinsic::ALL.iter().copied().find(|i| i.text() == text).map(Op::Intrinsic)
}

pub(super) fn texture_op_name(op: TextureOp) -> &'static str {
    match op {
        TextureOp::Sample => "sample",
        TextureOp::Gather { .. } => "gather",
        TextureOp::Load => "texload",
        TextureOp::Store => "texstore",
        TextureOp::Size => "texsize",
        TextureOp::Levels => "texlevels",
        TextureOp::Samples => "texsamples",
        TextureOp::Lod => "texlod",
        TextureOp::LodUnclamped => "texlod_unclamped",
    }
}

/// All but gather, which has a component.
pub(super) fn texture_op_from_name(text: &str) -> Option<TextureOp> {
    Some(match text {
        "sample" => TextureOp::Sample,
        "texload" => TextureOp::Load,
        "texstore" => TextureOp::Store,
        "texsize" => TextureOp::Size,
        "texlevels" => TextureOp::Levels,
        "texsamples" => TextureOp::Samples,
        "texlod" => TextureOp::Lod,
        "texlod_unclamped" => TextureOp::LodUnclamped,
        _ => return None,
    })
}

/// The operands of texture instructions in order, with their words and the number of values of each.
pub(crate) const TEXTURE_OPERANDS: [(TextureOperands, &str, usize); 12] = [
    (TextureOperands::SAMPLER, "sampler", 1),
    (TextureOperands::COORD, "coord", 1),
    (TextureOperands::COMPARE, "compare", 1),
    (TextureOperands::BIAS, "bias", 1),
    (TextureOperands::LEVEL, "level", 1),
    (TextureOperands::GRAD, "grad", 2),
    (TextureOperands::OFFSET, "offset", 1),
    (TextureOperands::OFFSETS, "offsets", 4),
    (TextureOperands::SAMPLE_INDEX, "sampleindex", 1),
    (TextureOperands::MIN_LOD, "minlod", 1),
    (TextureOperands::VALUE, "value", 1),
    (TextureOperands::STATUS, "status", 0),
];

/// Flags of instructions.
pub(super) const FLAGS: [(InstFlags, &str); 3] =
    [(InstFlags::PRECISE, "precise"), (InstFlags::NONUNIFORM, "nonuniform"), (InstFlags::RELAXED, "relaxed")];

/// Properties of modules.
pub(super) const PROPERTIES: [(Properties, &str); 2] =
    [(Properties::HANDLES_RESOLVED, "handles_resolved"), (Properties::MSL_LIFTED, "msl_lifted")];
