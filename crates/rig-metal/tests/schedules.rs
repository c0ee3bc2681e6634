//! Schedules of threads on the driver's and rig's locks, explored by shuttle: random ones and those of probabilistic
//! concurrency testing (PCT), which find a deadlock or a broken assertion of few switches with known odds.
//!
//! `cargo test --release -p rig-metal --features model --test schedules`; `RIG_SCHEDULES` is how many schedules of each
//! kind each test explores, 2,000 by default.
#![cfg(feature = "model")]

mod manual;

use manual::Manual;
use rig::{Device, Error, FaultKind, Hold, Point, Submission};
use rig_edge::{Cause, Driver, Fault, Timeline};
use rig_metal::{Failure, Metal, Outcome, Policy};
use rig_metal_abi::{Dispatch, IcbError, KEY};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use shuttle::thread;
use std::sync::Arc;

fn explore(test: impl Fn() + Send + Sync + Copy + 'static) {
    let count = std::env::var("RIG_SCHEDULES").ok().and_then(|s| s.parse().ok()).unwrap_or(2_000);
    shuttle::check_random(test, count);
    shuttle::check_pct(test, count, 3);
}

fn open(capacity: usize, policy: Policy) -> (Manual, Device) {
    let api = Manual::new(capacity);
    (api.clone(), Device::open(Box::new(Metal::open(api, policy))))
}

fn ran() -> Outcome {
    Outcome { result: Ok(()), start: 1, end: 2 }
}

fn failed() -> Outcome {
    Outcome { result: Err(Failure::new(Cause::Other, "failed")), start: 1, end: 2 }
}

/// Completes command buffers in any order, until told to stop and none is in flight.
fn complete_all(api: &Manual, stop: &AtomicBool) {
    loop {
        let stopping = stop.load(Ordering::SeqCst);
        let in_flight = api.in_flight();
        if in_flight.is_empty() {
            if stopping {
                return;
            }
            thread::yield_now();
            continue;
        }
        let index = in_flight[thread_rng().gen_range(0..in_flight.len())];
        api.complete(index, ran());
    }
}

/// A submission whose fill splits `splits` times.
fn splitting(device: &Device, splits: usize) -> Submission {
    let fill = rig_metal::fill::<Manual, _>(move |e| {
        for _ in 0..splits {
            e.split()?;
        }
        Ok(())
    });
    Submission::new(device).fill(fill).build().unwrap()
}

#[test]
fn submits_commits_and_completions_in_any_order_reach_every_value() {
    explore(|| {
        let (api, device) = open(2, Policy { values: 2, in_flight: 1 });
        let stop = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..2)
            .map(|i| {
                let device = device.clone();
                thread::spawn(move || {
                    let s = splitting(&device, i);
                    let point = s.submit().unwrap();
                    s.submit().unwrap();
                    // Reached without a later submission, and in order.
                    point.wait().unwrap();
                    assert!(device.signaled() >= point.value());
                })
            })
            .collect();
        let completer = {
            let (api, stop) = (api.clone(), Arc::clone(&stop));
            thread::spawn(move || complete_all(&api, &stop))
        };
        for t in threads {
            t.join().unwrap();
        }
        device.now().wait().unwrap();
        assert_eq!(device.signaled(), 4);
        stop.store(true, Ordering::SeqCst);
        completer.join().unwrap();
        let state = api.state();
        assert_eq!(state.encoders, state.ended);
    });
}

#[test]
fn a_completion_while_a_fill_encodes_leaves_its_encoder_alone() {
    explore(|| {
        let (api, device) = open(4, Policy { values: 256, in_flight: 1 });
        let first = splitting(&device, 0).submit().unwrap();
        let mine = api.clone();
        let fill = rig_metal::fill::<Manual, _>(move |_| {
            let look = || {
                let state = mine.state();
                (state.ended, state.committed.len())
            };
            // Between these the other thread completes the first command buffer, or not.
            let before = look();
            thread::yield_now();
            thread::yield_now();
            assert_eq!(look(), before);
            Ok(())
        });
        let completer = {
            let api = api.clone();
            thread::spawn(move || api.complete(0, ran()))
        };
        let second = Submission::new(&device).fill(fill).build().unwrap().submit().unwrap();
        completer.join().unwrap();
        assert!(first.signaled());
        // The completion asked for a commit, which came when the fill was done.
        assert_eq!(api.in_flight(), [1]);
        api.complete(1, ran());
        assert!(second.signaled());
    });
}

#[test]
fn a_split_that_waits_for_room_holds_no_lock_a_handler_or_a_wait_needs() {
    explore(|| {
        let (api, device) = open(1, Policy::default());
        let stop = Arc::new(AtomicBool::new(false));
        let waiter = {
            let point = device.point(2);
            thread::spawn(move || point.wait().unwrap())
        };
        let completer = {
            let (api, stop) = (api.clone(), Arc::clone(&stop));
            thread::spawn(move || complete_all(&api, &stop))
        };
        let s = splitting(&device, 2);
        s.submit().unwrap();
        s.submit().unwrap();
        waiter.join().unwrap();
        stop.store(true, Ordering::SeqCst);
        completer.join().unwrap();
    });
}

#[test]
fn icb_beside_stop_is_waited_for_or_refused() {
    explore(|| {
        let (api, device) = open(4, Policy::default());
        let record = device.capability(&KEY).unwrap();
        let buffer = rig::Buffer::new(&device, 16).unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (record, handle, stopped) = (Arc::clone(&record), buffer.handle(), Arc::clone(&stopped));
                thread::spawn(move || {
                    let late = stopped.load(Ordering::SeqCst);
                    let ds: &[Dispatch] = &[];
                    match record.icb(handle, ds) {
                        Ok(_) => assert!(!late, "made after stop had returned"),
                        Err(IcbError::Refused(_)) => {}
                        Err(e) => panic!("{e}"),
                    }
                })
            })
            .collect();
        device.close().unwrap();
        stopped.store(true, Ordering::SeqCst);
        for c in callers {
            c.join().unwrap();
        }
        assert_eq!(api.state().icbs, 0);
    });
}

#[test]
fn a_wait_beside_a_loss_is_told() {
    explore(|| {
        let (api, device) = open(4, Policy { values: 256, in_flight: 2 });
        let s = splitting(&device, 0);
        let points: Vec<Point> = (0..3).map(|_| s.submit().unwrap()).collect();
        let told = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&told);
        device.on_loss(move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        let waiters: Vec<_> = points.iter().cloned().map(|p| thread::spawn(move || p.wait())).collect();
        let breaker = {
            let api = api.clone();
            thread::spawn(move || api.complete(1, failed()))
        };
        api.complete(0, ran());
        breaker.join().unwrap();
        let got: Vec<_> = waiters.into_iter().map(|w| w.join().unwrap()).collect();
        assert_eq!(got[0], Ok(()));
        let lost = |r: &Result<(), Error>| {
            matches!(r, Err(Error::Lost(Fault { kind: FaultKind::CommandBuffer(Cause::Other), .. })))
        };
        // The third was open when the first completed, or is in flight behind the failure.
        for i in api.in_flight() {
            api.complete(i, ran());
        }
        assert!(lost(&got[1]) && lost(&got[2]), "{got:?}");
        assert_eq!((told.load(Ordering::SeqCst), device.signaled()), (1, 1));
    });
}

#[test]
fn close_beside_a_submit_that_waits_for_room_ends_it() {
    explore(|| {
        let (api, device) = open(1, Policy::default());
        let submitter = {
            let device = device.clone();
            thread::spawn(move || {
                // Nothing ever completes: only close can end this.
                splitting(&device, 3).submit().map(drop)
            })
        };
        device.close().unwrap();
        let error = submitter.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Lost(f) if f.kind == FaultKind::Closed));
        for i in api.in_flight() {
            api.complete(i, ran());
        }
        device.drain(None).unwrap();
        let state = api.state();
        assert_eq!(state.encoders, state.ended);
        assert_eq!(state.encoders, state.committed.len() as u64 + state.discarded);
    });
}

/// Counts its drops.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn kept_and_held_values_are_dropped_once_whoever_drops_the_device() {
    explore(|| {
        let (api, device) = open(2, Policy { values: 256, in_flight: 1 });
        let drops = Arc::new(AtomicU64::new(0));
        let user = {
            let (device, drops) = (device.clone(), Arc::clone(&drops));
            thread::spawn(move || {
                let kept = Counted(Arc::clone(&drops));
                let fill = rig_metal::fill::<Manual, _>(|_| Ok(()));
                let s = Submission::new(&device).fill(fill).keep(kept).build().unwrap();
                let hold = Hold::new(&device, Counted(drops));
                let _ = s.submit();
                drop(hold);
                let _ = s.submit();
            })
        };
        let completer = {
            let api = api.clone();
            thread::spawn(move || {
                for i in api.in_flight() {
                    api.complete(i, if thread_rng().gen_bool(0.5) { ran() } else { failed() });
                }
            })
        };
        drop(device);
        user.join().unwrap();
        completer.join().unwrap();
        for i in api.in_flight() {
            api.complete(i, ran());
        }
        assert_eq!(drops.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn two_closes_return_when_the_first_is_done() {
    explore(|| {
        let (api, device) = open(2, Policy { values: 256, in_flight: 0 });
        splitting(&device, 0).submit().unwrap();
        let other = {
            let (api, device) = (api.clone(), device.clone());
            thread::spawn(move || {
                device.close().unwrap();
                assert_eq!(api.state().discarded, 1);
            })
        };
        device.close().unwrap();
        assert_eq!(api.state().discarded, 1);
        other.join().unwrap();
        device.drain(None).unwrap();
    });
}

#[test]
fn a_timelines_waiters_miss_no_advance() {
    explore(|| {
        let word = Arc::new(Timeline::new());
        let waiters: Vec<_> = (1..=2)
            .map(|v| {
                let word = Arc::clone(&word);
                thread::spawn(move || word.wait(v, None).unwrap())
            })
            .collect();
        let other = {
            let word = Arc::clone(&word);
            thread::spawn(move || word.advance(2))
        };
        word.advance(1);
        other.join().unwrap();
        for w in waiters {
            w.join().unwrap();
        }
        assert_eq!(word.signaled(), 2);
    });
}

/// The driver alone, beneath rig's order lock: its own seat keeps submits apart.
#[test]
fn explicit_commits_beside_a_submit_commit_everything_once() {
    explore(|| {
        let api = Manual::new(4);
        let driver = Arc::new(Metal::open(api.clone(), Policy { values: 256, in_flight: 0 }));
        let other = {
            let driver = Arc::clone(&driver);
            thread::spawn(move || driver.commit())
        };
        let fills = [rig_metal::fill::<Manual, _>(|e| {
            thread::yield_now();
            e.split()
        })];
        driver.submit(&rig_edge::Work { fills: &fills }, 1).unwrap();
        other.join().unwrap();
        driver.commit();
        assert_eq!(api.in_flight(), [0, 1]);
        api.complete(1, ran());
        assert_eq!(driver.facts().word.signaled(), 0);
        api.complete(0, ran());
        assert_eq!(driver.facts().word.signaled(), 1);
    });
}
