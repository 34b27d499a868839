//! Why a job was not made, found or removed.

use evidence::AppendError;

use super::book::PROMPT_BYTES_MAX;
use super::cron::CronError;
use super::settings::TimeError;

/// Why a job was not made, found or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// Its schedule.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// Its time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// It would never come.
    #[error("that time has passed, or lies more than five years ahead")]
    Never,
    /// Nothing to say, or too much.
    #[error("a prompt has from 1 to {PROMPT_BYTES_MAX} bytes")]
    Prompt,
    /// Where its answers are to go.
    #[error("`delivery`: {0}")]
    Delivery(String),
    /// As many as one may have.
    #[error("there are {0} jobs already, which is the most; remove one first")]
    Full(usize),
    /// None of that name, or somebody else's.
    #[error("there is no job `{0}`")]
    NotFound(String),
    /// The file.
    #[error("`{path}`: {why}")]
    Book {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// What is not recorded does not come.
    #[error("nothing comes due where it cannot be recorded")]
    NoJournal,
    /// The journal.
    #[error(transparent)]
    Record(#[from] AppendError),
}

impl SchedulerError {
    /// Is it about what was asked, and not about the machine?
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Book { .. } | Self::NoJournal | Self::Record(_) => false,
            Self::Cron(_)
            | Self::Time(_)
            | Self::Never
            | Self::Prompt
            | Self::Delivery(_)
            | Self::Full(_)
            | Self::NotFound(_) => true,
        }
    }
}
