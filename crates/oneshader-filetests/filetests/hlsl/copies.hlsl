// test hlsl -T cs_6_0
// `inout` is copied in and out, in order of the arguments; `out` is only copied out.
RWStructuredBuffer<int> data : register(u0);

void swap(inout int a, inout int b, out int sum) {
  int kept = a;
  a = b;
  b = kept;
  sum = a + b;
}

[numthreads(1, 1, 1)]
void main() {
  int sum;
  swap(data[0], data[1], sum);
  data[2] = sum;
}
// expect
// module
// global g0 "data": handle rwstructured<i32, counter> resource register(u, 0, space 0)
// func fn0 "swap" (v0 "a": ptr<function, i32>, v1 "b": ptr<function, i32>, v2 "sum": ptr<function, i32>) -> void {
//   local l0 "kept": i32
// block0:
//   v3: i32 = load v0
//   store l0, v3
//   v4: i32 = load v1
//   store v0, v4
//   v5: i32 = load l0
//   store v1, v5
//   v6: i32 = load v0
//   v7: i32 = load v1
//   v8: i32 = add v6, v7
//   store v2, v8
//   ret
// }
// func fn1 "main" () -> void {
//   local l0 "sum": i32
//   local l1 "a": i32
//   local l2 "b": i32
// block0:
//   v0: rwstructured<i32, counter> = load g0
//   v1: ptr<storage, i32> = elementptr v0, u32 0
//   v2: rwstructured<i32, counter> = load g0
//   v3: ptr<storage, i32> = elementptr v2, u32 1
//   v4: i32 = load v1
//   store l1, v4
//   v5: i32 = load v3
//   store l2, v5
//   call fn0(l1, l2, l0)
//   v6: i32 = load l1
//   store v1, v6
//   v7: i32 = load l2
//   store v3, v7
//   v8: i32 = load l0
//   v9: rwstructured<i32, counter> = load g0
//   v10: ptr<storage, i32> = elementptr v9, u32 2
//   store v10, v8
//   ret
// }
// entry compute "main" fn1 in() out() threads(1, 1, 1)
