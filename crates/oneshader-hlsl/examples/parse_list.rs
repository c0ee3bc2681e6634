//! Preprocesses and parses many sources and tells what failed and how fast it went.
//!
//! Reads rows of tab-separated fields from standard input: file, profile, defines (`;` between), include directories
//! (`;` between), language version; the last three may be empty or missing. `REPEAT=n` parses each row n times; `ROUNDTRIP=1`
//! checks that the preprocessed text has the same tokens when preprocessed again; `TOKENS=dir` writes the tokens of each row, one a line, to a file of the row's number.

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use oneshader_diag::render::{Style, render};
use oneshader_diag::{DiagnosticBag, SourceMap};
use oneshader_hlsl::name::Interner;
use oneshader_hlsl::parse::{Limits, parse};
use oneshader_hlsl::pp::{Define, DirLoader, Options, Preprocessed, ShaderStage, preprocess, print};

fn main() {
    let repeat: u32 = std::env::var("REPEAT").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let token_dir = std::env::var_os("TOKENS").map(std::path::PathBuf::from);
    let quiet = std::env::var_os("QUIET").is_some();
    let (mut rows, mut bad, mut bytes, mut lines, mut tokens) = (0, 0, 0, 0, 0);
    let (mut in_pp, mut in_parser) = (Duration::ZERO, Duration::ZERO);
    let mut slowest = (Duration::ZERO, String::new());
    for row in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut fields = row.split('\t');
        let mut field = || fields.next().unwrap_or("");
        let (file, profile, defines, dirs, version) = (field(), field(), field(), field(), field());
        let list = |text: &str| text.split(';').filter(|t| !t.is_empty()).map(str::to_string).collect::<Vec<_>>();
        let options = Options {
            hlsl_version: version.parse().unwrap_or(2021),
            stage: stage(profile),
            native_16bit: profile.contains("16bit"),
            defines: list(defines).iter().map(|d| Define::parse(d)).collect(),
            ..Options::default()
        };
        let loader = DirLoader { dirs: list(dirs).into_iter().map(Into::into).collect() };
        let Ok(source) = std::fs::read(Path::new(file)) else {
            println!("{file}: cannot be read");
            continue;
        };
        let source = String::from_utf8_lossy(&source).into_owned();
        rows += 1;
        for round in 0..repeat {
            let (mut map, mut bag, mut names) = (SourceMap::new(), DiagnosticBag::new(), Interner::new());
            let start = Instant::now();
            let out = preprocess((file, source.clone()), &options, &loader, &mut names, &mut map, &mut bag);
            let middle = Instant::now();
            let ast = parse(&out, options.hlsl_version, Limits::default(), &names, &mut bag);
            let end = Instant::now();
            in_pp += middle - start;
            in_parser += end - middle;
            std::hint::black_box(&ast);
            if end - start > slowest.0 {
                slowest = (end - start, file.to_string());
            }
            if round > 0 {
                continue;
            }
            tokens += out.tokens.len();
            if std::env::var_os("ROUNDTRIP").is_some() {
                let printed = print(&out, &names, &map);
                let (mut map, mut bag) = (SourceMap::new(), DiagnosticBag::new());
                let again = preprocess((file, printed), &options, &loader, &mut names, &mut map, &mut bag);
                let key = |out: &Preprocessed| out.tokens.iter().map(|t| (t.kind, t.value)).collect::<Vec<_>>();
                if key(&out) != key(&again) || out.packing != again.packing {
                    println!("ROUNDTRIP\t{row}");
                }
            }
            if let Some(dir) = &token_dir {
                let text: String = out.tokens.iter().flat_map(|t| [t.text(&names), "\n"]).collect();
                std::fs::write(dir.join(rows.to_string()), text).expect("the folder can be written");
            }
            for (_, file) in map.files() {
                bytes += file.text().len();
                lines += file.line_starts().len();
            }
            if bag.has_errors() {
                bad += 1;
                println!("FAIL\t{row}");
                if !quiet {
                    println!("{}", render(&map, &bag, Style::default()));
                }
            }
        }
    }
    let total = (in_pp + in_parser).as_secs_f64() / f64::from(repeat);
    println!("{rows} sources, {bad} with errors; {lines} lines, {bytes} bytes, {tokens} tokens");
    println!(
        "preprocess {in_pp:?}, parse {in_parser:?}; {:.2} M lines/s, {:.1} MB/s",
        lines as f64 / total / 1e6,
        bytes as f64 / total / 1e6
    );
    println!("slowest: {} in {:?}", slowest.1, slowest.0);
}

fn stage(profile: &str) -> ShaderStage {
    match profile.get(..2) {
        Some("vs") => ShaderStage::Vertex,
        Some("ps") => ShaderStage::Pixel,
        Some("cs") => ShaderStage::Compute,
        Some("gs") => ShaderStage::Geometry,
        Some("hs") => ShaderStage::Hull,
        Some("ds") => ShaderStage::Domain,
        Some("ms") => ShaderStage::Mesh,
        Some("as") => ShaderStage::Amplification,
        _ => ShaderStage::Library,
    }
}
