//! Header fields of requests, made from the message that is sent: whoever reads either reads the same.

use super::limits::PARAMETERS_MAX;
use crate::era::{META_VERSION, MODERN_VERSION};
use crate::message::Message;
use data_encoding::BASE64;
use serde_json::Value;
use std::collections::HashMap;

/// Media types of an answer.
pub(super) const ACCEPT: &str = "application/json, text/event-stream";
/// Media type of a message.
pub(super) const JSON: &str = "application/json";
/// Media type of a stream.
pub(super) const EVENTS: &str = "text/event-stream";
/// Field of the revision.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// Field of a legacy session.
pub(super) const SESSION: &str = "mcp-session-id";
/// Field of the last event that came.
pub(super) const LAST_EVENT: &str = "last-event-id";

/// Parameters of tools that become header fields, as the server's schemas say.
#[derive(Debug, Default)]
pub(super) struct Parameters(HashMap<String, Vec<(String, Vec<String>)>>);

impl Parameters {
    /// Takes in a page of tools.
    pub(super) fn learn(&mut self, result: &Value) {
        let tools = result.get("tools").and_then(Value::as_array);
        for tool in tools.into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let mut found = Vec::new();
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            gather(schema, &mut Vec::new(), &mut found);
            match found.is_empty() {
                true => drop(self.0.remove(name)),
                false => drop(self.0.insert(name.to_owned(), found)),
            }
        }
    }

    /// Returns the fields of a call.
    fn of_call(&self, message: &Message) -> Vec<(String, String)> {
        let params = message.params();
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let known = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        let field = |(name, path): &(String, Vec<String>)| {
            let value = path.iter().try_fold(arguments, |value, key| value.get(key))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) => value.to_string(),
                Value::Number(number) if number.is_i64() || number.is_u64() => value.to_string(),
                Value::Number(_) | Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((format!("mcp-param-{name}"), encoded_value(&text)))
        };
        known.iter().filter_map(field).collect()
    }
}

/// Properties with a field's name, as far as they are reached by names alone.
fn gather(schema: &Value, path: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    const DEPTH_MAX: usize = 8;
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        if path.len() >= DEPTH_MAX || found.len() >= PARAMETERS_MAX {
            return;
        }
        path.push(key.clone());
        let name = property.get("x-mcp-header").and_then(Value::as_str);
        if let Some(name) = name.filter(|it| is_token(it)) {
            found.push((name.to_ascii_lowercase(), path.clone()));
        }
        gather(property, path, found);
        path.pop();
    }
}

fn is_token(text: &str) -> bool {
    const NAME_BYTES_MAX: usize = 64;
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_plain)
}

/// Fields of a message.
pub(super) struct Fields {
    pub(super) fixed: Vec<(&'static str, String)>,
    pub(super) parameters: Vec<(String, String)>,
}

/// Returns the fields of a message to a modern server.
pub(super) fn modern(message: &Message, parameters: &Parameters) -> Fields {
    let params = message.params();
    let mut fixed = always();
    let version = params.get("_meta").and_then(|it| it.get(META_VERSION)).and_then(Value::as_str);
    fixed.push((VERSION, encoded_value(version.unwrap_or(MODERN_VERSION))));
    fixed.push(("mcp-method", encoded_value(message.method())));
    let named = match message.method() {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    if let Some(named) = named.and_then(Value::as_str) {
        fixed.push(("mcp-name", encoded_value(named)));
    }
    let is_call = message.method() == "tools/call";
    let parameters = if is_call { parameters.of_call(message) } else { Vec::new() };
    Fields { fixed, parameters }
}

/// Returns the fields of a message to a legacy server, in the revision and the session of its handshake.
pub(super) fn legacy(message: &Message, version: Option<&str>, session: Option<&str>) -> Fields {
    let mut fixed = always();
    // Before a handshake neither is known.
    if message.method() != "initialize" {
        fixed.extend(version.map(|it| (VERSION, it.to_owned())));
        fixed.extend(session.map(|it| (SESSION, it.to_owned())));
    }
    Fields { fixed, parameters: Vec::new() }
}

fn always() -> Vec<(&'static str, String)> {
    vec![("accept", ACCEPT.to_owned()), ("content-type", JSON.to_owned())]
}

/// Writes a value as a header field can carry it: as it is, or in base64 between marks.
#[must_use]
pub fn encoded_value(text: &str) -> String {
    let is_plain = text.bytes().all(|it| (0x20..0x7f).contains(&it))
        && text.trim() == text
        && !(text.starts_with(MARK) && text.ends_with(END));
    if is_plain {
        return text.to_owned();
    }
    format!("{MARK}{}{END}", BASE64.encode(text.as_bytes()))
}

const MARK: &str = "=?base64?";
const END: &str = "?=";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(message: &Value) -> Message {
        Message::parse(message.to_string().as_bytes()).unwrap()
    }

    fn beyond_those_of_all(made: Fields) -> Vec<(String, String)> {
        let fixed = made.fixed.into_iter().skip(2).map(|it| (it.0.to_owned(), it.1));
        fixed.chain(made.parameters).collect()
    }

    #[test]
    fn a_modern_request_says_in_its_head_what_it_says_in_its_body() {
        let mut parameters = Parameters::default();
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "properties": { "count": { "type": "integer", "x-mcp-header": "Count" } } },
            "bad": { "x-mcp-header": "a b" }, "none": { "x-mcp-header": "None" },
        } });
        parameters.learn(&json!({ "tools": [{ "name": "säen", "inputSchema": schema }] }));
        let meta = json!({ META_VERSION: "2026-07-28" });
        let arguments =
            json!({ "region": "eu ", "deep": { "count": 3 }, "bad": "x", "none": null });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "säen", "arguments": arguments, "_meta": meta } });
        let expected = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?c8OkZW4=?="),
            ("mcp-param-region", "=?base64?ZXUg?="),
            ("mcp-param-count", "3"),
        ];
        let mut made = beyond_those_of_all(modern(&parsed(&call), &parameters));
        made.sort_by_key(|it| expected.iter().position(|known| known.0 == it.0));
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(made, expected);
    }

    #[test]
    fn a_legacy_message_names_its_session_and_the_handshake_names_none() {
        let fields = |message: &Value| {
            beyond_those_of_all(legacy(&parsed(message), Some("2025-06-18"), Some("s1")))
        };
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let named = [(VERSION, "2025-06-18"), (SESSION, "s1")];
        assert_eq!(fields(&note), named.map(|it| (it.0.to_owned(), it.1.to_owned())));
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
        assert_eq!(fields(&hello), []);
    }

    #[test]
    fn values_that_look_like_the_mark_or_break_lines_are_marked() {
        assert_eq!(encoded_value("plain text"), "plain text");
        for text in ["a\r\nb: c", " a", "é", "=?base64?QQ==?=", "a\u{7f}"] {
            let value = encoded_value(text);
            let inside = value.strip_prefix(MARK).and_then(|it| it.strip_suffix(END)).unwrap();
            assert_eq!(BASE64.decode(inside.as_bytes()).unwrap(), text.as_bytes());
        }
    }
}
