//! `metal-check run FILE`
use clap::Parser;
use metal_check::run::{Binding, Dispatch, Error, Executor, Value};
use metal_check::{LanguageVersion, Options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Runs a compute kernel of a Metal file on the CPU.
///
/// Memory is given as a file, as `zero:BYTES`, or as values: `u32:1,2,3`, `i32:-1`, `f32:0.5,1`.
///
/// Exit status: 0 if it ran, 1 if the file does not compile or a thread faulted, 2 if nothing could be run.
#[derive(Parser)]
#[command(name = "metal-check run", version)]
struct Arguments {
    /// The file
    file: PathBuf,
    /// The kernel, if the file has several
    #[arg(short, long)]
    kernel: Option<String>,
    /// Threadgroups per grid, as X,Y,Z
    #[arg(short, long, default_value = "1,1,1", value_parser = sizes)]
    groups: [u32; 3],
    /// Threads per threadgroup, as X,Y,Z
    #[arg(short, long, default_value = "1,1,1", value_parser = sizes)]
    threads: [u32; 3],
    /// Threads per grid, if fewer than the threadgroups have room for
    #[arg(long, value_parser = sizes)]
    grid: Option<[u32; 3]>,
    /// Bind memory as buffer N
    #[arg(short, long = "buffer", value_name = "N=MEMORY")]
    buffers: Vec<String>,
    /// Give threadgroup argument N its size
    #[arg(long = "threadgroup", value_name = "N=BYTES")]
    threadgroup: Vec<String>,
    /// Set function constant N: true, false, -1, 7, 0.5
    #[arg(short, long = "constant", value_name = "N=VALUE")]
    constants: Vec<String>,
    /// Write buffer N to a file afterwards
    #[arg(short, long = "out", value_name = "N=FILE")]
    outputs: Vec<String>,
    /// Print buffer N afterwards, as u32, i32 or f32
    #[arg(short, long = "print", value_name = "N=TYPE")]
    prints: Vec<String>,
    /// Lanes of a SIMD-group: 4, 8, 16, 32 or 64
    #[arg(long, default_value_t = 32)]
    simd_width: u32,
    /// Take denormal floats for zero, as GPUs do
    #[arg(long)]
    flush_denormals: bool,
    /// Language version: metal2.4, metal3.0, metal3.1, metal3.2
    #[arg(long = "std", default_value = "metal2.4", value_name = "VERSION")]
    language: LanguageVersion,
    /// Define a macro, as NAME or NAME=VALUE
    #[arg(short = 'D', value_name = "MACRO")]
    defines: Vec<String>,
    /// Search a directory for #include
    #[arg(short = 'I', value_name = "DIR")]
    includes: Vec<PathBuf>,
    /// Seconds after which the dispatch is given up
    #[arg(long, default_value_t = 30)]
    timeout: u64,
}

/// Runs the command with its arguments, the program's name first.
pub(crate) fn main(args: Vec<OsString>) -> ExitCode {
    let args = Arguments::parse_from(args);
    let (status, message) = match run(&args) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => (2, message),
        Err(Failure::Run(e @ Error::Setup(_))) => (2, e.to_string()),
        Err(Failure::Run(e)) => (1, e.to_string()),
    };
    eprintln!("metal-check: {}", message.trim_end());
    ExitCode::from(status)
}

enum Failure {
    Usage(String),
    Run(Error),
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Run(e)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

fn run(args: &Arguments) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&args.file).map_err(|e| format!("{}: {e}", args.file.display()))?;
    let mut constants = BTreeMap::new();
    for given in &args.constants {
        let (index, value) = indexed(given)?;
        constants.insert(index, constant(value)?);
    }
    let dispatch = dispatch(args)?;
    let options = Options {
        version: args.language,
        defines: args.defines.clone(),
        include_dirs: args.includes.clone(),
        ..Options::default()
    };
    let executor = Executor::new(options)?;
    let kernel = executor.compile(&args.file.display().to_string(), &text, args.kernel.as_deref(), &constants)?;
    let outcome = kernel.dispatch(&dispatch)?;
    for note in &outcome.notes {
        eprintln!("metal-check: note: {note}");
    }
    let buffer = |index| outcome.buffer(index).ok_or_else(|| format!("buffer {index} is not bound"));
    for given in &args.outputs {
        let (index, path) = indexed(given)?;
        std::fs::write(path, buffer(index)?).map_err(|e| format!("{path}: {e}"))?;
    }
    for given in &args.prints {
        let (index, ty) = indexed(given)?;
        println!("{}", values(buffer(index)?, ty)?);
    }
    Ok(())
}

fn dispatch(args: &Arguments) -> Result<Dispatch, String> {
    let mut dispatch = Dispatch::new(args.groups, args.threads);
    dispatch.grid = args.grid;
    dispatch.simd_width = args.simd_width;
    dispatch.flush_denormals = args.flush_denormals;
    dispatch.timeout = Duration::from_secs(args.timeout);
    for given in &args.buffers {
        let (index, memory) = indexed(given)?;
        let resource = dispatch.resources.len() as u32;
        dispatch.resources.push(bytes(memory)?);
        dispatch.buffers.push(Binding { index, resource, offset: 0 });
    }
    for given in &args.threadgroup {
        let (index, size) = indexed(given)?;
        dispatch.threadgroup_memory.push((index, size.parse().map_err(|_| format!("'{given}': not a size"))?));
    }
    Ok(dispatch)
}

/// `X`, `X,Y` or `X,Y,Z`; what is missing is 1.
fn sizes(text: &str) -> Result<[u32; 3], String> {
    let mut out = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("more than three sizes".to_owned());
    }
    for (size, part) in out.iter_mut().zip(parts) {
        *size = part.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("'{part}' is not a size"))?;
    }
    Ok(out)
}

/// `N=REST`
fn indexed(text: &str) -> Result<(u32, &str), String> {
    let (index, rest) = text.split_once('=').ok_or_else(|| format!("'{text}': N=... is needed"))?;
    Ok((index.parse().map_err(|_| format!("'{text}': '{index}' is not an index"))?, rest))
}

fn constant(text: &str) -> Result<Value, String> {
    if let Ok(v) = text.parse() {
        return Ok(Value::Bool(v));
    }
    if let Ok(v) = text.parse() {
        return Ok(Value::Uint(v));
    }
    if let Ok(v) = text.parse() {
        return Ok(Value::Int(v));
    }
    text.parse().map(Value::Float).map_err(|_| format!("'{text}' is not a value"))
}

fn bytes(memory: &str) -> Result<Vec<u8>, String> {
    fn each<const N: usize>(list: &str, one: impl Fn(&str) -> Option<[u8; N]>) -> Result<Vec<u8>, String> {
        let parts = list.split(',').map(|p| one(p.trim()).ok_or_else(|| format!("'{p}' is not a value")));
        Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
    }
    match memory.split_once(':') {
        Some(("zero", size)) => Ok(vec![0; size.parse().map_err(|_| format!("'{size}' is not a size"))?]),
        Some(("u32", list)) => each(list, |p| p.parse().ok().map(u32::to_le_bytes)),
        Some(("i32", list)) => each(list, |p| p.parse().ok().map(i32::to_le_bytes)),
        Some(("f32", list)) => each(list, |p| p.parse().ok().map(f32::to_le_bytes)),
        _ => std::fs::read(memory).map_err(|e| format!("{memory}: {e}")),
    }
}

fn values(bytes: &[u8], ty: &str) -> Result<String, String> {
    let words = bytes.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]);
    let list: Vec<String> = match ty {
        "u32" => words.map(|w| u32::from_le_bytes(w).to_string()).collect(),
        "i32" => words.map(|w| i32::from_le_bytes(w).to_string()).collect(),
        "f32" => words.map(|w| f32::from_le_bytes(w).to_string()).collect(),
        _ => return Err(format!("'{ty}' is not one of u32, i32, f32")),
    };
    Ok(list.join(" "))
}
