//! From a module of the IR to words.

use crate::caps;
use crate::cx::Cx;
use crate::extension::permitted;
use crate::func::Instance;
use crate::intrinsic::{is_derivative, is_of_quad, root_of};
use crate::module::Module;
use crate::options::SpirvOptions;
use crate::resource::Which;
use oneshader_diag::{Diagnostic, DiagnosticBag, SourceMap, Span, codes};
use oneshader_ir::layout::{LayoutOptions, Layouts};
use oneshader_ir::slots::Slots;
use oneshader_ir::{
    EntryPoint, Global, GlobalKind, Intrinsic, IrModule, Op as IrOp, Stage, TextureOp, TextureOperands, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use spirv::{Capability, ExecutionModel, Op, SourceLanguage};
use std::collections::BTreeSet;

/// What an entry point and the functions it reaches make use of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// Module-scope variables, in order of declaration.
    pub globals: BTreeSet<Global>,
    /// Of those, the ones used in another way than by stores of the whole.
    pub parts: FxHashSet<Global>,
    /// Pixel inputs of which the value at a vertex is asked for.
    pub per_vertex: FxHashSet<Global>,
    /// A rasterizer-ordered resource.
    pub ordered: bool,
    /// Derivatives in a compute shader, explicit or of a sample.
    pub derivatives: bool,
}

impl Usage {
    fn new(ir: &IrModule, entry: &EntryPoint) -> Self {
        let mut usage = Self::default();
        // Where quads are two by two threads, reads across them say so too; rows of two make such quads by themselves.
        let squares = matches!(entry.threads, [x, y, _] if x > 2 && x % 2 == 0 && y % 2 == 0);
        for f in ir.reachable(entry.func) {
            let func = &ir.functions[f];
            for (_, _, data) in func.live_insts() {
                let whole = usize::from(data.op == IrOp::Store);
                for (i, &arg) in data.args.iter().enumerate() {
                    if let ValueDef::Global(global) = func.values[arg].def {
                        usage.globals.insert(global);
                        if i >= whole {
                            usage.parts.insert(global);
                        }
                    }
                }
                if data.op == IrOp::Intrinsic(Intrinsic::AttributeAtVertex) {
                    usage.per_vertex.extend(root_of(func, data.args[0]).map(|(global, _)| global));
                }
                usage.derivatives |= match data.op {
                    IrOp::Intrinsic(intrinsic) => is_derivative(intrinsic) || squares && is_of_quad(intrinsic),
                    IrOp::Texture(TextureOp::Sample, with) => {
                        !with.intersects(TextureOperands::LEVEL | TextureOperands::GRAD)
                    }
                    IrOp::Texture(TextureOp::Lod | TextureOp::LodUnclamped, _) => true,
                    _ => false,
                };
            }
        }
        usage.derivatives &= entry.stage == Stage::Compute;
        usage.ordered = entry.stage == Stage::Pixel
            && usage
                .globals
                .iter()
                .any(|&g| matches!(&ir.globals[g].kind, GlobalKind::Resource(r) if r.rasterizer_ordered));
        usage
    }
}

/// What is decided below the backends, once for all targets.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// Bytes of everything behind a resource.
    pub layouts: &'a Layouts,
    /// The rules those follow.
    pub rules: &'a LayoutOptions,
    /// Descriptors.
    pub slots: &'a Slots,
}

/// Emits SPIR-V.
#[derive(Clone, Copy, Debug)]
pub struct SpirvBackend<'a> {
    module: &'a IrModule,
    tables: Tables<'a>,
    options: &'a SpirvOptions,
    sources: Option<&'a SourceMap>,
}

/// Which entry points to emit.
#[derive(Clone, Copy, Debug)]
pub enum Entries<'a> {
    /// One, by name.
    One(&'a str),
    /// All of the module, in order of declaration.
    All,
}

impl<'a> SpirvBackend<'a> {
    /// A backend for a module that the verifier accepts and whose handles are resolved
    /// ([`Properties::HANDLES_RESOLVED`](oneshader_ir::Properties::HANDLES_RESOLVED)).
    pub fn new(module: &'a IrModule, tables: Tables<'a>, options: &'a SpirvOptions) -> Self {
        Self { module, tables, options, sources: None }
    }

    /// Gives the sources, which [`SpirvOptions::lines`] needs.
    #[must_use]
    pub fn with_sources(mut self, sources: &'a SourceMap) -> Self {
        self.sources = Some(sources);
        self
    }

    /// The words of one SPIR-V module with the entry points asked for. `None` when an error was reported: a construct
    /// Vulkan's SPIR-V cannot say, or no such entry point. The same input gives the same words.
    pub fn emit(&self, entries: Entries<'_>, bag: &mut DiagnosticBag) -> Option<Vec<u32>> {
        let ir = self.module;
        let list: Vec<&EntryPoint> = match entries {
            Entries::All => ir.entry_points.iter().collect(),
            Entries::One(name) => ir.entry_point(name).into_iter().collect(),
        };
        let Some(&first) = list.first() else {
            let what = match entries {
                Entries::One(name) => format!("there is no entry point `{name}`"),
                Entries::All => String::from("the module has no entry points"),
            };
            bag.report(codes::SPIRV_UNSUPPORTED, Span::NONE, what);
            return None;
        };
        let vulkan_memory =
            ir.inlines.values().any(|inline| inline.capabilities.contains(&(Capability::VulkanMemoryModel as u32)));
        let mut cx = Cx {
            ir,
            opts: self.options,
            layouts: self.tables.layouts,
            rules: self.tables.rules,
            slots: self.tables.slots,
            sources: self.sources,
            bag,
            failed: false,
            m: Module::new(),
            unique: FxHashMap::default(),
            structs: FxHashMap::default(),
            bools: FxHashMap::default(),
            glsl: None,
            strings: FxHashMap::default(),
            sets: FxHashMap::default(),
            asked: Default::default(),
            vulkan_memory,
            coherent: vulkan_memory
                && ir.globals.values().any(|g| matches!(&g.kind, GlobalKind::Resource(r) if r.coherent)),
            modes: Vec::new(),
            files: FxHashMap::default(),
            resources: FxHashMap::default(),
            variables: FxHashMap::default(),
            io: FxHashMap::default(),
            builtins: FxHashMap::default(),
            specs: FxHashMap::default(),
            instances: FxHashMap::default(),
            queue: Vec::new(),
            helpers: FxHashMap::default(),
            blocks: FxHashMap::default(),
            interface: BTreeSet::new(),
            usage: Usage::default(),
            entry: first,
        };
        let single = list.len() == 1;
        for entry in list {
            cx.entry_point(entry, single);
        }
        if cx.failed {
            return None;
        }
        if self.options.source_version != 0 {
            cx.m.sources.inst(Op::Source, &[SourceLanguage::HLSL as u32, self.options.source_version]);
        }
        let needs = caps::needs(&cx.m, self.options.target);
        let (mut capabilities, asked) = std::mem::take(&mut cx.asked);
        capabilities.extend(needs.capabilities.iter().map(|&c| c as u32));
        let mut model = None;
        if vulkan_memory {
            // The second is for atomics and barriers of the device's scope.
            let both = [Capability::VulkanMemoryModel, Capability::VulkanMemoryModelDeviceScope];
            capabilities.extend(both.map(|c| c as u32));
            model = (self.options.target.version() < (1, 5)).then_some("SPV_KHR_vulkan_memory_model");
        }
        let mut extensions = BTreeSet::new();
        for name in needs.extensions.iter().copied().chain(asked.iter().map(|name| &**name)).chain(model) {
            match permitted(&self.options.extensions, name) {
                Some(name) => {
                    extensions.insert(name.to_owned());
                }
                None => {
                    let message =
                        format!("`{}` needs {name}, which -fspv-extension does not allow", ir.names.get(first.name));
                    let d = Diagnostic::new(codes::SPIRV_EXTENSION, first.span, message);
                    cx.bag.push(d.help(format!("allow it with -fspv-extension={name}, or leave out what needs it")));
                    cx.failed = true;
                }
            }
        }
        if cx.failed {
            return None;
        }
        Some(cx.m.finish(self.options.target.version(), &capabilities, &extensions))
    }
}

impl<'a> Cx<'a> {
    fn entry_point(&mut self, entry: &'a EntryPoint, single: bool) {
        self.entry = entry;
        self.usage = Usage::new(self.ir, entry);
        self.io.clear();
        self.builtins.clear();
        self.instances.clear();
        self.interface.clear();
        // Variables in order of declaration, whatever the order of use.
        let ir = self.ir;
        for global in self.usage.globals.clone() {
            match &ir.globals[global].kind {
                // Of an array that is flattened, elements are declared as they are used; the sampler of a combined image
                // sampler is declared when another image is sampled with it.
                GlobalKind::Resource(_)
                    if !self.opts.flatten_arrays && !self.is_combined_sampler(Which::new(global)) =>
                {
                    self.resource(Which::new(global));
                }
                GlobalKind::Io(_) => {
                    self.io_info(global);
                }
                GlobalKind::Resource(_) | GlobalKind::Variable => {}
            }
        }
        let id = self.instance(Instance { func: entry.func, handles: SmallVec::new() });
        while let Some(instance) = self.queue.pop() {
            let id = self.instances[&instance];
            self.emit_function(&instance, id);
        }
        let model = match entry.stage {
            Stage::Vertex => ExecutionModel::Vertex,
            Stage::Pixel => ExecutionModel::Fragment,
            Stage::Compute => ExecutionModel::GLCompute,
        };
        let name = match &self.opts.entry_name {
            Some(name) if single => name,
            _ => ir.names.get(entry.name),
        };
        let interface: Vec<u32> = self.interface.iter().copied().collect();
        self.m.entry_points.inst_str(Op::EntryPoint, &[model as u32, id], name, &interface);
        self.execution_modes(id);
        for (mode, op, words) in std::mem::take(&mut self.modes) {
            let stated = self.m.modes.iter().any(|(_, words)| words.starts_with(&[id, mode as u32]));
            if !stated {
                let mut all = vec![id];
                all.extend(words);
                self.m.modes.inst(op, &all);
            }
        }
    }
}
