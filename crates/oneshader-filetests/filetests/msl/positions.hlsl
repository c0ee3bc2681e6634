// test msl
// Positions in the grid have as many components as the widest use of one of them, and all the same number.
RWStructuredBuffer<uint> data : register(u0);
RWTexture2D<float4> image : register(u1);

void mark(uint3 group) { data[group.y] = group.x; }

[shader("compute")]
[numthreads(64, 1, 1)]
void line_of_threads(uint id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint thread : SV_GroupIndex) {
  data[id] = group.x + thread;
}

[shader("compute")]
[numthreads(8, 8, 1)]
void tile(uint2 id : SV_DispatchThreadID, uint3 thread : SV_GroupThreadID) {
  image[id] = float4(thread.xx, 0, 1);
}

[shader("compute")]
[numthreads(4, 1, 1)]
void whole(uint id : SV_DispatchThreadID, uint3 group : SV_GroupID) {
  mark(group);
  data[id] = 0;
}

[shader("compute")]
[numthreads(4, 1, 1)]
void repeated(uint3 id : SV_DispatchThreadID) {
  image[id.xx] = id.xxxx;
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(64)]]
// kernel void line_of_threads(
//     device uint* data [[buffer(0)]],
//     uint id [[thread_position_in_grid]],
//     uint group [[threadgroup_position_in_grid]],
//     uint thread_ [[thread_index_in_threadgroup]])
// {
//     data[id] = group + thread_;
// }
//
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(64)]]
// kernel void tile(
//     texture2d<float, access::write> image [[texture(0)]],
//     uint2 id [[thread_position_in_grid]],
//     uint2 thread_ [[thread_position_in_threadgroup]])
// {
//     image.write(float4(float(thread_.x), float(thread_.x), 0.0f, 1.0f), id);
// }
//
// #include <metal_stdlib>
//
// using namespace metal;
//
// static inline void mark(uint3 group, device uint* data)
// {
//     data[group.y] = group.x;
// }
//
// [[max_total_threads_per_threadgroup(4)]]
// kernel void whole(
//     device uint* data [[buffer(0)]],
//     uint3 id [[thread_position_in_grid]],
//     uint3 group [[threadgroup_position_in_grid]])
// {
//     const uint id_1 = id.x;
//     mark(group, data);
//     data[id_1] = 0u;
// }
//
// #include <metal_stdlib>
//
// using namespace metal;
//
// [[max_total_threads_per_threadgroup(4)]]
// kernel void repeated(
//     texture2d<float, access::write> image [[texture(0)]],
//     uint id [[thread_position_in_grid]])
// {
//     image.write(float4(float(id)), uint2(id));
// }
