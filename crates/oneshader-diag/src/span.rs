//! Positions in source text.

use std::fmt;

/// A file of a [`SourceMap`](crate::SourceMap), or [`FileId::NONE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl FileId {
    /// No file: code the compiler made, or a diagnostic without a place.
    pub const NONE: FileId = FileId(u32::MAX);
}

impl fmt::Debug for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == FileId::NONE { f.write_str("file-") } else { write!(f, "file{}", self.0) }
    }
}

/// A half-open range of bytes `lo..hi` in one file.
///
/// Positions are those of the text a person wrote. A token that came out of a macro's body has the span of the
/// outermost macro invocation (name and arguments); a token of a macro argument keeps the place where it was spelled.
/// [`SourceMap::expansion_at`](crate::SourceMap::expansion_at) tells which macro a span is an invocation of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// No place.
    pub const NONE: Span = Span { file: FileId::NONE, lo: 0, hi: 0 };

    /// `lo..hi` of `file`.
    pub const fn new(file: FileId, lo: u32, hi: u32) -> Span {
        Span { file, lo, hi }
    }

    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.file == FileId::NONE
    }

    /// The smallest span that covers both. Spans of two files cannot be joined: `self` wins, or `other` where `self`
    /// is no place.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            other
        } else if self.file != other.file {
            self
        } else {
            Span { file: self.file, lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
        }
    }

    /// The empty span just behind this one: where something is missing.
    #[must_use]
    pub fn end(self) -> Span {
        Span { lo: self.hi, ..self }
    }

    /// The empty span just before this one.
    #[must_use]
    pub fn start(self) -> Span {
        Span { hi: self.lo, ..self }
    }

    /// The last `len` bytes: for example the member name in `a.b.name`.
    #[must_use]
    pub fn tail(self, len: u32) -> Span {
        Span { lo: self.hi.saturating_sub(len).max(self.lo), ..self }
    }
}

impl Default for Span {
    fn default() -> Self {
        Span::NONE
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}..{}", self.file, self.lo, self.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_ends() {
        let f = FileId(0);
        let (a, b) = (Span::new(f, 2, 5), Span::new(f, 8, 9));
        assert_eq!(a.to(b), Span::new(f, 2, 9));
        assert_eq!(b.to(a), Span::new(f, 2, 9));
        assert_eq!(Span::NONE.to(b), b);
        assert_eq!(a.to(Span::new(FileId(1), 0, 1)), a);
        assert_eq!(a.end(), Span::new(f, 5, 5));
        assert_eq!(a.tail(1), Span::new(f, 4, 5));
        assert_eq!(a.tail(100), a);
        assert_eq!(size_of::<Span>(), 12);
    }
}
