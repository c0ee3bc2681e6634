//! Compilers under test, all driven by DXC's command line.

pub mod command;
pub mod dxc;
mod interface;
pub mod ours;

use crate::engines::Code;

/// What to compile to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// SPIR-V for Vulkan 1.3.
    Spirv,
    /// Metal source.
    Msl,
}

/// Finds the text of a file by the name that a source or a command line spells.
pub trait Files {
    /// The text, or none where there is no such file.
    fn read(&self, name: &str) -> Option<String>;

    /// Every file with its text, when they are all in memory; none when they lie on the disk.
    fn parts(&self) -> Option<Vec<(String, String)>>;
}

/// One compile.
pub struct Request<'a> {
    /// The command line, parsed.
    pub line: &'a CommandLine,
    /// The target.
    pub target: Target,
    /// Where sources come from.
    pub files: &'a dyn Files,
}

/// A refused compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// The diagnostics as text.
    pub text: String,
    /// Codes of the errors, where the compiler has codes, in order, without repetition.
    pub codes: Vec<String>,
}

impl CompileError {
    /// An error that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), codes: Vec::new() }
    }
}

/// Compiles one entry point.
pub trait Compiler {
    /// The name in reports and in test conditions.
    fn name(&self) -> &'static str;

    /// Compiles; an error says why the input was refused.
    fn compile(&mut self, request: &Request<'_>) -> Result<Code, CompileError>;

    /// Preprocesses only (`-P`), where the compiler can be asked for that.
    fn preprocess(&mut self, _request: &Request<'_>) -> Result<String, CompileError> {
        Err(CompileError::text("this compiler is not asked to preprocess"))
    }
}

/// The parts of a DXC command line that the harness itself needs, and the rest in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `-T`.
    pub profile: String,
    /// `-E`; DXC's default is `main`.
    pub entry: Option<String>,
    /// `-D NAME[=VALUE]`, in order.
    pub defines: Vec<String>,
    /// `-I DIR`, in order.
    pub includes: Vec<String>,
    /// `-Fo FILE`.
    pub output: Option<String>,
    /// The source file.
    pub input: String,
    /// `-verify`: the diagnostics of the source must be those that it announces.
    pub verify: bool,
    /// `-msl-version VERSION`: our own option, which no other compiler is given.
    pub msl_version: Option<String>,
    /// Every other option, with its values.
    pub rest: Vec<String>,
}

/// Options of DXC that take values as separate words, and how many.
const WITH_VALUES: [(&str, usize); 22] = [
    ("-HV", 1),
    ("-Fc", 1),
    ("-Fe", 1),
    ("-Fd", 1),
    ("-Fre", 1),
    ("-Frs", 1),
    ("-Fi", 1),
    ("-Vn", 1),
    ("-Fh", 1),
    ("-auto-binding-space", 1),
    ("-exports", 1),
    ("-default-linkage", 1),
    ("-validator-version", 1),
    ("-fvk-b-shift", 2),
    ("-fvk-t-shift", 2),
    ("-fvk-s-shift", 2),
    ("-fvk-u-shift", 2),
    ("-fvk-bind-globals", 2),
    ("-fvk-bind-register", 4),
    ("-fvk-bind-counter-heap", 2),
    ("-fvk-bind-sampler-heap", 2),
    ("-fvk-bind-resource-heap", 2),
];

impl CommandLine {
    /// Reads a command line; a missing value is an error.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let mut out = Self::default();
        let mut it = words.iter().peekable();
        while let Some(raw) = it.next() {
            // DXC also takes `/T`. A path is not an option.
            let word = match raw.strip_prefix('/') {
                Some(w) if !w.contains(['/', '.']) && !w.is_empty() => format!("-{w}"),
                _ => raw.clone(),
            };
            let mut value = |attached: &str| -> Result<String, String> {
                if attached.is_empty() {
                    it.next().cloned().ok_or_else(|| format!("{word} lacks its value"))
                } else {
                    Ok(attached.to_owned())
                }
            };
            if word == "-verify" {
                out.verify = true;
            } else if word == "-msl-version" {
                out.msl_version = Some(value("")?);
            } else if let Some((_, n)) = WITH_VALUES.iter().find(|(o, _)| *o == word) {
                out.rest.push(word.clone());
                for _ in 0..*n {
                    let v = value("")?;
                    out.rest.push(v);
                }
            } else if let Some(v) = word.strip_prefix("-Fo") {
                out.output = Some(value(v)?);
            } else if let Some(v) = word.strip_prefix("-T").filter(|v| v.is_empty() || v.contains('_')) {
                out.profile = value(v)?;
            } else if let Some(v) = word.strip_prefix("-E").filter(|v| v.is_empty()) {
                out.entry = Some(value(v)?);
            } else if let Some(v) = word.strip_prefix("-D") {
                let v = value(v)?;
                out.defines.push(v);
            } else if let Some(v) = word.strip_prefix("-I") {
                let v = value(v)?;
                out.includes.push(v);
            } else if word.starts_with('-') {
                if word == "-spirv" || word == "-msl" {
                    continue;
                }
                out.rest.push(word);
            } else if out.input.is_empty() {
                out.input = word;
            } else {
                return Err(format!("two inputs: {} and {word}", out.input));
            }
        }
        if out.input.is_empty() {
            return Err("no input file".to_owned());
        }
        Ok(out)
    }

    /// The entry point.
    pub fn entry(&self) -> &str {
        self.entry.as_deref().unwrap_or("main")
    }

    /// The command line for our own reader of it, without input and output.
    pub fn words(&self, target: Target) -> Vec<String> {
        let mut out = vec!["-T".to_owned(), self.profile.clone()];
        if let Some(e) = &self.entry {
            out.extend(["-E".to_owned(), e.clone()]);
        }
        out.extend(self.defines.iter().flat_map(|d| ["-D".to_owned(), d.clone()]));
        out.extend(self.includes.iter().flat_map(|d| ["-I".to_owned(), d.clone()]));
        out.extend(self.rest.iter().cloned());
        match target {
            Target::Msl => {
                out.push("-msl".to_owned());
                out.extend(self.msl_version.iter().flat_map(|v| ["-msl-version".to_owned(), v.clone()]));
            }
            Target::Spirv => {
                out.push("-spirv".to_owned());
                if !self.rest.iter().any(|a| a.starts_with("-fspv-target-env")) {
                    out.push("-fspv-target-env=vulkan1.3".to_owned());
                }
            }
        }
        out
    }

    /// Whether only the preprocessor runs (`-P`).
    pub fn preprocesses(&self) -> bool {
        self.rest.iter().any(|word| word == "-P")
    }

    /// The stage prefix of the profile (`vs`, `ps`, `cs`, ...).
    pub fn stage(&self) -> &str {
        self.profile.split('_').next().unwrap_or("")
    }
}

/// SPIR-V words of a byte string.
pub fn spirv_words(bytes: &[u8]) -> Result<Vec<u32>, String> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    match words.first() {
        Some(0x0723_0203) if bytes.len().is_multiple_of(4) => Ok(words),
        _ => Err("the output is not SPIR-V".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let words = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let c = CommandLine::parse(&words(
            "-spirv -msl-version 3.0 -fvk-b-shift 2 0 -T cs_6_0 -E CSMain -DA=1 -D B -I inc /Zpr -HV 2021 -Fo out.spv dir/a.hlsl",
        ))
        .unwrap();
        assert_eq!((c.profile.as_str(), c.entry(), c.stage()), ("cs_6_0", "CSMain", "cs"));
        assert_eq!(c.defines, ["A=1", "B"]);
        assert_eq!(c.includes, ["inc"]);
        // What is ours alone is not among what DXC is given.
        assert_eq!(c.msl_version.as_deref(), Some("3.0"));
        assert!(c.words(Target::Msl).join(" ").ends_with("-msl -msl-version 3.0"));
        assert!(!c.words(Target::Spirv).contains(&"-msl-version".to_owned()));
        assert_eq!(c.rest, ["-fvk-b-shift", "2", "0", "-Zpr", "-HV", "2021"]);
        assert_eq!((c.output.as_deref(), c.input.as_str()), (Some("out.spv"), "dir/a.hlsl"));
        assert!(CommandLine::parse(&words("-T")).is_err());
        assert!(CommandLine::parse(&words("a b")).is_err());
    }
}
