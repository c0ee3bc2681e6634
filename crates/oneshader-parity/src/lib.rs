//! Runs corpus cases on every engine and compares the results
#![forbid(unsafe_code)]
