// MSL 6.10.1: barriers; MSL 6.16.1: memory order and fences.
#pragma once
namespace metal {
enum class mem_flags : uint {
  mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8, mem_object_data = 16,
};
METAL_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
METAL_FUNC constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }
enum memory_order {
  memory_order_relaxed,
#if __METAL_VERSION__ >= 320
  memory_order_acquire, memory_order_release, memory_order_acq_rel, memory_order_seq_cst,
#endif
};
#if __METAL_VERSION__ >= 320
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
METAL_FUNC void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {}
#endif
METAL_FUNC void threadgroup_barrier(mem_flags, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) {
  __msl::__msl_barrier(s.line, s.column);
}
METAL_FUNC void simdgroup_barrier(mem_flags, __msl::site s = __msl::site(__builtin_LINE(), __builtin_COLUMN())) {
  __msl::ballot<false>(true, s);
}
} // namespace metal
