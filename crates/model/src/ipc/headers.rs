//! Header fields of requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::issue::{Reader, quoted};
use super::limits::{HEADER_NAME_UNITS_MAX, HEADER_VALUE_UNITS_MAX, HEADERS_MAX};
use super::shape::Shape;
use super::text::bounded;

/// Header fields. Names are tokens of HTTP and stand once, whatever their case; values hold no
/// control characters but tabs, so that none can begin a field or a request of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(BTreeMap<String, String>);

impl Headers {
    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl Shape for Headers {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let fields = reader.object(value)?;
        if fields.len() > HEADERS_MAX {
            return reader.refuse(format!("must have at most {HEADERS_MAX} fields"));
        }
        let mut headers = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut outcome = Some(());
        for (name, value) in fields {
            if !seen.insert(name.to_ascii_lowercase()) {
                outcome = reader.refuse(format!("the field {} stands twice", quoted(&name)));
            } else if !is_name(&name) {
                outcome = reader.refuse(format!("{} is no name of a header field", quoted(&name)));
            } else {
                match reader.within(name.as_str(), |reader| read_value(value, reader)) {
                    Some(value) => _ = headers.insert(name, value),
                    None => outcome = None,
                }
            }
        }
        outcome.map(|()| Self(headers))
    }

    fn to_value(&self) -> Value {
        self.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": {
                "minLength": 1,
                "maxLength": HEADER_NAME_UNITS_MAX,
                "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
            },
            "additionalProperties": {
                "type": "string",
                "maxLength": HEADER_VALUE_UNITS_MAX,
                "pattern": r"^[^\u0000-\u0008\u000a-\u001f\u007f]*$",
            },
            "maxProperties": HEADERS_MAX,
        })
    }
}

fn is_name(name: &str) -> bool {
    let token = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !name.is_empty() && name.len() <= HEADER_NAME_UNITS_MAX && name.bytes().all(token)
}

fn read_value(value: Value, reader: &mut Reader) -> Option<String> {
    let value = bounded(value, HEADER_VALUE_UNITS_MAX, reader)?;
    if value.chars().any(|it| it.is_ascii_control() && it != '\t') {
        return reader.refuse("control characters are not allowed");
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_cannot_begin_another_one() {
        let read = |fields: Value| Headers::read(fields, &mut Reader::default());
        assert_eq!(read(json!({"Accept": "*/*", "X-A": "ä\t"})).unwrap().iter().count(), 2);
        for bad in [
            json!({"a": "x\r\nHost: evil"}),
            json!({"a\n": "x"}),
            json!({"": "x"}),
            json!({"a b": "x"}),
            json!({"Host": "a", "host": "b"}),
            json!({"a": 1}),
            json!({"a": null}),
            json!({"a".repeat(201): "x"}),
        ] {
            assert!(read(bad.clone()).is_none(), "{bad}");
        }
        let many =
            |count: usize| (0..count).map(|it| (format!("h{it}"), Value::from("x"))).collect();
        assert!(read(many(HEADERS_MAX)).is_some());
        assert!(read(many(HEADERS_MAX + 1)).is_none());
    }
}
