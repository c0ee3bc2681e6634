//! What can go wrong: a caller's misuse, a resource that is missing, a device that is lost.

use std::fmt;
use std::sync::Arc;

/// Why a device is lost. A loss happens once and for good: the first fault wins and is what everyone is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What failed.
    pub kind: FaultKind,
    /// The reason in words, the system's own where it gave one.
    pub reason: Arc<str>,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A fill returned this nonzero failure, or went on after a failed split (then 0 is stored here).
    Fill(i32),
    /// A command buffer failed on the device.
    CommandBuffer(Cause),
    /// The system made no command buffer.
    NoCommandBuffer,
    /// The system made no encoder.
    NoEncoder,
    /// The device was closed.
    Closed,
    /// The device belongs to the parent of this process.
    Forked,
}

/// The class of a command buffer's failure, as far as the system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It ran for too long.
    Timeout,
    /// It touched memory that is not mapped or not resident.
    PageFault,
    /// The device had too little memory for it.
    OutOfMemory,
    /// It was stopped for another's failure.
    InnocentVictim,
    /// The process may not use the device now.
    NotPermitted,
    /// It used a resource that is not valid any more.
    InvalidResource,
    /// The device was removed.
    DeviceRemoved,
    /// A shader's stack overflowed.
    StackOverflow,
    /// Anything else.
    Other,
}

impl Fault {
    /// The fault `kind` with its reason.
    pub fn new(kind: FaultKind, reason: impl Into<Arc<str>>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Fill(code) => write!(f, "a fill failed with {code}: {}", self.reason),
            FaultKind::CommandBuffer(cause) => {
                write!(f, "a command buffer failed ({cause:?}): {}", self.reason)
            }
            _ => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Fault {}

/// Why a call did not do what was asked. Nothing has changed unless the variant says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The device is lost, for this reason.
    Lost(Fault),
    /// The deadline passed first.
    Timeout,
    /// The device's budget or the system has no room for the bytes asked for.
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes live on the device, held ones included.
        live: u64,
        /// The device's budget in bytes.
        budget: u64,
    },
    /// An argument breaks the call's contract.
    Invalid(&'static str),
    /// The call came from a callback that runs inside a lock (see [`crate::inside()`]).
    InCallback,
    /// Code that does not load, or an entry that cannot be made, with the reason.
    Image(String),
    /// The device cannot do this, with the reason.
    Unsupported(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Lost(fault) => write!(f, "device lost: {fault}"),
            Error::Timeout => f.write_str("the deadline passed"),
            Error::OutOfMemory { asked, live, budget } => {
                write!(f, "out of device memory: {asked} bytes asked for, {live} live of {budget}")
            }
            Error::Invalid(what) => write!(f, "invalid argument: {what}"),
            Error::InCallback => f.write_str("called from a callback inside a lock"),
            Error::Image(reason) => write!(f, "image: {reason}"),
            Error::Unsupported(reason) => write!(f, "unsupported: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Lost(fault)
    }
}
