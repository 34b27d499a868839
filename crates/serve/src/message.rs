//! What a client says on its socket, read strictly: one meaning, or none.

use std::fmt;

use model::ipc::Uuid;
use policy::access::POLICY_VERSION_MAX;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// One message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientMessage {
    /// Chooses an agent, and a session that is there or a new one.
    Subscribe {
        /// The agent.
        agent: String,
        /// The session.
        session: Option<Uuid>,
        /// The last frame that arrived.
        last: Option<u64>,
    },
    /// Says something to the agent.
    Message {
        /// What.
        content: String,
    },
    /// Interrupts the turn that runs.
    Interrupt,
    /// Asks whether the server is there.
    Ping,
    /// Answers a question about one call.
    ToolApproval {
        /// Which.
        tool: String,
        /// How.
        approved: bool,
    },
    /// Agrees to the policy.
    ConsentGranted {
        /// In which version.
        version: String,
    },
}

/// Why a message is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MessageError {
    /// Is it no JSON at all?
    pub is_syntax: bool,
    /// Which field, as a path.
    pub path: String,
    /// What is wrong with it.
    pub what: String,
}

/// The longest name of an agent, in characters.
const AGENT_CHARS_MAX: usize = 200;
/// The longest id of a call, in characters.
const TOOL_ID_CHARS_MAX: usize = 200;
/// The longest content, in characters.
pub(crate) const CONTENT_CHARS_MAX: usize = 200_000;
/// The greatest number that every client can say exactly.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;
/// The most fields of a message.
const FIELDS_MAX: usize = 16;

impl ClientMessage {
    /// Reads one message.
    ///
    /// # Errors
    /// If it is not exactly one of the six.
    pub fn parse(text: &str) -> Result<Self, MessageError> {
        let mut input = serde_json::Deserializer::from_str(text);
        let read = input.deserialize_map(Top).and_then(|it| input.end().map(|()| it));
        let mut fields = read.map_err(|error| {
            // What is wrong as a message may be wrong as JSON further on.
            let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            let is_syntax = error.is_syntax() || error.is_eof() || !is_json;
            MessageError { is_syntax, path: "$".to_owned(), what: plain(&error) }
        })?;
        let message = match fields.text("type")?.as_str() {
            "subscribe" => Self::Subscribe {
                agent: fields.text_within("agentId", AGENT_CHARS_MAX)?,
                session: fields.session()?,
                last: fields.last()?,
            },
            "message" => Self::Message { content: fields.content()? },
            "interrupt" => Self::Interrupt,
            "ping" => Self::Ping,
            "tool_approval" => Self::ToolApproval {
                tool: fields.text_within("toolId", TOOL_ID_CHARS_MAX)?,
                approved: fields.flag("approved")?,
            },
            "consent_granted" => Self::ConsentGranted {
                version: fields.text_within("policyVersion", POLICY_VERSION_MAX)?,
            },
            _ => return Err(wrong("type", "there is no such type of message")),
        };
        fields.finish().map(|()| message)
    }
}

impl MessageError {
    /// Of a message that is no text.
    pub(crate) fn of_bytes() -> Self {
        let what = "a message is one JSON object, as text".to_owned();
        Self { is_syntax: true, path: "$".to_owned(), what }
    }
}

fn wrong(path: &str, what: impl Into<String>) -> MessageError {
    MessageError { is_syntax: false, path: path.to_owned(), what: what.into() }
}

/// What the parser says, without what it was given.
fn plain(error: &serde_json::Error) -> String {
    let kind = match error.classify() {
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Syntax => "it is no JSON",
        serde_json::error::Category::Data => {
            "it is no object whose fields are there once and are few"
        }
        serde_json::error::Category::Io => "it could not be read",
    };
    format!("{kind} (line {}, column {})", error.line(), error.column())
}

/// Fields of a message that nobody has taken yet.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|it| it.0 == name)?;
        Some(self.0.swap_remove(place).1)
    }

    fn text(&mut self, name: &str) -> Result<String, MessageError> {
        match self.take(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(wrong(name, "it is no text")),
            None => Err(wrong(name, "it is missing")),
        }
    }

    fn text_within(&mut self, name: &str, chars_max: usize) -> Result<String, MessageError> {
        let text = self.text(name)?;
        let fits = (1..=chars_max).contains(&text.chars().count());
        if fits && !text.contains(char::is_control) {
            return Ok(text);
        }
        Err(wrong(name, format!("it has 1 to {chars_max} characters, none of them for control")))
    }

    fn content(&mut self) -> Result<String, MessageError> {
        let text = self.text("content")?;
        if !(1..=CONTENT_CHARS_MAX).contains(&text.chars().count()) {
            return Err(wrong("content", format!("it has 1 to {CONTENT_CHARS_MAX} characters")));
        }
        if text.contains('\0') {
            return Err(wrong("content", "it has a NUL in it"));
        }
        Ok(text)
    }

    fn flag(&mut self, name: &str) -> Result<bool, MessageError> {
        match self.take(name) {
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(wrong(name, "it is neither true nor false")),
            None => Err(wrong(name, "it is missing")),
        }
    }

    fn session(&mut self) -> Result<Option<Uuid>, MessageError> {
        let Some(value) = self.take("sessionId") else { return Ok(None) };
        let id = value.as_str().and_then(Uuid::parse);
        id.map(Some).ok_or_else(|| wrong("sessionId", "it is no UUID in small letters"))
    }

    fn last(&mut self) -> Result<Option<u64>, MessageError> {
        let Some(value) = self.take("lastMessageId") else { return Ok(None) };
        let id = value.as_u64().filter(|it| *it <= SAFE_INTEGER_MAX);
        let what = "it is no whole number from 0 to 9007199254740991";
        id.map(Some).ok_or_else(|| wrong("lastMessageId", what))
    }

    /// Nothing may be left.
    fn finish(self) -> Result<(), MessageError> {
        match self.0.first() {
            Some(_) => Err(wrong("$", "it has a field that this type of message does not have")),
            None => Ok(()),
        }
    }
}

/// An object whose keys are there once.
struct Top;

impl<'de> Visitor<'de> for Top {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if fields.len() >= FIELDS_MAX || fields.iter().any(|it| it.0 == key) {
                return Err(A::Error::custom("a field twice, or too many"));
            }
            fields.push((key, value));
        }
        Ok(Fields(fields))
    }
}
