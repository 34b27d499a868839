//! Does the id of a record pin its text byte for byte?
//!
//! By the format's design it does not always: text is hashed in normal form C, and `-0.0` is
//! hashed as `0`. Honest bundles hold such text, so it is no error; the report counts it.

use serde_json::Value;

use crate::canon;
use crate::record::{Payload, Record};

pub(crate) fn is_pinned(record: &Record) -> bool {
    let mut lists = record.taint.iter().chain(&record.parents);
    let payload = match &record.payload {
        Payload::Inline { inline } => value_is_pinned(inline),
        Payload::Blob { mime, .. } => !canon::is_rewritten(mime),
    };
    payload && value_is_pinned(&record.meta) && !lists.any(|text| canon::is_rewritten(text))
}

pub(crate) fn value_is_pinned(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => {
            !number.is_f64()
                || !number.as_f64().is_some_and(|it| it == 0.0 && it.is_sign_negative())
        }
        Value::String(text) => !canon::is_rewritten(text),
        Value::Array(items) => items.iter().all(value_is_pinned),
        Value::Object(map) => {
            map.iter().all(|(key, value)| !canon::is_rewritten(key) && value_is_pinned(value))
        }
    }
}
