//! The `metal-check` command.
#![forbid(unsafe_code)]
mod command;

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Metal's compiler spells the version -std=VERSION.
    let long = |a: OsString| match a.to_str().and_then(|s| s.strip_prefix("-std=")) {
        Some(version) => format!("--std={version}").into(),
        None => a,
    };
    let mut args: Vec<OsString> = std::env::args_os().map(long).collect();
    if args.get(1).is_some_and(|a| a == "run") {
        args.remove(1);
        command::run::main(args)
    } else {
        command::check::main(args)
    }
}
