//! What Metal leaves out of C++ (MSL 1.5.4), and the standard library that must be included.
use super::{Lint, Remark};
use crate::lex::{TokenKind, TokenStream};
use crate::version::LanguageVersion;

/// Words that clang takes and Metal does not.
const WORDS: [(&str, &str); 16] = [
    ("asm", "inline assembly is not supported in Metal"),
    ("catch", "exceptions are not supported in Metal"),
    ("co_await", "coroutines are not supported in Metal"),
    ("co_return", "coroutines are not supported in Metal"),
    ("co_yield", "coroutines are not supported in Metal"),
    ("delete", "delete is not supported in Metal"),
    ("double", "'double' is not supported in Metal"),
    ("dynamic_cast", "dynamic_cast is not supported in Metal"),
    ("goto", "goto is not supported in Metal"),
    ("new", "new is not supported in Metal"),
    ("register", "register is not supported in Metal"),
    ("thread_local", "thread_local is not supported in Metal"),
    ("throw", "exceptions are not supported in Metal"),
    ("try", "exceptions are not supported in Metal"),
    ("typeid", "typeid is not supported in Metal"),
    ("virtual", "virtual functions are not supported in Metal"),
];
const WORDS_OF_OPENCL: [&str; 11] = [
    "__constant",
    "__global",
    "__local",
    "__private",
    "__generic",
    "__kernel",
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "convert_float4",
    "barrier",
];

pub(super) fn check(lint: &mut Lint<'_>) {
    let mut remarks = Vec::new();
    let s = &lint.s;
    for i in 0..s.len() {
        if s.tokens[i].kind != TokenKind::Ident || matches!(s.str(i.wrapping_sub(1)), "." | "->") {
            // MSL 1.6.1: lambda expressions came with Metal 3.2.
            if s.str(i) == "[" && lint.version < LanguageVersion::V3_2 && is_lambda(s, i) {
                remarks.push((i, "lambda expressions are not supported in Metal".to_owned()));
            }
            continue;
        }
        let word = s.str(i);
        if let Some((_, message)) = WORDS.iter().find(|(w, _)| *w == word) {
            // `= delete` is no operator.
            if word != "delete" || s.str(i.wrapping_sub(1)) != "=" {
                remarks.push((i, (*message).to_owned()));
            }
        } else if word == "intersection_query" && in_array(s, i) {
            let message = "an 'intersection_query' cannot be a member of a structure, nor an element of 'array'";
            remarks.push((i, message.to_owned()));
        } else if word == "long" && s.str(i + 1) == "long" {
            remarks.push((i, "'long long' is not supported in Metal".to_owned()));
        } else if WORDS_OF_OPENCL.contains(&word)
            && (word.starts_with("__") || s.str(i + 1) == "(")
            && !declared(s, word)
        {
            remarks.push((i, format!("'{word}' is OpenCL, not Metal")));
        }
    }
    for (at, message) in remarks {
        lint.remark(at, message);
    }
}

/// Brackets that do not pair. Clang tells too, but not inside attributes, and not where [`crate::rewrite`] adds some.
pub(super) fn brackets(lint: &mut Lint<'_>) {
    let mut open: Vec<usize> = Vec::new();
    for i in 0..lint.s.len() {
        let opening = match lint.s.str(i) {
            "(" | "[" | "{" => {
                open.push(i);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        match open.pop() {
            Some(o) if lint.s.str(o) == opening => {}
            _ => {
                let message = format!("'{}' closes no '{opening}'", lint.s.str(i));
                lint.remark(i, message);
                return;
            }
        }
    }
    if let Some(&o) = open.last() {
        let message = format!("'{}' is never closed", lint.s.str(o));
        lint.remark(o, message);
    }
}

/// Whether the text declares a function `name` itself.
fn declared(s: &TokenStream<'_>, name: &str) -> bool {
    (1..s.len()).any(|i| s.str(i) == name && s.str(i + 1) == "(" && s.is_ident(i - 1) && s.str(i - 1) != "return")
}

/// Whether the type at token `i` is the first argument of `array`.
fn in_array(s: &TokenStream<'_>, i: usize) -> bool {
    let mut k = i;
    while k > 1 && (s.str(k - 1) == "::" || matches!(s.str(k - 1), "raytracing" | "metal")) {
        k -= 1;
    }
    k > 1 && s.str(k - 1) == "<" && s.str(k - 2) == "array"
}

/// Whether the `[` at `i` introduces a lambda: where an operand may stand, with a body or parameters after it.
fn is_lambda(s: &TokenStream<'_>, i: usize) -> bool {
    let operand = matches!(s.str(i.wrapping_sub(1)), "=" | "(" | "," | "return" | "{" | ";" | "}");
    operand && s.str(i + 1) != "[" && s.closing(i).is_some_and(|end| matches!(s.str(end + 1), "(" | "{"))
}

/// The standard library is there only if the text includes it (MSL 6.1).
pub(super) fn unincluded(s: &TokenStream<'_>) -> Vec<Remark> {
    let included = s.tokens.iter().any(|t| {
        let line = &s.text[t.start..t.end];
        t.kind == TokenKind::Directive && line.contains("include") || line.starts_with("#pragma metal_check_included")
    });
    if included {
        return Vec::new();
    }
    (0..s.len())
        .find(|&i| s.str(i) == "metal" && (s.str(i + 1) == "::" || s.str(i.wrapping_sub(1)) == "namespace"))
        .map(|i| Remark {
            offset: s.tokens[i].start,
            message: "namespace metal is used, but no header declares it: include <metal_stdlib>".to_owned(),
        })
        .into_iter()
        .collect()
}
