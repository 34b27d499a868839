//! What goes wrong with a messenger, and how it is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::address::AddressError;
use crate::wire::{Response, WireError};

/// Characters of what a messenger says went wrong.
const SAID_CHARS_MAX: usize = 200;
/// The longest wait that a messenger may ask for.
const RETRY_MAX: Duration = Duration::from_secs(300);

/// Why a messenger did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The way to it.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It refuses.
    #[error("it answers {status}: {said}")]
    Refused {
        /// The status, or the number that it gives.
        status: u16,
        /// What it says, shortened and without characters for control.
        said: String,
        /// How long it wants to be left alone.
        retry: Option<Duration>,
    },
    /// It answers what is no answer.
    #[error("its answer is not understood")]
    NotUnderstood,
    /// There is no such place for it.
    #[error("this messenger has no such place")]
    NoSuchPlace,
    /// An address.
    #[error(transparent)]
    Address(#[from] AddressError),
}

impl ChannelError {
    /// What an answer that is no success says.
    pub(crate) fn refused(status: u16, said: &str, retry_after: Option<u64>) -> Self {
        let said = said.chars().filter(|it| !it.is_control()).take(SAID_CHARS_MAX).collect();
        let retry = retry_after.map(|it| Duration::from_secs(it).min(RETRY_MAX));
        Self::Refused { status, said, retry }
    }

    /// What the status of an answer says.
    pub(crate) fn of_status(answer: &Response) -> Option<Self> {
        let good = (200..300).contains(&answer.status);
        (!good).then(|| Self::refused(answer.status, "no success", answer.retry_after))
    }

    /// How long the messenger wants to be left alone.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry, .. } => *retry,
            Self::Wire(_) | Self::NotUnderstood | Self::NoSuchPlace | Self::Address(_) => None,
        }
    }
}

/// How the last exchange with a messenger went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// There was none yet.
    #[default]
    Unknown,
    /// Well.
    Up,
    /// Not well.
    Down(String),
}

/// Notes how exchanges go.
#[derive(Default)]
pub(crate) struct Noted(Mutex<Health>);

impl Noted {
    pub(crate) fn note<T>(&self, outcome: Result<T, ChannelError>) -> Result<T, ChannelError> {
        let health = match &outcome {
            Ok(_) => Health::Up,
            Err(error) => Health::Down(error.to_string()),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = health;
        outcome
    }

    pub(crate) fn health(&self) -> Health {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
