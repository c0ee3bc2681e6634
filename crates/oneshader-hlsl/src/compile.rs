//! The front end as one call.

use std::sync::Arc;

use oneshader_diag::{DiagnosticBag, SourceMap};
use oneshader_ir as ir;
use oneshader_ir::layout::Layouts;
use oneshader_ir::{FunctionBuilder, IrModule};
use rustc_hash::FxHashMap;

use crate::ast::Ast;
use crate::cx::Cx;
use crate::name::Interner;
use crate::options::{FrontOptions, LowerOptions};
use crate::parse::parse_source;
use crate::pp::{IncludeLoader, Preprocessed};
use crate::sema::State;
use crate::sema::scope::ScopeKind;
use crate::ty::Tys;

/// A source text and the name it goes by.
#[derive(Clone, Debug)]
pub struct SourceInput {
    /// Name for diagnostics and relative includes.
    pub name: Arc<str>,
    /// The text.
    pub text: Arc<str>,
}

/// What the front end gives.
#[derive(Debug)]
pub struct FrontOutput {
    /// The module, when there was no error.
    pub module: Option<IrModule>,
    /// What was read: files included, for depfiles.
    pub preprocessed: Preprocessed,
}

/// Compiles one source to a module.
///
/// Problems go to `bag`; there is a module when it has no error.
pub fn compile_to_ir(
    source: &SourceInput,
    options: &FrontOptions,
    loader: &dyn IncludeLoader,
    map: &mut SourceMap,
    bag: &mut DiagnosticBag,
) -> FrontOutput {
    let text = (source.name.clone(), source.text.clone());
    let mut parsed = parse_source(text, &options.preprocessor, loader, map, bag);
    // The name of what has none.
    parsed.names.intern("");
    let module = lower(&parsed.ast, &parsed.names, &options.lower, bag);
    FrontOutput { module: (!bag.has_errors()).then_some(module), preprocessed: parsed.preprocessed }
}

/// Checks and lowers a tree. The module means something only when `bag` has no error.
pub fn lower(ast: &Ast, names: &Interner, options: &LowerOptions, bag: &mut DiagnosticBag) -> IrModule {
    let mut module = IrModule::new();
    {
        let void = module.types.void();
        let name = module.names.intern("");
        // A function that is never part of the module: file-scope initial values are tried out in it.
        let idle = ir::Function::new(name, void, oneshader_diag::Span::NONE);
        let mut cx = Cx {
            ast,
            names,
            opts: options,
            b: FunctionBuilder::new(&mut module, idle),
            tys: Tys::new(),
            known: FxHashMap::default(),
            s: State::default(),
            diags: Vec::new(),
            ir_names: FxHashMap::default(),
            ir_types: FxHashMap::default(),
            layouts: Layouts::new(),
            status_types: FxHashMap::default(),
        };
        cx.new_scope(None, ScopeKind::Namespace);
        cx.declare_unit();
        cx.finish(bag);
    }
    module.types.sort_structs();
    module
}
