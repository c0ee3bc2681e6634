// test hlsl -T cs_6_0
// One instance for each set of arguments.
RWStructuredBuffer<float> data : register(u0);

template <typename T, int N> T total(T values[N]) {
  T sum = (T)0;
  for (int i = 0; i < N; i++)
    sum += values[i];
  return sum;
}

[numthreads(1, 1, 1)]
void main() {
  float a[2] = {data[0], data[1]};
  int b[3] = {1, 2, 3};
  data[2] = total(a) + total(b) + total(a);
}
// expect
// module
// global g0 "data": handle rwstructured<f32, counter> resource register(u, 0, space 0)
// func fn0 "total" (v0 "values": [f32 x 2]) -> f32 {
//   local l0 "values": [f32 x 2]
//   local l1 "sum": f32
//   local l2 "i": i32
// block0:
//   store l0, v0
//   store l1, f32 0.0
//   store l2, i32 0
//   br block1
// block1 loop(block4, block3):
//   v1: i32 = load l2
//   v2: bool = lt v1, i32 2
//   condbr v2, block2, block4
// block2:
//   v3: i32 = load l2
//   v4: ptr<function, f32> = access l0, v3
//   v5: f32 = load v4
//   v6: f32 = load l1
//   v7: f32 = add v6, v5
//   store l1, v7
//   br block3
// block3:
//   v8: i32 = load l2
//   v9: i32 = add v8, i32 1
//   store l2, v9
//   br block1
// block4:
//   v10: f32 = load l1
//   ret v10
// }
// func fn1 "total" (v0 "values": [i32 x 3]) -> i32 {
//   local l0 "values": [i32 x 3]
//   local l1 "sum": i32
//   local l2 "i": i32
// block0:
//   store l0, v0
//   store l1, i32 0
//   store l2, i32 0
//   br block1
// block1 loop(block4, block3):
//   v1: i32 = load l2
//   v2: bool = lt v1, i32 3
//   condbr v2, block2, block4
// block2:
//   v3: i32 = load l2
//   v4: ptr<function, i32> = access l0, v3
//   v5: i32 = load v4
//   v6: i32 = load l1
//   v7: i32 = add v6, v5
//   store l1, v7
//   br block3
// block3:
//   v8: i32 = load l2
//   v9: i32 = add v8, i32 1
//   store l2, v9
//   br block1
// block4:
//   v10: i32 = load l1
//   ret v10
// }
// func fn2 "main" () -> void {
//   local l0 "a": [f32 x 2]
//   local l1 "b": [i32 x 3]
// block0:
//   v0: rwstructured<f32, counter> = load g0
//   v1: ptr<storage, f32> = elementptr v0, u32 0
//   v2: f32 = load v1
//   v3: rwstructured<f32, counter> = load g0
//   v4: ptr<storage, f32> = elementptr v3, u32 1
//   v5: f32 = load v4
//   v6: [f32 x 2] = construct v2, v5
//   store l0, v6
//   store l1, [i32 x 3] [1, 2, 3]
//   v7: [f32 x 2] = load l0
//   v8: f32 = call fn0(v7)
//   v9: [i32 x 3] = load l1
//   v10: i32 = call fn1(v9)
//   v11: f32 = convert v10
//   v12: f32 = add v8, v11
//   v13: [f32 x 2] = load l0
//   v14: f32 = call fn0(v13)
//   v15: f32 = add v12, v14
//   v16: rwstructured<f32, counter> = load g0
//   v17: ptr<storage, f32> = elementptr v16, u32 2
//   store v17, v15
//   ret
// }
// entry compute "main" fn2 in() out() threads(1, 1, 1)
