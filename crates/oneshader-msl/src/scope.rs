//! Where variables are declared: in the innermost list of statements that holds every mention, at the first one. A variable
//! that is memory is not declared inside a loop unless every round sets it first, for it keeps what it holds.

use crate::ast::{Arena, Expr, Stmt, Var, VarKind};
use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;

/// Places the declarations of all variables of `arena` that `body` mentions and does not declare itself.
pub(crate) fn declare(arena: &mut Arena, body: &mut Vec<Stmt>) {
    let mut finder =
        Finder { arena, lists: vec![List { parent: None, depth: 0, is_loop: false }], found: SecondaryMap::new() };
    finder.list(0, body);
    let Finder { lists, found, .. } = finder;
    let mut places: Vec<Vec<Place>> = vec![Vec::new(); lists.len()];
    for var in arena.vars.keys() {
        let Some(mut found) = found[var] else { continue };
        if found.declared {
            continue;
        }
        if arena.vars[var].kind == VarKind::Memory && !found.set_first {
            climb_out_of_loops(&lists, &mut found);
        }
        if found.sets > 1 && arena.vars[var].kind == VarKind::Value {
            arena.vars[var].kind = VarKind::Phi;
        }
        places[found.list as usize].push(Place { index: found.first, last: found.last, var, at_set: found.set_first });
    }
    places.iter_mut().for_each(|p| p.sort_by_key(|p| (p.index, !p.at_set, p.var)));
    let mut next = 1;
    apply(arena, body, 0, &places, &mut next);
}

struct List {
    /// The list around it and the index of the statement it is in.
    parent: Option<(u32, u32)>,
    depth: u32,
    is_loop: bool,
}

#[derive(Clone, Copy)]
struct Found {
    list: u32,
    /// Index in the list of the first and last statement with a mention.
    first: u32,
    last: u32,
    /// Whether the first mention sets it, in the list itself.
    set_first: bool,
    sets: u32,
    declared: bool,
}

#[derive(Clone, Copy)]
struct Place {
    index: u32,
    last: u32,
    var: Var,
    at_set: bool,
}

struct Finder<'a> {
    arena: &'a Arena,
    lists: Vec<List>,
    found: SecondaryMap<Var, Option<Found>>,
}

impl Finder<'_> {
    fn mention(&mut self, var: Var, list: u32, index: u32, set: bool) {
        let Some(mut found) = self.found[var] else {
            let sets = u32::from(set);
            self.found[var] = Some(Found { list, first: index, last: index, set_first: set, sets, declared: false });
            return;
        };
        found.sets += u32::from(set);
        let (mut a, mut b) = ((found.list, found.first, found.last), (list, index));
        while a.0 != b.0 {
            if self.lists[a.0 as usize].depth >= self.lists[b.0 as usize].depth {
                let Some((parent, at)) = self.lists[a.0 as usize].parent else { break };
                a = (parent, at, at);
                found.set_first = false;
            } else {
                let Some(parent) = self.lists[b.0 as usize].parent else { break };
                b = parent;
            }
        }
        (found.list, found.first) = (a.0, a.1);
        found.last = a.2.max(b.1);
        self.found[var] = Some(found);
    }

    fn expr(&mut self, expr: Expr, list: u32, index: u32) {
        let arena = self.arena;
        arena.each_var(expr, &mut |var| self.mention(var, list, index, false));
    }

    fn child(&mut self, list: u32, index: u32, is_loop: bool, body: &[Stmt]) {
        let depth = self.lists[list as usize].depth + 1;
        self.lists.push(List { parent: Some((list, index)), depth, is_loop });
        self.list(self.lists.len() as u32 - 1, body);
    }

    fn list(&mut self, list: u32, body: &[Stmt]) {
        for (index, stmt) in body.iter().enumerate() {
            self.stmt(stmt, list, index as u32);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, list: u32, index: u32) {
        match stmt {
            Stmt::Set(var, value) => {
                self.expr(*value, list, index);
                self.mention(*var, list, index, true);
            }
            Stmt::Declare(var, value) => {
                if let Some(value) = value {
                    self.expr(*value, list, index);
                }
                self.mention(*var, list, index, true);
                if let Some(found) = &mut self.found[*var] {
                    found.declared = true;
                }
            }
            Stmt::Assign(place, value) | Stmt::Update(place, _, value) => {
                self.expr(*place, list, index);
                self.expr(*value, list, index);
            }
            Stmt::Do(value) => self.expr(*value, list, index),
            Stmt::Return(value) => {
                if let Some(value) = value {
                    self.expr(*value, list, index);
                }
            }
            Stmt::If { cond, then, els } => {
                self.expr(*cond, list, index);
                self.child(list, index, false, then);
                self.child(list, index, false, els);
            }
            Stmt::While { cond, body } => {
                if let Some(cond) = cond {
                    self.expr(*cond, list, index);
                }
                self.child(list, index, true, body);
            }
            Stmt::DoWhile { body, cond } => {
                self.child(list, index, true, body);
                self.expr(*cond, list, index);
            }
            Stmt::For { init, cond, step, body } => {
                if let Some(init) = init {
                    self.stmt(init, list, index);
                }
                if let Some(cond) = cond {
                    self.expr(*cond, list, index);
                }
                self.child(list, index, true, body);
                step.iter().for_each(|s| self.stmt(s, list, index));
            }
            Stmt::Switch { selector, cases } => {
                self.expr(*selector, list, index);
                cases.iter().for_each(|c| self.child(list, index, false, &c.body));
            }
            Stmt::Break | Stmt::Continue | Stmt::Line(_) => {}
        }
    }
}

/// Moves the place out of all loops around it.
fn climb_out_of_loops(lists: &[List], found: &mut Found) {
    let mut at = found.list;
    while let Some((parent, index)) = lists[at as usize].parent {
        if lists[at as usize].is_loop {
            (found.list, found.first, found.last, found.set_first) = (parent, index, index, false);
        }
        at = parent;
    }
}

/// Inserts the declarations, walking the lists in the order of [`Finder`].
fn apply(arena: &Arena, body: &mut Vec<Stmt>, list: usize, places: &[Vec<Place>], next: &mut usize) {
    let mut out = Vec::with_capacity(body.len());
    let mut todo = places[list].iter().peekable();
    // Where the variables declared so far are last spoken of.
    let mut last: FxHashMap<Var, u32> = FxHashMap::default();
    let old = std::mem::take(body);
    let count = old.len();
    for (index, mut stmt) in old.into_iter().enumerate() {
        while let Some(place) = todo.next_if(|p| p.index as usize == index) {
            last.insert(place.var, place.last);
            match &stmt {
                Stmt::Set(var, value) if place.at_set && *var == place.var => stmt = Stmt::Declare(*var, Some(*value)),
                _ => out.push(Stmt::Declare(place.var, None)),
            }
        }
        apply_inner(arena, &mut stmt, places, next);
        // `T i = 0; for (; ...)` of which nothing after the loop speaks.
        if let Stmt::For { init: init @ None, cond, step, .. } = &mut stmt {
            let fits = |s: &Stmt| match s {
                Stmt::Declare(var, Some(_)) => {
                    let last = last.get(var).copied().unwrap_or(count as u32);
                    last as usize <= index && steps(arena, *cond, step, *var)
                }
                _ => false,
            };
            let declarations = out.iter().rev().take_while(|s| matches!(s, Stmt::Declare(_, Some(_)))).count();
            let first = out.len() - declarations;
            if let Some(at) = (first..out.len()).rev().find(|&i| fits(&out[i]) && !is_read_later(arena, &out, i)) {
                *init = Some(Box::new(out.remove(at)));
            }
        }
        out.push(stmt);
    }
    *body = out;
}

/// Whether a declaration after the one at `at` reads its variable.
fn is_read_later(arena: &Arena, out: &[Stmt], at: usize) -> bool {
    let Stmt::Declare(var, _) = out[at] else { return false };
    out[at + 1..].iter().any(|s| {
        let mut read = false;
        if let Stmt::Declare(_, Some(value)) = s {
            arena.each_var(*value, &mut |v| read |= v == var);
        }
        read
    })
}

/// Whether the condition or the step of a loop speaks of `var`.
fn steps(arena: &Arena, cond: Option<Expr>, step: &[Stmt], var: Var) -> bool {
    let mut found = false;
    let mut see = |v: Var| found |= v == var;
    if let Some(cond) = cond {
        arena.each_var(cond, &mut see);
    }
    for stmt in step {
        match stmt {
            Stmt::Set(v, _) => see(*v),
            Stmt::Assign(place, _) | Stmt::Update(place, ..) => arena.each_var(*place, &mut see),
            _ => {}
        }
    }
    found
}

fn apply_inner(arena: &Arena, stmt: &mut Stmt, places: &[Vec<Place>], next: &mut usize) {
    let mut child = |body: &mut Vec<Stmt>| {
        let list = *next;
        *next += 1;
        apply(arena, body, list, places, next);
    };
    match stmt {
        Stmt::If { then, els, .. } => {
            child(then);
            child(els);
        }
        Stmt::While { body, .. } | Stmt::DoWhile { body, .. } | Stmt::For { body, .. } => child(body),
        Stmt::Switch { cases, .. } => cases.iter_mut().for_each(|c| child(&mut c.body)),
        _ => {}
    }
}
