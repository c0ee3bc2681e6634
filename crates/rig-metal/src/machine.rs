//! The rules of committing and completing, as a plain value.
//!
//! Command buffers are numbered as they are committed. Completions arrive in any order; the machine retires them in
//! the order of commits, so the word moves in order, and stops at the first failure for good. It says when the open
//! command buffer is to be committed and whether the queue has room; `metal` does what it says.

use crate::seat::Times;
use crate::{Failure, Outcome};
use std::collections::VecDeque;

/// When to commit, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The open command buffer is committed when it holds this many values.
    pub values: u32,
    /// It is committed at once while fewer than this many committed command buffers are uncompleted. With more, it
    /// grows until one of them completes: the device has enough to do and a larger command buffer costs less.
    pub in_flight: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { values: 256, in_flight: 3 }
    }
}

/// A committed command buffer that is not retired.
#[derive(Debug)]
pub(crate) struct Flight {
    /// The value of the first work with commands in it.
    pub first: u64,
    /// The value of the last work with commands in it.
    pub last: u64,
    /// The value that is reached once this and all before it have completed; 0 if it ends amid its first work.
    pub reaches: u64,
    /// Where a split wants its times.
    pub times: Times,
    outcome: Option<Outcome>,
}

/// A command buffer that completed, retired in order.
pub(crate) enum Retired {
    /// It ran, and so did all before it.
    Ran(Flight, Outcome),
    /// It is the first that failed.
    Failed(Failure),
    /// It completed after one before it failed.
    Late,
}

#[derive(Debug)]
pub(crate) struct Machine {
    policy: Policy,
    capacity: usize,
    flight: VecDeque<Flight>,
    /// The number of the command buffer at the front of `flight`.
    base: u64,
    /// Committed command buffers that have not completed.
    uncompleted: usize,
    /// The last value reached.
    word: u64,
    /// Set by the first failed command buffer: the word stays where it is.
    failed: bool,
    /// Nothing is submitted or committed any more.
    pub lost: bool,
    /// `stop` has begun.
    pub stopping: bool,
    /// Someone asked for a commit while the open command buffer was in use.
    pub wanted: bool,
}

impl Machine {
    pub fn new(policy: Policy, capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self {
            policy,
            capacity,
            // Flights completed out of order wait here for those before them: more than the queue's capacity may.
            flight: VecDeque::with_capacity(capacity.min(1024)),
            base: 1,
            uncompleted: 0,
            word: 0,
            failed: false,
            lost: false,
            stopping: false,
            wanted: false,
        }
    }

    /// Whether work is refused.
    pub fn closed(&self) -> bool {
        self.lost || self.stopping
    }

    /// Whether the queue holds room for one more open command buffer.
    pub fn has_room(&self) -> bool {
        self.uncompleted < self.capacity
    }

    /// Whether nothing committed is uncompleted.
    pub fn idle(&self) -> bool {
        self.uncompleted == 0
    }

    /// Whether an open command buffer that completes `values` values is to be committed now.
    pub fn wants_commit(&self, values: u32) -> bool {
        self.wanted || values >= self.policy.values || self.uncompleted < self.policy.in_flight
    }

    /// Numbers a command buffer that is being committed.
    pub fn commit(&mut self, first: u64, last: u64, reaches: u64, times: Times) -> u64 {
        self.flight.push_back(Flight { first, last, reaches, times, outcome: None });
        self.uncompleted += 1;
        self.base + self.flight.len() as u64 - 1
    }

    /// Completes work without commands, all earlier work being committed: with the last command buffer in flight,
    /// or at once. Returns the value then reached.
    pub fn pass(&mut self, value: u64) -> Option<u64> {
        match self.flight.back_mut() {
            Some(last) => {
                last.reaches = value;
                None
            }
            None if self.failed => None,
            None => {
                self.word = value;
                Some(value)
            }
        }
    }

    /// Records that command buffer `seq` completed and hands those that are retired by it to `sink`, in order.
    pub fn completed(&mut self, seq: u64, outcome: Outcome, mut sink: impl FnMut(Retired)) {
        let slot = seq.checked_sub(self.base).and_then(|i| self.flight.get_mut(i as usize));
        let Some(slot) = slot.filter(|f| f.outcome.is_none()) else { return };
        slot.outcome = Some(outcome);
        self.uncompleted -= 1;
        while let Some(outcome) = self.flight.front_mut().and_then(|f| f.outcome.take()) {
            let Some(flight) = self.flight.pop_front() else { return };
            self.base += 1;
            sink(self.retire(flight, outcome));
        }
    }

    fn retire(&mut self, flight: Flight, outcome: Outcome) -> Retired {
        if self.failed {
            return Retired::Late;
        }
        match outcome.result.clone() {
            Ok(()) => {
                self.word = self.word.max(flight.reaches);
                Retired::Ran(flight, outcome)
            }
            Err(failure) => {
                self.failed = true;
                self.lost = true;
                Retired::Failed(failure)
            }
        }
    }

    /// The largest value that what is committed can still reach.
    pub fn reach(&self) -> u64 {
        if self.failed {
            return self.word;
        }
        self.flight.iter().map(|f| f.reaches).fold(self.word, u64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_edge::Cause;

    fn ran() -> Outcome {
        Outcome { result: Ok(()), start: 1, end: 2 }
    }

    fn complete(m: &mut Machine, seq: u64, outcome: Outcome) -> Vec<u64> {
        let mut out = Vec::new();
        m.completed(seq, outcome, |r| match r {
            Retired::Ran(f, _) => out.push(f.reaches),
            Retired::Failed(..) => out.push(1000),
            Retired::Late => out.push(2000),
        });
        out
    }

    #[test]
    fn completions_retire_in_the_order_of_commits() {
        let mut m = Machine::new(Policy::default(), 4);
        let seqs: Vec<u64> = (1..=3).map(|v| m.commit(v, v, v, Times::NONE)).collect();
        assert_eq!(complete(&mut m, seqs[2], ran()), []);
        assert_eq!(complete(&mut m, seqs[1], ran()), []);
        assert_eq!(complete(&mut m, seqs[1], ran()), [], "a second completion is ignored");
        assert_eq!(complete(&mut m, seqs[0], ran()), [1, 2, 3]);
        assert!(m.idle());
        assert_eq!(complete(&mut m, seqs[0], ran()), []);
    }

    #[test]
    fn a_failure_stops_the_word_whatever_completes_later() {
        let mut m = Machine::new(Policy::default(), 4);
        let seqs: Vec<u64> = (1..=3).map(|v| m.commit(v, v, v, Times::NONE)).collect();
        assert_eq!(m.reach(), 3);
        complete(&mut m, seqs[0], ran());
        let failed = Outcome { result: Err(Failure::new(Cause::Timeout, "slow")), start: 0, end: 0 };
        assert_eq!(complete(&mut m, seqs[1], failed), [1000]);
        assert_eq!(m.reach(), 1);
        assert_eq!(complete(&mut m, seqs[2], ran()), [2000]);
        assert_eq!((m.pass(4), m.reach()), (None, 1));
    }

    #[test]
    fn the_policy_commits_for_few_in_flight_for_many_values_and_on_demand() {
        let mut m = Machine::new(Policy { values: 5, in_flight: 2 }, 3);
        assert!(m.wants_commit(1));
        m.commit(1, 1, 1, Times::NONE);
        assert!(m.wants_commit(1));
        m.commit(2, 2, 2, Times::NONE);
        assert!(!m.wants_commit(4) && m.wants_commit(5));
        m.wanted = true;
        assert!(m.wants_commit(1));
        assert!(m.has_room());
        m.commit(3, 3, 3, Times::NONE);
        assert!(!m.has_room());
    }
}
