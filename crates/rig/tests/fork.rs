//! A child of `fork` can drop everything it inherits, and its parent does not notice.
#![cfg(unix)]

mod common;

use common::{add, add_to, open, word};
use rig::{Buffer, Error, FaultKind, Hold, Submission};
use rig_metal_abi::{Dispatch, KEY};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs `child` in a child process; whether it ended well.
fn forked(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs code that takes no lock a thread of the parent may hold (what this test is about; the
    // allocator's are reset by the C library), and ends without running exit handlers.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let end = Instant::now() + Duration::from_secs(20);
    let mut status = 0;
    loop {
        // SAFETY: `pid` is a child of this process, `status` a valid place.
        match unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } {
            0 if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            0 => {
                // SAFETY: `pid` is a child of this process that has not been waited for.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                panic!("the child hangs");
            }
            _ => return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}

fn is_forked<T>(r: Result<T, Error>) -> bool {
    matches!(r, Err(Error::Lost(f)) if f.kind == FaultKind::Forked)
}

#[test]
fn a_child_drops_everything_and_its_calls_are_refused() {
    let (device, soft) = open();
    let entry = add(&device);
    let counter = Buffer::new(&device, 4).unwrap();
    let s = add_to(&device, &entry, &counter);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Others use the device, and hold its locks, while the process forks.
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    s.submit().unwrap();
                    let _ = device.capability(&KEY).unwrap().icb(counter.handle(), &[]);
                    let _ = Buffer::new(&device, 4).unwrap();
                }
            });
        }
        for turn in 0..20 {
            let buffer = Buffer::new(&device, 16).unwrap();
            let record = device.capability(&KEY).unwrap();
            let one = Dispatch { pipeline: entry.handle(), offset: 0, groups: [1; 3], threads: [1; 3] };
            let icb = record.icb(buffer.handle(), &[one]).unwrap();
            let hold = Hold::new(&device, vec![1, 2, 3]);
            let mine = add_to(&device, &entry, &buffer);
            let point = mine.submit().unwrap();
            let live = soft.live();
            let everything = (buffer, icb, hold, mine, point, entry.clone(), device.clone(), record);
            let everything = std::mem::ManuallyDrop::new(everything);
            let good = forked(|| {
                let (buffer, icb, hold, mine, point, entry, device, record) =
                    std::mem::ManuallyDrop::into_inner(everything);
                let refused = is_forked(mine.submit())
                    && is_forked(device.point(u64::MAX).wait())
                    && is_forked(buffer.read(0, &mut [0; 4]))
                    && is_forked(Buffer::new(&device, 4))
                    && is_forked(device.close())
                    && is_forked(Submission::new(&device).build().unwrap().submit())
                    && is_forked(entry.image().entry("add"))
                    && record.icb(buffer.handle(), &[]).is_err()
                    && device.lost().is_some();
                device.commit();
                device.poll();
                drop((buffer, icb, hold, mine, point, entry, device, record));
                refused
            });
            assert!(good, "turn {turn}");
            let _ = live;
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert!(device.lost().is_none());
    let before = word(&counter);
    s.submit().unwrap();
    assert_eq!(word(&counter), before + 1, "the parent goes on");
}
