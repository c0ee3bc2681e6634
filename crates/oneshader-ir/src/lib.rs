//! The SSA intermediate representation: types, builder, verifier, text form, analyses, layouts and slots
#![forbid(unsafe_code)]
