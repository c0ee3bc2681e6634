//! The mark of a callback that runs inside a lock.
//!
//! A fill, a budget or loss callback and the collection of an indirect command buffer may run while the device is
//! locked by the same thread. A call that would take the lock again is refused there, before it changes anything.

use std::cell::Cell;
use std::marker::PhantomData;

crate::sync::thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread is running a callback inside a lock.
pub fn inside() -> bool {
    DEPTH.with(|d| d.get() > 0)
}

/// Marks this thread as running a callback inside a lock for as long as the value lives.
#[derive(Debug)]
pub struct Inside {
    not_send: PhantomData<*const ()>,
}

impl Inside {
    /// Enters a callback.
    #[allow(clippy::new_without_default)] // a guard is entered, not defaulted
    pub fn new() -> Self {
        DEPTH.with(|d| d.set(d.get() + 1));
        Self { not_send: PhantomData }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.with(|d| d.set(d.get() - 1));
    }
}
