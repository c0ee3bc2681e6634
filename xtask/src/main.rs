//! Repository chores: `cargo xtask tidy` checks what the compiler cannot.
#![forbid(unsafe_code)]

mod arrows;
mod docs;
mod files;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        _ => {
            eprintln!("usage: cargo xtask tidy");
            ExitCode::from(2)
        }
    }
}

/// Every complaint, one a line.
fn tidy() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let mut complaints = Vec::new();
    for check in [arrows::check, files::check, docs::check] {
        match check(root) {
            Ok(found) => complaints.extend(found),
            Err(error) => complaints.push(error),
        }
    }
    for complaint in &complaints {
        eprintln!("tidy: {complaint}");
    }
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
