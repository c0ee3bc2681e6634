//! What the runtime costs on the software device, in one table. `cargo bench -p rig-metal`.
//!
//! The device runs kernels that do nothing, on a thread of its own, so the numbers are the runtime's and the software
//! device's; they say nothing about a GPU. Each number is the least of nine runs, with how far their median lies above it. The
//! second column is the same work under the plainest rule, a command buffer for each submit, which is what runtimes do
//! that leave batching to their callers (wgpu's `Queue::submit`, one `commit` for each evaluation). `benches/peers`
//! prints the rows that wgpu itself has, on lavapipe.

use rig::{Buffer, Code, Device, Fill, Image, Submission};
use rig_metal::Policy;
use rig_metal::soft::{self, Handle, Launch, Soft, SoftImage, Table};
use rig_metal_abi::{Dispatch, KEY};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RUNS: usize = 9;

struct Bench {
    device: Device,
    soft: Handle,
    image: Image,
    buffer: Buffer,
}

fn open(policy: Policy) -> Bench {
    let (metal, soft) = soft::open(soft::Options { policy, ..soft::Options::default() });
    let device = Device::open(Box::new(metal));
    let nothing = |_: &Launch<'_>| -> Result<(), String> { Ok(()) };
    let kernels: Arc<dyn Any + Send + Sync> = Arc::new(SoftImage::new(Table::default().with("nothing", nothing)));
    let image = Image::load(&device, &Code::Host(&kernels)).unwrap();
    let buffer = Buffer::new(&device, 1 << 16).unwrap();
    Bench { device, soft, image, buffer }
}

/// The rule of runtimes that commit each submit.
const PLAIN: Policy = Policy { values: 1, in_flight: usize::MAX };

/// A fill of `count` dispatches.
fn dispatching(b: &Bench, count: usize) -> Fill {
    let entry = b.image.entry("nothing").unwrap();
    let (pipeline, buffer) = (entry.handle(), b.buffer.handle());
    rig_metal::fill::<Soft, _>(move |e| {
        for i in 0..count {
            e.set_pipeline(pipeline)?;
            e.set_buffer(buffer, (i % 64) as u64 * 16, 0)?;
            e.dispatch([1; 3], [1; 3])?;
        }
        Ok(())
    })
}

fn submission(b: &Bench, fill: Option<Fill>) -> Submission {
    let s = Submission::new(&b.device).writes(&b.buffer).keep(b.image.clone());
    match fill {
        Some(fill) => s.fill(fill),
        None => s,
    }
    .build()
    .unwrap()
}

/// Nanoseconds for each of `count` calls of `f`, then waits for the device outside the measured time.
fn each(b: &Bench, count: u32, mut f: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..count {
        f();
    }
    let spent = began.elapsed();
    b.device.now().wait().unwrap();
    spent.as_nanos() as f64 / f64::from(count)
}

fn empty_submit(policy: Policy) -> f64 {
    let b = open(policy);
    let s = submission(&b, None);
    each(&b, 100_000, || drop(s.submit().unwrap()))
}

/// An empty fill: a submission that has a command buffer.
fn empty_fill(policy: Policy) -> f64 {
    let b = open(policy);
    let s = submission(&b, Some(Fill::from_fn(|_, _| 0)));
    each(&b, 20_000, || drop(s.submit().unwrap()))
}

fn dispatch_in_fill(policy: Policy) -> f64 {
    let b = open(policy);
    let s = submission(&b, Some(dispatching(&b, 1000)));
    b.soft.faults().pause();
    s.submit().unwrap();
    let ns = {
        let began = Instant::now();
        for _ in 0..50 {
            s.submit().unwrap();
        }
        began.elapsed().as_nanos() as f64 / 50_000.0
    };
    b.soft.faults().resume();
    b.device.now().wait().unwrap();
    ns
}

/// From submit to the end of the work, for each dispatch: encoded anew each time.
fn dispatch_and_run(policy: Policy) -> f64 {
    let b = open(policy);
    let s = submission(&b, Some(dispatching(&b, 1000)));
    hundred(&b, &s)
}

/// Nanoseconds for each of a thousand dispatches of a hundred submits, once the device is warm.
fn hundred(b: &Bench, s: &Submission) -> f64 {
    let run = || {
        let began = Instant::now();
        for _ in 0..100 {
            s.submit().unwrap();
        }
        b.device.now().wait().unwrap();
        began.elapsed().as_nanos() as f64 / 100_000.0
    };
    run();
    run();
    run()
}

/// The same, replayed from an indirect command buffer.
fn replay_and_run(policy: Policy) -> f64 {
    let b = open(policy);
    let entry = b.image.entry("nothing").unwrap();
    let one = |i: i64| Dispatch { pipeline: entry.handle(), offset: i % 64 * 16, groups: [1; 3], threads: [1; 3] };
    let ds: Vec<_> = (0..1000).map(one).collect();
    let icb = Arc::new(b.device.capability(&KEY).unwrap().icb(b.buffer.handle(), &ds).unwrap());
    let run = Arc::clone(&icb);
    let fill = rig_metal::fill::<Soft, _>(move |e| e.execute(&run));
    let s = Submission::new(&b.device).fill(fill).writes(&b.buffer).keep(icb).build().unwrap();
    hundred(&b, &s)
}

/// Microseconds from a submit of one dispatch to the return of the wait for it.
fn round_trip(policy: Policy) -> f64 {
    let b = open(policy);
    let s = submission(&b, Some(dispatching(&b, 1)));
    let mut times: Vec<Duration> = (0..2_000)
        .map(|_| {
            let began = Instant::now();
            s.submit().unwrap().wait().unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2].as_nanos() as f64 / 1000.0
}

fn idle_check(policy: Policy) -> f64 {
    let b = open(policy);
    each(&b, 1_000_000, || assert!(std::hint::black_box(&b.device).idle()))
}

/// The least of several runs, and the median above it in percent.
fn least(f: impl Fn() -> f64) -> (f64, f64) {
    let mut runs: Vec<f64> = (0..RUNS).map(|_| f()).collect();
    runs.sort_by(f64::total_cmp);
    (runs[0], (runs[RUNS / 2] / runs[0] - 1.0) * 100.0)
}

fn main() {
    type Measure = fn(Policy) -> f64;
    let rows: [(&str, &str, Measure); 7] = [
        ("submit, no fill", "ns", empty_submit),
        ("submit, a fill that encodes nothing", "ns", empty_fill),
        ("encode a dispatch in a fill (pipeline, buffer, dispatch)", "ns", dispatch_in_fill),
        ("encode and run a dispatch", "ns", dispatch_and_run),
        ("replay and run a dispatch of an indirect command buffer", "ns", replay_and_run),
        ("submit one dispatch and wait", "µs", round_trip),
        ("ask whether the device is idle", "ns", idle_check),
    ];
    println!("{:<58} {:>18} {:>26}", "software device", "rig", "a command buffer each");
    for (name, unit, measure) in rows {
        let (ours, spread) = least(|| measure(Policy::default()));
        let (plain, plain_spread) = least(|| measure(PLAIN));
        println!("{name:<58} {ours:>9.1} {unit} +{spread:>3.0}% {plain:>17.1} {unit} +{plain_spread:>3.0}%");
    }
}
