//! The Metal API through objc2-metal, for macOS 15 and later (residency sets).
//!
//! - Every method and completion handler drains its own autorelease pool, so plain threads leak nothing.
//! - Memory is shared storage; a residency set on the queue makes every buffer and indirect command buffer resident for
//!   every command buffer.
//! - Kernels reach memory through device pointers, which Metal does not track. So each encoder first waits for a fence
//!   that each encoder updates last: what orders a device's command buffers is stated, not inferred.
//! - GPU times are seconds of the host's clock as `f64`; as nanoseconds they are exact for the first 104 days of uptime
//!   and to two nanoseconds for the next.

mod handles;
mod memory;
mod pending;

use crate::quirks::Quirks;
use crate::{Api, Done, Metal, Policy, Recorded, Traits};
use handles::{Native, borrow, size};
use memory::Residency;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{AnyObject, NSObjectProtocol, ProtocolObject};
use objc2::{msg_send, sel};
use objc2_foundation::{NSError, NSRange, NSString};
use objc2_metal::{
    MTLBuffer, MTLCommandBuffer, MTLCommandEncoder, MTLCommandQueue, MTLComputeCommandEncoder,
    MTLComputePipelineDescriptor, MTLComputePipelineState, MTLCreateSystemDefaultDevice, MTLDataType, MTLDevice,
    MTLDispatchType, MTLFence, MTLFunctionConstantValues, MTLGPUFamily, MTLIndirectCommandBuffer,
    MTLIndirectCommandBufferDescriptor, MTLIndirectCommandType, MTLIndirectComputeCommand, MTLLibrary,
    MTLPipelineOption, MTLResourceOptions,
};
use pending::Pending;
use rig_edge::{Code, Constant, Entry, Error, Region};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// How a device is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Command buffers that the queue holds.
    pub capacity: usize,
    /// When the driver commits.
    pub policy: Policy,
    /// The workarounds to use instead of those of the device's family and the environment.
    pub quirks: Option<Quirks>,
}

impl Default for Options {
    fn default() -> Self {
        Self { capacity: 1024, policy: Policy::default(), quirks: None }
    }
}

/// Opens the system's default device.
pub fn open(options: Options) -> Result<Metal<Apple>, Error> {
    autoreleasepool(|_| {
        let device = MTLCreateSystemDefaultDevice();
        let device = device.ok_or_else(|| Error::Unsupported("the system has no Metal device".into()))?;
        open_device(device, options)
    })
}

/// Opens a device.
pub fn open_device(device: Retained<ProtocolObject<dyn MTLDevice>>, options: Options) -> Result<Metal<Apple>, Error> {
    Ok(Metal::open(Apple::new(device, options)?, options.policy))
}

/// The API of Apple's Metal.
pub struct Apple {
    device: Native<dyn MTLDevice>,
    queue: Native<dyn MTLCommandQueue>,
    fence: Native<dyn MTLFence>,
    residency: Arc<Residency>,
    pending: Pending,
    traits: Traits,
}

/// A buffer of Apple's Metal.
#[derive(Clone)]
pub struct Buffer {
    native: Native<dyn MTLBuffer>,
}

/// An indirect command buffer of Apple's Metal with its commands.
pub struct Icb {
    native: Native<dyn MTLIndirectCommandBuffer>,
    commands: Vec<Native<dyn MTLIndirectComputeCommand>>,
    residency: Arc<Residency>,
}

impl Drop for Icb {
    fn drop(&mut self) {
        autoreleasepool(|_| {
            self.commands.clear();
            self.residency.remove(ProtocolObject::from_ref(&**self.native));
        });
    }
}

fn reason(error: &NSError) -> String {
    error.localizedDescription().to_string()
}

impl Apple {
    fn new(device: Retained<ProtocolObject<dyn MTLDevice>>, options: Options) -> Result<Self, Error> {
        autoreleasepool(|_| {
            let unsupported = |what: &str| Error::Unsupported(what.into());
            if !device.respondsToSelector(sel!(newResidencySetWithDescriptor:error:)) {
                return Err(unsupported("this system has no residency sets, which come with macOS 15"));
            }
            let capacity = options.capacity.max(1);
            let queue = device
                .newCommandQueueWithMaxCommandBufferCount(capacity)
                .ok_or_else(|| unsupported("Metal made no command queue"))?;
            let fence = device.newFence().ok_or_else(|| unsupported("Metal made no fence"))?;
            let residency = Residency::new(&device, &queue).map_err(|e| Error::Unsupported(reason(&e)))?;
            let traits = traits(&device, capacity, options.quirks);
            Ok(Self {
                device: Native::new(device),
                queue: Native::new(queue),
                fence: Native::new(fence),
                residency: Arc::new(residency),
                pending: Pending::new(),
                traits,
            })
        })
    }
}

/// The highest Apple GPU family that the device supports, 0 if none.
fn apple_family(device: &ProtocolObject<dyn MTLDevice>) -> u32 {
    // MTLGPUFamilyApple1 is 1001, and so on; MTLDevice.h.
    let supported = |n: &u32| device.supportsFamily(MTLGPUFamily(1000 + *n as isize));
    (1..=10).rev().find(supported).unwrap_or(0)
}

fn traits(device: &ProtocolObject<dyn MTLDevice>, capacity: usize, quirks: Option<Quirks>) -> Traits {
    let family = apple_family(device);
    let quirks = quirks.unwrap_or_else(|| Quirks::of(family, |name| std::env::var(name).ok()));
    Traits {
        name: device.name().to_string(),
        arch: if family > 0 { format!("apple{family}") } else { "mac2".into() },
        budget: device.recommendedMaxWorkingSetSize(),
        // Metal feature set tables, Resources: minimum constant buffer offset alignment.
        align: if family > 0 { 4 } else { 256 },
        capacity,
        simd_width: 32,
        max_threads: u32::try_from(device.maxThreadsPerThreadgroup().width).unwrap_or(u32::MAX),
        quirks,
    }
}

/// A `dispatch_data_t` that holds a copy of `bytes`, which is an Objective-C object.
fn dispatch_data(bytes: &[u8]) -> Option<Retained<AnyObject>> {
    unsafe extern "C" {
        fn dispatch_data_create(
            buffer: *const c_void,
            size: usize,
            queue: *mut c_void,
            destructor: *const c_void,
        ) -> *mut AnyObject;
    }
    // SAFETY: the buffer is readable for its length, and copied, since the destructor is the default one (null).
    // The result is owned.
    unsafe {
        let data = dispatch_data_create(bytes.as_ptr().cast(), bytes.len(), std::ptr::null_mut(), std::ptr::null());
        Retained::from_raw(data)
    }
}

impl Api for Apple {
    type Buffer = Buffer;
    type Library = Native<dyn MTLLibrary>;
    type Pipeline = Native<dyn MTLComputePipelineState>;
    type CommandBuffer = Native<dyn MTLCommandBuffer>;
    type Encoder = Native<dyn MTLComputeCommandEncoder>;
    type Icb = Icb;

    fn traits(&self) -> Traits {
        self.traits.clone()
    }

    fn buffer(&self, bytes: u64) -> Option<Buffer> {
        autoreleasepool(|_| {
            let length = usize::try_from(bytes.max(1)).ok()?;
            // A new buffer's contents are zeros (MTLDevice.h, newBufferWithLength:options:).
            let buffer = self.device.newBufferWithLength_options(length, MTLResourceOptions::StorageModeShared)?;
            self.residency.add(ProtocolObject::from_ref(&*buffer));
            Some(Buffer { native: Native::new(buffer) })
        })
    }

    fn region(&self, b: &Buffer) -> Region {
        let bytes = b.native.length() as u64;
        Region::new(b.native.address(), b.native.gpuAddress(), bytes, b.native.contents().as_ptr())
    }

    fn read(&self, b: &Buffer, offset: u64, out: &mut [u8]) {
        // SAFETY: the driver has checked that the range lies inside the buffer, which lives; shared storage is mapped for as
        // long. Work that writes the bytes is done (the safe layer waits), so nothing else does.
        unsafe {
            let from = b.native.contents().cast::<u8>().add(offset as usize);
            from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len());
        }
    }

    fn write(&self, b: &Buffer, offset: u64, bytes: &[u8]) {
        // SAFETY: as for `read`, of work that uses the bytes.
        unsafe {
            let to = b.native.contents().cast::<u8>().add(offset as usize);
            to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
    }

    fn release(&self, b: Buffer) {
        autoreleasepool(|_| {
            self.residency.remove(ProtocolObject::from_ref(&**b.native));
            drop(b);
        });
    }

    fn library(&self, code: &Code<'_>) -> Result<Self::Library, String> {
        autoreleasepool(|_| {
            let made = match code {
                Code::Text(text) => self.device.newLibraryWithSource_options_error(&NSString::from_str(text), None),
                Code::Binary(bytes) => {
                    let data = dispatch_data(bytes).ok_or("no memory for the library's data")?;
                    let device: &ProtocolObject<dyn MTLDevice> = &self.device;
                    // SAFETY: the selector's argument is a dispatch_data_t (MTLDevice.h), which is copied as needed.
                    unsafe { msg_send![device, newLibraryWithData: &*data, error: _] }
                }
                Code::Host(_) => return Err("Metal loads source text and metallibs".into()),
            };
            made.map(Native::new).map_err(|e| reason(&e))
        })
    }

    fn pipeline(
        &self,
        library: &Self::Library,
        name: &str,
        constants: &[Constant],
    ) -> Result<(Self::Pipeline, Entry), String> {
        autoreleasepool(|_| {
            let values = MTLFunctionConstantValues::new();
            for c in constants {
                let bits = c.bits.to_le_bytes();
                // SAFETY: no constant type that has a 32-bit pattern is longer than four bytes, which are copied.
                unsafe {
                    values.setConstantValue_type_atIndex(
                        NonNull::from(&bits).cast(),
                        MTLDataType(c.ty as usize),
                        c.index as usize,
                    );
                }
            }
            // A function that has constants must be made with values, be they empty; for others they do no harm.
            let name = NSString::from_str(name);
            let function = library.newFunctionWithName_constantValues_error(&name, &values).map_err(|e| reason(&e))?;
            let descriptor = MTLComputePipelineDescriptor::new();
            descriptor.setLabel(Some(&name));
            descriptor.setComputeFunction(Some(&function));
            descriptor.setSupportIndirectCommandBuffers(true);
            let pipeline = self
                .device
                .newComputePipelineStateWithDescriptor_options_reflection_error(
                    &descriptor,
                    MTLPipelineOption::None,
                    None,
                )
                .map_err(|e| reason(&e))?;
            let max_threads = u32::try_from(pipeline.maxTotalThreadsPerThreadgroup()).unwrap_or(u32::MAX);
            let pipeline = Native::new(pipeline);
            let entry = Entry { handle: pipeline.address(), max_threads };
            Ok((pipeline, entry))
        })
    }

    fn command_buffer(&self) -> Option<Self::CommandBuffer> {
        autoreleasepool(|_| self.queue.commandBuffer().map(Native::new))
    }

    fn encoder(&self, buffer: &mut Self::CommandBuffer) -> Option<Self::Encoder> {
        autoreleasepool(|_| {
            let encoder = buffer.computeCommandEncoderWithDispatchType(MTLDispatchType::Serial)?;
            encoder.waitForFence(&self.fence);
            Some(Native::new(encoder))
        })
    }

    fn word(&self, encoder: &mut Self::Encoder) -> *mut c_void {
        encoder.pointer()
    }

    fn end(&self, encoder: Self::Encoder, _: &mut Self::CommandBuffer) {
        autoreleasepool(|_| {
            encoder.updateFence(&self.fence);
            encoder.endEncoding();
            drop(encoder);
        });
    }

    fn commit(&self, buffer: Self::CommandBuffer, done: Done) {
        autoreleasepool(|_| {
            self.pending.add(&buffer, done);
            buffer.commit();
            drop(buffer);
        });
    }

    fn discard(&self, buffer: Self::CommandBuffer) {
        autoreleasepool(|_| drop(buffer));
    }

    fn icb(&self, buffer: &Buffer, dispatches: &[Recorded<'_, Self>]) -> Result<Icb, String> {
        autoreleasepool(|_| {
            let descriptor = MTLIndirectCommandBufferDescriptor::new();
            descriptor.setCommandTypes(MTLIndirectCommandType::ConcurrentDispatch);
            descriptor.setInheritPipelineState(false);
            descriptor.setInheritBuffers(false);
            descriptor.setMaxKernelBufferBindCount(1);
            // SAFETY: the descriptor is of compute commands alone; Metal answers nil for what it cannot make. It is
            // never asked for none.
            let native = unsafe {
                self.device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options(
                    &descriptor,
                    dispatches.len().max(1),
                    MTLResourceOptions::StorageModeShared,
                )
            };
            let native = native.ok_or("Metal made no indirect command buffer")?;
            let commands = dispatches.iter().enumerate().map(|(i, d)| {
                // SAFETY: `i` is below the command count.
                let command = unsafe { native.indirectComputeCommandAtIndex(i) };
                command.setComputePipelineState(d.pipeline);
                // SAFETY: the offset lies inside the buffer, and index 0 is bound (the descriptor's bind count is 1).
                unsafe { command.setKernelBuffer_offset_atIndex(&buffer.native, d.offset as usize, 0) };
                command.concurrentDispatchThreadgroups_threadsPerThreadgroup(size(d.groups), size(d.threads));
                // Commands of one buffer may overlap unless each waits for those before it.
                command.setBarrier();
                Native::new(command)
            });
            let commands = commands.collect();
            self.residency.add(ProtocolObject::from_ref(&*native));
            Ok(Icb { native: Native::new(native), commands, residency: Arc::clone(&self.residency) })
        })
    }

    fn icb_handle(&self, icb: &Icb) -> usize {
        icb.native.address()
    }

    fn icb_commands(&self, icb: &Icb) -> Box<[usize]> {
        icb.commands.iter().map(Native::address).collect()
    }

    fn touch(&self, encoder: &mut Self::Encoder, pipeline: &Self::Pipeline) {
        autoreleasepool(|_| {
            encoder.setComputePipelineState(pipeline);
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size([0; 3]), size([1; 3]));
        });
    }

    fn set_pipeline(&self, encoder: &mut Self::Encoder, pipeline: &Self::Pipeline) {
        autoreleasepool(|_| encoder.setComputePipelineState(pipeline));
    }

    fn set_buffer(&self, encoder: &mut Self::Encoder, b: &Buffer, offset: u64, index: u32) {
        // SAFETY: the caller keeps the offset inside the buffer and the index below 31.
        autoreleasepool(|_| unsafe {
            encoder.setBuffer_offset_atIndex(Some(&b.native), offset as usize, index as usize);
        });
    }

    fn set_threadgroup_memory(&self, encoder: &mut Self::Encoder, bytes: u64, index: u32) {
        // SAFETY: Metal's validation, not memory safety of this process, is at stake for lengths and indices.
        autoreleasepool(|_| unsafe {
            encoder.setThreadgroupMemoryLength_atIndex(bytes as usize, index as usize);
        });
    }

    fn dispatch(&self, encoder: &mut Self::Encoder, groups: [u64; 3], threads: [u64; 3]) {
        autoreleasepool(|_| {
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size(groups), size(threads));
        });
    }

    fn execute(&self, encoder: &mut Self::Encoder, icb: usize, first: u64, count: u64) {
        autoreleasepool(|_| {
            // SAFETY: the driver passes the handle of a live indirect command buffer, which its value keeps for the
            // call; the range lies inside.
            unsafe {
                let icb = borrow::<dyn MTLIndirectCommandBuffer>(&icb);
                encoder.executeCommandsInBuffer_withRange(icb, NSRange::new(first as usize, count as usize));
            }
        });
    }

    fn set_command(&self, _: &mut Self::Encoder, command: usize, groups: [u64; 3], threads: [u64; 3]) {
        autoreleasepool(|_| {
            // SAFETY: the driver passes the handle of a command of a live indirect command buffer, which keeps it.
            let command = unsafe { borrow::<dyn MTLIndirectComputeCommand>(&command) };
            command.concurrentDispatchThreadgroups_threadsPerThreadgroup(size(groups), size(threads));
        });
    }

    fn stop(&self) {
        // Metal lets committed command buffers run; the queue is released with the last of them.
    }
}
