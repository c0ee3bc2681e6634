// MSL 2.3, 3.2: matrices of C columns with R rows, and their operators.
#pragma once
namespace metal {
template<typename T, int C, int R> struct matrix {
  typedef vec<T,R> col; col columns[C];
  matrix() = default;
  template<class S, class = __msl::enable_if_t<__msl::is_arith<S>::v>> constexpr explicit matrix(S s) : columns{} { for (int i = 0; i < C && i < R; ++i) columns[i].__d[i] = T(s); }
  template<class... A, __msl::enable_if_t<sizeof...(A) == C && __msl::all_true<__msl::ctor_arg<A,T,R>::v...>::v, int> = 0>
  constexpr matrix(A... a) : columns{col(a)...} {}
  template<class... A, __msl::enable_if_t<sizeof...(A) == C*R && __msl::all_true<__msl::is_arith<A>::v...>::v, int> = 0>
  constexpr matrix(A... a) : columns{} { T t[C*R] = {T(a)...}; for (int i = 0; i < C*R; ++i) columns[i / R].__d[i % R] = t[i]; }
  template<class U, class = __msl::enable_if_t<!__msl::same<U,T>::v>> constexpr explicit matrix(matrix<U,C,R> o) : columns{} { for (int i = 0; i < C; ++i) columns[i] = col(o.columns[i]); }
  constexpr thread col& operator[](int i) thread { return columns[i]; }
  constexpr const thread col& operator[](int i) const thread { return columns[i]; }
  template<int = 0> constexpr threadgroup col& operator[](int i) threadgroup { return columns[i]; }
  template<int = 0> constexpr const threadgroup col& operator[](int i) const threadgroup { return columns[i]; }
  constexpr constant col& operator[](int i) constant { return columns[i]; }
  device col& operator[](int i) { return (device col&)columns[i]; }
  const device col& operator[](int i) const { return (const device col&)columns[i]; }
  template<class B> constexpr matrix& operator*=(B b) { *this = *this * b; return *this; }
  constexpr matrix& operator+=(matrix b) { *this = *this + b; return *this; }
  constexpr matrix& operator-=(matrix b) { *this = *this - b; return *this; }
};
#define M_ template<typename T, int C, int R> METAL_FUNC constexpr
M_ matrix<T,C,R> operator+(matrix<T,C,R> a, matrix<T,C,R> b) { for (int i = 0; i < C; ++i) a.columns[i] = a.columns[i] + b.columns[i]; return a; }
M_ matrix<T,C,R> operator-(matrix<T,C,R> a, matrix<T,C,R> b) { for (int i = 0; i < C; ++i) a.columns[i] = a.columns[i] - b.columns[i]; return a; }
M_ matrix<T,C,R> operator-(matrix<T,C,R> a) { for (int i = 0; i < C; ++i) a.columns[i] = -a.columns[i]; return a; }
M_ vec<T,R> operator*(matrix<T,C,R> m, vec<T,C> v) { vec<T,R> r = vec<T,R>(T(0)); for (int i = 0; i < C; ++i) r = r + m.columns[i] * v.__d[i]; return r; }
M_ vec<T,C> operator*(vec<T,R> v, matrix<T,C,R> m) { vec<T,C> r = {}; for (int i = 0; i < C; ++i) { T s = T(0); for (int j = 0; j < R; ++j) s = T(s + v.__d[j] * m.columns[i].__d[j]); r.__d[i] = s; } return r; }
template<typename T, int C, int R, int K> METAL_FUNC constexpr matrix<T,K,R> operator*(matrix<T,C,R> a, matrix<T,K,C> b) { matrix<T,K,R> r = {}; for (int i = 0; i < K; ++i) r.columns[i] = a * b.columns[i]; return r; }
template<typename T, int C, int R, class S, class = __msl::enable_if_t<__msl::is_arith<S>::v>> METAL_FUNC constexpr matrix<T,C,R> operator*(matrix<T,C,R> a, S s) { for (int i = 0; i < C; ++i) a.columns[i] = a.columns[i] * T(s); return a; }
template<typename T, int C, int R, class S, class = __msl::enable_if_t<__msl::is_arith<S>::v>> METAL_FUNC constexpr matrix<T,C,R> operator*(S s, matrix<T,C,R> a) { return a * s; }
#undef M_
}
