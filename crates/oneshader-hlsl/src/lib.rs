//! The HLSL front end: preprocessor, parser, types and overloads, lowering to IR.
#![forbid(unsafe_code)]

pub mod ast;
pub mod builtin;
pub mod builtins;
mod compile;
mod convert;
pub mod cx;
mod irty;
pub mod lex;
pub mod name;
pub mod options;
pub mod parse;
mod place;
pub mod pp;
mod rank;
mod sema;
pub mod ty;
pub mod value;

pub use compile::{FrontOutput, SourceInput, compile_to_ir, lower};
