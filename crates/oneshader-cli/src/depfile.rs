//! Depfiles: the files an output was made from, as a rule of make.

use std::path::{Path, PathBuf};

use oneshader::Source;
use oneshader::args::{Depend, Invocation};

/// Where the depfile goes: `-MF`, or the output's name (else the source's) with `.d`.
pub fn path(invocation: &Invocation, source: &Source) -> PathBuf {
    debug_assert!(invocation.depend != Depend::None);
    match (&invocation.depfile, &invocation.object) {
        (Some(path), _) => path.clone(),
        (None, Some(object)) if object.as_os_str() != "-" => object.with_extension("d"),
        _ => Path::new(&*source.name).with_extension("d"),
    }
}

/// The rule: the output depends on the source and everything it includes. Each included file also is a target without
/// dependencies, so that deleting one does not break the build.
pub fn text(invocation: &Invocation, source: &Source, includes: &[String]) -> String {
    let target = match &invocation.object {
        Some(object) if object.as_os_str() != "-" => object.to_string_lossy().into_owned(),
        _ => Path::new(&*source.name).with_extension("o").to_string_lossy().into_owned(),
    };
    let mut text = format!("{}: {}", escape(&target), escape(&source.name));
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
        let words = ["-MD", "-Fo", "out dir/a.metal", "x.hlsl"].map(String::from);
        let invocation = Invocation::parse(words).unwrap();
        let source = Source::new("x.hlsl", "");
        let rule = text(&invocation, &source, &["inc/a#1.hlsli".into(), "$b.h".into()]);
        assert_eq!(rule, "out\\ dir/a.metal: x.hlsl \\\n  inc/a\\#1.hlsli \\\n  $$b.h\n\ninc/a\\#1.hlsli:\n\n$$b.h:\n");
        assert_eq!(path(&invocation, &source), PathBuf::from("out dir/a.d"));
    }
}
