//! What a model answers.

use serde::{Deserialize, Serialize};

use crate::request::Block;

/// A piece of an answer that is still being written.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words of the answer.
    Text(String),
    /// Words that the model thinks and does not say.
    Thinking(String),
    /// The model begins to ask for a tool.
    ToolStart {
        /// By which the result will name the call.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a tool. Nothing is judged on it: only the whole is JSON.
    ToolInput {
        /// The call.
        id: String,
        /// Some characters of its arguments.
        partial_json: String,
    },
}

/// Whether the rest of a stream is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It is.
    Continue,
    /// It is not: the answer ends here, as [`StopReason::Interrupted`].
    Stop,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// What it said and which tools it asks for, in order.
    pub content: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// The model that answered, which a router may have chosen.
    pub model: String,
    /// Models that were asked before it and failed after they had used something, which is in `usage`, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl Answer {
    /// All models that used what is in `usage`.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.failed.iter().chain([&self.model]).map(String::as_str)
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said all.
    EndTurn,
    /// It waits for the results of tools.
    ToolUse,
    /// The longest answer that was asked for, or that the model can give.
    MaxTokens,
    /// The model, or its provider's filter, would not go on.
    Refusal,
    /// Whoever asked wanted no more.
    Interrupted,
}

impl StopReason {
    /// The name of the reason in records and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::Refusal => "refusal",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Tokens that an answer cost, by the provider's own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Usage {
    /// Tokens that were read afresh: those of the two fields below are not among them.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Tokens that were found in the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens that were put into the provider's cache.
    pub cache_creation_tokens: u64,
    /// Whether the provider did not say and this is our estimate, because the stream broke off.
    #[serde(default)]
    pub estimated: bool,
}

/// Bytes of text that are taken for one token where the provider did not count.
const BYTES_PER_TOKEN: u64 = 4;

impl Usage {
    /// An estimate of what so many bytes of request and of answer cost.
    #[must_use]
    pub fn estimate(request_bytes: usize, answer_bytes: usize) -> Self {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        Self {
            input_tokens: tokens(request_bytes),
            output_tokens: tokens(answer_bytes),
            estimated: true,
            ..Self::default()
        }
    }

    /// Both together; an estimate if one of them is.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_creation_tokens: self
                .cache_creation_tokens
                .saturating_add(other.cache_creation_tokens),
            estimated: self.estimated || other.estimated,
        }
    }
}
