//! Instrumentation for lanes to rejoin.
use crate::lex::TokenStream;
use crate::rewrite::Edits;

/// Edits that let the executor know where a lane is.
pub(crate) fn instrument(_stream: &TokenStream<'_>) -> Edits {
    Edits::default()
}
