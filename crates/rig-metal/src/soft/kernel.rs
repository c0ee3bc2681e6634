//! What a soft pipeline runs.

use super::Inner;
use rig_edge::Constant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Buffers a kernel can be given.
pub const BUFFERS: usize = 31;

/// A pipeline's code. One call runs one dispatch, all threadgroups of it.
pub trait Kernel: Send + Sync {
    /// Runs the dispatch; an error fails its command buffer with that reason.
    fn run(&self, launch: &Launch<'_>) -> Result<(), String>;

    /// The most threads per threadgroup that it allows.
    fn max_threads(&self) -> u32 {
        1024
    }
}

impl<F> Kernel for F
where
    F: Fn(&Launch<'_>) -> Result<(), String> + Send + Sync,
{
    fn run(&self, launch: &Launch<'_>) -> Result<(), String> {
        self(launch)
    }
}

/// An image's code: its entries by name.
pub trait Kernels: Send + Sync {
    /// The entry `name` with its specialization constants, or the reason there is none.
    fn kernel(&self, name: &str, constants: &[Constant]) -> Result<Arc<dyn Kernel>, String>;
}

/// An image for [`rig_edge::Code::Host`]: `Arc<SoftImage>` as the value.
pub struct SoftImage(Arc<dyn Kernels>);

impl SoftImage {
    /// An image of `kernels`.
    pub fn new(kernels: impl Kernels + 'static) -> Self {
        Self(Arc::new(kernels))
    }

    /// Its entries.
    pub(crate) fn kernels(&self) -> &Arc<dyn Kernels> {
        &self.0
    }
}

/// Entries that have no specialization constants, by name.
#[derive(Default)]
pub struct Table(BTreeMap<String, Arc<dyn Kernel>>);

impl Table {
    /// Adds an entry.
    #[must_use]
    pub fn with(mut self, name: &str, kernel: impl Kernel + 'static) -> Self {
        self.0.insert(name.into(), Arc::new(kernel));
        self
    }
}

impl Kernels for Table {
    fn kernel(&self, name: &str, constants: &[Constant]) -> Result<Arc<dyn Kernel>, String> {
        if let Some(c) = constants.first() {
            return Err(format!("`{name}` has no specialization constant {}", c.index));
        }
        self.0.get(name).cloned().ok_or_else(|| format!("no entry `{name}`"))
    }
}

/// A buffer bound to a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The device address of its first byte.
    pub address: u64,
    /// Bytes from there to the end of its region.
    pub bytes: u64,
}

/// One dispatch as a kernel sees it.
pub struct Launch<'a> {
    /// Threadgroups per grid.
    pub groups: [u32; 3],
    /// Threads per threadgroup.
    pub threads: [u32; 3],
    /// The buffers bound, by index.
    pub buffers: &'a [Option<Bound>; BUFFERS],
    /// The lengths of threadgroup memory arguments in bytes, by index.
    pub threadgroup: &'a [u32; BUFFERS],
    pub(crate) device: &'a Inner,
}

impl Launch<'_> {
    /// The buffer at `index`, or why there is none.
    pub fn buffer(&self, index: usize) -> Result<Bound, String> {
        let bound = self.buffers.get(index).copied().flatten();
        bound.ok_or_else(|| format!("no buffer is bound at {index}"))
    }

    /// Copies from the device address `address`; an error if the bytes are not all in one live region.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), String> {
        let (memory, offset) = self.device.resolve(address)?;
        let inside = memory.read(offset, out);
        inside.then_some(()).ok_or_else(|| outside(address, out.len()))
    }

    /// Copies to the device address `address`; an error if the bytes are not all in one live region.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), String> {
        let (memory, offset) = self.device.resolve(address)?;
        let inside = memory.write(offset, bytes);
        inside.then_some(()).ok_or_else(|| outside(address, bytes.len()))
    }

    /// Reads a `u32` at a device address.
    pub fn load_u32(&self, address: u64) -> Result<u32, String> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// Writes a `u32` at a device address.
    pub fn store_u32(&self, address: u64, value: u32) -> Result<(), String> {
        self.write(address, &value.to_ne_bytes())
    }

    /// Reads a `u64`, such as a device pointer of an argument structure, at a device address.
    pub fn load_u64(&self, address: u64) -> Result<u64, String> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

fn outside(address: u64, len: usize) -> String {
    format!("{len} bytes at {address:#x} lie outside every live region")
}
