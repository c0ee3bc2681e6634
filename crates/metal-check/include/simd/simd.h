// <simd/simd.h>: types shared with the host, under its names.
#pragma once
#include "../metal_stdlib"
namespace simd { using namespace metal; }
#define VECTORS(T) \
  typedef metal::T##2 simd_##T##2; typedef metal::T##3 simd_##T##3; typedef metal::T##4 simd_##T##4; \
  typedef metal::T##2 vector_##T##2; typedef metal::T##3 vector_##T##3; typedef metal::T##4 vector_##T##4;
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint) VECTORS(half) VECTORS(float)
#undef VECTORS
#define MATRICES(N) typedef metal::float##N simd_float##N; typedef metal::float##N matrix_float##N; typedef metal::half##N simd_half##N;
MATRICES(2x2) MATRICES(2x3) MATRICES(2x4) MATRICES(3x2) MATRICES(3x3) MATRICES(3x4) MATRICES(4x2) MATRICES(4x3) MATRICES(4x4)
#undef MATRICES
