//! Spans, source map, diagnostics and the table of OSH codes
#![forbid(unsafe_code)]
