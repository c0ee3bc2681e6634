//! The passes, a file each.

pub(crate) mod const_branch;
pub(crate) mod dce;
pub(crate) mod fold;
pub(crate) mod forward;
pub(crate) mod unreachable;
