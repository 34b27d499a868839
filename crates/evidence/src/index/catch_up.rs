//! Takes in what was appended since the index was last used.

use std::ops::ControlFlow;

use aegx::{Digest, Payload, Record, timestamp};
use model::Taint;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::Value;

use super::{Index, IndexError};
use crate::reader::{Entry, Position, ReadError, Reader};

/// Records between two commits.
const COMMIT_RECORDS: u64 = 50_000;

impl Index {
    /// Takes in what is new. Several processes may try at once; each sees the others' work.
    ///
    /// # Errors
    /// If the journal cannot be read or the database cannot be written.
    pub fn catch_up(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), IndexError> {
        let mut oldest = self.reader.start()?.segment;
        loop {
            match self.take_in(progress) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // Retention got there first, if the journal begins later now.
                Err(IndexError::Read(ReadError::Gone { segment })) => {
                    let now = self.reader.start()?.segment;
                    if now == oldest {
                        return Err(ReadError::Gone { segment }.into());
                    }
                    oldest = now;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes in some of what is new. Answers whether that was all.
    fn take_in(&mut self, progress: &mut dyn FnMut(u64)) -> Result<bool, IndexError> {
        let start = self.reader.start()?;
        let journal = self.reader.header(start.segment)?.journal;
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let at = position(&transaction, &self.reader, &journal, start)?;
        let mut taken = 0;
        let (next, stopped) = self.reader.read(at, |entry| {
            taken += 1;
            match insert(&transaction, &entry) {
                Ok(()) if taken < COMMIT_RECORDS => ControlFlow::Continue(()),
                outcome => ControlFlow::Break(outcome),
            }
        })?;
        let all = stopped.is_none();
        stopped.unwrap_or(Ok(()))?;
        transaction.execute("INSERT OR REPLACE INTO source VALUES (1, ?1)", params![journal])?;
        transaction.commit()?;
        progress(next.idx);
        Ok(all)
    }
}

/// Where the index stands. What is of another journal, or of records that are not in this one any
/// more (the disk lost them before they were durable), is thrown away.
fn position(
    db: &Transaction<'_>,
    reader: &Reader,
    journal: &str,
    start: Position,
) -> Result<Position, IndexError> {
    let source: Option<String> =
        db.query_row("SELECT journal FROM source", [], |row| row.get(0)).optional()?;
    if source.is_some_and(|it| it == journal) {
        forget_before(db, start)?;
        let sql = "SELECT segment, offset, idx, id FROM records ORDER BY idx DESC LIMIT 1";
        let newest = db
            .query_row(sql, [], |row| {
                let number = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
                let at = Position { segment: number(0)?, offset: number(1)?, idx: number(2)? };
                Ok((at, Digest::from_bytes(row.get(3)?)))
            })
            .optional()?;
        match newest.map(|(at, id)| reader.place_behind(at, &id)) {
            None => return Ok(start),
            Some(Some(behind)) => return Ok(behind),
            Some(None) => {}
        }
    }
    db.execute_batch("DELETE FROM records; DELETE FROM parents; DELETE FROM source;")?;
    Ok(start)
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
