//! Text files: a module, and the Metal text it becomes. The first line says `; test msl` with options as `name=value`; the
//! lines from `; expect` on are the text, or the errors. `BLESS=1` writes them. Every text is checked by `metal-check`,
//! with and without the layout asserts.

mod common;

use common::{Outcome, check, emit};
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn texts_are_as_expected() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let (input, expected) = match text.split_once("; expect\n") {
            Some((input, expected)) => (input.to_owned(), expected.to_owned()),
            None => (text.clone(), String::new()),
        };
        let output = match emit(&input) {
            Outcome::Text(text) => text,
            Outcome::Errors(errors) => errors,
        };
        let printed: String = output.lines().map(|l| format!("; {l}").trim_end().to_owned() + "\n").collect();
        if printed == expected {
            continue;
        }
        if bless {
            fs::write(&path, format!("{}\n; expect\n{printed}", input.trim_end())).unwrap();
        } else {
            failures.push(format!("{}:\n{output}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn texts_are_valid_metal() {
    let mut failures = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let input = text.split_once("; expect\n").map_or(text.as_str(), |(i, _)| i);
        if let Outcome::Text(metal) = emit(input)
            && let Err(report) = check(&path.display().to_string(), &metal, input)
        {
            failures.push(format!("{report}\n{metal}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
