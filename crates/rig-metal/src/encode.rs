//! Fills written in Rust.

use crate::Api;
use crate::seat::{Seat, Times, with_seat};
use rig_edge::{Fill, sync};
use rig_metal_abi::Icb;
use std::ffi::c_int;
use std::fmt;

/// The last index of a buffer or threadgroup memory argument.
const LAST_INDEX: u32 = 30;
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
    /// An argument that Metal does not take.
    Invalid(&'static str),
    /// A dispatch asks for more threads per threadgroup than its pipeline allows; Metal would run nothing.
    TooManyThreads {
        /// Threads asked for.
        asked: u64,
        /// Threads the pipeline allows.
        allowed: u32,
    },
    /// The fill's own failure; 0 counts as 1.
    Own(c_int),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Split(code) => write!(f, "split failed with {code}"),
            EncodeError::NotLive(what) => write!(f, "no live {what} of the device"),
            EncodeError::Invalid(what) => write!(f, "invalid argument: {what}"),
            EncodeError::TooManyThreads { asked, allowed } => {
                write!(f, "{asked} threads per threadgroup, the pipeline allows {allowed}")
            }
            EncodeError::Own(code) => write!(f, "the fill failed with {code}"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<EncodeError> for c_int {
    fn from(e: EncodeError) -> c_int {
        match e {
            EncodeError::Split(code) => code,
            EncodeError::NotLive(_) | EncodeError::Invalid(_) | EncodeError::TooManyThreads { .. } => INVALID,
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
        let run = |seat: &mut Seat<A>| f(&mut Encode { seat, value, allowed: None });
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
    /// The threads that the pipeline set in this command buffer by this fill allows.
    allowed: Option<u32>,
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
        let allowed = loaded.max_threads;
        drop(objects);
        self.allowed = Some(allowed);
        Ok(())
    }

    /// Binds a buffer's handle at `offset` bytes from its first byte, at kernel buffer `index`.
    pub fn set_buffer(&mut self, handle: usize, offset: u64, index: u32) -> Result<(), EncodeError> {
        let (shared, encoder) = self.parts()?;
        let objects = sync::lock(&shared.objects);
        let (buffer, bytes) = objects.region(handle).ok_or(EncodeError::NotLive("buffer"))?;
        if offset >= bytes || index > LAST_INDEX {
            return Err(EncodeError::Invalid("an offset outside the buffer, or an index above 30"));
        }
        shared.api.set_buffer(encoder, buffer, offset, index);
        Ok(())
    }

    /// Sets the length of threadgroup memory argument `index` in bytes, a multiple of 16.
    pub fn set_threadgroup_memory(&mut self, bytes: u64, index: u32) -> Result<(), EncodeError> {
        if !bytes.is_multiple_of(16) || index > LAST_INDEX {
            return Err(EncodeError::Invalid("a length that is not a multiple of 16, or an index above 30"));
        }
        let (shared, encoder) = self.parts()?;
        shared.api.set_threadgroup_memory(encoder, bytes, index);
        Ok(())
    }

    /// Dispatches threadgroups of the pipeline that this fill set, of at least one thread each.
    pub fn dispatch(&mut self, groups: [u64; 3], threads: [u64; 3]) -> Result<(), EncodeError> {
        if self.seat.open.is_none() {
            return Err(EncodeError::Split(1));
        }
        let allowed = self.allowed.ok_or(EncodeError::Invalid("a dispatch before a pipeline is set"))?;
        let asked = threads.iter().fold(1u64, |n, &t| n.saturating_mul(t));
        if asked == 0 {
            return Err(EncodeError::Invalid("a threadgroup without threads"));
        }
        if asked > u64::from(allowed) {
            return Err(EncodeError::TooManyThreads { asked, allowed });
        }
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
        if groups.contains(&0) || threads.contains(&0) {
            return Err(EncodeError::Invalid("a size less than 1"));
        }
        shared.api.set_command(encoder, command, groups, threads);
        Ok(())
    }

    /// Starts a new command buffer, in which no state is set.
    pub fn split(&mut self) -> Result<(), EncodeError> {
        self.allowed = None;
        match self.seat.split(Times::NONE) {
            0 => Ok(()),
            code => Err(EncodeError::Split(code)),
        }
    }
}
