//! What somebody has tried, counted across processes.

use crate::state::StateError;

/// Keeps numbers of things that were tried, for some time.
pub trait Tried: Send + Sync {
    /// Adds those that are new under `what`, forgets what is older than the span, and says how many there were and are.
    /// Once there are more than `most`, no more are added. What was added is durable when it returns.
    ///
    /// # Errors
    /// If it may not be durable; then nobody knows how many there are.
    fn tried(
        &self,
        what: &str,
        numbers: &[u32],
        span: TriedSpan,
        most: usize,
    ) -> Result<TriedCount, StateError>;
}

/// What counts together, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedSpan {
    /// What was tried before does not count.
    pub since: i64,
    /// When it is.
    pub now: i64,
}

/// How many different things were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriedCount {
    /// Before those that were added.
    pub before: usize,
    /// With them.
    pub after: usize,
}
