//! One dispatch of an indirect command buffer.

/// A dispatch that an indirect command buffer records; `rig_metal_dispatch` in C.
///
/// The numbers are signed, as a caller computes them; what makes no sense is refused by [`crate::Record::icb`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch {
    /// Its `MTLComputePipelineState`: the code of an entry of an image loaded on the device.
    pub pipeline: usize,
    /// Where its arguments start in the argument buffer, which it binds as its kernel buffer 0, in bytes from the
    /// `MTLBuffer`'s first byte: a rig buffer's own offset plus the offset in it. A multiple of
    /// [`crate::Record::align`], which `icb` checks, and of the alignment of the kernel's argument structure, that of
    /// its largest member (8 for a structure that holds device pointers), which nothing checks.
    pub offset: i64,
    /// Its threadgroups per grid in x, y and z, each at least 1.
    pub groups: [i64; 3],
    /// Its threads per threadgroup in x, y and z, each at least 1.
    pub threads: [i64; 3],
}
