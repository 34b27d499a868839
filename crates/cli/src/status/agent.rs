//! What is shown of one agent: its sessions, what was stopped there, its jobs and their last runs, and its keys.

use std::path::Path;

use aegx::verify::printable;
use evidence::{Clock as _, SystemClock};
use model::AgentId;
use monitor::risk::Level;
use policy::access::{Agents, Budget, KnownTools, Unit};
use serde_json::{Value, json};
use serve::Spent;
use store::SessionRow;

use crate::failure::Failure;
use crate::output;
use crate::talk::ledger;

use super::risks::Risks;

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
    /// The riskiest of its sessions that go on.
    risk: Level,
    budgets: Vec<Spending>,
    /// What everybody has spent with it: in the last 24 hours, and in the last 30 days.
    spent: Option<(Spent, Spent)>,
    /// The last turns that commands had, the newest first.
    turns: Vec<Value>,
}

/// What somebody who may use it has spent of a limit.
struct Spending {
    user: String,
    budget: &'static str,
    limit: f64,
    used: f64,
    unit: &'static str,
}

/// Turns that are shown.
const TURNS_MAX: usize = 5;

impl OfAgent {
    /// Looks at the agent in the state directory `home`; `sessions` are those of everybody.
    pub(super) fn of(
        home: &Path,
        agent: &AgentId,
        sessions: &[SessionRow],
        risks: &Risks<'_>,
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
        let turns = ledger::runs(home, agent.as_str())?;
        Ok(Self {
            name: agent.to_string(),
            sessions: own.len(),
            calls: own.iter().map(|it| it.summary.calls).sum(),
            stopped: own.iter().map(|it| it.summary.stopped).sum(),
            jobs: jobs.iter().filter(|it| it.agent == *agent).count(),
            runs: ended.collect(),
            keys,
            risk: risks.highest(own.iter().copied())?,
            budgets: budgets(home, agent)?,
            spent: spent(home, agent)?,
            turns: turns.into_iter().rev().take(TURNS_MAX).collect(),
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
            "risk": self.risk.as_str(),
            "budgets": self.budgets.iter().map(Spending::to_json).collect::<Vec<_>>(),
            "spent": self.spent.map(|(day, month)| json!({ "daily": shown(day), "monthly": shown(month) })),
            "turns": self.turns,
        })
    }

    pub(super) fn show(&self) {
        let Self { name, sessions, calls, stopped, jobs, runs, keys, risk, budgets, .. } = self;
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
        output::line(&format!("risk       {}, in the riskiest of its sessions", risk.as_str()));
        for Spending { user, budget, limit, used, unit } in budgets {
            let line = format!("budget     {user}: {used} of {limit} {unit}, {budget}");
            output::line(&printable(&line).to_string());
        }
        if let Some((day, month)) = &self.spent {
            let line =
                format!("spent      {} tokens today, {} in 30 days", day.tokens, month.tokens);
            output::line(&line);
        }
        for turn in &self.turns {
            output::line(&printable(&line_of(turn)).to_string());
        }
    }
}

impl Spending {
    fn to_json(&self) -> Value {
        json!({
            "user": self.user, "budget": self.budget, "limit": self.limit, "used": self.used,
            "unit": self.unit,
        })
    }
}

/// A turn for people.
fn line_of(turn: &Value) -> String {
    let said = |key: &str| turn.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| turn.get(key).and_then(Value::as_i64).unwrap_or_default();
    let at = aegx::timestamp::from_unix(number("time"));
    let denied: Vec<&str> = turn
        .get("denied")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let denied = match denied.as_slice() {
        [] => String::new(),
        some => format!("; not allowed: {}", some.join(", ")),
    };
    let (session, user) = (said("session"), said("user"));
    format!(
        "turn       {at} {session} of {user}: exit {}, {} ms{denied}",
        number("exit"),
        number("durationMs")
    )
}

fn shown(spent: Spent) -> Value {
    json!({ "tokens": spent.tokens, "usd": spent.within(Unit::Usd) })
}

/// What everybody has spent with it, if anybody keeps books.
fn spent(home: &Path, agent: &AgentId) -> Result<Option<(Spent, Spent)>, Failure> {
    let Some(books) = serve::Books::look(home).map_err(Failure::unable)? else { return Ok(None) };
    let spent = books.spent_with(agent.as_str(), SystemClock.unix_seconds());
    spent.map(Some).map_err(Failure::unable)
}

/// What those who may use it have spent of their budgets.
fn budgets(home: &Path, agent: &AgentId) -> Result<Vec<Spending>, Failure> {
    let users = host::users(home, &KnownTools::default()).map_err(Failure::usage)?;
    let books = serve::Books::look(home).map_err(Failure::unable)?;
    let (Some(users), Some(books)) = (users, books) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for user in users.iter() {
        let Budget::Limited(limits) = &user.budget else { continue };
        let may = match &user.agents {
            Agents::All => true,
            Agents::Only(agents) => agents.contains(agent),
        };
        if !may {
            continue;
        }
        let now = SystemClock.unix_seconds();
        let spent = books.spent_of(user.name.as_str(), limits, now).map_err(Failure::unable)?;
        let unit = match limits.unit {
            Unit::Usd => "usd",
            Unit::Tokens => "tokens",
        };
        found.extend(spent.into_iter().map(|(budget, limit, used)| {
            let user = user.name.to_string();
            Spending { user, budget, limit, used, unit }
        }));
    }
    Ok(found)
}
