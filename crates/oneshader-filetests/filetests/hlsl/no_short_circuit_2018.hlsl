// test hlsl -T cs_6_0 -HV 2018
// Both sides of `&&` are evaluated.
RWStructuredBuffer<int> data : register(u0);

[numthreads(1, 1, 1)]
void main(uint id : SV_DispatchThreadID) {
  if (id < 4 && data[id]++ > 2)
    data[8] = 1;
}
// expect
// module
// global g0 "data": handle rwstructured<i32, counter> resource register(u, 0, space 0)
// global g1 "id": input u32x3 io("SV_DispatchThreadID", 0) builtin(dispatch_thread_id)
// func fn0 "main" () -> void {
//   local l0 "id": u32
// block0 selection(block2):
//   v0: u32x3 = load g1
//   v1: u32 = extract v0, #0
//   store l0, v1
//   v2: u32 = load l0
//   v3: bool = lt v2, u32 4
//   v4: rwstructured<i32, counter> = load g0
//   v5: u32 = load l0
//   v6: ptr<storage, i32> = elementptr v4, v5
//   v7: i32 = load v6
//   v8: i32 = add v7, i32 1
//   store v6, v8
//   v9: bool = gt v7, i32 2
//   v10: bool = and v3, v9
//   condbr v10, block1, block2
// block1:
//   v11: rwstructured<i32, counter> = load g0
//   v12: ptr<storage, i32> = elementptr v11, u32 8
//   store v12, i32 1
//   br block2
// block2:
//   ret
// }
// entry compute "main" fn0 in(g1) out() threads(1, 1, 1)
