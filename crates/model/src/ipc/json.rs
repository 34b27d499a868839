//! JSON that can be read in one way only: no key twice, bounded in size and depth, nothing after it.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::issue::quoted;
use super::limits::{MESSAGE_BYTES_MAX, NESTING_LEVELS_MAX, VALUES_MAX};

/// Why bytes are no message at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Over [`MESSAGE_BYTES_MAX`]; not looked at.
    #[error("a message has at most {MESSAGE_BYTES_MAX} bytes, this one has {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not UTF-8.
    #[error("not UTF-8 from byte {at} on")]
    NotUtf8 {
        /// The first byte that is wrong.
        at: usize,
    },
    /// Not JSON, too deep, of too many values, or with a key that stands twice.
    #[error("{reason}")]
    NotJson {
        /// What was found, and where.
        reason: String,
    },
}

/// Reads one value, strictly: no key twice, nothing behind it, within the limits.
///
/// # Errors
/// If the bytes are too many, too deep, or no JSON of one meaning.
pub fn read(bytes: &[u8]) -> Result<Value, Malformed> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Malformed::TooLong { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Malformed::NotUtf8 { at: error.valid_up_to() })?;
    let mut input = serde_json::Deserializer::from_str(text);
    let values_left = Cell::new(VALUES_MAX);
    let strict = Strict { levels_left: NESTING_LEVELS_MAX, values_left: &values_left };
    let value = strict.deserialize(&mut input);
    let value = value.and_then(|value| input.end().map(|()| value));
    value.map_err(|error| Malformed::NotJson { reason: error.to_string() })
}

/// Builds a [`Value`] as `serde_json` does, which keeps the last of equal keys, but refuses them.
#[derive(Clone, Copy)]
struct Strict<'a> {
    levels_left: usize,
    values_left: &'a Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Self { levels_left, ..self }),
            None => Err(E::custom(format!("nested deeper than {NESTING_LEVELS_MAX} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        match self.values_left.get().checked_sub(1) {
            Some(left) => self.values_left.set(left),
            None => return Err(D::Error::custom(format!("more than {VALUES_MAX} values"))),
        }
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E: serde::de::Error>(self, it: f64) -> Result<Value, E> {
        let number = Number::from_f64(it).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::String(it.to_owned()))
    }

    fn visit_string<E>(self, it: String) -> Result<Value, E> {
        Ok(Value::String(it))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = input.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut fields = Map::new();
        while let Some(key) = input.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {} stands twice", quoted(&key))));
            }
            let value = input.next_value_seed(inner)?;
            fields.insert(key, value);
        }
        // Whatever order the map keeps, nobody can tell in which order the sender wrote.
        fields.sort_keys();
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_key_may_stand_once_at_any_depth_however_it_is_written() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"x":[{"a":1,"b":2,"a":1}]}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"x":{"y":{"":0,"":0}}}"#,
        ] {
            assert!(reason(text).contains("stands twice"), "{text}");
        }
        assert!(read(br#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#).is_ok());
    }

    #[test]
    fn nesting_ends_at_its_limit() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(nested(NESTING_LEVELS_MAX).as_bytes()).is_ok());
        assert!(reason(&nested(NESTING_LEVELS_MAX + 1)).contains("nested deeper than 32 levels"));
        assert!(read(&b"[".repeat(100_000)).is_err());
    }

    #[test]
    fn values_are_counted_before_they_are_kept() {
        let many = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        assert!(read(many(VALUES_MAX - 1).as_bytes()).is_ok());
        assert!(reason(&many(VALUES_MAX)).contains("more than 10000 values"));
    }

    #[test]
    fn size_and_utf_8_come_before_json() {
        let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
        assert_eq!(read(&long), Err(Malformed::TooLong { bytes: MESSAGE_BYTES_MAX + 1 }));
        assert_eq!(read(b"\"a\xff\""), Err(Malformed::NotUtf8 { at: 2 }));
    }

    #[test]
    fn nothing_stands_after_the_value_and_nothing_is_half_a_character() {
        for text in ["{} {}", "{}x", "", "nan", "1e309", r#""\ud800""#, "{\"a\":1,}"] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
