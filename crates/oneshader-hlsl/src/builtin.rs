//! The types the language declares: numeric types by their short names and object types.

use crate::name::Class;

/// The element of a numeric type, as spelled. What `half` and the min-precision types are computed in depends on
/// `-enable-16bit-types` and is decided by the type checker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScalarKind {
    /// `void`: no value.
    Void,
    /// `bool`.
    Bool,
    /// `int`, `int32_t`.
    Int,
    /// `uint`, `uint32_t`, `dword`, `unsigned`.
    Uint,
    /// `half`.
    Half,
    /// `float`, `float32_t`.
    Float,
    /// `double`, `float64_t`.
    Double,
    /// `min16float`.
    Min16Float,
    /// `min10float`.
    Min10Float,
    /// `min16int`.
    Min16Int,
    /// `min12int`.
    Min12Int,
    /// `min16uint`.
    Min16Uint,
    /// `int16_t`.
    Int16,
    /// `uint16_t`.
    Uint16,
    /// `float16_t`.
    Float16,
    /// `int64_t`.
    Int64,
    /// `uint64_t`.
    Uint64,
    /// `int8_t4_packed`.
    Int8x4Packed,
    /// `uint8_t4_packed`.
    Uint8x4Packed,
    /// `string`.
    String,
}

/// Short names: a scalar; the scalar with `N`; the scalar with `RxC`.
const SCALARS: &[(&str, ScalarKind)] = &[
    ("void", ScalarKind::Void),
    ("bool", ScalarKind::Bool),
    ("int", ScalarKind::Int),
    ("int32_t", ScalarKind::Int),
    ("uint", ScalarKind::Uint),
    ("uint32_t", ScalarKind::Uint),
    ("dword", ScalarKind::Uint),
    ("DWORD", ScalarKind::Uint),
    ("half", ScalarKind::Half),
    ("float", ScalarKind::Float),
    ("FLOAT", ScalarKind::Float),
    ("float32_t", ScalarKind::Float),
    ("double", ScalarKind::Double),
    ("float64_t", ScalarKind::Double),
    ("min16float", ScalarKind::Min16Float),
    ("min10float", ScalarKind::Min10Float),
    ("min16int", ScalarKind::Min16Int),
    ("min12int", ScalarKind::Min12Int),
    ("min16uint", ScalarKind::Min16Uint),
    ("int16_t", ScalarKind::Int16),
    ("uint16_t", ScalarKind::Uint16),
    ("float16_t", ScalarKind::Float16),
    ("int64_t", ScalarKind::Int64),
    ("uint64_t", ScalarKind::Uint64),
    ("int8_t4_packed", ScalarKind::Int8x4Packed),
    ("uint8_t4_packed", ScalarKind::Uint8x4Packed),
    ("string", ScalarKind::String),
];

impl ScalarKind {
    /// Whether vectors and matrices of it have short names.
    fn has_short_vectors(self) -> bool {
        !matches!(self, ScalarKind::Void | ScalarKind::Int8x4Packed | ScalarKind::Uint8x4Packed | ScalarKind::String)
    }
}

/// A numeric type with a short name. Dimensions are 1 to 4; `float1` is a vector, not a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumericType {
    /// `float`.
    Scalar(ScalarKind),
    /// `float3`.
    Vector(ScalarKind, u8),
    /// `float3x4`: rows, columns.
    Matrix(ScalarKind, u8, u8),
}

macro_rules! objects {
    ($($(#[$doc:meta])* $kind:ident: $($text:literal)*;)*) => {
        /// An object type of the language. A kind is a spelling: what template arguments it takes and means is the
        /// type checker's.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum ObjectKind { $($(#[$doc])* $kind,)* }

        const OBJECTS: &[(&str, ObjectKind)] = &[$($(($text, ObjectKind::$kind),)*)*];

        impl ObjectKind {
            /// The spelling, the first one where there are several.
            pub const fn text(self) -> &'static str {
                match self { $(ObjectKind::$kind => [$($text),*][0],)* }
            }
        }
    };
}

objects! {
    /// `vector<T, N>`; without arguments `float4`.
    Vector: "vector" "VECTOR";
    /// `matrix<T, R, C>`; without arguments `float4x4`.
    Matrix: "matrix" "MATRIX";
    Buffer: "Buffer";
    RwBuffer: "RWBuffer";
    RasterizerOrderedBuffer: "RasterizerOrderedBuffer";
    ByteAddressBuffer: "ByteAddressBuffer";
    RwByteAddressBuffer: "RWByteAddressBuffer";
    RasterizerOrderedByteAddressBuffer: "RasterizerOrderedByteAddressBuffer";
    StructuredBuffer: "StructuredBuffer";
    RwStructuredBuffer: "RWStructuredBuffer";
    RasterizerOrderedStructuredBuffer: "RasterizerOrderedStructuredBuffer";
    AppendStructuredBuffer: "AppendStructuredBuffer";
    ConsumeStructuredBuffer: "ConsumeStructuredBuffer";
    ConstantBuffer: "ConstantBuffer";
    TextureBuffer: "TextureBuffer";
    Texture1D: "Texture1D";
    Texture1DArray: "Texture1DArray";
    Texture2D: "Texture2D";
    Texture2DArray: "Texture2DArray";
    Texture2DMs: "Texture2DMS";
    Texture2DMsArray: "Texture2DMSArray";
    Texture3D: "Texture3D";
    TextureCube: "TextureCube";
    TextureCubeArray: "TextureCubeArray";
    RwTexture1D: "RWTexture1D";
    RwTexture1DArray: "RWTexture1DArray";
    RwTexture2D: "RWTexture2D";
    RwTexture2DArray: "RWTexture2DArray";
    RwTexture2DMs: "RWTexture2DMS";
    RwTexture2DMsArray: "RWTexture2DMSArray";
    RwTexture3D: "RWTexture3D";
    RasterizerOrderedTexture1D: "RasterizerOrderedTexture1D";
    RasterizerOrderedTexture1DArray: "RasterizerOrderedTexture1DArray";
    RasterizerOrderedTexture2D: "RasterizerOrderedTexture2D";
    RasterizerOrderedTexture2DArray: "RasterizerOrderedTexture2DArray";
    RasterizerOrderedTexture3D: "RasterizerOrderedTexture3D";
    FeedbackTexture2D: "FeedbackTexture2D";
    FeedbackTexture2DArray: "FeedbackTexture2DArray";
    SamplerState: "SamplerState";
    SamplerComparisonState: "SamplerComparisonState";
    /// `sampler` and the legacy samplers with a dimension.
    Sampler: "sampler" "sampler1D" "sampler2D" "sampler3D" "samplerCUBE" "Sampler";
    /// The effects framework's untyped texture.
    LegacyTexture: "texture" "texture1D" "texture2D" "texture3D" "textureCUBE";
    InputPatch: "InputPatch";
    OutputPatch: "OutputPatch";
    PointStream: "PointStream";
    LineStream: "LineStream";
    TriangleStream: "TriangleStream";
    RayDesc: "RayDesc";
    RayQuery: "RayQuery";
    RaytracingAccelerationStructure: "RaytracingAccelerationStructure";
    BuiltInTriangleIntersectionAttributes: "BuiltInTriangleIntersectionAttributes";
    StateObjectConfig: "StateObjectConfig";
    GlobalRootSignature: "GlobalRootSignature";
    LocalRootSignature: "LocalRootSignature";
    SubobjectToExportsAssociation: "SubobjectToExportsAssociation";
    RaytracingShaderConfig: "RaytracingShaderConfig";
    RaytracingPipelineConfig: "RaytracingPipelineConfig";
    RaytracingPipelineConfig1: "RaytracingPipelineConfig1";
    TriangleHitGroup: "TriangleHitGroup";
    ProceduralPrimitiveHitGroup: "ProceduralPrimitiveHitGroup";
    /// A texture and a sampler in one descriptor, in the namespace `vk`.
    SampledTexture1D: "vk::SampledTexture1D";
    SampledTexture1DArray: "vk::SampledTexture1DArray";
    SampledTexture2D: "vk::SampledTexture2D";
    SampledTexture2DArray: "vk::SampledTexture2DArray";
    SampledTexture2DMs: "vk::SampledTexture2DMS";
    SampledTexture2DMsArray: "vk::SampledTexture2DMSArray";
    SampledTexture3D: "vk::SampledTexture3D";
    SampledTextureCube: "vk::SampledTextureCUBE";
    SampledTextureCubeArray: "vk::SampledTextureCUBEArray";
    /// Types of SPIR-V and their arguments: the type checker makes other types of them.
    SpirvOpaqueType: "vk::SpirvOpaqueType";
    SpirvType: "vk::SpirvType";
    SpirvConstant: "vk::integral_constant";
    SpirvLiteral: "vk::Literal";
    SpirvResult: "vk::ext_result_id";
    /// `vk::BufferPointer<T, align>`: the type checker makes another type of it.
    BufferPointer: "vk::BufferPointer";
    SubpassInput: "SubpassInput";
    SubpassInputMs: "SubpassInputMS";
    /// Work graph records and nodes.
    NodeObject: "DispatchNodeInputRecord" "RWDispatchNodeInputRecord" "GroupNodeInputRecords"
        "RWGroupNodeInputRecords" "ThreadNodeInputRecord" "RWThreadNodeInputRecord" "EmptyNodeInput" "NodeOutput"
        "NodeOutputArray" "EmptyNodeOutput" "EmptyNodeOutputArray" "GroupNodeOutputRecords"
        "ThreadNodeOutputRecords";
}

impl ObjectKind {
    /// The texture in a combined texture and sampler.
    pub const fn sampled_texture(self) -> Option<ObjectKind> {
        Some(match self {
            ObjectKind::SampledTexture1D => ObjectKind::Texture1D,
            ObjectKind::SampledTexture1DArray => ObjectKind::Texture1DArray,
            ObjectKind::SampledTexture2D => ObjectKind::Texture2D,
            ObjectKind::SampledTexture2DArray => ObjectKind::Texture2DArray,
            ObjectKind::SampledTexture2DMs => ObjectKind::Texture2DMs,
            ObjectKind::SampledTexture2DMsArray => ObjectKind::Texture2DMsArray,
            ObjectKind::SampledTexture3D => ObjectKind::Texture3D,
            ObjectKind::SampledTextureCube => ObjectKind::TextureCube,
            ObjectKind::SampledTextureCubeArray => ObjectKind::TextureCubeArray,
            _ => return None,
        })
    }

    /// Whether it is a combined texture and sampler.
    pub const fn is_sampled(self) -> bool {
        self.sampled_texture().is_some()
    }
}

/// The objects of a namespace of the language, by their names in it.
pub(crate) fn objects_of(namespace: &str) -> impl Iterator<Item = (&'static str, ObjectKind)> {
    OBJECTS.iter().filter_map(move |&(text, kind)| Some((text.strip_prefix(namespace)?.strip_prefix("::")?, kind)))
}

/// The scalars' and objects' names.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    SCALARS.iter().map(|(text, _)| *text).chain(OBJECTS.iter().map(|(text, _)| *text))
}

/// As `classify` for a word that is none of `words`.
pub(crate) fn classify_new(text: &str) -> Class {
    match text.as_bytes().last() {
        Some(b'1'..=b'4') => numeric(text).map_or(Class::Ident, Class::Numeric),
        _ => Class::Ident,
    }
}

/// The class of a word from its text, keywords left aside.
pub(crate) fn classify(text: &str) -> Class {
    if let Some((_, kind)) = OBJECTS.iter().find(|(name, _)| *name == text) {
        return Class::Object(*kind);
    }
    numeric(text).map_or(Class::Ident, Class::Numeric)
}

fn numeric(text: &str) -> Option<NumericType> {
    let scalar = |text: &str| SCALARS.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind);
    if let Some(kind) = scalar(text) {
        return Some(NumericType::Scalar(kind));
    }
    let digit = |b: u8| (b'1'..=b'4').contains(&b).then(|| b - b'0');
    let vector_of = |text: &str| scalar(text).filter(|kind| kind.has_short_vectors());
    let bytes = text.as_bytes();
    let (last, before) = bytes.split_last()?;
    let columns = digit(*last)?;
    if let [.., rows, b'x'] = before {
        let rows = digit(*rows)?;
        return Some(NumericType::Matrix(vector_of(text.get(..text.len() - 3)?)?, rows, columns));
    }
    Some(NumericType::Vector(vector_of(text.get(..text.len() - 1)?)?, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_type_names() {
        use ScalarKind::*;
        let cases = [
            ("float", Some(NumericType::Scalar(Float))),
            ("float1", Some(NumericType::Vector(Float, 1))),
            ("min16uint4", Some(NumericType::Vector(Min16Uint, 4))),
            ("int16_t2x3", Some(NumericType::Matrix(Int16, 2, 3))),
            ("uint64_t", Some(NumericType::Scalar(Uint64))),
            ("dword2", Some(NumericType::Vector(Uint, 2))),
            ("float5", None),
            ("float0", None),
            ("float4x", None),
            ("floatx4", None),
            ("void2", None),
            ("x4", None),
            ("é4", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(numeric(text), want, "{text}");
        }
        assert_eq!(classify("RWTexture2D"), Class::Object(ObjectKind::RwTexture2D));
        assert_eq!(classify("Texture4D"), Class::Ident);
    }
}
