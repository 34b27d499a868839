//! What a person can ask for, read strictly.

use std::path::PathBuf;

use aegx::Digest;
use model::ipc::Uuid;
use model::{SessionId, Taint, UserId};
use monitor::approvals::Word;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::deed::Deed;

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
    /// Do something with the system prompt that answers of a session are compared with.
    Prompt {
        /// The session.
        session: SessionId,
        /// What.
        act: PromptAct,
    },
    /// Look through the plugins anew.
    Plugins,
    /// Sign what the journal holds now.
    Checkpoint,
    /// Delete old records, as the journal lets them go.
    Retain {
        /// Those of segments with nothing newer, in seconds since 1970.
        before: i64,
    },
    /// Verify a bundle of others and keep it beside the journal.
    Import {
        /// Where it is, from the root on.
        bundle: PathBuf,
    },
    /// Record what a person does with the state directory; they do it themselves.
    Act(Deed),
}

/// What can be done with a system prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "act", rename_all = "lowercase", deny_unknown_fields)]
pub enum PromptAct {
    /// Compare answers with it from now on.
    Register {
        /// The prompt; without it names alone are looked for.
        prompt: Option<String>,
        /// Names that must not be said.
        tokens: Vec<String>,
        /// Texts of it that may be said.
        public: Vec<String>,
    },
    /// Say what is registered.
    Show {},
    /// Compare with it no longer.
    Clear {},
}

/// What a person can do with the state directory, and that it came to nothing. Nothing else is recorded by this door.
pub const DEEDS: &[&str] = &[
    "access_created",
    "access_not_changed",
    "access_revoked",
    "access_rotated",
    "agents_not_unwired",
    "agents_not_wired",
    "agents_unwired",
    "agents_wired",
    "approval_granted",
    "approval_not_granted",
    "approval_not_revoked",
    "approval_revoked",
    "folder_distrusted",
    "folder_trust_not_changed",
    "folder_trusted",
    "grants_not_written",
    "grants_written",
    "job_added",
    "job_not_added",
    "job_not_removed",
    "job_removed",
    "mcp_accepted",
    "mcp_forgotten",
    "mcp_not_changed",
    "mcp_token_made",
    "mcp_token_revoked",
    "mcp_trust_set",
    "observing_not_changed",
    "observing_started",
    "observing_stopped",
    "plugin_added",
    "plugin_not_added",
    "plugin_not_removed",
    "plugin_removed",
    "skill_approved",
    "skill_installed",
    "skill_not_approved",
    "skill_not_installed",
    "skill_not_rejected",
    "skill_not_removed",
    "skill_not_suppressed",
    "skill_not_verified",
    "skill_rejected",
    "skill_removed",
    "skill_suppressed",
    "skill_verification",
    "state_loss_accepted",
    "state_loss_not_accepted",
    TAINT_CLEARED,
    "taint_not_cleared",
    "vault_bound",
    "vault_exported",
    "vault_imported",
    "vault_locked",
    "vault_made",
    "vault_not_changed",
    "vault_rekeyed",
    "vault_removed",
    "vault_set",
    "vault_unlocked",
];

/// Somebody vouches for what is marked.
pub const TAINT_CLEARED: &str = "taint_cleared";

/// Why a request is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no request: {0}")]
pub struct RequestError(String);

/// As it is written.
#[derive(Deserialize)]
#[serde(tag = "request", rename_all = "lowercase", deny_unknown_fields)]
enum Written {
    Answer {
        id: String,
        answer: String,
        by: String,
        reason: String,
    },
    Say {
        session: String,
        text: String,
    },
    Prompt {
        session: String,
        act: PromptAct,
    },
    Plugins {},
    Checkpoint {},
    Retain {
        before: i64,
    },
    Import {
        bundle: PathBuf,
    },
    Act {
        kind: String,
        by: String,
        taint: Vec<String>,
        session: Option<String>,
        after: Option<String>,
        content: Map<String, Value>,
    },
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
            Written::Prompt { act: PromptAct::Register { prompt: None, tokens, .. }, .. }
                if tokens.is_empty() =>
            {
                Err(wrong(&"there is neither a prompt nor a name"))
            }
            Written::Prompt { session, act } => Ok(Self::Prompt {
                session: SessionId::parse(&session).map_err(|error| wrong(&error))?,
                act,
            }),
            Written::Plugins {} => Ok(Self::Plugins),
            Written::Checkpoint {} => Ok(Self::Checkpoint),
            Written::Retain { before } => Ok(Self::Retain { before }),
            // Whoever has the gate works elsewhere.
            Written::Import { bundle } if !bundle.is_absolute() => {
                Err(wrong(&"`bundle` does not begin at the root"))
            }
            Written::Import { bundle } => Ok(Self::Import { bundle }),
            Written::Act { kind, by, taint, session, after, content } => {
                let taint = taint.iter().map(|it| Taint::parse(it)).collect::<Result<Vec<_>, _>>();
                let id = |it: String| Digest::from_hex(it.as_bytes());
                let after = after.map(|it| id(it).ok_or_else(|| wrong(&"`after` is no record")));
                Ok(Self::Act(Deed {
                    kind: deed(&kind).ok_or_else(|| wrong(&"`kind` is nothing that people do"))?,
                    by: UserId::parse(&by).map_err(|error| wrong(&error))?,
                    taint: taint
                        .map_err(|error| wrong(&error))?
                        .into_iter()
                        .fold(Taint::NONE, Taint::union),
                    session: session
                        .map(|it| SessionId::parse(&it).map_err(|error| wrong(&error)))
                        .transpose()?,
                    after: after.transpose()?,
                    content,
                }))
            }
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
            Self::Prompt { session, act } => {
                let act = match act {
                    PromptAct::Register { prompt, tokens, public } => json!({
                        "act": "register", "prompt": prompt, "tokens": tokens, "public": public,
                    }),
                    PromptAct::Show {} => json!({ "act": "show" }),
                    PromptAct::Clear {} => json!({ "act": "clear" }),
                };
                json!({ "request": "prompt", "session": session.as_str(), "act": act })
            }
            Self::Plugins => json!({ "request": "plugins" }),
            Self::Checkpoint => json!({ "request": "checkpoint" }),
            Self::Retain { before } => json!({ "request": "retain", "before": before }),
            Self::Import { bundle } => json!({ "request": "import", "bundle": bundle }),
            Self::Act(deed) => json!({
                "request": "act",
                "kind": deed.kind,
                "by": deed.by.as_str(),
                "taint": deed.taint.iter_names().collect::<Vec<_>>(),
                "session": deed.session.as_ref().map(SessionId::as_str),
                "after": deed.after.map(|it| it.to_string()),
                "content": deed.content,
            }),
        }
    }
}

fn deed(kind: &str) -> Option<&'static str> {
    DEEDS.iter().copied().find(|it| *it == kind)
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
            Request::Prompt {
                session: SessionId::parse("s").unwrap(),
                act: PromptAct::Register {
                    prompt: Some("You are X.".to_owned()),
                    tokens: vec!["X_1".to_owned()],
                    public: Vec::new(),
                },
            },
            Request::Prompt { session: SessionId::parse("s").unwrap(), act: PromptAct::Clear {} },
            Request::Plugins,
            Request::Retain { before: 7 },
            Request::Import { bundle: PathBuf::from("/a b/c.zip") },
            Request::Act(Deed {
                kind: "vault_set",
                by: UserId::parse("ann").unwrap(),
                taint: Taint::SECRET_RISK,
                session: Some(SessionId::parse("s").unwrap()),
                after: Some(Digest::of(b"x")),
                content: Map::from_iter([("name".to_owned(), json!("KEY"))]),
            }),
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
        let act = |kind: &str, taint: &str| {
            format!(
                r#"{{"request":"act","kind":"{kind}","by":"a","taint":{taint},"session":"s","after":null,"content":{{}}}}"#
            )
        };
        assert!(Request::parse(act("vault_set", "[]").as_bytes()).is_ok());
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
            r#"{"request":"retain"}"#.to_owned(),
            r#"{"request":"retain","before":"7"}"#.to_owned(),
            r#"{"request":"import","bundle":"c.zip"}"#.to_owned(),
            r#"{"request":"say","session":"s","text":"x","source":"user"}"#.to_owned(),
            "[".repeat(100_000),
            act("vault_set", r#"["SECRET_RISK"]"#).replace("null", "\"1\""),
            act("session_start", "[]"),
            act("vault_set", "[]").replace(r#""session":"s""#, r#""session":"a b""#),
            act("", "[]"),
            act("vault_set", r#"["NOT A FLAG"]"#),
            act("vault_set", "[]").replace("{}", "[]"),
            act("vault_set", "[]").replace(r#""by":"a","#, ""),
        ] {
            assert!(Request::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
