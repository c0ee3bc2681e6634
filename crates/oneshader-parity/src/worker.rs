//! The child side of [`crate::pool`]: one process serves cases or rows of a suite.

use crate::cases::{CaseFile, CaseWorker, Setup};
use crate::pool;
use crate::script::Outcome;
use crate::suites::{End, Row, SuiteSetup, Worker};
use serde::{Deserialize, Serialize};

/// What a child is set up for.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AnySetup {
    Suite(String, SuiteSetup),
    Cases(Box<Setup>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyJob {
    Case(CaseFile),
    Row(Row),
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyAnswer {
    Outcomes(Vec<Outcome>),
    End(End),
    Mismatch(String),
}

enum State {
    Suite(Box<Worker>),
    Cases(Box<CaseWorker>),
}

/// Serves until the input ends.
pub fn serve() -> Result<(), String> {
    pool::serve(
        |setup: AnySetup| {
            Ok(match setup {
                AnySetup::Suite(_, s) => State::Suite(Box::new(Worker::open(s)?)),
                AnySetup::Cases(s) => State::Cases(Box::new(CaseWorker::open(*s)?)),
            })
        },
        |state, job: AnyJob| match (state, job) {
            (State::Suite(w), AnyJob::Row(row)) => AnyAnswer::End(w.work(&row)),
            (State::Cases(w), AnyJob::Case(case)) => AnyAnswer::Outcomes(w.work(&case)),
            _ => AnyAnswer::Mismatch("a job of another kind than the setup".to_owned()),
        },
    )
}
