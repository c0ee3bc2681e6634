//! The devices the tests run over, behind one face.

use rig::{Buffer, Cause, Device, Entry, Fill, Image, Submission};
use rig_metal::Api;
use rig_metal_abi::{CIcb, CRecord, Dispatch, Icb, KEY, Record};
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a test asks of a device.
#[derive(Clone, Copy)]
pub struct Options {
    pub capacity: usize,
    pub align: usize,
    pub touch_pipelines: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { capacity: 1024, align: 4, touch_pipelines: false }
    }
}

/// A kind of device.
pub trait Backend {
    type Api: Api;
    /// Opens a device with its controls and an image with the kernels of `kernels.c`: `add`, `log`, `grid`, `local`,
    /// and `tight`, which is `add` with at most 64 threads per threadgroup.
    fn open(options: Options) -> (Device, Image, Box<dyn Control>);
    /// The flag with which `rig_metal_encode.h` encodes for it, and what to link.
    fn encode_flags() -> Vec<String>;
}

/// What a device is told to do wrong, and a look inside it.
pub trait Control: Send + Sync {
    fn no_command_buffer_after(&self, calls: u64);
    fn no_encoder_after(&self, calls: u64);
    fn no_icb_after(&self, calls: Option<u64>);
    fn no_buffer_after(&self, calls: Option<u64>);
    fn fail_after(&self, good: usize, cause: Cause, reason: &str);
    fn never_complete(&self, count: u32);
    fn release_stuck(&self);
    fn slow(&self, by: Duration);
    fn slow_icb(&self, by: Duration);
    fn reverse_handlers(&self, window: usize);
    fn pause(&self);
    fn resume(&self);
    /// Committed command buffers that have not begun.
    fn waiting(&self) -> usize;
    /// Live buffers, pipelines and indirect command buffers of the system.
    fn live(&self) -> [usize; 3];
}

/// An open device with what most tests need.
pub struct Bench<B: Backend> {
    pub device: Device,
    pub image: Image,
    pub control: Box<dyn Control>,
    pub record: Arc<Record>,
    backend: std::marker::PhantomData<fn() -> B>,
}

/// The arguments of the kernels.
pub struct Args {
    pub buffer: Buffer,
    /// The bytes of one argument structure, rounded up to the device's align.
    pub stride: u64,
}

impl<B: Backend> Bench<B> {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let (device, image, control) = B::open(options);
        let record = device.capability(&KEY).expect("a Metal device declares its record");
        Self { device, image, control, record, backend: std::marker::PhantomData }
    }

    pub fn entry(&self, name: &str) -> Entry {
        self.image.entry(name).unwrap()
    }

    /// Words of memory, zeroed.
    pub fn words(&self, count: u64) -> Buffer {
        Buffer::new(&self.device, count * 4).unwrap()
    }

    /// An argument buffer: one structure for each tag, all with the same `out`.
    pub fn args(&self, out: &Buffer, tags: &[u32]) -> Args {
        let stride = 16u64.next_multiple_of(self.record.align() as u64);
        let buffer = Buffer::new(&self.device, stride * tags.len().max(1) as u64).unwrap();
        for (i, tag) in tags.iter().enumerate() {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&out.address().to_ne_bytes());
            bytes[8..12].copy_from_slice(&tag.to_ne_bytes());
            buffer.write(i as u64 * stride, &bytes).unwrap();
        }
        Args { buffer, stride }
    }

    /// A dispatch of one thread for each argument structure.
    pub fn dispatches(&self, entry: &Entry, args: &Args) -> Vec<Dispatch> {
        let count = args.buffer.len() / args.stride;
        let one = |i: u64| Dispatch {
            pipeline: entry.handle(),
            offset: (args.buffer.offset() + i * args.stride) as i64,
            groups: [1; 3],
            threads: [1; 3],
        };
        (0..count).map(one).collect()
    }

    /// A fill that dispatches `entry` once for each argument structure.
    pub fn dispatch_all(&self, entry: &Entry, args: &Args) -> Fill {
        let (pipeline, buffer, offset) = (entry.handle(), args.buffer.handle(), args.buffer.offset());
        let (stride, count) = (args.stride, args.buffer.len() / args.stride);
        rig_metal::fill::<B::Api, _>(move |e| {
            for i in 0..count {
                e.set_pipeline(pipeline)?;
                e.set_buffer(buffer, offset + i * stride, 0)?;
                e.dispatch([1; 3], [1; 3])?;
            }
            Ok(())
        })
    }

    /// A submission that appends `tags` to the log.
    pub fn logging(&self, log: &Buffer, tags: &[u32]) -> Submission {
        let entry = self.entry("log");
        let args = self.args(log, tags);
        let fill = self.dispatch_all(&entry, &args);
        let s = Submission::new(&self.device).fill(fill).writes(log).reads(&args.buffer).keep(entry);
        s.build().unwrap()
    }

    /// A submission that runs an indirect command buffer, which it keeps with its arguments.
    pub fn running(&self, icb: Icb, out: &Buffer, args: &Args) -> Submission {
        let icb = Arc::new(icb);
        let held = Arc::clone(&icb);
        let fill = rig_metal::fill::<B::Api, _>(move |e| e.execute(&held));
        let s = Submission::new(&self.device).fill(fill).writes(out).reads(&args.buffer).keep(icb);
        s.build().unwrap()
    }

    /// The C fill `name` of examples/fill.c.
    pub fn c_fill(&self, name: &str, arg: &Arc<CArg>) -> Fill {
        let library = fills::<B>();
        // SAFETY: the function has the type of a fill; it keeps the agreement's rules; its argument is kept by the
        // submission that each test makes of it.
        unsafe {
            let function = library.get::<rig::FillFn>(name.as_bytes()).unwrap();
            Fill::new(*function, arg.0.get().cast())
        }
    }

    /// The argument of the C fills.
    pub fn c_arg(&self, entry: &Entry, args: &Args) -> FillArg {
        let no_icb = CIcb { handle: std::ptr::null_mut(), commands: std::ptr::null(), count: 0 };
        FillArg {
            record: self.record.as_c(),
            icb: no_icb,
            pipeline: std::ptr::with_exposed_provenance_mut(entry.handle()),
            arguments: std::ptr::with_exposed_provenance_mut(args.buffer.handle()),
            offset: args.buffer.offset(),
            value: 0,
            start: 0,
            end: 0,
            splits: 0,
            ran: 0,
        }
    }
}

/// The first `count + 1` words of a log: how many tags it has, and they.
pub fn logged(log: &Buffer) -> Vec<u32> {
    let mut bytes = vec![0; log.len() as usize];
    log.read(0, &mut bytes).unwrap();
    let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())).collect();
    words[1..=words[0] as usize].to_vec()
}

/// One word of a buffer.
pub fn word(buffer: &Buffer, index: u64) -> u32 {
    let mut bytes = [0; 4];
    buffer.read(index * 4, &mut bytes).unwrap();
    u32::from_ne_bytes(bytes)
}

/// `struct fill_arg` of examples/fill.c.
#[repr(C)]
pub struct FillArg {
    pub record: CRecord,
    pub icb: CIcb,
    pub pipeline: *mut c_void,
    pub arguments: *mut c_void,
    pub offset: u64,
    pub value: u64,
    pub start: u64,
    pub end: u64,
    pub splits: u32,
    pub ran: u32,
}

/// A `FillArg` that C writes while Rust holds it.
pub struct CArg(UnsafeCell<FillArg>);

// SAFETY: C writes it during a fill, and the driver its times; tests read it when the work is done.
unsafe impl Send for CArg {}
// SAFETY: as above.
unsafe impl Sync for CArg {}

impl CArg {
    pub fn new(arg: FillArg) -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(arg)))
    }

    /// The value now, once no fill or completion writes it.
    pub fn get(&self) -> FillArg {
        // SAFETY: callers have waited for the work.
        unsafe { self.0.get().read() }
    }
}

/// The library of examples/fill.c, built once for each way to encode.
fn fills<B: Backend>() -> &'static libloading::Library {
    library(&root().join("crates/rig-metal/examples/fill.c"), &B::encode_flags())
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a C file to a shared library and loads it for good.
pub fn library(source: &Path, flags: &[String]) -> &'static libloading::Library {
    static BUILT: Mutex<BTreeMap<(PathBuf, Vec<String>), &'static libloading::Library>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap();
    let key = (source.to_owned(), flags.to_vec());
    if let Some(library) = built.get(&key) {
        return library;
    }
    let crates = root().join("crates");
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("lib.so");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let done = Command::new(cc)
        .args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-shared", "-fPIC"])
        .arg(format!("-I{}", crates.join("rig-metal-abi/include").display()))
        .arg(format!("-I{}", crates.join("rig-metal/include").display()))
        .arg(source)
        .args(flags)
        .arg("-o")
        .arg(&out)
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // SAFETY: the library has no initializers.
    let library = Box::leak(Box::new(unsafe { libloading::Library::new(&out).unwrap() }));
    built.insert(key, library);
    library
}

/// A device whose driver is no Metal driver: it does nothing.
pub struct NotMetal(rig_edge::Facts);

impl Default for NotMetal {
    fn default() -> Self {
        Self(rig_edge::Facts {
            name: "none".into(),
            driver: "none",
            arch: "none".into(),
            budget: 1,
            queues: 1,
            simd_width: 1,
            max_threads: 1,
            quirks: Vec::new(),
            word: Arc::new(rig_edge::Timeline::new()),
            capabilities: vec![rig_edge::Capability::new(&rig_edge::Key::new("other"), 1u8)],
        })
    }
}

impl rig_edge::Driver for NotMetal {
    fn facts(&self) -> &rig_edge::Facts {
        &self.0
    }
    fn allocate(&self, bytes: u64) -> Result<rig_edge::Region, rig::Error> {
        Err(rig::Error::OutOfMemory { asked: bytes, live: 0, budget: 1 })
    }
    fn free(&self, _: &rig_edge::Region) {}
    fn read(&self, _: &rig_edge::Region, _: u64, _: &mut [u8]) {}
    fn write(&self, _: &rig_edge::Region, _: u64, _: &[u8]) {}
    fn load(&self, _: &rig::Code<'_>) -> Result<rig_edge::ImageId, rig::Error> {
        Err(rig::Error::Image("none".into()))
    }
    fn entry(&self, _: rig_edge::ImageId, _: &str, _: &[rig::Constant]) -> Result<rig_edge::Entry, rig::Error> {
        Err(rig::Error::Image("none".into()))
    }
    fn unload(&self, _: rig_edge::ImageId) {}
    fn submit(&self, _: &rig_edge::Work<'_>, value: u64) -> Result<(), rig::Fault> {
        self.0.word.advance(value);
        Ok(())
    }
    fn commit(&self) {}
    fn stop(&self) {}
    fn now(&self) -> u64 {
        0
    }
    fn profile(&self, _: bool) {}
    fn spans(&self, _: &mut dyn FnMut(rig::Span)) {}
}
