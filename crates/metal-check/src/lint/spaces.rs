//! Address spaces (MSL 4): every pointer and reference names one, every variable outside functions is `constant`.
use super::Lint;
use super::variables::{self, Types};
use crate::lex::{TokenKind, TokenStream};
use crate::syntax::attribute_list;
use std::collections::HashSet;

const SPACES: [&str; 7] =
    ["device", "constant", "thread", "threadgroup", "threadgroup_imageblock", "ray_data", "object_data"];
const SCALARS: [&str; 13] =
    ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat", "size_t"];

/// Where a brace puts its contents.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Namespace,
    Structure,
    Function,
    /// An initialiser or an enumeration: no declarations.
    Values,
}

pub(super) fn check(lint: &mut Lint<'_>, variables: &Types<'_>) {
    let types = type_names(&lint.s);
    let mut remarks = Vec::new();
    pointers(&lint.s, &types, &mut remarks);
    declarations(&lint.s, variables, &mut remarks);
    for (at, message) in remarks {
        lint.remark(at, message);
    }
}

/// Whether `word` names a scalar, vector or matrix type, or an atomic one.
pub(super) fn is_type(word: &str) -> bool {
    let stem = word.strip_prefix("packed_").unwrap_or(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
    SCALARS.contains(&stem) || word.starts_with("atomic_int") || word.starts_with("atomic_uint")
}

/// Types by name: scalars, vectors, matrices, atomics, and what the text declares.
fn type_names<'a>(s: &TokenStream<'a>) -> HashSet<&'a str> {
    let mut types = HashSet::new();
    for i in 0..s.len() {
        let word = s.str(i);
        let stem =
            word.strip_prefix("packed_").unwrap_or(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == 'x');
        if SCALARS.contains(&stem) || word.starts_with("atomic_int") || word.starts_with("atomic_uint") {
            types.insert(word);
        }
        // A template's type parameter.
        if matches!(word, "typename" | "class") && matches!(s.str(i.wrapping_sub(1)), "<" | ",") && s.is_ident(i + 1) {
            types.insert(s.str(i + 1));
        }
        let declares = match word {
            "struct" | "class" | "union" => s.str(i.wrapping_sub(1)) != "<" && s.str(i.wrapping_sub(1)) != ",",
            "enum" | "using" => true,
            _ => false,
        };
        if declares && s.is_ident(i + 1) && matches!(s.str(i + 2), "{" | "=" | ":" | ";") {
            types.insert(s.str(i + 1));
        }
        if word == "typedef"
            && let Some(end) = (i..s.len().min(i + 40)).find(|&k| s.str(k) == ";")
            && s.is_ident(end - 1)
        {
            types.insert(s.str(end - 1));
        }
    }
    // A name that is a variable elsewhere, as a template's parameter may be: `T * x` is a product there.
    for i in 1..s.len() {
        if s.str(i + 1) == "=" && s.is_ident(i - 1) && !matches!(s.str(i - 1), "using" | "typename" | "class") {
            types.remove(s.str(i));
        }
    }
    types
}

/// Finds `T*` and `T&` in declarations and casts without an address space.
///
/// `T` must be the name of a type, so that a product is not taken for a pointer.
fn pointers(s: &TokenStream<'_>, types: &HashSet<&str>, remarks: &mut Vec<(usize, String)>) {
    for i in 1..s.len() {
        if !matches!(s.str(i), "*" | "&" | "&&") || !(types.contains(s.str(i - 1)) || s.str(i - 1) == "const") {
            continue;
        }
        // Back over the type to what begins it.
        let mut start = i - 1;
        let mut spaced = false;
        while start > 0 {
            let before = s.str(start - 1);
            let part = SPACES.contains(&before)
                || matches!(
                    before,
                    "const"
                        | "volatile"
                        | "::"
                        | "metal"
                        | "simd"
                        | "constexpr"
                        | "static"
                        | "unsigned"
                        | "signed"
                        | "coherent"
                )
                || (types.contains(before) && s.str(start) == "const");
            if !part {
                break;
            }
            spaced |= SPACES.contains(&before);
            start -= 1;
        }
        spaced |= (start..i).any(|k| SPACES.contains(&s.str(k)));
        // `float const device* p`
        let begins = start == 0
            || matches!(
                s.str(start - 1),
                "(" | "," | ";" | "{" | "}" | "<" | "]" | ")" | ":" | "inline" | "return" | "typedef" | "="
            );
        if spaced || !begins || (s.str(i - 1) == "const" && start == i - 1) {
            continue;
        }
        let before = s.str(start.wrapping_sub(1));
        let after = s.str(i + 1);
        let declares = match before {
            // A parameter, a template argument or a cast.
            "(" | "," | "<" => {
                matches!(after, ")" | "," | ">" | "*" | "&" | "(")
                    || (s.is_ident(i + 1) && matches!(s.str(i + 2), "," | ")" | "[" | "="))
            }
            "return" | "=" => false,
            _ => s.is_ident(i + 1) || matches!(after, "*" | "&"),
        };
        // `(T &)` after `operator` and references to arrays of the thread, `T (&a)[n]`, are other forms.
        if declares && s.str(i.wrapping_sub(2)) != "operator" && s.str(i - 1) != "operator" {
            let text: Vec<&str> = (start..=i).map(|k| s.str(k)).collect();
            remarks.push((start, format!("'{}' must have an explicit address space", text.join(" "))));
        }
    }
}

/// Walks declarations with their scopes: variables at namespace scope, `static` variables of functions.
fn declarations(s: &TokenStream<'_>, variables: &Types<'_>, remarks: &mut Vec<(usize, String)>) {
    let mut scopes = vec![Scope::Namespace];
    let mut start = 0;
    let mut i = 0;
    while i < s.len() {
        let scope = scopes.last().copied().unwrap_or(Scope::Namespace);
        match s.str(i) {
            "(" => i = s.closing(i).unwrap_or(i),
            "[" => {
                i = match attribute_list(s, i) {
                    Some((_, end)) => end - 1,
                    None => s.closing(i).unwrap_or(i),
                }
            }
            "{" => {
                let opened = scope_of(s, start, i, scope);
                if opened == Scope::Values {
                    // The initialiser belongs to the declaration; skip it.
                    i = s.closing(i).unwrap_or(i);
                } else {
                    scopes.push(opened);
                    start = i + 1;
                }
            }
            "}" => {
                if scopes.len() > 1 {
                    scopes.pop();
                }
                start = i + 1;
            }
            ";" => {
                match scope {
                    Scope::Namespace => program_variable(s, start, i, remarks),
                    Scope::Function => {
                        static_variable(s, start, i, remarks);
                        variables::statement(s, start, i, variables, remarks);
                    }
                    _ => {}
                }
                start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
}

/// What the brace at `open` begins, after the tokens from `start`.
fn scope_of(s: &TokenStream<'_>, start: usize, open: usize, outer: Scope) -> Scope {
    let mut words = (start..open).map(|k| s.str(k));
    let before = s.str(open.wrapping_sub(1));
    if before == "=" || before == "," || before == "return" || (start < open && before == "]") {
        return Scope::Values;
    }
    if words.clone().any(|w| w == "=") && outer != Scope::Function {
        return Scope::Values;
    }
    if words.any(|w| w == "enum") {
        return Scope::Values;
    }
    let head: Vec<&str> = (start..open).map(|k| s.str(k)).collect();
    if head.contains(&"namespace") || (head.contains(&"extern") && !head.contains(&")")) {
        return Scope::Namespace;
    }
    if head.contains(&")") || outer == Scope::Function {
        return if s.is_ident(open.wrapping_sub(1))
            && outer == Scope::Function
            && !matches!(before, "else" | "do")
            && !head.contains(&"struct")
        {
            Scope::Values // `T x {..}`
        } else {
            Scope::Function
        };
    }
    if head.iter().any(|w| matches!(*w, "struct" | "class" | "union")) {
        return Scope::Structure;
    }
    Scope::Values
}

/// Tokens `start..end` are a declaration at namespace scope: if of a variable, it must be `constant`.
fn program_variable(s: &TokenStream<'_>, start: usize, end: usize, remarks: &mut Vec<(usize, String)>) {
    if start >= end {
        return;
    }
    const OTHER: [&str; 16] = [
        "using",
        "typedef",
        "struct",
        "class",
        "union",
        "enum",
        "template",
        "return",
        "namespace",
        "static_assert",
        "friend",
        "kernel",
        "vertex",
        "fragment",
        "extern",
        "_Static_assert",
    ];
    let mut words = Vec::new();
    let mut k = start;
    while k < end {
        if let Some((_, past)) = attribute_list(s, k) {
            k = past;
            continue;
        }
        match s.str(k) {
            "=" | "{" => break,
            "(" => {
                // A function, or a variable initialised like one: samplers only.
                words.push("(");
                break;
            }
            word => words.push(word),
        }
        k += 1;
    }
    let Some(&first) = words.first() else { return };
    let is_sampler = words.contains(&"sampler");
    if OTHER.contains(&first)
        || words.contains(&"constant")
        || words.contains(&"operator")
        || is_sampler
        || words.contains(&"(")
    {
        return;
    }
    let names = words.iter().filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_')).count();
    if names >= 2 && s.tokens[start].kind == TokenKind::Ident {
        let name = words
            .iter()
            .rev()
            .find(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            .copied()
            .unwrap_or_default();
        remarks.push((start, format!("program scope variable '{name}' must reside in constant address space")));
    }
}

/// Tokens `start..end` are a statement: a `static` variable in it must be `constant` or a `constexpr`.
fn static_variable(s: &TokenStream<'_>, start: usize, end: usize, remarks: &mut Vec<(usize, String)>) {
    let words: Vec<&str> = (start..end).map(|k| s.str(k)).take_while(|w| !matches!(*w, "=" | "(")).collect();
    if words.first() == Some(&"static") && !words.iter().any(|w| matches!(*w, "constant" | "constexpr")) {
        remarks.push((start, "static variable must reside in constant address space".to_owned()));
    }
    // MSL 2.9: a sampler made in the source is a constexpr.
    let (name, empty) = (start + 1, matches!(s.str(start + 3), ")" | "}"));
    if words.first() == Some(&"sampler") && matches!(s.str(start + 2), "(" | "{") && s.is_ident(name) && !empty {
        remarks.push((start, format!("sampler '{}' must be declared constexpr", s.str(name))));
    }
}
