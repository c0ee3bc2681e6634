// An inclusive prefix sum over blocks of 256 numbers: waves first, then the sums of the waves.

RWStructuredBuffer<uint> data : register(u0);
RWStructuredBuffer<uint> totals : register(u1);

cbuffer Params : register(b0)
{
    uint count;
};

static const uint BLOCK = 256;
groupshared uint waveSums[BLOCK];

[shader("compute")]
[numthreads(256, 1, 1)]
void ScanBlocks(uint3 id : SV_DispatchThreadID, uint index : SV_GroupIndex, uint3 group : SV_GroupID)
{
    const uint value = id.x < count ? data[id.x] : 0;
    const uint lanes = WaveGetLaneCount();
    const uint wave = index / lanes;

    uint sum = WavePrefixSum(value) + value;
    if (WaveGetLaneIndex() == lanes - 1)
        waveSums[wave] = sum;
    GroupMemoryBarrierWithGroupSync();

    for (uint i = 0; i < wave; ++i)
        sum += waveSums[i];

    if (id.x < count)
        data[id.x] = sum;
    if (index == BLOCK - 1)
        totals[group.x] = sum;
}
