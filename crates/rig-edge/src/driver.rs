//! The driver contract.

use crate::{Error, Facts, Fault, Fill};
use std::any::Any;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// An opened device as its driver gives it.
///
/// Any thread may call any method at any time, but [`Driver::submit`] is called by one thread at a time and with
/// values that grow by one from 1. No method but `submit`, `stop` and the copies of `read` and `write` takes long.
/// Memory and images live until they are freed or unloaded, whatever happens to the device.
pub trait Driver: Send + Sync {
    /// What the device is.
    fn facts(&self) -> &Facts;

    /// A new region of at least one byte, filled with zeros and resident for all work.
    fn allocate(&self, bytes: u64) -> Result<Region, Error>;

    /// Releases a region that no work uses. Does nothing in a child of `fork`.
    fn free(&self, region: &Region);

    /// Copies `out.len()` bytes at `offset` out of the region; the range lies inside.
    fn read(&self, region: &Region, offset: u64, out: &mut [u8]);

    /// Copies `bytes` to `offset` of the region; the range lies inside.
    fn write(&self, region: &Region, offset: u64, bytes: &[u8]);

    /// Loads code.
    fn load(&self, code: &Code<'_>) -> Result<ImageId, Error>;

    /// The pipeline of an entry of a loaded image, its specialization constants set. The same entry with the same
    /// constants is the same pipeline. An entry that has constants takes its defaults for those not given.
    fn entry(&self, image: ImageId, name: &str, constants: &[Constant]) -> Result<Entry, Error>;

    /// Unloads an image with its entries; indirect command buffers made of them stay valid. Does nothing in a child
    /// of `fork`.
    fn unload(&self, image: ImageId);

    /// Runs `work` after all earlier work and completes `value` on the timeline when it is done. The call encodes:
    /// it may wait for room in the device's queue, never for the work itself.
    ///
    /// A fault is also stored in the timeline before the call returns.
    fn submit(&self, work: &Work<'_>, value: u64) -> Result<(), Fault>;

    /// Lets all submitted work begin as soon as it can. Work begins without it, no later than when the work begun
    /// before it is done.
    fn commit(&self);

    /// Stops the device: drops work that has not begun, waits for calls in flight and for no work, and lets work that
    /// has begun drain. Later calls of `submit` fail. Runs once; a later call returns when the first has.
    fn stop(&self);

    /// The host's clock, in which spans are given, in nanoseconds.
    fn now(&self) -> u64;

    /// Turns the recording of [`Span`]s on or off.
    fn profile(&self, on: bool);

    /// Hands every recorded span to `sink`, oldest first, and forgets it.
    fn spans(&self, sink: &mut dyn FnMut(Span));
}

/// A live piece of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The system's object, such as an `MTLBuffer`; never 0, unique while live.
    pub handle: usize,
    /// The address of its first byte on the device.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its first byte on the host, as an address.
    host: usize,
}

impl Region {
    /// A region whose first byte is at `host` on the host.
    pub fn new(handle: usize, address: u64, bytes: u64, host: *mut c_void) -> Self {
        Self { handle, address, bytes, host: host.expose_provenance() }
    }

    /// Its first byte on the host.
    pub fn host(&self) -> Option<NonNull<u8>> {
        NonNull::new(std::ptr::with_exposed_provenance_mut(self.host))
    }
}

/// Code to load.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    /// Source text in the device's language.
    Text(&'a str),
    /// Compiled code in the device's format.
    Binary(&'a [u8]),
    /// A value that the driver knows, such as host functions.
    Host(&'a Arc<dyn Any + Send + Sync>),
}

/// A loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageId(pub u64);

/// A specialization constant: its index, its type as the device's format numbers it (for Metal, `MTLDataType`), and
/// its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The constant's index in the code.
    pub index: u32,
    /// The number of its type.
    pub ty: u32,
    /// Its value's 32 bits.
    pub bits: u32,
}

/// An entry of a loaded image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The system's pipeline, such as an `MTLComputePipelineState`.
    pub handle: usize,
    /// The most threads its threadgroups may have.
    pub max_threads: u32,
}

/// Work to submit: its fills, run in order.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The fills. None: the work is done when all earlier work is.
    pub fills: &'a [Fill],
}

/// A piece of the device's time: one command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The value of the first work with commands in it.
    pub first: u64,
    /// The value of the last work with commands in it.
    pub last: u64,
    /// When it started, in nanoseconds of the host's clock.
    pub start: u64,
    /// When it ended, in nanoseconds of the host's clock.
    pub end: u64,
}
