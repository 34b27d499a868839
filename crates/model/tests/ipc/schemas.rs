//! The schemas say what the reader does.

use model::ipc::{self, ActionName};
use serde_json::{Value, json};

use crate::ipc::support::accepted;

/// Every object in the schema that describes an object.
fn objects<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
    if schema["type"] == "object" {
        found.push(schema);
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|it| objects(it, found)),
        Value::Array(items) => items.iter().for_each(|it| objects(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn no_schema_lets_an_unknown_field_through() {
    for name in ActionName::ALL {
        let schema = name.schema();
        let mut found = Vec::new();
        objects(&schema, &mut found);
        assert!(!found.is_empty());
        for object in found {
            // Header fields and arguments of tools have free names, but bounded ones.
            let closed = object["additionalProperties"] == false;
            let names = &object["propertyNames"];
            let bounded = names["maxLength"].is_u64() && names["pattern"].is_string();
            assert!(closed || bounded, "{name:?}: {object}");
        }
    }
}

#[test]
fn every_string_and_number_in_a_schema_has_a_limit() {
    fn check(schema: &Value, at: &str) {
        match schema["type"].as_str() {
            Some("string") => {
                let fixed = schema.get("enum").or(schema.get("format"));
                assert!(schema.get("maxLength").or(fixed).is_some(), "{at}: {schema}");
            }
            Some("integer" | "number") => {
                assert!(schema.get("minimum").is_some() && schema.get("maximum").is_some(), "{at}");
            }
            Some("array") => {
                assert!(schema.get("maxItems").is_some(), "{at}");
                check(&schema["items"], at);
            }
            Some("object") => {
                let fields = schema["properties"].as_object().into_iter().flatten();
                fields.for_each(|(name, field)| check(field, &format!("{at}.{name}")));
            }
            _ if schema["anyOf"].is_array() => {
                schema["anyOf"].as_array().into_iter().flatten().for_each(|it| check(it, at));
            }
            _ => assert!(schema.get("const").or(schema["type"].as_str().map(|_| schema)).is_some()),
        }
    }
    ActionName::ALL.iter().for_each(|name| check(&name.schema(), name.as_str()));
}

#[test]
fn the_schema_of_memory_write_is_this() {
    let schema = ActionName::MemoryWrite.schema();
    assert_eq!(schema["properties"]["action"], json!({"const": "memory_write"}));
    assert_eq!(schema["required"], json!(["action", "scope", "content", "type"]));
    assert_eq!(schema["properties"]["content"]["maxLength"], 100_000);
    assert_eq!(schema["properties"]["scope"]["maxLength"], 200);
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"].get("tainted").is_none());
}

/// For every accepted message and every field that its schema requires: without it, refused.
#[test]
fn a_required_field_is_required() {
    for bytes in accepted() {
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let name = ActionName::parse(message["action"].as_str().unwrap()).unwrap();
        for field in name.schema()["required"].as_array().unwrap() {
            let mut without = message.clone();
            without.as_object_mut().unwrap().remove(field.as_str().unwrap()).unwrap();
            assert!(
                ipc::parse(without.to_string().as_bytes()).is_err(),
                "{name:?} without {field}"
            );
        }
    }
}

/// For every accepted message and every field of its schema: `null`, an empty array and an empty
/// object in an array are not taken for a value that fits.
#[test]
fn nothing_is_taken_for_something_else() {
    for bytes in accepted() {
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let name = ActionName::parse(message["action"].as_str().unwrap()).unwrap();
        for field in name.schema()["properties"].as_object().unwrap().keys() {
            for wrong in [json!(null), json!([]), json!([{}]), json!([null, null])] {
                let mut message = message.clone();
                message[field] = wrong.clone();
                let verdict = ipc::parse(message.to_string().as_bytes());
                assert!(verdict.is_err(), "{name:?}: {field} as {wrong}");
            }
        }
    }
}
