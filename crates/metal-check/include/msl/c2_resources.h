// MSL 2.7 - 2.10: buffers need nothing; what textures and samplers need.
#pragma once
namespace metal {
// MSL 2.8
enum class access { sample, read, write, read_write };
enum class component { x, y, z, w };
#if __METAL_VERSION__ >= 320
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
#endif

// MSL 2.9: samplers
enum class coord { normalized, pixel };
enum class address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class s_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class t_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class r_address { clamp_to_zero, clamp_to_edge, repeat, mirrored_repeat, clamp_to_border };
enum class border_color { transparent_black, opaque_black, opaque_white };
enum class filter { nearest, linear, bicubic };
enum class mag_filter { nearest, linear, bicubic };
enum class min_filter { nearest, linear, bicubic };
enum class mip_filter { none, nearest, linear };
enum class compare_func { never, less, less_equal, greater, greater_equal, equal, not_equal, always };
enum class reduction { weighted_average, minimum, maximum };
struct max_anisotropy { int v; constexpr explicit max_anisotropy(int n) : v(n) {} };
struct lod_clamp { float lo, hi; constexpr lod_clamp(float lo, float hi) : lo(lo), hi(hi) {} };

namespace __msl {
#if __METAL_VERSION__ >= 320
typedef memory_coherence coherence;
constexpr coherence coherence_default = memory_coherence_threadgroup;
#else
enum coherence { coherence_default };
#endif
template<class T> struct is_sampler_option { static constexpr bool v = false; };
#define OPTION(T) template<> struct is_sampler_option<T> { static constexpr bool v = true; };
OPTION(coord) OPTION(address) OPTION(s_address) OPTION(t_address) OPTION(r_address) OPTION(border_color) OPTION(filter)
OPTION(mag_filter) OPTION(min_filter) OPTION(mip_filter) OPTION(compare_func) OPTION(reduction) OPTION(max_anisotropy)
OPTION(lod_clamp)
#undef OPTION
template<class T> struct is_depth_element { static constexpr bool v = same<T, float>::v; };
template<class T> struct is_texture_element {
  static constexpr bool v = same<T, float>::v || same<T, half>::v || same<T, int>::v || same<T, uint>::v || same<T, short>::v ||
                            same<T, ushort>::v
#if __METAL_VERSION__ >= 310
                            || same<T, ulong>::v
#endif
      ;
};
// A texel offset: a vector, which a scalar does not become.
template<int D> struct offset { vec<int, D> v; constexpr offset(vec<int, D> x) : v(x) {} };
} // namespace __msl

// The state as bits, which the executor reads (src/run/textures.c): pixel coordinates 0, addresses 1, 4 and 7, border 10,
// filters 12 (magnify), 14 (minify) and 16 (between levels), comparison 18, reduction 22, least and greatest level of detail
// 24 and 44: the upper 20 bits of a float. A sampler is eight bytes wherever it stands (MSL 2.14).
struct sampler {
  ulong __h = 0x7f7ff00000200092; // clamp_to_edge, nearest, no comparison, the lod_clamp from 0 to the greatest float
  constexpr sampler() = default;
  template<class A0, class... A, class = __msl::enable_if_t<__msl::is_sampler_option<A0>::v && __msl::all_true<__msl::is_sampler_option<A>::v...>::v>>
  constexpr sampler(A0 first, A... rest) { __set(first); (__set(rest), ...); }

private:
  constexpr void __bits(int at, int n, ulong v) { __h = (__h & ~(((1ul << n) - 1) << at)) | v << at; }
  constexpr void __set(coord v) { __bits(0, 1, ulong(v)); }
  constexpr void __set(address v) { __bits(1, 3, ulong(v)); __bits(4, 3, ulong(v)); __bits(7, 3, ulong(v)); }
  constexpr void __set(s_address v) { __bits(1, 3, ulong(v)); }
  constexpr void __set(t_address v) { __bits(4, 3, ulong(v)); }
  constexpr void __set(r_address v) { __bits(7, 3, ulong(v)); }
  constexpr void __set(border_color v) { __bits(10, 2, ulong(v)); }
  constexpr void __set(filter v) { __bits(12, 2, ulong(v)); __bits(14, 2, ulong(v)); }
  constexpr void __set(mag_filter v) { __bits(12, 2, ulong(v)); }
  constexpr void __set(min_filter v) { __bits(14, 2, ulong(v)); }
  constexpr void __set(mip_filter v) { __bits(16, 2, ulong(v)); }
  constexpr void __set(compare_func v) { __bits(18, 4, ulong(v)); }
  constexpr void __set(reduction v) { __bits(22, 2, ulong(v)); }
  constexpr void __set(max_anisotropy) {}
  constexpr void __set(lod_clamp v) {
    __bits(24, 20, __builtin_bit_cast(uint, v.lo) >> 12);
    __bits(44, 20, __builtin_bit_cast(uint, v.hi) >> 12);
  }
};

// MSL 6.12: options of sampling
struct bias { float v; constexpr explicit bias(float x) : v(x) {} };
struct level { float v; constexpr explicit level(float x) : v(x) {} };
struct min_lod_clamp { float v; constexpr explicit min_lod_clamp(float x) : v(x) {} };
struct gradient2d { vec<float, 2> dx, dy; constexpr gradient2d(vec<float, 2> x, vec<float, 2> y) : dx(x), dy(y) {} };
struct gradient3d { vec<float, 3> dx, dy; constexpr gradient3d(vec<float, 3> x, vec<float, 3> y) : dx(x), dy(y) {} };
struct gradientcube { vec<float, 3> dx, dy; constexpr gradientcube(vec<float, 3> x, vec<float, 3> y) : dx(x), dy(y) {} };
template<class T> struct sparse_color {
  T __v; bool __r;
  constexpr bool resident() const { return __r; }
  constexpr T const value() const { return __v; }
};
} // namespace metal
