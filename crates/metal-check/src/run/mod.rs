//! Runs compute kernels on the CPU.
pub(crate) mod lanes;
