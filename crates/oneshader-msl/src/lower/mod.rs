//! Lowering: from raised functions to the tree that is printed. One file for each family of operations.

mod arith;
mod atomic;
mod body;
mod build;
mod call;
mod coalesce;
mod constant;
mod cx;
pub(crate) mod effects;
mod entry;
mod flow;
mod intrinsic;
mod memory;
mod quads;
mod ray_query;
pub(crate) mod table;
mod texture;
mod transfer;
mod wave;

pub(crate) use body::lower_function;
pub(crate) use call::facts;
pub(crate) use constant::constant_text;
pub(crate) use cx::Cx;
pub(crate) use entry::{VERTEX_BUFFER_INDEX, array_of, array_sizes};
