//! Free text: bounded, without null bytes.

use serde_json::{Value, json};

use super::issue::Reader;
use super::shape::Shape;

/// Text of at most `MAX` UTF-16 units without null bytes. It may be empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Shape for Text<MAX> {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        bounded(value, MAX, reader).map(Self)
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }

    fn schema() -> Value {
        json!({"type": "string", "maxLength": MAX, "pattern": NO_NULL_BYTES})
    }
}

/// Text of at most `max` UTF-16 units without null bytes.
pub(super) fn bounded(value: Value, max: usize, reader: &mut Reader) -> Option<String> {
    let text = reader.text(value)?;
    // A byte is at least a unit: short texts need not be counted.
    if text.len() > max && text.encode_utf16().count() > max {
        return reader.refuse(format!("must have at most {max} UTF-16 units"));
    }
    if text.contains('\0') {
        return reader.refuse("null bytes are not allowed");
    }
    Some(text)
}

const NO_NULL_BYTES: &str = "^[^\\u0000]*$";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_as_the_senders_count_it() {
        let read = |text: &str| Text::<4>::read(text.into(), &mut Reader::default());
        for good in ["", "abcd", "äöüß", "😀😀", "\u{1}\n"] {
            assert_eq!(read(good).unwrap().as_str(), good);
        }
        for bad in ["abcde", "😀😀a", "😀😀😀", "a\0"] {
            assert!(read(bad).is_none(), "{bad:?}");
        }
    }
}
