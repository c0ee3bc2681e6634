//! `oneshader explain`, `layout` and `link`.

use oneshader::Reflection;
use oneshader::args::Invocation;
use oneshader::diag::{Code, codes};

use crate::output::{Reporter, write};
use crate::{Stop, failed, one_input};

/// A subcommand: takes the words after its name.
type Subcommand = fn(&[String]) -> Result<(), Stop>;

const SUBCOMMANDS: &[(&str, Subcommand)] = &[("explain", explain), ("layout", layout), ("link", link)];

/// The subcommand of a name.
pub fn find(name: &str) -> Option<Subcommand> {
    SUBCOMMANDS.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

/// `oneshader explain OSH5105`: what codes mean; without one, the list of codes.
fn explain(words: &[String]) -> Result<(), Stop> {
    let mut text = String::new();
    if words.is_empty() {
        for row in codes::SECTIONS.iter().flat_map(|section| section.rows) {
            text.push_str(&format!("{}  {}\n", row.code, row.title));
        }
    }
    for word in words {
        let code =
            Code::parse(word).ok_or_else(|| format!("{word} is no code of this compiler; explain lists them"))?;
        let info = code.info();
        text.push_str(&format!("{code} ({}): {}\n\n{}\n\n", info.severity, info.title, info.explanation));
    }
    Ok(write(None, text.as_bytes())?)
}

/// `oneshader layout ...`: the command line of a compile; prints the bytes of every buffer.
fn layout(words: &[String]) -> Result<(), Stop> {
    let invocation = Invocation::parse(words.to_vec())?;
    let reporter = Reporter::new(&invocation);
    let source = one_input(&invocation)?;
    let lowered = oneshader::lower(&source, &invocation.options).map_err(|f| failed(&f, &reporter))?;
    reporter.report(&lowered.diagnostics, &lowered.sources);
    write(invocation.layout.as_deref(), lowered.layout_table(&invocation.options).as_bytes())?;
    Ok(())
}

/// `oneshader link vs.json ps.json`: whether the outputs of one stage are the inputs of the next.
fn link(words: &[String]) -> Result<(), Stop> {
    let [from, to] = words else {
        return Err(Stop::Usage("link takes two files of reflection: link vs.json ps.json".into()));
    };
    let read = |path: &String| -> Result<Reflection, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"))?;
        Reflection::from_json(&text).map_err(|e| format!("{path}: {e}"))
    };
    let problems = oneshader::link(&read(from)?, &read(to)?);
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    if problems.is_empty() { Ok(()) } else { Err(Stop::Input) }
}
