//! The command of the test tool.
#![forbid(unsafe_code)]

use clap::{Args, Parser, Subcommand};
use oneshader_parity::cases::{self, Setup};
use oneshader_parity::engines::vulkan;
use oneshader_parity::known::Known;
use oneshader_parity::report::{self, Class};
use oneshader_parity::script::RunOptions;
use oneshader_parity::suites::{self, SuiteSetup, Which};
use oneshader_parity::worker;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Runs shader test cases on every engine and compares the results.
#[derive(Parser)]
#[command(name = "oneshader-parity", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run cases (files or folders).
    Run(Box<Run>),
    /// Compile a whole suite and check what comes out, without running it.
    #[command(subcommand)]
    Suite(Box<Suite>),
    /// Time cases on the device, lane against lane.
    Bench(Box<Bench>),
    /// List the Vulkan devices of this machine.
    Devices,
    /// A worker process of this program.
    #[command(hide = true)]
    Worker,
}

#[derive(Args)]
struct Bench {
    /// Case files, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Two or more lanes; times of the others are divided by those of the first.
    #[arg(long = "with", value_delimiter = ',', default_value = "dxc,vulkan")]
    lanes: Vec<String>,
    /// Part of the Vulkan device's name, in any case.
    #[arg(long, env = "ONESHADER_VULKAN_DEVICE", default_value = "")]
    device: String,
    /// The library of DXC.
    #[arg(long, env = "ONESHADER_DXC")]
    dxc: Option<PathBuf>,
    /// A compiler program with DXC's command line, in place of our library.
    #[arg(long)]
    compiler: Option<String>,
    /// Rounds; in each the lanes take turns.
    #[arg(long, default_value_t = 15)]
    rounds: u32,
    /// Dispatches a round.
    #[arg(long, default_value_t = 20)]
    repeats: u32,
    /// Only cases whose name matches this regular expression.
    #[arg(long)]
    filter: Option<String>,
    /// Fail when the median ratio is above this.
    #[arg(long)]
    most: Option<f64>,
}

#[derive(Subcommand)]
enum Suite {
    /// Shaders of real engines, named by a manifest.
    Realcorpus {
        /// Checkouts, each in a folder OWNER+NAME.
        #[arg(long, env = "ONESHADER_REALCORPUS")]
        root: PathBuf,
        /// The manifest: repo, path, profile, entry, defines, includes, hv, flags.
        #[arg(long, env = "ONESHADER_REALCORPUS_MANIFEST")]
        manifest: PathBuf,
        #[command(flatten)]
        common: SuiteArgs,
    },
    /// DXC's tests of its SPIR-V output (tools/clang/test/CodeGenSPIRV).
    Codegenspirv {
        /// A checkout of DirectXShaderCompiler.
        #[arg(long, env = "DXC_CHECKOUT")]
        checkout: PathBuf,
        #[command(flatten)]
        common: SuiteArgs,
    },
}

#[derive(Args)]
struct SuiteArgs {
    /// Make Metal (the default) or SPIR-V.
    #[arg(long, default_value = "msl", value_parser = ["msl", "spirv"])]
    target: String,
    /// The language version of Metal.
    #[arg(long, default_value = "2.4")]
    msl_version: String,
    /// Compile with DXC from this library, as SPIR-V.
    #[arg(long)]
    dxc: Option<PathBuf>,
    /// A compiler program with DXC's command line, in place of our library.
    #[arg(long)]
    compiler: Option<String>,
    /// Do not check what is made.
    #[arg(long)]
    no_check: bool,
    /// Keep outputs there.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Write what did not compile there, tab-separated.
    #[arg(long)]
    failures: Option<PathBuf>,
    /// A word to add to every command line (may be repeated): `--extra=-D__spirv__=1`.
    #[arg(long, allow_hyphen_values = true)]
    extra: Vec<String>,
    /// Only rows whose name or group matches this regular expression.
    #[arg(long)]
    filter: Option<String>,
    /// Only every Nth row.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Fail when fewer than this percentage of the rows end well (meant errors are well).
    #[arg(long, default_value_t = 0.0)]
    least: f64,
    /// Worker processes; one per core by default.
    #[arg(long, short)]
    jobs: Option<usize>,
    /// Seconds a row may take.
    #[arg(long, default_value_t = 30)]
    timeout: u64,
    /// No progress bar.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Args)]
struct Run {
    /// Case files, or folders to search for `.test` and `.yaml` files.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Lanes: vulkan (ours as SPIR-V), dxc (DXC's SPIR-V), metal (ours as Metal on the CPU), each with -O0 to -O3 behind
    /// it for that level. The others are compared with the first.
    #[arg(long = "with", value_delimiter = ',', default_value = "vulkan")]
    lanes: Vec<String>,
    /// Part of the Vulkan device's name, in any case; the first device by default.
    #[arg(long, env = "ONESHADER_VULKAN_DEVICE", default_value = "")]
    device: String,
    /// The library of DXC (libdxcompiler.so).
    #[arg(long, env = "ONESHADER_DXC")]
    dxc: Option<PathBuf>,
    /// A compiler program with DXC's command line, in place of our library.
    #[arg(long)]
    compiler: Option<String>,
    /// The language version of Metal.
    #[arg(long, default_value = "2.4")]
    msl_version: String,
    /// Lanes of a SIMD-group where Metal runs on the CPU: 4, 8, 16, 32 or 64. Lavapipe's are 8 wide.
    #[arg(long, default_value_t = 32)]
    simd_width: u32,
    /// Zeros behind each buffer where Metal runs on the CPU, in bytes. Accesses beyond them are errors; Direct3D and
    /// Vulkan let shaders read zeros there.
    #[arg(long, default_value_t = 0)]
    metal_slack: usize,
    /// Further options of our compiler for Metal, separated by blanks, such as `-msl-emulate-int64 -fvk-use-dx-layout`.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    metal_options: String,
    /// Only cases whose name matches this regular expression.
    #[arg(long)]
    filter: Option<String>,
    /// No cases whose name matches this regular expression.
    #[arg(long)]
    exclude: Option<String>,
    /// Only every Nth case.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Name the cases and stop.
    #[arg(long)]
    list: bool,
    /// Run every case, whatever its REQUIRES, UNSUPPORTED and XFAIL lines say.
    #[arg(long)]
    ignore_conditions: bool,
    /// The list of known failures.
    #[arg(long)]
    known: Option<PathBuf>,
    /// Worker processes; one per core by default.
    #[arg(long, short)]
    jobs: Option<usize>,
    /// Seconds a case may take on all lanes together.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Write every result as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write every result as JUnit XML.
    #[arg(long)]
    junit: Option<PathBuf>,
    /// Write pictures of failing images there: actual, expected, difference.
    #[arg(long)]
    artifacts: Option<PathBuf>,
    /// Reference images of cases that name them.
    #[arg(long, env = "OFFLOAD_GOLDEN_IMAGES")]
    golden_images: Option<PathBuf>,
    /// No progress bar.
    #[arg(long, short)]
    quiet: bool,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(r) => run(&r),
        Command::Devices => devices(),
        Command::Suite(s) => suite(&s),
        Command::Bench(b) => bench(&b),
        Command::Worker => worker::serve().map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("oneshader-parity: {e}");
            ExitCode::from(2)
        }
    }
}

/// Writes to the standard output; a reader that has gone away is no error.
fn print_out(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn devices() -> Result<bool, String> {
    let names = vulkan::device_names().map_err(|e| e.to_string())?;
    print_out(&names.iter().map(|n| format!("{n}\n")).collect::<String>());
    Ok(true)
}

fn suite(s: &Suite) -> Result<bool, String> {
    let (mut rows, a) = match s {
        Suite::Realcorpus { root, manifest, common } => {
            let text = std::fs::read_to_string(manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
            (suites::real::rows(&text, root)?, common)
        }
        Suite::Codegenspirv { checkout, common } => (suites::codegen::rows(checkout)?, common),
    };
    if let Some(f) = &a.filter {
        let re = regex::Regex::new(f).map_err(|e| e.to_string())?;
        rows.retain(|r| re.is_match(&r.id) || re.is_match(&r.group));
    }
    let rows: Vec<_> = rows.into_iter().step_by(a.every.max(1)).collect();
    let compiler = match (&a.dxc, &a.compiler) {
        (Some(d), None) => Which::Dxc(d.clone()),
        (None, Some(c)) => Which::Command(c.clone()),
        (None, None) => Which::Ours,
        (Some(_), Some(_)) => return Err("--dxc and --compiler exclude each other".to_owned()),
    };
    let setup = SuiteSetup {
        compiler,
        metal: a.target == "msl" && a.dxc.is_none(),
        metal_version: a.msl_version.clone(),
        check: !a.no_check,
        keep: a.keep.clone(),
        extra: a.extra.clone(),
    };
    let done = suites::run(&setup, rows, workers(a.jobs), Duration::from_secs(a.timeout), a.quiet)?;
    if let Some(p) = &a.failures {
        std::fs::write(p, suites::failures(&done)).map_err(|e| format!("{}: {e}", p.display()))?;
    }
    let good = done.iter().filter(|f| suites::is_good(f)).count();
    let tail = format!("{good} passed, {} failed\n", done.len() - good);
    print_out(&(suites::table(&done) + &tail));
    Ok(100.0 * good as f64 >= a.least * done.len() as f64)
}

fn bench(b: &Bench) -> Result<bool, String> {
    let found = matching(cases::find(&b.paths)?, b.filter.as_deref(), None)?;
    let setup = Setup {
        lanes: b.lanes.clone(),
        device: b.device.clone(),
        dxc: b.dxc.clone(),
        compiler: b.compiler.clone(),
        metal_version: "2.4".to_owned(),
        simd_width: 32,
        metal_slack: 0,
        metal_options: String::new(),
        options: RunOptions { repeats: b.repeats.max(2), ..RunOptions::default() },
    };
    let report = oneshader_parity::bench::run(&setup, &found, b.rounds.max(1))?;
    print_out(&report.to_string());
    Ok(report.complete() && b.most.is_none_or(|m| report.median_ratio().is_some_and(|r| r <= m)))
}

fn matching(
    mut found: Vec<cases::CaseFile>,
    filter: Option<&str>,
    exclude: Option<&str>,
) -> Result<Vec<cases::CaseFile>, String> {
    for (pattern, keep) in [(filter, true), (exclude, false)] {
        if let Some(p) = pattern {
            let re = regex::Regex::new(p).map_err(|e| e.to_string())?;
            found.retain(|c| re.is_match(&c.name) == keep);
        }
    }
    if found.is_empty() {
        return Err("there is no such case".to_owned());
    }
    Ok(found)
}

fn workers(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn run(r: &Run) -> Result<bool, String> {
    let found = matching(cases::find(&r.paths)?, r.filter.as_deref(), r.exclude.as_deref())?;
    let found: Vec<_> = found.into_iter().step_by(r.every.max(1)).collect();
    if r.list {
        print_out(&found.iter().map(|c| format!("{}\n", c.name)).collect::<String>());
        return Ok(true);
    }
    let known = match &r.known {
        Some(p) => Known::parse(&std::fs::read_to_string(p).map_err(|e| format!("{}: {e}", p.display()))?)?,
        None => Known::default(),
    };
    let setup = Setup {
        lanes: r.lanes.clone(),
        device: r.device.clone(),
        dxc: r.dxc.clone(),
        compiler: r.compiler.clone(),
        metal_version: r.msl_version.clone(),
        simd_width: r.simd_width,
        metal_slack: r.metal_slack,
        metal_options: r.metal_options.clone(),
        options: RunOptions {
            ignore_conditions: r.ignore_conditions,
            golden_images: r.golden_images.clone(),
            artifacts: r.artifacts.clone(),
            repeats: 1,
        },
    };
    let mut entries = cases::run(&setup, &found, workers(r.jobs), Duration::from_secs(r.timeout), r.quiet)?;
    report::mark_known(&mut entries, &known);
    let mut text = String::new();
    for e in entries.iter().filter(|e| e.class() == Class::Failed) {
        text += &format!("{:<8} {}: {}\n", e.lane, e.case, e.summary());
    }
    text += &report::table(&entries);
    text += &report::against_dxc(&entries);
    let whole = r.filter.is_none() && r.every == 1;
    let stale = if whole { report::stale(&entries, &known) } else { Vec::new() };
    for (lane, case) in &stale {
        text += &format!("{lane:<8} {case}: listed as a known failure, but there is no such case\n");
    }
    let write = |path: &Option<PathBuf>, text: Result<String, String>| match path {
        Some(p) => std::fs::write(p, text?).map_err(|e| format!("{}: {e}", p.display())),
        None => Ok(()),
    };
    write(&r.json, report::json(&entries))?;
    write(&r.junit, Ok(report::junit(&entries)))?;
    let count = |c: Class| entries.iter().filter(|e| e.class() == c).count();
    text += &format!(
        "{} passed, {} failed, {} skipped\n",
        count(Class::Passed),
        count(Class::Failed) + stale.len(),
        count(Class::Skipped) + count(Class::KnownFailure)
    );
    print_out(&text);
    Ok(count(Class::Failed) == 0 && stale.is_empty())
}
