//! Sessions as lists show them.

use model::{AgentId, Profile, SessionId, UserId};
use monitor::Summary;

/// A session as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The session.
    pub id: SessionId,
    /// For whom it runs.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
    /// Its profile, as it was created.
    pub profile: Profile,
    /// Whether it has ended.
    pub state: SessionState,
    /// What the monitor last said of it.
    pub summary: Summary,
}

/// Whether a session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// It does.
    Open,
    /// It does not; if its id comes back it is as tainted as before.
    Ended,
}

impl SessionState {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Ended].into_iter().find(|it| it.as_str() == text)
    }
}
