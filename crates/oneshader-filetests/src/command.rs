//! What can be done with an input.

use metal_check::{Checker, LanguageVersion};
use oneshader::args::Invocation;
use oneshader::{Code, CompileTarget, Options, Source};
use oneshader_diag::DiagnosticBag;
use oneshader_ir::text::{parse, print};
use oneshader_ir::{IrModule, verify};
use oneshader_msl::{MslBackend, MslOptions};
use oneshader_opt::{Config, Cx, Pipeline};

/// What a command makes of HLSL.
pub fn run_hlsl(words: &[&str], input: &str) -> Result<String, String> {
    let source = Source::new("test.hlsl", input);
    match words {
        ["hlsl", flags @ ..] => match oneshader::lower(&source, &options(flags)?) {
            Ok(lowered) => Ok(with_messages(&lowered.module, &lowered.diagnostics)),
            Err(failure) => Ok(failure.to_string()),
        },
        ["msl", flags @ ..] => {
            let options = Options { target: CompileTarget::Msl, ..options(flags)? };
            let output = match oneshader::compile(&source, &options) {
                Ok(output) => output,
                Err(failure) => return Ok(failure.to_string()),
            };
            let texts = output.artifacts.iter().filter_map(|artifact| match &artifact.code {
                Code::Msl(text) => Some(text.as_str()),
                Code::Spirv(_) => None,
            });
            checked(texts.collect::<Vec<_>>().join("\n"), &options.msl)
        }
        _ => Err(format!("there is no command {}", words.join(" "))),
    }
}

/// What a command makes of a module: the output, or `None` for a command that checks the input itself.
pub fn run_ir(words: &[&str], input: &str) -> Result<Option<String>, String> {
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
                let mut cx = Cx::new(config, &mut bag);
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
        ["msl", flags @ ..] => {
            let module = legal(input)?;
            let options = options(flags)?;
            let msl = MslOptions { layout: options.layout, slots: options.slots, ..options.msl };
            let mut bag = DiagnosticBag::new();
            let entries = module.entry_points.iter().map(|entry| module.names.get(entry.name));
            let texts: Vec<String> = entries
                .filter(|name| options.entries.is_empty() || options.entries.iter().any(|wanted| wanted == name))
                .filter_map(|name| MslBackend::emit(&module, name, &msl, &mut bag).map(|output| output.source))
                .collect();
            if bag.has_errors() {
                return Ok(Some(messages(&bag)));
            }
            checked(texts.join("\n"), &msl).map(Some)
        }
        _ => Err(format!("there is no command {}", words.join(" "))),
    }
}

fn options(flags: &[&str]) -> Result<Options, String> {
    Ok(Invocation::parse(flags.iter().map(|flag| flag.to_string()))?.options)
}

/// The text, once `metal-check` accepts it with and without the layout asserts.
fn checked(text: String, options: &MslOptions) -> Result<String, String> {
    let version: LanguageVersion = options.version.text().parse().map_err(|e| format!("{e:?}"))?;
    for check_layout in [false, true] {
        let options = metal_check::Options { version, check_layout, ..Default::default() };
        let checker = Checker::new(options).map_err(|e| e.to_string())?;
        let report = checker.check_text("test.metal", &text).map_err(|e| e.to_string())?;
        if !report.passed() {
            return Err(format!("{report}\n{text}"));
        }
    }
    Ok(text)
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
    messages(bag) + &print(module)
}

fn messages(bag: &DiagnosticBag) -> String {
    bag.iter().map(|d| format!("{} {}: {}\n", d.severity, d.code, d.message)).collect()
}
