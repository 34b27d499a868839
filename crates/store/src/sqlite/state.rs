//! Sessions for the monitor.

use model::{Caller, Profile, SessionId};
use monitor::{Opened, State, StateError, Summary};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::columns::signed;
use super::packed::{pack, unpack};
use super::sessions::{self, SESSIONS_MAX};
use crate::error::Broken;
use crate::sessions::SessionState;

/// The longest change or snapshot.
pub const CHANGE_BYTES_MAX: usize = 64 << 20;
/// About what a change costs beside its own bytes.
const ROW_BYTES: usize = 512;

impl State for SqliteStore {
    fn open(&self, who: &Caller, profile: Profile) -> Result<Opened, StateError> {
        let session = who.session.clone();
        let caller = who.clone();
        if let Some(opened) = self.look(move |db| find_open(db, &caller))? {
            return opened;
        }
        let caller = who.clone();
        self.change(ROW_BYTES, move |db| enter(db, &caller, profile))??;
        let caller = who.clone();
        let found = self.look(move |db| find_open(db, &caller))?;
        found.unwrap_or(Err(StateError::Unknown { session }))
    }

    fn append(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        check_length(change)?;
        let (id, change, summary) = (session.clone(), pack(change)?, summary.clone());
        let known = self.note(change.len() + ROW_BYTES, move |db| {
            let Some(n) = summarise(db, &id, &summary)? else { return Ok(false) };
            insert(db, n, &change)?;
            Ok(true)
        })?;
        if known { Ok(()) } else { Err(StateError::Unknown { session: session.clone() }) }
    }

    fn append_soon(
        &self,
        session: &SessionId,
        change: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        check_length(change)?;
        let (id, change, summary) = (session.clone(), pack(change)?, summary.clone());
        Ok(self.soon(change.len() + ROW_BYTES, move |db| {
            // That nobody opened it is said to whoever waits: an error here would be everybody's.
            summarise(db, &id, &summary)?.map_or(Ok(()), |n| insert(db, n, &change).map(drop))
        })?)
    }

    fn flush(&self) -> Result<(), StateError> {
        Ok(self.settle()?)
    }

    fn compact(
        &self,
        session: &SessionId,
        snapshot: &[u8],
        summary: &Summary,
    ) -> Result<(), StateError> {
        check_length(snapshot)?;
        let (id, snapshot, summary) = (session.clone(), pack(snapshot)?, summary.clone());
        let known = self.change(snapshot.len() + ROW_BYTES, move |db| {
            let Some(n) = summarise(db, &id, &summary)? else { return Ok(false) };
            // First the new one: numbers only grow, and it must not take one that is free again.
            let newest = insert(db, n, &snapshot)?;
            let mut delete =
                db.prepare_cached("DELETE FROM changes WHERE session = ?1 AND n < ?2")?;
            delete.execute(params![n, newest])?;
            Ok(true)
        })?;
        if known { Ok(()) } else { Err(StateError::Unknown { session: session.clone() }) }
    }

    fn end(&self, session: &SessionId) -> Result<(), StateError> {
        let id = session.clone();
        let ended = self.change(ROW_BYTES, move |db| {
            let mut end = db.prepare_cached("UPDATE sessions SET state = ?2 WHERE id = ?1")?;
            Ok(end.execute(params![id.as_str(), SessionState::Ended.as_str()])?)
        })?;
        if ended == 1 { Ok(()) } else { Err(StateError::Unknown { session: session.clone() }) }
    }
}

/// The session if it is there and goes on, or that it is another's.
fn find_open(db: &Connection, who: &Caller) -> Result<Option<Result<Opened, StateError>>, Broken> {
    let Some((n, row)) = sessions::find(db, &who.session)? else { return Ok(None) };
    if row.user != who.user || row.agent != who.agent {
        return Ok(Some(Err(StateError::NotYours { session: who.session.clone() })));
    }
    if row.state == SessionState::Ended {
        return Ok(None);
    }
    Ok(Some(Ok(Opened { changes: changes(db, n)?, profile: row.profile })))
}

/// What was kept of a session, in order.
pub(super) fn changes(db: &Connection, n: i64) -> Result<Vec<Vec<u8>>, Broken> {
    let mut select =
        db.prepare_cached("SELECT change FROM changes WHERE session = ?1 ORDER BY n")?;
    let mut changes = Vec::new();
    let mut rows = select.query([n])?;
    while let Some(row) = rows.next()? {
        changes.push(unpack(row.get(0)?)?);
    }
    Ok(changes)
}

/// Makes the session, or opens it again if it is the caller's.
fn enter(
    db: &Connection,
    who: &Caller,
    profile: Profile,
) -> Result<Result<(), StateError>, Broken> {
    if let Some((n, row)) = sessions::find(db, &who.session)? {
        if row.user != who.user || row.agent != who.agent {
            return Ok(Err(StateError::NotYours { session: who.session.clone() }));
        }
        let mut reopen = db.prepare_cached("UPDATE sessions SET state = ?2 WHERE n = ?1")?;
        reopen.execute(params![n, SessionState::Open.as_str()])?;
        return Ok(Ok(()));
    }
    // None is ever deleted, so that the highest number is the count.
    let count: i64 =
        db.query_row("SELECT coalesce(max(n), 0) FROM sessions", [], |row| row.get(0))?;
    if count >= SESSIONS_MAX {
        let reason = format!("there are {SESSIONS_MAX} sessions, which is the most that it keeps");
        return Ok(Err(StateError::Broken { reason }));
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO sessions (id, user, agent, profile, state, taint, tainted_tokens,
             clean_tokens, origin, calls, stopped)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, '', 0, 0)",
    )?;
    insert.execute(params![
        who.session.as_str(),
        who.user.as_str(),
        who.agent.as_str(),
        profile.as_str(),
        SessionState::Open.as_str(),
    ])?;
    Ok(Ok(()))
}

/// Notes what lists show. Answers with the session's number, if it is there.
fn summarise(db: &Connection, id: &SessionId, it: &Summary) -> Result<Option<i64>, Broken> {
    let mut update = db.prepare_cached(
        "UPDATE sessions SET taint = ?2, tainted_tokens = ?3, clean_tokens = ?4, origin = ?5,
             calls = ?6, stopped = ?7
         WHERE id = ?1 RETURNING n",
    )?;
    let row = params![
        id.as_str(),
        it.taint.bits(),
        signed(it.tainted_tokens),
        signed(it.clean_tokens),
        it.origin,
        signed(it.calls),
        signed(it.stopped),
    ];
    Ok(update.query_row(row, |row| row.get(0)).optional()?)
}

fn insert(db: &Connection, session: i64, change: &[u8]) -> Result<i64, Broken> {
    let mut insert = db.prepare_cached("INSERT INTO changes (session, change) VALUES (?1, ?2)")?;
    insert.execute(params![session, change])?;
    Ok(db.last_insert_rowid())
}

fn check_length(change: &[u8]) -> Result<(), Broken> {
    if change.len() <= CHANGE_BYTES_MAX {
        return Ok(());
    }
    let bytes = change.len();
    Err(Broken::new(format_args!("a change has {bytes} bytes, at most {CHANGE_BYTES_MAX} fit")))
}
