//! Which store this is.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::SqliteStore;
use super::columns::{unreadable, unsigned};
use crate::error::Broken;

/// About what counting costs.
const ROW_BYTES: usize = 256;

/// Which store it is, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Random, made with the store.
    pub id: String,
    /// How often a gate has opened or closed it.
    pub count: u64,
    /// How far the journal had come by then; none in a store of an earlier version, or if there was no journal.
    pub seen: Option<Seen>,
}

/// A record of the journal, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Its index.
    pub idx: u64,
    /// Its segment.
    pub segment: u64,
    /// Where in it.
    pub offset: u64,
    /// Its id, as hex.
    pub record: String,
}

impl SqliteStore {
    /// Which store this is.
    ///
    /// # Errors
    /// If it does not work.
    pub fn identity(&self) -> Result<Identity, Broken> {
        self.look(|db| {
            let sql = "SELECT id, count, seen FROM identity WHERE n = 1";
            identity(db.query_row(sql, [], columns)?)
        })
    }

    /// Counts that a gate opens or closes it, and keeps how far the journal has come. That is durable when it returns.
    ///
    /// # Errors
    /// If it does not work.
    pub fn count_up(&self, seen: Option<Seen>) -> Result<Identity, Broken> {
        let seen = seen.map(|it| serde_json::to_string(&it)).transpose().map_err(Broken::new)?;
        self.change(ROW_BYTES, move |db| {
            let sql = "UPDATE identity SET count = count + 1, seen = ?1 WHERE n = 1
                       RETURNING id, count, seen";
            identity(db.query_row(sql, [seen], columns)?)
        })
    }
}

type Columns = (String, i64, Option<String>);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn identity((id, count, seen): Columns) -> Result<Identity, Broken> {
    let read = |it: String| serde_json::from_str(&it).map_err(|_| unreadable("seen", &it));
    Ok(Identity { id, count: unsigned(count)?, seen: seen.map(read).transpose()? })
}
