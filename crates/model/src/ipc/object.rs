//! A JSON object whose fields nobody here knows: arguments of a tool, or their schema.

use serde_json::{Map, Value, json};

use super::issue::Reader;
use super::shape::{Shape, sorted};

/// A JSON object of at most `MAX` UTF-16 units as text, without null bytes in its texts and names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object<const MAX: usize>(Map<String, Value>);

impl<const MAX: usize> Object<MAX> {
    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// How long it is as text, in UTF-16 units.
    pub(super) fn units(&self) -> usize {
        units(&self.0)
    }
}

fn units(fields: &Map<String, Value>) -> usize {
    Value::Object(fields.clone()).to_string().encode_utf16().count()
}

fn has_null_byte(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_null_byte),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains('\0') || has_null_byte(value))
        }
    }
}

impl<const MAX: usize> Shape for Object<MAX> {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        if has_null_byte(&value) {
            return reader.refuse("null bytes are not allowed");
        }
        let fields = reader.object(value)?;
        if units(&fields) > MAX {
            return reader.refuse(format!("must have at most {MAX} UTF-16 units as text"));
        }
        Some(Self(fields))
    }

    fn to_value(&self) -> Value {
        sorted(self.0.clone())
    }

    fn schema() -> Value {
        let names = json!({ "maxLength": MAX, "pattern": r"^[^\u0000]*$" });
        json!({ "type": "object", "propertyNames": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_bounded_as_text_and_holds_no_null_byte_at_any_depth() {
        let read = |value: Value| Object::<20>::read(value, &mut Reader::default());
        assert!(read(json!({})).is_some() && read(json!({"a": [1, "b"]})).is_some());
        for bad in [
            json!("text"),
            json!([]),
            json!({"a": "twenty one units are too many"}),
            json!({"a": ["\0"]}),
            json!({"\0": 1}),
        ] {
            assert!(read(bad.clone()).is_none(), "{bad}");
        }
    }
}
