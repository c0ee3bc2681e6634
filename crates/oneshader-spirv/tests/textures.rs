//! Textures, samplers, typed buffers, image atomics, arrays of resources.

mod common;

use common::{check_all, check_for, check_with, emit, for_target, has, lacks, try_emit};
use oneshader_ir::layout::LayoutOptions;
use oneshader_ir::slots::SlotOptions;
use oneshader_spirv::{SpirvOptions, TargetEnv};

const HEAD: &str = r#"module handles_resolved
global g0 "uv": input f32x4 io("TEXCOORD", 0) location(0)
global g1 "idx": input u32 io("IDX", 0) location(1)
global g2 "color": output f32x4 io("SV_Target", 0) location(0)
global g3 "smp": handle sampler resource register(s, 0, space 0)
global g4 "cmp": handle samplercmp resource register(s, 1, space 0)
global g5 "t1": handle texture_1d<f32x4> resource
global g6 "t2": handle texture_2d<f32x4> resource
global g7 "t3": handle texture_3d<f32x4> resource
global g8 "tc": handle texture_cube<f32x4> resource
global g9 "t1a": handle texture_1darray<f32> resource
global g10 "t2a": handle texture_2darray<f32x4> resource
global g11 "tca": handle texture_cubearray<f32x4> resource
global g12 "ms": handle texture_2dms<f32x4> resource
global g13 "msa": handle texture_2dmsarray<u32x4> resource
global g14 "tb": handle texture_buffer<f32x2> resource
global g15 "rb": handle rwtexture_buffer<u32> resource
global g16 "r2": handle rwtexture_2d<f32x3> resource
global g17 "ri": handle rwtexture_2darray<i32> resource
global g18 "many": handle [texture_2d<f32x4>] resource
global g19 "th": handle texture_2d<f16x4> resource
global g20 "few": handle [rwtexture_3d<f32x4> x 6] resource vk_image_format("rgba16f")
global g21 "r1": handle rwtexture_1d<u32x4> resource
"#;

fn pixel(body: &str) -> String {
    format!(
        "{HEAD}func fn0 \"main\" () -> void {{\nblock0:\n{body}\n  ret\n}}\nentry pixel \"main\" fn0 in(g0, g1) out(g2) threads(1, 1, 1)\n"
    )
}

#[test]
fn every_way_to_sample() {
    let text = pixel(
        "  v0: f32x4 = load g0
  v1: f32x2 = swizzle v0, #xy
  v2: f32x3 = swizzle v0, #xyz
  v3: f32 = extract v0, #0
  v4: sampler = load g3
  v5: samplercmp = load g4
  v6: texture_2d<f32x4> = load g6
  v7: texture_cubearray<f32x4> = load g11
  v8: texture_1darray<f32> = load g9
  v9: texture_3d<f32x4> = load g7
  v10: texture_2darray<f32x4> = load g10
  v11: texture_cube<f32x4> = load g8
  v12: f32x4 = sample v6, sampler v4, coord v1
  v13: f32x4 = sample v6, sampler v4, coord v1, bias v3, offset i32x2 [1, -2]
  v14: f32x4 = sample v7, sampler v4, coord v0, level v3
  v15: f32x4 = sample v9, sampler v4, coord v2, grad v2 v2, offset i32x3 [1, 0, 0]
  v16: f32x4 = sample v10, sampler v4, coord v2, minlod v3
  v17: f32 = sample v10, sampler v5, coord v2, compare v3
  v18: f32 = sample v11, sampler v5, coord v2, compare v3, level f32 0.0
  v19: f32x4 = sample v8, sampler v4, coord v1
  v20: f32x4 = gather #2, v6, sampler v4, coord v1
  v21: f32x4 = gather #0, v10, sampler v5, coord v2, compare v3, offset i32x2 [1, 1]
  v22: f32x4 = gather #1, v6, sampler v4, coord v1, offsets i32x2 [0, 1] i32x2 [1, 1] i32x2 [2, 1] i32x2 zero
  v23: i32x2 = convert v1
  v24: f32x4 = gather #1, v6, sampler v4, coord v1, offset v23
  v25: f32x4 = gather #1, v6, sampler v4, coord v1, offsets i32x2 [0, 1] v23 i32x2 [2, 1] v23
  v26: f32 = texlod v10, sampler v4, coord v2
  v27: f32 = texlod_unclamped v6, sampler v4, coord v1
  v28: texture_2d<f16x4> = load g19
  v29: f16x4 = sample v28, sampler v4, coord v1
  v30: f32x4 = convert v29
  v31: f32x4 = add v12, v30
  store g2, v31",
    );
    let out = check_all(&text);
    for capability in ["ImageGatherExtended", "MinLod", "ImageQuery", "SampledCubeArray", "Sampled1D"] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    has(&out, "ConstOffsets");
    has(&out, "OpImageSampleDrefExplicitLod");
}

#[test]
fn loads_stores_and_queries() {
    let text = pixel(
        "  v0: u32 = load g1
  v1: u32x2 = splat v0
  v2: u32x3 = splat v0
  v3: texture_2d<f32x4> = load g6
  v4: texture_2dms<f32x4> = load g12
  v5: texture_2dmsarray<u32x4> = load g13
  v6: texture_buffer<f32x2> = load g14
  v7: rwtexture_buffer<u32> = load g15
  v8: rwtexture_2d<f32x3> = load g16
  v9: rwtexture_2darray<i32> = load g17
  v10: texture_cubearray<f32x4> = load g11
  v11: texture_1darray<f32> = load g9
  v12: f32x4 = texload v3, coord v1, level u32 1, offset i32x2 [1, 1]
  v13: f32x4 = texload v4, coord v1, sampleindex i32 2
  v14: u32x4 = texload v5, coord v2, sampleindex i32 2
  v15: f32x4 = texload v6, coord v0
  v16: u32x4 = texload v7, coord v0
  v17: f32x4 = texload v8, coord v1
  texstore v8, coord v1, value v17
  v18: i32x4 = texload v9, coord v2
  texstore v9, coord v2, value v18
  v19: u32x2 = texsize v3, level v0
  v20: u32x3 = texsize v10, level u32 0
  v21: u32x2 = texsize v11
  v22: u32x2 = texsize v4
  v23: u32 = texsize v6
  v24: u32 = texlevels v3
  v25: u32 = texsamples v4
  v26: ptr<texel, u32> = texelptr v7, v0
  v27: u32 = atomic_add v26, v25
  v28: ptr<texel, i32> = texelptr v9, v2
  v29: i32 = atomic_cmpxchg v28, i32 1, i32 2
  v30: f32x4 = texload v11, coord v1, level u32 0, offset i32 3
  v31: rwtexture_1d<u32x4> = load g21
  v32: u32x4 = texload v31, coord v0
  v33: u32 = texsize v31
  store g2, v12",
    );
    let out = check_all(&text);
    for capability in ["SampledBuffer", "ImageBuffer", "Image1D", "StorageImageReadWithoutFormat"] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    has(&out, "OpImageTexelPointer");
    has(&out, "R32i");
    // No format can be derived for three components, and none is when asked.
    lacks(&out, "StorageImageExtendedFormats");
    let options = SpirvOptions { unknown_image_formats: true, ..SpirvOptions::default() };
    let plain = pixel("  v0: rwtexture_1d<u32x4> = load g21\n  v1: u32x4 = texload v0, coord u32 0");
    has(&check_with(&plain, &options), "StorageImageReadWithoutFormat");
    lacks(&check_all(&plain), "StorageImageReadWithoutFormat");
}

#[test]
fn arrays_of_resources_and_nonuniform_indices() {
    let text = pixel(
        "  v0: f32x4 = load g0
  v1: f32x2 = swizzle v0, #xy
  v2: u32 = load g1
  v3: u32 = copy.nonuniform v2
  v4: ptr<handle, texture_2d<f32x4>> = access g18, v3
  v5: texture_2d<f32x4> = load v4
  v6: sampler = load g3
  v7: f32x4 = sample v5, sampler v6, coord v1
  v8: ptr<handle, rwtexture_3d<f32x4>> = access g20, v2
  v9: rwtexture_3d<f32x4> = load v8
  texstore v9, coord u32x3 zero, value v7
  store g2, v7",
    );
    let out = check_all(&text);
    for capability in [
        "RuntimeDescriptorArray",
        "ShaderNonUniform",
        "SampledImageArrayNonUniformIndexing",
        "StorageImageArrayDynamicIndexing",
    ] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
    has(&out, "Rgba16f");
    lacks(&out, "OpExtension");
    has(&check_for(&text, TargetEnv::Vulkan1_1), "SPV_EXT_descriptor_indexing");
}

#[test]
fn what_vulkan_cannot_say_is_refused() {
    let cases = [(
        "  v0: f32x4 = load g0
  v1: f32x2 = swizzle v0, #xy
  v2: i32x2 = convert v1
  v3: texture_2d<f32x4> = load g6
  v4: sampler = load g3
  v5: f32x4 = sample v3, sampler v4, coord v1, offset v2",
        "OSH4001 the offset of a sample must be a constant",
    )];
    for (body, expected) in cases {
        let result =
            try_emit(&pixel(body), &for_target(TargetEnv::Vulkan1_3), &LayoutOptions::VULKAN, &SlotOptions::default());
        let error = result.expect_err("an error");
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_subpass_input() {
    let text = r#"module handles_resolved
global g0 "in": handle subpass<f32> resource vk_input_attachment(3)
global g1 "o": output f32x4 io("SV_Target", 0) location(0)
func fn0 "main" () -> void {
block0:
  v0: subpass<f32> = load g0
  v1: f32x4 = texload v0
  store g1, v1
  ret
}
entry pixel "main" fn0 in() out(g1) threads(1, 1, 1)
"#;
    let out = check_all(text);
    has(&out, "InputAttachmentIndex 3");
    has(&out, "OpCapability InputAttachment\n");
}

#[test]
fn derivatives_in_a_compute_shader() {
    let text = |threads: &str| {
        format!(
            r#"module handles_resolved
global g0 "t": handle texture_2d<f32x4> resource
global g1 "s": handle sampler resource
global g2 "o": handle rwbytes resource
func fn0 "main" () -> void {{
block0:
  v0: texture_2d<f32x4> = load g0
  v1: sampler = load g1
  v2: f32x4 = sample v0, sampler v1, coord f32x2 zero
  v3: rwbytes = load g2
  rawstore v3, u32 0, v2
  ret
}}
entry compute "main" fn0 in() out() threads({threads})
"#
        )
    };
    has(&check_all(&text("8, 8, 1")), "DerivativeGroupQuadsKHR");
    let words = emit(&text("64, 1, 1"), &for_target(TargetEnv::Vulkan1_1));
    has(&common::disassemble(&words), "DerivativeGroupLinearKHR");
}

#[test]
fn arrays_of_resources_can_be_flattened() {
    let text = |index: &str| {
        format!(
            r#"module handles_resolved
global g0 "many": handle [[rwbytes x 3] x 2] resource register(u, 4, space 1)
global g1 "gi": input u32 io("SV_GroupIndex", 0) builtin(group_index)
func fn0 "main" () -> void {{
block0:
  v0: u32 = load g1
  v1: ptr<handle, rwbytes> = access g0, u32 1, {index}
  v2: rwbytes = load v1
  rawstore v2, u32 0, v0
  ret
}}
entry compute "main" fn0 in(g1) out() threads(1, 1, 1)
"#
        )
    };
    let slots = oneshader_ir::slots::SlotOptions {
        spirv: oneshader_ir::slots::SpirvSlotOptions { flatten_arrays: true, ..Default::default() },
        ..Default::default()
    };
    let options = SpirvOptions { flatten_arrays: true, ..for_target(TargetEnv::Vulkan1_1) };
    let words = try_emit(&text("u32 2"), &options, &LayoutOptions::VULKAN, &slots).unwrap();
    common::validate(&words, TargetEnv::Vulkan1_1, &[]);
    let out = common::disassemble(&words);
    // Element 1 * 3 + 2 of the array at u4.
    has(&out, "Binding 9");
    lacks(&out, "OpTypeArray");
    let error = try_emit(&text("v0"), &options, &LayoutOptions::VULKAN, &slots).unwrap_err();
    assert!(error.contains("needs constant indices"), "{error}");
}

#[test]
fn arrays_of_typed_buffers_and_subpass_inputs() {
    let text = r#"module handles_resolved
global g0 "bufs": handle [texture_buffer<f32x4> x 4] resource
global g1 "rw": handle [rwtexture_buffer<f32x4> x 4] resource
global g2 "i": input u32 io("I", 0) location(0)
global g3 "in": handle [subpass<f32> x 3] resource vk_input_attachment(3)
global g4 "o": output f32x4 io("SV_Target", 0) location(0)
func fn0 "main" () -> void {
block0:
  v0: u32 = load g2
  v1: ptr<handle, texture_buffer<f32x4>> = access g0, v0
  v2: texture_buffer<f32x4> = load v1
  v3: f32x4 = texload v2, coord v0
  v4: ptr<handle, rwtexture_buffer<f32x4>> = access g1, v0
  v5: rwtexture_buffer<f32x4> = load v4
  texstore v5, coord v0, value v3
  v6: u32 = copy.nonuniform v0
  v7: ptr<handle, subpass<f32>> = access g3, v6
  v8: subpass<f32> = load v7
  v9: f32x4 = texload v8
  store g4, v9
  ret
}
entry pixel "main" fn0 in(g2) out(g4) threads(1, 1, 1)
"#;
    let out = check_all(text);
    for capability in [
        "UniformTexelBufferArrayDynamicIndexing",
        "StorageTexelBufferArrayDynamicIndexing",
        "InputAttachmentArrayNonUniformIndexing",
    ] {
        has(&out, &format!("OpCapability {capability}\n"));
    }
}

/// The texture's variable holds both; the sampler's is declared only where another image is sampled with it.
#[test]
fn combined_image_samplers_are_one_variable() {
    let text = |sampled: &str| {
        format!(
            r#"module handles_resolved
global g0 "uv": input f32x2 io("TEXCOORD", 0) location(0)
global g1 "idx": input u32 io("IDX", 0) location(1)
global g2 "color": output f32x4 io("SV_Target", 0) location(0)
global g3 "tex": handle texture_2d<f32x4> resource register(t, 3, space 1) combined
global g4 "tex.sampler": handle samplercmp resource combined sampler_of(g3)
global g5 "many": handle [texture_2d<f32x4> x 4] resource combined
global g6 "many.sampler": handle [samplercmp x 4] resource combined sampler_of(g5)
global g7 "plain": handle texture_2d<f32x4> resource
func fn0 "main" () -> void {{
block0:
  v0: f32x2 = load g0
  v1: u32 = load g1
  v2: samplercmp = load g4
  v3: texture_2d<f32x4> = load g3
  v4: texture_2d<f32x4> = load g7
  v5: ptr<handle, texture_2d<f32x4>> = access g5, v1
  v6: texture_2d<f32x4> = load v5
  v7: ptr<handle, samplercmp> = access g6, v1
  v8: samplercmp = load v7
  v9: ptr<handle, samplercmp> = access g6, u32 2
  v10: samplercmp = load v9
  v11: u32x2 = texsize v3, level u32 0
{sampled}
  ret
}}
entry pixel "main" fn0 in(g0, g1) out(g2) threads(1, 1, 1)
"#
        )
    };
    let pairs = "  v12: f32x4 = sample v3, sampler v2, coord v0
  v13: f32x4 = sample v6, sampler v8, coord v0
  v14: f32x4 = add v12, v13
  store g2, v14";
    let out = check_all(&text(pairs));
    lacks(&out, "OpTypeSampler\n");
    lacks(&out, "OpSampledImage");
    has(&out, "OpTypeSampledImage");
    has(&out, "OpImage ");
    // The descriptor is the texture's, of the first binding of its set for the array.
    has(&out, "DescriptorSet 1\n");
    has(&out, "Binding 3\n");
    for other in ["sample v4, sampler v2, coord v0", "sample v6, sampler v10, coord v0"] {
        let out = check_all(&text(&format!("  v12: f32x4 = {other}\n  store g2, v12")));
        has(&out, "OpTypeSampler\n");
        has(&out, "OpSampledImage ");
    }
}

/// Four gathers have four codes; the first that tells of a missing texel is the one that is given.
#[test]
fn gathers_with_offsets_that_vary_tell_the_residency() {
    let text = pixel(
        "  v0: f32x4 = load g0
  v1: f32x2 = swizzle v0, #xy
  v2: i32x2 = convert v1
  v3: sampler = load g3
  v4: texture_2d<f32x4> = load g6
  v5: s0 = gather #0, v4, sampler v3, coord v1, offsets v2 v2 v2 i32x2 [1, 1], status
  v6: f32x4 = extract v5, #1
  store g2, v6",
    )
    .replace(
        "module handles_resolved\n",
        "module handles_resolved\nstruct s0 \"R\" {\n  \"status\": u32\n  \"texel\": f32x4\n}\n",
    );
    let out = check_all(&text);
    assert_eq!(out.matches("OpImageSparseGather ").count(), 4, "{out}");
    assert_eq!(out.matches("OpImageSparseTexelsResident ").count(), 3, "{out}");
}
