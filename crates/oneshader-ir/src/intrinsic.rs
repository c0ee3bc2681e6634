//! The table of intrinsics: functions that every part of the compiler knows by number.
//!
//! A new intrinsic is one row here; each backend's `match` over [`Intrinsic`] then fails to compile until it has its
//! lowering.

use bitflags::bitflags;

/// The types an intrinsic takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signature {
    /// Operands and result are of one type of this class, scalar or vector.
    Same(Class),
    /// Operands are of one type of this class; the result has as many `bool`s.
    Test(Class),
    /// Operands are vectors (or scalars) of one type of this class; the result is one component.
    Reduce(Class),
    /// A `bool` scalar or vector to one `bool`.
    Bools,
    /// An integer scalar or vector to as many `uint`s.
    Bits,
    /// The address of a ray query and what [`crate::ray_query::METHODS`] says.
    Ray,
    /// Checked by its own rule, which the row's documentation states.
    Own,
}

/// The components a signature admits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Floats.
    Float,
    /// Integers.
    Int,
    /// Integers and floats.
    Num,
    /// Integers, floats and `bool`s.
    Any,
}

bitflags! {
    /// What optimization must know.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Effects: u8 {
        /// The result depends on the operands alone.
        const PURE = 0;
        /// Orders memory: loads, stores and atomics do not move across.
        const MEMORY = 1;
        /// Lanes exchange values or derivatives: does not move across control flow.
        const CONVERGENT = 2;
        /// Depends on what its first operand points to.
        const READS = 4;
        /// Changes what its first operand points to.
        const WRITES = 8;
    }
}

bitflags! {
    /// The stages that may use it.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Stages: u8 {
        /// Vertex shaders.
        const VERTEX = 1;
        /// Pixel shaders.
        const PIXEL = 2;
        /// Compute shaders.
        const COMPUTE = 4;
        /// All of them.
        const ALL = 7;
    }
}

macro_rules! intrinsics {
    ($($(#[doc = $doc:literal])* $name:ident $text:literal $arity:literal $sig:expr, $effects:ident, $stages:ident;)*) => {
        /// A function of the table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Intrinsic {
            $($(#[doc = $doc])* $name,)*
        }

        impl Intrinsic {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Name in the text form.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Number of operands.
            pub const fn arity(self) -> usize {
                match self { $(Self::$name => $arity,)* }
            }

            /// Types.
            pub const fn signature(self) -> Signature {
                use Class::*;
                use Signature::*;
                match self { $(Self::$name => $sig,)* }
            }

            /// Effects.
            pub const fn effects(self) -> Effects {
                match self { $(Self::$name => Effects::$effects,)* }
            }

            /// Stages.
            pub const fn stages(self) -> Stages {
                match self { $(Self::$name => Stages::$stages,)* }
            }
        }
    };
}

impl Effects {
    /// Orders memory and waits for other lanes.
    pub const BARRIER: Self = Self::MEMORY.union(Self::CONVERGENT);
    /// Depends on what its first operand points to and changes it.
    pub const UPDATES: Self = Self::READS.union(Self::WRITES);
}

intrinsics! {
    // Rounding and parts of numbers.
    /// Absolute value.
    Abs "abs" 1 Same(Num), PURE, ALL;
    /// -1, 0 or 1, in the operand's type.
    Sign "sign" 1 Same(Num), PURE, ALL;
    /// Greatest integer not above.
    Floor "floor" 1 Same(Float), PURE, ALL;
    /// Least integer not below.
    Ceil "ceil" 1 Same(Float), PURE, ALL;
    /// Toward zero.
    Trunc "trunc" 1 Same(Float), PURE, ALL;
    /// To nearest, halves to even.
    RoundEven "roundeven" 1 Same(Float), PURE, ALL;
    /// `x - floor(x)`.
    Fract "fract" 1 Same(Float), PURE, ALL;
    /// Mantissa of `frexp`, magnitude in [0.5, 1).
    FrexpMantissa "frexpmantissa" 1 Same(Float), PURE, ALL;
    /// Exponent of `frexp`: a float to an `int` of the same shape.
    FrexpExponent "frexpexponent" 1 Own, PURE, ALL;

    // Comparing and mixing.
    /// Lesser; of a NaN and a number, the number.
    Min "min" 2 Same(Num), PURE, ALL;
    /// Greater; of a NaN and a number, the number.
    Max "max" 2 Same(Num), PURE, ALL;
    /// `min(max(x, low), high)`.
    Clamp "clamp" 3 Same(Num), PURE, ALL;
    /// Clamped to [0, 1]; NaN gives 0.
    Saturate "saturate" 1 Same(Float), PURE, ALL;
    /// `a + t * (b - a)`.
    Lerp "lerp" 3 Same(Float), PURE, ALL;
    /// `edge, x`: 1 where `x >= edge`, else 0.
    Step "step" 2 Same(Float), PURE, ALL;
    /// `low, high, x`: cubic Hermite step.
    SmoothStep "smoothstep" 3 Same(Float), PURE, ALL;
    /// `a * b + c`, fused or not.
    Mad "mad" 3 Same(Float), PURE, ALL;
    /// `a * b + c`, rounded once.
    Fma "fma" 3 Same(Float), PURE, ALL;
    /// Whether NaN.
    IsNan "isnan" 1 Test(Float), PURE, ALL;
    /// Whether infinite.
    IsInf "isinf" 1 Test(Float), PURE, ALL;
    /// Whether neither.
    IsFinite "isfinite" 1 Test(Float), PURE, ALL;
    /// Whether all are true.
    All "all" 1 Bools, PURE, ALL;
    /// Whether any is true.
    Any "any" 1 Bools, PURE, ALL;

    // Powers and angles.
    /// Square root.
    Sqrt "sqrt" 1 Same(Float), PURE, ALL;
    /// One over the square root.
    Rsqrt "rsqrt" 1 Same(Float), PURE, ALL;
    /// Base e.
    Exp "exp" 1 Same(Float), PURE, ALL;
    /// Base 2.
    Exp2 "exp2" 1 Same(Float), PURE, ALL;
    /// Base e.
    Log "log" 1 Same(Float), PURE, ALL;
    /// Base 2.
    Log2 "log2" 1 Same(Float), PURE, ALL;
    /// Base 10.
    Log10 "log10" 1 Same(Float), PURE, ALL;
    /// `x, y`: x to the y.
    Pow "pow" 2 Same(Float), PURE, ALL;
    /// Sine.
    Sin "sin" 1 Same(Float), PURE, ALL;
    /// Cosine.
    Cos "cos" 1 Same(Float), PURE, ALL;
    /// Tangent.
    Tan "tan" 1 Same(Float), PURE, ALL;
    /// Arc sine.
    Asin "asin" 1 Same(Float), PURE, ALL;
    /// Arc cosine.
    Acos "acos" 1 Same(Float), PURE, ALL;
    /// Arc tangent.
    Atan "atan" 1 Same(Float), PURE, ALL;
    /// `y, x`: angle of the point.
    Atan2 "atan2" 2 Same(Float), PURE, ALL;
    /// Hyperbolic sine.
    Sinh "sinh" 1 Same(Float), PURE, ALL;
    /// Hyperbolic cosine.
    Cosh "cosh" 1 Same(Float), PURE, ALL;
    /// Hyperbolic tangent.
    Tanh "tanh" 1 Same(Float), PURE, ALL;

    // Geometry.
    /// Sum of products.
    Dot "dot" 2 Reduce(Float), PURE, ALL;
    /// Product of three-component vectors.
    Cross "cross" 2 Same(Float), PURE, ALL;
    /// Euclidean norm.
    Length "length" 1 Reduce(Float), PURE, ALL;
    /// Norm of the difference.
    Distance "distance" 2 Reduce(Float), PURE, ALL;
    /// Divided by its norm.
    Normalize "normalize" 1 Same(Float), PURE, ALL;
    /// `i, n`: reflected at the plane of normal n.
    Reflect "reflect" 2 Same(Float), PURE, ALL;
    /// `i, n, eta`: refracted; `eta` is a scalar of the component's type.
    Refract "refract" 3 Own, PURE, ALL;
    /// `n, i, ng`: n turned against i.
    FaceForward "faceforward" 3 Same(Float), PURE, ALL;
    /// Rows and columns exchanged: a matrix to the matrix of the transposed shape.
    Transpose "transpose" 1 Own, PURE, ALL;
    /// Determinant of a square matrix, a scalar.
    Determinant "determinant" 1 Own, PURE, ALL;

    // Bits.
    /// Ones.
    CountBits "countbits" 1 Bits, PURE, ALL;
    /// Bits in opposite order.
    ReverseBits "reversebits" 1 Same(Int), PURE, ALL;
    /// Position from bit 0 of the highest one (of the highest bit that differs from the sign, when signed); all ones when
    /// there is none.
    FirstBitHigh "firstbithigh" 1 Bits, PURE, ALL;
    /// Position from bit 0 of the lowest one; all ones when there is none.
    FirstBitLow "firstbitlow" 1 Bits, PURE, ALL;
    /// `float`s to as many `uint`s whose low halves are binary16, rounded to nearest even.
    F32ToF16 "f32tof16" 1 Own, PURE, ALL;
    /// `uint`s, of which the low halves are binary16, to as many `float`s.
    F16ToF32 "f16tof32" 1 Own, PURE, ALL;

    /// Stops in a debugger, if there is one.
    DebugBreak "debugbreak" 0 Own, MEMORY, ALL;
    /// Whether every texel was mapped, from the `uint` of [`TextureOperands::STATUS`](crate::TextureOperands::STATUS).
    FullyMapped "fullymapped" 1 Own, PURE, ALL;
    /// What a load of a structured or byte-address buffer says of the memory it read, the `uint` for `FullyMapped`. Each is
    /// its load's own: they are not merged.
    BufferStatus "bufferstatus" 0 Own, CONVERGENT, ALL;

    // Derivatives.
    /// Along x, coarse or fine.
    Ddx "ddx" 1 Same(Float), CONVERGENT, ALL;
    /// Along y, coarse or fine.
    Ddy "ddy" 1 Same(Float), CONVERGENT, ALL;
    /// Along x, one for each quad at least.
    DdxCoarse "ddxcoarse" 1 Same(Float), CONVERGENT, ALL;
    /// Along y, one for each quad at least.
    DdyCoarse "ddycoarse" 1 Same(Float), CONVERGENT, ALL;
    /// Along x, of each row.
    DdxFine "ddxfine" 1 Same(Float), CONVERGENT, ALL;
    /// Along y, of each column.
    DdyFine "ddyfine" 1 Same(Float), CONVERGENT, ALL;
    /// `abs(ddx(x)) + abs(ddy(x))`.
    Fwidth "fwidth" 1 Same(Float), CONVERGENT, ALL;

    // Interpolation; the operand is the address of a pixel input, the result what it points to.
    /// At the centroid.
    EvaluateCentroid "evaluatecentroid" 1 Own, PURE, PIXEL;
    /// `input, sample`: at a sample.
    EvaluateSample "evaluatesample" 2 Own, PURE, PIXEL;
    /// `input, offset`: at an offset in sixteenths of a pixel, `int2`.
    EvaluateSnapped "evaluatesnapped" 2 Own, PURE, PIXEL;
    /// `input, vertex`: the value at vertex 0, 1 or 2 (a constant).
    AttributeAtVertex "attributeatvertex" 2 Own, PURE, PIXEL;

    // Barriers: which memory, and whether all lanes of the threadgroup wait for each other.
    /// Threadgroup memory.
    GroupMemoryBarrier "groupmemorybarrier" 0 Own, MEMORY, COMPUTE;
    /// Threadgroup memory, waiting.
    GroupMemoryBarrierSync "groupmemorybarriersync" 0 Own, BARRIER, COMPUTE;
    /// Device memory.
    DeviceMemoryBarrier "devicememorybarrier" 0 Own, MEMORY, ALL;
    /// Device memory, waiting.
    DeviceMemoryBarrierSync "devicememorybarriersync" 0 Own, BARRIER, COMPUTE;
    /// Both.
    AllMemoryBarrier "allmemorybarrier" 0 Own, MEMORY, ALL;
    /// Both, waiting.
    AllMemoryBarrierSync "allmemorybarriersync" 0 Own, BARRIER, COMPUTE;

    // Ray queries. The first operand is the address of the query, the others and the result are in `ray_query::METHODS`.
    /// Begins a search.
    RayTrace "raytrace" 8 Ray, UPDATES, ALL;
    /// Goes on to the next candidate; whether there is one, `bool`.
    RayProceed "rayproceed" 1 Ray, UPDATES, ALL;
    /// Ends the search.
    RayAbort "rayabort" 1 Ray, UPDATES, ALL;
    /// Accepts the candidate, a triangle.
    RayCommitTriangle "raycommittriangle" 1 Ray, UPDATES, ALL;
    /// Accepts the candidate, a procedural primitive, at a distance.
    RayCommitProcedural "raycommitprocedural" 2 Ray, UPDATES, ALL;
    /// The flags of the search.
    RayFlags "rayflags" 1 Ray, READS, ALL;
    /// The least distance.
    RayTMin "raytmin" 1 Ray, READS, ALL;
    /// The ray's origin.
    RayWorldOrigin "rayworldorigin" 1 Ray, READS, ALL;
    /// The ray's direction.
    RayWorldDirection "rayworlddirection" 1 Ray, READS, ALL;
    /// 0 for a triangle, 1 for a procedural primitive.
    RayCandidateType "raycandidatetype" 1 Ray, READS, ALL;
    /// 0 for no hit, 1 for a triangle, 2 for a procedural primitive.
    RayCommittedStatus "raycommittedstatus" 1 Ray, READS, ALL;
    /// Whether the candidate is a procedural primitive that is not opaque.
    RayCandidateProceduralNonOpaque "raycandidateproceduralnonopaque" 1 Ray, READS, ALL;
    /// Distance of a triangle.
    RayCandidateT "raycandidatet" 1 Ray, READS, ALL;
    /// Distance.
    RayCommittedT "raycommittedt" 1 Ray, READS, ALL;
    /// Position of the instance, of the candidate hit.
    RayCandidateInstanceIndex "raycandidateinstanceindex" 1 Ray, READS, ALL;
    /// Position of the instance, of the committed hit.
    RayCommittedInstanceIndex "raycommittedinstanceindex" 1 Ray, READS, ALL;
    /// The number the host gave the instance, of the candidate hit.
    RayCandidateInstanceId "raycandidateinstanceid" 1 Ray, READS, ALL;
    /// The number the host gave the instance, of the committed hit.
    RayCommittedInstanceId "raycommittedinstanceid" 1 Ray, READS, ALL;
    /// The host's offset of the instance in its table of shaders, of the candidate hit.
    RayCandidateInstanceContribution "raycandidateinstancecontribution" 1 Ray, READS, ALL;
    /// The host's offset of the instance in its table of shaders, of the committed hit.
    RayCommittedInstanceContribution "raycommittedinstancecontribution" 1 Ray, READS, ALL;
    /// Position of the geometry, of the candidate hit.
    RayCandidateGeometryIndex "raycandidategeometryindex" 1 Ray, READS, ALL;
    /// Position of the geometry, of the committed hit.
    RayCommittedGeometryIndex "raycommittedgeometryindex" 1 Ray, READS, ALL;
    /// Position of the primitive, of the candidate hit.
    RayCandidatePrimitiveIndex "raycandidateprimitiveindex" 1 Ray, READS, ALL;
    /// Position of the primitive, of the committed hit.
    RayCommittedPrimitiveIndex "raycommittedprimitiveindex" 1 Ray, READS, ALL;
    /// The ray's origin in the space of the instance, of the candidate hit.
    RayCandidateObjectOrigin "raycandidateobjectorigin" 1 Ray, READS, ALL;
    /// The ray's origin in the space of the instance, of the committed hit.
    RayCommittedObjectOrigin "raycommittedobjectorigin" 1 Ray, READS, ALL;
    /// The ray's direction in the space of the instance, of the candidate hit.
    RayCandidateObjectDirection "raycandidateobjectdirection" 1 Ray, READS, ALL;
    /// The ray's direction in the space of the instance, of the committed hit.
    RayCommittedObjectDirection "raycommittedobjectdirection" 1 Ray, READS, ALL;
    /// From the space of the instance to that of the ray, of the candidate hit.
    RayCandidateObjectToWorld "raycandidateobjecttoworld" 1 Ray, READS, ALL;
    /// From the space of the instance to that of the ray, of the committed hit.
    RayCommittedObjectToWorld "raycommittedobjecttoworld" 1 Ray, READS, ALL;
    /// From the space of the ray to that of the instance, of the candidate hit.
    RayCandidateWorldToObject "raycandidateworldtoobject" 1 Ray, READS, ALL;
    /// From the space of the ray to that of the instance, of the committed hit.
    RayCommittedWorldToObject "raycommittedworldtoobject" 1 Ray, READS, ALL;
    /// Weights of a triangle's second and third vertex, of the candidate hit.
    RayCandidateBarycentrics "raycandidatebarycentrics" 1 Ray, READS, ALL;
    /// Weights of a triangle's second and third vertex, of the committed hit.
    RayCommittedBarycentrics "raycommittedbarycentrics" 1 Ray, READS, ALL;
    /// Whether a triangle is hit from its front, of the candidate hit.
    RayCandidateFrontFace "raycandidatefrontface" 1 Ray, READS, ALL;
    /// Whether a triangle is hit from its front, of the committed hit.
    RayCommittedFrontFace "raycommittedfrontface" 1 Ray, READS, ALL;

    // Lanes of a wave (SIMD-group).
    /// Whether this is the active lane of the least index.
    WaveIsFirstLane "waveisfirstlane" 0 Own, CONVERGENT, ALL;
    /// Index of this lane, `uint`.
    WaveLaneIndex "wavelaneindex" 0 Own, PURE, ALL;
    /// Lanes of a wave, `uint`.
    WaveLaneCount "wavelanecount" 0 Own, PURE, ALL;
    /// Index of this wave among those of its thread group, `uint`.
    GroupWaveIndex "groupwaveindex" 0 Own, PURE, COMPUTE;
    /// Waves of a thread group, `uint`.
    GroupWaveCount "groupwavecount" 0 Own, PURE, COMPUTE;
    /// Whether true in any active lane.
    WaveAny "waveany" 1 Bools, CONVERGENT, ALL;
    /// Whether true in all active lanes.
    WaveAll "waveall" 1 Bools, CONVERGENT, ALL;
    /// Whether equal in all active lanes, component by component.
    WaveAllEqual "waveallequal" 1 Test(Any), CONVERGENT, ALL;
    /// A `bool` to a `uint4`, one bit for each lane.
    WaveBallot "waveballot" 1 Own, CONVERGENT, ALL;
    /// `x, lane`: x of a lane; any type of numbers or `bool`s, `lane` is `uint`.
    WaveReadLaneAt "wavereadlaneat" 2 Own, CONVERGENT, ALL;
    /// x of the first active lane.
    WaveReadLaneFirst "wavereadlanefirst" 1 Same(Any), CONVERGENT, ALL;
    /// Sum over active lanes.
    WaveSum "wavesum" 1 Same(Num), CONVERGENT, ALL;
    /// Product over active lanes.
    WaveProduct "waveproduct" 1 Same(Num), CONVERGENT, ALL;
    /// Bitwise and over active lanes.
    WaveBitAnd "wavebitand" 1 Same(Int), CONVERGENT, ALL;
    /// Bitwise or over active lanes.
    WaveBitOr "wavebitor" 1 Same(Int), CONVERGENT, ALL;
    /// Bitwise exclusive or over active lanes.
    WaveBitXor "wavebitxor" 1 Same(Int), CONVERGENT, ALL;
    /// Least over active lanes.
    WaveMin "wavemin" 1 Same(Num), CONVERGENT, ALL;
    /// Greatest over active lanes.
    WaveMax "wavemax" 1 Same(Num), CONVERGENT, ALL;
    /// Number of active lanes where the `bool` is true, `uint`.
    WaveCountBits "wavecountbits" 1 Own, CONVERGENT, ALL;
    /// Sum over active lanes of lesser index.
    WavePrefixSum "waveprefixsum" 1 Same(Num), CONVERGENT, ALL;
    /// Product over active lanes of lesser index.
    WavePrefixProduct "waveprefixproduct" 1 Same(Num), CONVERGENT, ALL;
    /// Number of active lanes of lesser index where the `bool` is true, `uint`.
    WavePrefixCountBits "waveprefixcountbits" 1 Own, CONVERGENT, ALL;
    /// x to a `uint4`: the active lanes that hold the same x.
    WaveMatch "wavematch" 1 Own, CONVERGENT, ALL;
    /// `x, mask`: sum over lanes of lesser index in this lane's group of the partition `mask` (`uint4`).
    WaveMultiPrefixSum "wavemultiprefixsum" 2 Own, CONVERGENT, ALL;
    /// `x, mask`: product likewise.
    WaveMultiPrefixProduct "wavemultiprefixproduct" 2 Own, CONVERGENT, ALL;
    /// `x, mask`: bitwise and likewise.
    WaveMultiPrefixBitAnd "wavemultiprefixbitand" 2 Own, CONVERGENT, ALL;
    /// `x, mask`: bitwise or likewise.
    WaveMultiPrefixBitOr "wavemultiprefixbitor" 2 Own, CONVERGENT, ALL;
    /// `x, mask`: bitwise exclusive or likewise.
    WaveMultiPrefixBitXor "wavemultiprefixbitxor" 2 Own, CONVERGENT, ALL;
    /// `b, mask`: number of true `b` likewise, `uint`.
    WaveMultiPrefixCountBits "wavemultiprefixcountbits" 2 Own, CONVERGENT, ALL;
    /// x of the lane beside in the quad.
    QuadReadAcrossX "quadreadacrossx" 1 Same(Any), CONVERGENT, ALL;
    /// x of the lane below or above in the quad.
    QuadReadAcrossY "quadreadacrossy" 1 Same(Any), CONVERGENT, ALL;
    /// x of the opposite lane in the quad.
    QuadReadAcrossDiagonal "quadreadacrossdiagonal" 1 Same(Any), CONVERGENT, ALL;
    /// `x, lane`: x of a lane of the quad; `lane` is a `uint` 0 to 3.
    QuadReadLaneAt "quadreadlaneat" 2 Own, CONVERGENT, ALL;
    /// Whether true in any lane of the quad.
    QuadAny "quadany" 1 Bools, CONVERGENT, ALL;
    /// Whether true in all lanes of the quad.
    QuadAll "quadall" 1 Bools, CONVERGENT, ALL;
    /// Whether this lane runs only for others' derivatives.
    IsHelperLane "ishelperlane" 0 Own, CONVERGENT, PIXEL;
}
