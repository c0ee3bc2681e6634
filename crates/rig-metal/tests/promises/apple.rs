//! Apple's Metal for the tests, on the software classes of tools/metal-on-linux.

use crate::backend::{Backend, Control, Options, library, root};
use metal_on_linux as mol;
use rig::{Cause, Code, Device, Image};
use rig_metal::apple;
use std::ffi::c_void;
use std::time::Duration;

pub struct Apple;

/// Metal source for the kernels' names alone: the classes run C functions.
const SOURCE: &str = "kernel void add(\nkernel void log(\nkernel void grid(\nkernel void local(\nkernel void tight(";

impl Backend for Apple {
    type Api = apple::Apple;

    fn open(options: Options) -> (Device, Image, Box<dyn Control>) {
        let family = match (options.align, options.touch_pipelines) {
            (256, _) => 0,
            (_, true) => 8,
            (_, false) => 9,
        };
        let device = mol::Device::new(family);
        let kernels = library(&root().join("crates/rig-metal/tests/promises/kernels.c"), &[]);
        for (name, symbol, threads) in [
            ("add", "k_add", 1024),
            ("log", "k_log", 1024),
            ("grid", "k_grid", 1024),
            ("local", "k_local", 1024),
            ("tight", "k_add", 64),
        ] {
            // SAFETY: the symbols are kernels; the library is never unloaded.
            unsafe {
                let kernel = kernels.get::<*const c_void>(symbol.as_bytes()).unwrap();
                device.register(name, *kernel, threads);
            }
        }
        let how = apple::Options { capacity: options.capacity, ..apple::Options::default() };
        let metal = apple::open_device(device.metal(), how).unwrap();
        let rig = Device::open(Box::new(metal));
        let image = Image::load(&rig, &Code::Text(SOURCE)).unwrap();
        (rig, image, Box::new(Controls(device)))
    }

    fn encode_flags() -> Vec<String> {
        vec!["-DRIG_ENCODE_OBJC".into(), "-lobjc".into()]
    }
}

struct Controls(mol::Device);

// SAFETY: the classes' controls lock; the device is one of Metal's objects, which go to any thread.
unsafe impl Send for Controls {}
// SAFETY: as above.
unsafe impl Sync for Controls {}

/// A countdown as `mol_set` takes it.
fn calls(n: Option<u64>) -> i64 {
    n.map_or(-1, |n| n as i64)
}

impl Control for Controls {
    fn no_command_buffer_after(&self, n: u64) {
        self.0.set("command_buffer", n as i64);
    }
    fn no_encoder_after(&self, n: u64) {
        self.0.set("encoder", n as i64);
    }
    fn no_icb_after(&self, n: Option<u64>) {
        self.0.set("icb", calls(n));
    }
    fn no_buffer_after(&self, n: Option<u64>) {
        self.0.set("buffer", calls(n));
    }
    fn fail_after(&self, good: usize, cause: Cause, reason: &str) {
        // MTLCommandBufferError; a victim has no code of its own.
        let code = match cause {
            Cause::Timeout => 2,
            Cause::PageFault => 3,
            Cause::NotPermitted => 7,
            Cause::OutOfMemory => 8,
            Cause::InvalidResource => 9,
            Cause::DeviceRemoved => 11,
            Cause::StackOverflow => 12,
            Cause::InnocentVictim | Cause::Other => 1,
        };
        self.0.fail_after(good as u64, code, reason);
    }
    fn never_complete(&self, count: u32) {
        self.0.set("never", i64::from(count));
    }
    fn release_stuck(&self) {
        self.0.release_stuck();
    }
    fn slow(&self, by: Duration) {
        self.0.set("slow_us", by.as_micros() as i64);
    }
    fn slow_icb(&self, by: Duration) {
        self.0.set("slow_icb_us", by.as_micros() as i64);
    }
    fn reverse_handlers(&self, window: usize) {
        self.0.set("reverse", window as i64);
    }
    fn pause(&self) {
        self.0.set("paused", 1);
    }
    fn resume(&self) {
        self.0.set("paused", 0);
    }
    fn waiting(&self) -> usize {
        self.0.look()[3] as usize
    }
    fn live(&self) -> [usize; 3] {
        let [buffers, pipelines, icbs, _] = self.0.look();
        [buffers as usize, pipelines as usize, icbs as usize]
    }
}
