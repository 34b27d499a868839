//! What a person can ask for, read strictly.

use model::ipc::Uuid;
use model::{SessionId, UserId};
use monitor::approvals::Word;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Answer what the gate asks.
    Answer {
        /// The question.
        id: Uuid,
        /// Yes or no.
        word: Word,
        /// Who answers.
        by: UserId,
        /// Why; may be empty.
        reason: String,
    },
    /// Say something to a session, as its user.
    Say {
        /// The session.
        session: SessionId,
        /// The words.
        text: String,
    },
    /// Look through the plugins anew.
    Plugins,
}

/// Why a request is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request: {0}")]
pub struct RequestError(String);

/// As it is written.
#[derive(Deserialize)]
#[serde(tag = "request", rename_all = "lowercase", deny_unknown_fields)]
enum Written {
    Answer { id: String, answer: String, by: String, reason: String },
    Say { session: String, text: String },
    Plugins {},
}

impl Request {
    /// Reads a request. A field that is missing or unknown, a name that is none: refused.
    ///
    /// # Errors
    /// If it is anything else than a request.
    pub fn parse(message: &[u8]) -> Result<Self, RequestError> {
        let wrong = |why: &dyn std::fmt::Display| RequestError(why.to_string());
        match serde_json::from_slice(message).map_err(|error| wrong(&error))? {
            Written::Answer { id, answer, by, reason } => Ok(Self::Answer {
                id: Uuid::parse(&id).ok_or_else(|| wrong(&"`id` is no UUID in lower case"))?,
                word: Word::parse(&answer)
                    .ok_or_else(|| wrong(&"`answer` is `approve` or `deny`"))?,
                by: UserId::parse(&by).map_err(|error| wrong(&error))?,
                reason,
            }),
            Written::Say { text, .. } if text.trim().is_empty() => Err(wrong(&"nothing is said")),
            Written::Say { session, text } => Ok(Self::Say {
                session: SessionId::parse(&session).map_err(|error| wrong(&error))?,
                text,
            }),
            Written::Plugins {} => Ok(Self::Plugins),
        }
    }

    /// The request as it is sent.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Answer { id, word, by, reason } => json!({
                "request": "answer",
                "id": id.to_string(),
                "answer": word.as_str(),
                "by": by.as_str(),
                "reason": reason,
            }),
            Self::Say { session, text } => {
                json!({ "request": "say", "session": session.as_str(), "text": text })
            }
            Self::Plugins => json!({ "request": "plugins" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_read_back() {
        for request in [
            Request::Answer {
                id: Uuid::from_random([3; 16]),
                word: Word::Deny,
                by: UserId::parse("ann").unwrap(),
                reason: "no \u{1b}".to_owned(),
            },
            Request::Say { session: SessionId::parse("s").unwrap(), text: "yes".to_owned() },
            Request::Plugins,
        ] {
            assert_eq!(Request::parse(request.to_value().to_string().as_bytes()), Ok(request));
        }
    }

    #[test]
    fn nothing_else_is_a_request() {
        let id = Uuid::from_random([3; 16]);
        let answer = |more: &str| {
            format!(
                r#"{{"request":"answer","id":"{id}","answer":"approve","by":"a","reason":""{more}}}"#
            )
        };
        assert!(Request::parse(answer("").as_bytes()).is_ok());
        for bad in [
            String::new(),
            "[]".to_owned(),
            r#"{"action":"skill_list"}"#.to_owned(),
            r#"{"request":"grant","session":"s"}"#.to_owned(),
            answer(r#","session":"s""#),
            answer(r#","id":"00000000-0000-4000-8000-000000000000""#),
            answer("").replace("approve", "Approve"),
            answer("").replace(r#""by":"a","#, ""),
            answer("").replace(r#""a""#, r#""a b""#),
            answer("").replace(&id.to_string(), "1"),
            format!("{} {{}}", answer("")),
            r#"{"request":"say","session":"s","text":" "}"#.to_owned(),
            r#"{"request":"plugins","skip":"@t/p"}"#.to_owned(),
            r#"{"request":"say","session":"s","text":"x","source":"user"}"#.to_owned(),
            "[".repeat(100_000),
        ] {
            assert!(Request::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
