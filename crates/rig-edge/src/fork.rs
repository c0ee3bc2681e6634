//! Whether this process is the child of one that opened a device.
//!
//! After `fork` the child holds copies of the parent's objects, without the threads and system connections behind
//! them. It must leave them untouched: it drops values without releasing what they name and takes no lock another
//! thread may have held.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the forks between the first process and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The process in which a value was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth(u32);

impl Birth {
    /// This process.
    pub fn now() -> Self {
        install();
        Self(GENERATION.load(Ordering::Relaxed))
    }

    /// Whether this is still the process the value was made in. A load, no system call.
    pub fn is_here(self) -> bool {
        self.0 == GENERATION.load(Ordering::Relaxed)
    }
}

#[cfg(all(unix, not(miri)))]
fn install() {
    unsafe extern "C" {
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> std::ffi::c_int;
    }
    extern "C" fn child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
    static INSTALL: Once = Once::new();
    // SAFETY: the signature is POSIX's; the handler is a static function that touches one lock-free atomic, which is
    // all a child of a threaded process may do.
    INSTALL.call_once(|| unsafe {
        // A failure (no memory for the list of handlers) leaves forks unseen; there is nobody to tell yet.
        let _ = pthread_atfork(None, None, Some(child));
    });
}

#[cfg(not(all(unix, not(miri))))]
fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| ());
}

/// A value that is dropped only in the process that made it; a child of `fork` leaves it untouched.
#[derive(Debug)]
pub struct AtHome<T> {
    /// `None` only while it is dropped.
    value: Option<T>,
    birth: Birth,
}

impl<T> AtHome<T> {
    /// `value`, made in this process.
    pub fn new(value: T) -> Self {
        Self { value: Some(value), birth: Birth::now() }
    }
}

impl<T> std::ops::Deref for AtHome<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("taken only by drop")
    }
}

impl<T> Drop for AtHome<T> {
    fn drop(&mut self) {
        let value = self.value.take();
        if !self.birth.is_here() {
            std::mem::forget(value);
        }
    }
}
