//! The Metal backend: one entry point of a module, and everything it reaches, to one Metal Shading Language source.
//!
//! Raise, lower, print: `raise` holds the passes that change the program for Metal, each a file;
//! `lower` turns functions into trees of statements and expressions; `print` spells the
//! trees. `docs/msl-backend.md` states the mapping, the errors and the known deviations.
//!
//! ```
//! use oneshader_diag::DiagnosticBag;
//! use oneshader_ir::IrModule;
//! use oneshader_msl::{MslBackend, MslOptions};
//!
//! let mut bag = DiagnosticBag::new();
//! assert!(MslBackend::emit(&IrModule::new(), "main", &MslOptions::default(), &mut bag).is_none());
//! assert_eq!(bag.iter().next().unwrap().code.to_string(), "OSH5101");
//! assert_eq!(MslBackend::entry_function_name("main"), "main0");
//! ```
#![forbid(unsafe_code)]

mod ast;
mod emit;
mod lower;
mod names;
mod options;
mod print;
mod raise;
mod runtime;
mod scope;
mod shape;

pub use emit::{MslOutput, Tables};
pub use options::{BufferArrays, MslBinding, MslOptions, MslPlatform, MslSemantics, MslVersion};

use oneshader_diag::DiagnosticBag;
use oneshader_ir::IrModule;

/// The Metal backend.
pub struct MslBackend;

impl MslBackend {
    /// Buffer index of a vertex function's attributes: one interleaved buffer.
    pub const VERTEX_BUFFER_INDEX: u32 = lower::VERTEX_BUFFER_INDEX;

    /// Writes `entry_point` of `module` and everything it reaches as one Metal source.
    ///
    /// The same module and options always give the same text. Constructs that Metal lacks are reported as OSH51xx errors,
    /// and then there is no text.
    pub fn emit(
        module: &IrModule,
        entry_point: &str,
        options: &MslOptions,
        bag: &mut DiagnosticBag,
    ) -> Option<MslOutput> {
        emit::emit(module, None, entry_point, options, bag)
    }

    /// The same with layouts and slots that are known already and without errors.
    pub fn emit_with(
        module: &IrModule,
        tables: Tables,
        entry_point: &str,
        options: &MslOptions,
        bag: &mut DiagnosticBag,
    ) -> Option<MslOutput> {
        emit::emit(module, Some(tables), entry_point, options, bag)
    }

    /// Name of an entry point's function in the text: its HLSL name, but for reserved words (`main` becomes `main0`).
    pub fn entry_function_name(name: &str) -> String {
        names::entry_function_name(name)
    }
}
