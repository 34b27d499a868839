//! Tables of the index.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

/// A database of another version is thrown away: it holds nothing of its own.
const VERSION: i64 = 1;
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

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
    CREATE TABLE position (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        journal TEXT NOT NULL,
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        idx INTEGER NOT NULL
    );
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

/// Opens the database, or makes it anew if it is none or of another version.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    match try_open(path) {
        Ok(db) => Ok(db),
        Err(_) => {
            // Damaged, foreign or old. Deleting it loses nothing.
            let _ = super::remove(path);
            try_open(path)
        }
    }
}

fn try_open(path: &Path) -> rusqlite::Result<Connection> {
    let mut db = Connection::open(path)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // Losing it costs a rebuild, so it need not wait for the disk.
    db.pragma_update(None, "synchronous", "OFF")?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == VERSION {
        db.query_row("SELECT count(*) FROM position", [], |_| Ok(()))?;
        return Ok(db);
    }
    let empty: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version != 0 || empty != 0 {
        return Err(rusqlite::Error::InvalidQuery);
    }
    let setup = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    setup.execute_batch(TABLES)?;
    setup.pragma_update(None, "user_version", VERSION)?;
    setup.commit()?;
    Ok(db)
}
