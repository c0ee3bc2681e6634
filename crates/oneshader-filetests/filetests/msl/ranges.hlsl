// test msl -T cs_6_0 -E main
// Signed arithmetic is written as it is where it cannot leave its type, and computed unsigned where it may.
Texture2D<float4> source;
RWStructuredBuffer<int> data;

// Called with 3 and with a counter below 8.
int Square(int x)
{
    return x * x;
}

// Called with what is in memory.
int SquareOfAny(int x)
{
    return x * x;
}

uint Rotate(uint x, uint by)
{
    return (x << by) | (x >> (32 - by));
}

[numthreads(64, 2, 1)]
void main(int3 thread : SV_GroupThreadID)
{
    uint width, height;
    source.GetDimensions(width, height);
    const int2 size = int2(width, height);
    const int area = size.x * size.y;
    const int border = size.x - 1;
    const int lane = thread.y * 64 + thread.x;
    int sum = Square(3);
    for (int i = 7; i >= 0; --i)
        sum ^= Square(i) - lane * 4;
    for (int k = data[0]; k > -data[1]; --k)
        sum ^= k;
    const int low = data[lane] & 0xffff;
    const int bounded = low * 0x7fff;
    const int quotient = (data[2] >> 4) + (data[3] / 16);
    const int chosen = (low > 5 ? low : 3) + 1;
    const int wraps = data[4] + chosen;
    data[lane] = sum ^ area ^ border ^ bounded ^ quotient ^ wraps ^ SquareOfAny(data[5]) ^ (1 << (thread.x & 15));
    data[0] = int(Rotate(uint(low), 7) ^ Rotate(uint(sum), uint(lane) % 31 + 1));
}
// expect
// #include <metal_stdlib>
//
// using namespace metal;
//
// static inline uint Rotate(uint x, uint by)
// {
//     return (x << by) | (x >> (32u - by));
// }
//
// static inline int SquareOfAny(int x)
// {
//     return int(uint(x) * uint(x));
// }
//
// static inline int Square(int x)
// {
//     return x * x;
// }
//
// [[max_total_threads_per_threadgroup(128)]]
// kernel void main0(
//     texture2d<float> source [[texture(0)]],
//     device int* data [[buffer(0)]],
//     uint3 thread_position_in_threadgroup [[thread_position_in_threadgroup]])
// {
//     const int3 thread_ = int3(thread_position_in_threadgroup);
//     const uint width = source.get_width();
//     const uint height = source.get_height();
//     const int t = int(width);
//     const int area = t * int(height);
//     const int border = t - 1;
//     const int lane = thread_.y * 64 + thread_.x;
//     int sum = Square(3);
//     for (int i = 7; i >= 0; --i) {
//         sum ^= int(uint(Square(i)) - uint(lane * 4));
//     }
//     for (int k = data[0]; k > int(-uint(data[1])); --k) {
//         sum ^= k;
//     }
//     const int low = data[lane] & 65535;
//     const int bounded = low * 32767;
//     const int quotient = (data[2] >> 4) + data[3] / 16;
//     const int chosen = (low > 5 ? low : 3) + 1;
//     const int wraps = int(uint(data[4]) + uint(chosen));
//     const int t_1 = sum ^ area ^ border ^ bounded ^ quotient ^ wraps ^ SquareOfAny(data[5]);
//     data[lane] = t_1 ^ (1 << (thread_.x & 15));
//     data[0] = int(Rotate(uint(low), 7u) ^ Rotate(uint(sum), uint(lane) % 31u + 1u));
// }
