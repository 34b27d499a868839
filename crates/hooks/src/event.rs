//! What a hook tells: the session, who acts in it, and what is about to happen or has happened.

use serde_json::{Map, Value};

/// One hook call of a host, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The host's id of the session; a subagent's calls carry the session that started it.
    pub session: String,
    /// The subagent that acts, where the host says so. Gemini never does.
    pub subagent: Option<String>,
    /// The agent that started the subagent, where the host says so.
    pub parent_agent: Option<String>,
    /// The working directory of the session.
    pub cwd: Option<String>,
    /// What happens.
    pub event: Event,
}

/// The kinds of events that we tell apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A session begins.
    SessionStart {
        /// How it began, in the host's word: `startup`, `resume`, `clear`, `compact`, `new`.
        source: String,
    },
    /// A session ends.
    SessionEnd,
    /// A prompt is submitted. With [`Seen::subagent`] it was written by the agent that started it.
    Prompt {
        /// The prompt's text.
        text: String,
        /// Whether the host says that it is somebody else's than the user's: of a job that came due, of the host itself.
        is_others: bool,
    },
    /// A tool is about to run.
    Before(ToolUse),
    /// The host is about to ask its user for permission.
    Permission(ToolUse),
    /// A tool has run.
    After {
        /// The call.
        tool: ToolUse,
        /// The text of the result, as far as the model could read it.
        output: String,
        /// Whether the host says that the tool failed.
        failed: bool,
        /// The host's own form of the result, so that a replacement can keep its shape.
        shape: Value,
    },
    /// All tools of one answer of the model have run: each call with its result, as [`Event::After`] has it.
    Batch {
        /// What an event after each call would have told.
        calls: Vec<Event>,
    },
    /// A subagent begins.
    SubagentStart {
        /// The host's id of the subagent.
        id: String,
    },
    /// A subagent ends.
    SubagentStop {
        /// The host's id of the subagent.
        id: String,
    },
    /// The conversation is about to be summarised, or was.
    Compact {
        /// The summary, once there is one.
        summary: Option<String>,
    },
    /// The agent ends its turn.
    Stop {
        /// What it said last, where the host tells. Its user has seen it.
        message: Option<String>,
    },
    /// Instructions have been read to the model.
    Instructions {
        /// The file that they stand in, where the host says so.
        path: Option<String>,
    },
    /// Anything else that the host reports.
    Other,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The host's id of the call, where it has one. Gemini and Copilot have none.
    pub id: Option<String>,
    /// The tool's name, as the host calls it.
    pub name: String,
    /// The arguments.
    pub args: Map<String, Value>,
    /// The MCP server's tool behind the name.
    pub mcp: Option<McpTool>,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpTool {
    /// The server, as the host's settings call it; empty where the host does not say (Cursor's `preToolUse`).
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
}

impl Event {
    /// Returns the tool call that the event is about.
    #[must_use]
    pub fn tool(&self) -> Option<&ToolUse> {
        match self {
            Self::Before(tool) | Self::Permission(tool) | Self::After { tool, .. } => Some(tool),
            Self::SessionStart { .. }
            | Self::SessionEnd
            | Self::Prompt { .. }
            | Self::Batch { .. }
            | Self::SubagentStart { .. }
            | Self::SubagentStop { .. }
            | Self::Compact { .. }
            | Self::Stop { .. }
            | Self::Instructions { .. }
            | Self::Other => None,
        }
    }
}
