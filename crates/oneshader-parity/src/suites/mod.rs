//! Suites that are only compiled: rows of a list, a table of how they end.
//!
//! The rows run in worker processes with a time limit each. What is made can be checked (Metal text by `metal-check`,
//! SPIR-V by `spirv-val`) and kept in a folder.

pub mod codegen;
pub mod real;

use crate::cases::{panic_text, progress};
use crate::check::Checks;
use crate::compilers::command::CommandCompiler;
use crate::compilers::dxc::DxcReference;
use crate::compilers::ours::OurCompiler;
use crate::compilers::{CommandLine, Compiler, Files, Request, Target};
use crate::engines::Code;
use crate::pool::{self, Ended};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// What a row should come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expect {
    /// A compile.
    Success,
    /// An error of the compiler.
    Refusal,
}

/// One compile of a suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// A stable name, also that of a kept output.
    pub id: String,
    /// The line of the table it counts in.
    pub group: String,
    /// DXC's command line, the source included.
    pub args: Vec<String>,
    /// What it should come to.
    pub expect: Expect,
}

/// How a row ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "end", content = "why")]
pub enum End {
    /// It compiled, and the checker found nothing.
    Compiled,
    /// It compiled, and the checker found something.
    CheckFailed(String),
    /// Refused with an error that says that the target cannot express the input.
    Meant {
        /// The codes.
        codes: Vec<String>,
        /// The first line of the diagnostics.
        first: String,
    },
    /// Refused otherwise.
    Refused {
        /// The codes.
        codes: Vec<String>,
        /// The first line of the diagnostics.
        first: String,
    },
    /// The compiler panicked or its process died.
    Crashed(String),
    /// It took too long.
    TimedOut,
}

/// What the workers of a suite need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuiteSetup {
    /// The compiler: a library of DXC, a command, or ours.
    pub compiler: Which,
    /// Whether to make Metal.
    pub metal: bool,
    /// Metal's language version, for the compiler and the checker.
    pub metal_version: String,
    /// Whether to check what is made.
    pub check: bool,
    /// Where outputs are kept.
    pub keep: Option<PathBuf>,
    /// Words added to every command line.
    pub extra: Vec<String>,
}

/// Which compiler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Which {
    /// DXC from this library.
    Dxc(PathBuf),
    /// A program with DXC's command line.
    Command(String),
    /// Our library.
    Ours,
}

impl Which {
    fn open(&self, metal_version: &str) -> Result<Box<dyn Compiler>, String> {
        Ok(match self {
            Self::Dxc(path) => Box::new(DxcReference::load(path, false)?),
            Self::Command(c) => Box::new(CommandCompiler::new(c)?),
            Self::Ours => Box::new(OurCompiler::new(metal_version, "")),
        })
    }
}

/// A row with its end and how long it took.
pub struct Finished {
    /// The row.
    pub row: Row,
    /// Its end.
    pub end: End,
    /// Wall time of compile and check.
    pub took: Duration,
}

/// Compiles every row.
pub fn run(
    setup: &SuiteSetup,
    rows: Vec<Row>,
    jobs: usize,
    limit: Duration,
    quiet: bool,
) -> Result<Vec<Finished>, String> {
    Worker::open(setup.clone())?;
    let bar = progress(rows.len(), quiet);
    let ends: Mutex<Vec<Option<(End, Duration)>>> = Mutex::new(vec![None; rows.len()]);
    pool::run(&("suite", setup), &rows, jobs, limit, |i, ended, took| {
        let end = match ended {
            Ended::Done(end) => end,
            Ended::Crashed(why) => End::Crashed(why),
            Ended::TimedOut => End::TimedOut,
        };
        if let Ok(mut e) = ends.lock() {
            e[i] = Some((end, took));
        }
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let ends = ends.into_inner().map_err(|e| e.to_string())?;
    let finished = rows.into_iter().zip(ends).filter_map(|(row, e)| e.map(|(end, took)| Finished { row, end, took }));
    Ok(finished.collect())
}

/// The state of a worker process.
pub struct Worker {
    compiler: Box<dyn Compiler>,
    checks: Option<Checks>,
    setup: SuiteSetup,
}

struct DiskFiles;

impl Files for DiskFiles {
    fn read(&self, name: &str) -> Option<String> {
        // Shader sources of the wild are not always UTF-8; comments are where they are not.
        std::fs::read(name).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
    }

    fn parts(&self) -> Option<Vec<(String, String)>> {
        None
    }
}

impl Worker {
    /// Opens the compiler and the checkers.
    pub fn open(setup: SuiteSetup) -> Result<Self, String> {
        let checks = if setup.check { Some(Checks::new(setup.metal, &setup.metal_version)?) } else { None };
        Ok(Self { compiler: setup.compiler.open(&setup.metal_version)?, checks, setup })
    }

    /// Compiles and checks a row.
    pub fn work(&mut self, row: &Row) -> End {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.compile(row)));
        caught.unwrap_or_else(|p| End::Crashed(panic_text(&*p)))
    }

    fn compile(&mut self, row: &Row) -> End {
        let mut words = row.args.clone();
        words.extend(self.setup.extra.iter().cloned());
        let refused = |text: String| End::Refused { codes: Vec::new(), first: first_error(&text) };
        let line = match CommandLine::parse(&words) {
            Ok(l) => l,
            Err(e) => return refused(e),
        };
        let target = if self.setup.metal { Target::Msl } else { Target::Spirv };
        let request = Request { line: &line, target, files: &DiskFiles };
        if line.preprocesses() {
            return match self.compiler.preprocess(&request) {
                Ok(_) => End::Compiled,
                Err(e) => End::Refused { first: first_error(&e.text), codes: e.codes },
            };
        }
        match self.compiler.compile(&request) {
            Ok(code) => {
                if let Some(Err(e)) = self.setup.keep.as_deref().map(|dir| keep(dir, row, &code)) {
                    return End::CheckFailed(e);
                }
                match self.checks.as_ref().map_or(Ok(()), |c| c.check(&row.id, &line, &code)) {
                    Ok(()) => End::Compiled,
                    Err(e) => End::CheckFailed(e),
                }
            }
            Err(e) => {
                let first = first_error(&e.text);
                if !e.codes.is_empty() && e.codes.iter().all(|c| is_meant(c)) {
                    End::Meant { codes: e.codes, first }
                } else {
                    End::Refused { codes: e.codes, first }
                }
            }
        }
    }
}

/// The family of codes that say what Metal cannot express.
fn is_meant(code: &str) -> bool {
    code.starts_with("OSH51")
}

fn keep(dir: &Path, row: &Row, code: &Code) -> Result<(), String> {
    let name: String = row.id.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let write = |ext: &str, bytes: &[u8]| {
        let path = dir.join(format!("{name}.{ext}"));
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    match code {
        Code::Spirv(words) => write("spv", &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>()),
        Code::Metal { text, reflection, .. } => {
            write("metal", text.as_bytes()).and_then(|()| write("json", reflection.as_bytes()))
        }
    }
}

/// The line of a diagnostic text that says what is wrong.
fn first_error(text: &str) -> String {
    let line = text.lines().find(|l| l.contains("error")).or_else(|| text.lines().find(|l| !l.trim().is_empty()));
    line.unwrap_or("no message").trim().chars().take(300).collect()
}

/// The kinds of ends, as columns of the table.
const COLUMNS: [&str; 7] = ["rows", "as expected", "check failed", "meant error", "other error", "crash", "timeout"];

fn column(f: &Finished) -> usize {
    match (&f.end, f.row.expect) {
        (End::Crashed(_), _) => 5,
        (End::TimedOut, _) => 6,
        (End::Compiled | End::CheckFailed(_), Expect::Refusal) => 4,
        (End::Meant { .. } | End::Refused { .. }, Expect::Refusal) | (End::Compiled, Expect::Success) => 1,
        (End::CheckFailed(_), Expect::Success) => 2,
        (End::Meant { .. }, Expect::Success) => 3,
        (End::Refused { .. }, Expect::Success) => 4,
    }
}

/// Whether a row ended as it should, a meant error included.
pub fn is_good(f: &Finished) -> bool {
    matches!(column(f), 1 | 3)
}

/// The table: a line per group, then the codes of meant errors, then times.
pub fn table(done: &[Finished]) -> String {
    let mut groups: BTreeMap<&str, [usize; 7]> = BTreeMap::new();
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for f in done {
        let counts = groups.entry(&f.row.group).or_default();
        counts[0] += 1;
        counts[column(f)] += 1;
        if let (End::Meant { codes: list, .. }, Expect::Success) = (&f.end, f.row.expect) {
            for c in list {
                *codes.entry(c).or_default() += 1;
            }
        }
    }
    let width = groups.keys().map(|g| g.len()).max().unwrap_or(0).max(5) + 2;
    let mut out = format!("{:width$}", "group");
    for c in COLUMNS {
        let _ = write!(out, "{c:>w$}", w = c.len() + 3);
    }
    let _ = writeln!(out, "{:>9}{:>9}", "right", "or meant");
    let line = |out: &mut String, name: &str, n: &[usize; 7]| {
        let _ = write!(out, "{name:width$}");
        for (c, n) in COLUMNS.iter().zip(n) {
            let _ = write!(out, "{n:>w$}", w = c.len() + 3);
        }
        let percent = |k: usize| 100.0 * k as f64 / n[0].max(1) as f64;
        let _ = writeln!(out, "{:>8.1}%{:>8.1}%", percent(n[1]), percent(n[1] + n[3]));
    };
    let mut total = [0; 7];
    for (g, n) in &groups {
        line(&mut out, g, n);
        total.iter_mut().zip(n).for_each(|(t, n)| *t += n);
    }
    if groups.len() > 1 {
        line(&mut out, "all", &total);
    }
    for (code, n) in codes {
        let _ = writeln!(out, "meant {code}: {n}");
    }
    let mut times: Vec<_> = done.iter().map(|f| f.took).collect();
    times.sort_unstable();
    if let (Some(last), Some(slow)) = (times.last(), done.iter().max_by_key(|f| f.took)) {
        let at = |p: usize| times[(times.len() * p / 100).min(times.len() - 1)].as_millis();
        let _ = writeln!(
            out,
            "milliseconds a row, check included: median {}, 95th {}, most {} ({})",
            at(50),
            at(95),
            last.as_millis(),
            slow.row.id
        );
    }
    out
}

/// What did not end as it should, a line each: name, kind, codes, first line of why. Tabs separate.
pub fn failures(done: &[Finished]) -> String {
    let mut out = String::new();
    for f in done.iter().filter(|f| column(f) != 1) {
        let (codes, why) = match &f.end {
            End::Compiled if f.row.expect == Expect::Refusal => (String::new(), "compiled, but should be refused"),
            End::Compiled | End::TimedOut => (String::new(), ""),
            End::CheckFailed(w) | End::Crashed(w) => (String::new(), w.as_str()),
            End::Meant { codes, first } | End::Refused { codes, first } => (codes.join(","), first.as_str()),
        };
        let why = why.lines().take(4).collect::<Vec<_>>().join(" | ").replace('\t', " ");
        let _ = writeln!(out, "{}\t{}\t{}\t{codes}\t{why}", f.row.group, f.row.id, COLUMNS[column(f)]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(expect: Expect, end: End) -> Finished {
        let row = Row { id: "r".into(), group: "g".into(), args: vec![], expect };
        Finished { row, end, took: Duration::from_millis(3) }
    }

    #[test]
    fn columns_and_percentages() {
        let meant = || End::Meant { codes: vec!["OSH5102".into()], first: String::new() };
        let done = [
            finished(Expect::Success, End::Compiled),
            finished(Expect::Success, meant()),
            finished(Expect::Success, End::CheckFailed("x".into())),
            finished(Expect::Refusal, End::Compiled),
            finished(Expect::Refusal, meant()),
        ];
        assert_eq!(done.each_ref().map(column), [1, 3, 2, 4, 1]);
        let text = table(&done);
        assert!(text.contains("40.0%") && text.contains("60.0%") && text.contains("meant OSH5102: 1"), "{text}");
        assert_eq!(failures(&done).lines().count(), 3);
    }

    #[test]
    fn the_error_line_is_found() {
        assert_eq!(first_error("warning: w\n  a.hlsl:1:1: error: bad\nmore"), "a.hlsl:1:1: error: bad");
        assert_eq!(first_error(""), "no message");
    }
}
