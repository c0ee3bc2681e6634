//! The intermediate representation of `oneshader`: SSA over a control-flow graph whose selections and loops carry their
//! structure as markers on the header, as in SPIR-V.
//!
//! A module owns everything through typed 32-bit handles: [`Type`], [`Const`], [`StructId`], [`Global`], [`Func`] belong
//! to the module; [`Value`], [`Inst`], [`Block`] and [`Local`] to one [`Function`]. Types and constants are interned, so
//! equality is equality of handles. Names are side data and mean nothing.
//!
//! What a program means is written in `docs/ir.md`; what makes a module legal is the numbered list of the verifier.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod builder;
pub mod consts;
pub mod entity;
pub mod eval;
pub mod func;
pub mod inst;
pub mod intrinsic;
pub mod layout;
pub mod module;
pub mod names;
pub mod ray_query;
pub mod slots;
pub mod structure;
pub mod text;
pub mod types;
pub mod verify;

pub use builder::FunctionBuilder;
pub use consts::{ConstData, Consts};
pub use entity::{Block, Const, Func, Global, Inline, Inst, Local, Name, SpecId, StructId, Type, Value};
pub use eval::fold;
pub use func::{
    BlockData, Function, Hint, LocalVar, Merge, Param, SwitchCase, Terminator, TerminatorKind, ValueData, ValueDef,
};
pub use inst::{AtomicOp, BinaryOp, InstData, InstFlags, Op, Swizzle, TextureOp, TextureOperands, UnaryOp};
pub use intrinsic::Intrinsic;
pub use layout::{Layout, LayoutError, LayoutId, LayoutKind, LayoutOptions, LayoutRule, Layouts, MemberLayout};
pub use module::{
    BuiltIn, DepthMode, EntryPoint, GlobalKind, GlobalVar, InlineOperand, InlineSpirv, Interpolation, IoVar, IrModule,
    Properties, Register, RegisterClass, ResourceVar, Sampling, SpecConst, Stage,
};
pub use names::Names;
pub use slots::{
    BindingEntry, BindingMap, DescriptorHeap, GlobalSlots, MslSlot, MslTable, SlotError, SlotOptions, Slots, SpirvSlot,
};
pub use types::{
    Access, AddressSpace, CounterKind, MatrixOrder, Member, ResourceType, Scalar, StructType, TextureDim, TextureType,
    TypeKind, Types,
};
pub use verify::{VerifyError, VerifyReport, verify, verify_function};
