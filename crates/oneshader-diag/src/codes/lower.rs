//! 3xxx: lowering and limits.

codes! {
    UNSUPPORTED_STAGE = 3001, Error, "shader stage not supported",
        "Vertex, pixel and compute shaders are compiled; hull, domain, geometry, mesh, amplification and ray stages are \
         not. Compile an entry point of a supported stage.";
}
