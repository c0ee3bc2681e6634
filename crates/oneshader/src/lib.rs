//! HLSL to Metal Shading Language and SPIR-V, with reflection.
#![forbid(unsafe_code)]

pub mod reflect;

pub use reflect::Reflection;
