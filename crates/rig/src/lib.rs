//! Devices, memory, timelines and submissions.
//!
//! A [`Device`] runs work in the order it is submitted and completes the values 1, 2, ... on its timeline. A
//! [`Submission`] is made once and submitted many times; it keeps what its work uses. Submitting gives a [`Point`] of
//! the timeline, which anyone can ask about or wait for. A device can be lost, once and for good; then the point's
//! wait says why.
//!
//! ```
//! use rig::{Buffer, Device, Submission};
//! # fn main() -> Result<(), rig::Error> {
//! let (metal, _) = rig_metal::soft::open(Default::default());
//! let device = Device::open(Box::new(metal));
//! let buffer = Buffer::new(&device, 16)?;
//! let nothing = Submission::new(&device).writes(&buffer).build()?;
//! let point = nothing.submit()?;
//! point.wait()?;
//! assert_eq!((point.value(), device.signaled()), (1, 1));
//! let mut bytes = [1; 16];
//! buffer.read(0, &mut bytes)?;
//! assert_eq!(bytes, [0; 16]);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! Every type is `Send + Sync`; any thread may call anything at any time. Submits of a device are ordered by a lock
//! that is held while a submit encodes and by nothing else. No lock is held while a thread waits for the device.
//!
//! # Callbacks inside a lock
//!
//! Fills, the callbacks of loss and memory pressure, and drops of indirect command buffers may run while a device is
//! locked by their thread. A submit, wait or close from there is refused with [`Error::InCallback`], having changed
//! nothing.
//!
//! # Processes
//!
//! A child of `fork` inherits its parent's values. It can drop all of them, which leaves the devices untouched; every
//! other call fails with a loss of kind [`FaultKind::Forked`].
#![forbid(unsafe_code)]

mod buffer;
mod device;
mod hold;
mod image;
mod point;
mod profile;
mod submission;
mod uses;

pub use buffer::{Access, Buffer};
pub use device::{Device, Pressure};
pub use hold::Hold;
pub use image::{Entry, Image};
pub use point::Point;
pub use profile::{Profile, SubmitSpan, Trace};
pub use rig_edge::{Cause, Code, Constant, Driver, Error, Facts, Fault, FaultKind, Fill, FillFn, Key, Span};
pub use submission::{Builder, Submission};

/// Why a device is lost.
pub type Lost = Fault;
