//! Which way the arrows point: the crates of the workspace depend on each other as this table says and no further.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A crate and the crates of the workspace it may depend on (development dependencies aside). Backends see neither the
/// front end nor each other; no library depends on a tool; `metal-check` stands alone.
const ARROWS: &[(&str, &[&str])] = &[
    ("oneshader-diag", &[]),
    ("oneshader-ir", &["oneshader-diag"]),
    ("oneshader-hlsl", &["oneshader-diag", "oneshader-ir"]),
    ("oneshader-opt", &["oneshader-diag", "oneshader-ir"]),
    ("oneshader-msl", &["oneshader-diag", "oneshader-ir"]),
    ("oneshader-spirv", &["oneshader-diag", "oneshader-ir"]),
    ("oneshader-simt", &["oneshader-diag", "oneshader-ir"]),
    (
        "oneshader",
        &["oneshader-diag", "oneshader-ir", "oneshader-hlsl", "oneshader-opt", "oneshader-msl", "oneshader-spirv"],
    ),
    ("oneshader-build", &["oneshader"]),
    ("rig-edge", &[]),
    ("rig-metal-abi", &["rig-edge"]),
    ("rig", &["rig-edge"]),
    ("rig-metal", &["rig-edge", "rig-metal-abi"]),
    ("oneshader-rig", &["oneshader", "rig", "rig-edge", "rig-metal-abi"]),
    ("metal-check", &[]),
];

/// Tools: they may depend on any library, and nothing depends on them.
const TOOLS: &[&str] = &["oneshader-cli", "oneshader-filetests", "oneshader-parity", "oneshader-bench", "xtask"];

pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    Ok(complaints(&edges(&metadata)))
}

/// Each crate of the workspace with the crates of the workspace it depends on.
fn edges(metadata: &Value) -> Vec<(String, Vec<String>)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let names: Vec<String> = packages.iter().map(|p| text(&p["name"])).collect();
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().cloned().unwrap_or_default();
            let ours = all.iter().filter(|d| d["kind"].as_str() != Some("dev")).map(|d| text(&d["name"]));
            (text(&package["name"]), ours.filter(|d| names.contains(d)).collect())
        })
        .collect()
}

fn complaints(edges: &[(String, Vec<String>)]) -> Vec<String> {
    let mut out = Vec::new();
    for (name, depends_on) in edges {
        let tool = TOOLS.contains(&name.as_str());
        let row = ARROWS.iter().find(|(n, _)| n == name);
        if row.is_none() && !tool {
            out.push(format!("{name} has no row in the table of arrows (xtask/src/arrows.rs)"));
        }
        for other in depends_on {
            if TOOLS.contains(&other.as_str()) {
                out.push(format!("{name} depends on {other}, which is a tool"));
            } else if let Some((_, allowed)) = row
                && !allowed.contains(&other.as_str())
            {
                out.push(format!("{name} depends on {other}: no arrow points that way"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &[&str]) -> (String, Vec<String>) {
        (from.into(), to.iter().map(|s| s.to_string()).collect())
    }

    #[test]
    fn the_table_has_no_cycle() {
        // Rows stand after the rows they point to.
        for (i, (name, allowed)) in ARROWS.iter().enumerate() {
            for other in *allowed {
                let at = ARROWS.iter().position(|(n, _)| n == other);
                assert!(at.is_some_and(|at| at < i), "{name} -> {other}");
            }
        }
    }

    #[test]
    fn wrong_arrows_are_found() {
        let ok = [edge("oneshader-msl", &["oneshader-ir"]), edge("oneshader-cli", &["oneshader"])];
        assert!(complaints(&ok).is_empty());
        let wrong =
            [edge("oneshader-msl", &["oneshader-hlsl"]), edge("rig", &["oneshader-cli"]), edge("newcomer", &[])];
        let found = complaints(&wrong);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("no arrow points that way"));
        assert!(found[1].contains("which is a tool"));
        assert!(found[2].contains("has no row"));
    }
}
