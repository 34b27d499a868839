//! Sessions for people.

use model::{Profile, SessionId};
use monitor::Summary;
use rusqlite::{Connection, OptionalExtension, Row};

use super::columns::{self, unreadable, unsigned};
use crate::error::Broken;
use crate::sessions::{SessionRow, SessionState};

/// The most sessions that a store keeps.
pub const SESSIONS_MAX: i64 = 10_000_000;

const COLUMNS: &str = "n, id, user, agent, profile, state, taint, tainted_tokens, clean_tokens, \
                       origin, calls, stopped";

/// The newest sessions of which `clause` holds, newest first.
pub(super) fn newest(db: &Connection, clause: &str, limit: u32) -> Result<Vec<SessionRow>, Broken> {
    let sql = format!("SELECT {COLUMNS} FROM sessions {clause} ORDER BY n DESC LIMIT ?1");
    let mut select = db.prepare_cached(&sql)?;
    let mut rows = select.query([limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?.1);
    }
    Ok(found)
}

/// A session with its number.
pub(super) fn find(db: &Connection, id: &SessionId) -> Result<Option<(i64, SessionRow)>, Broken> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    let mut select = db.prepare_cached(&sql)?;
    select.query_row([id.as_str()], |row| Ok(read(row))).optional()?.transpose()
}

fn read(row: &Row<'_>) -> Result<(i64, SessionRow), Broken> {
    let text = |column: usize| row.get::<_, String>(column);
    let count = |column: usize| unsigned(row.get(column)?);
    let (profile, state) = (text(4)?, text(5)?);
    let found = SessionRow {
        id: columns::session(&text(1)?)?,
        user: columns::user(&text(2)?)?,
        agent: columns::agent(&text(3)?)?,
        profile: Profile::parse(&profile).map_err(|_| unreadable("profile", &profile))?,
        state: SessionState::parse(&state).ok_or_else(|| unreadable("state", &state))?,
        summary: Summary {
            taint: columns::taint(row.get(6)?)?,
            tainted_tokens: count(7)?,
            clean_tokens: count(8)?,
            origin: text(9)?,
            calls: count(10)?,
            stopped: count(11)?,
        },
    };
    Ok((row.get(0)?, found))
}
