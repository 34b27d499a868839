//! What a type must be able to do to stand in a message: be read, be written, say its schema.
//!
//! Serde's derived readers are not used. They take an array for an object, an object for a name
//! from a list, and `null` for what is absent, and they stop at the first thing that is wrong.

use serde_json::{Map, Value, json};

use super::issue::Reader;

/// A type with exactly one form in JSON. Reading, writing and schema come from one place, so that
/// they cannot disagree.
pub(super) trait Shape: Sized {
    /// Reads the value, or notes in `reader` what is wrong with it.
    fn read(value: Value, reader: &mut Reader) -> Option<Self>;
    /// The value that reads as this.
    fn to_value(&self) -> Value;
    /// JSON Schema, draft 2020-12.
    fn schema() -> Value;
}

/// A [`Shape`] with named fields.
pub(super) trait Fields: Sized {
    /// Takes its fields; whatever is left is refused.
    fn read_fields(fields: Map<String, Value>, reader: &mut Reader) -> Option<Self>;
    /// The fields that read as this; absent ones have no value.
    fn values(&self) -> Vec<(&'static str, Option<Value>)>;
    /// What is known of each field.
    fn properties() -> Vec<Property>;

    /// The fields that are there.
    fn to_fields(&self) -> Map<String, Value> {
        let present = |(name, value): (&str, Option<Value>)| Some((name.to_owned(), value?));
        self.values().into_iter().filter_map(present).collect()
    }
}

/// An object that prints alike whatever order its map keeps.
pub(super) fn sorted(fields: Map<String, Value>) -> Value {
    let mut object = Value::Object(fields);
    object.sort_all_objects();
    object
}

/// A field as its schema shows it.
pub(super) struct Property {
    name: &'static str,
    required: bool,
    schema: Value,
}

impl Property {
    pub(super) fn of<T: Field>(name: &'static str) -> Self {
        Self { name, required: T::REQUIRED, schema: T::schema() }
    }

    /// A field with one possible value.
    pub(super) fn constant(name: &'static str, value: &str) -> Self {
        Self { name, required: true, schema: json!({"const": value}) }
    }
}

/// The schema of an object with these fields and no others.
pub(super) fn object_schema(properties: Vec<Property>) -> Value {
    let required: Vec<_> = properties.iter().filter(|it| it.required).map(|it| it.name).collect();
    let schemas = properties.into_iter().map(|it| (it.name.to_owned(), it.schema));
    json!({
        "type": "object",
        "properties": schemas.collect::<Map<_, _>>(),
        "required": required,
        "additionalProperties": false,
    })
}

impl<T: Fields> Shape for T {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        let fields = reader.object(value)?;
        Self::read_fields(fields, reader)
    }

    fn to_value(&self) -> Value {
        Value::Object(self.to_fields())
    }

    fn schema() -> Value {
        object_schema(Self::properties())
    }
}

/// What may be the type of a field: a [`Shape`], which must be there, or an `Option` of one, which
/// may be absent but never `null`.
pub(super) trait Field: Sized {
    const REQUIRED: bool;
    fn take(name: &str, fields: &mut Map<String, Value>, reader: &mut Reader) -> Option<Self>;
    fn value(&self) -> Option<Value>;
    fn schema() -> Value;
}

impl<T: Shape> Field for T {
    const REQUIRED: bool = true;

    fn take(name: &str, fields: &mut Map<String, Value>, reader: &mut Reader) -> Option<Self> {
        reader.within(name, |reader| match fields.remove(name) {
            Some(value) => T::read(value, reader),
            None => reader.refuse("required"),
        })
    }

    fn value(&self) -> Option<Value> {
        Some(self.to_value())
    }

    fn schema() -> Value {
        <T as Shape>::schema()
    }
}

impl<T: Shape> Field for Option<T> {
    const REQUIRED: bool = false;

    fn take(name: &str, fields: &mut Map<String, Value>, reader: &mut Reader) -> Option<Self> {
        match fields.remove(name) {
            Some(value) => reader.within(name, |reader| T::read(value, reader)).map(Some),
            None => Some(None),
        }
    }

    fn value(&self) -> Option<Value> {
        self.as_ref().map(Shape::to_value)
    }

    fn schema() -> Value {
        <T as Shape>::schema()
    }
}

impl Shape for bool {
    fn read(value: Value, reader: &mut Reader) -> Option<Self> {
        value.as_bool().or_else(|| reader.wrong_type("a boolean", &value))
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}
