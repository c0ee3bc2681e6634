//! The one table of codes.
//!
//! A code is added by one row in the file of its range: `NAME = number, severity, "title", "explanation";`. The
//! explanation ends with the way out. Numbers are never reused: a code that is no longer given keeps its number free.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::Severity;

/// The number of a diagnostic; prints as `OSHnnnn`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(u16);

/// What the table says of a code.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// Its severity unless a diagnostic overrides it.
    pub severity: Severity,
    /// A few words.
    pub title: &'static str,
    /// What it means and the way out.
    pub explanation: &'static str,
}

/// One range of codes.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// For example `1xxx`.
    pub range: &'static str,
    /// What the range is about.
    pub title: &'static str,
    /// Its rows, in rising order of code.
    pub rows: &'static [CodeInfo],
}

macro_rules! codes {
    ($($name:ident = $number:literal, $severity:ident, $title:literal, $explanation:literal;)*) => {
        $(
            #[doc = concat!("OSH", stringify!($number), ": ", $title, ".")]
            pub const $name: $crate::Code = $crate::Code::from_table($number);
        )*
        /// The rows of this range.
        pub(super) static ROWS: &[$crate::CodeInfo] = &[
            $($crate::CodeInfo {
                code: $name,
                severity: $crate::Severity::$severity,
                title: $title,
                explanation: $explanation,
            },)*
        ];
    };
}

mod internal;
mod lower;
mod msl;
mod sema;
mod spirv;
mod syntax;

pub use internal::*;
pub use lower::*;
pub use msl::*;
pub use sema::*;
pub use spirv::*;
pub use syntax::*;

/// The table.
pub static SECTIONS: &[Section] = &[
    Section { range: "1xxx", title: "preprocessing and parsing", rows: syntax::ROWS },
    Section { range: "2xxx", title: "types and semantics", rows: sema::ROWS },
    Section { range: "3xxx", title: "lowering and limits", rows: lower::ROWS },
    Section { range: "4xxx", title: "SPIR-V", rows: spirv::ROWS },
    Section { range: "51xx", title: "Metal", rows: msl::ROWS },
    Section { range: "9xxx", title: "internal", rows: internal::ROWS },
];

impl Code {
    const fn from_table(number: u16) -> Code {
        Code(number)
    }

    /// The number without `OSH`.
    pub fn number(self) -> u16 {
        self.0
    }

    /// The row of the table.
    pub fn info(self) -> &'static CodeInfo {
        let section = match self.0 / 1000 {
            n @ 1..=5 => &SECTIONS[n as usize - 1],
            _ => &SECTIONS[5],
        };
        // Codes are made by the table alone, so the search succeeds; the fallback keeps this free of panics.
        let row = section.rows.partition_point(|r| r.code < self);
        section.rows.get(row).unwrap_or(&internal::ROWS[0])
    }

    /// The code of a number or of `OSHnnnn`, if the table has it: for `oneshader explain`.
    pub fn parse(text: &str) -> Option<Code> {
        let digits = text.strip_prefix("OSH").or_else(|| text.strip_prefix("osh")).unwrap_or(text);
        let code = Code(digits.parse().ok()?);
        (code.info().code == code).then_some(code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OSH{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_in_range_and_worded() {
        let mut last = 0;
        for section in SECTIONS {
            for row in section.rows {
                assert!(row.code.0 > last, "{} is out of order", row.code);
                last = row.code.0;
                let range = section.range.trim_end_matches('x');
                assert!(row.code.0.to_string().starts_with(range), "{} is outside {}", row.code, section.range);
                assert!(row.title.len() > 4 && !row.title.ends_with('.'), "{}: title", row.code);
                assert!(row.explanation.len() > 20 && row.explanation.ends_with('.'), "{}: explanation", row.code);
                assert_eq!(row.code.info().title, row.title);
                assert_eq!(Code::parse(&row.code.to_string()), Some(row.code));
            }
        }
        assert_eq!(Code::parse("OSH0000"), None);
        assert_eq!(Code::parse("OSH1"), None);
        assert_eq!(Code::parse("x"), None);
    }
}
