//! HLSL to Metal Shading Language and SPIR-V, with reflection
#![forbid(unsafe_code)]
