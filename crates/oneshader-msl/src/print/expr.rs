//! Spelling expressions.

use crate::ast::{Arena, Args, Expr, ExprKind, Infix, Prefix};
use oneshader_ir::Names;

const POSTFIX: u8 = 16;
const UNARY: u8 = 15;
const CONDITIONAL: u8 = 2;

impl Infix {
    /// The operator.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::And => "&",
            Self::Xor => "^",
            Self::Or => "|",
            Self::LogicalAnd => "&&",
            Self::LogicalOr => "||",
        }
    }

    /// How tightly it binds in C++.
    const fn precedence(self) -> u8 {
        match self {
            Self::Mul | Self::Div | Self::Rem => 13,
            Self::Add | Self::Sub => 12,
            Self::Shl | Self::Shr => 11,
            Self::Lt | Self::Le | Self::Gt | Self::Ge => 9,
            Self::Eq | Self::Ne => 8,
            Self::And => 7,
            Self::Xor => 6,
            Self::Or => 5,
            Self::LogicalAnd => 4,
            Self::LogicalOr => 3,
        }
    }

    /// What an operand must bind with to stand without parentheses. People (and compilers' warnings) want parentheses
    /// around what stands in a shift, a bitwise operator, a comparison or `||` and is itself such an operator, though C++
    /// does not.
    const fn operand(self, left: bool) -> u8 {
        match self {
            Self::Mul | Self::Div | Self::Rem | Self::Add | Self::Sub if left => self.precedence(),
            Self::Mul | Self::Div | Self::Rem | Self::Add | Self::Sub => self.precedence() + 1,
            Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne => 11,
            Self::Shl | Self::Shr | Self::And | Self::Xor | Self::Or => 14,
            Self::LogicalAnd => 7,
            Self::LogicalOr => 7,
        }
    }
}

const fn prefix_text(op: Prefix) -> char {
    match op {
        Prefix::Neg => '-',
        Prefix::Not => '!',
        Prefix::BitNot => '~',
        Prefix::Deref => '*',
        Prefix::AddressOf => '&',
    }
}

fn precedence(arena: &Arena, expr: Expr) -> u8 {
    match arena[expr].kind {
        ExprKind::Text(_)
        | ExprKind::Var(_)
        | ExprKind::Call(..)
        | ExprKind::Method(..)
        | ExprKind::Member(..)
        | ExprKind::Index(..)
        | ExprKind::Convert(..)
        | ExprKind::Init(..) => POSTFIX,
        ExprKind::Negative(_) | ExprKind::Prefix(..) | ExprKind::Cast(..) => UNARY,
        ExprKind::Infix(op, ..) => op.precedence(),
        ExprKind::Cond(..) => CONDITIONAL,
    }
}

/// Appends `expr`, in parentheses when it binds less than `least`.
pub(super) fn write(out: &mut String, names: &Names, arena: &Arena, expr: Expr, least: u8) {
    let parentheses = precedence(arena, expr) < least;
    if parentheses {
        out.push('(');
    }
    match arena[expr].kind {
        ExprKind::Text(text) => out.push_str(names.get(text)),
        ExprKind::Negative(text) => {
            out.push('-');
            out.push_str(names.get(text));
        }
        ExprKind::Var(var) => out.push_str(names.get(arena.vars[var].name)),
        ExprKind::Prefix(op, a) => {
            out.push(prefix_text(op));
            // `- -x` must not become `--x`.
            let same_sign =
                op == Prefix::Neg && matches!(arena[a].kind, ExprKind::Negative(_) | ExprKind::Prefix(Prefix::Neg, _));
            write(out, names, arena, a, if same_sign { POSTFIX } else { UNARY });
        }
        ExprKind::Infix(op, a, b) => {
            write_operand(out, names, arena, op, a, true);
            out.push(' ');
            out.push_str(op.text());
            out.push(' ');
            write_operand(out, names, arena, op, b, false);
        }
        ExprKind::Cond(c, a, b) => {
            write(out, names, arena, c, CONDITIONAL + 1);
            out.push_str(" ? ");
            write(out, names, arena, a, CONDITIONAL + 1);
            out.push_str(" : ");
            write(out, names, arena, b, CONDITIONAL);
        }
        ExprKind::Call(name, args) => {
            out.push_str(names.get(name));
            list(out, names, arena, args, '(', ')');
        }
        ExprKind::Init(name, args) => {
            out.push_str(names.get(name));
            list(out, names, arena, args, '{', '}');
        }
        ExprKind::Method(object, name, args) => {
            write(out, names, arena, object, POSTFIX);
            out.push('.');
            out.push_str(names.get(name));
            list(out, names, arena, args, '(', ')');
        }
        ExprKind::Member(object, name) => match arena[object].kind {
            ExprKind::Prefix(Prefix::Deref, pointer) => {
                write(out, names, arena, pointer, POSTFIX);
                out.push_str("->");
                out.push_str(names.get(name));
            }
            _ => {
                write(out, names, arena, object, POSTFIX);
                out.push('.');
                out.push_str(names.get(name));
            }
        },
        ExprKind::Index(a, b) => {
            write(out, names, arena, a, POSTFIX);
            out.push('[');
            write(out, names, arena, b, 0);
            out.push(']');
        }
        ExprKind::Cast(ty, a) => {
            out.push('(');
            out.push_str(names.get(ty));
            out.push(')');
            write(out, names, arena, a, UNARY);
        }
        ExprKind::Convert(ty, a) => {
            out.push_str(names.get(ty));
            out.push('(');
            write(out, names, arena, a, 0);
            out.push(')');
        }
    }
    if parentheses {
        out.push(')');
    }
}

fn write_operand(out: &mut String, names: &Names, arena: &Arena, op: Infix, operand: Expr, left: bool) {
    let associative = matches!(op, Infix::And | Infix::Or | Infix::Xor | Infix::LogicalAnd | Infix::LogicalOr);
    let least = match arena[operand].kind {
        // `a & b & c`, `a && b && c`: integers and truth values may be grouped in any way.
        ExprKind::Infix(inner, ..) if inner == op && (associative) => 0,
        _ => op.operand(left),
    };
    write(out, names, arena, operand, least);
}

/// A list in braces.
pub(super) fn braces(out: &mut String, names: &Names, arena: &Arena, args: Args) {
    list(out, names, arena, args, '{', '}');
}

fn list(out: &mut String, names: &Names, arena: &Arena, args: Args, open: char, close: char) {
    out.push(open);
    for (i, &arg) in arena.args(args).iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, names, arena, arg, CONDITIONAL);
    }
    out.push(close);
}
