//! Text of the IR to Metal text.

use oneshader_diag::DiagnosticBag;
use oneshader_msl::{MslBackend, MslOptions};

/// The Metal text of a module's first entry point.
pub fn emit(input: &str, options: &MslOptions) -> String {
    let module = oneshader_ir::text::parse(input).unwrap_or_else(|e| panic!("{e}\n{input}"));
    oneshader_ir::verify::verify(&module, "the test's input").unwrap_or_else(|e| panic!("{e}\n{input}"));
    let entry = module.names.get(module.entry_points[0].name);
    let mut bag = DiagnosticBag::new();
    let output = MslBackend::emit(&module, entry, options, &mut bag);
    let errors = || bag.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect::<String>();
    output.unwrap_or_else(|| panic!("{}", errors())).source
}
