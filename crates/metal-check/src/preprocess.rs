//! The preprocessor, run before anything looks at a text: macros and conditionals are resolved, the caller's own
//! includes are there, and the standard library's headers, which declare no macro yet, stay away.
//!
//! A text without directives of its own (most that a compiler emits) skips this step.
use crate::clang::{self, Clang};
use crate::lex::{TokenKind, TokenStream};
use crate::{Error, Options};
use std::borrow::Cow;
use std::path::Path;

/// A text ready to be read, which knows where its lines come from.
pub(crate) struct Source<'a> {
    pub text: Cow<'a, str>,
    /// For each line of `text`: index into `files` and line there. Empty: the text is the original.
    origins: Vec<(u32, u32)>,
    /// Names of files; the first stands for the original.
    files: Vec<String>,
    original: &'a str,
}

/// A place in a file of the caller.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The included file, or `None` for the text itself.
    pub file: Option<String>,
    pub line: u32,
    pub column: u32,
}

impl<'a> Source<'a> {
    fn unchanged(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), origins: Vec::new(), files: vec![String::new()], original: text }
    }

    /// Where line and column (1-based) of `self.text` come from.
    pub fn place(&self, line: u32, column: u32) -> Place {
        let Some(&(file, source)) = self.origins.get((line as usize).saturating_sub(1)) else {
            return Place { file: None, line, column };
        };
        if file > 0 {
            return Place { file: Some(self.files[file as usize].clone()), line: source, column: 0 };
        }
        // Columns hold only where no macro was replaced.
        let here = self.text.lines().nth(line as usize - 1);
        let same = here.is_some() && here == self.original.lines().nth((source as usize).saturating_sub(1));
        Place { file: None, line: source, column: if same { column } else { 0 } }
    }
}

/// What the preprocessor refuses: a place in the text and a message.
pub(crate) struct Refusal {
    pub place: Place,
    pub message: String,
}

/// Preprocesses `text`, which stands for the file `name`.
pub(crate) fn preprocess<'a>(
    clang: &Clang,
    options: &Options,
    name: &str,
    text: &'a str,
) -> Result<Result<Source<'a>, Vec<Refusal>>, Error> {
    if is_plain(text) {
        return Ok(Ok(Source::unchanged(text)));
    }
    let mut command = clang.preprocessor();
    if options.check_layout {
        command.arg("-DONESHADER_CHECK_LAYOUT");
    }
    command.args(options.defines.iter().map(|d| format!("-D{d}")));
    if let Some(dir) = Path::new(name).parent() {
        command.arg("-iquote").arg(if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
    }
    for dir in &options.include_dirs {
        command.arg("-I").arg(dir);
    }
    command.arg("-");
    let done = clang::run(&mut command, without_lines(text).as_bytes(), options.timeout)?;
    if !done.status.success() {
        return Ok(Err(refusals(&done.stderr)));
    }
    let output = String::from_utf8_lossy(&done.stdout).into_owned();
    Ok(Ok(read_markers(text, output)))
}

/// Whether no directive of `text` needs the preprocessor.
fn is_plain(text: &str) -> bool {
    TokenStream::new(text).tokens.iter().filter(|t| t.kind == TokenKind::Directive).all(|t| {
        let line = text[t.start + 1..t.end].trim();
        line.starts_with("pragma") || line.starts_with("line") || standard_include(line)
    })
}

/// `include <metal_stdlib>` and the like.
fn standard_include(directive: &str) -> bool {
    let name = directive
        .strip_prefix("include")
        .map(str::trim)
        .and_then(|d| d.strip_prefix('<'))
        .and_then(|d| d.strip_suffix('>'));
    name.is_some_and(crate::headers::is_public)
}

/// `text` with `#line` made blank: findings name the lines of the file itself.
fn without_lines(text: &str) -> String {
    let mut out = text.to_owned();
    for t in TokenStream::new(text).tokens.iter().rev().filter(|t| t.kind == TokenKind::Directive) {
        let body = text[t.start + 1..t.end].trim_start();
        if body.starts_with("line") || body.starts_with(|c: char| c.is_ascii_digit()) {
            let blank: String = text[t.start..t.end].chars().filter(|&c| c == '\n').collect();
            out.replace_range(t.start..t.end, &blank);
        }
    }
    out
}

/// Reads `# LINE "FILE" FLAGS` markers, which become blank lines.
fn read_markers<'a>(original: &'a str, output: String) -> Source<'a> {
    let mut files = vec!["<stdin>".to_owned()];
    let mut origins = Vec::new();
    let mut text = String::with_capacity(output.len());
    let (mut file, mut line) = (0u32, 1u32);
    for row in output.split_inclusive('\n') {
        if let Some((number, name)) = marker(row) {
            file = files.iter().position(|f| f == name).unwrap_or_else(|| {
                files.push(name.to_owned());
                files.len() - 1
            }) as u32;
            origins.push((file, number));
            line = number;
            text.push('\n');
        } else {
            origins.push((file, line));
            line += 1;
            text.push_str(row);
        }
    }
    Source { text: Cow::Owned(text), origins, files, original }
}

fn marker(row: &str) -> Option<(u32, &str)> {
    let rest = row.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(' ')?;
    let name = rest.strip_prefix('"')?.split('"').next()?;
    Some((number.parse().ok()?, name))
}

fn refusals(stderr: &str) -> Vec<Refusal> {
    let mut out = Vec::new();
    for row in stderr.lines() {
        for mark in [": fatal error: ", ": error: "] {
            let Some((place, message)) = row.split_once(mark) else { continue };
            let mut parts = place.rsplitn(3, ':');
            let column = parts.next().and_then(|p| p.parse().ok()).unwrap_or(0);
            let line = parts.next().and_then(|p| p.parse().ok()).unwrap_or(0);
            let file = parts.next().filter(|f| *f != "<stdin>").map(str::to_owned);
            out.push(Refusal { place: Place { file, line, column }, message: message.to_owned() });
            break;
        }
    }
    if out.is_empty() {
        let message = format!("clang failed: {}", stderr.trim());
        out.push(Refusal { place: Place { file: None, line: 0, column: 0 }, message });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_plain_texts() {
        assert!(is_plain(
            "#pragma clang diagnostic ignored \"-Wx\"\n#include <metal_stdlib>\n#include <simd/simd.h>\n#line 3\nint x;"
        ));
        assert!(!is_plain("#define A 1\n"));
        assert!(!is_plain("#include \"mine.h\"\n"));
    }

    #[test]
    fn maps_lines() {
        let source =
            read_markers("a\nb B\n", "# 1 \"<stdin>\"\na\n# 1 \"./x.h\" 1\nq\n# 2 \"<stdin>\" 2\nb 1\n".to_owned());
        assert_eq!(source.place(2, 1), Place { file: None, line: 1, column: 1 });
        assert_eq!(source.place(4, 1), Place { file: Some("./x.h".to_owned()), line: 1, column: 0 });
        assert_eq!(source.place(6, 3), Place { file: None, line: 2, column: 0 });
    }
}
