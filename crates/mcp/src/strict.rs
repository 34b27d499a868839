//! JSON that can be read in one way only.

use crate::limits::DEPTH_MAX;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Parses JSON; a key that stands twice in one object is an error, and so are too many levels.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether an object has a key that differs from one of `known` (all in lower case) by case only, other than the
/// protocol's own spelling. Some parsers take such a key for the real one.
pub(crate) fn has_lookalike(value: &Value, known: &[&str]) -> bool {
    let Some(object) = value.as_object() else { return false };
    object.keys().any(|key| {
        let folded = fold(key);
        let is_own = PROTOCOL_SPELLINGS.contains(&key.as_str());
        !is_own && known.contains(&folded.as_str())
    })
}

/// The spellings of the protocol for keys that are compared without case.
const PROTOCOL_SPELLINGS: [&str; 13] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "uri",
    "_meta",
    "inputResponses",
    "requestState",
    "taskId",
];

/// Folds case as Go's decoder does, the long s and the Kelvin sign included.
fn fold(key: &str) -> String {
    key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn below<E: de::Error>(&self) -> Result<Self, E> {
        if self.depth >= DEPTH_MAX {
            return Err(E::custom(format!("more than {DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(Value::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(Value::Number(it.into()))
    }

    fn visit_f64<E: de::Error>(self, it: f64) -> Result<Value, E> {
        Number::from_f64(it).map(Value::Number).ok_or_else(|| E::custom("a number without end"))
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(Value::String(it.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element_seed(self.below()?)? {
            found.push(item);
        }
        Ok(Value::Array(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut found = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self.below()?)?;
            if found.contains_key(&key) {
                return Err(de::Error::custom("a key stands twice in one object"));
            }
            found.insert(key, value);
        }
        Ok(Value::Object(found))
    }
}
