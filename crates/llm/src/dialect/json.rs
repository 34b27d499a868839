//! Fields of events, read without believing that they are there.

use serde_json::Value;

use crate::assembly::Broken;

/// The JSON of an event: of one meaning, or nothing.
pub(super) fn event(data: &str) -> Result<Value, Broken> {
    model::ipc::read_json(data.as_bytes())
        .map_err(|error| Broken::new(format!("an event of the stream is no JSON: {error}")))
}

/// A text at a path; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number at a path.
pub(super) fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

/// The place of a block. An event of a block without one belongs to the first.
pub(super) fn index(value: &Value, path: &str) -> u64 {
    number(value, path).unwrap_or_default()
}
