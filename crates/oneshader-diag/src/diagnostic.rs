//! One message to the person who wrote the shader.

use std::fmt;

use serde::Serialize;

use crate::{Code, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information that belongs to nothing else.
    Note,
    /// Output is made, but look here.
    Warning,
    /// No output.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// A second place with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub message: String,
}

/// One message. Build it with [`Diagnostic::new`] and the chained methods, then push it into a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// From the table.
    pub code: Code,
    /// The code's default, unless changed.
    pub severity: Severity,
    /// Lower case, one sentence, no full stop.
    pub message: String,
    /// The place; [`Span::NONE`] where there is none.
    pub primary: Span,
    /// A short remark under the primary caret; may be empty.
    pub primary_label: String,
    /// Further places.
    pub labels: Vec<Label>,
    /// Facts that explain the message.
    pub notes: Vec<String>,
    /// Ways out.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic of the code's default severity.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.info().severity,
            message: message.into(),
            primary: span,
            primary_label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Sets the remark under the primary caret.
    #[must_use]
    pub fn primary_label(mut self, message: impl Into<String>) -> Self {
        self.primary_label = message.into();
        self
    }

    /// Adds a place with a remark; a label without a place is dropped.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        if !span.is_none() {
            self.labels.push(Label { span, message: message.into() });
        }
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>) -> Self {
        self.notes.push(message.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.help.push(message.into());
        self
    }

    /// Overrides the severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
