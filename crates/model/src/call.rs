//! A call: from bytes that nobody believes to a bounded, canonical value.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::ipc::{Malformed, read_json};
use crate::{AgentId, Kind, NameError, SessionId, UserId, replace_texts_of};

/// The longest arguments of a call.
pub const ARGS_BYTES_MAX: usize = 10_000_000;

/// Who asks, as the connection knows it. No message has a field for any of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The session.
    pub session: SessionId,
    /// The person it runs for.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
    /// The door: `replay`, `mcp`, `hook`, `ipc`.
    pub door: Kind,
}

/// What arrived. Nothing in it has been believed yet.
#[derive(Clone, Debug)]
pub struct RawCall<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// Its arguments, a JSON object.
    pub args: &'a [u8],
}

/// A call that was understood: the only kind that guards see.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    tool: ToolName,
    /// Shared: what is judged, permitted and remembered is the very same.
    args: Arc<Map<String, Value>>,
}

/// Why bytes are no call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The tool's name.
    #[error(transparent)]
    Tool(#[from] NameError),
    /// The arguments are too long.
    #[error("the arguments have {bytes} bytes, at most {ARGS_BYTES_MAX} are read")]
    TooLong {
        /// Their length.
        bytes: usize,
    },
    /// The arguments are not JSON of one meaning.
    #[error("the arguments are no JSON that has one meaning: {0}")]
    Json(#[from] Malformed),
    /// The arguments are not an object.
    #[error("the arguments must be an object")]
    NoObject,
}

impl Call {
    /// Understands `raw`, or refuses it.
    ///
    /// # Errors
    /// If the name of the tool or the arguments break a limit or are not what they should be.
    pub fn parse(raw: &RawCall<'_>) -> Result<Self, CallError> {
        let tool = ToolName::parse(raw.tool)?;
        if raw.args.len() > ARGS_BYTES_MAX {
            return Err(CallError::TooLong { bytes: raw.args.len() });
        }
        match read_json(raw.args)? {
            Value::Object(args) => Ok(Self::of(tool, args)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Err(CallError::NoObject),
        }
    }

    /// The call with arguments that were read already, and kept their limits.
    #[must_use]
    pub fn of(tool: ToolName, args: Map<String, Value>) -> Self {
        Self { tool, args: Arc::new(args) }
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The arguments.
    #[must_use]
    pub fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// The same with other texts in its arguments: to be shown and remembered, not to be done.
    #[must_use]
    pub fn with_texts(&self, other: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut args = (*self.args).clone();
        replace_texts_of(&mut args, other);
        Self { args: Arc::new(args), ..self.clone() }
    }
}

/// The name of a tool: printable ASCII, without spaces, quotes and backslashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Takes `text` as it stands, or not at all.
    ///
    /// # Errors
    /// If it is empty, too long, or holds a character that could be taken for another.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        const WHAT: &str = "tool name";
        if text.is_empty() {
            return Err(NameError::Empty { what: WHAT });
        }
        if text.len() > crate::NAME_BYTES_MAX {
            return Err(NameError::TooLong { what: WHAT, bytes: text.len() });
        }
        let legal = |it: char| it.is_ascii_graphic() && !"\"'\\`".contains(it);
        match text.chars().find(|it| !legal(*it)) {
            Some(found) => {
                Err(NameError::Character { what: WHAT, found: found.escape_debug().to_string() })
            }
            None => Ok(Self(text.into())),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(tool: &str, args: &str) -> Result<Call, CallError> {
        Call::parse(&RawCall { tool, args: args.as_bytes() })
    }

    #[test]
    fn a_call_is_understood_or_refused() {
        let call = parse("mcp__mail__send", r#"{"to":"a@b.example"}"#).unwrap();
        assert_eq!(call.tool().as_str(), "mcp__mail__send");
        assert_eq!(call.args().len(), 1);
        for (tool, args) in [
            ("", "{}"),
            ("a b", "{}"),
            ("ｓend", "{}"),
            ("send", "[]"),
            ("send", "{"),
            ("send", r#"{"a":1,"a":2}"#),
        ] {
            assert!(parse(tool, args).is_err(), "{tool} {args}");
        }
    }
}
