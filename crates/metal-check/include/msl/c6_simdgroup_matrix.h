// MSL 2.3.3, 6.8: SIMD-group matrices (8 by 8), declared only.
#pragma once
namespace metal {
template<typename T, int C, int R> struct simdgroup_matrix {
  T __e[C * R];
  typedef vec<T, 2> storage_type;
  thread storage_type& thread_elements() thread;
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T d);
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
#if __METAL_VERSION__ >= 310
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
#endif
template<typename T, int C, int R> simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v);
#define MEMORY(space) \
  template<typename T, int C, int R> \
  void simdgroup_load(thread simdgroup_matrix<T, C, R>& d, const space T* p, ulong elements_per_row = C, ulong2 origin = ulong2(0), bool transpose = false); \
  template<typename T, int C, int R> \
  void simdgroup_store(simdgroup_matrix<T, C, R> d, space T* p, ulong elements_per_row = C, ulong2 origin = ulong2(0), bool transpose = false);
MEMORY(device)
MEMORY(threadgroup)
#undef MEMORY
template<typename T, int C, int R>
void simdgroup_load(thread simdgroup_matrix<T, C, R>& d, constant T* p, ulong elements_per_row = C, ulong2 origin = ulong2(0), bool transpose = false);
template<typename T, int C, int R, int K>
void simdgroup_multiply(thread simdgroup_matrix<T, C, R>& d, simdgroup_matrix<T, K, R> a, simdgroup_matrix<T, C, K> b);
template<typename T, typename A, typename B, int C, int R, int K>
void simdgroup_multiply_accumulate(thread simdgroup_matrix<T, C, R>& d, simdgroup_matrix<A, K, R> a, simdgroup_matrix<B, C, K> b, simdgroup_matrix<T, C, R> c);
template<typename T, int C, int R, int K>
simdgroup_matrix<T, C, R> operator*(simdgroup_matrix<T, K, R> a, simdgroup_matrix<T, C, K> b);
} // namespace metal
