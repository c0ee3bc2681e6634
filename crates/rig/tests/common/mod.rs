//! A soft device with a kernel that counts.
#![allow(dead_code)] // each test file uses its part

use rig::{Buffer, Code, Device, Entry, Image, Submission};
use rig_metal::soft::{self, Handle, Launch, Soft, SoftImage, Table};
use std::any::Any;
use std::sync::Arc;

pub fn open() -> (Device, Handle) {
    let (metal, handle) = soft::open(soft::Options::default());
    (Device::open(Box::new(metal)), handle)
}

/// The entry `add`: the word that buffer 0 is bound to grows by one.
pub fn add(device: &Device) -> Entry {
    let add = |l: &Launch<'_>| -> Result<(), String> {
        let at = l.buffer(0)?.address;
        l.store_u32(at, l.load_u32(at)?.wrapping_add(1))
    };
    let image: Arc<dyn Any + Send + Sync> = Arc::new(SoftImage::new(Table::default().with("add", add)));
    Image::load(device, &Code::Host(&image)).unwrap().entry("add").unwrap()
}

/// A fill that adds one to the first word of `buffer`.
pub fn adding(entry: &Entry, buffer: &Buffer) -> rig::Fill {
    let (pipeline, handle, offset) = (entry.handle(), buffer.handle(), buffer.offset());
    rig_metal::fill::<Soft, _>(move |e| {
        e.set_pipeline(pipeline)?;
        e.set_buffer(handle, offset, 0)?;
        e.dispatch([1; 3], [1; 3])
    })
}

/// A submission that adds one to the first word of `buffer`.
pub fn add_to(device: &Device, entry: &Entry, buffer: &Buffer) -> Submission {
    let s = Submission::new(device).fill(adding(entry, buffer)).writes(buffer).keep(entry.clone());
    s.build().unwrap()
}

pub fn word(buffer: &Buffer) -> u32 {
    let mut bytes = [0; 4];
    buffer.read(0, &mut bytes).unwrap();
    u32::from_ne_bytes(bytes)
}
