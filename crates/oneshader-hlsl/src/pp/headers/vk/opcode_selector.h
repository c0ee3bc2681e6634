// The SPIR-V instruction that does arithmetic or converts between two types of numbers, chosen by the types: for code that is
// generic over the component of a number, a vector or a cooperative matrix.
//
//   vk::util::ArithmeticSelector<C>::Add(a, b)     also Negate, Sub, Mul, Div; a and b are of one type with components C
//   vk::util::ConversionSelector<S, D>::Convert<T>(a)    a has components S, T is the same with components D
#pragma once

namespace vk {
namespace instruction {
#define VK_UNARY(NAME, OPCODE) \
    template <class R, class A> [[vk::ext_instruction(OPCODE)]] R NAME(A a);
#define VK_BINARY(NAME, OPCODE) \
    template <class R> [[vk::ext_instruction(OPCODE)]] R NAME(R a, R b);
VK_UNARY(CopyObject, 83)
VK_UNARY(ConvertFToU, 109)
VK_UNARY(ConvertFToS, 110)
VK_UNARY(ConvertSToF, 111)
VK_UNARY(ConvertUToF, 112)
VK_UNARY(UConvert, 113)
VK_UNARY(SConvert, 114)
VK_UNARY(FConvert, 115)
VK_UNARY(Bitcast, 124)
VK_UNARY(SNegate, 126)
VK_UNARY(FNegate, 127)
VK_BINARY(IAdd, 128)
VK_BINARY(FAdd, 129)
VK_BINARY(ISub, 130)
VK_BINARY(FSub, 131)
VK_BINARY(IMul, 132)
VK_BINARY(FMul, 133)
VK_BINARY(UDiv, 134)
VK_BINARY(SDiv, 135)
VK_BINARY(FDiv, 136)
#undef VK_UNARY
#undef VK_BINARY
} // namespace instruction

namespace util {
template <class Component> struct ArithmeticSelector;

#define VK_ARITHMETIC(COMPONENT, NEGATE, ADD, SUB, MUL, DIV) \
    template <> struct ArithmeticSelector<COMPONENT> { \
        template <class T> static T Negate(T a) { return instruction::NEGATE<T>(a); } \
        template <class T> static T Add(T a, T b) { return instruction::ADD(a, b); } \
        template <class T> static T Sub(T a, T b) { return instruction::SUB(a, b); } \
        template <class T> static T Mul(T a, T b) { return instruction::MUL(a, b); } \
        template <class T> static T Div(T a, T b) { return instruction::DIV(a, b); } \
    };
VK_ARITHMETIC(half, FNegate, FAdd, FSub, FMul, FDiv)
VK_ARITHMETIC(float, FNegate, FAdd, FSub, FMul, FDiv)
VK_ARITHMETIC(double, FNegate, FAdd, FSub, FMul, FDiv)
VK_ARITHMETIC(int32_t, SNegate, IAdd, ISub, IMul, SDiv)
VK_ARITHMETIC(uint32_t, SNegate, IAdd, ISub, IMul, UDiv)
VK_ARITHMETIC(int64_t, SNegate, IAdd, ISub, IMul, SDiv)
VK_ARITHMETIC(uint64_t, SNegate, IAdd, ISub, IMul, UDiv)
#if __HLSL_ENABLE_16_BIT
VK_ARITHMETIC(int16_t, SNegate, IAdd, ISub, IMul, SDiv)
VK_ARITHMETIC(uint16_t, SNegate, IAdd, ISub, IMul, UDiv)
#endif
#undef VK_ARITHMETIC

template <class Source, class Target> struct ConversionSelector;

#define VK_CONVERSION(SOURCE, TARGET, INSTRUCTION) \
    template <> struct ConversionSelector<SOURCE, TARGET> { \
        template <class T, class S> static T Convert(S a) { return instruction::INSTRUCTION<T>(a); } \
    };

// One row for each source: the instructions that give uint32_t, int32_t, uint64_t, int64_t, half, float, double.
#define VK_CONVERSIONS(SOURCE, U32, I32, U64, I64, F16, F32, F64) \
    VK_CONVERSION(SOURCE, uint32_t, U32) \
    VK_CONVERSION(SOURCE, int32_t, I32) \
    VK_CONVERSION(SOURCE, uint64_t, U64) \
    VK_CONVERSION(SOURCE, int64_t, I64) \
    VK_CONVERSION(SOURCE, half, F16) \
    VK_CONVERSION(SOURCE, float, F32) \
    VK_CONVERSION(SOURCE, double, F64)

// Without 16-bit types `half` is a float.
#if __HLSL_ENABLE_16_BIT
#define VK_HALF FConvert
#else
#define VK_HALF CopyObject
#endif
VK_CONVERSIONS(uint32_t, CopyObject, Bitcast, UConvert, SConvert, ConvertUToF, ConvertUToF, ConvertUToF)
VK_CONVERSIONS(int32_t, Bitcast, CopyObject, UConvert, SConvert, ConvertSToF, ConvertSToF, ConvertSToF)
VK_CONVERSIONS(uint64_t, UConvert, SConvert, CopyObject, Bitcast, ConvertUToF, ConvertUToF, ConvertUToF)
VK_CONVERSIONS(int64_t, UConvert, SConvert, Bitcast, CopyObject, ConvertSToF, ConvertSToF, ConvertSToF)
VK_CONVERSIONS(half, ConvertFToU, ConvertFToS, ConvertFToU, ConvertFToS, CopyObject, VK_HALF, FConvert)
VK_CONVERSIONS(float, ConvertFToU, ConvertFToS, ConvertFToU, ConvertFToS, VK_HALF, CopyObject, FConvert)
VK_CONVERSIONS(double, ConvertFToU, ConvertFToS, ConvertFToU, ConvertFToS, FConvert, FConvert, CopyObject)
#undef VK_HALF

#if __HLSL_ENABLE_16_BIT
VK_CONVERSIONS(uint16_t, UConvert, SConvert, UConvert, SConvert, ConvertUToF, ConvertUToF, ConvertUToF)
VK_CONVERSIONS(int16_t, UConvert, SConvert, UConvert, SConvert, ConvertSToF, ConvertSToF, ConvertSToF)
VK_CONVERSION(uint16_t, uint16_t, CopyObject)
VK_CONVERSION(uint16_t, int16_t, Bitcast)
VK_CONVERSION(int16_t, uint16_t, Bitcast)
VK_CONVERSION(int16_t, int16_t, CopyObject)
#define VK_CONVERSIONS_TO_16(SOURCE, U16, I16) \
    VK_CONVERSION(SOURCE, uint16_t, U16) \
    VK_CONVERSION(SOURCE, int16_t, I16)
VK_CONVERSIONS_TO_16(uint32_t, UConvert, SConvert)
VK_CONVERSIONS_TO_16(int32_t, UConvert, SConvert)
VK_CONVERSIONS_TO_16(uint64_t, UConvert, SConvert)
VK_CONVERSIONS_TO_16(int64_t, UConvert, SConvert)
VK_CONVERSIONS_TO_16(half, ConvertFToU, ConvertFToS)
VK_CONVERSIONS_TO_16(float, ConvertFToU, ConvertFToS)
VK_CONVERSIONS_TO_16(double, ConvertFToU, ConvertFToS)
#undef VK_CONVERSIONS_TO_16
#endif
#undef VK_CONVERSIONS
#undef VK_CONVERSION
} // namespace util
} // namespace vk
