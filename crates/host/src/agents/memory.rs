//! What an agent keeps of a conversation, and what it is reminded of.
//!
//! After an answered turn a model takes facts out of what was said; each is written through the gate, and is as tainted as
//! the turns that it came from, whatever the model says of it. Before a turn the agent is reminded of rows that fit what
//! is said: their labels are the session's before it sees a word of them.
//!
//! Threat: somebody outside has a fact remembered, and a later, clean session acts on it.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use evidence::{Clock as _, SystemClock};
use llm::{Answer, Block, Flow, Message, Request, Role, StopReason};
use model::ipc::MemoryKind;
use model::provider::{self, Provider, ProviderKind};
use model::{AgentId, Caller, Effect};
use monitor::{Asked, Executor, Granted, Output, Permit, Status};
use policy::access::HistorySettings;
use scan::boundary::{Boundary, Nonce, wrap};
use serde::Deserialize;
use serde_json::json;
use store::{Memory, MemoryError};

use super::Agents;
use crate::agent_session;
use crate::gate::{Gate, GateError};
use crate::worker::{Shared, Spoken, metered};

/// Facts of one turn.
const FACTS_MAX: usize = 20;
/// Characters of a fact.
const FACT_CHARS_MAX: usize = 1000;
/// Characters of the words that a fact was taken from.
const FROM_CHARS_MAX: usize = 2000;
/// Characters of what was said that the model is shown.
const SHOWN_CHARS_MAX: usize = 50_000;
/// Characters of what is said that rows are looked for by.
const QUERY_CHARS_MAX: usize = 2000;
/// Bytes of an answer that is read.
const ANSWER_BYTES_MAX: usize = 256 << 10;
/// What the rows say of where they are from.
const SOURCE: &str = "memorize";

/// How agents remember, by the settings.
#[derive(Clone)]
pub(super) struct Remembering {
    pub(super) history: HistorySettings,
    /// Are facts taken out of what was said?
    memorizes: bool,
    memory: Arc<dyn Memory>,
}

/// A fact as the model gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    content: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "extractedFrom")]
    from: String,
}

impl Remembering {
    /// As the settings in the state directory say it.
    fn of(gate: &Gate, home: &Path) -> Result<Self, GateError> {
        let settings = crate::settings(home).map_err(GateError::usage)?;
        let memory = agent_session::memory(gate, home)?;
        let chosen = settings.as_ref().and_then(|it| it.provider(ProviderKind::Memory));
        let memorizes = chosen == Some(Provider::Memory(provider::Memory::Memu));
        let history = settings.map(|it| it.history().clone()).unwrap_or_default();
        Ok(Self { history, memorizes, memory })
    }
}

/// How agents remember, as the settings said it last.
pub(super) struct Remembers(RwLock<Remembering>);

impl Remembers {
    /// By the settings in `home`.
    pub(super) fn of(gate: &Gate, home: &Path) -> Result<Self, GateError> {
        Remembering::of(gate, home).map(|it| Self(RwLock::new(it)))
    }

    /// Reads the settings again.
    ///
    /// # Errors
    /// If they are not understood: that changes nothing.
    pub(super) fn read_again(&self, gate: &Gate, home: &Path) -> Result<(), String> {
        let now = Remembering::of(gate, home).map_err(|it| it.to_string())?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = now;
        Ok(())
    }

    pub(super) fn now(&self) -> Remembering {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Agents {
    /// What the agent is reminded of; nothing if it is not wanted, not allowed or not there.
    pub(super) fn recalled(&self, who: &Caller, by: Option<&str>) -> Vec<String> {
        let remembering = self.remembers.now();
        let Some(by) = by.filter(|_| remembering.history.memory_recall.0) else {
            return Vec::new();
        };
        let query: String = by.chars().filter(|it| *it != '\0').take(QUERY_CHARS_MAX).collect();
        let limit = remembering.history.memory_recall_limit.get();
        let mut message =
            json!({ "action": "memory_query", "scope": scope(&who.agent), "maxResults": limit });
        if let (false, Some(fields)) = (query.trim().is_empty(), message.as_object_mut()) {
            fields.insert("query".to_owned(), query.into());
        }
        let recalling = Recalling(&*remembering.memory);
        let asked = message.to_string();
        let ran = self.gate.monitor.run(who, &Asked::Message(asked.as_bytes()), &recalling);
        // INVARIANT (AbsorbBeforeDeliver): only what was delivered is shown, as it was delivered.
        let rows = ran.ok().filter(|it| it.output.status == Status::Done);
        rows.and_then(|it| serde_json::from_str(&it.output.body).ok()).unwrap_or_default()
    }

    /// Keeps what a turn was about. What is not kept is on record, and changes nothing of the turn.
    pub(super) fn memorize(&self, whole: &Shared, who: &Caller, user: &str, assistant: &str) {
        let remembering = self.remembers.now();
        if !remembering.memorizes {
            return;
        }
        let Some(shown) = shown(user, assistant) else { return };
        let answer = self.ask_beside(whole, who, agent::prompt::MEMORIZE, shown);
        let Some(answer) = answer else { return };
        for fact in facts(&words(&answer)) {
            if whole.is_over() {
                return;
            }
            let message = json!({
                "action": "memory_write", "scope": scope(&who.agent), "content": fact.content,
                "type": fact.kind, "source": SOURCE,
            });
            let keeping = Keeping {
                memory: &*remembering.memory,
                from: &fact.from,
                spoken: &[user, assistant],
                now: SystemClock.unix_seconds(),
            };
            let asked = message.to_string();
            // A refusal is on record; the next fact may be another matter.
            let _ = self.gate.monitor.run(who, &Asked::Message(asked.as_bytes()), &keeping);
        }
    }

    /// Earlier messages as the model is shown them: those of long ago as a summary, if that is wanted. Their labels are the
    /// session's already.
    pub(super) fn summarised(
        &self,
        whole: &Shared,
        who: &Caller,
        mut earlier: Vec<Spoken>,
    ) -> Vec<Spoken> {
        let history = self.remembers.now().history;
        let keep = history.summarize_keep_recent.as_len();
        let too_few = earlier.len() < history.summarize_threshold.as_len() || earlier.len() <= keep;
        if !history.summarize.0 || too_few || whole.limits.are_there() {
            return earlier;
        }
        let mut recent = earlier.split_off(earlier.len().saturating_sub(keep));
        let lines = earlier.iter().map(|it| line(it.role, &it.text));
        let Some(text) = marked(&newest(&lines.collect::<String>())) else {
            earlier.append(&mut recent);
            return earlier;
        };
        let answer = self.ask_beside(whole, who, agent::prompt::SUMMARY, text);
        // Without a summary the recent part is shown: that was asked for, not the rest.
        let Some(answer) = answer else { return recent };
        let summary = words(&answer);
        // INVARIANT (FailClosed): it is made of whatever was said, also of what came from outside. Without marks around it it
        // would pass for the user's own words.
        let Some(summary) = marked(&summary) else { return recent };
        let said = |role, text: String| Spoken { role, text };
        let mut shown = vec![
            said(Role::User, format!("{}\n{summary}", agent::prompt::SUMMARISED)),
            said(Role::Assistant, "I have read the summary.".to_owned()),
        ];
        shown.append(&mut recent);
        shown
    }

    /// Asks the fast model beside a turn, on its account. None where there is no whole answer, and where the turn has a
    /// limit of what may be used: then its own questions are what that is for.
    fn ask_beside(
        &self,
        whole: &Shared,
        who: &Caller,
        system: &str,
        text: String,
    ) -> Option<Answer> {
        let limits = whole.limits;
        if limits.are_there() || whole.is_over() || !whole.may_ask_beside(limits.model_calls) {
            return None;
        }
        let request = Request {
            model: "fast".to_owned(),
            system: system.to_owned(),
            messages: vec![Message { role: Role::User, content: vec![Block::Text { text }] }],
            tools: Vec::new(),
            max_tokens: None,
            temperature: None,
            effort: None,
        };
        let begun = Instant::now();
        let mut on_piece = |_| match whole.is_over() || begun.elapsed() > limits.wall {
            true => Flow::Stop,
            false => Flow::Continue,
        };
        let answer = metered(whole, &*self.asks, who, request, &mut on_piece).ok()?.ok()?;
        (answer.stop != StopReason::Interrupted).then_some(answer)
    }
}

/// The part of the memory that is an agent's. A name that is none for a scope is known by its digest.
fn scope(agent: &AgentId) -> String {
    let name = agent.as_str();
    let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    match name.bytes().all(plain) {
        true => format!("agents/{name}"),
        false => {
            format!("agents/by-digest/{}", aegx::Digest::of(name.as_bytes()).to_hex().as_str())
        }
    }
}

/// What a model said.
fn words(answer: &Answer) -> String {
    let text = answer.content.iter().map(|it| match it {
        Block::Text { text } => text.as_str(),
        Block::ToolUse { .. } | Block::ToolResult { .. } => "",
    });
    text.collect()
}

/// What was said, between marks; none without randomness, for marks that somebody can guess are none.
fn shown(user: &str, assistant: &str) -> Option<String> {
    let said = format!("{}{}", line(Role::User, user), line(Role::Assistant, assistant));
    marked(&newest(&said))
}

fn marked(text: &str) -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(wrap(Boundary::History, "conversation", text, &Nonce::new(random)))
}

fn line(role: Role, text: &str) -> String {
    let who = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    format!("{who}: {text}\n")
}

/// The end of a text.
fn newest(text: &str) -> String {
    let drop = text.chars().count().saturating_sub(SHOWN_CHARS_MAX);
    text.chars().skip(drop).collect()
}

/// INVARIANT (FailClosed): what is not exactly a list of facts is none.
fn facts(text: &str) -> Vec<Fact> {
    if text.len() > ANSWER_BYTES_MAX {
        return Vec::new();
    }
    let facts: Vec<Fact> = serde_json::from_str(text.trim()).unwrap_or_default();
    let good = |it: &Fact| {
        let fits = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
        fits(it.content.trim(), FACT_CHARS_MAX)
            && fits(&it.from, FROM_CHARS_MAX)
            && !it.content.contains('\0')
            && KINDS.iter().any(|kind| kind.as_str() == it.kind)
    };
    if facts.len() > FACTS_MAX || !facts.iter().all(good) { Vec::new() } else { facts }
}

/// What a fact may be: nothing that was said by the system, and no message.
const KINDS: [MemoryKind; 4] =
    [MemoryKind::Preference, MemoryKind::Knowledge, MemoryKind::Context, MemoryKind::Relationship];

/// Looks rows up.
struct Recalling<'a>(&'a dyn Memory);

impl Executor for Recalling<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::MemoryQuery(permit) = permit.by_kind() else {
            return Output::not_begun("this looks things up and does nothing else");
        };
        match self.0.query(permit) {
            Ok(rows) => {
                let tags = rows.iter().filter_map(|it| it.tag.clone()).collect();
                let rows: Vec<&str> = rows.iter().map(|it| it.content.as_str()).collect();
                Output { tags, ..Output::text(json!(rows).to_string()) }
            }
            Err(error) => failed(&error),
        }
    }
}

/// Keeps one fact.
struct Keeping<'a> {
    memory: &'a dyn Memory,
    from: &'a str,
    spoken: &'a [&'a str],
    now: i64,
}

impl Executor for Keeping<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::MemoryWrite(permit) = permit.by_kind() else {
            return Output::not_begun("this keeps a fact and does nothing else");
        };
        let own = permit.tag().cloned();
        match self.memory.write_fact(permit, Some(self.from), self.spoken, self.now) {
            Ok(written) => {
                let body =
                    json!({ "id": written.id.to_string(), "duplicate": written.is_duplicate });
                // Who writes what is known to be from outside has it from outside.
                let tags = written.tag.filter(|it| own.as_ref() != Some(it)).into_iter().collect();
                Output { tags, ..Output::text(body.to_string()) }
            }
            Err(error) => failed(&error),
        }
    }
}

fn failed(error: &MemoryError) -> Output {
    Output { status: Status::Failed, ..Output::text(error.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_facts_is_taken_whole_or_not_at_all() {
        let fact = |more: &str| {
            format!(
                "{{\"content\":\"Ann likes tea\",\"type\":\"preference\",\"extractedFrom\":\"I like tea\"{more}}}"
            )
        };
        assert_eq!(facts(&format!(" [{}]\n", fact(""))).len(), 1);
        assert_eq!(facts("[]").len(), 0);
        let many = vec![fact(""); FACTS_MAX + 1].join(",");
        for bad in [
            fact(""),
            format!("[{}]", fact(",\"tag\":null")),
            format!("[{},{{}}]", fact("")),
            format!("Here you are: [{}]", fact("")),
            format!("[{many}]"),
            format!("[{}]", fact("").replace("preference", "system")),
            format!("[{}]", fact("").replace("Ann likes tea", &"x".repeat(FACT_CHARS_MAX + 1))),
            format!("[{}]", fact("").replace("Ann likes tea", " ")),
            format!("[{}]", fact(",\"content\":\"twice\"")),
        ] {
            assert!(facts(&bad).is_empty(), "{bad}");
        }
    }
}
