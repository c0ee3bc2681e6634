//! Spans, source map, diagnostics and the table of OSH codes
#![forbid(unsafe_code)]
/// stub
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span;
