//! Runs the RUN lines of a case without a shell.
//!
//! The commands that tests of the format use are built in: `split-file`, `%dxc_target`, `%offloader`, `FileCheck`,
//! `imgdiff`, `not`, with pipes, `2>&1` and `%if FEATURE %{ ... %}`. Files live in memory.

use crate::case::lit::{self, Directives, Features, Verdict};
use crate::case::{Buffer, Program, dump, split};
use crate::compare;
use crate::compilers::{CommandLine, Compiler, Files, Request, Target};
use crate::engines::{Code, CompiledShader, Engine, EngineError};
use crate::{filecheck, picture};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A compiler and the engine for its output.
pub struct Lane {
    /// The name in reports (`vulkan`, `dxc`, `metal`).
    pub name: String,
    /// The compiler.
    pub compiler: Box<dyn Compiler>,
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// What the engine takes.
    pub target: Target,
    /// Words added to every command line of the compiler.
    pub extra: Vec<String>,
}

/// How a case ended on one lane.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum Outcome {
    /// Every command succeeded.
    Pass,
    /// The case is not for this configuration.
    Skip(String),
    /// The engine lacks something that the case needs.
    Unsupported(String),
    /// The compiler refused the shader.
    CompileError(String),
    /// A command failed.
    Fail(String),
    /// It failed, and the case says that it must.
    ExpectedFailure(String),
    /// It passed, though the case says that it must fail.
    UnexpectedPass(String),
    /// The process died.
    Crash(String),
    /// It ran out of time.
    Timeout(String),
}

/// Options of a run.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RunOptions {
    /// Run every case, whatever its REQUIRES, UNSUPPORTED and XFAIL lines say.
    pub ignore_conditions: bool,
    /// Where reference images of `%goldenimage_dir` lie.
    pub golden_images: Option<PathBuf>,
    /// Where pictures of failing images go.
    pub artifacts: Option<PathBuf>,
    /// Repeat the work of each pipeline this often and take its time on the device.
    #[serde(default)]
    pub repeats: u32,
}

/// The end of a case on one lane, with the buffers of its last run.
pub struct CaseRun {
    /// How it ended.
    pub outcome: Outcome,
    /// The programs that ran, in order, with what the shaders wrote.
    pub programs: Vec<Program>,
    /// Nanoseconds of each repetition on the device, where they were asked for.
    pub times: Vec<f64>,
}

impl CaseRun {
    /// A case that ended before anything ran.
    pub fn ended(outcome: Outcome) -> Self {
        Self { outcome, programs: Vec::new(), times: Vec::new() }
    }
}

/// Runs a case on a lane.
pub fn run_case(path: &Path, text: &str, lane: &mut Lane, options: &RunOptions) -> CaseRun {
    let directives = Directives::parse(text);
    lane.engine.suit(&directives.requires);
    let features = features(lane, options);
    let verdict = match directives.verdict(&features) {
        Ok(v) => v,
        Err(e) => {
            return CaseRun::ended(Outcome::Fail(e));
        }
    };
    let verdict = if options.ignore_conditions { Verdict::Run } else { verdict };
    if let Verdict::Skip(why) = verdict {
        return CaseRun::ended(Outcome::Skip(why));
    }
    if directives.runs.is_empty() {
        return CaseRun::ended(Outcome::Fail("no RUN line".to_owned()));
    }
    let mut script = Script {
        path,
        text,
        lane,
        options,
        features,
        files: BTreeMap::new(),
        programs: Vec::new(),
        times: Vec::new(),
        unsupported: None,
        refused: None,
    };
    let result = directives.runs.iter().try_for_each(|line| script.line(line));
    let outcome = match (result, &verdict) {
        (Err(_), _) if script.unsupported.is_some() => {
            Outcome::Unsupported(script.unsupported.take().unwrap_or_default())
        }
        (Err(_), Verdict::ExpectFailure(c)) => Outcome::ExpectedFailure(c.clone()),
        (Ok(()), Verdict::ExpectFailure(c)) => Outcome::UnexpectedPass(c.clone()),
        (Ok(()), _) => Outcome::Pass,
        (Err(_), _) if script.refused.is_some() => Outcome::CompileError(script.refused.take().unwrap_or_default()),
        (Err(e), _) => {
            script.save_pictures();
            Outcome::Fail(e)
        }
    };
    CaseRun { outcome, programs: script.programs, times: script.times }
}

fn features(lane: &Lane, options: &RunOptions) -> Features {
    let mut f = lane.engine.features().clone();
    f.insert(lane.compiler.name().to_owned());
    if options.golden_images.is_some() {
        f.insert("goldenimage".to_owned());
    }
    f
}

enum File {
    Text(String),
    Code(Code),
    Picture(picture::Picture),
}

struct Script<'a> {
    path: &'a Path,
    text: &'a str,
    lane: &'a mut Lane,
    options: &'a RunOptions,
    features: Features,
    files: BTreeMap<String, File>,
    programs: Vec<Program>,
    times: Vec<f64>,
    unsupported: Option<String>,
    refused: Option<String>,
}

/// What a command left behind.
#[derive(Default)]
struct Done {
    failure: Option<String>,
    out: String,
    err: String,
}

impl Done {
    fn failed(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { err: format!("{why}\n"), failure: Some(why), out: String::new() }
    }
}

struct MemoryFiles<'a>(&'a BTreeMap<String, File>);

impl Files for MemoryFiles<'_> {
    fn read(&self, name: &str) -> Option<String> {
        match self.0.get(name) {
            Some(File::Text(t)) => Some(t.clone()),
            _ => None,
        }
    }

    fn parts(&self) -> Option<Vec<(String, String)>> {
        let text = |(name, file): (&String, &File)| match file {
            File::Text(t) => Some((name.clone(), t.clone())),
            _ => None,
        };
        Some(self.0.iter().filter_map(text).collect())
    }
}

impl Script<'_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = conditionals(line, &self.features)?;
        let words = words(&line)?;
        let mut input = String::new();
        let mut failure = None;
        for (i, command) in words.split(|w| w == "|").enumerate() {
            if i > 0 && command.is_empty() {
                return Err(format!("an empty command in '{line}'"));
            }
            let done = self.command(command, &input);
            failure = failure.or(done.failure);
            input = done.out;
        }
        failure.map_or(Ok(()), |f| Err(format!("{f}\n(in: {line})")))
    }

    fn command(&mut self, words: &[String], input: &str) -> Done {
        let merge = words.iter().any(|w| w == "2>&1");
        let words: Vec<String> = words.iter().filter(|w| *w != "2>&1").map(|w| self.substitute(w)).collect();
        let inverted = words.first().is_some_and(|w| w == "not");
        let words = &words[usize::from(inverted)..];
        let Some((name, args)) = words.split_first() else {
            return Done::failed("an empty command");
        };
        let mut done = match name.as_str() {
            "split-file" => self.split_file(args),
            "%dxc_target" => self.compile(args, inverted),
            "%offloader" => self.offload(args),
            "FileCheck" => self.file_check(args, input),
            "imgdiff" => self.image_difference(args),
            "%dxc_target_lib" => {
                self.unsupported = Some("shader libraries".to_owned());
                Done::failed("shader libraries are not run")
            }
            other => Done::failed(format!("unknown command '{other}'")),
        };
        if merge {
            done.out = std::mem::take(&mut done.err) + &done.out;
        }
        if inverted {
            done.failure = match done.failure {
                Some(_) => None,
                None => Some(format!("'{name}' succeeded, but should have failed")),
            };
        }
        done
    }

    fn substitute(&self, word: &str) -> String {
        let golden = self.options.golden_images.as_deref().map_or(String::new(), |p| p.to_string_lossy().into_owned());
        if word == "%s" { self.path.to_string_lossy().into_owned() } else { word.replace("%goldenimage_dir", &golden) }
    }

    fn text_of(&self, name: &str) -> Result<String, String> {
        match self.files.get(name) {
            Some(File::Text(t)) => Ok(t.clone()),
            _ if Path::new(name) == self.path => Ok(self.text.to_owned()),
            _ => Err(format!("no file '{name}'")),
        }
    }

    fn split_file(&mut self, args: &[String]) -> Done {
        let [source, dir] = args else {
            return Done::failed("split-file takes a file and a folder");
        };
        let parts = match self.text_of(source).and_then(|t| split::split_file(&t)) {
            Ok(p) => p,
            Err(e) => return Done::failed(e),
        };
        for (name, text) in parts {
            self.files.insert(format!("{dir}/{name}"), File::Text(text));
        }
        Done::default()
    }

    fn compile(&mut self, args: &[String], inverted: bool) -> Done {
        let words: Vec<String> = args.iter().chain(&self.lane.extra).cloned().collect();
        let line = match CommandLine::parse(&words) {
            Ok(l) => l,
            Err(e) => return Done::failed(e),
        };
        let request = Request { line: &line, target: self.lane.target, files: &MemoryFiles(&self.files) };
        match self.lane.compiler.compile(&request) {
            Ok(code) => {
                if let Some(o) = line.output {
                    self.files.insert(o, File::Code(code));
                }
                Done::default()
            }
            Err(e) => {
                if !inverted {
                    self.refused = Some(e.text.clone());
                }
                Done::failed(e.text)
            }
        }
    }

    fn offload(&mut self, args: &[String]) -> Done {
        let (mut inputs, mut image, mut output) = (Vec::new(), None, None);
        let mut it = args.iter();
        while let Some(a) = it.next() {
            match a.as_str() {
                "-r" => image = it.next().cloned(),
                "-o" => output = it.next().cloned(),
                _ if a.starts_with('-') => {}
                _ => inputs.push(a.clone()),
            }
        }
        let program = match self.prepare(&inputs) {
            Ok((program, shaders)) => self.execute(program, &shaders),
            Err(e) => Err(e),
        };
        let program = match program {
            Ok(p) => p,
            Err(e) => return Done::failed(e),
        };
        let mut failures = String::new();
        for e in &program.pipeline.results {
            let (Some(a), Some(b)) = (program.buffer(&e.actual), program.buffer(&e.expected)) else {
                continue;
            };
            failures.extend(compare::failure(e, a, b));
        }
        let mut done = Done { out: dump::program(&program), ..Done::default() };
        if let Some(name) = image {
            let shown = program.buffer(&name).and_then(picture::from_buffer);
            match (shown, output) {
                (Some(p), Some(o)) => {
                    self.files.insert(o, File::Picture(p));
                }
                _ => return Done::failed(format!("cannot show '{name}' as a picture")),
            }
        }
        self.programs.push(program);
        if !failures.is_empty() {
            done.failure = Some(failures.clone());
            done.err = failures;
            done.out = String::new();
        }
        done
    }

    fn prepare(&mut self, inputs: &[String]) -> Result<(Program, Vec<CompiledShader>), String> {
        let (pipeline, objects) = inputs.split_first().ok_or("no pipeline given")?;
        let program = Program::parse(&self.text_of(pipeline)?)?;
        let decls = &program.pipeline.shaders;
        if decls.len() != objects.len() {
            return Err(format!("Pipeline description expects {} shader(s) {} provided", decls.len(), objects.len()));
        }
        let mut shaders = Vec::new();
        for (decl, object) in decls.iter().zip(objects) {
            let Some(File::Code(code)) = self.files.get(object) else {
                return Err(format!("no file '{object}'"));
            };
            shaders.push(CompiledShader { stage: decl.stage, entry: decl.entry.clone(), code: code.clone() });
        }
        Ok((program, shaders))
    }

    fn execute(&mut self, mut program: Program, shaders: &[CompiledShader]) -> Result<Program, String> {
        let ran = match self.options.repeats {
            0 | 1 => self.lane.engine.run(&mut program, shaders).map(|()| Vec::new()),
            n => self.lane.engine.time(&mut program, shaders, n),
        };
        match ran {
            Ok(times) => {
                self.times.extend(times);
                Ok(program)
            }
            Err(e) => {
                if let EngineError::Unsupported(what) = &e {
                    self.unsupported = Some(what.clone());
                }
                // The prefix is that of the format's own tool, which tests match.
                Err(format!("gpu-exec: error: {e}"))
            }
        }
    }

    fn file_check(&mut self, args: &[String], input: &str) -> Done {
        let mut prefixes = Vec::new();
        let mut file = None;
        let mut it = args.iter();
        while let Some(a) = it.next() {
            let long = a.trim_start_matches('-');
            if let Some(p) = long.strip_prefix("check-prefix=").or_else(|| long.strip_prefix("check-prefixes=")) {
                prefixes.extend(p.split(',').map(str::to_owned));
            } else if long == "check-prefix" || long == "check-prefixes" {
                prefixes.extend(it.next().into_iter().flat_map(|p| p.split(',')).map(str::to_owned));
            } else if !a.starts_with('-') {
                file = Some(a.clone());
            } else if long != "allow-empty" && long != "dump-input=fail" {
                return Done::failed(format!("FileCheck option '{a}' is not known here"));
            }
        }
        if prefixes.is_empty() {
            prefixes.push("CHECK".to_owned());
        }
        let test = match file.ok_or("FileCheck needs a file".to_owned()).and_then(|f| self.text_of(&f)) {
            Ok(t) => t,
            Err(e) => return Done::failed(e),
        };
        for p in prefixes {
            if let Err(e) = filecheck::check(&test, &p, input) {
                return Done::failed(e);
            }
        }
        Done::default()
    }

    fn image_difference(&mut self, args: &[String]) -> Done {
        let (mut files, mut rules) = (Vec::new(), None);
        let mut it = args.iter();
        while let Some(a) = it.next() {
            match a.as_str() {
                "-rules" | "--rules" => rules = it.next(),
                _ => files.push(a),
            }
        }
        let [a, b] = files[..] else {
            return Done::failed("imgdiff takes two files");
        };
        let result = (|| {
            let (actual, expected) = (self.picture(a)?, self.picture(b)?);
            let rules = rules.map_or(Ok(Vec::new()), |r| picture::parse_rules(&self.text_of(r)?))?;
            let verdict = picture::compare(&actual, &expected, &rules);
            if verdict.is_err() {
                self.save_pair("image", &actual, &expected);
            }
            verdict
        })();
        result.map_or_else(Done::failed, |()| Done::default())
    }

    fn picture(&self, name: &str) -> Result<picture::Picture, String> {
        match self.files.get(name) {
            Some(File::Picture(p)) => Ok(p.clone()),
            _ => picture::load(Path::new(name)),
        }
    }

    /// Writes pictures of the images that a result compares.
    fn save_pictures(&self) {
        let Some(program) = self.programs.last() else {
            return;
        };
        for e in &program.pipeline.results {
            let show = |name: &str| program.buffer(name).and_then(picture::from_buffer);
            if let (Some(a), Some(b)) = (show(&e.actual), show(&e.expected)) {
                self.save_pair(&e.name, &a, &b);
            }
        }
    }

    fn save_pair(&self, what: &str, actual: &picture::Picture, expected: &picture::Picture) {
        let Some(dir) = &self.options.artifacts else {
            return;
        };
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let difference = picture::difference(actual, expected);
        for (kind, p) in [("actual", actual), ("expected", expected), ("difference", &difference)] {
            let file = dir.join(format!("{stem}.{}.{what}.{kind}.png", self.lane.name));
            // The case has failed already; its report does not depend on the pictures.
            if let Err(e) =
                std::fs::create_dir_all(dir).map_err(|e| e.to_string()).and_then(|()| picture::save(p, &file))
            {
                eprintln!("cannot write a picture: {e}");
            }
        }
    }
}

/// Resolves `%if CONDITION %{ THEN %} [%else %{ ELSE %}]`, not nested.
pub fn conditionals(line: &str, features: &Features) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find("%if ") {
        out.push_str(&rest[..start]);
        let body = &rest[start + 4..];
        let open = body.find("%{").ok_or("'%if' without '%{'")?;
        let close = body[open..].find("%}").ok_or("'%{' without '%}'")? + open;
        let holds = lit::eval(&body[..open], features)?;
        if holds {
            out.push_str(&body[open + 2..close]);
        }
        rest = &body[close + 2..];
        if let Some(other) = rest.trim_start().strip_prefix("%else") {
            let open = other.find("%{").ok_or("'%else' without '%{'")?;
            let close = other[open..].find("%}").ok_or("'%{' without '%}'")? + open;
            if !holds {
                out.push_str(&other[open + 2..close]);
            }
            rest = &other[close + 2..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Splits a command line at blanks; quotes group, as in a shell.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"'), '\\') | (None, '\\') => {
                let next = chars.next().ok_or("a line ends in a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => out.extend(word.take()),
            (None, '|') => {
                out.extend(word.take());
                out.push("|".to_owned());
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(format!("a quote is open in '{line}'"));
    }
    out.extend(word);
    Ok(out)
}

/// Describes where two runs of one case differ in what their shaders wrote. Tolerances are those of the case; a buffer
/// that no result checks must be the same, or with `rough` be near: ten bits of a float's mantissa may differ.
pub fn difference(name: &str, a: &[Program], other: &str, b: &[Program], rough: bool) -> Option<String> {
    let mut out = String::new();
    for (p, q) in a.iter().zip(b) {
        for x in &p.buffers {
            let Some(y) = q.buffer(&x.name) else { continue };
            let rule = p.pipeline.results.iter().find(|e| e.actual == x.name);
            let wrong = pair_mismatches(x, y, rule, rough);
            if let Some(first) = wrong.first() {
                out.push_str(&format!(
                    "buffer {}: {} element(s) of '{name}' differ from '{other}': {first}\n",
                    x.name,
                    wrong.len()
                ));
            }
        }
    }
    (!out.is_empty()).then_some(out)
}

fn pair_mismatches(
    x: &Buffer,
    y: &Buffer,
    rule: Option<&crate::case::pipeline::Expectation>,
    rough: bool,
) -> Vec<String> {
    use crate::case::pipeline::{DenormMode, Rule};
    use compare::Tolerance;
    match rule {
        // Either side may be off by the tolerance, so between the two it is twice that.
        Some(e) => {
            let t = match e.rule {
                Rule::BufferExact => Tolerance::Exact,
                Rule::BufferFloatUlp => {
                    Tolerance::Ulp { units: e.ulp.unwrap_or(0).saturating_mul(2), zero: e.zero_tolerance * 2.0 }
                }
                Rule::BufferFloatEpsilon => Tolerance::Epsilon(e.epsilon.unwrap_or(0.0) * 2.0),
            };
            compare::mismatches(x, y, t, e.denorm_mode)
        }
        None if rough && x.format.is_float() && x.format == y.format => {
            compare::mismatches(x, y, Tolerance::Ulp { units: 1 << 13, zero: 1e-5 }, DenormMode::Any)
        }
        None => compare::mismatches(x, y, Tolerance::Exact, DenormMode::Preserve),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words() {
        assert_eq!(words(r#"a "b c" 'd|e' f|g \"h"#).unwrap(), ["a", "b c", "d|e", "f", "|", "g", "\"h"]);
        assert!(words("'a").is_err());
    }

    #[test]
    fn percent_if() {
        let f: Features = ["Vulkan".to_owned()].into();
        assert_eq!(conditionals("x %if Vulkan %{ -a %} y", &f).unwrap(), "x  -a  y");
        assert_eq!(conditionals("x %if Metal %{ -a %} %else %{ -b %}", &f).unwrap(), "x  -b ");
        assert!(conditionals("%if Vulkan x", &f).is_err());
    }

    /// Compiles nothing; a source that says `refuse` is refused.
    struct FakeCompiler;
    impl Compiler for FakeCompiler {
        fn name(&self) -> &'static str {
            "Fake"
        }
        fn compile(&mut self, r: &Request<'_>) -> Result<Code, crate::compilers::CompileError> {
            let text = r.files.read(&r.line.input).unwrap_or_default();
            if text.contains("refuse") {
                return Err(crate::compilers::CompileError::text("error: refused"));
            }
            Ok(Code::Spirv(vec![0x0723_0203]))
        }
    }

    /// Copies the first buffer to the second.
    struct FakeEngine(Features);
    impl Engine for FakeEngine {
        fn description(&self) -> String {
            "fake".to_owned()
        }
        fn features(&self) -> &Features {
            &self.0
        }
        fn run(&mut self, p: &mut Program, shaders: &[CompiledShader]) -> Result<(), EngineError> {
            if shaders[0].entry == "tiles" {
                return Err(EngineError::Unsupported("tiles".to_owned()));
            }
            p.buffers[1].data = p.buffers[0].data.clone();
            Ok(())
        }
    }

    const CASE: &str = "
#--- s.hlsl
source
#--- p.yaml
Shaders: [{ Stage: Compute, Entry: main }]
Buffers:
  - { Name: In, Format: UInt32, Data: [1, 2] }
  - { Name: Out, Format: UInt32, FillSize: 8 }
  - { Name: Expected, Format: UInt32, Data: [1, 2] }
Results: [{ Result: R, Rule: BufferExact, Actual: Out, Expected: Expected }]
DescriptorSets: []
#--- end
# RUN: split-file %s %t
# RUN: %dxc_target -T cs_6_0 -Fo %t.o %t/s.hlsl
# RUN: %offloader %t/p.yaml %t.o | FileCheck %s
# CHECK: Name: Out
# CHECK: Data: [ 1, 2 ]
";

    fn outcome(text: &str) -> Outcome {
        let features = ["Dev".to_owned()].into();
        let mut lane = Lane {
            name: "fake".to_owned(),
            compiler: Box::new(FakeCompiler),
            engine: Box::new(FakeEngine(features)),
            target: Target::Spirv,
            extra: Vec::new(),
        };
        run_case(Path::new("case.test"), text, &mut lane, &RunOptions::default()).outcome
    }

    #[test]
    fn outcomes() {
        assert_eq!(outcome(CASE), Outcome::Pass);
        let wrong = CASE
            .replace("Name: Expected, Format: UInt32, Data: [1, 2]", "Name: Expected, Format: UInt32, Data: [1, 3]");
        let Outcome::Fail(why) = outcome(&wrong) else { panic!("a wrong result passed") };
        assert!(why.contains("Mismatch at element 1: expected=3 (0x3), actual=2 (0x2)"), "{why}");
        assert!(matches!(outcome(&CASE.replace("CHECK: Data: [ 1, 2 ]", "CHECK: Data: [ 1, 4 ]")), Outcome::Fail(_)));
        assert!(matches!(outcome(&CASE.replace("source", "refuse")), Outcome::CompileError(_)));
        assert_eq!(outcome(&CASE.replace("Entry: main", "Entry: tiles")), Outcome::Unsupported("tiles".to_owned()));
        assert!(matches!(outcome(&format!("{CASE}# UNSUPPORTED: Dev && Fake")), Outcome::Skip(_)));
        assert!(matches!(outcome(&format!("{CASE}# REQUIRES: Gone")), Outcome::Skip(_)));
        assert!(matches!(outcome(&format!("{CASE}# XFAIL: Fake")), Outcome::UnexpectedPass(_)));
        assert!(matches!(outcome(&format!("{wrong}# XFAIL: Fake")), Outcome::ExpectedFailure(_)));
        assert!(matches!(outcome("#--- a\n"), Outcome::Fail(_)));
    }

    #[test]
    fn not_inverts_and_unknown_commands_fail() {
        let inverted =
            CASE.replace("# RUN: %offloader %t/p.yaml %t.o | FileCheck %s", "# RUN: not %offloader %t/p.yaml %t.o");
        assert!(matches!(outcome(&inverted), Outcome::Fail(_)));
        let refused = CASE.replace("source", "refuse").replace("%dxc_target", "not %dxc_target");
        let refused = refused.lines().filter(|l| !l.contains("%offloader")).collect::<Vec<_>>().join("\n");
        assert_eq!(outcome(&refused), Outcome::Pass);
        assert!(matches!(outcome(&format!("{CASE}# RUN: rm -rf /")), Outcome::Fail(_)));
    }
}
