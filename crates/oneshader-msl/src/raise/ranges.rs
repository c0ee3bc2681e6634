//! placeholder
use oneshader_ir::{Function, IrModule, Type, Value};
pub(crate) fn fits(_module: &IrModule, _function: &Function, _value: Value, _to: Type) -> bool {
    false
}
pub(crate) fn ordered(_module: &IrModule, _function: &Function, _low: Value, _high: Value) -> bool {
    false
}
