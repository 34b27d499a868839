//! The text of a tool's result, as far as a model could read it.

use crate::host::Host;
use serde_json::Value;

/// Returns the text of a result in any host's form. What has no known form is given as JSON: nothing that
/// the model may read is left out.
pub(crate) fn of(host: Host, result: &Value) -> String {
    match (host, result) {
        // Cursor gives results as the text of JSON.
        (Host::Cursor, Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(inner) => text_of(&inner),
            Err(_) => text.clone(),
        },
        (
            Host::Claude
            | Host::Codex
            | Host::Cursor
            | Host::Gemini
            | Host::Copilot
            | Host::OpenCode,
            _,
        ) => text_of(result),
    }
}

/// Tells whether the result itself says that the tool failed.
pub(crate) fn is_failure(result: &Value) -> bool {
    let is_set = |name: &str| result.get(name).is_some_and(|it| !it.is_null());
    let kind = result.get("resultType").or_else(|| result.get("result_type"));
    is_set("error")
        || result.get("isError").and_then(Value::as_bool).unwrap_or(false)
        || kind.and_then(Value::as_str).is_some_and(|it| it != "success")
}

fn text_of(result: &Value) -> String {
    match result {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => joined(blocks.iter().map(block)),
        Value::Object(_) => object(result),
        Value::Bool(_) | Value::Number(_) => result.to_string(),
    }
}

fn object(result: &Value) -> String {
    let text = |name: &str| result.get(name).and_then(Value::as_str).map(str::to_owned);
    // Shells: both streams.
    if let Some(stdout) = text("stdout") {
        return joined([stdout, text("stderr").unwrap_or_default()]);
    }
    // Copilot, in either case of its names.
    if let Some(told) = text("textResultForLlm").or_else(|| text("text_result_for_llm")) {
        return told;
    }
    // Gemini: what the model reads and what the person sees differ.
    if let Some(content) = result.get("llmContent") {
        return text_of(content);
    }
    // A file that was read.
    if let Some(content) = result.pointer("/file/content").and_then(Value::as_str) {
        return content.to_owned();
    }
    // An MCP result; some hosts show the structured content instead of the blocks.
    if let Some(Value::Array(blocks)) = result.get("content") {
        let structured = result.get("structuredContent").map(Value::to_string);
        return joined(blocks.iter().map(block).chain(structured));
    }
    result.to_string()
}

/// Returns the text of a content block, or the block as JSON.
fn block(block: &Value) -> String {
    let text = block.get("text").or_else(|| block.pointer("/resource/text"));
    let text = text.unwrap_or(block).as_str();
    text.map_or_else(|| block.to_string(), str::to_owned)
}

fn joined(texts: impl IntoIterator<Item = String>) -> String {
    let texts: Vec<String> = texts.into_iter().filter(|it| !it.is_empty()).collect();
    texts.join("\n")
}
