//! Devices, memory, timelines and submissions
