//! What whoever looks after a host is told of workers and of models: names, numbers and codes, and nothing that was said.

/// Something that became of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It is being started.
    Spawned,
    /// It is ready, after so many milliseconds.
    Ready {
        /// How long it took.
        ms: u64,
    },
    /// It was not ready in time.
    ReadyTimeout,
    /// It could not be started.
    NotStarted,
    /// It had nothing to do for too long.
    IdleTimeout,
    /// So much of what its session was to have is not there, such as a server of tools. Why is on record.
    Lacks {
        /// How much.
        count: usize,
    },
    /// It broke off in the middle of a turn.
    Broke,
    /// It has ended.
    Exit,
    /// So many of its frames in one turn were none, and were not passed on.
    FrameRejected {
        /// How many.
        count: u64,
    },
}

/// Whoever is told of workers. It answers at once.
pub trait Watches: Send + Sync {
    /// Takes note.
    fn worker(&self, user: &str, agent: &str, session: &str, event: WorkerEvent);

    /// Takes note of a call of a tool. Its name is one that the gate knows, never one that a model made up.
    fn tool(&self, of: (&str, &str, &str), tool: &str, event: ToolEvent<'_>) {
        let _ = (of, tool, event);
    }
}

/// Something that became of a call of a tool: nothing of what it got or gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEvent<'a> {
    /// The gate is asked.
    Called,
    /// It was allowed, and has come to its end.
    Completed {
        /// Did it do what it was to do?
        well: bool,
        /// How long it took, in milliseconds.
        ms: u64,
    },
    /// The gate did not let it happen.
    Denied {
        /// What it said: `deny`, `step_up`, `defer`.
        decision: &'a str,
        /// The rule.
        rule: &'a str,
    },
}

/// A worker that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerShown {
    /// For whom.
    pub user: String,
    /// Of which agent.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// Has it a turn?
    pub is_busy: bool,
    /// Seconds since somebody wanted it last.
    pub idle_seconds: u64,
}

/// How a provider of models is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderHealth {
    /// The model that was asked, as `provider/model`.
    pub model: String,
    /// `ok`, the kind of its error, `slow` where it did not answer in time, or `not_asked`.
    pub state: &'static str,
    /// How long it took.
    pub ms: u64,
}
