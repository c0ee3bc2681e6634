//! `docs/optimizer.md` has the tables of the code; `BLESS=1` writes them anew.

use oneshader_opt::{PASSES, Pipeline, Step};
use std::fmt::Write;

const BEGIN: &str = "<!-- tables: BLESS=1 cargo test -p oneshader-opt --test docs -->\n";

fn tables() -> String {
    let mut out = String::from("| pass | what it does | runs after |\n|---|---|---|\n");
    for pass in PASSES {
        let after: Vec<String> = pass.after.iter().map(|a| format!("`{a}`")).collect();
        let _ = writeln!(out, "| `{}` | {} | {} |", pass.name, pass.about, after.join(", "));
    }
    out.push_str("\n| pipeline | passes |\n|---|---|\n");
    for (name, pipeline) in Pipeline::ALL {
        let steps: Vec<String> = pipeline
            .steps
            .iter()
            .map(|step| match step {
                Step::Pass(pass) => format!("`{pass}`"),
                Step::Repeat(times, passes) => {
                    let passes: Vec<String> = passes.iter().map(|p| format!("`{p}`")).collect();
                    format!("up to {times} times ({})", passes.join(", "))
                }
            })
            .collect();
        let _ = writeln!(out, "| {name} | {} |", steps.join(", "));
    }
    out
}

#[test]
fn the_page_has_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/optimizer.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (head, found) = page.split_once(BEGIN).expect("the page has the mark of its tables");
    let expected = tables();
    if found == expected {
        return;
    }
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, format!("{head}{BEGIN}{expected}")).unwrap();
        return;
    }
    panic!("docs/optimizer.md is out of step: BLESS=1 cargo test -p oneshader-opt --test docs");
}
