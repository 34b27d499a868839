//! Header fields of a tool's parameters (`x-mcp-header` in its schema), held against the arguments.
//!
//! They are known from lists that a client was given. Nothing here acts on them; whoever stands before us may have.

use super::headers::{Problem, agree};
use crate::limits::TOOLS_MAX;
use hyper::HeaderMap;
use hyper::header::HeaderName;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The fields that tools declare, by the tool's name.
#[derive(Debug, Default)]
pub(super) struct Declared(HashMap<String, Vec<Field>>);

#[derive(Debug)]
struct Field {
    name: HeaderName,
    /// Keys from the arguments to the parameter.
    path: Vec<String>,
}

impl Declared {
    /// Takes in the answer to `tools/list`. A tool that declares nothing any more has nothing declared.
    pub(super) fn learn(&mut self, answer: &[u8]) {
        let mentions = std::str::from_utf8(answer).is_ok_and(|it| it.contains(KEY));
        if !mentions && self.0.is_empty() {
            return;
        }
        let Ok(answer) = serde_json::from_slice::<Value>(answer) else { return };
        let tools = answer.pointer("/result/tools").and_then(Value::as_array);
        for tool in tools.into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let mut fields = Vec::new();
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            gather(schema, &mut Vec::new(), &mut fields);
            self.0.remove(name);
            if !fields.is_empty() && self.0.len() < TOOLS_MAX {
                self.0.insert(name.to_owned(), fields);
            }
        }
    }

    /// Checks the fields of a call: each says what its argument says, and is missing where that is.
    pub(super) fn check(
        &self,
        headers: &HeaderMap,
        tool: &str,
        arguments: Option<&Value>,
    ) -> Result<(), Problem> {
        let fields = self.0.get(tool).map(Vec::as_slice).unwrap_or_default();
        for Field { name, path } in fields {
            let mut value = arguments;
            for key in path {
                value = value.and_then(|it| it.get(key));
            }
            let body = match value {
                Some(Value::String(text)) => Some(text.clone()),
                Some(Value::Bool(it)) => Some(it.to_string()),
                Some(Value::Number(it)) => Some(it.to_string()),
                Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => None,
            };
            agree(headers, name.as_str(), body.as_deref(), body.is_some())?;
        }
        Ok(())
    }
}

/// Finds declarations in a schema, where properties of objects lead to them.
fn gather(schema: &Value, path: &mut Vec<String>, fields: &mut Vec<Field>) {
    if path.len() >= PATH_KEYS_MAX {
        return;
    }
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (key, property) in properties {
        path.push(key.clone());
        let declared = property.get(KEY).and_then(Value::as_str);
        let name = declared.map(|it| format!("{PREFIX}{}", it.to_ascii_lowercase()));
        if let Some(name) = name.and_then(|it| HeaderName::from_bytes(it.as_bytes()).ok())
            && fields.len() < FIELDS_OF_TOOL_MAX
        {
            fields.push(Field { name, path: path.clone() });
        }
        gather(property, path, fields);
        path.pop();
    }
}

/// The key of a declaration.
const KEY: &str = "x-mcp-header";
/// The begin of a field's name.
const PREFIX: &str = "mcp-param-";
/// Keys from the arguments to a parameter.
const PATH_KEYS_MAX: usize = 8;
/// Declarations of one tool.
const FIELDS_OF_TOOL_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;
    use serde_json::json;

    #[test]
    fn a_declared_field_says_what_the_argument_says_or_is_not_there() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "page": {"type": "object", "properties": {"size": {"type": "integer", "x-mcp-header": "Size"}}},
        }});
        let list = json!({"result": {"tools": [{"name": "query", "inputSchema": schema}]}});
        let mut declared = Declared::default();
        declared.learn(list.to_string().as_bytes());
        let check = |fields: &[(&'static str, &'static str)], arguments: Value| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, HeaderValue::from_static(value));
            }
            declared.check(&headers, "query", Some(&arguments)).is_ok()
        };
        let (region, size) = (("mcp-param-region", "eu"), ("mcp-param-size", "7"));
        assert!(check(&[region, size], json!({"region": "eu", "page": {"size": 7}})));
        assert!(check(&[region], json!({"region": "eu", "page": {"size": null}})));
        assert!(check(&[], json!({})));
        assert!(!check(&[], json!({"region": "eu"})), "it is missing");
        assert!(!check(&[region], json!({"region": "us"})), "it says something else");
        assert!(!check(&[region], json!({})), "there is no such argument");
        assert!(!check(&[region, region], json!({"region": "eu"})), "it is there twice");
        let empty = json!({"result": {"tools": [{"name": "query", "inputSchema": {}}]}});
        declared.learn(empty.to_string().as_bytes());
        assert!(declared.0.is_empty());
    }
}
