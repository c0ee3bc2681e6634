//! Capabilities and extensions, from the words that were emitted.

use crate::module::Module;
use crate::options::TargetEnv;
use crate::reflect::USER_TYPE;
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{BuiltIn, Capability as Cap, Decoration, Dim, ExecutionMode, ImageFormat, ImageOperands, Op, StorageClass};
use std::collections::BTreeSet;

/// What a module needs.
pub(crate) struct Needs {
    pub capabilities: Vec<Cap>,
    pub extensions: Vec<&'static str>,
}

/// Capabilities of instructions.
static OPS: &[(Op, Cap)] = &[
    (Op::DPdxFine, Cap::DerivativeControl),
    (Op::DPdyFine, Cap::DerivativeControl),
    (Op::DPdxCoarse, Cap::DerivativeControl),
    (Op::DPdyCoarse, Cap::DerivativeControl),
    (Op::GroupNonUniformElect, Cap::GroupNonUniform),
    (Op::GroupNonUniformAll, Cap::GroupNonUniformVote),
    (Op::GroupNonUniformAny, Cap::GroupNonUniformVote),
    (Op::GroupNonUniformAllEqual, Cap::GroupNonUniformVote),
    (Op::GroupNonUniformBroadcast, Cap::GroupNonUniformBallot),
    (Op::GroupNonUniformBroadcastFirst, Cap::GroupNonUniformBallot),
    (Op::GroupNonUniformBallot, Cap::GroupNonUniformBallot),
    (Op::GroupNonUniformBallotBitCount, Cap::GroupNonUniformBallot),
    (Op::GroupNonUniformShuffle, Cap::GroupNonUniformShuffle),
    (Op::GroupNonUniformIAdd, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformFAdd, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformIMul, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformFMul, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformSMin, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformUMin, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformFMin, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformSMax, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformUMax, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformFMax, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformBitwiseAnd, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformBitwiseOr, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformBitwiseXor, Cap::GroupNonUniformArithmetic),
    (Op::GroupNonUniformQuadBroadcast, Cap::GroupNonUniformQuad),
    (Op::GroupNonUniformQuadSwap, Cap::GroupNonUniformQuad),
    (Op::ImageQuerySizeLod, Cap::ImageQuery),
    (Op::ImageQuerySize, Cap::ImageQuery),
    (Op::ImageQueryLod, Cap::ImageQuery),
    (Op::ImageSparseSampleImplicitLod, Cap::SparseResidency),
    (Op::ImageSparseSampleExplicitLod, Cap::SparseResidency),
    (Op::ImageSparseSampleDrefImplicitLod, Cap::SparseResidency),
    (Op::ImageSparseSampleDrefExplicitLod, Cap::SparseResidency),
    (Op::ImageSparseGather, Cap::SparseResidency),
    (Op::ImageSparseDrefGather, Cap::SparseResidency),
    (Op::ImageSparseFetch, Cap::SparseResidency),
    (Op::ImageSparseRead, Cap::SparseResidency),
    (Op::ImageSparseTexelsResident, Cap::SparseResidency),
    (Op::ImageQueryLevels, Cap::ImageQuery),
    (Op::ImageQuerySamples, Cap::ImageQuery),
    (Op::DemoteToHelperInvocation, Cap::DemoteToHelperInvocation),
    (Op::ReadClockKHR, Cap::ShaderClockKHR),
    (Op::IsHelperInvocationEXT, Cap::DemoteToHelperInvocation),
    (Op::BeginInvocationInterlockEXT, Cap::FragmentShaderPixelInterlockEXT),
    (Op::TypeAccelerationStructureKHR, Cap::RayQueryKHR),
    (Op::TypeRayQueryKHR, Cap::RayQueryKHR),
];

/// Capabilities of built-in variables.
static BUILTINS: &[(BuiltIn, Cap)] = &[
    (BuiltIn::BaseVertex, Cap::DrawParameters),
    (BuiltIn::BaseInstance, Cap::DrawParameters),
    (BuiltIn::DrawIndex, Cap::DrawParameters),
    (BuiltIn::DeviceIndex, Cap::DeviceGroup),
    (BuiltIn::PrimitiveId, Cap::Geometry),
    (BuiltIn::SampleId, Cap::SampleRateShading),
    (BuiltIn::ClipDistance, Cap::ClipDistance),
    (BuiltIn::CullDistance, Cap::CullDistance),
    (BuiltIn::Layer, Cap::ShaderLayer),
    (BuiltIn::ViewportIndex, Cap::ShaderViewportIndex),
    (BuiltIn::ViewIndex, Cap::MultiView),
    (BuiltIn::FullyCoveredEXT, Cap::FragmentFullyCoveredEXT),
    (BuiltIn::FragStencilRefEXT, Cap::StencilExportEXT),
    (BuiltIn::PrimitiveShadingRateKHR, Cap::FragmentShadingRateKHR),
    (BuiltIn::ShadingRateKHR, Cap::FragmentShadingRateKHR),
    (BuiltIn::BaryCoordKHR, Cap::FragmentBarycentricKHR),
    (BuiltIn::BaryCoordNoPerspKHR, Cap::FragmentBarycentricKHR),
    (BuiltIn::SubgroupLocalInvocationId, Cap::GroupNonUniform),
    (BuiltIn::SubgroupSize, Cap::GroupNonUniform),
    (BuiltIn::SubgroupId, Cap::GroupNonUniform),
    (BuiltIn::NumSubgroups, Cap::GroupNonUniform),
];

/// Capabilities of execution modes.
static MODES: &[(ExecutionMode, Cap)] = &[
    (ExecutionMode::DerivativeGroupQuadsKHR, Cap::ComputeDerivativeGroupQuadsKHR),
    (ExecutionMode::DerivativeGroupLinearKHR, Cap::ComputeDerivativeGroupLinearKHR),
    (ExecutionMode::StencilRefReplacingEXT, Cap::StencilExportEXT),
    (ExecutionMode::PixelInterlockOrderedEXT, Cap::FragmentShaderPixelInterlockEXT),
    (ExecutionMode::PixelInterlockUnorderedEXT, Cap::FragmentShaderPixelInterlockEXT),
    (ExecutionMode::SampleInterlockOrderedEXT, Cap::FragmentShaderSampleInterlockEXT),
    (ExecutionMode::SampleInterlockUnorderedEXT, Cap::FragmentShaderSampleInterlockEXT),
    (ExecutionMode::PostDepthCoverage, Cap::SampleMaskPostDepthCoverage),
    (ExecutionMode::StencilRefUnchangedFrontAMD, Cap::StencilExportEXT),
    (ExecutionMode::StencilRefGreaterFrontAMD, Cap::StencilExportEXT),
    (ExecutionMode::StencilRefLessFrontAMD, Cap::StencilExportEXT),
    (ExecutionMode::StencilRefUnchangedBackAMD, Cap::StencilExportEXT),
    (ExecutionMode::StencilRefGreaterBackAMD, Cap::StencilExportEXT),
    (ExecutionMode::StencilRefLessBackAMD, Cap::StencilExportEXT),
    (ExecutionMode::QuadDerivativesKHR, Cap::QuadControlKHR),
    (ExecutionMode::RequireFullQuadsKHR, Cap::QuadControlKHR),
    (ExecutionMode::DenormPreserve, Cap::DenormPreserve),
    (ExecutionMode::DenormFlushToZero, Cap::DenormFlushToZero),
    (ExecutionMode::SignedZeroInfNanPreserve, Cap::SignedZeroInfNanPreserve),
    (ExecutionMode::RoundingModeRTE, Cap::RoundingModeRTE),
    (ExecutionMode::RoundingModeRTZ, Cap::RoundingModeRTZ),
];

/// Extensions of execution modes that need no capability.
static MODE_EXTENSIONS: &[(ExecutionMode, &str)] = &[
    (ExecutionMode::EarlyAndLateFragmentTestsAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefUnchangedFrontAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefGreaterFrontAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefLessFrontAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefUnchangedBackAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefGreaterBackAMD, EARLY_AND_LATE),
    (ExecutionMode::StencilRefLessBackAMD, EARLY_AND_LATE),
    (ExecutionMode::MaximallyReconvergesKHR, "SPV_KHR_maximal_reconvergence"),
];

const EARLY_AND_LATE: &str = "SPV_AMD_shader_early_and_late_fragment_tests";

/// The extension that a capability needs, and the minor version of SPIR-V that has it in its core (99: none).
static EXTENSIONS: &[(Cap, &str, u8)] = &[
    (Cap::DrawParameters, "SPV_KHR_shader_draw_parameters", 3),
    (Cap::MultiView, "SPV_KHR_multiview", 3),
    (Cap::DeviceGroup, "SPV_KHR_device_group", 3),
    (Cap::StorageBuffer16BitAccess, "SPV_KHR_16bit_storage", 3),
    (Cap::UniformAndStorageBuffer16BitAccess, "SPV_KHR_16bit_storage", 3),
    (Cap::StoragePushConstant16, "SPV_KHR_16bit_storage", 3),
    (Cap::StorageInputOutput16, "SPV_KHR_16bit_storage", 3),
    (Cap::DemoteToHelperInvocation, "SPV_EXT_demote_to_helper_invocation", 6),
    (Cap::FragmentShaderPixelInterlockEXT, "SPV_EXT_fragment_shader_interlock", 99),
    (Cap::FragmentShaderSampleInterlockEXT, "SPV_EXT_fragment_shader_interlock", 99),
    (Cap::SampleMaskPostDepthCoverage, "SPV_KHR_post_depth_coverage", 99),
    (Cap::QuadControlKHR, "SPV_KHR_quad_control", 99),
    (Cap::FragmentFullyCoveredEXT, "SPV_EXT_fragment_fully_covered", 99),
    (Cap::StencilExportEXT, "SPV_EXT_shader_stencil_export", 99),
    (Cap::FragmentShadingRateKHR, "SPV_KHR_fragment_shading_rate", 99),
    (Cap::FragmentBarycentricKHR, "SPV_KHR_fragment_shader_barycentric", 99),
    (Cap::ShaderViewportIndexLayerEXT, "SPV_EXT_shader_viewport_index_layer", 99),
    (Cap::ComputeDerivativeGroupQuadsKHR, "SPV_KHR_compute_shader_derivatives", 99),
    (Cap::ComputeDerivativeGroupLinearKHR, "SPV_KHR_compute_shader_derivatives", 99),
    (Cap::PhysicalStorageBufferAddresses, "SPV_KHR_physical_storage_buffer", 5),
    (Cap::ShaderClockKHR, "SPV_KHR_shader_clock", 99),
    (Cap::DenormPreserve, "SPV_KHR_float_controls", 4),
    (Cap::DenormFlushToZero, "SPV_KHR_float_controls", 4),
    (Cap::SignedZeroInfNanPreserve, "SPV_KHR_float_controls", 4),
    (Cap::RoundingModeRTE, "SPV_KHR_float_controls", 4),
    (Cap::RoundingModeRTZ, "SPV_KHR_float_controls", 4),
    (Cap::Int64ImageEXT, "SPV_EXT_shader_image_int64", 99),
    (Cap::RayQueryKHR, "SPV_KHR_ray_query", 99),
    (Cap::RuntimeDescriptorArray, "SPV_EXT_descriptor_indexing", 5),
    (Cap::ShaderNonUniform, "SPV_EXT_descriptor_indexing", 5),
    (Cap::UniformTexelBufferArrayDynamicIndexing, "SPV_EXT_descriptor_indexing", 5),
    (Cap::StorageTexelBufferArrayDynamicIndexing, "SPV_EXT_descriptor_indexing", 5),
];

/// The first word of the names of non-semantic instruction sets.
const NON_SEMANTIC: u32 = u32::from_le_bytes(*b"NonS");

/// Formats that need no capability (SPIR-V specification 3.11).
const BASE_FORMATS: [ImageFormat; 11] = [
    ImageFormat::Unknown,
    ImageFormat::Rgba32f,
    ImageFormat::Rgba16f,
    ImageFormat::R32f,
    ImageFormat::Rgba8,
    ImageFormat::Rgba8Snorm,
    ImageFormat::Rgba32i,
    ImageFormat::Rgba16i,
    ImageFormat::Rgba8i,
    ImageFormat::R32i,
    ImageFormat::Rgba32ui,
];
const MORE_BASE_FORMATS: [ImageFormat; 3] = [ImageFormat::Rgba16ui, ImageFormat::Rgba8ui, ImageFormat::R32ui];

/// What is known of a type.
#[derive(Clone, Debug)]
enum Ty {
    /// Width in bits, whether a float.
    Number(u32, bool),
    /// Made of these.
    Parts(Vec<u32>),
    RuntimeArray(u32),
    Pointer(u32, u32),
    Image {
        dim: u32,
        storage: bool,
        format: u32,
    },
    /// Arrays of them are indexed without a capability.
    AccelerationStructure,
    Other,
}

/// Which resources an index selects from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Descriptors {
    UniformBuffer,
    StorageBuffer,
    SampledImage,
    StorageImage,
    InputAttachment,
    UniformTexel,
    StorageTexel,
}

/// For each kind of descriptor: the capabilities to index an array of them dynamically and nonuniformly. spirv-val admits
/// no `InputAttachmentArrayDynamicIndexing` for Vulkan; DXC declares none either.
static INDEXING: &[(Descriptors, Option<Cap>, Cap)] = &[
    (
        Descriptors::UniformBuffer,
        Some(Cap::UniformBufferArrayDynamicIndexing),
        Cap::UniformBufferArrayNonUniformIndexing,
    ),
    (
        Descriptors::StorageBuffer,
        Some(Cap::StorageBufferArrayDynamicIndexing),
        Cap::StorageBufferArrayNonUniformIndexing,
    ),
    (Descriptors::SampledImage, Some(Cap::SampledImageArrayDynamicIndexing), Cap::SampledImageArrayNonUniformIndexing),
    (Descriptors::StorageImage, Some(Cap::StorageImageArrayDynamicIndexing), Cap::StorageImageArrayNonUniformIndexing),
    (Descriptors::InputAttachment, None, Cap::InputAttachmentArrayNonUniformIndexing),
    (
        Descriptors::UniformTexel,
        Some(Cap::UniformTexelBufferArrayDynamicIndexing),
        Cap::UniformTexelBufferArrayNonUniformIndexing,
    ),
    (
        Descriptors::StorageTexel,
        Some(Cap::StorageTexelBufferArrayDynamicIndexing),
        Cap::StorageTexelBufferArrayNonUniformIndexing,
    ),
];

#[derive(Default)]
struct Scan {
    caps: BTreeSet<Cap>,
    extensions: BTreeSet<&'static str>,
    types: FxHashMap<u32, Ty>,
    /// Types of results.
    results: FxHashMap<u32, u32>,
    constants: FxHashSet<u32>,
    nonuniform: FxHashSet<u32>,
    blocks: FxHashSet<u32>,
}

/// What the sections of `module` need in `target`.
pub(crate) fn needs(module: &Module, target: TargetEnv) -> Needs {
    let mut scan = Scan::default();
    scan.caps.insert(Cap::Shader);
    for section in module.sections() {
        for (op, operands) in section.iter() {
            if let Some(op) = Op::from_u32(op) {
                scan.inst(op, operands, target);
            }
        }
    }
    for &(cap, extension, core) in EXTENSIONS {
        if scan.caps.contains(&cap) && !target.at_least(core) {
            scan.extensions.insert(extension);
        }
    }
    let capabilities = scan.caps.iter().copied().collect();
    Needs { capabilities, extensions: scan.extensions.into_iter().collect() }
}

/// An operand; 0 where an instruction that the program names by number has none.
fn word(operands: &[u32], at: usize) -> u32 {
    operands.get(at).copied().unwrap_or(0)
}

impl Scan {
    fn inst(&mut self, op: Op, operands: &[u32], target: TargetEnv) {
        if let Some(&(_, cap)) = OPS.iter().find(|&&(o, _)| o == op) {
            self.caps.insert(cap);
        }
        match op {
            Op::ExecutionMode => {
                if let Some(&(_, cap)) = MODES.iter().find(|&&(m, _)| m as u32 == word(operands, 1)) {
                    self.caps.insert(cap);
                }
                let named = MODE_EXTENSIONS.iter().find(|&&(m, _)| m as u32 == word(operands, 1));
                self.extensions.extend(named.map(|&(_, extension)| extension));
            }
            // Instructions that change nothing but what a tool sees.
            Op::ExtInstImport if operands.get(1) == Some(&NON_SEMANTIC) && !target.at_least(6) => {
                self.extensions.insert("SPV_KHR_non_semantic_info");
            }
            Op::Decorate => self.decoration(operands, target),
            Op::DecorateString => {
                if !target.at_least(4) {
                    self.extensions.insert("SPV_GOOGLE_decorate_string");
                }
                let user_type = word(operands, 1) == USER_TYPE;
                self.extensions.insert(if user_type {
                    "SPV_GOOGLE_user_type"
                } else {
                    "SPV_GOOGLE_hlsl_functionality1"
                });
            }
            Op::DecorateId => {
                self.extensions.insert("SPV_GOOGLE_hlsl_functionality1");
            }
            Op::Variable => {
                if word(operands, 2) == StorageClass::StorageBuffer as u32 && !target.at_least(3) {
                    self.extensions.insert("SPV_KHR_storage_buffer_storage_class");
                }
                self.variable(operands);
            }
            Op::AccessChain => self.access_chain(operands),
            Op::ImageRead | Op::ImageWrite | Op::ImageSparseRead => self.image_access(op, operands),
            Op::ExtInst if (76..=78).contains(&word(operands, 3)) => {
                self.caps.insert(Cap::InterpolationFunction);
            }
            Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleExplicitLod => self.image_operands(operands.get(4)),
            Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
            | Op::ImageSparseGather
            | Op::ImageSparseDrefGather => self.image_operands(operands.get(5)),
            _ => {}
        }
        if is_atomic(op) {
            self.atomic(op, operands);
        }
        self.types_and_results(op, operands);
    }

    fn decoration(&mut self, operands: &[u32], target: TargetEnv) {
        let Some(decoration) = Decoration::from_u32(word(operands, 1)) else { return };
        match decoration {
            Decoration::BuiltIn => {
                let Some(&(builtin, cap)) = BUILTINS.iter().find(|&&(b, _)| b as u32 == word(operands, 2)) else {
                    return;
                };
                let layer = matches!(builtin, BuiltIn::Layer | BuiltIn::ViewportIndex);
                self.caps.insert(if layer && !target.at_least(5) { Cap::ShaderViewportIndexLayerEXT } else { cap });
            }
            Decoration::Sample => {
                self.caps.insert(Cap::SampleRateShading);
            }
            Decoration::PerVertexKHR => {
                self.caps.insert(Cap::FragmentBarycentricKHR);
            }
            Decoration::NonUniform => {
                self.nonuniform.insert(word(operands, 0));
                self.caps.insert(Cap::ShaderNonUniform);
            }
            Decoration::Block => {
                self.blocks.insert(word(operands, 0));
            }
            _ => {}
        }
    }

    fn image_operands(&mut self, mask: Option<&u32>) {
        let mask = ImageOperands::from_bits_truncate(mask.copied().unwrap_or(0));
        if mask.intersects(ImageOperands::OFFSET | ImageOperands::CONST_OFFSETS) {
            self.caps.insert(Cap::ImageGatherExtended);
        }
        if mask.contains(ImageOperands::MIN_LOD) {
            self.caps.insert(Cap::MinLod);
        }
    }

    fn types_and_results(&mut self, op: Op, operands: &[u32]) {
        let Some(&id) = operands.first() else { return };
        let ty = match op {
            Op::TypeInt | Op::TypeFloat => {
                let cap = match (op, word(operands, 1)) {
                    (Op::TypeInt, 16) => Some(Cap::Int16),
                    (Op::TypeInt, 64) => Some(Cap::Int64),
                    (Op::TypeFloat, 16) => Some(Cap::Float16),
                    (Op::TypeFloat, 64) => Some(Cap::Float64),
                    _ => None,
                };
                self.caps.extend(cap);
                Ty::Number(word(operands, 1), op == Op::TypeFloat)
            }
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray => Ty::Parts(vec![word(operands, 1)]),
            Op::TypeStruct => Ty::Parts(operands.get(1..).unwrap_or_default().to_vec()),
            Op::TypeRuntimeArray => {
                let elem = word(operands, 1);
                let opaque =
                    matches!(self.types.get(&elem), Some(Ty::Image { .. } | Ty::AccelerationStructure | Ty::Other));
                let descriptor = opaque || self.blocks.contains(&elem);
                if descriptor {
                    self.caps.insert(Cap::RuntimeDescriptorArray);
                }
                Ty::RuntimeArray(elem)
            }
            Op::TypePointer => {
                if word(operands, 1) == StorageClass::PhysicalStorageBuffer as u32 {
                    self.caps.insert(Cap::PhysicalStorageBufferAddresses);
                    if self.contains(word(operands, 2), 16) {
                        self.caps.insert(Cap::StorageBuffer16BitAccess);
                    }
                }
                Ty::Pointer(word(operands, 1), word(operands, 2))
            }
            Op::TypeImage => self.image(operands),
            Op::TypeSampler | Op::TypeSampledImage => Ty::Other,
            Op::TypeAccelerationStructureKHR => Ty::AccelerationStructure,
            Op::Constant | Op::ConstantNull | Op::SpecConstant => {
                self.constants.insert(word(operands, 1));
                return;
            }
            Op::Variable | Op::AccessChain | Op::Load => {
                self.results.insert(word(operands, 1), id);
                return;
            }
            _ => return,
        };
        self.types.insert(id, ty);
    }

    fn image(&mut self, operands: &[u32]) -> Ty {
        let (dim, arrayed, multisampled) = (word(operands, 2), word(operands, 4) != 0, word(operands, 5) != 0);
        let (storage, format) = (word(operands, 6) == 2, word(operands, 7));
        let cap = match Dim::from_u32(dim) {
            Some(Dim::Dim1D) if storage => Some(Cap::Image1D),
            Some(Dim::Dim1D) => Some(Cap::Sampled1D),
            Some(Dim::DimBuffer) if storage => Some(Cap::ImageBuffer),
            Some(Dim::DimBuffer) => Some(Cap::SampledBuffer),
            Some(Dim::DimCube) if arrayed && storage => Some(Cap::ImageCubeArray),
            Some(Dim::DimCube) if arrayed => Some(Cap::SampledCubeArray),
            Some(Dim::DimSubpassData) => Some(Cap::InputAttachment),
            _ => None,
        };
        self.caps.extend(cap);
        if storage && multisampled && dim != Dim::DimSubpassData as u32 {
            self.caps.insert(Cap::StorageImageMultisample);
            if arrayed {
                self.caps.insert(Cap::ImageMSArray);
            }
        }
        if matches!(self.types.get(&word(operands, 1)), Some(Ty::Number(64, _))) {
            self.caps.insert(Cap::Int64ImageEXT);
        } else if !BASE_FORMATS.iter().chain(&MORE_BASE_FORMATS).any(|&f| f as u32 == format) {
            self.caps.insert(Cap::StorageImageExtendedFormats);
        }
        Ty::Image { dim, storage, format }
    }

    /// Whether a number of `bits` is somewhere in a type.
    fn contains(&self, ty: u32, bits: u32) -> bool {
        let mut stack = vec![ty];
        let mut seen = FxHashSet::default();
        while let Some(ty) = stack.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.types.get(&ty) {
                Some(Ty::Number(b, _)) if *b == bits => return true,
                Some(Ty::Parts(parts)) => stack.extend(parts),
                Some(Ty::RuntimeArray(elem)) => stack.push(*elem),
                _ => {}
            }
        }
        false
    }

    /// 16-bit numbers that the host sees.
    fn variable(&mut self, operands: &[u32]) {
        let Some(&Ty::Pointer(class, pointee)) = self.types.get(&word(operands, 0)) else { return };
        let cap = match StorageClass::from_u32(class) {
            Some(StorageClass::StorageBuffer) => Cap::StorageBuffer16BitAccess,
            Some(StorageClass::Uniform) => Cap::UniformAndStorageBuffer16BitAccess,
            Some(StorageClass::PushConstant) => Cap::StoragePushConstant16,
            Some(StorageClass::Input | StorageClass::Output) => Cap::StorageInputOutput16,
            _ => return,
        };
        if self.contains(pointee, 16) {
            self.caps.insert(cap);
        }
    }

    /// Indexing of descriptors.
    fn access_chain(&mut self, operands: &[u32]) {
        let (result, base) = (word(operands, 1), word(operands, 2));
        let Some(Ty::Pointer(class, pointee)) = self.results.get(&base).and_then(|ty| self.types.get(ty)) else {
            return;
        };
        let elem = match self.types.get(pointee) {
            Some(Ty::RuntimeArray(elem)) => *elem,
            Some(Ty::Parts(parts)) if parts.len() == 1 => parts[0],
            _ => return,
        };
        let kind = match (StorageClass::from_u32(*class), self.types.get(&elem)) {
            (Some(StorageClass::Uniform), _) if self.blocks.contains(&elem) => Descriptors::UniformBuffer,
            (Some(StorageClass::StorageBuffer), _) if self.blocks.contains(&elem) => Descriptors::StorageBuffer,
            (Some(StorageClass::UniformConstant), Some(&Ty::Image { dim, storage, .. })) => {
                match (Dim::from_u32(dim), storage) {
                    (Some(Dim::DimSubpassData), _) => Descriptors::InputAttachment,
                    (Some(Dim::DimBuffer), true) => Descriptors::StorageTexel,
                    (Some(Dim::DimBuffer), false) => Descriptors::UniformTexel,
                    (_, true) => Descriptors::StorageImage,
                    (_, false) => Descriptors::SampledImage,
                }
            }
            (Some(StorageClass::UniformConstant), Some(Ty::Other)) => Descriptors::SampledImage,
            _ => return,
        };
        let Some(&(_, dynamic, nonuniform)) = INDEXING.iter().find(|(k, ..)| *k == kind) else { return };
        if self.nonuniform.contains(&result) {
            self.caps.insert(nonuniform);
        }
        let constant = operands.get(3).is_none_or(|index| self.constants.contains(index));
        if !constant {
            self.caps.extend(dynamic);
        }
    }

    fn image_access(&mut self, op: Op, operands: &[u32]) {
        let image = if op == Op::ImageWrite { word(operands, 0) } else { word(operands, 2) };
        let ty = self.results.get(&image).and_then(|ty| self.types.get(ty));
        if let Some(&Ty::Image { dim, format, .. }) = ty
            && format == ImageFormat::Unknown as u32
            && dim != Dim::DimSubpassData as u32
        {
            let read = op != Op::ImageWrite;
            self.caps.insert(if read {
                Cap::StorageImageReadWithoutFormat
            } else {
                Cap::StorageImageWriteWithoutFormat
            });
        }
    }

    fn atomic(&mut self, op: Op, operands: &[u32]) {
        let ty = if op == Op::AtomicStore { None } else { self.types.get(&word(operands, 0)) };
        if matches!(ty, Some(Ty::Number(64, false))) {
            self.caps.insert(Cap::Int64Atomics);
        }
    }
}

fn is_atomic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AtomicLoad
            | AtomicStore
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicIAdd
            | AtomicISub
            | AtomicSMin
            | AtomicUMin
            | AtomicSMax
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor
    )
}
