//! Values for specialization constants.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value of a specialization constant.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum SpecValue {
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i32),
    /// `uint`.
    Uint(u32),
    /// `float`, as its bits: a JSON number has no NaN.
    Float(#[serde(with = "float_text")] f32),
}

impl SpecValue {
    /// The 32 bits; `bool` is 0 or 1.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool(b) => u32::from(b),
            Self::Int(i) => i as u32,
            Self::Uint(u) => u,
            Self::Float(f) => f.to_bits(),
        }
    }

    /// Number of the type in Metal's `MTLDataType`.
    pub fn metal_data_type(self) -> u32 {
        match self {
            Self::Float(_) => 3,
            Self::Int(_) => 29,
            Self::Uint(_) => 33,
            Self::Bool(_) => 53,
        }
    }
}

/// A number where JSON has one, else a text.
mod float_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        match value.is_finite() {
            true => serializer.serialize_f32(*value),
            false => serializer.serialize_str(&format!("{:#010x}", value.to_bits())),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f32),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(value) => Ok(value),
            Form::Text(text) => {
                let bits = text.strip_prefix("0x").and_then(|t| u32::from_str_radix(t, 16).ok());
                bits.map(f32::from_bits).ok_or_else(|| serde::de::Error::custom("not the bits of a float"))
            }
        }
    }
}

/// Values a host chooses for specialization constants, by identifier.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SpecializationValues {
    values: BTreeMap<u32, SpecValue>,
}

/// One call of `setConstantValue(_:type:index:)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetalConstant {
    /// `index`.
    pub index: u32,
    /// `type`, the number of an `MTLDataType`: float 3, int 29, uint 33, bool 53.
    pub data_type: u32,
    /// The 32 bits of the value. A Metal `bool` is one byte: the lowest one of these.
    pub bits: u32,
}

impl SpecializationValues {
    /// No values: every constant keeps its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses a value.
    pub fn set(&mut self, id: u32, value: SpecValue) -> &mut Self {
        self.values.insert(id, value);
        self
    }

    /// The chosen values in order of identifier.
    pub fn iter(&self) -> impl Iterator<Item = (u32, SpecValue)> + '_ {
        self.values.iter().map(|(&id, &value)| (id, value))
    }

    /// What to set in an `MTLFunctionConstantValues`, in order of index. A function with function constants must be made
    /// with `makeFunction(name:constantValues:)` even when this is empty.
    pub fn to_metal(&self) -> Vec<MetalConstant> {
        self.iter()
            .map(|(index, value)| MetalConstant { index, data_type: value.metal_data_type(), bits: value.bits() })
            .collect()
    }

    /// What to put in a `VkSpecializationInfo`: (constant id, offset in the data), each of 4 bytes, and the data. A `bool`
    /// is a `VkBool32`.
    pub fn to_vulkan(&self) -> (Vec<(u32, u32)>, Vec<u8>) {
        let entries = self.values.keys().enumerate().map(|(i, &id)| (id, i as u32 * 4)).collect();
        (entries, self.values.values().flat_map(|v| v.bits().to_ne_bytes()).collect())
    }
}
