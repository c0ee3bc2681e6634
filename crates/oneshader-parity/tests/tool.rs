//! The command as a user meets it.

use std::path::Path;
use std::process::{Command, Output};

fn tool(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oneshader-parity")).args(args).output().unwrap()
}

fn text(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned() + &String::from_utf8_lossy(&o.stderr)
}

#[test]
fn cases_are_listed_by_name() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    for f in ["a.test", "b/c.yaml", "b/readme.txt"] {
        std::fs::write(dir.path().join(f), "").unwrap();
    }
    let path = dir.path().to_str().unwrap();
    let all = tool(&["run", path, "--list"]);
    assert!(all.status.success());
    assert_eq!(String::from_utf8_lossy(&all.stdout), "a.test\nb/c.yaml\n");
    let some = tool(&["run", path, "--list", "--filter", "^b/"]);
    assert_eq!(String::from_utf8_lossy(&some.stdout), "b/c.yaml\n");
}

/// A suite needs no device: rows run in worker processes, which must survive what compilers do.
#[cfg(unix)]
#[test]
fn a_suite_survives_its_compiler() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("o+n");
    std::fs::create_dir(&root).unwrap();
    let row = |file: &str, body: &str| {
        std::fs::write(root.join(file), body).unwrap();
        format!("o/n\t{file}\tps_6_0\tmain\t\t\t2021\t\n")
    };
    let mut manifest = String::from("repo\tpath\tprofile\tentry\tdefines\tincludes\thv\tflags\n");
    manifest += &row("good.hlsl", "good");
    manifest += &row("meant.hlsl", "meant");
    manifest += &row("refused.hlsl", "refused");
    manifest += &row("slow.hlsl", "slow");
    let list = dir.path().join("manifest.tsv");
    std::fs::write(&list, manifest).unwrap();
    // The last argument is the source, the one before it the output.
    let compiler = dir.path().join("compiler.sh");
    let script = "#!/bin/sh\nfor a; do o=$f; f=$a; done\nread w <$f\ncase $w in\n\
        good) printf '\\003\\002\\043\\007' >$o;;\n\
        meant) echo 'a: error[OSH5102]: no double' >&2; exit 1;;\n\
        refused) echo 'a: error[OSH2001]: no' >&2; exit 1;;\n\
        slow) sleep 30;;\nesac\n";
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    let keep = dir.path().join("kept");
    let failures = dir.path().join("failures.tsv");
    let done = run_suite(dir.path(), &list, &compiler, &keep, &failures);
    let table = text(&done);
    let line = table.lines().find(|l| l.starts_with("n ")).unwrap_or_else(|| panic!("{table}"));
    let counts: Vec<_> = line.split_whitespace().skip(1).take(7).collect();
    assert_eq!(counts, ["4", "1", "0", "1", "1", "0", "1"], "{table}");
    assert!(table.contains("meant OSH5102: 1"), "{table}");
    assert_eq!(std::fs::read(keep.join("n_good.hlsl_main.spv")).unwrap(), [3, 2, 0x23, 7]);
    assert_eq!(std::fs::read_to_string(&failures).unwrap().lines().count(), 3);
}

#[cfg(unix)]
fn run_suite(root: &Path, list: &Path, compiler: &Path, keep: &Path, failures: &Path) -> Output {
    let arg = |p: &Path| p.to_str().unwrap().to_owned();
    let (root, list, compiler) = (arg(root), arg(list), arg(compiler));
    let (keep, failures) = (arg(keep), arg(failures));
    tool(&[
        "suite",
        "realcorpus",
        "--root",
        &root,
        "--manifest",
        &list,
        "--compiler",
        &compiler,
        "--target",
        "spirv",
        "--no-check",
        "--keep",
        &keep,
        "--failures",
        &failures,
        "--timeout",
        "3",
        "--quiet",
        "--jobs",
        "2",
    ])
}
