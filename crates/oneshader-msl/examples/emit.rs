//! Prints the Metal text of every entry point of a module in text form: `emit FILE.ir`.

use oneshader_diag::DiagnosticBag;
use oneshader_msl::{MslBackend, MslOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: emit FILE.ir")?;
    let module = oneshader_ir::text::parse(&std::fs::read_to_string(path)?)?;
    for entry in &module.entry_points {
        let mut bag = DiagnosticBag::new();
        match MslBackend::emit(&module, module.names.get(entry.name), &MslOptions::default(), &mut bag) {
            Some(output) => println!("{}", output.source),
            None => bag.iter().for_each(|d| println!("{}: {}", d.code, d.message)),
        }
    }
    Ok(())
}
