//! Reads cases and spells out their shorthands.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/taint")
}

pub(crate) fn read(path: &Path) -> Value {
    spelled_out(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
}

/// The cases of one file.
pub(crate) fn cases(file: &str) -> Vec<Value> {
    read(&root().join(file)).as_array().unwrap().clone()
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

fn spelled_out(value: &Value) -> Value {
    if let Some(repeat) = value.get("$repeat") {
        let times = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
        return repeat[0].as_str().unwrap().repeat(times).into();
    }
    if let Some(parts) = value.get("$concat") {
        let parts: Vec<Value> = parts.as_array().unwrap().iter().map(spelled_out).collect();
        return parts.iter().map(|it| it.as_str().unwrap()).collect::<String>().into();
    }
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), spelled_out(value))).collect()
        }
        Value::Array(items) => items.iter().map(spelled_out).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Prose of exactly so many characters that is like no other of the same test.
pub(crate) fn prose(chars: usize, number: usize) -> String {
    let begin = format!("{number}: the quick brown fox jumps over the lazy dog and ");
    begin.chars().cycle().take(chars).collect()
}
