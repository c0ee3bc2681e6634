//! Preprocesses, prints and parses arbitrary text: no panic, no hang, no runaway memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oneshader_diag::render::{Style, render};
use oneshader_diag::{DiagnosticBag, SourceMap, machine};
use oneshader_hlsl::name::Interner;
use oneshader_hlsl::parse::{self, parse};
use oneshader_hlsl::pp::{self, MemoryLoader, Options, preprocess, print};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    // A NUL splits the source from a file it can include.
    let (main, included) = text.split_once('\0').unwrap_or((&text, "#ifndef A\n#define A b\n#endif\n"));
    let loader = MemoryLoader::new([("a.h", included)]);
    let limits = pp::Limits { tokens: 1 << 18, expanded: 1 << 20, bytes: 1 << 22, ..pp::Limits::default() };
    let hlsl_version = [2016, 2018, 2021][data.len() % 3];
    let options = Options { limits, hlsl_version, ..Options::default() };
    let (mut names, mut map, mut bag) = (Interner::new(), SourceMap::new(), DiagnosticBag::new());
    let out = preprocess(("fuzz.hlsl", main), &options, &loader, &mut names, &mut map, &mut bag);
    let printed = print(&out, &names, &map);
    let ast = parse(&out, hlsl_version, parse::Limits::default(), &names, &mut bag);
    std::hint::black_box((printed, ast));
    render(&map, &bag, Style::default());
    machine::sarif(&map, &bag, "0");
});
