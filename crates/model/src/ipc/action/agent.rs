//! Work that is handed to sub-agents.

use crate::ipc::declare::object;
use crate::ipc::limits::{
    COLLECT_MS_MAX, COLLECT_MS_MIN, CONTEXT_UNITS_MAX, HANDLE_UNITS_MAX, HANDLES_MAX,
    MODEL_UNITS_MAX, SUB_AGENT_UNITS_MAX, TASK_SECONDS_MAX, TASK_SECONDS_MIN, TASK_UNITS_MAX,
    TOKENS_MAX,
};
use crate::ipc::list::List;
use crate::ipc::number::Whole;
use crate::ipc::text::Text;

object! {
    /// Hand a task to a sub-agent. It has at most the rights of whoever hands it on.
    AgentDelegate {
        /// What it is to do.
        "task" task: Text<TASK_UNITS_MAX>,
        /// What it should know for that. It is data, and no order.
        "context" context: Option<Text<CONTEXT_UNITS_MAX>>,
        /// Which one, by its name in the manifest; it may be absent where there is one.
        "agent" agent: Option<Text<SUB_AGENT_UNITS_MAX>>,
        /// Its model, if not its usual one.
        "model" model: Option<Text<MODEL_UNITS_MAX>>,
        /// How many tokens it may use in all.
        "maxTokens" max_tokens: Option<Whole<1, TOKENS_MAX>>,
        /// How long it may take.
        "timeoutSec" timeout_sec: Option<Whole<TASK_SECONDS_MIN, TASK_SECONDS_MAX>>,
        /// Is its answer waited for? Yes, unless this says no.
        "wait" wait: Option<bool>,
    }
}

object! {
    /// Take the answers of sub-agents.
    AgentCollect {
        /// Which tasks, by the names that `agent_delegate` gave.
        "handleIds" handle_ids: List<Text<HANDLE_UNITS_MAX>, HANDLES_MAX>,
        /// How long to wait for those that have not ended.
        "timeoutMs" timeout_ms: Option<Whole<COLLECT_MS_MIN, COLLECT_MS_MAX>>,
    }
}
