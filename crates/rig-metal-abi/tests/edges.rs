//! Neither compiled code nor the driver links the other: the agreement depends on rig-edge alone, and rig-metal, which
//! declares it, is no dependency of it.

use std::process::Command;

fn tree(package: &str) -> Vec<String> {
    let out = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let mut names: Vec<String> = text.lines().filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_agreement_depends_on_the_edge_alone() {
    assert_eq!(tree("rig-metal-abi"), ["rig-edge", "rig-metal-abi"]);
    assert_eq!(tree("rig-edge"), ["rig-edge"]);
}

#[test]
fn rig_does_not_know_the_metal_agreement() {
    assert!(!tree("rig").iter().any(|n| n.starts_with("rig-metal")));
}
