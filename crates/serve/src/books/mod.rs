//! The server's books: whose session is which, what was said, what was spent, who agreed to what.
//!
//! Durable before anybody is answered. One connection behind one lock: what is read and then written is one step.

mod consent;
mod retention;
mod sessions;
mod spending;
mod sums;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row};

pub use retention::Forgotten;
pub(crate) use sessions::{Page, Role, SessionRow};
pub use spending::{Account, Exceeded, Scope, Spent, Totals};
pub(crate) use sums::windows;

/// The books of one state directory.
pub struct Books(Mutex<Connection>);

/// Why the books do not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BooksError {
    /// The database.
    #[error("the books of the server: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file.
    #[error("the books of the server: {0}")]
    Io(#[from] std::io::Error),
    /// A later version made them.
    #[error("the books of the server are of version {0}; this program knows {VERSION}")]
    Version(i64),
}

/// The version of the schema.
const VERSION: i64 = 1;
/// How long to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The name of the file in the state directory.
const FILE: &str = "serve.db";

const SCHEMA: &str = "
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, user TEXT NOT NULL, agent TEXT NOT NULL, title TEXT NOT NULL,
  created INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_of_user ON sessions (user, updated);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  role TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_of_session ON messages (session, id);
CREATE TABLE spending (
  id INTEGER PRIMARY KEY, user TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  at INTEGER NOT NULL, settled INTEGER NOT NULL, tokens INTEGER NOT NULL, micro_usd INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_creation INTEGER NOT NULL,
  no_session INTEGER NOT NULL, no_daily INTEGER NOT NULL, no_monthly INTEGER NOT NULL
) STRICT;
CREATE TABLE consent (
  user TEXT PRIMARY KEY, version TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
";

/// What sums are made of stands in the index itself: no row is looked up for them.
const INDEXES: &str = "
DROP INDEX IF EXISTS spending_of_user;
DROP INDEX IF EXISTS spending_of_session;
CREATE INDEX IF NOT EXISTS spent_by_user ON spending (user, at, no_daily, no_monthly, tokens, micro_usd);
CREATE INDEX IF NOT EXISTS spent_in_session ON spending (session, user, no_session, tokens, micro_usd);
";

impl Books {
    /// Opens the books of the state directory `home`, and makes them if they are not there. What was set aside by a
    /// server that did not end in order stays spent.
    ///
    /// # Errors
    /// If the file is not there for us, or is not ours.
    pub fn open(home: &Path) -> Result<Self, BooksError> {
        let path = home.join(FILE);
        // Made private before a byte is in it, and never by way of a link.
        let mut options = std::fs::OpenOptions::new();
        files::private::open_with(&path, options.read(true).write(true).create(true))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "secure_delete", true)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            0 => connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
            ))?,
            VERSION => {}
            other => return Err(BooksError::Version(other)),
        }
        // Of version 1, too: it changes nothing that is kept.
        connection.execute_batch(INDEXES)?;
        connection.execute("UPDATE spending SET settled = 1 WHERE settled = 0", [])?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Opens the books of the state directory `home` to be looked at, beside whoever keeps them; none if there are none.
    ///
    /// # Errors
    /// If they are not ours to read.
    pub fn look(home: &Path) -> Result<Option<Self>, BooksError> {
        let path = home.join(FILE);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        match connection.query_row("PRAGMA user_version", [], |row| row.get(0))? {
            VERSION => Ok(Some(Self(Mutex::new(connection)))),
            other => Err(BooksError::Version(other)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A transaction that was torn is rolled back when its guard is dropped.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that may be lost with the power, though not with the process: nobody waits for the disk.
    fn unhurried<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, BooksError>,
    ) -> Result<T, BooksError> {
        let mut connection = self.lock();
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let done = work(&mut connection);
        // Whoever comes next waits for the disk again.
        connection.pragma_update(None, "synchronous", "FULL")?;
        done
    }

    /// Do they answer?
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), BooksError> {
        Ok(self.lock().query_row("SELECT 1", [], |_| Ok(()))?)
    }
}

/// An amount, which is never negative: what is would be damage, and counts as everything.
fn amount(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|it| u64::try_from(it).unwrap_or(u64::MAX))
}
