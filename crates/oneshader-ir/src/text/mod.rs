//! The text form of a module: prints and parses back identically.
//!
//! ```text
//! module
//! global g0 "tint": private f32x3 = f32x3 [1.0, 0.5, 0.25]
//! func fn0 "scale" (v0 "x": f32x3) -> f32x3 {
//! block0:
//!   v1: f32x3 = load g0
//!   v2 "y": f32x3 = mul.precise v0, v1
//!   ret v2
//! }
//! ```
//!
//! Ids are compacted as they are printed: values count parameters first, then results in the order of the blocks, so that a
//! text does not move for what cannot be seen. A constant stands where it is used, its type before it; `g0` and `l0` are the
//! addresses of variables. `;` starts a comment. Places in the source are printed on request, as `!file:from..to`.

mod lex;
mod number;
mod parse;
mod print;
mod spell;

pub use parse::{ParseError, parse};
pub use print::{PrintOptions, print, print_function, print_with, type_text};
pub(crate) use spell::TEXTURE_OPERANDS;
pub use spell::{
    address_space_name, builtin_from_name, builtin_name, dim_name as texture_dim_name, interpolation_name, op_name,
    register_class_name, sampling_name, stage_name,
};

#[cfg(test)]
mod tests;
