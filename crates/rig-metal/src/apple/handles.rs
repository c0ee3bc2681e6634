//! Metal's objects as values that go to any thread.

use objc2::Message;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLSize;
use std::ffi::c_void;
use std::ops::Deref;

/// A retained Metal object. Dropping it releases it; whoever drops one drains an autorelease pool around it.
pub struct Native<P: ?Sized>(Retained<ProtocolObject<P>>);

// SAFETY: Metal's devices, queues, libraries, pipelines, buffers, fences, residency sets and indirect command buffers
// may be used from any thread, the mutable ones by one at a time (Apple, Metal Programming Guide, "Command Organization
// and Execution Model": command queues are thread-safe; command buffers and encoders may be used by one thread at a
// time, on any). The driver gives an open command buffer with its encoder to one thread at a time; `Residency` locks.
unsafe impl<P: ?Sized> Send for Native<P> {}
// SAFETY: as above; only methods of thread-safe objects are called through shared references.
unsafe impl<P: ?Sized> Sync for Native<P> {}

impl<P: ?Sized> Native<P> {
    /// Owns `object`.
    pub(crate) fn new(object: Retained<ProtocolObject<P>>) -> Self {
        Self(object)
    }

    /// The object's address, which is its handle.
    pub fn address(&self) -> usize {
        Retained::as_ptr(&self.0).expose_provenance()
    }

    /// The object as C sees it.
    pub fn pointer(&self) -> *mut c_void {
        Retained::as_ptr(&self.0).cast_mut().cast()
    }
}

impl<P: ?Sized> Clone for Native<P>
where
    ProtocolObject<P>: Message,
{
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<P: ?Sized> Deref for Native<P> {
    type Target = Retained<ProtocolObject<P>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The object of a handle, for as long as the handle is borrowed.
///
/// # Safety
///
/// `handle` is the address of a live object of protocol `P`.
pub unsafe fn borrow<P: ?Sized>(handle: &usize) -> &ProtocolObject<P> {
    // SAFETY: this function's contract; handles are made by `address`.
    unsafe { &*std::ptr::with_exposed_provenance::<ProtocolObject<P>>(*handle) }
}

/// An `MTLSize`.
pub fn size(s: [u64; 3]) -> MTLSize {
    MTLSize { width: s[0] as usize, height: s[1] as usize, depth: s[2] as usize }
}
