//! Loss and stop.

use crate::backend::{Backend, Bench, CArg, Options, logged, word};
use rig::{Cause, Error, Fault, FaultKind, Fill, Submission};
use rig_metal::EncodeError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn lost(kind: FaultKind, reason: &str) -> Error {
    Error::Lost(Fault::new(kind, reason))
}

/// R06.
pub fn a_failing_fill_loses_the_device<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let good = b.logging(&log, &[1]);
    let first = good.submit().unwrap();
    first.wait().unwrap();
    let entry = b.entry("log");
    let args = b.args(&log, &[2]);
    let arg = CArg::new(b.c_arg(&entry, &args));
    let bad = Submission::new(&b.device).fill(b.c_fill("fill_fails", &arg)).keep(Arc::clone(&arg)).build().unwrap();
    let error = bad.submit().unwrap_err();
    assert!(matches!(&error, Error::Lost(f) if f.kind == FaultKind::Fill(42)), "{error}");
    assert!(matches!(b.device.lost(), Some(f) if f.kind == FaultKind::Fill(42)));
    assert_eq!(b.device.signaled(), 1);
    assert_eq!(b.device.point(2).wait(), Err(error.clone()));
    assert_eq!(good.submit().unwrap_err(), error);
    assert_eq!(first.wait(), Ok(()), "what was reached stays reached");
    b.device.drain(Some(Instant::now() + Duration::from_secs(20))).unwrap();
    assert_eq!(logged(&log), [1]);
}

/// R06, R05.
pub fn a_failed_command_buffer_loses_the_device_with_its_reason<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let s = b.logging(&log, &[1]);
    b.control.fail_after(1, Cause::Timeout, "caused GPU timeout error");
    b.control.pause();
    let points: Vec<_> = (0..10).map(|_| s.submit().unwrap()).collect();
    b.control.resume();
    let expected = lost(FaultKind::CommandBuffer(Cause::Timeout), "caused GPU timeout error");
    assert_eq!(points[0].wait(), Ok(()));
    for p in &points[1..] {
        assert_eq!(p.wait(), Err(expected.clone()));
    }
    assert_eq!(b.device.signaled(), 1);
    b.device.drain(Some(Instant::now() + Duration::from_secs(20))).unwrap();
    assert_eq!(b.device.signaled(), 1, "the word stays though later command buffers complete");
}

/// R06 with handlers out of order.
pub fn the_word_stops_below_the_failed_value_in_any_order_of_handlers<B: Backend>() {
    for good in 0..3 {
        let b = Bench::<B>::new();
        let log = b.words(100);
        let s = b.logging(&log, &[1]);
        b.control.fail_after(good, Cause::PageFault, "page fault");
        b.control.reverse_handlers(3);
        b.control.pause();
        let points: Vec<_> = (0..3).map(|_| s.submit().unwrap()).collect();
        b.control.resume();
        let expected = lost(FaultKind::CommandBuffer(Cause::PageFault), "page fault");
        for (i, p) in points.iter().enumerate() {
            assert_eq!(p.wait(), if i < good { Ok(()) } else { Err(expected.clone()) });
        }
        b.device.drain(Some(Instant::now() + Duration::from_secs(20))).unwrap();
        assert_eq!(b.device.signaled(), good as u64);
    }
}

/// R06, and the system that makes no command buffer.
pub fn no_command_buffer_loses_the_device<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let s = b.logging(&log, &[1]);
    s.submit().unwrap().wait().unwrap();
    b.control.no_command_buffer_after(0);
    let error = s.submit().unwrap_err();
    assert!(matches!(error, Error::Lost(f) if f.kind == FaultKind::NoCommandBuffer));
    assert_eq!(b.device.signaled(), 1);
}

/// The same of its encoder.
pub fn no_encoder_loses_the_device<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let s = b.logging(&log, &[1]);
    s.submit().unwrap().wait().unwrap();
    b.control.no_encoder_after(0);
    let error = s.submit().unwrap_err();
    assert!(matches!(error, Error::Lost(f) if f.kind == FaultKind::NoEncoder));
    assert_eq!(b.device.signaled(), 1);
}

/// R15, R04.
pub fn a_failed_split_is_returned_and_loses_the_device<B: Backend>() {
    type Break<B> = fn(&Bench<B>);
    let ways: [(Break<B>, FaultKind); 2] = [
        (|b| b.control.no_command_buffer_after(3), FaultKind::NoCommandBuffer),
        (|b| b.control.no_encoder_after(3), FaultKind::NoEncoder),
    ];
    for (break_it, kind) in ways {
        let b = Bench::<B>::new();
        let out = b.words(1);
        let args = b.args(&out, &[1]);
        let entry = b.entry("add");
        let mut arg = b.c_arg(&entry, &args);
        arg.splits = 10;
        let arg = CArg::new(arg);
        let s = Submission::new(&b.device)
            .fill(b.c_fill("fill_splits", &arg))
            .writes(&out)
            .reads(&args.buffer)
            .keep((Arc::clone(&arg), entry))
            .build()
            .unwrap();
        break_it(&b);
        let error = s.submit().unwrap_err();
        assert!(matches!(error, Error::Lost(f) if f.kind == kind));
        b.device.drain(Some(Instant::now() + Duration::from_secs(20))).unwrap();
        assert_eq!(b.device.signaled(), 0, "a value is reached only when all its command buffers are");
    }
}

/// R04: stopping at the first failing split is the fill's duty; going on is a failure.
pub fn a_fill_that_goes_on_after_a_failed_split_loses_the_device<B: Backend>() {
    let b = Bench::<B>::new();
    b.control.no_command_buffer_after(1);
    let fill = rig_metal::fill::<B::Api, _>(|e| {
        assert_eq!(e.split(), Err(EncodeError::Split(1)));
        assert_eq!(e.split(), Err(EncodeError::Split(1)), "later splits fail too");
        assert!(e.dispatch([1; 3], [1; 3]).is_err());
        Ok(())
    });
    let error = Submission::new(&b.device).fill(fill).build().unwrap().submit().unwrap_err();
    assert!(matches!(error, Error::Lost(f) if f.kind == FaultKind::NoCommandBuffer));
}

/// R06: the first fault wins, and is told once.
pub fn a_loss_is_once_and_for_good<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    b.device.on_loss(move |f| seen.lock().unwrap().push(f.clone()));
    b.control.fail_after(0, Cause::InnocentVictim, "Innocent Victim of a reset");
    let s = b.logging(&log, &[1]);
    let error = s.submit().unwrap().wait().unwrap_err();
    let expected = Fault::new(FaultKind::CommandBuffer(Cause::InnocentVictim), "Innocent Victim of a reset");
    assert_eq!(error, Error::Lost(expected.clone()));
    b.device.drain(None).unwrap();
    b.device.close().unwrap();
    b.device.close().unwrap();
    assert_eq!(b.device.lost(), Some(expected.clone()));
    assert_eq!(*told.lock().unwrap(), [expected]);
}

/// A loss loses no other device.
pub fn a_loss_leaves_other_devices_alone<B: Backend>() {
    let (bad, good) = (Bench::<B>::new(), Bench::<B>::new());
    let (bad_log, log) = (bad.words(10), good.words(100));
    let (s, t) = (bad.logging(&bad_log, &[1]), good.logging(&log, &[1]));
    bad.control.fail_after(2, Cause::Other, "failed");
    for turn in 0..20 {
        let _ = s.submit();
        let point = t.submit().unwrap();
        if turn % 3 == 0 {
            point.wait().unwrap();
        }
    }
    bad.device.drain(None).unwrap();
    assert!(bad.device.lost().is_some() && good.device.lost().is_none());
    drop(bad);
    good.device.now().wait().unwrap();
    assert_eq!(logged(&log).len(), 20);
}

/// Every wait can have a deadline.
pub fn a_command_buffer_that_never_completes_ends_waits_at_their_deadline<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let s = b.logging(&log, &[1]);
    b.control.never_complete(1);
    let point = s.submit().unwrap();
    let began = Instant::now();
    assert_eq!(point.wait_for(Duration::from_millis(30)), Err(Error::Timeout));
    assert!(began.elapsed() >= Duration::from_millis(30));
    assert_eq!(log.wait(rig::Access::Read, Some(Instant::now())), Err(Error::Timeout));
    b.device.close().unwrap();
    assert_eq!(b.device.drain(Some(Instant::now())), Err(Error::Timeout), "it is still in flight");
    b.control.release_stuck();
    b.device.drain(None).unwrap();
    assert_eq!(point.wait(), Ok(()), "work in flight drains after close");
}

/// A thread that waits is told of the loss.
pub fn a_wait_beside_a_loss_is_told<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(10);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    b.control.fail_after(0, Cause::Other, "failed");
    let points: Vec<_> = (0..4).map(|_| s.submit().unwrap()).collect();
    std::thread::scope(|scope| {
        let waits: Vec<_> = points.iter().map(|p| scope.spawn(|| p.wait())).collect();
        std::thread::sleep(Duration::from_millis(20));
        b.control.resume();
        for wait in waits {
            assert_eq!(wait.join().unwrap(), Err(lost(FaultKind::CommandBuffer(Cause::Other), "failed")));
        }
    });
}

/// R06, R08: stop drops what is open, waits for no work, and what is in flight drains; kept things stay until then.
pub fn close_waits_for_no_work_and_lets_it_drain<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let s = b.logging(&log, &[1]);
    b.control.pause();
    let points: Vec<_> = (0..6).map(|_| s.submit().unwrap()).collect();
    drop(s);
    b.device.close().unwrap();
    assert!(!points[0].signaled());
    let closed = |p: &rig::Point| matches!(p.wait(), Err(Error::Lost(f)) if f.kind == FaultKind::Closed);
    assert!(points[3..].iter().all(closed), "values of the open command buffer are never reached");
    assert_eq!(points[2].wait_for(Duration::from_millis(5)), Err(Error::Timeout), "those in flight may be");
    b.control.resume();
    assert_eq!(points[2].wait(), Ok(()));
    b.device.drain(None).unwrap();
    assert_eq!(b.device.signaled(), 3);
    assert!(matches!(log.wait(rig::Access::Read, None), Err(Error::Lost(_))), "the last write is never done");
    let words = log.host().unwrap().cast::<[u32; 5]>();
    // SAFETY: the buffer is larger, and the device is drained.
    assert_eq!(unsafe { words.read() }, [3, 1, 1, 1, 0]);
}

/// Stop ends a split that waits for room: it waits for no work.
pub fn close_ends_a_split_that_waits_for_room<B: Backend>() {
    let b = Bench::<B>::with(Options { capacity: 1, ..Options::default() });
    b.control.pause();
    let entered = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&entered);
    let fill = rig_metal::fill::<B::Api, _>(move |e| {
        seen.store(1, Ordering::SeqCst);
        e.split()
    });
    let s = Submission::new(&b.device).fill(fill).build().unwrap();
    std::thread::scope(|scope| {
        let submit = scope.spawn(|| s.submit());
        while entered.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(20));
        b.device.close().unwrap();
        let error = submit.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Lost(f) if f.kind == FaultKind::Closed));
    });
    b.control.resume();
    b.device.drain(None).unwrap();
}

/// A panic in a fill written in Rust is a failure, not an unwinding through C.
pub fn a_fill_that_panics_loses_the_device<B: Backend>() {
    let b = Bench::<B>::new();
    let fill = Fill::from_fn(|_, _| panic!("expected in this test"));
    let error = Submission::new(&b.device).fill(fill).build().unwrap().submit().unwrap_err();
    assert!(matches!(error, Error::Lost(f) if matches!(f.kind, FaultKind::Fill(code) if code != 0)));
    let out = Bench::<B>::new();
    let words = out.words(1);
    assert_eq!(word(&words, 0), 0);
}

/// R08: a child of `fork` drops everything it inherits, the last references included, and leaves the system's objects
/// untouched.
pub fn a_child_of_fork_leaves_everything_untouched<B: Backend>() {
    forked::<B>(true);
    forked::<B>(false);
}

fn forked<B: Backend>(with_icb: bool) {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let args = b.args(&log, &[1]);
    let entry = b.entry("log");
    // Without one, the child drops the last reference to the driver's state.
    let s = if with_icb {
        let icb = b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap();
        b.running(icb, &log, &args)
    } else {
        b.logging(&log, &[1])
    };
    s.submit().unwrap().wait().unwrap();
    let live = b.control.live();
    let inherited = std::mem::ManuallyDrop::new((b, s, args, entry, log));
    // SAFETY: the child takes no lock another thread may hold, and ends without running exit handlers.
    let pid = unsafe { libc::fork() };
    let (b, s, args, entry, log) = std::mem::ManuallyDrop::into_inner(inherited);
    if pid == 0 {
        let Bench { device, image, control, record, .. } = b;
        let refused = s.submit().is_err() && record.icb(log.handle(), &[]).is_err() && device.close().is_err();
        drop((s, args, entry, log));
        drop((device, image, record));
        let untouched = control.live() == live;
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(!(refused && untouched))) };
    }
    assert!(pid > 0);
    let mut status = 0;
    // SAFETY: `pid` is a child of this process, `status` a valid place.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status}");
    s.submit().unwrap();
    assert_eq!(logged(&log), [1, 1], "the parent goes on");
    drop((b, args, entry));
}

/// Nothing of a device is left once its values are dropped, in whatever order, also with work in flight.
pub fn everything_is_released_in_the_end<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let args = b.args(&log, &[1, 2]);
    let entry = b.entry("log");
    let icb = b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap();
    let (s, t) = (b.running(icb, &log, &args), b.logging(&log, &[3]));
    b.control.pause();
    for _ in 0..4 {
        s.submit().unwrap();
        t.submit().unwrap();
    }
    let Bench { device, image, control, record, .. } = b;
    drop((image, record, device, entry, args, log, t, s));
    assert_ne!(control.live(), [0; 3]);
    control.resume();
    let end = Instant::now() + Duration::from_secs(20);
    while control.live() != [0; 3] {
        assert!(Instant::now() < end, "{:?} live", control.live());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Bytes of the process that are resident.
fn resident() -> u64 {
    let ps = || {
        let pid = std::process::id().to_string();
        let out = std::process::Command::new("ps").args(["-o", "rss=", "-p", &pid]).output().ok()?;
        String::from_utf8(out.stdout).ok()
    };
    let text = match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => status.lines().find_map(|l| l.strip_prefix("VmRSS:").map(str::to_owned)),
        Err(_) => ps(),
    };
    // Both are in kibibytes.
    let text = text.expect("a system that tells its processes' memory");
    text.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// Submits from plain threads leak nothing, autoreleased objects included. Counted in a process of its own.
pub fn memory_stays_flat<B: Backend>() {
    if std::env::var_os("RIG_ALONE").is_none() {
        let name = std::thread::current().name().expect("the name of the test").to_owned();
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--test-threads=1"])
            .env("RIG_ALONE", "1")
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&alone.stdout);
        assert!(alone.status.success() && out.contains("1 passed"), "{out}");
        return;
    }
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let fill = b.dispatch_all(&entry, &args);
    let s = Submission::new(&b.device).fill(fill).writes(&out).reads(&args.buffer).keep(entry).build().unwrap();
    let many = |count: usize| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..count {
                    s.submit().unwrap();
                    if i % 100 == 0 {
                        b.device.now().wait().unwrap();
                    }
                }
            });
        });
        b.device.now().wait().unwrap();
    };
    many(10_000);
    let before = resident();
    many(100_000);
    let grown = resident().saturating_sub(before);
    // A leak of one small object for each submit would be several megabytes.
    assert!(grown < 2 << 20, "{grown} bytes more are resident after 100,000 submits");
    assert_eq!(word(&out, 0), 110_000);
}
