//! The SPIR-V backend: IR to SPIR-V for Vulkan 1.0 and newer.
//!
//! [`SpirvBackend`] writes one module with one entry point or all of them. What maps to what is written in
//! `docs/spirv-backend.md`; the conventions (descriptor sets, memory layout, locations) are DXC's.
#![forbid(unsafe_code)]

mod arith;
mod caps;
mod consts;
mod cx;
mod emit;
mod extension;
mod func;
mod inline;
mod intrinsic;
mod io;
mod lower;
mod memory;
mod module;
mod options;
mod ray_query;
mod reflect;
mod resource;
mod structure;
mod terminator;
mod texture;
mod types;
mod wave;

pub use emit::{Entries, SpirvBackend, Tables};
pub use extension::Extension;
pub use options::{SpirvOptions, TargetEnv};
