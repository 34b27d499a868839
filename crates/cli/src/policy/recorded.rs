//! Decisions as the journal holds them, with what is needed to judge them again, or why that is not there.

use std::path::Path;

use aegx::{Digest, Hasher, Record, SortedObject};
use evidence::{Filter, Reader};
use model::{Decision, EffectKind};
use policy::{Confirmed, FactSheet};
use serde_json::{Map, Value};

use super::judge::Call;
use crate::evidence::open;
use crate::failure::Failure;

/// The most objections that a record lists: where so many are listed, there may have been more.
const OBJECTIONS_LISTED_MAX: usize = 20;

/// A decision that was recorded.
pub(crate) struct Recorded {
    /// The record.
    pub(crate) id: Digest,
    /// When, as the record says.
    pub(crate) ts: String,
    pub(crate) agent: String,
    pub(crate) effect: EffectKind,
    pub(crate) tool: String,
    pub(crate) decision: Decision,
    /// What decided.
    pub(crate) rule: String,
    /// What spoke against it.
    pub(crate) objections: Vec<Objected>,
    /// The sub-agents who asked; none if the agent did.
    pub(crate) sub_agents: Vec<String>,
    /// Rules that a yes has lifted.
    pub(crate) lifted: Vec<String>,
    /// The facts that were judged, in the spelling of cases.
    pub(crate) facts: Map<String, Value>,
    /// The same, understood.
    pub(crate) sheet: FactSheet,
    /// The arguments, where the record holds all of them and nothing else in their place.
    pub(crate) args: Option<Map<String, Value>>,
    /// The beginning of the arguments, as it is shown.
    pub(crate) shown: String,
}

/// Something that spoke against a call.
pub(crate) struct Objected {
    pub(crate) rule: String,
    pub(crate) code: String,
    pub(crate) decision: Decision,
}

/// What a journal holds.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) decisions: Vec<Recorded>,
    /// Decisions that are not understood, by why.
    pub(crate) unread: Vec<&'static str>,
    /// What was turned away before anything could be judged: no policy changes that.
    pub(crate) turned_away: u64,
    /// Calls that passed because somebody only watched.
    pub(crate) observed: u64,
}

/// The record holds nothing by which it was judged.
const NO_FACTS: &str = "the record has no facts, as those of earlier versions";
/// The record holds facts that mean nothing to this version.
const NOT_UNDERSTOOD: &str = "the record's facts are not understood by this version";
/// What the record names is not there.
const NO_CONTENT: &str = "the content of the record is gone";

/// Reads the decisions of the journal in `dir` that are not older than `since`.
pub(crate) fn read(dir: &Path, since: Option<i64>) -> Result<Found, Failure> {
    let reader = open::reader(dir)?;
    let mut found = Found::default();
    let filter = Filter { since, ..Filter::default() };
    evidence::query(&reader, &filter, &mut |row| {
        if let Ok(record) = serde_json::from_slice::<Record>(&row.line) {
            found.take(&reader, row.id, &record);
        }
        true
    })
    .map_err(open::failure)?;
    Ok(found)
}

impl Found {
    fn take(&mut self, reader: &Reader, id: Digest, record: &Record) {
        let kind = record.meta.get("kind").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "turned_away" => self.turned_away += 1,
            "observed" => self.observed += 1,
            // Only kinds of effects are decisions; their outcomes have the same kind.
            _ if EffectKind::parse(kind).is_none() => {}
            _ if record.record_type == aegx::RecordType::ToolResult => {}
            _ => match reader.content(&record.payload) {
                Ok(content) => match understood(id, record, &content) {
                    Ok(Some(decision)) => self.decisions.push(decision),
                    Ok(None) => {}
                    Err(why) => self.unread.push(why),
                },
                Err(_) => self.unread.push(NO_CONTENT),
            },
        }
    }
}

/// The decision that a record is of; none if it is of something else.
fn understood(
    id: Digest,
    record: &Record,
    content: &Value,
) -> Result<Option<Recorded>, &'static str> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let meta = |key: &str| record.meta.get(key).and_then(Value::as_str).unwrap_or_default();
    let (Some(decision), Some(rule)) = (text("decision"), text("rule")) else { return Ok(None) };
    let facts = content.get("facts").and_then(Value::as_object).ok_or(NO_FACTS)?;
    let (effect, tool) = (text("effect").ok_or(NO_FACTS)?, text("tool").ok_or(NO_FACTS)?);
    let facts = spelled(facts, [("effect", effect), ("tool", tool)], [meta("user"), meta("agent")]);
    let sheet = Call::read(&facts).map_err(|_| NOT_UNDERSTOOD)?.sheet;
    let objections = content.get("objections").and_then(Value::as_array).ok_or(NO_FACTS)?;
    let objections = objections.iter().map(objected).collect::<Option<_>>();
    let texts = |key: &str| -> Vec<String> {
        let list = content.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let shown = text("args").unwrap_or_default().to_owned();
    let who = [meta("session"), meta("user"), meta("agent"), tool];
    Ok(Some(Recorded {
        id,
        ts: meta("ts").to_owned(),
        agent: meta("agent").to_owned(),
        effect: sheet.effect,
        tool: tool.to_owned(),
        decision: parse(decision).ok_or(NOT_UNDERSTOOD)?,
        rule: rule.to_owned(),
        objections: objections.ok_or(NOT_UNDERSTOOD)?,
        sub_agents: texts("sub_agents"),
        lifted: texts("lifted"),
        args: whole(&shown, who, text("action_sha256").unwrap_or_default()),
        facts,
        sheet,
        shown,
    }))
}

/// The facts of a record in the spelling of cases.
fn spelled(
    facts: &Map<String, Value>,
    call: [(&str, &str); 2],
    [user, agent]: [&str; 2],
) -> Map<String, Value> {
    let mut facts = facts.clone();
    for (key, value) in call.into_iter().chain([("user", user), ("agent", agent)]) {
        facts.insert(key.to_owned(), value.into());
    }
    // A record says of each whether it is so; a case lists those that are.
    if let Some(Value::Object(sinks)) = facts.get("sinks") {
        let found = sinks.iter().filter(|(_, it)| **it == Value::Bool(true));
        let found: Vec<Value> = found.map(|(name, _)| name.as_str().into()).collect();
        facts.insert("sinks".to_owned(), found.into());
    }
    facts
}

fn objected(value: &Value) -> Option<Objected> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let (rule, code) = (text("rule")?.to_owned(), text("code")?.to_owned());
    Some(Objected { rule, code, decision: parse(text("decision")?)? })
}

fn parse(name: &str) -> Option<Decision> {
    Decision::ALL.iter().copied().find(|it| it.as_str() == name)
}

/// The arguments, if these are all of them: the hash of the action says so. One that was cut, or in which something stands
/// in the place of a secret, has another.
fn whole(shown: &str, who: [&str; 4], action: &str) -> Option<Map<String, Value>> {
    let args = serde_json::from_str::<Map<String, Value>>(shown).ok()?;
    let mut hasher = Hasher::new();
    for part in who.into_iter().chain([SortedObject(&args).to_string().as_str()]) {
        hasher.update(&part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    (hasher.finish().to_hex().as_str() == action).then_some(args)
}

impl Recorded {
    /// May there have been more objections than are listed?
    pub(crate) fn is_cut(&self) -> bool {
        self.objections.len() >= OBJECTIONS_LISTED_MAX
    }

    /// Did it happen because of a yes to exactly this call, or because somebody only watched?
    pub(crate) fn is_lifted(&self) -> bool {
        self.sheet.confirmed == Confirmed::Exactly
    }
}
