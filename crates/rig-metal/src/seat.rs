//! Where a running fill sits: the word that holds its encoder, and `split`.

use crate::Api;
use crate::metal::{Open, Shared};
use rig_edge::{Fault, Fill, Inside};
use std::any::TypeId;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The failure of a split after which the fill must stop.
const SPLIT_FAILED: c_int = 1;
/// The failure of a split that was not called by a running fill with its queue.
const SPLIT_OUTSIDE: c_int = 2;
/// The failure of a split that hit a defect of the driver.
const SPLIT_DEFECT: c_int = 3;

/// Where a split wants the times of the command buffer it commits.
#[derive(Debug)]
pub(crate) struct Times {
    start: *mut u64,
    end: *mut u64,
}

// SAFETY: the pointers are only written through, once, by the thread that retires the command buffer; whoever made the
// value promised that they are valid for that from any thread (see `Times::new`).
unsafe impl Send for Times {}

impl Times {
    /// No times are wanted.
    pub const NONE: Times = Times { start: std::ptr::null_mut(), end: std::ptr::null_mut() };

    /// # Safety
    ///
    /// Each pointer is null or valid for a write of a `u64`, from any thread, until the work that makes the split is
    /// done or the lost device is drained.
    unsafe fn new(start: *mut u64, end: *mut u64) -> Self {
        Times { start, end }
    }

    /// Writes the times where they are wanted.
    pub fn write(self, start: u64, end: u64) {
        // SAFETY: null or valid by the contract of `new`; the work is not done while this value exists, since it is
        // consumed before the word moves.
        unsafe {
            if !self.start.is_null() {
                self.start.write(start);
            }
            if !self.end.is_null() {
                self.end.write(end);
            }
        }
    }
}

/// A submit in progress. Its first field is the word that `queue` points to.
#[repr(C)]
pub(crate) struct Seat<A: Api> {
    word: *mut c_void,
    pub shared: Arc<Shared<A>>,
    /// The open command buffer; `None` after a failed split.
    pub open: Option<Open<A>>,
    /// The value the work completes.
    pub value: u64,
    /// Why the first split that failed did.
    pub fault: Option<Fault>,
}

rig_edge::sync::thread_local! {
    /// The seat of the fill that this thread runs, with the type of its API.
    static CURRENT: Cell<Option<(*mut c_void, TypeId)>> = const { Cell::new(None) };
}

impl<A: Api> Seat<A> {
    pub fn new(shared: &Arc<Shared<A>>, open: Open<A>, value: u64) -> Self {
        Self { word: std::ptr::null_mut(), shared: Arc::clone(shared), open: Some(open), value, fault: None }
    }

    /// Runs one fill.
    pub fn call(&mut self, fill: &Fill) -> c_int {
        self.refresh();
        let value = self.value;
        let queue: *mut c_void = (&raw mut *self).cast();
        let _inside = Inside::new();
        let outer = CURRENT.with(|c| c.replace(Some((queue, TypeId::of::<A>()))));
        // SAFETY: `queue` points to the seat, whose first word holds the encoder that was opened before; it stays
        // there for the call, during which this thread reaches the seat through `queue` alone.
        let code = unsafe { fill.call(queue, value) };
        CURRENT.with(|c| c.set(outer));
        code
    }

    /// Stores the open encoder where the fill reads it.
    fn refresh(&mut self) {
        self.word = match &mut self.open {
            Some(open) => self.shared.api.word(&mut open.encoder),
            None => std::ptr::null_mut(),
        };
    }

    /// Ends the open command buffer and starts a new one.
    pub fn split(&mut self, times: Times) -> c_int {
        let Some(open) = self.open.take() else { return SPLIT_FAILED };
        let next = self.shared.split(open, self.value, times);
        match next {
            Ok(open) => self.open = Some(open),
            Err(fault) => self.fault = Some(fault),
        }
        self.refresh();
        if self.open.is_some() { 0 } else { SPLIT_FAILED }
    }
}

/// Calls `f` with the seat of the running fill, if `queue` is the one this thread's fill was given.
pub(crate) fn with_seat<A: Api, R>(queue: *mut c_void, f: impl FnOnce(&mut Seat<A>) -> R) -> Option<R> {
    let current = CURRENT.with(Cell::take);
    let (seat, api) = current?;
    let result = if seat == queue && api == TypeId::of::<A>() {
        // SAFETY: `seat` was stored by `Seat::<A>::call` (the type matches), which is still running on this thread, so
        // the seat lives. `CURRENT` is empty during `f`, so nobody else makes a reference from it.
        let seat = unsafe { &mut *seat.cast::<Seat<A>>() };
        Some(f(seat))
    } else {
        None
    };
    CURRENT.with(|c| c.set(current));
    result
}

/// Whether this thread runs a fill.
pub(crate) fn in_fill() -> bool {
    CURRENT.with(|c| c.get().is_some())
}

/// `split` of the agreement.
///
/// # Safety
///
/// `start` and `end` are null or valid for writes until the work is done or the lost device is drained. A `queue` that
/// is not that of this thread's running fill is refused.
pub(crate) unsafe extern "C" fn split<A: Api>(queue: *mut c_void, start: *mut u64, end: *mut u64) -> c_int {
    // SAFETY: this function's contract.
    let times = unsafe { Times::new(start, end) };
    let done = catch_unwind(AssertUnwindSafe(|| with_seat::<A, _>(queue, |seat| seat.split(times))));
    match done {
        Ok(Some(code)) => code,
        Ok(None) => SPLIT_OUTSIDE,
        Err(_) => SPLIT_DEFECT,
    }
}
