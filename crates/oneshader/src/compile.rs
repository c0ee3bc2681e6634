//! From source to output.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use oneshader_diag::render::{Style, render};
use oneshader_diag::{DiagnosticBag, Limits, SourceMap, Span, codes};
use oneshader_hlsl::{SourceInput, compile_to_ir, pp};
use oneshader_ir::layout::Layouts;
use oneshader_ir::slots::Slots;
use oneshader_ir::{IrModule, Op, Stage, TextureOp, TextureOperands};
use oneshader_msl::{MslBackend, MslOptions};
use oneshader_opt::{Config, Pipeline};
use oneshader_spirv::{Entries, SpirvBackend, Tables};

use crate::describe;
use crate::options::{CompileTarget, OptLevel, Options};
use crate::reflect::Reflection;

/// HLSL text and the name that diagnostics call it; includes in quotes are looked for beside that name.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name, mostly a path.
    pub name: Arc<str>,
    /// Text.
    pub text: Arc<str>,
}

impl Source {
    /// A source from its text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Reads a file: UTF-8, or UTF-16 with a byte order mark.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let text = pp::decode(std::fs::read(path)?).map_err(std::io::Error::other)?;
        Ok(Self::new(path.to_string_lossy().replace('\\', "/"), text))
    }
}

/// The code of one entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// Metal Shading Language.
    Msl(String),
    /// SPIR-V words.
    Spirv(Vec<u32>),
}

impl Code {
    /// The bytes of a file: UTF-8 text, or little-endian words.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Msl(text) => text.clone().into_bytes(),
            Self::Spirv(words) => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        }
    }
}

/// What an entry point was compiled to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// HLSL name of the entry point.
    pub entry: String,
    /// Its name in the code: the same, but for names the target reserves (`main` is `main0` in Metal).
    pub function: String,
    /// Stage.
    pub stage: Stage,
    /// The code.
    pub code: Code,
}

/// What a compile gives.
#[derive(Clone, Debug)]
pub struct Output {
    /// One for each entry point, in order of declaration.
    pub artifacts: Vec<Artifact>,
    /// What the host must know.
    pub reflection: Reflection,
    /// Warnings.
    pub diagnostics: DiagnosticBag,
    /// The texts read, for rendering diagnostics.
    pub sources: SourceMap,
    /// Names of included files, in the order of first inclusion.
    pub includes: Vec<String>,
    module: IrModule,
}

impl Output {
    /// The Metal text of an entry point.
    pub fn text(&self, entry: &str) -> Option<&str> {
        self.artifacts.iter().find(|a| a.entry == entry).and_then(|a| match &a.code {
            Code::Msl(text) => Some(text.as_str()),
            Code::Spirv(_) => None,
        })
    }

    /// The SPIR-V words of an entry point.
    pub fn words(&self, entry: &str) -> Option<&[u32]> {
        self.artifacts.iter().find(|a| a.entry == entry).and_then(|a| match &a.code {
            Code::Spirv(words) => Some(words.as_slice()),
            Code::Msl(_) => None,
        })
    }

    /// The optimized module in the IR's text form.
    pub fn ir_text(&self) -> String {
        oneshader_ir::text::print(&self.module)
    }
}

/// A compile that failed: errors, and the texts they point into. Shows as diagnostics do.
#[derive(Clone)]
pub struct Failure {
    /// Errors and warnings.
    pub diagnostics: DiagnosticBag,
    /// The texts read.
    pub sources: SourceMap,
    /// Names of included files.
    pub includes: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render(&self.sources, &self.diagnostics, Style::default()))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

/// A preprocessed source.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The text, with `#line` directives.
    pub text: String,
    /// Warnings.
    pub diagnostics: DiagnosticBag,
    /// The texts read.
    pub sources: SourceMap,
    /// Names of included files, in the order of first inclusion.
    pub includes: Vec<String>,
}

/// A module of IR on its way through the compiler, with the tables that everything after the front end reads.
#[derive(Debug)]
pub struct Lowered {
    /// The module, not yet optimized.
    pub module: IrModule,
    /// Layouts of everything in memory.
    pub layouts: Layouts,
    /// Slots of every resource.
    pub slots: Slots,
    /// Warnings so far.
    pub diagnostics: DiagnosticBag,
    /// The texts read.
    pub sources: SourceMap,
    /// Names of included files.
    pub includes: Vec<String>,
}

/// Compiles every entry point that is asked for.
///
/// # Errors
/// The source has errors, or something in it has no spelling in the target; nothing is made then.
pub fn compile(source: &Source, options: &Options) -> Result<Output, Box<Failure>> {
    lower(source, options)?.emit(options)
}

/// Runs the preprocessor alone.
///
/// # Errors
/// The source has errors that the preprocessor sees.
pub fn preprocess(source: &Source, options: &Options) -> Result<Preprocessed, Box<Failure>> {
    let mut sources = SourceMap::default();
    let mut diagnostics = bag(options);
    let mut names = oneshader_hlsl::name::Interner::new();
    let tokens = pp::preprocess(
        (source.name.clone(), source.text.clone()),
        &options.preprocessor(),
        &*options.loader,
        &mut names,
        &mut sources,
        &mut diagnostics,
    );
    let includes = file_names(&sources, &tokens.includes);
    if diagnostics.has_errors() {
        return Err(Box::new(Failure { diagnostics, sources, includes }));
    }
    let text = pp::print(&tokens, &names, &sources);
    Ok(Preprocessed { text, diagnostics, sources, includes })
}

/// Runs the front end and computes layouts and slots.
///
/// # Errors
/// The source has errors.
pub fn lower(source: &Source, options: &Options) -> Result<Lowered, Box<Failure>> {
    let mut sources = SourceMap::default();
    let mut diagnostics = bag(options);
    let input = SourceInput { name: source.name.clone(), text: source.text.clone() };
    let front = compile_to_ir(&input, &options.front_end(), &*options.loader, &mut sources, &mut diagnostics);
    let includes = file_names(&sources, &front.preprocessed.includes);
    let Some(module) = front.module.filter(|_| !diagnostics.has_errors()) else {
        return Err(Box::new(Failure { diagnostics, sources, includes }));
    };
    let (layouts, errors) = Layouts::of_module(&module, &options.layout);
    errors.iter().for_each(|error| describe::layout_error(&module, error, options.target, &mut diagnostics));
    let (slots, errors) = Slots::assign(&module, &options.slots);
    errors.iter().for_each(|error| describe::slot_error(&module, error, options.target, &mut diagnostics));
    let lowered = Lowered { module, layouts, slots, diagnostics, sources, includes };
    if lowered.diagnostics.has_errors() { Err(lowered.fail()) } else { Ok(lowered) }
}

fn bag(options: &Options) -> DiagnosticBag {
    DiagnosticBag::with_limits(Limits { policy: options.warnings, ..Limits::default() })
}

fn file_names(sources: &SourceMap, files: &[oneshader_diag::FileId]) -> Vec<String> {
    files.iter().filter_map(|&id| sources.file(id)).map(|file| file.name().to_string()).collect()
}

impl Lowered {
    fn fail(self) -> Box<Failure> {
        Box::new(Failure { diagnostics: self.diagnostics, sources: self.sources, includes: self.includes })
    }

    /// A table of offset, size and padding of every field of every buffer.
    pub fn layout_table(&self, options: &Options) -> String {
        describe::layout_table(&self.module, &self.layouts, &options.layout)
    }

    /// Optimizes and emits every entry point for the target.
    ///
    /// # Errors
    /// Something has no spelling in the target.
    pub fn emit(mut self, options: &Options) -> Result<Output, Box<Failure>> {
        let mut reflection = Reflection::new(&self.module, &self.layouts, &self.slots);
        let pipeline = options.opt_level.pipeline();
        self.optimize(pipeline);
        // Vulkan takes constant offsets only. One that inlining and unrolling make a constant is one at any level.
        if options.target == CompileTarget::Spirv
            && options.opt_level != OptLevel::O3
            && !self.diagnostics.has_errors()
            && has_varying_offset(&self.module)
        {
            self.optimize(OptLevel::O3.pipeline());
        }
        if self.diagnostics.has_errors() {
            return Err(self.fail());
        }
        let msl = MslOptions {
            layout: options.layout,
            slots: options.slots.clone(),
            line_directives: options.msl_lines.then(|| Arc::new(self.sources.clone())),
            ..options.msl.clone()
        };
        let mut artifacts = Vec::with_capacity(self.module.entry_points.len());
        for index in 0..self.module.entry_points.len() {
            let entry = &self.module.entry_points[index];
            let (name, stage) = (self.module.names.get(entry.name).to_string(), entry.stage);
            let made = match options.target {
                CompileTarget::Msl => self.emit_msl(&name, &msl, &mut reflection),
                CompileTarget::Spirv => self.emit_spirv(&name, options, &mut reflection),
            };
            if let Some((function, code)) = made {
                artifacts.push(Artifact { entry: name, function, stage, code });
            }
        }
        if self.diagnostics.has_errors() {
            return Err(self.fail());
        }
        let Self { module, diagnostics, sources, includes, .. } = self;
        Ok(Output { artifacts, reflection, diagnostics, sources, includes, module })
    }

    fn optimize(&mut self, pipeline: Pipeline) {
        if let Err(report) = oneshader_opt::run(&mut self.module, pipeline, Config::default(), &mut self.diagnostics) {
            self.diagnostics.report(codes::INTERNAL, Span::NONE, report.to_string());
        }
    }

    fn emit_msl(&mut self, entry: &str, options: &MslOptions, known: &mut Reflection) -> Option<(String, Code)> {
        let tables = oneshader_msl::Tables { layouts: &self.layouts, slots: &self.slots };
        let output = MslBackend::emit_with(&self.module, tables, entry, options, &mut self.diagnostics)?;
        known.set_msl(entry, &output);
        Some((output.function, Code::Msl(output.source)))
    }

    fn emit_spirv(&mut self, entry: &str, options: &Options, known: &mut Reflection) -> Option<(String, Code)> {
        let tables = Tables { layouts: &self.layouts, rules: &options.layout, slots: &self.slots };
        let words = SpirvBackend::new(&self.module, tables, &options.spirv)
            .with_sources(&self.sources)
            .emit(Entries::One(entry), &mut self.diagnostics)?;
        let function = options.spirv.entry_name.clone().unwrap_or_else(|| entry.to_string());
        known.set_spirv_function(entry, &function);
        Some((function, Code::Spirv(words)))
    }
}

/// Whether a sample that an entry point reaches has an offset that is no constant.
fn has_varying_offset(module: &IrModule) -> bool {
    module.entry_points.iter().flat_map(|entry| module.reachable(entry.func)).any(|func| {
        let func = &module.functions[func];
        func.live_insts().any(|(_, _, data)| match data.op {
            Op::Texture(TextureOp::Sample, with) if with.contains(TextureOperands::OFFSET) => {
                let offset = data.args.get(with.position(TextureOperands::OFFSET));
                offset.is_some_and(|&offset| func.as_const(offset).is_none())
            }
            _ => false,
        })
    })
}
