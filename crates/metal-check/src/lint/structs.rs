//! The structures of a text, as tokens show them.
use crate::lex::TokenStream;
use crate::syntax::{Attribute, attribute_list};
use std::collections::HashMap;

/// A member of a structure.
pub(super) struct Member<'a> {
    /// Type and name, without attributes and bounds.
    pub words: Vec<&'a str>,
    pub attributes: Vec<Attribute<'a>>,
    /// Whether it is an array.
    pub array: bool,
    /// The attribute list that stands after the bounds of an array, where it would belong to the type.
    pub late: Option<usize>,
}

impl Member<'_> {
    /// Whether it is a pointer or a reference.
    pub fn points(&self) -> bool {
        self.words.iter().any(|w| matches!(*w, "*" | "&"))
    }

    /// The words of its type.
    pub fn ty(&self) -> &[&str] {
        &self.words[..self.words.len().saturating_sub(1)]
    }
}

/// Structures by name. Functions of theirs are no members here.
pub(super) type Structs<'a> = HashMap<&'a str, Vec<Member<'a>>>;

/// Finds the structures of `s`.
pub(super) fn structs<'a>(s: &TokenStream<'a>) -> Structs<'a> {
    let mut out = Structs::new();
    for i in 0..s.len() {
        if !matches!(s.str(i), "struct" | "class") || matches!(s.str(i.wrapping_sub(1)), "<" | "," | "enum") {
            continue;
        }
        let name = match attribute_list(s, i + 1) {
            Some((_, end)) => end,
            None => i + 1,
        };
        // A base may stand between the name and the body.
        let open = (name..s.len()).take(40).find(|&k| matches!(s.str(k), "{" | ";" | "(" | ")" | ">" | "="));
        let Some(open) = open.filter(|&o| s.str(o) == "{" && s.is_ident(name)) else { continue };
        if let Some(close) = s.closing(open) {
            out.insert(s.str(name), members(s, open + 1, close));
        }
    }
    out
}

fn members<'a>(s: &TokenStream<'a>, from: usize, to: usize) -> Vec<Member<'a>> {
    let new = || Member { words: Vec::new(), attributes: Vec::new(), array: false, late: None };
    let (mut out, mut member, mut function) = (Vec::new(), new(), false);
    let mut k = from;
    while k < to {
        if let Some((attributes, end)) = attribute_list(s, k) {
            if member.array {
                member.late = member.late.or(Some(k));
            }
            member.attributes.extend(attributes);
            k = end;
            continue;
        }
        match s.str(k) {
            ";" => {
                let done = std::mem::replace(&mut member, new());
                if !function && done.words.len() > 1 {
                    out.push(done);
                }
                function = false;
            }
            "(" => {
                function = true;
                k = s.closing(k).unwrap_or(to);
            }
            "{" => {
                k = s.closing(k).unwrap_or(to);
                // The body of a function ends its declaration; an initialiser or a nested type does not.
                if function {
                    member = new();
                    function = false;
                }
            }
            "[" => {
                member.array = true;
                k = s.closing(k).unwrap_or(to);
            }
            word => member.words.push(word),
        }
        k += 1;
    }
    out
}

/// Whether `word` names a matrix type.
pub(super) fn is_matrix(word: &str) -> bool {
    let shape = word.strip_prefix("float").or_else(|| word.strip_prefix("half")).map(str::as_bytes);
    word == "matrix" || matches!(shape, Some([b'2'..=b'4', b'x', b'2'..=b'4']))
}
