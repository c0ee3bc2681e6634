// A separable Gaussian blur: each threadgroup loads a row with its border once.

Texture2D<float4>   source : register(t0);
RWTexture2D<float4> target : register(u0);

struct BlurParams
{
    int2  direction; // (1, 0) or (0, 1)
    int   radius;    // at most MAX_RADIUS
    float sigma;
};

#define GROUP 64
#define MAX_RADIUS 16

[[vk::push_constant]] ConstantBuffer<BlurParams> params;
groupshared float4 row[GROUP + 2 * MAX_RADIUS];

float Weight(int x)
{
    return exp(-float(x * x) / (2 * params.sigma * params.sigma));
}

[shader("compute")]
[numthreads(GROUP, 1, 1)]
void Blur(int3 id : SV_DispatchThreadID, int3 thread : SV_GroupThreadID)
{
    uint width, height;
    source.GetDimensions(width, height);
    const int2 size = int2(width, height);
    const int2 pixel = params.direction.x ? id.xy : id.yx;

    for (int i = thread.x; i < GROUP + 2 * MAX_RADIUS; i += GROUP)
    {
        const int2 at = pixel + params.direction * (i - thread.x - MAX_RADIUS);
        row[i] = source.Load(int3(clamp(at, 0, size - 1), 0));
    }
    GroupMemoryBarrierWithGroupSync();

    float4 sum = 0;
    float total = 0;
    for (int offset = -params.radius; offset <= params.radius; ++offset)
    {
        const float weight = Weight(offset);
        sum += row[thread.x + MAX_RADIUS + offset] * weight;
        total += weight;
    }
    if (all(pixel < size))
        target[pixel] = sum / total;
}
