// test msl
// Every function with a stage is compiled; both see the same indices, and each declares only what it reads.
StructuredBuffer<float4> a : register(t0);
StructuredBuffer<float4> b : register(t1);
RWStructuredBuffer<float4> sum : register(u0);

[shader("compute")]
[numthreads(32, 1, 1)]
void copy_b(uint id : SV_DispatchThreadID) { sum[id] = b[id]; }

[shader("compute")]
[numthreads(32, 1, 1)]
void add(uint id : SV_DispatchThreadID) { sum[id] = a[id] + b[id]; }
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(32)]]
// kernel void copy_b(
//     const device packed_float4* b [[buffer(1)]],
//     device packed_float4* sum [[buffer(2)]],
//     uint id [[thread_position_in_grid]])
// {
//     sum[id] = float4(b[id]);
// }
//
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(32)]]
// kernel void add(
//     const device packed_float4* a [[buffer(0)]],
//     const device packed_float4* b [[buffer(1)]],
//     device packed_float4* sum [[buffer(2)]],
//     uint id [[thread_position_in_grid]])
// {
//     sum[id] = float4(a[id]) + float4(b[id]);
// }
