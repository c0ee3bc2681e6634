//! The residency set of a queue.

use super::handles::Native;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSError;
use objc2_metal::{MTLAllocation, MTLCommandQueue, MTLDevice, MTLResidencySet, MTLResidencySetDescriptor};
use std::sync::Mutex;

/// The allocations that are resident for every command buffer of the queue. Residency sets are not thread-safe
/// (MTLResidencySet.h), hence the lock, which is held for Metal's bookkeeping alone.
pub struct Residency(Mutex<Native<dyn MTLResidencySet>>);

impl Residency {
    /// An empty set, attached to `queue`.
    pub fn new(
        device: &ProtocolObject<dyn MTLDevice>,
        queue: &ProtocolObject<dyn MTLCommandQueue>,
    ) -> Result<Self, Retained<NSError>> {
        let set = device.newResidencySetWithDescriptor_error(&MTLResidencySetDescriptor::new())?;
        set.commit();
        set.requestResidency();
        queue.addResidencySet(&set);
        Ok(Self(Mutex::new(Native::new(set))))
    }

    /// Makes an allocation resident from the next commit of a command buffer on.
    pub fn add(&self, allocation: &ProtocolObject<dyn MTLAllocation>) {
        self.change(|set| set.addAllocation(allocation));
    }

    /// Ends an allocation's residency.
    pub fn remove(&self, allocation: &ProtocolObject<dyn MTLAllocation>) {
        self.change(|set| set.removeAllocation(allocation));
    }

    fn change(&self, f: impl FnOnce(&ProtocolObject<dyn MTLResidencySet>)) {
        let set = self.0.lock().unwrap_or_else(|e| e.into_inner());
        f(&set);
        set.commit();
    }
}
