//! DXC's own tests of its SPIR-V output, from a checkout: their RUN lines as compiles.
//!
//! Only vertex, pixel and compute profiles count. A compile is expected to be refused when its line starts with `not`,
//! or asks for `-verify` and the source announces errors. It is specific to SPIR-V when its code (comments aside) says
//! `vk::`, `[[vk` or `__spirv__`, or its line has an `-fvk-` or `-fspv-` option other than the target environment.

use super::{Expect, Row};
use crate::script::words;
use std::path::{Path, PathBuf};

/// The rows of a checkout, by file name.
pub fn rows(checkout: &Path) -> Result<Vec<Row>, String> {
    let root = checkout.join("tools/clang/test/CodeGenSPIRV");
    let root = if root.is_dir() { root } else { checkout.to_path_buf() };
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(dir) = folders.pop() {
        for entry in std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "hlsl") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut out = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        out.extend(rows_of(&name, &path.to_string_lossy(), &String::from_utf8_lossy(&bytes)));
    }
    if out.is_empty() {
        return Err(format!("{}: no RUN lines of DXC below", root.display()));
    }
    Ok(out)
}

fn rows_of(name: &str, path: &str, text: &str) -> Vec<Row> {
    let directives = crate::case::lit::Directives::parse(text);
    let specific_code = ["vk::", "[[vk", "[[ vk", "__spirv__"].iter().any(|m| code_contains(text, m));
    let mut out = Vec::new();
    for (n, line) in directives.runs.iter().enumerate() {
        let Some(mut row) = row_of(line, path, text) else { continue };
        let specific = specific_code
            || row
                .args
                .iter()
                .any(|a| (a.starts_with("-fvk-") || a.starts_with("-fspv-")) && !a.starts_with("-fspv-target-env"));
        row.group = match (row.expect, specific) {
            (Expect::Success, false) => "general",
            (Expect::Success, true) => "vk-specific",
            (Expect::Refusal, false) => "general, refused",
            (Expect::Refusal, true) => "vk-specific, refused",
        }
        .to_owned();
        row.id = if directives.runs.len() == 1 { name.to_owned() } else { format!("{name}#{}", n + 1) };
        out.push(row);
    }
    out
}

/// The compile of a RUN line, if it is one of a stage that counts.
fn row_of(line: &str, path: &str, text: &str) -> Option<Row> {
    let words = words(line).ok()?;
    let command = words.split(|w| w == "|" || w == "&&" || w == ";" || w == ">").next()?;
    let (inverted, command) = match command.split_first()? {
        (first, rest) if first == "not" => (true, rest),
        _ => (false, command),
    };
    let (first, args) = command.split_first()?;
    if first != "%dxc" {
        return None;
    }
    let args: Vec<String> =
        args.iter().filter(|a| *a != "2>&1").map(|a| if a == "%s" { path.to_owned() } else { a.clone() }).collect();
    let parsed = crate::compilers::CommandLine::parse(&args).ok()?;
    if !matches!(parsed.stage(), "vs" | "ps" | "cs") {
        return None;
    }
    let announced = parsed.verify && text.contains("expected-error");
    let expect = if inverted || announced { Expect::Refusal } else { Expect::Success };
    Some(Row { id: String::new(), group: String::new(), args, expect })
}

fn code_contains(text: &str, what: &str) -> bool {
    text.lines().any(|l| l.split("//").next().is_some_and(|code| code.contains(what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_lines_are_sorted() {
        let rows = |t: &str| {
            rows_of("f.hlsl", "/d/f.hlsl", t).into_iter().map(|r| (r.group, r.args.join(" "))).collect::<Vec<_>>()
        };
        let one = |g: &str, a: &str| vec![(g.to_owned(), a.to_owned())];
        assert_eq!(
            rows("// RUN: %dxc -T ps_6_0 -E main -fcgl %s -spirv | FileCheck %s\n// a vk:: comment\n"),
            one("general", "-T ps_6_0 -E main -fcgl /d/f.hlsl -spirv")
        );
        assert_eq!(rows("// RUN: %dxc -T hs_6_0 -E main %s -spirv\n"), []);
        assert_eq!(
            rows("// RUN: not %dxc -T cs_6_0 %s -spirv 2>&1 | FileCheck %s\n[[vk::binding(1)]] int a;\n"),
            one("vk-specific, refused", "-T cs_6_0 /d/f.hlsl -spirv")
        );
        assert_eq!(rows("// RUN: %dxc -T vs_6_0 -fspv-target-env=vulkan1.1 %s\n")[0].0, "general");
        assert_eq!(rows("// RUN: %dxc -T vs_6_0 -fvk-invert-y %s\n")[0].0, "vk-specific");
        assert_eq!(rows("// RUN: %dxc -T vs_6_0 %s -verify\n x // expected-error {{y}}\n")[0].0, "general, refused");
    }
}
