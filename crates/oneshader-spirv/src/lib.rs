//! The SPIR-V backend: IR to SPIR-V for Vulkan 1.1 and newer
#![forbid(unsafe_code)]
