//! The soft device for the tests.

use crate::backend::{Backend, Control, Options};
use rig::{Cause, Code, Device, Image};
use rig_metal::Failure;
use rig_metal::quirks::Quirks;
use rig_metal::soft::{self, Handle, Kernel, Launch, SoftImage, Table};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

pub struct Soft;

/// A kernel with a limit of threads.
struct Tight;

impl Kernel for Tight {
    fn run(&self, l: &Launch<'_>) -> Result<(), String> {
        add(l)
    }

    fn max_threads(&self) -> u32 {
        64
    }
}

/// The `out` and `tag` of the argument structure.
fn args(l: &Launch<'_>) -> Result<(u64, u32), String> {
    let at = l.buffer(0)?.address;
    Ok((l.load_u64(at)?, l.load_u32(at + 8)?))
}

fn add(l: &Launch<'_>) -> Result<(), String> {
    let (out, tag) = args(l)?;
    l.store_u32(out, l.load_u32(out)?.wrapping_add(tag))
}

fn log(l: &Launch<'_>) -> Result<(), String> {
    let (out, tag) = args(l)?;
    let count = l.load_u32(out)? + 1;
    l.store_u32(out, count)?;
    l.store_u32(out + 4 * u64::from(count), tag)
}

fn grid(l: &Launch<'_>) -> Result<(), String> {
    let (out, _) = args(l)?;
    let n: u32 = l.groups.iter().chain(&l.threads).product();
    l.store_u32(out, l.load_u32(out)? + n)
}

fn local(l: &Launch<'_>) -> Result<(), String> {
    let (out, _) = args(l)?;
    l.store_u32(out, l.threadgroup[0])
}

pub fn image() -> Arc<dyn Any + Send + Sync> {
    let table =
        Table::default().with("add", add).with("log", log).with("grid", grid).with("local", local).with("tight", Tight);
    Arc::new(SoftImage::new(table))
}

impl Backend for Soft {
    type Api = soft::Soft;

    fn open(options: Options) -> (Device, Image, Box<dyn Control>) {
        let quirks = Quirks { touch_pipelines: options.touch_pipelines, short_offsets: true };
        let (metal, handle) = soft::open(soft::Options {
            capacity: options.capacity,
            align: options.align,
            quirks,
            ..soft::Options::default()
        });
        let device = Device::open(Box::new(metal));
        let image = Image::load(&device, &Code::Host(&image())).unwrap();
        (device, image, Box::new(handle))
    }

    fn encode_flags() -> Vec<String> {
        vec!["-DRIG_ENCODE_SOFT".into()]
    }
}

impl Control for Handle {
    fn no_command_buffer_after(&self, calls: u64) {
        self.faults().no_command_buffer_after(calls);
    }
    fn no_encoder_after(&self, calls: u64) {
        self.faults().no_encoder_after(calls);
    }
    fn no_icb_after(&self, calls: Option<u64>) {
        self.faults().no_icb_after(calls);
    }
    fn no_buffer_after(&self, calls: Option<u64>) {
        self.faults().no_buffer_after(calls);
    }
    fn fail_after(&self, good: usize, cause: Cause, reason: &str) {
        self.faults().fail_after(good, Failure::new(cause, reason));
    }
    fn never_complete(&self, count: u32) {
        self.faults().never_complete(count);
    }
    fn release_stuck(&self) {
        self.faults().release_stuck();
    }
    fn slow(&self, by: Duration) {
        self.faults().slow(by);
    }
    fn slow_icb(&self, by: Duration) {
        self.faults().slow_icb(by);
    }
    fn reverse_handlers(&self, window: usize) {
        self.faults().reverse_handlers(window);
    }
    fn pause(&self) {
        self.faults().pause();
    }
    fn resume(&self) {
        self.faults().resume();
    }
    fn waiting(&self) -> usize {
        Handle::waiting(self)
    }
    fn live(&self) -> [usize; 3] {
        Handle::live(self)
    }
}
