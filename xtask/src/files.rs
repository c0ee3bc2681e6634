//! Source files: their length, what they must not have, and the fence around `unsafe`.

use std::fs;
use std::path::{Path, PathBuf};

/// Longer files are split, unless they are tables.
const MAX_LINES: usize = 900;

/// Tables that may be longer.
const TABLES: &[&str] = &[];

/// Crates with modules that face C, Objective-C or the system; every other one forbids unsafe code.
const UNSAFE: &[&str] = &["rig-edge", "rig-metal-abi", "rig", "rig-metal", "oneshader-parity", "oneshader-rig"];

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", ".git", "node_modules"];

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "fuzz"] {
        collect(&root.join(folder), "rs", &mut files)?;
    }
    files.sort();
    let mut out = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        complaints(&name, &text, &mut out);
    }
    Ok(out)
}

/// Files below `dir` with this ending.
pub fn collect(dir: &Path, ending: &str, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !dir.is_dir() {
        return Ok(());
    }
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let skipped = path.file_name().is_some_and(|n| SKIPPED.iter().any(|s| n == *s));
        if path.is_dir() && !skipped {
            collect(&path, ending, files)?;
        } else if path.extension().is_some_and(|e| e == ending) {
            files.push(path);
        }
    }
    Ok(())
}

fn complaints(name: &str, text: &str, out: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES && !TABLES.contains(&name) {
        out.push(format!("{name} has {lines} lines; split it below {MAX_LINES}"));
    }
    // Put together here, so that this file does not have them.
    let words = [["TO", "DO"], ["FIX", "ME"], ["todo", "!("], ["unimplemented", "!("], ["dbg", "!("], ["#[ig", "nore"]];
    for word in words.map(|parts| parts.concat()) {
        if let Some(at) = text.lines().position(|l| l.contains(&word)) {
            out.push(format!("{name}:{}: `{word}` is left", at + 1));
        }
    }
    let crate_name = name.strip_prefix("crates/").and_then(|n| n.split_once('/'));
    if let Some((crate_name, "src/lib.rs")) = crate_name
        && !UNSAFE.contains(&crate_name)
        && !text.contains("#![forbid(unsafe_code)]")
    {
        out.push(format!("{name} does not forbid unsafe code"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        complaints(name, text, &mut out);
        out
    }

    #[test]
    fn what_is_wrong_is_found() {
        assert!(found("crates/x/src/a.rs", "fn f() {}\n").is_empty());
        assert_eq!(found("crates/x/src/a.rs", &"\n".repeat(901)).len(), 1);
        assert_eq!(found("crates/x/src/a.rs", &format!("// {}{}: later\n", "TO", "DO")).len(), 1);
        assert_eq!(found("crates/x/src/lib.rs", "//! Doc.\n").len(), 1);
        assert!(found("crates/x/src/lib.rs", "#![forbid(unsafe_code)]\n").is_empty());
    }
}
