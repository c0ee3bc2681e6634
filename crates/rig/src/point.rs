//! Points of a device's timeline.

use crate::{Device, Error};
use std::time::{Duration, Instant};

/// A value of a device's timeline.
#[derive(Clone, Debug)]
pub struct Point {
    device: Device,
    value: u64,
}

impl Point {
    pub(crate) fn new(device: &Device, value: u64) -> Self {
        Self { device: device.clone(), value }
    }

    /// Its value.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether it is reached; no system call.
    pub fn signaled(&self) -> bool {
        self.device.signaled() >= self.value
    }

    /// Waits until it is reached. What the work wrote is then visible. Holds no lock.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] with the reason if it never is. Work that does not end is waited for as long as it takes; use a
    /// deadline where that is not wanted.
    pub fn wait(&self) -> Result<(), Error> {
        self.wait_until(None)
    }

    /// As [`Point::wait`], for at most `time`; then [`Error::Timeout`].
    pub fn wait_for(&self, time: Duration) -> Result<(), Error> {
        // A time that no clock reaches is no deadline.
        self.wait_until(Instant::now().checked_add(time))
    }

    /// As [`Point::wait`], until `deadline`; then [`Error::Timeout`].
    pub fn wait_until(&self, deadline: Option<Instant>) -> Result<(), Error> {
        let inner = self.device.inner();
        inner.check_call()?;
        if !self.signaled() {
            inner.driver.commit();
            inner.word.wait(self.value, deadline)?;
        }
        inner.sweep();
        Ok(())
    }
}
