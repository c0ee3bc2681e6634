// MSL 2.6: atomic types; MSL 6.16: atomic functions. One thread of the host runs all of a dispatch, so a plain access is
// an atomic one.
#pragma once
namespace metal {
template<typename T> struct atomic {
  T __v;
  atomic() = default;
  atomic(const atomic&) = delete;
  void operator=(const atomic&) = delete;
};
template<typename T> using _atomic = atomic<T>;
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
#if __METAL_VERSION__ >= 300
typedef atomic<float> atomic_float;
#endif
namespace __msl {
// Which functions a type has (MSL 6.16.4): 1 add and sub, 2 min and max, 4 bitwise, 8 load, store and exchange.
template<class T, int K> struct atomic_ok {
  static constexpr bool v = is_int32<T>::v || (same<T, bool>::v && (K & 12) != 0)
#if __METAL_VERSION__ >= 300
                            || (same<T, float>::v && (K & 9) != 0)
#endif
      ;
};
template<class T, int K> using if_atomic = enable_if_t<atomic_ok<T, K>::v>;
template<class T> using value = typename identity<T>::type;
} // namespace __msl
// The order is a constant, and the only one there is for these.
#define RELAXED __attribute__((enable_if(order == memory_order_relaxed, "'order' argument must be memory_order_relaxed")))
#define RMW(space, name, kind, expression) \
  template<class T, class = __msl::if_atomic<T, kind>> \
  METAL_FUNC T atomic_##name##_explicit(volatile space atomic<T>* p, __msl::value<T> v, memory_order order) RELAXED { T o = p->__v; p->__v = T(expression); return o; }
#define FUNCTIONS(space) \
  RMW(space, fetch_add, 1, o + v) RMW(space, fetch_sub, 1, o - v) RMW(space, fetch_min, 2, o < v ? o : v) \
  RMW(space, fetch_max, 2, o > v ? o : v) RMW(space, fetch_and, 4, o & v) RMW(space, fetch_or, 4, o | v) \
  RMW(space, fetch_xor, 4, o ^ v) RMW(space, exchange, 8, v) \
  template<class T, class = __msl::if_atomic<T, 8>> \
  METAL_FUNC T atomic_load_explicit(const volatile space atomic<T>* p, memory_order order) RELAXED { return p->__v; } \
  template<class T, class = __msl::if_atomic<T, 8>> \
  METAL_FUNC void atomic_store_explicit(volatile space atomic<T>* p, __msl::value<T> v, memory_order order) RELAXED { p->__v = v; } \
  template<class T, class = __msl::if_atomic<T, 8>> \
  METAL_FUNC bool atomic_compare_exchange_weak_explicit(volatile space atomic<T>* p, thread __msl::value<T>* expected, __msl::value<T> v, memory_order order, memory_order failure) RELAXED { \
    T o = p->__v; \
    if (o == *expected) { p->__v = v; return true; } \
    *expected = o; \
    return false; \
  }
FUNCTIONS(device)
FUNCTIONS(threadgroup)
#undef FUNCTIONS
#undef RMW
// MSL 6.16.4.6: 64-bit minimum and maximum, in device memory, without a result
template<class T, class = __msl::enable_if_t<__msl::is_ulong<T>::v>>
METAL_FUNC void atomic_min_explicit(volatile device atomic<T>* p, __msl::value<T> v, memory_order order) RELAXED { if (v < p->__v) p->__v = v; }
template<class T, class = __msl::enable_if_t<__msl::is_ulong<T>::v>>
METAL_FUNC void atomic_max_explicit(volatile device atomic<T>* p, __msl::value<T> v, memory_order order) RELAXED { if (v > p->__v) p->__v = v; }
#undef RELAXED
} // namespace metal
