//! Work, made once and submitted many times.

use crate::{Access, Buffer, Device, Error, Fill, Point};
use rig_edge::Work;
use rig_edge::sync::{self, atomic::Ordering};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What is kept while work may use it.
pub(crate) enum Kept {
    /// A submitted submission's contents.
    Contents(#[allow(dead_code)] Arc<Contents>), // kept to be dropped, never read
    /// A value that was held.
    Value(#[allow(dead_code)] Box<dyn Any + Send + Sync>), // likewise
}

/// The parts of a submission.
pub(crate) struct Contents {
    label: Box<str>,
    fills: Vec<Fill>,
    uses: Vec<(Buffer, Access)>,
    _keep: Vec<Box<dyn Any + Send + Sync>>,
}

/// A submission being made.
#[must_use]
pub struct Builder {
    device: Device,
    contents: Contents,
}

/// Work that can be submitted any number of times, from any thread. Each submit runs its fills once, in order.
///
/// It keeps what it was given until it is dropped and every submit of it is done.
pub struct Submission {
    device: Device,
    contents: Arc<Contents>,
}

impl Builder {
    /// A name for people, which profiles show.
    pub fn label(mut self, label: &str) -> Self {
        self.contents.label = label.into();
        self
    }

    /// Adds a fill.
    pub fn fill(mut self, fill: Fill) -> Self {
        self.contents.fills.push(fill);
        self
    }

    /// Declares that the work reads `buffer`, and keeps it.
    pub fn reads(self, buffer: &Buffer) -> Self {
        self.uses(buffer, Access::Read)
    }

    /// Declares that the work writes `buffer`, and keeps it.
    pub fn writes(self, buffer: &Buffer) -> Self {
        self.uses(buffer, Access::Write)
    }

    /// Declares that the work touches `buffer`, and keeps it. What work touches and does not declare is not waited for
    /// by [`Buffer::wait`].
    pub fn uses(mut self, buffer: &Buffer, access: Access) -> Self {
        self.contents.uses.push((buffer.clone(), access));
        self
    }

    /// Keeps a value that the work uses, such as an indirect command buffer, a fill's argument or an entry. A device
    /// or point must not be kept: it would hold its device open.
    pub fn keep(mut self, value: impl Any + Send + Sync) -> Self {
        self.contents._keep.push(Box::new(value));
        self
    }

    /// The submission.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a buffer is another device's.
    pub fn build(self) -> Result<Submission, Error> {
        if self.contents.uses.iter().any(|(b, _)| !b.is_of(&self.device)) {
            return Err(Error::Invalid("a buffer of another device"));
        }
        Ok(Submission { device: self.device, contents: Arc::new(self.contents) })
    }
}

impl Submission {
    /// Begins a submission to `device`.
    #[allow(clippy::new_ret_no_self)] // it is built, not made at once
    pub fn new(device: &Device) -> Builder {
        let contents = Contents { label: Box::default(), fills: Vec::new(), uses: Vec::new(), _keep: Vec::new() };
        Builder { device: device.clone(), contents }
    }

    /// Submits the work to run after all earlier work of the device, and returns the point at which it is done. Work
    /// begins without a further call.
    ///
    /// Once the device has been through work of the same shape, a submit allocates nothing. It waits while another
    /// thread's submit encodes, and while the device's queue is full.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] on a lost device, also if this submit loses it.
    pub fn submit(&self) -> Result<Point, Error> {
        let device = self.device.inner();
        device.check_call()?;
        device.sweep();
        let began = device.recorder.on().then(|| device.driver.now());
        let order = sync::lock(&device.order);
        if let Some(fault) = self.device.lost() {
            return Err(fault.into());
        }
        let value = device.submitted.load(Ordering::Relaxed) + 1;
        for (buffer, access) in &self.contents.uses {
            buffer.record(*access, value);
        }
        device.keep(value, Kept::Contents(Arc::clone(&self.contents)));
        device.submitted.store(value, Ordering::Release);
        let result = device.driver.submit(&Work { fills: &self.contents.fills }, value);
        drop(order);
        if let Some(began) = began {
            device.recorder.submitted(value, &self.contents.label, began, device.driver.now());
        }
        result?;
        Ok(Point::new(&self.device, value))
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("label", &self.contents.label)
            .field("fills", &self.contents.fills.len())
            .field("uses", &self.contents.uses)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("label", &self.contents.label).finish_non_exhaustive()
    }
}
