//! Expressions.

use oneshader_diag::Span;

use super::*;
use crate::name::Name;

/// An expression; parentheses around it are part of the span.
#[derive(Clone, Copy, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Copy, Debug)]
pub enum ExprKind {
    /// Reported already.
    Error,
    /// `true`, `false`.
    Bool(bool),
    /// An integer literal.
    Int(u64, IntSuffix),
    /// A floating literal.
    Float(f64, FloatSuffix),
    /// A string literal.
    Str(StrId),
    /// An unqualified name without template arguments.
    Name(Name),
    /// A qualified name or one with template arguments: `a::b`, `f<int>`, `::x`.
    Path(PathId),
    /// `this`.
    This,
    /// Prefix and postfix operators.
    Unary {
        /// Which.
        op: UnaryOp,
        /// The operand.
        operand: ExprId,
    },
    /// Binary operators, comma and short-circuit ones too.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left.
        lhs: ExprId,
        /// Right.
        rhs: ExprId,
    },
    /// `=` (`op` is `None`) and `+=` and the like.
    Assign {
        /// The operator before `=`.
        op: Option<BinaryOp>,
        /// Where to.
        lhs: ExprId,
        /// What.
        rhs: ExprId,
    },
    /// `cond ? yes : no`.
    Ternary {
        /// Condition.
        cond: ExprId,
        /// Where true.
        yes: ExprId,
        /// Where false.
        no: ExprId,
    },
    /// `(ty)operand`.
    Cast {
        /// To.
        ty: TypeId,
        /// From.
        operand: ExprId,
    },
    /// `ty(args)`.
    Construct {
        /// Of what.
        ty: TypeId,
        /// From what; may be empty.
        args: Slice<ExprId>,
    },
    /// `callee(args)`; the callee of a method call is a [`ExprKind::Member`].
    Call {
        /// A name, path or member.
        callee: ExprId,
        /// The arguments.
        args: Slice<ExprId>,
    },
    /// `base[index]`.
    Index {
        /// Of what.
        base: ExprId,
        /// Which.
        index: ExprId,
    },
    /// `base.name`; the name is the tail of the expression's span.
    Member {
        /// Of what.
        base: ExprId,
        /// A field, method or swizzle.
        name: Name,
    },
    /// `base.Load<T>` or `base.Base::name`.
    MemberPath {
        /// Of what.
        base: ExprId,
        /// The path.
        path: PathId,
    },
    /// `{ ... }` as an initializer; nests.
    InitList(Slice<ExprId>),
    /// `sizeof(type)`.
    SizeofType(TypeId),
    /// `sizeof(expression)` or `sizeof expression`.
    SizeofExpr(ExprId),
    /// A declaration as condition: `if (int x = f())`, `while (bool b = g())`. The declaration is a variable with an
    /// initializer; its scope is the statement.
    DeclCondition(DeclId),
    /// `sampler_state { Filter = ...; }` and other effect state as initializer: parsed, warned of, without meaning.
    EffectState,
}

/// Suffix of an integer literal. Without one the literal has HLSL's literal type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntSuffix {
    /// None.
    None,
    /// `u`.
    U,
    /// `l`: 32 bits before HLSL 2021's `int64_t` rules, as DXC has it 64.
    L,
    /// `ul`, `lu`.
    Ul,
    /// `ll`.
    Ll,
    /// `ull`, `llu`.
    Ull,
}

/// Suffix of a floating literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatSuffix {
    /// None: a literal float.
    None,
    /// `h`.
    H,
    /// `f`.
    F,
    /// `l`: double.
    L,
}

/// Prefix and postfix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `+x`
    Plus,
    /// `-x`
    Neg,
    /// `!x`
    Not,
    /// `~x`
    BitNot,
    /// `++x`
    PreInc,
    /// `--x`
    PreDec,
    /// `x++`
    PostInc,
    /// `x--`
    PostDec,
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `,`
    Comma,
}

impl UnaryOp {
    /// Whether it stands behind its operand.
    pub fn is_postfix(self) -> bool {
        matches!(self, UnaryOp::PostInc | UnaryOp::PostDec)
    }

    /// The spelling.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
            UnaryOp::PreInc | UnaryOp::PostInc => "++",
            UnaryOp::PreDec | UnaryOp::PostDec => "--",
        }
    }
}

impl BinaryOp {
    /// The spelling.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Comma => ",",
        }
    }
}
