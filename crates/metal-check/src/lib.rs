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

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with something of everything.
    const SAMPLE: &str = "#define N 3\nstruct S { float4 p [[position]]; device float* q [[id(0)]]; T& operator[](int i) device { return a[i]; } };\n\
        constant uint c [[function_constant(1)]]; constant bool d = is_function_constant_defined(c);\n\
        template<uint K> float f(thread float& x) { for (int i = 0; i < K; ++i) { x += simd_sum(x) ? 1.0 : (x > 2 ? 3. : 4); } return x; }\n\
        [[kernel]] void k(device S* s [[buffer(0)]], array<texture2d<float>, 4> t [[texture(1)]], uint3 g [[thread_position_in_grid]]) {\n\
        threadgroup float h[4]; switch (g.x) { case 1: do { h[0] = f<3>(h[1]); } while (quad_any(true)); default: break; } /* end */ }\n";

    fn survive(text: &str) {
        let _ = rewrite::rewrite(text, rewrite::RewriteOptions { lanes: true });
        let _ = lint::lint(text, LanguageVersion::V2_4);
        let _ = run::survive(text);
    }

    #[test]
    fn no_text_makes_the_passes_panic() {
        let bytes: Vec<char> = SAMPLE.chars().collect();
        for i in 0..bytes.len() {
            survive(&bytes[..i].iter().collect::<String>());
            survive(&bytes[i..].iter().collect::<String>());
            // Each place is changed to some of these; near places to others.
            const OTHERS: [char; 16] =
                ['(', ')', '[', ']', '{', '}', '<', '>', '?', ':', ';', '"', '#', ' ', '\\', '\u{e9}'];
            for k in 0..4 {
                let mut changed = bytes.clone();
                changed[i] = OTHERS[(5 * i + k) % OTHERS.len()];
                survive(&changed.into_iter().collect::<String>());
            }
        }
    }

    #[test]
    fn long_texts_take_time_in_proportion() {
        let started = std::time::Instant::now();
        for unit in [
            "(",
            "[",
            "[[",
            "{",
            "<",
            "a?",
            "a<",
            "for(",
            "do ",
            "if(a)",
            "template<",
            "kernel void k(",
            "f();",
            "*",
            "#\n",
        ] {
            survive(&unit.repeat(20_000));
            survive(&format!("kernel void k() {{ simd_sum(x); {} }}", unit.repeat(20_000)));
        }
        survive(&format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)));
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    }
}
