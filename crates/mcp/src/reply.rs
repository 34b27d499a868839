//! Results that we write ourselves, in the shape of the client's era.

use crate::era::{Era, LEGACY_VERSION};
use crate::gate::{Answered, Kind};
use serde_json::{Value, json};

/// Key in `_meta` of results that we wrote. Nobody else's is believed.
pub const META_DECISION: &str = "dev.lazaret/decision";
/// Prefix of our keys in `_meta`.
pub(crate) const META_PREFIX: &str = "dev.lazaret/";

/// Writes a tool's result that says why there is none.
pub(crate) fn refusal(era: Era, reason: &str) -> Value {
    let mut result = text(era, reason, true);
    if let Some(object) = result.as_object_mut() {
        object.insert("_meta".to_owned(), json!({META_DECISION: "refused"}));
    }
    result
}

/// Writes a tool's result of one text.
pub(crate) fn text(era: Era, text: &str, is_error: bool) -> Value {
    let mut result = json!({"content": [{"type": "text", "text": text}]});
    if let Some(object) = result.as_object_mut() {
        if is_error {
            object.insert("isError".to_owned(), json!(true));
        }
        if era == Era::Modern {
            object.insert("resultType".to_owned(), json!("complete"));
        }
    }
    result
}

/// Writes the result that carries `text` in place of `original`; `None` where this kind has no such shape.
pub(crate) fn replaced(
    kind: Kind,
    era: Era,
    name: &str,
    original: &Value,
    text: &str,
) -> Option<Value> {
    let mut result = match kind {
        Kind::Tool => return Some(replaced_tool(era, original, text)),
        Kind::Resource => {
            json!({"contents": [{"uri": name, "mimeType": "text/plain", "text": text}]})
        }
        Kind::Prompt => {
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
        }
        // The gate writes these as JSON, or not at all.
        Kind::Completion
        | Kind::Subscription
        | Kind::List
        | Kind::Task
        | Kind::Instructions
        | Kind::Sampling
        | Kind::Elicitation
        | Kind::Roots
        | Kind::Notification
        | Kind::Other => {
            let parsed = crate::strict::parse(text).ok()?;
            if !parsed.is_object() {
                return None;
            }
            parsed
        }
    };
    if era == Era::Modern
        && let Some(object) = result.as_object_mut()
    {
        object.entry("resultType").or_insert_with(|| json!("complete"));
    }
    Some(result)
}

/// A client that knows an output schema wants structured content or an error: text that is JSON becomes it, any other
/// text is told as an error.
fn replaced_tool(era: Era, original: &Value, replacement: &str) -> Value {
    let was_error = original.get("isError").and_then(Value::as_bool) == Some(true);
    if original.get("structuredContent").is_none() {
        return text(era, replacement, was_error);
    }
    let structured = crate::strict::parse(replacement).ok().filter(Value::is_object);
    let mut result = text(era, replacement, was_error || structured.is_none());
    if let (Some(object), Some(structured)) = (result.as_object_mut(), structured) {
        object.insert("structuredContent".to_owned(), structured);
    }
    result
}

/// Writes the parameters of the question to a person. Clients before 2025-11-25 know no titled choices.
pub(crate) fn question(era: Era, version: &str, message: &str) -> Value {
    let decision = if era == Era::Modern || version >= LEGACY_VERSION {
        json!({"type": "string", "title": "Decision", "default": "deny", "oneOf": [
            {"const": "once", "title": "Allow once"},
            {"const": "session", "title": "Allow for this session"},
            {"const": "kind", "title": "Allow this kind of call to this place, for this session"},
            {"const": "deny", "title": "Deny"},
        ]})
    } else {
        json!({"type": "string", "title": "Decision",
            "enum": ["once", "session", "kind", "deny"],
            "enumNames": ["Allow once", "Allow for this session",
                "Allow this kind of call to this place, for this session", "Deny"]})
    };
    let schema =
        json!({"type": "object", "properties": {"decision": decision}, "required": ["decision"]});
    let mut params = json!({"message": message, "requestedSchema": schema});
    if (era == Era::Modern || version >= LEGACY_VERSION)
        && let Some(object) = params.as_object_mut()
    {
        object.insert("mode".to_owned(), json!("form"));
    }
    params
}

/// Writes the result that asks a modern client for a person's approval.
pub(crate) fn input_required(message: &str, state: &str) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": {"approval": {
            "method": "elicitation/create",
            "params": question(Era::Modern, "", message),
        }},
        "requestState": state,
    })
}

/// Reads a person's answer. Whatever is not a clear yes is a no.
pub(crate) fn answered(response: &Value) -> Answered {
    if response.get("action").and_then(Value::as_str) != Some("accept") {
        return Answered::Deny;
    }
    match response.pointer("/content/decision").and_then(Value::as_str) {
        Some("once") => Answered::Once,
        Some("session") => Answered::Session,
        Some("kind") => Answered::Kind,
        Some(_) | None => Answered::Deny,
    }
}

/// Removes keys of ours from every `_meta` of a message; says whether there was one.
pub(crate) fn strip_own_marks(value: &mut Value) -> bool {
    match value {
        Value::Object(object) => {
            let mut found = false;
            if let Some(Value::Object(meta)) = object.get_mut("_meta") {
                let before = meta.len();
                meta.retain(|key, _| !key.starts_with(META_PREFIX));
                found = meta.len() != before;
            }
            for value in object.values_mut() {
                found |= strip_own_marks(value);
            }
            found
        }
        // Every item, not only up to the first that had one.
        Value::Array(items) => items.iter_mut().map(strip_own_marks).filter(|it| *it).count() > 0,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
