//! The passes, a file each.

pub(crate) mod const_branch;
pub(crate) mod dce;
pub(crate) mod fold;
pub(crate) mod forward;
pub(crate) mod inline;
pub(crate) mod mem2reg;
pub(crate) mod resolve_handles;
pub(crate) mod single_return;
pub(crate) mod sroa;
pub(crate) mod unreachable;
