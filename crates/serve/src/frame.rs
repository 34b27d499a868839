//! What the server says on a socket: 24 types of frames, and the codes of errors.

use agent::{AgentCard, Frame, Status, SubagentStatus, TurnError, TurnErrorCode};
use llm::Usage;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// One frame to a client.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(
    missing_docs,
    reason = "the fields are those of docs/serve-api.md, which says what each is"
)]
pub enum ServerFrame {
    Connected {
        connection_id: String,
    },
    Subscribed {
        agent_id: String,
        session_id: String,
        agent_name: String,
        agent_description: String,
    },
    Token {
        id: u64,
        text: String,
    },
    ThinkingToken {
        text: String,
    },
    ToolUseStart {
        id: u64,
        tool_name: String,
        tool_id: String,
    },
    ToolUseInput {
        tool_id: String,
        partial_json: String,
    },
    ToolUseEnd {
        tool_id: String,
        input: String,
    },
    ToolResult {
        id: u64,
        tool_id: String,
        content: String,
    },
    AssistantMessage {
        id: u64,
        content: String,
        usage: UsageShown,
    },
    SubagentStarted {
        task_id: String,
        description: String,
    },
    SubagentProgress {
        task_id: String,
        tool_uses: u64,
        duration_ms: u64,
        total_tokens: u64,
    },
    SubagentDone {
        task_id: String,
        status: SubagentStatus,
        summary: String,
        total_tokens: u64,
    },
    Error {
        code: ErrorCode,
        message: String,
        retry_after: Option<u64>,
        detail: Option<Detail>,
    },
    Status {
        status: Status,
    },
    Result {
        session_id: String,
        interrupted: bool,
        usage: ResultUsage,
    },
    ToolApproval {
        tool_id: String,
        tool_name: String,
        tool_input: Value,
        question: String,
    },
    Replay {
        messages: Vec<Value>,
    },
    BudgetWarning {
        warnings: Vec<Warning>,
    },
    BudgetExceeded {
        reason: &'static str,
        limit: f64,
        used: f64,
        resets_at: Option<String>,
    },
    ConsentRequired {
        policy_version: String,
    },
    RosterUpdated {
        agents: Vec<CardShown>,
    },
    ToolApprovalRejected {
        tool_id: String,
        reason: &'static str,
    },
    Warning {
        code: &'static str,
        message: &'static str,
    },
    Pong,
}

/// Where a message is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// The field.
    pub path: String,
}

/// Tokens of an answer, as clients see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageShown {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_creation_tokens: u64,
}

impl From<Usage> for UsageShown {
    fn from(it: Usage) -> Self {
        Self {
            input_tokens: it.input_tokens,
            output_tokens: it.output_tokens,
            cache_read_tokens: it.cache_read_tokens,
            cache_creation_tokens: it.cache_creation_tokens,
        }
    }
}

/// What a turn took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost_usd: Option<f64>,
    pub duration_ms: u64,
}

/// A limit that is near.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    pub budget: &'static str,
    pub limit: f64,
    pub used: f64,
    pub percentage: u64,
}

/// An agent, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardShown {
    pub id: String,
    pub name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    pub tags: Vec<String>,
    pub starters: Vec<String>,
}

impl From<AgentCard> for CardShown {
    fn from(it: AgentCard) -> Self {
        let AgentCard { id, name, description, icon, tags, starters } = it;
        Self { id, name, description, icon, tags, starters }
    }
}

/// Codes of errors: stable, and the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is a row of docs/serve-api.md")]
pub enum ErrorCode {
    AuthFailed,
    RateLimited,
    MessageTooLarge,
    ParseError,
    InvalidMessage,
    NotSubscribed,
    AgentNotFound,
    SessionNotFound,
    AccessDenied,
    ConsentRequired,
    BudgetExceeded,
    Busy,
    WorkersExhausted,
    TokenRevoked,
    ShuttingDown,
    InitFailed,
    QueryInProgress,
    WorkerError,
    ModelOverloaded,
    ModelRateLimited,
    ModelInvalidKey,
    ModelContextTooLong,
    ModelRefused,
    ModelUnreachable,
    ModelInvalidRequest,
    ModelUnpriced,
    Internal,
}

impl ErrorCode {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthFailed => "auth_failed",
            Self::RateLimited => "rate_limited",
            Self::MessageTooLarge => "message_too_large",
            Self::ParseError => "parse_error",
            Self::InvalidMessage => "invalid_message",
            Self::NotSubscribed => "not_subscribed",
            Self::AgentNotFound => "agent_not_found",
            Self::SessionNotFound => "session_not_found",
            Self::AccessDenied => "access_denied",
            Self::ConsentRequired => "consent_required",
            Self::BudgetExceeded => "budget_exceeded",
            Self::Busy => "busy",
            Self::WorkersExhausted => "workers_exhausted",
            Self::TokenRevoked => "token_revoked",
            Self::ShuttingDown => "shutting_down",
            Self::InitFailed => "init_failed",
            Self::QueryInProgress => "query_in_progress",
            Self::WorkerError => "worker_error",
            Self::ModelOverloaded => "model_overloaded",
            Self::ModelRateLimited => "model_rate_limited",
            Self::ModelInvalidKey => "model_invalid_key",
            Self::ModelContextTooLong => "model_context_too_long",
            Self::ModelRefused => "model_refused",
            Self::ModelUnreachable => "model_unreachable",
            Self::ModelInvalidRequest => "model_invalid_request",
            Self::ModelUnpriced => "model_unpriced",
            Self::Internal => "internal",
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.as_str())
    }
}

impl ServerFrame {
    /// An error.
    #[must_use]
    pub fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Error { code, message: message.into(), retry_after: None, detail: None }
    }

    /// As it is sent. What cannot be written is an error of ours.
    #[must_use]
    pub fn to_text(&self) -> String {
        let whole = serde_json::to_value(self).unwrap_or_else(|_| {
            serde_json::json!({ "type": "error", "code": "internal", "message": "a frame broke" })
        });
        let mut whole = whole;
        if let Some(fields) = whole.as_object_mut() {
            fields.retain(|_, it| !it.is_null());
        }
        whole.to_string()
    }
}

/// A frame of the runtime, with the id that clients know it by.
pub(crate) fn relayed(frame: Frame, id: u64) -> ServerFrame {
    match frame {
        Frame::Status { status } => ServerFrame::Status { status },
        Frame::Token { text, .. } => ServerFrame::Token { id, text },
        Frame::ThinkingToken { text } => ServerFrame::ThinkingToken { text },
        Frame::ToolUseStart { tool_name, tool_id, .. } => {
            ServerFrame::ToolUseStart { id, tool_name, tool_id }
        }
        Frame::ToolUseInput { tool_id, partial_json } => {
            ServerFrame::ToolUseInput { tool_id, partial_json }
        }
        Frame::ToolResult { tool_id, content, .. } => {
            ServerFrame::ToolResult { id, tool_id, content }
        }
        Frame::SubagentStarted { task_id, description } => {
            ServerFrame::SubagentStarted { task_id, description }
        }
        Frame::SubagentProgress { task_id, tool_uses, duration_ms, total_tokens } => {
            ServerFrame::SubagentProgress { task_id, tool_uses, duration_ms, total_tokens }
        }
        Frame::SubagentDone { task_id, status, summary, total_tokens } => {
            ServerFrame::SubagentDone { task_id, status, summary, total_tokens }
        }
    }
}

/// The code of a turn that came to nothing.
pub(crate) fn code_of(error: &TurnError) -> ErrorCode {
    match error.code {
        TurnErrorCode::AgentNotFound => ErrorCode::AgentNotFound,
        TurnErrorCode::AccessDenied => ErrorCode::AccessDenied,
        TurnErrorCode::SessionNotFound => ErrorCode::SessionNotFound,
        TurnErrorCode::Busy => ErrorCode::Busy,
        TurnErrorCode::QueryInProgress => ErrorCode::QueryInProgress,
        TurnErrorCode::WorkersExhausted => ErrorCode::WorkersExhausted,
        TurnErrorCode::BudgetExceeded => ErrorCode::BudgetExceeded,
        TurnErrorCode::ModelUnpriced => ErrorCode::ModelUnpriced,
        TurnErrorCode::InitFailed => ErrorCode::InitFailed,
        TurnErrorCode::WorkerError => ErrorCode::WorkerError,
        TurnErrorCode::ModelError(kind) => match kind {
            llm::ErrorKind::Overloaded => ErrorCode::ModelOverloaded,
            llm::ErrorKind::RateLimited => ErrorCode::ModelRateLimited,
            llm::ErrorKind::InvalidKey => ErrorCode::ModelInvalidKey,
            llm::ErrorKind::ContextTooLong => ErrorCode::ModelContextTooLong,
            llm::ErrorKind::Refused => ErrorCode::ModelRefused,
            llm::ErrorKind::Unreachable => ErrorCode::ModelUnreachable,
            llm::ErrorKind::Invalid => ErrorCode::ModelInvalidRequest,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_turn_has_one_name_whoever_tells_it() {
        use TurnErrorCode as C;
        let of_models = llm::ErrorKind::ALL.into_iter().map(C::ModelError);
        let others = [
            C::AgentNotFound,
            C::AccessDenied,
            C::SessionNotFound,
            C::Busy,
            C::QueryInProgress,
            C::WorkersExhausted,
            C::BudgetExceeded,
            C::ModelUnpriced,
            C::InitFailed,
            C::WorkerError,
        ];
        for code in of_models.chain(others) {
            assert_eq!(code_of(&TurnError::new(code, "x")).as_str(), code.as_str());
        }
    }
}
