//! `precise` in Metal text holds whatever the host's math mode (M27): compiled with -ffast-math, the arithmetic of a precise
//! function may be neither reassociated nor contracted, while the other flags of fast math stay.

use std::process::Command;

use oneshader::{CompileTarget, Options, Source, compile};

const SOURCE: &str = "
RWStructuredBuffer<float> data;

float Sum(float a, float b, float c)
{
    precise float sum = a * b + c;
    return sum + a;
}

float Loose(float a, float b, float c)
{
    return a * b + c;
}

[numthreads(1, 1, 1)]
void main()
{
    data[0] = Sum(data[1], data[2], data[3]) + Loose(data[1], data[2], data[3]);
}
";

/// The text of a function without parameters of Metal's own, as plain C++.
fn function(text: &str, name: &str) -> String {
    let from = text.find(&format!("float {name}(")).unwrap_or_else(|| panic!("no function {name} in:\n{text}"));
    let len = text[from..].find("\n}\n").expect("an end of the function") + 3;
    format!("extern \"C\" {}", &text[from..from + len])
}

/// The arithmetic instructions of a function compiled with -ffast-math.
fn arithmetic(code: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.cpp");
    std::fs::write(&file, code).unwrap();
    let clang = std::env::var("METAL_CHECK_CLANG").unwrap_or_else(|_| "clang-19".into());
    let out = Command::new(&clang)
        .args(["-x", "c++", "-ffast-math", "-O1", "-S", "-emit-llvm", "-o", "-"])
        .arg(&file)
        .output()
        .unwrap_or_else(|e| panic!("{clang} is needed: {e}"));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let ir = String::from_utf8(out.stdout).unwrap();
    ir.lines().filter(|l| l.contains(" = fadd ") || l.contains(" = fmul ")).map(str::to_owned).collect()
}

#[test]
fn fast_math_neither_reassociates_nor_contracts_precise_arithmetic() {
    let options = Options::new(CompileTarget::Msl).profile("cs_6_0").unwrap().entry("main");
    let output = compile(&Source::new("precise.hlsl", SOURCE), &options).unwrap();
    let text = output.text("main").unwrap();

    let precise = arithmetic(&function(text, "Sum"));
    assert_eq!(precise.len(), 3, "{precise:?}");
    for line in &precise {
        assert!(!line.contains(" reassoc") && !line.contains(" contract") && !line.contains(" fast "), "{line}");
        for flag in ["nnan", "ninf", "nsz", "arcp", "afn"] {
            assert!(line.contains(flag), "{flag} is gone from {line}");
        }
    }
    // Without `precise` fast math is fast.
    let loose = arithmetic(&function(text, "Loose"));
    assert!(!loose.is_empty() && loose.iter().all(|l| l.contains(" fast ")), "{loose:?}");
}
