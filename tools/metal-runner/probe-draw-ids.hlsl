// Records the vertex and instance numbers that a draw's vertex shader sees.

RWStructuredBuffer<uint>  count : register(u0);
RWStructuredBuffer<uint2> seen  : register(u1);

float4 VSMain(uint vertex : SV_VertexID, uint instance : SV_InstanceID) : SV_Position
{
    uint slot;
    InterlockedAdd(count[0], 1, slot);
    seen[slot] = uint2(vertex, instance);
    return float4(0, 0, 0, 1);
}
