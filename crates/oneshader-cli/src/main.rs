//! The `oneshader` command.
#![forbid(unsafe_code)]

mod depfile;
mod output;
mod subcommands;

use std::process::ExitCode;

use oneshader::args::{self, Ask, Depend, Invocation};
use oneshader::{Failure, Source};

use output::{Reporter, read_source, write};

/// Done.
const OK: u8 = 0;
/// The input has errors.
const BAD_INPUT: u8 = 1;
/// The command line has errors.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(match run(words) {
        Ok(()) => OK,
        Err(Stop::Usage(message)) => {
            eprintln!("oneshader: {message}");
            BAD_USAGE
        }
        Err(Stop::Input) => BAD_INPUT,
    })
}

/// Why the command stops.
enum Stop {
    /// A sentence about the command line or the file system.
    Usage(String),
    /// Errors in the input, told already.
    Input,
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

fn run(words: Vec<String>) -> Result<(), Stop> {
    if let Some((name, rest)) = words.split_first()
        && let Some(subcommand) = subcommands::find(name)
    {
        return subcommand(rest);
    }
    let invocation = Invocation::parse(words)?;
    match invocation.ask {
        Some(Ask::Help) => {
            write(None, args::help().as_bytes())?;
            return Ok(());
        }
        Some(Ask::Version) => {
            write(None, concat!("oneshader ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())?;
            return Ok(());
        }
        None => {}
    }
    let reporter = Reporter::new(&invocation);
    for flag in &invocation.ignored {
        reporter.ignored_flag(flag);
    }
    let source = one_input(&invocation)?;
    if invocation.preprocess {
        return preprocess(&invocation, &source, &reporter);
    }
    compile(&invocation, &source, &reporter)
}

/// The only input, read.
fn one_input(invocation: &Invocation) -> Result<Source, Stop> {
    match &invocation.inputs[..] {
        [path] => Ok(read_source(path)?),
        [] => Err(Stop::Usage("no input file; -help shows how to call it".into())),
        [_, second, ..] => Err(Stop::Usage(format!("one input file at a time; {} is the second", second.display()))),
    }
}

fn preprocess(invocation: &Invocation, source: &Source, reporter: &Reporter) -> Result<(), Stop> {
    let preprocessed = oneshader::preprocess(source, &invocation.options).map_err(|f| failed(&f, reporter))?;
    reporter.report(&preprocessed.diagnostics, &preprocessed.sources);
    let target = invocation.preprocessed.as_deref().or(invocation.object.as_deref());
    write(target, preprocessed.text.as_bytes())?;
    Ok(())
}

fn failed(failure: &Failure, reporter: &Reporter) -> Stop {
    reporter.report(&failure.diagnostics, &failure.sources);
    Stop::Input
}

fn compile(invocation: &Invocation, source: &Source, reporter: &Reporter) -> Result<(), Stop> {
    let options = &invocation.options;
    if invocation.depend == Depend::Print && invocation.object.is_none() {
        let preprocessed = oneshader::preprocess(source, options).map_err(|f| failed(&f, reporter))?;
        reporter.report(&preprocessed.diagnostics, &preprocessed.sources);
        return Ok(depfile::write(invocation, source, &[], &preprocessed.includes)?);
    }
    let lowered = oneshader::lower(source, options).map_err(|f| failed(&f, reporter))?;
    if let Some(path) = &invocation.layout {
        write(Some(path), lowered.layout_table(options).as_bytes())?;
    }
    let output = lowered.emit(options).map_err(|f| failed(&f, reporter))?;
    reporter.report(&output.diagnostics, &output.sources);
    let written = output::write_artifacts(invocation, source, &output)?;
    if let Some(path) = &invocation.assembly {
        write(Some(path), output.ir_text().as_bytes())?;
    }
    if let Some(path) = &invocation.reflection {
        let mut json = output.reflection.to_json();
        json.push('\n');
        write(Some(path), json.as_bytes())?;
    }
    if invocation.depend != Depend::None {
        depfile::write(invocation, source, &written, &output.includes)?;
    }
    Ok(())
}
