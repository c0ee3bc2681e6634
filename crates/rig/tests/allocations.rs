//! A warm submit allocates nothing, and memory stays flat over many.

mod common;

use common::{add, adding, open, word};
use rig::{Buffer, Device, Hold, Submission};
use rig_metal::soft::{Handle, Soft};
use rig_metal_abi::{Dispatch, KEY};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

static LIVE: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.with(|c| c.set(c.get() + 1));
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Allocations of this thread during `f`.
fn allocations(f: impl FnOnce()) -> u64 {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

/// A submission with a fill that encodes a dispatch, splits and runs an indirect command buffer.
fn everything(device: &Device) -> (Buffer, Submission) {
    let entry = add(device);
    let buffer = Buffer::new(device, 64).unwrap();
    let one = Dispatch { pipeline: entry.handle(), offset: 4, groups: [1; 3], threads: [1; 3] };
    let icb = Arc::new(device.capability(&KEY).unwrap().icb(buffer.handle(), &[one; 3]).unwrap());
    let run = Arc::clone(&icb);
    let replay = rig_metal::fill::<Soft, _>(move |e| {
        e.split()?;
        e.execute(&run)
    });
    let s = Submission::new(device).fill(adding(&entry, &buffer)).fill(replay).writes(&buffer).keep((icb, entry));
    (buffer, s.build().unwrap())
}

/// Rounds of submits that all have the same shape: the device is paused while they are made.
fn rounds(device: &Device, soft: &Handle, s: &Submission, count: usize) {
    for _ in 0..count {
        soft.faults().pause();
        for _ in 0..20 {
            s.submit().unwrap();
        }
        soft.faults().resume();
        device.now().wait().unwrap();
    }
}

// One test, so that no other thread's memory is counted.
#[test]
fn submits_allocate_nothing_once_warm_and_100_000_leave_memory_flat() {
    let (device, soft) = open();
    let (buffer, s) = everything(&device);
    rounds(&device, &soft, &s, 100);
    let empty = Submission::new(&device).build().unwrap();
    empty.submit().unwrap().wait().unwrap();
    assert_eq!(allocations(|| rounds(&device, &soft, &s, 100)), 0);
    assert_eq!(allocations(|| drop(empty.submit().unwrap())), 0);

    let turn = |device: &Device| {
        s.submit().unwrap();
        // Holds and indirect command buffers come and go with the work.
        drop(Hold::new(device, [0u8; 64]));
        let one = Dispatch { pipeline: 0, offset: 0, groups: [1; 3], threads: [1; 3] };
        assert!(device.capability(&KEY).unwrap().icb(buffer.handle(), &[one]).is_err());
        drop(device.capability(&KEY).unwrap().icb(buffer.handle(), &[]).unwrap());
    };
    let many = |count: u32| {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for i in 0..count / 2 {
                        turn(&device);
                        if i % 64 == 0 {
                            device.now().wait().unwrap();
                        }
                    }
                });
            }
        });
        device.now().wait().unwrap();
        device.poll();
    };
    many(20_000);
    let (live, objects, words) = (LIVE.load(Ordering::Relaxed), soft.live(), word(&buffer));
    many(100_000);
    let grown = LIVE.load(Ordering::Relaxed).saturating_sub(live);
    assert!(grown < 64 << 10, "{grown} bytes more are live after 100,000 submits");
    assert_eq!(soft.live(), objects);
    assert_eq!(word(&buffer), words + 100_000);
}
