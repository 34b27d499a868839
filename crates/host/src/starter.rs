//! Who starts a session: a person, a job, or another session for a sub-agent.

use aegx::Principal;
use model::SessionId;

/// Who starts a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Starter {
    /// A person, who drives it.
    #[default]
    Person,
    /// A job that is due: the host drives it, and no person.
    Job {
        /// The sub-agents whose session made it, from the first one down: it has no more rights than they have.
        sub_agents: Vec<String>,
        /// How many tokens it may use. What it schedules itself may use no more.
        tokens: Option<u64>,
    },
    /// A session of the same user, for a sub-agent.
    Session {
        /// Which session.
        parent: SessionId,
        /// Who drives that.
        principal: Principal,
        /// The names of the sub-agents, from the first one down.
        sub_agents: Vec<String>,
        /// How many tokens the job may use that it works for, if it works for one.
        tokens: Option<u64>,
    },
}

impl Starter {
    /// Who drives a session that is started so.
    #[must_use]
    pub fn principal(&self) -> Principal {
        match self {
            Self::Person => Principal::User,
            Self::Job { .. } => Principal::Sys,
            Self::Session { principal, .. } => *principal,
        }
    }

    /// The session that starts it, if one does.
    #[must_use]
    pub fn parent(&self) -> Option<&SessionId> {
        match self {
            Self::Person | Self::Job { .. } => None,
            Self::Session { parent, .. } => Some(parent),
        }
    }

    /// The sub-agents whose session it is.
    #[must_use]
    pub fn sub_agents(&self) -> &[String] {
        match self {
            Self::Person => &[],
            Self::Job { sub_agents, .. } | Self::Session { sub_agents, .. } => sub_agents,
        }
    }

    /// How many tokens the job may use that it works for.
    pub(crate) fn tokens(&self) -> Option<u64> {
        match self {
            Self::Job { tokens, .. } | Self::Session { tokens, .. } => *tokens,
            Self::Person => None,
        }
    }
}
