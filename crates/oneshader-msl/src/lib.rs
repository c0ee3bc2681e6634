//! The Metal backend: IR to one Metal Shading Language source per entry point
#![forbid(unsafe_code)]
