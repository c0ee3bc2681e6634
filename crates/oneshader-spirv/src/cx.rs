//! What the emission of a whole module shares.

use crate::func::Instance;
use crate::io::IoInfo;
use crate::memory::Mem;
use crate::module::Module;
use crate::options::SpirvOptions;
use crate::resource::{ResourceKey, ResourceSlot};
use oneshader_diag::{Code, DiagnosticBag, FileId, SourceMap, Span, codes};
use oneshader_ir::layout::{LayoutOptions, Layouts};
use oneshader_ir::slots::Slots;
use oneshader_ir::{EntryPoint, Global, IrModule, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::{ExecutionMode, Op, StorageClass};
use std::collections::BTreeSet;

/// Words that make a type or constant unique: opcode, extra key, operands.
type UniqueKey = SmallVec<[u32; 8]>;

/// The state of one emission.
pub(crate) struct Cx<'a> {
    pub ir: &'a IrModule,
    pub opts: &'a SpirvOptions,
    pub layouts: &'a Layouts,
    pub rules: &'a LayoutOptions,
    pub slots: &'a Slots,
    pub sources: Option<&'a SourceMap>,
    pub bag: &'a mut DiagnosticBag,
    /// An error was reported; the words are not to be used.
    pub failed: bool,
    pub m: Module,
    pub unique: FxHashMap<UniqueKey, u32>,
    /// Structures by type, memory and whether they are a block.
    pub structs: FxHashMap<(Type, Mem, bool), u32>,
    /// Types that hold a `bool`, as far as asked.
    pub bools: FxHashMap<Type, bool>,
    pub glsl: Option<u32>,
    /// Other instruction sets, by name.
    pub sets: FxHashMap<String, u32>,
    /// `OpString`s of formats.
    pub strings: FxHashMap<oneshader_ir::Name, u32>,
    /// Capabilities and extensions that the program asks for.
    pub asked: (BTreeSet<u32>, BTreeSet<String>),
    /// The program asks for the Vulkan memory model: accesses that other invocations see say so themselves.
    pub vulkan_memory: bool,
    /// In that model: some resource is `globallycoherent`, so every access to a buffer or image is.
    pub coherent: bool,
    /// Execution modes that the program asks for in what the entry point at hand reaches: instruction and its words behind
    /// the entry point.
    pub modes: Vec<(ExecutionMode, Op, Vec<u32>)>,
    pub files: FxHashMap<FileId, u32>,
    /// Variables of resources.
    pub resources: FxHashMap<ResourceKey, ResourceSlot>,
    /// Variables of the spaces private and workgroup.
    pub variables: FxHashMap<Global, u32>,
    /// Stage inputs and outputs of the entry point at hand.
    pub io: FxHashMap<Global, IoInfo>,
    /// Built-in variables shared by stage inputs of the entry point at hand: (built-in, output).
    pub builtins: FxHashMap<(u32, bool), u32>,
    /// Specialization constants.
    pub specs: FxHashMap<oneshader_ir::SpecId, u32>,
    /// Functions of the entry point at hand, by what they are called with.
    pub instances: FxHashMap<Instance, u32>,
    /// Functions called and not yet emitted.
    pub queue: Vec<Instance>,
    /// Functions of our own making.
    pub helpers: FxHashMap<crate::wave::Helper, u32>,
    /// Blocks of buffers.
    pub blocks: FxHashMap<crate::resource::BlockKey, u32>,
    /// Variables the entry point at hand refers to.
    pub interface: BTreeSet<u32>,
    /// What the entry point at hand makes use of.
    pub usage: crate::emit::Usage,
    /// The entry point at hand.
    pub entry: &'a EntryPoint,
}

impl Cx<'_> {
    /// Reports an error.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.failed = true;
        self.bag.report(code, span, message);
    }

    /// Reports a construct that SPIR-V cannot say.
    pub fn unsupported(&mut self, span: Span, message: impl Into<String>) {
        self.error(codes::SPIRV_UNSUPPORTED, span, message);
    }

    /// Reports IR that breaks its own rules.
    pub fn internal(&mut self, span: Span, message: impl Into<String>) {
        self.error(codes::INTERNAL, span, message);
    }

    /// A type, or a constant without a type, that exists once: `op id operands`.
    pub fn unique_type(&mut self, op: Op, operands: &[u32]) -> u32 {
        self.unique_by(op, u32::MAX, operands).0
    }

    /// The same, which exists once for each `mark`; tells whether it is new.
    pub fn unique_by(&mut self, op: Op, mark: u32, operands: &[u32]) -> (u32, bool) {
        let mut key: UniqueKey = SmallVec::from_slice(&[op as u32, mark]);
        key.extend_from_slice(operands);
        if let Some(&id) = self.unique.get(&key) {
            return (id, false);
        }
        let id = self.m.id();
        let mut words = vec![id];
        words.extend_from_slice(operands);
        self.m.globals.inst(op, &words);
        self.unique.insert(key, id);
        (id, true)
    }

    /// A constant that exists once: `op ty id operands`.
    pub fn unique_const(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let mut key: UniqueKey = SmallVec::from_slice(&[op as u32, ty]);
        key.extend_from_slice(operands);
        if let Some(&id) = self.unique.get(&key) {
            return id;
        }
        let id = self.m.id();
        let mut words = vec![ty, id];
        words.extend_from_slice(operands);
        self.m.globals.inst(op, &words);
        self.unique.insert(key, id);
        id
    }

    /// The instruction set of GLSL.
    pub fn glsl_set(&mut self) -> u32 {
        if let Some(id) = self.glsl {
            return id;
        }
        let id = self.m.id();
        self.m.imports.inst_str(Op::ExtInstImport, &[id], "GLSL.std.450", &[]);
        self.glsl = Some(id);
        id
    }

    /// An instruction set by name.
    pub fn instruction_set(&mut self, name: &str) -> u32 {
        if name == "GLSL.std.450" {
            return self.glsl_set();
        }
        if let Some(&id) = self.sets.get(name) {
            return id;
        }
        let id = self.m.id();
        self.m.imports.inst_str(Op::ExtInstImport, &[id], name, &[]);
        self.sets.insert(name.to_owned(), id);
        id
    }

    /// `OpString`.
    pub fn string(&mut self, text: oneshader_ir::Name) -> u32 {
        if let Some(&id) = self.strings.get(&text) {
            return id;
        }
        let id = self.m.id();
        self.m.sources.inst_str(Op::String, &[id], self.ir.names.get(text), &[]);
        self.strings.insert(text, id);
        id
    }

    /// `OpName`, when names are asked for.
    pub fn name(&mut self, id: u32, name: &str) {
        if self.opts.names && !name.is_empty() {
            self.m.names.inst_str(Op::Name, &[id], name, &[]);
        }
    }

    /// `OpMemberName`, when names are asked for.
    pub fn member_name(&mut self, id: u32, member: u32, name: &str) {
        if self.opts.names {
            self.m.names.inst_str(Op::MemberName, &[id, member], name, &[]);
        }
    }

    /// The string of a source file, its line and column; `None` without sources or a place.
    pub fn place(&mut self, span: Span) -> Option<[u32; 3]> {
        let sources = self.sources?;
        let (name, at) = sources.locate(span)?;
        let id = match self.files.get(&span.file) {
            Some(&id) => id,
            None => {
                let id = self.m.id();
                self.m.sources.inst_str(Op::String, &[id], name, &[]);
                self.files.insert(span.file, id);
                id
            }
        };
        Some([id, at.line, at.col])
    }

    /// Marks a module-scope variable as used by the entry point. Before SPIR-V 1.4 an interface lists inputs and
    /// outputs only; newer ones list every variable (SPIR-V specification, `OpEntryPoint`).
    pub fn touch(&mut self, variable: u32, class: StorageClass) {
        if matches!(class, StorageClass::Input | StorageClass::Output) || self.opts.target.at_least(4) {
            self.interface.insert(variable);
        }
    }

    /// A `static` or `groupshared` variable.
    pub fn module_variable(&mut self, global: Global, class: StorageClass) -> u32 {
        let id = match self.variables.get(&global) {
            Some(&id) => id,
            None => {
                let ir = self.ir;
                let var = &ir.globals[global];
                let pointee = self.ty(var.ty);
                let ty = self.pointer(class, pointee);
                let init = match (class, var.init) {
                    (StorageClass::Private, Some(init)) => Some(self.constant(init)),
                    _ => None,
                };
                let id = self.m.id();
                let mut words = vec![ty, id, class as u32];
                words.extend(init);
                self.m.globals.inst(Op::Variable, &words);
                self.name(id, ir.names.get(var.name));
                self.variables.insert(global, id);
                id
            }
        };
        self.touch(id, class);
        id
    }

    /// A nameless private variable.
    pub fn private_variable(&mut self, pointee: u32) -> u32 {
        let class = StorageClass::Private;
        let ty = self.pointer(class, pointee);
        let id = self.m.id();
        self.m.globals.inst(Op::Variable, &[ty, id, class as u32]);
        self.touch(id, class);
        id
    }
}
