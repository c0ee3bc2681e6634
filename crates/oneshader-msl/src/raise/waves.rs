//! placeholder
use crate::options::MslOptions;
use oneshader_ir::{Func, IrModule};
pub(crate) fn run(_module: &mut IrModule, _func: Func, _options: &MslOptions) {}
