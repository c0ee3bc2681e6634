//! Completion handlers: one block for all command buffers.

use super::handles::Native;
use crate::{Done, Failure, Outcome};
use block2::RcBlock;
use objc2::msg_send;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLCommandBuffer, MTLCommandBufferStatus};
use rig_edge::Cause;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

type Handler = RcBlock<dyn Fn(NonNull<ProtocolObject<dyn MTLCommandBuffer>>)>;

/// Committed command buffers by address, oldest first. An address is unique while its command buffer is in flight,
/// since Metal retains it until its handlers have run.
type List = Arc<Mutex<VecDeque<(usize, Done)>>>;

/// The handler that all command buffers share, so that a commit makes no block of its own.
pub struct Pending {
    list: List,
    handler: Handler,
}

// SAFETY: the block captures an `Arc` of a `Send` value behind a lock and is only copied (its count is atomic) and
// called, which any thread may do.
unsafe impl Send for Pending {}
// SAFETY: as above.
unsafe impl Sync for Pending {}

impl Pending {
    pub fn new() -> Self {
        let list: List = Arc::default();
        let seen = Arc::clone(&list);
        let handler = RcBlock::new(move |buffer: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
            // The handler runs on a thread of Metal's, which must not unwind.
            let _ = catch_unwind(AssertUnwindSafe(|| completed(&seen, buffer)));
        });
        Self { list, handler }
    }

    /// Completes `done` when `buffer`, which is about to be committed, completes.
    pub fn add(&self, buffer: &Native<dyn MTLCommandBuffer>, done: Done) {
        self.list.lock().unwrap_or_else(|e| e.into_inner()).push_back((buffer.address(), done));
        // SAFETY: the block takes the command buffer, and may run on any thread (see `Send`). Metal copies it.
        unsafe { buffer.addCompletedHandler(RcBlock::as_ptr(&self.handler)) };
    }
}

fn completed(list: &List, buffer: NonNull<ProtocolObject<dyn MTLCommandBuffer>>) {
    let address = buffer.as_ptr().addr();
    let mut guard = list.lock().unwrap_or_else(|e| e.into_inner());
    let found = guard.iter().position(|(a, _)| *a == address).and_then(|i| guard.remove(i));
    drop(guard);
    let Some((_, done)) = found else { return };
    let outcome = autoreleasepool(|_| {
        // SAFETY: Metal passes the command buffer that completed, alive for the call.
        outcome(unsafe { buffer.as_ref() })
    });
    autoreleasepool(|_| done.complete(outcome));
}

/// What became of a completed command buffer.
fn outcome(buffer: &ProtocolObject<dyn MTLCommandBuffer>) -> Outcome {
    // SAFETY: both are properties of type CFTimeInterval, a double (MTLCommandBuffer.h). Sent by hand, since the typed
    // methods would need the CoreFoundation bindings for the name of that type.
    let (start, end): (f64, f64) = unsafe { (msg_send![buffer, GPUStartTime], msg_send![buffer, GPUEndTime]) };
    let result = match buffer.status() {
        MTLCommandBufferStatus::Error => Err(failure(buffer)),
        _ => Ok(()),
    };
    Outcome { result, start: nanoseconds(start), end: nanoseconds(end) }
}

/// Seconds as nanoseconds.
fn nanoseconds(seconds: f64) -> u64 {
    // `as` saturates: a time that is not a number or negative is 0.
    (seconds * 1e9).round() as u64
}

/// MTLCommandBufferError of MTLCommandBuffer.h.
const CAUSES: &[(isize, Cause)] = &[
    (2, Cause::Timeout),
    (3, Cause::PageFault),
    (4, Cause::NotPermitted),
    (7, Cause::NotPermitted),
    (8, Cause::OutOfMemory),
    (9, Cause::InvalidResource),
    (11, Cause::DeviceRemoved),
    (12, Cause::StackOverflow),
];

fn failure(buffer: &ProtocolObject<dyn MTLCommandBuffer>) -> Failure {
    let Some(error) = buffer.error() else {
        return Failure::new(Cause::Other, "Metal gives no reason");
    };
    let reason = error.localizedDescription().to_string();
    // Metal has no code of its own for a victim; the kernel's name for it is in the text.
    let cause = if reason.contains("InnocentVictim") || reason.contains("Innocent Victim") {
        Cause::InnocentVictim
    } else {
        let code = error.code();
        CAUSES.iter().find(|(c, _)| *c == code).map_or(Cause::Other, |(_, cause)| *cause)
    };
    Failure::new(cause, reason)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn times_are_nanoseconds() {
        assert_eq!(nanoseconds(1.5), 1_500_000_000);
        // 100 days: the spacing of doubles is 2^-30 s there, about a nanosecond.
        assert_eq!(nanoseconds(8_640_000.000_000_001), 8_640_000_000_000_001);
        assert_eq!((nanoseconds(-1.0), nanoseconds(f64::NAN)), (0, 0));
    }
}
