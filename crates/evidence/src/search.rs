//! Finding records in the journal itself.
//!
//! There is no index that could lag behind or lie: what is asked for is searched for in the
//! segments, from the newest back if only the newest are wanted. Every record on the way must have
//! the id that its content has, so that none can be hidden by being spelled otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use aegx::verify::check_record_line;
use aegx::{Digest, Record, RecordType, timestamp};
use model::{AgentId, Kind, SessionId, Taint};
use serde_json::Value;

use crate::reader::{Entry, Position, ReadError, Reader};

/// Which records are asked for. Everything that is set must hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// Of this type.
    pub record_type: Option<RecordType>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Not before, in seconds since 1970.
    pub since: Option<i64>,
    /// Before, in seconds since 1970.
    pub until: Option<i64>,
    /// With all of this taint.
    pub taint: Option<Taint>,
    /// With this id.
    pub id: Option<Digest>,
    /// With this record among its parents.
    pub parent: Option<Digest>,
    /// At most so many, the newest.
    pub limit: Option<u64>,
}

impl Filter {
    /// Does this record pass?
    #[must_use]
    pub fn matches(&self, record: &Record, id: &Digest) -> bool {
        let meta = |key: &str| record.meta.get(key).and_then(Value::as_str);
        let same = |key: &str, wanted: Option<&str>| wanted.is_none() || meta(key) == wanted;
        let ts = record.ts().and_then(timestamp::to_unix).unwrap_or(0);
        let has = |name: &str| record.taint.iter().any(|it| it == name);
        same("session", self.session.as_ref().map(SessionId::as_str))
            && same("agent", self.agent.as_ref().map(AgentId::as_str))
            && same("kind", self.kind.as_ref().map(Kind::as_str))
            && self.record_type.is_none_or(|it| it == record.record_type)
            && self.since.is_none_or(|it| ts >= it)
            && self.until.is_none_or(|it| ts < it)
            && self.taint.is_none_or(|it| it.iter_names().all(has))
            && self.id.is_none_or(|it| it == *id)
            && self.parent.is_none_or(|it| record.parents.contains(&it.to_string()))
    }

    /// Texts that the line of every record which passes holds: a line is its one spelling.
    fn needles(&self) -> Vec<String> {
        let mut needles = Vec::new();
        let mut pair = |key: &str, value: Option<&str>| {
            needles.extend(value.map(|it| format!("\"{key}\":\"{it}\"")));
        };
        pair("session", self.session.as_ref().map(SessionId::as_str));
        pair("agent", self.agent.as_ref().map(AgentId::as_str));
        pair("kind", self.kind.as_ref().map(Kind::as_str));
        pair("type", self.record_type.map(RecordType::as_str));
        let id = self.id.map(|it| it.to_string());
        pair("recordId", id.as_deref());
        needles.extend(self.parent.map(|it| format!("\"{it}\"")));
        let taint = self.taint.unwrap_or(Taint::NONE);
        needles.extend(taint.iter_names().map(|it| format!("\"{it}\"")));
        needles
    }
}

/// A record that was found.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its index.
    pub idx: u64,
    /// Its id.
    pub id: Digest,
    /// Its stored line.
    pub line: Vec<u8>,
}

/// Counts over everything in the journal.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// All records.
    pub records: u64,
    /// Records by type.
    pub by_type: BTreeMap<String, u64>,
    /// Records by principal.
    pub by_principal: BTreeMap<String, u64>,
    /// Sessions that have records.
    pub sessions: u64,
    /// Records with any taint.
    pub tainted: u64,
}

/// Shows the records that pass the filter to `see`, oldest first, until it answers `false`.
///
/// # Errors
/// If the journal cannot be read, or a record on the way is not what its id says.
pub fn query(
    reader: &Reader,
    filter: &Filter,
    see: &mut dyn FnMut(Row) -> bool,
) -> Result<(), ReadError> {
    query_to_end(reader, filter, see).map(drop)
}

/// As [`query`]; gives the index behind the last record that was looked at.
pub(crate) fn query_to_end(
    reader: &Reader,
    filter: &Filter,
    see: &mut dyn FnMut(Row) -> bool,
) -> Result<u64, ReadError> {
    let (from, mut skipped) = match filter.limit {
        None => (reader.start()?, 0),
        Some(limit) => newest(reader, filter, limit)?,
    };
    // What is written in the meantime is newer than what was counted.
    let mut left = filter.limit.unwrap_or(u64::MAX);
    each(reader, from, filter, &mut |entry| {
        if skipped > 0 {
            skipped -= 1;
            return true;
        }
        let Some(rest) = left.checked_sub(1) else { return false };
        left = rest;
        let goes_on = see(Row { idx: entry.idx, id: entry.id, line: entry.record.to_vec() });
        // Whoever goes on behind the last one that was shown misses none.
        goes_on && left > 0
    })
}

/// How many records pass the filter.
///
/// # Errors
/// As [`query`].
pub fn count(reader: &Reader, filter: &Filter) -> Result<u64, ReadError> {
    let mut count = 0;
    each(reader, reader.start()?, filter, &mut |_| {
        count += 1;
        true
    })?;
    Ok(filter.limit.map_or(count, |limit| count.min(limit)))
}

/// Counts over everything.
///
/// # Errors
/// As [`query`].
pub fn groups(reader: &Reader) -> Result<Groups, ReadError> {
    let mut groups = Groups::default();
    let mut sessions = BTreeSet::new();
    let mut broken = None;
    each(reader, reader.start()?, &Filter::default(), &mut |entry| {
        let Ok(record) = serde_json::from_slice::<Record>(entry.record) else {
            broken = Some(damaged(entry));
            return false;
        };
        groups.records += 1;
        groups.tainted += u64::from(!record.taint.is_empty());
        let session = record.meta.get("session").and_then(Value::as_str);
        sessions.extend(session.map(str::to_owned));
        *groups.by_type.entry(record.record_type.as_str().to_owned()).or_default() += 1;
        *groups.by_principal.entry(record.principal.as_str().to_owned()).or_default() += 1;
        true
    })?;
    groups.sessions = sessions.len() as u64;
    broken.map_or(Ok(groups), Err)
}

/// Where the newest `limit` records that pass begin: a segment, and how many of those in it come
/// before them.
fn newest(reader: &Reader, filter: &Filter, limit: u64) -> Result<(Position, u64), ReadError> {
    let needles = filter.needles();
    let mut passing = 0_u64;
    for segment in reader.segments()?.into_iter().rev() {
        let read = reader.read_one(segment, |entry| {
            match passes(filter, &needles, &entry) {
                Ok(it) => passing += u64::from(it),
                Err(error) => return ControlFlow::Break(error),
            }
            ControlFlow::Continue(())
        });
        match read {
            Ok(None) => {}
            Ok(Some(error)) => return Err(error),
            // Retention got there first, if everything before it is gone too.
            Err(ReadError::Gone { .. }) if reader.start()?.segment > segment => break,
            Err(error) => return Err(error),
        }
        if passing >= limit {
            return Ok((Position { segment, offset: 0, idx: 0 }, passing - limit));
        }
    }
    Ok((reader.start()?, 0))
}

/// Shows every entry from `from` on whose record passes, until `see` answers `false`. Gives the
/// index behind the last that was looked at.
fn each(
    reader: &Reader,
    from: Position,
    filter: &Filter,
    see: &mut dyn FnMut(&Entry<'_>) -> bool,
) -> Result<u64, ReadError> {
    let needles = filter.needles();
    let mut at = from;
    loop {
        let read = reader.read(at, |entry| match passes(filter, &needles, &entry) {
            Err(error) => ControlFlow::Break(Err(error)),
            Ok(true) if !see(&entry) => ControlFlow::Break(Ok(())),
            Ok(_) => ControlFlow::Continue(()),
        });
        let next = match read {
            Ok((end, Some(outcome))) => return outcome.map(|()| end.idx),
            Ok((end, None)) => {
                let Some(next) = reader.segments()?.into_iter().find(|it| *it > end.segment) else {
                    return Ok(end.idx);
                };
                // The writer went on meanwhile, and so does this, from the very place.
                if next == end.segment + 1 {
                    at = end;
                    continue;
                }
                end.segment + 1
            }
            Err(ReadError::Gone { segment }) => segment,
            Err(error) => return Err(error),
        };
        // What is missing was deleted by retention if everything before it is gone too.
        let start = reader.start()?;
        if start.segment <= next {
            return Err(ReadError::Gone { segment: next });
        }
        at = start;
    }
}

/// Does the record pass? It must be what its id says, whether it does or not.
fn passes(filter: &Filter, needles: &[String], entry: &Entry<'_>) -> Result<bool, ReadError> {
    let facts = check_record_line(entry.record).map_err(|_| damaged(entry))?;
    let holds = |needle: &String| memchr::memmem::find(entry.record, needle.as_bytes()).is_some();
    if !needles.iter().all(holds) {
        return Ok(false);
    }
    let record: Record = serde_json::from_slice(entry.record).map_err(|_| damaged(entry))?;
    Ok(filter.matches(&record, &facts.id))
}

fn damaged(entry: &Entry<'_>) -> ReadError {
    ReadError::Damaged { segment: entry.segment, offset: entry.offset }
}
