//! What a person says to a question that their client put to them, and what happens in a server's life.

use aegx::Digest;
use evidence::{Clock as _, SystemClock};
use model::ipc::Uuid;
use monitor::approvals::Word;
use monitor::standing::Span;
use serde_json::{Value, json};

use super::request::Said;
use super::servers::{Servers, StartedBy};
use super::{Client, Doors};
use crate::standing;

/// The event by which the gateway says whether a server runs in a cage.
pub const CAGE: &str = "cage";
/// The event by which it says that a server is reached at an address.
pub const REACHED: &str = "reached";
/// The event by which it says to a daemon that has not seen it start that a server goes on.
pub const GOES_ON: &str = "goes_on";
/// The field of all three that has the digest of the command or address.
pub const LINE: &str = "line";
/// The field of the first two that has what people are shown of it.
pub const RUNS: &str = "runs";

/// Servers of one connection of which it is kept by which line they were started; no other is trusted.
const STARTED_MAX: usize = 2 * ::mcp::limits::SERVERS_MAX;

/// Why, in the record of an answer.
const BY_CLIENT: &str = "by the client's own question";

impl Doors<'_> {
    /// Takes a person's answer. Each question once: whoever connects here is no person, but passes on what one said to its
    /// own question.
    pub(super) fn mcp_said(
        &self,
        client: &mut Client,
        question: &str,
        said: Said,
    ) -> Result<Value, String> {
        if !client.asked.remove(question) {
            return Err("this question was not put to this client".to_owned());
        }
        let id = Uuid::parse(question).ok_or("this is no question")?;
        let (word, span) = match said {
            Said::Once => (Word::Approve, None),
            Said::Session => (Word::Approve, Some(Span::Session)),
            // No further than its own session: what a client says of a person is believed for that client.
            Said::Kind => (Word::Approve, Some(Span::SessionKind)),
            Said::Deny => (Word::Deny, None),
        };
        let by = client.who.user.clone();
        let monitor = &self.gate.monitor;
        let answered = monitor.answer_approval(id, word, by.clone(), BY_CLIENT.to_owned());
        let answered = answered.map_err(|error| error.to_string())?;
        if let Some(span) = span {
            let said = (by, BY_CLIENT.to_owned(), SystemClock.unix_seconds());
            standing::give(self.gate, &answered, span, said)?;
        }
        Ok(json!({}))
    }

    /// Takes in what happened to a server.
    pub(super) fn mcp_lived(
        &self,
        client: &mut Client,
        server: &str,
        event: &str,
        detail: &Value,
    ) -> Result<Value, String> {
        // What happens to the gateway itself has no server.
        if !server.is_empty() || matches!(event, CAGE | REACHED | GOES_ON) {
            ::mcp::names::check_server(server).map_err(|error| error.to_string())?;
        }
        let content = json!({ "server": server, "event": event, "detail": on_record(detail) });
        self.mcp_record(client, "mcp_lifecycle", content);
        match (started_by(detail), event) {
            (Some(by), CAGE | REACHED) => self.mcp_starts(client, server, by)?,
            // It was noted when it started. A person may have accepted another one since, which stays as it is.
            (Some(by), GOES_ON) => is_started_by(client, server, &by.sha256)?,
            (Some(_) | None, _) => {}
        }
        let caged = detail.get("caged").and_then(Value::as_bool).filter(|_| event == CAGE);
        if let Some(caged) = caged {
            let text = |error: super::servers::ServersError| error.to_string();
            if client.known.now(self.home).map_err(text)?.caged.get(server) != Some(&caged) {
                let set = |it: &mut Servers| it.caged.insert(server.to_owned(), caged);
                Servers::note(self.home, set).map_err(text)?;
            }
        }
        Ok(json!({}))
    }

    /// Takes in by which line a server is started. One that only has the name of a trusted server is not trusted.
    fn mcp_starts(&self, client: &mut Client, server: &str, by: StartedBy) -> Result<(), String> {
        let text = |error: super::servers::ServersError| error.to_string();
        is_started_by(client, server, &by.sha256)?;
        let content = json!({ "server": server, LINE: by.sha256 });
        let known = client.known.now(self.home).map_err(text)?;
        if known.note_line(self.home, server, by).map_err(text)? {
            self.mcp_record(client, "mcp_line_changed", content);
        }
        Ok(())
    }

    /// Tools of a server that the policy denies whatever they are called with: a model needs not hear of them.
    pub(super) fn mcp_hidden(
        &self,
        client: &Client,
        server: &str,
        names: &[String],
    ) -> Vec<String> {
        let denied = names.iter().filter_map(|name| {
            let key = super::key_of(server, name);
            // What cannot be asked about is shown: its calls are judged.
            let rule = self.gate.monitor.denied_outright(&client.who, &key).ok().flatten()?;
            Some((name.clone(), rule))
        });
        let denied: Vec<(String, String)> = denied.collect();
        if !denied.is_empty() {
            let tools = denied.iter().map(|(name, rule)| json!({ "tool": name, "rule": rule }));
            let tools: Vec<Value> = tools.collect();
            let content = json!({ "server": server, "tools": tools, "decision": "deny" });
            self.mcp_record(client, "mcp_tools_hidden", content);
        }
        denied.into_iter().map(|(name, _)| name).collect()
    }
}

/// What a client says of how a server was started or reached.
pub(crate) fn started_by(detail: &Value) -> Option<StartedBy> {
    let text = |field: &str| detail.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(StartedBy { sha256: text(LINE)?, runs: text(RUNS).unwrap_or_default() })
}

/// What goes on record of an event: not the words of a command, which may have a secret among them that looks like none.
pub(crate) fn on_record(detail: &Value) -> Value {
    let mut detail = detail.clone();
    if let Some(fields) = detail.as_object_mut() {
        fields.remove(RUNS);
    }
    detail
}

/// Keeps by which line a server of this connection was started or reached.
fn is_started_by(client: &mut Client, server: &str, line: &str) -> Result<(), String> {
    let started = &mut client.started;
    if started.len() >= STARTED_MAX && !started.contains_key(server) {
        return Err(format!("{STARTED_MAX} servers were started by this client already"));
    }
    Digest::from_hex(line.as_bytes()).ok_or("this is no digest of a command or address")?;
    started.insert(server.to_owned(), line.to_owned());
    Ok(())
}
