//! HLSL to Metal Shading Language and SPIR-V, with reflection.
//!
//! [`compile`] takes a [`Source`] and [`Options`] and gives an [`Output`] with the code of every entry point and the
//! [`Reflection`] a host needs, or a [`Failure`] with diagnostics. Everything is plain data, `Send` and `Sync`; there is
//! no state outside of the values given.
//!
//! ```
//! use oneshader::{CompileTarget, Options, Source, compile};
//!
//! let source = Source::new(
//!     "scale.hlsl",
//!     "RWStructuredBuffer<float> data;
//!      [numthreads(64, 1, 1)] void Scale(uint i : SV_DispatchThreadID) { data[i] *= 2; }",
//! );
//! let options = Options::new(CompileTarget::Msl).profile("cs_6_0")?.entry("Scale");
//! let output = compile(&source, &options)?;
//! assert!(output.text("Scale").unwrap().contains("kernel void Scale("));
//! assert_eq!(output.reflection.entry_points[0].threads, [64, 1, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod args;
mod compile;
mod describe;
mod link;
mod options;
pub mod reflect;

pub use compile::{Artifact, Code, Failure, Lowered, Output, Preprocessed, Source, compile, lower, preprocess};
pub use link::link;
pub use oneshader_diag as diag;
pub use oneshader_hlsl::pp::{Define, DirLoader, IncludeLoader, IncludeRequest, Included, MemoryLoader, NoIncludes};
pub use oneshader_ir::layout::{LayoutOptions, LayoutRule};
pub use oneshader_ir::slots::{BindingEntry, BindingMap, SlotOptions, SpirvSlot};
pub use oneshader_ir::{MatrixOrder, Stage};
pub use oneshader_msl::{MslBinding, MslOptions, MslPlatform, MslSemantics, MslVersion};
pub use oneshader_spirv::{SpirvOptions, TargetEnv};
pub use options::{CompileTarget, OptLevel, Options, Profile, ProfileError};
pub use reflect::Reflection;
