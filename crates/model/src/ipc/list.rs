//! Lists with at least one item and a limit.

use serde_json::{Value, json};

use super::issue::Reader;
use super::shape::Shape;

/// From one to `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> List<T, MAX> {
    /// The items; never none.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T: Shape, const MAX: usize> Shape for List<T, MAX> {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let items = reader.array(value)?;
        if items.is_empty() || items.len() > MAX {
            return reader.refuse(format!("must have from 1 to {MAX} items, not {}", items.len()));
        }
        let read = |(at, item): (usize, Value)| {
            reader.within(at.to_string(), |reader| T::read(item, reader))
        };
        // All are read before any is missed, so that every issue is listed.
        let items: Vec<Option<T>> = items.into_iter().enumerate().map(read).collect();
        items.into_iter().collect::<Option<Vec<T>>>().map(Self)
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(Shape::to_value).collect()
    }

    fn schema() -> Value {
        json!({"type": "array", "items": T::schema(), "minItems": 1, "maxItems": MAX})
    }
}
