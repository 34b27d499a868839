//! What is known of the conversation with a server: its era, and in the legacy one its session.

use super::fields::{self, Fields, Parameters};
use super::limits::ID_BYTES_MAX;
use super::{Answer, fields::SESSION};
use crate::era::{Era, LEGACY_VERSIONS, of_request};
use crate::message::{Body, Message};
use serde_json::Value;

/// What is known of the conversation with a server.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) era: Option<Era>,
    session: Option<String>,
    version: Option<String>,
    /// The client's handshake, to be made again when the server has forgotten the session.
    pub(super) hello: Option<Vec<u8>>,
    /// How many handshakes there were: who meets a forgotten session knows whether somebody else has made a new one.
    pub(super) generation: u64,
    parameters: Parameters,
}

impl Conversation {
    /// Returns the header fields of a message, and the generation of the session that they name, if they name one.
    pub(super) fn fields(&self, message: &Message) -> (Fields, Option<u64>) {
        let made = match self.era_of(message) {
            Era::Modern => fields::modern(message, &self.parameters),
            Era::Legacy => {
                fields::legacy(message, self.version.as_deref(), self.session.as_deref())
            }
        };
        let names_session = made.fixed.iter().any(|it| it.0 == SESSION);
        (made, names_session.then_some(self.generation))
    }

    /// Tells the era that a message is sent in: that of the server, once it is known, for a client of the other era may have
    /// written it.
    pub(super) fn era_of(&self, message: &Message) -> Era {
        match (&message.body, self.era) {
            (_, Some(era)) if message.method() != "server/discover" => era,
            (Body::Request { .. }, _) => of_request(message),
            (Body::Notification { .. } | Body::Response { .. }, _) => Era::Legacy,
        }
    }

    /// Returns the fields that name the legacy session.
    pub(super) fn legacy(&self) -> Vec<(&'static str, String)> {
        let version = self.version.iter().map(|it| (fields::VERSION, it.clone()));
        version.chain(self.session.iter().map(|it| (SESSION, it.clone()))).collect()
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Takes in the head of the answer to `initialize`. A session's id that cannot stand in a header is none.
    pub(super) fn absorb_head(&mut self, answer: &Answer) {
        let is_plain = |it: &&str| {
            it.len() <= ID_BYTES_MAX && it.bytes().all(|byte| (0x21..0x7f).contains(&byte))
        };
        self.session = answer.header(SESSION).filter(is_plain).map(str::to_owned);
    }

    /// Takes in a successful answer to a request of this method.
    pub(super) fn absorb(&mut self, method: &str, result: &Value) {
        match method {
            "initialize" => {
                let version = result.get("protocolVersion").and_then(Value::as_str);
                let version = version.filter(|it| LEGACY_VERSIONS.contains(it));
                self.version = version.map(str::to_owned);
                self.era = Some(Era::Legacy);
                self.generation += 1;
            }
            "server/discover" => self.era = Some(Era::Modern),
            "tools/list" => self.parameters.learn(result),
            _ => {}
        }
    }

    pub(super) fn forget_session(&mut self) {
        self.session = None;
    }
}
