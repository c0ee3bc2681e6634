//! How far metal-check can be trusted, measured on Metal that other compilers emit.
//!
//! `METAL_CHECK_SUITE=DIR cargo run --release -p metal-check --example calibrate -- accept|mutate [COUNT]`
//!
//! DIR is a checkout of such texts: SPIRV-Cross's `reference`, Tint's `*.expected.msl`, naga's `tests/out/msl`. Every
//! file with a vertex, fragment or kernel function counts; Tint's files that hold several texts are split. `accept`
//! prints what fails; `mutate` changes one token of COUNT texts that pass and prints what still passes. With
//! `METAL_CHECK_KEEP=DIR` the mutated texts are written there.
use metal_check::{Checker, LanguageVersion, Options};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let suite = std::env::var_os("METAL_CHECK_SUITE").ok_or("set METAL_CHECK_SUITE to a checkout")?;
    let mut args = std::env::args().skip(1);
    let mode = args.next().ok_or("say accept or mutate")?;
    let count: usize = args.next().map_or(Ok(usize::MAX), |n| n.parse())?;
    let checker = Checker::new(Options { version: LanguageVersion::V3_2, ..Options::default() })?;
    let mut texts = Vec::new();
    collect(Path::new(&suite), &mut texts)?;
    match mode.as_str() {
        "accept" => accept(&checker, spread(texts, count)),
        "mutate" => mutate(&checker, spread(texts, 4 * count.min(100_000)), count),
        _ => Err("say accept or mutate".into()),
    }
}

/// At most `count` of `texts`, evenly.
fn spread(texts: Vec<(String, String)>, count: usize) -> Vec<(String, String)> {
    let step = texts.len().div_ceil(count.max(1)).max(1);
    texts.into_iter().step_by(step).collect()
}

/// Adds the texts below `path`, by name.
fn collect(path: &Path, texts: &mut Vec<(String, String)>) -> Result<(), Failure> {
    if path.is_dir() {
        let mut entries = std::fs::read_dir(path)?.map(|e| Ok(e?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|e| collect(e, texts));
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    if text.starts_with("SKIP") || !text.contains("<metal_stdlib>") {
        return Ok(());
    }
    // Tint writes `//`, `// entry`, `//` before each text of a file with several.
    for (i, part) in text.split("#include <metal_stdlib>").skip(1).enumerate() {
        let head = if i == 0 { text.split("#include <metal_stdlib>").next().unwrap_or("") } else { "" };
        let head: String = head.lines().filter(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        if tokens(part)
            .iter()
            .any(|&(a, b)| matches!(&part[a..b], "kernel" | "vertex" | "fragment" | "mesh" | "object"))
        {
            texts.push((format!("{}#{i}", path.display()), format!("{head}#include <metal_stdlib>{part}")));
        }
    }
    Ok(())
}

fn accept(checker: &Checker, texts: Vec<(String, String)>) -> Result<(), Failure> {
    let reports = texts.par_iter().map(|(name, text)| checker.check_text(name, text)).collect::<Result<Vec<_>, _>>()?;
    for report in reports.iter().filter(|r| !r.passed()) {
        println!("{}: {}", report.name, report.findings[0]);
    }
    let passed = reports.iter().filter(|r| r.passed()).count();
    println!("accepted {passed} of {} ({:.2}%)", reports.len(), 100.0 * passed as f64 / reports.len() as f64);
    Ok(())
}

/// A small generator (xorshift64*), so that a run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

const KINDS: [&str; 5] = ["misspell", "delete", "repeat", "swap", "replace"];

fn mutate(checker: &Checker, texts: Vec<(String, String)>, count: usize) -> Result<(), Failure> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut mutants = Vec::new();
    for (name, text) in texts {
        if mutants.len() >= count {
            break;
        }
        let kind = mutants.len() % KINDS.len();
        if let Some(mutant) = change(&text, kind, &mut random)
            && checker.check_text(&name, &text)?.passed()
        {
            mutants.push((kind, name, mutant));
        }
    }
    let reports =
        mutants.par_iter().map(|(_, name, (_, text))| checker.check_text(name, text)).collect::<Result<Vec<_>, _>>()?;
    let keep = std::env::var_os("METAL_CHECK_KEEP");
    let mut table = [[0usize; 2]; KINDS.len()];
    for (i, ((kind, name, (what, text)), report)) in mutants.iter().zip(&reports).enumerate() {
        table[*kind][usize::from(report.passed())] += 1;
        if report.passed() {
            println!("{}: {name}: {what}", KINDS[*kind]);
        }
        if let Some(dir) = &keep {
            let verdict = if report.passed() { "pass" } else { "fail" };
            std::fs::write(Path::new(dir).join(format!("{i:05}-{}-{verdict}.metal", KINDS[*kind])), text)?;
        }
    }
    for (name, [rejected, passed]) in KINDS.iter().zip(table) {
        println!("{name:10} rejected {rejected} of {}", rejected + passed);
    }
    let rejected: usize = table.iter().map(|t| t[0]).sum();
    println!(
        "rejected {rejected} of {} ({:.2}%)",
        reports.len(),
        100.0 * rejected as f64 / reports.len().max(1) as f64
    );
    Ok(())
}

/// Words whose order in a declaration is free.
const SPECIFIERS: [&str; 14] = [
    "const",
    "constant",
    "constexpr",
    "device",
    "fragment",
    "inline",
    "kernel",
    "static",
    "thread",
    "threadgroup",
    "vertex",
    "void",
    "volatile",
    "float",
];

/// Changes one token of the code; what was done, and the text.
///
/// Changes that give another right text are not made, where that is plain to see: a name that is used once is not
/// misspelled, a semicolon is not repeated, words of a declaration are neither swapped nor repeated, a conversion is
/// not removed.
fn change(text: &str, kind: usize, random: &mut Random) -> Option<(String, String)> {
    let tokens = tokens(text);
    for _ in 0..50 {
        let i = random.below(tokens.len().saturating_sub(1));
        let (a, b) = *tokens.get(i)?;
        let (c, d) = *tokens.get(i + 1)?;
        let (token, next) = (&text[a..b], &text[c..d]);
        let (x, y) = tokens[random.below(tokens.len())];
        let other = &text[x..y];
        let word = token.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_');
        let (end, new) = match kind {
            0 if word && tokens.iter().filter(|&&(a, b)| &text[a..b] == token).count() > 1 => (b, format!("{token}q")),
            1 if token != "const" && !(word && next == "(" && token.ends_with(|c: char| c.is_ascii_digit())) => {
                (b, String::new())
            }
            2 if !matches!(token, ";" | "{" | "}") && !SPECIFIERS.contains(&token) => (b, format!("{token} {token}")),
            3 if token != next && !SPECIFIERS.contains(&token) && !SPECIFIERS.contains(&next) => {
                (d, format!("{next} {token}"))
            }
            4 if token != other => (b, other.to_owned()),
            _ => continue,
        };
        let line = text[..a].matches('\n').count() + 1;
        let what = format!("line {line}: '{}' -> '{new}' in '{}'", &text[a..end], text.lines().nth(line - 1)?.trim());
        return Some((what, format!("{}{new}{}", &text[..a], &text[end..])));
    }
    None
}

/// The tokens of code: no comments, no preprocessor lines.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let rest = &text[i..];
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        i += match bytes[i] {
            b'#' => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
            b if b.is_ascii_whitespace() => 1,
            b'"' => {
                let n = rest[1..].find('"').map_or(rest.len(), |n| n + 2);
                out.push((i, i + n));
                n
            }
            b if word(&b) => {
                let n = bytes[i..].iter().take_while(|b| word(b) || **b == b'.' && bytes[i].is_ascii_digit()).count();
                out.push((i, i + n));
                n
            }
            _ => {
                let two = ["::", "->", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "++", "--", "<<"];
                let n = if two.iter().any(|t| rest.starts_with(t)) {
                    2
                } else {
                    rest.chars().next().map_or(1, char::len_utf8)
                };
                out.push((i, i + n));
                n
            }
        };
    }
    out
}
