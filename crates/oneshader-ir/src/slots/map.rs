//! Binding maps: slots that the caller dictates.

use super::SpirvSlot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Slots by resource name, as read from JSON:
///
/// ```json
/// { "resources": { "albedo": { "msl": 2, "spirv": { "set": 1, "binding": 0 } } } }
/// ```
///
/// A name the module does not declare has no effect, so that one map can serve many files.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingMap {
    /// By HLSL name.
    #[serde(default)]
    pub resources: BTreeMap<String, BindingEntry>,
    /// Metal buffer index of the hidden buffer of buffer sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl_sizes: Option<u32>,
}

/// The slots of one resource; what is absent is chosen by the rules.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindingEntry {
    /// First Metal index, in the table of the resource's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl: Option<u32>,
    /// First Metal buffer index of its hidden counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub msl_counter: Option<u32>,
    /// Descriptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv: Option<SpirvSlot>,
    /// Descriptor of its hidden counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spirv_counter: Option<SpirvSlot>,
}
