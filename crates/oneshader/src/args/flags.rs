//! DXC's command line as data: one table of flags, and the reader that turns arguments into them.
//!
//! DXC's habits are kept: one dash or a slash, values joined (`-DX=1`) or apart (`-D X=1`), `=` for long ones, `@file` for
//! arguments from a file.

use std::path::{Path, PathBuf};

/// The row of a flag.
pub fn find_spec(flag: Flag) -> &'static Spec {
    FLAGS.iter().find(|spec| spec.flag == flag).unwrap_or(&FLAGS[0])
}

/// How a flag takes its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// None: `-Zpr`.
    None,
    /// One, joined or apart: `-DX`, `-D X`.
    JoinedOrApart,
    /// One, apart: `-Fo out`. Joined is taken as well, as DXC takes it.
    Apart,
    /// One after `=`, or apart: `-fspv-target-env=vulkan1.1`.
    Equals,
    /// Several, apart: `-fvk-b-shift 2 0`.
    Many(u8),
    /// The rest of the word: `-Wno-conversion`.
    Rest,
}

/// Where a flag stands in `-help`, and whether it does anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// What is compiled and how.
    Compile,
    /// What is written.
    Output,
    /// Preprocessor.
    Preprocess,
    /// Metal.
    Metal,
    /// SPIR-V and Vulkan bindings.
    Spirv,
    /// Diagnostics.
    Diagnostics,
    /// DXC's flags that make no difference here; each gives a warning.
    Ignored,
}

macro_rules! flags {
    ($($id:ident: $($name:literal)|+; $arity:ident $(($n:literal))?, $group:ident, $value:literal, $help:literal;)*) => {
        /// A flag.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Flag { $(#[doc = $help] $id,)* }

        /// The table.
        pub static FLAGS: &[Spec] = {
            use Arity::*;
            &[$(Spec { flag: Flag::$id, names: &[$($name),+], arity: $arity$(($n))?, group: Group::$group, value: $value, help: $help },)*]
        };
    };
}

/// A row of the table.
#[derive(Debug)]
pub struct Spec {
    /// The flag.
    pub flag: Flag,
    /// Spellings without dash, the usual one first.
    pub names: &'static [&'static str],
    /// Values.
    pub arity: Arity,
    /// Place in the help.
    pub group: Group,
    /// What the help calls its value.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
}

flags! {
    Profile: "T"; JoinedOrApart, Compile, "PROFILE", "target profile: vs_6_0, ps_6_0, cs_6_0, lib_6_3; 5_0 to 6_8";
    Entry: "E"; JoinedOrApart, Compile, "NAME", "entry point; without it main, or every [shader(\"...\")] function";
    HlslVersion: "HV"; JoinedOrApart, Compile, "YEAR", "language version: 2016, 2017, 2018 or 2021 (default)";
    RowMajor: "Zpr"; None, Compile, "", "matrices are row-major in memory";
    ColumnMajor: "Zpc"; None, Compile, "", "matrices are column-major in memory (default)";
    Native16: "enable-16bit-types"; None, Compile, "", "half, int16_t and uint16_t have 16 bits (needs HV 2018, profile 6_2)";
    O0: "O0" | "Od"; None, Compile, "", "only what legality needs";
    O1: "O1"; None, Compile, "", "cleanup that keeps the shape of the source (default for Metal)";
    O2: "O2"; None, Compile, "", "as -O3";
    LegacyMacros: "flegacy-macro-expansion"; None, Preprocess, "", "expand macro arguments before ## too, as FXC does";
    IeeeStrict: "Gis"; None, Compile, "", "all arithmetic is precise";
    O3: "O3"; None, Compile, "", "all optimizations (default for SPIR-V)";

    Msl: "msl"; None, Output, "", "make Metal Shading Language (default)";
    Spirv: "spirv"; None, Output, "", "make SPIR-V for Vulkan";
    Object: "Fo"; Apart, Output, "FILE", "write the output there; - is standard output";
    Assembly: "Fc"; Apart, Output, "FILE", "write the text of the optimized IR there";
    Reflection: "Fre"; Apart, Output, "FILE", "write reflection as JSON there";
    Layout: "Flayout"; Apart, Output, "FILE", "write a table of every buffer's layout there";
    Depend: "M"; None, Preprocess, "", "print the files read, as a make rule; code is made only with -Fo";
    DependToo: "MD"; None, Preprocess, "", "write them beside the output as well";
    DependFile: "MF"; Apart, Preprocess, "FILE", "where to write them (default: the output's name with .d); alone it stands for -MD too";
    Define: "D"; JoinedOrApart, Preprocess, "NAME[=VALUE]", "define a macro";
    Undefine: "U"; JoinedOrApart, Preprocess, "NAME", "undefine a macro";
    Include: "I"; JoinedOrApart, Preprocess, "DIR", "search includes there";
    Preprocess: "P"; None, Preprocess, "", "preprocess only, to -Fi or standard output";
    PreprocessFile: "Fi"; Apart, Preprocess, "FILE", "where -P writes";

    MslVersion: "msl-version"; Equals, Metal, "VERSION", "2.4 (default) to 3.2";
    MslPlatform: "msl-platform"; Equals, Metal, "PLATFORM", "macos (default) or ios";
    MslBinding: "msl-binding"; Equals, Metal, "MODEL", "direct (default): one argument each; argument-struct: one struct at buffer 0";
    MslSemantics: "msl-semantics"; Equals, Metal, "RULES", "hlsl (default): defined where C++ is not; metal: plain operators";
    MslBufferSizes: "msl-buffer-sizes"; None, Metal, "", "GetDimensions of buffers through a hidden argument, see reflection";
    MslInt64: "msl-emulate-int64"; None, Metal, "", "vectors of 64-bit integers in buffers, wave arithmetic on 64-bit integers";
    MslWaveMatch: "msl-emulate-wave-match"; None, Metal, "", "WaveMatch and WaveMultiPrefix* by loops over lanes";
    MslBufferArrays: "msl-buffer-arrays"; Equals, Metal, "FORM", "array (one argument, default) or arguments (one for each buffer)";
    MslLines: "msl-lines"; None, Metal, "", "#line directives that lead back to the HLSL";
    BindingMap: "binding-map"; Equals, Metal, "FILE", "JSON that dictates slots by resource name";

    TargetEnv: "fspv-target-env"; Equals, Spirv, "ENV", "vulkan1.0, vulkan1.1 (default), vulkan1.1spirv1.4, vulkan1.2 or vulkan1.3";
    ShiftB: "fvk-b-shift"; Many(2), Spirv, "N SPACE", "add N to bindings of b registers in a space, or all";
    ShiftT: "fvk-t-shift"; Many(2), Spirv, "N SPACE", "the same for t registers";
    ShiftS: "fvk-s-shift"; Many(2), Spirv, "N SPACE", "the same for s registers";
    ShiftU: "fvk-u-shift"; Many(2), Spirv, "N SPACE", "the same for u registers";
    BindRegister: "fvk-bind-register" | "vkbr"; Many(4), Spirv, "REG SPACE BINDING SET", "bind a register there";
    BindGlobals: "fvk-bind-globals"; Many(2), Spirv, "BINDING SET", "bind loose uniforms there";
    ResourceHeap: "fvk-bind-resource-heap"; Many(2), Spirv, "BINDING SET", "bind ResourceDescriptorHeap there";
    CounterHeap: "fvk-bind-counter-heap"; Many(2), Spirv, "BINDING SET", "bind the counters of ResourceDescriptorHeap there";
    SamplerHeap: "fvk-bind-sampler-heap"; Many(2), Spirv, "BINDING SET", "bind SamplerDescriptorHeap there";
    BindingSpace: "auto-binding-space"; Apart, Spirv, "SPACE", "space of resources without one";
    DxLayout: "fvk-use-dx-layout"; None, Spirv, "", "D3D's memory layout (Metal's as well)";
    GlLayout: "fvk-use-gl-layout"; None, Spirv, "", "strict std140 and std430 (Metal's as well)";
    ScalarLayout: "fvk-use-scalar-layout" | "force-scalar-layout"; None, Spirv, "", "scalar layout (Metal's as well)";
    AutoShift: "fvk-auto-shift-bindings"; None, Spirv, "", "shifts apply where no register is written too";
    FlattenArrays: "fspv-flatten-resource-arrays"; None, Spirv, "", "an array of resources takes a binding for each element";
    InvertY: "fvk-invert-y"; None, Spirv, "", "negate SV_Position.y of vertex shaders";
    PositionW: "fvk-use-dx-position-w"; None, Spirv, "", "SV_Position.w of pixel shaders is w, not 1/w";
    BaseVertex: "fvk-support-nonzero-base-vertex"; None, Spirv, "", "SV_VertexID counts from 0 in every draw";
    BaseInstance: "fvk-support-nonzero-base-instance"; None, Spirv, "", "SV_InstanceID counts from 0 in every draw";
    Lines: "Zi"; None, Spirv, "", "OpLine that leads back to the HLSL";
    Debug: "fspv-debug"; Equals, Spirv, "LEVEL", "file, source, line, tool, or rich or vulkan, each alone or -with-source: OpLine from line on";
    StripNames: "Qstrip_debug"; None, Spirv, "", "no OpName";
    SpirvReflect: "fspv-reflect"; None, Spirv, "", "semantics and resource types as decorations";
    UnknownFormats: "fspv-use-unknown-image-format"; None, Spirv, "", "images without stated format have none";
    SpirvExtension: "fspv-extension"; Equals, Spirv, "NAME", "allow this extension, KHR all of Khronos; without it all are allowed, and discard ends the lane before vulkan1.3";
    LegacyMatrixOrder: "fspv-use-legacy-buffer-matrix-order"; None, Spirv, "", "matrices in byte-address buffers are row-major (Metal's as well)";
    EntryName: "fspv-entrypoint-name"; Equals, Spirv, "NAME", "name of the entry point in the module";

    WarningsAsErrors: "WX"; None, Diagnostics, "", "warnings are errors";
    NoWarnings: "no-warnings"; None, Diagnostics, "", "no warnings";
    Format: "diagnostics-format"; Equals, Diagnostics, "FORMAT", "text (default), json or sarif";
    Color: "fdiagnostics-color"; Equals, Diagnostics, "WHEN", "auto (default), always or never";
    Help: "help" | "h" | "?" | "-help"; None, Diagnostics, "", "this text";
    Version: "-version" | "version"; None, Diagnostics, "", "version";

    NoEffect: "Zss" | "Zsb" | "Qembed_debug" | "Qstrip_priv" | "Qstrip_rootsignature" | "nologo" | "Cc" | "Ni" | "No" | "Lx" | "Vi" | "H" | "ast-dump" | "dumpbin" | "Ges" | "Gfa" | "Gfp" | "Vd" | "res-may-alias" | "all-resources-bound" | "fdiagnostics-show-option" | "fno-diagnostics-show-option" | "fnew-inlining-behavior" | "Wall" | "Wextra" | "Zs" | "fspv-preserve-bindings" | "fspv-preserve-interface" | "fspv-fix-func-call-arguments" | "fspv-enable-maximal-reconvergence" | "fspv-use-vulkan-memory-model" | "no-legacy-cbuf-layout" | "pack-optimized" | "pack-prefix-stable" | "flegacy-resource-reservation" | "fcgl" | "ftime-report" | "ffinite-math-only" | "fno-finite-math-only" | "fspv-print-all" | "fspv-reduce-load-size"; None, Ignored, "", "parts of DXIL containers, and DXC's own switches";
    NoEffectValue: "Fe" | "Fh" | "Frs" | "Fsh" | "Vn" | "setprivate" | "setrootsignature" | "verifyrootsignature" | "rootsig-define" | "force-rootsig-ver" | "validator-version" | "exports" | "memcpy-fold" | "default-linkage" | "opt-enable" | "opt-disable" | "opt-select" | "fspv-max-id"; Apart, Ignored, "VALUE", "the same with a value";
    BackCompatible: "Gec"; None, Ignored, "", "FXC's compatibility with Direct3D 9, for -HV 2016";
    StripReflection: "Qstrip_reflect"; None, Ignored, "", "reflection is no part of the code here";
    DebugFile: "Fd"; Apart, Ignored, "FILE", "the debug part of a DXIL container";
    OptConfig: "Oconfig"; Equals, Ignored, "PASSES", "passes of spirv-opt: the optimizer here has its own";
    NoEffectRest: "W" | "ftime-"; Rest, Ignored, "NAME", "single warnings";
}

/// A flag as given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// Which.
    pub flag: Flag,
    /// As spelled, with its dash.
    pub spelling: String,
    /// Its values.
    pub values: Vec<String>,
}

/// A command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandLine {
    /// Flags in order.
    pub flags: Vec<Given>,
    /// Input files in order; `-` is standard input.
    pub inputs: Vec<PathBuf>,
}

/// Most files of arguments that may include each other.
const MAX_RESPONSE_DEPTH: usize = 8;

/// Reads arguments. The error is a sentence for the user.
pub fn parse(args: impl IntoIterator<Item = String>) -> Result<CommandLine, String> {
    let mut words = Vec::new();
    for arg in args {
        expand(arg, Path::new(""), 0, &mut words)?;
    }
    let mut line = CommandLine::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some(body) = flag_body(&word) else {
            line.inputs.push(word.into());
            continue;
        };
        let (spec, joined) = find(body).ok_or_else(|| unknown(&word, body))?;
        let mut next = || words.next().ok_or_else(|| format!("{word} needs a value: {}", spec.value));
        let values = match spec.arity {
            Arity::None => Vec::new(),
            Arity::Rest => vec![joined.to_owned()],
            Arity::Many(n) => (0..n).map(|_| next()).collect::<Result<_, _>>()?,
            Arity::Equals => match joined.strip_prefix('=') {
                Some(value) => vec![value.to_owned()],
                None => vec![next()?],
            },
            Arity::JoinedOrApart | Arity::Apart if joined.is_empty() => vec![next()?],
            Arity::JoinedOrApart | Arity::Apart => vec![joined.strip_prefix('=').unwrap_or(joined).to_owned()],
        };
        line.flags.push(Given { flag: spec.flag, spelling: word, values });
    }
    Ok(line)
}

/// What follows the dash or slash, unless the word is an input: `-`, or a path that begins with a slash.
fn flag_body(word: &str) -> Option<&str> {
    if let Some(body) = word.strip_prefix('-') {
        return (!body.is_empty()).then_some(body);
    }
    let body = word.strip_prefix('/')?;
    (find(body).is_some() && !Path::new(word).exists()).then_some(body)
}

/// The row whose name is the longest that fits, and what is left of the word.
fn find(body: &str) -> Option<(&'static Spec, &str)> {
    let mut best: Option<(&'static Spec, &str, usize)> = None;
    for spec in FLAGS {
        for name in spec.names {
            let Some(rest) = body.strip_prefix(name) else { continue };
            let fits = match spec.arity {
                Arity::None | Arity::Many(_) => rest.is_empty(),
                Arity::Equals => rest.is_empty() || rest.starts_with('='),
                Arity::Apart | Arity::JoinedOrApart | Arity::Rest => true,
            };
            if fits && best.is_none_or(|(_, _, len)| name.len() > len) {
                best = Some((spec, rest, name.len()));
            }
        }
    }
    best.map(|(spec, rest, _)| (spec, rest))
}

fn unknown(word: &str, body: &str) -> String {
    let body = body.split('=').next().unwrap_or(body);
    match oneshader_diag::closest(body, FLAGS.iter().flat_map(|spec| spec.names).copied()) {
        Some(name) => format!("unknown flag {word}; did you mean -{name}?"),
        None => format!("unknown flag {word}; -help lists them"),
    }
}

/// Replaces `@file` by the words of the file, quotes respected.
fn expand(word: String, base: &Path, depth: usize, out: &mut Vec<String>) -> Result<(), String> {
    let Some(file) = word.strip_prefix('@') else {
        out.push(word);
        return Ok(());
    };
    if depth == MAX_RESPONSE_DEPTH {
        return Err(format!("{word}: files of arguments are nested more than {MAX_RESPONSE_DEPTH} deep"));
    }
    let path = base.join(file);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    split_words(&text).into_iter().try_for_each(|w| expand(w, dir, depth + 1, out))
}

/// Words of a file of arguments: white space separates, single or double quotes keep together, a backslash before a
/// quote or a backslash stands for that sign.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some('"' | '\'' | '\\')) => {
                word.get_or_insert_default().extend(chars.next());
            }
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if quote == Some(c) => quote = None,
            _ if quote.is_none() && c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The text of `-help`.
pub fn help() -> String {
    let mut text = String::from(concat!(
        "oneshader ",
        env!("CARGO_PKG_VERSION"),
        ": HLSL to Metal Shading Language and SPIR-V\n\n",
        "  oneshader -T ps_6_0 -E PSMain -msl sprite.hlsl -Fo sprite.metal -Fre sprite.json\n",
        "  oneshader -T cs_6_0 -spirv blur.hlsl -Fo blur.spv\n",
        "  oneshader -T lib_6_3 -msl all.hlsl -Fo out/         every [shader(\"...\")] function, a file each\n",
        "  oneshader layout -T ps_6_0 sprite.hlsl              offsets, sizes and padding of every buffer\n",
        "  oneshader link vs.json ps.json                      do the stages fit together?\n",
        "  oneshader explain OSH5105                           what an error means and the way out\n\n",
        "Flags are DXC's, so that a DXC command line mostly works unchanged; - is standard input or output, @file reads\n",
        "arguments from a file. Exit status: 0 done, 1 errors in the input, 2 errors in the command line.\n",
    ));
    let groups = [
        (Group::Compile, "Compilation"),
        (Group::Output, "Output"),
        (Group::Preprocess, "Preprocessor and dependencies"),
        (Group::Metal, "Metal"),
        (Group::Spirv, "Layout, SPIR-V and Vulkan bindings"),
        (Group::Diagnostics, "Diagnostics and others"),
    ];
    for (group, title) in groups {
        text.push_str(&format!("\n{title}:\n"));
        for spec in FLAGS.iter().filter(|s| s.group == group) {
            let names: Vec<String> = spec.names.iter().map(|n| format!("-{n}")).collect();
            let left = match spec.arity {
                Arity::None => names.join(", "),
                Arity::Equals => format!("{}={}", names.join(", "), spec.value),
                _ => format!("{} {}", names.join(", "), spec.value),
            };
            text.push_str(&format!("  {left:<34} {}\n", spec.help));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> CommandLine {
        parse(words.iter().map(|w| w.to_string())).unwrap()
    }

    fn values(line: &CommandLine, flag: Flag) -> Vec<&str> {
        line.flags.iter().filter(|g| g.flag == flag).flat_map(|g| &g.values).map(String::as_str).collect()
    }

    #[test]
    fn values_are_joined_or_apart() {
        let line = read(&["-Tps_6_0", "-E", "PSMain", "-DA", "-D", "B=2", "-I.", "x.hlsl", "-Fo", "out.metal", "/Zpr"]);
        assert_eq!(values(&line, Flag::Profile), ["ps_6_0"]);
        assert_eq!(values(&line, Flag::Entry), ["PSMain"]);
        assert_eq!(values(&line, Flag::Define), ["A", "B=2"]);
        assert_eq!(values(&line, Flag::Object), ["out.metal"]);
        assert!(line.flags.iter().any(|g| g.flag == Flag::RowMajor));
        assert_eq!(line.inputs, [PathBuf::from("x.hlsl")]);
    }

    #[test]
    fn long_names_win_over_joined_values() {
        let line = read(&[
            "-MD",
            "-MF",
            "d.d",
            "-msl",
            "-msl-version=3.1",
            "-HV",
            "2018",
            "-Fre",
            "r.json",
            "-fvk-b-shift",
            "1",
            "all",
        ]);
        let flags: Vec<Flag> = line.flags.iter().map(|g| g.flag).collect();
        use Flag::*;
        assert_eq!(flags, [DependToo, DependFile, Msl, MslVersion, HlslVersion, Reflection, ShiftB]);
        assert_eq!(values(&line, ShiftB), ["1", "all"]);
    }

    #[test]
    fn a_dash_and_an_absolute_path_are_inputs() {
        let line = read(&["-", "/Dir/x.hlsl"]);
        assert_eq!(line.inputs[0], PathBuf::from("-"));
    }

    #[test]
    fn unknown_flags_suggest() {
        assert!(parse(["-msl-versoin=2".to_string()]).unwrap_err().contains("-msl-version"));
        assert!(parse(["-T".to_string()]).unwrap_err().contains("PROFILE"));
    }

    #[test]
    fn words_of_a_file() {
        assert_eq!(split_words("-D \"A=b c\"\n 'x y' a\\\"b \"\""), ["-D", "A=b c", "x y", "a\"b", ""]);
    }

    #[test]
    fn help_names_every_flag_that_works() {
        let text = help();
        for spec in FLAGS.iter().filter(|s| s.group != Group::Ignored) {
            assert!(text.contains(&format!("-{}", spec.names[0])), "{:?}", spec.flag);
        }
    }
}
