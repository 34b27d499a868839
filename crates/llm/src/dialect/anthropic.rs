//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::json::{event, index, number, text};
use super::{Progress, ReadError, Reader};
use crate::answer::StopReason;
use crate::assembly::{Assembly, Broken};
use crate::classify;
use crate::request::{Block, Message, Request, Role, as_object};

/// The longest answer where nobody says so: the API wants a number.
const MAX_TOKENS_DEFAULT: u32 = 8192;
/// The highest temperature that the API takes.
const TEMPERATURE_MAX: f32 = 1.0;

pub(super) fn body(request: &Request) -> Value {
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| _ = body.insert(name.to_owned(), value);
    add("model", request.model.as_str().into());
    add("max_tokens", request.max_tokens.unwrap_or(MAX_TOKENS_DEFAULT).into());
    add("stream", true.into());
    if !request.system.is_empty() {
        // What stands before the conversation is the same each time: it is read from the cache.
        let cached = json!({"type": "ephemeral"});
        let system = json!({"type": "text", "text": request.system, "cache_control": cached});
        add("system", json!([system]));
    }
    let messages = request.messages.iter().filter_map(message);
    add("messages", messages.collect());
    if !request.tools.is_empty() {
        let tool = |it: &crate::request::ToolDefinition| json!({"name": it.name, "description": it.description, "input_schema": it.parameters});
        add("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(temperature) = request.temperature {
        add("temperature", f64::from(temperature.min(TEMPERATURE_MAX)).into());
    }
    if let Some(effort) = request.effort.and_then(|it| it.for_anthropic(&request.model)) {
        add("output_config", json!({ "effort": effort }));
    }
    Value::Object(body)
}

/// A message; none if nothing is in it, which the API refuses.
fn message(message: &Message) -> Option<Value> {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let blocks: Vec<Value> = message.content.iter().filter_map(block).collect();
    (!blocks.is_empty()).then(|| json!({"role": role, "content": blocks}))
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text } if text.trim().is_empty() => None,
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::ToolUse { id, name, input } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": as_object(input)}))
        }
        Block::ToolResult { tool_use_id, content, is_error } => Some(json!({
            "type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error,
        })),
    }
}

/// Reads a stream of Messages.
#[derive(Default)]
pub(super) struct Messages;

impl Reader for Messages {
    fn event(&mut self, data: &str, answer: &mut Assembly<'_>) -> Result<Progress, ReadError> {
        let event = event(data)?;
        let at = index(&event, "/index");
        match text(&event, "/type") {
            "message_start" => count(&event, "/message/usage", answer),
            "content_block_start" => match text(&event, "/content_block/type") {
                "text" => answer.text(at, text(&event, "/content_block/text"))?,
                "tool_use" => {
                    let id = text(&event, "/content_block/id");
                    answer.tool(at, id, text(&event, "/content_block/name"))?;
                }
                "thinking" | "redacted_thinking" => {}
                other => {
                    let why =
                        format!("the answer has a block of a kind that nobody asked for: {other}");
                    return Err(Broken::new(why).into());
                }
            },
            "content_block_delta" => match text(&event, "/delta/type") {
                "text_delta" => answer.text(at, text(&event, "/delta/text"))?,
                "thinking_delta" => answer.thinking(text(&event, "/delta/thinking"))?,
                "input_json_delta" => answer.tool_input(at, text(&event, "/delta/partial_json"))?,
                // Signatures and citations: nothing of the answer.
                _ => {}
            },
            "message_delta" => {
                count(&event, "/usage", answer);
                answer.stop = stop(text(&event, "/delta/stop_reason"), answer.stop);
            }
            "message_stop" => {
                answer.counted.is_final = true;
                return Ok(Progress::Done);
            }
            "error" => {
                let error = event.get("error").unwrap_or(&event);
                return Err(classify::in_stream(error).into());
            }
            // The API says that there will be others, and that they are to be passed over.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn may_end(&self) -> bool {
        false
    }
}

fn stop(reason: &str, before: Option<StopReason>) -> Option<StopReason> {
    match reason {
        "" => before,
        "tool_use" => Some(StopReason::ToolUse),
        "max_tokens" | "model_context_window_exceeded" => Some(StopReason::MaxTokens),
        "refusal" => Some(StopReason::Refusal),
        // `end_turn`, `stop_sequence`, `pause_turn`, and what comes later: the answer is whole.
        _ => Some(StopReason::EndTurn),
    }
}

fn count(event: &Value, path: &str, answer: &mut Assembly<'_>) {
    let Some(usage) = event.pointer(path) else { return };
    let counted = &mut answer.counted;
    counted.input = number(usage, "/input_tokens").or(counted.input);
    counted.output = number(usage, "/output_tokens").or(counted.output);
    counted.cache_read = number(usage, "/cache_read_input_tokens").unwrap_or(counted.cache_read);
    counted.cache_creation =
        number(usage, "/cache_creation_input_tokens").unwrap_or(counted.cache_creation);
}
