//! Who agreed to which version of the policy.

use rusqlite::{OptionalExtension as _, params};

use super::{Books, BooksError};

impl Books {
    /// The version that the user agreed to last.
    ///
    /// # Errors
    /// If the books do not answer.
    pub fn consent(&self, user: &str) -> Result<Option<String>, BooksError> {
        let sql = "SELECT version FROM consent WHERE user = ?1";
        Ok(self.lock().query_row(sql, [user], |row| row.get(0)).optional()?)
    }

    /// Keeps that the user agrees.
    ///
    /// # Errors
    /// If it may not be durable.
    pub fn agree(&self, user: &str, version: &str, now: i64) -> Result<(), BooksError> {
        let sql = "INSERT OR REPLACE INTO consent (user, version, at) VALUES (?1, ?2, ?3)";
        self.lock().execute(sql, params![user, version, now])?;
        Ok(())
    }
}
