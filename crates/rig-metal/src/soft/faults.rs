//! What a soft device is told to do wrong.

use crate::{Done, Failure, Outcome};
use rig_edge::sync::{Condvar, Mutex, MutexGuard, lock, wait};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A handle to a soft device's faults; clones are of the same device.
#[derive(Clone, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Default)]
struct Shared {
    plan: Mutex<Plan>,
    changed: Condvar,
}

#[derive(Default)]
struct Plan {
    command_buffer: Countdown,
    encoder: Countdown,
    buffer: Countdown,
    icb: Countdown,
    /// What becomes of the command buffers that run next.
    results: VecDeque<Option<Failure>>,
    never: u32,
    slow: Duration,
    slow_icb: Duration,
    reverse: usize,
    paused: bool,
    stuck: Vec<(Done, Outcome)>,
    held: Vec<(Done, Outcome)>,
}

/// Fails the n-th call from now, counted from 0, and all calls after it.
#[derive(Default)]
struct Countdown(Option<u64>);

impl Countdown {
    fn fails(&mut self) -> bool {
        match &mut self.0 {
            None => false,
            Some(0) => true,
            Some(n) => {
                *n -= 1;
                false
            }
        }
    }
}

impl Faults {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        lock(&self.0.plan)
    }

    /// No command buffer is made after `calls` more.
    pub fn no_command_buffer_after(&self, calls: u64) {
        self.plan().command_buffer.0 = Some(calls);
    }

    /// No encoder is made after `calls` more.
    pub fn no_encoder_after(&self, calls: u64) {
        self.plan().encoder.0 = Some(calls);
    }

    /// No memory is given after `calls` more buffers; `None` lifts the fault.
    pub fn no_buffer_after(&self, calls: Option<u64>) {
        self.plan().buffer.0 = calls;
    }

    /// No indirect command buffer is made after `calls` more; `None` lifts the fault.
    pub fn no_icb_after(&self, calls: Option<u64>) {
        self.plan().icb.0 = calls;
    }

    /// Of the command buffers that run from now on, `good` run and the next fails with `failure`, without running.
    pub fn fail_after(&self, good: usize, failure: Failure) {
        let mut plan = self.plan();
        plan.results.extend(std::iter::repeat_n(None, good));
        plan.results.push_back(Some(failure));
    }

    /// The next `count` command buffers run but their completion is not told until [`Faults::release_stuck`].
    pub fn never_complete(&self, count: u32) {
        self.plan().never = count;
    }

    /// Tells the completion of those held back by [`Faults::never_complete`].
    pub fn release_stuck(&self) {
        let stuck = std::mem::take(&mut self.plan().stuck);
        for (done, outcome) in stuck {
            done.complete(outcome);
        }
    }

    /// Each command buffer takes this much longer.
    pub fn slow(&self, by: Duration) {
        self.plan().slow = by;
    }

    /// Making an indirect command buffer takes this much longer.
    pub fn slow_icb(&self, by: Duration) {
        self.plan().slow_icb = by;
    }

    /// Completion handlers run out of order: up to `window` are held back and run newest first, or when the device has
    /// nothing else to do. 0 and 1 are the usual order.
    pub fn reverse_handlers(&self, window: usize) {
        self.plan().reverse = window;
    }

    /// Lets no further command buffer begin.
    pub fn pause(&self) {
        self.plan().paused = true;
    }

    /// Lets command buffers begin again.
    pub fn resume(&self) {
        self.plan().paused = false;
        self.0.changed.notify_all();
    }

    pub(crate) fn refuses_command_buffer(&self) -> bool {
        self.plan().command_buffer.fails()
    }

    pub(crate) fn refuses_encoder(&self) -> bool {
        self.plan().encoder.fails()
    }

    pub(crate) fn refuses_buffer(&self) -> bool {
        self.plan().buffer.fails()
    }

    pub(crate) fn refuses_icb(&self) -> bool {
        let mut plan = self.plan();
        let (fails, slow) = (plan.icb.fails(), plan.slow_icb);
        drop(plan);
        if !slow.is_zero() {
            std::thread::sleep(slow);
        }
        fails
    }

    /// Waits while paused; then what is to become of the command buffer that begins, and how much longer it takes.
    pub(crate) fn begin(&self) -> (Option<Failure>, Duration) {
        let mut plan = self.plan();
        while plan.paused {
            plan = wait(&self.0.changed, plan);
        }
        (plan.results.pop_front().flatten(), plan.slow)
    }

    /// Tells a completion, or holds it back. `last`: the device has nothing else to do.
    pub(crate) fn deliver(&self, done: Done, outcome: Outcome, last: bool) {
        let mut plan = self.plan();
        if plan.never > 0 {
            plan.never -= 1;
            plan.stuck.push((done, outcome));
            return;
        }
        if plan.reverse < 2 {
            drop(plan);
            return done.complete(outcome);
        }
        plan.held.push((done, outcome));
        if plan.held.len() < plan.reverse && !last {
            return;
        }
        let held = std::mem::take(&mut plan.held);
        drop(plan);
        for (done, outcome) in held.into_iter().rev() {
            done.complete(outcome);
        }
    }
}
