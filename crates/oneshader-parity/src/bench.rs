//! Device time of cases, lane against lane.
//!
//! In each round every lane compiles, runs and times the case in turn, so that a drift of the device's clock meets all of
//! them alike. A lane's time is the median over the rounds of the least time in a round.

use crate::cases::{CaseFile, Setup, open_lanes, run_one};
use crate::script::{self, Outcome};
use std::fmt;

/// What a bench found.
pub struct Report {
    device: String,
    lanes: Vec<String>,
    rows: Vec<(String, Result<Vec<f64>, String>)>,
}

/// Times cases; the set-up's options say how often a round repeats.
pub fn run(setup: &Setup, found: &[CaseFile], rounds: u32) -> Result<Report, String> {
    let mut lanes = open_lanes(setup)?;
    let device = lanes.first().map(|l| l.engine.description()).ok_or("no lanes")?;
    let mut rows = Vec::new();
    for case in found {
        let text = std::fs::read_to_string(&case.path).map_err(|e| format!("{}: {e}", case.path.display()))?;
        let mut times = vec![Vec::new(); lanes.len()];
        let mut failure = None;
        'rounds: for round in 0..rounds {
            let mut runs = Vec::new();
            for lane in &mut lanes {
                let run = run_one(&case.path, &text, lane, &setup.options);
                if run.outcome != Outcome::Pass {
                    let (name, why) = run.outcome.parts();
                    let why = why.lines().next().unwrap_or_default();
                    failure = Some(format!("{}: {name}: {why}", lane.name));
                    break 'rounds;
                }
                runs.push(run);
            }
            // Speed is no merit of a wrong answer.
            for (run, lane) in runs.iter().zip(&lanes).skip(1).filter(|_| round == 0) {
                failure = script::difference(&lane.name, &run.programs, &lanes[0].name, &runs[0].programs, true);
                if failure.is_some() {
                    break 'rounds;
                }
            }
            for (all, run) in times.iter_mut().zip(&runs) {
                all.push(run.times.iter().copied().fold(f64::INFINITY, f64::min));
            }
        }
        let row: Result<Vec<f64>, String> = failure.map_or_else(|| Ok(times.into_iter().map(median).collect()), Err);
        // A bench takes minutes: each row is said as it is known, the table comes at the end.
        match &row {
            Ok(t) => eprintln!(
                "{}: {} us",
                case.name,
                t.iter().map(|t| format!("{:.1}", t / 1000.0)).collect::<Vec<_>>().join(", ")
            ),
            Err(e) => eprintln!("{}: {}", case.name, e.trim()),
        }
        rows.push((case.name.clone(), row));
    }
    Ok(Report { device, lanes: setup.lanes.clone(), rows })
}

/// The median; infinity of nothing.
fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => f64::INFINITY,
        n if n % 2 == 1 => v[n / 2],
        n => (v[n / 2 - 1] + v[n / 2]) / 2.0,
    }
}

impl Report {
    /// Whether every case ran on every lane.
    pub fn complete(&self) -> bool {
        self.rows.iter().all(|(_, r)| r.is_ok())
    }

    /// The median over the cases of the last lane's time by the first's; none with fewer than two lanes.
    pub fn median_ratio(&self) -> Option<f64> {
        let ratios: Vec<f64> = self
            .rows
            .iter()
            .filter_map(|(_, r)| match r.as_deref() {
                Ok([first, .., last]) => Some(last / first),
                _ => None,
            })
            .collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }
}

impl fmt::Display for Report {
    /// A table in Markdown: microseconds of each lane, then ratios to the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.device)?;
        write!(f, "| case |")?;
        for l in &self.lanes {
            write!(f, " {l} (us) |")?;
        }
        for l in &self.lanes[1..] {
            write!(f, " {l} / {} |", self.lanes[0])?;
        }
        writeln!(f, "\n|---|{}", "---:|".repeat(self.lanes.len() * 2 - 1))?;
        for (name, row) in &self.rows {
            match row {
                Ok(times) => {
                    write!(f, "| {name} |")?;
                    for t in times {
                        write!(f, " {:.1} |", t / 1000.0)?;
                    }
                    for t in &times[1..] {
                        write!(f, " {:.3} |", t / times[0])?;
                    }
                    writeln!(f)?;
                }
                Err(e) => writeln!(f, "| {name} | {} |", e.trim().replace('\n', " "))?,
            }
        }
        if let Some(r) = self.median_ratio() {
            writeln!(f, "median ratio {r:.3}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios() {
        let row = |a: f64, b: f64| ("k".to_owned(), Ok(vec![a, b]));
        let r = Report {
            device: "d".into(),
            lanes: vec!["dxc".into(), "vulkan".into()],
            rows: vec![row(1000.0, 1100.0), row(2000.0, 2000.0), row(1000.0, 5000.0), ("bad".into(), Err("no".into()))],
        };
        assert_eq!(r.median_ratio(), Some(1.1));
        assert!(!r.complete());
        let text = r.to_string();
        assert!(text.contains("| k | 1.0 | 1.1 | 1.100 |") && text.contains("| bad | no |"), "{text}");
    }
}
