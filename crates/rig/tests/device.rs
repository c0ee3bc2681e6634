//! Hazards, keeping, holds, budgets, loss and profiles of devices.

mod common;

use common::{add, add_to, open, word};
use rig::{Access, Buffer, Cause, Code, Constant, Error, FaultKind, Hold, Image, Profile, Submission};
use rig_metal::Failure;
use rig_metal::soft::{Kernel, Kernels, Launch, SoftImage};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Sets a flag when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn flag() -> (Flag, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    (Flag(Arc::clone(&dropped)), dropped)
}

/// Whether the host would wait before it touches the buffer.
fn waits(buffer: &Buffer, access: Access) -> bool {
    match buffer.wait(access, Some(Instant::now())) {
        Ok(()) => false,
        Err(Error::Timeout) => true,
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn the_host_reads_after_the_last_write_and_writes_after_every_use_of_the_same_bytes() {
    let (device, soft) = open();
    let entry = add(&device);
    let all = Buffer::new(&device, 64).unwrap();
    let (written, read, untouched) = (all.view(0..16).unwrap(), all.view(16..32).unwrap(), all.view(32..64).unwrap());
    let s = Submission::new(&device)
        .fill(common::adding(&entry, &written))
        .writes(&written)
        .reads(&read)
        .keep(entry)
        .build()
        .unwrap();
    soft.faults().pause();
    let point = s.submit().unwrap();
    assert!(waits(&written, Access::Read) && waits(&written, Access::Write));
    assert!(!waits(&read, Access::Read) && waits(&read, Access::Write));
    assert!(!waits(&untouched, Access::Read) && !waits(&untouched, Access::Write));
    assert!(waits(&all, Access::Read), "a view's use counts for what overlaps it");
    untouched.write(0, &[1; 8]).unwrap();
    let late = std::thread::scope(|scope| {
        let reader = scope.spawn(|| word(&written));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!reader.is_finished());
        soft.faults().resume();
        reader.join().unwrap()
    });
    assert_eq!(late, 1);
    assert!(point.signaled() && !waits(&all, Access::Write));
}

#[test]
fn ranges_are_checked() {
    let (device, _) = open();
    let b = Buffer::new(&device, 10).unwrap();
    let v = b.view(2..6).unwrap();
    assert_eq!((v.len(), v.offset(), v.handle()), (4, 2, b.handle()));
    assert_eq!(v.view(1..4).unwrap().offset(), 3);
    for bad in [0..5, 4..5, 1..1] {
        assert!(matches!(v.view(bad), Err(Error::Invalid(_))));
    }
    v.write(1, &[7, 8, 9]).unwrap();
    let mut bytes = [0; 10];
    b.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 0, 0, 7, 8, 9, 0, 0, 0, 0]);
    assert!(matches!(v.write(2, &[0; 3]), Err(Error::Invalid(_))));
    assert!(matches!(v.read(u64::MAX, &mut [0]), Err(Error::Invalid(_))));
    assert!(matches!(Buffer::new(&device, 0), Err(Error::Invalid(_))));
    assert_eq!(v.host().unwrap().addr().get(), b.host().unwrap().addr().get() + 2);
}

#[test]
fn a_submission_is_of_one_device() {
    let (device, _) = open();
    let (other, _) = open();
    let b = Buffer::new(&other, 4).unwrap();
    assert!(matches!(Submission::new(&device).reads(&b).build(), Err(Error::Invalid(_))));
}

#[test]
fn what_a_submission_keeps_lives_until_it_and_its_work_are_gone() {
    let (device, soft) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let (value, dropped) = flag();
    let s = Submission::new(&device).fill(common::adding(&entry, &buffer)).writes(&buffer).keep(value).build();
    let s = s.unwrap();
    s.submit().unwrap().wait().unwrap();
    soft.faults().pause();
    let point = s.submit().unwrap();
    drop(s);
    drop(buffer);
    device.poll();
    assert!(!dropped.load(Ordering::SeqCst), "work in flight uses it");
    assert_eq!(soft.live()[0], 1);
    soft.faults().resume();
    point.wait().unwrap();
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!((soft.live()[0], device.live_bytes()), (0, 0));
}

#[test]
fn a_hold_lives_until_the_work_before_its_drop_is_done() {
    let (device, soft) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let s = add_to(&device, &entry, &buffer);
    let (idle, idle_dropped) = flag();
    drop(Hold::new(&device, idle));
    assert!(idle_dropped.load(Ordering::SeqCst), "nothing is in flight");
    soft.faults().pause();
    let (value, dropped) = flag();
    let hold = Hold::new(&device, value);
    let first = s.submit().unwrap();
    let (early, early_dropped) = flag();
    let early = Hold::new(&device, early);
    let second = s.submit().unwrap();
    drop(hold);
    assert!(early.release_at(&first).is_ok());
    let (other_device, _) = open();
    let (kept, _) = flag();
    assert!(Hold::new(&device, kept).release_at(&other_device.now()).is_err());
    device.poll();
    assert!(!dropped.load(Ordering::SeqCst) && !early_dropped.load(Ordering::SeqCst));
    soft.faults().resume();
    second.wait().unwrap();
    assert!(dropped.load(Ordering::SeqCst) && early_dropped.load(Ordering::SeqCst));
}

#[test]
fn a_closed_device_drops_what_it_kept_when_it_has_drained() {
    let (device, soft) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let (value, dropped) = flag();
    let s = Submission::new(&device).fill(common::adding(&entry, &buffer)).writes(&buffer).keep(value).build();
    let s = s.unwrap();
    soft.faults().pause();
    for _ in 0..5 {
        s.submit().unwrap();
    }
    drop(s);
    drop(device);
    assert!(!dropped.load(Ordering::SeqCst));
    soft.faults().resume();
    let end = Instant::now() + Duration::from_secs(20);
    while !dropped.load(Ordering::SeqCst) {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_hold_dropped_after_close_is_released_by_the_drain_itself() {
    let (device, soft) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let s = add_to(&device, &entry, &buffer);
    let (value, dropped) = flag();
    let hold = Hold::new(&device, value);
    soft.faults().pause();
    s.submit().unwrap();
    device.close().unwrap();
    drop(hold);
    assert!(!dropped.load(Ordering::SeqCst));
    soft.faults().resume();
    let end = Instant::now() + Duration::from_secs(20);
    while !dropped.load(Ordering::SeqCst) {
        assert!(Instant::now() < end, "nobody calls the device again");
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(device);
}

#[test]
fn a_lost_device_drops_what_it_kept_when_it_has_drained() {
    let (device, soft) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let (value, dropped) = flag();
    let s = Submission::new(&device).fill(common::adding(&entry, &buffer)).keep(value).build().unwrap();
    soft.faults().fail_after(0, Failure::new(Cause::Other, "failed"));
    let point = s.submit().unwrap();
    drop(s);
    assert!(point.wait().is_err());
    device.drain(Some(Instant::now() + Duration::from_secs(20))).unwrap();
    assert!(dropped.load(Ordering::SeqCst));
    assert!(matches!(Buffer::new(&device, 4), Err(Error::Lost(_))));
}

#[test]
fn the_budget_counts_what_is_live_and_calls_for_help_before_it_refuses() {
    let (device, soft) = open();
    assert_eq!(device.budget(), device.facts().budget);
    device.set_budget(100);
    let cache = Arc::new(Mutex::new(vec![Buffer::new(&device, 60).unwrap()]));
    let small = Buffer::new(&device, 40).unwrap();
    assert_eq!(device.live_bytes(), 100);
    assert_eq!(Buffer::new(&device, 1).unwrap_err(), Error::OutOfMemory { asked: 1, live: 100, budget: 100 });
    let calls = Arc::new(AtomicU32::new(0));
    let (evict, count) = (Arc::clone(&cache), Arc::clone(&calls));
    device.on_pressure(move |p| {
        let expected = (p.asked, p.live, p.budget) == (50, 100, 100);
        count.fetch_add(if expected { 1 } else { 100 }, Ordering::SeqCst);
        evict.lock().unwrap().clear();
    });
    let big = Buffer::new(&device, 50).unwrap();
    assert_eq!((calls.load(Ordering::SeqCst), device.live_bytes()), (1, 90));
    drop(small.view(0..4).unwrap());
    drop((big, small));
    assert_eq!((device.live_bytes(), soft.live()[0]), (0, 0));
    soft.faults().no_buffer_after(Some(0));
    assert_eq!(Buffer::new(&device, 50).unwrap_err(), Error::OutOfMemory { asked: 50, live: 0, budget: 1 << 30 });
    assert_eq!(device.live_bytes(), 0);
    soft.faults().no_buffer_after(None);
    assert!(Buffer::new(&device, u64::MAX).is_err(), "asks for more than a number holds");
}

/// An image whose one entry adds a specialization constant, 3 by default.
struct Special;

impl Kernels for Special {
    fn kernel(&self, name: &str, constants: &[Constant]) -> Result<Arc<dyn Kernel>, String> {
        if name != "special" {
            return Err(format!("no entry `{name}`"));
        }
        let by = constants.iter().find(|c| c.index == 1).map_or(3, |c| c.bits);
        Ok(Arc::new(move |l: &Launch<'_>| -> Result<(), String> {
            let at = l.buffer(0)?.address;
            l.store_u32(at, l.load_u32(at)? + by)
        }))
    }
}

#[test]
fn entries_are_made_once_for_each_set_of_constants() {
    let (device, soft) = open();
    let value: Arc<dyn Any + Send + Sync> = Arc::new(SoftImage::new(Special));
    let image = Image::load(&device, &Code::Host(&value)).unwrap();
    let default = image.entry("special").unwrap();
    let five = image.specialized("special", &[Constant { index: 1, ty: 33, bits: 5 }]).unwrap();
    assert_eq!(image.entry("special").unwrap().handle(), default.handle());
    assert_ne!(default.handle(), five.handle());
    let buffer = Buffer::new(&device, 4).unwrap();
    add_to(&device, &default, &buffer).submit().unwrap();
    add_to(&device, &five, &buffer).submit().unwrap();
    assert_eq!(word(&buffer), 8);
    assert!(matches!(image.entry("other"), Err(Error::Image(r)) if r.contains("other")));
    assert!(matches!(Image::load(&device, &Code::Binary(b"x")), Err(Error::Image(_))));
    assert!(matches!(Image::load(&device, &Code::Text("x")), Err(Error::Image(_))));
    drop((image, default));
    assert_eq!(soft.live()[1], 2, "an entry keeps its image");
    drop(five);
    device.poll();
    assert_eq!(soft.live()[1], 0);
}

#[test]
fn a_compiler_plugs_into_the_soft_device() {
    // A language of one sentence: `add N`.
    let compiler = |text: &str| {
        let by: u32 = text.strip_prefix("add ").and_then(|n| n.parse().ok()).ok_or("expected `add N`")?;
        let kernel = move |l: &Launch<'_>| -> Result<(), String> {
            let at = l.buffer(0)?.address;
            l.store_u32(at, l.load_u32(at)? + by)
        };
        Ok(Arc::new(SoftImage::new(rig_metal::soft::Table::default().with("main0", kernel))))
    };
    let options = rig_metal::soft::Options { compiler: Some(Arc::new(compiler)), ..Default::default() };
    let device = rig::Device::open(Box::new(rig_metal::soft::open(options).0));
    let image = Image::load(&device, &Code::Text("add 12")).unwrap();
    let buffer = Buffer::new(&device, 4).unwrap();
    add_to(&device, &image.entry("main0").unwrap(), &buffer).submit().unwrap();
    assert_eq!(word(&buffer), 12);
    assert_eq!(Image::load(&device, &Code::Text("sub 1")).unwrap_err(), Error::Image("expected `add N`".into()));
}

#[test]
fn points_can_be_asked_and_waited_for_before_their_work_is_submitted() {
    let (device, _) = open();
    let empty = Submission::new(&device).build().unwrap();
    let later = device.point(3);
    assert!(!later.signaled() && device.idle());
    assert_eq!(later.wait_for(Duration::from_millis(1)), Err(Error::Timeout));
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| later.wait());
        for _ in 0..3 {
            empty.submit().unwrap();
        }
        assert_eq!(wait.join().unwrap(), Ok(()));
    });
    device.close().unwrap();
    let closed = |r: Result<(), Error>| matches!(r, Err(Error::Lost(f)) if f.kind == FaultKind::Closed);
    assert!(closed(device.point(4).wait()));
    assert!(closed(empty.submit().map(drop)));
    assert_eq!(device.now().wait(), Ok(()));
}

#[test]
fn a_profile_shows_submits_and_command_buffers_in_chromes_format() {
    let (device, _) = open();
    let entry = add(&device);
    let buffer = Buffer::new(&device, 4).unwrap();
    let s = Submission::new(&device)
        .label("add \"one\"\n")
        .fill(common::adding(&entry, &buffer))
        .writes(&buffer)
        .keep(entry)
        .build()
        .unwrap();
    s.submit().unwrap().wait().unwrap();
    let profile = Profile::start(&device).unwrap();
    assert!(matches!(Profile::start(&device), Err(Error::Invalid(_))));
    for _ in 0..5 {
        s.submit().unwrap();
    }
    device.now().wait().unwrap();
    let trace = profile.finish();
    s.submit().unwrap().wait().unwrap();
    assert_eq!(trace.submits.iter().map(|s| s.value).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    assert_eq!((trace.spans.first().unwrap().first, trace.spans.last().unwrap().last), (2, 6));
    for pair in trace.spans.windows(2) {
        assert_eq!(pair[0].last + 1, pair[1].first, "each value is in one command buffer");
        assert!(pair[0].end <= pair[1].start);
    }
    assert!(trace.submits.iter().all(|s| s.start <= s.end));
    assert!(trace.spans[0].start >= trace.submits[0].start);
    let mut json = Vec::new();
    trace.write_chrome(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let complete: Vec<_> = events.iter().filter(|e| e["ph"] == "X").collect();
    assert_eq!(complete.len(), 5 + trace.spans.len());
    assert_eq!(complete[0]["name"], "add \"one\"\n");
    assert_eq!(complete[0]["args"]["value"], 2);
    assert!(complete.iter().all(|e| e["ts"].is_number() && e["dur"].is_number()));
    let again = Profile::start(&device).unwrap().finish();
    assert_eq!((again.submits.len(), again.spans.len()), (0, 0), "the submit between was not recorded");
}

#[test]
fn all_types_go_to_any_thread() {
    fn both<T: Send + Sync>() {}
    both::<rig::Device>();
    both::<rig::Buffer>();
    both::<rig::Image>();
    both::<rig::Entry>();
    both::<rig::Submission>();
    both::<rig::Point>();
    both::<rig::Hold<u8>>();
    both::<rig::Fill>();
    both::<rig_metal_abi::Icb>();
    both::<rig_metal_abi::Record>();
}
