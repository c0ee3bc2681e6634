//! The texts of a compile and what lies where in them.

use std::sync::{Arc, OnceLock};

use crate::{FileId, Span};

/// A place as people count: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
}

/// A `#line` directive: from byte `at` on, lines count from `line` and belong to `name`.
#[derive(Clone, Debug)]
struct LineMark {
    at: u32,
    line: u32,
    name: Option<Arc<str>>,
}

/// One text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    starts: OnceLock<Vec<u32>>,
    marks: Vec<LineMark>,
}

impl SourceFile {
    /// The name the loader or caller gave it, which is what diagnostics and depfiles show.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Byte offsets of the first byte of each line.
    pub fn line_starts(&self) -> &[u32] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0];
            starts.extend(self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
            starts
        })
    }

    /// Physical line (from 0) of a byte offset.
    pub fn line_index(&self, at: u32) -> usize {
        self.line_starts().partition_point(|s| *s <= at).saturating_sub(1)
    }

    /// The text of a physical line (from 0), without its end.
    pub fn line_text(&self, line: usize) -> &str {
        let starts = self.line_starts();
        let lo = starts.get(line).map_or(self.text.len(), |s| *s as usize);
        let hi = starts.get(line + 1).map_or(self.text.len(), |s| *s as usize);
        self.text.get(lo..hi).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    fn mark_before(&self, at: u32) -> Option<&LineMark> {
        self.marks[..self.marks.partition_point(|m| m.at <= at)].last()
    }

    /// Physical line and column of a byte offset; an offset beyond the text is its end.
    pub fn physical(&self, at: u32) -> LineCol {
        let at = at.min(self.text.len() as u32);
        let line = self.line_index(at);
        let lo = self.line_starts()[line] as usize;
        let mut hi = at as usize;
        while !self.text.is_char_boundary(hi) {
            hi -= 1;
        }
        LineCol { line: line as u32 + 1, col: self.text[lo..hi.max(lo)].chars().count() as u32 + 1 }
    }

    /// Name, line and column as `#line` directives have it.
    pub fn presumed(&self, at: u32) -> (&Arc<str>, LineCol) {
        let mut place = self.physical(at);
        let Some(mark) = self.mark_before(at) else {
            return (&self.name, place);
        };
        let first = self.line_index(mark.at) as u32 + 1;
        place.line = mark.line.saturating_add(place.line - first);
        (mark.name.as_ref().unwrap_or(&self.name), place)
    }
}

/// The macro a place of the source is an invocation of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The macro's name.
    pub name: Arc<str>,
    /// The name in its `#define`; no place for a predefined macro.
    pub definition: Span,
}

impl Expansion {
    /// All outermost invocations of a compile: macros, and per invocation its span (name and arguments) and the index
    /// of its macro.
    pub fn list<'a>(
        macros: impl Iterator<Item = (&'a str, Span)>,
        mut calls: Vec<(Span, u32)>,
    ) -> (Vec<Expansion>, Vec<(Span, u32)>) {
        calls.sort_unstable_by_key(|(span, _)| (span.file, span.lo, span.hi));
        calls.dedup();
        let mut used: Vec<u32> = calls.iter().map(|(_, index)| *index).collect();
        used.sort_unstable();
        used.dedup();
        for (_, index) in &mut calls {
            *index = used.binary_search(index).unwrap_or(0) as u32;
        }
        let mut used = used.into_iter().peekable();
        let mut kept = Vec::new();
        for (index, (name, definition)) in macros.enumerate() {
            if used.next_if_eq(&(index as u32)).is_some() {
                kept.push(Expansion { name: name.into(), definition });
            }
        }
        (kept, calls)
    }
}

/// All texts of a compile.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
    calls: Vec<(Span, u32)>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. Texts above 2 GiB are the caller's to refuse; positions behind that are clamped.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
            starts: OnceLock::new(),
            marks: Vec::new(),
        });
        id
    }

    /// The file, unless it is [`FileId::NONE`] or of another map.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files, in the order they were added.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The name of a file, `<none>` where there is none.
    pub fn name(&self, id: FileId) -> &str {
        self.file(id).map_or("<none>", |f| &f.name)
    }

    /// The text a span covers; empty where there is none.
    pub fn snippet(&self, span: Span) -> &str {
        self.file(span.file).and_then(|f| f.text.get(span.lo as usize..span.hi as usize)).unwrap_or("")
    }

    /// Name, line and column of a span's first byte, `#line` directives heeded.
    pub fn locate(&self, span: Span) -> Option<(&str, LineCol)> {
        let (name, place) = self.file(span.file)?.presumed(span.lo);
        Some((name, place))
    }

    /// Records a `#line` directive: the line that holds byte `at` is line `line` of `name` (or of the name in force).
    /// Marks of one file come in rising order; others are those of a second inclusion and are known.
    pub fn add_line_mark(&mut self, file: FileId, at: u32, line: u32, name: Option<Arc<str>>) {
        let Some(file) = self.files.get_mut(file.0 as usize) else {
            return;
        };
        let name = name.or_else(|| file.marks.last().and_then(|m| m.name.clone()));
        if file.marks.last().is_some_and(|m| m.at >= at) {
            return; // The file is included again.
        }
        file.marks.push(LineMark { at, line, name });
    }

    /// Replaces what is known about macro invocations with an [`Expansion::list`].
    pub fn set_expansions(&mut self, (expansions, calls): (Vec<Expansion>, Vec<(Span, u32)>)) {
        self.expansions = expansions;
        self.calls = calls;
    }

    /// The macro that a span is an outermost invocation of.
    pub fn expansion_at(&self, span: Span) -> Option<&Expansion> {
        let key = |span: Span| (span.file, span.lo, span.hi);
        let at = self.calls.binary_search_by_key(&key(span), |(call, _)| key(*call)).ok()?;
        self.expansions.get(self.calls[at].1 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_and_columns() {
        let mut map = SourceMap::new();
        let f = map.add("a.hlsl", "ab\ncä d\r\n\nx");
        let file = map.file(f).unwrap();
        assert_eq!(file.physical(0), LineCol { line: 1, col: 1 });
        assert_eq!(file.physical(4), LineCol { line: 2, col: 2 });
        assert_eq!(file.physical(6), LineCol { line: 2, col: 3 });
        assert_eq!(file.physical(999), LineCol { line: 4, col: 2 });
        assert_eq!(file.line_text(1), "cä d");
        assert_eq!(file.line_text(7), "");
        assert_eq!(map.snippet(Span::new(f, 0, 2)), "ab");
        assert_eq!(map.snippet(Span::new(f, 5, 400)), "");
        assert_eq!(map.name(FileId::NONE), "<none>");
    }

    #[test]
    fn line_marks_move_lines_and_names() {
        let mut map = SourceMap::new();
        let f = map.add("a.hlsl", "1\n#line 100 \"b\"\n3\n4\n#line 7\n6\n");
        map.add_line_mark(f, 16, 100, Some("b".into()));
        map.add_line_mark(f, 28, 7, None);
        let at = |o| map.locate(Span::new(f, o, o)).map(|(n, p)| (n.to_string(), p.line)).unwrap();
        assert_eq!(at(0), ("a.hlsl".into(), 1));
        assert_eq!(at(16), ("b".into(), 100));
        assert_eq!(at(18), ("b".into(), 101));
        assert_eq!(at(28), ("b".into(), 7));
    }
}
