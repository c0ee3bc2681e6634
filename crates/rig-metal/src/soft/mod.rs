//! The Metal API on any machine: pipelines run on the CPU, one command buffer after the other, and faults happen when
//! [`Faults`] says so.
//!
//! Unlike Metal it finds some broken rules: work that uses memory, pipelines or indirect command buffers which are
//! released fails, and so does a change of an indirect command in flight.

#[allow(unsafe_code)] // faces C: the encoder a fill in C uses, kernels in C
mod encoder;
mod exec;
mod faults;
mod kernel;
mod memory;
mod table;

pub use encoder::{CKernel, CKernelFn, CLaunch, SoftEncoder};
pub use faults::Faults;
pub use kernel::{BUFFERS, Bound, Kernel, Kernels, Launch, SoftImage, Table};

use crate::quirks::Quirks;
use crate::{Api, Done, Metal, Outcome, Policy, Recorded, Traits, clock};
use encoder::Parts;
use exec::Command;
use memory::Memory;
use rig_edge::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use rig_edge::{Code, Constant, Entry, Region};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;
use table::{IcbCommand, IcbObject, Native};

/// The text of `include/rig_metal_encode.h`, for build scripts that compile fills.
pub const ENCODE_HEADER: &str = include_str!("../../include/rig_metal_encode.h");

/// Turns source text into an image; the place to plug a compiler in.
pub type Compiler = Arc<dyn Fn(&str) -> Result<Arc<SoftImage>, String> + Send + Sync>;

/// What a soft device is.
#[derive(Clone)]
pub struct Options {
    /// Bytes that may be live.
    pub budget: u64,
    /// The minimum constant buffer offset alignment: 4 as on Apple families, or 256 as on Mac families.
    pub align: usize,
    /// Command buffers that the queue holds.
    pub capacity: usize,
    /// Defects to have; the driver works around them.
    pub quirks: Quirks,
    /// When the driver commits.
    pub policy: Policy,
    /// What loads [`Code::Text`].
    pub compiler: Option<Compiler>,
    /// Whether a thread of the device runs what is committed. Without, [`Handle::run`] does.
    pub thread: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            budget: 1 << 30,
            align: 4,
            capacity: 1024,
            quirks: Quirks::default(),
            policy: Policy::default(),
            compiler: None,
            thread: true,
        }
    }
}

/// Opens a soft device; the handle injects its faults and looks inside.
pub fn open(options: Options) -> (Metal<Soft>, Handle) {
    let policy = options.policy;
    let soft = Soft::new(options);
    let handle = Handle(Arc::clone(&soft.inner));
    (Metal::open(soft, policy), handle)
}

/// The API of a soft device.
pub struct Soft {
    inner: Arc<Inner>,
}

/// A look inside a soft device.
#[derive(Clone)]
pub struct Handle(Arc<Inner>);

pub(crate) struct Inner {
    options: Options,
    quirks: Quirks,
    faults: Faults,
    table: Mutex<table::Table>,
    /// Live regions by device address.
    regions: Mutex<BTreeMap<u64, Arc<Memory>>>,
    queue: Mutex<Queue>,
    arrived: Condvar,
    pool: Mutex<Vec<Parts>>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Nothing more is committed once the jobs are done.
    stopping: bool,
    /// No thread takes jobs (any more).
    unmanned: bool,
}

struct Job {
    parts: Parts,
    done: Done,
}

impl Handle {
    /// The device's faults.
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }

    /// Runs the oldest committed command buffer on this thread; `false` if there is none. For devices without a
    /// thread.
    pub fn run(&self) -> bool {
        let mut queue = lock(&self.0.queue);
        let Some(job) = queue.jobs.pop_front() else { return false };
        let last = queue.jobs.is_empty();
        drop(queue);
        self.0.run(job, last);
        true
    }

    /// Committed command buffers that have not begun.
    pub fn waiting(&self) -> usize {
        lock(&self.0.queue).jobs.len()
    }

    /// Live objects of the system: buffers, pipelines, indirect command buffers.
    pub fn live(&self) -> [usize; 3] {
        self.0.table().count()
    }
}

impl Soft {
    fn new(options: Options) -> Self {
        let thread = options.thread;
        let queue = Queue { unmanned: !thread, ..Queue::default() };
        let inner = Arc::new(Inner {
            quirks: options.quirks,
            options,
            faults: Faults::default(),
            table: Mutex::new(table::Table::default()),
            regions: Mutex::new(BTreeMap::new()),
            queue: Mutex::new(queue),
            arrived: Condvar::new(),
            pool: Mutex::new(Vec::new()),
        });
        if thread {
            let worker = Arc::clone(&inner);
            let spawned = std::thread::Builder::new().name("rig-soft".into()).spawn(move || worker.work());
            if spawned.is_err() {
                // Without a thread the committing thread runs the work itself.
                lock(&inner.queue).unmanned = true;
                lock(&inner.queue).stopping = true;
            }
        }
        Self { inner }
    }
}

impl Inner {
    pub(crate) fn table(&self) -> MutexGuard<'_, table::Table> {
        lock(&self.table)
    }

    /// The live region that holds the device address `address`, and the offset in it.
    pub(crate) fn resolve(&self, address: u64) -> Result<(Arc<Memory>, u64), String> {
        let regions = lock(&self.regions);
        let below = regions.range(..=address).next_back();
        match below {
            Some((base, memory)) if address - base < memory.bytes() => Ok((Arc::clone(memory), address - base)),
            _ => Err(format!("the address {address:#x} lies in no live region")),
        }
    }

    fn work(&self) {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                let last = queue.jobs.is_empty();
                drop(queue);
                self.run(job, last);
                queue = lock(&self.queue);
            } else if queue.stopping {
                queue.unmanned = true;
                return;
            } else {
                queue = wait(&self.arrived, queue);
            }
        }
    }

    fn run(&self, job: Job, last: bool) {
        let Job { mut parts, done } = job;
        let (failure, slow) = self.faults.begin();
        let start = clock::now();
        let result = match failure {
            Some(failure) => Err(failure),
            None => exec::run(self, parts.body()),
        };
        if !slow.is_zero() {
            std::thread::sleep(slow);
        }
        let end = clock::now();
        self.recycle(parts);
        self.faults.deliver(done, Outcome { result, start, end }, last);
    }

    fn recycle(&self, mut parts: Parts) {
        parts.body().clear();
        lock(&self.pool).push(parts);
    }
}

/// A buffer of the soft device.
#[derive(Clone)]
pub struct SoftBuffer {
    handle: usize,
    memory: Arc<Memory>,
}

/// An open command buffer of the soft device; its body is in the encoder while that is open.
pub struct SoftCommandBuffer(Option<Parts>);

/// A pipeline of the soft device.
#[derive(Clone)]
pub struct SoftPipeline(Arc<PipelineObject>);

struct PipelineObject {
    device: Arc<Inner>,
    handle: usize,
    kernel: Arc<dyn Kernel>,
}

impl Drop for PipelineObject {
    fn drop(&mut self) {
        // Dropped outside the lock: the kernel is the user's.
        let native = self.device.table().remove(self.handle);
        drop(native);
    }
}

/// An indirect command buffer of the soft device.
pub struct SoftIcb {
    device: Arc<Inner>,
    handle: usize,
    commands: Box<[usize]>,
}

impl Drop for SoftIcb {
    fn drop(&mut self) {
        let mut table = self.device.table();
        let native = table.remove(self.handle);
        for command in &self.commands {
            table.remove(*command);
        }
        drop(table);
        // Outside the lock: the last reference to a pipeline takes it.
        drop(native);
    }
}

impl Api for Soft {
    type Buffer = SoftBuffer;
    type Library = Arc<dyn Kernels>;
    type Pipeline = SoftPipeline;
    type CommandBuffer = SoftCommandBuffer;
    type Encoder = SoftEncoder;
    type Icb = SoftIcb;

    fn traits(&self) -> Traits {
        let o = &self.inner.options;
        Traits {
            name: "software device".into(),
            arch: "soft".into(),
            budget: o.budget,
            align: o.align,
            capacity: o.capacity,
            simd_width: 32,
            max_threads: 1024,
            quirks: o.quirks,
        }
    }

    fn buffer(&self, bytes: u64) -> Option<SoftBuffer> {
        if self.inner.faults.refuses_buffer() {
            return None;
        }
        let memory = Arc::new(Memory::new(bytes)?);
        lock(&self.inner.regions).insert(memory.address(), Arc::clone(&memory));
        let handle = self.inner.table().insert(Native::Buffer(Arc::clone(&memory)));
        Some(SoftBuffer { handle, memory })
    }

    fn region(&self, b: &SoftBuffer) -> Region {
        Region::new(b.handle, b.memory.address(), b.memory.bytes(), b.memory.host())
    }

    fn read(&self, b: &SoftBuffer, offset: u64, out: &mut [u8]) {
        b.memory.read(offset, out);
    }

    fn write(&self, b: &SoftBuffer, offset: u64, bytes: &[u8]) {
        b.memory.write(offset, bytes);
    }

    fn release(&self, b: SoftBuffer) {
        let native = self.inner.table().remove(b.handle);
        drop(native);
        lock(&self.inner.regions).remove(&b.memory.address());
    }

    fn library(&self, code: &Code<'_>) -> Result<Arc<dyn Kernels>, String> {
        let image = match code {
            Code::Host(value) => Arc::clone(value)
                .downcast::<SoftImage>()
                .map_err(|_| "the soft device loads host values of type `SoftImage`".to_string())?,
            Code::Text(text) => {
                let compiler = self.inner.options.compiler.as_ref();
                compiler.ok_or("this soft device has no compiler for text")?(text)?
            }
            Code::Binary(_) => return Err("the soft device has no binary format".into()),
        };
        Ok(Arc::clone(image.kernels()))
    }

    fn pipeline(
        &self,
        library: &Arc<dyn Kernels>,
        name: &str,
        constants: &[Constant],
    ) -> Result<(SoftPipeline, Entry), String> {
        let kernel = library.kernel(name, constants)?;
        let max_threads = kernel.max_threads().min(1024);
        let handle = self.inner.table().insert(Native::Pipeline(Arc::clone(&kernel)));
        let object = PipelineObject { device: Arc::clone(&self.inner), handle, kernel };
        Ok((SoftPipeline(Arc::new(object)), Entry { handle, max_threads }))
    }

    fn command_buffer(&self) -> Option<SoftCommandBuffer> {
        if self.inner.faults.refuses_command_buffer() {
            return None;
        }
        let pooled = lock(&self.inner.pool).pop();
        Some(SoftCommandBuffer(Some(pooled.unwrap_or_else(Parts::new))))
    }

    fn encoder(&self, buffer: &mut SoftCommandBuffer) -> Option<SoftEncoder> {
        if self.inner.faults.refuses_encoder() {
            return None;
        }
        let mut parts = buffer.0.take()?;
        parts.body().open(&self.inner);
        Some(parts.open())
    }

    fn word(&self, encoder: &mut SoftEncoder) -> *mut c_void {
        encoder.word()
    }

    fn end(&self, encoder: SoftEncoder, buffer: &mut SoftCommandBuffer) {
        buffer.0 = Some(encoder.close());
    }

    fn commit(&self, mut buffer: SoftCommandBuffer, done: Done) {
        let Some(parts) = buffer.0.take() else { return };
        let mut queue = lock(&self.inner.queue);
        let job = Job { parts, done };
        if queue.unmanned && queue.stopping {
            drop(queue);
            return self.inner.run(job, true);
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.inner.arrived.notify_one();
    }

    fn discard(&self, mut buffer: SoftCommandBuffer) {
        if let Some(parts) = buffer.0.take() {
            self.inner.recycle(parts);
        }
    }

    fn icb(&self, buffer: &SoftBuffer, dispatches: &[Recorded<'_, Self>]) -> Result<SoftIcb, String> {
        if self.inner.faults.refuses_icb() {
            return Err("Metal made no indirect command buffer".into());
        }
        let command = |d: &Recorded<'_, Self>| IcbCommand {
            pipeline: Arc::clone(&d.pipeline.0.kernel),
            pipeline_handle: d.pipeline.0.handle,
            arguments: buffer.handle,
            offset: d.offset,
            groups: d.groups,
            threads: d.threads,
        };
        let commands: Vec<_> = dispatches.iter().map(command).collect();
        let mut table = self.inner.table();
        let object = IcbObject { commands, running: 0 };
        let icb = table.insert(Native::Icb(object));
        let commands = (0..dispatches.len()).map(|index| table.insert(Native::Command { icb, index })).collect();
        drop(table);
        Ok(SoftIcb { device: Arc::clone(&self.inner), handle: icb, commands })
    }

    fn icb_handle(&self, icb: &SoftIcb) -> usize {
        icb.handle
    }

    fn icb_commands(&self, icb: &SoftIcb) -> Box<[usize]> {
        icb.commands.clone()
    }

    fn touch(&self, encoder: &mut SoftEncoder, pipeline: &SoftPipeline) {
        encoder.body().push(Command::Touch(pipeline.0.handle));
    }

    fn set_pipeline(&self, encoder: &mut SoftEncoder, pipeline: &SoftPipeline) {
        encoder.body().push(Command::Pipeline(pipeline.0.handle));
    }

    fn set_buffer(&self, encoder: &mut SoftEncoder, b: &SoftBuffer, offset: u64, index: u32) {
        encoder.body().push(Command::Buffer { handle: b.handle, offset, index });
    }

    fn set_threadgroup_memory(&self, encoder: &mut SoftEncoder, bytes: u64, index: u32) {
        encoder.body().push(Command::Threadgroup { bytes, index });
    }

    fn dispatch(&self, encoder: &mut SoftEncoder, groups: [u64; 3], threads: [u64; 3]) {
        encoder.body().push(Command::Dispatch { groups, threads });
    }

    fn execute(&self, encoder: &mut SoftEncoder, icb: usize, first: u64, count: u64) {
        encoder.body().execute(icb, first, count);
    }

    fn set_command(&self, encoder: &mut SoftEncoder, command: usize, groups: [u64; 3], threads: [u64; 3]) {
        encoder.body().set_command(command, groups, threads);
    }

    fn stop(&self) {
        lock(&self.inner.queue).stopping = true;
        self.inner.arrived.notify_one();
    }
}
