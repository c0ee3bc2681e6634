//! Statements as a person writes them: `x += 1` for `x = x + 1`, no empty `then`, `while (c)` for an endless loop that
//! begins with a break, no `else` after a way that leaves.

use crate::ast::{Arena, Depends, Expr, ExprKind, Infix, Prefix, Stmt};
use crate::lower::effects::STEP;

/// Brings a list of statements and all within into shape.
pub(crate) fn shape(arena: &mut Arena, list: &mut Vec<Stmt>) {
    let old = std::mem::take(list);
    for mut stmt in old {
        shape_inner(arena, &mut stmt);
        match stmt {
            // Nothing to do on either way.
            Stmt::If { cond, then, els } if then.is_empty() && els.is_empty() => {
                if arena[cond].depends.reads & STEP != 0 {
                    list.push(Stmt::Do(cond));
                }
            }
            Stmt::If { cond, then, els } if then.is_empty() => {
                let cond = negate(arena, cond);
                list.push(Stmt::If { cond, then: els, els: Vec::new() });
            }
            // The shorter way out first; what follows needs no `else`.
            Stmt::If { cond, then, els } if leaves(&then) && !els.is_empty() => {
                list.push(Stmt::If { cond, then, els: Vec::new() });
                list.extend(els);
            }
            Stmt::Set(var, value) => {
                list.push(update(arena, ExprKind::Var(var), value).unwrap_or(Stmt::Set(var, value)))
            }
            Stmt::Assign(place, value) => {
                let kind = arena[place].kind;
                list.push(update(arena, kind, value).map_or(Stmt::Assign(place, value), |s| match s {
                    Stmt::Update(_, op, value) => Stmt::Update(place, op, value),
                    other => other,
                }));
            }
            other => list.push(other),
        }
    }
}

fn shape_inner(arena: &mut Arena, stmt: &mut Stmt) {
    match stmt {
        Stmt::If { then, els, .. } => {
            shape(arena, then);
            shape(arena, els);
        }
        Stmt::While { cond, body } => {
            shape(arena, body);
            if cond.is_none() {
                *cond = take_condition(arena, body);
            }
        }
        Stmt::DoWhile { body, .. } => shape(arena, body),
        Stmt::For { cond, step, body, .. } => {
            shape(arena, body);
            shape(arena, step);
            if cond.is_none() {
                *cond = take_condition(arena, body);
            }
        }
        Stmt::Switch { cases, .. } => cases.iter_mut().for_each(|c| shape(arena, &mut c.body)),
        _ => {}
    }
}

/// Whether control never goes past the end of the list.
pub(crate) fn leaves(list: &[Stmt]) -> bool {
    match list.last() {
        Some(Stmt::Break | Stmt::Continue | Stmt::Return(_)) => true,
        Some(Stmt::If { then, els, .. }) => leaves(then) && leaves(els),
        _ => false,
    }
}

/// `if (!c) break;` at the start of a body is the loop's condition `c`.
fn take_condition(arena: &mut Arena, body: &mut Vec<Stmt>) -> Option<Expr> {
    match body.first() {
        Some(Stmt::If { cond, then, els }) if matches!(then[..], [Stmt::Break]) && els.is_empty() => {
            let cond = *cond;
            body.remove(0);
            Some(negate(arena, cond))
        }
        _ => None,
    }
}

/// `x = x op y` as `x op= y`.
fn update(arena: &mut Arena, place: ExprKind, value: Expr) -> Option<Stmt> {
    let ExprKind::Infix(op, left, right) = arena[value].kind else { return None };
    if matches!(
        op,
        Infix::Lt | Infix::Le | Infix::Gt | Infix::Ge | Infix::Eq | Infix::Ne | Infix::LogicalAnd | Infix::LogicalOr
    ) {
        return None;
    }
    let place = arena.add(place, Depends::default(), 0);
    arena.same(place, left).then_some(Stmt::Update(place, op, right))
}

/// The opposite of a condition. `!(a < b)` of floats keeps its meaning for NaN; of integers it is `a >= b`.
pub(crate) fn negate(arena: &mut Arena, cond: Expr) -> Expr {
    let data = arena[cond];
    let opposite = match data.kind {
        ExprKind::Prefix(Prefix::Not, inner) => return inner,
        ExprKind::Infix(op, a, b) => {
            let op = match op {
                Infix::Eq => Some(Infix::Ne),
                Infix::Ne => Some(Infix::Eq),
                Infix::Lt if data.total => Some(Infix::Ge),
                Infix::Le if data.total => Some(Infix::Gt),
                Infix::Gt if data.total => Some(Infix::Le),
                Infix::Ge if data.total => Some(Infix::Lt),
                _ => None,
            };
            op.map(|op| ExprKind::Infix(op, a, b))
        }
        _ => None,
    };
    match opposite {
        Some(kind) => {
            let expr = arena.add(kind, Depends::default(), 4);
            if data.total {
                arena.set_total(expr);
            }
            expr
        }
        None => arena.add(ExprKind::Prefix(Prefix::Not, cond), Depends::default(), 1),
    }
}
