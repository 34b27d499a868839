//! Tables of the index.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::IndexError;
use crate::reader::ReadError;
use files::private;

/// A database of another version is thrown away: it holds nothing of its own.
const VERSION: i64 = 2;
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// And how long between two tries, where SQLite does not try itself.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

const TABLES: &str = "
    CREATE TABLE records (
        idx INTEGER PRIMARY KEY,
        id BLOB NOT NULL,
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        ts INTEGER NOT NULL,
        type TEXT NOT NULL,
        principal TEXT NOT NULL,
        kind TEXT,
        session TEXT,
        agent TEXT,
        taint INTEGER NOT NULL,
        blob BLOB
    );
    CREATE TABLE parents (child INTEGER NOT NULL, parent BLOB NOT NULL);
    CREATE TABLE source (only INTEGER PRIMARY KEY CHECK (only = 1), journal TEXT NOT NULL);
    CREATE INDEX records_id ON records (id);
    CREATE INDEX records_session ON records (session, idx);
    CREATE INDEX records_agent ON records (agent, idx);
    CREATE INDEX records_type ON records (type, idx);
    CREATE INDEX records_kind ON records (kind, idx);
    CREATE INDEX records_ts ON records (ts, idx);
    CREATE INDEX records_tainted ON records (idx) WHERE taint <> 0;
    CREATE INDEX records_blob ON records (blob) WHERE blob IS NOT NULL;
    CREATE INDEX parents_parent ON parents (parent);
    CREATE INDEX parents_child ON parents (child);
";

/// Opens the database, or makes it anew if it is none of ours.
pub(super) fn open(path: &Path) -> Result<Connection, IndexError> {
    let is_plain = match fs::symlink_metadata(path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(found) => found.is_file(),
    };
    let opened = if is_plain { try_open(path) } else { Ok(None) };
    match opened {
        Ok(Some(db)) => return Ok(db),
        // Another process is making it, or the disk fails: then it stays.
        Err(IndexError::Database(error)) if !is_broken(&error) => return Err(error.into()),
        _ => {}
    }
    // Damaged, foreign, old or planted. Deleting it loses nothing.
    super::remove(path).map_err(|error| ReadError::io(path, error))?;
    try_open(path)?.ok_or_else(|| rusqlite::Error::InvalidQuery.into())
}

/// Is a database at fault that can be made anew?
pub(super) fn is_broken(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// `None` if the database is not one of ours.
fn try_open(path: &Path) -> Result<Option<Connection>, IndexError> {
    // Made here and not by SQLite, which would let others read it.
    private::open_with(path, OpenOptions::new().append(true).create(true))
        .map_err(|error| ReadError::io(path, error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(real_path(path)?, flags)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    // Nothing that stands in the file may act.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    let setup = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if describe(&setup)?.is_empty() {
        setup.execute_batch(TABLES)?;
        setup.pragma_update(None, "user_version", VERSION)?;
    }
    let version: i64 = setup.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    if version != VERSION || describe(&setup)? != describe(&expected)? {
        return Ok(None);
    }
    setup.commit()?;
    use_wal(&db)?;
    // A power cut may cost the newest rows, which are read again, but not the database.
    db.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(Some(db))
}

/// To change the mode nobody else may be at it, and SQLite does not always wait for that by itself.
fn use_wal(db: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        let changed = db.pragma_update(None, "journal_mode", "WAL");
        let busy = |it: &rusqlite::Error| it.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        if !changed.as_ref().is_err_and(busy) || start.elapsed() > BUSY_TIMEOUT {
            return changed;
        }
        thread::sleep(BUSY_PAUSE);
    }
}

/// The parent's own path may lead through links; only the last name may be none.
fn real_path(path: &Path) -> Result<PathBuf, IndexError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let parent = files::resolved(parent).map_err(|error| ReadError::io(parent, error))?;
    Ok(parent.join(path.file_name().unwrap_or_default()))
}

/// Everything that is in the database, in order.
fn describe(db: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = db.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
