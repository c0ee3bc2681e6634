//! The `oneshader` command.
#![forbid(unsafe_code)]
fn main() {}
