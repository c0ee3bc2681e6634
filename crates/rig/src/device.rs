//! Devices.

use crate::profile::Recorder;
use crate::submission::Kept;
use crate::{Error, Fault, Lost, Point};
use rig_edge::sync::atomic::{AtomicU64, Ordering};
use rig_edge::sync::{self, Mutex};
use rig_edge::{Birth, Driver, Facts, FaultKind, Inside, Key, Timeline, inside};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// An open device. Clones are the same device; it is closed when the last of them, of its submissions and of its points
/// is dropped. Buffers, images and kept values do not hold it open, so none of a device's own values keeps it alive
/// unseen.
#[derive(Clone)]
pub struct Device {
    handle: Arc<Handle>,
}

/// Closes the device when it is dropped.
struct Handle {
    inner: Arc<Inner>,
}

/// A request for memory that the budget has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    /// Bytes asked for.
    pub asked: u64,
    /// Bytes live.
    pub live: u64,
    /// The budget in bytes.
    pub budget: u64,
}

type PressureHook = Arc<dyn Fn(Pressure) + Send + Sync>;

pub(crate) struct Inner {
    pub driver: Box<dyn Driver>,
    pub word: Arc<Timeline>,
    birth: Birth,
    /// Held while a submit hands its work to the driver; orders submits.
    pub order: Mutex<()>,
    pub submitted: AtomicU64,
    kept: Mutex<Keeping>,
    live: AtomicU64,
    budget: AtomicU64,
    pressure: Mutex<Option<PressureHook>>,
    pub recorder: Recorder,
}

/// What is kept until its value is reached, in the order of values.
struct Keeping {
    queue: VecDeque<(u64, Kept)>,
    closed: bool,
}

impl Device {
    /// The device that `driver` opened.
    pub fn open(driver: Box<dyn Driver>) -> Self {
        let word = Arc::clone(&driver.facts().word);
        let budget = driver.facts().budget;
        let inner = Inner {
            driver,
            word,
            birth: Birth::now(),
            order: Mutex::new(()),
            submitted: AtomicU64::new(0),
            kept: Mutex::new(Keeping { queue: VecDeque::new(), closed: false }),
            live: AtomicU64::new(0),
            budget: AtomicU64::new(budget),
            pressure: Mutex::new(None),
            recorder: Recorder::default(),
        };
        Self { handle: Arc::new(Handle { inner: Arc::new(inner) }) }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.handle.inner
    }

    /// What the device is.
    pub fn facts(&self) -> &Facts {
        self.inner().driver.facts()
    }

    /// The capability that the device's driver declared under `key`; `None` if it declared none, as another kind of
    /// driver does.
    pub fn capability<T: Any + Send + Sync>(&self, key: &Key<T>) -> Option<Arc<T>> {
        self.facts().capabilities.iter().find_map(|c| c.find(key))
    }

    /// The value of the last work submitted.
    pub fn submitted(&self) -> u64 {
        self.inner().submitted.load(Ordering::Acquire)
    }

    /// The last value reached.
    pub fn signaled(&self) -> u64 {
        self.inner().word.signaled()
    }

    /// Whether all work submitted is done; no system call.
    pub fn idle(&self) -> bool {
        self.signaled() >= self.submitted()
    }

    /// The point at which all work submitted so far is done.
    pub fn now(&self) -> Point {
        Point::new(self, self.submitted())
    }

    /// The point `value` of the device's timeline, which need not be submitted yet.
    pub fn point(&self, value: u64) -> Point {
        Point::new(self, value)
    }

    /// Lets all submitted work begin as soon as it can; see [`Driver::commit`].
    pub fn commit(&self) {
        self.inner().driver.commit();
    }

    /// Drops what was kept for work that is done. Submits, waits, allocations and closing do this too.
    pub fn poll(&self) {
        self.inner().sweep();
    }

    /// Why the device is lost, if it is.
    pub fn lost(&self) -> Option<Lost> {
        if self.inner().word.is_lost() { self.inner().word.fault() } else { None }
    }

    /// Calls `hook` once with the reason when the device is lost, closed included; at once if it is. It runs on the
    /// thread that finds the loss, inside a lock.
    pub fn on_loss(&self, hook: impl FnOnce(&Lost) + Send + 'static) {
        self.inner().word.on_loss(Box::new(hook));
    }

    /// Closes the device: work that has not begun is dropped, work that has begun drains, and what is kept is dropped
    /// when it has. Waits for calls in flight and for no work. The device is lost from then on.
    pub fn close(&self) -> Result<(), Error> {
        if inside() {
            return Err(Error::InCallback);
        }
        self.inner().check_here()?;
        self.inner().close();
        Ok(())
    }

    /// Waits until nothing of the device runs and all that was kept for it is dropped: for a device that is not lost,
    /// until all submitted work is done.
    pub fn drain(&self, deadline: Option<Instant>) -> Result<(), Error> {
        self.inner().check_call()?;
        self.inner().driver.commit();
        self.inner().word.wait_released(self.submitted(), deadline)?;
        self.inner().sweep();
        Ok(())
    }

    /// Bytes of the device's memory that are live.
    pub fn live_bytes(&self) -> u64 {
        self.inner().live.load(Ordering::Relaxed)
    }

    /// The most bytes that may be live.
    pub fn budget(&self) -> u64 {
        self.inner().budget.load(Ordering::Relaxed)
    }

    /// Sets the most bytes that may be live, by default the budget of the device's facts. What is live stays.
    pub fn set_budget(&self, bytes: u64) {
        self.inner().budget.store(bytes, Ordering::Relaxed);
    }

    /// Calls `hook` when an allocation does not fit the budget, before it is refused: the hook may drop buffers. It
    /// runs on the allocating thread, inside a lock.
    pub fn on_pressure(&self, hook: impl Fn(Pressure) + Send + Sync + 'static) {
        *sync::lock(&self.inner().pressure) = Some(Arc::new(hook));
    }
}

impl Inner {
    /// Refuses a call in a child of `fork`.
    pub fn check_here(&self) -> Result<(), Error> {
        if self.birth.is_here() {
            return Ok(());
        }
        let reason = "the device belongs to the parent process";
        Err(self.word.fault().unwrap_or_else(|| Fault::new(FaultKind::Forked, reason)).into())
    }

    /// Refuses a call in a child of `fork`, or from a callback inside a lock.
    pub fn check_call(&self) -> Result<(), Error> {
        self.check_here()?;
        if inside() { Err(Error::InCallback) } else { Ok(()) }
    }

    pub fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    /// Keeps `item` until `value` is reached or the lost device is drained.
    pub fn keep(&self, value: u64, item: Kept) {
        let mut kept = sync::lock(&self.kept);
        if kept.closed {
            drop(kept);
            self.word.on_drain(Box::new(move || drop(item)));
            return;
        }
        // Values almost always come in order; a hold released at an older point goes where it belongs.
        let at = kept.queue.iter().rposition(|(v, _)| *v <= value).map_or(0, |i| i + 1);
        kept.queue.insert(at, (value, item));
    }

    /// Drops what was kept for work that is done, outside the lock.
    pub fn sweep(&self) {
        if !self.is_here() {
            return;
        }
        loop {
            let mut kept = sync::lock(&self.kept);
            let Some((value, _)) = kept.queue.front() else { return };
            if !self.word.released(*value) {
                return;
            }
            let item = kept.queue.pop_front();
            drop(kept);
            drop(item);
        }
    }

    fn close(&self) {
        self.driver.stop();
        let mut kept = sync::lock(&self.kept);
        kept.closed = true;
        let queue = std::mem::take(&mut kept.queue);
        drop(kept);
        let (done, rest): (VecDeque<_>, VecDeque<_>) =
            queue.into_iter().partition(|(value, _)| self.word.signaled() >= *value);
        drop(done);
        if !rest.is_empty() {
            self.word.on_drain(Box::new(move || drop(rest)));
        }
    }

    /// Takes `bytes` from the budget.
    pub fn reserve(&self, bytes: u64) -> Result<(), Error> {
        let budget = || self.budget.load(Ordering::Relaxed);
        let fits = |live: u64| live.checked_add(bytes).filter(|sum| *sum <= budget());
        let take = || self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        self.sweep();
        let Err(live) = take() else { return Ok(()) };
        let hook = sync::lock(&self.pressure).clone();
        if let Some(hook) = hook {
            let _inside = Inside::new();
            hook(Pressure { asked: bytes, live, budget: budget() });
            self.sweep();
        }
        match take() {
            Ok(_) => Ok(()),
            Err(live) => Err(Error::OutOfMemory { asked: bytes, live, budget: budget() }),
        }
    }

    /// Gives `bytes` back to the budget.
    pub fn unreserve(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.inner.is_here() {
            self.inner.close();
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.facts().name)
            .field("submitted", &self.submitted())
            .field("signaled", &self.signaled())
            .finish_non_exhaustive()
    }
}
