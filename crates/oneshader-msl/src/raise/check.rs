//! placeholder
use crate::options::MslOptions;
use oneshader_diag::{DiagnosticBag, Span, codes};
use oneshader_ir::{EntryPoint, Func, IrModule, SlotError};
pub(crate) fn run(
    _module: &IrModule,
    _entry: &EntryPoint,
    _order: &[Func],
    _options: &MslOptions,
    _bag: &mut DiagnosticBag,
) {
}
pub(crate) fn report_slot_error(_module: &IrModule, error: &SlotError, bag: &mut DiagnosticBag) {
    bag.report(codes::MSL_BINDING, Span::NONE, format!("{error:?}"));
}
pub(crate) fn report_layout_error(_module: &IrModule, error: &oneshader_ir::LayoutError, bag: &mut DiagnosticBag) {
    bag.report(codes::MSL_LAYOUT, Span::NONE, format!("{error:?}"));
}
