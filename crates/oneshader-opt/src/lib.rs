//! Passes over the IR and the pass pipeline
#![forbid(unsafe_code)]
