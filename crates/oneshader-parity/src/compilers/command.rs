//! Any compiler with DXC's command line, run as a program.

use super::{CompileError, Compiler, Request, Target, interface, spirv_words};
use crate::engines::Code;
use oneshader::Reflection;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// A compiler program. It gets the options of the command line, `-spirv` or `-msl`, the source and `-Fo`.
pub struct CommandCompiler {
    program: Vec<String>,
    scratch: PathBuf,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl CommandCompiler {
    /// `program` is the program with leading arguments, separated by blanks.
    pub fn new(program: &str) -> Result<Self, String> {
        let program: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        if program.is_empty() {
            return Err("the compiler command is empty".to_owned());
        }
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let scratch = std::env::temp_dir().join(format!("oneshader-parity-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
        Ok(Self { program, scratch })
    }
}

impl Drop for CommandCompiler {
    fn drop(&mut self) {
        // The folder is ours and holds nothing of value; a failure to remove it harms nobody.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

impl Compiler for CommandCompiler {
    fn name(&self) -> &'static str {
        "command"
    }

    fn compile(&mut self, request: &Request<'_>) -> Result<Code, CompileError> {
        let line = request.line;
        let io = |e: std::io::Error| CompileError::text(e.to_string());
        // A part of a case exists in memory only; a real file is compiled where it lies, beside its includes.
        let input = if Path::new(&line.input).is_file() {
            PathBuf::from(&line.input)
        } else {
            let text = request
                .files
                .read(&line.input)
                .ok_or_else(|| CompileError::text(format!("{}: no such file", line.input)))?;
            let name = Path::new(&line.input).file_name().unwrap_or_default();
            let path = self.scratch.join(name);
            std::fs::write(&path, text).map_err(io)?;
            path
        };
        let output = self.scratch.join("out");
        let reflection = self.scratch.join("out.json");
        for f in [&output, &reflection] {
            let _ = std::fs::remove_file(f);
        }
        let mut c = Command::new(&self.program[0]);
        c.args(&self.program[1..]).args(line.words(request.target));
        if request.target == Target::Msl {
            c.arg("-Fre").arg(&reflection);
        }
        c.arg("-Fo").arg(&output).arg(&input);
        let done = c.output().map_err(|e| CompileError::text(format!("{}: {e}", self.program[0])))?;
        if !done.status.success() {
            let text = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(CompileError { codes: codes_in(&text), text });
        }
        let bytes = std::fs::read(&output).map_err(io)?;
        match request.target {
            Target::Spirv => spirv_words(&bytes).map(Code::Spirv).map_err(CompileError::text),
            Target::Msl => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let reflection = std::fs::read_to_string(&reflection).unwrap_or_default();
                // Without our reflection the text can be checked, but its arguments have no places.
                let mut interface = Reflection::from_json(&reflection)
                    .ok()
                    .and_then(|r| interface::of_entry(&r, line.entry()))
                    .unwrap_or_default();
                interface.version = line.msl_version.clone();
                Ok(Code::Metal { text, interface, reflection })
            }
        }
    }
}

/// The OSH codes that a rendered text names, in order, without repetition.
pub fn codes_in(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("OSH") {
        let digits: String = text[at + 3..].chars().take_while(char::is_ascii_digit).collect();
        let code = format!("OSH{digits}");
        if digits.len() == 4 && !out.contains(&code) {
            out.push(code);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        assert_eq!(codes_in("error[OSH5102]: x\nerror[OSH2001] error[OSH5102] OSH12"), ["OSH5102", "OSH2001"]);
    }
}
