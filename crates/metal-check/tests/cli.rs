//! The command: output and exit status.
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOOD: &str = "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device uint* p [[buffer(0)]], uint i [[thread_position_in_grid]]) { p[i] += i; }\n";
const BAD: &str = "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device uint* p [[buffer(0)]]) {\n  float3 v = p;\n}\n";

/// A directory of its own for each test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("metal-check-cli-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn metal_check(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metal-check")).args(args).output().expect("the command runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

#[test]
fn checks_directories_and_counts() {
    let dir = Directory::new("count");
    dir.write("a.metal", GOOD);
    dir.write("sub/b.metal", BAD);
    dir.write("sub/c.txt", "not Metal");
    let out = metal_check(&[text(&dir.0)]);
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{stdout}");
    assert_eq!(stdout.lines().last(), Some("1 passed, 1 failed"));
    let expected = format!("{}:4:10: error: ", text(&dir.0.join("sub/b.metal")));
    assert!(stdout.lines().any(|l| l.starts_with(&expected)), "{stdout}");
}

#[test]
fn exit_status_is_2_when_nothing_can_be_checked() {
    assert_eq!(metal_check(&[]).status.code(), Some(2));
    assert_eq!(metal_check(&["--std=metal9", "x.metal"]).status.code(), Some(2));
    let dir = Directory::new("usage");
    let file = dir.write("a.metal", GOOD);
    let out = Command::new(env!("CARGO_BIN_EXE_metal-check"))
        .arg(&file)
        .env("METAL_CHECK_CLANG", "/nonexistent/clang")
        .output()
        .expect("runs");
    assert_eq!(out.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("no clang found"),
        "a missing clang is told, not passed over"
    );
}

#[test]
fn a_missing_file_fails() {
    let out = metal_check(&["/nonexistent/a.metal"]);
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn json_has_every_finding() {
    let dir = Directory::new("json");
    let file = dir.write("b.metal", BAD);
    let out = metal_check(&["--json", text(&file)]);
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(value["passed"], false);
    assert_eq!(value["findings"][0]["line"], 4);
    assert_eq!(value["findings"][0]["origin"], "compiler");
}

#[test]
fn versions_and_macros() {
    let dir = Directory::new("std");
    let file = dir.write(
        "v.metal",
        &format!("{GOOD}#if __METAL_VERSION__ < 310 || N != 3\n#error no\n#endif\nconstant bfloat b = 1;\n"),
    );
    assert_eq!(metal_check(&["-std=metal3.1", "-DN=3", text(&file)]).status.code(), Some(0));
    assert_eq!(metal_check(&["-std=macos-metal2.4", "-DN=3", text(&file)]).status.code(), Some(1));
}

#[test]
fn layout_asserts_are_on() {
    let dir = Directory::new("layout");
    let file = dir.write("l.metal", &format!("{GOOD}#ifdef ONESHADER_CHECK_LAYOUT\nstruct S {{ packed_float3 a; }};\nstatic_assert(sizeof(S) == 16, \"size of S\");\n#endif\n"));
    assert_eq!(metal_check(&[text(&file)]).status.code(), Some(1));
    assert_eq!(metal_check(&["--no-layout-asserts", text(&file)]).status.code(), Some(0));
}

#[test]
fn includes_are_checked_and_named() {
    let dir = Directory::new("include");
    dir.write("common.h", "#pragma once\n#define N 4\nfloat half_of(float x) { return x ? x / 2.0 : y; }\n");
    let file = dir.write("main.metal", &format!("#include \"common.h\"\n{GOOD}constant float a[N] = {{}};\n"));
    let out = metal_check(&[text(&file)]);
    let stdout = String::from_utf8_lossy(&out.stdout);
    assert!(stdout.contains("common.h:3: error: use of undeclared identifier 'y'"), "{stdout}");
}

#[test]
fn run_executes_a_kernel() {
    let dir = Directory::new("run");
    let file = dir.write("k.metal", GOOD);
    let out = metal_check(&["run", text(&file), "--threads", "3", "--buffer", "0=u32:10,20,30", "--print", "0=u32"]);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "10 21 32\n", "{}", String::from_utf8_lossy(&out.stderr));
    let out = metal_check(&["run", text(&file), "--threads", "3", "--buffer", "0=zero:8"]);
    assert_eq!(out.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.contains("buffer 0: read of 4 bytes at offset 8, outside its 8 bytes (thread 2, 0, 0)"), "{stderr}");
    assert_eq!(metal_check(&["run", text(&file), "--buffer", "x=zero:8"]).status.code(), Some(2));
}

#[test]
fn validate_msl_checks_a_directory() {
    let dir = Directory::new("validate");
    dir.write("a.metal", GOOD);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/validate-msl.sh");
    let validate = |dir: &Path| {
        let mut command = Command::new(&script);
        command.arg(dir).env("METAL_CHECK", env!("CARGO_BIN_EXE_metal-check")).output().expect("the script runs")
    };
    let out = validate(&dir.0);
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&out.stdout).lines().last(), Some("1 passed, 0 failed"));
    dir.write("b.metal", BAD);
    assert_eq!(validate(&dir.0).status.code(), Some(1));
    assert_eq!(validate(&dir.0.join("missing")).status.code(), Some(2));
}
