//! Which store this is.

use super::SqliteStore;
use super::columns::unsigned;
use crate::error::Broken;

/// About what counting costs.
const ROW_BYTES: usize = 64;

/// Which store it is, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Random, made with the store.
    pub id: String,
    /// How often a gate has opened or closed it.
    pub count: u64,
}

impl SqliteStore {
    /// Which store this is.
    ///
    /// # Errors
    /// If it does not work.
    pub fn identity(&self) -> Result<Identity, Broken> {
        let row = self.look(|db| {
            let sql = "SELECT id, count FROM identity WHERE n = 1";
            Ok(db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        identity(row)
    }

    /// Counts that a gate opens or closes it. That is durable when it returns.
    ///
    /// # Errors
    /// If it does not work.
    pub fn count_up(&self) -> Result<Identity, Broken> {
        let row = self.change(ROW_BYTES, |db| {
            let sql = "UPDATE identity SET count = count + 1 WHERE n = 1 RETURNING id, count";
            Ok(db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        identity(row)
    }
}

fn identity((id, count): (String, i64)) -> Result<Identity, Broken> {
    Ok(Identity { id, count: unsigned(count)? })
}
