// MSL 6.7: matrix functions.
#pragma once
namespace metal {
template<typename T, int C, int R> METAL_FUNC constexpr matrix<T,R,C> transpose(matrix<T,C,R> m) { matrix<T,R,C> r = {}; for (int i = 0; i < C; ++i) for (int j = 0; j < R; ++j) r.columns[j].__d[i] = m.columns[i].__d[j]; return r; }
template<typename T> METAL_FUNC constexpr T determinant(matrix<T,2,2> m) { return T(m.columns[0].x*m.columns[1].y - m.columns[0].y*m.columns[1].x); }
template<typename T> METAL_FUNC constexpr T determinant(matrix<T,3,3> m) { auto a = m.columns[0], b = m.columns[1], c = m.columns[2]; return T(a.x*(b.y*c.z-b.z*c.y) - a.y*(b.x*c.z-b.z*c.x) + a.z*(b.x*c.y-b.y*c.x)); }
template<typename T> METAL_FUNC constexpr T determinant(matrix<T,4,4> m) { T r = T(0); for (int k = 0; k < 4; ++k) { matrix<T,3,3> s = {}; int q = 0; for (int i = 0; i < 4; ++i) if (i != k) { s.columns[q] = m.columns[i].yzw; ++q; } T d = T(m.columns[k].x * determinant(s)); r = T(r + (k % 2 ? -d : d)); } return r; }
}
