//! Tests that are text files, in the manner of Cranelift's: an input, a command, the output expected, all in one file.
//!
//! ```text
//! ; test pass fold dce
//! module
//! func fn0 ...
//! ; expect
//! ; module
//! ; func fn0 ...
//! ```
//!
//! The first line says what is done with the input; the lines from `; expect` on are what comes out. `BLESS=1` writes them.
//! A file whose command is unknown, or whose ending is not one of ours, is an error: nothing is skipped. The comment mark
//! is `;` in `.ir` files and `//` in `.hlsl` files.
//!
//! | file | command | output |
//! |---|---|---|
//! | `.ir` | `print` | the input itself, without an expectation |
//! | `.ir` | `verify` | the errors, or `legal` |
//! | `.ir` | `pass NAME...` | the module after these passes |
//! | `.ir` | `pipeline NAME` | the module after a standard pipeline |
//! | `.ir`, `.hlsl` | `msl FLAG...` | the Metal text of every entry point, which `metal-check` must accept; or the errors |
//! | `.hlsl` | `hlsl FLAG...` | the module that the front end makes, before any pass; or the errors |
//!
//! Flags are those of the `oneshader` command, which are DXC's.
#![forbid(unsafe_code)]

mod command;

use std::fs;
use std::path::{Path, PathBuf};

/// Runs every file below `root`. With `bless` expectations are written instead of compared.
///
/// # Errors
/// One text with every failure.
pub fn run(root: &Path, bless: bool) -> Result<usize, String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let failures: Vec<String> =
        files.iter().filter_map(|f| run_file(f, bless).err().map(|e| format!("{}: {e}", f.display()))).collect();
    if failures.is_empty() { Ok(files.len()) } else { Err(failures.join("\n\n")) }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn run_file(path: &Path, bless: bool) -> Result<(), String> {
    let mark = match path.extension().and_then(|e| e.to_str()) {
        Some("ir") => ";",
        Some("hlsl") => "//",
        _ => return Err("a file of this kind is no test".into()),
    };
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (input, expected) = split(&text, mark);
    let words = command_line(input, mark)?;
    let output = match mark {
        ";" => command::run_ir(&words, input)?,
        _ => Some(command::run_hlsl(&words, input)?),
    };
    let Some(output) = output else {
        return match expected {
            None => Ok(()),
            Some(_) => Err("this command takes no expectation".into()),
        };
    };
    if expected.as_deref() == Some(output.trim_end()) {
        return Ok(());
    }
    if bless {
        let mut blessed = input.trim_end().to_string();
        blessed.push_str(&format!("\n{mark} expect\n"));
        for line in output.trim_end().lines() {
            blessed.push_str(format!("{mark} {line}").trim_end());
            blessed.push('\n');
        }
        return fs::write(path, blessed).map_err(|e| e.to_string());
    }
    Err(difference(expected.as_deref().unwrap_or(""), output.trim_end()))
}

/// The words after `test` in the first line.
fn command_line<'t>(input: &'t str, mark: &str) -> Result<Vec<&'t str>, String> {
    let line = input.lines().next().unwrap_or("");
    let words = line.strip_prefix(mark).and_then(|l| l.trim_start().strip_prefix("test "));
    words.map(|w| w.split_whitespace().collect()).ok_or_else(|| format!("the first line is not `{mark} test ...`"))
}

/// The input, and the expectation without its comment marks.
fn split<'t>(text: &'t str, mark: &str) -> (&'t str, Option<String>) {
    let header = format!("{mark} expect\n");
    let at = if text.starts_with(&header) { Some(0) } else { text.find(&format!("\n{header}")).map(|at| at + 1) };
    let Some(at) = at else { return (text, None) };
    let expected: Vec<&str> = text[at + header.len()..]
        .lines()
        .map(|line| {
            let line = line.strip_prefix(mark).unwrap_or(line);
            line.strip_prefix(' ').unwrap_or(line)
        })
        .collect();
    (&text[..at], Some(expected.join("\n").trim_end().to_string()))
}

/// The first lines that differ, with what surrounds them.
fn difference(expected: &str, output: &str) -> String {
    let (e, o): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), output.lines().collect());
    let same = e.iter().zip(&o).take_while(|(a, b)| a == b).count();
    let show = |lines: &[&str]| lines.iter().skip(same).take(8).map(|l| format!("    {l}\n")).collect::<String>();
    format!(
        "line {} of the output differs (BLESS=1 accepts it)\n  expected:\n{}  found:\n{}",
        same + 1,
        show(&e),
        show(&o)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_split_at_the_expectation() {
        assert_eq!(split("; test x\na\n; expect\n; b\n;\n;  c\n", ";"), ("; test x\na\n", Some("b\n\n c".into())));
        assert_eq!(split("; test x\na\n", ";"), ("; test x\na\n", None));
    }

    #[test]
    fn what_is_no_test_fails() {
        let dir = std::env::temp_dir().join(format!("oneshader-filetests-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("stray.txt"), "x").unwrap();
        fs::write(dir.join("unknown.ir"), "; test frobnicate\nmodule\n").unwrap();
        fs::write(dir.join("none.ir"), "module\n").unwrap();
        fs::write(dir.join("other.hlsl"), "// test pass dce\nint a;\n").unwrap();
        fs::write(dir.join("flag.hlsl"), "// test hlsl -frobnicate\nint a;\n").unwrap();
        fs::write(dir.join("pass.ir"), "; test pass no-such-pass\nmodule\n").unwrap();
        let text = run(&dir, false).unwrap_err();
        for part in [
            "stray.txt",
            "unknown.ir: there is no command frobnicate",
            "none.ir",
            "there is no pass no-such-pass",
            "other.hlsl: there is no command pass dce",
            "flag.hlsl: unknown flag -frobnicate",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
