//! What the journal says of the taint of sessions.
//!
//! A label of an output is kept before its record is written, one of what an agent hears after it. So a record of what
//! was heard counts once something came after it: the next record of the session, or a signature over the journal, which
//! an orderly end leaves. A crash in between costs nobody their store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use aegx::{Principal, Record, RecordType};
use evidence::{Entry, Position, ReadError, Reader};
use model::{SessionId, Taint};
use serde_json::Value;

use crate::sqlite::Seen;

/// A person vouches for a session, and what is on record if that came to nothing.
const CLEARED: (&str, &str) = ("taint_cleared", "taint_not_cleared");
/// A person goes on without what was lost, and the same.
const ACCEPTED: (&str, &str) = ("state_loss_accepted", "state_loss_not_accepted");
/// What a start writes of a session: it says nothing of what was kept before.
const OF_A_START: [&str; 2] = ["session_start", "interrupted"];
/// What was marked in a workspace that a session left, often another one that was killed in it: the flags are those of the
/// files, and nothing of them was heard by whoever comes there next.
const OF_FILES: &str = "workspace_left";

/// The taint of sessions by the journal's word.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) taint: BTreeMap<SessionId, Taint>,
    /// The newest record, if there is one.
    pub(super) newest: Option<Seen>,
    /// What was heard last in a session, and may not have been kept.
    heard: BTreeMap<SessionId, (u64, Taint)>,
    /// What a person's word took away, by its record.
    vouched: BTreeMap<String, BTreeMap<SessionId, Taint>>,
    /// Sizes of the journal that were signed, sorted; none if nobody can tell, and then each may have been.
    signed: Option<Vec<u64>>,
}

impl Recorded {
    /// Reads a journal from a record on that was seen before; all of it if that is not there any more, or if there is
    /// none. A journal that is not there says nothing.
    pub(super) fn read(journal: &Path, from: Option<&Seen>) -> Result<Self, ReadError> {
        let reader = match Reader::open(journal) {
            Err(ReadError::NoJournal { .. }) => return Ok(Self::default()),
            reader => reader?,
        };
        match from.map(|it| Self::behind(&reader, it)) {
            Some(Ok(Some(found))) => Ok(found),
            Some(Ok(None) | Err(_)) | None => {
                let start = reader.start()?;
                Self::new(&reader).through(&reader, start)
            }
        }
    }

    /// The newest record of a journal, without reading more of it than its end.
    pub(super) fn end_of(journal: &Path) -> Result<Option<Seen>, ReadError> {
        let reader = match Reader::open(journal) {
            Err(ReadError::NoJournal { .. }) => return Ok(None),
            reader => reader?,
        };
        // A segment that was just begun has no record yet.
        for segment in reader.segments()?.into_iter().rev() {
            let mut newest = None;
            reader.read(Position { segment, offset: 0, idx: 0 }, |entry| {
                newest = Some(seen(&entry));
                ControlFlow::<()>::Continue(())
            })?;
            if newest.is_some() {
                return Ok(newest);
            }
        }
        Ok(None)
    }

    /// What comes behind a record, which must be there.
    fn behind(reader: &Reader, last: &Seen) -> Result<Option<Self>, ReadError> {
        let at = Position { segment: last.segment, offset: last.offset, idx: last.idx };
        let (next, there) = reader.read(at, |entry| ControlFlow::Break(seen(&entry) == *last))?;
        if there != Some(true) {
            return Ok(None);
        }
        let mut found = Self::new(reader);
        found.newest = Some(last.clone());
        found.through(reader, next).map(Some)
    }

    fn new(reader: &Reader) -> Self {
        let sorted = |all: Vec<evidence::Kept>| {
            let mut sizes: Vec<u64> = all.iter().map(|it| it.size).collect();
            sizes.sort_unstable();
            sizes
        };
        Self { signed: reader.checkpoints().ok().map(sorted), ..Self::default() }
    }

    fn through(mut self, reader: &Reader, from: Position) -> Result<Self, ReadError> {
        reader.read(from, |entry| {
            self.newest = Some(seen(&entry));
            // What cannot be read is the journal's own business: `lazaret evidence verify` says so.
            if let Ok(record) = serde_json::from_slice::<Record>(entry.record) {
                self.see(entry.idx, &record);
            }
            ControlFlow::<()>::Continue(())
        })?;
        for (session, (idx, taint)) in std::mem::take(&mut self.heard) {
            if self.is_signed(idx, u64::MAX) {
                add(&mut self.taint, session, taint);
            }
        }
        Ok(self)
    }

    fn see(&mut self, idx: u64, record: &Record) {
        let of = |name: &str| record.meta.get(name).and_then(Value::as_str);
        let kind = of("kind").unwrap_or_default();
        let session = of("session").and_then(|it| SessionId::parse(it).ok());
        if self.is_word_of_a_person(record, kind, session.as_ref()) {
            return;
        }
        let Some(session) = session else { return };
        if let Some((before, taint)) = self.heard.remove(&session)
            && (!OF_A_START.contains(&kind) || self.is_signed(before, idx))
        {
            add(&mut self.taint, session.clone(), taint);
        }
        if kind == OF_FILES {
            return;
        }
        let flags = record.taint.iter().filter_map(|it| Taint::parse(it).ok());
        let taint = flags.fold(Taint::NONE, Taint::union);
        if record.record_type == RecordType::ToolResult {
            add(&mut self.taint, session, taint);
        } else if taint != Taint::NONE {
            self.heard.insert(session, (idx, taint));
        }
    }

    /// Sees to what a person says of labels: they go, or were not taken after all.
    fn is_word_of_a_person(
        &mut self,
        record: &Record,
        kind: &str,
        session: Option<&SessionId>,
    ) -> bool {
        let of_person = record.record_type == RecordType::ControlPlaneChangeRequest
            && record.principal == Principal::User;
        if !of_person {
            return false;
        }
        if kind == CLEARED.0 {
            let taken = session.map(|it| (it.clone(), self.take(it)));
            self.vouched.insert(record.record_id.clone(), taken.into_iter().collect());
        } else if kind == ACCEPTED.0 {
            let all: Vec<_> = self.taint.keys().chain(self.heard.keys()).cloned().collect();
            let taken = all.into_iter().map(|it| (it.clone(), self.take(&it))).collect();
            self.vouched.insert(record.record_id.clone(), taken);
        } else if kind == CLEARED.1 || kind == ACCEPTED.1 {
            let back = record.parents.iter().filter_map(|it| self.vouched.remove(it));
            for (session, taint) in back.flatten().collect::<Vec<_>>() {
                add(&mut self.taint, session, taint);
            }
        } else {
            return false;
        }
        true
    }

    fn take(&mut self, session: &SessionId) -> Taint {
        let heard = self.heard.remove(session).map_or(Taint::NONE, |it| it.1);
        self.taint.remove(session).unwrap_or(Taint::NONE).union(heard)
    }

    /// Was the journal signed after the record at `idx`, and before the one at `before`?
    fn is_signed(&self, idx: u64, before: u64) -> bool {
        let Some(signed) = &self.signed else { return true };
        let next = signed.partition_point(|size| *size <= idx);
        signed.get(next).is_some_and(|size| *size <= before)
    }
}

fn add(all: &mut BTreeMap<SessionId, Taint>, session: SessionId, taint: Taint) {
    if taint != Taint::NONE {
        let place = all.entry(session).or_insert(Taint::NONE);
        *place = place.union(taint);
    }
}

fn seen(entry: &Entry<'_>) -> Seen {
    Seen {
        idx: entry.idx,
        segment: entry.segment,
        offset: entry.offset,
        record: entry.id.to_string(),
    }
}
