//! Runs test cases on every engine and compares the results.
//!
//! A case is HLSL with a pipeline and expectations, in the format of LLVM's offload-test-suite ([`case`]). A lane
//! ([`script::Lane`]) is a compiler ([`compilers`]) with an engine for its output ([`engines`]). [`cases`] runs cases on
//! lanes in worker processes ([`pool`]), [`report`] says how it went, and [`known`] lists what may fail. [`suites`] compiles
//! and checks whole suites without running them.
#![deny(unsafe_code)]

pub mod bench;
pub mod case;
pub mod cases;
pub mod check;
pub mod compare;
pub mod compilers;
pub mod engines;
pub mod filecheck;
pub mod known;
pub mod picture;
pub mod pool;
pub mod report;
pub mod script;
pub mod suites;
pub mod worker;
