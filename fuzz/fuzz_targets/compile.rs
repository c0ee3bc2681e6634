//! Compiles arbitrary text for both targets at every level of optimization: no panic, no hang, no runaway memory; and what
//! is made or refused can be told.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oneshader::{CompileTarget, MemoryLoader, MslBinding, MslVersion, OptLevel, Options, Source, compile};

/// What gives the stage of a text away; mutations move between them.
const STAGES: &[(&str, &str)] = &[("numthreads", "cs_6_6"), ("SV_Target", "ps_6_6"), ("SV_Position", "vs_6_6")];

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let profile = STAGES.iter().find(|(word, _)| text.contains(word)).map_or("lib_6_6", |(_, profile)| profile);
    let library = text.contains("[shader(");
    let source = Source::new("fuzz.hlsl", text.as_ref());
    for target in [CompileTarget::Msl, CompileTarget::Spirv] {
        for level in [OptLevel::O0, OptLevel::O1, OptLevel::O3] {
            let options = Options::new(target).profile(if library { "lib_6_6" } else { profile });
            let mut options = options.expect("a profile").includes(MemoryLoader::new([("a.h", "int a;\n")]));
            options.opt_level = level;
            options.native_16bit = data.len() % 2 == 1;
            if data.len() % 3 == 0 {
                options.msl.version = MslVersion::V3_2;
                options.msl.emulate_wave_match = true;
                options.msl.emulate_int64 = true;
                options.msl.buffer_sizes = true;
            }
            if data.len() % 5 == 0 {
                options.msl.binding = MslBinding::ArgumentStruct;
            }
            match compile(&source, &options) {
                Ok(output) => drop(std::hint::black_box((output.reflection.to_json(), output.ir_text()))),
                Err(failure) => {
                    let text = failure.to_string();
                    // A refusal always says why; an error that blames the compiler is a bug of the compiler.
                    assert!(text.contains("error[OSH"), "{text}");
                    assert!(!text.contains("error[OSH9001]"), "{text}");
                }
            }
        }
    }
});
