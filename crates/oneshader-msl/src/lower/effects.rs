//! The memory an expression may read or a statement write, as bits. Locals share bits when there are many of them, which
//! only makes the answer more careful.

use oneshader_ir::Local;

pub(crate) const STORAGE: u64 = 1;
pub(crate) const WORKGROUP: u64 = 1 << 1;
pub(crate) const PRIVATE: u64 = 1 << 2;
pub(crate) const TEXTURE: u64 = 1 << 3;
pub(crate) const OUTPUT: u64 = 1 << 4;
/// None: the expression has an effect of its own, and stands where it is evaluated once.
pub(crate) const STEP: u64 = 1 << 5;
/// All that more than one function can reach.
pub(crate) const SHARED: u64 = STORAGE | WORKGROUP | PRIVATE | TEXTURE | OUTPUT;
/// Everything.
pub(crate) const ALL: u64 = u64::MAX;

/// A local variable.
pub(crate) fn local(local: Local) -> u64 {
    1 << (8 + local.as_u32() % 40)
}

/// What a parameter points to; parameters never alias.
pub(crate) fn param(index: usize) -> u64 {
    1 << (48 + index % 16)
}
