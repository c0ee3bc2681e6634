//! The preprocessor: C's, with the choices of DXC.
//!
//! [`preprocess`] turns a source into one list of [`Token`]s. Macros are expanded exactly as C11 6.10.3 says, names
//! painted blue included. What C leaves open follows Clang, on which DXC is built: a function-like macro's name at the
//! end of an expansion takes its `(` from what follows; `, ## __VA_ARGS__` drops the comma where there are no variable
//! arguments; quoted includes are looked for beside every file of the include stack, innermost first, then in the
//! include directories. `__VA_OPT__` does not exist, as in DXC.
//!
//! Nothing recurses on the depth of the input: files and expansions sit on explicit stacks, and nested macro arguments
//! and parentheses of `#if` have a limit. The [`Limits`] bound the output and the work.

mod condition;
mod directive;
mod expand;
mod headers;
mod include;
mod macros;
mod predefined;
mod print;
mod reader;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use oneshader_diag::{DiagnosticBag, FileId, SourceMap, Span};

pub use include::{DirLoader, IncludeLoader, IncludeRequest, Included, MemoryLoader, NoIncludes, decode};
pub use predefined::{Define, Options, ShaderStage};
pub use print::print;

use crate::lex::Token;
use crate::name::Interner;

/// Budgets of the preprocessor; passing one is an error.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep files include each other.
    pub include_depth: u32,
    /// Tokens of the output.
    pub tokens: u32,
    /// Tokens that macro expansion may handle in all.
    pub expanded: u64,
    /// How deep macro invocations nest inside macro arguments, and parentheses inside `#if`.
    pub nesting: u32,
    /// Bytes of text read in all, each inclusion counted, and with at least 4096.
    pub bytes: u64,
    /// Bytes of one token that `#` or `##` makes.
    pub spelling: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            include_depth: 200,
            tokens: 4 << 20,
            expanded: 8 << 20,
            nesting: 128,
            bytes: 256 << 20,
            spelling: 1 << 16,
        }
    }
}

/// The default order of matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// `row_major`
    Row,
    /// `column_major`
    Column,
}

/// What comes out.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The file the source began with.
    pub main: FileId,
    /// The tokens; the last one is `Eof`.
    pub tokens: Vec<Token>,
    /// `#pragma pack_matrix`: from the token of this index on.
    pub packing: Vec<(u32, Packing)>,
    /// Pragmas that mean something behind the preprocessor: before the token of this index.
    pub pragmas: Vec<(u32, Span)>,
    /// Every included file once, in the order of first inclusion: what a depfile lists.
    pub includes: Vec<FileId>,
}

/// Preprocesses one source.
///
/// Texts are added to `map`, problems to `bag`; there is always output, of what could be read.
pub fn preprocess(
    source: (impl Into<Arc<str>>, impl Into<Arc<str>>),
    options: &Options,
    loader: &dyn IncludeLoader,
    names: &mut Interner,
    map: &mut SourceMap,
    bag: &mut DiagnosticBag,
) -> Preprocessed {
    let main = map.add(source.0, source.1);
    reader::Pp::new(options, loader, names, map, bag).run(main)
}
