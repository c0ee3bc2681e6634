//! What can be done with an input.

use oneshader_diag::DiagnosticBag;
use oneshader_ir::text::{parse, print};
use oneshader_ir::{IrModule, verify};
use oneshader_opt::{Config, Cx, Pipeline};

/// The output, or `None` for a command that checks the input itself.
pub fn run(words: &[&str], input: &str) -> Result<Option<String>, String> {
    match words {
        ["print"] => {
            let text: String = input.lines().skip(1).map(|l| format!("{l}\n")).collect();
            let printed = print(&read(input)?);
            match printed == text {
                true => Ok(None),
                false => Err(crate::difference(&text, &printed)),
            }
        }
        ["verify"] => Ok(Some(match verify(&read(input)?, "the test's input") {
            Ok(()) => "legal".into(),
            Err(report) => report.errors.iter().map(|e| format!("{e}\n")).collect(),
        })),
        ["pass", names @ ..] if !names.is_empty() => {
            let mut module = legal(input)?;
            let mut bag = DiagnosticBag::new();
            for name in names {
                let pass = oneshader_opt::find(name).ok_or_else(|| format!("there is no pass {name}"))?;
                let config = Config { verify: true, ..Config::default() };
                let mut cx = Cx { config, bag: &mut bag };
                oneshader_opt::run_pass(&mut module, pass, &mut cx).map_err(|r| format!("{r}\n{}", print(&module)))?;
            }
            Ok(Some(with_messages(&module, &bag)))
        }
        ["pipeline", name] => {
            let mut module = legal(input)?;
            let (_, pipeline) =
                Pipeline::ALL.iter().find(|(n, _)| n == name).ok_or_else(|| format!("there is no pipeline {name}"))?;
            let mut bag = DiagnosticBag::new();
            let config = Config { verify: true, ..Config::default() };
            oneshader_opt::run(&mut module, *pipeline, config, &mut bag)
                .map_err(|r| format!("{r}\n{}", print(&module)))?;
            Ok(Some(with_messages(&module, &bag)))
        }
        _ => Err(format!("there is no command {}", words.join(" "))),
    }
}

fn read(input: &str) -> Result<IrModule, String> {
    parse(input).map_err(|e| e.to_string())
}

fn legal(input: &str) -> Result<IrModule, String> {
    let module = read(input)?;
    verify(&module, "the test's input").map_err(|e| e.to_string())?;
    Ok(module)
}

fn with_messages(module: &IrModule, bag: &DiagnosticBag) -> String {
    let messages: String = bag.iter().map(|d| format!("{} {}: {}\n", d.severity, d.code, d.message)).collect();
    messages + &print(module)
}
