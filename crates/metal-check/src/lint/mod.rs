//! The lint: what clang ignores in Metal source, by tokens.
//!
//! - [`attributes`]: names and arguments of `[[...]]` (MSL 5.2), attributes of struct members;
//! - [`entry`]: parameters and results of `kernel`, `vertex` and `fragment` functions (MSL 5.1, 5.2, 5.8);
//! - [`stages`]: structures that go from stage to stage (MSL 5.2.3, 5.2.4);
//! - [`spaces`]: pointers and references without an address space, variables outside `constant` (MSL 4);
//! - [`variables`]: variables that Metal's library cannot make;
//! - [`words`]: what Metal leaves out of C++ (MSL 1.5.4).
mod attributes;
mod entry;
mod spaces;
mod stages;
mod structs;
mod variables;
mod words;

use crate::lex::TokenStream;
use crate::version::LanguageVersion;

/// More than anybody reads.
const MAX_REMARKS: usize = 200;

/// Something the lint found, at a byte of the text it was given.
pub(crate) struct Remark {
    pub offset: usize,
    pub message: String,
}

/// What the rules share.
struct Lint<'a> {
    /// The text's tokens without preprocessor lines.
    s: TokenStream<'a>,
    version: LanguageVersion,
    remarks: Vec<Remark>,
}

impl Lint<'_> {
    /// Notes something wrong at token `i`.
    fn remark(&mut self, i: usize, message: impl Into<String>) {
        let offset = self.s.tokens.get(i).map_or(self.s.text.len(), |t| t.start);
        self.remarks.push(Remark { offset, message: message.into() });
    }
}

/// Checks `text` for what clang cannot see.
pub(crate) fn lint(text: &str, version: LanguageVersion) -> Vec<Remark> {
    let mut remarks = words::unincluded(&TokenStream::new(text));
    let s = TokenStream::code(text);
    let mut lint = Lint { s, version, remarks: Vec::new() };
    words::brackets(&mut lint);
    // Where brackets do not pair, everything after is guesswork.
    if lint.remarks.is_empty() {
        attributes::check(&mut lint);
        entry::check(&mut lint);
        let structs = structs::structs(&lint.s);
        stages::check(&mut lint, &structs);
        spaces::check(&mut lint, &variables::Types::new(&structs, version));
        words::check(&mut lint);
    }
    remarks.append(&mut lint.remarks);
    remarks.truncate(MAX_REMARKS);
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages for a text, in order of place.
    fn messages(text: &str) -> Vec<String> {
        let mut remarks = lint(text, LanguageVersion::V2_4);
        remarks.sort_by_key(|r| r.offset);
        remarks.into_iter().map(|r| r.message).collect()
    }

    #[test]
    fn accepts_what_metal_accepts() {
        for text in [
            "kernel void f(device float* p [[buffer(0)]], constant uint& n [[buffer(1)]], uint3 i [[thread_position_in_grid]]) {}",
            "[[kernel]] void f(texture2d<float, access::write> t, sampler s, device int* p) {}",
            "constant float a = 1; static constant int b[] = {1}; constexpr sampler c(coord::pixel);",
            "void f(thread float& a, float (&b)[4]) { threadgroup float* p = 0; a = a * b[0]; }",
            "struct S { float4 p [[position]]; float2 u [[user(locn0), flat]]; };",
            "template<typename T> T f(thread T* x) { return *x; }",
            "fragment float4 f(float4 c [[color(0)]], bool b [[front_facing]]) { return b ? c : -c; }",
        ] {
            assert_eq!(messages(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn survives_text_that_does_not_parse() {
        for text in [
            "[[",
            "kernel",
            "kernel void f(",
            "[[buffer(",
            "kernel void f(device float* p [[buffer(0)",
            "}}}{{",
            "struct S { [[",
            "static",
        ] {
            let _ = messages(text);
        }
    }
}
