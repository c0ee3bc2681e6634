//! Checks Metal Shading Language source with clang, and runs compute kernels on the CPU
#![forbid(unsafe_code)]
