//! How each API says it: a request as a body, and a stream of events as an answer. Pure; nothing is sent here.
//!
//! Tools that a provider would run itself (searches, code, computers, MCP) cannot be asked for: a request has no place for
//! them, and a stream in which one appears is refused.

mod anthropic;
mod chat;
mod json;
mod responses;

use serde_json::Value;

use crate::assembly::{Assembly, Broken};
use crate::attempt::Failure;
use crate::request::Request;
use crate::wire::KeyField;

/// An API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Chat Completions.
    Chat,
    /// Chat Completions as servers of one's own have it: Ollama, vLLM, llama.cpp.
    LocalChat,
    /// OpenAI's Responses.
    Responses,
}

const BEARER: KeyField = KeyField { name: "authorization", prefix: "Bearer " };
const X_API_KEY: KeyField = KeyField { name: "x-api-key", prefix: "" };
const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

impl Dialect {
    /// The path of the API.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Messages => "/v1/messages",
            Self::Chat | Self::LocalChat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }

    /// The field that carries the key.
    #[must_use]
    pub fn key_field(self) -> KeyField {
        match self {
            Self::Messages => X_API_KEY,
            Self::Chat | Self::LocalChat | Self::Responses => BEARER,
        }
    }

    /// The other header fields.
    #[must_use]
    pub fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Messages => &[JSON, EVENTS, ("anthropic-version", "2023-06-01")],
            Self::Chat | Self::LocalChat | Self::Responses => &[JSON, EVENTS],
        }
    }

    /// The body that asks what `request` asks.
    #[must_use]
    pub fn body(self, request: &Request) -> Value {
        match self {
            Self::Messages => anthropic::body(request),
            Self::Chat => chat::body(request, "max_completion_tokens", openai(request)),
            // Whether a model of one's own can be told is not known.
            Self::LocalChat => chat::body(request, "max_tokens", None),
            Self::Responses => responses::body(request, openai(request)),
        }
    }

    /// What reads the answer.
    pub(crate) fn reader(self) -> Box<dyn Reader> {
        match self {
            Self::Messages => Box::<anthropic::Messages>::default(),
            Self::Chat | Self::LocalChat => Box::<chat::Chat>::default(),
            Self::Responses => Box::<responses::Responses>::default(),
        }
    }
}

/// How hard one of OpenAI's models is told to think.
fn openai(request: &Request) -> Option<&'static str> {
    request.effort?.for_openai(&request.model)
}

/// Reads the events of one stream.
pub(crate) trait Reader {
    /// Takes the data of one event.
    fn event(&mut self, data: &str, answer: &mut Assembly<'_>) -> Result<Progress, ReadError>;

    /// Whether a stream that ends here has ended in order.
    fn may_end(&self) -> bool;
}

/// Whether more events are to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    Done,
}

/// Why a stream is not read on.
pub(crate) enum ReadError {
    /// It is no answer.
    Broken(Broken),
    /// It is an error of the provider.
    Told(Box<Failure>),
}

impl From<Broken> for ReadError {
    fn from(error: Broken) -> Self {
        Self::Broken(error)
    }
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        Self::Told(Box::new(failure))
    }
}
