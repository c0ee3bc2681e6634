//! The record a Metal driver declares.

use crate::{Dispatch, Icb};
use rig_edge::{Capability, Key};
use std::ffi::{c_int, c_void};
use std::fmt;

/// `int split(void *queue, uint64_t *start, uint64_t *end)`; see [`Record::split`].
pub type SplitFn = unsafe extern "C" fn(queue: *mut c_void, start: *mut u64, end: *mut u64) -> c_int;

/// Why no indirect command buffer was made. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IcbError {
    /// The device refuses, with the reason: a dispatch asks for more threads per threadgroup than its pipeline allows,
    /// Metal cannot make the buffer, or the driver has begun to stop the device.
    Refused(String),
    /// The call breaks its contract.
    Invalid(&'static str),
}

impl fmt::Display for IcbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IcbError::Refused(reason) => write!(f, "no indirect command buffer: {reason}"),
            IcbError::Invalid(what) => write!(f, "invalid argument: {what}"),
        }
    }
}

impl std::error::Error for IcbError {}

/// How a driver makes an indirect command buffer.
type MakeIcb = dyn Fn(usize, &[Dispatch]) -> Result<Icb, IcbError> + Send + Sync;

/// What compiled code needs from a Metal device.
pub struct Record {
    align: usize,
    icb: Box<MakeIcb>,
    split: SplitFn,
}

impl Record {
    /// A driver's record. `align` is at least 1; `icb` and `split` do what the methods of those names say.
    pub fn new<F>(align: usize, icb: F, split: SplitFn) -> Self
    where
        F: Fn(usize, &[Dispatch]) -> Result<Icb, IcbError> + Send + Sync + 'static,
    {
        Self { align: align.max(1), icb: Box::new(icb), split }
    }

    /// The device's minimum constant buffer offset alignment in bytes, at least 1. Metal requires a buffer that a
    /// kernel reads as constant data to start at a multiple of it.
    pub fn align(&self) -> usize {
        self.align
    }

    /// An indirect command buffer that records one dispatch for each element of `dispatches`, in order, each run after
    /// the one before it has completed.
    ///
    /// `buffer` is the argument buffer, an `MTLBuffer` of the device, such as a rig buffer's handle. The result does
    /// not keep it: the caller keeps it until the work that runs the result is done. `dispatches` may be empty. Any
    /// thread may call this at any time; the driver's stop waits for a call in flight.
    ///
    /// # Errors
    ///
    /// [`IcbError::Refused`], and [`IcbError::Invalid`] if
    /// - `buffer` is not a live region of the device;
    /// - a pipeline belongs to no image loaded on the device;
    /// - a dispatch's offset is negative, lies outside `buffer` or is not a multiple of [`Record::align`];
    /// - one of a dispatch's sizes is less than 1;
    /// - the call comes from a callback inside a lock (see [`rig_edge::inside()`]).
    pub fn icb(&self, buffer: usize, dispatches: &[Dispatch]) -> Result<Icb, IcbError> {
        (self.icb)(buffer, dispatches)
    }

    /// The address of `int split(void *queue, uint64_t *start, uint64_t *end)`, which ends the open command buffer
    /// and starts a new one. It ends the open encoder, commits its command buffer and stores at `queue` the encoder of
    /// a new command buffer, which runs as the first did. While the device's queue holds as many command buffers as it
    /// can, split waits until one of them completes, so a fill may make more command buffers than the queue holds.
    /// Only a fill, during its call, may call it, and the address is valid while the device is open.
    ///
    /// Unless `start` is null, split writes there the time at which the committed command buffer started on the GPU,
    /// and unless `end` is null, the time it ended there. The command buffer may hold commands of earlier work before
    /// the fill's, and its times cover them too. Both are written before `v` is reached. Times are nanoseconds of the
    /// host's clock (on Apple systems `CLOCK_UPTIME_RAW`, the clock of Metal's `GPUStartTime`; elsewhere the monotonic
    /// clock), as unsigned 64-bit integers in the host's byte order.
    ///
    /// Split returns 0, or a nonzero failure if Metal cannot make a new command buffer (`commandBuffer` returns nil)
    /// or an encoder for it (`computeCommandEncoderWithDispatchType:` returns nil), or the device is lost.
    pub fn split(&self) -> SplitFn {
        self.split
    }

    /// What C sees of the record.
    pub fn as_c(&self) -> CRecord {
        CRecord { align: self.align, split: self.split }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("align", &self.align).finish_non_exhaustive()
    }
}

/// What C sees of a [`Record`]; `rig_metal_record` in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CRecord {
    /// [`Record::align`].
    pub align: usize,
    /// [`Record::split`].
    pub split: SplitFn,
}

/// The key of a Metal device's record. `capability(device, &KEY)` is `None` if the device is not a Metal device.
pub const KEY: Key<Record> = Key::new("rig-metal-abi");

/// The record under [`KEY`], as the facts of a Metal device carry it.
pub fn declare(record: Record) -> Capability {
    Capability::new(&KEY, record)
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn no_split(_: *mut c_void, _: *mut u64, _: *mut u64) -> c_int {
        1
    }

    #[test]
    fn a_declared_record_is_found_under_the_key() {
        let record = Record::new(0, |_, _| Err(IcbError::Invalid("test")), no_split);
        let found = declare(record).find(&KEY).unwrap();
        assert_eq!(found.align(), 1, "align is at least 1");
        assert_eq!(found.icb(0, &[]).unwrap_err(), IcbError::Invalid("test"));
        assert_eq!(found.as_c().align, 1);
    }
}
