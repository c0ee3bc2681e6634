//! Text of the IR to Metal text, and the checker.
#![allow(dead_code, reason = "each test file uses a part")]

use metal_check::{Checker, LanguageVersion, Options};
use oneshader_diag::DiagnosticBag;
use oneshader_ir::LayoutOptions;
use oneshader_msl::{BufferArrays, MslBackend, MslBinding, MslOptions, MslSemantics, MslVersion};

/// What became of a module.
pub enum Outcome {
    Text(String),
    /// One line for each: code and message.
    Errors(String),
}

/// The options of a test's first line.
pub fn options(input: &str) -> MslOptions {
    let mut options = MslOptions::default();
    let first = input.lines().next().unwrap_or("");
    for word in first.split_whitespace().skip(3) {
        match word.split_once('=').unwrap_or((word, "")) {
            ("version", v) => options.version = MslVersion::parse(v).expect("a version"),
            ("binding", "struct") => options.binding = MslBinding::ArgumentStruct,
            ("semantics", "metal") => options.semantics = MslSemantics::Metal,
            ("buffer_arrays", "arguments") => options.buffer_arrays = BufferArrays::Arguments,
            ("emulate_wave_match", _) => options.emulate_wave_match = true,
            ("emulate_int64", _) => options.emulate_int64 = true,
            ("buffer_sizes", _) => options.buffer_sizes = true,
            ("layout", "dx") => options.layout = LayoutOptions::DX,
            ("layout", "scalar") => options.layout = LayoutOptions::SCALAR,
            ("layout", "gl") => options.layout = LayoutOptions::GL,
            ("entry", _) => {}
            (other, _) => panic!("unknown option {other}"),
        }
    }
    options
}

/// The text of the module's entry point: the one named by `entry=`, or the first.
pub fn emit(input: &str) -> Outcome {
    let module = oneshader_ir::text::parse(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
    oneshader_ir::verify::verify(&module, "the test's input").unwrap_or_else(|e| panic!("{e}\n{input}"));
    let first = input.lines().next().unwrap_or("");
    let entry = match first.split_whitespace().find_map(|w| w.strip_prefix("entry=")) {
        Some(name) => name.to_owned(),
        None => module.names.get(module.entry_points[0].name).to_owned(),
    };
    let mut bag = DiagnosticBag::new();
    match MslBackend::emit(&module, &entry, &options(input), &mut bag) {
        Some(output) => Outcome::Text(output.source),
        None => Outcome::Errors(bag.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect()),
    }
}

/// Checks a text with the language version of the test, with and without the layout asserts.
pub fn check(name: &str, metal: &str, input: &str) -> Result<(), String> {
    for check_layout in [false, true] {
        let version = options(input).version.text().parse::<LanguageVersion>().expect("a version");
        let checker =
            Checker::new(Options { version, check_layout, ..Options::default() }).map_err(|e| e.to_string())?;
        let report = checker.check_text(name, metal).map_err(|e| e.to_string())?;
        if !report.passed() {
            return Err(report.to_string());
        }
    }
    Ok(())
}
