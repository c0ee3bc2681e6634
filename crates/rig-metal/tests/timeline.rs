//! Random sequences of operations on the driver, compared after each with a reference model of the timeline.
//!
//! The model is written from the promises: it keeps every command buffer that was committed and computes the word from
//! the whole list each time. `RIG_SEQUENCES` is how many sequences run, by default a million in release (ten seconds on
//! two cores) and 20,000 with debug assertions.
#![cfg(not(feature = "model"))]

mod manual;

use manual::Manual;
use rig_edge::{Cause, Driver, Error, FaultKind, Fill, Work};
use rig_metal::{EncodeError, Failure, Metal, Outcome, Policy};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A generator of random numbers: xorshift64* (Vigna, 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What becomes of a committed command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    Ran,
    Failed,
}

/// The reference.
struct Model {
    policy: Policy,
    /// Each committed command buffer: the last value whose commands all lie in it or before it, and its fate. Values
    /// without commands belong to the last command buffer before them.
    committed: Vec<(u64, Fate)>,
    /// Values reached while nothing was committed before them.
    first: u64,
    /// The open command buffer: its last whole value, and how many values it completes.
    open: Option<(u64, u32)>,
    submitted: u64,
    fault: Option<FaultKind>,
    discarded: u64,
}

impl Model {
    fn in_flight(&self) -> usize {
        self.committed.iter().filter(|(_, fate)| *fate == Fate::InFlight).count()
    }

    /// The word: the last value before the first command buffer that has not run.
    fn word(&self) -> u64 {
        let ran = self.committed.iter().take_while(|(_, fate)| *fate == Fate::Ran);
        ran.map(|(value, _)| *value).fold(self.first, u64::max)
    }

    /// The largest value that may still be reached.
    fn limit(&self) -> u64 {
        if self.fault.is_none() {
            return u64::MAX;
        }
        let may = self.committed.iter().take_while(|(_, fate)| *fate != Fate::Failed);
        let retired = self.committed.iter().take_while(|(_, fate)| *fate == Fate::Ran).count();
        // A failure counts once all before it have completed: then it is known to be the first.
        let known = self.committed.get(retired).is_some_and(|(_, fate)| *fate == Fate::Failed);
        let all = if known { self.word() } else { self.committed.iter().map(|c| c.0).fold(self.first, u64::max) };
        if known { may.map(|(value, _)| *value).fold(self.first, u64::max) } else { all }
    }

    fn commit_open(&mut self) {
        if let Some((value, _)) = self.open.take() {
            self.committed.push((value, Fate::InFlight));
        }
    }

    fn lose(&mut self, kind: FaultKind) {
        self.fault.get_or_insert(kind);
        if self.open.take().is_some() {
            self.discarded += 1;
        }
    }

    fn settle(&mut self, wanted: bool) {
        let Some((_, values)) = self.open else { return };
        if wanted || values >= self.policy.values || self.in_flight() < self.policy.in_flight {
            self.commit_open();
        }
    }

    fn empty(&mut self) {
        self.submitted += 1;
        let value = self.submitted;
        if let Some(open) = &mut self.open {
            *open = (value, open.1 + 1);
            self.settle(false);
        } else if self.in_flight() == 0 && self.committed.iter().all(|c| c.1 == Fate::Ran) {
            self.first = value;
        } else if let Some(last) = self.committed.last_mut() {
            last.0 = value;
        }
    }

    /// A completion; whether it is known to be the first failure.
    fn complete(&mut self, index: usize, fate: Fate) -> bool {
        self.committed[index].1 = fate;
        let retired = self.committed.iter().take_while(|c| c.1 == Fate::Ran).count();
        self.committed.get(retired).is_some_and(|c| c.1 == Fate::Failed)
    }
}

/// What the fill of the next submit does.
#[derive(Clone, Default)]
struct Script {
    splits: usize,
    /// Before this split (or the end) a command buffer in flight completes so.
    complete: Option<(usize, usize, bool)>,
    /// The fill fails at its end.
    fails: bool,
}

fn outcome(good: bool) -> Outcome {
    let failure = Failure::new(Cause::Other, "failed");
    Outcome { result: if good { Ok(()) } else { Err(failure) }, start: 1, end: 2 }
}

struct Run {
    api: Manual,
    driver: Metal<Manual>,
    model: Model,
    script: Arc<Mutex<Script>>,
    fills: [Fill; 1],
    random: Random,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let policy = match random.below(3) {
            0 => Policy::default(),
            _ => Policy { values: 1 + random.below(6) as u32, in_flight: random.below(5) },
        };
        let api = Manual::new(1024);
        let driver = Metal::open(api.clone(), policy);
        let script: Arc<Mutex<Script>> = Arc::default();
        let (mine, seen) = (api.clone(), Arc::clone(&script));
        let fill = rig_metal::fill::<Manual, _>(move |e| {
            let script = seen.lock().unwrap().clone();
            for at in 0..=script.splits {
                if let Some((_, index, good)) = script.complete.filter(|c| c.0 == at) {
                    mine.complete(index, outcome(good));
                }
                if at < script.splits {
                    e.split()?;
                }
            }
            if script.fails { Err(EncodeError::Own(7)) } else { Ok(()) }
        });
        let model =
            Model { policy, committed: Vec::new(), first: 0, open: None, submitted: 0, fault: None, discarded: 0 };
        Self { api, driver, model, script, fills: [fill], random }
    }

    fn submit_empty(&mut self) {
        let value = self.model.submitted + 1;
        let got = self.driver.submit(&Work { fills: &[] }, value);
        if self.model.fault.is_some() {
            assert!(got.is_err());
            return;
        }
        assert_eq!(got, Ok(()));
        self.model.empty();
    }

    fn submit_fill(&mut self) {
        let in_flight = self.api.in_flight();
        let splits = if self.random.one_in(3) { self.random.below(4) } else { 0 };
        let complete = (!in_flight.is_empty() && self.random.one_in(3)).then(|| {
            let at = self.random.below(splits + 1);
            (at, in_flight[self.random.below(in_flight.len())], !self.random.one_in(8))
        });
        let script = Script { splits, complete, fails: self.random.one_in(20) };
        *self.script.lock().unwrap() = script.clone();
        let value = self.model.submitted + 1;
        let got = self.driver.submit(&Work { fills: &self.fills }, value);
        if self.model.fault.is_some() {
            assert!(got.is_err());
            return;
        }
        self.model.submitted = value;
        let m = &mut self.model;
        m.open.get_or_insert((0, 0));
        let mut completed = false;
        for at in 0..=splits {
            if let Some((_, index, good)) = complete.filter(|c| c.0 == at) {
                completed = true;
                if m.complete(index, if good { Fate::Ran } else { Fate::Failed }) && m.fault.is_none() {
                    m.fault = Some(FaultKind::CommandBuffer(Cause::Other));
                }
            }
            if at < splits {
                if m.fault.is_some() {
                    // The split fails and the fill stops.
                    m.lose(FaultKind::NoEncoder);
                    assert!(got.is_err());
                    return;
                }
                m.commit_open();
                completed = false;
                m.open = Some((0, 0));
            }
        }
        if script.fails {
            m.lose(FaultKind::Fill(7));
            assert!(got.is_err());
        } else if m.fault.is_some() {
            // The fill does not know of the loss; its command buffer is discarded.
            m.lose(FaultKind::NoEncoder);
            assert_eq!(got, Ok(()));
        } else {
            assert_eq!(got, Ok(()));
            let values = m.open.map_or(0, |o| o.1);
            m.open = Some((value, values + 1));
            m.settle(completed);
        }
    }

    fn complete(&mut self) {
        let in_flight = self.api.in_flight();
        if in_flight.is_empty() {
            return;
        }
        let index = in_flight[self.random.below(in_flight.len())];
        let good = !self.random.one_in(12);
        self.api.complete(index, outcome(good));
        if self.model.complete(index, if good { Fate::Ran } else { Fate::Failed }) {
            self.model.lose(FaultKind::CommandBuffer(Cause::Other));
        } else if self.model.fault.is_none() {
            self.model.settle(true);
        }
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0 | 1 => self.submit_empty(),
            2..=7 => self.submit_fill(),
            8..=13 => self.complete(),
            14 => {
                self.driver.commit();
                if self.model.fault.is_none() {
                    self.model.settle(true);
                }
            }
            _ if self.random.one_in(6) => {
                self.driver.stop();
                self.model.lose(FaultKind::Closed);
            }
            _ => {}
        }
    }

    fn check(&mut self) {
        let word = &self.driver.facts().word;
        let m = &self.model;
        assert_eq!(word.signaled(), m.word(), "the word");
        assert_eq!(word.fault().map(|f| f.kind), m.fault, "the fault");
        let state = self.api.state();
        assert_eq!(state.committed.len(), m.committed.len(), "commits");
        assert_eq!(state.discarded, m.discarded, "discarded command buffers");
        assert_eq!(state.encoders - state.ended, u64::from(m.open.is_some()), "open encoders");
        drop(state);
        let value = 1 + self.random.below(m.submitted as usize + 2) as u64;
        let expected = match &m.fault {
            _ if value <= m.word() => Ok(()),
            Some(_) if value > m.limit() => Err(None),
            _ => Err(Some(Error::Timeout)),
        };
        let got = word.wait(value, Some(Instant::now()));
        match (got, expected) {
            (Ok(()), Ok(())) => {}
            (Err(Error::Lost(f)), Err(None)) => assert_eq!(Some(f.kind), m.fault),
            (Err(Error::Timeout), Err(Some(_))) => {}
            (got, expected) => panic!("a wait for {value}: {got:?}, expected {expected:?}"),
        }
        let drained = m.fault.is_some() && m.in_flight() == 0;
        assert_eq!(word.released(u64::MAX), drained, "drained");
    }
}

#[test]
fn random_sequences_agree_with_the_model() {
    let default = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    let count = std::env::var("RIG_SEQUENCES").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let first = std::env::var("RIG_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                for seed in (first..first + count).filter(|s| s % workers == worker) {
                    let check = std::panic::AssertUnwindSafe(|| {
                        let mut run = Run::new(seed);
                        for _ in 0..4 + run.random.below(28) {
                            run.step();
                            run.check();
                        }
                    });
                    if let Err(e) = std::panic::catch_unwind(check) {
                        eprintln!("RIG_SEED={seed} RIG_SEQUENCES=1 shows it alone");
                        std::panic::resume_unwind(e);
                    }
                }
            });
        }
    });
}
