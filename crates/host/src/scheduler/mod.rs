//! Work at set times. A job is something that an agent is to be told later; when it is due, it becomes a run
//! that waits until the agent asks for it.
//!
//! INVARIANT (AsItsMaker): a run is for the user and the agent for whom the job was made, and brings the
//! taint of the session that made it. Nobody else sees it, and time does not wash it off.
//!
//! INVARIANT (RecordThenAct): that a job came, was skipped or missed is in the journal before it counts.
//!
//! Nothing here starts an agent. Where `cron` is chosen, a run is given to the first session of its user and agent that
//! asks for it. That session may ask again, should the answer be lost; no other gets it. Where `full` is chosen, the host
//! carries it out in a session of its own: see [`crate::agents::Jobs`].

mod book;
mod cron;
mod delivery;
mod error;
mod heartbeat;
mod job;
mod kept;
mod leaving;
mod new_job;
mod runs;
mod settings;

use std::path::Path;
use std::sync::Arc;

use evidence::Journal;
use model::provider::{self, Provider, ProviderKind};

pub use book::{Came, JOBS_MAX, Outcome, Runner, Scheduler};
pub use cron::{Cron, CronError};
pub use delivery::{Delivery, Handed, NoDelivery};
pub use error::SchedulerError;
pub use job::{Given, Job, MadeIn, Run, RunEnd, RunStatus, When};
pub use kept::look;
pub(crate) use leaving::{forget, jobs_of};
pub use new_job::{Added, NewJob, Owner};
pub(crate) use runs::ANSWER_CHARS_MAX;
pub use settings::{Hours, JOBS_PER_USER_DEFAULT, Settings, TimeError, UnknownZone};

use crate::admission::{self, AdmissionError};

/// Why there is no scheduler although one was chosen.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// A time zone.
    #[error("config.yaml: {0}")]
    Zone(#[from] UnknownZone),
}

/// The scheduler that the settings in `home` choose, if they choose one.
///
/// # Errors
/// If it cannot be had as they say.
pub fn scheduler(home: &Path, journal: Arc<Journal>) -> Result<Option<Scheduler>, SetupError> {
    Ok(chosen(home)?
        .map(|(settings, runner)| Scheduler::new(home, settings, journal).run_by(runner)))
}

/// The same for a person whose word was recorded: see [`Scheduler::of_person`].
///
/// # Errors
/// If it cannot be had as the settings say.
pub fn of_person(home: &Path) -> Result<Option<Scheduler>, SetupError> {
    let of = |(settings, runner)| Scheduler::of_person(home, settings).run_by(runner);
    Ok(chosen(home)?.map(of))
}

/// Who has runs carried out by the settings in `home`; none if they choose no scheduler.
///
/// # Errors
/// If they are not understood.
pub fn runner(home: &Path) -> Result<Option<Runner>, AdmissionError> {
    Ok(match admission::providers(home)?.of(ProviderKind::Scheduler) {
        Some(Provider::Scheduler(provider::Scheduler::Cron)) => Some(Runner::Agent),
        Some(Provider::Scheduler(provider::Scheduler::Full)) => Some(Runner::Host),
        Some(_) | None => None,
    })
}

fn chosen(home: &Path) -> Result<Option<(Settings, Runner)>, SetupError> {
    let Some(runner) = runner(home)? else { return Ok(None) };
    let settings = admission::settings(home)?;
    let raw = settings.map(|it| it.scheduler().clone()).unwrap_or_default();
    Ok(Some((Settings::new(&raw)?, runner)))
}

#[cfg(test)]
mod tests;
