//! Software Metal classes on Linux: the controls of their devices (see `objc/mol.h`).

use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLDevice;
use std::ffi::{CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn mol_create_device(family: c_int) -> *mut ProtocolObject<dyn MTLDevice>;
    fn mol_register(d: *const c_void, name: *const c_char, kernel: *const c_void, threads: u32);
    fn mol_set(d: *const c_void, name: *const c_char, value: i64) -> c_int;
    fn mol_fail_after(d: *const c_void, good: u64, code: c_int, reason: *const c_char);
    fn mol_release_stuck(d: *const c_void);
    fn mol_look(d: *const c_void, out: *mut u64);
}

/// A software Metal device.
pub struct Device(Retained<ProtocolObject<dyn MTLDevice>>);

fn c_string(s: &str) -> CString {
    CString::new(s).expect("a string without zeros")
}

impl Device {
    /// A device of an Apple GPU family, or of a Mac family for 0.
    pub fn new(family: i32) -> Self {
        // SAFETY: the function returns an owned object.
        Self(unsafe { Retained::from_raw(mol_create_device(family)) }.expect("a device"))
    }

    /// The device as Metal's protocol.
    pub fn metal(&self) -> Retained<ProtocolObject<dyn MTLDevice>> {
        self.0.clone()
    }

    fn raw(&self) -> *const c_void {
        Retained::as_ptr(&self.0).cast()
    }

    /// Gives the function `name` of any library a kernel: a C function on a `MolLaunch`.
    ///
    /// # Safety
    ///
    /// `kernel` is an `int kernel(const MolLaunch *)` that lives for good.
    pub unsafe fn register(&self, name: &str, kernel: *const c_void, threads: u32) {
        // SAFETY: the device lives; the name is copied; the kernel is the caller's.
        unsafe { mol_register(self.raw(), c_string(name).as_ptr(), kernel, threads) }
    }

    /// Sets a number of the device's plan of faults by its name in `mol_set`.
    pub fn set(&self, name: &str, value: i64) {
        // SAFETY: the device lives; the name is only read.
        let known = unsafe { mol_set(self.raw(), c_string(name).as_ptr(), value) };
        assert_ne!(known, 0, "no control `{name}`");
    }

    /// After `good` more command buffers one fails with an error of this code and description.
    pub fn fail_after(&self, good: u64, code: i32, reason: &str) {
        // SAFETY: the device lives; the reason is copied.
        unsafe { mol_fail_after(self.raw(), good, code, c_string(reason).as_ptr()) }
    }

    /// Tells the completions that were held back.
    pub fn release_stuck(&self) {
        // SAFETY: the device lives.
        unsafe { mol_release_stuck(self.raw()) }
    }

    /// Live buffers, pipelines, indirect command buffers; committed command buffers that have not begun.
    pub fn look(&self) -> [u64; 4] {
        let mut out = [0; 4];
        // SAFETY: the device lives; the array has the four places.
        unsafe { mol_look(self.raw(), out.as_mut_ptr()) };
        out
    }
}
