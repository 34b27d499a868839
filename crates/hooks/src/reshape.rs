//! A text in the shape of a tool's own result.
//!
//! Claude Code takes a replacement only if it fits the tool's schema; otherwise it shows the original. So
//! every field keeps its type, discriminators keep their value, and all other text goes.

use crate::event::{Event, Seen};
use serde_json::{Map, Value, json};

/// Fields whose text the model reads, by the results of Claude Code's tools.
const CARRIERS: &[&str] = &["stdout", "content", "result", "text", "output", "message"];
/// Fields whose value chooses a variant of the schema, or repeats the arguments.
const KEPT: &[&str] = &["type", "mode", "status", "filePath", "file_path", "agentId"];
/// The longest value of such a field: more is content under a known name.
const KEPT_BYTES_MAX: usize = 1024;
/// Fields that name a file with the whole result.
const DROPPED: &[&str] = &["persistedOutputPath", "persistedOutputSize", "rawOutputPath"];

/// Returns the text in the shape of the result that was seen; of a shell's result where none was.
pub(crate) fn reshaped(seen: Option<&Seen>, text: &str) -> Value {
    match seen.map(|it| &it.event) {
        Some(Event::After { tool, shape, .. }) => match shape {
            Value::String(_) => Value::from(text),
            Value::Array(_) => json!([{"type": "text", "text": text}]),
            Value::Object(_) if tool.mcp.is_some() => json!([{"type": "text", "text": text}]),
            Value::Object(fields) if fields.contains_key("stdout") => shell(text, Some(fields)),
            Value::Object(fields) => object(fields, text),
            Value::Null | Value::Bool(_) | Value::Number(_) => shell(text, None),
        },
        Some(
            Event::SessionStart { .. }
            | Event::SessionEnd
            | Event::Prompt { .. }
            | Event::Before(_)
            | Event::Permission(_)
            | Event::Batch { .. }
            | Event::SubagentStart { .. }
            | Event::SubagentStop { .. }
            | Event::Compact { .. }
            | Event::Stop { .. }
            | Event::Instructions { .. }
            | Event::Other,
        )
        | None => shell(text, None),
    }
}

/// A shell's result: the three fields without which it is ignored.
fn shell(text: &str, fields: Option<&Map<String, Value>>) -> Value {
    let interrupted = fields.and_then(|it| it.get("interrupted")).and_then(Value::as_bool);
    json!({
        "stdout": text,
        "stderr": "",
        "interrupted": interrupted.unwrap_or(false),
        "isImage": false,
    })
}

fn object(fields: &Map<String, Value>, text: &str) -> Value {
    let carried = has_carrier(fields);
    let filled = if carried { "" } else { text };
    Value::Object(emptied(fields, text, filled))
}

fn has_carrier(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(name, value)| match value {
        Value::String(_) => CARRIERS.contains(&name.as_str()),
        Value::Object(inner) => has_carrier(inner),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    })
}

/// Puts `text` where the model reads and `other` into all other texts.
fn emptied(fields: &Map<String, Value>, text: &str, other: &str) -> Map<String, Value> {
    let kept = fields.iter().filter(|(name, _)| !DROPPED.contains(&name.as_str()));
    kept.map(|(name, value)| {
        let is_kept = KEPT.contains(&name.as_str());
        let value = match value {
            Value::String(old) if is_kept && old.len() <= KEPT_BYTES_MAX => value.clone(),
            Value::String(_) if CARRIERS.contains(&name.as_str()) => Value::from(text),
            Value::Object(inner) => Value::Object(emptied(inner, text, other)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => blank(value, text, other),
        };
        (name.clone(), value)
    })
    .collect()
}

/// Empties a value that is not an object's known field; a list keeps one item, so that it has a type.
fn blank(value: &Value, text: &str, other: &str) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(_) => Value::from(other),
        Value::Object(inner) => Value::Object(emptied(inner, text, other)),
        Value::Array(items) => {
            Value::Array(items.iter().take(1).map(|it| blank(it, text, other)).collect())
        }
    }
}
