//! JSON-RPC messages: one line becomes one message, or is refused.
//!
//! INVARIANT (OneReading): a line that two parsers could read differently is refused, because the gate judges our
//! reading and the server acts on its own. So: no duplicate keys, no keys that differ from the protocol's by case
//! only, no bare carriage return (some readers end a line there), no batches.

use crate::limits::{ID_BYTES_MAX, MESSAGE_BYTES_MAX, METHOD_BYTES_MAX};
use crate::strict;
use serde_json::{Value, json};

/// A request's id: text or a whole number, never null.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    /// Reads an id; `None` where it is none of a request.
    #[must_use]
    pub fn parse(value: &Value) -> Option<Self> {
        if let Some(number) = value.as_i64() {
            return Some(Self::Number(number));
        }
        let text = value.as_str()?;
        (text.len() <= ID_BYTES_MAX).then(|| Self::Text(text.to_owned()))
    }

    /// Returns the id as it stands in a message.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(text),
        }
    }
}

/// A message of either peer, with the line that it came in.
#[derive(Clone, Debug)]
pub struct Message {
    /// What sort of message it is.
    pub body: Body,
    /// The whole message. Whoever changes it sets `changed`.
    pub value: Value,
    /// Whether `value` is no longer what the line says.
    pub changed: bool,
    line: Vec<u8>,
}

/// A sort of message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A request, to be answered.
    Request {
        /// The sender's id.
        id: Id,
        /// The method.
        method: String,
    },
    /// A notification.
    Notification {
        /// The method.
        method: String,
    },
    /// An answer to a request.
    Response {
        /// The request's id.
        id: Id,
        /// Whether it carries an error.
        failed: bool,
    },
}

/// A refusal of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Longer than a message may be.
    #[error("the message has more than {MESSAGE_BYTES_MAX} bytes; send less at a time")]
    TooLong,
    /// Not UTF-8.
    #[error("the message is not UTF-8")]
    NotUtf8,
    /// Not JSON, too deep, or with a key twice.
    #[error("the message is no JSON that can be read in one way only: {0}")]
    NotJson(String),
    /// A carriage return within the line.
    #[error("the message has a carriage return within its line; write it as `\\r`")]
    CarriageReturn,
    /// An array of messages.
    #[error("the message is a batch; send one message per line")]
    Batch,
    /// Not a message of JSON-RPC 2.0.
    #[error("the message is not JSON-RPC 2.0: {0}")]
    NotJsonRpc(&'static str),
}

impl Malformed {
    /// Returns the error code of the protocol.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::NotUtf8 | Self::NotJson(_) => PARSE_ERROR,
            Self::TooLong | Self::CarriageReturn | Self::Batch | Self::NotJsonRpc(_) => {
                INVALID_REQUEST
            }
        }
    }
}

/// Error code: not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// Error code: not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// Error code: unknown method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Error code: parameters that do not fit, or an unknown tool.
pub const INVALID_PARAMS: i64 = -32602;
/// Error code: a failure within.
pub const INTERNAL_ERROR: i64 = -32603;
/// Error code of our own: denied by policy. Outside of the protocol's ranges.
pub const DENIED: i64 = 4031;
/// Error code of our own: the server is gone or does not keep up.
pub const SERVER_UNAVAILABLE: i64 = 4032;

impl Message {
    /// Reads one line, without its line end.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        if line.len() > MESSAGE_BYTES_MAX {
            return Err(Malformed::TooLong);
        }
        let text = std::str::from_utf8(line).map_err(|_| Malformed::NotUtf8)?;
        if text.contains('\r') {
            return Err(Malformed::CarriageReturn);
        }
        let value = strict::parse(text).map_err(|error| Malformed::NotJson(error.to_string()))?;
        let body = body(&value)?;
        Ok(Self { body, value, changed: false, line: single_line(text) })
    }

    /// Returns the request's or notification's method.
    #[must_use]
    pub fn method(&self) -> &str {
        match &self.body {
            Body::Request { method, .. } | Body::Notification { method } => method,
            Body::Response { .. } => "",
        }
    }

    /// Returns the parameters, or null.
    #[must_use]
    pub fn params(&self) -> &Value {
        self.value.get("params").unwrap_or(&Value::Null)
    }

    /// Returns what a response carries: its result or its error.
    #[must_use]
    pub fn outcome(&self) -> &Value {
        self.value.get("result").or_else(|| self.value.get("error")).unwrap_or(&Value::Null)
    }

    /// Returns the line to send: the one that came, unless the message was changed.
    #[must_use]
    pub fn into_line(self) -> Vec<u8> {
        if self.changed { encode(&self.value) } else { self.line }
    }

    /// Returns the bytes of the line that came.
    #[must_use]
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// Whether the line was empty; a parsed message never is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Takes out what no message has beside its method and parameters, or its outcome; says whether there was any.
    pub(crate) fn strip_envelope(&mut self) -> bool {
        let Some(object) = self.value.as_object_mut() else { return false };
        let before = object.len();
        object.retain(|key, _| ENVELOPE.contains(&key.as_str()));
        object.len() != before
    }

    /// Gives a response or request another id.
    pub fn set_id(&mut self, id: &Id) {
        if let Some(object) = self.value.as_object_mut() {
            object.insert("id".to_owned(), id.to_value());
            self.changed = true;
        }
    }
}

/// Writes a message as one line.
#[must_use]
pub fn encode(value: &Value) -> Vec<u8> {
    single_line(&value.to_string())
}

/// Writes an answer that carries a result.
#[must_use]
pub fn response(id: &Id, result: Value) -> Vec<u8> {
    encode(&json!({"jsonrpc": "2.0", "id": id.to_value(), "result": result}))
}

/// Writes an answer that carries an error. Without an id it is null, as JSON-RPC says.
#[must_use]
pub fn error(id: Option<&Id>, code: i64, message: &str) -> Vec<u8> {
    let id = id.map_or(Value::Null, Id::to_value);
    encode(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

fn body(value: &Value) -> Result<Body, Malformed> {
    if value.is_array() {
        return Err(Malformed::Batch);
    }
    let object = value.as_object().ok_or(Malformed::NotJsonRpc("it is no object"))?;
    if strict::has_lookalike(value, &ENVELOPE) || strict::has_lookalike(params(value), &PARAMS) {
        return Err(Malformed::NotJsonRpc("a key differs from the protocol's by case only"));
    }
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Malformed::NotJsonRpc("`jsonrpc` must be \"2.0\""));
    }
    let id = match object.get("id") {
        None => None,
        Some(id) => Some(
            Id::parse(id).ok_or(Malformed::NotJsonRpc("`id` must be text or a whole number"))?,
        ),
    };
    let method = match object.get("method") {
        None => None,
        Some(method) => {
            Some(method.as_str().ok_or(Malformed::NotJsonRpc("`method` must be text"))?)
        }
    };
    let outcomes =
        usize::from(object.contains_key("result")) + usize::from(object.contains_key("error"));
    match (id, method) {
        (_, Some(method))
            if method.is_empty() || method.len() > METHOD_BYTES_MAX || outcomes > 0 =>
        {
            Err(Malformed::NotJsonRpc("a request has a short method and no result"))
        }
        (_, Some(_)) if !matches!(params(value), Value::Null | Value::Object(_)) => {
            Err(Malformed::NotJsonRpc("`params` must be an object"))
        }
        (Some(id), Some(method)) => Ok(Body::Request { id, method: method.to_owned() }),
        (None, Some(method)) => Ok(Body::Notification { method: method.to_owned() }),
        (Some(id), None) if outcomes == 1 => {
            Ok(Body::Response { id, failed: object.contains_key("error") })
        }
        (Some(_), None) => Err(Malformed::NotJsonRpc("an answer has either `result` or `error`")),
        (None, None) => Err(Malformed::NotJsonRpc("it has neither `method` nor `id`")),
    }
}

fn params(value: &Value) -> &Value {
    value.get("params").unwrap_or(&Value::Null)
}

/// Some readers end a line at these characters. Within JSON they stand in strings only, so an escape says the same.
fn single_line(text: &str) -> Vec<u8> {
    if !text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return text.as_bytes().to_vec();
    }
    let escaped = text.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028");
    escaped.replace('\u{2029}', "\\u2029").into_bytes()
}

const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
const PARAMS: [&str; 7] =
    ["name", "arguments", "uri", "_meta", "inputresponses", "requeststate", "taskid"];
