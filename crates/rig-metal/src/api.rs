//! The part of Metal that the driver needs, as a trait.

use rig_edge::{Cause, Code, Constant, Entry, Region};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// One system's command buffers, encoders, memory, code and indirect command buffers.
///
/// The driver calls [`Api::command_buffer`] only while the queue has room, ends every encoder, commits or discards
/// every command buffer, and calls no method while it holds a lock that a completion handler takes.
pub trait Api: Send + Sync + Sized + 'static {
    /// A piece of memory. Clones name the same one.
    type Buffer: Clone + Send + Sync + 'static;
    /// Loaded code.
    type Library: Send + Sync + 'static;
    /// An entry made executable. Clones name the same one.
    type Pipeline: Clone + Send + Sync + 'static;
    /// A command buffer that is open.
    type CommandBuffer: Send + 'static;
    /// The serial compute encoder of an open command buffer.
    type Encoder: Send + 'static;
    /// An indirect command buffer with its commands.
    type Icb: Send + Sync + 'static;

    /// What the device is.
    fn traits(&self) -> Traits;

    /// Zeroed shared memory of at least one byte, resident for all work; `None` if the system has none.
    fn buffer(&self, bytes: u64) -> Option<Self::Buffer>;
    /// Where the buffer is.
    fn region(&self, buffer: &Self::Buffer) -> Region;
    /// Copies out of the buffer; the range lies inside.
    fn read(&self, buffer: &Self::Buffer, offset: u64, out: &mut [u8]);
    /// Copies into the buffer; the range lies inside.
    fn write(&self, buffer: &Self::Buffer, offset: u64, bytes: &[u8]);
    /// Ends the buffer's residency and releases it.
    fn release(&self, buffer: Self::Buffer);

    /// Loads code.
    fn library(&self, code: &Code<'_>) -> Result<Self::Library, String>;
    /// Makes an entry executable, with its specialization constants, for dispatches and indirect command buffers.
    fn pipeline(
        &self,
        library: &Self::Library,
        name: &str,
        constants: &[Constant],
    ) -> Result<(Self::Pipeline, Entry), String>;

    /// A new command buffer of the queue.
    fn command_buffer(&self) -> Option<Self::CommandBuffer>;
    /// The serial encoder of `buffer`.
    fn encoder(&self, buffer: &mut Self::CommandBuffer) -> Option<Self::Encoder>;
    /// The encoder as C sees it, valid until it is ended.
    fn word(&self, encoder: &mut Self::Encoder) -> *mut c_void;
    /// Ends the encoder.
    fn end(&self, encoder: Self::Encoder, buffer: &mut Self::CommandBuffer);
    /// Commits a command buffer whose encoder is ended; `done` is completed once, on any thread, when it is.
    fn commit(&self, buffer: Self::CommandBuffer, done: Done);
    /// Releases a command buffer whose encoder, if it had one, is ended, without running it.
    fn discard(&self, buffer: Self::CommandBuffer);

    /// Records `dispatches` with the argument buffer `buffer` as kernel buffer 0.
    fn icb(&self, buffer: &Self::Buffer, dispatches: &[Recorded<'_, Self>]) -> Result<Self::Icb, String>;
    /// The handle of an indirect command buffer.
    fn icb_handle(&self, icb: &Self::Icb) -> usize;
    /// The handles of its commands.
    fn icb_commands(&self, icb: &Self::Icb) -> Box<[usize]>;

    /// Encodes a dispatch of `pipeline` that does nothing (see [`crate::quirks`]).
    fn touch(&self, encoder: &mut Self::Encoder, pipeline: &Self::Pipeline);
    /// Sets the pipeline of the dispatches that follow.
    fn set_pipeline(&self, encoder: &mut Self::Encoder, pipeline: &Self::Pipeline);
    /// Binds a buffer at an offset in bytes.
    fn set_buffer(&self, encoder: &mut Self::Encoder, buffer: &Self::Buffer, offset: u64, index: u32);
    /// Sets the length of a threadgroup memory argument in bytes.
    fn set_threadgroup_memory(&self, encoder: &mut Self::Encoder, bytes: u64, index: u32);
    /// Dispatches threadgroups.
    fn dispatch(&self, encoder: &mut Self::Encoder, groups: [u64; 3], threads: [u64; 3]);
    /// Runs `count` commands of a live indirect command buffer from `first` on.
    fn execute(&self, encoder: &mut Self::Encoder, icb: usize, first: u64, count: u64);
    /// Changes the sizes of a live indirect command buffer's command.
    fn set_command(&self, encoder: &mut Self::Encoder, command: usize, groups: [u64; 3], threads: [u64; 3]);

    /// Lets what is committed drain and releases the queue once it has.
    fn stop(&self);
}

/// What a device is, as its API says.
#[derive(Clone, Debug)]
pub struct Traits {
    /// The device's name for people.
    pub name: String,
    /// What it executes, such as `apple9`.
    pub arch: String,
    /// Bytes that may be live with good performance.
    pub budget: u64,
    /// The minimum constant buffer offset alignment in bytes.
    pub align: usize,
    /// Command buffers that the queue holds; at least 1.
    pub capacity: usize,
    /// Lanes in lockstep.
    pub simd_width: u32,
    /// The most threads of any threadgroup.
    pub max_threads: u32,
    /// Defects to work around.
    pub quirks: crate::quirks::Quirks,
}

/// A checked dispatch of an indirect command buffer.
pub struct Recorded<'a, A: Api> {
    /// Its pipeline.
    pub pipeline: &'a A::Pipeline,
    /// Where its arguments start, in bytes.
    pub offset: u64,
    /// Threadgroups per grid, each at least 1.
    pub groups: [u64; 3],
    /// Threads per threadgroup, each at least 1.
    pub threads: [u64; 3],
}

/// What became of a command buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it ran.
    pub result: Result<(), Failure>,
    /// When it started, in nanoseconds of the host's clock.
    pub start: u64,
    /// When it ended, in nanoseconds of the host's clock.
    pub end: u64,
}

/// Why a command buffer failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class of the failure.
    pub cause: Cause,
    /// The system's reason.
    pub reason: Arc<str>,
}

impl Failure {
    /// A failure with its reason.
    pub fn new(cause: Cause, reason: impl Into<Arc<str>>) -> Self {
        Self { cause, reason: reason.into() }
    }
}

/// Who is told that a command buffer completed.
pub trait Sink: Send + Sync {
    /// Records that the command buffer committed as number `seq` completed.
    fn completed(self: Arc<Self>, seq: u64, outcome: Outcome);
}

/// The completion of one committed command buffer.
pub struct Done {
    pub(crate) seq: u64,
    pub(crate) sink: Arc<dyn Sink>,
}

impl Done {
    /// Tells the driver what became of the command buffer. Never unwinds: the thread may be the system's.
    pub fn complete(self, outcome: Outcome) {
        // A panic here is a defect of the driver; the timeline then stands still and waits end at their deadlines.
        let _ = catch_unwind(AssertUnwindSafe(|| self.sink.completed(self.seq, outcome)));
    }
}
