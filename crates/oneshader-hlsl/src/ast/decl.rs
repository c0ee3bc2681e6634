//! Declarations, annotations and attributes.

use oneshader_diag::Span;

use super::*;
use crate::name::Name;

/// A declaration.
#[derive(Clone, Copy, Debug)]
pub struct Decl {
    /// What it is.
    pub kind: DeclKind,
    /// `[numthreads(...)]`, `[[vk::binding(...)]]`.
    pub attributes: Slice<Attribute>,
    /// The `template<...>` in front, the innermost one if there are several.
    pub template: Option<TemplateId>,
    /// Where.
    pub span: Span,
}

/// The kinds of declarations.
#[derive(Clone, Copy, Debug)]
pub enum DeclKind {
    /// Reported already.
    Error,
    /// A stray `;`, or something without meaning (a technique).
    Empty,
    /// A variable, parameter or field.
    Var(VarId),
    /// A function, method or operator, with or without a body.
    Function(FunctionId),
    /// `struct`, `class` or `interface`, with or without a body.
    Struct(StructId),
    /// `enum`.
    Enum(EnumId),
    /// `cbuffer`, `tbuffer`.
    Cbuffer(BlockId),
    /// `namespace`.
    Namespace(NamespaceId),
    /// `typedef` and `using X = ...`.
    Alias(AliasId),
    /// `using namespace a::b;`
    UsingNamespace(PathId),
    /// `using a::b;`
    UsingDecl(PathId),
    /// `_Static_assert(condition, "message")`.
    StaticAssert {
        /// The condition.
        cond: ExprId,
        /// The message.
        message: Option<StrId>,
    },
    /// `template struct S<int>;` or `template void f<int>(int);`: the declaration it instantiates.
    Instantiate(DeclId),
}

/// A variable, parameter or field.
#[derive(Clone, Copy, Debug)]
pub struct Var {
    /// The name; `None` for an unnamed parameter or bit-field.
    pub name: Option<Name>,
    /// Where the name is, or where it would be.
    pub name_span: Span,
    /// `S::` in front of the name: the definition of a static member.
    pub qualifier: Option<PathId>,
    /// The name's template arguments: a specialization of a variable template (`same<T, T> = true`).
    pub args: Option<Slice<TemplateArg>>,
    /// The type, array brackets included.
    pub ty: TypeId,
    /// Modifiers as written.
    pub mods: Mods,
    /// `: SEMANTIC`, `: register(...)`, `: packoffset(...)`.
    pub annotations: Slice<Annotation>,
    /// `= value`, for parameters the default; [`ExprKind::InitList`] for braces.
    pub init: Option<ExprId>,
    /// Width of a bit-field.
    pub bits: Option<ExprId>,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name.
    pub name: FunctionName,
    /// Where the name is.
    pub name_span: Span,
    /// `S::` in front of the name: a member defined out of line, or a function of a namespace.
    pub qualifier: Option<PathId>,
    /// The name's template arguments: an explicit specialization (`template<> void f<int>()`) or instantiation.
    pub args: Option<Slice<TemplateArg>>,
    /// The type of the result; `void` as such. For a conversion the type converted to.
    pub result: TypeId,
    /// Parameters: each a [`DeclKind::Var`].
    pub params: Slice<DeclId>,
    /// Modifiers as written.
    pub mods: Mods,
    /// `const` behind the parameters.
    pub is_const: bool,
    /// Semantics of the result.
    pub annotations: Slice<Annotation>,
    /// A [`StmtKind::Block`].
    pub body: Option<StmtId>,
}

/// What a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionName {
    /// `f`
    Ident(Name),
    /// `operator+`
    Operator(OverloadedOp),
    /// `operator T()`
    Conversion,
}

/// An operator that a struct can define.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OverloadedOp {
    /// A binary operator, or the unary one of the same spelling (`-`, `+`): the parameters tell.
    Binary(BinaryOp),
    /// `op=`; `None` is plain assignment.
    Assign(Option<BinaryOp>),
    /// An operator that is unary alone: `!`, `~`, `++`, `--`.
    Unary(UnaryOp),
    /// `()`
    Call,
    /// `[]`
    Index,
}

/// `struct`, `class`, `interface`.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Which keyword.
    pub kind: StructKind,
    /// The name; `None` for an anonymous one.
    pub name: Option<Name>,
    /// Where the name is.
    pub name_span: Span,
    /// `S::` in front of the name.
    pub qualifier: Option<PathId>,
    /// The name's template arguments: a (partial) specialization.
    pub args: Option<Slice<TemplateArg>>,
    /// Bases, in order.
    pub bases: Slice<TypeId>,
    /// Members in order: fields, methods, nested types, aliases; `None` for a declaration without body.
    pub members: Option<Slice<DeclId>>,
}

/// The keyword of a [`Struct`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StructKind {
    /// `struct`
    Struct,
    /// `class`
    Class,
    /// `interface`
    Interface,
}

/// An enumeration.
#[derive(Clone, Copy, Debug)]
pub struct Enum {
    /// The name.
    pub name: Option<Name>,
    /// Where the name is.
    pub name_span: Span,
    /// `enum class`
    pub scoped: bool,
    /// `: type`
    pub underlying: Option<TypeId>,
    /// The enumerators; `None` for a declaration without body.
    pub enumerators: Option<Slice<Enumerator>>,
}

/// `name = value` of an [`Enum`].
#[derive(Clone, Copy, Debug)]
pub struct Enumerator {
    /// The name.
    pub name: Name,
    /// The value.
    pub value: Option<ExprId>,
    /// Where the name is.
    pub span: Span,
}

/// `cbuffer` or `tbuffer`.
#[derive(Clone, Copy, Debug)]
pub struct Cbuffer {
    /// Whether it is a `tbuffer`.
    pub is_tbuffer: bool,
    /// The name; `None` where it is left out.
    pub name: Option<Name>,
    /// Where the name is.
    pub name_span: Span,
    /// `: register(...)`.
    pub annotations: Slice<Annotation>,
    /// Members: variables, but also functions, structs and nested buffers.
    pub members: Slice<DeclId>,
}

/// `namespace a { ... }`. `namespace a::b` nests.
#[derive(Clone, Copy, Debug)]
pub struct Namespace {
    /// The name; `None` for an anonymous one.
    pub name: Option<Name>,
    /// Where the name is.
    pub name_span: Span,
    /// The declarations.
    pub members: Slice<DeclId>,
}

/// `typedef T X;` or `using X = T;`, perhaps a template.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// Where the name is.
    pub name_span: Span,
    /// What it stands for.
    pub ty: TypeId,
}

/// `template<...>`.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Empty for an explicit specialization.
    pub params: Slice<TemplateParam>,
    /// The `template<...>` before this one: of the struct whose member template is defined out of line.
    pub outer: Option<TemplateId>,
    /// From `template` to `>`.
    pub span: Span,
}

/// A template parameter.
#[derive(Clone, Copy, Debug)]
pub struct TemplateParam {
    /// What it is.
    pub kind: TemplateParamKind,
    /// The name, if any.
    pub name: Option<Name>,
    /// Where.
    pub span: Span,
}

/// The kinds of template parameters.
#[derive(Clone, Copy, Debug)]
pub enum TemplateParamKind {
    /// `typename T = default`
    Type {
        /// The default.
        default: Option<TypeId>,
    },
    /// `int N = default`
    Value {
        /// The type.
        ty: TypeId,
        /// The default.
        default: Option<ExprId>,
    },
}

/// What stands behind a `:`.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    /// What it is.
    pub kind: AnnotationKind,
    /// Where, without the colon.
    pub span: Span,
}

/// The kinds of [`Annotation`]s.
#[derive(Clone, Copy, Debug)]
pub enum AnnotationKind {
    /// A semantic as spelled, its index still at the end (`TEXCOORD3`).
    Semantic(Name),
    /// `register(...)`
    Register(Register),
    /// `packoffset(...)`
    PackOffset(PackOffset),
    /// `read(...)` or `write(...)` of a payload field.
    PayloadAccess,
}

/// `register([profile,] letter number [+ offset] [, space])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Letter (lower case) and number; `None` where only the space is given.
    pub slot: Option<(u8, u32)>,
    /// The space, if written.
    pub space: Option<u32>,
    /// The profile in front, such as `ps`: the binding holds for that stage alone.
    pub profile: Option<Name>,
    /// `t0[expression]`: added to the number.
    pub offset: Option<ExprId>,
}

/// `packoffset(cN.component)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackOffset {
    /// In units of 16 bytes.
    pub register: u32,
    /// 0 to 3.
    pub component: u8,
}

/// `[name(args)]` or `[[space::name(args)]]`.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// `vk` in `[[vk::binding(0)]]`.
    pub space: Option<Name>,
    /// The name.
    pub name: Name,
    /// The arguments.
    pub args: Slice<ExprId>,
    /// Whether the brackets are doubled.
    pub doubled: bool,
    /// Where, without brackets.
    pub span: Span,
}
