//! Indirect command buffers.

use rig_edge::{Birth, Inside};
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An indirect command buffer: a sequence of dispatches recorded once, each run after the one before it has completed.
///
/// Dropping the value releases the native objects, so the submission whose work runs [`Icb::handle`] keeps it.
pub struct Icb {
    handle: usize,
    commands: Box<[usize]>,
    /// Taken by the drop that runs it.
    collect: Option<Box<dyn FnOnce() + Send + Sync>>,
    birth: Birth,
}

/// What C sees of an [`Icb`]; `rig_metal_icb` in C. Valid while the `Icb` lives.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CIcb {
    /// The `MTLIndirectCommandBuffer`.
    pub handle: *mut c_void,
    /// The `MTLIndirectComputeCommand` of each dispatch.
    pub commands: *const *mut c_void,
    /// How many there are.
    pub count: usize,
}

impl Icb {
    /// The value of a native indirect command buffer that a driver made; the only way to make one.
    ///
    /// The driver owns `handle`, `commands` and their pipelines until this call returns. From then on `collect`
    /// releases them. It runs once, when the value is dropped, inside a lock (a call of [`crate::Record::icb`] from it
    /// is refused); in a child of `fork` it does not run, since inherited Metal objects stay untouched there. `collect`
    /// keeps no reference to the value and neither blocks nor panics. A driver passes each native buffer at most once.
    pub fn new(handle: usize, commands: Box<[usize]>, collect: Box<dyn FnOnce() + Send + Sync>) -> Self {
        Self { handle, commands, collect: Some(collect), birth: Birth::now() }
    }

    /// The `MTLIndirectCommandBuffer`.
    pub fn handle(&self) -> usize {
        self.handle
    }

    /// The `MTLIndirectComputeCommand` of each dispatch, in order.
    ///
    /// A fill may change a command, such as its threadgroups per grid with
    /// `concurrentDispatchThreadgroups:threadsPerThreadgroup:`, before its first run of the handle, and only while no
    /// earlier work that runs the handle is in flight.
    pub fn commands(&self) -> &[usize] {
        &self.commands
    }

    /// What C sees of it.
    pub fn as_c(&self) -> CIcb {
        CIcb {
            handle: std::ptr::with_exposed_provenance_mut(self.handle),
            commands: self.commands.as_ptr().cast(),
            count: self.commands.len(),
        }
    }
}

impl Drop for Icb {
    fn drop(&mut self) {
        let Some(collect) = self.collect.take() else {
            return;
        };
        if !self.birth.is_here() {
            // Not even the closure is dropped: it may own the native objects.
            std::mem::forget(collect);
            return;
        }
        let _inside = Inside::new();
        // A collect that panics breaks its contract; the value may be dropped on the system's thread, which must not
        // unwind.
        let _ = catch_unwind(AssertUnwindSafe(collect));
    }
}

impl fmt::Debug for Icb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Icb").field("handle", &self.handle).field("commands", &self.commands.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn collect_runs_once_inside_a_lock_when_the_value_is_dropped() {
        let runs = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&runs);
        let icb = Icb::new(
            7,
            Box::new([8, 9]),
            Box::new(move || {
                assert!(rig_edge::inside());
                seen.fetch_add(1, Ordering::Relaxed);
            }),
        );
        let shared = Arc::new(icb);
        let c = shared.as_c();
        assert_eq!((c.handle.addr(), c.count, shared.commands()), (7, 2, &[8usize, 9][..]));
        drop(Arc::clone(&shared));
        assert_eq!(runs.load(Ordering::Relaxed), 0);
        drop(shared);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert!(!rig_edge::inside());
    }

    #[test]
    fn a_panic_of_collect_does_not_unwind() {
        drop(Icb::new(1, Box::new([]), Box::new(|| panic!("expected in this test"))));
    }
}
