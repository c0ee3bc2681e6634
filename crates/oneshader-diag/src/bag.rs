//! Collects diagnostics.

use std::collections::HashSet;

use crate::{Code, Diagnostic, Severity, Span, codes};

/// What happens to warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warnings {
    /// Reported.
    #[default]
    Report,
    /// Dropped (`-no-warnings`).
    Hide,
    /// Reported as errors (`-WX`).
    Deny,
}

/// How much a bag takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Errors kept; the next one becomes [`codes::TOO_MANY_ERRORS`] and all later ones are dropped.
    pub errors: usize,
    /// Warnings kept; later ones are dropped.
    pub warnings: usize,
    /// What happens to warnings.
    pub policy: Warnings,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { errors: 100, warnings: 1000, policy: Warnings::Report }
    }
}

/// Diagnostics in the order they were reported. The same code with the same message at the same place is kept once.
#[derive(Clone, Debug, Default)]
pub struct DiagnosticBag {
    list: Vec<Diagnostic>,
    seen: HashSet<(Code, Span, String)>,
    errors: usize,
    warnings: usize,
    full: bool,
    limits: Limits,
}

impl DiagnosticBag {
    /// An empty bag with default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty bag.
    pub fn with_limits(limits: Limits) -> Self {
        DiagnosticBag { limits, ..Self::default() }
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Warning {
            match self.limits.policy {
                Warnings::Report => {}
                Warnings::Hide => return,
                Warnings::Deny => diagnostic.severity = Severity::Error,
            }
        }
        let is_error = diagnostic.severity == Severity::Error;
        if is_error && self.full || !is_error && self.warnings >= self.limits.warnings {
            return;
        }
        if !self.seen.insert((diagnostic.code, diagnostic.primary, diagnostic.message.clone())) {
            return;
        }
        if !is_error {
            self.warnings += 1;
        } else if self.errors >= self.limits.errors {
            self.full = true;
            diagnostic = Diagnostic::new(
                codes::TOO_MANY_ERRORS,
                diagnostic.primary,
                format!("more than {} errors; the rest are not shown", self.limits.errors),
            );
        } else {
            self.errors += 1;
        }
        self.list.push(diagnostic);
    }

    /// Adds a diagnostic made of a code, a place and a message.
    pub fn report(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::new(code, span, message));
    }

    /// Errors kept.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0 || self.full
    }

    /// Whether the limit of errors is passed, so that a stage may as well give up.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// All of them, in the order of report.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Moves all diagnostics of another bag in here, under this bag's limits.
    pub fn append(&mut self, other: DiagnosticBag) {
        for d in other.list {
            self.push(d);
        }
    }
}

impl<'a> IntoIterator for &'a DiagnosticBag {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileId;

    fn error(at: u32) -> Diagnostic {
        Diagnostic::new(codes::SYNTAX, Span::new(FileId(0), at, at), "bad")
    }

    #[test]
    fn caps_errors_and_says_so() {
        let mut bag = DiagnosticBag::with_limits(Limits { errors: 2, ..Limits::default() });
        (0..5).for_each(|i| bag.push(error(i)));
        assert_eq!(bag.error_count(), 2);
        assert!(bag.is_full());
        assert_eq!(bag.len(), 3);
        assert_eq!(bag.iter().last().unwrap().code, codes::TOO_MANY_ERRORS);
    }

    #[test]
    fn keeps_duplicates_once() {
        let mut bag = DiagnosticBag::new();
        bag.push(error(1));
        bag.push(error(1));
        assert_eq!(bag.len(), 1);
    }

    #[test]
    fn warnings_follow_the_policy() {
        let warn = |policy| {
            let mut bag = DiagnosticBag::with_limits(Limits { policy, ..Limits::default() });
            bag.push(error(1).severity(Severity::Warning));
            (bag.len(), bag.has_errors())
        };
        assert_eq!(warn(Warnings::Report), (1, false));
        assert_eq!(warn(Warnings::Hide), (0, false));
        assert_eq!(warn(Warnings::Deny), (1, true));
    }
}
