//! Finding cases and running them on lanes, in worker processes.

use crate::case::lit::Directives;
use crate::compilers::command::CommandCompiler;
use crate::compilers::dxc::DxcReference;
use crate::compilers::ours::OurCompiler;
use crate::compilers::{Compiler, Target};
use crate::engines::Engine;
use crate::engines::metal::MetalEngine;
use crate::engines::vulkan::VulkanEngine;
use crate::pool::{self, Ended};
use crate::report::Entry;
use crate::script::{self, CaseRun, Lane, Outcome, RunOptions};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// What a worker for cases needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Names of the lanes, in order; the others are compared with the first.
    pub lanes: Vec<String>,
    /// Part of the Vulkan device's name.
    pub device: String,
    /// The library of DXC.
    pub dxc: Option<PathBuf>,
    /// A command to use in place of our library.
    pub compiler: Option<String>,
    /// Metal's language version.
    pub metal_version: String,
    /// Lanes of a SIMD-group where Metal runs on the CPU.
    pub simd_width: u32,
    /// Zeros behind each buffer where Metal runs on the CPU, in bytes.
    pub metal_slack: usize,
    /// Further options of our compiler for Metal, separated by blanks.
    pub metal_options: String,
    /// Options of each run.
    pub options: RunOptions,
}

/// How long a dispatch may take where Metal runs on the CPU.
const METAL_TIMEOUT: Duration = Duration::from_secs(30);

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its name: the path relative to the folder it was found in.
    pub name: String,
}

/// The cases below some folders (or single files), sorted by name.
pub fn find(roots: &[PathBuf]) -> Result<Vec<CaseFile>, String> {
    let mut out = Vec::new();
    for root in roots {
        if root.is_file() {
            let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            out.push(CaseFile { path: root.clone(), name });
            continue;
        }
        let mut folders = vec![root.clone()];
        while let Some(dir) = folders.pop() {
            let list = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
            for entry in list {
                let path = entry.map_err(|e| format!("{}: {e}", dir.display()))?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "test" || e == "yaml") {
                    let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                    out.push(CaseFile { path, name });
                }
            }
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

/// Runs cases; the entries come in the order of the cases, lanes within.
pub fn run(setup: &Setup, cases: &[CaseFile], jobs: usize, limit: Duration, quiet: bool) -> Result<Vec<Entry>, String> {
    // Opened here once so that a wrong device or library is one error, not one per case.
    open_lanes(setup)?;
    let stages: Vec<Vec<String>> = cases.iter().map(stages_of).collect();
    let bar = progress(cases.len(), quiet);
    let results: Mutex<Vec<Vec<(Outcome, Duration)>>> = Mutex::new(vec![Vec::new(); cases.len()]);
    pool::run(setup, cases, jobs, limit, |i, ended: Ended<Vec<Outcome>>, took| {
        let outcomes = match ended {
            Ended::Done(o) => o,
            other => vec![lost(&other, limit); setup.lanes.len()],
        };
        if let Ok(mut r) = results.lock() {
            r[i] = outcomes.into_iter().map(|o| (o, took)).collect();
        }
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let mut results = results.into_inner().map_err(|e| e.to_string())?;
    if setup.lanes.len() > 1 {
        again(setup, cases, jobs, limit, &mut results)?;
    }
    let mut entries = Vec::new();
    for ((case, stages), outcomes) in cases.iter().zip(stages).zip(results) {
        for (lane, (outcome, took)) in setup.lanes.iter().zip(outcomes) {
            entries.push(Entry {
                case: case.name.clone(),
                lane: lane.clone(),
                stages: stages.clone(),
                outcome,
                milliseconds: took.as_millis() as u64,
                known: None,
            });
        }
    }
    Ok(entries)
}

/// The outcome of a case whose worker gave no answer.
fn lost<R>(ended: &Ended<R>, limit: Duration) -> Outcome {
    match ended {
        Ended::Crashed(why) => Outcome::Crash(why.clone()),
        _ => Outcome::Timeout(format!("after {} s", limit.as_secs())),
    }
}

/// Runs the cases whose worker died again, each lane alone: one lane's crash says nothing about the others.
fn again(
    setup: &Setup,
    cases: &[CaseFile],
    jobs: usize,
    limit: Duration,
    results: &mut [Vec<(Outcome, Duration)>],
) -> Result<(), String> {
    let died = |r: &Vec<(Outcome, Duration)>| {
        r.first().is_some_and(|(o, _)| matches!(o, Outcome::Crash(_) | Outcome::Timeout(_)))
    };
    let indices: Vec<usize> = (0..cases.len()).filter(|i| died(&results[*i])).collect();
    let affected: Vec<CaseFile> = indices.iter().map(|i| cases[*i].clone()).collect();
    for (l, lane) in setup.lanes.iter().enumerate().filter(|_| !affected.is_empty()) {
        let alone = Setup { lanes: vec![lane.clone()], ..setup.clone() };
        let outcomes = Mutex::new(Vec::new());
        pool::run(&alone, &affected, jobs, limit, |k, ended: Ended<Vec<Outcome>>, took| {
            let outcome = match ended {
                Ended::Done(o) => o.into_iter().next().unwrap_or_else(|| Outcome::Fail("no answer".to_owned())),
                other => lost(&other, limit),
            };
            if let Ok(mut list) = outcomes.lock() {
                list.push((k, outcome, took));
            }
        })?;
        for (k, outcome, took) in outcomes.into_inner().map_err(|e| e.to_string())? {
            results[indices[k]][l] = (outcome, took);
        }
    }
    Ok(())
}

/// The stages that the RUN lines of a case compile; nothing of a file that cannot be read, which fails soon enough.
fn stages_of(case: &CaseFile) -> Vec<String> {
    let text = std::fs::read_to_string(&case.path).unwrap_or_default();
    let mut out = Vec::new();
    for line in &Directives::parse(&text).runs {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2).filter(|p| p[0] == "-T") {
            out.extend(pair[1].split('_').next().map(str::to_owned));
        }
    }
    out
}

/// A progress bar, hidden where nobody looks.
pub fn progress(len: usize, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(len as u64).with_style(style)
}

/// Opens every lane of a set-up.
pub(crate) fn open_lanes(setup: &Setup) -> Result<Vec<Lane>, String> {
    setup.lanes.iter().map(|name| open_lane(setup, name)).collect()
}

/// Opens a lane: `dxc`, `vulkan` or `metal`, with `-O0` to `-O3` behind it for a level other than the default.
fn open_lane(setup: &Setup, name: &str) -> Result<Lane, String> {
    let (kind, level) = match name.split_once("-O") {
        Some((kind, level)) if matches!(level, "0" | "1" | "2" | "3") => (kind, Some(format!("-O{level}"))),
        Some(_) => return Err(format!("no lane '{name}': levels are -O0 to -O3")),
        None => (name, None),
    };
    let vulkan = || VulkanEngine::open(&setup.device).map(Box::new).map_err(|e| e.to_string());
    let (compiler, engine, target): (Box<dyn Compiler>, Box<dyn Engine>, _) = match kind {
        "vulkan" => (ours(setup)?, vulkan()?, Target::Spirv),
        "dxc" => {
            let path = setup.dxc.as_ref().ok_or("the dxc lane needs a library: --dxc or ONESHADER_DXC")?;
            (Box::new(DxcReference::load(path, true)?), vulkan()?, Target::Spirv)
        }
        "metal" => {
            let engine = MetalEngine::new(&setup.metal_version, setup.simd_width, setup.metal_slack, METAL_TIMEOUT);
            (ours(setup)?, Box::new(engine.map_err(|e| e.to_string())?), Target::Msl)
        }
        _ => return Err(format!("no lane '{name}': there are dxc, vulkan and metal")),
    };
    Ok(Lane { name: name.to_owned(), compiler, engine, target, extra: level.into_iter().collect() })
}

fn ours(setup: &Setup) -> Result<Box<dyn Compiler>, String> {
    match &setup.compiler {
        Some(c) => Ok(Box::new(CommandCompiler::new(c)?)),
        None => Ok(Box::new(OurCompiler::new(&setup.metal_version, &setup.metal_options))),
    }
}

/// The state of a worker process for cases.
pub struct CaseWorker {
    lanes: Vec<Lane>,
    options: RunOptions,
}

impl CaseWorker {
    /// Opens the lanes.
    pub fn open(setup: Setup) -> Result<Self, String> {
        Ok(Self { lanes: open_lanes(&setup)?, options: setup.options })
    }

    /// Runs a case on every lane, in order.
    pub fn work(&mut self, case: &CaseFile) -> Vec<Outcome> {
        let text = match std::fs::read_to_string(&case.path) {
            Ok(t) => t,
            Err(e) => return vec![Outcome::Fail(e.to_string()); self.lanes.len()],
        };
        let lanes = self.lanes.iter_mut();
        let mut runs: Vec<CaseRun> = lanes.map(|l| run_one(&case.path, &text, l, &self.options)).collect();
        // Lanes that pass must also agree with the first on every buffer, checked by the case or not.
        if let (Some((first, others)), Some((head, rest))) = (runs.split_first_mut(), self.lanes.split_first()) {
            for (run, lane) in others.iter_mut().zip(rest) {
                if run.outcome != Outcome::Pass || first.outcome != Outcome::Pass {
                    continue;
                }
                if let Some(d) = script::difference(&lane.name, &run.programs, &head.name, &first.programs, false) {
                    run.outcome = Outcome::Fail(d);
                }
            }
        }
        runs.into_iter().map(|r| r.outcome).collect()
    }
}

/// Runs a case on a lane; a panic is a crash of the case.
pub(crate) fn run_one(path: &Path, text: &str, lane: &mut Lane, options: &RunOptions) -> CaseRun {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| script::run_case(path, text, lane, options)));
    caught.unwrap_or_else(|p| CaseRun::ended(Outcome::Crash(panic_text(&*p))))
}

/// What a panic said.
pub fn panic_text(p: &(dyn std::any::Any + Send)) -> String {
    let said = p.downcast_ref::<&str>().map(|s| (*s).to_owned()).or_else(|| p.downcast_ref::<String>().cloned());
    format!("panicked: {}", said.unwrap_or_default())
}
