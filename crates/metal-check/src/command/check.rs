//! `metal-check FILES`
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use metal_check::{Checker, LanguageVersion, Options, Report};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Checks Metal source without a Mac.
///
/// `metal-check run` executes a kernel; see `metal-check run --help`.
///
/// Exit status: 0 if every file passed, 1 if one failed, 2 if nothing could be checked.
#[derive(Parser)]
#[command(name = "metal-check", version)]
struct Arguments {
    /// Files, and directories searched for .metal and .msl files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Language version: metal2.4, metal3.0, metal3.1, metal3.2
    #[arg(long = "std", default_value = "metal2.4", value_name = "VERSION")]
    language: LanguageVersion,
    /// Define a macro, as NAME or NAME=VALUE
    #[arg(short = 'D', value_name = "MACRO")]
    defines: Vec<String>,
    /// Search a directory for #include
    #[arg(short = 'I', value_name = "DIR")]
    includes: Vec<PathBuf>,
    /// Do not define ONESHADER_CHECK_LAYOUT
    #[arg(long)]
    no_layout_asserts: bool,
    /// Check with the compiler alone
    #[arg(long)]
    no_lint: bool,
    /// Files checked at a time (default: one per processor)
    #[arg(short, long)]
    jobs: Option<usize>,
    /// Print one JSON object per file in place of text
    #[arg(long)]
    json: bool,
    /// Print failures only
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command with its arguments, the program's name first.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    match check(&Arguments::parse_from(args)) {
        Ok(failed) => ExitCode::from(u8::from(failed > 0)),
        Err(message) => {
            eprintln!("metal-check: {message}");
            ExitCode::from(2)
        }
    }
}

/// Checks what the arguments name; the number of files that failed.
fn check(args: &Arguments) -> Result<usize, String> {
    if let Some(jobs) = args.jobs {
        rayon::ThreadPoolBuilder::new().num_threads(jobs.max(1)).build_global().map_err(|e| e.to_string())?;
    }
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        return Err("no .metal or .msl file found".to_owned());
    }
    let options = Options {
        version: args.language,
        defines: args.defines.clone(),
        include_dirs: args.includes.clone(),
        check_layout: !args.no_layout_asserts,
        lint: !args.no_lint,
        ..Options::default()
    };
    let checker = Checker::new(options).map_err(|e| e.to_string())?;
    let bar = if files.len() > 20 { ProgressBar::new(files.len() as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let results = checker.check_files(&files, |_| bar.inc(1));
    bar.finish_and_clear();
    let mut failed = 0;
    for (path, result) in files.iter().zip(&results) {
        let passed = match result {
            Ok(report) => {
                print_report(args, report);
                report.passed()
            }
            Err(metal_check::Error::Timeout(limit)) => {
                println!("{}: error: took longer than {} s", path.display(), limit.as_secs());
                false
            }
            Err(e) => return Err(e.to_string()),
        };
        failed += usize::from(!passed);
    }
    if !args.json {
        println!("{} passed, {failed} failed", files.len() - failed);
    }
    Ok(failed)
}

fn print_report(args: &Arguments, report: &Report) {
    if args.json {
        let value = serde_json::json!({ "name": report.name, "passed": report.passed(), "findings": report.findings });
        println!("{value}");
    } else if !report.passed() {
        print!("{report}");
    } else if !args.quiet {
        println!("{}: ok", report.name);
    }
}

/// Adds `path`, or the Metal files below it in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let read = || -> std::io::Result<Vec<PathBuf>> { std::fs::read_dir(path)?.map(|e| Ok(e?.path())).collect() };
    let mut entries = read().map_err(|e| format!("{}: {e}", path.display()))?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, files)?;
        } else if entry.extension().is_some_and(|e| e == "metal" || e == "msl") {
            files.push(entry);
        }
    }
    Ok(())
}
