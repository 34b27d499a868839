//! INVARIANT (OneClosing): every entry is closed once, whatever happens.

use evidence::{AppendError, Journal, OPEN_ENTRIES_MAX};
use serde_json::{Value, json};

use crate::common::{assert_sound, config, copy_tree, kinds, lines, numbered, open, record};

#[test]
fn an_entry_is_closed_by_its_owner_or_by_being_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let mut entry = journal.open_entry(numbered(1)).unwrap();
    let opening = entry.id();
    entry.step(numbered(2)).unwrap();
    entry.close(numbered(3)).unwrap();
    drop(journal.open_entry(numbered(4)).unwrap());
    journal.close().unwrap();

    assert_eq!(kinds(dir.path()), ["test", "test", "test", "test", "abandoned"]);
    let stored = lines(dir.path());
    let number = |at: usize| stored[at]["meta"]["entry"].as_u64().unwrap();
    assert!(number(0) == number(1) && number(1) == number(2) && number(3) == number(4));
    assert_eq!(stored[2]["parents"], json!([opening.to_string()]));
    assert_eq!(stored[4]["meta"]["session"], "s");
    assert_sound(dir.path());
}

#[test]
fn a_malformed_closing_record_does_not_leave_the_entry_open() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let entry = journal.open_entry(numbered(1)).unwrap();
    let error = entry.close(record("s", json!(0.5))).unwrap_err();
    assert!(matches!(error, AppendError::Record(_)));
    journal.close().unwrap();
    assert_eq!(kinds(dir.path()), ["test", "abandoned"]);
}

#[test]
fn what_was_open_in_a_crash_is_closed_by_the_next_start_even_segments_later() {
    let dir = tempfile::tempdir().unwrap();
    let (live, dead) = (dir.path().join("live"), dir.path().join("dead"));
    let journal = open(&live);
    let entry = journal.open_entry(record("left-open", json!({ "n": 1 }))).unwrap();
    let opening = entry.id();
    // Enough for several segments after the one in which it was opened.
    for number in 0..900 {
        journal.append(record("s", json!({ "n": number, "t": "x".repeat(3000) }))).unwrap();
    }
    // What a crash at this moment would leave.
    copy_tree(&live, &dead);
    entry.close(numbered(2)).unwrap();
    drop(journal);

    let (journal, recovery) = Journal::open(&config(&dead)).unwrap();
    assert!(!recovery.clean && recovery.interrupted == 1 && recovery.verified_segments > 2);
    journal.close().unwrap();
    let stored = lines(&dead);
    let last = stored.last().unwrap();
    assert_eq!(last["meta"]["kind"], "interrupted");
    assert_eq!(last["meta"]["session"], "left-open");
    assert_eq!(last["parents"], json!([opening.to_string()]));
    assert_sound(&dead);
    let (_, again) = Journal::open(&config(&dead)).unwrap();
    assert!(again.clean && again.interrupted == 0);
}

#[test]
fn content_that_looks_like_an_entry_opens_none() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy");
    let live = dir.path().join("live");
    let journal = open(&live);
    let forged = json!({ "meta": { "entry": 5, "phase": "open" }, "text": "\"phase\":\"open\"" });
    journal.append(record("s", forged)).unwrap();
    copy_tree(&live, &copy);
    drop(journal);
    assert_eq!(Journal::open(&config(&copy)).unwrap().1.interrupted, 0);
}

#[test]
fn there_is_a_limit_to_what_can_be_open() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(dir.path());
    let entries: Vec<_> = (0..OPEN_ENTRIES_MAX)
        .map(|_| journal.open_entry(record("s", Value::Null)).unwrap())
        .collect();
    assert!(matches!(journal.open_entry(numbered(0)), Err(AppendError::TooManyOpen)));
    drop(entries);
    drop(journal.open_entry(numbered(0)).unwrap());
    journal.close().unwrap();
    assert_sound(dir.path());
}
