//! Writes `docs/diagnostics.md` from the table of codes.

use std::fmt::Write;

use crate::codes;

/// The whole document.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Diagnostics\n\nEvery message of the compiler carries one of these codes. This page is generated from the \
         table in `crates/oneshader-diag/src/codes`; `BLESS=1 cargo test -p oneshader-diag --test docs` writes it anew.\n",
    );
    for section in codes::SECTIONS {
        let _ = write!(out, "\n## {}: {}\n", section.range, section.title);
        for info in section.rows {
            let _ = write!(out, "\n### {}: {}\n\n*{}.* {}\n", info.code, info.title, info.severity, info.explanation);
        }
    }
    out
}
