//! docs/unsafe.md lists every file of the runtime that has unsafe code, with the number of lines that have the word.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lines of Rust that have the word, comments and lint names aside.
fn count(source: &str) -> usize {
    let code = source.lines().map(|l| l.split("//").next().unwrap_or(""));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.filter(|l| l.split(|c| !is_word(c)).any(|w| w == "unsafe")).count()
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn the_inventory_lists_every_file_with_its_count() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = BTreeMap::new();
    for name in ["rig-edge", "rig-metal-abi", "rig", "rig-metal"] {
        let mut files = Vec::new();
        walk(&root.join("crates").join(name).join("src"), &mut files);
        for file in files {
            let lines = count(&std::fs::read_to_string(&file).unwrap());
            if lines > 0 {
                let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                found.insert(name, lines);
            }
        }
    }
    let text = std::fs::read_to_string(root.join("docs/unsafe.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `crates/rig")?.split('|');
        let file = format!("crates/rig{}", cells.next()?.trim().trim_end_matches('`'));
        Some((file, cells.next()?.trim().parse().ok()?))
    };
    let listed: BTreeMap<String, usize> = text.lines().filter_map(row).collect();
    assert_eq!(listed, found);
}
