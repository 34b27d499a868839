//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effort::Effort;

/// One question to a model, in no provider's dialect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// The model: its own name for a provider, `provider/model` or a task for a router.
    pub model: String,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may ask for. There is no way to name a tool that the provider itself would run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// The longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How freely the model chooses its words, from 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// How hard the model thinks, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

/// One message of the conversation so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said, in order.
    pub content: Vec<Block>,
}

/// Who said a message. The system prompt is a field of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, and what tools gave.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Block {
    /// Words.
    Text {
        /// What was said.
        text: String,
    },
    /// The model asks for a tool.
    ToolUse {
        /// By which the result names the call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments: an object. What the model wrote in place of JSON of one meaning stands here as a
        /// string, so that it fits no tool and can be told to the model.
        input: Value,
    },
    /// What a tool gave.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// What it gave.
        content: String,
        /// Whether it is an error.
        is_error: bool,
    },
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of the arguments.
    pub parameters: Value,
}

impl Request {
    /// How long all texts of the request are, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let tool =
            |it: &ToolDefinition| it.name.len() + it.description.len() + json_len(&it.parameters);
        let blocks = self.messages.iter().flat_map(|it| &it.content);
        self.system.len()
            + blocks.map(Block::text_bytes).sum::<usize>()
            + self.tools.iter().map(tool).sum::<usize>()
    }
}

impl Block {
    /// How long its texts are, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::ToolUse { name, input, .. } => name.len() + json_len(input),
            Self::ToolResult { content, .. } => content.len(),
        }
    }
}

fn json_len(value: &Value) -> usize {
    value.to_string().len()
}

/// Arguments as APIs want them: an object. What the model wrote in place of one stands in its only field.
#[must_use]
pub fn as_object(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            serde_json::json!({ "not_json": input })
        }
    }
}
