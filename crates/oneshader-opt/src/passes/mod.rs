//! The passes, a file each.

pub(crate) mod algebraic;
pub(crate) mod const_branch;
pub(crate) mod dce;
pub(crate) mod dse;
pub(crate) mod fold;
pub(crate) mod forward;
pub(crate) mod gvn;
pub(crate) mod if_convert;
pub(crate) mod inline;
pub(crate) mod licm;
pub(crate) mod localize;
pub(crate) mod mem2reg;
pub(crate) mod nest_exits;
pub(crate) mod resolve_handles;
pub(crate) mod simplify_cfg;
pub(crate) mod single_return;
pub(crate) mod sroa;
pub(crate) mod unreachable;
pub(crate) mod unroll;
