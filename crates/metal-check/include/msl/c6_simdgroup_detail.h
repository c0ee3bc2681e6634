// MSL 6.10: how lanes exchange values. The extern functions belong to the executor (src/run/runtime.c).
#pragma once
namespace metal {
namespace __msl {
// Waits for the lanes that reach the same place, and publishes `size` bytes to them.
extern "C" void __msl_collective(uint line, uint column, const void __private* value, uint size, uint quad);
// Copies what `lane` of the SIMD-group published at the last collective; 0 if that lane is inactive.
extern "C" int __msl_fetch(int lane, void __private* out, uint size);
extern "C" uint __msl_lane();
extern "C" uint __msl_simd_width();
extern "C" void __msl_barrier(uint line, uint column);

// Where a collective is called. Callers never write one.
struct site { uint line, column; constexpr explicit site(uint l, uint c) : line(l), column(c) {} };

// Values that lanes exchange: numbers of up to 32 bits and vectors of them.
template<class E> struct is_lane_element {
  static constexpr bool integer = same<E, char>::v || same<E, uchar>::v || same<E, short>::v || same<E, ushort>::v || is_int32<E>::v;
  static constexpr bool v = integer || same<E, half>::v || same<E, float>::v;
};
template<class V> using if_lane = enable_if_t<is_lane_element<typename shape<V>::e>::v>;
template<class V> using if_lane_integer = enable_if_t<is_lane_element<typename shape<V>::e>::integer>;

template<bool Q> inline int width() { return Q ? 4 : int(__msl_simd_width()); }
template<bool Q> inline int lane() { return int(Q ? __msl_lane() & 3 : __msl_lane()); }
template<bool Q> inline int base() { return int(Q ? __msl_lane() & ~3u : 0u); }

template<bool Q, class V> inline V exchange(V x, int from, site s) {
  V r = x;
  __msl_collective(s.line, s.column, &x, sizeof(V), Q);
  if (from >= 0 && from < width<Q>()) __msl_fetch(base<Q>() + from, &r, sizeof(V));
  return r;
}
template<bool Q, class V> inline V first(V x, site s) {
  V r = x;
  __msl_collective(s.line, s.column, &x, sizeof(V), Q);
  for (int i = 0; i < width<Q>(); ++i)
    if (__msl_fetch(base<Q>() + i, &r, sizeof(V))) break;
  return r;
}
template<bool Q> inline ulong ballot(bool b, site s) {
  uchar x = b, v = 0;
  ulong m = 0;
  __msl_collective(s.line, s.column, &x, 1, Q);
  for (int i = 0; i < width<Q>(); ++i)
    if (__msl_fetch(base<Q>() + i, &v, 1) && v) m |= 1ul << i;
  return m;
}
// Lanes form segments of m; a lane beyond its segment comes from `fill`, wrapped around (MSL 6.10.2, Metal 2.4).
template<bool Q, class V> inline V fill(V x, V f, int delta, ushort m, site s) {
  int n = m == 0 ? width<Q>() : int(m), start = lane<Q>() / n * n, at = lane<Q>() - start + delta;
  V r = exchange<Q>(x, at >= 0 && at < n ? start + at : -1, s);
  V o = exchange<Q>(f, start + ((at % n) + n) % n, s);
  if (at >= 0 && at < n) return r;
  return o;
}

// Numbers win over NaNs, as in min and max.
template<class T> inline T least(T a, T b) {
  if constexpr (is_flt<T>::v) return T(__builtin_fminf(float(a), float(b)));
  else return a < b ? a : b;
}
template<class T> inline T greatest(T a, T b) {
  if constexpr (is_flt<T>::v) return T(__builtin_fmaxf(float(a), float(b)));
  else return a > b ? a : b;
}

// What a reduction does: `prefix` 0 all lanes, 1 the lanes below, 2 the lanes up to this one.
#define OP(name, start, kind, expression) \
  struct op_##name { static constexpr int prefix = kind, identity = start; template<class T> static T f(T a, T b) { return T(expression); } };
OP(sum, 0, 0, a + b) OP(product, 1, 0, a * b) OP(min, 0, 0, least(a, b)) OP(max, 0, 0, greatest(a, b))
OP(prefix_exclusive_sum, 0, 1, a + b) OP(prefix_inclusive_sum, 0, 2, a + b)
OP(prefix_exclusive_product, 1, 1, a * b) OP(prefix_inclusive_product, 1, 2, a * b)
OP(and, 0, 0, a & b) OP(or, 0, 0, a | b) OP(xor, 0, 0, a ^ b)
#undef OP
template<class O, class T> inline T apply(T a, T b) { return O::template f<T>(a, b); }
template<class O, class T, int N> inline vec<T, N> apply(vec<T, N> a, vec<T, N> b) {
  vec<T, N> r;
  for (int i = 0; i < N; ++i) r.__d[i] = O::template f<T>(a.__d[i], b.__d[i]);
  return r;
}
template<bool Q, class O, class V> inline V reduce(V x, site s) {
  V sum = V(typename shape<V>::e(O::identity)), v = x;
  bool have = O::prefix == 1;
  int me = lane<Q>();
  __msl_collective(s.line, s.column, &x, sizeof(V), Q);
  for (int i = 0; i < width<Q>(); ++i) {
    if ((O::prefix == 1 && i >= me) || (O::prefix == 2 && i > me)) break;
    if (!__msl_fetch(base<Q>() + i, &v, sizeof(V))) continue;
    if (have) sum = apply<O>(sum, v);
    else sum = v;
    have = true;
  }
  return sum;
}

// Where a lane is, for lanes to rejoin: added to loops and functions by the executor (src/run/lanes.rs).
extern "C" void __msl_enter(uint line, uint column);
extern "C" void __msl_leave();
extern "C" void __msl_body();
extern "C" void __msl_head();
struct scope {
  explicit scope(site s) { __msl_enter(s.line, s.column); }
  explicit scope(uint line = __builtin_LINE(), uint column = __builtin_COLUMN()) { __msl_enter(line, column); }
  ~scope() { __msl_leave(); }
};
inline bool body() { __msl_body(); return false; }
inline void head() { __msl_head(); }
} // namespace __msl

// MSL 6.10.2: votes
struct simd_vote {
  typedef ulong vote_t;
  vote_t __m;
  constexpr explicit simd_vote(vote_t v = 0) : __m(v) {}
  constexpr explicit operator vote_t() const { return __m; }
  bool all() const { return __m == (__msl::__msl_simd_width() == 64 ? ~0ul : (1ul << __msl::__msl_simd_width()) - 1); }
  constexpr bool any() const { return __m != 0; }
};
struct quad_vote {
  typedef ulong vote_t;
  vote_t __m;
  constexpr explicit quad_vote(vote_t v = 0) : __m(v) {}
  constexpr explicit operator vote_t() const { return __m; }
  constexpr bool all() const { return __m == 15; }
  constexpr bool any() const { return __m != 0; }
};
} // namespace metal
