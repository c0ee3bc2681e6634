//! Passes over the IR and the order they run in.
//!
//! A pass is one file of `passes` and one row of the [table](PASSES): what it does, and which passes must have run before
//! it when both run. [`run`] runs a [`Pipeline`]; in debug builds and on request the verifier looks at the module after
//! every pass that changed it.
#![forbid(unsafe_code)]

mod edit;
mod manager;
mod passes;
mod pipeline;
mod table;

pub use manager::{Config, Cx, OptLevel, optimize, run, run_pass};
pub use pipeline::{Pipeline, Step};
pub use table::{PASSES, Pass, Run, find};
