// A sprite batch: quads from a structured buffer, lit by a few point lights, with an alpha test.

struct Sprite
{
    float4 rect;     // x, y, width, height in pixels
    float4 uv;       // left, top, right, bottom
    float4 tint;
    float  rotation; // radians
    float  depth;
    uint   layer;
    uint   flags;
};

struct Light
{
    float3 position;
    float  radius;
    float3 color;
    float  intensity;
};

static const uint MAX_LIGHTS = 8;
static const float2 corners[4] = { float2(0, 0), float2(1, 0), float2(0, 1), float2(1, 1) };

cbuffer View : register(b0)
{
    float4x4 projection;
    float2   viewport;
    float    time;
    uint     lightCount;
    Light    lights[MAX_LIGHTS];
};

StructuredBuffer<Sprite> sprites : register(t0);
Texture2DArray<float4>   atlas   : register(t1);
Texture2DArray<float2>   normals : register(t2);
SamplerState             bilinear : register(s0);

struct VSOutput
{
    float4 position : SV_Position;
    float3 uv       : TEXCOORD0;
    float4 tint     : COLOR0;
    float2 world    : TEXCOORD1;
    nointerpolation uint flags : TEXCOORD2;
};

float2 Rotate(float2 p, float angle)
{
    float s, c;
    sincos(angle, s, c);
    return mul(float2x2(c, -s, s, c), p);
}

[shader("vertex")]
VSOutput VSMain(uint vertex : SV_VertexID, uint instance : SV_InstanceID)
{
    const Sprite sprite = sprites[instance];
    const float2 corner = corners[vertex & 3];
    const float2 centered = (corner - 0.5) * sprite.rect.zw;

    VSOutput o;
    o.world = sprite.rect.xy + Rotate(centered, sprite.rotation);
    o.position = mul(projection, float4(o.world, sprite.depth, 1));
    o.uv = float3(lerp(sprite.uv.xy, sprite.uv.zw, corner), sprite.layer);
    o.tint = sprite.tint;
    o.flags = sprite.flags;
    return o;
}

float3 Shade(float3 normal, float2 world)
{
    float3 sum = 0.1;
    for (uint i = 0; i < min(lightCount, MAX_LIGHTS); ++i)
    {
        const float3 toLight = lights[i].position - float3(world, 0);
        const float  distance2 = dot(toLight, toLight);
        if (distance2 > lights[i].radius * lights[i].radius)
            continue;
        const float falloff = saturate(1 - distance2 / (lights[i].radius * lights[i].radius));
        sum += lights[i].color * (lights[i].intensity * falloff * saturate(dot(normal, normalize(toLight))));
    }
    return sum;
}

[shader("pixel")]
float4 PSMain(VSOutput input) : SV_Target
{
    float4 color = atlas.Sample(bilinear, input.uv) * input.tint;
    clip(color.a - 1.0 / 255.0);
    if (input.flags & 1)
    {
        const float2 xy = normals.Sample(bilinear, input.uv) * 2 - 1;
        color.rgb *= Shade(float3(xy, sqrt(saturate(1 - dot(xy, xy)))), input.world);
    }
    return color;
}
