//! The writer fails: nothing acknowledged is lost, nothing more is taken.

use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{State, StateError, Summary};

use crate::SqliteStore;
use crate::oversight::Oversight;

pub(super) fn caller(session: &str) -> Caller {
    Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse("alice").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    }
}

/// Appends until the disk is full and answers how many were acknowledged.
fn fill(store: &SqliteStore, who: &Caller) -> usize {
    store
        .change(0, |db| {
            let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            let sql = format!("PRAGMA max_page_count = {}", pages + 20);
            db.query_row(&sql, [], |_| Ok(()))?;
            Ok(())
        })
        .unwrap();
    let change = [7; 10_000];
    let mut count = 0;
    while store.append(&who.session, &change, &Summary::default()).is_ok() {
        count += 1;
    }
    count
}

#[test]
fn a_full_disk_refuses_everything_after_and_loses_nothing_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let who = caller("s");
    let store = SqliteStore::open(&path).unwrap();
    store.open(&who, Profile::Standard).unwrap();
    let acknowledged = fill(&store, &who);
    assert!(acknowledged > 0);
    // Small ones would fit, but nobody may believe that they do.
    let broken = |it: Result<(), StateError>| matches!(it, Err(StateError::Broken { .. }));
    assert!(broken(store.append(&who.session, b"x", &Summary::default())));
    assert!(broken(store.compact(&who.session, b"x", &Summary::default())));
    assert!(broken(store.end(&who.session)));
    assert!(broken(store.open(&caller("t"), Profile::Standard).map(|_| ())));
    assert!(store.sessions(10).unwrap_err().reason.contains("full"));
    drop(store);

    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.open(&who, Profile::Standard).unwrap().changes.len(), acknowledged);
    store.append(&who.session, b"x", &Summary::default()).unwrap();
}

#[test]
fn a_writer_that_panics_leaves_nobody_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("store.sqlite")).unwrap();
    let outcome = store.change(0, |_| -> Result<(), _> { panic!("on purpose") });
    assert!(outcome.is_err());
    assert!(store.open(&caller("s"), Profile::Standard).is_err());
}

#[test]
fn a_store_that_another_process_keeps_busy_is_not_broken_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    store.change(0, |db| Ok(db.busy_timeout(std::time::Duration::from_millis(10))?)).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let who = caller("s");
    assert!(matches!(store.open(&who, Profile::Standard), Err(StateError::Broken { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    store.open(&who, Profile::Standard).unwrap();
}
