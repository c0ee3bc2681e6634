//! Runs compute kernels on the CPU.
//!
//! A kernel is compiled by clang to a program of its own, so that what goes wrong in it, crashes and endless loops
//! included, stays there. Threadgroups run one after the other; each thread is a fiber that runs until it waits: at a
//! barrier for its threadgroup, at a SIMD-group or quad-group function for the lanes that reach the same place (see
//! `lanes`). Arithmetic is IEEE 754 without contraction, `half` rounds after each operation, signed integers wrap.
//! Variables and threadgroup memory begin as a pattern, not as zero. An access outside a buffer, or outside a variable,
//! ends the dispatch with a [`Fault`].
//!
//! ```
//! use metal_check::run::{Dispatch, Executor};
//! let executor = Executor::new(Default::default())?;
//! let text = "#include <metal_stdlib>\nkernel void twice(device uint* p [[buffer(0)]], uint i [[thread_position_in_grid]]) { p[i] *= 2; }";
//! let kernel = executor.compile("twice.metal", text, None, &Default::default())?;
//! let done = kernel.dispatch(&Dispatch::new([1, 1, 1], [4, 1, 1]).with_buffer(0, [1u32, 2, 3, 4].map(u32::to_le_bytes).concat()))?;
//! assert_eq!(done.buffer(0), Some(&*[2u32, 4, 6, 8].map(u32::to_le_bytes).concat()));
//! # Ok::<(), metal_check::run::Error>(())
//! ```
mod glue;
pub(crate) mod lanes;
mod textures;
mod wire;

pub use textures::{AddressMode, BorderColor, Compare, Element, Filter, MipFilter, Sampler, Texture};

use crate::check::{Report, read_diagnostics};
use crate::clang::{self, Clang, Purpose};
use crate::preprocess::preprocess;
use crate::process::{self, Failure};
use crate::rewrite::{RewriteOptions, rewrite};
use crate::{Finding, Options, Origin};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The program around a kernel, in C.
pub(crate) const RUNTIME: &str = concat!(include_str!("runtime.c"), include_str!("textures.c"), include_str!("main.c"));

/// The value of a function constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `bool`
    Bool(bool),
    /// `int` and smaller signed integers
    Int(i32),
    /// `uint` and smaller unsigned integers
    Uint(u32),
    /// `float` and `half`
    Float(f32),
}

/// What an argument of a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A pointer or reference to `device` or `constant` memory.
    Buffer,
    /// A pointer or reference to `threadgroup` memory, whose size the dispatch gives.
    Threadgroup,
    /// A texture.
    Texture,
    /// A sampler.
    Sampler,
}

/// An argument that the dispatch must bind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// What it is.
    pub kind: ArgumentKind,
    /// Its index among those of its kind: the first, if it is an array.
    pub index: u32,
    /// How many indices it takes.
    pub count: u32,
}

/// Part of a resource bound as a buffer argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// The kernel's `[[buffer(index)]]`.
    pub index: u32,
    /// Index into [`Dispatch::resources`].
    pub resource: u32,
    /// Where the argument begins, in bytes.
    pub offset: u64,
}

/// An address written into a resource before the dispatch: a device pointer in an argument structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The resource written to: index into [`Dispatch::resources`].
    pub resource: u32,
    /// Where the 8 bytes go.
    pub at: u64,
    /// The resource pointed at.
    pub target: u32,
    /// Where in it, in bytes.
    pub offset: u64,
}

/// A dispatch: sizes, memory and what it is bound to.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// Threadgroups per grid.
    pub groups: [u32; 3],
    /// Threads per threadgroup.
    pub threads: [u32; 3],
    /// Threads per grid, if the last threadgroups are to be smaller; else `groups` times `threads`.
    pub grid: Option<[u32; 3]>,
    /// Lanes of a SIMD-group: 4, 8, 16, 32 or 64.
    pub simd_width: u32,
    /// Whether denormal `float`s are taken for zero and never made, as Metal allows (MSL 8.1) and Direct3D asks for.
    pub flush_denormals: bool,
    /// Memory, as it is before the dispatch.
    pub resources: Vec<Vec<u8>>,
    /// Resources bound as buffers.
    pub buffers: Vec<Binding>,
    /// Index and size in bytes of `[[threadgroup(index)]]` arguments.
    pub threadgroup_memory: Vec<(u32, u32)>,
    /// Addresses to write into resources.
    pub addresses: Vec<Address>,
    /// Index and contents of textures, up to 1024. In an argument structure or a table of handles a texture is the 8-byte
    /// number [`texture_handle`]; indices from 128 on serve those that no argument takes.
    pub textures: Vec<(u32, Texture)>,
    /// Index and state of samplers.
    pub samplers: Vec<(u32, Sampler)>,
    /// Time limit.
    pub timeout: Duration,
}

impl Dispatch {
    /// A dispatch of `groups` threadgroups of `threads` threads, with nothing bound, SIMD-groups of 32.
    pub fn new(groups: [u32; 3], threads: [u32; 3]) -> Self {
        Self {
            groups,
            threads,
            grid: None,
            simd_width: 32,
            flush_denormals: false,
            resources: Vec::new(),
            buffers: Vec::new(),
            threadgroup_memory: Vec::new(),
            addresses: Vec::new(),
            textures: Vec::new(),
            samplers: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }

    /// Adds a resource with these bytes and binds all of it.
    pub fn with_buffer(mut self, index: u32, bytes: impl Into<Vec<u8>>) -> Self {
        let resource = self.resources.len() as u32;
        self.resources.push(bytes.into());
        self.buffers.push(Binding { index, resource, offset: 0 });
        self
    }

    /// Adds a texture.
    pub fn with_texture(mut self, index: u32, texture: Texture) -> Self {
        self.textures.push((index, texture));
        self
    }

    /// Adds a sampler.
    pub fn with_sampler(mut self, index: u32, sampler: Sampler) -> Self {
        self.samplers.push((index, sampler));
        self
    }

    /// Whether every texture has as many texels as its sizes say.
    fn check_textures(&self) -> Result<(), Error> {
        match self.textures.iter().find(|(_, t)| t.texels.len() != t.count()) {
            Some((index, t)) => {
                let why = format!("texture {index} has {} texels, not {}", t.texels.len(), t.count());
                Err(Error::Fault(Fault { kind: FaultKind::BadDispatch(why), position: [0; 3] }))
            }
            None => Ok(()),
        }
    }

    fn grid_size(&self) -> [u32; 3] {
        self.grid.unwrap_or_else(|| [0, 1, 2].map(|k| self.groups[k].saturating_mul(self.threads[k])))
    }
}

/// The eight bytes that stand in an argument structure or a table of handles for the texture at `index` of
/// [`Dispatch::textures`].
pub fn texture_handle(index: u32) -> u64 {
    u64::from(index) + 1
}

/// What a dispatch left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Memory after the dispatch, in the order of [`Dispatch::resources`].
    pub resources: Vec<Vec<u8>>,
    /// Textures after the dispatch, in the order of [`Dispatch::textures`].
    pub textures: Vec<Texture>,
    /// What Metal leaves undefined and happened: barriers that not all threads reach.
    pub notes: Vec<String>,
    bindings: Vec<Binding>,
}

impl Outcome {
    /// The bytes of the resource bound as buffer `index`.
    pub fn buffer(&self, index: u32) -> Option<&[u8]> {
        let binding = self.bindings.iter().find(|b| b.index == index)?;
        self.resources.get(binding.resource as usize)?.get(binding.offset as usize..)
    }
}

/// What was accessed outside its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The buffer argument with this index.
    Buffer(u32),
    /// The threadgroup argument with this index.
    Threadgroup(u32),
    /// A resource that is not bound, reached through its address.
    Resource(u32),
}

/// What a thread did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside a buffer.
    OutOfBounds {
        /// Which one.
        slot: Slot,
        /// Where the access begins, in bytes from the start of the argument.
        offset: i64,
        /// Bytes accessed.
        size: u32,
        /// Whether it was a write.
        write: bool,
        /// Bytes there are.
        length: u64,
    },
    /// An access outside a threadgroup variable or constant of the kernel.
    OutsideVariable {
        /// Its name.
        name: String,
        /// Where the access begins, in bytes from its start.
        offset: i64,
        /// Bytes accessed.
        size: u32,
        /// Whether it was a write.
        write: bool,
        /// Bytes there are.
        length: u64,
    },
    /// A texture that is not bound.
    NoTexture,
    /// An access where nothing is: through an argument that is not bound, or a stray pointer.
    Nowhere {
        /// The address.
        address: u64,
    },
    /// An integer division by zero, or of the least number by -1.
    DivisionByZero,
    /// The thread's stack, of 256 KiB, is too small.
    StackOverflow,
    /// Clang found that the program cannot go on here.
    Trap {
        /// The signal.
        signal: i32,
    },
    /// The dispatch makes no sense.
    BadDispatch(String),
}

/// A thread did something that has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Its position in the grid.
    pub position: [u32; 3],
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer(n) => write!(f, "buffer {n}"),
            Self::Threadgroup(n) => write!(f, "threadgroup memory {n}"),
            Self::Resource(n) => write!(f, "resource {n}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = |write: &bool| if *write { "write" } else { "read" };
        match &self.kind {
            FaultKind::OutOfBounds { slot, offset, size, write, length } => {
                write!(f, "{slot}: {} of {size} bytes at offset {offset}, outside its {length} bytes", access(write))?;
            }
            FaultKind::OutsideVariable { name, offset, size, write, length } => {
                write!(
                    f,
                    "variable '{name}': {} of {size} bytes at offset {offset}, outside its {length} bytes",
                    access(write)
                )?;
            }
            FaultKind::Nowhere { address } => write!(f, "access at address {address:#x}, where nothing is bound")?,
            FaultKind::NoTexture => f.write_str("use of a texture that is not bound")?,
            FaultKind::DivisionByZero => f.write_str("integer division by zero")?,
            FaultKind::StackOverflow => f.write_str("stack overflow")?,
            FaultKind::Trap { signal } => write!(f, "trap (signal {signal})")?,
            FaultKind::BadDispatch(why) => return f.write_str(why),
        }
        let [x, y, z] = self.position;
        write!(f, " (thread {x}, {y}, {z})")
    }
}

/// Why a kernel has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something about this machine.
    #[error(transparent)]
    Setup(#[from] crate::Error),
    /// The text does not compile.
    #[error("{0}")]
    Compile(Report),
    /// The text has no such kernel, or several and none was named.
    #[error("{}; kernels: {}", match wanted { Some(n) => format!("no kernel '{n}'"), None => "name a kernel".to_owned() }, available.join(", "))]
    NoKernel {
        /// The name asked for.
        wanted: Option<String>,
        /// The kernels there are.
        available: Vec<String>,
    },
    /// The executor has no way to make an argument.
    #[error("not executed: {0}")]
    Unsupported(String),
    /// A thread did something that has no result.
    #[error("{0}")]
    Fault(Fault),
    /// The dispatch ran past its time limit.
    #[error("the dispatch took longer than {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The program ended without an answer.
    #[error("the dispatch died: {0}")]
    Died(String),
}

/// Compiles kernels to programs.
#[derive(Debug, Clone)]
pub struct Executor {
    options: Options,
    clang: Clang,
    runtime: PathBuf,
}

impl Executor {
    /// Finds clang and prepares headers and runtime.
    ///
    /// # Errors
    /// As [`crate::Checker::new`].
    pub fn new(options: Options) -> Result<Self, Error> {
        let clang = Clang::new(options.clang.as_deref(), options.cache.as_deref(), options.version)?;
        clang.precompiled(Purpose::Execute)?;
        let runtime = clang.runtime()?;
        Ok(Self { options, clang, runtime })
    }

    /// Compiles the kernel `entry` of `text`, or its only one. `name` is the path the text stands for.
    ///
    /// # Errors
    /// The text does not compile, has no such kernel, or the kernel has arguments that are not executed.
    pub fn compile(
        &self,
        name: &str,
        text: &str,
        entry: Option<&str>,
        constants: &BTreeMap<u32, Value>,
    ) -> Result<Kernel, Error> {
        let report = |findings| Error::Compile(Report { name: name.to_owned(), findings });
        let source = preprocess(&self.clang, &self.options, name, text)?.map_err(|refusals| {
            report(refusals.into_iter().map(|r| Finding::new(Origin::Compiler, r.place, r.message)).collect())
        })?;
        let glue = glue::glue(&source.text, entry)?;
        let rewritten = rewrite(&source.text, RewriteOptions { lanes: true });
        let directory = WorkDirectory::new()?;
        let object = directory.0.join("kernel.o");
        let values = directory.0.join("constants.h");
        std::fs::write(&values, glue::constants(constants)).map_err(|e| crate::Error::io(&values, e))?;
        let mut command = self.clang.command(Purpose::Execute)?;
        command.arg("-include").arg(&values);
        command.args(["-Wno-global-constructors", "-c", "-o"]).arg(&object).arg("-");
        let whole = format!("{}{}", rewritten.text, glue.text);
        let done = clang::run(&mut command, whole.as_bytes(), self.options.timeout)?;
        if !done.status.success() {
            let mut findings = read_diagnostics(&done.stderr, &source, &rewritten);
            if findings.is_empty() {
                findings.push(Finding::nowhere(format!("clang failed: {}", done.stderr.trim())));
            }
            return Err(report(findings));
        }
        let program = directory.0.join("kernel");
        let mut link = self.clang.plain();
        link.arg(&object).arg(&self.runtime).args(["-lm", "-o"]).arg(&program);
        let done = clang::run(&mut link, &[], self.options.timeout)?;
        if !done.status.success() {
            return Err(match undefined(&done.stderr) {
                Some(function) => Error::Unsupported(format!("function '{function}'")),
                None => report(vec![Finding::nowhere(format!("cannot link: {}", done.stderr.trim()))]),
            });
        }
        Ok(Kernel { name: glue.name, arguments: glue.arguments, program, _directory: directory })
    }
}

/// Reads `text` as the executor does before clang sees it.
#[cfg(test)]
pub(crate) fn survive(text: &str) -> bool {
    glue::glue(text, None).is_ok()
}

/// The function that a linker's message misses.
fn undefined(stderr: &str) -> Option<&str> {
    stderr.lines().find_map(|l| l.split("undefined reference to `").nth(1)?.split('\'').next())
}

/// A compiled kernel. It may be dispatched many times, from several threads.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    arguments: Vec<Argument>,
    program: PathBuf,
    _directory: WorkDirectory,
}

impl Kernel {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments a dispatch must bind, in the order of parameters.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Runs a dispatch in a process of its own.
    ///
    /// # Errors
    /// A thread faulted, or the time limit was passed.
    pub fn dispatch(&self, dispatch: &Dispatch) -> Result<Outcome, Error> {
        dispatch.check_textures()?;
        let mut command = Command::new(&self.program);
        let done = process::run(&mut command, &wire::encode(dispatch), dispatch.timeout).map_err(|f| match f {
            Failure::Start(e) => Error::Setup(crate::Error::io(&self.program, e)),
            Failure::Timeout => Error::Timeout(dispatch.timeout),
        })?;
        match wire::decode(dispatch, &done.stdout) {
            Some(wire::Answer::Done { resources, textures, notes }) => {
                Ok(Outcome { resources, textures, notes, bindings: dispatch.buffers.clone() })
            }
            Some(wire::Answer::Fault(fault)) => Err(Error::Fault(fault)),
            None => Err(Error::Died(format!("{}; {}", done.status, done.stderr.trim()))),
        }
    }
}

/// A directory that is removed with its contents.
#[derive(Debug)]
struct WorkDirectory(PathBuf);

impl WorkDirectory {
    fn new() -> Result<Self, crate::Error> {
        let path = std::env::temp_dir().join(clang::unique_name("metal-check-run"));
        std::fs::create_dir_all(&path).map_err(|e| crate::Error::io(&path, e))?;
        Ok(Self(path))
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
