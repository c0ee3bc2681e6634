// MSL 6.12: what the member functions of textures do when they are executed. Only the executor has bodies; a texel is
// four words, each a float, an int or a uint, as src/run/textures.c keeps it.
#pragma once
#ifdef __MSL_EXECUTE__
#define MSL_BODY(...) __VA_ARGS__
namespace metal {
namespace __msl {
// A texture lookup; src/run/textures.c has the same structure.
struct lookup {
  float coord[3], dx[3], dy[3];
  int offset[3];
  uint layer, dims, cube, mode; // mode: 0 no level, 1 bias, 2 level, 3 gradient
  float lod, min_lod, reference;
  uint compare, gather; // gather: 0 no, else 1 + component
};
extern "C" void __msl_texture_sample(ulong t, const sampler __private* s, const lookup __private* q, uint __private* out);
// Places are x, y, z, layer (6 * array + face of cubes), level, sample.
extern "C" void __msl_texture_read(ulong t, const int __private* place, uint __private* out);
extern "C" void __msl_texture_write(ulong t, const int __private* place, const uint __private* value);
extern "C" uint __msl_texture_atomic(ulong t, const int __private* place, uint operation, uint value, uint expected);
extern "C" uint __msl_texture_size(ulong t, uint what, uint level);

template<class T> inline T from_word(uint w) {
  if constexpr (is_flt<T>::v) return T(__builtin_bit_cast(float, w));
  else return T(w);
}
template<class T> inline uint to_word(T v) {
  if constexpr (is_flt<T>::v) return __builtin_bit_cast(uint, float(v));
  else return uint(v);
}
template<class R> struct texel { static R from(const uint __private* w) { return from_word<R>(w[0]); } };
template<class T> struct texel<vec<T, 4>> {
  static vec<T, 4> from(const uint __private* w) {
    vec<T, 4> r;
    for (int i = 0; i < 4; ++i) r.__d[i] = from_word<T>(w[i]);
    return r;
  }
};

inline lookup look(uint dims, bool cube) { lookup q = {}; q.dims = dims; q.cube = cube; return q; }
inline void at(lookup __private& q, float c) { q.coord[0] = c; }
template<int N> inline void at(lookup __private& q, vec<float, N> c) { for (int i = 0; i < N; ++i) q.coord[i] = c.__d[i]; }
inline void with(lookup __private& q, bias b) { q.mode = 1; q.lod = b.v; }
inline void with(lookup __private& q, level l) { q.mode = 2; q.lod = l.v; }
inline void with(lookup __private& q, min_lod_clamp m) { q.min_lod = m.v; }
template<int D> inline void with(lookup __private& q, offset<D> o) { for (int i = 0; i < D; ++i) q.offset[i] = o.v.__d[i]; }
template<class G> inline void with_gradient(lookup __private& q, G g, int n) {
  q.mode = 3;
  for (int i = 0; i < n; ++i) { q.dx[i] = g.dx.__d[i]; q.dy[i] = g.dy.__d[i]; }
}
inline void with(lookup __private& q, gradient2d g) { with_gradient(q, g, 2); }
inline void with(lookup __private& q, gradient3d g) { with_gradient(q, g, 3); }
inline void with(lookup __private& q, gradientcube g) { with_gradient(q, g, 3); }
template<class R> inline R sampled(ulong t, sampler s, lookup q) {
  uint w[4];
  __msl_texture_sample(t, &s, &q, w);
  return texel<R>::from(w);
}
template<class R> inline R sparse(decltype(R::__v) v) { R r; r.__v = v; r.__r = true; return r; }

struct place { int v[6]; };
template<class C> inline place put(C c, uint layer, uint lod, uint sample) {
  place p = {{0, 0, 0, int(layer), int(lod), int(sample)}};
  if constexpr (shape<C>::vec) for (int i = 0; i < shape<C>::n; ++i) p.v[i] = int(c.__d[i]);
  else p.v[0] = int(c);
  return p;
}
template<class R> inline R read(ulong t, place p) {
  uint w[4];
  __msl_texture_read(t, p.v, w);
  return texel<R>::from(w);
}
template<class T> inline void write(ulong t, place p, vec<T, 4> color) {
  uint w[4];
  for (int i = 0; i < 4; ++i) w[i] = to_word(color.__d[i]);
  __msl_texture_write(t, p.v, w);
}
// Operations on the first component; the others come back as 0, 0, 1 would from a texture of one channel.
enum { add, sub, and_, or_, xor_, min_, max_, exchange_, load_, store_, signed_min, signed_max, compare_exchange_ };
template<class T> inline vec<T, 4> atomic_texel(ulong t, place p, uint operation, vec<T, 4> v) {
  if (T(-1) < T(0) && operation == min_) operation = signed_min;
  if (T(-1) < T(0) && operation == max_) operation = signed_max;
  return vec<T, 4>(T(__msl_texture_atomic(t, p.v, operation, uint(v.__d[0]), 0)), T(0), T(0), T(0));
}
template<class T> inline bool compare_exchange_texel(ulong t, place p, thread vec<T, 4>* expected, vec<T, 4> v) {
  uint wanted = uint(expected->__d[0]), old = __msl_texture_atomic(t, p.v, compare_exchange_, uint(v.__d[0]), wanted);
  expected->__d[0] = T(old);
  return old == wanted;
}
} // namespace __msl
} // namespace metal
#else
#define MSL_BODY(...) ;
#endif
