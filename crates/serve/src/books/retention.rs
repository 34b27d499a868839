//! What is forgotten in time, and what a user may have and may have forgotten.

use std::time::Duration;

use rusqlite::params;
use serde::Serialize;

use super::{BUSY_TIMEOUT, Books, BooksError, amount};

/// How long the log waits for somebody who reads, while everybody else waits for the books.
const WIPE_TIMEOUT: Duration = Duration::from_millis(200);

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

impl Books {
    /// Sessions in which nothing was said since `since`, the stalest first: user, agent and id.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn stale(
        &self,
        since: i64,
        at_most: u32,
    ) -> Result<Vec<(String, String, String)>, BooksError> {
        let sql =
            "SELECT user, agent, id FROM sessions WHERE updated < ?1 ORDER BY updated, id LIMIT ?2";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([since, at_most.into()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Forgets a session, unless something was said in it since `since`.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget_stale(&self, id: &str, since: i64) -> Result<bool, BooksError> {
        let sql = "DELETE FROM sessions WHERE id = ?1 AND updated < ?2";
        Ok(self.lock().execute(sql, params![id, since])? > 0)
    }

    /// Forgets a session in which nothing was ever said.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget_unsaid(&self, user: &str, id: &str) -> Result<bool, BooksError> {
        let sql = "DELETE FROM sessions WHERE id = ?1 AND user = ?2
            AND NOT EXISTS (SELECT 1 FROM messages WHERE session = ?1)";
        Ok(self.lock().execute(sql, [id, user])? > 0)
    }

    /// Forgets what was spent before `since`. Gives how many rows.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn forget_spending(&self, since: i64) -> Result<usize, BooksError> {
        Ok(self.lock().execute("DELETE FROM spending WHERE at < ?1", [since])?)
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

    /// Takes what was deleted out of the log as well: it holds pages as they were until it is written over. Is all of it
    /// gone? Not while somebody reads: then it is to be asked for again.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn wipe(&self) -> Result<bool, BooksError> {
        let connection = self.lock();
        connection.busy_timeout(WIPE_TIMEOUT)?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = connection.query_row(checkpoint, [], |row| row.get::<_, i64>(0));
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(busy? == 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_deleted_leaves_the_log_as_soon_as_nobody_reads() {
        let home = tempfile::tempdir().unwrap();
        let books = Books::open(home.path()).unwrap();
        let sql = "INSERT INTO sessions VALUES ('s', 'ann', 'main', 'a marked title', 1, 1)";
        books.lock().execute(sql, []).unwrap();
        let holds = || {
            let log = std::fs::read(home.path().join("serve.db-wal")).unwrap();
            String::from_utf8_lossy(&log).contains("a marked title")
        };
        let reader = rusqlite::Connection::open(home.path().join("serve.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM sessions").unwrap();
        assert!(books.forget("ann", "s").unwrap() && !books.wipe().unwrap() && holds());
        reader.execute_batch("COMMIT").unwrap();
        assert!(books.wipe().unwrap() && !holds());
    }
}
