//! The command as a user meets it: words in; files, standard output, standard error and an exit code out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a call gave.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// A directory with the files of a test, in which the command runs.
struct Desk(TempDir);

const PIXEL: &str = "\
cbuffer Params : register(b0) { float4 tint; };
float4 PSMain(float2 uv : TEXCOORD0) : SV_Target { return tint * uv.xyxy; }
";
/// One warning, in line 3 from column 16.
const WARNS: &str = "\
float4 main(float4 color : COLOR) : SV_Target
{
    float2 c = color;
    return c.xyxy;
}
";
/// Two errors.
const WRONG: &str = "\
cbuffer Params { float4 color; };
float4 main() : SV_Target
{
    float4 c = colr;
    return color.xyzq;
}
";

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = desk.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Runs the command with words split at spaces.
    fn run(&self, words: &str) -> Ran {
        self.run_with(words, "")
    }

    fn run_with(&self, words: &str, input: &str) -> Ran {
        call(self.0.path(), &words.split_whitespace().collect::<Vec<_>>(), input)
    }
}

fn call(dir: &Path, words: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oneshader"));
    command.args(words).current_dir(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end without reading; that is no error of the test.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Ran {
        code: done.status.code().expect("no signal"),
        out: String::from_utf8_lossy(&done.stdout).into_owned(),
        err: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

impl Ran {
    #[track_caller]
    fn succeeds(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.err);
        self
    }

    #[track_caller]
    fn fails(self, code: i32, why: &str) -> Self {
        assert_eq!(self.code, code, "{}", self.err);
        assert!(self.err.contains(why), "{}", self.err);
        self
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words of the first command of the README.
fn readme_words() -> Vec<String> {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let line = readme.lines().find(|l| l.trim_start().starts_with("cargo run")).expect("a command in the README");
    line.split_once(" -- ").expect("words of the command").1.split_whitespace().map(String::from).collect()
}

#[test]
fn the_first_command_of_the_readme_does_what_it_says() {
    let desk = Desk::new(&[]);
    let words = readme_words();
    // The same words from the root of the repository, with the outputs elsewhere.
    let words: Vec<String> =
        words.iter().map(|w| w.replace("out/", &format!("{}/", desk.0.path().display()))).collect();
    let ran = call(&repository(), &words.iter().map(String::as_str).collect::<Vec<_>>(), "").succeeds();
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert!(desk.read("VSMain.metal").contains("vertex VSMainOutput VSMain("));
    assert!(desk.read("PSMain.metal").contains("fragment PSMainOutput PSMain("));
    let reflection: Value = serde_json::from_str(&desk.read("sprite.json")).unwrap();
    let names: Vec<_> = reflection["entry_points"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    assert_eq!(names, ["VSMain", "PSMain"]);
}

#[test]
fn one_entry_point_goes_to_the_file_named() {
    let desk = Desk::new(&[("sprite.hlsl", PIXEL)]);
    let ran =
        desk.run("-T ps_6_0 -E PSMain -msl sprite.hlsl -Fo made/sprite.metal -Fre made/sprite.json -Fc made/ir.txt");
    ran.succeeds();
    assert!(desk.read("made/sprite.metal").starts_with("#include <metal_stdlib>"));
    assert!(desk.read("made/sprite.metal").contains("fragment PSMainOutput PSMain("));
    let reflection: Value = serde_json::from_str(&desk.read("made/sprite.json")).unwrap();
    assert_eq!(reflection["schema"], 1);
    assert_eq!(reflection["resources"][0]["name"], "Params");
    assert!(desk.read("made/ir.txt").contains("PSMain"));
}

#[test]
fn several_entry_points_need_a_directory() {
    let both = "[shader(\"vertex\")] float4 V() : SV_Position { return 0; }
                [shader(\"compute\")] [numthreads(1, 1, 1)] void C() {}";
    let desk = Desk::new(&[("all.hlsl", both)]);
    desk.run("-T lib_6_3 all.hlsl -Fo made/").succeeds();
    assert!(desk.read("made/V.metal").contains("vertex "));
    assert!(desk.read("made/C.metal").contains("kernel void C("));
    desk.run("-T lib_6_3 -spirv all.hlsl -Fo made").succeeds();
    assert!(desk.has("made/V.spv") && desk.has("made/C.spv"));
    desk.run("-T lib_6_3 all.hlsl -Fo all.metal").fails(2, "2 entry points; name a directory");
    assert!(!desk.has("all.metal"));
    // With one of them chosen a file will do.
    desk.run("-T lib_6_3 -E C all.hlsl -Fo c.metal").succeeds();
    assert!(desk.read("c.metal").contains("kernel void C("));
}

#[test]
fn spirv_is_little_endian_words() {
    let desk = Desk::new(&[("sprite.hlsl", PIXEL)]);
    desk.run("-T ps_6_0 -E PSMain -spirv sprite.hlsl -Fo sprite.spv").succeeds();
    let bytes = std::fs::read(desk.path("sprite.spv")).unwrap();
    assert_eq!(bytes[..4], [0x03, 0x02, 0x23, 0x07]);
    assert_eq!(bytes.len() % 4, 0);
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let desk = Desk::new(&[]);
    let ran = desk.run_with("-T ps_6_0 -E PSMain - -Fo -", PIXEL).succeeds();
    assert!(ran.out.contains("fragment PSMainOutput PSMain("));
    assert_eq!(desk.run_with("-T ps_6_0 -E PSMain -", PIXEL).succeeds().out, ran.out);
    let json = desk.run_with("-T ps_6_0 -E PSMain - -Fo x.metal -Fre -", PIXEL).succeeds().out;
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["entry_points"][0]["name"], "PSMain");
    desk.run_with("-T ps_6_0 -", WRONG).fails(1, "<stdin>:4:16");
}

#[test]
fn words_come_from_a_file_too() {
    let desk = Desk::new(&[
        ("sub/my sprite.hlsl", PIXEL),
        ("args.txt", "-T ps_6_0\n-E PSMain @more.txt"),
        ("more.txt", "\"sub/my sprite.hlsl\" -Fo 'my sprite.metal'"),
    ]);
    desk.run("@args.txt").succeeds();
    assert!(desk.has("my sprite.metal"));
    desk.run("@missing.txt").fails(2, "missing.txt");
}

#[test]
fn preprocessed_text_compiles_to_the_same() {
    let desk = Desk::new(&[
        ("a.hlsl", "#include \"inc/tint.hlsli\"\nfloat4 main() : SV_Target { return TINT(SCALE); }\n"),
        ("inc/tint.hlsli", "#define TINT(x) (float4(1, 0.5, 0, 1) * (x))\n"),
    ]);
    let out = desk.run("-T ps_6_0 -D SCALE=2.5 -P a.hlsl").succeeds().out;
    assert!(out.contains("2.5") && !out.contains("TINT") && out.contains("#line"), "{out}");
    desk.run("-T ps_6_0 -D SCALE=2.5 -P a.hlsl -Fi a.i.hlsl").succeeds();
    assert_eq!(desk.read("a.i.hlsl"), out);
    let direct = desk.run("-T ps_6_0 -DSCALE=2.5 a.hlsl").succeeds().out;
    assert_eq!(desk.run("-T ps_6_0 a.i.hlsl").succeeds().out, direct);
}

/// A source that includes a file that includes another, found beside it and by `-I`.
fn including() -> Desk {
    Desk::new(&[
        ("a.hlsl", "#include \"one.hlsli\"\nfloat4 main() : SV_Target { return ONE; }\n"),
        ("one.hlsli", "#include <two words.hlsli>\n#define ONE TWO\n"),
        ("include/two words.hlsli", "#define TWO 2\n"),
    ])
}

const RULE_SOURCES: &str =
    ": a.hlsl \\\n  one.hlsli \\\n  include/two\\ words.hlsli\n\none.hlsli:\n\ninclude/two\\ words.hlsli:\n";

#[test]
fn depfiles_name_every_include_and_do_not_replace_the_output() {
    let desk = including();
    desk.run("-T ps_6_0 -I include a.hlsl -Fo out/a.metal -MD").succeeds();
    assert!(desk.has("out/a.metal"));
    assert_eq!(desk.read("out/a.d"), format!("out/a.metal{RULE_SOURCES}"));
    // `-MF` names the file; alone it means `-MD` too.
    for flags in ["-MD -MF x.d", "-MF y.d"] {
        std::fs::remove_file(desk.path("out/a.metal")).unwrap();
        desk.run(&format!("-T ps_6_0 -I include a.hlsl -Fo out/a.metal {flags}")).succeeds();
        assert!(desk.has("out/a.metal"), "{flags}");
    }
    assert_eq!(desk.read("x.d"), format!("out/a.metal{RULE_SOURCES}"));
    assert_eq!(desk.read("x.d"), desk.read("y.d"));
}

#[test]
fn the_rule_can_be_printed() {
    let desk = including();
    let ran = desk.run("-T ps_6_0 -I include a.hlsl -M").succeeds();
    assert_eq!(ran.out, format!("a.metal{RULE_SOURCES}"));
    assert!(!desk.has("a.metal"));
    let ran = desk.run("-T ps_6_0 -I include a.hlsl -M -Fo b.metal").succeeds();
    assert_eq!(ran.out, format!("b.metal{RULE_SOURCES}"));
    assert!(desk.has("b.metal"));
    desk.run("-T ps_6_0 -I include a.hlsl -M -MF m.d").succeeds();
    assert_eq!(desk.read("m.d"), format!("a.metal{RULE_SOURCES}"));
}

#[test]
fn the_rule_of_a_directory_names_every_output() {
    let desk = Desk::new(&[(
        "all.hlsl",
        "[shader(\"vertex\")] float4 V() : SV_Position { return 0; } [shader(\"pixel\")] float4 P() : SV_Target { return 0; }",
    )]);
    desk.run("-T lib_6_3 all.hlsl -Fo made/ -MD").succeeds();
    assert_eq!(desk.read("made/all.d"), "made/V.metal made/P.metal: all.hlsl\n");
}

#[test]
fn a_missing_include_is_an_error_with_its_place() {
    let desk = including();
    desk.run("-T ps_6_0 a.hlsl").fails(1, "one.hlsli:1:10");
}

#[test]
fn exit_codes_tell_input_from_usage() {
    let desk = Desk::new(&[("ok.hlsl", PIXEL), ("wrong.hlsl", WRONG)]);
    desk.run("-T ps_6_0 -E PSMain ok.hlsl").succeeds();
    desk.run("-T ps_6_0 wrong.hlsl").fails(1, "error");
    desk.run("-T ps_6_0 ok.hlsl").fails(1, "no function `main`");
    for (words, why) in [
        ("", "no input file"),
        ("-T ps_6_0 missing.hlsl", "missing.hlsl"),
        ("-T ps_6_0 ok.hlsl wrong.hlsl", "one input file at a time"),
        ("-T gs_6_0 ok.hlsl", "geometry"),
        ("-T px_6_0 ok.hlsl", "ps_6_0"),
        ("-T", "PROFILE"),
        ("-T ps_6_0 -HV 1999 ok.hlsl", "2021"),
        ("-T ps_6_0 -msl-version=1.0 ok.hlsl", "2.4"),
        ("-T ps_6_0 -msl-versoin=3.0 ok.hlsl", "did you mean -msl-version?"),
        ("-T ps_6_0 --nonsense-flag ok.hlsl", "unknown flag --nonsense-flag"),
        ("-T ps_6_0 -binding-map=missing.json ok.hlsl", "missing.json"),
        ("-T ps_6_0 -E PSMain ok.hlsl -Fo ok.hlsl/x.metal", "cannot write"),
    ] {
        let ran = desk.run(words).fails(2, why);
        assert_eq!(ran.out, "", "{words}");
    }
}

#[test]
fn nothing_is_written_when_the_input_is_wrong() {
    let desk = Desk::new(&[("wrong.hlsl", WRONG)]);
    desk.run("-T ps_6_0 wrong.hlsl -Fo a.metal -Fre a.json -Fc a.ir -MD").fails(1, "error");
    assert!(!["a.metal", "a.json", "a.ir", "a.d"].iter().any(|name| desk.has(name)));
}

#[test]
fn flags_that_make_no_difference_are_told() {
    let desk = Desk::new(&[("a.hlsl", PIXEL)]);
    let ran = desk.run("-T ps_6_0 -E PSMain -Zi -Qembed_debug -Wno-conversion -Fd a.pdb a.hlsl").succeeds();
    for flag in ["-Qembed_debug", "-Wno-conversion", "-Fd"] {
        assert!(ran.err.contains(&format!("warning: {flag} makes no difference")), "{}", ran.err);
    }
    assert_eq!(desk.run("-T ps_6_0 -E PSMain -Qembed_debug -no-warnings a.hlsl").succeeds().err, "");
}

#[test]
fn warnings_can_be_errors_or_silent() {
    let desk = Desk::new(&[("a.hlsl", WARNS)]);
    let ran = desk.run("-T ps_6_0 a.hlsl").succeeds();
    assert!(ran.err.starts_with("warning["), "{}", ran.err);
    assert!(ran.out.contains("fragment"));
    let ran = desk.run("-T ps_6_0 -WX a.hlsl").fails(1, "error[");
    assert_eq!(ran.out, "");
    assert_eq!(desk.run("-T ps_6_0 -no-warnings a.hlsl").succeeds().err, "");
}

#[test]
fn errors_show_the_line_a_caret_and_help() {
    let desk = Desk::new(&[("dir/wrong.hlsl", WRONG)]);
    let err = desk.run("-T ps_6_0 dir/wrong.hlsl").fails(1, "dir/wrong.hlsl:4:16").err;
    let lines: Vec<&str> = err.lines().collect();
    let line = lines.iter().position(|l| l.ends_with("    float4 c = colr;")).unwrap_or_else(|| panic!("{err}"));
    let (source, carets) = (lines[line], lines[line + 1]);
    // The carets stand under the name, character for character.
    let column = |text: &str, what: &str| text.split(what).next().unwrap().chars().count();
    assert_eq!(column(carets, "^"), column(source, "colr"), "{err}");
    assert_eq!(carets.matches('^').count(), 4, "{err}");
    assert!(err.contains("did you mean `color`?"), "{err}");
    assert!(err.contains("dir/wrong.hlsl:5:"), "the second error is told as well: {err}");
    assert!(!err.contains('\u{1b}'), "no colours where no terminal is: {err}");
    assert!(desk.run("-T ps_6_0 dir/wrong.hlsl -fdiagnostics-color=always").err.contains('\u{1b}'));
}

#[test]
fn diagnostics_as_json() {
    let desk = Desk::new(&[("a.hlsl", WARNS), ("wrong.hlsl", WRONG)]);
    let err = desk.run("-T ps_6_0 a.hlsl -diagnostics-format=json -Fo a.metal").succeeds().err;
    let json: Value = serde_json::from_str(&err).unwrap();
    let first = &json["diagnostics"][0];
    assert_eq!(first["severity"], "warning");
    assert!(first["code"].as_str().unwrap().starts_with("OSH"));
    let place = &first["place"];
    assert_eq!((&place["file"], &place["line"], &place["column"]), (&"a.hlsl".into(), &3.into(), &16.into()));
    let wrong = desk.run("-T ps_6_0 wrong.hlsl -diagnostics-format json").fails(1, "");
    let json: Value = serde_json::from_str(&wrong.err).unwrap();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), 2);
}

#[test]
fn diagnostics_as_sarif() {
    let desk = Desk::new(&[("wrong.hlsl", WRONG), ("fine.hlsl", PIXEL)]);
    let err = desk.run("-T ps_6_0 wrong.hlsl -diagnostics-format sarif").fails(1, "").err;
    let log: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "wrong.hlsl");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&4.into(), &16.into()));
    // A log without results is a log.
    let err = desk.run("-T ps_6_0 -E PSMain fine.hlsl -diagnostics-format sarif").succeeds().err;
    assert_eq!(serde_json::from_str::<Value>(&err).unwrap()["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn layout_shows_where_every_field_lies() {
    let text = "cbuffer C { float3 a; float b; float4x4 m; float2 last; }; float4 main() : SV_Target { return b; }";
    let desk = Desk::new(&[("a.hlsl", text)]);
    let out = desk.run("layout -T ps_6_0 a.hlsl").succeeds().out;
    let rows: Vec<Vec<&str>> = out.lines().map(|l| l.split_whitespace().collect()).collect();
    for row in [["0", "12", "float3", "a"], ["12", "4", "float", "b"], ["80", "8", "float2", "last"]] {
        assert!(rows.iter().any(|r| r[..] == row), "{row:?} in\n{out}");
    }
    desk.run("-T ps_6_0 a.hlsl -Fo a.metal -Flayout a.layout").succeeds();
    assert_eq!(desk.read("a.layout"), out);
}

#[test]
fn link_says_whether_stages_fit() {
    let vertex = "struct V { float4 p : SV_Position; float2 uv : TEXCOORD; };
                  V main() { V v = { float4(0, 0, 0, 1), float2(0, 1) }; return v; }";
    let desk = Desk::new(&[
        ("v.hlsl", vertex),
        ("p.hlsl", "float4 main(float2 uv : TEXCOORD) : SV_Target { return uv.xyxy; }"),
        ("q.hlsl", "float4 main(float3 n : NORMAL) : SV_Target { return n.xyzz; }"),
    ]);
    desk.run("-T vs_6_0 v.hlsl -Fo v.metal -Fre v.json").succeeds();
    desk.run("-T ps_6_0 p.hlsl -Fo p.metal -Fre p.json").succeeds();
    desk.run("-T ps_6_0 q.hlsl -Fo q.metal -Fre q.json").succeeds();
    assert_eq!(desk.run("link v.json p.json").succeeds().err, "");
    desk.run("link v.json q.json").fails(1, "NORMAL0");
    desk.run("link v.json").fails(2, "two files");
    desk.run("link v.json v.hlsl").fails(2, "v.hlsl");
}

#[test]
fn explain_tells_what_a_code_means() {
    let desk = Desk::new(&[("a.hlsl", WARNS)]);
    let list = desk.run("explain").succeeds().out;
    assert!(list.lines().count() > 50);
    // The code of a real diagnostic leads to its text.
    let err = desk.run("-T ps_6_0 a.hlsl").succeeds().err;
    let code = err.split(['[', ']']).nth(1).unwrap();
    assert!(list.contains(code));
    let text = desk.run(&format!("explain {code}")).succeeds().out;
    assert!(text.starts_with(code) && text.lines().count() >= 3, "{text}");
    desk.run("explain OSH").fails(2, "explain lists them");
}

#[test]
fn a_binding_map_dictates_slots() {
    let text = "cbuffer A { float4 a; }; cbuffer B { float4 b; };
                float4 main() : SV_Target { return a + b; }";
    let map = r#"{ "resources": { "B": { "msl": 7, "spirv": { "set": 2, "binding": 5 } } } }"#;
    let desk = Desk::new(&[
        ("a.hlsl", text),
        ("map.json", map),
        ("bad.json", "{"),
        ("clash.json", r#"{ "resources": { "A": { "msl": 3 }, "B": { "msl": 3 } } }"#),
    ]);
    desk.run("-T ps_6_0 a.hlsl -binding-map=map.json -Fo a.metal -Fre a.json").succeeds();
    assert!(desk.read("a.metal").contains("constant B& b [[buffer(7)]]"), "{}", desk.read("a.metal"));
    let reflection: Value = serde_json::from_str(&desk.read("a.json")).unwrap();
    assert_eq!(reflection["resources"][1]["msl"]["index"], 7);
    assert_eq!(reflection["resources"][1]["spirv"]["binding"], 5);
    desk.run("-T ps_6_0 a.hlsl -binding-map bad.json").fails(2, "bad.json");
    desk.run("-T ps_6_0 a.hlsl -binding-map clash.json").fails(1, "both bound to");
}

#[test]
fn help_names_every_flag_and_every_subcommand() {
    let desk = Desk::new(&[]);
    let help = desk.run("-help").succeeds().out;
    assert_eq!(desk.run("--help").succeeds().out, help);
    for word in "-T -E -D -U -I -HV -Zpr -Zpc -O0 -O1 -O2 -O3 -Od -enable-16bit-types -WX -no-warnings -P -Fi -Fo -Fc -Fre \
                 -Flayout -MD -MF -M -msl -spirv -msl-version -msl-platform -msl-binding -msl-semantics -binding-map \
                 -diagnostics-format -fvk-b-shift -fvk-bind-register -fvk-use-dx-layout -fspv-target-env -help --version \
                 layout link explain @file"
        .split_whitespace()
    {
        let named = help.split(|c: char| c.is_whitespace() || ",=;".contains(c)).any(|w| w == word);
        assert!(named, "{word} in\n{help}");
    }
    assert!(desk.run("--version").succeeds().out.starts_with("oneshader "));
}

#[test]
fn every_flag_of_the_help_is_known() {
    let desk = Desk::new(&[]);
    let help = desk.run("-help").succeeds().out;
    let names = help.lines().filter_map(|l| l.strip_prefix("  -")).map(|l| l.split([' ', ',', '=']).next().unwrap());
    let mut count = 0;
    for name in names {
        let ran = desk.run(&format!("-{name}"));
        assert!(!ran.err.contains("unknown flag"), "-{name}: {}", ran.err);
        count += 1;
    }
    assert!(count > 50, "{count} flags");
}

/// `oneshader -help | head`: the reader goes away.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneshader"))
        .arg("explain")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr.as_slice()), (Some(0), &[][..]));
}
