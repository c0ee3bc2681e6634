//! The HLSL front end: preprocessor, parser, types and overloads, lowering to IR.
#![forbid(unsafe_code)]

pub mod ast;
pub mod builtin;
pub mod lex;
pub mod name;
pub mod options;
pub mod parse;
pub mod pp;
pub mod ty;
pub mod value;
