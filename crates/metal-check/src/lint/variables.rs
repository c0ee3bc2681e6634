//! Variables of functions whose types Metal's library cannot make there: matrices in threadgroup memory before Metal 3.0,
//! atomics outside of it.
use super::structs::{Structs, is_matrix};
use crate::lex::TokenStream;
use crate::version::LanguageVersion;
use std::collections::HashSet;

/// What the rules need to know of a text.
pub(super) struct Types<'a> {
    /// Structures that hold a matrix; empty where matrices may be in threadgroup memory.
    matrices: HashSet<&'a str>,
    /// Whether matrices may be in threadgroup memory.
    free: bool,
}

impl<'a> Types<'a> {
    pub fn new(structs: &Structs<'a>, version: LanguageVersion) -> Self {
        let free = version >= LanguageVersion::V3_0;
        let mut matrices: HashSet<&str> = HashSet::new();
        // Structures hold others: until nothing is added, at most once a structure.
        for _ in 0..if free { 0 } else { structs.len() } {
            let before = matrices.len();
            for (name, members) in structs {
                let holds = |w: &&str| is_matrix(w) || matrices.contains(w);
                if members.iter().any(|m| !m.points() && m.ty().iter().any(holds)) {
                    matrices.insert(name);
                }
            }
            if matrices.len() == before {
                break;
            }
        }
        Self { matrices, free }
    }
}

/// Tokens `start..end` are a statement of a function.
pub(super) fn statement(
    s: &TokenStream<'_>,
    start: usize,
    end: usize,
    types: &Types<'_>,
    remarks: &mut Vec<(usize, String)>,
) {
    let mut words: Vec<&str> =
        (start..end.min(start + 64)).map(|k| s.str(k)).take_while(|w| !matches!(*w, "=" | "(" | "[" | "{")).collect();
    words.retain(|w| !matches!(*w, "const" | "volatile" | "metal" | "::"));
    let is_threadgroup = words.first() == Some(&"threadgroup");
    let ty = words.get(usize::from(is_threadgroup)..words.len().saturating_sub(1)).unwrap_or_default();
    if ty.is_empty() || words.iter().any(|w| matches!(*w, "*" | "&" | "." | "->" | "return" | "using" | "typedef")) {
        return;
    }
    if is_threadgroup {
        if !types.free && ty.iter().any(|w| is_matrix(w) || types.matrices.contains(w)) {
            let message = "a matrix has no default constructor in threadgroup memory before Metal 3.0";
            remarks.push((start, format!("{message}: '{}'", words.join(" "))));
        }
    } else if matches!(ty, ["atomic_int" | "atomic_uint" | "atomic_bool" | "atomic_ulong" | "atomic_float"])
        || matches!(ty, ["atomic", "<", ..])
    {
        remarks.push((start, format!("an atomic is in device or threadgroup memory: '{}'", words.join(" "))));
    }
}
