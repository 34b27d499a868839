//! What the operator sees and does.

use aegx::Digest;
use evidence::Receipt;
use model::ipc::Uuid;
use model::{SessionId, Taint, UserId};
use rusqlite::{Connection, Row, params};

use super::columns::{self, unreadable};
use super::{SqliteStore, labels, memory, sessions};
use crate::error::Broken;
use crate::file::Beside;
use crate::memory::MemoryRow;
use crate::oversight::{ClearError, Clearing, Oversight, REASON_BYTES_MAX, Subject, Word};
use crate::sessions::SessionRow;

/// About what a clearing costs.
const ROW_BYTES: usize = 4096;

impl Oversight for SqliteStore {
    fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>, Broken> {
        self.look(|db| sessions::newest(db, "", limit))
    }

    fn tainted_sessions(&self, limit: u32) -> Result<Vec<SessionRow>, Broken> {
        let tainted = "WHERE taint <> 0 OR tainted_tokens > 0";
        self.look(|db| sessions::newest(db, tainted, limit))
    }

    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, Broken> {
        self.look(|db| Ok(sessions::find(db, id)?.map(|(_, row)| row)))
    }

    fn changes(&self, id: &SessionId) -> Result<Vec<Vec<u8>>, Broken> {
        self.look(|db| match sessions::find(db, id)? {
            Some((n, _)) => super::state::changes(db, n),
            None => Ok(Vec::new()),
        })
    }

    fn memory_row(&self, id: Uuid) -> Result<Option<MemoryRow>, Broken> {
        self.look(|db| any_row(db, id))
    }

    fn tainted_memory(&self, limit: u32) -> Result<Vec<MemoryRow>, Broken> {
        let tail = "WHERE tag_source IS NOT NULL ORDER BY n DESC LIMIT ?1";
        self.look(|db| memory::select(db, tail, params![limit]))
    }

    fn clearings(&self, of: Option<&Subject>, limit: u32) -> Result<Vec<Clearing>, Broken> {
        self.look(|db| {
            let mut select = db.prepare_cached(
                "SELECT kind, name, taint, cleared_by, cleared_at, reason, record FROM clearings
                 WHERE ?1 IS NULL OR kind = ?1 AND name = ?2 ORDER BY n DESC LIMIT ?3",
            )?;
            let (kind, name) = (of.map(Subject::kind), of.map(Subject::name));
            let mut rows = select.query(params![kind, name, limit])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }

    fn clear(
        &self,
        subject: &Subject,
        word: &Word,
        receipt: &Receipt,
    ) -> Result<Clearing, ClearError> {
        self.clear_on(subject, word, receipt.id().to_string())
    }
}

impl Beside for SqliteStore {
    fn forget_content(
        &self,
        user: &UserId,
        contents: [Digest; 2],
        clearing: &Clearing,
    ) -> Result<(), Broken> {
        let (user, clearing) = (user.clone(), clearing.clone());
        self.change(ROW_BYTES, move |db| {
            labels::forget(db, user.as_str(), &contents)?;
            note(db, &clearing)
        })
    }
}

impl SqliteStore {
    pub(crate) fn clear_on(
        &self,
        subject: &Subject,
        word: &Word,
        record: String,
    ) -> Result<Clearing, ClearError> {
        let bytes = word.reason.len();
        if bytes > REASON_BYTES_MAX || word.reason.trim().is_empty() {
            return Err(ClearError::Reason { bytes });
        }
        let (subject, word) = (subject.clone(), word.clone());
        self.change(ROW_BYTES, move |db| {
            let taint = match &subject {
                Subject::Session(id) => clear_session(db, id)?,
                Subject::Memory(id) => clear_memory(db, *id)?,
            };
            let Some(taint) = taint else { return Ok(Err(ClearError::NotFound { subject })) };
            let clearing = Clearing { subject, word, taint, record };
            note(db, &clearing)?;
            Ok(Ok(clearing))
        })?
    }
}

/// Lets a session begin anew. Answers what it carried, if it is there.
fn clear_session(db: &Connection, id: &SessionId) -> Result<Option<Taint>, Broken> {
    let Some((n, row)) = sessions::find(db, id)? else { return Ok(None) };
    db.execute("DELETE FROM changes WHERE session = ?1", [n])?;
    db.execute(
        "UPDATE sessions SET taint = 0, tainted_tokens = 0, clean_tokens = 0, origin = ''
         WHERE n = ?1",
        [n],
    )?;
    db.execute(
        "UPDATE turns SET tag_source = NULL, tag_taint = NULL, tag_origin = NULL, tag_time = NULL,
             tag_record = NULL WHERE session = ?1",
        [n],
    )?;
    Ok(Some(row.summary.taint))
}

/// Clears a row, its equals and the labels of its content. Answers what it carried, if it is there.
fn clear_memory(db: &Connection, id: Uuid) -> Result<Option<Taint>, Broken> {
    let Some(row) = any_row(db, id)? else { return Ok(None) };
    let user = row.user.as_str();
    // As they were kept: what counts as equal may have changed between versions.
    let kept = "SELECT exact, seen FROM memory WHERE id = ?1";
    let (exact, seen): (Vec<u8>, Vec<u8>) =
        db.query_row(kept, [id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    labels::forget(db, user, &[columns::digest(&exact)?, columns::digest(&seen)?])?;
    db.execute(
        "UPDATE memory SET tag_source = NULL, tag_taint = NULL, tag_origin = NULL, tag_time = NULL,
             tag_record = NULL WHERE user = ?1 AND seen = ?2",
        params![user, seen],
    )?;
    Ok(Some(row.tag.map_or(Taint::NONE, |it| it.taint)))
}

fn any_row(db: &Connection, id: Uuid) -> Result<Option<MemoryRow>, Broken> {
    Ok(memory::select(db, "WHERE id = ?1", params![id.to_string()])?.pop())
}

fn note(db: &Connection, clearing: &Clearing) -> Result<(), Broken> {
    db.execute(
        "INSERT INTO clearings (kind, name, taint, cleared_by, cleared_at, reason, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            clearing.subject.kind(),
            clearing.subject.name(),
            clearing.taint.bits(),
            clearing.word.by.as_str(),
            clearing.word.at,
            clearing.word.reason,
            clearing.record,
        ],
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<Clearing, Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let (kind, name) = (text(0)?, text(1)?);
    let subject = match kind.as_str() {
        "session" => Subject::Session(columns::session(&name)?),
        "memory" => Subject::Memory(columns::uuid(&name)?),
        _ => return Err(unreadable("kind", &kind)),
    };
    let word = Word { by: columns::user(&text(3)?)?, at: row.get(4)?, reason: text(5)? };
    Ok(Clearing { subject, word, taint: columns::taint(row.get(2)?)?, record: text(6)? })
}
