//! Text for people: the source line, carets, notes and ways out.

use std::fmt::Write;
use std::ops::Range;

use codespan_reporting::diagnostic as cs;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term;

use crate::{Diagnostic, DiagnosticBag, FileId, Severity, SourceMap, Span};

/// How [`render`] writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub color: bool,
    /// One line per diagnostic: `file:line:col: error[OSH1100]: message`.
    pub short: bool,
}

/// The files as codespan sees them. `#line` moves line numbers, and the name of the file that `focus` lies in.
struct View<'a> {
    map: &'a SourceMap,
    focus: Span,
}

impl<'a> Files<'a> for View<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        let file = self.map.file(id).ok_or(Error::FileMissing)?;
        Ok(if id == self.focus.file { file.presumed(self.focus.lo).0 } else { file.name() })
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(self.map.file(id).ok_or(Error::FileMissing)?.text())
    }

    fn line_index(&'a self, id: FileId, at: usize) -> Result<usize, Error> {
        Ok(self.map.file(id).ok_or(Error::FileMissing)?.line_index(at as u32))
    }

    fn line_number(&'a self, id: FileId, index: usize) -> Result<usize, Error> {
        let file = self.map.file(id).ok_or(Error::FileMissing)?;
        let start = file.line_starts().get(index).copied().unwrap_or(0);
        // `#line 0` is accepted; the renderer counts digits and needs a positive number.
        Ok(file.presumed(start).1.line.max(1) as usize)
    }

    fn line_range(&'a self, id: FileId, index: usize) -> Result<Range<usize>, Error> {
        let file = self.map.file(id).ok_or(Error::FileMissing)?;
        let starts = file.line_starts();
        let max = starts.len();
        let lo = *starts.get(index).ok_or(Error::LineTooLarge { given: index, max })? as usize;
        Ok(lo..starts.get(index + 1).map_or(file.text().len(), |s| *s as usize))
    }
}

/// The bytes of a span, moved onto character boundaries of its text.
fn range(map: &SourceMap, span: Span) -> Option<Range<usize>> {
    let text = map.file(span.file)?.text();
    let snap = |at: u32| (0..=(at as usize).min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    let lo = snap(span.lo);
    Some(lo..snap(span.hi).max(lo))
}

fn to_codespan(map: &SourceMap, d: &Diagnostic) -> cs::Diagnostic<FileId> {
    let severity = match d.severity {
        Severity::Error => cs::Severity::Error,
        Severity::Warning => cs::Severity::Warning,
        Severity::Note => cs::Severity::Note,
    };
    let mut labels = Vec::new();
    if let Some(range) = range(map, d.primary) {
        labels.push(cs::Label::primary(d.primary.file, range).with_message(&d.primary_label));
    }
    for label in &d.labels {
        if let Some(range) = range(map, label.span) {
            labels.push(cs::Label::secondary(label.span.file, range).with_message(&label.message));
        }
    }
    let mut notes: Vec<String> = d.notes.iter().map(|n| format!("note: {n}")).collect();
    notes.extend(expansion_note(map, d.primary));
    notes.extend(d.help.iter().map(|h| format!("help: {h}")));
    cs::Diagnostic::new(severity)
        .with_code(d.code.to_string())
        .with_message(&d.message)
        .with_labels(labels)
        .with_notes(notes)
}

/// Says which macro a place was expanded from.
fn expansion_note(map: &SourceMap, span: Span) -> Option<String> {
    let expansion = map.expansion_at(span)?;
    let mut text = format!("note: in the expansion of macro `{}`", expansion.name);
    if let Some((name, at)) = map.locate(expansion.definition) {
        let _ = write!(text, ", defined at {name}:{}:{}", at.line, at.col);
    }
    Some(text)
}

fn short(map: &SourceMap, d: &Diagnostic, out: &mut String) {
    if let Some((name, at)) = map.locate(d.primary) {
        let _ = write!(out, "{name}:{}:{}: ", at.line, at.col);
    }
    let _ = writeln!(out, "{}[{}]: {}", d.severity, d.code, d.message);
}

/// One diagnostic as text.
pub fn render_one(map: &SourceMap, d: &Diagnostic, style: Style, out: &mut String) {
    if style.short {
        return short(map, d, out);
    }
    let view = View { map, focus: d.primary };
    let config = term::Config { tab_width: 4, ..term::Config::default() };
    let message = to_codespan(map, d);
    let mut text = String::new();
    let result = if style.color {
        let mut bytes = codespan_reporting::term::termcolor::Ansi::new(Vec::new());
        let result = term::emit_to_write_style(&mut bytes, &config, &view, &message);
        text = String::from_utf8_lossy(&bytes.into_inner()).into_owned();
        result
    } else {
        term::emit_to_string(&mut text, &config, &view, &message)
    };
    match result {
        Ok(()) => out.push_str(&text),
        Err(_) => short(map, d, out),
    }
}

/// All diagnostics of a bag as text, and a last line that counts them.
pub fn render(map: &SourceMap, bag: &DiagnosticBag, style: Style) -> String {
    let mut out = String::new();
    for d in bag {
        render_one(map, d, style, &mut out);
    }
    let count = |severity| bag.iter().filter(|d| d.severity == severity).count();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let parts: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning")]
        .into_iter()
        .map(|(severity, what)| (count(severity), what))
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| plural(n, what))
        .collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "{} emitted", parts.join(" and "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expansion, codes};

    fn map() -> (SourceMap, FileId) {
        let mut map = SourceMap::new();
        let file = map.add("a.hlsl", "float4 main() {\n\treturn colour;\n}\n");
        (map, file)
    }

    #[test]
    fn shows_line_caret_and_help() {
        let (map, file) = map();
        let mut bag = DiagnosticBag::new();
        bag.push(
            Diagnostic::new(codes::UNKNOWN_NAME, Span::new(file, 24, 30), "`colour` is not declared")
                .primary_label("not found")
                .label(Span::new(file, 7, 11), "in this function")
                .note("names are looked up where they stand")
                .help("did you mean `color`?"),
        );
        let text = render(&map, &bag, Style::default());
        for want in [
            "error[OSH2001]: `colour` is not declared",
            "a.hlsl:2:9",
            "return colour;",
            "^^^^^^ not found",
            "---- in this function",
            "note: names are",
            "help: did you mean `color`?",
            "1 error emitted",
        ] {
            assert!(text.contains(want), "no {want:?} in\n{text}");
        }
        assert!(!text.contains('\x1b'));
        assert!(render(&map, &bag, Style { color: true, short: false }).contains('\x1b'));
        let text = render(&map, &bag, Style { color: false, short: true });
        assert!(text.starts_with("a.hlsl:2:9: error[OSH2001]: `colour` is not declared\n"));
    }

    #[test]
    fn bad_places_do_no_harm() {
        let (map, file) = map();
        let mut bag = DiagnosticBag::new();
        for span in [Span::NONE, Span::new(file, 900, 10), Span::new(FileId(7), 0, 1), Span::new(file, 0, 9999)] {
            bag.report(codes::SYNTAX, span, "bad");
        }
        assert!(render(&map, &bag, Style::default()).contains("4 errors emitted"));
        let mut map = SourceMap::new();
        let file = map.add("é", "ééé");
        let mut bag = DiagnosticBag::new();
        bag.report(codes::SYNTAX, Span::new(file, 1, 3), "bad");
        assert!(render(&map, &bag, Style::default()).contains("ééé"));
    }

    #[test]
    fn line_zero_is_shown() {
        let (mut map, file) = map();
        map.add_line_mark(file, 0, 0, None);
        let mut bag = DiagnosticBag::new();
        bag.report(codes::SYNTAX, Span::new(file, 0, 1), "bad");
        assert!(render(&map, &bag, Style::default()).contains("float4 main"));
    }

    #[test]
    fn names_the_macro_and_the_presumed_line() {
        let (mut map, file) = map();
        let call = Span::new(file, 24, 30);
        let macros = [("unused", Span::NONE), ("colour", Span::new(file, 0, 5))];
        map.set_expansions(Expansion::list(macros.into_iter(), vec![(call, 1), (call, 1)]));
        map.add_line_mark(file, 16, 70, Some("b.hlsl".into()));
        let mut bag = DiagnosticBag::new();
        bag.report(codes::SYNTAX, call, "bad");
        let text = render(&map, &bag, Style::default());
        assert!(text.contains("in the expansion of macro `colour`, defined at a.hlsl:1:1"), "{text}");
        assert!(text.contains("b.hlsl:70:9"), "{text}");
    }
}
