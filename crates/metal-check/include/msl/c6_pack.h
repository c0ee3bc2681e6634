// MSL 6.15: packing and unpacking.
#pragma once
namespace metal {
namespace __msl {
template<int N> inline vec<float,N> tof(vec<float,N> x) { return x; } template<int N> inline vec<float,N> tof(vec<half,N> x) { return vec<float,N>(x); }
template<class F, int N> struct ff { static vec<F,N> f(vec<float,N> x) { return vec<F,N>(x); } }; template<int N> struct ff<float,N> { static vec<float,N> f(vec<float,N> x) { return x; } };
template<class F, int N> inline vec<F,N> fromf(vec<float,N> x) { return ff<F,N>::f(x); }
inline uint q(float x, float lo, float s, uint m) { x = __builtin_fminf(__builtin_fmaxf(x, lo), 1.0f); return uint(int(__builtin_rintf(x * s))) & m; }
inline uint pack_unorm4x8(vec<float,4> v) { uint r = 0; for (int i = 0; i < 4; ++i) r |= q(v.__d[i], 0, 255, 255) << (8*i); return r; }
inline uint pack_snorm4x8(vec<float,4> v) { uint r = 0; for (int i = 0; i < 4; ++i) r |= q(v.__d[i], -1, 127, 255) << (8*i); return r; }
inline uint pack_unorm2x16(vec<float,2> v) { return q(v.__d[0], 0, 65535, 65535) | q(v.__d[1], 0, 65535, 65535) << 16; }
inline uint pack_snorm2x16(vec<float,2> v) { return q(v.__d[0], -1, 32767, 65535) | q(v.__d[1], -1, 32767, 65535) << 16; }
inline uint pack_unorm10a2(vec<float,4> v) { return q(v.__d[0],0,1023,1023) | q(v.__d[1],0,1023,1023) << 10 | q(v.__d[2],0,1023,1023) << 20 | q(v.__d[3],0,3,3) << 30; }
inline float tosrgb(float x) { return x <= 0.0031308f ? 12.92f*x : 1.055f*__builtin_powf(x, 1.0f/2.4f) - 0.055f; }
inline float fromsrgb(float x) { return x <= 0.04045f ? x/12.92f : __builtin_powf((x+0.055f)/1.055f, 2.4f); }
inline uint pack_srgb_unorm4x8(vec<float,4> v) { for (int i = 0; i < 3; ++i) v.__d[i] = tosrgb(v.__d[i]); return pack_unorm4x8(v); }
inline uint pack_unorm565(vec<float,3> v) { return q(v.__d[0],0,31,31) << 11 | q(v.__d[1],0,63,63) << 5 | q(v.__d[2],0,31,31); }
inline vec<float,4> unpack_unorm4x8(uint x) { vec<float,4> r; for (int i = 0; i < 4; ++i) r.__d[i] = float((x >> (8*i)) & 255) / 255.0f; return r; }
inline vec<float,4> unpack_srgb_unorm4x8(uint x) { vec<float,4> r = unpack_unorm4x8(x); for (int i = 0; i < 3; ++i) r.__d[i] = fromsrgb(r.__d[i]); return r; }
inline vec<float,4> unpack_snorm4x8(uint x) { vec<float,4> r; for (int i = 0; i < 4; ++i) r.__d[i] = __builtin_fmaxf(float(char(x >> (8*i))) / 127.0f, -1.0f); return r; }
inline vec<float,2> unpack_unorm2x16(uint x) { return vec<float,2>(float(x & 65535)/65535.0f, float(x >> 16)/65535.0f); }
inline vec<float,2> unpack_snorm2x16(uint x) { return vec<float,2>(__builtin_fmaxf(float(short(x))/32767.0f,-1.0f), __builtin_fmaxf(float(short(x >> 16))/32767.0f,-1.0f)); }
inline vec<float,4> unpack_unorm10a2(uint x) { return vec<float,4>(float(x & 1023)/1023.0f, float((x >> 10) & 1023)/1023.0f, float((x >> 20) & 1023)/1023.0f, float(x >> 30)/3.0f); }
inline vec<float,3> unpack_unorm565(ushort x) { return vec<float,3>(float(x >> 11)/31.0f, float((x >> 5) & 63)/63.0f, float(x & 31)/31.0f); }
}
#define FORMAT(type, name, word, n) \
  METAL_FUNC word pack_##type##_to_##name(vec<type, n> x) { return word(__msl::pack_##name(__msl::tof(x))); } \
  METAL_FUNC vec<type, n> unpack_##name##_to_##type(word x) { return __msl::fromf<type>(__msl::unpack_##name(x)); }
FORMAT(float, unorm4x8, uint, 4) FORMAT(half, unorm4x8, uint, 4)
FORMAT(float, snorm4x8, uint, 4) FORMAT(half, snorm4x8, uint, 4)
FORMAT(float, unorm2x16, uint, 2) FORMAT(half, unorm2x16, uint, 2)
FORMAT(float, snorm2x16, uint, 2) FORMAT(half, snorm2x16, uint, 2)
FORMAT(float, unorm10a2, uint, 4) FORMAT(half, unorm10a2, uint, 4)
// The order of the words differs between the two directions.
#define SRGB(type) \
  METAL_FUNC uint pack_##type##_to_srgb_unorm4x8(vec<type, 4> v) { return __msl::pack_srgb_unorm4x8(__msl::tof(v)); } \
  METAL_FUNC vec<type, 4> unpack_unorm4x8_srgb_to_##type(uint x) { return __msl::fromf<type>(__msl::unpack_srgb_unorm4x8(x)); }
SRGB(float) SRGB(half)
#undef SRGB
FORMAT(float, unorm565, ushort, 3) FORMAT(half, unorm565, ushort, 3)
#undef FORMAT
}
