//! What the daemon's doors can ask of the server in the same process.

use std::sync::Arc;

use ::serve::{Handle, Sent};
use agent::{Purse, TurnError};
use host::GateError;
use host::agents::Agents;
use host::doors::{Served, Talks};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::carrying::Carrying;

/// A message of `lazaret send`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    user: String,
    agent: String,
    session: Option<String>,
    content: String,
    agree: Option<String>,
}

/// The agents of the server, for those who come by the door of talks; their users pay from the same books.
pub(super) struct Talking {
    agents: Arc<Agents>,
    books: Handle,
    carrying: Arc<Carrying>,
}

impl Talking {
    pub(super) fn new(agents: &Arc<Agents>, books: Handle, carrying: &Arc<Carrying>) -> Self {
        Self { agents: Arc::clone(agents), books, carrying: Arc::clone(carrying) }
    }
}

impl Talks for Talking {
    fn agents(&self) -> Result<(Arc<Agents>, bool), GateError> {
        Ok((Arc::clone(&self.agents), false))
    }

    fn purse(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.books.purse_here(user, agent, session)
    }

    fn jobs(&self) -> Value {
        self.carrying.status()
    }
}

/// Commands for a server.
pub(super) struct Commands(Handle);

impl Commands {
    pub(super) fn new(handle: Handle) -> Self {
        Self(handle)
    }
}

impl Served for Commands {
    fn status(&self) -> Value {
        self.0.status()
    }

    fn command(&self, words: &[&str]) -> Value {
        let refused = |why: &str| json!({ "ok": false, "kind": "refused", "error": why });
        match words {
            ["workers"] => json!({ "ok": true, "workers": self.0.workers().get("workers") }),
            ["kill", id] => match id.parse() {
                Ok(id) => match self.0.kill(id) {
                    Ok(true) => json!({ "ok": true }),
                    Ok(false) => refused("there is no such worker; see `lazaret workers list`"),
                    Err(why) => refused(&why),
                },
                Err(_) => refused("a worker is named by its number"),
            },
            ["end", user, agent, session] => match self.0.end_session(user, agent, session) {
                Ok(()) => json!({ "ok": true }),
                Err(why) => refused(&why),
            },
            ["reload"] => match self.0.reload() {
                Ok(reloaded) => json!({ "ok": true, "reloaded": reloaded }),
                Err(why) => refused(&why),
            },
            _ => refused("the server has no such command"),
        }
    }

    fn send(&self, request: &[u8]) -> Value {
        let Ok(Message { user, agent, session, content, agree }) = serde_json::from_slice(request)
        else {
            return json!({ "ok": false, "kind": "refused", "error": "no message" });
        };
        match self.0.send(&user, &agent, session.as_deref(), &content, agree.as_deref()) {
            Ok(Sent { session, content, interrupted }) => json!({
                "ok": true, "session": session, "content": content, "interrupted": interrupted,
            }),
            Err((kind, error)) => json!({ "ok": false, "kind": kind, "error": error }),
        }
    }
}
