//! Digests of JSON values that do not depend on the order of keys.

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a value's canonical form, in hexadecimal.
#[must_use]
pub fn digest(value: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(encode(value).as_bytes()))
}

/// Returns the canonical form: keys sorted by their bytes, no spaces.
#[must_use]
pub fn encode(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_bytes());
            text.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                separate(index, text);
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(index, text);
                write(item, text);
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
}

fn separate(index: usize, text: &mut String) {
    if index > 0 {
        text.push(',');
    }
}
