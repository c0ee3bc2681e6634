//! The part of LLVM's FileCheck that tests of the format use.
//!
//! `PREFIX:` matches at or after the end of the match before it, `-NEXT` on the next line, `-SAME` on the same line,
//! `-EMPTY` an empty next line, `-NOT` forbids a match between its neighbours, `-DAG` matches in any order within its
//! group, `-LABEL` splits the input first, `-COUNT-n` repeats. `{{...}}` is a regular expression, `[[X:...]]` defines and
//! `[[X]]` uses a variable. Runs of blanks match each other.

use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Next,
    Same,
    Empty,
    Not,
    Dag,
    Label,
}

#[derive(Clone, Debug)]
struct Check {
    kind: Kind,
    pattern: String,
    line: usize,
}

/// Checks a text against the directives of a test file. The error names the directive that found no match.
pub fn check(test: &str, prefix: &str, input: &str) -> Result<(), String> {
    let checks = directives(test, prefix)?;
    if checks.is_empty() {
        return Err(format!("no '{prefix}:' directive"));
    }
    let input: String = input.lines().map(|l| canonical(l) + "\n").collect();
    let mut vars = BTreeMap::new();
    let mut state = State { input: &input, at: 0, limit: input.len(), pending_not: Vec::new(), vars: &mut vars };
    // Labels cut the input into blocks first, so that a failure in one block does not eat the next.
    let mut i = 0;
    while i < checks.len() {
        let end = checks[i + 1..].iter().position(|c| c.kind == Kind::Label).map_or(checks.len(), |p| i + 1 + p);
        if let Some(label) = checks.get(end) {
            let re = state.compile(label)?;
            let from = if checks[i].kind == Kind::Label { state.find(&checks[i])?.1 } else { state.at };
            match re.find_at(state.input, from) {
                Some(m) => state.limit = m.start(),
                None => return Err(failure(label, "label not found")),
            }
        } else {
            state.limit = input.len();
        }
        run_block(&mut state, &checks[i..end])?;
        i = end;
    }
    Ok(())
}

fn run_block(state: &mut State<'_>, checks: &[Check]) -> Result<(), String> {
    let mut i = 0;
    while i < checks.len() {
        let c = &checks[i];
        match c.kind {
            Kind::Not => state.pending_not.push(c.clone()),
            Kind::Dag => {
                let group = checks[i..].iter().take_while(|c| c.kind == Kind::Dag).count();
                state.dag(&checks[i..i + group])?;
                i += group;
                continue;
            }
            _ => state.step(c)?,
        }
        i += 1;
    }
    let end = state.limit;
    state.flush_not(end)
}

struct State<'a> {
    input: &'a str,
    at: usize,
    limit: usize,
    pending_not: Vec<Check>,
    vars: &'a mut BTreeMap<String, String>,
}

impl State<'_> {
    fn compile(&self, c: &Check) -> Result<Regex, String> {
        compile(&c.pattern, self.vars).map_err(|e| failure(c, &e)).map(|(re, _)| re)
    }

    /// The range of the first match at or after the current place.
    fn find(&self, c: &Check) -> Result<(usize, usize), String> {
        let re = self.compile(c)?;
        match re.find_at(self.input, self.at) {
            Some(m) if m.start() <= self.limit => Ok((m.start(), m.end())),
            _ => Err(failure(c, "no match")),
        }
    }

    fn step(&mut self, c: &Check) -> Result<(), String> {
        let (re, names) = compile(&c.pattern, self.vars).map_err(|e| failure(c, &e))?;
        let line_end = |from: usize| self.input[from..].find('\n').map_or(self.input.len(), |p| from + p);
        let range = match c.kind {
            Kind::Next | Kind::Empty => {
                let start = (line_end(self.at) + 1).min(self.input.len());
                (start, line_end(start))
            }
            Kind::Same => (self.at, line_end(self.at)),
            _ => (self.at, self.input.len()),
        };
        if c.kind == Kind::Empty {
            if range.0 != range.1 {
                return Err(failure(c, "the next line is not empty"));
            }
            self.flush_not(range.0)?;
            self.at = range.1;
            return Ok(());
        }
        let found = re.captures_at(&self.input[..range.1], range.0);
        let Some(m) = found else {
            return Err(failure(c, &self.near()));
        };
        let (start, end) = m.get(0).map_or((0, 0), |w| (w.start(), w.end()));
        if start > self.limit {
            return Err(failure(c, &self.near()));
        }
        for (group, name) in names {
            if let Some(v) = m.name(&group) {
                self.vars.insert(name, v.as_str().to_owned());
            }
        }
        self.flush_not(start)?;
        self.at = end;
        Ok(())
    }

    fn dag(&mut self, group: &[Check]) -> Result<(), String> {
        let mut end = self.at;
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for c in group {
            let re = self.compile(c)?;
            let hit = re
                .find_iter(&self.input[self.at..self.limit])
                .map(|m| (self.at + m.start(), self.at + m.end()))
                .find(|(s, e)| taken.iter().all(|(ts, te)| e <= ts || s >= te));
            let Some((s, e)) = hit else {
                return Err(failure(c, &self.near()));
            };
            taken.push((s, e));
            end = end.max(e);
        }
        let first = taken.iter().map(|t| t.0).min().unwrap_or(self.at);
        self.flush_not(first)?;
        self.at = end;
        Ok(())
    }

    fn flush_not(&mut self, end: usize) -> Result<(), String> {
        let end = end.max(self.at);
        for c in std::mem::take(&mut self.pending_not) {
            if self.compile(&c)?.is_match(&self.input[self.at..end]) {
                return Err(failure(&c, "forbidden text is there"));
            }
        }
        Ok(())
    }

    fn near(&self) -> String {
        let rest = &self.input[self.at..];
        let shown: String = rest.lines().take(3).collect::<Vec<_>>().join(" | ").chars().take(200).collect();
        format!("no match after: {shown}")
    }
}

fn failure(c: &Check, why: &str) -> String {
    format!("FileCheck line {}: '{}': {why}", c.line, c.pattern)
}

fn directives(test: &str, prefix: &str) -> Result<Vec<Check>, String> {
    let word = Regex::new(&format!(r"(?:^|[^A-Za-z0-9_-]){}(-[A-Z]+(?:-[0-9]+)?)?:", regex::escape(prefix)))
        .map_err(|e| e.to_string())?;
    let mut out = Vec::new();
    for (n, line) in test.lines().enumerate() {
        let Some(m) = word.captures(line) else {
            continue;
        };
        let end = m.get(0).map_or(0, |w| w.end());
        let (kind, count) = match m.get(1).map_or("", |s| s.as_str()) {
            "" => (Kind::Plain, 1),
            "-NEXT" => (Kind::Next, 1),
            "-SAME" => (Kind::Same, 1),
            "-EMPTY" => (Kind::Empty, 1),
            "-NOT" => (Kind::Not, 1),
            "-DAG" => (Kind::Dag, 1),
            "-LABEL" => (Kind::Label, 1),
            other => match other.strip_prefix("-COUNT-").and_then(|n| n.parse::<usize>().ok()) {
                Some(n) if n <= 1000 => (Kind::Plain, n),
                _ => continue,
            },
        };
        let check = Check { kind, pattern: canonical(line[end..].trim()), line: n + 1 };
        out.extend(std::iter::repeat_n(check, count));
    }
    Ok(out)
}

/// Runs of blanks become one.
fn canonical(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        let c = if c == '\t' { ' ' } else { c };
        if !(c == ' ' && out.ends_with(' ')) {
            out.push(c);
        }
    }
    out
}

/// The regular expression of a pattern, and which of its groups define which variables.
fn compile(pattern: &str, vars: &BTreeMap<String, String>) -> Result<(Regex, Vec<(String, String)>), String> {
    let mut re = String::new();
    let mut names: Vec<(String, String)> = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(body) = rest.strip_prefix("{{") {
            let end = body.find("}}").ok_or("'{{' without '}}'")?;
            re.push_str(&format!("(?:{})", &body[..end]));
            rest = &body[end + 2..];
        } else if let Some(body) =
            rest.strip_prefix("[[").filter(|b| b.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '#'))
        {
            let end = body.find("]]").ok_or("'[[' without ']]'")?;
            match body[..end].split_once(':') {
                Some((name, expr)) => {
                    let group = format!("v{}", names.len());
                    re.push_str(&format!("(?P<{group}>{expr})"));
                    names.push((group, name.trim_start_matches('#').to_owned()));
                }
                None => {
                    let name = body[..end].trim_start_matches('#');
                    match (vars.get(name), names.iter().any(|(_, n)| n == name)) {
                        (Some(v), false) => re.push_str(&regex::escape(v)),
                        _ => return Err(format!("variable '{name}' has no value")),
                    }
                }
            }
            rest = &body[end + 2..];
        } else {
            let end = [rest.find("{{"), rest[1..].find("[[").map(|p| p + 1)]
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(rest.len());
            let end = end.max(rest.chars().next().map_or(1, char::len_utf8));
            re.push_str(&regex::escape(&rest[..end]));
            rest = &rest[end..];
        }
    }
    let re = RegexBuilder::new(&re).multi_line(true).build().map_err(|e| e.to_string())?;
    Ok((re, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Name:   In\nData: [ 1, 2 ]\nName: Out\n  - [ 0x0 ]\n  - [ 0x1 ]\n\nend\n";

    #[test]
    fn accepts() {
        for test in [
            "# CHECK: Name: In\n# CHECK: Data: [ 1, 2 ]\n# CHECK-NEXT: Name: Out",
            "# CHECK: Out\n# CHECK-NEXT: - [ 0x0 ]\n# CHECK-NEXT: - [ 0x1 ]\n# CHECK-EMPTY:\n# CHECK-NEXT: end",
            "# CHECK: Name: [[N:[A-Z][a-z]+]]\n# CHECK-NOT: 0x1\n# CHECK: {{O.t}}",
            "# CHECK-DAG: end\n# CHECK-DAG: 0x0",
            "# CHECK-COUNT-2: Name",
            "# CHECK-LABEL: Name: In\n# CHECK: 1\n# CHECK-LABEL: Name: Out\n# CHECK: 0x1",
            "# CHECK: Data:\n# CHECK-SAME: 2 ]",
        ] {
            assert_eq!(check(test, "CHECK", TEXT), Ok(()), "{test}");
        }
    }

    #[test]
    fn refuses() {
        for test in [
            "# CHECK: Out\n# CHECK: In",
            "# CHECK: Name: In\n# CHECK-NEXT: Out",
            "# CHECK: In\n# CHECK-NOT: Data\n# CHECK: Out",
            "# CHECK-COUNT-3: Name",
            "# CHECK-LABEL: Name: In\n# CHECK: 0x1\n# CHECK-LABEL: Name: Out",
            "# CHECK: end\n# CHECK-NOT: x\n# CHECK: gone",
            "# OTHER: Name",
            "# CHECK: In\n# CHECK-NOT: end",
        ] {
            assert!(check(test, "CHECK", TEXT).is_err(), "{test}");
        }
    }
}
