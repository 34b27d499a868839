//! Sessions and what was said in them. A session is one user's, and nobody else learns that it is there.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Books, BooksError};

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// The beginning of its first message.
    pub title: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// When something was said last.
    pub updated: i64,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number.
    pub id: i64,
    /// Who said it.
    pub role: String,
    /// What.
    pub content: String,
    /// When.
    pub at: i64,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
}

/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 80;

impl Books {
    /// Begins a session.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn begin(&self, id: &str, user: &str, agent: &str, now: i64) -> Result<(), BooksError> {
        let sql = "INSERT INTO sessions (id, user, agent, title, created, updated) VALUES (?1, ?2, ?3, '', ?4, ?4)";
        self.lock().execute(sql, params![id, user, agent, now])?;
        Ok(())
    }

    /// The session of this id, if it is the user's.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn session(&self, user: &str, id: &str) -> Result<Option<SessionRow>, BooksError> {
        let sql =
            "SELECT id, agent, title, created, updated FROM sessions WHERE id = ?1 AND user = ?2";
        Ok(self.lock().query_row(sql, [id, user], session).optional()?)
    }

    /// The user's newest sessions, with one agent if it is named.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn sessions(
        &self,
        user: &str,
        agent: Option<&str>,
        limit: u32,
    ) -> Result<Vec<SessionRow>, BooksError> {
        let sql = "SELECT id, agent, title, created, updated FROM sessions
            WHERE user = ?1 AND (?2 IS NULL OR agent = ?2) ORDER BY updated DESC, id LIMIT ?3";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![user, agent, limit], session)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps what was said.
    ///
    /// # Errors
    /// If it may not be durable, or the session has gone.
    pub fn say(
        &self,
        session: &str,
        role: Role,
        content: &str,
        now: i64,
    ) -> Result<(), BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let word = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let sql = "INSERT INTO messages (session, role, content, at) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![session, word, content, now])?;
        let title: String = content.chars().take(TITLE_CHARS_MAX).collect();
        let sql = "UPDATE sessions SET updated = ?2, title = CASE WHEN title = '' THEN ?3 ELSE title END WHERE id = ?1";
        transaction.execute(sql, params![session, now, title])?;
        Ok(transaction.commit()?)
    }

    /// What was said in a session, the oldest first.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn messages(&self, session: &str, limit: u32) -> Result<Vec<MessageRow>, BooksError> {
        let sql =
            "SELECT id, role, content, at FROM messages WHERE session = ?1 ORDER BY id LIMIT ?2";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![session, limit], |row| {
            Ok(MessageRow {
                id: row.get(0)?,
                role: row.get(1)?,
                content: row.get(2)?,
                at: row.get(3)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets a session of the user. Was there one?
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget(&self, user: &str, id: &str) -> Result<bool, BooksError> {
        let sql = "DELETE FROM sessions WHERE id = ?1 AND user = ?2";
        Ok(self.lock().execute(sql, [id, user])? > 0)
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        agent: row.get(1)?,
        title: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
    })
}
