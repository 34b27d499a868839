//! What somebody has tried.

use monitor::{StateError, Tried, TriedCount, TriedSpan};
use rusqlite::{Connection, params};

use super::SqliteStore;
use crate::error::Broken;

/// About what one number costs.
const ROW_BYTES: usize = 64;

impl Tried for SqliteStore {
    fn tried(
        &self,
        what: &str,
        numbers: &[u32],
        span: TriedSpan,
        most: usize,
    ) -> Result<TriedCount, StateError> {
        let what = what.to_owned();
        if numbers.is_empty() {
            let before = self.look(|db| count(db, &what, span.since))?;
            return Ok(TriedCount { before, after: before });
        }
        // More than these change nothing.
        let numbers: Vec<u32> = numbers.iter().copied().take(most.saturating_add(1)).collect();
        let bytes = numbers.len().saturating_mul(ROW_BYTES);
        Ok(self.change(bytes, move |db| add(db, &what, &numbers, span, most))?)
    }
}

fn add(
    db: &Connection,
    what: &str,
    numbers: &[u32],
    span: TriedSpan,
    most: usize,
) -> Result<TriedCount, Broken> {
    db.execute("DELETE FROM tried WHERE at < ?1", [span.since])?;
    let before = count(db, what, span.since)?;
    let mut after = before;
    let sql = "INSERT INTO tried (what, number, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let mut insert = db.prepare_cached(sql)?;
    for number in numbers {
        if after > most {
            break;
        }
        after = after.saturating_add(insert.execute(params![what, number, span.now])?);
    }
    Ok(TriedCount { before, after })
}

fn count(db: &Connection, what: &str, since: i64) -> Result<usize, Broken> {
    let sql = "SELECT count(*) FROM tried WHERE what = ?1 AND at >= ?2";
    let mut select = db.prepare_cached(sql)?;
    let count: i64 = select.query_row(params![what, since], |row| row.get(0))?;
    usize::try_from(count).map_err(Broken::new)
}
