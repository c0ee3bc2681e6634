//! Indirect command buffers.

use crate::backend::{Backend, Bench, CArg, Options, logged, word};
use rig::{Buffer, Cause, Error, FaultKind, Fill, Submission};
use rig_metal_abi::{Dispatch, IcbError};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

/// R07.
pub fn an_icb_runs_its_dispatches_in_order_on_every_submit<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(400);
    let args = b.args(&log, &[3, 1, 4, 1, 5]);
    let entry = b.entry("log");
    let icb = b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap();
    assert_eq!(icb.commands().len(), 5);
    let s = b.running(icb, &log, &args);
    let other = b.logging(&log, &[9]);
    let mut expected = Vec::new();
    for _ in 0..20 {
        s.submit().unwrap();
        other.submit().unwrap();
        expected.extend([3, 1, 4, 1, 5, 9]);
    }
    assert_eq!(logged(&log), expected);
}

/// R07.
pub fn an_icb_may_be_empty<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let icb = b.record.icb(args.buffer.handle(), &[]).unwrap();
    assert!(icb.commands().is_empty());
    b.running(icb, &out, &args).submit().unwrap().wait().unwrap();
    assert_eq!(word(&out, 0), 0);
}

/// R02, R07.
pub fn a_c_fill_runs_an_icb<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let args = b.args(&log, &[1, 2, 3]);
    let entry = b.entry("log");
    let icb = b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap();
    let mut arg = b.c_arg(&entry, &args);
    arg.icb = icb.as_c();
    let arg = CArg::new(arg);
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_icb", &arg))
        .writes(&log)
        .reads(&args.buffer)
        .keep((arg, icb))
        .build()
        .unwrap();
    s.submit().unwrap();
    s.submit().unwrap();
    assert_eq!(logged(&log), [1, 2, 3, 1, 2, 3]);
}

/// R08.
pub fn an_icb_outlives_its_image<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[2]);
    let entry = b.entry("add");
    let ds = b.dispatches(&entry, &args);
    let icb = b.record.icb(args.buffer.handle(), &ds).unwrap();
    drop(entry);
    let Bench { device, image, control, record, .. } = b;
    drop(image);
    assert_eq!(control.live()[1], 1, "the indirect command buffer keeps its pipeline");
    let again = record.icb(args.buffer.handle(), &ds).unwrap_err();
    assert!(matches!(again, IcbError::Invalid(_)), "but the pipeline is no loaded image's any more");
    let held = Arc::new(icb);
    let run = Arc::clone(&held);
    let fill = rig_metal::fill::<B::Api, _>(move |e| e.execute(&run));
    let s = Submission::new(&device).fill(fill).writes(&out).reads(&args.buffer).keep(held).build().unwrap();
    s.submit().unwrap().wait().unwrap();
    assert_eq!(word(&out, 0), 2);
    drop(s);
    device.poll();
    assert_eq!(control.live()[1..], [0, 0]);
}

/// R08, R09.
pub fn a_dropped_icb_is_released_also_after_close<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[2]);
    let entry = b.entry("add");
    let ds = b.dispatches(&entry, &args);
    let make = || b.record.icb(args.buffer.handle(), &ds).unwrap();
    let (first, second) = (make(), make());
    assert_eq!(b.control.live()[2], 2);
    drop(first);
    assert_eq!(b.control.live()[2], 1);
    b.device.close().unwrap();
    assert_eq!(b.control.live()[2], 1, "stopping releases none");
    drop(second);
    assert_eq!(b.control.live()[2], 0);
}

/// R10.
pub fn a_fill_changes_a_command_before_its_first_run<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[0]);
    let entry = b.entry("grid");
    let icb = b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap();
    let mut arg = b.c_arg(&entry, &args);
    arg.icb = icb.as_c();
    let arg = CArg::new(arg);
    let s = Submission::new(&b.device)
        .fill(b.c_fill("fill_changed_icb", &arg))
        .writes(&out)
        .reads(&args.buffer)
        .keep((arg, icb))
        .build()
        .unwrap();
    let mut sum = 0;
    for turn in 1..=4 {
        // The work before has run the handle: wait for it.
        s.submit().unwrap().wait().unwrap();
        sum += turn;
    }
    assert_eq!(word(&out, 0), sum);
}

/// R10, the fill's side: both software devices find a change while a run is in flight.
pub fn a_change_of_a_command_in_flight_is_found<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[0]);
    let entry = b.entry("grid");
    let icb = Arc::new(b.record.icb(args.buffer.handle(), &b.dispatches(&entry, &args)).unwrap());
    let change = Arc::clone(&icb);
    let fill = rig_metal::fill::<B::Api, _>(move |e| {
        e.set_command(&change, 0, [2, 1, 1], [1; 3])?;
        e.execute(&change)
    });
    let s = Submission::new(&b.device).fill(fill).writes(&out).reads(&args.buffer).keep(icb).build().unwrap();
    s.submit().unwrap().wait().unwrap();
    b.control.pause();
    let second = s.submit().unwrap();
    let third = s.submit().unwrap();
    b.control.resume();
    let _ = second.wait();
    let error = third.wait().unwrap_err();
    assert!(matches!(&error, Error::Lost(f) if f.kind == FaultKind::CommandBuffer(Cause::InvalidResource)), "{error}");
}

/// R18: bytes from the MTLBuffer's first byte, a rig buffer's own offset included.
pub fn arguments_start_at_the_offset<B: Backend>() {
    let b = Bench::<B>::new();
    let log = b.words(100);
    let all = b.args(&log, &[10, 11, 12, 13]);
    let entry = b.entry("log");
    let view = all.buffer.view(2 * all.stride..4 * all.stride).unwrap();
    assert_eq!((view.handle(), view.offset()), (all.buffer.handle(), 2 * all.stride));
    assert_eq!(view.address(), all.buffer.address() + 2 * all.stride);
    let tail = crate::backend::Args { buffer: view, stride: all.stride };
    let icb = b.record.icb(tail.buffer.handle(), &b.dispatches(&entry, &tail)).unwrap();
    b.running(icb, &log, &tail).submit().unwrap();
    assert_eq!(logged(&log), [12, 13]);
}

/// R11.
pub fn align_is_the_familys<B: Backend>() {
    for align in [4, 256] {
        let b = Bench::<B>::with(Options { align, ..Options::default() });
        assert_eq!(b.record.align(), align);
        let out = b.words(1);
        let args = b.args(&out, &[1, 2]);
        let entry = b.entry("add");
        let mut ds = b.dispatches(&entry, &args);
        b.record.icb(args.buffer.handle(), &ds).unwrap();
        ds[1].offset = align as i64 / 2;
        assert!(matches!(b.record.icb(args.buffer.handle(), &ds), Err(IcbError::Invalid(_))));
    }
}

/// R12.
pub fn refusals_have_reasons<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let tight = b.entry("tight");
    assert_eq!(tight.max_threads(), 64);
    let mut ds = b.dispatches(&tight, &args);
    ds[0].threads = [4, 4, 4];
    let icb = b.record.icb(args.buffer.handle(), &ds).unwrap();
    ds[0].threads = [4, 4, 5];
    let Err(IcbError::Refused(reason)) = b.record.icb(args.buffer.handle(), &ds) else { panic!("80 of 64 threads") };
    assert!(reason.contains("80") && reason.contains("64"), "{reason}");
    ds[0].threads = [i64::MAX; 3];
    assert!(matches!(b.record.icb(args.buffer.handle(), &ds), Err(IcbError::Refused(_))));
    ds[0].threads = [1; 3];
    b.control.no_icb_after(Some(0));
    assert!(matches!(b.record.icb(args.buffer.handle(), &ds), Err(IcbError::Refused(_))));
    b.control.no_icb_after(None);
    assert_eq!(b.control.live()[2], 1);
    drop(icb);
    b.device.close().unwrap();
    let Err(IcbError::Refused(reason)) = b.record.icb(args.buffer.handle(), &ds) else { panic!("stopped") };
    assert!(reason.contains("stop"), "{reason}");
}

/// R13.
pub fn misuse_is_invalid_and_changes_nothing<B: Backend>() {
    let b = Bench::<B>::new();
    let other = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1, 2]);
    let entry = b.entry("add");
    let good = b.dispatches(&entry, &args);
    let freed = Buffer::new(&b.device, 64).unwrap();
    let freed = (freed.handle(), drop(freed)).0;
    // A dispatch that the device would refuse comes first: misuse is told all the same.
    let mut refused = b.dispatches(&b.entry("tight"), &args)[0];
    refused.threads = [1024, 1, 1];
    type Change = fn(&mut Dispatch);
    let changes: [Change; 8] = [
        |d| d.pipeline = 0,
        |d| d.offset = -4,
        |d| d.offset = i64::MIN,
        |d| d.offset = 1 << 40,
        |d| d.offset += 2,
        |d| d.groups[1] = 0,
        |d| d.groups[2] = -1,
        |d| d.threads[0] = 0,
    ];
    let live = b.control.live();
    let invalid = |buffer: usize, ds: &[Dispatch]| {
        let got = b.record.icb(buffer, ds);
        assert!(matches!(got, Err(IcbError::Invalid(_))), "{ds:?}: {got:?}");
    };
    for change in changes {
        let mut ds = vec![refused, good[0], good[1]];
        change(&mut ds[2]);
        invalid(args.buffer.handle(), &ds);
    }
    let mut end = good.clone();
    end[1].offset = args.buffer.len() as i64;
    invalid(args.buffer.handle(), &end);
    for buffer in [0, 8, freed, entry.handle()] {
        invalid(buffer, &good);
    }
    let theirs = other.entry("add");
    let foreign = Dispatch { pipeline: theirs.handle() ^ (1 << 50), ..good[0] };
    invalid(args.buffer.handle(), &[foreign]);
    assert_eq!(b.control.live(), live);
    assert!(b.device.lost().is_none());
}

/// R13: the last of its cases.
pub fn a_call_from_a_callback_is_invalid<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let ds = b.dispatches(&entry, &args);
    let handle = args.buffer.handle();
    let results = Arc::new(Mutex::new(Vec::new()));
    let call = {
        let (record, results) = (Arc::clone(&b.record), Arc::clone(&results));
        move || results.lock().unwrap().push(record.icb(handle, &ds).map(drop))
    };
    // A fill,
    let in_fill = call.clone();
    let fill = Fill::from_fn(move |_, _| {
        in_fill();
        0
    });
    Submission::new(&b.device).fill(fill).build().unwrap().submit().unwrap().wait().unwrap();
    // a callback of memory pressure,
    let pressed = call.clone();
    b.device.on_pressure(move |_| pressed());
    b.control.no_buffer_after(Some(0));
    assert!(matches!(Buffer::new(&b.device, 8), Err(Error::OutOfMemory { .. })), "the system has none");
    assert!(results.lock().unwrap().len() == 1, "that is no matter of the budget");
    b.control.no_buffer_after(None);
    b.device.set_budget(b.device.live_bytes());
    assert!(matches!(Buffer::new(&b.device, 8), Err(Error::OutOfMemory { .. })));
    // and one of loss.
    let lost = call.clone();
    b.device.on_loss(move |_| lost());
    b.device.close().unwrap();
    let results = results.lock().unwrap();
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|r| matches!(r, Err(IcbError::Invalid(_)))), "{results:?}");
    assert_eq!(b.control.live()[2], 0);
}

/// R14.
pub fn close_waits_for_a_call_in_flight_and_refuses_later_ones<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let ds = b.dispatches(&entry, &args);
    b.control.slow_icb(Duration::from_millis(150));
    let began = Barrier::new(2);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            began.wait();
            let icb = b.record.icb(args.buffer.handle(), &ds);
            (icb, Instant::now())
        });
        began.wait();
        std::thread::sleep(Duration::from_millis(50));
        b.device.close().unwrap();
        let closed = Instant::now();
        assert!(b.record.icb(args.buffer.handle(), &ds).is_err());
        let (icb, made) = call.join().unwrap();
        assert!(icb.is_ok(), "a call in flight is not refused");
        // The call's thread reads its clock after the call; half of the delay is room enough.
        assert!(made <= closed + Duration::from_millis(75), "close did not wait for the call");
    });
}

/// R14.
pub fn any_thread_makes_icbs<B: Backend>() {
    let b = Bench::<B>::new();
    let out = b.words(1);
    let args = b.args(&out, &[1]);
    let entry = b.entry("add");
    let ds = b.dispatches(&entry, &args);
    let s = {
        let fill = b.dispatch_all(&entry, &args);
        Submission::new(&b.device).fill(fill).writes(&out).reads(&args.buffer).build().unwrap()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let icb = b.record.icb(args.buffer.handle(), &ds).unwrap();
                    b.running(icb, &out, &args).submit().unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..50 {
                s.submit().unwrap();
            }
        });
    });
    b.device.now().wait().unwrap();
    assert_eq!(word(&out, 0), 250);
    b.device.poll();
    assert_eq!(b.control.live()[2], 0);
}

/// The quirk `icb-residency`: pipelines of indirect command buffers are touched in every command buffer.
pub fn pipelines_of_icbs_are_made_resident<B: Backend>() {
    let b = Bench::<B>::with(Options { touch_pipelines: true, ..Options::default() });
    assert!(b.device.facts().quirks.iter().any(|q| q.0 == "icb-residency"));
    let log = b.words(100);
    let args = b.args(&log, &[1, 2]);
    let entry = b.entry("log");
    let ds = b.dispatches(&entry, &args);
    let plain = b.logging(&log, &[7]);
    b.control.pause();
    for _ in 0..4 {
        plain.submit().unwrap();
    }
    // Made while a command buffer is open, and run in that one and in one begun by a split.
    let icb = Arc::new(b.record.icb(args.buffer.handle(), &ds).unwrap());
    let run = Arc::clone(&icb);
    let fill = rig_metal::fill::<B::Api, _>(move |e| {
        e.execute(&run)?;
        e.split()?;
        e.execute(&run)
    });
    let s = Submission::new(&b.device).fill(fill).writes(&log).keep((icb, args.buffer.clone())).build().unwrap();
    s.submit().unwrap();
    b.control.resume();
    b.device.now().wait().unwrap();
    assert_eq!(logged(&log), [7, 7, 7, 7, 1, 2, 1, 2]);
}
