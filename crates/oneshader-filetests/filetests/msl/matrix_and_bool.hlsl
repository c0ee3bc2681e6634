// test msl -T cs_6_0 -E move
// A column-major matrix and a `bool` of a constant buffer: lines and a 32-bit word, converted where they are loaded.
cbuffer params : register(b0) {
  float3x4 to_world;
  bool mirrored;
  float3 origin;
  float scale;
};
StructuredBuffer<float3> points : register(t0);
RWStructuredBuffer<float3> moved : register(u0);

[numthreads(64, 1, 1)]
void move(uint id : SV_DispatchThreadID) {
  float3 p = points[id] * scale + origin;
  if (mirrored)
    p.x = -p.x;
  moved[id] = mul(to_world, float4(p, 1));
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// struct packed_float3_stride16 {
//     packed_float3 value;
//     uchar pad0[4];
// };
//
// struct params {
//     packed_float3_stride16 to_world[4];
//     uint mirrored;
//     packed_float3 origin;
//     float scale;
//     uchar pad0[12];
// };
//
// #ifdef ONESHADER_CHECK_LAYOUT
// static_assert(sizeof(packed_float3_stride16) == 16, "size of packed_float3_stride16");
// static_assert(__builtin_offsetof(packed_float3_stride16, value) == 0, "offset of packed_float3_stride16.value");
// static_assert(sizeof(params) == 96, "size of params");
// static_assert(__builtin_offsetof(params, to_world) == 0, "offset of params.to_world");
// static_assert(__builtin_offsetof(params, mirrored) == 64, "offset of params.mirrored");
// static_assert(__builtin_offsetof(params, origin) == 68, "offset of params.origin");
// static_assert(__builtin_offsetof(params, scale) == 80, "offset of params.scale");
// #endif
//
// static inline float4x3 unpack_matrix(constant packed_float3_stride16 (&memory)[4])
// {
//     return float4x3(float3(memory[0].value), float3(memory[1].value), float3(memory[2].value), float3(memory[3].value));
// }
//
// [[max_total_threads_per_threadgroup(64)]]
// kernel void move(
//     constant params& params_1 [[buffer(0)]],
//     const device packed_float3_stride16* points [[buffer(1)]],
//     device packed_float3_stride16* moved [[buffer(2)]],
//     uint id [[thread_position_in_grid]])
// {
//     float3 p = float3(points[id].value) * params_1.scale + float3(params_1.origin);
//     if (params_1.mirrored != 0u) {
//         p.x = -p.x;
//     }
//     moved[id].value = unpack_matrix(params_1.to_world) * float4(p, 1.0f);
// }
