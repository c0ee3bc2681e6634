//! Respells Metal source as clang's "C++ for OpenCL", line for line.
//!
//! The headers make most of Metal's words mean the right thing; what macros and classes cannot say is rewritten here:
//!
//! | Metal | becomes | because |
//! |---|---|---|
//! | `#line ...` | nothing | findings name the line of the file itself |
//! | `1.0` | `1.0f` | Metal has no `double` (MSL 2.1), and clang's switch for that is lost in templates |
//! | `c ? a : b` | `c ? rv(a) : rv(b)` | class operands in different address spaces do not unify |
//! | `f() device { .. }` | `f() { return (T)(..); }` | a target address space cannot qualify a method |
//! | `[[kernel]]` | `kernel` | it is a keyword of the mode |
//! | `[[function_constant(n)]]` | an initialiser | the variable has no other |
//! | `template<uint N>` | `template<int N>` | clang deduces no `int` argument from a `uint` one |
//! | kernel templates | function templates | see [`templates`] |
//! | `color(0) index(1)` | `color(0), index(1)` | Metal allows the missing comma |
mod templates;

use crate::lex::{TokenKind, TokenStream};

/// Replaces `start..end` of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// A set of replacements that do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

impl Edits {
    /// Inserts `text` before byte `at`, after what was inserted there already.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push(Edit { start: at, end: at, text: text.into() });
    }

    /// Replaces the bytes `start..end`; line ends among them are kept.
    pub fn replace(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.0.push(Edit { start, end, text: text.into() });
    }

    fn extend(&mut self, other: Edits) {
        self.0.extend(other.0);
    }

    /// Applies the edits.
    pub fn apply(mut self, text: &str) -> Rewritten {
        self.0.sort_by_key(|e| (e.start, e.end));
        let mut out = String::with_capacity(text.len() + text.len() / 4);
        let mut marks = Vec::with_capacity(self.0.len());
        let mut at = 0;
        for edit in self.0 {
            if edit.start < at {
                continue; // inside text that is already gone
            }
            out.push_str(&text[at..edit.start]);
            out.push_str(&edit.text);
            out.extend(text[edit.start..edit.end].bytes().filter(|&b| b == b'\n').map(char::from));
            at = edit.end;
            marks.push((out.len(), at));
        }
        out.push_str(&text[at..]);
        Rewritten { text: out, marks }
    }
}

/// A rewritten text that knows where its parts come from.
#[derive(Debug, Clone)]
pub(crate) struct Rewritten {
    pub text: String,
    /// After each edit: an offset in `text` and the offset in the original that it stands for.
    marks: Vec<(usize, usize)>,
}

impl Rewritten {
    /// 1-based column in `original` for a line and column of the rewritten text; lines are the same in both.
    pub fn original_column(&self, original: &str, line: u32, column: u32) -> u32 {
        let line_start =
            |s: &str| s.split_inclusive('\n').take((line as usize).saturating_sub(1)).map(str::len).sum::<usize>();
        let offset = line_start(&self.text) + column as usize - 1;
        let i = self.marks.partition_point(|&(out, _)| out <= offset);
        let source = match i.checked_sub(1).map(|i| self.marks[i]) {
            Some((out, source)) => source + (offset - out),
            None => offset,
        };
        // Inserted text stands for what follows it.
        let source = match self.marks.get(i) {
            Some(&(_, next)) => source.min(next),
            None => source,
        };
        (source.saturating_sub(line_start(original)) + 1).max(1) as u32
    }
}

/// How a text is respelled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RewriteOptions {
    /// Add what the executor needs to let SIMD-group lanes rejoin (see [`crate::run`]).
    pub lanes: bool,
}

/// Respells `text`.
pub(crate) fn rewrite(text: &str, options: RewriteOptions) -> Rewritten {
    let stream = TokenStream::new(text);
    let mut edits = Edits::default();
    directives(&stream, &mut edits);
    literals(&stream, &mut edits);
    ternaries(&stream, &mut edits);
    let removed = templates::respell(&stream, &mut edits);
    attributes(&stream, &removed, &mut edits);
    template_heads(&stream, &mut edits);
    methods(&stream, &mut edits);
    if options.lanes {
        edits.extend(crate::run::lanes::instrument(&stream));
    }
    edits.apply(text)
}

/// Removes `#line`; respells the bodies of macros, which are not tokens of the stream.
fn directives(s: &TokenStream<'_>, edits: &mut Edits) {
    for t in s.tokens.iter().filter(|t| t.kind == TokenKind::Directive) {
        let line = &s.text[t.start..t.end];
        let body = line[1..].trim_start();
        if body.strip_prefix("line").is_some_and(|r| r.starts_with([' ', '\t'])) {
            edits.replace(t.start, t.end, "");
        } else if body.starts_with("define") {
            let inner = TokenStream::new(&line[1..]);
            let mut own = Edits::default();
            literals(&inner, &mut own);
            ternaries(&inner, &mut own);
            for e in own.0 {
                edits.replace(t.start + 1 + e.start, t.start + 1 + e.end, e.text);
            }
        }
    }
}

/// Gives floating-point literals without a suffix the suffix `f`.
fn literals(s: &TokenStream<'_>, edits: &mut Edits) {
    for t in s.tokens.iter().filter(|t| t.kind == TokenKind::Number) {
        let number = &s.text[t.start..t.end];
        let hex = number.starts_with("0x") || number.starts_with("0X");
        let float = if hex { number.contains(['p', 'P']) } else { number.contains(['.', 'e', 'E']) };
        let plain = number.ends_with(|c: char| c == '.' || c.is_ascii_digit());
        if float && plain {
            edits.insert(t.end, "f");
        }
    }
}

/// A bracket, or an operand of `?:`, while its end is looked for.
#[derive(PartialEq)]
enum Open {
    Bracket,
    /// The edit that wraps it.
    Second(usize),
    Third,
}

/// Passes the second and third operand of `?:` through a function that returns them by value.
fn ternaries(s: &TokenStream<'_>, edits: &mut Edits) {
    const WRAP: &str = " ::metal::__msl_rv(";
    let mut open: Vec<Open> = Vec::new();
    let mut i = 0;
    while i < s.len() {
        let at = s.tokens[i].start;
        let mut close_thirds = |open: &mut Vec<Open>| {
            while open.last() == Some(&Open::Third) {
                open.pop();
                edits.insert(at, ")");
            }
        };
        match s.str(i) {
            "<" if i > 0 && s.is_ident(i - 1) => {
                if let Some(end) = s.template_end(i) {
                    i = end;
                    continue;
                }
            }
            "(" | "[" | "{" => open.push(Open::Bracket),
            ")" | "]" | "}" => {
                close_thirds(&mut open);
                // A second operand left open here belongs to text that does not parse.
                while open.pop().is_some_and(|o| o != Open::Bracket) {}
            }
            "?" if !is_void(s, i + 1) && s.str(i + 1) != ":" => {
                open.push(Open::Second(edits.0.len()));
                edits.insert(s.tokens[i].end, WRAP);
            }
            ":" => {
                close_thirds(&mut open);
                if let Some(&Open::Second(edit)) = open.last() {
                    open.pop();
                    if is_void(s, i + 1) {
                        edits.0[edit].text.clear();
                    } else {
                        open.push(Open::Third);
                        edits.insert(at, ")");
                        edits.insert(s.tokens[i].end, WRAP);
                    }
                }
            }
            "," => close_thirds(&mut open),
            ";" => {
                close_thirds(&mut open);
                while open.last().is_some_and(|o| *o != Open::Bracket) {
                    open.pop();
                }
            }
            _ => {}
        }
        i += 1;
    }
    for _ in open.iter().filter(|o| **o == Open::Third) {
        edits.insert(s.text.len(), ")");
    }
}

/// Whether the operand at `i` is cast to void, so that there is no value to pass.
fn is_void(s: &TokenStream<'_>, i: usize) -> bool {
    let first = (i..s.len()).find(|&k| s.str(k) != "(").unwrap_or(i);
    s.str(first) == "void" || (s.str(first) == "static_cast" && s.str(first + 2) == "void")
}

/// Respells the attributes that clang must understand.
fn attributes(s: &TokenStream<'_>, removed: &[(usize, usize)], edits: &mut Edits) {
    let mut i = 0;
    while i < s.len() {
        if s.str(i) != "[" || s.str(i + 1) != "[" {
            i += 1;
            continue;
        }
        if let Some(&(_, end)) = removed.iter().find(|r| r.0 == i) {
            i = end;
            continue;
        }
        let Some(end) = s.closing(i) else { return };
        let (start, stop) = (s.tokens[i].start, s.tokens[end].end);
        match s.str(i + 2) {
            stage @ ("kernel" | "vertex" | "fragment") if end == i + 4 => edits.replace(start, stop, stage),
            // Object and mesh functions may have threadgroup variables, as kernels may.
            "mesh" | "object" if end == i + 4 => edits.replace(start, stop, "kernel"),
            "function_constant" => function_constant(s, i, end, edits),
            _ => {
                for k in i + 2..end {
                    if s.str(k) == ")" && s.str(k + 1) == "index" {
                        edits.insert(s.tokens[k].end, ",");
                    }
                }
            }
        }
        i = end + 1;
    }
}

/// `constant T x [[function_constant(n)]];` gets its value, and a constant that says whether the host gave one.
///
/// On a parameter of an entry function the attribute only says when the argument exists: nothing to respell.
fn function_constant(s: &TokenStream<'_>, open: usize, close: usize, edits: &mut Edits) {
    if s.str(close + 1) != ";" || open == 0 || !s.is_ident(open - 1) || s.str(open + 3) != "(" {
        return;
    }
    let Some(index_end) = s.closing(open + 3) else {
        return;
    };
    if index_end == open + 4 {
        return;
    }
    let index = &s.text[s.tokens[open + 4].start..s.tokens[index_end - 1].end];
    let name = s.str(open - 1);
    let (start, stop) = (s.tokens[open].start, s.tokens[close + 1].end);
    edits.replace(
        start,
        stop,
        format!(" = ::metal::__msl::fc<int({index})>::get(); constant bool __msl_defined_{name} = ::metal::__msl::fcv<int({index})>::defined;"),
    );
}

/// Tokens a template head is read for.
const HEAD: usize = 400;

/// `template<uint N>` becomes `template<int N>`; `is_function_constant_defined(a::x)` names its companion.
fn template_heads(s: &TokenStream<'_>, edits: &mut Edits) {
    for i in 0..s.len() {
        match s.str(i) {
            "template" if s.str(i + 1) == "<" => {
                let mut depth = 0usize;
                let mut k = i + 1;
                while k < s.len().min(i + HEAD) {
                    match s.str(k) {
                        "<" => depth += 1,
                        ">" => depth -= 1,
                        "uint" if depth == 1 && matches!(s.str(k - 1), "<" | ",") && s.is_ident(k + 1) => {
                            edits.replace(s.tokens[k].start, s.tokens[k].end, "int");
                        }
                        "{" | ";" => break,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    k += 1;
                }
            }
            // MSL 4.8: `coherent(device)` may also be written without the parentheses.
            "coherent" if s.str(i + 1) == "(" => {
                let end = s.closing(i + 1).unwrap_or(i + 1);
                edits.replace(s.tokens[i].start, s.tokens[end].end, "coherent");
            }
            "is_function_constant_defined" if s.str(i + 1) == "(" => {
                let Some(end) = s.closing(i + 1) else {
                    continue;
                };
                if end > i + 2 && s.is_ident(end - 1) {
                    let mut start = s.tokens[i].start;
                    // A qualified call: the companion is not a member of that namespace.
                    if s.str(i.wrapping_sub(1)) == "::" && s.str(i.wrapping_sub(2)) == "metal" {
                        start = s.tokens[i - 2].start;
                    }
                    let path = &s.text[s.tokens[i + 2].start..s.tokens[end - 1].start];
                    let name = s.str(end - 1);
                    edits.replace(start, s.tokens[end].end, format!("({path}__msl_defined_{name})"));
                }
            }
            _ => {}
        }
    }
}

/// Respells methods qualified by an address space.
///
/// An unqualified method takes `this` in the generic address space, so a `device` method becomes one, with what it
/// returns cast back. An object without an address fits `thread` and `threadgroup` methods alike: the latter becomes a
/// template, so that it loses. Of constructors one generic one stays, and defaulted functions are the implicit ones.
fn methods(s: &TokenStream<'_>, edits: &mut Edits) {
    for i in 1..s.len() {
        let space = s.str(i);
        if !matches!(space, "device" | "threadgroup" | "thread" | "constant") {
            continue;
        }
        let close = if s.str(i - 1) == "const" && i > 1 { i - 2 } else { i - 1 };
        let body = if s.str(i + 1) == "const" { i + 2 } else { i + 1 };
        let defaulted = s.str(body) == "=" && s.str(body + 1) == "default";
        if s.str(close) != ")" || !(matches!(s.str(body), "{" | ";" | ":") || defaulted) {
            continue;
        }
        let Some(open) = s.opening(close).filter(|&o| o > 0) else { continue };
        let name = method_name(s, open);
        let start = declaration_start(s, name);
        let conversion = s.str(name) == "operator" && s.is_ident(name + 1);
        let ty = if conversion { return_type(s, name + 1, open) } else { return_type(s, start, name) };
        let constructor = ty.is_empty() && s.str(name) != "operator" && s.is_ident(name);
        let qualifier = (s.tokens[i].start, s.tokens[i].end);
        if defaulted || (constructor && space != "thread") {
            if let Some(end) = member_end(s, body) {
                edits.replace(s.tokens[start].start, s.tokens[end].end, "");
            }
        } else if constructor {
            edits.replace(qualifier.0, qualifier.1, "");
        } else if space == "threadgroup" {
            if s.str(start) != "template" {
                edits.insert(s.tokens[start].start, "template<int = 0> ");
            }
        } else if space == "device" {
            edits.replace(qualifier.0, qualifier.1, "");
            if ty != "void" && !ty.is_empty() && s.str(body) == "{" {
                cast_returns(s, body, &ty, edits);
            }
        }
    }
}

/// Casts what the body that opens at `body` returns to `ty`.
fn cast_returns(s: &TokenStream<'_>, body: usize, ty: &str, edits: &mut Edits) {
    let Some(end) = s.closing(body) else { return };
    for k in body..end {
        if s.str(k) == "return" && s.str(k + 1) != ";" {
            let stop = (k..end).find(|&j| s.str(j) == ";").unwrap_or(end);
            edits.insert(s.tokens[k].end, format!(" ({ty})("));
            edits.insert(s.tokens[stop].start, ")");
        }
    }
}

/// The last token of the member whose body, initialisers or `= default` begin at `from`.
fn member_end(s: &TokenStream<'_>, from: usize) -> Option<usize> {
    let mut k = from;
    while k < s.len() {
        match s.str(k) {
            ";" => return Some(k),
            // `: member{..}` is followed by `,` or the body.
            "{" if k > from && s.is_ident(k - 1) => k = s.closing(k)?,
            "{" => return s.closing(k),
            "(" => k = s.closing(k)?,
            _ => {}
        }
        k += 1;
    }
    None
}

/// First token of the name before the parameter list at `open`: `f`, or `operator` before `[]`, `+=`, a type, ...
fn method_name(s: &TokenStream<'_>, open: usize) -> usize {
    let start = declaration_start(s, open - 1);
    (start..open).find(|&k| s.str(k) == "operator").unwrap_or(open - 1)
}

/// First token of the member declaration whose name is at `name`.
fn declaration_start(s: &TokenStream<'_>, name: usize) -> usize {
    let mut i = name;
    while i > 0 {
        let before = &s.tokens[i - 1];
        if before.kind == TokenKind::Directive || matches!(s.str(i - 1), ";" | "{" | "}" | ":") {
            break;
        }
        i -= 1;
    }
    i
}

/// The return type of the declaration at `start`: its tokens up to `name` without specifiers and attributes.
fn return_type(s: &TokenStream<'_>, start: usize, name: usize) -> String {
    let mut ty = String::new();
    let mut i = start;
    while i < name {
        match s.str(i) {
            "constexpr" | "inline" | "static" | "METAL_FUNC" | "typename" => {}
            "[" => i = s.closing(i).unwrap_or(name),
            "template" if s.str(i + 1) == "<" => {
                let mut depth = 0usize;
                while i + 1 < name {
                    i += 1;
                    match s.str(i) {
                        "<" => depth += 1,
                        ">" => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            word => {
                ty.push_str(word);
                ty.push(' ');
            }
        }
        i += 1;
    }
    ty.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respell(text: &str) -> String {
        rewrite(text, RewriteOptions::default()).text
    }

    #[test]
    fn wraps_nested_ternaries() {
        assert_eq!(
            respell("x = a ? b : c ? d : e;"),
            "x = a ? ::metal::__msl_rv( b ): ::metal::__msl_rv( c ? ::metal::__msl_rv( d ): ::metal::__msl_rv( e));"
        );
        assert_eq!(respell("f(a ? b : c, d)"), "f(a ? ::metal::__msl_rv( b ): ::metal::__msl_rv( c), d)");
        assert_eq!(respell("a ? (void)0 : g();"), "a ? (void)0 : g();");
        assert_eq!(respell("(a ? g() : ((void)0));"), "(a ? g() : ((void)0));");
    }

    #[test]
    fn gives_float_literals_a_suffix() {
        assert_eq!(respell("1.0 2. .5 1e3 1.0h 2 0x1p3 0xe 1.f"), "1.0f 2.f .5f 1e3f 1.0h 2 0x1p3f 0xe 1.f");
        assert_eq!(respell("#define PI 3.14 \\\n + 1.0"), "#define PI 3.14f \\\n + 1.0f");
    }

    #[test]
    fn respells_methods() {
        let out = respell("struct A { T e[2]; device T& operator [] (size_t i) device { return e[i]; } };");
        assert_eq!(out, "struct A { T e[2]; device T& operator [] (size_t i)  { return (device T &)( e[i]); } };");
        assert_eq!(respell("{ int f() const threadgroup; }"), "{ template<int = 0> int f() const threadgroup; }");
    }

    #[test]
    fn keeps_lines_and_maps_columns() {
        let text = "#line 7 \"x\"\nfloat a = c ? 1.0 : bad;\n";
        let out = rewrite(text, RewriteOptions::default());
        assert_eq!(out.text.lines().count(), text.lines().count());
        let line = out.text.lines().nth(1).unwrap_or_default();
        let column = line.find("bad").map_or(0, |c| c as u32 + 1);
        assert_eq!(out.original_column(text, 2, column), 21);
    }
}
