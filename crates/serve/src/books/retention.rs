//! What is forgotten in time, and what a user may have and may have forgotten.

use rusqlite::params;
use serde::Serialize;

use super::{Books, BooksError, amount};

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Forgotten {
    /// Sessions with what was said in them.
    pub sessions: usize,
    /// Rows of what was spent.
    pub spending: usize,
    /// Consent.
    pub consent: usize,
}

/// How long things are kept, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Sessions.
    pub sessions: i64,
    /// What was spent.
    pub spending: i64,
}

impl Books {
    /// Forgets what is older than it may be.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn retain(&self, kept: Kept, now: i64) -> Result<Forgotten, BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let since = |age: i64| now.saturating_sub(age);
        let sessions = transaction
            .execute("DELETE FROM sessions WHERE updated < ?1", [since(kept.sessions)])?;
        let spending =
            transaction.execute("DELETE FROM spending WHERE at < ?1", [since(kept.spending)])?;
        transaction.commit()?;
        Ok(Forgotten { sessions, spending, consent: 0 })
    }

    /// Forgets a user's sessions and consent, and what they spent longer ago than a budget looks back.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget_user(&self, user: &str, budget_since: i64) -> Result<Forgotten, BooksError> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let sessions = transaction.execute("DELETE FROM sessions WHERE user = ?1", [user])?;
        let sql = "DELETE FROM spending WHERE user = ?1 AND at < ?2";
        let spending = transaction.execute(sql, params![user, budget_since])?;
        let consent = transaction.execute("DELETE FROM consent WHERE user = ?1", [user])?;
        transaction.commit()?;
        Ok(Forgotten { sessions, spending, consent })
    }

    /// Everything that is kept of a user's spending, as lines of JSON.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn spending_lines(&self, user: &str) -> Result<String, BooksError> {
        let sql = "SELECT at, agent, session, tokens, micro_usd FROM spending WHERE user = ?1 ORDER BY id";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([user], |row| {
            Ok(serde_json::json!({
                "at": row.get::<_, i64>(0)?,
                "agent": row.get::<_, String>(1)?,
                "session": row.get::<_, String>(2)?,
                "tokens": amount(row, 3)?,
                "microUsd": amount(row, 4)?,
            }))
        })?;
        let mut lines = String::new();
        for row in rows {
            lines.push_str(&row?.to_string());
            lines.push('\n');
        }
        Ok(lines)
    }
}
