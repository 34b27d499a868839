//! Work that is handed to sub-agents: whoever runs agents carries it out.

use model::ipc::{AgentCollect, AgentDelegate};
use monitor::{Output, Permit};

/// Hands the work of one session to sub-agents.
pub(crate) trait Delegates: Send + Sync {
    /// Is there a sub-agent that the session could hand work to?
    fn has_sub_agents(&self) -> bool;

    /// Hands a task on.
    fn delegate(&self, permit: Permit<AgentDelegate>) -> Output;

    /// Gives what sub-agents of this session came to.
    fn collect(&self, permit: Permit<AgentCollect>) -> Output;
}

/// Says that nobody is there.
pub(super) fn nobody() -> Output {
    Output::not_begun("only agents that Lazaret runs itself have sub-agents")
}
