//! Device memory.

use crate::device::Inner;
use crate::uses::Uses;
use crate::{Device, Error};
use rig_edge::Region;
use rig_edge::sync::{self, Mutex};
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

/// How memory is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read: after its last write.
    Read,
    /// Written: after every use.
    Write,
}

/// A range of a device's memory. Clones and views are of the same memory, which is freed when the last is dropped.
#[derive(Clone)]
pub struct Buffer {
    memory: Arc<Memory>,
    range: Range<u64>,
}

/// One allocation.
pub(crate) struct Memory {
    device: Arc<Inner>,
    region: Region,
    uses: Mutex<Uses>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        // In a child of `fork` the driver leaves it untouched.
        self.device.driver.free(&self.region);
        self.device.unreserve(self.region.bytes);
    }
}

impl Buffer {
    /// New memory of `bytes` bytes, at least 1, filled with zeros.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the budget or the system has no room, [`Error::Lost`] on a lost device.
    pub fn new(device: &Device, bytes: u64) -> Result<Self, Error> {
        let inner = device.inner();
        inner.check_here()?;
        if bytes == 0 {
            return Err(Error::Invalid("a buffer of no bytes"));
        }
        if let Some(fault) = device.lost() {
            return Err(fault.into());
        }
        inner.reserve(bytes)?;
        let mut region = match inner.driver.allocate(bytes) {
            Ok(region) => region,
            Err(error) => {
                inner.unreserve(bytes);
                return Err(match error {
                    Error::OutOfMemory { asked, budget, .. } => {
                        Error::OutOfMemory { asked, live: inner.live(), budget }
                    }
                    other => other,
                });
            }
        };
        // Drivers give what was asked for; the view hides any rounding.
        region.bytes = bytes;
        let memory = Memory { device: Arc::clone(inner), region, uses: Mutex::new(Uses::default()) };
        Ok(Self { memory: Arc::new(memory), range: 0..bytes })
    }

    /// The bytes `range` of this buffer, counted from its own first byte.
    pub fn view(&self, range: Range<u64>) -> Result<Self, Error> {
        if range.start >= range.end || range.end > self.len() {
            return Err(Error::Invalid("a view that is empty or not inside its buffer"));
        }
        let start = self.range.start;
        Ok(Self { memory: Arc::clone(&self.memory), range: start + range.start..start + range.end })
    }

    /// Its size in bytes.
    #[allow(clippy::len_without_is_empty)] // a buffer is never empty
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The system's object, such as an `MTLBuffer`.
    pub fn handle(&self) -> usize {
        self.memory.region.handle
    }

    /// Where it starts, in bytes from the first byte of the system's object.
    pub fn offset(&self) -> u64 {
        self.range.start
    }

    /// The address of its first byte on the device.
    pub fn address(&self) -> u64 {
        self.memory.region.address + self.range.start
    }

    /// Its first byte on the host, valid for [`Buffer::len`] bytes while the buffer lives. Reading and writing through
    /// it is `unsafe` and races with work that touches the same bytes; [`Buffer::wait`] first.
    pub fn host(&self) -> Option<NonNull<u8>> {
        let offset = usize::try_from(self.range.start).ok()?;
        self.memory.region.host().map(|p| p.map_addr(|a| a.saturating_add(offset)))
    }

    /// Waits until the host may touch the buffer so: until the work that uses its bytes and was submitted before the
    /// call is done.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] at the deadline, [`Error::Lost`] if the work is never done. What it left in the memory can then
    /// be read through [`Buffer::host`], once [`Device::drain`] has returned.
    pub fn wait(&self, access: Access, deadline: Option<Instant>) -> Result<(), Error> {
        let inner = &self.memory.device;
        inner.check_call()?;
        let value = sync::lock(&self.memory.uses).last(&self.range, access == Access::Read);
        if inner.word.signaled() < value {
            inner.driver.commit();
            inner.word.wait(value, deadline)?;
        }
        inner.sweep();
        Ok(())
    }

    /// Copies `out.len()` bytes from `offset` on, after the last write submitted before the call.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let start = self.place(offset, out.len())?;
        self.wait(Access::Read, None)?;
        self.memory.device.driver.read(&self.memory.region, start, out);
        Ok(())
    }

    /// Copies `bytes` to `offset`, after every use submitted before the call.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let start = self.place(offset, bytes.len())?;
        self.wait(Access::Write, None)?;
        self.memory.device.driver.write(&self.memory.region, start, bytes);
        Ok(())
    }

    /// Where `len` bytes at `offset` start in the region.
    fn place(&self, offset: u64, len: usize) -> Result<u64, Error> {
        self.memory.device.check_here()?;
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len() => Ok(self.range.start + offset),
            _ => Err(Error::Invalid("a range outside the buffer")),
        }
    }

    /// Whether it is memory of `device`.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.memory.device, device.inner())
    }

    /// Records that the work of `value` touches it.
    pub(crate) fn record(&self, access: Access, value: u64) {
        let signaled = self.memory.device.word.signaled();
        sync::lock(&self.memory.uses).record(&self.range, access == Access::Write, value, signaled);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("handle", &self.handle())
            .field("offset", &self.offset())
            .field("bytes", &self.len())
            .finish()
    }
}
