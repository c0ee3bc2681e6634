//! The synchronization primitives of the runtime: `std`'s; shuttle's under the feature `model`; parking_lot's under the
//! feature `instrumented`.
//!
//! Poisoning is ignored: no state of ours is left half-changed by a panic, since user code runs outside our locks.

#[cfg(not(feature = "model"))]
pub use std::{sync::atomic, thread_local};

#[cfg(feature = "model")]
pub use shuttle::{sync::atomic, thread_local};

#[cfg(not(any(feature = "model", feature = "instrumented")))]
pub use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(feature = "model")]
pub use shuttle::sync::{Condvar, Mutex, MutexGuard};

#[cfg(all(feature = "instrumented", not(feature = "model")))]
pub use parking_lot::{Condvar, Mutex, MutexGuard};

use std::time::Instant;

#[cfg(any(feature = "model", not(feature = "instrumented")))]
mod how {
    use super::{Condvar, Instant, Mutex, MutexGuard};

    /// Locks `m`, whatever a panicking holder did.
    pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
        m.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits on `c`; spurious returns are possible.
    pub fn wait<'a, T>(c: &Condvar, g: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        c.wait(g).unwrap_or_else(|e| e.into_inner())
    }

    /// Waits on `c` until `deadline`; spurious returns are possible.
    pub fn wait_until<'a, T>(c: &Condvar, g: MutexGuard<'a, T>, deadline: Option<Instant>) -> MutexGuard<'a, T> {
        let Some(d) = deadline else { return wait(c, g) };
        let left = d.saturating_duration_since(Instant::now());
        match c.wait_timeout(g, left) {
            Ok((g, _)) => g,
            Err(e) => e.into_inner().0,
        }
    }
}

#[cfg(all(feature = "instrumented", not(feature = "model")))]
mod how {
    use super::{Condvar, Instant, Mutex, MutexGuard};

    /// Locks `m`.
    pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
        m.lock()
    }

    /// Waits on `c`.
    pub fn wait<'a, T>(c: &Condvar, mut g: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        c.wait(&mut g);
        g
    }

    /// Waits on `c` until `deadline`.
    pub fn wait_until<'a, T>(c: &Condvar, mut g: MutexGuard<'a, T>, deadline: Option<Instant>) -> MutexGuard<'a, T> {
        match deadline {
            Some(d) => drop(c.wait_until(&mut g, d)),
            None => c.wait(&mut g),
        }
        g
    }
}

pub use how::{lock, wait, wait_until};
