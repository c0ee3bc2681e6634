// test msl -T cs_6_0 -E main
// By default overflow wraps, as in HLSL.
RWStructuredBuffer<int> data : register(u0);

[numthreads(64, 1, 1)]
void main(uint thread : SV_GroupIndex) {
  data[thread] = data[thread] * data[thread + 64] + 1;
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(64)]]
// kernel void main0(
//     device int* data [[buffer(0)]],
//     uint thread_ [[thread_index_in_threadgroup]])
// {
//     data[thread_] = int(uint(data[thread_]) * uint(data[thread_ + 64u]) + 1u);
// }
