//! The seam between whoever brings a person's words (terminal, server, channel, job) and whoever runs
//! the agent.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use llm::Usage;

use crate::frame::Frame;
use crate::purse::{NotPaid, Purse, Reached};
use crate::watch::{ProviderHealth, Watches, WorkerShown};

/// Runs agents: one confined worker for each open session.
pub trait Runtime: Send + Sync {
    /// The agents that exist, whoever may use them.
    fn agents(&self) -> Vec<AgentCard>;

    /// Runs one turn to its end. Frames are handed over as they arrive, on the caller's thread.
    /// However the worker ends, this returns.
    /// Each question to a model is paid from `purse` before it is asked.
    fn turn(
        &self,
        turn: &Turn,
        purse: &Arc<dyn Purse>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Reply, TurnError>;

    /// Interrupts the turn that runs in this session, if one does.
    fn interrupt(&self, user: &str, agent: &str, session: &str);

    /// Answers a question of the running turn. False if there is none of that id, or it was answered.
    fn approve(&self, user: &str, approval: &Approval) -> bool;

    /// What a person is asked about calls of this session now.
    fn questions(&self, user: &str, session: &str) -> Vec<Question> {
        let _ = (user, session);
        Vec::new()
    }

    /// The files by which sessions are admitted are others: what was opened by the old ones does not go on. Gives what could
    /// not be read again and stays as it was, in sentences.
    fn reloaded(&self) -> Vec<String> {
        // Whoever keeps nothing open has nothing to do.
        Vec::new()
    }

    /// From now on there are so many workers at most, and so many of one user. Those that there are go on.
    fn bounded(&self, workers: usize, per_user: usize) {
        let _ = (workers, per_user);
    }

    /// The workers that there are, also those that have nothing to do.
    fn workers(&self) -> Vec<WorkerShown> {
        Vec::new()
    }

    /// From now on, `watcher` is told what becomes of workers.
    fn watched_by(&self, watcher: Arc<dyn Watches>) {
        drop(watcher);
    }

    /// Asks a model of each provider on this machine something short, and tells how each is. It takes no longer than `at_most`; what it uses is
    /// paid from `purse`, in the name of `user`.
    fn providers(
        &self,
        user: &str,
        purse: &Arc<dyn Purse>,
        at_most: Duration,
    ) -> Vec<ProviderHealth> {
        let _ = (user, purse, at_most);
        Vec::new()
    }

    /// Ends the worker of this session; its history stays.
    fn close(&self, user: &str, agent: &str, session: &str);
}

/// What is shown of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCard {
    /// The name of its folder.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A picture for lists.
    pub icon: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// First sentences to choose from.
    pub starters: Vec<String>,
}

/// One message of a person, and who sends it from where.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Who says it.
    pub user: String,
    /// To which agent.
    pub agent: String,
    /// A session of this user with this agent; a new one is begun under this id if there is none.
    pub session: String,
    /// What is said.
    pub content: String,
    /// Whose words that is.
    pub voice: Voice,
    /// What somebody else says was said before: it comes from outside, and is nobody's word.
    pub earlier: Option<String>,
    /// Whether the person sits at this machine. Everybody else is remote, and layer 3 counts.
    pub local: bool,
    /// Set by whoever wants it to end, from the moment on at which there is a turn: also before anybody runs it.
    pub stop: Arc<AtomicBool>,
}

/// Whose words a turn is made of. Whoever brings them knows it by the way they came, never by what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Voice {
    /// The user's own.
    #[default]
    User,
    /// Those of somebody on a messenger: another person, or words that the user only passed on.
    Channel {
        /// Where, and who it was.
        origin: String,
    },
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer.
    pub content: String,
    /// Whether somebody interrupted it.
    pub interrupted: bool,
    /// What the parent metered, never what the worker said.
    pub usage: Usage,
    /// Tool calls in order: the tool's name, and whether it ran, was denied or failed.
    pub tool_calls: Vec<(String, String)>,
}

/// A person's answer to a question about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// The session.
    pub session: String,
    /// The call, by the id of its question.
    pub tool_id: String,
    /// Yes?
    pub approved: bool,
}

/// What a person is asked about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The call, by the id of its question.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// What it would do, and why somebody is asked, in lines for a person.
    pub shown: Vec<String>,
}

/// A turn without an answer.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", code.as_str())]
pub struct TurnError {
    /// Why, for programs.
    pub code: TurnErrorCode,
    /// Why, for people.
    pub message: String,
    /// What the parent metered until then.
    pub usage: Usage,
    /// Whether that is all. It is not where a model may still be at work, or nobody knows.
    pub is_all: bool,
    /// What whoever speaks with the agent should know of its session, once each.
    pub notes: Vec<String>,
    /// Rules that denied a call until then.
    pub denied: Box<[String]>,
    /// The limit of a budget that it ended at, if that is why.
    pub exceeded: Option<Box<Reached>>,
}

impl TurnError {
    /// A turn in which no model was asked.
    pub fn new(code: TurnErrorCode, message: impl Into<String>) -> Self {
        let (usage, notes, denied) = Default::default();
        Self { code, message: message.into(), usage, is_all: true, notes, denied, exceeded: None }
    }

    /// The same at a limit of a budget.
    #[must_use]
    pub fn at(self, exceeded: Option<Reached>) -> Self {
        Self { exceeded: exceeded.map(Box::new), ..self }
    }

    /// The same with what is to be known beside it.
    #[must_use]
    pub fn noting(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// The same after these calls were denied.
    #[must_use]
    pub fn denying(self, denied: Vec<String>) -> Self {
        Self { denied: denied.into(), ..self }
    }

    /// The same after so much was used.
    #[must_use]
    pub fn after(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// The same where nobody knows whether that was all.
    #[must_use]
    pub fn perhaps_more(self) -> Self {
        Self { is_all: false, ..self }
    }
}

impl From<NotPaid> for TurnError {
    fn from(it: NotPaid) -> Self {
        Self::new(it.code, it.message)
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnErrorCode {
    /// There is no such agent.
    AgentNotFound,
    /// The user may not use it.
    AccessDenied,
    /// There is no such session of this user with this agent.
    SessionNotFound,
    /// The host is ending, or cannot keep what is said.
    Busy,
    /// The session has a turn that runs.
    QueryInProgress,
    /// As many workers run as may.
    WorkersExhausted,
    /// The user has spent what may be spent.
    BudgetExceeded,
    /// The budget is in dollars, and nobody knows what the model costs.
    ModelUnpriced,
    /// No worker could be had.
    InitFailed,
    /// The worker ended, or did not behave.
    WorkerError,
    /// The model did not answer.
    ModelError(llm::ErrorKind),
}

impl TurnErrorCode {
    /// Its name in answers, for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AgentNotFound => "agent_not_found",
            Self::AccessDenied => "access_denied",
            Self::SessionNotFound => "session_not_found",
            Self::Busy => "busy",
            Self::QueryInProgress => "query_in_progress",
            Self::WorkersExhausted => "workers_exhausted",
            Self::BudgetExceeded => "budget_exceeded",
            Self::ModelUnpriced => "model_unpriced",
            Self::InitFailed => "init_failed",
            Self::WorkerError => "worker_error",
            Self::ModelError(kind) => match kind {
                llm::ErrorKind::Overloaded => "model_overloaded",
                llm::ErrorKind::RateLimited => "model_rate_limited",
                llm::ErrorKind::InvalidKey => "model_invalid_key",
                llm::ErrorKind::ContextTooLong => "model_context_too_long",
                llm::ErrorKind::Refused => "model_refused",
                llm::ErrorKind::Unreachable => "model_unreachable",
                llm::ErrorKind::Invalid => "model_invalid_request",
            },
        }
    }
}
