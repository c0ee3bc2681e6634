//! What the environment and the list of extensions allow.

mod common;

use common::{check_for, emit, has, lacks, try_emit, validate};
use oneshader_ir::layout::LayoutOptions;
use oneshader_ir::slots::SlotOptions;
use oneshader_spirv::{Extension, SpirvOptions, TargetEnv};

fn compute(body: &str) -> String {
    format!(
        "module handles_resolved\n\
         global g0 \"id\": input u32 io(\"SV_GroupIndex\", 0) builtin(group_index)\n\
         global g1 \"out\": handle rwstructured<u32> resource\n\
         func fn0 \"main\" () -> void {{\nblock0:\n{body}  ret\n}}\n\
         entry compute \"main\" fn0 in(g0) out() threads(8, 1, 1)\n"
    )
}

const STORE: &str =
    "  v0: rwstructured<u32> = load g1\n  v1: ptr<storage, u32> = elementptr v0, u32 0\n  store v1, u32 7\n";

fn errors(text: &str, options: &SpirvOptions) -> String {
    try_emit(text, options, &LayoutOptions::VULKAN, &SlotOptions::default()).err().unwrap_or_default()
}

#[test]
fn vulkan_1_0_takes_storage_buffers_by_their_extension() {
    let text = compute(STORE);
    has(&check_for(&text, TargetEnv::Vulkan1_0), "SPV_KHR_storage_buffer_storage_class");
    lacks(&check_for(&text, TargetEnv::Vulkan1_1), "OpExtension");
    let words = emit(&text, &common::for_target(TargetEnv::Vulkan1_0));
    assert_eq!(words[1], 0x0001_0000, "version 1.0");
}

#[test]
fn vulkan_1_0_has_no_operations_across_lanes() {
    let text = compute("  v0: bool = waveisfirstlane\n");
    let error = errors(&text, &common::for_target(TargetEnv::Vulkan1_0));
    assert!(error.starts_with("OSH4013"), "{error}");
    check_for(&text, TargetEnv::Vulkan1_1);
}

#[test]
fn extensions_off_the_list_are_not_used() {
    let text = compute(STORE);
    let only = |name| SpirvOptions {
        extensions: vec![Extension::parse(name).unwrap()],
        ..common::for_target(TargetEnv::Vulkan1_0)
    };
    let error = errors(&text, &only("SPV_KHR_multiview"));
    assert!(error.starts_with("OSH4012"), "{error}");
    validate(&emit(&text, &only("KHR")), TargetEnv::Vulkan1_0, &[]);
}

#[test]
fn stated_execution_modes_bring_what_they_need() {
    let text = "module handles_resolved\nfunc fn0 \"main\" () -> void {\nblock0:\n  ret\n}\n\
                entry pixel \"main\" fn0 in() out() threads(1, 1, 1) early modes(9, 4446, 5017)\n";
    let out = check_for(text, TargetEnv::Vulkan1_3);
    for part in ["PostDepthCoverage", "SPV_KHR_post_depth_coverage", "SPV_AMD_shader_early_and_late_fragment_tests"] {
        has(&out, part);
    }
    assert_eq!(out.matches("EarlyFragmentTests").count(), 1, "{out}");
}

#[test]
fn what_is_printed_goes_through_the_debugging_sets() {
    let text = compute("  printf \"%u!\", u32 3\n  printf \"%u!\", u32 4\n  debugbreak\n");
    let out = check_for(&text, TargetEnv::Vulkan1_1);
    for part in ["SPV_KHR_non_semantic_info", "NonSemantic.DebugPrintf", "NonSemantic.DebugBreak"] {
        has(&out, part);
    }
    assert_eq!(out.matches("OpString \"%u!\"").count(), 1, "{out}");
    lacks(&check_for(&text, TargetEnv::Vulkan1_3), "OpExtension");
}

#[test]
fn waves_of_a_group_are_counted_by_vulkan() {
    let text = compute("  v0: u32 = groupwaveindex\n  v1: u32 = groupwavecount\n");
    let out = check_for(&text, TargetEnv::Vulkan1_1);
    has(&out, "BuiltIn SubgroupId");
    has(&out, "BuiltIn NumSubgroups");
}
