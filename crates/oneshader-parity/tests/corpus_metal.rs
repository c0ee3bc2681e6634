//! Every case of the corpus as Metal 2.4, accepted by metal-check with layout asserts. `ONESHADER_MSL_OUT=DIR` leaves the
//! texts there, the unoptimized ones under `O0`, for `tools/validate-msl.sh DIR`.

use metal_check::Checker;
use oneshader::args::Invocation;
use oneshader::{Code, Options, Source, compile};
use oneshader_parity::case::lit::{Directives, Features};
use oneshader_parity::case::split::split_file;
use oneshader_parity::cases;
use oneshader_parity::compilers::{CommandLine, Target};
use oneshader_parity::script::{conditionals, words};
use std::path::{Path, PathBuf};

/// The compiles that a case asks for and that must succeed: source and options.
fn compiles(text: &str) -> Vec<(Source, Options)> {
    let parts = split_file(text).unwrap();
    let features = Features::from(["Metal".to_owned()]);
    let mut out = Vec::new();
    for run in Directives::parse(text).runs {
        let run = conditionals(&run.replace("%t/", ""), &features).unwrap();
        let command = words(&run).unwrap();
        if command.first().is_none_or(|program| program != "%dxc_target") {
            continue;
        }
        let line = CommandLine::parse(&command[1..]).unwrap();
        let Some(source) = parts.get(&line.input) else { continue };
        if line.msl_version.is_none() {
            let options = Invocation::parse(line.words(Target::Msl)).unwrap().options;
            out.push((Source::new(line.input.as_str(), source.as_str()), options));
        }
    }
    out
}

fn write(dir: &Path, case: &str, number: usize, text: &str) {
    let file = dir.join(format!("{}_{number}.metal", case.replace(['/', '.'], "_")));
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(file, text).unwrap();
}

#[test]
fn every_case_is_metal_or_a_meant_error() {
    let out = std::env::var_os("ONESHADER_MSL_OUT").map(PathBuf::from);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let checker = Checker::new(metal_check::Options { check_layout: true, ..Default::default() }).unwrap();
    let mut made = 0;
    for case in cases::find(&[corpus]).unwrap() {
        let text = std::fs::read_to_string(&case.path).unwrap();
        for (number, (source, mut options)) in compiles(&text).into_iter().enumerate() {
            for (level, below) in [(oneshader::OptLevel::O1, ""), (oneshader::OptLevel::O0, "O0")] {
                options.opt_level = level;
                match compile(&source, &options) {
                    Ok(output) => {
                        for artifact in &output.artifacts {
                            let Code::Msl(text) = &artifact.code else { panic!("{} is not Metal", case.name) };
                            made += 1;
                            let report = checker.check_text(&case.name, text).unwrap();
                            assert!(report.passed(), "{report}\n{text}");
                            if let Some(out) = &out {
                                write(&out.join(below), &case.name, number, text);
                            }
                        }
                    }
                    Err(failure) => {
                        let codes: Vec<String> = failure
                            .diagnostics
                            .iter()
                            .filter(|d| d.severity == oneshader::diag::Severity::Error)
                            .map(|d| d.code.to_string())
                            .collect();
                        assert!(codes.iter().all(|code| code.starts_with("OSH51")), "{}: {failure}", case.name);
                    }
                }
            }
        }
    }
    assert!(made > 300, "{made} texts");
}
