//! The driver: the locks around the machine.
//!
//! One mutex guards the machine and the *seat* of the open command buffer. Whoever encodes, ends or commits takes the
//! open command buffer out of the seat first and leaves the mutex, so that no lock is held while a fill runs, while a
//! split waits for room or while the system is called. A completion handler that finds the seat taken never waits: it
//! asks for a commit, and the holder makes it before giving the seat back.

use crate::machine::{Machine, Policy, Retired};
use crate::objects::Objects;
use crate::seat::{Seat, Times, in_fill};
use crate::{Api, Done, Outcome, Sink, Traits, icb, seat};
use rig_edge::sync::{self, Condvar, Mutex, MutexGuard, atomic::AtomicBool, atomic::Ordering};
use rig_edge::{
    AtHome, Birth, Code, Constant, Driver, Entry, Error, Facts, Fault, FaultKind, ImageId, Region, Span, Timeline,
    Work, inside,
};
use rig_metal_abi::{Record, declare};
use std::collections::VecDeque;
use std::mem::replace;
use std::sync::Arc;

/// The most spans kept between two reads; the oldest are forgotten.
const MAX_SPANS: usize = 1 << 16;

/// A Metal device over `A`. Dropping it stops it.
pub struct Metal<A: Api> {
    shared: AtHome<Arc<Shared<A>>>,
    facts: Facts,
}

/// An open command buffer with its encoder.
pub(crate) struct Open<A: Api> {
    pub buffer: A::CommandBuffer,
    pub encoder: A::Encoder,
    /// The value of the first work with commands in it.
    first: u64,
    /// The value of the last whole work in it; 0 if none.
    reaches: u64,
    /// How many values it completes.
    values: u32,
    /// The generation of indirect command buffers whose pipelines were touched in it.
    touched: u64,
}

/// Who has the open command buffer.
enum Place<A: Api> {
    Empty,
    Idle(Open<A>),
    Taken,
}

struct State<A: Api> {
    machine: Machine,
    place: Place<A>,
    /// Calls of `icb` in flight.
    icb_calls: usize,
    /// `stop` is done.
    stopped: bool,
    /// Threads that wait for `changed`; a system call is made only for them.
    sleeping: usize,
}

pub(crate) struct Shared<A: Api> {
    pub api: A,
    pub traits: Traits,
    pub objects: Mutex<Objects<A>>,
    pub icbs: icb::Live<A>,
    word: Arc<Timeline>,
    birth: Birth,
    state: Mutex<State<A>>,
    changed: Condvar,
    profiling: AtomicBool,
    spans: Mutex<VecDeque<Span>>,
}

type Guard<'a, A> = MutexGuard<'a, State<A>>;

impl<A: Api> Metal<A> {
    /// Opens a device over `api`.
    pub fn open(api: A, policy: Policy) -> Self {
        let traits = api.traits();
        let word = Arc::new(Timeline::new());
        let state = State {
            machine: Machine::new(policy, traits.capacity),
            place: Place::Empty,
            icb_calls: 0,
            stopped: false,
            sleeping: 0,
        };
        let shared = Arc::new(Shared {
            api,
            traits: traits.clone(),
            objects: Mutex::new(Objects::new()),
            icbs: icb::Live::new(),
            word: Arc::clone(&word),
            birth: Birth::now(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            profiling: AtomicBool::new(false),
            spans: Mutex::new(VecDeque::new()),
        });
        let maker = AtHome::new(Arc::clone(&shared));
        let record = Record::new(traits.align, move |buffer, ds| icb::make(&maker, buffer, ds), seat::split::<A>);
        let facts = Facts {
            name: traits.name,
            driver: "metal",
            arch: traits.arch,
            budget: traits.budget.max(1),
            queues: 1,
            simd_width: traits.simd_width,
            max_threads: traits.max_threads,
            quirks: traits.quirks.list(),
            word,
            capabilities: vec![declare(record)],
        };
        Self { shared: AtHome::new(shared), facts }
    }
}

impl<A: Api> Shared<A> {
    fn lock(&self) -> Guard<'_, A> {
        sync::lock(&self.state)
    }

    fn sleep<'a>(&'a self, mut state: Guard<'a, A>) -> Guard<'a, A> {
        state.sleeping += 1;
        let mut state = sync::wait(&self.changed, state);
        state.sleeping -= 1;
        state
    }

    /// Ends a change of the state: finds out whether a lost device is drained, and wakes who waits.
    fn changed(&self, state: Guard<'_, A>) {
        let drained = state.machine.closed() && state.machine.idle() && matches!(state.place, Place::Empty);
        if drained {
            self.word.drain();
        }
        if state.sleeping > 0 {
            self.changed.notify_all();
        }
        drop(state);
        if drained {
            self.word.run_hooks();
        }
    }

    fn fault(&self) -> Fault {
        self.word.fault().unwrap_or_else(|| Fault::new(FaultKind::Closed, "the device is closed"))
    }

    /// Takes the open command buffer, waiting for who has it.
    fn take(&self) -> Result<Option<Open<A>>, Fault> {
        let mut state = self.lock();
        loop {
            if state.machine.closed() {
                return Err(self.fault());
            }
            match replace(&mut state.place, Place::Taken) {
                Place::Empty => return Ok(None),
                Place::Idle(open) => return Ok(Some(open)),
                Place::Taken => state = self.sleep(state),
            }
        }
    }

    /// Gives the open command buffer back, committing it if the rules say so, or discarding it on a lost device.
    fn settle(self: &Arc<Self>, mut open: Option<Open<A>>) {
        let mut state = self.lock();
        while let Some(mine) = open.take() {
            if state.machine.closed() {
                drop(state);
                self.discard(mine);
                state = self.lock();
            } else if state.machine.wants_commit(mine.values) {
                let last = mine.reaches;
                state = self.launch(state, mine, last, Times::NONE);
            } else {
                open = Some(mine);
                break;
            }
        }
        state.machine.wanted = false;
        state.place = open.map_or(Place::Empty, Place::Idle);
        self.changed(state);
    }

    /// Commits a command buffer that was taken.
    fn launch<'a>(
        self: &'a Arc<Self>,
        mut state: Guard<'a, A>,
        open: Open<A>,
        last: u64,
        times: Times,
    ) -> Guard<'a, A> {
        let Open { mut buffer, encoder, first, reaches, .. } = open;
        state.machine.wanted = false;
        let seq = state.machine.commit(first, last, reaches, times);
        drop(state);
        self.api.end(encoder, &mut buffer);
        let sink: Arc<Self> = Arc::clone(self);
        self.api.commit(buffer, Done { seq, sink });
        self.lock()
    }

    fn discard(&self, open: Open<A>) {
        let Open { mut buffer, encoder, .. } = open;
        self.api.end(encoder, &mut buffer);
        self.api.discard(buffer);
    }

    /// A new command buffer for work that completes `value`, once the queue has room.
    fn start(&self, value: u64) -> Result<Open<A>, Fault> {
        let mut state = self.lock();
        while !state.machine.has_room() && !state.machine.closed() {
            state = self.sleep(state);
        }
        if state.machine.closed() {
            return Err(self.fault());
        }
        drop(state);
        let no_buffer = || Fault::new(FaultKind::NoCommandBuffer, "Metal made no command buffer");
        let mut buffer = self.api.command_buffer().ok_or_else(no_buffer)?;
        let Some(encoder) = self.api.encoder(&mut buffer) else {
            self.api.discard(buffer);
            return Err(Fault::new(FaultKind::NoEncoder, "Metal made no compute encoder"));
        };
        let mut open = Open { buffer, encoder, first: value, reaches: 0, values: 0, touched: 0 };
        self.touch(&mut open);
        Ok(open)
    }

    /// Touches the pipelines of indirect command buffers made since the open command buffer was last touched.
    fn touch(&self, open: &mut Open<A>) {
        if self.traits.quirks.touch_pipelines {
            open.touched = self.icbs.touch(open.touched, |pipeline| self.api.touch(&mut open.encoder, pipeline));
        }
    }

    /// Ends and commits the open command buffer amid the work of `value` and starts a new one.
    pub fn split(self: &Arc<Self>, open: Open<A>, value: u64, times: Times) -> Result<Open<A>, Fault> {
        let state = self.lock();
        if state.machine.closed() {
            drop(state);
            self.discard(open);
            return Err(self.fault());
        }
        drop(self.launch(state, open, value, times));
        self.start(value)
    }

    /// Loses the device; the caller has taken the open command buffer and discarded it.
    fn lose(self: &Arc<Self>, fault: Fault) -> Fault {
        let mut state = self.lock();
        state.machine.lost = true;
        self.word.lose(fault, state.machine.reach());
        drop(state);
        self.settle(None);
        self.word.run_hooks();
        self.fault()
    }

    /// Begins a call of `icb`, unless the device is being stopped.
    pub fn enter_icb(&self) -> bool {
        let mut state = self.lock();
        let open = !state.machine.stopping;
        state.icb_calls += usize::from(open);
        open
    }

    /// Ends a call of `icb`.
    pub fn leave_icb(&self) {
        let mut state = self.lock();
        state.icb_calls -= 1;
        self.changed(state);
    }

    /// Whether this is the process that opened the device.
    pub fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    fn submit(self: &Arc<Self>, work: &Work<'_>, value: u64) -> Result<(), Fault> {
        if work.fills.is_empty() {
            return self.pass(value);
        }
        let open = match self.take()? {
            Some(mut open) => {
                self.touch(&mut open);
                open
            }
            None => match self.start(value) {
                Ok(open) => open,
                Err(fault) => return Err(self.lose(fault)),
            },
        };
        let mut seat = Seat::new(self, open, value);
        for fill in work.fills {
            let code = seat.call(fill);
            if code != 0 || seat.fault.is_some() {
                if let Some(open) = seat.open.take() {
                    self.discard(open);
                }
                let fault = seat.fault.take();
                let fault = fault.unwrap_or_else(|| Fault::new(FaultKind::Fill(code), "a fill returned a failure"));
                return Err(self.lose(fault));
            }
        }
        let mut open = seat.open.take();
        if let Some(open) = &mut open {
            open.reaches = value;
            open.values += 1;
        }
        self.settle(open);
        Ok(())
    }

    /// Completes work without commands: with the open command buffer, the last committed one, or at once.
    fn pass(self: &Arc<Self>, value: u64) -> Result<(), Fault> {
        let mut state = self.lock();
        while matches!(state.place, Place::Taken) && !state.machine.closed() {
            state = self.sleep(state);
        }
        if state.machine.closed() {
            return Err(self.fault());
        }
        match replace(&mut state.place, Place::Taken) {
            Place::Idle(mut open) => {
                open.reaches = value;
                open.values += 1;
                drop(state);
                self.settle(Some(open));
            }
            other => {
                state.place = other;
                if let Some(reached) = state.machine.pass(value) {
                    self.word.advance(reached);
                }
            }
        }
        Ok(())
    }

    fn commit(self: &Arc<Self>) {
        let mut state = self.lock();
        match replace(&mut state.place, Place::Taken) {
            Place::Empty => state.place = Place::Empty,
            Place::Taken => state.machine.wanted = true,
            Place::Idle(open) => {
                state.machine.wanted = true;
                drop(state);
                self.settle(Some(open));
            }
        }
    }

    fn stop(self: &Arc<Self>) {
        // A callback inside a lock may own the seat that a wait here would wait for; it leaves the rest to the owner.
        let may_wait = !inside() && !in_fill();
        let mut state = self.lock();
        if state.machine.stopping {
            while may_wait && !state.stopped {
                state = self.sleep(state);
            }
            return;
        }
        state.machine.stopping = true;
        self.word.lose(Fault::new(FaultKind::Closed, "the device is closed"), state.machine.reach());
        self.changed.notify_all();
        while may_wait && (state.icb_calls > 0 || matches!(state.place, Place::Taken)) {
            state = self.sleep(state);
        }
        match replace(&mut state.place, Place::Taken) {
            Place::Idle(open) => {
                drop(state);
                self.settle(Some(open));
                state = self.lock();
            }
            other => state.place = other,
        }
        state.stopped = true;
        self.changed(state);
        self.word.run_hooks();
        self.api.stop();
    }

    fn record(&self, span: Span) {
        if self.profiling.load(Ordering::Relaxed) {
            let mut spans = sync::lock(&self.spans);
            if spans.len() == MAX_SPANS {
                spans.pop_front();
            }
            spans.push_back(span);
        }
    }
}

impl<A: Api> Sink for Shared<A> {
    fn completed(self: Arc<Self>, seq: u64, outcome: Outcome) {
        let mut state = self.lock();
        let mut failure = None;
        state.machine.completed(seq, outcome, |retired| match retired {
            Retired::Ran(flight, Outcome { start, end, .. }) => {
                flight.times.write(start, end);
                self.record(Span { first: flight.first, last: flight.last, start, end });
                self.word.advance(flight.reaches);
            }
            Retired::Failed(reason) => failure = Some(reason),
            Retired::Late => {}
        });
        let lost = failure.is_some();
        if let Some(f) = failure {
            self.word.lose(Fault::new(FaultKind::CommandBuffer(f.cause), f.reason), state.machine.reach());
        }
        match replace(&mut state.place, Place::Taken) {
            Place::Idle(open) => {
                state.machine.wanted = true;
                drop(state);
                self.settle(Some(open));
            }
            Place::Empty => {
                state.place = Place::Empty;
                self.changed(state);
            }
            Place::Taken => {
                state.machine.wanted = true;
                self.changed(state);
            }
        }
        if lost {
            self.word.run_hooks();
        }
    }
}

impl<A: Api> Driver for Metal<A> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn allocate(&self, bytes: u64) -> Result<Region, Error> {
        self.shared.allocate(bytes)
    }

    fn free(&self, region: &Region) {
        self.shared.free(region);
    }

    fn read(&self, region: &Region, offset: u64, out: &mut [u8]) {
        self.shared.with_range(region, offset, out.len(), |buffer| self.shared.api.read(buffer, offset, out));
    }

    fn write(&self, region: &Region, offset: u64, bytes: &[u8]) {
        self.shared.with_range(region, offset, bytes.len(), |buffer| self.shared.api.write(buffer, offset, bytes));
    }

    fn load(&self, code: &Code<'_>) -> Result<ImageId, Error> {
        self.shared.load(code)
    }

    fn entry(&self, image: ImageId, name: &str, constants: &[Constant]) -> Result<Entry, Error> {
        self.shared.entry(image, name, constants)
    }

    fn unload(&self, image: ImageId) {
        self.shared.unload(image);
    }

    fn submit(&self, work: &Work<'_>, value: u64) -> Result<(), Fault> {
        if !self.shared.is_here() {
            return Err(self.shared.fault());
        }
        self.shared.submit(work, value)
    }

    fn commit(&self) {
        if self.shared.is_here() {
            self.shared.commit();
        }
    }

    fn stop(&self) {
        if self.shared.is_here() {
            self.shared.stop();
        }
    }

    fn now(&self) -> u64 {
        crate::clock::now()
    }

    fn profile(&self, on: bool) {
        self.shared.profiling.store(on, Ordering::Relaxed);
    }

    fn spans(&self, sink: &mut dyn FnMut(Span)) {
        let spans = std::mem::take(&mut *sync::lock(&self.shared.spans));
        spans.into_iter().for_each(sink);
    }
}

impl<A: Api> Drop for Metal<A> {
    fn drop(&mut self) {
        self.stop();
    }
}
