// test msl -T ps_6_0 -E main
// Known deviation: `discard` in a helper that stays a function leaves the helper only; the caller goes on, its writes suppressed.
Texture2D<float4> albedo : register(t0);
SamplerState linear_clamp : register(s0);
RWStructuredBuffer<uint> hits : register(u1);

void cut(float alpha, float threshold) {
  if (alpha < threshold)
    discard;
}

float4 main(float4 position : SV_Position, float2 uv : UV) : SV_Target {
  float4 color = albedo.Sample(linear_clamp, uv);
  cut(color.a, 0.5);
  cut(color.r, 0.1);
  hits[uint(position.x)] = 1;
  return color;
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// template <typename U, typename F>
// inline U to_uint(F x)
// {
//     const U inside = U(clamp(x, F(0.0f), F(4294967040.0f)));
//     return select(inside, U(4294967295u), x >= F(4294967296.0f));
// }
//
// static inline void cut(float alpha, float threshold)
// {
//     if (alpha < threshold) {
//         discard_fragment();
//     }
// }
//
// struct main0Input {
//     float2 uv [[user(locn0)]];
// };
//
// struct main0Output {
//     float4 target0 [[color(0)]];
// };
//
// fragment main0Output main0(
//     main0Input in [[stage_in]],
//     texture2d<float> albedo [[texture(0)]],
//     sampler linear_clamp [[sampler(0)]],
//     device uint* hits [[buffer(0)]],
//     float4 position [[position]])
// {
//     main0Output out = {};
//     const float2 uv = in.uv;
//     const float4 color = albedo.sample(linear_clamp, uv);
//     cut(color.w, 0.5f);
//     cut(color.x, 0.1f);
//     hits[to_uint<uint>(position.x)] = 1u;
//     out.target0 = color;
//     return out;
// }
