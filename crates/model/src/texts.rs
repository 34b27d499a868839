//! Every text within a JSON value.

use serde_json::{Map, Value};

/// Replaces each text for which `other` has another, names of fields too.
pub fn replace_texts(value: &mut Value, other: &dyn Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(other) = other(text) {
                *text = other;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| replace_texts(it, other)),
        Value::Object(all) => replace_texts_of(all, other),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same in the fields of an object.
pub fn replace_texts_of(all: &mut Map<String, Value>, other: &dyn Fn(&str) -> Option<String>) {
    if all.keys().any(|it| other(it).is_some()) {
        let named = std::mem::take(all).into_iter();
        *all = named.map(|(name, it)| (other(&name).unwrap_or(name), it)).collect();
    }
    all.values_mut().for_each(|it| replace_texts(it, other));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_replaced_wherever_they_stand() {
        let mut value = json!({ "a": ["x", { "x": "y", "b": "x" }], "n": 1, "z": null });
        replace_texts(&mut value, &|it| (it == "x").then(|| "-".to_owned()));
        assert_eq!(value, json!({ "a": ["-", { "-": "y", "b": "-" }], "n": 1, "z": null }));
    }
}
