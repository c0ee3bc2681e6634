// Enumerants of SPIR-V, and pointers to groupshared memory for inline SPIR-V.
#pragma once

namespace vk {
enum CooperativeMatrixUse {
    CooperativeMatrixUseMatrixAKHR = 0,
    CooperativeMatrixUseMatrixBKHR = 1,
    CooperativeMatrixUseMatrixAccumulatorKHR = 2,
};

enum CooperativeMatrixLayout {
    CooperativeMatrixLayoutRowMajorKHR = 0,
    CooperativeMatrixLayoutColumnMajorKHR = 1,
    CooperativeMatrixLayoutRowBlockedInterleavedARM = 4202,
    CooperativeMatrixLayoutColumnBlockedInterleavedARM = 4203,
};

enum CooperativeMatrixOperandsMask {
    CooperativeMatrixOperandsMaskNone = 0,
    CooperativeMatrixOperandsMatrixASignedComponentsKHRMask = 1,
    CooperativeMatrixOperandsMatrixBSignedComponentsKHRMask = 2,
    CooperativeMatrixOperandsMatrixCSignedComponentsKHRMask = 4,
    CooperativeMatrixOperandsMatrixResultSignedComponentsKHRMask = 8,
    CooperativeMatrixOperandsSaturatingAccumulationKHRMask = 16,
};

enum MemoryAccessMask {
    MemoryAccessMaskNone = 0,
    MemoryAccessVolatileMask = 1,
    MemoryAccessAlignedMask = 2,
    MemoryAccessNontemporalMask = 4,
    MemoryAccessMakePointerAvailableMask = 8,
    MemoryAccessMakePointerVisibleMask = 16,
    MemoryAccessNonPrivatePointerMask = 32,
};

enum Scope {
    ScopeCrossDevice = 0,
    ScopeDevice = 1,
    ScopeWorkgroup = 2,
    ScopeSubgroup = 3,
    ScopeInvocation = 4,
    ScopeQueueFamily = 5,
    ScopeShaderCallKHR = 6,
};

enum StorageClass {
    StorageClassWorkgroup = 4,
};

// A pointer to a T of groupshared memory. It is bound once.
template <class T>
using WorkgroupSpirvPointer =
    const vk::SpirvOpaqueType<32, vk::Literal<vk::integral_constant<uint, StorageClassWorkgroup> >, T>;

// The address of a groupshared variable or a part of one (OpCopyObject).
template <class T>
[[vk::ext_instruction(83)]] WorkgroupSpirvPointer<T> GetGroupSharedAddress([[vk::ext_reference]] T variable);
} // namespace vk
