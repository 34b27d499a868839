//! The jobs of a user who takes them along, or leaves.

use std::path::Path;

use evidence::Receipt;
use model::UserId;
use serde_json::Value;

use super::book::Scheduler;
use super::error::SchedulerError;
use super::job::Job;
use super::kept::{read, wrong};
use super::settings::Settings;

/// The jobs of a user, as they are kept.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn jobs_of(home: &Path, user: &UserId) -> Result<Vec<Value>, SchedulerError> {
    let book = read(home)?;
    Ok(book.jobs.iter().filter(|it| it.user == *user).map(Job::to_json).collect())
}

/// Removes the jobs of a user with their runs, whether a scheduler is chosen or not. Gives how many. The receipt proves that
/// it was recorded first.
///
/// # Errors
/// If they cannot be read or kept; then none is removed.
pub(crate) fn forget(home: &Path, user: &UserId, _: &Receipt) -> Result<usize, SchedulerError> {
    if read(home)?.jobs.iter().all(|it| it.user != *user) {
        return Ok(0);
    }
    let settings = Settings::new(&policy::access::SchedulerSettings::default());
    let scheduler = Scheduler::of_person(home, settings.map_err(|it| wrong(home, it))?);
    let _lock = scheduler.lock()?;
    let mut book = scheduler.read()?;
    let before = book.jobs.len();
    book.jobs.retain(|it| it.user != *user);
    let jobs = &book.jobs;
    book.runs.retain(|run| jobs.iter().any(|it| it.id == run.job));
    scheduler.write(&book)?;
    Ok(before - book.jobs.len())
}
