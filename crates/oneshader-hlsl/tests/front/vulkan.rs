//! The namespace `vk`.

use super::*;

#[test]
fn a_sampled_texture_is_a_texture_and_a_sampler() {
    ps("vk::SampledTexture2D<float4> one : register(t3, space1); vk::SampledTextureCUBEArray<float> many[2] : register(s4);
        struct Mat { vk::SampledTexture3D t; float k; }; Mat mat;
        float4 at(vk::SampledTexture2D<float4> t, float2 uv) { return t.Sample(uv); }
        float4 main(float4 p : SV_Position) : SV_Target {
            vk::SampledTexture2D<float4> local = one;
            return at(local, p.xy) + many[1].SampleCmp(p, 0.5) * mat.t.SampleLevel(p.xyz, 0) * mat.k + one[uint2(p.xy)];
        }").has(&["resource register(t, 3, space 1) combined", "\"one.sampler\": handle samplercmp resource combined sampler_of(g", "[texture_cubearray<f32> x 2] resource register(s, 4, space 0) combined", "\"mat.t.sampler\""]);
    ps("vk::SampledTexture2D t; SamplerState s;\nfloat4 main(float4 p : SV_Position) : SV_Target { return t.Sample(s, p.xy); }")
        .refused(&["OSH2010 at 2"]);
    ps("vk::SampledTexture4D t;\nfloat4 main() : SV_Target { return 0; }").refused(&["OSH3003 at 1"]);
    ps("vk::SampledTexture2D t : register(b0);\nfloat4 main() : SV_Target { return 0; }").refused(&["OSH2066 at 1"]);
}

#[test]
fn only_textures_and_samplers_are_combined() {
    ps("[[vk::combinedImageSampler]] Texture2D t : register(t1); [[vk::combinedImageSampler]] SamplerState s : register(s1);
        float4 main(float4 p : SV_Position) : SV_Target { return t.Sample(s, p.xy); }").has(&["register(t, 1, space 0) combined", "register(s, 1, space 0) combined"]);
    ps("[[vk::combinedImageSampler]] RWTexture2D<float4> t;\nfloat4 main() : SV_Target { return t[uint2(0, 0)]; }")
        .refused(&["OSH2068 at 1"]);
}

#[test]
fn samples_have_positions() {
    ps("Texture2DMS<float4> t;\nfloat4 main(float4 p : SV_Position) : SV_Target { return t.GetSamplePosition(uint(p.x)).xyxy; }").has(&["texsamples"]);
}

#[test]
fn scopes_have_numbers() {
    cs("RWStructuredBuffer<uint> b; [numthreads(vk::WorkgroupScope, 1, 1)] void main() { b[vk::QueueFamilyScope] = vk::DeviceScope; }").has(&["threads(2, 1, 1)"]);
}
