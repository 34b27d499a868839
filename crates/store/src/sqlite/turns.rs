//! Turns of conversations.

use aegx::Digest;
use model::ipc::Role;
use model::{SessionId, TaintTag};
use monitor::taint::worse;
use rusqlite::{Connection, params};

use super::columns::{self, TAG, tag, tag_values, unreadable};
use super::{SqliteStore, labels, sessions};
use crate::error::Broken;
use crate::turns::{TURNS_PER_SESSION_MAX, Turn, TurnError, Turns};

/// About what a turn costs.
const TURN_BYTES: usize = 512;

impl Turns for SqliteStore {
    fn append_turn(
        &self,
        session: &SessionId,
        role: Role,
        text: &Digest,
        tag: Option<&TaintTag>,
    ) -> Result<(), TurnError> {
        let turn = Turn { role, text: *text, tag: tag.cloned() };
        let session = session.clone();
        self.change(TURN_BYTES, move |db| append(db, session, turn))?
    }

    fn turns(&self, session: &SessionId, limit: u32) -> Result<Vec<Turn>, TurnError> {
        let found = self.look(|db| of(db, session, limit))?;
        found.ok_or_else(|| TurnError::Unknown { session: session.clone() })
    }
}

fn append(
    db: &Connection,
    session: SessionId,
    turn: Turn,
) -> Result<Result<(), TurnError>, Broken> {
    let Some((n, row)) = sessions::find(db, &session)? else {
        return Ok(Err(TurnError::Unknown { session }));
    };
    // None is ever deleted, so that the highest number is the count.
    let mut last =
        db.prepare_cached("SELECT coalesce(max(number), 0) FROM turns WHERE session = ?1")?;
    let count: i64 = last.query_row([n], |row| row.get(0))?;
    if count >= TURNS_PER_SESSION_MAX {
        return Ok(Err(TurnError::Full { session }));
    }
    let known = labels::worst_of(db, row.user.as_str(), &[turn.text])?;
    let tag = worse(turn.tag.as_ref(), known.as_ref());
    let sql = format!(
        "INSERT INTO turns (session, number, role, text, {TAG})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    );
    let (source, taint, origin, time, record) = tag_values(tag.as_ref());
    db.prepare_cached(&sql)?.execute(params![
        n,
        count + 1,
        turn.role.as_str(),
        turn.text.as_bytes(),
        source,
        taint,
        origin,
        time,
        record,
    ])?;
    Ok(Ok(()))
}

/// The newest turns of a session, oldest first, if it is there.
pub(super) fn of(
    db: &Connection,
    session: &SessionId,
    limit: u32,
) -> Result<Option<Vec<Turn>>, Broken> {
    let Some((n, _)) = sessions::find(db, session)? else { return Ok(None) };
    let sql = format!(
        "SELECT role, text, {TAG} FROM turns WHERE session = ?1 ORDER BY number DESC LIMIT ?2"
    );
    let mut select = db.prepare_cached(&sql)?;
    let mut rows = select.query(params![n, limit])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        let role: String = row.get(0)?;
        turns.push(Turn {
            role: Role::parse(&role).ok_or_else(|| unreadable("role", &role))?,
            text: columns::digest(&row.get::<_, Vec<u8>>(1)?)?,
            tag: tag(row, 2)?,
        });
    }
    turns.reverse();
    Ok(Some(turns))
}
