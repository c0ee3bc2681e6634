//! 3xxx: lowering and limits.

codes! {
    UNSUPPORTED_STAGE = 3001, Error, "shader stage not supported",
        "Vertex, pixel and compute shaders are compiled; hull, domain, geometry, mesh, amplification and ray stages \
         are not. Compile an entry point of a supported stage.";
    UNSUPPORTED = 3002, Error, "construct not supported",
        "The construct is legal HLSL that this compiler does not compile. The message names it; write it another way.";
    UNSUPPORTED_ATTRIBUTE = 3003, Error, "attribute not supported",
        "The `vk::` attribute or function changes the meaning of the program in a way that this compiler does not \
         support. Remove it.";
    UNSUPPORTED_TYPE = 3004, Error, "type not supported",
        "The type belongs to a stage or feature that this compiler does not support. Use another type.";
    UNRESOLVED_OBJECT = 3005, Error, "resource not known at compile time",
        "Which resource is meant must be known: a resource chosen by a condition or left unset cannot be lowered. \
         Choose among results instead, or use an array of resources.";
    TEMPLATE_DEPTH = 3010, Error, "templates nested too deeply",
        "An instance needs an instance needs an instance, more often than the budget allows. Look for a recursion \
         without end.";
    INSTANCE_LIMIT = 3011, Error, "too many template instances",
        "The source makes more instances of templates than the budget allows. Look for a recursion without end.";
    TYPE_TOO_LARGE = 3012, Error, "type too large",
        "The type has more components or deeper nesting than the budget allows. Use smaller arrays.";
    LOWERING_DEPTH = 3013, Error, "expression nested too deeply",
        "The construct nests deeper than the lowering's budget allows. Split it.";
    MODULE_LIMIT = 3014, Error, "program too large",
        "The program has more instructions than the budget allows. Split it.";
}
