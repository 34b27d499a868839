//! A request to a model as the message `llm_call`, and back.

use llm::{Block, ErrorKind, LlmError, Message, Request, Role, ToolDefinition};
use model::ipc::{self, IpcError, LlmCall, TurnBlock, TurnContent};
use serde_json::{Map, Value, json};

/// What a message asks that leaves the choice of a provider to the settings.
const ROUTER: &str = "router";

/// The message that asks what `request` asks. A NUL has no business in a prompt and becomes `U+FFFD`.
pub(super) fn of(request: &Request) -> Vec<u8> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(request.messages.iter().map(turn));
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
    let (provider, model) = match request.model.split_once('/') {
        Some((provider, model)) => (provider, model),
        None => (ROUTER, request.model.as_str()),
    };
    add("action", "llm_call".into());
    add("provider", provider.into());
    add("messages", messages.into());
    if !model.is_empty() {
        add("model", model.into());
    }
    if !request.tools.is_empty() {
        add("tools", request.tools.iter().map(offered).collect());
    }
    if let Some(temperature) = request.temperature {
        add("temperature", f64::from(temperature).into());
    }
    if let Some(effort) = request.effort {
        add("effort", word(effort).as_str().into());
    }
    if let Some(tokens) = request.max_tokens {
        add("maxTokens", tokens.into());
    }
    let mut message = Value::Object(fields);
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

fn offered(tool: &ToolDefinition) -> Value {
    json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
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
