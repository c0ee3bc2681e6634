//! Documents that cannot drift silently: every crate is on the map, every link and every path they name exists.

use crate::files::collect;
use std::fs;
use std::path::Path;

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let mut out = Vec::new();
    let map = read(&root.join("docs/architecture.md"))?;
    let crates = fs::read_dir(root.join("crates")).map_err(|e| format!("crates: {e}"))?;
    for entry in crates {
        let name = entry.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned();
        if !map.contains(&format!("`{name}`")) {
            out.push(format!("docs/architecture.md does not name `{name}`"));
        }
    }
    let mut pages = Vec::new();
    collect(&root.join("docs"), "md", &mut pages)?;
    for name in ["README.md", "CONTRIBUTING.md"] {
        pages.extend(Some(root.join(name)).filter(|p| p.is_file()));
    }
    pages.sort();
    for page in pages {
        let text = read(&page)?;
        let name = page.strip_prefix(root).unwrap_or(&page).to_string_lossy().replace('\\', "/");
        let folder = page.parent().unwrap_or(root);
        for link in links(&text) {
            if !folder.join(&link).exists() {
                out.push(format!("{name} links to {link}, which does not exist"));
            }
        }
        for path in paths(&text) {
            if !root.join(&path).exists() {
                out.push(format!("{name} names {path}, which does not exist"));
            }
        }
    }
    out.sort();
    Ok(out)
}

/// Targets of links into the repository.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for rest in text.split("](").skip(1) {
        let target = rest.split([')', '#', ' ']).next().unwrap_or("");
        if !target.is_empty() && !target.contains(':') {
            out.push(target.to_string());
        }
    }
    out
}

/// Paths in backticks that begin with a folder of ours and have no placeholder.
fn paths(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| ["crates/", "docs/", "tools/", "corpus/", "examples/"].iter().any(|f| word.starts_with(f)))
        .filter(|word| !word.contains(['*', '<', '{', ' ', '\n', '…', ':', '$']) && !word.contains("NAME"))
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_paths_are_found() {
        let text = "See [a](a.md#part), [b](https://b.org) and `crates/x/src/y.rs`, not `crates/NAME/` or `docs/*.md`.";
        assert_eq!(links(text), ["a.md"]);
        assert_eq!(paths(text), ["crates/x/src/y.rs"]);
    }
}
