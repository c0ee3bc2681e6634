//! Depfiles: the files an output was made from, as a rule of make.

use std::path::{Path, PathBuf};

use oneshader::Source;
use oneshader::args::{Depend, Invocation};

use crate::output::{self, extension, is_dir};

/// Writes the rule for the outputs `written`; with none, for the name that the output would have.
pub fn write(invocation: &Invocation, source: &Source, written: &[PathBuf], includes: &[String]) -> Result<(), String> {
    let default = [Path::new(&*source.name).with_extension(extension(invocation.options.target))];
    let targets = if written.is_empty() { &default[..] } else { written };
    output::write(path(invocation, source).as_deref(), rule(targets, source, includes).as_bytes())
}

/// Where the depfile goes: `-MF`; else standard output (`None`) for `-M`, and for `-MD` the output's name (else the
/// source's) with `.d`, in the directory where several outputs go.
fn path(invocation: &Invocation, source: &Source) -> Option<PathBuf> {
    let beside_source = Path::new(&*source.name).with_extension("d");
    match (&invocation.depfile, invocation.depend, &invocation.object) {
        (Some(path), _, _) => Some(path.clone()),
        (None, Depend::Print, _) => None,
        (None, _, Some(dir)) if is_dir(dir) => Some(dir.join(beside_source.file_name().unwrap_or_default())),
        (None, _, Some(object)) if object.as_os_str() != "-" => Some(object.with_extension("d")),
        _ => Some(beside_source),
    }
}

/// The outputs depend on the source and everything it includes. Each included file also is a target without dependencies,
/// so that deleting one does not break the build.
fn rule(targets: &[PathBuf], source: &Source, includes: &[String]) -> String {
    let targets: Vec<String> = targets.iter().map(|target| escape(&target.to_string_lossy())).collect();
    let mut text = format!("{}: {}", targets.join(" "), escape(&source.name));
    for file in includes {
        text.push_str(" \\\n  ");
        text.push_str(&escape(file));
    }
    text.push('\n');
    for file in includes {
        text.push_str(&format!("\n{}:\n", escape(file)));
    }
    text
}

/// Spaces, `#` and `$` as make wants them.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ' ' | '#' => out.extend(['\\', c]),
            '$' => out.push_str("$$"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_listed() {
        let text =
            rule(&["out dir/a.metal".into()], &Source::new("x.hlsl", ""), &["inc/a#1.hlsli".into(), "$b.h".into()]);
        assert_eq!(text, "out\\ dir/a.metal: x.hlsl \\\n  inc/a\\#1.hlsli \\\n  $$b.h\n\ninc/a\\#1.hlsli:\n\n$$b.h:\n");
    }

    #[test]
    fn the_place_follows_the_output() {
        let place = |line: &str| {
            let invocation = Invocation::parse(line.split(' ').map(String::from)).unwrap();
            path(&invocation, &Source::new("dir/x.hlsl", ""))
        };
        assert_eq!(place("-MD -Fo out/a.metal x"), Some("out/a.d".into()));
        assert_eq!(place("-MD -Fo no-such-dir/ x"), Some("no-such-dir/x.d".into()));
        assert_eq!(place("-MD -Fo - x"), Some("dir/x.d".into()));
        assert_eq!(place("-MD x"), Some("dir/x.d".into()));
        assert_eq!(place("-MF y.d -Fo out/a.metal x"), Some("y.d".into()));
        assert_eq!(place("-M -MF y.d x"), Some("y.d".into()));
        assert_eq!(place("-M -Fo a.metal x"), None);
    }
}
