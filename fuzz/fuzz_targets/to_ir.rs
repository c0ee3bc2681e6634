//! Compiles arbitrary text to the intermediate representation: no panic, no hang, no runaway memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oneshader_diag::{DiagnosticBag, SourceMap};
use oneshader_hlsl::options::{EntryRequest, FrontOptions};
use oneshader_hlsl::pp::MemoryLoader;
use oneshader_hlsl::{SourceInput, compile_to_ir};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut options = FrontOptions::default();
    options.preprocessor.limits.expanded = 1 << 18;
    options.preprocessor.limits.bytes = 1 << 20;
    options.lower.entries.push(EntryRequest { name: "main".into(), stage: None });
    let source = SourceInput { name: "fuzz.hlsl".into(), text: text.into() };
    let loader = MemoryLoader::new([("a.h", "int a;\n")]);
    compile_to_ir(&source, &options, &loader, &mut SourceMap::new(), &mut DiagnosticBag::new());
});
