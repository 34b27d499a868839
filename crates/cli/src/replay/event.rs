//! The events of a trace, read strictly: a trace that says something else than its writer meant is
//! worse than none.

use std::collections::BTreeMap;

use model::{AgentId, Profile, SessionId, Source, ToolDef, UserId};
use serde::Deserialize;
use serde_json::{Map, Value};

/// One line of a trace.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    Session {
        session: String,
        user: String,
        agent: String,
        profile: Option<String>,
        parent: Option<String>,
        #[serde(default)]
        tools: Vec<Value>,
    },
    Content {
        session: String,
        source: String,
        text: String,
        #[serde(default)]
        origin: String,
    },
    Call {
        session: String,
        call: String,
        tool: String,
        args: Map<String, Value>,
    },
    Result {
        session: String,
        call: String,
        text: Option<String>,
        json: Option<Value>,
        #[serde(default)]
        error: bool,
        #[serde(default)]
        fields_from: BTreeMap<String, String>,
    },
    Confirm {
        session: String,
        action: Option<String>,
        call: Option<String>,
        by: String,
    },
    Turn {
        session: String,
    },
    End {
        session: String,
    },
}

/// What happens in a trace.
pub(crate) enum Event {
    Session {
        session: SessionId,
        user: UserId,
        agent: AgentId,
        profile: Option<Profile>,
        parent: Option<SessionId>,
        tools: Vec<ToolDef>,
    },
    Content {
        session: SessionId,
        source: Source,
        text: String,
        origin: String,
    },
    Call {
        session: SessionId,
        call: String,
        tool: String,
        args: Vec<u8>,
    },
    Result {
        session: SessionId,
        call: String,
        body: String,
        error: bool,
        fields_from: BTreeMap<String, Source>,
    },
    Confirm {
        session: SessionId,
        what: Confirmed,
    },
    Turn {
        session: SessionId,
    },
    End {
        session: SessionId,
    },
}

/// What a person said yes to.
pub(crate) enum Confirmed {
    /// A kind of action, for the session.
    Action(String),
    /// One call of the trace.
    Call(String),
}

/// Reads a line.
pub(crate) fn read(line: &[u8]) -> Result<Event, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let session = |it: &str| SessionId::parse(it).map_err(|error| error.to_string());
    Ok(match line {
        Line::Session { session: id, user, agent, profile, parent, tools } => Event::Session {
            session: session(&id)?,
            user: UserId::parse(&user).map_err(|error| error.to_string())?,
            agent: AgentId::parse(&agent).map_err(|error| error.to_string())?,
            profile: profile
                .map(|it| Profile::parse(&it))
                .transpose()
                .map_err(|error| error.to_string())?,
            parent: parent.map(|it| session(&it)).transpose()?,
            tools: tools
                .iter()
                .map(ToolDef::from_value)
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
        },
        Line::Content { session: id, source, text, origin } => Event::Content {
            session: session(&id)?,
            source: Source::parse(&source).map_err(|error| error.to_string())?,
            text,
            origin,
        },
        Line::Call { session: id, call, tool, args } => Event::Call {
            session: session(&id)?,
            call,
            tool,
            args: Value::Object(args).to_string().into_bytes(),
        },
        Line::Result { session: id, call, text, json, error, fields_from } => Event::Result {
            session: session(&id)?,
            call,
            body: body(text, json)?,
            error,
            fields_from: fields_from
                .into_iter()
                .map(|(pointer, source)| Source::parse(&source).map(|it| (pointer, it)))
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
        },
        Line::Confirm { session: id, action, call, by } => {
            Event::Confirm { session: session(&id)?, what: confirmed(action, call, &by)? }
        }
        Line::Turn { session: id } => Event::Turn { session: session(&id)? },
        Line::End { session: id } => Event::End { session: session(&id)? },
    })
}

fn body(text: Option<String>, json: Option<Value>) -> Result<String, String> {
    match (text, json) {
        (Some(text), None) => Ok(text),
        (None, Some(json)) => Ok(json.to_string()),
        (None, None) => Ok(String::new()),
        (Some(_), Some(_)) => Err("a result has `text` or `json`, not both".to_owned()),
    }
}

fn confirmed(action: Option<String>, call: Option<String>, by: &str) -> Result<Confirmed, String> {
    if by != "user" {
        return Err(format!("only a `user` can confirm, not `{}`", by.escape_debug()));
    }
    match (action, call) {
        (Some(action), None) => Ok(Confirmed::Action(action)),
        (None, Some(call)) => Ok(Confirmed::Call(call)),
        (None, None) | (Some(_), Some(_)) => {
            Err("a confirmation names an `action` or a `call`, and not both".to_owned())
        }
    }
}
