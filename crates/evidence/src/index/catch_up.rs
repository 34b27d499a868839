//! Takes in what was appended since the index was last used.

use std::ops::ControlFlow;

use aegx::{Digest, Payload, Record, timestamp};
use model::Taint;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::Value;

use super::{Index, IndexError};
use crate::reader::{Entry, Position, ReadError};
use crate::segment::{self, Walk};

/// Records between two commits.
const COMMIT_RECORDS: u64 = 50_000;

impl Index {
    /// Takes in what is new. Several processes may try at once; each sees the others' work.
    ///
    /// # Errors
    /// If the journal cannot be read or the database cannot be written.
    pub fn catch_up(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), IndexError> {
        loop {
            let journal = self.journal_id()?;
            let start = self.reader.start()?;
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut at = position(&transaction, &journal)?.unwrap_or(start);
            forget_before(&transaction, start)?;
            if at.segment < start.segment {
                at = start;
            }
            let before = at.idx;
            let mut failed = None;
            let (next, _) = self.reader.read(at, |entry| {
                if let Err(error) = insert(&transaction, &entry) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                let full = entry.idx - before + 1 >= COMMIT_RECORDS;
                if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
            transaction.execute(
                "INSERT OR REPLACE INTO position VALUES (1, ?1, ?2, ?3, ?4)",
                params![journal, int(next.segment), int(next.offset), int(next.idx)],
            )?;
            transaction.commit()?;
            progress(next.idx);
            if next == at {
                return Ok(());
            }
        }
    }

    fn journal_id(&self) -> Result<String, IndexError> {
        use std::io::Read;
        let start = self.reader.start()?;
        let path = segment::path(&self.reader.layout().segments(), start.segment);
        let mut bytes = Vec::new();
        std::fs::File::open(&path)
            .and_then(|file| file.take(1 << 20).read_to_end(&mut bytes))
            .map_err(|error| ReadError::io(&path, error))?;
        let (header, _) = Walk::begin(&bytes)
            .map_err(|_| ReadError::Damaged { segment: start.segment, offset: 0 })?;
        Ok(header.journal)
    }
}

/// Where the index stands; nothing of another journal is kept.
fn position(db: &Transaction<'_>, journal: &str) -> Result<Option<Position>, IndexError> {
    let found = db
        .query_row("SELECT journal, segment, offset, idx FROM position", [], |row| {
            let position = Position {
                segment: row.get::<_, i64>(1)?.unsigned_abs(),
                offset: row.get::<_, i64>(2)?.unsigned_abs(),
                idx: row.get::<_, i64>(3)?.unsigned_abs(),
            };
            Ok((row.get::<_, String>(0)?, position))
        })
        .optional()?;
    match found {
        Some((name, position)) if name == journal => Ok(Some(position)),
        Some(_) => {
            db.execute_batch("DELETE FROM records; DELETE FROM parents; DELETE FROM position;")?;
            Ok(None)
        }
        None => Ok(None),
    }
}

/// Drops rows of segments that retention deleted.
fn forget_before(db: &Transaction<'_>, start: Position) -> Result<(), IndexError> {
    let first = int(start.segment);
    let oldest: Option<i64> = db
        .query_row("SELECT segment FROM records ORDER BY idx LIMIT 1", [], |row| row.get(0))
        .optional()?;
    if oldest.is_none_or(|oldest| oldest >= first) {
        return Ok(());
    }
    db.execute(
        "DELETE FROM parents WHERE child IN (SELECT idx FROM records WHERE segment < ?1)",
        [first],
    )?;
    db.execute("DELETE FROM records WHERE segment < ?1", [first])?;
    Ok(())
}

fn insert(db: &Transaction<'_>, entry: &Entry<'_>) -> Result<(), IndexError> {
    let bad = |why: String| IndexError::Record { idx: entry.idx, why };
    let record: Record =
        serde_json::from_slice(entry.record).map_err(|error| bad(error.to_string()))?;
    let text = |key: &str| record.meta.get(key).and_then(Value::as_str);
    let ts = record.ts().and_then(timestamp::to_unix).unwrap_or(0);
    let taint = record.taint.iter().filter_map(|name| Taint::parse(name).ok());
    let taint = taint.fold(Taint::NONE, Taint::union);
    let blob = match &record.payload {
        Payload::Inline { .. } => None,
        Payload::Blob { blob, .. } => Digest::from_hex(blob.as_bytes()),
    };
    db.prepare_cached(
        "INSERT OR REPLACE INTO records VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
    )?
    .execute(params![
        int(entry.idx),
        entry.id.as_bytes(),
        int(entry.segment),
        int(entry.offset),
        int(entry.record.len() as u64),
        ts,
        record.record_type.as_str(),
        record.principal.as_str(),
        text("kind"),
        text("session"),
        text("agent"),
        taint.bits(),
        blob.as_ref().map(Digest::as_bytes),
    ])?;
    for parent in record.parents.iter().filter_map(|it| Digest::from_hex(it.as_bytes())) {
        db.prepare_cached("INSERT INTO parents VALUES (?1, ?2)")?
            .execute(params![int(entry.idx), parent.as_bytes()])?;
    }
    Ok(())
}

/// SQLite's integers are signed; no journal comes near the limit.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
