//! Statements.

use oneshader_diag::Span;

use super::*;

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// `[unroll]`, `[branch]` and the like.
    pub attributes: Slice<Attribute>,
    /// Where; for blocks from brace to brace.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Copy, Debug)]
pub enum StmtKind {
    /// Reported already.
    Error,
    /// `;`
    Empty,
    /// `expression;`
    Expr(ExprId),
    /// Declarations: variables, but also local structs, enums, typedefs and `using`.
    Decl(Slice<DeclId>),
    /// `{ ... }`
    Block(Slice<StmtId>),
    /// `if (cond) then else otherwise`
    If {
        /// Condition.
        cond: ExprId,
        /// Where true.
        then: StmtId,
        /// Where false.
        otherwise: Option<StmtId>,
    },
    /// `for (init; cond; step) body`
    For {
        /// An expression or declaration statement.
        init: Option<StmtId>,
        /// Condition.
        cond: Option<ExprId>,
        /// After each round.
        step: Option<ExprId>,
        /// The body.
        body: StmtId,
    },
    /// `while (cond) body`
    While {
        /// Condition.
        cond: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `do body while (cond);`
    DoWhile {
        /// The body.
        body: StmtId,
        /// Condition.
        cond: ExprId,
    },
    /// `switch (on) body`; the body is a block whose list has the labels.
    Switch {
        /// The selector.
        on: ExprId,
        /// The block.
        body: StmtId,
    },
    /// `case value:`; governs the statements behind it in its block.
    Case(ExprId),
    /// `default:`
    Default,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `discard;`
    Discard,
    /// `return value;`
    Return(Option<ExprId>),
}
