//! Runs passes.

use crate::pipeline::{Pipeline, Step};
use crate::table::{Pass, Run};
use cranelift_entity::{EntitySet, SecondaryMap};
use oneshader_diag::{DiagnosticBag, Span};
use oneshader_ir::analysis::{Cfg, DomTree};
use oneshader_ir::{Func, Function, IrModule, Name, Type, VerifyReport, verify, verify_function};
use smallvec::SmallVec;

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
    /// The graph of the function being worked on, while it is known.
    graph: Option<Graph>,
    /// Whether calls may be dropped when nobody needs their results, of the callees that were asked about. Functions are
    /// worked on after those they call, so that the answers stay.
    pub(crate) pure: SecondaryMap<Func, Option<bool>>,
}

impl<'a> Cx<'a> {
    /// Of a run that looks at no function yet.
    pub fn new(config: Config, bag: &'a mut DiagnosticBag) -> Self {
        Self { config, bag, graph: None, pure: SecondaryMap::new() }
    }

    /// The next graph asked for is of another function, or of one with other edges.
    pub(crate) fn forget_graph(&mut self) {
        self.graph = None;
    }

    /// The graph of `func`, which passes that keep blocks and edges hand on to each other.
    pub(crate) fn graph(&mut self, func: &Function) -> &Graph {
        let graph = self.graph.get_or_insert_with(|| Graph::new(func));
        debug_assert!(graph.cfg == Cfg::new(func), "a pass changed edges and did not say so");
        graph
    }
}

/// A function's edges and what dominates what.
pub(crate) struct Graph {
    pub cfg: Cfg,
    pub doms: DomTree,
}

impl Graph {
    pub fn new(func: &Function) -> Self {
        let cfg = Cfg::new(func);
        let doms = DomTree::dominators(&cfg);
        Self { cfg, doms }
    }
}

/// Runs `pipeline` over `module`. The error is a broken rule of ours: the verifier's report, with the pass that broke it.
///
/// Passes over functions that follow each other run on one function after the other, callees first, so that a function stays
/// near while it is worked on. Functions that no entry point reaches are left alone by them.
pub fn run(
    module: &mut IrModule,
    pipeline: Pipeline,
    config: Config,
    bag: &mut DiagnosticBag,
) -> Result<(), VerifyReport> {
    let mut cx = Cx::new(config, bag);
    let steps: Vec<Stage> = pipeline.steps.iter().filter_map(Stage::of).collect();
    let mut at = 0;
    while at < steps.len() {
        if let Stage::Module(pass) = steps[at] {
            run_pass(module, pass, &mut cx)?;
            at += 1;
            continue;
        }
        let count = steps[at..].iter().take_while(|s| !matches!(s, Stage::Module(_))).count();
        cx.pure.clear();
        for func in reached(module) {
            Worked::run(module, func, &steps[at..at + count], &mut cx)?;
        }
        at += count;
        if config.verify {
            verify(module, "passes over functions")?;
        }
    }
    Ok(())
}

/// Functions that entry points reach, callees first; all where there is no entry point.
fn reached(module: &IrModule) -> Vec<Func> {
    let mut wanted: EntitySet<Func> = EntitySet::with_capacity(module.functions.len());
    for entry in &module.entry_points {
        module.reach(entry.func, &mut wanted);
    }
    module.functions.keys().filter(|&f| module.entry_points.is_empty() || wanted.contains(f)).collect()
}

/// A step whose passes have been found.
enum Stage {
    Module(&'static Pass),
    Functions(u32, Vec<&'static Pass>),
}

impl Stage {
    /// The table's tests keep passes from being none in standard pipelines.
    fn of(step: &Step) -> Option<Self> {
        let (times, names) = match step {
            Step::Pass(name) => (1, std::slice::from_ref(name)),
            Step::Repeat(times, names) => (*times, *names),
        };
        let passes: Vec<&'static Pass> = names.iter().filter_map(|name| crate::table::find(name)).collect();
        match passes[..] {
            [] => None,
            [only] if matches!(only.run, Run::Module(_)) => Some(Self::Module(only)),
            _ => Some(Self::Functions(times, passes)),
        }
    }
}

/// A function while passes run over it; it is out of the module.
struct Worked {
    id: Func,
    func: Function,
    /// Counts changes.
    version: u32,
    /// Passes and the version that they last found nothing to do in.
    settled: SmallVec<[(&'static str, u32); 16]>,
}

impl Worked {
    fn run(module: &mut IrModule, id: Func, stages: &[Stage], cx: &mut Cx) -> Result<(), VerifyReport> {
        cx.forget_graph();
        let hole = hole(module.functions[id].ret);
        let func = std::mem::replace(&mut module.functions[id], hole);
        let mut this = Self { id, func, version: 0, settled: SmallVec::new() };
        let result = this.stages(module, stages, cx);
        module.functions[id] = this.func;
        result
    }

    fn stages(&mut self, module: &mut IrModule, stages: &[Stage], cx: &mut Cx) -> Result<(), VerifyReport> {
        self.compact(cx);
        for stage in stages {
            let Stage::Functions(times, passes) = stage else { continue };
            for _ in 0..*times {
                let before = self.version;
                for pass in passes {
                    self.pass(module, pass, cx)?;
                }
                if self.version == before {
                    break;
                }
                self.compact(cx);
            }
        }
        Ok(())
    }

    fn pass(&mut self, module: &mut IrModule, pass: &'static Pass, cx: &mut Cx) -> Result<(), VerifyReport> {
        let settled = self.settled.iter().position(|(name, _)| *name == pass.name);
        if settled.is_some_and(|at| self.settled[at].1 == self.version) {
            return Ok(());
        }
        if run_on(module, pass, &mut self.func, cx) {
            self.version += 1;
            if cx.config.verify {
                std::mem::swap(&mut module.functions[self.id], &mut self.func);
                let result = verify_function(module, self.id, pass.name);
                std::mem::swap(&mut module.functions[self.id], &mut self.func);
                return result;
            }
            return Ok(());
        }
        match settled {
            Some(at) => self.settled[at].1 = self.version,
            None => self.settled.push((pass.name, self.version)),
        }
        Ok(())
    }

    /// Numbers a function anew of which less than half lives.
    fn compact(&mut self, cx: &mut Cx) {
        if self.func.insts.len() > 2 * crate::edit::size(&self.func) + 64 {
            self.func.compact();
            cx.forget_graph();
        }
    }
}

/// Runs one pass and tells whether it changed anything.
pub fn run_pass(module: &mut IrModule, pass: &Pass, cx: &mut Cx) -> Result<bool, VerifyReport> {
    let mut changed = false;
    match pass.run {
        Run::Module(run) => changed = run(module, cx),
        Run::Function(_) => {
            cx.pure.clear();
            for index in 0..module.functions.len() {
                cx.forget_graph();
                let id = Func::from_u32(index as u32);
                changed |= with_function(module, id, |module, func| run_on(module, pass, func, cx));
            }
        }
    }
    if changed && cx.config.verify {
        verify(module, pass.name)?;
    }
    Ok(changed)
}

/// Runs a pass over one function, which is out of the module.
fn run_on(module: &mut IrModule, pass: &Pass, func: &mut Function, cx: &mut Cx) -> bool {
    let Run::Function(run) = pass.run else { return false };
    let changed = run(module, func, cx);
    if changed && !pass.keeps_graph {
        cx.forget_graph();
    }
    changed
}

/// What stands in the place of a function that is out of the module.
fn hole(ret: Type) -> Function {
    Function::new(Name::from_u32(0), ret, Span::NONE)
}

/// Takes a function out of the module while `f` changes it.
pub(crate) fn with_function<T>(
    module: &mut IrModule,
    id: Func,
    f: impl FnOnce(&mut IrModule, &mut Function) -> T,
) -> T {
    let hole = hole(module.functions[id].ret);
    let mut func = std::mem::replace(&mut module.functions[id], hole);
    let result = f(module, &mut func);
    module.functions[id] = func;
    result
}
