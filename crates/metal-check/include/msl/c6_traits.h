// MSL 6.2: type traits; MSL 6.4 - 6.6: limits and constants.
#pragma once
namespace metal {
template<class T> struct numeric_limits;
#define L_(T, lo, hi, lowest_) template<> struct numeric_limits<T> { static constexpr T min() { return lo; } static constexpr T max() { return hi; } static constexpr T lowest() { return lowest_; } static constexpr T infinity() { return T(__builtin_inff()); } static constexpr T quiet_NaN() { return T(__builtin_nanf("")); } static constexpr T epsilon() { return T(sizeof(T) == 4 ? 0x1p-23f : 0x1p-10f); } };
L_(float, 0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f) L_(half, 0x1p-14h, 65504.0h, -65504.0h)
#undef L_
#define L_(T, lo, hi) template<> struct numeric_limits<T> { static constexpr T min() { return lo; } static constexpr T max() { return hi; } static constexpr T lowest() { return lo; } };
L_(bool, false, true) L_(char, -128, 127) L_(uchar, 0, 255) L_(short, -32768, 32767) L_(ushort, 0, 65535) L_(int, -2147483647-1, 2147483647) L_(uint, 0, 0xffffffffu) L_(long, -0x7fffffffffffffffl-1, 0x7fffffffffffffffl) L_(ulong, 0, 0xfffffffffffffffful)
#undef L_
template<class T, int N> struct numeric_limits<vec<T,N>> { typedef numeric_limits<T> L; static constexpr vec<T,N> min() { return L::min(); } static constexpr vec<T,N> max() { return L::max(); } static constexpr vec<T,N> lowest() { return L::lowest(); } };
template<bool B, class T = void> struct enable_if {}; template<class T> struct enable_if<true, T> { typedef T type; };
template<bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template<class T, T v> struct integral_constant { static constexpr T value = v; typedef T value_type; constexpr operator T() const { return v; } };
typedef integral_constant<bool, true> true_type; typedef integral_constant<bool, false> false_type;
template<class A, class B> struct is_same : integral_constant<bool, __is_same(A, B)> {}; template<class A, class B> inline constexpr bool is_same_v = __is_same(A, B);
template<class T> struct remove_reference { typedef T type; }; template<class T> struct remove_reference<T&> { typedef T type; }; template<class T> struct remove_reference<T&&> { typedef T type; };
template<class T> using remove_reference_t = typename remove_reference<T>::type;
template<class T> struct remove_cv { typedef __remove_cv(T) type; }; template<class T> using remove_cv_t = typename remove_cv<T>::type;
template<bool B, class T, class F> struct conditional { typedef T type; }; template<class T, class F> struct conditional<false, T, F> { typedef F type; };
template<bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template<class T> struct is_integral : integral_constant<bool, __msl::is_int<typename __msl::shape<T>::e>::v> {}; template<class T> struct is_floating_point : integral_constant<bool, __msl::is_flt<typename __msl::shape<T>::e>::v> {};
template<class T> struct is_arithmetic : integral_constant<bool, __msl::is_int<T>::v || __msl::is_flt<T>::v> {};
template<class T> inline constexpr bool is_integral_v = __msl::is_int<T>::v; template<class T> inline constexpr bool is_floating_point_v = __msl::is_flt<T>::v;
template<class T> struct is_scalar : integral_constant<bool, __is_scalar(T)> {}; template<class T> struct is_vector : integral_constant<bool, __msl::shape<T>::vec> {};
template<class T> struct make_unsigned { typedef __make_unsigned(T) type; }; template<class T> struct make_signed { typedef __make_signed(T) type; };
template<class T> T declval() noexcept;
template<class T> struct is_signed : integral_constant<bool, is_arithmetic<T>::value && (T(-1) < T(0))> {};
template<class T> struct is_unsigned : integral_constant<bool, is_arithmetic<T>::value && !(T(-1) < T(0))> {};
#define TRAIT(name, builtin) \
  template<class T> struct name : integral_constant<bool, builtin(T)> {}; \
  template<class T> inline constexpr bool name##_v = builtin(T);
TRAIT(is_enum, __is_enum) TRAIT(is_class, __is_class) TRAIT(is_union, __is_union) TRAIT(is_pointer, __is_pointer)
TRAIT(is_array, __is_array) TRAIT(is_const, __is_const) TRAIT(is_volatile, __is_volatile) TRAIT(is_void, __is_void)
TRAIT(is_reference, __is_reference) TRAIT(is_trivial, __is_trivial) TRAIT(is_empty, __is_empty)
TRAIT(is_standard_layout, __is_standard_layout)
#undef TRAIT
#define TRAIT(name, builtin) \
  template<class A, class B> struct name : integral_constant<bool, builtin(A, B)> {}; \
  template<class A, class B> inline constexpr bool name##_v = builtin(A, B);
TRAIT(is_convertible, __is_convertible) TRAIT(is_base_of, __is_base_of) TRAIT(is_assignable, __is_assignable)
#undef TRAIT
template<class T, class... A> struct is_constructible : integral_constant<bool, __is_constructible(T, A...)> {};
template<class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template<class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template<class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template<class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template<class T> inline constexpr bool is_scalar_v = __is_scalar(T);
template<class T> inline constexpr bool is_vector_v = __msl::shape<T>::vec;
template<class...> using void_t = void;
template<class T> struct remove_const { typedef T type; };
template<class T> struct remove_const<const T> { typedef T type; };
template<class T> using remove_const_t = typename remove_const<T>::type;
template<class T> struct remove_pointer { typedef __remove_pointer(T) type; };
template<class T> using remove_pointer_t = typename remove_pointer<T>::type;
template<class T> struct decay { typedef __decay(T) type; };
template<class T> using decay_t = typename decay<T>::type;
template<class T> using make_unsigned_t = typename make_unsigned<T>::type;
template<class T> using make_signed_t = typename make_signed<T>::type;
template<class T> using underlying_type_t = __underlying_type(T);
template<class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
}
using metal::as_type;
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VALH half(__builtin_inff())
#define MAXFLOAT 0x1.fffffep127f
#define MAXHALF 65504.0h
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define HALF_MAX 65504.0h
#define HALF_MIN 0x1p-14h
#define INT_MAX 2147483647
#define INT_MIN (-2147483647-1)
#define UINT_MAX 0xffffffffu
#define CHAR_BIT 8
#define M_PI_F 3.14159265358979f
#define M_PI_2_F 1.57079632679490f
#define M_PI_4_F 0.785398163397448f
#define M_1_PI_F 0.318309886183791f
#define M_2_PI_F 0.636619772367581f
#define M_E_F 2.71828182845905f
#define M_LOG2E_F 1.44269504088896f
#define M_LN2_F 0.693147180559945f
#define M_SQRT2_F 1.41421356237310f
#define M_SQRT1_2_F 0.707106781186548f
#define M_PI_H 3.14159265358979h
#define M_LN10_F 2.30258509299405f
#define M_LOG10E_F 0.434294481903252f
#define M_2_SQRTPI_F 1.12837916709551f
#define OF_FLOAT(name, type) type(M_##name##_F)
#define M_PI_2_H OF_FLOAT(PI_2, half)
#define M_PI_4_H OF_FLOAT(PI_4, half)
#define M_1_PI_H OF_FLOAT(1_PI, half)
#define M_2_PI_H OF_FLOAT(2_PI, half)
#define M_2_SQRTPI_H OF_FLOAT(2_SQRTPI, half)
#define M_E_H OF_FLOAT(E, half)
#define M_LOG2E_H OF_FLOAT(LOG2E, half)
#define M_LOG10E_H OF_FLOAT(LOG10E, half)
#define M_LN2_H OF_FLOAT(LN2, half)
#define M_LN10_H OF_FLOAT(LN10, half)
#define M_SQRT2_H OF_FLOAT(SQRT2, half)
#define M_SQRT1_2_H OF_FLOAT(SQRT1_2, half)
#define FLT_DIG 6
#define FLT_DECIMAL_DIG 9
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MIN
#define HALF_EPSILON 0x1p-10h
#define HALF_DIG 2
#define HALF_DECIMAL_DIG 5
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define LONG_MAX 0x7fffffffffffffffl
#define LONG_MIN (-0x7fffffffffffffffl - 1)
#define ULONG_MAX 0xfffffffffffffffful

// Names that Metal keeps for itself, outside of any namespace.
#define KEPT(name) typedef struct __msl_kept_##name name;
KEPT(complex) KEPT(imaginary) KEPT(llong) KEPT(ullong) KEPT(quad)
KEPT(float8) KEPT(float16) KEPT(half8) KEPT(half16) KEPT(int8) KEPT(int16) KEPT(uint8) KEPT(uint16)
KEPT(double2) KEPT(double3) KEPT(double4)
#undef KEPT
