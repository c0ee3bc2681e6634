//! The Metal driver: one state machine over Apple's Metal and a software device.
//!
//! [`Metal`] is a [`rig_edge::Driver`], generic over a small [`Api`]: command buffers, encoders, memory, code and
//! indirect command buffers of one system. [`soft`] is that API on any machine: it runs pipelines on the CPU and can be
//! told to fail. `apple` is that API through objc2-metal. Everything that orders, commits, completes, loses and stops
//! is in this crate once, so what is tested over one API holds over the other.
//!
//! The pieces:
//! - `machine`: the rules, as a plain value without locks or system calls;
//! - `metal`: the locks around it, the driver's methods, the completion handlers;
//! - `seat`: where a running fill sits, and `split`;
//! - `objects`: live regions, images and pipelines; the checks of `icb`;
//! - `encode`: fills written in Rust.
#![deny(unsafe_code)]

mod api;
#[cfg(any(target_vendor = "apple", feature = "metal-on-linux"))]
#[allow(unsafe_code)] // faces Objective-C
pub mod apple;
mod clock;
mod encode;
mod icb;
mod machine;
mod metal;
mod objects;
pub mod quirks;
#[allow(unsafe_code)] // faces C: fills and split
mod seat;
pub mod soft;

pub use api::{Api, Done, Failure, Outcome, Recorded, Sink, Traits};
pub use encode::{Encode, EncodeError, fill};
pub use machine::Policy;
pub use metal::Metal;
