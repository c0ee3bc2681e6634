//! The word in which a device's completion is observed.

use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{self, Condvar, Mutex, MutexGuard};
use crate::{Birth, Error, Fault, FaultKind, Inside};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// A function called once with the fault of a loss, inside a lock (see [`crate::inside()`]).
pub type LossHook = Box<dyn FnOnce(&Fault) + Send>;

/// A function called once when a lost device is drained, inside a lock.
pub type DrainHook = Box<dyn FnOnce() + Send>;

/// A device's timeline: the values 1, 2, ... that its work completes, in order.
///
/// The driver advances the word; anyone reads it or waits for it. The word never moves backwards. Once the device is
/// lost some values are never reached: the timeline knows the largest that still may be, and tells the reason to
/// whoever waits for more, so that nobody waits for ever for what cannot come.
pub struct Timeline {
    word: AtomicU64,
    lost: AtomicBool,
    state: Mutex<State>,
    moved: Condvar,
    birth: Birth,
}

struct State {
    /// The largest value that may still be reached; `u64::MAX` while the device is not lost.
    limit: u64,
    /// The first fault.
    fault: Option<Fault>,
    /// Set when the device is lost and nothing of it runs any more.
    drained: bool,
    /// Threads that wait; a system call is made only for them.
    waiting: usize,
    hooks: Vec<LossHook>,
    drain_hooks: Vec<DrainHook>,
}

impl Timeline {
    /// A timeline at 0.
    #[allow(clippy::new_without_default)] // a word is made by a driver that opens a device
    pub fn new() -> Self {
        let state = State {
            limit: u64::MAX,
            fault: None,
            drained: false,
            waiting: 0,
            hooks: Vec::new(),
            drain_hooks: Vec::new(),
        };
        Self {
            word: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            state: Mutex::new(state),
            moved: Condvar::new(),
            birth: Birth::now(),
        }
    }

    /// The last value reached. Whatever the device wrote for it is visible to the caller.
    pub fn signaled(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// Why the device is lost, if it is.
    pub fn fault(&self) -> Option<Fault> {
        if !self.birth.is_here() {
            return Some(forked());
        }
        sync::lock(&self.state).fault.clone()
    }

    /// Whether the device is lost; an atomic load.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) || !self.birth.is_here()
    }

    /// Whether no work that completes `value` can touch memory any more: it is done, or the device is lost and
    /// drained.
    pub fn released(&self, value: u64) -> bool {
        self.signaled() >= value || (self.is_lost() && self.birth.is_here() && sync::lock(&self.state).drained)
    }

    /// Waits until `value` is reached: at once if it has been, else until it is, it cannot be any more
    /// ([`Error::Lost`]) or the deadline passes ([`Error::Timeout`]).
    pub fn wait(&self, value: u64, deadline: Option<Instant>) -> Result<(), Error> {
        if self.signaled() >= value {
            return Ok(());
        }
        if !self.birth.is_here() {
            return Err(forked().into());
        }
        let mut state = sync::lock(&self.state);
        loop {
            if self.signaled() >= value {
                return Ok(());
            }
            if let (Some(fault), true) = (&state.fault, value > state.limit) {
                return Err(fault.clone().into());
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Err(Error::Timeout);
            }
            state = self.sleep(state, deadline);
        }
    }

    /// Calls `hook` with the fault once the device is lost, at once if it is. The hook runs on the thread that finds
    /// the loss, inside a lock.
    pub fn on_loss(&self, hook: LossHook) {
        let mut state = sync::lock(&self.state);
        state.hooks.push(hook);
        drop(state);
        self.run_hooks();
    }

    /// Calls `hook` once the device is lost and drained, at once if it is.
    pub fn on_drain(&self, hook: DrainHook) {
        let mut state = sync::lock(&self.state);
        state.drain_hooks.push(hook);
        drop(state);
        self.run_hooks();
    }

    /// For the driver: moves the word to `value`; does nothing if it is there or beyond.
    pub fn advance(&self, value: u64) {
        if self.signaled() >= value {
            return;
        }
        let state = sync::lock(&self.state);
        if self.signaled() < value {
            self.word.store(value, Ordering::Release);
            self.wake(&state);
        }
    }

    /// For the driver: records a loss after which no value above `limit` is reached, and wakes everyone. The first
    /// fault stays; the least limit counts. Runs no hook, so that a driver may call it inside its own lock.
    pub fn lose(&self, fault: Fault, limit: u64) {
        let mut state = sync::lock(&self.state);
        state.fault.get_or_insert(fault);
        state.limit = state.limit.min(limit);
        self.lost.store(true, Ordering::Release);
        self.wake(&state);
    }

    /// For the driver: records that the lost device runs nothing any more, and wakes everyone. Runs no hook.
    pub fn drain(&self) {
        let mut state = sync::lock(&self.state);
        if state.fault.is_some() && !state.drained {
            state.drained = true;
            self.wake(&state);
        }
    }

    /// Waits until everything that completes `value` is released; see [`Timeline::released`].
    pub fn wait_released(&self, value: u64, deadline: Option<Instant>) -> Result<(), Error> {
        if !self.birth.is_here() {
            return Err(forked().into());
        }
        let mut state = sync::lock(&self.state);
        while self.signaled() < value && !state.drained {
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Err(Error::Timeout);
            }
            state = self.sleep(state, deadline);
        }
        Ok(())
    }

    fn sleep<'a>(&self, mut state: MutexGuard<'a, State>, deadline: Option<Instant>) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let mut state = sync::wait_until(&self.moved, state, deadline);
        state.waiting -= 1;
        state
    }

    fn wake(&self, state: &State) {
        if state.waiting > 0 {
            self.moved.notify_all();
        }
    }

    /// For the driver: runs the hooks of a recorded loss or drain. Called outside the driver's locks.
    pub fn run_hooks(&self) {
        loop {
            let mut state = sync::lock(&self.state);
            let Some(fault) = state.fault.clone() else { return };
            let loss = state.hooks.pop();
            let drain = if loss.is_none() && state.drained { state.drain_hooks.pop() } else { None };
            drop(state);
            let _inside = Inside::new();
            // A hook's panic is its own; the thread may be the system's and must not unwind.
            let run = AssertUnwindSafe(|| match (loss, drain) {
                (Some(hook), _) => {
                    hook(&fault);
                    true
                }
                (None, Some(hook)) => {
                    hook();
                    true
                }
                (None, None) => false,
            });
            if !catch_unwind(run).unwrap_or(true) {
                return;
            }
        }
    }
}

fn forked() -> Fault {
    Fault::new(FaultKind::Forked, "the device belongs to the parent process")
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline").field("signaled", &self.signaled()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(feature = "model")))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    fn fault() -> Fault {
        Fault::new(FaultKind::NoEncoder, "test")
    }

    #[test]
    fn the_word_never_moves_backwards() {
        let t = Timeline::new();
        t.advance(3);
        t.advance(2);
        assert_eq!(t.signaled(), 3);
        assert_eq!(t.wait(3, None), Ok(()));
    }

    #[test]
    fn a_deadline_ends_a_wait() {
        let t = Timeline::new();
        assert_eq!(t.wait(1, Some(Instant::now() + Duration::from_millis(5))), Err(Error::Timeout));
    }

    #[test]
    fn a_loss_wakes_those_who_wait_for_what_cannot_come_and_no_others() {
        let t = Arc::new(Timeline::new());
        let waiters: Vec<_> = (1..=3)
            .map(|v| {
                let t = Arc::clone(&t);
                std::thread::spawn(move || t.wait(v, None))
            })
            .collect();
        t.lose(fault(), 2);
        t.advance(1);
        t.lose(Fault::new(FaultKind::Closed, "later"), u64::MAX);
        t.advance(2);
        let got: Vec<_> = waiters.into_iter().map(|w| w.join().unwrap()).collect();
        assert_eq!(got, [Ok(()), Ok(()), Err(Error::Lost(fault()))]);
        assert_eq!(t.fault(), Some(fault()), "the first fault wins");
    }

    #[test]
    fn hooks_run_once_inside_a_lock_also_when_they_panic_or_come_late() {
        let t = Timeline::new();
        let (tx, rx) = std::sync::mpsc::channel();
        let tx2 = tx.clone();
        t.on_loss(Box::new(move |_| tx.send(crate::inside()).unwrap()));
        t.on_loss(Box::new(|_| panic!("a hook's own panic (expected in this test)")));
        assert!(rx.try_recv().is_err());
        t.lose(fault(), 0);
        t.run_hooks();
        t.run_hooks();
        assert_eq!(rx.try_recv(), Ok(true));
        assert!(rx.try_recv().is_err());
        t.on_loss(Box::new(move |_| tx2.send(true).unwrap()));
        assert_eq!(rx.try_recv(), Ok(true));
        assert!(!crate::inside());
    }
}
