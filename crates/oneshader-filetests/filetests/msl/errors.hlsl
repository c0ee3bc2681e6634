// test msl -T cs_6_0 -E main
// What Metal cannot say is an error at its line, with the way out.
Texture2D<float4> many[] : register(t0);
RWStructuredBuffer<double> wide : register(u0);

[numthreads(1, 1, 1)]
void main(uint id : SV_DispatchThreadID) {
  wide[id] = wide[id] * 2.0L + many[id].Load(0).x;
}
// expect
// error[OSH5102]: Metal has no `double`
//   ┌─ test.hlsl:8:14
//   │
// 8 │   wide[id] = wide[id] * 2.0L + many[id].Load(0).x;
//   │              ^^^^^^^^
//
// error[OSH5108]: `many` is an array of resources without a size, which needs Metal 3.0 (-msl-version 3.0)
//   ┌─ test.hlsl:3:19
//   │
// 3 │ Texture2D<float4> many[] : register(t0);
//   │                   ^^^^
//   │
//   = help: compile for Metal 3.0 or newer, which reads handles from buffers, or give the array a size
//
// 2 errors emitted
