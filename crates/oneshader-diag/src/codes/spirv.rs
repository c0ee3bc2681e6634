//! 4xxx: SPIR-V.

codes! {
    SPIRV_UNSUPPORTED = 4001, Error, "construct not supported for SPIR-V",
        "The SPIR-V backend has no spelling for the construct. The message names it; use another construct.";
}
