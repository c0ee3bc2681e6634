//! What a device is.

use crate::{Capability, Timeline};
use std::sync::Arc;

/// What a device is, read once when it opens.
#[derive(Debug)]
pub struct Facts {
    /// The device's name for people.
    pub name: String,
    /// The driver's name, such as `metal`.
    pub driver: &'static str,
    /// What the device executes, such as `apple9`; names a cache of compiled code.
    pub arch: String,
    /// Bytes of device memory that can be live with good performance; at least 1.
    pub budget: u64,
    /// The device's queues. Work runs in the order handed whatever their number.
    pub queues: u32,
    /// Lanes that run in lockstep.
    pub simd_width: u32,
    /// The most threads in a threadgroup of any pipeline.
    pub max_threads: u32,
    /// Known defects of the device that the driver works around: name and symptom.
    pub quirks: Vec<(&'static str, &'static str)>,
    /// The word in which completion is observed.
    pub word: Arc<Timeline>,
    /// What compiled code may ask for.
    pub capabilities: Vec<Capability>,
}
