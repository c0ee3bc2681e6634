//! 4xxx: SPIR-V.

codes! {
    SPIRV_UNSUPPORTED = 4001, Error, "construct not supported for SPIR-V",
        "The SPIR-V backend has no spelling for the construct. The message names it; use another construct.";
    SPIRV_LAYOUT = 4010, Error, "buffer layout that SPIR-V cannot declare",
        "Members placed by packoffset overlap or are not aligned to their scalars, or the buffer is too large. Give each \
         member its own bytes.";
    SPIRV_BINDING = 4011, Error, "descriptor that cannot be chosen",
        "Two resources are put on one descriptor, or an option leaves a resource without one. Change the options or the \
         binding map.";
    SPIRV_EXTENSION = 4012, Error, "extension not allowed",
        "The code needs an extension of SPIR-V that `-fspv-extension` leaves out. Allow it, or leave out what needs it.";
    SPIRV_ENVIRONMENT = 4013, Error, "needs a newer Vulkan",
        "The environment of `-fspv-target-env` lacks what the construct needs, such as operations across lanes, which came \
         with Vulkan 1.1. Compile for a newer one.";
}
