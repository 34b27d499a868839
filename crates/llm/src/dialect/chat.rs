//! OpenAI's Chat Completions, which servers of one's own have as well.

use serde_json::{Map, Value, json};

use super::json::{event, index, number, text};
use super::{Progress, ReadError, Reader};
use crate::answer::StopReason;
use crate::assembly::{Assembly, Broken};
use crate::classify;
use crate::request::{Block, Message, Request, Role, as_object};

/// The last line of a stream.
const DONE: &str = "[DONE]";
/// The place of the text among the blocks; calls have their own.
const TEXT: u64 = u64::MAX;

pub(super) fn body(request: &Request, max_tokens: &str, effort: Option<&str>) -> Value {
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| _ = body.insert(name.to_owned(), value);
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    request.messages.iter().for_each(|it| push(it, &mut messages));
    add("model", request.model.as_str().into());
    add("messages", messages.into());
    add("stream", true.into());
    add("stream_options", json!({"include_usage": true}));
    if !request.tools.is_empty() {
        let tool = |it: &crate::request::ToolDefinition| {
            json!({"type": "function", "function": {
                "name": it.name, "description": it.description, "parameters": it.parameters,
            }})
        };
        add("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(tokens) = request.max_tokens {
        add(max_tokens, tokens.into());
    }
    if let Some(temperature) = request.temperature {
        add("temperature", f64::from(temperature).into());
    }
    if let Some(effort) = effort {
        add("reasoning_effort", effort.into());
    }
    Value::Object(body)
}

/// A message is several here: results of tools are messages of their own, before what the person says.
fn push(message: &Message, all: &mut Vec<Value>) {
    let mut words = Vec::new();
    let mut calls = Vec::new();
    for block in &message.content {
        match block {
            Block::Text { text } => words.push(text.as_str()),
            Block::ToolUse { id, name, input } => {
                let arguments = as_object(input).to_string();
                let function = json!({"name": name, "arguments": arguments});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
            Block::ToolResult { tool_use_id, content, .. } => {
                all.push(json!({"role": "tool", "tool_call_id": tool_use_id, "content": content}));
            }
        }
    }
    let words = words.join("\n");
    match message.role {
        Role::User if words.is_empty() => {}
        Role::User => all.push(json!({"role": "user", "content": words})),
        Role::Assistant if calls.is_empty() => {
            all.push(json!({"role": "assistant", "content": words}));
        }
        Role::Assistant => {
            all.push(json!({"role": "assistant", "content": words, "tool_calls": calls}));
        }
    }
}

/// Reads a stream of Chat Completions.
#[derive(Default)]
pub(super) struct Chat {
    finished: bool,
}

impl Reader for Chat {
    fn event(&mut self, data: &str, answer: &mut Assembly<'_>) -> Result<Progress, ReadError> {
        if data.trim() == DONE {
            let silent = || Broken::new("the stream ended before the answer had");
            return self.finished.then_some(Progress::Done).ok_or_else(|| silent().into());
        }
        let chunk = event(data)?;
        if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
            return Err(classify::in_stream(error).into());
        }
        count(&chunk, answer);
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(Progress::More) };
        for path in ["/delta/reasoning_content", "/delta/reasoning"] {
            answer.thinking(text(choice, path))?;
        }
        answer.text(TEXT, text(choice, "/delta/content"))?;
        let refusal = text(choice, "/delta/refusal");
        if !refusal.is_empty() {
            answer.text(TEXT, refusal)?;
            answer.stop = Some(StopReason::Refusal);
        }
        let calls = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
        for (at, call) in calls.into_iter().flatten().enumerate() {
            let at = number(call, "/index").unwrap_or(at as u64);
            let name = text(call, "/function/name");
            if !answer.has_tool(at) {
                answer.tool(at, text(call, "/id"), name)?;
            }
            answer.tool_input(at, text(call, "/function/arguments"))?;
        }
        self.finish(text(choice, "/finish_reason"), answer);
        Ok(Progress::More)
    }

    fn may_end(&self) -> bool {
        // Not every server of one's own says `[DONE]`.
        self.finished
    }
}

impl Chat {
    fn finish(&mut self, reason: &str, answer: &mut Assembly<'_>) {
        let reason = match reason {
            "" => return,
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            "tool_calls" | "function_call" => StopReason::ToolUse,
            // Some servers say `stop` of an answer that asks for tools.
            _ if answer.asks_for_tools() => StopReason::ToolUse,
            _ => StopReason::EndTurn,
        };
        self.finished = true;
        // A refusal that was said in words stays one.
        answer.stop = answer.stop.or(Some(reason));
    }
}

fn count(chunk: &Value, answer: &mut Assembly<'_>) {
    let Some(usage) = chunk.get("usage").filter(|it| it.is_object()) else { return };
    let cached = index(usage, "/prompt_tokens_details/cached_tokens");
    let counted = &mut answer.counted;
    let fresh = |all: u64| all.saturating_sub(cached);
    counted.input = number(usage, "/prompt_tokens").map(fresh).or(counted.input);
    counted.output = number(usage, "/completion_tokens").or(counted.output);
    counted.cache_read = cached;
    counted.is_final = true;
}
