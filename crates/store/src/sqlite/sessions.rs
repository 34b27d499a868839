//! Sessions for people.

use model::{AgentId, SessionId, UserId};
use monitor::Summary;
use rusqlite::{Connection, OptionalExtension, Row};

use super::SqliteStore;
use super::columns::{taint, unreadable, unsigned};
use super::state::profile;
use crate::error::Broken;
use crate::sessions::{SessionRow, SessionState, Sessions};

/// The most sessions that a store keeps.
pub const SESSIONS_MAX: i64 = 10_000_000;

const COLUMNS: &str = "n, id, user, agent, profile, state, taint, tainted_tokens, clean_tokens, \
                       origin, calls, stopped";

impl Sessions for SqliteStore {
    fn sessions(&self, limit: u32) -> Result<Vec<SessionRow>, Broken> {
        self.look(|db| {
            let sql = format!("SELECT {COLUMNS} FROM sessions ORDER BY n DESC LIMIT ?1");
            let mut select = db.prepare_cached(&sql)?;
            let mut rows = select.query([limit])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?.1);
            }
            Ok(found)
        })
    }

    fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, Broken> {
        self.look(|db| Ok(find(db, id)?.map(|(_, row)| row)))
    }
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
    let (id, user, agent, state) = (text(1)?, text(2)?, text(3)?, text(5)?);
    let found = SessionRow {
        id: SessionId::parse(&id).map_err(|_| unreadable("session", &id))?,
        user: UserId::parse(&user).map_err(|_| unreadable("user", &user))?,
        agent: AgentId::parse(&agent).map_err(|_| unreadable("agent", &agent))?,
        profile: profile(&text(4)?)?,
        state: SessionState::parse(&state).ok_or_else(|| unreadable("state", &state))?,
        summary: Summary {
            taint: taint(row.get(6)?)?,
            tainted_tokens: count(7)?,
            clean_tokens: count(8)?,
            origin: text(9)?,
            calls: count(10)?,
            stopped: count(11)?,
        },
    };
    Ok((row.get(0)?, found))
}
