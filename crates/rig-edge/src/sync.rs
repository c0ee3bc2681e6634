//! The synchronization primitives of the runtime: `std`'s, or shuttle's under the feature `model`.
//!
//! Poisoning is ignored: no state of ours is left half-changed by a panic, since user code runs outside our locks.

#[cfg(not(feature = "model"))]
pub use std::thread_local;

#[cfg(feature = "model")]
pub use shuttle::thread_local;

#[cfg(not(feature = "model"))]
pub use std::sync::{Condvar, Mutex, MutexGuard, atomic};

#[cfg(feature = "model")]
pub use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};

use std::time::Instant;

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
