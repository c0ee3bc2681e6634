//! Values that work in flight may use.

use crate::submission::Kept;
use crate::{Device, Error, Point};
use std::any::Any;
use std::fmt;
use std::ops::Deref;

/// A value that submitted work may use without its submission keeping it. When the hold is dropped, the device keeps
/// the value until all work submitted before is done, and then drops it (see [`Device::poll`] for when).
pub struct Hold<T: Any + Send + Sync> {
    device: Device,
    value: Option<Box<T>>,
}

impl<T: Any + Send + Sync> Hold<T> {
    /// Holds `value` for work of `device`.
    pub fn new(device: &Device, value: T) -> Self {
        Self { device: device.clone(), value: Some(Box::new(value)) }
    }

    /// Gives the value up once `point` is reached instead. An error, with the hold as it was, if the point is another
    /// device's.
    pub fn release_at(mut self, point: &Point) -> Result<(), (Self, Error)> {
        if !std::sync::Arc::ptr_eq(self.device.inner(), point.device().inner()) {
            return Err((self, Error::Invalid("a point of another device")));
        }
        self.release(point.value());
        Ok(())
    }

    fn release(&mut self, value: u64) {
        let Some(held) = self.value.take() else { return };
        let inner = self.device.inner();
        if !inner.is_here() {
            // A child of `fork` takes no lock; dropping the value is what the child asked for.
            return;
        }
        if inner.word.released(value) {
            drop(held);
        } else {
            inner.keep(value, Kept::Value(held));
        }
    }
}

impl<T: Any + Send + Sync> Deref for Hold<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // Taken only by a release, which consumes the hold.
        self.value.as_ref().expect("a hold has its value until it is released")
    }
}

impl<T: Any + Send + Sync> Drop for Hold<T> {
    fn drop(&mut self) {
        self.release(self.device.submitted());
    }
}

impl<T: Any + Send + Sync + fmt::Debug> fmt::Debug for Hold<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hold").field(&self.value).finish()
    }
}
