//! Types of parameters, as their schemas say.

use serde_json::Value;

/// The type of a parameter, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Number,
    Choice,
    Text,
}

impl Kind {
    pub(super) fn of(schema: &Value) -> Self {
        let alternatives = ["anyOf", "oneOf", "allOf"]
            .iter()
            .filter_map(|it| schema.get(it)?.as_array())
            .flatten();
        let mut types = Vec::new();
        for one in alternatives.chain([schema]) {
            if one.get("enum").is_some() || one.get("const").is_some() {
                return Self::Choice;
            }
            types.extend(one.get("type").and_then(Value::as_str));
        }
        types.retain(|it| *it != "null");
        let all = |kinds: &[&str]| !types.is_empty() && types.iter().all(|it| kinds.contains(it));
        if all(&["boolean"]) {
            Self::Flag
        } else if all(&["integer", "number"]) {
            Self::Number
        } else {
            Self::Text
        }
    }
}
