//! One try at one provider, as a router sees it.

use std::time::Duration;

use crate::answer::{Answer, Flow, Piece};
use crate::error::{ErrorKind, LlmError};
use crate::request::Request;

/// A provider that says of its failures whether another one might do better.
pub trait Attempt: Send + Sync {
    /// Answers `request` as [`crate::Provider::ask`] does.
    fn attempt(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, Failure>;
}

/// An attempt that came to nothing.
#[derive(Debug)]
pub struct Failure {
    /// What whoever asked is told.
    pub error: LlmError,
    /// Whether another provider might answer the same request.
    pub passes_on: bool,
    /// How long the provider wants to be left alone.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Nobody answered in time, or the connection or the stream broke.
    #[must_use]
    pub fn unreachable(detail: impl AsRef<str>) -> Self {
        Self {
            error: LlmError::new(ErrorKind::Unreachable, detail),
            passes_on: true,
            retry_after: None,
        }
    }

    /// Everybody would say the same of this request.
    #[must_use]
    pub fn for_good(kind: ErrorKind, detail: impl AsRef<str>) -> Self {
        Self { error: LlmError::new(kind, detail), passes_on: false, retry_after: None }
    }
}
