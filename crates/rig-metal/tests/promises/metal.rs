//! A Mac's own device for the tests that need no faults.

use crate::backend::{Backend, Control, Options};
use rig::{Cause, Code, Device, Image};
use rig_metal::apple;
use std::time::Duration;

pub struct Metal;

/// The kernels of `kernels.c` in the Metal shading language, one thread each.
const SOURCE: &str = r"
#include <metal_stdlib>
using namespace metal;
struct Args { device uint *out; uint tag; uint unused; };
kernel void add(constant Args &a [[buffer(0)]]) { *a.out += a.tag; }
[[max_total_threads_per_threadgroup(64)]]
kernel void tight(constant Args &a [[buffer(0)]]) { *a.out += a.tag; }
kernel void log(constant Args &a [[buffer(0)]]) { a.out[0] += 1; a.out[a.out[0]] = a.tag; }
kernel void grid(constant Args &a [[buffer(0)]]) { atomic_fetch_add_explicit((device atomic_uint *)a.out, 1, memory_order_relaxed); }
";

impl Backend for Metal {
    type Api = apple::Apple;

    fn open(options: Options) -> (Device, Image, Box<dyn Control>) {
        let how = apple::Options { capacity: options.capacity, ..apple::Options::default() };
        let metal = apple::open(how).expect("a Mac with macOS 15 and a physical GPU");
        let rig = Device::open(Box::new(metal));
        let image = Image::load(&rig, &Code::Text(SOURCE)).unwrap();
        (rig, image, Box::new(NoControl))
    }

    fn encode_flags() -> Vec<String> {
        vec!["-DRIG_ENCODE_OBJC".into(), "-lobjc".into()]
    }
}

/// A real device is told nothing. What only makes a race likelier is left out; what a test needs to see is missing.
struct NoControl;

fn missing() -> ! {
    panic!("a real device has no faults on demand; this test is not in its list")
}

impl Control for NoControl {
    fn no_command_buffer_after(&self, _: u64) {
        missing()
    }
    fn no_encoder_after(&self, _: u64) {
        missing()
    }
    fn no_icb_after(&self, _: Option<u64>) {
        missing()
    }
    fn no_buffer_after(&self, _: Option<u64>) {
        missing()
    }
    fn fail_after(&self, _: usize, _: Cause, _: &str) {
        missing()
    }
    fn never_complete(&self, _: u32) {
        missing()
    }
    fn release_stuck(&self) {
        missing()
    }
    fn slow(&self, _: Duration) {}
    fn slow_icb(&self, _: Duration) {
        missing()
    }
    fn reverse_handlers(&self, _: usize) {}
    fn pause(&self) {}
    fn resume(&self) {}
    fn waiting(&self) -> usize {
        0
    }
    fn live(&self) -> [usize; 3] {
        [0; 3]
    }
}
