//! Spelling: the tree of a function to text. Precedence decides parentheses; nothing is decided here that changes what the
//! program does.

mod expr;
mod stmt;

use crate::ast::Function;
use oneshader_ir::Names;
use std::fmt::Write;

/// Columns a line should not pass.
const WIDTH: usize = 110;

/// Appends the definition of `function`.
pub(crate) fn function(out: &mut String, names: &Names, function: &Function) {
    let mut head = String::new();
    if !function.prefix.is_empty() {
        let _ = write!(head, "{} ", function.prefix);
    }
    let _ = write!(head, "{} {}(", function.result, function.name);
    let params: Vec<String> = function
        .params
        .iter()
        .map(|p| match p.attribute.is_empty() {
            true => p.declaration.clone(),
            false => format!("{} {}", p.declaration, p.attribute),
        })
        .collect();
    let line: usize = params.iter().map(|p| p.len() + 2).sum();
    out.push_str(&head);
    if head.len() + line <= WIDTH {
        out.push_str(&params.join(", "));
        out.push_str(")\n{\n");
    } else {
        out.push('\n');
        out.push_str("    ");
        out.push_str(&params.join(",\n    "));
        out.push_str(")\n{\n");
    }
    stmt::Printer { names, arena: &function.arena, out, indent: 1 }.block(&function.body);
    out.push_str("}\n");
}

/// The text of one expression.
pub(crate) fn expression(names: &Names, arena: &crate::ast::Arena, e: crate::ast::Expr) -> String {
    let mut out = String::new();
    expr::write(&mut out, names, arena, e, 0);
    out
}
