// How the executor's entry function makes the arguments of a kernel (src/run/glue.rs).
#pragma once
namespace metal {
namespace __msl {
template<class F> struct parameters;
template<class... P> struct parameters<void(P...)> { template<int I> using type = __type_pack_element<I, P...>; };

// A buffer or threadgroup argument: `slots` is where its address stands.
template<class T> struct memory_argument;
template<class T> struct memory_argument<T*> { static T* make(const ulong __private* slots) { return (T*)slots[0]; } };
template<class T> struct memory_argument<T&> { static T& make(const ulong __private* slots) { return *(T*)slots[0]; } };
template<class T, size_t N> struct memory_argument<array<T, N>> {
  static array<T, N> make(const ulong __private* slots) {
    array<T, N> a;
    for (size_t i = 0; i < N; ++i) a.__e[i] = (T)slots[i];
    return a;
  }
};

// A texture: its handle is its place in the table of textures, counted from 1. A sampler: eight bytes of the table.
template<class T> struct texture_argument {
  static T make(uint slot) { T t; t.__h = slot + 1; return t; }
};
template<class T, size_t N> struct texture_argument<array<T, N>> {
  static array<T, N> make(uint slot) {
    array<T, N> a;
    for (size_t i = 0; i < N; ++i) a.__e[i].__h = slot + uint(i) + 1;
    return a;
  }
};
template<class T> struct sampler_argument { static T make(const T __private* slots) { return slots[0]; } };
template<class T, size_t N> struct sampler_argument<array<T, N>> {
  static array<T, N> make(const T __private* slots) {
    array<T, N> a;
    for (size_t i = 0; i < N; ++i) a.__e[i] = slots[i];
    return a;
  }
};

// A position or size: as many components as the parameter asks for (MSL 5.2.3.6).
template<class T> struct position_argument { static T make(const uint __private* v) { return T(v[0]); } };
template<class T> struct position_argument<vec<T, 2>> { static vec<T, 2> make(const uint __private* v) { return vec<T, 2>(v[0], v[1]); } };
template<class T> struct position_argument<vec<T, 3>> { static vec<T, 3> make(const uint __private* v) { return vec<T, 3>(v[0], v[1], v[2]); } };
} // namespace __msl
} // namespace metal
