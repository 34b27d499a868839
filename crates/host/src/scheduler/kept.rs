//! The jobs and the runs that wait, as they are kept: `scheduler.json` in the state directory, replaced whole.

use std::path::Path;

use aegx::Sorted;
use files::private;
use serde_json::{Value, json};

use super::book::{Came, is_of};
use super::error::SchedulerError;
use super::job::{Job, Run};
use super::new_job::Owner;

const BOOK: &str = "scheduler.json";
/// The longest file, in bytes.
const BOOK_BYTES_MAX: u64 = 256 << 20;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Book {
    pub(super) jobs: Vec<Job>,
    pub(super) runs: Vec<Run>,
}

/// The jobs of the state directory `home` and the runs that wait, to look at.
///
/// # Errors
/// If they cannot be read.
pub fn look(home: &Path) -> Result<(Vec<Job>, Vec<Came>), SchedulerError> {
    let book = read(home)?;
    let waiting = book.waiting(None);
    Ok((book.jobs, waiting))
}

pub(super) fn read(home: &Path) -> Result<Book, SchedulerError> {
    let wrong = |why: &dyn std::fmt::Display| wrong(home, why);
    let bytes =
        private::read_if_there(&home.join(BOOK), BOOK_BYTES_MAX).map_err(|it| wrong(&it))?;
    let Some(bytes) = bytes else { return Ok(Book::default()) };
    let value: Value = serde_json::from_slice(&bytes).map_err(|it| wrong(&it))?;
    let list = |key: &str| value.get(key).and_then(Value::as_array);
    let jobs = list("jobs").and_then(|it| it.iter().map(Job::from_json).collect());
    let runs = list("runs").and_then(|it| it.iter().map(Run::from_json).collect());
    let version = value.get("version").and_then(Value::as_u64) == Some(1);
    match (jobs, runs) {
        (Some(jobs), Some(runs)) if version => Ok(Book { jobs, runs }),
        // Not taken for empty: a job without its tag would be a job that was washed.
        _ => Err(wrong(&"it is not as it was written")),
    }
}

pub(super) fn wrong(home: &Path, why: impl std::fmt::Display) -> SchedulerError {
    SchedulerError::Book { path: home.join(BOOK).display().to_string(), why: why.to_string() }
}

impl Book {
    /// The runs of an owner that wait; all if none is named.
    pub(super) fn waiting(&self, of: Option<&Owner>) -> Vec<Came> {
        let with_job = |run: &Run| {
            let job = self.jobs.iter().find(|it| it.id == run.job)?.clone();
            of.is_none_or(|of| is_of(&job, of)).then(|| Came { run: run.clone(), job })
        };
        self.runs.iter().filter_map(with_job).collect()
    }

    /// Whole or not at all.
    pub(super) fn write(&self, home: &Path) -> Result<(), SchedulerError> {
        let jobs: Vec<Value> = self.jobs.iter().map(Job::to_json).collect();
        let runs: Vec<Value> = self.runs.iter().map(Run::to_json).collect();
        let text = Sorted(&json!({ "jobs": jobs, "runs": runs, "version": 1 })).to_string();
        private::replace(&home.join(BOOK), text.as_bytes()).map_err(|it| wrong(home, it))
    }
}
