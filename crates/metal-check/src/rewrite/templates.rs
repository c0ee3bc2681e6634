//! Templates of entry functions, and their instances (MSL 5.1.11).
//!
//! The mode has no kernel templates: they become function templates. What a kernel may do and a function may not is
//! respelled with them: a threadgroup variable becomes a reference to one that is nowhere, which is enough to check it.
//!
//! | Metal | becomes |
//! |---|---|
//! | `template<typename T> [[kernel]] void f(..)` | `template<typename T> void f(..)` |
//! | `template [[host_name("f")]] [[kernel]] decltype(f<int>) f<int>;` | `template decltype(f<int>) f<int>;` |
//! | `threadgroup T a[4];` in it | `threadgroup T (&a)[4] = *(threadgroup T (*)[4])0;` |
use super::Edits;
use crate::lex::TokenStream;
use crate::syntax::attribute_list;

/// Tokens of a declaration's head that are read.
const HEAD: usize = 400;

/// Respells templates; the attribute lists removed, as ranges of tokens.
pub(super) fn respell(s: &TokenStream<'_>, edits: &mut Edits) -> Vec<(usize, usize)> {
    let mut removed = Vec::new();
    for i in (0..s.len()).filter(|&i| s.str(i) == "template") {
        let definition = s.str(i + 1) == "<";
        let Some(start) = (if definition { head_end(s, i + 1) } else { Some(i + 1) }) else { continue };
        let mut kernel = false;
        let mut k = start;
        while k < s.len().min(start + HEAD) {
            if let Some((attributes, end)) = attribute_list(s, k) {
                let entry =
                    attributes.iter().any(|a| matches!(a.name, "kernel" | "vertex" | "fragment" | "mesh" | "object"));
                kernel |= entry;
                if entry || !definition {
                    edits.replace(s.tokens[k].start, s.tokens[end - 1].end, "");
                    removed.push((k, end));
                }
                k = end;
                continue;
            }
            match s.str(k) {
                "kernel" => {
                    kernel = true;
                    edits.replace(s.tokens[k].start, s.tokens[k].end, "");
                }
                "(" | ";" | "{" | "template" => break,
                _ => {}
            }
            k += 1;
        }
        if kernel
            && definition
            && let Some(close) = s.closing(k)
            && let Some(end) = s.closing(close + 1)
        {
            variables(s, close + 1, end, edits);
        }
    }
    removed
}

/// The index past the `>` of the template head whose `<` is at `open`.
fn head_end(s: &TokenStream<'_>, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for k in open..s.len().min(open + HEAD) {
        match s.str(k) {
            "<" => depth += 1,
            ">" => {
                depth -= 1;
                if depth == 0 {
                    return Some(k + 1);
                }
            }
            "{" | ";" => return None,
            _ => {}
        }
    }
    None
}

/// Respells the threadgroup variables declared among the tokens `from..to`.
fn variables(s: &TokenStream<'_>, from: usize, to: usize, edits: &mut Edits) {
    for i in from + 1..to {
        if s.str(i) != "threadgroup" || !matches!(s.str(i - 1), "{" | "}" | ";") {
            continue;
        }
        let Some(end) = (i..to).find(|&k| s.str(k) == ";") else { return };
        if (i..end).any(|k| matches!(s.str(k), "=" | "*" | "&" | "(")) {
            continue; // a pointer or reference
        }
        let parts = s.split_commas(i + 1, end);
        let Some(&(_, first_end)) = parts.first() else { continue };
        // The type ends before the first name: the last word before any dimensions.
        let bound = (i + 1..first_end).find(|&k| s.str(k) == "[" && s.str(k - 1) != "<").unwrap_or(first_end);
        let name = bound - 1;
        if name <= i + 1 || !s.is_ident(name) {
            continue;
        }
        let text = |a: usize, b: usize| if a < b { &s.text[s.tokens[a].start..s.tokens[b - 1].end] } else { "" };
        let ty = text(i + 1, name);
        let mut out = String::new();
        for (n, &(a, b)) in parts.iter().enumerate() {
            let name = if n == 0 { name } else { a };
            let dimensions = text(name + 1, b);
            let (variable, pointer) = match dimensions {
                "" => (format!("&{}", s.str(name)), "*".to_owned()),
                _ => (format!("(&{}){dimensions}", s.str(name)), format!("(*){dimensions}")),
            };
            out.push_str(&format!("threadgroup {ty} {variable} = *(threadgroup {ty} {pointer})0; "));
        }
        edits.replace(s.tokens[i].start, s.tokens[end].end, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelled(text: &str) -> String {
        let mut edits = Edits::default();
        respell(&TokenStream::new(text), &mut edits);
        edits.apply(text).text
    }

    #[test]
    fn kernel_templates_become_function_templates() {
        assert_eq!(
            respelled(
                "template <typename T, int N> [[kernel]] void f(device T* p [[buffer(0)]]) { threadgroup T a[N][2], b; a[0][0] = 1; }"
            ),
            "template <typename T, int N>  void f(device T* p [[buffer(0)]]) { threadgroup T (&a)[N][2] = *(threadgroup T (*)[N][2])0; threadgroup T &b = *(threadgroup T *)0;  a[0][0] = 1; }"
        );
        assert_eq!(
            respelled("template [[host_name(\"f\")]] [[kernel]] decltype(f<int>) f<int>;"),
            "template   decltype(f<int>) f<int>;"
        );
        assert_eq!(
            respelled("template<typename T> T g(T x) { return x; }"),
            "template<typename T> T g(T x) { return x; }"
        );
    }
}
