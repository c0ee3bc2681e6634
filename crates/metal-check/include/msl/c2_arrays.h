// MSL 2.12: array and array_ref; MSL 2.13: as_type.
#pragma once
namespace std {
// The compiler's own name for a braced list.
template<class E> class initializer_list {
  const E* __begin;
  size_t __size;
public:
  constexpr size_t size() const { return __size; }
  constexpr const E* begin() const { return __begin; }
  constexpr const E* end() const { return __begin + __size; }
};
} // namespace std
namespace metal {
using std::initializer_list;
namespace __msl {
template<class V> struct reinterpretable { static constexpr bool v = shape<V>::n != 0 && !same<typename shape<V>::e, bool>::v; };
}
template<class To, class From> METAL_FUNC To as_type(From f) {
  static_assert(__msl::reinterpretable<To>::v && __msl::reinterpretable<From>::v, "as_type: numbers and vectors of numbers only");
  static_assert(sizeof(To) == sizeof(From), "as_type: sizes differ");
  return __builtin_bit_cast(To, f);
}

template<typename T, size_t N> struct array {
  T __e[N];
  constexpr thread T& operator[](size_t i) thread { return __e[i]; }
  constexpr const thread T& operator[](size_t i) const thread { return __e[i]; }
  template<int = 0> constexpr threadgroup T& operator[](size_t i) threadgroup { return __e[i]; }
  template<int = 0> constexpr const threadgroup T& operator[](size_t i) const threadgroup { return __e[i]; }
  constexpr constant T& operator[](size_t i) constant { return __e[i]; }
  device T& operator[](size_t i) { return (device T&)__e[i]; }
  const device T& operator[](size_t i) const { return (const device T&)__e[i]; }
  constexpr size_t size() const { return N; }
  constexpr bool empty() const { return N == 0; }
};
template<typename T> struct array_ref { constant T* __p; size_t __n; constexpr size_t size() const { return __n; } constant T& operator[](size_t i) const { return __p[i]; } array_ref() = default; template<size_t N> array_ref(constant array<T,N>& a) : __p(a.__e), __n(N) {} };
}
