//! Instructions, execution modes, decorations and built-in variables that the program names by number.

mod common;

use common::{check_for, emit, for_target, has, lacks, try_emit};
use oneshader_ir::layout::LayoutOptions;
use oneshader_ir::slots::SlotOptions;
use oneshader_spirv::{SpirvOptions, TargetEnv};

fn compute(inlines: &str, body: &str) -> String {
    format!(
        "module handles_resolved
{inlines}
global g0 \"Groups\": input u32x3 io(\"Groups\", 0) builtin(spirv, 24)
global g1 \"Out\": handle rwbytes resource
func fn0 \"main\" () -> void {{
  local l0 \"x\": f32
block0:
{body}
  ret
}}
entry compute \"main\" fn0 in(g0) out() threads(1, 1, 1)
"
    )
}

#[test]
fn each_instruction_stands_in_its_section() {
    let text = compute(
        "inline asm0 5056 operands(id)
inline asm1 13 set(\"GLSL.std.450\") operands(id)
inline asm2 16 operands([4461], [32])
inline asm3 71 operands(id, [20])
inline asm4 61 operands(id, [1])
inline asm5 0 capabilities(4427) extensions(\"SPV_KHR_shader_draw_parameters\") operands()
inline asm6 43 operands([7])",
        "  spirv asm5
  spirv asm2
  spirv asm2
  spirv asm3, l0
  store l0, f32 2.0
  v0: f32 = spirv asm4, l0
  v1: f32 = spirv asm1, v0
  v2: u64 = spirv asm0, u32 1
  v3: u32 = spirv asm6
  v4: u32x3 = load g0",
    );
    let out = check_for(&text, TargetEnv::Vulkan1_2);
    for words in [
        "OpCapability ShaderClockKHR\n",
        "OpCapability DrawParameters\n",
        "OpExtension \"SPV_KHR_shader_clock\"\n",
        "OpExtension \"SPV_KHR_shader_draw_parameters\"\n",
        "BuiltIn NumWorkgroups\n",
        "Aliased\n",
        " Sin ",
        "Volatile\n",
    ] {
        has(&out, words);
    }
    assert_eq!(out.matches("SignedZeroInfNanPreserve 32").count(), 1, "{out}");
    lacks(&out, "OpNop");
}

#[test]
fn what_no_function_can_have_is_an_error() {
    for (inline, op) in [
        ("inline asm0 248 operands()", "  spirv asm0"),
        ("inline asm0 99999 operands()", "  spirv asm0"),
        ("inline asm0 16 operands([999999])", "  spirv asm0"),
        ("inline asm0 59 operands([7])", "  v0: f32 = spirv asm0"),
    ] {
        let text = compute(inline, op);
        let options = SpirvOptions::default();
        let error = try_emit(&text, &options, &LayoutOptions::VULKAN, &SlotOptions::default()).unwrap_err();
        has(&error, "OSH4001");
    }
}

#[test]
fn capabilities_choose_the_models() {
    let text = compute("inline asm0 0 capabilities(5345, 5347) operands()", "  spirv asm0");
    let words = emit(&text, &for_target(TargetEnv::Vulkan1_2));
    has(&common::disassemble(&words), "OpMemoryModel PhysicalStorageBuffer64 Vulkan");
}

#[test]
fn named_types_are_emitted_with_what_they_are_made_of() {
    let text = compute(
        "inline asm0 4456 operands(type f32, const u32 3, const u32 16, const u32 16, const u32 2)
inline asm1 80 capabilities(6022, 5345) extensions(\"SPV_KHR_cooperative_matrix\") operands(id)
inline asm2 32 operands([7], type f32)
inline asm3 65 operands(id, id)
inline asm4 61 operands(id)
inline asm5 4460 operands(type asm0)
inline asm6 62 operands(id, id)",
        "  v4: asm0 = spirv asm1, f32 1.0
  store l1, v4
  v5: asm2 = spirv asm3, l1, u32 0
  v6: f32 = spirv asm4, v5
  spirv asm6, v5, v6
  v7: u32 = spirv asm5",
    );
    let text = text.replace("local l0 \"x\": f32", "local l0 \"x\": f32\n  local l1 \"m\": asm0");
    let out = check_for(&text, TargetEnv::Vulkan1_3);
    for words in [
        "OpTypeCooperativeMatrixKHR %6 %9 %10 %10 %11\n",
        "OpCompositeConstruct",
        "OpAccessChain  %",
        "OpCooperativeMatrixLengthKHR  %8  %12\n",
        "OpMemoryModel Logical Vulkan\n",
    ] {
        has(&out, words);
    }
    let wrong = compute("inline asm0 61 operands()\ninline asm1 1 operands()", "  v4: asm0 = spirv asm1");
    let options = SpirvOptions::default();
    has(&try_emit(&wrong, &options, &LayoutOptions::VULKAN, &SlotOptions::default()).unwrap_err(), "OSH4001");
}

#[test]
fn the_vulkan_memory_model_names_what_others_see() {
    let text = "module handles_resolved
inline asm0 0 capabilities(5345) operands()
global g0 \"S\": workgroup [u32 x 4]
global g1 \"Out\": handle rwbytes resource coherent
func fn0 \"main\" () -> void {
block0:
  spirv asm0
  v0: ptr<workgroup, u32> = access g0, i32 0
  v1: u32 = load v0
  v2: rwbytes = load g1
  rawstore v2, u32 0, v1
  v3: u32 = rawload v2, u32 4
  store v0, v3
  groupmemorybarriersync
  ret
}
entry compute \"main\" fn0 in() out() threads(1, 1, 1)
";
    let out = check_for(text, TargetEnv::Vulkan1_1);
    for words in [
        "OpExtension \"SPV_KHR_vulkan_memory_model\"\n",
        "OpCapability VulkanMemoryModelDeviceScope\n",
        "MakePointerAvailable|NonPrivatePointer %29\n",
        "MakePointerVisible|NonPrivatePointer %29\n",
        " NonPrivatePointer\n",
        "OpControlBarrier %25 %25 %36\n",
    ] {
        has(&out, words);
    }
    lacks(&out, "Coherent");
}
