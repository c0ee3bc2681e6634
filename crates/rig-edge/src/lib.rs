//! The contract between rig and a device driver.
//!
//! A driver holds a device's memory, runs work in the order it is handed, makes completion observable in one
//! [`Timeline`] word that never moves backwards, and reports faults. What a device is (architecture, budget, queues,
//! capabilities, its word) is read once when it opens, in [`Facts`]. What compiled code needs beyond that is a
//! [`Capability`]: a value under a typed [`Key`] that the driver declares and compiled code finds, so that neither
//! links the other.
//!
//! The safe layer (the crate `rig`) validates and orders calls; a driver trusts what [`Driver`] documents and reports
//! what no caller can foresee.
#![deny(unsafe_code)]

mod capability;
mod driver;
mod error;
mod facts;
#[allow(unsafe_code)] // faces C: a function pointer and its argument
mod fill;
#[allow(unsafe_code)] // faces C: pthread_atfork
mod fork;
mod inside;
#[doc(hidden)]
pub mod sync;
mod timeline;

pub use capability::{Capability, Key};
pub use driver::{Code, Constant, Driver, Entry, ImageId, Region, Span, Work};
pub use error::{Cause, Error, Fault, FaultKind};
pub use facts::Facts;
pub use fill::{Fill, FillFn, PANICKED};
pub use fork::{AtHome, Birth};
pub use inside::{Inside, inside};
pub use timeline::Timeline;
