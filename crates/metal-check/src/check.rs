//! Checking: the compiler and the lint over a text, and what they find.
use crate::clang::{self, Clang, Purpose};
use crate::lex::TokenStream;
use crate::preprocess::{Place, Source, preprocess};
use crate::rewrite::{RewriteOptions, Rewritten, rewrite};
use crate::version::LanguageVersion;
use crate::{Error, lint};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to check, and with what.
#[derive(Debug, Clone)]
pub struct Options {
    /// The language version: what it lacks is not declared.
    pub version: LanguageVersion,
    /// Macros, as `-D` gives them: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Directories searched for `#include`, after the directory of the file.
    pub include_dirs: Vec<PathBuf>,
    /// Defines `ONESHADER_CHECK_LAYOUT`, which turns on the layout asserts in text that oneshader emits.
    pub check_layout: bool,
    /// Whether to check what clang ignores: attributes, entry parameters, address spaces.
    pub lint: bool,
    /// The clang to use; otherwise `METAL_CHECK_CLANG`, then the usual names.
    pub clang: Option<PathBuf>,
    /// Where headers are kept; otherwise `METAL_CHECK_CACHE`, then the user's cache directory.
    pub cache: Option<PathBuf>,
    /// Time limit for one text.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            version: LanguageVersion::default(),
            defines: Vec::new(),
            include_dirs: Vec::new(),
            check_layout: true,
            lint: true,
            clang: None,
            cache: None,
            timeout: Duration::from_secs(60),
        }
    }
}

/// Who found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Clang, with our headers.
    Compiler,
    /// The lint.
    Lint,
}

/// Something wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Who found it.
    pub origin: Origin,
    /// The file that the text includes where it is; `None` for the text itself.
    pub file: Option<String>,
    /// 1-based line of the file; 0 if it has no place.
    pub line: u32,
    /// 1-based column in bytes; 0 if only the line is known.
    pub column: u32,
    /// What is wrong: one sentence, no full stop.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(origin: Origin, place: Place, message: String) -> Self {
        let Place { file, line, column } = place;
        Self { origin, file, line, column, message }
    }

    /// A finding of the compiler without a place.
    pub(crate) fn nowhere(message: String) -> Self {
        Self::new(Origin::Compiler, Place { file: None, line: 0, column: 0 }, message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        f.write_str(&self.message)
    }
}

/// What a check found in one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The name given with the text: a path.
    pub name: String,
    /// Everything found, by line.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing was found.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Report {
    /// One line per finding, `name:line:column: error: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let Finding { line, column, message, .. } = finding;
            let name = finding.file.as_ref().unwrap_or(&self.name);
            match (line, column) {
                (0, _) => writeln!(f, "{name}: error: {message}")?,
                (_, 0) => writeln!(f, "{name}:{line}: error: {message}")?,
                _ => writeln!(f, "{name}:{line}:{column}: error: {message}")?,
            }
        }
        Ok(())
    }
}

/// Checks Metal source. Holds no state between texts; share one among threads.
#[derive(Debug, Clone)]
pub struct Checker {
    options: Options,
    clang: Clang,
}

impl Checker {
    /// Finds clang and prepares the headers.
    ///
    /// # Errors
    /// No usable clang, or the cache directory cannot be written.
    pub fn new(options: Options) -> Result<Self, Error> {
        let clang = Clang::new(options.clang.as_deref(), options.cache.as_deref(), options.version)?;
        clang.precompiled(Purpose::Check)?;
        Ok(Self { options, clang })
    }

    /// The options the checker was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The first line of `clang --version` of the clang in use.
    pub fn clang_version(&self) -> &str {
        self.clang.identity()
    }

    /// Checks `text`; `name` is the path it stands for, from whose directory it includes.
    ///
    /// # Errors
    /// Clang could not be run or took longer than the time limit. What is wrong with the text is in the report.
    pub fn check_text(&self, name: &str, text: &str) -> Result<Report, Error> {
        let mut findings = match preprocess(&self.clang, &self.options, name, text)? {
            Ok(source) => {
                let mut findings = self.compile(&source)?;
                if self.options.lint {
                    findings.extend(self.lint(&source));
                }
                findings
            }
            Err(refusals) => refusals.into_iter().map(|r| Finding::new(Origin::Compiler, r.place, r.message)).collect(),
        };
        findings.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        findings.dedup();
        Ok(Report { name: name.to_owned(), findings })
    }

    /// Checks one file. A file that cannot be read or is not UTF-8 fails.
    ///
    /// # Errors
    /// As [`Checker::check_text`].
    pub fn check_file(&self, path: &Path) -> Result<Report, Error> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => self.check_text(&name, &text),
            Err(e) => {
                let message = format!("cannot read the file: {e}");
                Ok(Report {
                    name,
                    findings: vec![Finding { origin: Origin::Compiler, file: None, line: 0, column: 0, message }],
                })
            }
        }
    }

    /// Checks files in parallel; the results are in the order of `paths`. `done` is called after each file, from any
    /// thread.
    pub fn check_files<P: AsRef<Path> + Sync>(
        &self,
        paths: &[P],
        done: impl Fn(&Result<Report, Error>) + Sync,
    ) -> Vec<Result<Report, Error>> {
        paths
            .par_iter()
            .map(|path| {
                let report = self.check_file(path.as_ref());
                done(&report);
                report
            })
            .collect()
    }

    /// What the lint says about `source`.
    fn lint(&self, source: &Source<'_>) -> Vec<Finding> {
        let stream = TokenStream::new(&source.text);
        let remarks = lint::lint(&source.text, self.options.version);
        let finding = |r: lint::Remark| {
            let (line, column) = stream.position(r.offset);
            Finding::new(Origin::Lint, source.place(line, column), r.message)
        };
        remarks.into_iter().map(finding).collect()
    }

    /// What clang says about `source`.
    fn compile(&self, source: &Source<'_>) -> Result<Vec<Finding>, Error> {
        let rewritten = rewrite(&source.text, RewriteOptions::default());
        let mut command = self.clang.command(Purpose::Check)?;
        if source.text.contains("function_constant") {
            // Constants computed from function constants are folded when the pipeline is made.
            command.arg("-Wno-global-constructors");
        }
        command.args(["-fsyntax-only", "-"]);
        let done = clang::run(&mut command, rewritten.text.as_bytes(), self.options.timeout)?;
        let mut findings = read_diagnostics(&done.stderr, source, &rewritten);
        if !done.status.success() && findings.is_empty() {
            let message = format!("clang failed: {}", done.stderr.trim());
            findings.push(Finding::new(Origin::Compiler, Place { file: None, line: 0, column: 0 }, message));
        }
        Ok(findings)
    }
}

/// Reads clang's messages. One in a header is given the place in the text that led there, which its notes name.
pub(crate) fn read_diagnostics(stderr: &str, source: &Source<'_>, rewritten: &Rewritten) -> Vec<Finding> {
    let place = |(line, column)| source.place(line, rewritten.original_column(&source.text, line, column));
    let mut findings: Vec<Finding> = Vec::new();
    for line in stderr.lines() {
        let Some((at, kind, message)) = split_diagnostic(line) else { continue };
        let in_text = at.strip_prefix("<stdin>:").and_then(|p| {
            let mut numbers = p.split(':').map(str::parse::<u32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        });
        match kind {
            Kind::Error if message.starts_with("too many errors emitted") => {}
            Kind::Error => {
                let place = in_text.map_or(Place { file: None, line: 0, column: 0 }, place);
                findings.push(Finding::new(Origin::Compiler, place, metal_words(message)));
            }
            Kind::Note => {
                if let (Some(last), Some(at)) = (findings.last_mut().filter(|f| f.line == 0), in_text) {
                    let Place { file, line, column } = place(at);
                    (last.file, last.line, last.column) = (file, line, column);
                }
            }
        }
    }
    findings
}

enum Kind {
    Error,
    Note,
}

/// `place: error: message`, `place: fatal error: message` or `place: note: message`.
fn split_diagnostic(line: &str) -> Option<(&str, Kind, &str)> {
    for (mark, kind) in [(": fatal error: ", Kind::Error), (": error: ", Kind::Error), (": note: ", Kind::Note)] {
        if let Some((place, message)) = line.split_once(mark) {
            return Some((place, kind, message));
        }
    }
    line.strip_prefix("error: ").map(|m| ("", Kind::Error, m))
}

/// Says a message of clang in Metal's words.
fn metal_words(message: &str) -> String {
    const WORDS: [(&str, &str); 12] = [
        ("const __global ", "constant "),
        ("__global ", "constant "),
        ("__private ", "thread "),
        ("__local ", "threadgroup "),
        ("__generic ", ""),
        ("__attribute__((address_space(0))) ", "device "),
        ("__attribute__((address_space(0)))", "device"),
        ("msl_id_", ""),
        ("__msl_defined_", "function constant "),
        ("__kernel ", "kernel "),
        ("metal::", ""),
        ("unsigned int", "uint"),
    ];
    const SETTER: &str = "no matching member function for call to '__p";
    if let Some(name) = message.strip_prefix(SETTER).and_then(|m| m.strip_suffix('\'')) {
        return format!("cannot assign to component '{name}' of this vector");
    }
    let mut out = message.to_owned();
    for (from, to) in WORDS {
        out = out.replace(from, to);
    }
    for scalar in ["float", "half", "int", "uint", "short", "ushort", "char", "uchar", "bool", "long", "ulong"] {
        for n in 2..=4 {
            out = out.replace(&format!("packed_vec<{scalar}, {n}>"), &format!("packed_{scalar}{n}"));
            out = out.replace(&format!("vec<{scalar}, {n}>"), &format!("{scalar}{n}"));
        }
    }
    out
}
