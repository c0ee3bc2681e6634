//! The soft device's encoder as C sees it (`include/rig_metal_encode.h`), and pipelines that are C functions.

use super::exec::{Body, Command};
use super::kernel::{BUFFERS, Kernel, Launch};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// A size in threads or threadgroups; `rig_size` in C.
#[repr(C)]
#[derive(Clone, Copy)]
struct Size {
    x: usize,
    y: usize,
    z: usize,
}

/// `struct rig_soft_operations`.
#[repr(C)]
pub(crate) struct Operations {
    set_pipeline: unsafe extern "C" fn(*mut CEncoder, *mut c_void),
    set_buffer: unsafe extern "C" fn(*mut CEncoder, *mut c_void, u64, u32),
    set_threadgroup_memory: unsafe extern "C" fn(*mut CEncoder, u64, u32),
    dispatch: unsafe extern "C" fn(*mut CEncoder, Size, Size),
    execute: unsafe extern "C" fn(*mut CEncoder, *mut c_void, u64, u64),
    set_command: unsafe extern "C" fn(*mut CEncoder, *mut c_void, Size, Size),
}

static OPERATIONS: Operations =
    Operations { set_pipeline, set_buffer, set_threadgroup_memory, dispatch, execute, set_command };

/// `struct rig_soft_encoder`, with what C does not see behind it.
#[repr(C)]
struct CEncoder {
    operations: &'static Operations,
    body: Box<Body>,
}

/// An open encoder; owns the command buffer's body while it is open. The C side holds its address in the queue's word.
pub struct SoftEncoder(NonNull<CEncoder>);

// SAFETY: the encoder owns its memory, which holds a `Body` that is `Send`; the address in the queue's word is used by
// the thread that runs the fill, which has the encoder.
unsafe impl Send for SoftEncoder {}

/// An encoder's memory when it is not open. Pooled with its body, so that warm submits allocate nothing.
pub(crate) struct Parts(Box<CEncoder>);

impl Parts {
    pub fn new() -> Self {
        Self(Box::new(CEncoder { operations: &OPERATIONS, body: Box::default() }))
    }

    pub fn body(&mut self) -> &mut Body {
        &mut self.0.body
    }

    pub fn open(self) -> SoftEncoder {
        SoftEncoder(NonNull::from(Box::leak(self.0)))
    }
}

impl SoftEncoder {
    pub(crate) fn close(self) -> Parts {
        let ptr = self.0.as_ptr();
        std::mem::forget(self);
        // SAFETY: `Parts::open` made the pointer from a box; `self`, its only owner, is gone.
        Parts(unsafe { Box::from_raw(ptr) })
    }

    pub(crate) fn word(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    pub(crate) fn body(&mut self) -> &mut Body {
        // SAFETY: the encoder owns the memory and is borrowed exclusively; C uses the address only while a fill runs,
        // during which the driver does not use the encoder but through calls the fill makes.
        unsafe { &mut (*self.0.as_ptr()).body }
    }
}

impl Drop for SoftEncoder {
    fn drop(&mut self) {
        // SAFETY: as in `close`; an encoder that is dropped was not closed.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// # Safety
///
/// `e` is the address in the queue's word, during the fill's call.
unsafe fn push(e: *mut CEncoder, command: Command) {
    // SAFETY: the contract; the encoder lives while the fill runs and nobody else uses it.
    unsafe { (*e).body.push(command) }
}

fn size(s: Size) -> [u64; 3] {
    [s.x as u64, s.y as u64, s.z as u64]
}

unsafe extern "C" fn set_pipeline(e: *mut CEncoder, pipeline: *mut c_void) {
    // SAFETY: the contract of `push`, which C's header states.
    unsafe { push(e, Command::Pipeline(pipeline.addr())) }
}

unsafe extern "C" fn set_buffer(e: *mut CEncoder, buffer: *mut c_void, offset: u64, index: u32) {
    // SAFETY: as above.
    unsafe { push(e, Command::Buffer { handle: buffer.addr(), offset, index }) }
}

unsafe extern "C" fn set_threadgroup_memory(e: *mut CEncoder, bytes: u64, index: u32) {
    // SAFETY: as above.
    unsafe { push(e, Command::Threadgroup { bytes, index }) }
}

unsafe extern "C" fn dispatch(e: *mut CEncoder, groups: Size, threads: Size) {
    // SAFETY: as above.
    unsafe { push(e, Command::Dispatch { groups: size(groups), threads: size(threads) }) }
}

unsafe extern "C" fn execute(e: *mut CEncoder, icb: *mut c_void, first: u64, count: u64) {
    // SAFETY: as above.
    unsafe { (*e).body.execute(icb.addr(), first, count) }
}

unsafe extern "C" fn set_command(e: *mut CEncoder, command: *mut c_void, groups: Size, threads: Size) {
    // SAFETY: as above.
    unsafe { (*e).body.set_command(command.addr(), size(groups), size(threads)) }
}

/// One dispatch as a C kernel sees it.
#[repr(C)]
pub struct CLaunch {
    /// Threadgroups per grid.
    pub groups: [u32; 3],
    /// Threads per threadgroup.
    pub threads: [u32; 3],
    /// The first bytes of the buffers bound, null where there is none.
    pub buffers: [*mut c_void; BUFFERS],
    /// Bytes from there to the end of each region.
    pub bytes: [u64; BUFFERS],
    /// The lengths of threadgroup memory arguments in bytes.
    pub threadgroup: [u32; BUFFERS],
}

/// A pipeline that is a C function: runs a dispatch and returns 0 or a failure.
pub type CKernelFn = unsafe extern "C" fn(launch: *const CLaunch) -> c_int;

/// A kernel that is a C function.
pub struct CKernel(CKernelFn);

impl CKernel {
    /// The kernel `function`.
    ///
    /// # Safety
    ///
    /// `function` may be called from any thread and touches only what its launch gives it: bytes of the bound buffers
    /// and of live regions whose device addresses (which are host addresses) it finds there.
    pub unsafe fn new(function: CKernelFn) -> Self {
        Self(function)
    }
}

impl Kernel for CKernel {
    fn run(&self, launch: &Launch<'_>) -> Result<(), String> {
        let host = |address: u64| std::ptr::with_exposed_provenance_mut(address as usize);
        let c = CLaunch {
            groups: launch.groups,
            threads: launch.threads,
            buffers: launch.buffers.map(|b| b.map_or(std::ptr::null_mut(), |b| host(b.address))),
            bytes: launch.buffers.map(|b| b.map_or(0, |b| b.bytes)),
            threadgroup: *launch.threadgroup,
        };
        // SAFETY: the function was promised to be callable with a launch; the regions bound are held by the launch.
        match unsafe { (self.0)(&c) } {
            0 => Ok(()),
            code => Err(format!("a C kernel failed with {code}")),
        }
    }
}
