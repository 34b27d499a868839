//! Objects with their keys sorted by raw bytes, whatever order their map keeps.
//!
//! serde_json's maps are sorted, or keep the order of insertion if anything in the build switches
//! `preserve_order` on. The format knows one order only.
//!
//! INVARIANT (SortedKeys): whatever is stored or hashed prints its objects by [`entries`], so that
//! ids and lines are the same with either kind of map. `tests/key_order.rs` holds it.

use std::{fmt, vec};

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, map};

/// Prints a value as serde_json does, with the keys of all its objects sorted.
///
/// ```
/// let value: serde_json::Value = serde_json::from_str(r#"{"b":[{"d":1,"c":2}],"a":3}"#)?;
/// assert_eq!(aegx::Sorted(&value).to_string(), r#"{"a":3,"b":[{"c":2,"d":1}]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a>(pub &'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.0.serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            Value::Object(map) => SortedObject(map).serialize(serializer),
        }
    }
}

/// The same for an object that is no value yet.
#[derive(Clone, Copy, Debug)]
pub struct SortedObject<'a>(pub &'a Map<String, Value>);

impl Serialize for SortedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in entries(self.0) {
            out.serialize_entry(key, &Sorted(value))?;
        }
        out.end()
    }
}

/// On one line, or with `{:#}` indented by two.
impl fmt::Display for Sorted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self, f)
    }
}

/// On one line, or with `{:#}` indented by two.
impl fmt::Display for SortedObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self, f)
    }
}

fn display(value: &impl Serialize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = if f.alternate() {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    f.write_str(&text.map_err(|_| fmt::Error)?)
}

/// For `serialize_with` on a field.
pub(crate) fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Sorted(value).serialize(serializer)
}

/// As [`serialize`], for a field that may be absent.
pub(crate) fn serialize_option<S: Serializer>(
    value: &Option<Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(Sorted).serialize(serializer)
}

/// The entries of an object, sorted by the raw bytes of their keys.
pub(crate) fn entries(map: &Map<String, Value>) -> Entries<'_> {
    // What was stored is sorted, and then nothing need be collected.
    if map.keys().is_sorted() {
        return Entries::AsKept(map.iter());
    }
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    Entries::Sorted(entries.into_iter())
}

/// See [`entries`].
pub(crate) enum Entries<'a> {
    AsKept(map::Iter<'a>),
    Sorted(vec::IntoIter<(&'a String, &'a Value)>),
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a String, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::AsKept(entries) => entries.next(),
            Self::Sorted(entries) => entries.next(),
        }
    }
}
