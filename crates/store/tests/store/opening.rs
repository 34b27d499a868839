//! Opening: private, ours, whole, and not from the future; else a clear refusal and no change.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use model::Profile;
use monitor::State;
use store::{Approvals, OpenError, SqliteStore};

use crate::store::common::{caller, database, open, session, summary};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_store_is_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.open(&caller("s"), Profile::Standard).unwrap();
    let path = database(dir.path());
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_database_from_the_future_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let path = database(dir.path());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = std::fs::read(&path).unwrap();
    let error = SqliteStore::open(&path).err().unwrap();
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_an_earlier_version_is_brought_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let path = database(dir.path());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(include_str!("../../src/sqlite/v1.sql")).unwrap();
    db.pragma_update(None, "application_id", 0x4c5a_5254).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.approvals(0, 1).unwrap(), []);
}

#[test]
fn a_foreign_database_is_refused() {
    for (sql, says) in [
        ("CREATE TABLE notes (text)", "another mark"),
        ("CREATE TABLE notes (text); PRAGMA application_id = 1280987732", "other tables"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = SqliteStore::open(&path).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn tables_that_somebody_changed_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let path = database(dir.path());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TRIGGER launder AFTER INSERT ON changes BEGIN DELETE FROM changes; END",
    )
    .unwrap();
    drop(db);
    assert!(matches!(SqliteStore::open(&path), Err(OpenError::Foreign { .. })));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that damages a file need not do so atomically"
)]
fn damage_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.open(&caller("s"), Profile::Standard).unwrap();
    for _ in 0..100 {
        store.append(&session("s"), &[1; 2000], &summary(1)).unwrap();
    }
    drop(store);
    let path = database(dir.path());
    let sound = std::fs::read(&path).unwrap();
    let torn: Vec<u8> = sound.iter().copied().take(sound.len() / 2).collect();
    let mut scribbled = sound.clone();
    for byte in scribbled.iter_mut().skip(8192).step_by(17) {
        *byte ^= 0x55;
    }
    for damaged in [b"this is no database, however long it is".repeat(300), torn, scribbled] {
        std::fs::write(&path, damaged).unwrap();
        let error = SqliteStore::open(&path).err().unwrap();
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("store.sqlite"), "{error}");
    }
}

#[test]
fn what_somebody_planted_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    let path = dir.path().join("store.sqlite");
    symlink(&elsewhere, &path).unwrap();
    assert!(SqliteStore::open(&path).is_err());
    assert!(!elsewhere.exists());
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(SqliteStore::open(&path).is_err());
}
