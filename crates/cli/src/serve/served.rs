//! What the daemon's doors can ask of the server in the same process.

use ::serve::Handle;
use host::doors::Served;
use serde::Deserialize;
use serde_json::{Value, json};

/// A message of `lazaret send`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    user: String,
    agent: String,
    session: Option<String>,
    content: String,
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
                Ok(id) if self.0.kill(id) => json!({ "ok": true }),
                Ok(_) => refused("there is no such worker; see `lazaret workers list`"),
                Err(_) => refused("a worker is named by its number"),
            },
            ["end", user, agent, session] => match self.0.end_session(user, agent, session) {
                Ok(()) => json!({ "ok": true }),
                Err(why) => refused(&why),
            },
            ["reload"] => match self.0.reload() {
                Ok(()) => json!({ "ok": true }),
                Err(why) => refused(&why),
            },
            _ => refused("the server has no such command"),
        }
    }

    fn send(&self, request: &[u8]) -> Value {
        let Ok(Message { user, agent, session, content }) = serde_json::from_slice(request) else {
            return json!({ "ok": false, "kind": "refused", "error": "no message" });
        };
        match self.0.send(&user, &agent, session.as_deref(), &content) {
            Ok((session, content)) => json!({ "ok": true, "session": session, "content": content }),
            Err((kind, error)) => json!({ "ok": false, "kind": kind, "error": error }),
        }
    }
}
