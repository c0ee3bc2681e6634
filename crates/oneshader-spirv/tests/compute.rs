//! Compute kernels: buffers, arithmetic, control flow, calls.

mod common;

use common::{check_all, check_for, has, lacks};
use oneshader_spirv::TargetEnv;

const HEAD: &str = r#"module handles_resolved
struct s0 "Item" {
  "pos": f32x3
  "on": bool
  "m": f32x4x3
  "n": f32x2x4 row
  "k": [f32 x 3]
}
struct s1 "Params" {
  "item": s0
  "flags": boolx3
  "count": u32
}
global g0 "params": handle cbuffer<s1> resource register(b, 0, space 0)
global g1 "items": handle rwstructured<s0> resource register(u, 1, space 0)
global g2 "raw": handle rwbytes resource register(u, 2, space 0)
global g3 "list": handle rwstructured<f32x4, append> resource register(u, 3, space 0)
global g4 "shared": workgroup [u32 x 64]
global g5 "id": input u32x3 io("SV_DispatchThreadID", 0) builtin(dispatch_thread_id)
global g6 "gi": input u32 io("SV_GroupIndex", 0) builtin(group_index)
global g7 "state": private [s0 x 2]
global g8 "consts": private [f32 x 3] = [f32 x 3] [1.0, 2.0, 4.0] readonly
global g9 "ints": handle structured<i32> resource register(t, 0, space 0)
"#;

fn kernel(body: &str) -> String {
    format!(
        "{HEAD}func fn0 \"main\" () -> void {{\n{body}\n}}\nentry compute \"main\" fn0 in(g5, g6) out() threads(8, 8, 1)\n"
    )
}

#[test]
fn whole_structures_move_between_layouts() {
    let text = kernel(
        "  local l0 \"copy\": s0
block0:
  v0: u32x3 = load g5
  v1: u32 = extract v0, #0
  v2: cbuffer<s1> = load g0
  v3: ptr<constant, s1> = blockptr v2
  v4: ptr<constant, s0> = access v3, u32 0
  v5: s0 = load v4
  store l0, v5
  v6: s0 = load l0
  v7: rwstructured<s0> = load g1
  v8: ptr<storage, s0> = elementptr v7, v1
  store v8, v6
  v9: ptr<private, s0> = access g7, u32 1
  store v9, v6
  v10: ptr<storage, bool> = access v8, u32 1
  v11: bool = load v10
  v12: bool = not v11
  store v10, v12
  v13: ptr<constant, bool> = access v3, u32 1, u32 2
  v14: bool = load v13
  store v10, v14
  ret",
    );
    let out = check_all(&text);
    // HLSL's column-major is SPIR-V's RowMajor; std140 strides in the constant buffer, std430 in the structured one.
    has(&out, "RowMajor");
    has(&out, "ColMajor");
    has(&out, "MatrixStride 16");
    has(&out, "OpExecutionMode");
    has(&out, "LocalSize 8 8 1");
    lacks(&out, "BufferBlock");
    // A structure with a bool is taken apart; the array in it needs no more than another type.
    has(&out, "OpINotEqual");
    has(&out, "OpCopyLogical");
    let older = check_for(&text, TargetEnv::Vulkan1_1);
    lacks(&older, "OpCopyLogical");
}

#[test]
fn matrices_and_integers_follow_hlsl() {
    let text = kernel(
        "block0:
  v0: u32x3 = load g5
  v1: u32 = extract v0, #0
  v2: u32 = extract v0, #1
  v3: cbuffer<s1> = load g0
  v4: ptr<constant, s1> = blockptr v3
  v5: ptr<constant, f32x4x3> = access v4, u32 0, u32 2
  v6: f32x4x3 = load v5
  v7: ptr<constant, f32x3> = access v5, v1
  v8: f32x3 = load v7
  v9: f32x4 = matmul v6, v8
  v10: f32x4x3 = add v6, v6
  v11: f32x3x4 = transpose v10
  v12: f32x4x4 = matmul v10, v11
  v13: f32x4 = matmul v9, v12
  v14: u32 = div v1, v2
  v15: u32 = rem v1, u32 7
  v16: u32 = shl v1, v2
  v17: i32 = bitcast v16
  v18: i32 = shr v17, i32 3
  v19: f32 = convert v18
  v20: f32 = extract v13, #1
  v21: f32 = mul.precise v20, v19
  v22: u32 = convert v21
  v23: i32 = convert v21
  v24: u32 = add v14, v15
  v25: u32 = add v24, v22
  v26: u32 = bitcast v23
  v27: u32 = xor v25, v26
  v28: rwbytes = load g2
  rawstore v28, v27, v13
  v29: f32x3 = rawload v28, v27
  v30: rwstructured<f32x4, append> = load g3
  v31: u32 = counter v30, #1
  v32: ptr<storage, f32x4> = elementptr v30, v31
  store v32, v13
  v33: ptr<storage, u32> = rawptr v28, v27
  v34: u32 = atomic_add v33, v27
  v35: ptr<storage, i32> = rawptr v28, v27
  v36: i32 = atomic_min v35, i32 -5
  v37: ptr<storage, f32> = rawptr v28, v27
  v38: f32 = atomic_cmpxchg v37, f32 1.0, f32 2.0
  v39: u32 = bufferlength v28
  rawstore v28, v39, v38
  v40: ptr<workgroup, u32> = access g4, v39
  v41: u32 = atomic_max v40, v39
  groupmemorybarriersync
  v42: u32 = atomic_cmpxchg v40, u32 1, u32 2
  v43: ptr<private, f32> = access g8, v42
  v44: f32 = load v43
  rawstore v28, v42, v44
  ret",
    );
    let out = check_all(&text);
    has(&out, "OpVectorTimesMatrix");
    has(&out, "OpMatrixTimesMatrix");
    has(&out, "OpMatrixTimesVector");
    has(&out, "NoContraction");
    has(&out, "counter.var.list");
    has(&out, "OpControlBarrier");
}

#[test]
fn control_flow_gets_its_merges() {
    // A short-circuit expression in a loop whose continue block is its join, a switch with fall-through, a loop that
    // never goes round, and two headers that would share one merge block.
    let text = kernel(
        "block0:
  v0: u32 = load g6
  br block1
block1 loop(block8, block7):
  v1: u32 = phi block0: u32 0, block7: v7
  v2: bool = lt v1, u32 10
  condbr v2, block2, block8
block2:
  v3: bool = eq v1, v0
  condbr v3, block3, block6
block3:
  v4: bool = gt v0, u32 3
  condbr v4, block4, block6
block4:
  v10: bool = gt v0, u32 7
  condbr v10, block30, block6
block30:
  br block6
block6 selection(block21):
  v5: u32 = phi block2: u32 1, block3: u32 2, block4: u32 3, block30: u32 4
  switch v0, block21 [1: block5, 2: block5, 3: block20]
block5:
  br block20
block20:
  br block21
block21 loop(block23, block22):
  br block22
block22:
  v11: bool = lt v5, v0
  condbr v11, block21, block23
block23:
  br block7
block7:
  v7: u32 = add v1, v5
  br block1
block8:
  br block9
block9 loop(block11, block10):
  br block12
block12 selection(block13):
  v8: bool = lt v1, u32 5
  condbr v8, block14, block13
block14:
  ret
block13:
  br block11
block10:
  unreachable
block11:
  v9: rwbytes = load g2
  rawstore v9, u32 0, v1
  ret",
    );
    check_all(&text);
}

#[test]
fn a_function_is_emitted_once_for_each_resource_it_gets() {
    let text = format!(
        "{HEAD}global g10 \"many\": handle [rwbytes x 4] resource register(u, 8, space 0)
func fn0 \"put\" (v0 \"to\": rwbytes, v1 \"at\": u32, v2 \"last\": ptr<function, u32>) -> u32 {{
block0:
  rawstore v0, v1, v1
  store v2, v1
  v3: u32 = rawload v0, u32 4
  ret v3
}}
func fn1 \"main\" () -> void {{
  local l0 \"last\": u32
  local l1 \"pair\": [u32 x 2]
block0:
  v0: rwbytes = load g2
  v1: u32 = load g6
  v2: u32 = call fn0(v0, v1, l0)
  v3: ptr<handle, rwbytes> = access g10, v1
  v4: rwbytes = load v3
  v5: ptr<function, u32> = access l1, u32 1
  v6: u32 = call fn0(v4, v2, v5)
  v7: u32 = call fn0(v0, v6, l0)
  ret
}}
entry compute \"main\" fn1 in(g6) out() threads(64, 1, 1)
"
    );
    let out = check_all(&text);
    assert_eq!(out.matches("OpFunctionEnd").count(), 3, "{out}");
    has(&out, "StorageBufferArrayDynamicIndexing");
}

#[test]
fn wide_and_narrow_numbers() {
    let text = kernel(
        "block0:
  v0: u32 = load g6
  v1: u64 = convert v0
  v2: f64 = convert v1
  v3: f16 = convert v2
  v4: i16 = convert v3
  v5: u16 = bitcast v4
  v6: i64 = convert v5
  v7: u32 = countbits v1
  v8: u32 = firstbithigh v1
  v9: u64 = reversebits v1
  v10: u32 = firstbitlow v6
  v11: u32 = countbits v4
  v12: rwbytes = load g2
  rawstore v12, u32 0, v9
  rawstore v12, u32 8, v2
  rawstore v12, u32 16, v11
  v13: f16x2 = rawload v12, u32 18
  rawstore v12, u32 24, v13
  v14: u64 = rawload v12, u32 32
  v15: u64 = add v14, v1
  v16: ptr<storage, u64> = rawptr v12, u32 40
  v17: u64 = atomic_max v16, v15
  v18: u64 = convert v2
  v19: i64 = convert v2
  v20: u16 = convert v3
  v21: i32 = convert v3
  v22: i16 = shl v4, i16 20
  v23: u64 = add v18, v1
  rawstore v12, u32 48, v23
  ret",
    );
    let out = check_all(&text);
    for capability in ["Int64", "Int16", "Float16", "Float64", "Int64Atomics", "StorageBuffer16BitAccess"] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    // Three views of one buffer.
    assert_eq!(out.matches("Aliased").count(), 3, "{out}");
}

#[test]
fn words_are_the_same_every_time() {
    let text = kernel("block0:\n  v0: rwbytes = load g2\n  rawstore v0, u32 0, f32 1.5\n  ret");
    let options = common::for_target(TargetEnv::Vulkan1_2);
    assert_eq!(common::emit(&text, &options), common::emit(&text, &options));
    let out = check_for(&text, TargetEnv::Vulkan1_1);
    // Nothing that is not used is declared.
    assert_eq!(out.matches("OpCapability").count(), 1, "{out}");
    lacks(&out, "OpExtension");
    assert_eq!(out.matches("OpVariable").count(), 1, "{out}");
    has(&out, "OpEntryPoint GLCompute");
}

#[test]
fn a_block_is_loaded_as_a_whole() {
    let text = kernel(
        "  local l0 \"all\": s1
block0:
  v0: cbuffer<s1> = load g0
  v1: ptr<constant, s1> = blockptr v0
  v2: s1 = load v1
  store l0, v2
  v3: ptr<function, u32> = access l0, u32 2
  v4: u32 = load v3
  v5: rwbytes = load g2
  rawstore v5, u32 0, v4
  ret",
    );
    check_all(&text);
}

#[test]
fn remainders_are_defined_for_negative_operands() {
    let text = kernel(
        "block0:
  v0: u32 = load g6
  v1: i32 = bitcast v0
  v2: i32 = sub i32 3, v1
  v3: i32 = rem v2, v1
  v4: i32x2 = construct v2, v1
  v5: i32x2 = rem v4, i32x2 [3, -3]
  v6: i64 = convert v3
  v7: i64 = rem v6, i64 -7
  v8: rwbytes = load g2
  rawstore v8, u32 0, v5
  rawstore v8, u32 8, v7
  ret",
    );
    let out = check_all(&text);
    lacks(&out, "OpSRem");
    lacks(&out, "OpSMod");
    assert_eq!(out.matches("OpSDiv").count(), 3, "{out}");
}
