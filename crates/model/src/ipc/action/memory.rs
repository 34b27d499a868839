//! The agent's memory. None of these says whether content is tainted: that is not the agent's to say.

use crate::ipc::declare::{choice, object};
use crate::ipc::limits::{MEMORY_RESULTS_MAX, MEMORY_UNITS_MAX, QUERY_UNITS_MAX, SOURCE_UNITS_MAX};
use crate::ipc::number::Whole;
use crate::ipc::scope::Scope;
use crate::ipc::text::Text;
use crate::ipc::uuid::Uuid;

object! {
    /// Remember something.
    MemoryWrite {
        /// Where to.
        "scope" scope: Scope,
        /// What.
        "content" content: Text<MEMORY_UNITS_MAX>,
        /// What kind of thing it is.
        "type" kind: MemoryKind,
        /// Where the agent says it has it from.
        "source" source: Option<Text<SOURCE_UNITS_MAX>>,
        /// The entry that it belongs to.
        "relatedId" related_id: Option<Uuid>,
    }
}

choice! {
    /// What kind of thing a memory entry is.
    MemoryKind {
        /// What somebody likes.
        "preference" Preference,
        /// A fact.
        "knowledge" Knowledge,
        /// Something a user said.
        "user_message" UserMessage,
        /// Something the agent said.
        "assistant_message" AssistantMessage,
        /// Of the system.
        "system" System,
        /// Circumstances.
        "context" Context,
        /// How people or things belong together.
        "relationship" Relationship,
    }
}

object! {
    /// Search the memory.
    MemoryQuery {
        /// Where.
        "scope" scope: Scope,
        /// What for; everything if absent.
        "query" query: Option<Text<QUERY_UNITS_MAX>>,
        /// How many entries at most.
        "maxResults" max_results: Option<Whole<1, MEMORY_RESULTS_MAX>>,
    }
}

object! {
    /// Read one memory entry.
    MemoryRead {
        /// Which.
        "id" id: Uuid,
    }
}

object! {
    /// Forget one memory entry.
    MemoryDelete {
        /// Which.
        "id" id: Uuid,
    }
}

object! {
    /// List memory entries.
    MemoryList {
        /// Where.
        "scope" scope: Scope,
        /// How many at most.
        "limit" limit: Option<Whole<1, MEMORY_RESULTS_MAX>>,
    }
}
