//! Work given as a C function.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// `int fill(void *queue, void *arg, uint64_t v)`: encodes work for the device's queue.
///
/// `queue` is what the driver's agreement says and valid only during the call, `arg` the argument the work was given,
/// `v` the value the work completes on the device's timeline. A nonzero result loses the device.
pub type FillFn = unsafe extern "C" fn(queue: *mut c_void, arg: *mut c_void, v: u64) -> c_int;

/// The failure of a fill that panicked.
pub const PANICKED: c_int = -0x70616e;

/// A fill with its argument.
#[derive(Clone)]
pub struct Fill {
    function: FillFn,
    arg: *mut c_void,
    /// Keeps what `arg` points to, when the fill owns it.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: `arg` is only handed to `function`; `Fill::new` makes its caller promise that any thread may do so, and
// `Fill::from_fn` points it to a `Send + Sync` closure.
unsafe impl Send for Fill {}
// SAFETY: as above; `&Fill` only allows the same calls.
unsafe impl Sync for Fill {}

impl Fill {
    /// The fill `function` with its argument.
    ///
    /// # Safety
    ///
    /// For as long as this value or a clone of it lives, or work made of it is in flight:
    /// - calling `function` with `arg` from any thread is sound, one call at a time for each device it is submitted to;
    /// - `function` keeps the rules of the driver's agreement (for Metal, those of `rig-metal-abi`).
    pub unsafe fn new(function: FillFn, arg: *mut c_void) -> Self {
        Self { function, arg, _owner: None }
    }

    /// A fill that calls `f` with the queue and the value, and that owns `f`. A panic of `f` is the failure
    /// [`PANICKED`].
    pub fn from_fn<F>(f: F) -> Self
    where
        F: Fn(*mut c_void, u64) -> c_int + Send + Sync + 'static,
    {
        unsafe extern "C" fn call<F: Fn(*mut c_void, u64) -> c_int>(
            queue: *mut c_void,
            arg: *mut c_void,
            v: u64,
        ) -> c_int {
            // SAFETY: `arg` points to the `F` of the owning `Arc` below, which lives as long as the fill.
            let f = unsafe { &*arg.cast_const().cast::<F>() };
            catch_unwind(AssertUnwindSafe(|| f(queue, v))).unwrap_or(PANICKED)
        }
        let owner = Arc::new(f);
        let arg = Arc::as_ptr(&owner).cast_mut().cast();
        Self { function: call::<F>, arg, _owner: Some(owner) }
    }

    /// Calls the fill.
    ///
    /// # Safety
    ///
    /// `queue` is what the driver's agreement says, for the length of the call.
    pub unsafe fn call(&self, queue: *mut c_void, v: u64) -> c_int {
        // SAFETY: `arg` is sound to hand to `function` by the contract of `new`; `queue` by this function's.
        unsafe { (self.function)(queue, self.arg, v) }
    }
}

impl fmt::Debug for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fill").field("arg", &self.arg).finish_non_exhaustive()
    }
}
