//! What a person sees while an agent works. A worker sends frames; the parent rebuilds each one field
//! by field before anybody sees it.

use serde::{Deserialize, Serialize};

/// One of the nine frames that are relayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame {
    /// The agent does something else than before.
    Status {
        /// What it does now.
        status: Status,
    },
    /// A piece of the answer.
    Token {
        /// Its number; numbers only grow.
        id: u64,
        /// The piece.
        text: String,
    },
    /// A piece of what the model thinks aloud.
    ThinkingToken {
        /// The piece.
        text: String,
    },
    /// A tool is about to be called.
    ToolUseStart {
        /// Its number; numbers only grow.
        id: u64,
        /// The tool.
        tool_name: String,
        /// The call.
        tool_id: String,
    },
    /// A piece of the arguments of a call.
    ToolUseInput {
        /// The call.
        tool_id: String,
        /// The piece, which is no JSON by itself.
        partial_json: String,
    },
    /// What a call gave back.
    ToolResult {
        /// Its number; numbers only grow.
        id: u64,
        /// The call.
        tool_id: String,
        /// What the model is shown of it.
        content: String,
    },
    /// A sub-agent begins.
    SubagentStarted {
        /// The task.
        task_id: String,
        /// What it is to do.
        description: String,
    },
    /// A sub-agent is at work.
    SubagentProgress {
        /// The task.
        task_id: String,
        /// Calls of tools so far.
        tool_uses: u64,
        /// Time so far.
        duration_ms: u64,
        /// Tokens so far.
        total_tokens: u64,
    },
    /// A sub-agent has ended.
    SubagentDone {
        /// The task.
        task_id: String,
        /// How it ended.
        status: SubagentStatus,
        /// What it found.
        summary: String,
        /// Tokens in all.
        total_tokens: u64,
    },
}

/// What the agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The model was asked.
    Thinking,
    /// The model writes its answer.
    Responding,
    /// Tools are called.
    ToolUse,
    /// Nothing: the turn is over.
    Idle,
    /// Nothing: somebody interrupted it.
    Interrupted,
}

/// How a sub-agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubagentStatus {
    /// With an answer.
    Completed,
    /// With an error.
    Failed,
    /// By whoever ended it.
    Stopped,
}

impl Frame {
    /// The number of the frame, where its kind has one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Token { id, .. }
            | Self::ToolUseStart { id, .. }
            | Self::ToolResult { id, .. } => Some(*id),
            Self::Status { .. }
            | Self::ThinkingToken { .. }
            | Self::ToolUseInput { .. }
            | Self::SubagentStarted { .. }
            | Self::SubagentProgress { .. }
            | Self::SubagentDone { .. } => None,
        }
    }
}
