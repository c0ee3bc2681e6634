//! What the guards promise, executed: the emitted Metal on the CPU against HLSL's rules (D3D11.3 functional specification
//! 3.1.6 and 22; `docs/ir.md`, "Arithmetic").

mod common;

use common::emit;
use metal_check::run::{Dispatch, Executor};
use oneshader_ir::LayoutOptions;
use oneshader_msl::MslOptions;

/// Runs a kernel over `inputs` (buffer 0) and gives the words of buffer 1.
fn run(body: &str, inputs: &[u32], outputs: usize) -> Vec<u32> {
    let text = format!(
        "; test msl
module handles_resolved
global g0 \"a\": handle rwbytes resource
global g1 \"out\": handle rwbytes resource
func fn0 \"main\" () -> void {{
block0:
  v0: rwbytes = load g0
  v1: rwbytes = load g1
{body}
  ret
}}
entry compute \"main\" fn0 in() out() threads(1, 1, 1)
"
    );
    let metal = emit(&text, &MslOptions::default());
    let kernel = Executor::new(Default::default())
        .unwrap()
        .compile("guards.metal", &metal, None, &Default::default())
        .unwrap_or_else(|e| panic!("{e}\n{metal}"));
    let bytes: Vec<u8> = inputs.iter().flat_map(|w| w.to_le_bytes()).collect();
    let dispatch = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, bytes).with_buffer(1, vec![0; outputs * 4]);
    let done = kernel.dispatch(&dispatch).unwrap_or_else(|e| panic!("{e}\n{metal}"));
    done.buffer(1).unwrap().chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// `op a, b` on two words of type `ty`.
fn binary(op: &str, ty: &str, a: u32, b: u32) -> u32 {
    let body = format!(
        "  v2: {ty} = rawload v0, u32 0\n  v3: {ty} = rawload v0, u32 4\n  v4: {ty} = {op} v2, v3\n  rawstore v1, u32 0, v4"
    );
    run(&body, &[a, b], 1)[0]
}

/// `convert` of a float.
fn convert(to: &str, value: f32) -> u32 {
    let body = format!("  v2: f32 = rawload v0, u32 0\n  v3: {to} = convert v2\n  rawstore v1, u32 0, v3");
    run(&body, &[value.to_bits()], 1)[0]
}

const INT_MIN: u32 = 0x8000_0000;

#[test]
fn integers_wrap_and_shifts_are_masked() {
    assert_eq!(binary("add", "i32", i32::MAX as u32, 1), INT_MIN);
    assert_eq!(binary("mul", "i32", 0x4000_0000, 4), 0);
    assert_eq!(binary("sub", "i32", INT_MIN, 1), i32::MAX as u32);
    assert_eq!(binary("shl", "i32", u32::MAX, 33), -2i32 as u32);
    assert_eq!(binary("shr", "i32", INT_MIN, 63), u32::MAX);
    assert_eq!(binary("shr", "u32", INT_MIN, 32), INT_MIN);
}

#[test]
fn divisions_are_defined() {
    assert_eq!(binary("div", "u32", 7, 0), u32::MAX);
    assert_eq!(binary("rem", "u32", 7, 0), u32::MAX);
    assert_eq!(binary("div", "u32", 7, 2), 3);
    assert_eq!(binary("div", "i32", INT_MIN, u32::MAX), INT_MIN);
    assert_eq!(binary("rem", "i32", INT_MIN, u32::MAX), 0);
    assert_eq!(binary("div", "i32", -7i32 as u32, 2), -3i32 as u32);
    assert_eq!(binary("rem", "i32", -7i32 as u32, 2), -1i32 as u32);
}

#[test]
fn conversions_saturate() {
    assert_eq!(convert("i32", 3e9), i32::MAX as u32);
    assert_eq!(convert("i32", -3e9), INT_MIN);
    assert_eq!(convert("i32", f32::NAN), 0);
    assert_eq!(convert("i32", -2.9), -2i32 as u32);
    assert_eq!(convert("u32", -1.5), 0);
    assert_eq!(convert("u32", 5e9), u32::MAX);
    assert_eq!(convert("u32", f32::INFINITY), u32::MAX);
    assert_eq!(convert("u32", f32::NAN), 0);
    assert_eq!(convert("u32", 4_000_000_000.0), 4_000_000_000);
}

#[test]
fn of_nan_and_a_number_the_number() {
    let float = |op: &str, a: f32, b: f32| f32::from_bits(binary(op, "f32", a.to_bits(), b.to_bits()));
    assert_eq!(float("min", f32::NAN, 2.0), 2.0);
    assert_eq!(float("max", 2.0, f32::NAN), 2.0);
    let body = "  v2: f32 = rawload v0, u32 0\n  v3: f32 = saturate v2\n  rawstore v1, u32 0, v3";
    assert_eq!(f32::from_bits(run(body, &[f32::NAN.to_bits()], 1)[0]), 0.0);
    let body = "  v2: f32 = rawload v0, u32 0\n  v3: f32 = clamp v2, f32 2.0, f32 1.0\n  rawstore v1, u32 0, v3";
    assert_eq!(f32::from_bits(run(body, &[0f32.to_bits()], 1)[0]), 1.0);
}

#[test]
fn bits_are_found_from_below() {
    let find = |op: &str, ty: &str, a: u32| {
        let body = format!("  v2: {ty} = rawload v0, u32 0\n  v3: u32 = {op} v2\n  rawstore v1, u32 0, v3");
        run(&body, &[a], 1)[0]
    };
    assert_eq!(find("firstbithigh", "u32", 0x0010_0000), 20);
    assert_eq!(find("firstbithigh", "u32", 0), u32::MAX);
    assert_eq!(find("firstbithigh", "i32", -1i32 as u32), u32::MAX);
    assert_eq!(find("firstbithigh", "i32", -5i32 as u32), 2);
    assert_eq!(find("firstbitlow", "u32", 0x0010_0000), 20);
    assert_eq!(find("firstbitlow", "u32", 0), u32::MAX);
}

#[test]
fn halves_round_to_even() {
    let body = "  v2: f32 = rawload v0, u32 0\n  v3: f32 = roundeven v2\n  rawstore v1, u32 0, v3";
    let round = |x: f32| f32::from_bits(run(body, &[x.to_bits()], 1)[0]);
    assert_eq!(round(0.5), 0.0);
    assert_eq!(round(1.5), 2.0);
    assert_eq!(round(-2.5), -2.0);
}

/// Column-major memory against row vectors: `m[i]` is row i and `mul` is HLSL's.
#[test]
fn matrices_keep_their_rows() {
    let text = "; test msl
module handles_resolved
struct s0 \"Block\" {
  \"m\": f32x2x3
  \"rows\": f32x2x3 row
}
global g0 \"block\": handle rwstructured<s0> resource
global g1 \"out\": handle rwstructured<f32> resource
func fn0 \"main\" () -> void {
block0:
  v0: rwstructured<s0> = load g0
  v1: ptr<storage, s0> = elementptr v0, u32 0
  v2: ptr<storage, f32x2x3> = access v1, u32 0
  v3: f32x2x3 = load v2
  v4: f32x2 = matmul v3, f32x3 [1.0, 10.0, 100.0]
  v5: f32x3 = matmul f32x2 [1.0, 10.0], v3
  v6: ptr<storage, f32x3> = access v2, u32 1
  v7: f32x3 = load v6
  v8: ptr<storage, f32x2x3> = access v1, u32 1
  store v8, v3
  v9: rwstructured<f32> = load g1
  v10: f32 = extract v4, #1
  v11: ptr<storage, f32> = elementptr v9, u32 0
  store v11, v10
  v12: f32 = extract v5, #2
  v13: ptr<storage, f32> = elementptr v9, u32 1
  store v13, v12
  v14: f32 = extract v7, #0
  v15: ptr<storage, f32> = elementptr v9, u32 2
  store v15, v14
  ret
}
entry compute \"main\" fn0 in() out() threads(1, 1, 1)
";
    let metal = emit(text, &MslOptions { layout: LayoutOptions::SCALAR, ..MslOptions::default() });
    let kernel = Executor::new(Default::default())
        .unwrap()
        .compile("matrix.metal", &metal, None, &Default::default())
        .unwrap_or_else(|e| panic!("{e}\n{metal}"));
    // Rows (1, 2, 3) and (4, 5, 6), stored by columns.
    let memory: Vec<u8> =
        [1f32, 4., 2., 5., 3., 6., 0., 0., 0., 0., 0., 0.].iter().flat_map(|f| f.to_le_bytes()).collect();
    let dispatch = Dispatch::new([1, 1, 1], [1, 1, 1]).with_buffer(0, memory).with_buffer(1, vec![0; 12]);
    let done = kernel.dispatch(&dispatch).unwrap();
    let floats = |index: u32| -> Vec<f32> {
        done.buffer(index).unwrap().chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
    };
    assert_eq!(floats(1), [654.0, 63.0, 4.0], "{metal}");
    assert_eq!(floats(0)[6..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{metal}");
}
