//! Checks Metal Shading Language source without a Mac, and runs compute kernels on the CPU.
//!
//! Clang reads Metal as "C++ for OpenCL" with headers of our own that declare Metal's standard library, as strictly as
//! Apple's do and per language version; a lint checks what clang ignores.
//!
//! ```
//! let checker = metal_check::Checker::new(metal_check::Options::default())?;
//! let report = checker.check_text("k.metal", "#include <metal_stdlib>\nkernel void k(device float *p [[buffer(0)]]) { *p = 1.0; }")?;
//! assert!(report.passed(), "{report}");
//! # Ok::<(), metal_check::Error>(())
//! ```
#![forbid(unsafe_code)]
mod check;
mod clang;
mod headers;
mod lex;
mod lint;
mod preprocess;
mod process;
mod rewrite;
pub mod run;
mod syntax;
mod version;

pub use check::{Checker, Finding, Options, Origin, Report};
pub use version::{LanguageVersion, UnknownVersion};

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there is no result: something about this machine, never about the text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No clang that can be used was found.
    #[error("no clang found (tried {}); install clang-19 or set METAL_CHECK_CLANG", names(tried))]
    ClangMissing {
        /// Programs tried, in order.
        tried: Vec<PathBuf>,
    },
    /// Clang could not be started.
    #[error("cannot start clang: {0}")]
    ClangStart(#[source] std::io::Error),
    /// Clang does not accept the headers.
    #[error("clang does not accept the headers:\n{0}")]
    Headers(String),
    /// Clang ran past the time limit.
    #[error("clang took longer than {} s", .0.as_secs())]
    Timeout(Duration),
    /// A file or directory could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
