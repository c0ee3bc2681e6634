//! The tree of one Metal function: what is left to spell. It knows neither blocks nor HLSL.

use cranelift_entity::{PrimaryMap, entity_impl};
use oneshader_ir::Name;

/// An expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(u32);
entity_impl!(Expr, "e");

/// A variable of the function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(u32);
entity_impl!(Var, "var");

/// Binary operators of C++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Infix {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

/// Unary operators of C++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefix {
    Neg,
    Not,
    BitNot,
    Deref,
    AddressOf,
}

/// A list of expressions in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Args {
    start: u32,
    len: u32,
}

/// What an expression is. Names are spelled texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A name or a literal without sign.
    Text(Name),
    /// A literal with a minus sign.
    Negative(Name),
    /// A variable.
    Var(Var),
    Prefix(Prefix, Expr),
    Infix(Infix, Expr, Expr),
    Cond(Expr, Expr, Expr),
    /// A function, or a constructor by its type's name.
    Call(Name, Args),
    /// `object.method(...)`.
    Method(Expr, Name, Args),
    /// `object.member`.
    Member(Expr, Name),
    Index(Expr, Expr),
    /// `(type)operand`.
    Cast(Name, Expr),
    /// `type(operand)` where the conversion is implicit when the context has the type already.
    Convert(Name, Expr),
    /// `type{...}`.
    Init(Name, Args),
}

/// What an expression depends on, beyond names that never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Depends {
    /// Memory it reads: bits of [`crate::lower::effects`].
    pub reads: u64,
    /// Lanes exchange values: it must stay where the control flow is the same.
    pub convergent: bool,
}

impl Depends {
    /// Both.
    pub fn union(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, convergent: self.convergent || other.convergent }
    }
}

/// An expression with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct ExprData {
    pub kind: ExprKind,
    pub depends: Depends,
    /// Characters it takes, about.
    pub weight: u32,
    /// Nesting.
    pub depth: u32,
    /// A comparison of integers: `!(a < b)` is `a >= b`.
    pub total: bool,
}

/// How a variable may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VarKind {
    /// Set once, where it is declared, unless its scope asks for an earlier declaration.
    Value,
    /// Set on several paths, always before it is read.
    Phi,
    /// Memory: keeps what it holds from one round of a loop to the next.
    Memory,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct VarData {
    pub name: Name,
    pub ty: Name,
    pub kind: VarKind,
}

/// A case of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// Spelled labels; without `default`.
    pub labels: Vec<Name>,
    pub default: bool,
    pub body: Vec<Stmt>,
    pub falls_through: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// The variable gets a value; the first one may become its declaration.
    Set(Var, Expr),
    /// A declaration, placed by [`crate::scope`].
    Declare(Var, Option<Expr>),
    /// `place = value`.
    Assign(Expr, Expr),
    /// `place op= value`.
    Update(Expr, Infix, Expr),
    /// An expression for its effect.
    Do(Expr),
    If {
        cond: Expr,
        then: Vec<Stmt>,
        els: Vec<Stmt>,
    },
    /// Endless when there is no condition.
    While {
        cond: Option<Expr>,
        body: Vec<Stmt>,
    },
    DoWhile {
        body: Vec<Stmt>,
        cond: Expr,
    },
    For {
        /// `Set` or `Declare`.
        init: Option<Box<Stmt>>,
        cond: Option<Expr>,
        /// `Set`, `Assign` or `Update`; at least one.
        step: Vec<Stmt>,
        body: Vec<Stmt>,
    },
    Switch {
        selector: Expr,
        cases: Vec<Case>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    /// A whole line of text, such as a pragma or a declaration with an address space.
    Line(Name),
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Type and name, such as `thread float& x`.
    pub declaration: String,
    /// Attribute with its brackets; empty when there is none.
    pub attribute: String,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// What stands before the result type: stage and attributes, or `static inline`.
    pub prefix: String,
    pub result: String,
    pub name: String,
    pub params: Vec<Param>,
    pub arena: Arena,
    pub body: Vec<Stmt>,
}

/// The expressions and variables of one function.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    exprs: PrimaryMap<Expr, ExprData>,
    lists: Vec<Expr>,
    pub vars: PrimaryMap<Var, VarData>,
}

impl std::ops::Index<Expr> for Arena {
    type Output = ExprData;
    fn index(&self, expr: Expr) -> &ExprData {
        &self.exprs[expr]
    }
}

impl Arena {
    /// A list of expressions.
    pub fn list(&mut self, items: &[Expr]) -> Args {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(items);
        Args { start, len: items.len() as u32 }
    }

    /// The expressions of a list.
    pub fn args(&self, args: Args) -> &[Expr] {
        &self.lists[args.start as usize..(args.start + args.len) as usize]
    }

    /// Calls `f` on each direct operand.
    pub fn each_operand(&self, expr: Expr, mut f: impl FnMut(Expr)) {
        match self.exprs[expr].kind {
            ExprKind::Text(_) | ExprKind::Negative(_) | ExprKind::Var(_) => {}
            ExprKind::Prefix(_, a) | ExprKind::Member(a, _) | ExprKind::Cast(_, a) | ExprKind::Convert(_, a) => f(a),
            ExprKind::Infix(_, a, b) | ExprKind::Index(a, b) => {
                f(a);
                f(b);
            }
            ExprKind::Cond(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            ExprKind::Call(_, args) | ExprKind::Init(_, args) => self.args(args).iter().for_each(|&a| f(a)),
            ExprKind::Method(object, _, args) => {
                f(object);
                self.args(args).iter().for_each(|&a| f(a));
            }
        }
    }

    /// Adds an expression; what it depends on is what its operands do, and `own`.
    pub fn add(&mut self, kind: ExprKind, own: Depends, own_weight: u32) -> Expr {
        let expr = self.exprs.push(ExprData { kind, depends: own, weight: own_weight, depth: 0, total: false });
        let (mut depends, mut weight, mut depth) = (own, own_weight, 0);
        self.each_operand(expr, |e| {
            let data = &self.exprs[e];
            depends = depends.union(data.depends);
            weight = weight.saturating_add(data.weight + 2);
            depth = depth.max(data.depth + 1);
        });
        let data = &mut self.exprs[expr];
        (data.depends, data.weight, data.depth) = (depends, weight, depth);
        expr
    }

    /// Marks a comparison of integers.
    pub fn set_total(&mut self, expr: Expr) {
        self.exprs[expr].total = true;
    }

    /// Calls `f` on each variable that `expr` mentions, once for each mention.
    pub fn each_var(&self, expr: Expr, f: &mut impl FnMut(Var)) {
        if let ExprKind::Var(var) = self.exprs[expr].kind {
            f(var);
            return;
        }
        // Depth is bounded by the lowering, which names expressions that grow too deep.
        self.each_operand(expr, |e| self.each_var(e, f));
    }

    /// Whether two expressions are spelled the same.
    pub fn same(&self, a: Expr, b: Expr) -> bool {
        if a == b {
            return true;
        }
        let mut pairs = Vec::new();
        let same_kind = match (self.exprs[a].kind, self.exprs[b].kind) {
            (ExprKind::Text(x), ExprKind::Text(y)) | (ExprKind::Negative(x), ExprKind::Negative(y)) => x == y,
            (ExprKind::Var(x), ExprKind::Var(y)) => x == y,
            (ExprKind::Prefix(x, _), ExprKind::Prefix(y, _)) => x == y,
            (ExprKind::Infix(x, ..), ExprKind::Infix(y, ..)) => x == y,
            (ExprKind::Member(_, x), ExprKind::Member(_, y)) => x == y,
            (ExprKind::Index(..), ExprKind::Index(..)) => true,
            (ExprKind::Cast(x, _), ExprKind::Cast(y, _)) => x == y,
            (ExprKind::Convert(x, _), ExprKind::Convert(y, _)) => x == y,
            _ => false,
        };
        if !same_kind {
            return false;
        }
        self.each_operand(a, |e| pairs.push((e, e)));
        let mut at = 0;
        self.each_operand(b, |e| {
            if let Some(pair) = pairs.get_mut(at) {
                pair.1 = e;
            }
            at += 1;
        });
        at == pairs.len() && pairs.iter().all(|&(x, y)| self.same(x, y))
    }
}
