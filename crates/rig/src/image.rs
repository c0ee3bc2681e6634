//! Loaded code.

use crate::device::Inner;
use crate::{Device, Error};
use rig_edge::{Code, Constant, ImageId};
use std::fmt;
use std::sync::Arc;

/// Code loaded on a device. Clones and entries are of the same image, which is unloaded when the last is dropped;
/// indirect command buffers made of its entries stay valid.
#[derive(Clone)]
pub struct Image(Arc<Loaded>);

struct Loaded {
    device: Arc<Inner>,
    id: ImageId,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.device.driver.unload(self.id);
    }
}

impl Image {
    /// Loads `code`.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] with the system's reason, [`Error::Lost`] on a lost device.
    pub fn load(device: &Device, code: &Code<'_>) -> Result<Self, Error> {
        device.inner().check_here()?;
        if let Some(fault) = device.lost() {
            return Err(fault.into());
        }
        let id = device.inner().driver.load(code)?;
        Ok(Self(Arc::new(Loaded { device: Arc::clone(device.inner()), id })))
    }

    /// The entry `name`. Its specialization constants have their defaults: it is made with constant values even if
    /// none are given, as Metal wants for functions that have constants.
    pub fn entry(&self, name: &str) -> Result<Entry, Error> {
        self.specialized(name, &[])
    }

    /// The entry `name` with the given specialization constants; the others have their defaults. The same entry with
    /// the same constants is the same pipeline.
    pub fn specialized(&self, name: &str, constants: &[Constant]) -> Result<Entry, Error> {
        self.0.device.check_here()?;
        let entry = self.0.device.driver.entry(self.0.id, name, constants)?;
        Ok(Entry { image: self.clone(), entry })
    }
}

/// An entry of an image, executable.
#[derive(Clone)]
pub struct Entry {
    image: Image,
    entry: rig_edge::Entry,
}

impl Entry {
    /// The system's pipeline, such as an `MTLComputePipelineState`.
    pub fn handle(&self) -> usize {
        self.entry.handle
    }

    /// The most threads its threadgroups may have.
    pub fn max_threads(&self) -> u32 {
        self.entry.max_threads
    }

    /// Its image.
    pub fn image(&self) -> &Image {
        &self.image
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({})", self.0.id.0)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("image", &self.image).field("handle", &self.handle()).finish()
    }
}
