//! A gate begins with the store that was there before, and with no other.

use std::fs;
use std::path::Path;

use aegx::{Principal, RecordType};
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
    journal.append(of(id, RecordType::ToolResult, "tool_returned", Taint::UNTRUSTED)).unwrap();
    store.open(&caller(id), Profile::Standard).unwrap();
    store.append(&session(id), b"taint", &summary(1)).unwrap();
    bond.count(&store).unwrap();
    drop(store);
    journal.close().unwrap();
}

fn of(id: &str, record_type: RecordType, kind: &str, taint: Taint) -> NewRecord {
    NewRecord {
        session: Some(session(id)),
        taint,
        ..NewRecord::of_host(record_type, Kind::parse(kind).unwrap(), json!({}))
    }
}

/// A session that has read nothing yet.
fn begin(home: &Path, id: &str) {
    let (journal, _) = Journal::open(&Config::new(home.join("evidence"))).unwrap();
    let bond = Bond::of(home);
    let store = bond.open(Durability::Synced).unwrap();
    let start = of(id, RecordType::SessionStart, "session_start", Taint::NONE);
    journal.append(start).unwrap();
    store.open(&caller(id), Profile::Standard).unwrap();
    bond.count(&store).unwrap();
    drop(store);
    journal.close().unwrap();
}

/// Writes records into a journal that nobody else has open.
fn record(home: &Path, records: Vec<NewRecord>) {
    let (journal, _) = Journal::open(&Config::new(home.join("evidence"))).unwrap();
    for record in records {
        journal.append(record).unwrap();
    }
    journal.close().unwrap();
}

/// The same, by one who is then killed: nothing is signed.
fn record_and_die(home: &Path, records: Vec<NewRecord>) {
    let config = Config::new(home.join("evidence"));
    let checkpoints = home.join("evidence/checkpoints.jsonl");
    let signed = fs::read(&checkpoints).unwrap();
    let (journal, _) = Journal::open(&config).unwrap();
    for record in records {
        journal.append(record).unwrap();
    }
    std::mem::forget(journal);
    files::private::replace(&checkpoints, &signed).unwrap();
}

/// Puts the note back as well.
fn copy_with_note(from: &Path, to: &Path) {
    copy(from, to);
    let _ = fs::remove_file(to.join("store.note"));
    fs::copy(from.join("store.note"), to.join("store.note")).unwrap();
}

fn lost(home: &Path) -> Option<String> {
    match open(home) {
        Ok(_) => None,
        Err(BondError::Unknown { session, .. }) => Some(session),
        Err(other) => Some(other.to_string()),
    }
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

/// What was put back knows the session, and not that it is tainted since.
#[test]
fn a_store_that_was_put_back_knows_less_than_the_journal() {
    let (home, before) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    begin(home.path(), "s");
    copy_with_note(home.path(), before.path());
    taint(home.path(), "s");
    drop(open(home.path()).unwrap());
    // With the note of its time, and without any.
    copy_with_note(before.path(), home.path());
    for _ in 0..2 {
        assert_eq!(lost(home.path()).as_deref(), Some("s"));
    }
    fs::remove_file(home.path().join("store.note")).unwrap();
    assert_eq!(lost(home.path()).as_deref(), Some("s"));
    // A person may go on, and that holds without the note, too.
    let kind = "state_loss_accepted";
    let accepted = of("x", RecordType::ControlPlaneChangeRequest, kind, Taint::NONE);
    record(home.path(), vec![NewRecord { principal: Principal::User, session: None, ..accepted }]);
    Bond::of(home.path()).dangerously_accept().unwrap();
    assert_eq!(lost(home.path()), None);
    fs::remove_file(home.path().join("store.note")).unwrap();
    assert_eq!(lost(home.path()), None);
}

/// Of the tail that is read at a start nothing is missed, and more than that is not read.
#[test]
fn a_start_reads_on_where_the_last_one_stopped() {
    let home = tempfile::tempdir().unwrap();
    begin(home.path(), "s");
    // Nobody would find this one again who reads on.
    record(home.path(), vec![of("early", RecordType::ToolResult, "x", Taint::UNTRUSTED)]);
    assert_eq!(lost(home.path()).as_deref(), Some("early"));
    Bond::of(home.path()).dangerously_accept().unwrap();
    assert_eq!(lost(home.path()), None);
    record(home.path(), vec![of("late", RecordType::ToolResult, "x", Taint::UNTRUSTED)]);
    assert_eq!(lost(home.path()).as_deref(), Some("late"));
}

#[test]
fn what_a_person_cleared_is_not_missed_unless_it_came_to_nothing() {
    let home = tempfile::tempdir().unwrap();
    begin(home.path(), "s");
    let cleared = |principal| NewRecord {
        principal,
        ..of("s", RecordType::ControlPlaneChangeRequest, "taint_cleared", Taint::UNTRUSTED)
    };
    let tainted = || of("s", RecordType::ToolResult, "x", Taint::UNTRUSTED);
    let read_all = || fs::remove_file(home.path().join("store.note")).unwrap();
    record(home.path(), vec![tainted(), cleared(Principal::User)]);
    assert_eq!(lost(home.path()), None);
    record(home.path(), vec![tainted(), cleared(Principal::Tool)]);
    assert_eq!(lost(home.path()).as_deref(), Some("s"), "that was nobody's word");
    let (journal, _) = Journal::open(&Config::new(home.path().join("evidence"))).unwrap();
    let word = journal.append(cleared(Principal::User)).unwrap();
    assert_eq!(lost(home.path()), None);
    let failed = of("s", RecordType::ControlPlaneChangeRequest, "taint_not_cleared", Taint::NONE);
    let parents = vec![word.id()];
    let principal = Principal::User;
    journal.append(NewRecord { parents, principal, session: None, ..failed }).unwrap();
    journal.close().unwrap();
    read_all();
    assert_eq!(lost(home.path()).as_deref(), Some("s"));
}

/// The label of what was heard is kept after its record: who is killed in between has not lost anything else.
#[test]
fn a_crash_before_a_label_was_kept_is_no_loss() {
    let heard = || of("s", RecordType::SessionMessage, "heard", Taint::UNTRUSTED);
    let start = || of("s", RecordType::SessionStart, "session_start", Taint::NONE);
    let call = || of("s", RecordType::ToolCall, "x", Taint::NONE);
    for (records, killed, missing) in [
        (vec![heard()], true, false),
        (vec![heard(), start(), call()], true, false),
        (vec![heard()], false, true),
        (vec![heard(), call()], true, true),
    ] {
        let home = tempfile::tempdir().unwrap();
        begin(home.path(), "s");
        let count = records.len();
        if killed {
            record_and_die(home.path(), records);
        } else {
            record(home.path(), records);
        }
        assert_eq!(lost(home.path()).is_some(), missing, "{count} records, killed: {killed}");
    }
}

/// A workspace that a tainted session was killed in is looked through by the next one, which has heard nothing of it.
#[test]
fn what_lay_in_a_workspace_is_no_taint_of_whoever_comes_there() {
    for killed in [true, false] {
        let home = tempfile::tempdir().unwrap();
        taint(home.path(), "dead");
        begin(home.path(), "next");
        let left = of("next", RecordType::Snapshot, "workspace_left", Taint::UNTRUSTED);
        let entered = of("next", RecordType::Snapshot, "workspace_entered", Taint::NONE);
        let call = of("next", RecordType::ToolCall, "x", Taint::NONE);
        let records = vec![left, entered, call];
        if killed {
            record_and_die(home.path(), records);
        } else {
            record(home.path(), records);
        }
        assert_eq!(lost(home.path()), None, "killed: {killed}");
    }
}
