//! Lets lanes rejoin: tells the executor where in the program a lane is.
//!
//! Metal's SIMD-groups rejoin after divergent control flow before the next collective. The executor runs each lane on
//! its own and lets lanes meet where they call the same collective *in the same run of the same loops and calls*; the
//! lanes whose place comes first in the program go first. The place of a collective is its line and column. What
//! surrounds it is told here: every loop and function that reaches a collective is given a scope object, and loops
//! count their turns.
//!
//! | source | becomes |
//! |---|---|
//! | `for (i; c; n) body` | `switch (scope s; 0) default: for (i; head(), c; head(), n) if (body()); else body` |
//! | `T f(A a) { .. }` | `T f(A a, site at = here) { scope s(at); .. }` |
use crate::lex::TokenStream;
use crate::rewrite::Edits;
use std::collections::HashSet;

const SCOPE: &str = "switch (::metal::__msl::scope __msl_s; 0) default: ";
const BODY: &str = " if (::metal::__msl::body()) ; else ";
const HEAD: &str = "::metal::__msl::head(), ";
const SITE: &str = "::metal::__msl::site __msl_at";
const HERE: &str = " = ::metal::__msl::site(__builtin_LINE(), __builtin_COLUMN())";
/// Statements nested deeper are left alone.
const MAX_NESTING: u32 = 200;

/// A function with a body, or a declaration of one.
struct Function {
    /// Tokens of the name and of the parentheses.
    name: usize,
    open: usize,
    close: usize,
    /// Tokens of the braces of the body.
    body: Option<(usize, usize)>,
    is_entry: bool,
}

/// Edits that let the executor know where a lane is.
pub(crate) fn instrument(s: &TokenStream<'_>) -> Edits {
    let mut edits = Edits::default();
    let functions = functions(s);
    let meeting = meeting_functions(s, &functions);
    let mut declared: HashSet<&str> = HashSet::new();
    for f in functions.iter().filter(|f| meeting.contains(s.str(f.name))) {
        if !f.is_entry {
            let empty = f.close == f.open + 1 || (f.close == f.open + 2 && s.str(f.open + 1) == "void");
            if empty && f.close > f.open + 1 {
                edits.replace(s.tokens[f.open + 1].start, s.tokens[f.open + 1].end, "");
            }
            let first = declared.insert(s.str(f.name)) || overloads(s, &functions, f);
            let default = if first && !is_specialization(s, f) { HERE } else { "" };
            let comma = if empty { "" } else { ", " };
            edits.insert(s.tokens[f.close].start, format!("{comma}{SITE}{default}"));
        }
        if let Some((open, close)) = f.body {
            if !f.is_entry {
                edits.insert(s.tokens[open].end, " ::metal::__msl::scope __msl_f(__msl_at); ");
            }
            let mut walk = Walk { s, meeting: &meeting, edits: &mut edits, end: close };
            let mut i = open + 1;
            while i < close {
                match walk.statement(i, 0) {
                    Some(next) if next > i => i = next,
                    _ => break,
                }
            }
        }
    }
    edits
}

/// Whether no earlier declaration is of this same function, only of another with its name.
fn overloads(s: &TokenStream<'_>, functions: &[Function], f: &Function) -> bool {
    let parameters = |g: &Function| s.split_commas(g.open + 1, g.close).len();
    !functions.iter().any(|g| {
        g.name < f.name && s.str(g.name) == s.str(f.name) && parameters(g) == parameters(f) && g.body.is_none()
    })
}

/// Whether `f` is declared by `template<>`: its default arguments are those of the template.
fn is_specialization(s: &TokenStream<'_>, f: &Function) -> bool {
    let start = (0..f.name).rev().find(|&k| matches!(s.str(k), ";" | "}" | "{")).map_or(0, |k| k + 1);
    s.str(start) == "template" && s.str(start + 1) == "<" && s.str(start + 2) == ">"
}

/// Whether token `i` calls a function whose lanes meet.
fn is_collective(s: &TokenStream<'_>, i: usize) -> bool {
    let name = s.str(i);
    (name.starts_with("simd_") || name.starts_with("quad_") || name == "simdgroup_barrier") && s.str(i + 1) == "("
}

/// Finds functions: a name and parentheses, then a body or a semicolon, outside of any body.
fn functions(s: &TokenStream<'_>) -> Vec<Function> {
    let mut found = Vec::new();
    let mut i = 0;
    let mut is_entry = false;
    while i < s.len() {
        match s.str(i) {
            "kernel" => is_entry = true,
            ";" | "}" => is_entry = false,
            "=" => {
                // An initialiser.
                while i < s.len() && s.str(i) != ";" {
                    if matches!(s.str(i), "(" | "[" | "{") {
                        i = s.closing(i).unwrap_or(s.len());
                    }
                    i += 1;
                }
                continue;
            }
            "(" if i > 0 && s.is_ident(i - 1) => {
                let Some(close) = s.closing(i) else { break };
                let mut k = close + 1;
                while matches!(s.str(k), "const" | "device" | "thread" | "threadgroup" | "constant" | "noexcept") {
                    k += 1;
                }
                let body = if s.str(k) == "{" { s.closing(k).map(|end| (k, end)) } else { None };
                if body.is_some() || s.str(k) == ";" {
                    found.push(Function { name: i - 1, open: i, close, body, is_entry });
                    is_entry = false;
                }
                i = body.map_or(close, |(_, end)| end);
            }
            "(" | "[" => i = s.closing(i).unwrap_or(i),
            _ => {}
        }
        i += 1;
    }
    found
}

/// Names of functions that reach a collective.
fn meeting_functions<'a>(s: &TokenStream<'a>, functions: &[Function]) -> HashSet<&'a str> {
    let mut meeting: HashSet<&str> = HashSet::new();
    loop {
        let before = meeting.len();
        for f in functions {
            if let Some((open, close)) = f.body
                && !meeting.contains(s.str(f.name))
                && reaches(s, &meeting, open, close)
            {
                meeting.insert(s.str(f.name));
            }
        }
        if meeting.len() == before {
            return meeting;
        }
    }
}

/// Whether the tokens `from..to` call a collective or a function that does.
fn reaches(s: &TokenStream<'_>, meeting: &HashSet<&str>, from: usize, to: usize) -> bool {
    (from..to).any(|i| is_collective(s, i) || (meeting.contains(s.str(i)) && matches!(s.str(i + 1), "(" | "<")))
}

/// Walks statements and instruments loops.
struct Walk<'s, 'a, 'e> {
    s: &'s TokenStream<'a>,
    meeting: &'s HashSet<&'a str>,
    edits: &'e mut Edits,
    /// The brace that ends the body.
    end: usize,
}

impl Walk<'_, '_, '_> {
    /// Reads the statement at `i`; the index past it, or `None` if it does not read as one.
    fn statement(&mut self, i: usize, depth: u32) -> Option<usize> {
        if depth > MAX_NESTING || i >= self.end {
            return None;
        }
        let depth = depth + 1;
        match self.s.str(i) {
            "{" => {
                let close = self.s.closing(i)?;
                let mut k = i + 1;
                while k < close {
                    k = self.statement(k, depth)?;
                }
                Some(close + 1)
            }
            "if" | "switch" => {
                let open = if self.s.str(i + 1) == "constexpr" { i + 2 } else { i + 1 };
                let close = self.parentheses(open)?;
                let next = self.statement(close + 1, depth)?;
                if self.s.str(next) == "else" { self.statement(next + 1, depth) } else { Some(next) }
            }
            "for" | "while" => {
                let close = self.parentheses(i + 1)?;
                let next = self.statement(close + 1, depth)?;
                if reaches(self.s, self.meeting, i, next) {
                    self.edits.insert(self.s.tokens[i].start, SCOPE);
                    self.head(i + 1, close, self.s.str(i) == "for");
                    self.edits.insert(self.s.tokens[close + 1].start, BODY);
                }
                Some(next)
            }
            "do" => {
                let tail = self.statement(i + 1, depth)?;
                if self.s.str(tail) != "while" {
                    return None;
                }
                let close = self.parentheses(tail + 1)?;
                if reaches(self.s, self.meeting, i, close) {
                    self.edits.insert(self.s.tokens[i].start, SCOPE);
                    self.edits.insert(self.s.tokens[i + 1].start, BODY);
                    self.head(tail + 1, close, false);
                }
                Some(close + 2)
            }
            "case" | "default" => {
                let colon = (i + 1..self.end).find(|&k| self.s.str(k) == ":")?;
                if self.s.str(colon + 1) == "}" { Some(colon + 1) } else { self.statement(colon + 1, depth) }
            }
            _ => {
                let mut k = i;
                while k < self.end {
                    match self.s.str(k) {
                        "(" | "[" | "{" => k = self.s.closing(k)?,
                        ";" => return Some(k + 1),
                        "}" => return None,
                        _ => {}
                    }
                    k += 1;
                }
                None
            }
        }
    }

    fn parentheses(&self, open: usize) -> Option<usize> {
        if self.s.str(open) == "(" { self.s.closing(open) } else { None }
    }

    /// Marks the condition and the step of a loop, if lanes meet there.
    fn head(&mut self, open: usize, close: usize, is_for: bool) {
        let s = self.s;
        let mut starts = Vec::new();
        if is_for {
            let mut k = open + 1;
            while k < close {
                match s.str(k) {
                    "(" | "[" | "{" => k = s.closing(k).unwrap_or(close),
                    ";" => starts.push(k + 1),
                    _ => {}
                }
                k += 1;
            }
        } else {
            starts.push(open + 1);
        }
        for (n, &from) in starts.iter().enumerate() {
            let to = starts.get(n + 1).map_or(close, |t| t - 1);
            let declares = s.is_ident(from) && s.is_ident(from + 1);
            if from < to && !declares && reaches(s, self.meeting, from, to) {
                self.edits.insert(s.tokens[from].start, HEAD);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrumented(text: &str) -> String {
        instrument(&TokenStream::new(text)).apply(text).text
    }

    #[test]
    fn leaves_plain_code_alone() {
        for text in
            ["kernel void k() { for (;;) { f(); } }", "void f() { threadgroup_barrier(x); }", "float simd_width = 1;"]
        {
            assert_eq!(instrumented(text), text);
        }
    }

    #[test]
    fn instruments_loops_and_functions() {
        let out = instrumented("uint f(uint x) { return simd_sum(x); }\nkernel void k() { while (a) b = f(c); }");
        assert_eq!(
            out,
            "uint f(uint x, ::metal::__msl::site __msl_at = ::metal::__msl::site(__builtin_LINE(), __builtin_COLUMN())) { ::metal::__msl::scope __msl_f(__msl_at);  return simd_sum(x); }\n\
             kernel void k() { switch (::metal::__msl::scope __msl_s; 0) default: while (a)  if (::metal::__msl::body()) ; else b = f(c); }"
        );
    }

    #[test]
    fn survives_text_that_does_not_parse() {
        for text in
            ["void f() { simd_sum(1) }", "void f() { for (simd_sum(1) }", "void f( { simd_sum(", "do simd_all(1)"]
        {
            let _ = instrumented(text);
        }
    }
}
