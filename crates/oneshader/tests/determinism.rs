//! The same input gives the same output: in every run, from every thread, in every process.

use std::path::Path;
use std::process::Command;

use oneshader::args::Invocation;
use oneshader::{CompileTarget, Options, Source, compile};

/// Of the corpus every so many-th case is taken.
const STEP: usize = 12;
const THREADS: usize = 8;
/// In each thread; more than a hundred in all.
const RUNS: usize = 13;
/// Names a file to which a child process writes what it made.
const CHILD: &str = "ONESHADER_DETERMINISM_CHILD";

struct Input {
    source: Source,
    options: Options,
}

impl Input {
    /// Everything that a compile tells: code, reflection and diagnostics.
    fn made(&self) -> String {
        match compile(&self.source, &self.options) {
            Ok(output) => {
                let code: Vec<String> = output.artifacts.iter().map(|a| format!("{:?}", a.code)).collect();
                let diagnostics = oneshader::diag::machine::json(&output.sources, &output.diagnostics);
                format!("{}\n{}\n{diagnostics}\n{}", code.join("\n"), output.reflection.to_json(), output.ir_text())
            }
            Err(failure) => failure.to_string(),
        }
    }
}

/// The examples, and a sample of the corpus, for both targets.
fn inputs() -> Vec<Input> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut inputs = Vec::new();
    let mut add = |source: &Source, words: &str| {
        for (target, flag) in [(CompileTarget::Msl, "-msl"), (CompileTarget::Spirv, "-spirv")] {
            let words = words.split_whitespace().filter(|w| !w.contains('%') && !w.starts_with("-Fo")).chain([flag]);
            let options = Invocation::parse(words.map(String::from)).expect("flags of a case").options;
            assert_eq!(options.target, target);
            inputs.push(Input { source: source.clone(), options });
        }
    };
    for path in files(&repository.join("examples"), "hlsl") {
        add(&Source::read(&path).unwrap(), "-T lib_6_3");
    }
    for path in files(&repository.join("corpus"), "test").iter().step_by(STEP) {
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().filter(|l| l.contains("%dxc_target")) {
            // `... %dxc_target FLAGS -Fo %t.o %t/FILE ...`
            let (_, words) = line.split_once("%dxc_target").unwrap();
            let file = words.split_whitespace().find_map(|w| w.strip_prefix("%t/")).expect("a source file");
            let section = text.split(&format!("#--- {file}\n")).nth(1).expect("its section");
            let source = section.split("#---").next().unwrap();
            let words = words.split(['|', '&']).next().unwrap().trim_end_matches('2');
            add(&Source::new(file, source), words);
        }
    }
    inputs
}

/// Files below a directory, in order of their paths.
fn files(dir: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_hundred_runs_from_eight_threads_make_the_same() {
    let inputs = inputs();
    assert!(inputs.len() > 30, "{} inputs", inputs.len());
    let first: Vec<String> = inputs.iter().map(Input::made).collect();
    assert!(first.iter().filter(|made| made.starts_with("Msl(") || made.starts_with("Spirv(")).count() > 25);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (inputs, first) = (&inputs, &first);
            scope.spawn(move || {
                // Each thread begins elsewhere, so that different inputs are compiled at the same time.
                for k in 0..inputs.len() * RUNS {
                    let at = (k + thread * inputs.len() / THREADS) % inputs.len();
                    assert!(inputs[at].made() == first[at], "{} differs between runs", inputs[at].source.name);
                }
            });
        }
    });
}

#[test]
fn two_processes_make_the_same() {
    let made: String = inputs().iter().map(|input| input.made() + "\n").collect();
    if let Some(path) = std::env::var_os(CHILD) {
        return std::fs::write(path, made).unwrap();
    }
    let path = std::env::temp_dir().join(format!("oneshader-determinism-{}", std::process::id()));
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "two_processes_make_the_same"])
        .env(CHILD, &path)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(made == other, "two processes differ");
}
