//! OpenAI's Responses.

use serde_json::{Map, Value, json};

use super::json::{event, index, number, text};
use super::{Progress, ReadError, Reader};
use crate::answer::StopReason;
use crate::assembly::{Assembly, Broken};
use crate::classify;
use crate::request::{Block, Message, Request, Role, as_object};

pub(super) fn body(request: &Request, effort: Option<&str>) -> Value {
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| _ = body.insert(name.to_owned(), value);
    let mut input = Vec::new();
    request.messages.iter().for_each(|it| push(it, &mut input));
    add("model", request.model.as_str().into());
    add("input", input.into());
    add("stream", true.into());
    // The conversation is ours to keep.
    add("store", false.into());
    if !request.system.is_empty() {
        add("instructions", request.system.as_str().into());
    }
    if !request.tools.is_empty() {
        let tool = |it: &crate::request::ToolDefinition| {
            json!({
                "type": "function", "name": it.name, "description": it.description,
                "parameters": it.parameters, "strict": false,
            })
        };
        add("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(tokens) = request.max_tokens {
        add("max_output_tokens", tokens.into());
    }
    if let Some(temperature) = request.temperature {
        add("temperature", f64::from(temperature).into());
    }
    if let Some(effort) = effort {
        add("reasoning", json!({ "effort": effort }));
    }
    Value::Object(body)
}

fn push(message: &Message, all: &mut Vec<Value>) {
    let (role, kind) = match message.role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    for block in &message.content {
        all.push(match block {
            Block::Text { text } if text.is_empty() => continue,
            Block::Text { text } => {
                json!({"role": role, "content": [{"type": kind, "text": text}]})
            }
            Block::ToolUse { id, name, input } => json!({
                "type": "function_call", "call_id": id, "name": name,
                "arguments": as_object(input).to_string(),
            }),
            Block::ToolResult { tool_use_id, content, .. } => {
                json!({"type": "function_call_output", "call_id": tool_use_id, "output": content})
            }
        });
    }
}

/// Reads a stream of Responses.
#[derive(Default)]
pub(super) struct Responses;

impl Reader for Responses {
    fn event(&mut self, data: &str, answer: &mut Assembly<'_>) -> Result<Progress, ReadError> {
        let event = event(data)?;
        let at = index(&event, "/output_index");
        match text(&event, "/type") {
            "response.output_item.added" => match text(&event, "/item/type") {
                "function_call" => {
                    answer.tool(at, text(&event, "/item/call_id"), text(&event, "/item/name"))?;
                }
                "message" | "reasoning" => {}
                other => {
                    let why =
                        format!("the answer has an item of a kind that nobody asked for: {other}");
                    return Err(Broken::new(why).into());
                }
            },
            "response.output_text.delta" => answer.text(at, text(&event, "/delta"))?,
            "response.refusal.delta" => {
                answer.text(at, text(&event, "/delta"))?;
                answer.stop = Some(StopReason::Refusal);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                answer.thinking(text(&event, "/delta"))?;
            }
            "response.function_call_arguments.delta" => {
                answer.tool_input(at, text(&event, "/delta"))?;
            }
            "response.completed" => {
                let asks = answer.asks_for_tools();
                let reason = if asks { StopReason::ToolUse } else { StopReason::EndTurn };
                return Ok(done(&event, reason, answer));
            }
            "response.incomplete" => {
                let reason = match text(&event, "/response/incomplete_details/reason") {
                    "content_filter" => StopReason::Refusal,
                    _ => StopReason::MaxTokens,
                };
                return Ok(done(&event, reason, answer));
            }
            "response.failed" | "response.cancelled" => {
                count(&event, answer);
                let error = event.pointer("/response/error").unwrap_or(&Value::Null);
                return Err(classify::in_stream(error).into());
            }
            "error" => {
                let error = event.get("error").unwrap_or(&event);
                return Err(classify::in_stream(error).into());
            }
            // Beginnings and ends of parts, and what comes later.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn may_end(&self) -> bool {
        false
    }
}

fn done(event: &Value, reason: StopReason, answer: &mut Assembly<'_>) -> Progress {
    count(event, answer);
    // A refusal that was said in words stays one.
    answer.stop = answer.stop.or(Some(reason));
    Progress::Done
}

fn count(event: &Value, answer: &mut Assembly<'_>) {
    let Some(usage) = event.pointer("/response/usage").filter(|it| it.is_object()) else { return };
    let cached = index(usage, "/input_tokens_details/cached_tokens");
    let counted = &mut answer.counted;
    let fresh = |all: u64| all.saturating_sub(cached);
    counted.input = number(usage, "/input_tokens").map(fresh).or(counted.input);
    counted.output = number(usage, "/output_tokens").or(counted.output);
    counted.cache_read = cached;
    counted.is_final = true;
}
