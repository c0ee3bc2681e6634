//! Tests of the preprocessor as a whole. Expected expansions are those of C11 6.10.3 or of DXC's `-P`.

use oneshader_diag::render::{Style, render};
use oneshader_diag::{Code, DiagnosticBag, SourceMap, codes};

use super::*;
use crate::lex::{Flags, TokenKind};

struct Run {
    out: Preprocessed,
    names: Interner,
    map: SourceMap,
    bag: DiagnosticBag,
}

impl Run {
    fn new(text: &str, files: &[(&str, &str)], options: &Options) -> Run {
        let (mut names, mut map, mut bag) = (Interner::new(), SourceMap::new(), DiagnosticBag::new());
        let loader = MemoryLoader::new(files.iter().copied()).dir("inc");
        let out = preprocess(("main.hlsl", text), options, &loader, &mut names, &mut map, &mut bag);
        Run { out, names, map, bag }
    }

    /// The tokens, one blank where there was white space or a new line.
    fn text(&self) -> String {
        let mut text = String::new();
        for (i, token) in self.out.tokens.iter().enumerate() {
            if i > 0 && token.kind != TokenKind::Eof && token.flags.intersects(Flags::SPACE | Flags::LINE_START) {
                text.push(' ');
            }
            text.push_str(token.text(&self.names));
        }
        text
    }

    fn codes(&self) -> Vec<Code> {
        self.bag.iter().map(|d| d.code).collect()
    }
}

fn run(text: &str) -> Run {
    Run::new(text, &[], &Options::default())
}

/// Expands without a word of complaint.
fn expand(text: &str) -> String {
    let run = run(text);
    assert!(run.bag.is_empty(), "{}", render(&run.map, &run.bag, Style::default()));
    run.text().trim().to_string()
}

#[test]
fn object_and_function_macros() {
    let cases = [
        ("#define A 1 + B\n#define B 2\nA;", "1 + 2;"),
        ("#define F(x, y) (x)*(y)\nF(a, (b, c))", "(a)*((b, c))"),
        ("#define F(x) [x]\nF() F( a  b ) F\n(z) F", "[] [a b] [z] F"),
        ("#define F() z\nF() F( )", "z z"),
        ("#define E\nE a E b", "a b"),
        ("#define F (x)\nF", "(x)"),
        ("#define A B\n#undef A\nA", "A"),
        ("#define F(x) x\n#define G F\nG(1)(2)", "1(2)"),
        ("#define \\\nA \\\n 5\nA", "5"),
        ("#define S(x) #x\nS( a  \"b\\n\" 'c'  + d )", "\"a \\\"b\\\\n\\\" 'c' + d\""),
        ("#define C(a,b) a##b\n#define X Y\nC(X,X) C(,) C(a,) C(,b) C(1,2)", "XX a b 12"),
        ("#define C(a,b) a##b\n#define D(a,b) C(a,b)\n#define X Y\nD(X,X)", "YY"),
        ("#define H(x) # x ## 1\nint", "int"),
        ("#define V(f, ...) f(x, ## __VA_ARGS__)\nV(a) V(a,b,c)", "a(x) a(x,b,c)"),
        ("#define V(...) [__VA_ARGS__]\nV() V(a) V(a, b)", "[] [a] [a, b]"),
        ("#define V(f, args...) f(args)\nV(g,1,2)", "g(1,2)"),
        ("#define P a ## b ## c\nP", "abc"),
        ("#define EQ(a) a ## =\nx EQ(+) EQ(<<)", "x += <<="),
        ("#define __VA_OPT__ 1\n__VA_OPT__", "1"),
    ];
    for (text, want) in cases {
        assert_eq!(expand(text), want, "{text}");
    }
}

#[test]
fn names_are_painted_as_in_the_standard() {
    // C11 6.10.3.5 example 3.
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
        #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n\
        #define r(x,y) x ## y\n#define str(x) # x\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };";
    let want = "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1); \
        f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1); \
        int i[] = { 1, 23, 4, 5, }; char c[2][6] = { \"hello\", \"\" };";
    assert_eq!(expand(text), want);
    assert_eq!(expand("#define foo foo + bar\n#define bar foo\nfoo bar"), "foo + foo foo + bar");
    assert_eq!(expand("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)"), "2*9*g");
    assert_eq!(expand("#define NIL(x) x\n#define G_0(a) NIL(G_1)(a)\n#define G_1(a) NIL(a)\nG_0(42)"), "42");
    assert_eq!(expand("#define a b\n#define b a\na b"), "a b");
}

#[test]
fn conditions() {
    let value = |condition: &str| {
        let text =
            format!("#define ONE 1\n#define F(x) x\n#define D defined(ONE)\n#if {condition}\nyes\n#else\nno\n#endif");
        expand(&text) == "yes"
    };
    for yes in [
        "1",
        "ONE",
        "defined ONE",
        "defined(ONE) && !defined TWO",
        "D",
        "F(1) == ONE",
        "2 * 3 + 1 == 7",
        "1 ? 1 : 0/0",
        "0 ? 0/0 : 1",
        "0 && 1/0 || 1",
        "-1 < 0",
        "-1 > 0u",
        "0xffffffffffffffff > 0",
        "(1 << 4) == 16",
        "~0 == -1",
        "'a' == 97",
        "10 % 4 == 2",
        "-7 / 2 == -3",
        "7 & 3 ^ 1 | 8",
        "!undefined",
        "true",
        "0b101 == 5",
        "1 == 1 != 0",
        "(-1 >> 1) == -1",
        "1, 2",
        "!!!0",
        "1 ? 0 ? 0 : 1 : 0",
        "__has_include(\"main.hlsl\") == 0",
        "defined(__has_include)",
        "__has_feature(x) == 0",
        "010 == 8",
        "2 > 1 > 0",
        "- - 1 == 1",
    ] {
        assert!(value(yes), "{yes}");
    }
    for no in ["0", "undefined", "false", "defined TWO", "1 - 1", "F(0)", "0 ? 1 : 0", "1 == 2"] {
        assert!(!value(no), "{no}");
    }
    for bad in ["", "1 +", "(1", "1 1", "1 / 0", "defined", "defined(", "\"s\"", "1.5", "1 ? 2", "8 = 8", "09"] {
        let run = run(&format!("#if {bad}\n#endif\n"));
        assert_eq!(run.codes(), [codes::BAD_PP_EXPRESSION], "{bad}");
    }
}

#[test]
fn groups_are_skipped() {
    let cases = [
        ("#if 0\na\n#elif 1\nb\n#elif 1\nc\n#else\nd\n#endif\ne", "b e"),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\n#else\nc\n#endif", "c"),
        ("#ifdef X\n#error no\n#endif\n#ifndef X\ny\n#endif", "y"),
        ("#if 0\nit's \"/*\n#endif\nz", "z"),
        ("#if 0\n/*\n#endif\n*/\n#endif\nz", "z"),
        ("#if 0\n// \\\n#endif\n#endif\nz", "z"),
        ("#if 1\na\n#else junk\n#endif", "a"),
        ("#if 0\n#elifdef A\nb\n#elifndef A\nc\n#endif", "c"),
        ("  #  if 1 // c\n a\n # /* d */ endif", "a"),
        ("#if 0\n#else\na\n#if 0\nb\n#endif\n#endif", "a"),
        ("#if 0\n#elif 0\n#else\na\n#endif", "a"),
        ("#if 1\n#elif 1/0\n#endif\na", "a"),
    ];
    for (text, want) in cases {
        assert_eq!(expand(text), want, "{text}");
    }
    for (bad, want) in [
        ("#if 1\n", codes::UNBALANCED_CONDITIONAL),
        ("#if 0\n", codes::UNBALANCED_CONDITIONAL),
        ("#endif\n", codes::UNBALANCED_CONDITIONAL),
        ("#else\n", codes::UNBALANCED_CONDITIONAL),
        ("#if 0\n#else\n#else\n#endif", codes::UNBALANCED_CONDITIONAL),
        ("#if 1\n#else\n#elif 1\n#endif", codes::UNBALANCED_CONDITIONAL),
        ("#nonsense", codes::UNKNOWN_DIRECTIVE),
        ("#define", codes::MALFORMED_DIRECTIVE),
        ("#define F(", codes::BAD_MACRO_DEFINITION),
        ("#define F(a,a) 1", codes::BAD_MACRO_DEFINITION),
        ("#define F(..., a) 1", codes::BAD_MACRO_DEFINITION),
        ("#define F(a) #b", codes::BAD_MACRO_DEFINITION),
        ("#define F ## a", codes::BAD_MACRO_DEFINITION),
        ("#define defined 1", codes::BAD_MACRO_DEFINITION),
        ("#define F(a) a\nF(1,2)", codes::MACRO_ARGUMENTS),
        ("#define F(a,b) a\nF(1)", codes::MACRO_ARGUMENTS),
        ("#define F(a) a\nF(1", codes::MACRO_ARGUMENTS),
        ("#define C(a,b) a##b\nC(+,x)", codes::BAD_PASTE),
        ("#error told you", codes::USER_ERROR),
        ("#include \"gone.h\"", codes::INCLUDE_NOT_FOUND),
        ("#include 7", codes::MALFORMED_DIRECTIVE),
        ("/* open", codes::UNTERMINATED_COMMENT),
        ("\"open", codes::UNTERMINATED_LITERAL),
        ("#pragma strange", codes::UNKNOWN_PRAGMA),
        ("#pragma pack_matrix(diagonal)", codes::BAD_PRAGMA),
        ("#define A 1\n#define A 2", codes::MACRO_REDEFINED),
        ("#undef __FILE__", codes::BUILTIN_MACRO),
        ("#warning careful", codes::USER_WARNING),
        ("#line x", codes::MALFORMED_DIRECTIVE),
    ] {
        assert_eq!(run(bad).codes(), [want], "{bad}");
    }
    assert!(run("#define A 1\n#define A  1\n#define F(x) x\n#define F(x) x").bag.is_empty());
}

#[test]
fn includes() {
    let files = [
        ("a.h", "#pragma once\na\n#include \"sub/b.h\"\n"),
        ("sub/b.h", "#ifndef B\n#define B\nb\n#include \"c.h\"\n#include \"../a.h\"\n#include \"b.h\"\n#endif\n"),
        ("sub/c.h", "c\n#include \"up.h\"\n"),
        ("up.h", "up\n"),
        ("inc/sys.h", "#if !defined(SYS)\n#define SYS\nsys\n#endif // SYS\n"),
        ("loop.h", "#include \"loop.h\"\n"),
    ];
    let run = |text: &str| Run::new(text, &files, &Options::default());
    let done =
        run("#include \"a.h\"\n#include \"a.h\"\n#include <sys.h>\n#include \"sys.h\"\n#include \"sub\\b.h\"\nend");
    assert_eq!(done.text().trim(), "a b c up sys end");
    assert!(done.bag.is_empty());
    let listed: Vec<&str> = done.out.includes.iter().map(|id| done.map.name(*id)).collect();
    assert_eq!(listed, ["a.h", "sub/b.h", "sub/c.h", "up.h", "inc/sys.h"]);
    assert_eq!(run("#include <a.h>\n#include <up.h>").codes(), [codes::INCLUDE_NOT_FOUND; 0]);
    let done = run("#define NAME \"up.h\"\n#define PATH <sys.h>\n#include NAME\n#include PATH\n");
    assert_eq!(done.text().trim(), "up sys");
    assert_eq!(run("#include \"loop.h\"").codes(), [codes::INCLUDE_TOO_DEEP]);
    let done = run("#if __has_include(\"up.h\") && !__has_include(<nope.h>)\nyes\n#endif");
    assert_eq!(done.text().trim(), "yes");
    let done = run("#define F(x) x\nF(\n#include \"up.h\"\n)");
    assert_eq!(done.codes(), [codes::MALFORMED_DIRECTIVE]);
    let done = run("#define F(a, b) a b\nF(1,\n#ifdef F\n2\n#else\n3\n#endif\n)");
    assert_eq!(done.text().trim(), "1 2");
}

#[test]
fn places_and_predefined_macros() {
    assert_eq!(expand("__LINE__ __FILE__\n#line 7 \"x.h\"\n__LINE__ __FILE__"), "1 \"main.hlsl\" 7 \"x.h\"");
    assert_eq!(expand("#define L __LINE__\n\nL"), "3");
    assert_eq!(expand("__COUNTER__ __COUNTER__"), "0 1");
    let options = Options {
        hlsl_version: 2018,
        stage: ShaderStage::Compute,
        shader_model: (6, 5),
        native_16bit: true,
        spirv: Some((1, 3)),
        defines: vec![Define::parse("A"), Define::parse("B=x+1"), Define::parse("F(x)=x x"), Define::Undef("A".into())],
        ..Options::default()
    };
    let text = "__HLSL_VERSION __SHADER_TARGET_STAGE __SHADER_STAGE_COMPUTE __SHADER_TARGET_MAJOR \
        __SHADER_TARGET_MINOR __HLSL_ENABLE_16_BIT __spirv__ __SPIRV_MINOR_VERSION__ __hlsl_dx_compiler A B F(y)";
    let done = Run::new(text, &[], &options);
    assert_eq!(done.text().trim(), "2018 5 5 6 5 1 1 3 1 A x+1 y y");
    assert_eq!(expand("__spirv__ __HLSL_ENABLE_16_BIT __cplusplus"), "__spirv__ __HLSL_ENABLE_16_BIT __cplusplus");
}

#[test]
fn tokens_of_macros_lie_at_the_invocation() {
    let done = run("#define F(x) 1 + x\n#define G F(2)\na F( b ) G");
    let spans: Vec<&str> = done.out.tokens.iter().map(|t| done.map.snippet(t.span)).collect();
    assert_eq!(spans, ["a", "F( b )", "F( b )", "b", "G", "G", "G", ""]);
    let call = done.out.tokens[1].span;
    assert_eq!(&*done.map.expansion_at(call).unwrap().name, "F");
    assert_eq!(done.map.expansion_at(done.out.tokens[0].span), None);
}

#[test]
fn pragmas_are_recorded() {
    let done = run(
        "a\n#pragma pack_matrix(row_major)\nb _Pragma(\"pack_matrix(column_major)\") c\n#pragma warning(disable: 3206)",
    );
    assert_eq!(done.out.packing, [(1, Packing::Row), (2, Packing::Column)]);
    assert!(done.bag.is_empty());
}

#[test]
fn budgets_end_what_would_not_end() {
    let doubling: String = (1..64).map(|i| format!("#define M{i} M{} M{}\n", i - 1, i - 1)).collect();
    let limits = Limits { expanded: 100_000, tokens: 50_000, bytes: 8 << 20, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let done = Run::new(&format!("#define M0 x\n{doubling}M63"), &[], &options);
    assert_eq!(done.codes(), [codes::EXPANSION_LIMIT]);
    let done = Run::new(&"x ".repeat(60_000), &[], &options);
    assert_eq!(done.codes(), [codes::TOKEN_LIMIT]);
    let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(5000), ")".repeat(5000));
    assert_eq!(Run::new(&nested, &[], &options).codes(), [codes::EXPANSION_LIMIT]);
    let parens = format!("#if {}1{}\n#endif", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(Run::new(&parens, &[], &options).codes(), [codes::BAD_PP_EXPRESSION]);
    let bangs = format!("#if {}1\n#endif", "!".repeat(50_000));
    assert!(Run::new(&bangs, &[], &options).bag.is_empty());
    let pasted = format!("#define D(a, b) a##b\n#define C(a) D(a, a)\n{}x{}", "C(".repeat(60), ")".repeat(60));
    assert_eq!(Run::new(&pasted, &[], &options).codes(), [codes::EXPANSION_LIMIT]);
    let quoted = format!("#define T(a) #a\n#define S(a) T(a)\n{}\"\"{}", "S(".repeat(60), ")".repeat(60));
    assert_eq!(Run::new(&quoted, &[], &options).codes(), [codes::EXPANSION_LIMIT]);
    let twice = "#include \"twice.h\"\n#include \"twice.h\"\n";
    let done = Run::new(twice, &[("twice.h", twice)], &options);
    assert_eq!(done.codes(), [codes::INCLUDE_TOO_DEEP, codes::INCLUDE_TOO_DEEP, codes::TOKEN_LIMIT]);
    let limits = Limits { bytes: 15_000, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let done = Run::new("#include \"big.h\"\n#include \"big.h\"", &[("big.h", &" ".repeat(5_000))], &options);
    assert_eq!(done.codes(), [codes::TOKEN_LIMIT]);
}

#[test]
fn printing_keeps_the_tokens() {
    let files = [("a.h", "int a;\n\n\n#pragma pack_matrix(row_major)\nint b = - -1;\n")];
    let text =
        "#define N(x) -x\n#define E\n\n\n\n\n\n\n\n\n\n\n#include \"a.h\"\nint c = N(-1) +E+ 1;\nfloat d = 1.E x;\n";
    let first = Run::new(text, &files, &Options::default());
    let printed = print(&first.out, &first.names, &first.map);
    let second = run(&printed);
    let spell = |run: &Run| -> Vec<String> { run.out.tokens.iter().map(|t| t.text(&run.names).to_string()).collect() };
    assert_eq!(spell(&first), spell(&second), "{printed}");
    assert_eq!(second.out.packing, [(3, Packing::Row)]);
    assert!(printed.contains("#line 13 \"main.hlsl\"") || printed.contains("#line 14 \"main.hlsl\""), "{printed}");
}
