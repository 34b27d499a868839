//! Every text of a definition, with its path.

use serde_json::Value;

/// Levels of a definition that are read; `serde_json` reads no more than these.
const DEPTH_MAX: usize = 128;

/// A text of a definition.
pub(super) struct Field {
    /// In dot form.
    pub(super) path: String,
    /// Is it the name of a tool or of a field?
    pub(super) is_name: bool,
    /// Can something else stand in its place, and the tool be called as before?
    pub(super) is_free: bool,
}

/// Calls `read` with every text of a definition; what it returns stands there instead, where the text is free.
///
/// Names of fields, and words that a schema is made of, are read and left as they are: without them a tool could not be
/// called. What is such a word is said by where it stands, not by what it is called: a default may have a `name`, too.
pub(super) fn each_text(
    definition: &mut Value,
    mut read: impl FnMut(&Field, &str) -> Option<&'static str>,
) {
    let mut field = Field { path: String::new(), is_name: false, is_free: true };
    walk(definition, &mut field, 0, Place::Definition, &mut read);
}

/// Where in a definition something stands.
#[derive(Clone, Copy)]
enum Place {
    /// The definition itself.
    Definition,
    /// The tool's name.
    Name,
    /// A schema, or a list of schemas.
    Schema,
    /// Schemas by name.
    Schemas,
    /// Words that a schema is made of.
    Words,
    /// Anything else: nothing depends on how it is spelled.
    Text,
}

impl Place {
    /// What stands behind `key` here.
    fn behind(self, key: &str) -> Self {
        match self {
            Self::Definition => match key {
                "name" => Self::Name,
                "inputSchema" | "outputSchema" => Self::Schema,
                _ => Self::Text,
            },
            Self::Schema => match key {
                _ if SCHEMAS_BY_NAME.contains(&key) => Self::Schemas,
                _ if SCHEMAS.contains(&key) => Self::Schema,
                _ if WORDS.contains(&key) => Self::Words,
                _ => Self::Text,
            },
            Self::Schemas => Self::Schema,
            Self::Words => Self::Words,
            Self::Name | Self::Text => Self::Text,
        }
    }
}

fn walk(
    value: &mut Value,
    field: &mut Field,
    depth: usize,
    place: Place,
    read: &mut impl FnMut(&Field, &str) -> Option<&'static str>,
) {
    if depth > DEPTH_MAX {
        // INVARIANT (FailClosed): what is too deep to be read is not shown.
        *value = Value::from(super::SANITIZED);
        return;
    }
    let path = field.path.len();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            field.is_name = matches!(place, Place::Name);
            field.is_free = !matches!(place, Place::Name | Place::Words);
            if let Some(instead) = read(field, text)
                && field.is_free
            {
                instead.clone_into(text);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                push(&mut field.path, &index.to_string());
                walk(item, field, depth + 1, place, read);
                field.path.truncate(path);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields.iter_mut() {
                push(&mut field.path, name);
                (field.is_name, field.is_free) = (true, false);
                read(field, name);
                walk(item, field, depth + 1, place.behind(name), read);
                field.path.truncate(path);
            }
        }
    }
}

fn push(path: &mut String, part: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(part);
}

/// Fields of a schema with schemas by name.
const SCHEMAS_BY_NAME: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Fields of a schema with a schema, or several.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
];
/// Fields of a schema by whose words arguments are checked.
const WORDS: &[&str] = &[
    "type",
    "required",
    "dependentRequired",
    "dependencies",
    "pattern",
    "$ref",
    "$dynamicRef",
    "$anchor",
    "$dynamicAnchor",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_text_is_read_with_its_path() {
        let mut value = json!({"name": "t", "inputSchema": {"properties": {"a": {"enum": ["x", "y"], "default": "d"}}}});
        let mut seen = Vec::new();
        each_text(&mut value, |field, text| {
            seen.push(format!("{}={text}", field.path));
            (text == "y" || text == "t").then_some("!")
        });
        for expected in [
            "name=t",
            "inputSchema.properties.a=a",
            "inputSchema.properties.a.enum.1=y",
            "inputSchema.properties.a.default=d",
        ] {
            assert!(seen.iter().any(|it| it == expected), "{expected}: {seen:?}");
        }
        assert_eq!(
            value,
            json!({"name": "t", "inputSchema": {"properties": {"a": {"enum": ["x", "!"], "default": "d"}}}})
        );
    }

    #[test]
    fn what_is_too_deep_is_not_shown() {
        let mut value = json!("ignore");
        for _ in 0..200 {
            value = json!({ "a": value });
        }
        each_text(&mut value, |_, _| None);
        assert!(value.to_string().contains(super::super::SANITIZED));
    }
}
