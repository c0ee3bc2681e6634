//! The directives of a test file: RUN lines and the conditions under which the test counts.
//!
//! `RUN:` gives a command, `REQUIRES:` features that must all be there, `UNSUPPORTED:` a condition under which the test
//! is skipped and `XFAIL:` one under which it must fail. Conditions are boolean expressions over feature names (`&&`,
//! `||`, `!`, parentheses); a comma in REQUIRES means "and", in the two others "or".

use std::collections::BTreeSet;

/// Names of what the device, the compiler and the host can do.
pub type Features = BTreeSet<String>;

/// What the directives of one file say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Commands in order, continuation lines joined.
    pub runs: Vec<String>,
    /// All must hold.
    pub requires: Vec<String>,
    /// Any one skips the test.
    pub unsupported: Vec<String>,
    /// Any one makes a failure the expected outcome.
    pub xfail: Vec<String>,
}

/// What the conditions come to for a set of features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test must pass.
    Run,
    /// The test is not for this configuration; the condition that says so.
    Skip(String),
    /// The test must fail; the condition that says so.
    ExpectFailure(String),
}

impl Directives {
    /// Reads the directives of a test file.
    pub fn parse(text: &str) -> Self {
        let mut out = Self::default();
        let mut open_run = false;
        for line in text.lines() {
            if let Some(run) = value(line, "RUN:") {
                let (body, more) = match run.strip_suffix('\\') {
                    Some(b) => (b.trim_end(), true),
                    None => (run, false),
                };
                match out.runs.last_mut().filter(|_| open_run) {
                    Some(last) => {
                        last.push(' ');
                        last.push_str(body);
                    }
                    None => out.runs.push(body.to_owned()),
                }
                open_run = more;
            } else if let Some(v) = value(line, "REQUIRES:") {
                out.requires.extend(list(v));
            } else if let Some(v) = value(line, "UNSUPPORTED:") {
                out.unsupported.extend(list(v));
            } else if let Some(v) = value(line, "XFAIL:") {
                out.xfail.extend(list(v));
            }
        }
        out
    }

    /// Decides for a set of features. A malformed condition is an error.
    pub fn verdict(&self, features: &Features) -> Result<Verdict, String> {
        for c in &self.requires {
            if !eval(c, features)? {
                return Ok(Verdict::Skip(format!("requires {c}")));
            }
        }
        for c in &self.unsupported {
            if eval(c, features)? {
                return Ok(Verdict::Skip(format!("unsupported: {c}")));
            }
        }
        for c in &self.xfail {
            if eval(c, features)? {
                return Ok(Verdict::ExpectFailure(c.clone()));
            }
        }
        Ok(Verdict::Run)
    }
}

/// The text after a keyword, if the line is a comment that starts with it.
fn value<'a>(line: &'a str, keyword: &str) -> Option<&'a str> {
    let body = line.trim_start().trim_start_matches(['#', '/', ';']).trim_start();
    body.strip_prefix(keyword).map(str::trim)
}

fn list(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(',').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty())
}

/// Evaluates a condition; `true` and `*` always hold.
pub fn eval(condition: &str, features: &Features) -> Result<bool, String> {
    let mut p = Parser { rest: condition.trim(), features, depth: 0 };
    let v = p.or()?;
    if p.rest.is_empty() { Ok(v) } else { Err(format!("'{condition}': cannot read '{}'", p.rest)) }
}

struct Parser<'a> {
    rest: &'a str,
    features: &'a Features,
    depth: u32,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(r) => {
                self.rest = r.trim_start();
                true
            }
            None => false,
        }
    }

    fn or(&mut self) -> Result<bool, String> {
        let mut v = self.and()?;
        while self.eat("||") {
            v |= self.and()?;
        }
        Ok(v)
    }

    fn and(&mut self) -> Result<bool, String> {
        let mut v = self.not()?;
        while self.eat("&&") {
            v &= self.not()?;
        }
        Ok(v)
    }

    fn not(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > 64 {
            return Err("a condition nests too deep".to_owned());
        }
        let v = if self.eat("!") {
            !self.not()?
        } else if self.eat("(") {
            let v = self.or()?;
            if !self.eat(")") {
                return Err("a condition lacks ')'".to_owned());
            }
            v
        } else {
            let end = self
                .rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || "-+=._*".contains(c)))
                .unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            if name.is_empty() {
                return Err(format!("a condition lacks a name before '{}'", self.rest));
            }
            self.rest = rest.trim_start();
            name == "true" || name == "*" || self.features.contains(name)
        };
        self.depth -= 1;
        Ok(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(names: &[&str]) -> Features {
        names.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn conditions_bind_as_in_c() {
        let f = features(&["A", "B-2"]);
        for (text, want) in [
            ("A", true),
            ("!A", false),
            ("A && C", false),
            ("C || A && B-2", true),
            ("(C || A) && !C", true),
            ("true", true),
            ("!(A || C)", false),
        ] {
            assert_eq!(eval(text, &f), Ok(want), "{text}");
        }
        assert!(eval("A &&", &f).is_err());
        assert!(eval("A B", &f).is_err());
        assert!(eval(&"(".repeat(5000), &f).is_err());
    }

    #[test]
    fn directives_and_verdicts() {
        let text = "# RUN: one \\\n# RUN:   two\n// RUN: three\n# REQUIRES: A, B\n# XFAIL: C && A\n# UNSUPPORTED: D\n";
        let d = Directives::parse(text);
        assert_eq!(d.runs, ["one two", "three"]);
        assert_eq!(d.verdict(&features(&["A"])).unwrap(), Verdict::Skip("requires B".into()));
        assert_eq!(d.verdict(&features(&["A", "B"])).unwrap(), Verdict::Run);
        assert_eq!(d.verdict(&features(&["A", "B", "D"])).unwrap(), Verdict::Skip("unsupported: D".into()));
        assert_eq!(d.verdict(&features(&["A", "B", "C"])).unwrap(), Verdict::ExpectFailure("C && A".into()));
    }
}
