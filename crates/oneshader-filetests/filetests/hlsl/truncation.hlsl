// test hlsl -T ps_6_0
// An implicit truncation warns; an unknown name does not hide the next error.
float4 main(float4 p : COLOR) : SV_Target {
  float2 a = p;
  float b = undefined_name + 1;
  float c = p.xyzq;
  return a.xyxy;
}
// expect
// warning[OSH2011]: implicit truncation from `float4` to `float2`
//   ┌─ test.hlsl:4:14
//   │
// 4 │   float2 a = p;
//   │              ^
//
// error[OSH2001]: unknown name `undefined_name`
//   ┌─ test.hlsl:5:13
//   │
// 5 │   float b = undefined_name + 1;
//   │             ^^^^^^^^^^^^^^
//
// error[OSH2015]: `xyzq` is no swizzle of `float4`
//   ┌─ test.hlsl:6:15
//   │
// 6 │   float c = p.xyzq;
//   │               ^^^^
//
// 2 errors and 1 warning emitted
