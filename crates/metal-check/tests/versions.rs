//! Every language version: the headers compile, for checking and for running, and declare what the version has.
use metal_check::run::Executor;
use metal_check::{Checker, LanguageVersion, Options};

#[test]
fn headers_of_every_version() {
    for version in LanguageVersion::ALL {
        let options = Options { version, ..Options::default() };
        let checker = Checker::new(options.clone()).unwrap_or_else(|e| panic!("{version}: {e}"));
        Executor::new(options).unwrap_or_else(|e| panic!("{version}: {e}"));
        // What each version brought, by a declaration that needs it.
        let declares = |text: &str| {
            let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{text}\n");
            checker.check_text("v.metal", &text).expect("clang runs").passed()
        };
        let since =
            |first: LanguageVersion, text: &str| assert_eq!(declares(text), version >= first, "{version}: {text}");
        since(
            LanguageVersion::V2_4,
            "void f(device atomic_ulong* p) { atomic_max_explicit(p, 1ul, memory_order_relaxed); }",
        );
        since(LanguageVersion::V3_0, "constant atomic_float* f(constant atomic_float* p) { return p; }");
        since(
            LanguageVersion::V3_0,
            "void f(mesh<float4, void, 3, 1, topology::triangle> m) { m.set_primitive_count(1); }",
        );
        since(LanguageVersion::V3_1, "bfloat f(bfloat x) { return x + x; }");
        since(LanguageVersion::V3_1, "float f(float x) { return nextafter(x, 1.0); }");
        since(
            LanguageVersion::V3_1,
            "void f(texture2d<uint, access::read_write> t) { t.atomic_fetch_or(uint2(0), uint4(1)); }",
        );
        since(
            LanguageVersion::V3_2,
            "void f() { atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device); }",
        );
        since(LanguageVersion::V3_2, "void f() { os_log_default.log(\"x\"); }");
    }
}
