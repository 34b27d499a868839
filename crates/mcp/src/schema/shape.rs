//! The form of a schema: its size, and that every reference stays within it.

use super::SchemaError;
use crate::limits::{SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX};
use crate::shown;
use serde_json::Value;

/// Checks root, size and references.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaError::NotObject);
    }
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if dialect.is_some_and(|it| !DIALECTS.iter().any(|known| it.contains(known))) {
        return Err(SchemaError::Unsupported("$schema"));
    }
    let mut nodes = 0;
    walk(schema, schema, 0, &mut nodes)
}

/// Shows every pattern of a schema.
pub(super) fn for_each_pattern(schema: &Value, show: &mut dyn FnMut(&str)) {
    match schema {
        Value::Object(object) => {
            if let Some(pattern) = object.get("pattern").and_then(Value::as_str) {
                show(pattern);
            }
            let keyed = object.get("patternProperties").and_then(Value::as_object);
            keyed.into_iter().flat_map(|it| it.keys()).for_each(|it| show(it));
            for (key, value) in object {
                if !DATA.contains(&key.as_str()) {
                    for_each_pattern(value, show);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| for_each_pattern(it, show)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Finds what a reference within the schema points at.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() { Some(root) } else { root.pointer(pointer) }
}

fn walk(root: &Value, value: &Value, depth: usize, nodes: &mut usize) -> Result<(), SchemaError> {
    *nodes += 1;
    if depth > SCHEMA_DEPTH_MAX || *nodes > SCHEMA_NODES_MAX {
        return Err(SchemaError::TooLarge);
    }
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                if DATA.contains(&key.as_str()) {
                    count(value, depth + 1, nodes)?;
                    continue;
                }
                check_keyword(root, key, value, depth)?;
                walk(root, value, depth + 1, nodes)?;
            }
        }
        Value::Array(items) => {
            for value in items {
                walk(root, value, depth + 1, nodes)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// Under `properties` these words name properties, and then their value is a schema and no text.
fn check_keyword(root: &Value, key: &str, value: &Value, depth: usize) -> Result<(), SchemaError> {
    let Some(text) = value.as_str() else { return Ok(()) };
    match key {
        "$ref" if resolve(root, text).is_none() => {
            Err(SchemaError::Reference(shown::log_value(text)))
        }
        "$dynamicRef" => Err(SchemaError::Unsupported("$dynamicRef")),
        "$recursiveRef" => Err(SchemaError::Unsupported("$recursiveRef")),
        "$id" if depth > 0 => Err(SchemaError::Unsupported("$id")),
        _ => Ok(()),
    }
}

/// Counts the parts of data within a schema.
fn count(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), SchemaError> {
    *nodes += 1;
    if depth > SCHEMA_DEPTH_MAX || *nodes > SCHEMA_NODES_MAX {
        return Err(SchemaError::TooLarge);
    }
    match value {
        Value::Object(object) => object.values().try_for_each(|it| count(it, depth + 1, nodes)),
        Value::Array(items) => items.iter().try_for_each(|it| count(it, depth + 1, nodes)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Parts of the names of dialects that are read.
const DIALECTS: [&str; 5] = [
    "json-schema.org/draft/2020-12/",
    "json-schema.org/draft/2019-09/",
    "json-schema.org/draft-07/",
    "json-schema.org/draft-06/",
    "json-schema.org/draft-04/",
];

/// Keywords whose value is data and no schema.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
