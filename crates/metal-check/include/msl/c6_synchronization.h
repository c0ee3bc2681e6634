// MSL 6.10.1: barriers; MSL 6.16.1: memory order and fences.
#pragma once
namespace metal {
enum class mem_flags : uint {
  mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8,
#if __METAL_VERSION__ >= 300
  mem_object_data = 16,
#endif
};
METAL_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
METAL_FUNC constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }
enum memory_order {
  memory_order_relaxed,
#if __METAL_VERSION__ >= 320
  memory_order_seq_cst,
#endif
};
// Flags, orders and scopes are constants of the compiler: an overload with another argument is none.
#define KNOWN(x) __attribute__((enable_if(x == x, "'" #x "' argument must be known at compile-time")))
#if __METAL_VERSION__ >= 320
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
METAL_FUNC void atomic_thread_fence(mem_flags f, memory_order o, thread_scope s = thread_scope_device) KNOWN(f) KNOWN(o) KNOWN(s) {}
#endif
METAL_FUNC void threadgroup_barrier(mem_flags flags, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) KNOWN(flags) {
  __msl::__msl_barrier(s.line, s.column);
}
METAL_FUNC void simdgroup_barrier(mem_flags flags, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) KNOWN(flags) {
  __msl::ballot<false>(true, s);
}
#if __METAL_VERSION__ >= 320
METAL_FUNC void threadgroup_barrier(mem_flags flags, thread_scope scope, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) KNOWN(flags) KNOWN(scope) {
  __msl::__msl_barrier(s.line, s.column);
}
METAL_FUNC void simdgroup_barrier(mem_flags flags, thread_scope scope, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) KNOWN(flags) KNOWN(scope) {
  __msl::ballot<false>(true, s);
}
#endif
#undef KNOWN
} // namespace metal
