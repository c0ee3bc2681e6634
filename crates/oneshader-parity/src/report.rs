//! What a run leaves: a table for people, JSON and JUnit for machines.

use crate::known::Known;
use crate::script::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One case on one lane.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The case, relative to the folder it was found in.
    pub case: String,
    /// The lane.
    pub lane: String,
    /// Stages of its compiles, as profiles spell them (`vs`, `ps`, `cs`, ...).
    pub stages: Vec<String>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Milliseconds of the whole case, all lanes together.
    pub milliseconds: u64,
    /// Why this failure is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
}

/// How an entry counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[allow(missing_docs)]
pub enum Class {
    Passed,
    Skipped,
    KnownFailure,
    Failed,
}

impl Outcome {
    /// The name of the outcome and what is to say about it.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Pass => ("pass", ""),
            Self::Skip(w) => ("skip", w),
            Self::Unsupported(w) => ("unsupported", w),
            Self::CompileError(w) => ("compile error", w),
            Self::Fail(w) => ("fail", w),
            Self::ExpectedFailure(w) => ("expected failure", w),
            Self::UnexpectedPass(w) => ("unexpected pass", w),
            Self::Crash(w) => ("crash", w),
            Self::Timeout(w) => ("timeout", w),
        }
    }
}

impl Entry {
    /// How it counts.
    pub fn class(&self) -> Class {
        match &self.outcome {
            Outcome::Pass | Outcome::ExpectedFailure(_) if self.known.is_some() => Class::Failed,
            Outcome::Pass | Outcome::ExpectedFailure(_) => Class::Passed,
            Outcome::Skip(_) | Outcome::Unsupported(_) => Class::Skipped,
            _ if self.known.is_some() => Class::KnownFailure,
            _ => Class::Failed,
        }
    }

    /// The first line of why, with the known reason.
    pub fn summary(&self) -> String {
        let (name, why) = self.outcome.parts();
        let first: String = why.lines().find(|l| !l.trim().is_empty()).unwrap_or("").chars().take(160).collect();
        match (&self.known, self.class()) {
            (Some(_), Class::Failed) => {
                format!("{name}, but it is listed as a known failure: remove it from the list")
            }
            (Some(k), _) => format!("{name}: {first} (known: {k})"),
            (None, _) => format!("{name}: {first}"),
        }
    }
}

/// Fills in which failures are known.
pub fn mark_known(entries: &mut [Entry], known: &Known) {
    for e in entries {
        e.known = known.reason(&e.lane, &e.case).map(str::to_owned);
    }
}

/// Listed cases that did not run at all, so that the list cannot rot.
pub fn stale<'k>(entries: &[Entry], known: &'k Known) -> Vec<(&'k str, &'k str)> {
    known.entries().filter(|(l, c)| !entries.iter().any(|e| e.lane == *l && e.case == *c)).collect()
}

/// A table of outcomes by lane.
pub fn table(entries: &[Entry]) -> String {
    let mut lanes: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for e in entries {
        let (name, _) = e.outcome.parts();
        if !names.contains(&name) {
            names.push(name);
        }
        *lanes.entry(&e.lane).or_default().entry(name).or_default() += 1;
    }
    names.sort_unstable();
    let mut out = format!("{:<10}{:>8}", "lane", "cases");
    for n in &names {
        let _ = write!(out, "{n:>w$}", w = n.len() + 3);
    }
    out.push('\n');
    for (lane, counts) in lanes {
        let _ = write!(out, "{lane:<10}{:>8}", counts.values().sum::<usize>());
        for n in &names {
            let _ = write!(out, "{:>w$}", counts.get(n).copied().unwrap_or(0), w = n.len() + 3);
        }
        out.push('\n');
    }
    out
}

/// Stages that our compiler has.
const OUR_STAGES: [&str; 3] = ["vs", "ps", "cs"];

/// Each other lane against `dxc`, over the cases whose shaders are vertex, pixel or compute: how many of those that DXC's
/// code passes pass, and which pass that it does not.
pub fn against_dxc(entries: &[Entry]) -> String {
    let ours = |e: &&Entry| e.stages.iter().all(|s| OUR_STAGES.contains(&s.as_str()));
    let mut lanes: BTreeMap<&str, BTreeMap<&str, &Outcome>> = BTreeMap::new();
    for e in entries.iter().filter(ours) {
        lanes.entry(&e.lane).or_default().insert(&e.case, &e.outcome);
    }
    let Some(reference) = lanes.remove("dxc") else { return String::new() };
    let mut out = String::new();
    for (lane, cases) in lanes {
        let ran = |o: &Outcome| !matches!(o, Outcome::Skip(_) | Outcome::Unsupported(_));
        let passed: Vec<_> =
            cases.iter().filter(|(c, o)| ran(o) && reference.get(*c).is_some_and(|r| **r == Outcome::Pass)).collect();
        let both = passed.iter().filter(|(_, o)| ***o == Outcome::Pass).count();
        let more: Vec<_> = cases
            .iter()
            .filter(|(c, o)| ***o == Outcome::Pass && reference.get(*c).is_some_and(|r| ran(r) && **r != Outcome::Pass))
            .map(|(c, _)| *c)
            .collect();
        let percent = 100.0 * both as f64 / passed.len().max(1) as f64;
        let _ = writeln!(out, "{lane}: {both} of {} that dxc passes and the engine runs ({percent:.1}%)", passed.len());
        if !more.is_empty() {
            let _ = writeln!(out, "{lane}: {} more that dxc does not pass: {}", more.len(), more.join(", "));
        }
    }
    out
}

/// Every entry as JSON.
pub fn json(entries: &[Entry]) -> Result<String, String> {
    serde_json::to_string_pretty(entries).map_err(|e| e.to_string())
}

/// Every entry as JUnit XML, one suite per lane.
pub fn junit(entries: &[Entry]) -> String {
    let mut lanes: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for e in entries {
        lanes.entry(&e.lane).or_default().push(e);
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (lane, list) in lanes {
        let count = |c: Class| list.iter().filter(|e| e.class() == c).count();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
            escape(lane),
            list.len(),
            count(Class::Failed),
            count(Class::Skipped) + count(Class::KnownFailure)
        );
        for e in list {
            let seconds = e.milliseconds as f64 / 1000.0;
            let _ = write!(out, "    <testcase name=\"{}\" time=\"{seconds:.3}\"", escape(&e.case));
            let message = escape(&e.summary());
            let _ = match e.class() {
                Class::Passed => writeln!(out, "/>"),
                Class::Skipped | Class::KnownFailure => {
                    writeln!(out, "><skipped message=\"{message}\"/></testcase>")
                }
                Class::Failed => {
                    let text: String = e.outcome.parts().1.chars().take(4000).collect();
                    writeln!(out, "><failure message=\"{message}\">{}</failure></testcase>", escape(&text))
                }
            };
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no other control characters, escaped or not.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(case: &str, outcome: Outcome) -> Entry {
        Entry { case: case.into(), lane: "vulkan".into(), stages: vec![], outcome, milliseconds: 5, known: None }
    }

    #[test]
    fn the_list_only_shrinks() {
        let known = Known::parse("vulkan a # x\nvulkan b # y\nvulkan gone # z").unwrap();
        let mut e =
            [entry("a", Outcome::Pass), entry("b", Outcome::Fail("f".into())), entry("c", Outcome::Fail("g".into()))];
        mark_known(&mut e, &known);
        assert_eq!(e.each_ref().map(Entry::class), [Class::Failed, Class::KnownFailure, Class::Failed]);
        assert_eq!(stale(&e, &known), [("vulkan", "gone")]);
    }

    #[test]
    fn lanes_against_dxc() {
        let at = |lane: &str, case: &str, stage: &str, outcome: Outcome| Entry {
            lane: lane.into(),
            stages: vec![stage.into()],
            ..entry(case, outcome)
        };
        let fail = || Outcome::Fail(String::new());
        let e = [
            at("dxc", "a", "cs", Outcome::Pass),
            at("dxc", "b", "cs", Outcome::Pass),
            at("dxc", "c", "cs", fail()),
            at("dxc", "h", "hs", Outcome::Pass),
            at("dxc", "u", "cs", Outcome::Pass),
            at("vulkan", "a", "cs", Outcome::Pass),
            at("vulkan", "b", "cs", fail()),
            at("vulkan", "c", "cs", Outcome::Pass),
            at("vulkan", "h", "hs", fail()),
            at("vulkan", "u", "cs", Outcome::Unsupported(String::new())),
        ];
        let text = against_dxc(&e);
        assert!(text.contains("vulkan: 1 of 2 that dxc passes") && text.contains("1 more"), "{text}");
        assert!(text.ends_with(": c\n"), "{text}");
    }

    #[test]
    fn xml_is_escaped() {
        let xml = junit(&[entry("a<b", Outcome::Fail("\u{1b}[31m \"x\" & y".into()))]);
        assert!(xml.contains("name=\"a&lt;b\"") && xml.contains("&quot;x&quot; &amp; y"));
        assert!(!xml.contains('\u{1b}'));
    }
}
