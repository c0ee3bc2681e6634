//! Spans, the source map, diagnostics and the one table of `OSHnnnn` codes.
//!
//! Every stage reports through a [`DiagnosticBag`]. A [`Diagnostic`] has a [`Code`] from the table in [`codes`], a
//! message (lower case, one sentence, no full stop), a primary [`Span`], further labels, notes and help. [`render`]
//! turns a bag into text like rustc's, into JSON or into SARIF.
#![forbid(unsafe_code)]

mod bag;
pub mod codes;
mod diagnostic;
pub mod docs;
pub mod machine;
pub mod render;
mod source_map;
mod span;
mod suggest;

pub use bag::{DiagnosticBag, Limits, Warnings};
pub use codes::{Code, CodeInfo};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use source_map::{Expansion, LineCol, SourceFile, SourceMap};
pub use span::{FileId, Span};
pub use suggest::closest;
