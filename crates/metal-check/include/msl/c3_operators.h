// MSL 3.1: operators of vectors, component by component.
#pragma once
namespace metal {
#define BIN_(op, K) \
template<class A, class B, class R = __msl::bin_t<A,B,K>> METAL_FUNC constexpr R operator op(A a, B b) { \
  typedef typename R::value_type T; R x = R(__msl::lift<R>(a)); auto y = __msl::lift_rhs<R>(b); R r = R(); \
  for (int i = 0; i < __msl::shape<R>::n; ++i) r.__d[i] = T(x.__d[i] op y.__d[i]); return r; }
namespace __msl {
template<class R, class A> constexpr R lift(A a) { return R(a); }
template<class R, class B, bool V = shape<B>::vec> struct lr { static constexpr R f(B b) { return R(static_cast<typename R::value_type>(b)); } };
template<class R, class B> struct lr<R,B,true> { static constexpr vec<typename shape<B>::e, shape<B>::n> f(B b) { return b; } };
template<class R, class B> constexpr auto lift_rhs(B b) { return lr<R,B>::f(b); }
template<class A, class B, bool VA = shape<A>::vec> struct cmp_t { typedef vec<typename shape<A>::e, shape<A>::n> type; };
template<class A, class B> struct cmp_t<A,B,false> { typedef vec<typename shape<B>::e, shape<B>::n> type; };
}
BIN_(+, __msl::k_arith) BIN_(-, __msl::k_arith) BIN_(*, __msl::k_arith) BIN_(/, __msl::k_arith) BIN_(%, __msl::k_mod)
BIN_(&, __msl::k_bit) BIN_(|, __msl::k_bit) BIN_(^, __msl::k_bit) BIN_(<<, __msl::k_shift) BIN_(>>, __msl::k_shift)
#undef BIN_
#define CMP_(op, K) \
template<class A, class B, class R = __msl::bin_t<A,B,K>> METAL_FUNC constexpr vec<bool, __msl::shape<R>::n> operator op(A a, B b) { \
  R x = R(a), y = R(b); vec<bool, __msl::shape<R>::n> r = {}; \
  for (int i = 0; i < __msl::shape<R>::n; ++i) r.__d[i] = x.__d[i] op y.__d[i]; return r; }
CMP_(==, __msl::k_cmp) CMP_(!=, __msl::k_cmp) CMP_(<, __msl::k_cmp) CMP_(>, __msl::k_cmp) CMP_(<=, __msl::k_cmp) CMP_(>=, __msl::k_cmp) CMP_(&&, __msl::k_log) CMP_(||, __msl::k_log)
#undef CMP_
#define UN_(op, K) template<class A, class R = __msl::bin_t<A,A,K>> METAL_FUNC constexpr R operator op(A a) { R r = a; for (int i = 0; i < __msl::shape<R>::n; ++i) r.__d[i] = typename R::value_type(op r.__d[i]); return r; }
UN_(-, __msl::k_arith) UN_(+, __msl::k_arith) UN_(~, __msl::k_mod) UN_(!, __msl::k_log)
#undef UN_
}
