// test msl -T ps_6_0 -E shade
// A texture used by comparison is a depth type; layers are split from the coordinate; a struct of stage inputs.
Texture2DArray<float> cascades : register(t0);
SamplerComparisonState less_equal : register(s0);

struct Varyings {
  float4 position : SV_Position;
  float3 shadow : SHADOW;
  nointerpolation uint cascade : CASCADE;
};

float4 shade(Varyings v) : SV_Target {
  float lit = cascades.SampleCmpLevelZero(less_equal, float3(v.shadow.xy, v.cascade), v.shadow.z);
  if (lit == 0)
    discard;
  return float4(lit.xxx, 1);
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// struct Varyings {
//     float4 position;
//     float3 shadow;
//     uint cascade;
// };
//
// struct shadeInput {
//     float3 shadow [[user(locn0)]];
//     uint cascade [[user(locn1), flat]];
// };
//
// struct shadeOutput {
//     float4 target0 [[color(0)]];
// };
//
// fragment shadeOutput shade(
//     shadeInput in [[stage_in]],
//     depth2d_array<float> cascades [[texture(0)]],
//     sampler less_equal [[sampler(0)]],
//     float4 position [[position]])
// {
//     shadeOutput out = {};
//     Varyings v = {position, in.shadow, in.cascade};
//     const float lit = cascades.sample_compare(less_equal, v.shadow.xy, v.cascade, v.shadow.z, level(0.0f));
//     if (lit == 0.0f) {
//         discard_fragment();
//     }
//     out.target0 = float4(lit, lit, lit, 1.0f);
//     return out;
// }
