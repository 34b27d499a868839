//! Memory rows.

use model::ipc::{MemoryKind, Uuid};
use model::{SessionId, TaintTag, UserId};
use monitor::taint::worse;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::columns::{self, TAG, tag, tag_values, unreadable};
use super::{SqliteStore, labels, search, turns};
use crate::content::Fingerprint;
use crate::error::Broken;
use crate::memory::{MEMORY_ROWS_PER_USER_MAX, MemoryError, MemoryRow, NewMemory, Rows, Written};
use crate::scope;
use crate::turns::Turn;

/// About what a row costs beside its content.
const ROW_BYTES: usize = 2048;
/// Rows that are taken away in one change.
const DELETED_AT_ONCE_MAX: i64 = 500;

impl Rows for SqliteStore {
    fn keep(&self, new: NewMemory) -> Result<Written, MemoryError> {
        // Hashed here and not by the writer, for whom others wait.
        let print = Fingerprint::of(new.content.as_bytes());
        let id = columns::new_uuid()?;
        self.change(new.content.len() + ROW_BYTES, move |db| insert(db, &new, &print, id))?
    }

    fn known(&self, row: &MemoryRow) -> Result<Option<TaintTag>, MemoryError> {
        let digests = Fingerprint::of(row.content.as_bytes()).both();
        Ok(self.look(|db| labels::worst_of(db, row.user.as_str(), &digests))?)
    }

    fn find(
        &self,
        user: &UserId,
        scope: &str,
        words: &str,
        limit: u64,
    ) -> Result<Vec<MemoryRow>, MemoryError> {
        let user = user.as_str();
        let limit = columns::signed(limit);
        let place = search::place(user, scope::root(scope));
        let found = self.look(|db| {
            let numbers = if words.trim().is_empty() {
                search::newest(db, &place, limit)?
            } else {
                search::best(db, &place, words, count(db, user)?, limit)?
            };
            let mut found = Vec::with_capacity(numbers.len());
            for n in numbers {
                // Whatever the index says, nobody sees a row of somebody else.
                found.extend(select(db, "WHERE n = ?1 AND user = ?2", params![n, user])?);
            }
            Ok(found)
        })?;
        Ok(found)
    }

    fn read_row(&self, user: &UserId, id: Uuid) -> Result<MemoryRow, MemoryError> {
        let found = self.look(|db| {
            let tail = "WHERE id = ?1 AND user = ?2";
            Ok(select(db, tail, params![id.to_string(), user.as_str()])?.pop())
        })?;
        found.ok_or(MemoryError::NotFound { id })
    }

    fn delete_row(&self, user: &UserId, id: Uuid) -> Result<(), MemoryError> {
        let user = user.clone();
        let deleted = self.change(ROW_BYTES, move |db| delete(db, &user, id))?;
        if deleted { Ok(()) } else { Err(MemoryError::NotFound { id }) }
    }

    fn page(
        &self,
        user: &UserId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, MemoryRow)>, MemoryError> {
        let user = user.as_str();
        let found = self.look(|db| {
            let mut numbers = db.prepare_cached(
                "SELECT n FROM memory WHERE user = ?1 AND n > ?2 ORDER BY n LIMIT ?3",
            )?;
            let numbers = numbers.query_map(params![user, after, limit], |row| row.get(0))?;
            let mut found = Vec::new();
            for n in numbers.collect::<Result<Vec<i64>, _>>()? {
                let rows = select(db, "WHERE n = ?1 AND user = ?2", params![n, user])?;
                found.extend(rows.into_iter().map(|it| (n, it)));
            }
            Ok(found)
        })?;
        Ok(found)
    }

    fn numbers(&self, user: &UserId, scope: &str, limit: u64) -> Result<Vec<i64>, MemoryError> {
        let place = search::place(user.as_str(), scope::root(scope));
        Ok(self.look(|db| search::newest(db, &place, columns::signed(limit)))?)
    }

    fn delete_all(&self, user: &UserId) -> Result<u64, MemoryError> {
        let mut gone = 0;
        loop {
            let of = user.clone();
            // A part at a time, so that nobody waits for long.
            let deleted = self.change(ROW_BYTES, move |db| delete_some(db, &of))?;
            if deleted == 0 {
                return Ok(gone);
            }
            gone += deleted;
        }
    }

    fn wipe_beside(&self) -> Result<bool, MemoryError> {
        Ok(self.wipe()?)
    }

    fn spoken_in(&self, session: &SessionId) -> Result<Vec<Turn>, MemoryError> {
        Ok(self.look(|db| turns::of(db, session, u32::MAX))?.unwrap_or_default())
    }
}

/// Keeps a row. Equal content of the same user, old and new, takes the worst tag of all.
fn insert(
    db: &Connection,
    new: &NewMemory,
    print: &Fingerprint,
    id: Uuid,
) -> Result<Result<Written, MemoryError>, Broken> {
    let user = new.user.as_str();
    let same = same_row(db, new, print)?;
    // Whatever was ever tainted has its label, so that this knows equal rows and deleted ones.
    let known = labels::worst_of(db, user, &print.both())?;
    let tag = worse(new.tag.as_ref(), known.as_ref());
    if same.is_none() && count(db, user)? >= MEMORY_ROWS_PER_USER_MAX {
        return Ok(Err(MemoryError::Full));
    }
    if let Some(tag) = &tag {
        // What a reader sees covers equal bytes too, and a person who clears one clears all.
        labels::remember(db, user, &[print.seen()], tag)?;
        let mut taint = db.prepare_cached(
            "UPDATE memory SET tag_source = ?3, tag_taint = ?4, tag_origin = ?5, tag_time = ?6,
                 tag_record = ?7 WHERE user = ?1 AND seen = ?2",
        )?;
        let (source, bits, origin, time, record) = tag_values(Some(tag));
        let seen = print.seen();
        taint.execute(params![user, seen.as_bytes(), source, bits, origin, time, record])?;
    }
    if let Some(id) = same {
        return Ok(Ok(Written { id, tag, is_duplicate: true }));
    }
    insert_row(db, new, print, id, tag.as_ref())?;
    let mut add = db.prepare_cached(
        "INSERT INTO memory_counts (user, count) VALUES (?1, 1)
         ON CONFLICT (user) DO UPDATE SET count = count + 1",
    )?;
    add.execute([user])?;
    Ok(Ok(Written { id, tag, is_duplicate: false }))
}

fn insert_row(
    db: &Connection,
    new: &NewMemory,
    print: &Fingerprint,
    id: Uuid,
    tag: Option<&TaintTag>,
) -> Result<(), Broken> {
    let sql = format!(
        "INSERT INTO memory (id, user, agent, scope, type, content, source, related, created,
             record, exact, seen, {TAG})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"
    );
    let (source, bits, origin, time, record) = tag_values(tag);
    db.prepare_cached(&sql)?.execute(params![
        id.to_string(),
        new.user.as_str(),
        new.agent.as_str(),
        new.scope,
        new.kind.as_str(),
        new.content,
        new.source,
        new.related_id.map(|it| it.to_string()),
        new.created,
        new.record.to_string(),
        print.exact().as_bytes(),
        print.seen().as_bytes(),
        source,
        bits,
        origin,
        time,
        record,
    ])?;
    search::add(db, db.last_insert_rowid(), new.user.as_str(), &new.scope, &new.content)?;
    Ok(())
}

/// The user's row with the same bytes, scope and kind.
fn same_row(db: &Connection, new: &NewMemory, print: &Fingerprint) -> Result<Option<Uuid>, Broken> {
    let mut select = db.prepare_cached(
        "SELECT id FROM memory WHERE user = ?1 AND seen = ?2 AND exact = ?3 AND scope = ?4
             AND type = ?5",
    )?;
    let [exact, seen] = print.both();
    let user = new.user.as_str();
    let key = params![user, seen.as_bytes(), exact.as_bytes(), new.scope, new.kind.as_str()];
    let id: Option<String> = select.query_row(key, |row| row.get(0)).optional()?;
    id.as_deref().map(columns::uuid).transpose()
}

fn count(db: &Connection, user: &str) -> Result<i64, Broken> {
    let mut select = db.prepare_cached("SELECT count FROM memory_counts WHERE user = ?1")?;
    Ok(select.query_row([user], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Takes some rows of a user away, and gives how many.
fn delete_some(db: &Connection, user: &UserId) -> Result<u64, Broken> {
    let mut ids = db.prepare_cached("SELECT id FROM memory WHERE user = ?1 LIMIT ?2")?;
    let ids = ids.query_map(params![user.as_str(), DELETED_AT_ONCE_MAX], |row| row.get(0))?;
    let mut gone = 0;
    for id in ids.collect::<Result<Vec<String>, _>>()? {
        gone += u64::from(delete(db, user, columns::uuid(&id)?)?);
    }
    Ok(gone)
}

/// Takes a row away. Its label, which it got when it was written, stays.
fn delete(db: &Connection, user: &UserId, id: Uuid) -> Result<bool, Broken> {
    let mut delete =
        db.prepare_cached("DELETE FROM memory WHERE id = ?1 AND user = ?2 RETURNING n")?;
    let gone = delete.query_row(params![id.to_string(), user.as_str()], |row| row.get(0));
    let n: Option<i64> = gone.optional()?;
    let Some(n) = n else { return Ok(false) };
    db.prepare_cached("DELETE FROM memory_words WHERE rowid = ?1")?.execute([n])?;
    db.prepare_cached("UPDATE memory_counts SET count = count - 1 WHERE user = ?1")?
        .execute([user.as_str()])?;
    Ok(true)
}

/// Rows of memory, with the worst of their own tag and the labels of their content.
pub(super) fn select(
    db: &Connection,
    tail: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<MemoryRow>, Broken> {
    let sql = format!(
        "SELECT memory.id, user, agent, scope, type, memory.content, source, related, created,
             record, exact, seen, {TAG} FROM memory {tail}"
    );
    let mut select = db.prepare_cached(&sql)?;
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let digests = [
            columns::digest(&row.get::<_, Vec<u8>>(10)?)?,
            columns::digest(&row.get::<_, Vec<u8>>(11)?)?,
        ];
        let mut memory = read(row)?;
        let known = labels::worst_of(db, memory.user.as_str(), &digests)?;
        memory.tag = worse(memory.tag.as_ref(), known.as_ref());
        found.push(memory);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<MemoryRow, Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let kind = text(4)?;
    let related: Option<String> = row.get(7)?;
    Ok(MemoryRow {
        id: columns::uuid(&text(0)?)?,
        user: columns::user(&text(1)?)?,
        agent: columns::agent(&text(2)?)?,
        scope: text(3)?,
        kind: MemoryKind::parse(&kind).ok_or_else(|| unreadable("type", &kind))?,
        content: text(5)?,
        source: row.get(6)?,
        related_id: related.as_deref().map(columns::uuid).transpose()?,
        created: row.get(8)?,
        record: text(9)?,
        tag: tag(row, 12)?,
    })
}
