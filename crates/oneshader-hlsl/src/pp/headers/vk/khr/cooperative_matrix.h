// Cooperative matrices (HLSL proposal 0021, SPV_KHR_cooperative_matrix).
#pragma once

#if __SPIRV_MAJOR_VERSION__ == 1 && __SPIRV_MINOR_VERSION__ < 6
#error "cooperative matrices need SPIR-V 1.6, which Vulkan 1.3 takes"
#endif

#include "vk/opcode_selector.h"
#include "vk/spirv.h"

namespace vk {
namespace instruction {
// The capabilities are CooperativeMatrixKHR and VulkanMemoryModel.
#define VK_MATRIX(OPCODE) \
    [[vk::ext_extension("SPV_KHR_cooperative_matrix")]] [[vk::ext_capability(6022)]] [[vk::ext_capability(5345)]] \
    [[vk::ext_instruction(OPCODE)]]

template <class M, class C> VK_MATRIX(80) M CompositeConstruct(C value);
template <class M, class C> VK_MATRIX(143) M MatrixTimesScalar(M matrix, C factor);
template <class M, class A, class B>
VK_MATRIX(4459) M CooperativeMatrixMulAdd(A a, B b, M c, [[vk::ext_literal]] int operands);

template <class M, class P>
VK_MATRIX(4457) M CooperativeMatrixLoad([[vk::ext_reference]] P from, uint layout, uint stride, [[vk::ext_literal]] int memory);
template <class M, class P>
VK_MATRIX(4457) M CooperativeMatrixLoad([[vk::ext_reference]] P from, uint layout, uint stride, [[vk::ext_literal]] int memory,
                                        uint scope);
template <class M, class T>
VK_MATRIX(4457) M CooperativeMatrixLoadShared(WorkgroupSpirvPointer<T> from, uint layout, uint stride,
                                              [[vk::ext_literal]] int memory, uint scope);

template <class M, class P>
VK_MATRIX(4458) void CooperativeMatrixStore([[vk::ext_reference]] P to, M matrix, uint layout, uint stride,
                                            [[vk::ext_literal]] int memory);
template <class M, class P>
VK_MATRIX(4458) void CooperativeMatrixStore([[vk::ext_reference]] P to, M matrix, uint layout, uint stride,
                                            [[vk::ext_literal]] int memory, uint scope);
template <class M, class T>
VK_MATRIX(4458) void CooperativeMatrixStoreShared(WorkgroupSpirvPointer<T> to, M matrix, uint layout, uint stride,
                                                  [[vk::ext_literal]] int memory, uint scope);

// One component of a matrix in a variable: storage class Function.
template <class C>
using Component = const vk::SpirvOpaqueType<32, vk::Literal<vk::integral_constant<uint, 7> >, C>;
template <class C, class M> [[vk::ext_instruction(65)]] Component<C> AccessChain([[vk::ext_reference]] M matrix, uint at);
template <class C> [[vk::ext_instruction(61)]] C Load(Component<C> from);
template <class C> [[vk::ext_instruction(62)]] void Store(Component<C> to, C value);
#undef VK_MATRIX
} // namespace instruction

namespace khr {
template <class ComponentType, Scope scope, uint rows, uint columns, CooperativeMatrixUse use>
struct CooperativeMatrix {
    using SpirvMatrixType =
        vk::SpirvOpaqueType<4456, ComponentType, vk::integral_constant<uint, scope>, vk::integral_constant<uint, rows>,
                            vk::integral_constant<uint, columns>, vk::integral_constant<uint, use> >;

    SpirvMatrixType _matrix;

    static const bool hasSignedIntegerComponentType =
        ComponentType(1) / ComponentType(2) == ComponentType(0) && ComponentType(0) - ComponentType(1) < ComponentType(0);

    // Of the scope's invocations, how many components this one holds.
    static uint GetLength() { return vk::CooperativeMatrixLength<SpirvMatrixType>(); }

    static CooperativeMatrix Splat(ComponentType value) {
        return from(instruction::CompositeConstruct<SpirvMatrixType>(value));
    }

    ComponentType Get(uint at) { return instruction::Load<ComponentType>(instruction::AccessChain<ComponentType>(_matrix, at)); }

    void Set(ComponentType value, uint at) {
        instruction::Store<ComponentType>(instruction::AccessChain<ComponentType>(_matrix, at), value);
    }

    template <class To> CooperativeMatrix<To, scope, rows, columns, use> cast() {
        using Target = CooperativeMatrix<To, scope, rows, columns, use>;
        Target result;
        result._matrix = util::ConversionSelector<ComponentType, To>::template Convert<typename Target::SpirvMatrixType>(_matrix);
        return result;
    }

    CooperativeMatrix negate() { return from(util::ArithmeticSelector<ComponentType>::Negate(_matrix)); }
    CooperativeMatrix operator+(CooperativeMatrix other) {
        return from(util::ArithmeticSelector<ComponentType>::Add(_matrix, other._matrix));
    }
    CooperativeMatrix operator-(CooperativeMatrix other) {
        return from(util::ArithmeticSelector<ComponentType>::Sub(_matrix, other._matrix));
    }
    CooperativeMatrix operator*(CooperativeMatrix other) {
        return from(util::ArithmeticSelector<ComponentType>::Mul(_matrix, other._matrix));
    }
    CooperativeMatrix operator/(CooperativeMatrix other) {
        return from(util::ArithmeticSelector<ComponentType>::Div(_matrix, other._matrix));
    }
    CooperativeMatrix operator*(ComponentType factor) { return from(instruction::MatrixTimesScalar(_matrix, factor)); }

    // Groupshared memory is always made visible and available to the workgroup.
    template <uint memory, CooperativeMatrixLayout layout, class T>
    static CooperativeMatrix Load(WorkgroupSpirvPointer<T> data, uint stride) {
        return from(instruction::CooperativeMatrixLoadShared<SpirvMatrixType, T>(
            data, layout, stride, memory | MemoryAccessNonPrivatePointerMask | MemoryAccessMakePointerVisibleMask,
            ScopeWorkgroup));
    }
    template <CooperativeMatrixLayout layout, class T>
    static CooperativeMatrix Load(WorkgroupSpirvPointer<T> data, uint stride) {
        return Load<MemoryAccessMaskNone, layout>(data, stride);
    }
    template <uint memory, CooperativeMatrixLayout layout, class T>
    void Store(WorkgroupSpirvPointer<T> data, uint stride) {
        instruction::CooperativeMatrixStoreShared<SpirvMatrixType, T>(
            data, _matrix, layout, stride,
            memory | MemoryAccessNonPrivatePointerMask | MemoryAccessMakePointerAvailableMask, ScopeWorkgroup);
    }
    template <CooperativeMatrixLayout layout, class T>
    void Store(WorkgroupSpirvPointer<T> data, uint stride) {
        Store<MemoryAccessMaskNone, layout>(data, stride);
    }

#define VK_LOADS(BUFFER) \
    template <uint memory, CooperativeMatrixLayout layout, class T> \
    static CooperativeMatrix Load(BUFFER<T> data, uint at, uint stride) { \
        return from(instruction::CooperativeMatrixLoad<SpirvMatrixType>(data[at], layout, stride, memory)); \
    } \
    template <CooperativeMatrixLayout layout, class T> \
    static CooperativeMatrix Load(BUFFER<T> data, uint at, uint stride) { \
        return Load<MemoryAccessMaskNone, layout>(data, at, stride); \
    }
    VK_LOADS(RWStructuredBuffer)
    VK_LOADS(StructuredBuffer)
#undef VK_LOADS

    template <uint memory, CooperativeMatrixLayout layout, class T>
    void Store(RWStructuredBuffer<T> data, uint at, uint stride) {
        instruction::CooperativeMatrixStore(data[at], _matrix, layout, stride, memory);
    }
    template <CooperativeMatrixLayout layout, class T>
    void Store(RWStructuredBuffer<T> data, uint at, uint stride) {
        Store<MemoryAccessMaskNone, layout>(data, at, stride);
    }

    template <uint memory, CooperativeMatrixLayout layout, class T>
    static CooperativeMatrix CoherentLoad(globallycoherent RWStructuredBuffer<T> data, uint at, uint stride) {
        return from(instruction::CooperativeMatrixLoad<SpirvMatrixType>(
            data[at], layout, stride, memory | MemoryAccessNonPrivatePointerMask | MemoryAccessMakePointerVisibleMask,
            ScopeQueueFamily));
    }
    template <CooperativeMatrixLayout layout, class T>
    static CooperativeMatrix CoherentLoad(globallycoherent RWStructuredBuffer<T> data, uint at, uint stride) {
        return CoherentLoad<MemoryAccessMaskNone, layout>(data, at, stride);
    }
    template <uint memory, CooperativeMatrixLayout layout, class T>
    void CoherentStore(globallycoherent RWStructuredBuffer<T> data, uint at, uint stride) {
        instruction::CooperativeMatrixStore(
            data[at], _matrix, layout, stride,
            memory | MemoryAccessNonPrivatePointerMask | MemoryAccessMakePointerAvailableMask, ScopeQueueFamily);
    }
    template <CooperativeMatrixLayout layout, class T>
    void CoherentStore(globallycoherent RWStructuredBuffer<T> data, uint at, uint stride) {
        CoherentStore<MemoryAccessMaskNone, layout>(data, at, stride);
    }

    static CooperativeMatrix from(SpirvMatrixType matrix) {
        CooperativeMatrix result;
        result._matrix = matrix;
        return result;
    }
};

template <class ComponentType, Scope scope, uint rows, uint columns>
using CooperativeMatrixA = CooperativeMatrix<ComponentType, scope, rows, columns, CooperativeMatrixUseMatrixAKHR>;

template <class ComponentType, Scope scope, uint rows, uint columns>
using CooperativeMatrixB = CooperativeMatrix<ComponentType, scope, rows, columns, CooperativeMatrixUseMatrixBKHR>;

template <class ComponentType, Scope scope, uint rows, uint columns>
using CooperativeMatrixAccumulator =
    CooperativeMatrix<ComponentType, scope, rows, columns, CooperativeMatrixUseMatrixAccumulatorKHR>;

// a * b + c. The operands say which components are signed: all, as they are of one type.
#define VK_MULTIPLY_ADD(NAME, OPERANDS) \
    template <class ComponentType, Scope scope, uint rows, uint columns, uint K> \
    CooperativeMatrixAccumulator<ComponentType, scope, rows, columns> NAME( \
        CooperativeMatrixA<ComponentType, scope, rows, K> a, CooperativeMatrixB<ComponentType, scope, K, columns> b, \
        CooperativeMatrixAccumulator<ComponentType, scope, rows, columns> c) { \
        using Result = CooperativeMatrixAccumulator<ComponentType, scope, rows, columns>; \
        const int operands = (OPERANDS) | (Result::hasSignedIntegerComponentType ? 15 : 0); \
        Result result; \
        result._matrix = instruction::CooperativeMatrixMulAdd<typename Result::SpirvMatrixType>( \
            a._matrix, b._matrix, c._matrix, operands); \
        return result; \
    }
VK_MULTIPLY_ADD(cooperativeMatrixMultiplyAdd, 0)
VK_MULTIPLY_ADD(cooperativeMatrixSaturatingMultiplyAdd, CooperativeMatrixOperandsSaturatingAccumulationKHRMask)
#undef VK_MULTIPLY_ADD
} // namespace khr
} // namespace vk
