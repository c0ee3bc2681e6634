//! Records 1,000 dispatches in an indirect command buffer and submits it 10,000 times.
//!
//! `cargo run --release -p rig-metal --example replay [DISPATCHES [SUBMITS]]`. On a Mac the dispatches run on its GPU,
//! elsewhere on the software device.

use rig::{Buffer, Code, Device, Error, Image, Submission};
use rig_metal::Api;
use rig_metal_abi::{Dispatch, KEY};
use std::time::Instant;

/// What each dispatch finds at its place in the argument buffer: the device address of a word, to which it adds one.
const ARGUMENT_BYTES: u64 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1).map(|a| a.parse::<u64>());
    let dispatches = args.next().transpose()?.unwrap_or(1_000);
    let submits = args.next().transpose()?.unwrap_or(10_000);
    let (device, image) = system::open()?;
    println!("{}: {dispatches} dispatches, {submits} submits", device.facts().name);
    let began = Instant::now();
    let sum = replay::<system::Api>(&device, &image, dispatches, submits)?;
    let spent = began.elapsed();
    assert_eq!(u64::from(sum), dispatches * submits % (1 << 32), "each dispatch ran once for each submit");
    let each = spent.as_nanos() as f64 / (dispatches * submits) as f64;
    println!("{sum} after {spent:.2?}: {each:.1} ns for each dispatch, its work included");
    Ok(())
}

/// Runs the whole: the record is found by its key, the buffer is recorded once, submitted many times, read back.
fn replay<A: Api>(
    device: &Device,
    image: &Image,
    dispatches: u64,
    submits: u64,
) -> Result<u32, Box<dyn std::error::Error>> {
    let record = device.capability(&KEY).ok_or("no Metal device")?;
    let entry = image.entry("add_one")?;
    let counter = Buffer::new(device, 4)?;
    let stride = ARGUMENT_BYTES.next_multiple_of(record.align() as u64);
    let arguments = Buffer::new(device, stride * dispatches.max(1))?;
    for i in 0..dispatches {
        arguments.write(i * stride, &counter.address().to_ne_bytes())?;
    }
    let one = |i: u64| Dispatch {
        pipeline: entry.handle(),
        // From the first byte of the MTLBuffer: the buffer's own offset, and the offset in it.
        offset: (arguments.offset() + i * stride) as i64,
        groups: [1; 3],
        threads: [1; 3],
    };
    let icb = record.icb(arguments.handle(), &(0..dispatches).map(one).collect::<Vec<_>>())?;
    let icb = std::sync::Arc::new(icb);
    let run = std::sync::Arc::clone(&icb);
    let submission = Submission::new(device)
        .label("replay")
        .fill(rig_metal::fill::<A, _>(move |encoder| encoder.execute(&run)))
        .writes(&counter)
        .reads(&arguments)
        // The record keeps neither: the submission does.
        .keep(icb)
        .build()?;
    for _ in 0..submits {
        submission.submit()?;
    }
    device.now().wait()?;
    let mut sum = [0; 4];
    counter.read(0, &mut sum)?;
    Ok(u32::from_ne_bytes(sum))
}

#[cfg(target_vendor = "apple")]
mod system {
    use super::{Code, Device, Error, Image};

    pub type Api = rig_metal::apple::Apple;

    const SOURCE: &str = "#include <metal_stdlib>
        struct Arguments { device uint *word; };
        kernel void add_one(constant Arguments &a [[buffer(0)]]) { *a.word += 1; }";

    pub fn open() -> Result<(Device, Image), Error> {
        let device = Device::open(Box::new(rig_metal::apple::open(Default::default())?));
        let image = Image::load(&device, &Code::Text(SOURCE))?;
        Ok((device, image))
    }
}

#[cfg(not(target_vendor = "apple"))]
mod system {
    use super::{Code, Device, Error, Image};
    use rig_metal::soft::{self, Launch, SoftImage, Table};
    use std::any::Any;
    use std::sync::Arc;

    pub type Api = soft::Soft;

    fn add_one(launch: &Launch<'_>) -> Result<(), String> {
        let word = launch.load_u64(launch.buffer(0)?.address)?;
        launch.store_u32(word, launch.load_u32(word)?.wrapping_add(1))
    }

    pub fn open() -> Result<(Device, Image), Error> {
        let device = Device::open(Box::new(soft::open(soft::Options::default()).0));
        let kernels: Arc<dyn Any + Send + Sync> = Arc::new(SoftImage::new(Table::default().with("add_one", add_one)));
        let image = Image::load(&device, &Code::Host(&kernels))?;
        Ok((device, image))
    }
}
