//! Reading sources, writing outputs, telling diagnostics.

use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use oneshader::args::{Color, Format, Invocation};
use oneshader::diag::{DiagnosticBag, SourceMap, Warnings, machine, render, render::Style};
use oneshader::{Code, CompileTarget, Output, Source};

/// Reads the source; `-` is standard input.
pub fn read_source(path: &Path) -> Result<Source, String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|e| format!("cannot read standard input: {e}"))?;
        return Ok(Source::new("<stdin>", text));
    }
    Source::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// Writes to a file, making its directory; to standard output when there is none or it is `-`.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), String> {
    match path {
        Some(path) if path.as_os_str() != "-" => {
            let dir = path.parent().filter(|d| !d.as_os_str().is_empty());
            dir.map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(path, bytes))
                .map_err(|e| format!("cannot write {}: {e}", path.display()))
        }
        _ => match std::io::stdout().lock().write_all(bytes) {
            // Whoever reads has seen enough: `oneshader -help | head`.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|e| format!("cannot write to standard output: {e}")),
        },
    }
}

/// Writes the code. One entry point goes to `-Fo` itself, unless that is a directory; several go to one file each in
/// that directory, named after the entry points. Without `-Fo` Metal text goes to standard output and SPIR-V nowhere.
/// Gives the files written.
pub fn write_artifacts(invocation: &Invocation, source: &Source, output: &Output) -> Result<Vec<PathBuf>, String> {
    let object = invocation.object.as_deref();
    let into_dir = object.is_some_and(is_dir);
    if let ([only], false) = (&output.artifacts[..], into_dir) {
        return match (&only.code, object) {
            (Code::Spirv(_), None) => Ok(Vec::new()),
            (code, path) => {
                write(path, &code.to_bytes())?;
                Ok(path.filter(|p| p.as_os_str() != "-").map(Path::to_owned).into_iter().collect())
            }
        };
    }
    let mut written = Vec::new();
    let extension = extension(invocation.options.target);
    for artifact in &output.artifacts {
        let path = match object {
            None => None,
            Some(dir) if dir.as_os_str() == "-" => None,
            Some(dir) if into_dir => Some(dir.join(format!("{}.{extension}", artifact.entry))),
            Some(file) => {
                let hint = format!("{}/", file.display());
                return Err(format!(
                    "{} has {} entry points; name a directory ({hint}) or choose one with -E",
                    source.name,
                    output.artifacts.len()
                ));
            }
        };
        write(path.as_deref(), &artifact.code.to_bytes())?;
        written.extend(path);
    }
    Ok(written)
}

/// Whether an output names a directory: one that exists, or ends as one.
pub fn is_dir(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// What files of a target end with.
pub const fn extension(target: CompileTarget) -> &'static str {
    match target {
        CompileTarget::Msl => "metal",
        CompileTarget::Spirv => "spv",
    }
}

/// Tells diagnostics the way the command line asks for.
pub struct Reporter {
    format: Format,
    color: bool,
    warn: bool,
}

impl Reporter {
    /// From the command line and what standard error is.
    pub fn new(invocation: &Invocation) -> Self {
        let color = match invocation.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        };
        Self { format: invocation.format, color, warn: invocation.options.warnings != Warnings::Hide }
    }

    /// Tells that a flag makes no difference.
    pub fn ignored_flag(&self, flag: &str) {
        if self.warn && self.format == Format::Text {
            eprintln!("oneshader: warning: {flag} makes no difference here");
        }
    }

    /// Tells diagnostics on standard error; a SARIF log even when there are none.
    pub fn report(&self, bag: &DiagnosticBag, sources: &SourceMap) {
        match self.format {
            Format::Text => eprint!("{}", render::render(sources, bag, Style { color: self.color, short: false })),
            Format::Json => eprintln!("{}", machine::json(sources, bag)),
            Format::Sarif => eprintln!("{}", machine::sarif(sources, bag, env!("CARGO_PKG_VERSION"))),
        }
    }
}
