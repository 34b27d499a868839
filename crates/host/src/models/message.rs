//! A request to a model as the message `llm_call`, and back.

use llm::{Block, ErrorKind, LlmError, Message, Request, Role, ToolDefinition};
use model::ipc::{self, IpcError, LlmCall, TurnBlock, TurnContent};
use serde::Serialize;
use serde_json::Value;

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
    messages: Vec<Said<'a>>,
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

/// A turn of the conversation.
#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: Value },
    ToolResult { tool_use_id: &'a str, content: &'a str, is_error: bool },
}

/// The message that asks what `request` asks. A NUL has no business in a prompt and becomes `U+FFFD`.
pub(super) fn of(request: &Request) -> Vec<u8> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(Said { role: "system", content: Content::Text(&request.system) });
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
    match has_nul(&text) {
        false => text.into_bytes(),
        true => without_nul(&text),
    }
}

/// Is there a NUL in a text that is written as JSON? Our own tools name its escape in patterns, where its backslash is escaped itself.
fn has_nul(text: &str) -> bool {
    text.match_indices(NUL).any(|(at, _)| {
        let before = text.bytes().take(at).rev().take_while(|it| *it == b'\\');
        before.count() % 2 == 0
    })
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

fn turn(message: &Message) -> Said<'_> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    Said { role, content: Content::Blocks(message.content.iter().map(part).collect()) }
}

fn part(block: &Block) -> Part<'_> {
    match block {
        Block::Text { text } => Part::Text { text },
        Block::ToolUse { id, name, input } => {
            Part::ToolUse { id, name, input: llm::as_object(input) }
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            Part::ToolResult { tool_use_id, content, is_error: *is_error }
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_nul_is_replaced_and_what_only_names_one_stays() {
        let tool = |pattern: &str| ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            parameters: json!({ "pattern": pattern }),
        };
        let asked = |text: &str, pattern: &str| -> Value {
            let text = text.to_owned();
            let content = vec![Block::Text { text }];
            let messages = vec![Message { role: Role::User, content }];
            let request = Request {
                model: String::new(),
                system: String::new(),
                messages,
                tools: vec![tool(pattern)],
                max_tokens: None,
                temperature: None,
                effort: None,
            };
            serde_json::from_slice(&of(&request)).unwrap()
        };
        let both = |it: &Value| {
            [it.pointer("/messages/0/content/0/text"), it.pointer("/tools/0/parameters/pattern")]
                .map(|it| it.unwrap().as_str().unwrap().to_owned())
        };
        assert_eq!(both(&asked("a\0b", "^[^\\u0000]*$")), ["a\u{fffd}b", "^[^\\u0000]*$"]);
        assert_eq!(both(&asked("\\\0", "\0\\u0000")), ["\\\u{fffd}", "\u{fffd}\\u0000"]);
        for text in ["\\u0000", "\\\\u0000", "u0000"] {
            assert!(!has_nul(&serde_json::to_string(text).unwrap()), "{text}");
        }
        for text in ["\0", "\\\0", "\\\\\0", "\\u0000\0"] {
            assert!(has_nul(&serde_json::to_string(text).unwrap()), "{text}");
        }
    }
}
