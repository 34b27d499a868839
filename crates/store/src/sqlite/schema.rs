//! The tables, their versions, and how a connection is opened.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence::Durability;
use files::private;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::search;
use crate::error::OpenError;

/// What leads from each version to the next; the version of a database is how many were applied.
const MIGRATIONS: &[&str] = &[
    include_str!("v1.sql"),
    include_str!("v2.sql"),
    include_str!("v3.sql"),
    include_str!("v4.sql"),
    include_str!("v5.sql"),
    include_str!("v6.sql"),
    include_str!("v7.sql"),
];
/// From this version on the index of words knows the tree of scopes.
const TREE_OF_SCOPES: usize = 3;

/// Marks a database as ours: `LZRT`.
const APPLICATION_ID: i64 = 0x4c5a_5254;
/// How long to wait for another process that writes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The log is merged into the database when it has this many pages of 4 KiB.
const LOG_PAGES: i64 = 2048;
/// A log that grew longer, because somebody was reading, is cut to this.
const LOG_BYTES_KEPT: i64 = 8 << 20;
/// A database of which half and so many pages are free is made smaller when it is opened.
const FREE_PAGES_MIN: i64 = 2048;
/// A database of up to this length is looked through when it is opened.
const CHECKED_BYTES_MAX: u64 = 16 << 20;

/// Opens the database for writing; makes it or brings it to the present version.
pub(super) fn open(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let failed = |error| OpenError::database(path, error);
    make_file(path).map_err(|error| OpenError::io(path, error))?;
    let mut db = connect(path)?;
    if std::fs::metadata(path).is_ok_and(|it| it.len() <= CHECKED_BYTES_MAX) {
        check(&db, path)?;
    }
    migrate(&mut db, path)?;
    db.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    let synchronous = match durability {
        Durability::Synced => "FULL",
        Durability::DangerouslyUnsynced => "OFF",
    };
    db.pragma_update(None, "synchronous", synchronous).map_err(failed)?;
    // What somebody has deleted is not to lie around in pages that are free.
    db.pragma_update(None, "secure_delete", true).map_err(failed)?;
    db.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(failed)?;
    db.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT).map_err(failed)?;
    shrink(&db).map_err(failed)?;
    Ok(db)
}

/// Gives back what is not needed any more. Where somebody else has the database open, or there is no room for the
/// smaller one beside it, it stays as it is.
fn shrink(db: &Connection) -> rusqlite::Result<()> {
    let count = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (free, all) = (count("freelist_count")?, count("page_count")?);
    if free < FREE_PAGES_MIN || free < all / 2 {
        return Ok(());
    }
    // In the log it would not be smaller yet.
    match db.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Opens the database for reading only. It must have been opened for writing before.
pub(super) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true).map_err(|it| OpenError::database(path, it))?;
    Ok(db)
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let real = real_path(path).map_err(|error| OpenError::io(path, error))?;
    let setup = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let db = Connection::open_with_flags(real, flags)?;
        db.busy_timeout(BUSY_TIMEOUT)?;
        // Nothing that stands in the file may act, and nobody may write past the tables.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        Ok(db)
    };
    setup().map_err(|error| OpenError::database(path, error))
}

/// Makes directory and file here and not by SQLite, which would let others read them.
fn make_file(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        private::create_dir(parent)?;
    }
    let is_new = !path.exists();
    private::open_with(path, OpenOptions::new().append(true).create(true))?;
    if is_new { private::sync_parent(path) } else { Ok(()) }
}

/// The parent's own path may lead through links; only the last name may be none.
fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(files::resolved(parent)?.join(path.file_name().unwrap_or_default()))
}

fn check(db: &Connection, path: &Path) -> Result<(), OpenError> {
    let found: String = db
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|error| OpenError::database(path, error))?;
    if found == "ok" {
        return Ok(());
    }
    Err(OpenError::Damaged { path: path.display().to_string(), why: found })
}

/// Brings the database to the present version, in one transaction.
fn migrate(db: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::database(path, error);
    let foreign =
        |why: &str| OpenError::Foreign { path: path.display().to_string(), why: why.to_owned() };
    let known = version_of(MIGRATIONS.len());
    let setup = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found: i64 =
        setup.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let mark: i64 =
        setup.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let is_new = describe(&setup).map_err(failed)?.is_empty();
    if !is_new && mark != APPLICATION_ID {
        return Err(foreign("it bears another mark"));
    }
    if found > known {
        return Err(OpenError::Newer { path: path.display().to_string(), found, known });
    }
    let done = if is_new { 0 } else { usize::try_from(found).unwrap_or(0) };
    apply(&setup, done).map_err(failed)?;
    let expected = || {
        let expected = Connection::open_in_memory()?;
        apply(&expected, 0)?;
        describe(&expected)
    };
    if describe(&setup).map_err(failed)? != expected().map_err(failed)? {
        return Err(foreign("it has other tables"));
    }
    setup.commit().map_err(failed)
}

/// Applies what leads from version `done` to the present one.
fn apply(db: &Connection, done: usize) -> rusqlite::Result<()> {
    if done == MIGRATIONS.len() {
        return Ok(());
    }
    for migration in MIGRATIONS.iter().skip(done) {
        db.execute_batch(migration)?;
    }
    if done < TREE_OF_SCOPES {
        search::rebuild(db)?;
    }
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.pragma_update(None, "user_version", version_of(MIGRATIONS.len()))
}

fn version_of(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Everything that is in the database, in order.
fn describe(db: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement =
        db.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
