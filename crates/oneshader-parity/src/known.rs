//! The list of known failures. It only shrinks: a listed case that passes is an error, as is an unlisted one that fails.
//!
//! One line per case and lane: `LANE CASE  # REASON`. The reason is required.

use std::collections::BTreeMap;

/// Known failures by lane and case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<(String, String), String>);

impl Known {
    /// Parses a list; blank lines and lines that start with `#` say nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut out = BTreeMap::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: &str| format!("known failures, line {}: {why}", n + 1);
            let (entry, reason) = line.split_once('#').ok_or_else(|| at("no '# reason'"))?;
            let mut words = entry.split_whitespace();
            let (Some(lane), Some(case), None) = (words.next(), words.next(), words.next()) else {
                return Err(at("not 'LANE CASE  # REASON'"));
            };
            if reason.trim().is_empty() {
                return Err(at("the reason is empty"));
            }
            if out.insert((lane.to_owned(), case.to_owned()), reason.trim().to_owned()).is_some() {
                return Err(at("listed twice"));
            }
        }
        Ok(Self(out))
    }

    /// Why a case is known to fail on a lane.
    pub fn reason(&self, lane: &str, case: &str) -> Option<&str> {
        self.0.get(&(lane.to_owned(), case.to_owned())).map(String::as_str)
    }

    /// Every entry.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.keys().map(|(l, c)| (l.as_str(), c.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let k = Known::parse("# head\n\nvulkan a/b.test  # a driver bug\n").unwrap();
        assert_eq!(k.reason("vulkan", "a/b.test"), Some("a driver bug"));
        assert_eq!(k.reason("dxc", "a/b.test"), None);
        for bad in ["vulkan a.test", "vulkan a.test #", "a.test # x", "v a # x\nv a # y"] {
            assert!(Known::parse(bad).is_err(), "{bad}");
        }
    }
}
