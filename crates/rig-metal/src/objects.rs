//! The live regions, images and pipelines of a device.

use crate::Api;
use crate::metal::Shared;
use rig_edge::sync;
use rig_edge::{Code, Constant, Entry, Error, ImageId, Region};
use std::collections::HashMap;
use std::sync::Arc;

/// What names an object of the system is its handle. All tables are only looked up, never walked, so no order shows.
pub(crate) struct Objects<A: Api> {
    regions: HashMap<usize, Live<A>>,
    images: HashMap<ImageId, Image<A>>,
    pipelines: HashMap<usize, Loaded<A>>,
    next_image: u64,
}

struct Live<A: Api> {
    buffer: A::Buffer,
    bytes: u64,
}

struct Image<A: Api> {
    library: Arc<A::Library>,
    entries: HashMap<(Box<str>, Box<[Constant]>), Entry>,
}

pub(crate) struct Loaded<A: Api> {
    pub pipeline: A::Pipeline,
    pub max_threads: u32,
}

impl<A: Api> Objects<A> {
    pub fn new() -> Self {
        Self { regions: HashMap::new(), images: HashMap::new(), pipelines: HashMap::new(), next_image: 1 }
    }

    /// The buffer of a live region and its size in bytes.
    pub fn region(&self, handle: usize) -> Option<(&A::Buffer, u64)> {
        self.regions.get(&handle).map(|r| (&r.buffer, r.bytes))
    }

    /// The pipeline of a loaded image.
    pub fn pipeline(&self, handle: usize) -> Option<&Loaded<A>> {
        self.pipelines.get(&handle)
    }
}

impl<A: Api> Shared<A> {
    pub(crate) fn allocate(&self, bytes: u64) -> Result<Region, Error> {
        let none = Error::OutOfMemory { asked: bytes, live: 0, budget: self.traits.budget };
        let buffer = self.api.buffer(bytes).ok_or(none)?;
        let region = self.api.region(&buffer);
        sync::lock(&self.objects).regions.insert(region.handle, Live { buffer, bytes: region.bytes });
        Ok(region)
    }

    pub(crate) fn free(&self, region: &Region) {
        if !self.is_here() {
            return;
        }
        let live = sync::lock(&self.objects).regions.remove(&region.handle);
        if let Some(live) = live {
            self.api.release(live.buffer);
        }
    }

    /// Calls `f` with the buffer of a live region that holds `len` bytes at `offset`, outside the lock. For a range that
    /// it does not hold, which the safe layer never asks for, nothing happens.
    pub(crate) fn with_range(&self, region: &Region, offset: u64, len: usize, f: impl FnOnce(&A::Buffer)) {
        let holds = |r: &&Live<A>| offset.checked_add(len as u64).is_some_and(|end| end <= r.bytes);
        let buffer = {
            let objects = sync::lock(&self.objects);
            objects.regions.get(&region.handle).filter(holds).map(|r| r.buffer.clone())
        };
        if let Some(buffer) = buffer {
            f(&buffer);
        }
    }

    pub(crate) fn load(&self, code: &Code<'_>) -> Result<ImageId, Error> {
        let library = Arc::new(self.api.library(code).map_err(Error::Image)?);
        let mut objects = sync::lock(&self.objects);
        let id = ImageId(objects.next_image);
        objects.next_image += 1;
        objects.images.insert(id, Image { library, entries: HashMap::new() });
        Ok(id)
    }

    pub(crate) fn entry(&self, image: ImageId, name: &str, constants: &[Constant]) -> Result<Entry, Error> {
        let unloaded = || Error::Invalid("an image that is not loaded");
        let key = (Box::from(name), Box::from(constants));
        let library = {
            let objects = sync::lock(&self.objects);
            let image = objects.images.get(&image).ok_or_else(unloaded)?;
            if let Some(entry) = image.entries.get(&key) {
                return Ok(*entry);
            }
            Arc::clone(&image.library)
        };
        // Outside the lock: the system may compile here. Of two threads that ask for the same entry the first to
        // return wins.
        let (pipeline, entry) = self.api.pipeline(&library, name, constants).map_err(Error::Image)?;
        let mut guard = sync::lock(&self.objects);
        let objects = &mut *guard;
        let image = objects.images.get_mut(&image).ok_or_else(unloaded)?;
        if let Some(first) = image.entries.get(&key) {
            return Ok(*first);
        }
        image.entries.insert(key, entry);
        objects.pipelines.insert(entry.handle, Loaded { pipeline, max_threads: entry.max_threads });
        Ok(entry)
    }

    pub(crate) fn unload(&self, image: ImageId) {
        if !self.is_here() {
            return;
        }
        let mut objects = sync::lock(&self.objects);
        let Some(image) = objects.images.remove(&image) else { return };
        let pipelines: Vec<_> = image.entries.values().filter_map(|e| objects.pipelines.remove(&e.handle)).collect();
        drop(objects);
        drop((image, pipelines));
    }
}
