//! A gate begins with the store that was there before, and with no other.

use std::fs;
use std::path::Path;

use aegx::RecordType;
use evidence::{Config, Durability, Journal, NewRecord};
use model::{Kind, Profile, Taint};
use monitor::State;
use serde_json::json;
use store::{Bond, BondError, SqliteStore};

use crate::store::common::{caller, session, summary};

/// A session that reads something from outside, as it leaves its traces in the journal and in the store.
fn taint(home: &Path, id: &str) {
    let (journal, _) = Journal::open(&Config::new(home.join("evidence"))).unwrap();
    let bond = Bond::of(home);
    let store = bond.open(Durability::Synced).unwrap();
    let kind = Kind::parse("tool_returned").unwrap();
    let record = NewRecord {
        session: Some(session(id)),
        taint: Taint::UNTRUSTED,
        ..NewRecord::of_host(RecordType::GuardDecision, kind, json!({}))
    };
    journal.append(record).unwrap();
    store.open(&caller(id), Profile::Standard).unwrap();
    store.append(&session(id), b"taint", &summary(1)).unwrap();
    bond.count(&store).unwrap();
    drop(store);
    journal.close().unwrap();
}

fn open(home: &Path) -> Result<SqliteStore, BondError> {
    Bond::of(home).open(Durability::Synced)
}

/// Takes a store with its log away, or puts it there.
fn copy(from: &Path, to: &Path) {
    for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
        let _ = fs::remove_file(to.join(name));
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[test]
fn the_same_store_is_opened_again_and_again() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()).unwrap());
    for round in 0..3 {
        taint(home.path(), &format!("s{round}"));
        assert!(open(home.path()).is_ok());
    }
}

#[test]
fn a_store_that_is_gone_or_empty_is_not_begun_anew() {
    let nowhere = tempfile::tempdir().unwrap();
    for note in [true, false] {
        for emptied in [true, false] {
            let home = tempfile::tempdir().unwrap();
            taint(home.path(), "s");
            copy(nowhere.path(), home.path());
            if emptied {
                files::private::replace(&home.path().join("store.sqlite"), b"").unwrap();
            }
            if !note {
                fs::remove_file(home.path().join("store.note")).unwrap();
            }
            for _ in 0..2 {
                let error = open(home.path()).err().unwrap();
                assert!(matches!(error, BondError::Lost { .. }), "{error}");
                assert!(error.to_string().contains("lazaret sessions recover"), "{error}");
            }
            // It is as it was.
            let length = fs::metadata(home.path().join("store.sqlite")).map(|it| it.len()).ok();
            assert_eq!(length, emptied.then_some(0));
        }
    }
}

#[test]
fn another_store_and_an_older_copy_are_not_taken_for_it() {
    let (home, elsewhere, before) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    taint(elsewhere.path(), "s");
    taint(home.path(), "s");
    copy(home.path(), before.path());
    taint(home.path(), "t");
    let newest = tempfile::tempdir().unwrap();
    copy(home.path(), newest.path());

    copy(elsewhere.path(), home.path());
    assert!(matches!(open(home.path()), Err(BondError::Other { .. })));
    copy(before.path(), home.path());
    assert!(matches!(open(home.path()), Err(BondError::Older { .. })));
    // Without the note the journal still knows.
    let note = fs::read(home.path().join("store.note")).unwrap();
    fs::remove_file(home.path().join("store.note")).unwrap();
    let error = open(home.path()).err().unwrap();
    assert!(matches!(&error, BondError::Unknown { session, .. } if session == "t"), "{error}");
    // The right one is taken, with the note and without.
    for note in [Some(note), None] {
        copy(newest.path(), home.path());
        match note {
            Some(note) => files::private::replace(&home.path().join("store.note"), &note).unwrap(),
            None => fs::remove_file(home.path().join("store.note")).unwrap(),
        }
        drop(open(home.path()).unwrap());
    }
}

#[test]
fn a_copy_that_was_made_while_a_gate_ran_is_older_than_what_it_left() {
    let (home, copied) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bond = Bond::of(home.path());
    let store = bond.open(Durability::Synced).unwrap();
    copy(home.path(), copied.path());
    store.open(&caller("s"), Profile::Standard).unwrap();
    bond.count(&store).unwrap();
    drop(store);
    copy(copied.path(), home.path());
    assert!(matches!(open(home.path()), Err(BondError::Older { .. })));
}

#[test]
fn a_note_that_is_none_is_no_reason_to_begin_anew() {
    let home = tempfile::tempdir().unwrap();
    taint(home.path(), "s");
    let whole = fs::read(home.path().join("store.note")).unwrap();
    for bad in [&b""[..], b"{}", b"[]", whole.get(..whole.len() / 2).unwrap()] {
        files::private::replace(&home.path().join("store.note"), bad).unwrap();
        assert!(matches!(open(home.path()), Err(BondError::Note { .. })));
    }
}

#[test]
fn a_person_may_go_on_all_the_same() {
    let (home, nowhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    taint(home.path(), "s");
    copy(nowhere.path(), home.path());
    assert!(open(home.path()).is_err());
    Bond::of(home.path()).dangerously_accept().unwrap();
    for _ in 0..2 {
        drop(open(home.path()).unwrap());
    }
}

#[test]
fn a_journal_without_tainted_sessions_may_be_older_than_its_store() {
    let home = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(&Config::new(home.path().join("evidence"))).unwrap();
    let kind = Kind::parse("vault_made").unwrap();
    let record = NewRecord::of_host(RecordType::GuardDecision, kind, json!({}));
    journal.append(record).unwrap();
    assert!(open(home.path()).is_ok());
}
