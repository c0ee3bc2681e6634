//! Runs passes.

use crate::pipeline::{Pipeline, Step};
use crate::table::{Pass, Run};
use oneshader_diag::{DiagnosticBag, Span};
use oneshader_ir::{Func, Function, IrModule, Name, VerifyReport, verify};

/// How much to optimize.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OptLevel {
    /// Only what every target needs (`-O0`, `-Od`).
    O0,
    /// Cleanup that keeps the shape a person wrote; the default for Metal.
    O1,
    /// Everything; the default for SPIR-V.
    O3,
}

impl OptLevel {
    /// Its pipeline.
    pub fn pipeline(self) -> Pipeline {
        match self {
            Self::O0 => Pipeline::LEGAL,
            Self::O1 => Pipeline::CLEANUP,
            Self::O3 => Pipeline::FULL,
        }
    }
}

/// Optimizes `module`. Errors in the shader go to `bag`.
///
/// # Errors
/// A broken rule of ours: the verifier's report, with the pass that broke it.
pub fn optimize(module: &mut IrModule, level: OptLevel, bag: &mut DiagnosticBag) -> Result<(), VerifyReport> {
    run(module, level.pipeline(), Config::default(), bag)
}

/// What the caller decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Instructions that unrolling and inlining may add to a function, in all.
    pub growth: usize,
    /// Whether the verifier looks at the module after every pass that changed it.
    pub verify: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { growth: 200_000, verify: cfg!(debug_assertions) }
    }
}

/// What a pass has at hand besides the module.
pub struct Cx<'a> {
    /// What the caller decides.
    pub config: Config,
    /// Where errors in the shader go that only a pass can see.
    pub bag: &'a mut DiagnosticBag,
}

/// Runs `pipeline` over `module`. The error is a broken rule of ours: the verifier's report, with the pass that broke it.
pub fn run(
    module: &mut IrModule,
    pipeline: Pipeline,
    config: Config,
    bag: &mut DiagnosticBag,
) -> Result<(), VerifyReport> {
    let mut cx = Cx { config, bag };
    for step in pipeline.steps {
        match step {
            Step::Pass(name) => {
                run_named(module, name, &mut cx)?;
            }
            Step::Repeat(times, names) => {
                for _ in 0..*times {
                    let mut changed = false;
                    for name in *names {
                        changed |= run_named(module, name, &mut cx)?;
                    }
                    if !changed {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

fn run_named(module: &mut IrModule, name: &str, cx: &mut Cx) -> Result<bool, VerifyReport> {
    match crate::table::find(name) {
        Some(pass) => run_pass(module, pass, cx),
        // The table's tests keep this from happening in standard pipelines.
        None => Ok(false),
    }
}

/// Runs one pass and tells whether it changed anything.
pub fn run_pass(module: &mut IrModule, pass: &Pass, cx: &mut Cx) -> Result<bool, VerifyReport> {
    let changed = match pass.run {
        Run::Module(run) => run(module, cx),
        Run::Function(run) => {
            let mut changed = false;
            for index in 0..module.functions.len() {
                changed |= with_function(module, Func::from_u32(index as u32), |module, func| run(module, func, cx));
            }
            changed
        }
    };
    if changed && cx.config.verify {
        verify(module, pass.name)?;
    }
    Ok(changed)
}

/// Takes a function out of the module while `f` changes it.
pub(crate) fn with_function<T>(
    module: &mut IrModule,
    id: Func,
    f: impl FnOnce(&mut IrModule, &mut Function) -> T,
) -> T {
    let hole = Function::new(Name::from_u32(0), module.functions[id].ret, Span::NONE);
    let mut func = std::mem::replace(&mut module.functions[id], hole);
    let result = f(module, &mut func);
    module.functions[id] = func;
    result
}
