// test msl -T cs_6_0 -E main
// Known deviation: a barrier of memory alone also waits for the threads of the group, since Metal 2.4 has no fence.
RWStructuredBuffer<uint> data : register(u0);
groupshared uint shared_values[64];

[numthreads(64, 1, 1)]
void main(uint thread : SV_GroupIndex) {
  shared_values[thread] = data[thread];
  GroupMemoryBarrier();
  data[thread] = shared_values[63 - thread];
  DeviceMemoryBarrier();
  AllMemoryBarrier();
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(64)]]
// kernel void main0(
//     device uint* data [[buffer(0)]],
//     uint thread_ [[thread_index_in_threadgroup]])
// {
//     threadgroup array<uint, 64> shared_values;
//     shared_values[thread_] = data[thread_];
//     threadgroup_barrier(mem_flags::mem_threadgroup);
//     data[thread_] = shared_values[63u - thread_];
//     threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_texture);
//     threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup | mem_flags::mem_texture);
// }
