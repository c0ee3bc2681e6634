// A forward-lit surface: metal and roughness, point lights, a sun with filtered shadow, fog, tone mapping.

#define PI 3.14159265f
#define MAX_LIGHTS 16

struct PointLight
{
    float3 position;
    float  radius;
    float3 color;
    float  intensity;
};

cbuffer Frame : register(b0)
{
    float4x4 viewProjection;
    float4x4 sunProjection;
    float3   eye;
    float    time;
    float3   sunDirection;
    float    sunIntensity;
    float3   fogColor;
    float    fogDensity;
    uint     lightCount;
    float    exposure;
    float2   shadowTexel;
};

cbuffer Surface : register(b1)
{
    float4 baseColor;
    float3 emissive;
    float  roughness;
    float  metallic;
    float  normalStrength;
    float  alphaCutoff;
    uint   flags;
};

StructuredBuffer<PointLight> lights : register(t0);
Texture2D<float4> baseMap : register(t1);
Texture2D<float2> normalMap : register(t2);
Texture2D<float4> surfaceMap : register(t3);
TextureCube<float4> environment : register(t4);
Texture2D<float> shadowMap : register(t5);
SamplerState anisotropic : register(s0);
SamplerComparisonState shadowSampler : register(s1);

struct Input
{
    float4 position : SV_Position;
    float3 world    : POSITION;
    float3 normal   : NORMAL;
    float4 tangent  : TANGENT;
    float2 uv       : TEXCOORD0;
    float4 color    : COLOR0;
};

struct Shading
{
    float3 albedo;
    float3 f0;
    float3 normal;
    float3 view;
    float  roughness;
};

float3 Fresnel(float3 f0, float cosine)
{
    return f0 + (1 - f0) * pow(1 - cosine, 5);
}

float Distribution(float nh, float roughness)
{
    const float a = roughness * roughness;
    const float a2 = a * a;
    const float d = nh * nh * (a2 - 1) + 1;
    return a2 / (PI * d * d);
}

float Visibility(float nl, float nv, float roughness)
{
    const float k = (roughness + 1) * (roughness + 1) / 8;
    const float l = nl / (nl * (1 - k) + k);
    const float v = nv / (nv * (1 - k) + k);
    return l * v / max(4 * nl * nv, 1e-4f);
}

float3 Light(Shading s, float3 direction, float3 radiance)
{
    const float3 h = normalize(s.view + direction);
    const float nl = saturate(dot(s.normal, direction));
    const float nv = saturate(dot(s.normal, s.view)) + 1e-4f;
    const float nh = saturate(dot(s.normal, h));
    const float3 f = Fresnel(s.f0, saturate(dot(s.view, h)));
    const float3 specular = f * Distribution(nh, s.roughness) * Visibility(nl, nv, s.roughness);
    return ((1 - f) * s.albedo / PI + specular) * radiance * nl;
}

float Shadow(float3 world)
{
    const float4 p = mul(sunProjection, float4(world, 1));
    const float3 at = p.xyz / p.w;
    const float2 uv = at.xy * float2(0.5, -0.5) + 0.5;
    if (any(uv < 0) || any(uv > 1))
        return 1;
    float sum = 0;
    [unroll] for (int y = -1; y <= 1; ++y)
        [unroll] for (int x = -1; x <= 1; ++x)
            sum += shadowMap.SampleCmpLevelZero(shadowSampler, uv + float2(x, y) * shadowTexel, at.z);
    return sum / 9;
}

float3 ToneMap(float3 x)
{
    return saturate(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14));
}

float4 main(Input input, bool front : SV_IsFrontFace) : SV_Target
{
    const float4 base = baseMap.Sample(anisotropic, input.uv) * baseColor * input.color;
    if (flags & 1)
        clip(base.a - alphaCutoff);

    const float4 packed = surfaceMap.Sample(anisotropic, input.uv);
    const float2 xy = (normalMap.Sample(anisotropic, input.uv) * 2 - 1) * normalStrength;
    const float3 n = normalize(input.normal) * (front ? 1 : -1);
    const float3 t = normalize(input.tangent.xyz - n * dot(n, input.tangent.xyz));
    const float3x3 basis = float3x3(t, cross(n, t) * input.tangent.w, n);

    Shading s;
    s.normal = normalize(mul(float3(xy, sqrt(saturate(1 - dot(xy, xy)))), basis));
    s.view = normalize(eye - input.world);
    s.roughness = clamp(packed.g * roughness, 0.05, 1);
    const float metal = packed.b * metallic;
    s.albedo = base.rgb * (1 - metal);
    s.f0 = lerp(0.04, base.rgb, metal);

    float3 color = emissive + Light(s, -sunDirection, sunIntensity * Shadow(input.world));
    for (uint i = 0; i < min(lightCount, MAX_LIGHTS); ++i)
    {
        const PointLight light = lights[i];
        const float3 to = light.position - input.world;
        const float distance2 = dot(to, to);
        if (distance2 > light.radius * light.radius)
            continue;
        const float window = saturate(1 - pow(distance2 / (light.radius * light.radius), 2));
        color += Light(s, to * rsqrt(distance2), light.color * light.intensity * window * window / (distance2 + 1));
    }
    const float3 mirror = reflect(-s.view, s.normal);
    color += environment.SampleLevel(anisotropic, mirror, s.roughness * 6).rgb * s.f0 * packed.r;
    const float fog = exp(-fogDensity * length(eye - input.world));
    return float4(ToneMap(lerp(fogColor, color, fog) * exposure), base.a);
}
