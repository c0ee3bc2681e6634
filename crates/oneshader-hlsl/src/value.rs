//! What expressions give: values, and places that can be read and perhaps written.

use oneshader_ir as ir;
use smallvec::SmallVec;

use crate::ast;
use crate::ty::Ty;

/// Proof that an error was reported: whoever gets one stays silent and passes it on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reported(pub(crate) ());

/// A result whose error was reported.
pub type R<T> = Result<T, Reported>;

/// An SSA value with its type in the language. For an object the value is its handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// The value, in the form that [`Cx::ir`](crate::cx::Cx::ir) gives for the type.
    pub v: ir::Value,
    /// The type.
    pub ty: Ty,
}

/// Why a place cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadOnly {
    /// Declared `const`.
    Const,
    /// In a constant buffer, or a loose uniform.
    Uniform,
    /// An element of a read-only resource.
    Resource,
    /// A part of a value that is no variable.
    Temporary,
    /// A resource itself: module-scope resources cannot be assigned.
    Object,
}

/// Memory that a pointer and indices lead to. The access chain is emitted when the place is used.
#[derive(Clone, Debug)]
pub struct Memory {
    /// A pointer.
    pub root: ir::Value,
    /// Indices from there on.
    pub indices: SmallVec<[ir::Value; 4]>,
    /// Whether the memory has a layout that others see (constant buffers, structured buffers), so that values are in
    /// the form of [`Cx::ir_mem`](crate::cx::Cx::ir_mem).
    pub layout: bool,
}

/// One texel of a read-write texture or typed buffer, or of a read-only one.
#[derive(Clone, Copy, Debug)]
pub struct Texel {
    /// Handle of the texture.
    pub texture: ir::Value,
    /// Its IR type.
    pub kind: ir::TextureType,
    /// Integer coordinate; the last component is the array layer.
    pub coord: ir::Value,
    /// Mip level, where there is one.
    pub level: Option<ir::Value>,
    /// Sample, where there is one.
    pub sample: Option<ir::Value>,
}

/// Where a place begins.
#[derive(Clone, Debug)]
pub enum Base {
    /// In memory.
    Memory(Memory),
    /// In a texture.
    Texel(Texel),
    /// A structure or array of uniforms that has resources inside: its numbers are in a block, its resources are
    /// variables of their own.
    Split(Box<Split>),
}

/// See [`Base::Split`].
#[derive(Clone, Debug)]
pub struct Split {
    /// The numbers; `None` when there are none.
    pub data: Option<Memory>,
    /// The node of the tree of resources.
    pub node: u32,
    /// Array indices passed on the way, outermost first.
    pub indices: SmallVec<[ir::Value; 2]>,
}

/// A step from what is in memory to the part that is meant, where no access chain can go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Components of a vector or scalar.
    Swizzle(SmallVec<[u8; 4]>),
    /// Elements of a matrix by row and column.
    Elements(SmallVec<[(u8, u8); 4]>),
    /// A row of an integer matrix that memory holds column by column.
    Row(ir::Value),
    /// A component of a swizzled vector, by an index that is not constant.
    Component(ir::Value),
    /// Bits of an integer: the first one and how many.
    Bits(u8, u8),
}

/// Something that can be read and, unless `readonly`, written.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it begins.
    pub base: Base,
    /// Steps from there, each with the type before it.
    pub steps: SmallVec<[(Step, Ty); 1]>,
    /// The type of what is meant.
    pub ty: Ty,
    /// Why it cannot be written, if it cannot.
    pub readonly: Option<ReadOnly>,
    /// The value, where it is known although it is in memory (constants with a name).
    pub known: Option<ir::Const>,
}

/// Half of a subscript with two halves: `t.mips[level]`, `t.sample[index]`, waiting for the coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Proxy {
    /// The texture.
    pub object: Value,
    /// Which member.
    pub kind: ProxyKind,
    /// The first subscript, once it is there.
    pub index: Option<Value>,
}

/// Which member a [`Proxy`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyKind {
    /// `.mips`
    Mips,
    /// `.sample`
    Sample,
}

/// What an expression gives.
#[derive(Clone, Debug)]
pub enum Expr {
    /// Nothing.
    Void,
    /// A value.
    Value(Value),
    /// A place.
    Place(Place),
    /// A string literal.
    Str(ast::StrId),
    /// Half of a subscript.
    Proxy(Proxy),
}

/// An argument of a call: what it gives and where it stands.
#[derive(Clone, Debug)]
pub struct Arg {
    /// What it gives, not yet loaded.
    pub expr: Expr,
    /// Where.
    pub span: oneshader_diag::Span,
}

/// A template argument that has been evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TemplateValue {
    /// A type.
    Type(Ty),
    /// A constant of a type.
    Const(ir::Const, Ty),
}

impl Place {
    /// A place that is all of what a pointer points to.
    pub fn pointer(root: ir::Value, ty: Ty, layout: bool) -> Self {
        Place {
            base: Base::Memory(Memory { root, indices: SmallVec::new(), layout }),
            steps: SmallVec::new(),
            ty,
            readonly: None,
            known: None,
        }
    }

    /// The same, not to be written.
    #[must_use]
    pub fn readonly(mut self, why: ReadOnly) -> Self {
        self.readonly = Some(why);
        self
    }
}
