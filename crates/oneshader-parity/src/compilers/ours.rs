//! Our compiler, in process, by its own reading of DXC's command line.

use super::{CompileError, Compiler, Request, Target, interface};
use crate::engines::Code;
use oneshader::args::Invocation;
use oneshader::{Failure, MemoryLoader, Source, compile, diag, preprocess};
use std::sync::Arc;

/// The library.
pub struct OurCompiler {
    /// Metal's language version, where the command line says none.
    msl_version: String,
    /// Further options for Metal.
    msl_options: Vec<String>,
}

impl OurCompiler {
    /// Compiles for this version of Metal unless a command line names another, and with these options, separated by
    /// blanks.
    pub fn new(msl_version: &str, msl_options: &str) -> Self {
        let msl_options = msl_options.split_whitespace().map(str::to_owned).collect();
        Self { msl_version: msl_version.to_owned(), msl_options }
    }
}

impl Compiler for OurCompiler {
    fn name(&self) -> &'static str {
        "OneShader"
    }

    fn compile(&mut self, request: &Request<'_>) -> Result<Code, CompileError> {
        let line = request.line;
        let (invocation, source) = self.read(request)?;
        let output = compile(&source, &invocation.options).map_err(|f| refusal(&f))?;
        let [artifact] = &output.artifacts[..] else {
            let entries: Vec<_> = output.artifacts.iter().map(|a| a.entry.as_str()).collect();
            return Err(CompileError::text(format!("one entry point was asked for, not {entries:?}")));
        };
        match &artifact.code {
            oneshader::Code::Spirv(words) => Ok(Code::Spirv(words.clone())),
            oneshader::Code::Msl(text) => {
                let mut interface = interface::of_entry(&output.reflection, &artifact.entry)
                    .ok_or_else(|| CompileError::text("reflection lacks the entry point"))?;
                interface.version = line.msl_version.clone();
                Ok(Code::Metal { text: text.clone(), interface, reflection: output.reflection.to_json() })
            }
        }
    }

    fn preprocess(&mut self, request: &Request<'_>) -> Result<String, CompileError> {
        let (invocation, source) = self.read(request)?;
        preprocess(&source, &invocation.options).map(|done| done.text).map_err(|f| refusal(&f))
    }
}

impl OurCompiler {
    /// The command line as our reader of it understands it, and the source.
    fn read(&self, request: &Request<'_>) -> Result<(Invocation, Source), CompileError> {
        let line = request.line;
        let mut words = line.words(request.target);
        if request.target == Target::Msl {
            if line.msl_version.is_none() {
                words.extend(["-msl-version".to_owned(), self.msl_version.clone()]);
            }
            words.extend(self.msl_options.iter().cloned());
        }
        let mut invocation = Invocation::parse(words).map_err(CompileError::text)?;
        let text = request.files.read(&line.input);
        let text = text.ok_or_else(|| CompileError::text(format!("{}: no such file", line.input)))?;
        if let Some(parts) = request.files.parts() {
            let loader = line.includes.iter().fold(MemoryLoader::new(parts), |l, dir| l.dir(dir));
            invocation.options.loader = Arc::new(loader);
        }
        Ok((invocation, Source::new(line.input.as_str(), text)))
    }
}

fn refusal(failure: &Failure) -> CompileError {
    let mut codes: Vec<String> = Vec::new();
    for d in failure.diagnostics.iter().filter(|d| d.severity == diag::Severity::Error) {
        let code = d.code.to_string();
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    CompileError { text: failure.to_string(), codes }
}
