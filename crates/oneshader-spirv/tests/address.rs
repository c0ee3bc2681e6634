//! Memory by its address.

mod common;

use common::{check_all, has};

#[test]
fn every_access_states_an_alignment_that_holds() {
    let text = r#"module handles_resolved
struct s0 "Node" {
  "v": f32x4
  "n": [u32 x 3]
  "h": f16
  "b": bool
  "d": f64x2
}
struct s1 "PC" {
  "root": u64
}
global g0 "pc": handle cbuffer<s1> resource push_constant
func fn0 "main" () -> void {
block0:
  v0: cbuffer<s1> = load g0
  v1: ptr<constant, s1> = blockptr v0
  v2: ptr<constant, u64> = access v1, u32 0
  v3: u64 = load v2
  v4: ptr<device, s0> = addressptr v3, #32
  v5: ptr<device, f32x4> = access v4, u32 0
  v6: f32x4 = load v5
  v7: ptr<device, f32> = access v4, u32 0, u32 2
  store v7, f32 1.0
  v8: u32 = convert v3
  v9: ptr<device, u32> = access v4, u32 1, v8
  v10: u32 = load v9
  v11: u32 = atomic_add v9, u32 3
  v12: ptr<device, f16> = access v4, u32 2
  v13: f16 = load v12
  v14: ptr<device, bool> = access v4, u32 3
  store v14, bool true
  v15: ptr<device, f64x2> = access v4, u32 4
  v16: f64x2 = load v15
  v17: s0 = load v4
  store v4, v17
  ret
}
entry compute "main" fn0 in() out() threads(1, 1, 1)
"#;
    let out = check_all(text);
    has(&out, "OpCapability PhysicalStorageBufferAddresses");
    has(&out, "OpMemoryModel PhysicalStorageBuffer64 GLSL450");
    // From the start, of `b` at 32 and of the whole twice: what the pointer promises. A component and elements of four bytes,
    // `h` at 28. `d` at 48.
    for (what, count) in [("Aligned 32", 4), ("Aligned 4", 3), ("Aligned 16", 1), ("Aligned", 8)] {
        assert_eq!(out.matches(what).count(), count, "{what} in\n{out}");
    }
}
