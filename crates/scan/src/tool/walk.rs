//! Every text of a definition, with its path.

use serde_json::Value;

/// Levels of a definition that are read; `serde_json` reads no more than these.
const DEPTH_MAX: usize = 128;

/// A text of a definition.
pub(super) struct Field {
    /// In dot form.
    pub(super) path: String,
    /// Is it the name of a tool or a parameter?
    pub(super) is_name: bool,
}

/// Calls `read` with every text of a definition; what it returns stands there instead.
///
/// Names of parameters, and words that a schema is made of, are read and left as they are: without them a tool could not
/// be called.
pub(super) fn each_text(
    definition: &mut Value,
    mut read: impl FnMut(&Field, &str) -> Option<&'static str>,
) {
    let mut field = Field { path: String::new(), is_name: false };
    walk(definition, &mut field, 0, "", &mut read);
}

fn walk(
    value: &mut Value,
    field: &mut Field,
    depth: usize,
    key: &str,
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
            field.is_name = key == "name";
            if let Some(instead) = read(field, text)
                && !FIXED.contains(&key)
            {
                instead.clone_into(text);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                push(&mut field.path, &index.to_string());
                walk(item, field, depth + 1, key, read);
                field.path.truncate(path);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields.iter_mut() {
                push(&mut field.path, name);
                // A name says little, but it is read as well.
                field.is_name = true;
                read(field, name);
                walk(item, field, depth + 1, name, read);
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

/// Fields by which a tool is called and a schema is read.
const FIXED: &[&str] = &["name", "$ref", "$schema", "$id", "type", "required", "pattern", "format"];

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
