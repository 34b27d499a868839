//! A request to a model as the message `llm_call`, and back.

use llm::{Block, ErrorKind, LlmError, Message, Request, Role, ToolDefinition};
use model::ipc::{self, IpcError, LlmCall, TurnBlock, TurnContent};
use serde::Serialize;
use serde_json::{Value, json};

/// What a message asks that leaves the choice of a provider to the settings.
const ROUTER: &str = "router";

/// How a NUL is written in JSON.
const NUL: &str = "\\u0000";

/// A question to a model as it is written. It borrows what may be long.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    action: &'static str,
    provider: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [ToolDefinition],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
}

/// The message that asks what `request` asks. A NUL has no business in a prompt and becomes `U+FFFD`.
pub(super) fn of(request: &Request) -> Vec<u8> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(request.messages.iter().map(turn));
    let (provider, model) = match request.model.split_once('/') {
        Some((provider, model)) => (provider, model),
        None => (ROUTER, request.model.as_str()),
    };
    let asked = Asked {
        action: "llm_call",
        provider,
        messages,
        model,
        tools: &request.tools,
        temperature: request.temperature.map(f64::from),
        effort: request.effort.map(|it| word(it).as_str()),
        max_tokens: request.max_tokens,
    };
    // What cannot be written is no message, and refused as one.
    let text = serde_json::to_string(&asked).unwrap_or_default();
    match text.contains(NUL) {
        false => text.into_bytes(),
        true => without_nul(&text),
    }
}

/// The same message without NULs, where what looks like one is one.
fn without_nul(text: &str) -> Vec<u8> {
    let mut message = serde_json::from_str(text).unwrap_or(Value::Null);
    model::replace_texts(&mut message, &|it| {
        it.contains('\0').then(|| it.replace('\0', "\u{fffd}"))
    });
    message.to_string().into_bytes()
}

/// Why a message is none, place by place.
pub(super) fn invalid(error: &IpcError) -> LlmError {
    let issues = error.details().iter().map(Value::to_string).collect::<Vec<_>>().join("; ");
    LlmError::new(ErrorKind::Invalid, format!("{error}: {issues}"))
}

fn turn(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    json!({"role": role, "content": message.content.iter().map(block).collect::<Value>()})
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": llm::as_object(input)})
        }
        Block::ToolResult { tool_use_id, content, is_error } => json!({
            "type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error,
        }),
    }
}

/// The request that a permitted message asks for; whom it asks is decided elsewhere.
pub(super) fn request(call: &LlmCall) -> Request {
    let mut system = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for turn in call.messages.as_slice() {
        let content = match &turn.content {
            TurnContent::Text(text) => vec![Block::Text { text: text.as_str().to_owned() }],
            TurnContent::Blocks(blocks) => blocks.as_slice().iter().map(read).collect(),
        };
        let role = match turn.role {
            ipc::Role::User => Role::User,
            ipc::Role::Assistant => Role::Assistant,
            // Whoever sets a conversation up does so before it begins, wherever it is written.
            ipc::Role::System => {
                system.extend(content.into_iter().filter_map(words));
                continue;
            }
        };
        messages.push(Message { role, content });
    }
    let tools = call.tools.iter().flat_map(|it| it.as_slice()).map(|it| ToolDefinition {
        name: it.name.as_str().to_owned(),
        description: it.description.as_str().to_owned(),
        parameters: Value::Object(it.parameters.fields().clone()),
    });
    Request {
        model: String::new(),
        system: system.join("\n\n"),
        messages,
        tools: tools.collect(),
        max_tokens: call.max_tokens.and_then(|it| u32::try_from(it.get()).ok()),
        temperature: call.temperature.map(|it| it.get() as f32),
        effort: call.effort.map(effort),
    }
}

fn word(effort: llm::Effort) -> ipc::Effort {
    match effort {
        llm::Effort::Low => ipc::Effort::Low,
        llm::Effort::Medium => ipc::Effort::Medium,
        llm::Effort::High => ipc::Effort::High,
        llm::Effort::Max => ipc::Effort::Max,
    }
}

fn effort(word: ipc::Effort) -> llm::Effort {
    match word {
        ipc::Effort::Low => llm::Effort::Low,
        ipc::Effort::Medium => llm::Effort::Medium,
        ipc::Effort::High => llm::Effort::High,
        ipc::Effort::Max => llm::Effort::Max,
    }
}

fn words(block: Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(text),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    }
}

fn read(block: &TurnBlock) -> Block {
    match block {
        TurnBlock::Text(it) => Block::Text { text: it.text.as_str().to_owned() },
        TurnBlock::ToolUse(it) => Block::ToolUse {
            id: it.id.as_str().to_owned(),
            name: it.name.as_str().to_owned(),
            input: Value::Object(it.input.fields().clone()),
        },
        TurnBlock::ToolResult(it) => Block::ToolResult {
            tool_use_id: it.tool_use_id.as_str().to_owned(),
            content: it.content.as_str().to_owned(),
            is_error: it.is_error.unwrap_or_default(),
        },
    }
}
