//! Runs the front end over one command line, or over a list of them.
//!
//! ```text
//! front -T cs_6_0 -E main shader.hlsl          prints the module
//! front --list rows.tsv                        id, expectation (ok or fail), arguments: all separated by tabs
//! ```

use std::io::Read;
use std::time::Instant;

use oneshader_diag::{DiagnosticBag, Severity, SourceMap};
use oneshader_hlsl::options::{EntryRequest, FrontOptions, LanguageVersion};
use oneshader_hlsl::pp::{Define, DirLoader, ShaderStage};
use oneshader_hlsl::{SourceInput, compile_to_ir};
use oneshader_ir as ir;

fn parse(args: &[String]) -> (FrontOptions, DirLoader, String) {
    let mut options = FrontOptions::default();
    let mut loader = DirLoader::default();
    let (mut file, mut entry, mut profile) = (String::new(), "main".to_owned(), "lib_6_0".to_owned());
    options.preprocessor.spirv = Some((1, 0));
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = |flag: &str| -> Option<String> {
            let rest = word.strip_prefix(flag)?;
            Some(if rest.is_empty() { words.next().cloned().unwrap_or_default() } else { rest.to_owned() })
        };
        if let Some(v) = value("-T") {
            profile = v;
        } else if let Some(v) = value("-E") {
            entry = v;
        } else if let Some(v) = value("-I") {
            loader.dirs.push(v.into());
        } else if let Some(v) = value("-D") {
            options.preprocessor.defines.push(Define::parse(&v));
        } else if word.starts_with("-HV") {
            let v = value("-HV").unwrap_or_default();
            let v = v.trim_start_matches("=").replace("202x", "2029");
            options.preprocessor.hlsl_version = v.parse().unwrap_or(2021);
        } else if word == "-Zpr" {
            options.lower.matrix_order = ir::MatrixOrder::RowMajor;
        } else if word == "-enable-16bit-types" {
            options.preprocessor.native_16bit = true;
            options.lower.native_16bit = true;
        } else if word == "-Gis" {
            options.lower.ieee_strict = true;
        } else if ["-Fo", "-Fre", "-Fc"].iter().any(|f| word == f) {
            words.next();
        } else if !word.starts_with('-') {
            file = word.clone();
        }
    }
    options.lower.version = match options.preprocessor.hlsl_version {
        ..=2016 => LanguageVersion::V2016,
        2017 => LanguageVersion::V2017,
        2018 => LanguageVersion::V2018,
        2021 => LanguageVersion::V2021,
        _ => LanguageVersion::V202x,
    };
    let mut parts = profile.split('_');
    let (stage, pp) = match parts.next() {
        Some("vs") => (Some(ir::Stage::Vertex), ShaderStage::Vertex),
        Some("ps") => (Some(ir::Stage::Pixel), ShaderStage::Pixel),
        Some("cs") => (Some(ir::Stage::Compute), ShaderStage::Compute),
        _ => (None, ShaderStage::Library),
    };
    let model = |p: Option<&str>| p.and_then(|p| p.parse().ok()).unwrap_or(0);
    options.preprocessor.stage = pp;
    options.preprocessor.shader_model = (model(parts.next()), model(parts.next()));
    options.lower.shader_model = options.preprocessor.shader_model;
    if stage.is_some() {
        options.lower.entries.push(EntryRequest { name: entry, stage });
    }
    (options, loader, file)
}

/// Compiles; gives the module's text or the first error.
fn run(args: &[String], quiet: bool) -> Result<String, String> {
    let (options, loader, file) = parse(args);
    let text = std::fs::read(&file).map_err(|e| format!("{file}: {e}"))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut map = SourceMap::new();
    let mut bag = DiagnosticBag::new();
    let source = SourceInput { name: file.into(), text: text.into() };
    let out = compile_to_ir(&source, &options, &loader, &mut map, &mut bag);
    if !quiet {
        for d in &bag {
            let place = map.locate(d.primary).map(|(f, at)| format!("{f}:{}:{}", at.line, at.col)).unwrap_or_default();
            eprintln!("{place}: {} {}: {}", d.severity, d.code, d.message);
            for l in &d.labels {
                let place = map.locate(l.span).map(|(f, at)| format!("{f}:{}", at.line)).unwrap_or_default();
                eprintln!("    {place}: {}", l.message);
            }
        }
    }
    let Some(module) = out.module else {
        let first = bag.iter().find(|d| d.severity == Severity::Error);
        let shown = first.map_or("no error".into(), |d| {
            let at = map.locate(d.primary).map(|(f, at)| format!("{f}:{}", at.line)).unwrap_or_default();
            let file = at.rsplit('/').next().unwrap_or("").to_owned();
            format!("{} {} @{file}", d.code, d.message)
        });
        return Err(shown);
    };
    if let Err(report) = ir::verify::verify(&module, "lowering") {
        if !quiet {
            println!("{}", ir::text::print(&module));
            eprintln!("{report}");
        }
        return Err(format!("VERIFY {}", report.errors.first().map(ToString::to_string).unwrap_or_default()));
    }
    Ok(if quiet { String::new() } else { ir::text::print(&module) })
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().map(String::as_str) != Some("--list") {
        match run(&args, false) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
        return;
    }
    let mut rows = String::new();
    let read = std::fs::File::open(&args[1]).and_then(|mut f| f.read_to_string(&mut rows));
    if let Err(error) = read {
        eprintln!("{error}");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let work = move || {
        for row in rows.lines() {
            let cells: Vec<String> = row.split('\t').map(str::to_owned).collect();
            let start = Instant::now();
            let result = std::panic::catch_unwind(|| run(&cells[2..], true));
            let ms = start.elapsed().as_millis();
            let end = match result {
                Ok(Ok(_)) => "ok".to_owned(),
                Ok(Err(error)) => error.replace(['\n', '\t'], " "),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned();
                    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                    format!("PANIC {}", text.unwrap_or_default().replace(['\n', '\t'], " "))
                }
            };
            println!("{}\t{}\t{ms}\t{end}", cells[0], cells[1]);
        }
    };
    if let Ok(thread) = std::thread::Builder::new().stack_size(64 << 20).spawn(work) {
        let _ = thread.join();
    }
}
