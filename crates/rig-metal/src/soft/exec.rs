//! Command buffers of the soft device: what is recorded, and how it runs.

use super::Inner;
use super::kernel::{BUFFERS, Bound, Kernel, Launch};
use super::memory::Memory;
use super::table::Native;
use crate::Failure;
use rig_edge::Cause;
use std::sync::Arc;

/// A recorded command. Handles are looked up when the command runs, so one whose object is gone by then is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    Pipeline(usize),
    Buffer { handle: usize, offset: u64, index: u32 },
    Threadgroup { bytes: u64, index: u32 },
    Dispatch { groups: [u64; 3], threads: [u64; 3] },
    Execute { icb: usize, first: u64, count: u64 },
    Touch(usize),
}

/// A command buffer's contents.
#[derive(Default)]
pub(crate) struct Body {
    commands: Vec<Command>,
    /// Indirect command buffers it runs, one entry for each run, counted as in flight until it has completed.
    runs: Vec<usize>,
    /// A rule that its encoding broke.
    broken: Option<Failure>,
    /// The device, while it is open.
    device: Option<Arc<Inner>>,
}

impl Body {
    /// Opens it for `device`.
    pub fn open(&mut self, device: &Arc<Inner>) {
        self.device = Some(Arc::clone(device));
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        if let Some(device) = self.device.take() {
            let mut table = device.table();
            for icb in self.runs.drain(..) {
                table.run_ended(icb);
            }
        }
        self.commands.clear();
        self.broken = None;
    }

    pub fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub fn execute(&mut self, icb: usize, first: u64, count: u64) {
        let Some(device) = &self.device else { return };
        device.table().run_began(icb);
        self.runs.push(icb);
        self.commands.push(Command::Execute { icb, first, count });
    }

    /// Changes an indirect command at once, as Metal does; a change while a run is in flight breaks the rules.
    pub fn set_command(&mut self, command: usize, groups: [u64; 3], threads: [u64; 3]) {
        let Some(device) = &self.device else { return };
        if let Err(reason) = device.table().set_command(command, groups, threads) {
            self.broken.get_or_insert(Failure::new(Cause::InvalidResource, reason));
        }
    }
}

/// The state of an encoder as its commands run.
struct Encoder {
    pipeline: Option<usize>,
    buffers: [Option<(usize, u64)>; BUFFERS],
    threadgroup: [u32; BUFFERS],
    touched: Vec<usize>,
}

/// Runs a command buffer.
pub(crate) fn run(device: &Inner, body: &Body) -> Result<(), Failure> {
    if let Some(failure) = &body.broken {
        return Err(failure.clone());
    }
    let mut state =
        Encoder { pipeline: None, buffers: [None; BUFFERS], threadgroup: [0; BUFFERS], touched: Vec::new() };
    for command in &body.commands {
        step(device, &mut state, *command)?;
    }
    Ok(())
}

fn step(device: &Inner, state: &mut Encoder, command: Command) -> Result<(), Failure> {
    let slot = |index: u32| -> Result<usize, Failure> {
        let index = index as usize;
        if index < BUFFERS { Ok(index) } else { Err(invalid(format!("no argument index {index}"))) }
    };
    match command {
        Command::Pipeline(handle) => state.pipeline = Some(handle),
        Command::Buffer { handle, offset, index } => state.buffers[slot(index)?] = Some((handle, offset)),
        Command::Threadgroup { bytes, index } => {
            state.threadgroup[slot(index)?] = bytes.try_into().map_err(|_| invalid("threadgroup memory"))?;
        }
        Command::Touch(handle) => state.touched.push(handle),
        Command::Dispatch { groups, threads } => {
            let pipeline = state.pipeline.ok_or_else(|| invalid("a dispatch without a pipeline"))?;
            launch(device, pipeline, &state.buffers, &state.threadgroup, groups, threads)?;
        }
        Command::Execute { icb, first, count } => {
            for i in first..first.saturating_add(count) {
                let one = device.table().command(icb, i).map_err(invalid)?;
                if device.quirks.touch_pipelines && !state.touched.contains(&one.pipeline_handle) {
                    return Err(Failure::new(Cause::PageFault, "a pipeline of an indirect command is not resident"));
                }
                let mut buffers = [None; BUFFERS];
                buffers[0] = Some((one.arguments, one.offset));
                let bound = bind(device, &buffers)?;
                call(device, &*one.pipeline, &bound, &[0; BUFFERS], one.groups, one.threads)?;
            }
        }
    }
    Ok(())
}

fn launch(
    device: &Inner,
    pipeline: usize,
    buffers: &[Option<(usize, u64)>; BUFFERS],
    threadgroup: &[u32; BUFFERS],
    groups: [u64; 3],
    threads: [u64; 3],
) -> Result<(), Failure> {
    let kernel = match device.table().get(pipeline) {
        Some(Native::Pipeline(kernel)) => Arc::clone(kernel),
        _ => return Err(invalid("a dispatch of a pipeline that is not loaded")),
    };
    let bound = bind(device, buffers)?;
    call(device, &*kernel, &bound, threadgroup, groups, threads)
}

/// The bound buffers, held for the launch.
struct Binding {
    bound: [Option<Bound>; BUFFERS],
    _held: [Option<Arc<Memory>>; BUFFERS],
}

fn bind(device: &Inner, buffers: &[Option<(usize, u64)>; BUFFERS]) -> Result<Binding, Failure> {
    let mut binding = Binding { bound: [None; BUFFERS], _held: [const { None }; BUFFERS] };
    let table = device.table();
    for (i, slot) in buffers.iter().enumerate() {
        let Some((handle, offset)) = *slot else { continue };
        let Some(Native::Buffer(memory)) = table.get(handle) else {
            return Err(Failure::new(Cause::PageFault, format!("the buffer bound at {i} is not resident")));
        };
        if offset > memory.bytes() {
            return Err(Failure::new(Cause::PageFault, format!("an offset outside the buffer bound at {i}")));
        }
        binding.bound[i] = Some(Bound { address: memory.address() + offset, bytes: memory.bytes() - offset });
        binding._held[i] = Some(Arc::clone(memory));
    }
    Ok(binding)
}

fn call(
    device: &Inner,
    kernel: &dyn Kernel,
    binding: &Binding,
    threadgroup: &[u32; BUFFERS],
    groups: [u64; 3],
    threads: [u64; 3],
) -> Result<(), Failure> {
    let narrow = |s: [u64; 3]| -> Result<[u32; 3], Failure> {
        let mut out = [0; 3];
        for (o, v) in out.iter_mut().zip(s) {
            *o = u32::try_from(v).map_err(|_| invalid("a grid above 32 bits"))?;
        }
        Ok(out)
    };
    let per_group = threads.iter().fold(1u64, |n, &t| n.saturating_mul(t));
    if per_group > u64::from(kernel.max_threads()) {
        return Err(invalid(format!("{per_group} threads per threadgroup")));
    }
    let (groups, threads) = (narrow(groups)?, narrow(threads)?);
    if groups.contains(&0) || threads.contains(&0) {
        return Ok(());
    }
    let launch = Launch { groups, threads, buffers: &binding.bound, threadgroup, device };
    kernel.run(&launch).map_err(|reason| Failure::new(Cause::PageFault, reason))
}

fn invalid(reason: impl Into<Arc<str>>) -> Failure {
    Failure::new(Cause::InvalidResource, reason)
}
