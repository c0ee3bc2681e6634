//! Quads of threads, executed: derivatives and levels of detail in kernels, as DirectX-Specs' HLSL_SM_6_6_Derivatives and
//! the coarse derivatives of the D3D11.3 functional specification (22.5.2) define them.

mod common;

use common::emit;
use metal_check::run::{Dispatch, Element, Executor, MipFilter, Sampler, Texture};
use oneshader_msl::MslOptions;

/// Runs a kernel that gives a number for each thread, by `SV_GroupIndex`; `v5` is the thread's position in texels.
fn run(body: &str, threads: [u32; 3]) -> Vec<f32> {
    let [x, y, z] = threads;
    let text = format!(
        "; test msl
module handles_resolved
global g0 \"out\": handle rwstructured<f32> resource
global g1 \"levels\": handle texture_2d<f32x4> resource
global g2 \"cube\": handle texture_cube<f32x4> resource
global g3 \"s\": handle sampler resource
global g4 \"i\": input u32 io(\"SV_GroupIndex\", 0) builtin(group_index)
global g5 \"at\": input u32x2 io(\"SV_GroupThreadID\", 0) builtin(group_thread_id)
func fn0 \"main\" () -> void {{
block0:
  v0: texture_2d<f32x4> = load g1
  v1: texture_cube<f32x4> = load g2
  v2: sampler = load g3
  v3: u32 = load g4
  v4: u32x2 = load g5
  v5: f32x2 = convert v4
{body}
  v30: rwstructured<f32> = load g0
  v31: ptr<storage, f32> = elementptr v30, v3
  store v31, v29
  ret
}}
entry compute \"main\" fn0 in(g4, g5) out() threads({x}, {y}, {z})
"
    );
    let metal = emit(&text, &MslOptions::default());
    let kernel = Executor::new(Default::default())
        .unwrap()
        .compile("quads.metal", &metal, None, &Default::default())
        .unwrap_or_else(|e| panic!("{e}\n{metal}"));
    let sampler = Sampler { mip: MipFilter::Nearest, ..Sampler::default() };
    let dispatch = Dispatch::new([1, 1, 1], threads)
        .with_buffer(0, vec![0; (x * y * z * 4) as usize])
        .with_texture(0, levels(1))
        .with_texture(1, levels(6))
        .with_sampler(0, sampler);
    let done = kernel.dispatch(&dispatch).unwrap_or_else(|e| panic!("{e}\n{metal}"));
    done.buffer(0).unwrap().chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// A texture of 64 by 64 texels that holds the number of the level in each.
fn levels(layers: u32) -> Texture {
    let mut texture = Texture::new(64, 64, 1, Element::Float).with_layers(layers, 7);
    for level in 0..7 {
        let size = 64 >> level;
        for layer in 0..layers {
            for at in 0..size * size {
                let index = texture.index([at % size, at / size, 0], layer, level);
                texture.texels[index] = [(level as f32).to_bits(); 4];
            }
        }
    }
    texture
}

/// The square of the index: no plane, so that the threads of a quad differ.
const SQUARE: &str = "  v10: f32 = convert v3\n  v11: f32 = mul v10, v10\n";

#[test]
fn coarse_derivatives_are_the_first_threads() {
    let square = |i: usize| (i * i) as f32;
    let found = run(&format!("{SQUARE}  v29: f32 = ddxcoarse v11"), [4, 2, 2]);
    for (i, value) in found.into_iter().enumerate() {
        // Rows are four threads long, slices eight.
        let first = i / 8 * 8 + i % 4 / 2 * 2;
        assert_eq!(value, square(first + 1) - square(first), "thread {i}");
    }
    let found = run(&format!("{SQUARE}  v29: f32 = ddy v11"), [8, 1, 1]);
    for (i, value) in found.into_iter().enumerate() {
        assert_eq!(value, square(i / 4 * 4 + 2) - square(i / 4 * 4), "thread {i}");
    }
}

#[test]
fn fine_derivatives_are_those_of_the_row_and_column() {
    let square = |i: usize| (i * i) as f32;
    let found = run(&format!("{SQUARE}  v29: f32 = ddyfine v11"), [4, 4, 1]);
    for (i, value) in found.into_iter().enumerate() {
        let top = i / 8 * 8 + i % 4;
        assert_eq!(value, square(top + 4) - square(top), "thread {i}");
    }
    let found = run(&format!("{SQUARE}  v29: f32 = ddxfine v11"), [2, 4, 1]);
    for (i, value) in found.into_iter().enumerate() {
        assert_eq!(value, square(i | 1) - square(i & !1), "thread {i}");
    }
}

/// Threads `step` texels apart sample level log2(step), and a bias moves it.
#[test]
fn samples_find_their_level() {
    for (step, level) in [(1, 0.0), (2, 1.0), (8, 3.0)] {
        let coordinate = format!(
            "  v10: f32x2 = mul v5, f32x2 [{0}.0, {0}.0]\n  v11: f32x2 = mul v10, f32x2 [0.015625, 0.015625]\n",
            step
        );
        let tail = "  v29: f32 = extract v12, #0";
        let plain = format!("{coordinate}  v12: f32x4 = sample v0, sampler v2, coord v11\n{tail}");
        assert_eq!(run(&plain, [4, 4, 1]), [level; 16]);
        let bias = format!("{coordinate}  v12: f32x4 = sample v0, sampler v2, coord v11, bias f32 2.0\n{tail}");
        assert_eq!(run(&bias, [8, 2, 1]), [level + 2.0; 16]);
        let query = format!("{coordinate}  v29: f32 = texlod_unclamped v0, sampler v2, coord v11");
        assert_eq!(run(&query, [4, 4, 1]), [level; 16]);
    }
}

/// On a face of a cube, from edge to edge two units wide.
#[test]
fn a_cube_has_the_level_of_its_face() {
    for (face, level) in [("v12, v13, f32 1.0", 2.0), ("f32 -1.0, v12, v13", 2.0), ("v12, f32 2.0, v13", 1.0)] {
        let body = format!(
            "  v10: f32x2 = mul v5, f32x2 [0.125, 0.125]
  v11: f32x2 = sub v10, f32x2 [0.25, 0.25]
  v12: f32 = extract v11, #0
  v13: f32 = extract v11, #1
  v14: f32x3 = construct {face}
  v29: f32 = texlod_unclamped v1, sampler v2, coord v14"
        );
        assert_eq!(run(&body, [4, 4, 1]), [level; 16], "{face}");
    }
}
