//! Fills, splits, commits and completions.

use crate::backend::{Backend, Bench, CArg, Options, logged, word};
use rig::{Device, Error, Fill, Profile, Submission};
use rig_metal::EncodeError;
use rig_metal_abi::KEY;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The host's clock as the promise names it.
fn host_clock() -> u64 {
    #[cfg(target_vendor = "apple")]
    const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for the result.
    assert_eq!(unsafe { libc::clock_gettime(CLOCK, &mut t) }, 0);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// R01.
pub fn the_record_is_found_under_its_key_by_a_metal_device_only<B: Backend>() {
    let b = Bench::<B>::new();
    let again = b.device.capability(&KEY).unwrap();
    assert!(Arc::ptr_eq(&b.record, &again));
    assert!(again.align() >= 1);
    let other = Device::open(Box::new(crate::backend::NotMetal::default()));
    assert!(other.capability(&KEY).is_none());
}

/// R02, R04: a C fill compiled by `cc`.
pub fn a_c_fill_gets_its_queue_argument_and_value<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[5]);
    let entry = b.entry("add");
    let arg = CArg::new(b.c_arg(&entry, &args));
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_dispatch", &arg))
        .fill(b.c_fill("fill_dispatch", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep(Arc::clone(&arg))
        .keep(entry)
        .build()
        .unwrap();
    for turn in 1..=3 {
        let point = s.submit().unwrap();
        point.wait().unwrap();
        assert_eq!((point.value(), arg.get().value, arg.get().ran), (turn, turn, 2 * turn as u32));
    }
    assert_eq!(word(&out, 0), 2 * 3 * 5);
}

/// R03: serial, after earlier work, whatever is already in the command buffer.
pub fn commands_run_in_order_whatever_command_buffer_they_are_in<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(400);
    let submissions: Vec<_> = (0..30).map(|i| b.logging(&log, &[i * 10, i * 10 + 1, i * 10 + 2])).collect();
    b.control.pause();
    for s in &submissions {
        s.submit().unwrap();
    }
    assert!(b.control.waiting() < 5, "later work is added to the open command buffer");
    b.control.resume();
    let expected: Vec<u32> = (0..30).flat_map(|i| [i * 10, i * 10 + 1, i * 10 + 2]).collect();
    assert_eq!(logged(&log), expected);
}

/// R05: no later submission, wait or commit is needed.
pub fn work_begins_and_ends_without_a_later_call<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    for _ in 0..20 {
        s.submit().unwrap();
    }
    let before = b.control.waiting();
    b.control.resume();
    let end = Instant::now() + Duration::from_secs(20);
    while b.device.signaled() < 20 {
        assert!(Instant::now() < end, "stands at {}", b.device.signaled());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(before <= 3, "one begins at once, those of fewer than three in flight follow, the rest wait open");
    assert_eq!(logged(&log).len(), 20);
}

/// R05, the driver's choice: 256 values.
pub fn the_open_command_buffer_is_committed_at_256_values<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(1000);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    // The first three are committed alone. One of them may have begun, so it does not wait any more.
    for _ in 0..3 + 255 {
        s.submit().unwrap();
    }
    let three = b.control.waiting();
    assert!(three == 2 || three == 3);
    s.submit().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let four = b.control.waiting();
    assert!(four == 3 || four == 4, "the 256th value commits");
    b.control.resume();
    b.device.now().wait().unwrap();
    assert_eq!(logged(&log).len(), 3 + 256);
}

/// R05: an explicit commit.
pub fn a_commit_on_demand_begins_work<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    for _ in 0..3 {
        s.submit().unwrap();
    }
    std::thread::sleep(Duration::from_millis(20));
    let committed = b.control.waiting();
    s.submit().unwrap();
    s.submit().unwrap();
    assert_eq!(b.control.waiting(), committed);
    b.device.commit();
    assert_eq!(b.control.waiting(), committed + 1);
    b.control.resume();
    b.device.now().wait().unwrap();
}

/// A submission without fills is a point after all earlier work.
pub fn an_empty_submission_completes_after_earlier_work<B: Backend>() {
    let b = Bench::<B>::new();
    let empty = Submission::new(&b.device).build().unwrap();
    let first = empty.submit().unwrap();
    assert!(first.signaled(), "with nothing before it, it is done at once");
    let log = b.words(10);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    s.submit().unwrap();
    let second = empty.submit().unwrap();
    assert!(!second.signaled());
    assert_eq!(second.wait_for(Duration::from_millis(10)), Err(Error::Timeout));
    b.control.resume();
    second.wait().unwrap();
    assert_eq!((b.device.signaled(), b.device.submitted()), (3, 3));
    assert_eq!(logged(&log), [1]);
}

/// R15, R16.
pub fn a_split_is_a_boundary_with_times<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let mut arg = b.c_arg(&entry, &args);
    arg.splits = 3;
    let arg = CArg::new(arg);
    let slow = Duration::from_millis(5);
    b.control.slow(slow);
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_splits", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep((Arc::clone(&arg), entry))
        .build()
        .unwrap();
    let before = host_clock();
    s.submit().unwrap().wait().unwrap();
    let after = host_clock();
    let (start, end) = (arg.get().start, arg.get().end);
    assert!(before <= start && start + slow.as_nanos() as u64 <= end && end <= after, "{before} {start} {end} {after}");
    assert_eq!(word(&out, 0), 4);
}

/// R16: the times are those of the whole command buffer, earlier work in it included.
pub fn times_cover_earlier_work_in_the_command_buffer<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let plain = b.logging(&log, &[1]);
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let mut arg = b.c_arg(&entry, &args);
    arg.splits = 1;
    let arg = CArg::new(arg);
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_splits", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep((Arc::clone(&arg), entry))
        .build()
        .unwrap();
    let profile = Profile::start(&b.device).unwrap();
    b.control.pause();
    for _ in 0..5 {
        plain.submit().unwrap();
    }
    s.submit().unwrap();
    b.control.resume();
    b.device.now().wait().unwrap();
    let trace = profile.finish();
    let (start, end) = (arg.get().start, arg.get().end);
    let span = trace.spans.iter().find(|s| (s.start, s.end) == (start, end)).expect("the command buffer that split");
    assert_eq!((span.first, span.last), (4, 6), "three were committed alone, two were open when the fill began");
}

/// R16: either pointer may be null.
pub fn times_are_not_wanted_when_null<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let arg = CArg::new(b.c_arg(&entry, &args));
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_split_without_times", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep((Arc::clone(&arg), entry))
        .build()
        .unwrap();
    s.submit().unwrap().wait().unwrap();
    assert_eq!((word(&out, 0), arg.get().start, arg.get().end), (2, 0, 0));
}

/// R15.
pub fn a_fill_makes_more_command_buffers_than_the_queue_holds<B: Backend>() {
    let b = Bench::<B>::with(Options { capacity: 3, ..Options::default() });
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let mut arg = b.c_arg(&entry, &args);
    arg.splits = 40;
    let arg = CArg::new(arg);
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_splits", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep((Arc::clone(&arg), entry))
        .build()
        .unwrap();
    b.control.reverse_handlers(2);
    for _ in 0..3 {
        s.submit().unwrap();
    }
    assert_eq!(word(&out, 0), 3 * 41);
}

/// R15: the queue's capacity holds for submits too, and a waiting submit is no obstacle to waits and handlers.
pub fn submits_wait_while_the_queue_is_full<B: Backend>() {
    let b = Bench::<B>::with(Options { capacity: 1, ..Options::default() });
    let log = b.words(100);
    let s = b.logging(&log, &[7]);
    b.control.pause();
    let first = s.submit().unwrap();
    let submitted = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            s.submit().unwrap();
            submitted.store(true, Ordering::SeqCst);
        });
        std::thread::sleep(Duration::from_millis(30));
        assert!(!submitted.load(Ordering::SeqCst), "the queue holds one command buffer");
        assert_eq!(first.wait_for(Duration::from_millis(5)), Err(Error::Timeout));
        b.control.resume();
    });
    assert_eq!(logged(&log), [7, 7]);
}

/// R17.
pub fn split_outside_a_fill_is_refused<B: Backend>() {
    let b = Bench::<B>::new();
    let split = b.record.split();
    let mut word = std::ptr::null_mut::<std::ffi::c_void>();
    let (mut start, mut end) = (7, 7);
    // SAFETY: the pointers are valid; the call breaks R17, which this driver refuses.
    let code = unsafe { split((&raw mut word).cast(), &mut start, &mut end) };
    assert_ne!(code, 0);
    // Also by a fill with another's queue.
    let inside = Arc::new(AtomicI32::new(0));
    let seen = Arc::clone(&inside);
    let fill = Fill::from_fn(move |_, _| {
        let mut word = std::ptr::null_mut::<std::ffi::c_void>();
        // SAFETY: as above.
        seen.store(
            unsafe { split((&raw mut word).cast(), std::ptr::null_mut(), std::ptr::null_mut()) },
            Ordering::SeqCst,
        );
        0
    });
    Submission::new(&b.device).fill(fill).build().unwrap().submit().unwrap().wait().unwrap();
    assert_ne!(inside.load(Ordering::SeqCst), 0);
    assert_eq!((start, end, b.device.lost()), (7, 7, None));
}

/// The first trap: a handler that runs during a fill neither ends nor commits the fill's encoder.
pub fn completion_while_a_fill_encodes_does_not_touch_its_encoder<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let first = b.logging(&log, &[1]);
    let entry = b.entry("log");
    let args = b.args(&log, &[2, 3]);
    let (pipeline, buffer, stride) = (entry.handle(), args.buffer.handle(), args.stride);
    let device = b.device.clone();
    let encoders = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&encoders);
    let inner = rig_metal::fill::<B::Api, _>(move |e| {
        e.set_pipeline(pipeline)?;
        e.set_buffer(buffer, 0, 0)?;
        e.dispatch([1; 3], [1; 3])?;
        // The earlier command buffer completes while this fill has its encoder.
        let end = Instant::now() + Duration::from_secs(20);
        while device.signaled() < e.value() - 1 {
            assert!(Instant::now() < end);
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(5));
        e.set_buffer(buffer, stride, 0)?;
        e.dispatch([1; 3], [1; 3])
    });
    let peek = Fill::from_fn(move |queue, _| {
        seen.lock().unwrap().push(queue.addr());
        0
    });
    let s = Submission::new(&b.device).fill(peek).fill(inner).writes(&log).keep((args.buffer.clone(), entry)).build();
    let s = s.unwrap();
    b.control.slow(Duration::from_millis(3));
    for _ in 0..3 {
        first.submit().unwrap();
        s.submit().unwrap();
    }
    assert_eq!(logged(&log), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
}

/// Handlers advance the word in order whatever order they run in.
pub fn handlers_in_any_order_move_the_word_in_order<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(300);
    let s = b.logging(&log, &[1]);
    b.control.reverse_handlers(3);
    let watch = b.device.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let watcher = std::thread::spawn(move || {
        let mut last = 0;
        while !stopped.load(Ordering::SeqCst) {
            let now = watch.signaled();
            assert!(now >= last, "the word moved backwards from {last} to {now}");
            last = now;
        }
    });
    for _ in 0..200 {
        s.submit().unwrap();
    }
    b.device.now().wait().unwrap();
    stop.store(true, Ordering::SeqCst);
    watcher.join().unwrap();
    assert_eq!(logged(&log).len(), 200);
}

/// R03: a fill sets threadgroup memory itself.
pub fn threadgroup_memory_is_set_by_the_fill<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[0]);
    let entry = b.entry("local");
    let (pipeline, buffer) = (entry.handle(), args.buffer.handle());
    let fill = rig_metal::fill::<B::Api, _>(move |e| {
        e.set_pipeline(pipeline)?;
        e.set_buffer(buffer, 0, 0)?;
        e.set_threadgroup_memory(48, 0)?;
        e.dispatch([1; 3], [1; 3])
    });
    let s = Submission::new(&b.device).fill(fill).writes(&out).keep((args.buffer.clone(), entry)).build().unwrap();
    s.submit().unwrap();
    assert_eq!(word(&out, 0), 48);
}

/// What Metal would drop silently or abort for is an error of the fill, told before anything is encoded.
pub fn encoding_checks_what_metal_does_not_report<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[0]);
    let (tight, handle) = (b.entry("tight"), args.buffer.handle());
    let (pipeline, bytes) = (tight.handle(), args.buffer.len());
    let fill = rig_metal::fill::<B::Api, _>(move |e| {
        let unset = e.dispatch([1; 3], [1; 3]);
        assert!(matches!(unset, Err(EncodeError::Invalid(_))), "state of earlier work is not this fill's");
        e.set_pipeline(pipeline)?;
        e.set_buffer(handle, 0, 0)?;
        e.dispatch([1; 3], [4, 4, 4])?;
        assert_eq!(e.dispatch([1; 3], [4, 4, 5]), Err(EncodeError::TooManyThreads { asked: 80, allowed: 64 }));
        assert!(matches!(e.dispatch([1; 3], [0, 1, 1]), Err(EncodeError::Invalid(_))));
        assert!(matches!(e.set_buffer(handle, bytes, 0), Err(EncodeError::Invalid(_))));
        assert!(matches!(e.set_buffer(handle, 0, 31), Err(EncodeError::Invalid(_))));
        assert!(matches!(e.set_threadgroup_memory(24, 0), Err(EncodeError::Invalid(_))));
        assert!(matches!(e.set_buffer(pipeline, 0, 0), Err(EncodeError::NotLive(_))));
        assert!(matches!(e.set_pipeline(handle), Err(EncodeError::NotLive(_))));
        e.split()?;
        assert!(matches!(e.dispatch([1; 3], [1; 3]), Err(EncodeError::Invalid(_))), "a split sets nothing");
        Ok(())
    });
    let s = Submission::new(&b.device).fill(fill).writes(&out).keep((args.buffer.clone(), tight)).build().unwrap();
    s.submit().unwrap().wait().unwrap();
    assert_eq!(b.device.lost(), None);
}

/// R04: a fill orders and signals nothing; calls that would are refused inside it.
pub fn calls_from_a_fill_are_refused<B: Backend>() {
    let b = Bench::<B>::new();
    let device = b.device.clone();
    let empty = Submission::new(&b.device).build().unwrap();
    let refused = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&refused);
    let fill = Fill::from_fn(move |_, v| {
        let calls = [empty.submit().err(), device.point(v).wait().err(), device.close().err()];
        for call in calls {
            assert_eq!(call, Some(Error::InCallback));
            seen.fetch_add(1, Ordering::SeqCst);
        }
        0
    });
    let point = Submission::new(&b.device).fill(fill).build().unwrap().submit().unwrap();
    point.wait().unwrap();
    assert_eq!((refused.load(Ordering::SeqCst), b.device.submitted()), (3, 1));
}

/// Thread safety in use: all work of all threads runs once, and each wait covers its own.
pub fn many_threads_submit_and_wait<B: Backend>() {
    let b = Bench::<B>::with(Options { capacity: 4, ..Options::default() });
    let out = b.words(8);
    let submissions: Vec<_> = (0..8u64)
        .map(|i| {
            let mine = out.view(i * 4..i * 4 + 4).unwrap();
            let args = b.args(&mine, &[1]);
            let entry = b.entry("add");
            let fill = b.dispatch_all(&entry, &args);
            let s = Submission::new(&b.device).fill(fill).writes(&mine).reads(&args.buffer).keep(entry).build();
            (mine, s.unwrap())
        })
        .collect();
    b.control.reverse_handlers(2);
    std::thread::scope(|scope| {
        for (mine, s) in &submissions {
            scope.spawn(move || {
                for turn in 1..=100 {
                    s.submit().unwrap().wait().unwrap();
                    assert_eq!(word(mine, 0), turn);
                }
            });
        }
    });
    assert_eq!(b.device.signaled(), 800);
}
