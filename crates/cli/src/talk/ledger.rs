//! `runs.jsonl` in the state directory: one line for each turn that a command had, for scripts and people.

use std::path::Path;
use std::time::Duration;

use agent::Turn;
use evidence::{Clock, SystemClock};
use llm::Usage;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};

/// The file.
const RUNS: &str = "runs.jsonl";

/// What a run came to.
pub(super) struct Run<'a> {
    pub(super) turn: &'a Turn,
    pub(super) exit: Exit,
    pub(super) took: Duration,
    pub(super) usage: Usage,
    pub(super) denied: &'a [String],
}

impl Run<'_> {
    /// Appends the line.
    pub(super) fn append(&self, home: &Path) -> Result<(), Failure> {
        let line = json!({
            "time": SystemClock.unix_seconds(),
            "agent": self.turn.agent,
            "user": self.turn.user,
            "session": self.turn.session,
            "exit": self.exit as u8,
            "durationMs": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "usage": self.usage,
            "denied": self.denied,
        });
        let path = home.join(RUNS);
        files::private::append_line(&path, line.to_string().as_bytes())
            .map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))
    }
}

/// Bytes of the file of runs that are looked at, the last ones.
const RUNS_BYTES_MAX: u64 = 64 << 20;

/// Sessions of a user with an agent that commands had, the oldest first, each once.
pub(super) fn sessions(home: &Path, user: &str, agent: &str) -> Result<Vec<String>, Failure> {
    let mut found: Vec<String> = Vec::new();
    for line in runs(home, agent)? {
        let said = |key: &str| line.get(key).and_then(Value::as_str);
        if said("user") == Some(user) {
            let session = said("session").unwrap_or_default().to_owned();
            found.retain(|it| *it != session);
            found.push(session);
        }
    }
    Ok(found)
}

/// The lines of an agent, the oldest first. What is no line is passed over: scripts may write there, too.
pub(crate) fn runs(home: &Path, agent: &str) -> Result<Vec<Value>, Failure> {
    let path = home.join(RUNS);
    let bytes = files::private::read_last_lines(&path, RUNS_BYTES_MAX).map_err(Failure::unable)?;
    let bytes = bytes.unwrap_or_default();
    let lines = files::private::whole_lines(&bytes);
    let lines = lines.filter_map(|it| serde_json::from_slice::<Value>(it).ok());
    Ok(lines.filter(|it| it.get("agent").and_then(Value::as_str) == Some(agent)).collect())
}
