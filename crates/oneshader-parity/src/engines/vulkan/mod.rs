//! Runs SPIR-V on a Vulkan device.
//!
//! [`Gpu`] is the opened device, [`session::Session`] owns every object of one run and destroys them at its end,
//! [`bind`] turns resources into descriptors, [`acceleration`] builds what rays are traced in, [`execute`] records the
//! work.

// The Vulkan entry points of `ash` are unsafe functions; each block says why its call is sound.
#![allow(unsafe_code)]

mod acceleration;
mod bind;
mod execute;
mod features;
mod format;
mod gpu;
mod session;

pub use gpu::{Gpu, device_names};

use super::{CompiledShader, Engine, EngineError};
use crate::case::Program;
use crate::case::lit::Features;

/// The Vulkan engine.
pub struct VulkanEngine {
    gpu: Gpu,
}

impl VulkanEngine {
    /// Opens the first device whose name contains `name` (any case); the empty name takes the first device.
    pub fn open(name: &str) -> Result<Self, EngineError> {
        Ok(Self { gpu: Gpu::open(name)? })
    }
}

impl Engine for VulkanEngine {
    fn description(&self) -> String {
        self.gpu.description().to_owned()
    }

    fn features(&self) -> &Features {
        self.gpu.features()
    }

    fn run(&mut self, program: &mut Program, shaders: &[CompiledShader]) -> Result<(), EngineError> {
        execute::run(&self.gpu, program, shaders, 1).map(|_| ())
    }

    fn time(
        &mut self,
        program: &mut Program,
        shaders: &[CompiledShader],
        repeats: u32,
    ) -> Result<Vec<f64>, EngineError> {
        execute::run(&self.gpu, program, shaders, repeats)
    }
}
