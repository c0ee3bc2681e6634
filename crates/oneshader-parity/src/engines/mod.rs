//! What can execute a compiled pipeline.

pub mod metal;
pub mod vulkan;

use crate::case::Program;
use crate::case::lit::Features;
use crate::case::pipeline::Stage;

/// Compiled code of one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// SPIR-V words.
    Spirv(Vec<u32>),
    /// Metal source text.
    Metal {
        /// The text.
        text: String,
        /// Where the entry point takes its arguments.
        interface: metal::MetalInterface,
        /// Reflection as the compiler writes it.
        reflection: String,
    },
}

/// A compiled shader as an engine gets it.
#[derive(Clone, Debug)]
pub struct CompiledShader {
    /// The stage that the pipeline gives it.
    pub stage: Stage,
    /// The HLSL entry point.
    pub entry: String,
    /// The code.
    pub code: Code,
}

/// Why an engine did not run a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The engine has no such thing; the case says nothing about the compiler.
    #[error("not supported by this engine: {0}")]
    Unsupported(String),
    /// The pipeline or the code is wrong.
    #[error("{0}")]
    Invalid(String),
    /// The device or the machine failed.
    #[error("device: {0}")]
    Device(String),
}

/// Runs programs.
pub trait Engine {
    /// What runs them, for reports.
    fn description(&self) -> String;

    /// What it can do, as feature names of test conditions.
    fn features(&self) -> &Features;

    /// Suits itself to what a case requires, where it can choose; the case before this one counts no more.
    fn suit(&mut self, requires: &[String]) {
        let _ = requires;
    }

    /// Runs the program once; results are written into its buffers.
    fn run(&mut self, program: &mut Program, shaders: &[CompiledShader]) -> Result<(), EngineError>;

    /// Runs the program's dispatch or draw `repeats` times over the same memory, and gives the device's time of each in
    /// nanoseconds.
    fn time(
        &mut self,
        program: &mut Program,
        shaders: &[CompiledShader],
        repeats: u32,
    ) -> Result<Vec<f64>, EngineError> {
        let _ = (program, shaders, repeats);
        Err(EngineError::Unsupported("timing".to_owned()))
    }
}
