//! Fills written in Rust.

use crate::Api;
use crate::seat::{Seat, Times, with_seat};
use rig_edge::{Fill, sync};
use rig_metal_abi::Icb;
use std::ffi::c_int;
use std::fmt;

/// The failure of a fill whose closure was given a queue that is not its driver's.
const FOREIGN: c_int = -1;
/// The failure of a fill whose closure named something that is not the device's.
const INVALID: c_int = -2;

/// Why an encoding call failed. The fill must return it, and the device is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A split failed, with this code.
    Split(c_int),
    /// A handle names no live object of the device.
    NotLive(&'static str),
    /// The fill's own failure; 0 counts as 1.
    Own(c_int),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Split(code) => write!(f, "split failed with {code}"),
            EncodeError::NotLive(what) => write!(f, "no live {what} of the device"),
            EncodeError::Own(code) => write!(f, "the fill failed with {code}"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<EncodeError> for c_int {
    fn from(e: EncodeError) -> c_int {
        match e {
            EncodeError::Split(code) => code,
            EncodeError::NotLive(_) => INVALID,
            EncodeError::Own(code) => {
                if code == 0 {
                    1
                } else {
                    code
                }
            }
        }
    }
}

/// A fill that encodes with `f`, for devices over `A`. Handles are checked as they are used.
///
/// `f` sets all state its commands read. Whatever its commands use must be kept by the submission.
pub fn fill<A: Api, F>(f: F) -> Fill
where
    F: Fn(&mut Encode<'_, A>) -> Result<(), EncodeError> + Send + Sync + 'static,
{
    Fill::from_fn(move |queue, value| {
        let run = |seat: &mut Seat<A>| f(&mut Encode { seat, value });
        match with_seat::<A, _>(queue, run) {
            None => FOREIGN,
            Some(Ok(())) => 0,
            Some(Err(e)) => e.into(),
        }
    })
}

/// The open encoder of a running fill.
pub struct Encode<'a, A: Api> {
    seat: &'a mut Seat<A>,
    value: u64,
}

impl<A: Api> Encode<'_, A> {
    /// The value the work completes.
    pub fn value(&self) -> u64 {
        self.value
    }

    fn parts(&mut self) -> Result<(&crate::metal::Shared<A>, &mut A::Encoder), EncodeError> {
        let open = self.seat.open.as_mut().ok_or(EncodeError::Split(1))?;
        Ok((&self.seat.shared, &mut open.encoder))
    }

    /// Sets the pipeline of the dispatches that follow: the handle of an entry of a loaded image.
    pub fn set_pipeline(&mut self, handle: usize) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        let objects = sync::lock(&shared.objects);
        let loaded = objects.pipeline(handle).ok_or(EncodeError::NotLive("pipeline"))?;
        shared.api.set_pipeline(encoder, &loaded.pipeline);
        Ok(())
    }

    /// Binds a buffer's handle at `offset` bytes from its first byte, at kernel buffer `index`.
    pub fn set_buffer(&mut self, handle: usize, offset: u64, index: u32) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        let objects = sync::lock(&shared.objects);
        let (buffer, bytes) = objects.region(handle).ok_or(EncodeError::NotLive("buffer"))?;
        if offset >= bytes || index > 30 {
            return Err(EncodeError::NotLive("place for the buffer"));
        }
        shared.api.set_buffer(encoder, buffer, offset, index);
        Ok(())
    }

    /// Sets the length of threadgroup memory argument `index` in bytes.
    pub fn set_threadgroup_memory(&mut self, bytes: u64, index: u32) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        shared.api.set_threadgroup_memory(encoder, bytes, index);
        Ok(())
    }

    /// Dispatches threadgroups.
    pub fn dispatch(&mut self, groups: [u64; 3], threads: [u64; 3]) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        shared.api.dispatch(encoder, groups, threads);
        Ok(())
    }

    /// Runs all commands of an indirect command buffer, which the submission keeps.
    pub fn execute(&mut self, icb: &Icb) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        if !shared.icbs.contains(icb.handle()) {
            return Err(EncodeError::NotLive("indirect command buffer"));
        }
        if !icb.commands().is_empty() {
            shared.api.execute(encoder, icb.handle(), 0, icb.commands().len() as u64);
        }
        Ok(())
    }

    /// Changes the sizes of command `index` of an indirect command buffer, before the fill's first run of it and while
    /// no earlier work that runs it is in flight.
    pub fn set_command(
        &mut self,
        icb: &Icb,
        index: usize,
        groups: [u64; 3],
        threads: [u64; 3],
    ) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        if !shared.icbs.contains(icb.handle()) {
            return Err(EncodeError::NotLive("indirect command buffer"));
        }
        let command = *icb.commands().get(index).ok_or(EncodeError::NotLive("command"))?;
        shared.api.set_command(encoder, command, groups, threads);
        Ok(())
    }

    /// Starts a new command buffer.
    pub fn split(&mut self) -> Result<(), EncodeError> {
        match self.seat.split(Times::NONE) {
            0 => Ok(()),
            code => Err(EncodeError::Split(code)),
        }
    }
}
