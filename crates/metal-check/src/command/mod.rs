//! The subcommands.
pub(crate) mod check;
pub(crate) mod run;
