//! Which work uses which bytes of an allocation.

use std::ops::Range;

/// One use: the last value of work that touches a range in one way.
#[derive(Debug)]
struct Use {
    range: Range<u64>,
    write: bool,
    value: u64,
}

/// The uses of one allocation that may be in flight.
///
/// The device runs work in order, so work that reads bytes comes after their last write and work that writes them
/// comes after every use; what is left to track is when the host may touch them.
#[derive(Debug, Default)]
pub(crate) struct Uses(Vec<Use>);

impl Uses {
    /// Records that the work of `value` touches `range`. `signaled` is the last value reached. Grows only if a range
    /// or way of use is new.
    pub fn record(&mut self, range: &Range<u64>, write: bool, value: u64, signaled: u64) {
        if let Some(same) = self.0.iter_mut().find(|u| u.write == write && u.range == *range) {
            same.value = same.value.max(value);
            return;
        }
        self.0.retain(|u| u.value > signaled);
        self.0.push(Use { range: range.clone(), write, value });
    }

    /// The last value of work that touches a byte of `range`: of work that writes it, or of any work.
    pub fn last(&self, range: &Range<u64>, writes_only: bool) -> u64 {
        let overlaps = |u: &&Use| u.range.start < range.end && range.start < u.range.end;
        let counts = |u: &&Use| u.write || !writes_only;
        self.0.iter().filter(overlaps).filter(counts).map(|u| u.value).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_for_the_last_write_and_a_writer_for_every_use_of_its_bytes() {
        let mut uses = Uses::default();
        uses.record(&(0..8), true, 1, 0);
        uses.record(&(4..12), false, 2, 0);
        uses.record(&(16..20), true, 3, 0);
        assert_eq!(uses.last(&(0..4), true), 1);
        assert_eq!(uses.last(&(0..4), false), 1);
        assert_eq!(uses.last(&(7..9), true), 1);
        assert_eq!(uses.last(&(7..9), false), 2);
        assert_eq!(uses.last(&(8..16), true), 0);
        assert_eq!(uses.last(&(12..16), false), 0);
        assert_eq!(uses.last(&(0..20), true), 3);
        uses.record(&(0..8), true, 9, 8);
        assert_eq!(uses.last(&(0..1), true), 9);
    }

    #[test]
    fn done_uses_are_forgotten_when_a_new_range_comes() {
        let mut uses = Uses::default();
        for value in 1..1000 {
            uses.record(&(value..value + 1), true, value, value - 1);
        }
        assert_eq!(uses.0.len(), 1);
    }
}
