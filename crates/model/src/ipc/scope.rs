//! Scopes of memory.

use serde_json::{Value, json};

use super::issue::Reader;
use super::limits::SCOPE_UNITS_MAX;
use super::shape::Shape;

/// The name of a part of the memory, `project/notes`: a letter or digit first, then letters,
/// digits, `_`, `-` and `/`, all from ASCII. It cannot climb out of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(String);

impl Scope {
    /// The scope.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Shape for Scope {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'/');
        let begins = text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        if text.len() > SCOPE_UNITS_MAX {
            return reader.refuse(format!("must have at most {SCOPE_UNITS_MAX} characters"));
        }
        if !begins || !text.bytes().all(legal) {
            return reader.refuse(
                "must begin with a letter or digit and have only letters, digits and `_-/` from ASCII",
            );
        }
        Some(Self(text))
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        let pattern = "^[a-zA-Z0-9][a-zA-Z0-9_/-]*$";
        json!({"type": "string", "minLength": 1, "maxLength": SCOPE_UNITS_MAX, "pattern": pattern})
    }
}
