//! The contract between rig and a device driver
#![forbid(unsafe_code)]
