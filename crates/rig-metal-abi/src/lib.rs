//! What compiled code needs from a Metal device.
//!
//! Compiled code drives a Metal device through two things its driver provides. The [`Record`] makes indirect command
//! buffers, gives the address of `split` and states the device's argument alignment. A *fill* ([`FillFn`]) is a C
//! function of the compiled code that the driver's submit calls to encode the code's work. Making an indirect command
//! buffer calls Metal on the device's objects, which only the driver holds.
//!
//! This crate holds that agreement and nothing else. The driver makes the record when it opens the device and
//! declares it ([`declare`]); compiled code finds it under [`KEY`]; neither links the other. `include/rig_metal_abi.h`
//! says the same to C.
//!
//! # Fills
//!
//! A fill is work for the device's queue given as `int fill(void *queue, void *arg, uint64_t v)`. The driver calls it
//! with
//! - `queue`, a pointer to a word that holds the open compute command encoder, an `id<MTLComputeCommandEncoder>` the
//!   driver made before the call. `queue` is valid only during the call;
//! - `arg`, the argument the work was given;
//! - `v`, the value the work completes on the device's timeline.
//!
//! The encoder runs its commands in order, each after the one before has completed (`MTLDispatchTypeSerial`), and
//! after the device's earlier work. Every allocation of the device is resident while they run. The encoder and its
//! command buffer may already hold commands of earlier work, and later work may add to them, so a fill sets all state
//! its commands read, such as a dispatch's pipeline, buffers and threadgroup memory lengths.
//!
//! A fill encodes into that encoder only, for instance with `executeCommandsInBuffer:withRange:`. It does not end the
//! encoder or make another encoder or command buffer. The driver orders the fill's work after earlier work and
//! signals `v`, so a fill does neither. To start a new command buffer a fill calls `split` ([`Record::split`]), as
//! often as it needs. It stops at the first split that fails and returns that failure, and returns 0 otherwise.
//!
//! The driver ends encoders and commits command buffers when it chooses, and a split is the only boundary a fill
//! sets. The driver commits a fill's commands no later than when the command buffers committed before them have
//! completed. `v` is therefore reached once every command buffer that holds the fill's commands has completed, without
//! a later submission. The driver loses the device if a fill returns a failure or, with Metal's reason, if a command
//! buffer that holds the fill's commands fails.
//!
//! # Indirect command buffers
//!
//! An indirect command buffer ([`Icb`]) is a sequence of dispatches recorded once and run by every submit of the
//! submission that holds it. Its handle, commands and their pipelines live while its value does, also after the
//! pipelines' image is unloaded. Once the value is dropped the driver releases them, also if it has stopped the
//! device. A submission whose work runs the handle must keep the value, or the buffer may be released while its work
//! runs; the next submit's fill would then encode a released buffer.
//!
//! # Sources
//!
//! - Apple's Metal framework headers (macOS 26 SDK): MTLIndirectCommandBuffer.h, MTLIndirectCommandEncoder.h
//!   (`setBarrier`), MTLComputeCommandEncoder.h (`executeCommandsInBuffer:withRange:`,
//!   `useResources:count:usage:`), MTLCommandBuffer.h (`GPUStartTime`, `GPUEndTime`, `MTLDispatchType`,
//!   `computeCommandEncoderWithDispatchType:`), MTLCommandQueue.h (`commandBuffer`, `maxCommandBufferCount`: a full
//!   queue blocks until the GPU finishes a command buffer).
//! - `gpuStartTime` is host time relative to mach time; clock_gettime(3): `CLOCK_UPTIME_RAW` is mach time.
//! - "Encoding indirect command buffers on the CPU": the buffers that the commands of an indirect command buffer use
//!   must be declared resident.
//! - Metal feature set tables, Resources: minimum constant buffer offset alignment.
#![forbid(unsafe_code)]

mod dispatch;
mod icb;
mod record;

pub use dispatch::Dispatch;
pub use icb::{CIcb, Icb};
pub use record::{CRecord, IcbError, KEY, Record, SplitFn, declare};
pub use rig_edge::FillFn;

/// The text of `include/rig_metal_abi.h`, for build scripts that compile fills.
pub const HEADER: &str = include_str!("../include/rig_metal_abi.h");
