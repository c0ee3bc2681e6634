//! Checkers of compiled code: `metal-check` for Metal text, `spirv-val` for SPIR-V.

use crate::compilers::CommandLine;
use crate::engines::Code;
use metal_check::Checker;
use std::io::Write;
use std::process::{Command, Stdio};

/// The environment variable that names spirv-val.
pub const SPIRV_VAL: &str = "SPIRV_VAL";

/// The checkers for one target.
pub enum Checks {
    /// Metal text, with layout asserts on.
    Metal(Box<Checker>),
    /// SPIR-V, by this program.
    Spirv(String),
}

impl Checks {
    /// Opens the checker; an error says what this machine lacks.
    pub fn new(metal: bool, metal_version: &str) -> Result<Self, String> {
        if metal {
            let version = metal_version.parse().map_err(|e: metal_check::UnknownVersion| e.to_string())?;
            let options = metal_check::Options { version, ..metal_check::Options::default() };
            return Ok(Self::Metal(Box::new(Checker::new(options).map_err(|e| e.to_string())?)));
        }
        let program = std::env::var(SPIRV_VAL).unwrap_or_else(|_| "spirv-val".to_owned());
        let found = Command::new(&program).arg("--version").output();
        found.map_err(|e| format!("{program}: {e} (set {SPIRV_VAL})"))?;
        Ok(Self::Spirv(program))
    }

    /// Checks code; the error is what the checker found.
    pub fn check(&self, name: &str, line: &CommandLine, code: &Code) -> Result<(), String> {
        match (self, code) {
            (Self::Metal(checker), Code::Metal { text, .. }) => {
                let report = checker.check_text(name, text).map_err(|e| e.to_string())?;
                if report.passed() { Ok(()) } else { Err(report.to_string()) }
            }
            (Self::Spirv(program), Code::Spirv(words)) => validate(program, line, words),
            _ => Err("code of another target than asked for".to_owned()),
        }
    }
}

fn validate(program: &str, line: &CommandLine, words: &[u32]) -> Result<(), String> {
    let env = line.rest.iter().find_map(|a| a.strip_prefix("-fspv-target-env=")).unwrap_or("vulkan1.3");
    let mut c = Command::new(program);
    // `universal1.5` and `vulkan1.1spirv1.4` are spelled `spv1.5` and `vulkan1.1spv1.4` by the validator.
    c.arg("--target-env").arg(env.replace("universal", "spv").replace("spirv", "spv"));
    if line.rest.iter().any(|a| a == "-fvk-use-scalar-layout" || a == "-fvk-use-dx-layout") {
        c.arg("--scalar-block-layout");
    }
    let mut child = c
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{program}: {e}"))?;
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if let Some(mut stdin) = child.stdin.take() {
        // The validator may stop reading at the first error; its answer says so.
        let _ = stdin.write_all(&bytes);
    }
    let done = child.wait_with_output().map_err(|e| format!("{program}: {e}"))?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr).into_owned() + &String::from_utf8_lossy(&done.stdout);
    Err(if text.trim().is_empty() { format!("{program}: {}", done.status) } else { text.trim().to_owned() })
}
