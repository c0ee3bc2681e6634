//! Versions of the Metal Shading Language.
use std::fmt;
use std::str::FromStr;

/// A version of the Metal Shading Language, as `-std=` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LanguageVersion {
    /// Metal 2.4: macOS 12, iOS 15.
    #[default]
    V2_4,
    /// Metal 3.0: macOS 13, iOS 16.
    V3_0,
    /// Metal 3.1: macOS 14, iOS 17.
    V3_1,
    /// Metal 3.2: macOS 15, iOS 18.
    V3_2,
}

impl LanguageVersion {
    /// Every version known, oldest first.
    pub const ALL: [Self; 4] = [Self::V2_4, Self::V3_0, Self::V3_1, Self::V3_2];

    /// The value of `__METAL_VERSION__` (240 for 2.4).
    pub const fn number(self) -> u32 {
        match self {
            Self::V2_4 => 240,
            Self::V3_0 => 300,
            Self::V3_1 => 310,
            Self::V3_2 => 320,
        }
    }
}

impl fmt::Display for LanguageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.number();
        write!(f, "{}.{}", n / 100, n % 100 / 10)
    }
}

/// The text is not the name of a version this crate knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language version '{0}' (known: metal2.4, metal3.0, metal3.1, metal3.2)")]
pub struct UnknownVersion(pub String);

impl FromStr for LanguageVersion {
    type Err = UnknownVersion;

    /// Reads `2.4`, `metal2.4`, `macos-metal2.4` or `ios-metal2.4`.
    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let name = ["macos-", "ios-", "osx-"].iter().find_map(|p| text.strip_prefix(p)).unwrap_or(text);
        let name = name.strip_prefix("metal").unwrap_or(name);
        Self::ALL.into_iter().find(|v| v.to_string() == name).ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}
