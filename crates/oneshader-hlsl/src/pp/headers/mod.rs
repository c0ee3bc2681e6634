//! Headers of the language, found when no file of the program has their name.

/// Path and text.
const HEADERS: &[(&str, &str)] = &[
    ("vk/khr/cooperative_matrix.h", include_str!("vk/khr/cooperative_matrix.h")),
    ("vk/opcode_selector.h", include_str!("vk/opcode_selector.h")),
    ("vk/spirv.h", include_str!("vk/spirv.h")),
];

/// The text of a header of the language.
pub(super) fn find(path: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}
