//! The descriptor heaps of Shader Model 6.6, which no file declares.

use crate::entity::Global;
use crate::module::{GlobalKind, IrModule};
use crate::types::TypeKind;
use serde::{Deserialize, Serialize};

/// A descriptor heap. A module has an array without size of the heap's name for each type that is read from it; these are
/// views of one table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DescriptorHeap {
    /// `ResourceDescriptorHeap`.
    Resources,
    /// `SamplerDescriptorHeap`.
    Samplers,
}

impl DescriptorHeap {
    /// Both, in the order of their slots.
    pub const ALL: [Self; 2] = [Self::Resources, Self::Samplers];

    /// HLSL's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resources => "ResourceDescriptorHeap",
            Self::Samplers => "SamplerDescriptorHeap",
        }
    }

    /// The heap that a module-scope variable is a view of.
    pub fn of(module: &IrModule, global: Global) -> Option<Self> {
        let var = &module.globals[global];
        let is_table = matches!(var.kind, GlobalKind::Resource(_))
            && matches!(module.types.kind(var.ty), TypeKind::RuntimeArray { .. });
        let name = module.names.get(var.name);
        Self::ALL.into_iter().find(|heap| is_table && heap.name() == name)
    }
}
