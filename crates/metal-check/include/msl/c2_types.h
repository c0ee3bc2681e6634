// MSL 2.1: scalar types in namespace metal, and what the class templates below need to know about types.
#pragma once
namespace metal {
using ::uchar; using ::ushort; using ::uint; using ::ulong; using ::size_t; using ::ptrdiff_t;
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;
using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;
#if __METAL_VERSION__ >= 310
using ::bfloat;
#endif
template<typename T, int N> struct vec;
template<typename T, int N> struct packed_vec;
template<typename T, int C, int R> struct matrix;
struct __raw {};

namespace __msl {
template<bool B, class T = void> struct enable_if {};
template<class T> struct enable_if<true, T> { typedef T type; };
template<bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template<class A, class B> struct same { static constexpr bool v = __is_same(A, B); };
template<bool... B> struct all_true { static constexpr bool v = (B && ...); };
template<class T> struct identity { typedef T type; };
template<class T> T declval() noexcept;

template<class T> struct is_int { static constexpr bool v = __is_integral(T); };
template<class T> struct is_flt { static constexpr bool v = __is_floating_point(T); };
template<class T> struct is_arith { static constexpr bool v = is_int<T>::v || is_flt<T>::v || __is_enum(T); };
template<class T> struct is_int32 { static constexpr bool v = same<T, int>::v || same<T, uint>::v; };
template<class T> struct is_ulong { static constexpr bool v = same<T, ulong>::v; };

// Whether A can give S components of a vec<T,...> (MSL 2.2.2): scalars convert, vectors must have the element type.
template<class A, class T, int S> struct ctor_arg { static constexpr bool v = S == 1 && is_arith<A>::v; };
template<class T, int S> struct ctor_arg<vec<T, S>, T, S> { static constexpr bool v = true; };
template<class T, int S> struct ctor_arg<packed_vec<T, S>, T, S> { static constexpr bool v = true; };

// Shape of an operand: n components (0 for what is no operand) of type e.
template<class X> struct shape { static constexpr int n = is_arith<X>::v ? 1 : 0; typedef X e; static constexpr bool vec = false; };
template<class T, int N> struct shape<metal::vec<T, N>> { static constexpr int n = N; typedef T e; static constexpr bool vec = true; };
template<class T, int N> struct shape<packed_vec<T, N>> { static constexpr int n = N; typedef T e; static constexpr bool vec = true; };

// May a scalar S meet a vector of T in an operator? (MSL 3.1: it is converted and replicated)
template<class T, class S> struct splat_ok {
  static constexpr bool v = same<T, S>::v || (same<T, bool>::v ? false : is_flt<T>::v ? is_arith<S>::v : is_int<S>::v || __is_enum(S));
};

// Which element types an operator takes (MSL 3.1).
enum { k_arith, k_mod, k_bit, k_shift, k_cmp, k_log };
template<class T, int K> struct kind_ok {
  static constexpr bool v = K == k_arith                ? !same<T, bool>::v
                          : K == k_mod || K == k_shift  ? is_int<T>::v && !same<T, bool>::v
                          : K == k_bit                  ? is_int<T>::v
                          : K == k_log                  ? same<T, bool>::v
                                                        : true;
};

// bin_t<A,B,K>: the vector that `a op b` computes in; no type if the operator does not exist.
template<bool OK, class T, int N> struct bin_r {};
template<class T, int N> struct bin_r<true, T, N> { typedef vec<T, N> type; };
template<class A, class B, int K, bool VA = shape<A>::vec, bool VB = shape<B>::vec> struct bin {};
template<class A, class B, int K> struct bin<A, B, K, true, true>
    : bin_r<shape<A>::n == shape<B>::n && kind_ok<typename shape<A>::e, K>::v &&
                (same<typename shape<A>::e, typename shape<B>::e>::v || (K == k_shift && is_int<typename shape<B>::e>::v)),
            typename shape<A>::e, shape<A>::n> {};
template<class A, class B, int K> struct bin<A, B, K, true, false>
    : bin_r<shape<B>::n == 1 && kind_ok<typename shape<A>::e, K>::v && splat_ok<typename shape<A>::e, B>::v, typename shape<A>::e, shape<A>::n> {};
template<class A, class B, int K> struct bin<A, B, K, false, true>
    : bin_r<shape<A>::n == 1 && kind_ok<typename shape<B>::e, K>::v && splat_ok<typename shape<B>::e, A>::v, typename shape<B>::e, shape<B>::n> {};
template<class A, class B, int K> using bin_t = typename bin<A, B, K>::type;

// Result of a compound assignment to L that computes in X: L& if they have the same shape.
template<class L, class X> struct lv {};
template<class T, int N> struct lv<vec<T, N>, vec<T, N>> { typedef vec<T, N>& type; };
template<class T, int N> struct lv<packed_vec<T, N>, vec<T, N>> { typedef packed_vec<T, N>& type; };
template<class L, class X> using lv_t = typename lv<L, X>::type;

// A function constant's value and whether the host gave one (MSL 5.8.1); the executor specialises fcv.
template<auto n> struct fcv { static constexpr bool defined = false; static constexpr float v = 0; };
template<auto n> struct fc_value {
  template<class T, class = enable_if_t<is_arith<T>::v>> constexpr operator T() const { return T(fcv<n>::v); }
  template<class T, int N> constexpr operator vec<T, N>() const { return vec<T, N>(T(fcv<n>::v)); }
};
template<auto n> struct fc { static constexpr fc_value<n> get() { return {}; } };
} // namespace __msl

// The operands of ?:, by value (see src/rewrite.rs).
template<class T> METAL_FUNC constexpr T __msl_rv(T x) { return x; }
template<class T, int N> METAL_FUNC constexpr vec<T, N> __msl_rv(packed_vec<T, N> x) { return x; }
} // namespace metal
