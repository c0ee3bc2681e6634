//! Texts that once made the compiler crash or ran without end are refused with a code.

use oneshader::{CompileTarget, Options, Source, compile};

/// Text, and the code it is refused with.
const TEXTS: &[(&str, &str)] = &[
    // A structure would hold itself: the one inside is another, and may not have the name of the one around it.
    ("struct A { int x; struct A { int y; }; A a; };", "OSH2002"),
    ("struct A { int x; struct B { struct A { int y; }; A a; }; B b; };", ""),
    ("template<typename T> struct A { T x; struct A { int y; }; A a; }; static A<int> a;", "OSH2002"),
    ("struct A { int x; A a; };", "OSH2031"),
    // Entry points inside entry points: the one inside lowered the one around it again, each as often as there were.
    ("void main() { void main() { } void main() { } void main() { } void main() { } }", "OSH1113"),
];

#[test]
fn hostile_texts_are_refused() {
    for (text, code) in TEXTS {
        let text = format!("{text}\n[numthreads(1, 1, 1)] void main() {{}}\n");
        let options = Options::new(CompileTarget::Msl).profile("cs_6_0").unwrap().entry("main");
        match compile(&Source::new("hostile.hlsl", text.as_str()), &options) {
            Ok(_) => assert!(code.is_empty(), "{text} compiles"),
            Err(failure) => assert!(!code.is_empty() && failure.to_string().contains(code), "{text}{failure}"),
        }
    }
}
