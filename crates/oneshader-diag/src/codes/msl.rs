//! 51xx: Metal.

codes! {
    MSL_UNSUPPORTED_TYPE = 5102, Error, "type not supported by Metal",
        "Metal has no double, no 64-bit atomics but unsigned max and min whose result is unused, and no packed 64-bit \
         integer vectors. Use a narrower type.";
    MSL_TOO_MANY_RESOURCES = 5105, Error, "too many resources for Metal",
        "A Metal function takes 31 buffers, 128 textures and 16 samplers. Use fewer, or give each entry point its own \
         file.";
}
