//! What parent and worker say to each other, read strictly: an unknown field, type or name is no message.
//!
//! The first five and six of each side are those of the specification. `ask`, `call` and what answers them are how
//! the loop reaches the model and the gate; both are numbered by the worker, so that calls can run side by side.

use llm::{Answer, Effort, Message, Piece, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a parent says to its worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum ToWorker {
    /// Who it works for. Said first, and once.
    Init {
        /// The agent.
        agent_id: String,
        /// The user.
        user_id: String,
        /// What it is to know of the settings.
        config: WorkerConfig,
        /// The user, as far as tools are concerned.
        access_user: AccessUser,
    },
    /// The user says something.
    Message {
        /// What.
        content: String,
        /// The session, by the parent's own count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_session_id: Option<String>,
        /// What was said before this worker was there.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        history: Vec<Message>,
    },
    /// The turn is to end.
    Interrupt {},
    /// A person has answered.
    ToolApprovalResponse {
        /// The call.
        tool_id: String,
        /// Yes?
        approved: bool,
    },
    /// The worker is to end.
    Shutdown {},
    /// A piece of the answer to an `ask`.
    Piece {
        /// Which.
        id: u64,
        /// The piece.
        piece: Said,
    },
    /// The whole answer to an `ask`.
    Answer {
        /// Which.
        id: u64,
        /// The answer.
        answer: Answer,
    },
    /// There is no answer to an `ask`.
    NoAnswer {
        /// Which.
        id: u64,
        /// Why, as a code.
        code: String,
        /// Why, in words.
        message: String,
    },
    /// What came of a `call`: the door's answer.
    Called {
        /// Which.
        id: u64,
        /// `{"ok":…}`, as the door gives it.
        answer: Value,
    },
}

/// What a worker says to its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum FromWorker {
    /// It can be spoken to.
    Ready {},
    /// Something for the person. What is in it is checked by [`crate::Rebuilder`].
    Frame {
        /// The frame, as the worker wrote it.
        frame: Value,
    },
    /// It works in this session.
    SessionId {
        /// The session.
        session_id: SessionName,
        /// What the user said first.
        first_message: String,
    },
    /// A person is to be asked about a call that the gate has stopped.
    ToolApprovalRequest {
        /// The call.
        tool_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments.
        tool_input: Value,
    },
    /// The turn has ended.
    Result {
        /// The session.
        session_id: SessionName,
        /// By an interruption?
        interrupted: bool,
        /// What it says it cost; nobody believes it.
        usage: Usage,
        /// The answer.
        response_content: String,
        /// The calls of tools, in order.
        tool_calls: Vec<Called>,
    },
    /// The turn has ended without an answer.
    Error {
        /// Why, as a code.
        code: String,
        /// Why, in words.
        message: String,
    },
    /// A model is to be asked. Which one, with which instructions and tools is the parent's to say.
    Ask {
        /// The worker's number for it.
        id: u64,
        /// What for.
        purpose: Purpose,
        /// The conversation.
        messages: Vec<Message>,
    },
    /// A message for the door.
    Call {
        /// The worker's number for it.
        id: u64,
        /// The message, as `lazaret schema` shows it.
        message: Value,
    },
}

impl FromWorker {
    /// Reads a message, which is an object: an array of the same values is none.
    ///
    /// # Errors
    /// If it is no message.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        match bytes.first() {
            Some(b'{') => serde_json::from_slice(bytes),
            Some(_) | None => Err(serde::de::Error::custom("a message is an object")),
        }
    }
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The next step of the turn.
    Step,
    /// A summary of what was said before, which takes its place.
    Summary,
}

/// A tool call, as a worker tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Called {
    /// The tool.
    pub name: String,
    /// Whether it ran, was denied or failed.
    pub status: String,
}

/// The name of a session, which can stand in a path and in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

impl SessionName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionName {
    type Error = model::NameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        model::SessionId::parse(&text).map(|_| Self(text))
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

/// What a worker knows of the settings. Nothing of servers, of other agents, of users or of budgets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkerConfig {
    /// The model, for its own account of what it does.
    pub model: String,
    /// How hard the model thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Domains of tools that are on.
    pub domains: Vec<String>,
    /// How the loop looks after itself.
    pub hooks: Hooks,
    /// How much it says on stderr.
    pub log_level: String,
}

/// How the loop looks after itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Hooks {
    /// Have each call of a tool written down. It is the parent who does so, by what it saw itself.
    pub log_tool_use: bool,
    /// Remind the model to look at what it changed before it says that it is done.
    pub verify_before_complete: bool,
    /// End a turn in which the same call comes again and again.
    pub loop_detection: bool,
    /// How often it may come in a row.
    pub loop_detection_threshold: usize,
    /// Shorten long outputs of what went well.
    pub compact_success_output: bool,
    /// Lines of an output, or matches of a search, that are still shown as they are.
    pub compact_output_threshold: usize,
    /// Model calls of one turn.
    pub model_calls: usize,
}

/// Model calls of one turn.
pub const MODEL_CALLS_MAX: usize = 50;
/// The same call so often in a row ends a turn.
pub const SAME_CALL_MAX: usize = 3;
/// Lines of an output that are still shown as they are.
const COMPACT_LINES: usize = 50;

impl Default for Hooks {
    fn default() -> Self {
        Self {
            log_tool_use: false,
            verify_before_complete: true,
            loop_detection: true,
            loop_detection_threshold: SAME_CALL_MAX,
            compact_success_output: true,
            compact_output_threshold: COMPACT_LINES,
            model_calls: MODEL_CALLS_MAX,
        }
    }
}

/// The user, as far as tools are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessUser {
    /// The name.
    pub name: String,
    /// Tools, last parts of names, or domains that are denied.
    pub tools_deny: Vec<String>,
}

/// A piece of an answer, as it is said to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Said {
    /// Of the answer.
    Text {
        /// The piece.
        text: String,
    },
    /// Of what the model thinks aloud.
    Thinking {
        /// The piece.
        text: String,
    },
    /// A call begins.
    ToolStart {
        /// The call.
        call: String,
        /// The tool.
        name: String,
    },
    /// Of the arguments of a call.
    ToolInput {
        /// The call.
        call: String,
        /// The piece.
        json: String,
    },
}

impl From<Piece> for Said {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self::Text { text },
            Piece::Thinking(text) => Self::Thinking { text },
            Piece::ToolStart { id, name } => Self::ToolStart { call: id, name },
            Piece::ToolInput { id, partial_json } => {
                Self::ToolInput { call: id, json: partial_json }
            }
        }
    }
}
