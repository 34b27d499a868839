//! Looking at the evidence: an agent sees the records of its own session, and what is hostile in
//! them is as hostile as it was.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use aegx::{Payload, Record, timestamp};
use evidence::{Filter, Reader, Row};
use model::ipc::{ActionName, AuditFilter, AuditQuery};
use model::{Caller, EffectKind, Kind, Source, Taint, TaintTag};
use monitor::{Output, Permit, Status, taint};
use serde_json::{Value, json};

/// How many records are given when the message does not say.
pub const AUDIT_RESULTS_DEFAULT: u64 = 100;

/// The evidence of this host.
pub(super) struct Evidence {
    journal: PathBuf,
    /// Bringing the index up to date is for one at a time.
    turn: Mutex<()>,
}

impl Evidence {
    pub(super) fn new(journal: PathBuf) -> Self {
        Self { journal, turn: Mutex::new(()) }
    }

    /// The newest records of the permit's own session, oldest first.
    pub(super) fn query(&self, permit: Permit<AuditQuery>) -> Output {
        let who = permit.who().clone();
        let wanted = permit.spend().filter;
        match self.find(&who, wanted.as_ref()) {
            Ok(found) => {
                let tags = found.iter().filter_map(label).collect();
                let entries: Vec<Value> = found.iter().map(entry).collect();
                Output { tags, ..Output::text(json!({ "entries": entries }).to_string()) }
            }
            Err(message) => Output { status: Status::Failed, ..Output::text(message) },
        }
    }

    fn find(&self, who: &Caller, wanted: Option<&AuditFilter>) -> Result<Vec<Record>, String> {
        let filter = filter(who, wanted)?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = Reader::open(&self.journal).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        let mut see = |row: Row| {
            let record = serde_json::from_slice::<Record>(&row.line);
            // A session has one user for ever; a record that names another is none of theirs.
            found.extend(record.ok().filter(|it| meta(it, "user") == Some(who.user.as_str())));
            true
        };
        evidence::query(&reader, &filter, &mut see).map_err(|error| error.to_string())?;
        Ok(found)
    }
}

/// Whatever is asked for, it is of the caller's own session.
fn filter(who: &Caller, wanted: Option<&AuditFilter>) -> Result<Filter, String> {
    let mut filter = Filter {
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        limit: Some(AUDIT_RESULTS_DEFAULT),
        ..Filter::default()
    };
    let Some(wanted) = wanted else { return Ok(filter) };
    if let Some(action) = &wanted.action {
        filter.kind = Some(kind(action.as_str())?);
    }
    let time = |text: &str| timestamp::to_unix(text).ok_or_else(|| format!("`{text}` is no time"));
    filter.since = wanted.since.as_ref().map(|it| time(it.as_str())).transpose()?;
    // `until` is the last moment that counts, and records know seconds only.
    let until = wanted.until.as_ref().map(|it| time(it.as_str())).transpose()?;
    filter.until = until.map(|it| it.saturating_add(1));
    filter.limit = wanted.limit.map_or(filter.limit, |it| Some(it.get()));
    Ok(filter)
}

/// Records know an action by its kind of effect.
fn kind(action: &str) -> Result<Kind, String> {
    let name = ActionName::parse(action).map(|it| EffectKind::from(it).as_str());
    Kind::parse(name.unwrap_or(action)).map_err(|error| error.to_string())
}

fn entry(record: &Record) -> Value {
    let content = match &record.payload {
        Payload::Inline { inline } => inline.clone(),
        Payload::Blob { blob, size, .. } => json!({ "blob": blob, "bytes": size }),
    };
    json!({
        "id": record.record_id,
        "time": record.ts(),
        "type": record.record_type.as_str(),
        "action": meta(record, "kind"),
        "principal": record.principal.as_str(),
        "taint": record.taint,
        "content": content,
    })
}

/// What a record shows of content from outside is still from outside.
fn label(record: &Record) -> Option<TaintTag> {
    let flags = record.taint.iter().filter_map(|it| Taint::parse(it).ok());
    let flags = flags.fold(Taint::NONE, Taint::union);
    taint::is_outside(flags).then(|| TaintTag {
        source: Source::Tool,
        taint: flags,
        origin: origin(record).unwrap_or("evidence").to_owned(),
        unix_seconds: record.ts().and_then(timestamp::to_unix).unwrap_or_default(),
        record: record.record_id.clone(),
    })
}

fn origin(record: &Record) -> Option<&str> {
    match &record.payload {
        Payload::Inline { inline } => inline.get("origin").and_then(Value::as_str),
        Payload::Blob { .. } => None,
    }
}

fn meta<'a>(record: &'a Record, key: &str) -> Option<&'a str> {
    record.meta.get(key).and_then(Value::as_str)
}
