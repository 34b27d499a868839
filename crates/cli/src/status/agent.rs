//! What is shown of one agent: its sessions, what was stopped there, its jobs and their last runs, and its keys.

use std::path::Path;

use aegx::verify::printable;
use model::AgentId;
use serde_json::{Value, json};
use store::SessionRow;

use crate::failure::Failure;
use crate::output;

/// One agent, as it stands.
pub(super) struct OfAgent {
    name: String,
    sessions: usize,
    calls: u64,
    stopped: u64,
    jobs: usize,
    runs: Vec<(i64, &'static str)>,
    /// None where the manifest says nothing, and its tools get every key.
    keys: Option<Vec<String>>,
}

impl OfAgent {
    /// Looks at the agent in the state directory `home`; `sessions` are those of everybody.
    pub(super) fn of(
        home: &Path,
        agent: &AgentId,
        sessions: &[SessionRow],
    ) -> Result<Self, Failure> {
        let own: Vec<&SessionRow> = sessions.iter().filter(|it| it.agent == *agent).collect();
        if own.is_empty() && !host::manifest_path(home, agent).exists() {
            return Err(Failure::usage(format!("there is no agent `{agent}`")));
        }
        let keys = match host::manifest_path(home, agent).exists() {
            true => {
                let (_, manifest) = host::manifest(home, agent).map_err(Failure::usage)?;
                manifest.grants.map(|it| {
                    let keys = it.values().flat_map(|it| it.keys.iter().cloned());
                    keys.collect()
                })
            }
            false => None,
        };
        let (jobs, came) = host::scheduler::look(home).map_err(Failure::unable)?;
        let ended = came.iter().filter(|it| it.job.agent == *agent).filter_map(|it| {
            let ended = it.run.ended.as_ref()?;
            Some((ended.at, ended.status.as_str()))
        });
        Ok(Self {
            name: agent.to_string(),
            sessions: own.len(),
            calls: own.iter().map(|it| it.summary.calls).sum(),
            stopped: own.iter().map(|it| it.summary.stopped).sum(),
            jobs: jobs.iter().filter(|it| it.agent == *agent).count(),
            runs: ended.collect(),
            keys,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let runs = self.runs.iter().map(|(at, status)| json!({ "at": at, "status": status }));
        json!({
            "agent": self.name,
            "sessions": self.sessions,
            "calls": self.calls,
            "denials": self.stopped,
            "jobs": self.jobs,
            "last_runs": runs.collect::<Vec<_>>(),
            "keys": self.keys,
        })
    }

    pub(super) fn show(&self) {
        let Self { name, sessions, calls, stopped, jobs, runs, keys } = self;
        let keys = match keys {
            None => "every key: its manifest says nothing of credentials".to_owned(),
            Some(keys) if keys.is_empty() => "no keys".to_owned(),
            Some(keys) => keys.join(", "),
        };
        let last = runs.iter().max().map_or(String::new(), |it| format!(", the last run {}", it.1));
        let line = format!(
            "agent      {name}: {sessions} sessions, {calls} calls, {stopped} stopped; {jobs} jobs{last}; {keys}"
        );
        output::line(&printable(&line).to_string());
    }
}
