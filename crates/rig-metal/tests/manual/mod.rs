//! A Metal API that runs nothing: its test completes command buffers by hand, in any order.
#![allow(dead_code)] // each test file uses its part

use rig_edge::{Code, Constant, Entry, Region};
use rig_metal::quirks::Quirks;
use rig_metal::{Api, Done, Outcome, Recorded, Traits};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Clone, Default)]
pub struct Manual {
    capacity: usize,
    state: Arc<Mutex<State>>,
}

/// What happened.
#[derive(Default)]
pub struct State {
    /// Committed command buffers, in order; those completed are taken out.
    pub committed: Vec<Option<Done>>,
    pub made: u64,
    pub encoders: u64,
    pub ended: u64,
    pub discarded: u64,
    /// Nothing is made any more.
    pub dry: bool,
    handles: usize,
    pub icbs: usize,
}

impl Manual {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, state: Arc::default() }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Command buffers committed and not completed, by their place in the order of commits.
    pub fn in_flight(&self) -> Vec<usize> {
        let state = self.state();
        (0..state.committed.len()).filter(|i| state.committed[*i].is_some()).collect()
    }

    /// Completes one.
    pub fn complete(&self, index: usize, outcome: Outcome) {
        let done = self.state().committed[index].take();
        done.expect("a command buffer in flight").complete(outcome);
    }

    fn handle(&self) -> usize {
        let mut state = self.state();
        state.handles += 16;
        state.handles
    }
}

pub struct CommandBuffer {
    open: bool,
}

pub struct Encoder(u64);

/// An indirect command buffer that counts itself.
pub struct Icb(usize, Manual);

impl Drop for Icb {
    fn drop(&mut self) {
        self.1.state().icbs -= 1;
    }
}

impl Api for Manual {
    type Buffer = (usize, u64);
    type Library = ();
    type Pipeline = usize;
    type CommandBuffer = CommandBuffer;
    type Encoder = Encoder;
    type Icb = Icb;

    fn traits(&self) -> Traits {
        Traits {
            name: "manual".into(),
            arch: "manual".into(),
            budget: 1 << 20,
            align: 4,
            capacity: self.capacity,
            simd_width: 1,
            max_threads: 1,
            quirks: Quirks::default(),
        }
    }
    fn buffer(&self, bytes: u64) -> Option<Self::Buffer> {
        Some((self.handle(), bytes))
    }
    fn region(&self, b: &Self::Buffer) -> Region {
        Region::new(b.0, b.0 as u64, b.1, std::ptr::null_mut())
    }
    fn read(&self, _: &Self::Buffer, _: u64, _: &mut [u8]) {}
    fn write(&self, _: &Self::Buffer, _: u64, _: &[u8]) {}
    fn release(&self, _: Self::Buffer) {}
    fn library(&self, _: &Code<'_>) -> Result<(), String> {
        Ok(())
    }
    fn pipeline(&self, (): &(), _: &str, _: &[Constant]) -> Result<(usize, Entry), String> {
        let handle = self.handle();
        Ok((handle, Entry { handle, max_threads: 1 }))
    }
    fn command_buffer(&self) -> Option<CommandBuffer> {
        let mut state = self.state();
        state.made += 1;
        (!state.dry).then_some(CommandBuffer { open: false })
    }
    fn encoder(&self, buffer: &mut CommandBuffer) -> Option<Encoder> {
        assert!(!buffer.open, "one encoder at a time");
        buffer.open = true;
        let mut state = self.state();
        state.encoders += 1;
        Some(Encoder(state.encoders))
    }
    fn word(&self, encoder: &mut Encoder) -> *mut c_void {
        std::ptr::without_provenance_mut(encoder.0 as usize)
    }
    fn end(&self, encoder: Encoder, buffer: &mut CommandBuffer) {
        assert!(buffer.open && encoder.0 > 0, "an encoder is ended once");
        buffer.open = false;
        self.state().ended += 1;
    }
    fn commit(&self, buffer: CommandBuffer, done: Done) {
        assert!(!buffer.open, "a commit with an open encoder");
        self.state().committed.push(Some(done));
    }
    fn discard(&self, buffer: CommandBuffer) {
        assert!(!buffer.open, "a discard with an open encoder");
        self.state().discarded += 1;
    }
    fn icb(&self, _: &Self::Buffer, _: &[Recorded<'_, Self>]) -> Result<Icb, String> {
        let handle = self.handle();
        self.state().icbs += 1;
        Ok(Icb(handle, self.clone()))
    }
    fn icb_handle(&self, icb: &Icb) -> usize {
        icb.0
    }
    fn icb_commands(&self, _: &Icb) -> Box<[usize]> {
        Box::new([])
    }
    fn touch(&self, _: &mut Encoder, _: &usize) {}
    fn set_pipeline(&self, _: &mut Encoder, _: &usize) {}
    fn set_buffer(&self, _: &mut Encoder, _: &Self::Buffer, _: u64, _: u32) {}
    fn set_threadgroup_memory(&self, _: &mut Encoder, _: u64, _: u32) {}
    fn dispatch(&self, _: &mut Encoder, _: [u64; 3], _: [u64; 3]) {}
    fn execute(&self, _: &mut Encoder, _: usize, _: u64, _: u64) {}
    fn set_command(&self, _: &mut Encoder, _: usize, _: [u64; 3], _: [u64; 3]) {}
    fn stop(&self) {}
}
