//! Typed handles.

use cranelift_entity::entity_impl;

macro_rules! entity {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entity! {
    /// An interned type of the module.
    Type = "t";
    /// An interned constant of the module.
    Const = "c";
    /// A nominal structure of the module.
    StructId = "s";
    /// A specialization constant of the module.
    SpecId = "spec";
    /// A module-scope variable: a resource, a stage variable, a static or a groupshared one.
    Global = "g";
    /// A function of the module.
    Func = "fn";
    /// An instruction of SPIR-V that the program names.
    Inline = "asm";
    /// An interned name of the module.
    Name = "name";
    /// An SSA value of one function.
    Value = "v";
    /// An instruction of one function.
    Inst = "i";
    /// A basic block of one function.
    Block = "block";
    /// A local variable of one function.
    Local = "l";
}
