//! Names of notes.

use serde_json::{Value, json};

use super::issue::Reader;
use super::limits::NOTE_NAME_UNITS_MAX;
use super::shape::Shape;

/// The name of a note: a letter or digit first, then letters, digits, `_`, `-` and `.`, all from ASCII.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoteName(String);

impl NoteName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Shape for NoteName {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let text = reader.text(value)?;
        let legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.');
        let begins = text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        if text.len() > NOTE_NAME_UNITS_MAX {
            return reader.refuse(format!("must have at most {NOTE_NAME_UNITS_MAX} characters"));
        }
        if !begins || !text.bytes().all(legal) {
            return reader.refuse(
                "must begin with a letter or digit and have only letters, digits and `_-.` from ASCII",
            );
        }
        Some(Self(text))
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        let (most, pattern) = (NOTE_NAME_UNITS_MAX, "^[a-zA-Z0-9][a-zA-Z0-9_.-]*$");
        json!({"type": "string", "minLength": 1, "maxLength": most, "pattern": pattern})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_leads_nowhere() {
        let read = |text: &str| NoteName::read(text.into(), &mut Reader::default());
        for good in ["a", "plan-2.md", "7", "A_b"] {
            assert_eq!(read(good).unwrap().as_str(), good);
        }
        let long = "a".repeat(NOTE_NAME_UNITS_MAX + 1);
        for bad in ["", ".", "..", "a/b", "-x", " a", "a ", "\u{e9}", "a\0", long.as_str()] {
            assert!(read(bad).is_none(), "{bad:?}");
        }
    }
}
