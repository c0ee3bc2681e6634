//! Text of the IR to validated SPIR-V.
#![allow(dead_code, reason = "each test file uses a part")]

use oneshader_diag::DiagnosticBag;
use oneshader_ir::IrModule;
use oneshader_ir::layout::{LayoutOptions, Layouts};
use oneshader_ir::slots::{SlotOptions, Slots};
use oneshader_spirv::{Entries, SpirvBackend, SpirvOptions, Tables, TargetEnv};
use rspirv::binary::Disassemble;
use std::io::Write;
use std::process::Command;

pub fn parse(text: &str) -> IrModule {
    oneshader_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The words, or what was reported.
pub fn try_emit(
    text: &str,
    options: &SpirvOptions,
    rules: &LayoutOptions,
    slots: &SlotOptions,
) -> Result<Vec<u32>, String> {
    let module = parse(text);
    oneshader_ir::verify::verify(&module, "test").unwrap_or_else(|e| panic!("{e}"));
    let (layouts, errors) = Layouts::of_module(&module, rules);
    assert_eq!(errors, []);
    let (slots, errors) = Slots::assign(&module, slots);
    assert_eq!(errors, []);
    let tables = Tables { layouts: &layouts, rules, slots: &slots };
    let mut bag = DiagnosticBag::new();
    let words = SpirvBackend::new(&module, tables, options).emit(Entries::All, &mut bag);
    words.ok_or_else(|| bag.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>().join("\n"))
}

pub fn emit(text: &str, options: &SpirvOptions) -> Vec<u32> {
    try_emit(text, options, &LayoutOptions::VULKAN, &SlotOptions::default())
        .unwrap_or_else(|e| panic!("not emitted: {e}\n{text}"))
}

pub fn for_target(target: TargetEnv) -> SpirvOptions {
    SpirvOptions { target, ..SpirvOptions::default() }
}

pub fn disassemble(words: &[u32]) -> String {
    rspirv::dr::load_words(words).expect("words that rspirv reads").disassemble()
}

/// Runs spirv-val, which must exist: `SPIRV_VAL`, or the one on the path.
pub fn validate(words: &[u32], target: TargetEnv, more: &[&str]) {
    let tool = std::env::var("SPIRV_VAL").unwrap_or_else(|_| "spirv-val".into());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for word in words {
        file.write_all(&word.to_le_bytes()).unwrap();
    }
    let out = Command::new(&tool)
        .args(["--target-env", target.validator_name()])
        .args(more)
        .arg(file.path())
        .output()
        .unwrap_or_else(|e| panic!("{tool}: {e}; install SPIRV-Tools or set SPIRV_VAL"));
    assert!(
        out.status.success(),
        "{}: {}{}\n{}",
        target.name(),
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
        disassemble(words)
    );
}

/// Emits and validates for every target but Vulkan 1.0 where that lacks something; gives the disassembly for the last.
pub fn check_all(text: &str) -> String {
    check_with(text, &SpirvOptions::default())
}

pub fn check_with(text: &str, options: &SpirvOptions) -> String {
    let mut last = String::new();
    for (target, _) in TargetEnv::ALL {
        let options = SpirvOptions { target, ..options.clone() };
        let tried = try_emit(text, &options, &LayoutOptions::VULKAN, &SlotOptions::default());
        if target == TargetEnv::Vulkan1_0 && tried.as_ref().is_err_and(|e| e.starts_with("OSH4013")) {
            continue;
        }
        let words = tried.unwrap_or_else(|e| panic!("not emitted: {e}\n{text}"));
        validate(&words, target, &[]);
        last = disassemble(&words);
    }
    last
}

/// Emits and validates for one target.
pub fn check_for(text: &str, target: TargetEnv) -> String {
    let words = emit(text, &for_target(target));
    validate(&words, target, &[]);
    disassemble(&words)
}

/// The opcode of each line, and its operands, without result ids.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(|l| l.split_once(" = ").map_or(l, |(_, r)| r).trim().to_string()).collect()
}

#[track_caller]
pub fn has(text: &str, what: &str) {
    assert!(text.contains(what), "no `{what}` in\n{text}");
}

#[track_caller]
pub fn lacks(text: &str, what: &str) {
    assert!(!text.contains(what), "`{what}` in\n{text}");
}
