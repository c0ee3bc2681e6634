// MSL 6.3 - 6.6: what the generated functions share.
#pragma once
namespace metal {
namespace __msl {
// Functions that need more than float to round well: defined by the executor.
extern "C" float __msl_sinpi(float x);
extern "C" float __msl_cospi(float x);
extern "C" float __msl_tanpi(float x);
extern "C" float __msl_exp10(float x);
extern "C" float __msl_fma_half(float x, float y, float z);

// A denormal number as zero where the processor takes it for zero: what the C library does with its bits is another thing.
inline float flushed(float x) { return x == 0.0f ? __builtin_copysignf(0.0f, x) : x; }

// fract: min(x - floor(x), the largest value below 1) (MSL 6.6)
template<class T> inline float fract(float x) {
  constexpr float below_one = __is_same(T, float) ? 0x1.fffffep-1f : 0x1.ffcp-1f;
  if (__builtin_isinf(x)) return 0.0f;
  return x == x ? __builtin_fminf(x - __builtin_floorf(x), below_one) : x;
}
template<class T> inline float fma(float x, float y, float z) {
  if constexpr (__is_same(T, float)) return __builtin_fmaf(x, y, z);
  else return __msl_fma_half(x, y, z);
}
inline float smoothstep(float a, float b, float x) {
  float t = __builtin_fminf(__builtin_fmaxf((x - a) / (b - a), 0.0f), 1.0f);
  return t * t * (3.0f - 2.0f * t);
}
inline float median(float a, float b, float c) {
  return __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c));
}
template<class T> inline bool isnormal(float x) {
  constexpr float smallest = __is_same(T, half) ? 0x1p-14f : 0x1p-126f;
  return __builtin_isfinite(x) && __builtin_fabsf(x) >= smallest;
}
inline float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
inline half nextafter(half x, half y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  short bits = __builtin_bit_cast(short, x);
  if (x == 0.0h) bits = y > 0.0h ? 1 : short(0x8001);
  else bits = (x < y) == (x > 0.0h) ? bits + 1 : bits - 1;
  return __builtin_bit_cast(half, bits);
}

template<class T, class W> constexpr T sat(W x) {
  constexpr bool is_signed = T(-1) < T(0);
  constexpr W hi = is_signed ? (W(1) << (sizeof(T) * 8 - 1)) - 1 : W(T(~T(0))), lo = is_signed ? -hi - 1 : W(0);
  return x < lo ? T(lo) : x > hi ? T(hi) : T(x);
}
template<int W, class U> constexpr int clz(U x) {
  if (x == 0) return W;
  return __builtin_clzl(ulong(x)) - (64 - W);
}
template<int W, class U> constexpr int ctz(U x) {
  if (x == 0) return W;
  return __builtin_ctzl(ulong(x));
}
template<int W, class U> constexpr U rotate(U x, U n) { n &= U(W - 1); return n == 0 ? x : U(U(x << n) | U(x >> (W - n))); }
template<class T, class U, int W> inline T extract(T x, uint o, uint b) {
  if (b == 0 || o >= W) return T(0);
  if (b > W - o) b = W - o; // undefined in Metal
  U t = U(U(x) << (W - o - b));
  return T(T(t) >> (W - b));
}
template<class T, class U, int W> inline T insert(T x, T y, uint o, uint b) {
  if (b == 0 || o >= W) return x;
  U m = b >= W ? U(~U(0)) : U((U(1) << b) - 1);
  m = U(m << o);
  return T((U(x) & U(~m)) | (U(U(y) << o) & m));
}
} // namespace __msl
} // namespace metal
